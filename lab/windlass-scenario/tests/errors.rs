//! Every kind of mistake in a scenario file or an override, each with one clear error message.

use windlass_scenario::Scenario;

pub(crate) const GOOD: &str = r#"duration = "100s"

[[link]]
between = ["server", "client"]
rate = "10Mbps"
delay = "20ms"

[[flow]]
from = "server"
to = "client"
algorithm = "reno"
"#;

/// A replacement for a part of [`GOOD`], and the error that must follow.
const MISTAKES: &[(&str, &str, &str)] = &[
    ("rate =", "rte =", "s.toml:5:1: unknown key `rte` in `[[link]]`; did you mean `rate`?"),
    (
        "rate = \"10Mbps\"",
        "rate = 10",
        "s.toml:5:8: `rate`: `10` has no unit; write a rate such as `10Mbps`, `250kbps` or `1MB/s`",
    ),
    (
        "10Mbps",
        "-10Mbps",
        "s.toml:5:8: `rate`: `-10Mbps` is negative; write a rate such as `10Mbps`, `250kbps` or `1MB/s`",
    ),
    ("10Mbps", "1.01bps", "s.toml:5:8: `rate`: `1.01bps` is not a whole number of bits per second"),
    (
        "[[link]]\nbetween = [\"server\", \"client\"]\nrate = \"10Mbps\"\ndelay = \"20ms\"\n",
        "",
        "s.toml:5:8: `from`: no link mentions a node `server`; the file has no link; a `[[link]]` names its two nodes",
    ),
    ("10Mbps", "0bps", "s.toml:5:8: `rate`: must be more than zero, for example `10Mbps`"),
    (
        "10Mbps",
        "10mbps",
        "s.toml:5:8: `rate`: `10mbps` has the unknown unit `mbps` (`m` is milli, `M` is mega); write a rate such as `10Mbps`, `250kbps` or `1MB/s`",
    ),
    (
        "rate = \"10Mbps\"\n",
        "",
        "s.toml:3:1: `[[link]]` lacks the key `rate`; write for example `rate = \"10Mbps\"`",
    ),
    (
        "\"20ms\"",
        "\"30000000000h\"",
        "s.toml:6:9: `delay`: `30000000000h` is longer than the simulator can count (584 years)",
    ),
    (
        "\"20ms\"",
        "true",
        "s.toml:6:9: `delay` must be a quantity in quotes, such as \"30ms\", not a boolean",
    ),
    (
        "\"20ms\"",
        "\"20ms\"\nquick_start = 1",
        "s.toml:7:15: `quick_start` must be `true`, `false` or a table such as `{ share = 0.9 }`, not an integer",
    ),
    (
        "\"20ms\"",
        "\"20ms\"\nquick_start = { share = 0 }",
        "s.toml:7:25: `share`: must be more than zero; `quick_start = false` answers no request",
    ),
    (
        "\"20ms\"",
        "\"20ms\"\nquick_start = { interval = \"1ns\" }",
        "s.toml:7:28: `interval`: must be from `1ms` to `1h`",
    ),
    (
        "duration = \"100s\"",
        "duration = \"100s\"\nrecord = { bins = \"1ns\" }",
        "s.toml:2:19: `bins`: the run would have more than 1000000 intervals; write at least `100us`",
    ),
    (
        "duration = \"100s\"",
        "duration = \"100s\"\nname = \"a\\u001b[31mb\"",
        "s.toml:2:8: `name`: has a control character, such as a line's end",
    ),
    (
        "\"20ms\"",
        "\"20ms\"\nquick_start = { shar = 1 }",
        "s.toml:7:17: unknown key `shar` in `quick_start`; did you mean `share`?",
    ),
    (
        "algorithm = \"reno\"\n",
        "algorithm = \"reno\"\nslow_start = { name = \"quick-start\", rate_code = 16 }\n",
        "s.toml:12:50: `rate_code`: 16 is outside the range from 1 to 15",
    ),
    ("\"20ms\"", "\"20ms", "s.toml:6:14: not valid TOML: invalid basic string, expected `\"`"),
    ("\"100s\"", "\"0s\"", "s.toml:1:12: `duration`: must be longer than zero"),
    (
        "\"100s\"",
        "100",
        "s.toml:1:12: `duration`: `100` has no unit; write a time such as `30ms`, `1.5s`, `100us` or `2min`",
    ),
    (
        "duration = \"100s\"\n",
        "",
        "s.toml:1:1: the scenario lacks the key `duration`; write for example `duration = \"100s\"`",
    ),
    (
        "duration",
        "title = \"x\"\nduration",
        "s.toml:1:1: unknown key `title` in the scenario; the keys of the scenario are `name`, `description`, `duration`, `seed`, `stack`, `topology`, `link`, `wifi`, `flow`, `outage`, `record`, `testbed`",
    ),
    (
        "duration",
        "seed = -1\nduration",
        "s.toml:1:8: `seed`: -1 is outside the range from 0 to 9223372036854775807",
    ),
    (
        "duration",
        "seed = 99999999999999999999\nduration",
        "s.toml:1:8: `99999999999999999999` does not fit a TOML integer of 64 bits",
    ),
    (
        "delay",
        "loss = { model = \"drop\", probability = \"120%\" }\ndelay",
        "s.toml:6:40: `probability`: `120%` is more than 100 %; write a number from 0 to 1, or from `0%` to `100%`",
    ),
    (
        "delay",
        "loss = { model = \"drop\", probability = -0.1 }\ndelay",
        "s.toml:6:40: `probability`: `-0.1` is negative; write a number from 0 to 1, or from `0%` to `100%`",
    ),
    (
        "delay",
        "loss = { model = \"ber\", rate = nan }\ndelay",
        "s.toml:6:32: `rate`: `nan` is not a probability; write a number from 0 to 1, or from `0%` to `100%`",
    ),
    (
        "delay",
        "loss = { model = \"drop\", rate = 0.1 }\ndelay",
        "s.toml:6:26: unknown key `rate` in `loss`; the keys of `loss` are `model`, `direction`, `probability`",
    ),
    (
        "delay",
        "loss = { model = \"drp\", rate = 0.1 }\ndelay",
        "s.toml:6:18: `model`: unknown value `drp`; did you mean `drop`?",
    ),
    (
        "delay",
        "loss = { probability = 0.1 }\ndelay",
        "s.toml:6:8: `loss` lacks the key `model`; write for example `model = \"drop\"`",
    ),
    ("delay", "loss = 0.1\ndelay", "s.toml:6:8: `loss` must be a table, not a number"),
    (
        "delay",
        "loss = { model = \"list\", packets = [0] }\ndelay",
        "s.toml:6:37: `packets`: 0 is outside the range from 1 to 9223372036854775807",
    ),
    (
        "delay",
        "loss = [{ model = \"list\", packets = [1] }, { model = \"drop\", probability = 1, direction = \"both\" }]\ndelay",
        "s.toml:6:44: `loss`: the forward direction has a loss model already",
    ),
    (
        "delay",
        "queue = 100\ndelay",
        "s.toml:6:9: `queue`: `100` has no unit; write a queue length such as `100pkt`, `64KiB`, `0.5bdp` or `unlimited`",
    ),
    (
        "delay",
        "queue = \"64kb\"\ndelay",
        "s.toml:6:9: `queue`: `64kb` has the unknown unit `kb` (`b` is a bit, `B` is a byte); write a queue length such as `100pkt`, `64KiB`, `0.5bdp` or `unlimited`",
    ),
    (
        "delay",
        "mtu = \"67B\"\ndelay",
        "s.toml:6:7: `mtu`: 67B is outside the range from 68B to 65535B",
    ),
    (
        "delay",
        "mtu = \"576B\"\nqueue = \"infinite\"\ndelay",
        "s.toml:7:9: `queue`: `infinite` is not a queue length; write a queue length such as `100pkt`, `64KiB`, `0.5bdp` or `unlimited`",
    ),
    (
        "delay",
        "queue = { discipline = \"rde\" }\ndelay",
        "s.toml:6:24: `discipline`: unknown value `rde`; did you mean `red`?",
    ),
    (
        "delay",
        "queue = { discipline = \"codel\", alpha = 1 }\ndelay",
        "s.toml:6:33: unknown key `alpha` in `queue` with the discipline `codel`; the keys of `queue` with the discipline `codel` are `discipline`, `limit`, `device`, `target`, `interval`, `ecn`",
    ),
    (
        "delay",
        "queue = { discipline = \"red\", min_threshold = \"20pkt\" }\ndelay",
        "s.toml:6:9: `max_threshold`: 15pkt is less than the `min_threshold` of 20pkt",
    ),
    (
        "delay",
        "queue = { discipline = \"red\", max_threshold = \"20kB\" }\ndelay",
        "s.toml:6:47: `max_threshold`: 20kB and the `min_threshold` of 5pkt must have the same unit: both in packets, both sizes or both in bdp",
    ),
    (
        "delay",
        "queue = { discipline = \"red\", weight = 0 }\ndelay",
        "s.toml:6:40: `weight`: must be more than zero, for example `0.002`",
    ),
    (
        "delay",
        "queue = { discipline = \"threshold\", mark = \"unlimited\" }\ndelay",
        "s.toml:6:44: `mark`: must be a queue length, for example `20pkt`, `30kB` or `0.2bdp`",
    ),
    (
        "delay",
        "queue = { discipline = \"pie\", beta = -1 }\ndelay",
        "s.toml:6:38: `beta`: -1 is outside the range from 0 to 1000",
    ),
    (
        "delay",
        "queue = { discipline = \"dualpi2\", typical_rtt = \"10ms\" }\ndelay",
        "s.toml:6:49: `typical_rtt`: needs `max_rtt`",
    ),
    (
        "delay",
        "queue = { discipline = \"dualpi2\", variant = \"linux\", ramp_start = \"2ms\" }\ndelay",
        "s.toml:6:67: `ramp_start`: `ramp_start` must not be longer than `ramp_end`",
    ),
    (
        "delay",
        "queue = { discipline = \"dualpi2\", coupling = 0.5 }\ndelay",
        "s.toml:6:46: `coupling`: 0.5 is outside the range from 1 to 100",
    ),
    (
        "delay",
        "queue = { discipline = \"fq-codel\", flows = 0 }\ndelay",
        "s.toml:6:44: `flows`: 0 is outside the range from 1 to 65536",
    ),
    (
        "delay",
        "queue = { discipline = \"codel\", interval = \"0s\" }\ndelay",
        "s.toml:6:44: `interval`: must be longer than zero",
    ),
    (
        "delay",
        "framing = \"token-ring\"\ndelay",
        "s.toml:6:11: `framing`: unknown value `token-ring`; `framing` is one of `none`, `ethernet`, `ppp`",
    ),
    (
        "\"server\", \"client\"]",
        "\"server\"]",
        "s.toml:4:11: `between`: a link joins two nodes, not 1",
    ),
    (
        "\"server\", \"client\"]",
        "\"server\", \"server\"]",
        "s.toml:4:11: `between`: a link joins two different nodes, not `server` to itself",
    ),
    (
        "\"server\", \"client\"]",
        "\"server\", \"a b\"]",
        "s.toml:4:22: `between`: `a b` is not a name; a name has letters, digits, `-`, `_` and `.`, and begins with a letter or digit",
    ),
    (
        "\"server\", \"client\"]",
        "\"server\", \"m*\"]",
        "s.toml:4:11: `between`: `*` stands for 1, 2, ... up to `count`, which is missing here",
    ),
    (
        "\"server\", \"client\"]",
        "\"server\", \"client\"]\ncount = 2",
        "s.toml:4:11: `between`: `count` needs a `*` in a name, for example `[\"m*\", \"hub\"]`",
    ),
    (
        "[[link]]",
        "[link]",
        "s.toml:3:1: `link`: write `[[link]]` with two brackets, as there may be many",
    ),
    (
        "[[link]]",
        "link = 3\n[x]",
        "s.toml:4:2: unknown key `x` in the scenario; the keys of the scenario are `name`, `description`, `duration`, `seed`, `stack`, `topology`, `link`, `wifi`, `flow`, `outage`, `record`, `testbed`",
    ),
    (
        "[[link]]",
        "[[link]]\nbetween = [\"x\", \"y\"]\nrate = \"1bps\"\nname = \"up\"\n[[link]]\nname = \"up\"",
        "s.toml:8:8: there is already a link `up`; link names are unique",
    ),
    (
        "to = \"client\"",
        "to = \"cleint\"",
        "s.toml:10:6: `to`: no link mentions a node `cleint`; did you mean `client`?",
    ),
    (
        "to = \"client\"",
        "to = \"server\"",
        "s.toml:10:6: flow `server-server` goes from `server` to itself; give it two nodes",
    ),
    (
        "[[flow]]\nfrom = \"server\"",
        "[[link]]\nbetween = [\"mars\", \"moon\"]\nrate = \"1kbps\"\n[[flow]]\nfrom = \"mars\"",
        "s.toml:13:6: no links lead from `mars` to `client`; join them by a `[[link]]`",
    ),
    (
        "[[flow]]",
        "[[flow]]\nname = \"x\"\nfrom = \"server\"\nto = \"client\"\nalgorithm = \"reno\"\n[[flow]]\nname = \"x\"",
        "s.toml:14:8: there is already a flow `x`; flow names are unique",
    ),
    (
        "\"reno\"",
        "\"rneo\"",
        "s.toml:11:13: `algorithm`: unknown value `rneo`; did you mean `reno`?",
    ),
    (
        "\"reno\"",
        "\"none\"",
        "s.toml:11:13: `none` is for datagrams only; a TCP flow needs an algorithm such as `reno`",
    ),
    (
        "algorithm = \"reno\"\n",
        "",
        "s.toml:8:1: `[[flow]]` lacks the key `algorithm`; write for example `algorithm = \"reno\"`",
    ),
    (
        "\"reno\"",
        "\"reno\"\nparams = { incraese = \"per-ack\" }",
        "s.toml:12:12: unknown key `incraese` in `params` of `reno`; did you mean `increase`?",
    ),
    (
        "\"reno\"",
        "\"reno\"\nparams = { increase = \"per-akc\" }",
        "s.toml:12:23: `increase`: unknown value `per-akc`; did you mean `per-ack`?",
    ),
    (
        "\"reno\"",
        "\"reno\"\nparams = { initial_ssthresh = \"2TiB\" }",
        "s.toml:12:31: `initial_ssthresh`: 2TiB is outside the range from 1B to 1TiB",
    ),
    (
        "\"reno\"",
        "\"reno\"\nstack = { preset = \"riverbd\" }",
        "s.toml:12:20: `preset`: unknown value `riverbd`; did you mean `riverbed`?",
    ),
    (
        "\"reno\"",
        "\"reno\"\nstack = { mss = \"1461B\" }",
        "s.toml:12:17: `mss`: 1461B and 40B of headers exceed the MTU of 1500B between `server` and `client`; write at most `1460B`",
    ),
    (
        "\"reno\"",
        "\"reno\"\nstack = { ecn = \"exact\" }",
        "s.toml:12:17: `ecn`: must be `true`, `false`, `\"accurate\"` or `\"accurate-counter\"`",
    ),
    (
        "\"reno\"",
        "\"reno\"\nstack = { window_validation = \"linux\" }",
        "s.toml:12:31: `window_validation`: must be `true`, `false`, `\"rate-limited\"` or `\"ns3\"`",
    ),
    (
        "algorithm = \"reno\"\n",
        "algorithm = \"reno\"\nslow_start = { name = \"search\", variant = \"draft-10\" }\n",
        "s.toml:12:43: `variant`: unknown value `draft-10`; did you mean `draft-09`?",
    ),
    (
        "algorithm = \"reno\"\n",
        "algorithm = \"reno\"\nslow_start = { name = \"careful-resume\", beta = 0.4 }\n",
        "s.toml:12:48: `beta`: must be a number from 0.5 to 1",
    ),
    (
        "\"reno\"",
        "\"reno\"\nstack = { mss = 1460 }",
        "s.toml:12:17: `mss`: `1460` has no unit; write a size such as `536B`, `64KiB` or `10MB`",
    ),
    (
        "\"reno\"",
        "\"reno\"\nstack = { nagle = \"yes\" }",
        "s.toml:12:19: `nagle` must be `true` or `false`, not a string",
    ),
    (
        "\"reno\"",
        "\"reno\"\nstack = { rto = { min = \"2min\" } }",
        "s.toml:12:17: `rto`: `min` (120s) is longer than `max` (60s)",
    ),
    (
        "\"reno\"",
        "\"reno\"\nstack = { rto = { alpha = 1.5 } }",
        "s.toml:12:27: `alpha`: must be a number from 0 to 1",
    ),
    (
        "\"reno\"",
        "\"reno\"\nstack = { initial_window = \"0mss\" }",
        "s.toml:12:28: `initial_window`: must be more than zero, for example `2mss`",
    ),
    (
        "\"reno\"",
        "\"reno\"\nstack = { dupthresh = 0 }",
        "s.toml:12:23: `dupthresh`: 0 is outside the range from 1 to 1000",
    ),
    (
        "\"reno\"",
        "\"reno\"\nstart = \"100s\"",
        "s.toml:12:9: flow `server-client` starts at 100s, when the run has ended (100s)",
    ),
    (
        "\"reno\"",
        "\"reno\"\ncount = 3\nstagger = \"40s\"\nstart = \"30s\"",
        "s.toml:14:9: flow `server-client` starts at 110s, when the run has ended (100s)",
    ),
    (
        "\"reno\"",
        "\"reno\"\nstart = \"99s\"\njitter = \"1s\"",
        "s.toml:13:10: flow `server-client` may start as late as 99s + 1s, when the run has ended (100s)",
    ),
    (
        "\"reno\"",
        "\"reno\"\ncount = 0",
        "s.toml:12:9: `count`: 0 is outside the range from 1 to 10000",
    ),
    (
        "from = \"server\"",
        "from = \"server*\"",
        "s.toml:8:1: `*` stands for 1, 2, ... up to `count`, which is missing here",
    ),
    (
        "\"reno\"",
        "\"reno\"\ntraffic = { kind = \"bulk\", bytes = \"0B\" }",
        "s.toml:12:36: `bytes`: 0B is outside the range from 1B to 1TiB",
    ),
    (
        "\"reno\"",
        "\"reno\"\ntraffic = { kind = \"bulk\", byte = \"1B\" }",
        "s.toml:12:28: unknown key `byte` in `traffic`; did you mean `bytes`?",
    ),
    (
        "\"reno\"",
        "\"reno\"\ntraffic = { kind = \"cbr\", rate = \"1kbps\", packet = \"1473B\", transport = \"udp\" }",
        "s.toml:11:13: a flow of datagrams has no congestion control; leave `algorithm` out",
    ),
    (
        "algorithm = \"reno\"",
        "traffic = { kind = \"cbr\", rate = \"1kbps\", packet = \"1473B\", transport = \"udp\" }",
        "s.toml:11:52: `packet`: 1473B and 28B of headers exceed the MTU of 1500B between `server` and `client`; write at most `1472B`",
    ),
    (
        "\"reno\"",
        "\"reno\"\ntraffic = { kind = \"coap\", every = \"1s\", size = \"10B\" }",
        "s.toml:11:13: CoAP has no congestion control except its timer, `rto` in `traffic`; leave `algorithm` out",
    ),
    (
        "\"reno\"",
        "\"reno\"\ntraffic = { kind = \"media\", packet = \"1000B\" }",
        "s.toml:11:13: media has its own congestion control, NADA; leave `algorithm` out",
    ),
    (
        "algorithm = \"reno\"",
        "traffic = { kind = \"media\", packet = \"1473B\" }",
        "s.toml:11:38: `packet`: 1473B and 28B of headers exceed the MTU of 1500B between `server` and `client`; write at most `1472B`",
    ),
    (
        "algorithm = \"reno\"",
        "traffic = { kind = \"media\", packet = \"1000B\", min_rate = \"2Mbps\" }",
        "s.toml:11:58: `min_rate`: the maximum rate, 1500kbps, is below the minimum, 2Mbps",
    ),
    (
        "algorithm = \"reno\"",
        "traffic = { kind = \"coap\", every = \"1s\", size = \"0B\" }",
        "s.toml:11:49: `size`: 0B is outside the range from 1B to 65507B",
    ),
    (
        "algorithm = \"reno\"",
        "traffic = { kind = \"coap\", every = \"1s\", size = \"1456B\" }",
        "s.toml:11:49: `size`: 1456B and 45B of headers exceed the MTU of 1500B between `server` and `client`; write at most `1455B`",
    ),
    (
        "algorithm = \"reno\"",
        "traffic = { kind = \"coap\", every = \"1s\", size = \"1B\", response = \"1464B\" }",
        "s.toml:11:66: `response`: 1464B and 37B of headers exceed the MTU of 1500B between `server` and `client`; write at most `1463B`",
    ),
    (
        "algorithm = \"reno\"",
        "traffic = { kind = \"coap\", every = \"1s\", size = \"1B\", nstart = 0 }",
        "s.toml:11:64: `nstart`: 0 is outside the range from 1 to 1000",
    ),
    (
        "algorithm = \"reno\"",
        "traffic = { kind = \"coap\", every = \"1s\", size = \"1B\", rto = { algorithm = \"coaap\" } }",
        "s.toml:11:75: `algorithm`: unknown value `coaap`; did you mean `coap`?",
    ),
    (
        "algorithm = \"reno\"",
        "traffic = { kind = \"coap\", every = \"1s\", size = \"1B\", stop = \"0s\" }",
        "s.toml:11:62: `stop`: 0s is not after the start of `server-client` at 0s",
    ),
    (
        "\"reno\"",
        "\"reno\"\ntraffic = { kind = \"cbr\", rate = \"1kbps\", packet = \"10B\", stop = \"0s\" }",
        "s.toml:12:66: `stop`: 0s is not after the start of `server-client` at 0s",
    ),
    (
        "\"reno\"",
        "\"reno\"\ntraffic = { kind = \"cbr\", rate = \"9Gbps\", packet = \"1B\" }",
        "s.toml:12:11: `traffic`: packets of 1B would fall due more than once a nanosecond",
    ),
    (
        "\"reno\"",
        "\"reno\"\nread = { kind = \"delayed\", after = \"0ms\" }",
        "s.toml:12:36: `after`: must be longer than zero",
    ),
    (
        "\"reno\"",
        "\"reno\"\n[record]\nseries = [\"cwnd\"]",
        "s.toml:13:11: `series`: unknown value `cwnd`; did you mean `cwnd_bytes`?",
    ),
    (
        "\"reno\"",
        "\"reno\"\n[record]\nseries = [\"cwnd_bytes\", \"cwnd_bytes\"]",
        "s.toml:13:25: `series`: occurs twice",
    ),
    (
        "\"reno\"",
        "\"reno\"\n[record]\ncapture = [\"client-server\"]",
        "s.toml:13:12: `capture`: unknown value `client-server`; `capture` is one of `server-client`",
    ),
    (
        "[[link]]",
        "[topology]\nkind = \"ring\"\n[[link]]",
        "s.toml:4:8: `kind`: unknown value `ring`; `kind` is one of `dumbbell`, `star`, `two-path`, `grid`, `chain`",
    ),
    (
        "[[link]]",
        "[topology]\nkind = \"dumbbell\"\npairs = 0\n[[link]]",
        "s.toml:5:9: `pairs`: 0 is outside the range from 1 to 10000",
    ),
    (
        "[[link]]",
        "[topology]\nkind = \"dumbbell\"\npairs = 2\n[[link]]",
        "s.toml:3:1: `[topology]` of the kind `dumbbell` lacks the key `access`; write for example `access = { rate = \"10Mbps\", delay = \"10ms\" }`",
    ),
    (
        "[[link]]",
        "[topology]\nkind = \"dumbbell\"\npairs = 2\naccess = { rate = \"1Mbps\" }\nbottleneck = { rte = \"1Mbps\" }\n[[link]]",
        "s.toml:7:16: unknown key `rte` in `bottleneck`; did you mean `rate`?",
    ),
    (
        "[[flow]]\nfrom = \"server\"\nto = \"client\"\nalgorithm = \"reno\"\n",
        "",
        "s.toml:1:1: a scenario needs at least one flow; add a `[[flow]]`",
    ),
];

#[test]
fn each_mistake_in_a_file_has_one_located_sentence() {
    for (part, instead, expected) in MISTAKES {
        assert!(GOOD.contains(part), "{part}");
        let text = GOOD.replacen(part, instead, 1);
        let error = Scenario::from_str(&text, "s.toml").expect_err(&text);
        assert_eq!(error.to_string(), *expected);
    }
}
