//! Mistakes in a Wi-Fi cell, and the error message of each.

use windlass_lab::scenario::Scenario;

use crate::scenario_wifi::CELL;

/// A part of [`CELL`], its replacement, and the expected error.
const MISTAKES: &[(&str, &str, &str)] = &[
    (
        "access_point =",
        "acess_point =",
        "s.toml:5:1: unknown key `acess_point` in `[[wifi]]`; did you mean `access_point`?",
    ),
    (
        "\"802.11g\"",
        "\"802.11x\"",
        "s.toml:4:12: `standard`: unknown value `802.11x`; did you mean `802.11b`?",
    ),
    (
        "standard = \"802.11g\"\n",
        "",
        "s.toml:3:1: `[[wifi]]` lacks the key `standard`; write for example `standard = \"802.11g\"`",
    ),
    (
        "access_point = \"ap\"\n",
        "",
        "s.toml:3:1: `[[wifi]]` lacks the key `access_point`; write for example `access_point = \"r1\"`",
    ),
    (
        "[\"s1\", \"s2\"]",
        "[]",
        "s.toml:6:12: `stations`: a cell needs at least one station, for example [\"s1\"]",
    ),
    (
        "[\"s1\", \"s2\"]",
        "[\"s1\", \"s1\"]",
        "s.toml:6:19: `s1` occurs twice; a node has one station in a cell",
    ),
    (
        "[\"s1\", \"s2\"]",
        "[\"s1\", \"ap\"]",
        "s.toml:6:19: `ap` occurs twice; a node has one station in a cell",
    ),
    (
        "[\"s1\", \"s2\"]",
        "\"s*\"",
        "s.toml:6:12: `stations`: write the stations as an array, or `\"s*\"` with a `count`, the `*` standing for 1, 2, ...",
    ),
    (
        "[\"s1\", \"s2\"]",
        "[\"s1\"]\ncount = 2",
        "s.toml:6:12: `stations`: `count` belongs to a pattern such as `stations = \"s*\"`",
    ),
    (
        "access_point",
        "rate = \"11Mbps\"\naccess_point",
        "s.toml:5:8: `rate`: 802.11g has no rate of 11Mbps; its rates are 6Mbps, 9Mbps, 12Mbps, 18Mbps, 24Mbps, 36Mbps, 48Mbps, 54Mbps",
    ),
    (
        "access_point",
        "control_rate = \"7Mbps\"\naccess_point",
        "s.toml:5:16: `control_rate`: 802.11g has no rate of 7Mbps; its rates are 6Mbps, 9Mbps, 12Mbps, 18Mbps, 24Mbps, 36Mbps, 48Mbps, 54Mbps",
    ),
    (
        "access_point",
        "radius = 10\naccess_point",
        "s.toml:5:10: `radius`: `10` has no unit; write a distance such as `10m`, `2.5m` or `1.2km`",
    ),
    (
        "access_point",
        "radius = \"-1m\"\naccess_point",
        "s.toml:5:10: `radius`: a radius is not negative, for example `10m`",
    ),
    (
        "access_point",
        "queue = \"1bdp\"\naccess_point",
        "s.toml:5:9: `queue`: stations share the air, so that none has a bandwidth-delay product; write packets or bytes such as `100pkt` or `64KiB`",
    ),
    (
        "access_point",
        "queue = \"0pkt\"\naccess_point",
        "s.toml:5:9: `queue`: must have room for the packet that is being sent: `1pkt` or more",
    ),
    (
        "access_point",
        "rts = \"sometimes\"\naccess_point",
        "s.toml:5:7: `rts`: must be `never`, `always`, or the size of a frame above which it is used, such as `500B`",
    ),
    (
        "access_point",
        "power = \"16\"\naccess_point",
        "s.toml:5:9: `power`: `16` has no unit; write a power such as `16dBm`",
    ),
    (
        "access_point",
        "power = \"999dBm\"\naccess_point",
        "s.toml:5:9: `power`: 999dBm is outside the range from -300 to 300dBm",
    ),
    (
        "access_point",
        "mtu = \"3kB\"\naccess_point",
        "s.toml:5:7: `mtu`: 3kB is outside the range from 68B to 2296B",
    ),
    (
        "access_point",
        "scheduling = \"fair\"\naccess_point",
        "s.toml:5:14: `scheduling`: unknown value `fair`; `scheduling` is one of `fifo`, `pf`, `fpf`",
    ),
    (
        "access_point",
        "scheduling = { rule = \"pf\", reading = \"literal\" }\naccess_point",
        "s.toml:5:29: unknown key `reading` in `scheduling` `pf`; the keys of `scheduling` `pf` are `rule`, `window`, `users`",
    ),
    (
        "access_point",
        "scheduling = { rule = \"pf\", window = 1 }\naccess_point",
        "s.toml:5:38: `window`: 1 is outside the range from 2 to 1000000",
    ),
    (
        "\"802.11g\"",
        "\"802.15.4\"\nrts = \"always\"",
        "s.toml:5:7: `rts`: 802.15.4 has no `rts`: it is 802.11's; `lowpan` has the keys of 802.15.4",
    ),
    (
        "access_point",
        "lowpan = { max_retries = 7 }\naccess_point",
        "s.toml:5:10: `lowpan`: 802.11g has no `lowpan`: it is for `standard = \"802.15.4\"`",
    ),
    (
        "\"802.11g\"",
        "\"802.15.4\"\nlowpan = { retry_delay = \"1min\" }",
        "s.toml:5:26: `retry_delay`: must be at most `10s`",
    ),
    (
        "\"802.11g\"",
        "\"802.15.4\"\nmtu = \"2200B\"",
        "s.toml:5:7: `mtu`: 2200B is outside the range from 68B to 2027B",
    ),
    (
        "\"802.11g\"",
        "\"802.15.4\"\nlowpan = { mac_header = \"100B\", ip_header = \"30B\" }",
        "s.toml:5:10: `lowpan`: headers must leave room for 8 bytes in a fragment: a frame holds 127 bytes, and the MAC header of 100 and the compressed IP header of 30 leave too few, or are themselves shorter than 5 and 2 bytes",
    ),
    (
        "access_point",
        "short_retry_limit = 0\naccess_point",
        "s.toml:5:21: `short_retry_limit`: 0 is outside the range from 1 to 255",
    ),
    (
        "access_point",
        "capture = \"-1dB\"\naccess_point",
        "s.toml:5:11: `capture`: must not be negative: a weaker frame never survives",
    ),
    (
        "access_point",
        "path_loss = { model = \"disc\", receive = \"20m\", sense = \"10m\" }\naccess_point",
        "s.toml:5:56: `sense`: what is received is sensed too: at least `20m`",
    ),
    (
        "access_point",
        "path_loss = { exponent = 30 }\naccess_point",
        "s.toml:5:26: `exponent`: 30 is outside the range from 0.1 to 20",
    ),
    (
        "access_point",
        "path_loss = { model = \"disc\", receive = \"20m\" }\nloss = { model = \"snr\" }\naccess_point",
        "s.toml:6:8: `loss`: `snr` needs powers, and the `path_loss` model `disc` knows none; use `log-distance` or `friis`",
    ),
    (
        "access_point",
        "loss = { model = \"drop\", probability = 0.1, direction = \"both\" }\naccess_point",
        "s.toml:5:45: unknown key `direction` in `loss`; the keys of `loss` are `model`, `probability`",
    ),
    (
        "access_point",
        "hops = \"in-range\"\naccess_point",
        "s.toml:5:8: `hops`: stations talk to their access point only; `hops` is for `ad-hoc`",
    ),
    (
        "access_point",
        "mode = \"ad-hoc\"\naccess_point",
        "s.toml:6:16: `access_point`: a cell with `mode = \"ad-hoc\"` has no access point",
    ),
    (
        "\"s2\"]",
        "{ node = \"s2\", at = [\"1m\"] }]",
        "s.toml:6:39: `at`: a place has two coordinates, not 1; write [\"3m\", \"-4m\"]",
    ),
    (
        "\"s2\"]",
        "{ node = \"s2\", on = [\"1m\"] }]",
        "s.toml:6:34: unknown key `on` in a table in `stations`; the keys of a table in `stations` are `node`, `at`, `queue`, `sleep`, `battery`",
    ),
    (
        "\"s2\"]",
        "{ node = \"s2\", at = [\"2000km\", \"0m\"] }]",
        "s.toml:6:40: `at`: 2000km is farther than `1000km`",
    ),
    (
        "\"s2\"]",
        "{ node = \"s2\", at = [\"1km\", \"0m\"] }]",
        "s.toml:6:19: station \"s2\" is out of range of \"ap\": they are 1000 m apart, frames arrive at -114.2 dBm, and at least -82.0 dBm are needed; move it nearer (`at`, `radius`), or change `power`, `sensitivity` or `path_loss`",
    ),
    (
        "access_point",
        "path_loss = { model = \"disc\", receive = \"5m\" }\naccess_point",
        "s.toml:7:13: station \"s1\" is out of range of \"ap\": they are 10 m apart, and frames are received up to 5 m; move it nearer or increase the range of `path_loss`",
    ),
    (
        "from = \"s1\"",
        "from = \"s3\"",
        "s.toml:14:8: `from`: no link or cell mentions a node `s3`; did you mean `s1`?",
    ),
    (
        "[[link]]",
        "[[wifi]]\nname = \"wifi\"\nstandard = \"802.11b\"\naccess_point = \"ap\"\nstations = [\"x\"]\n[[link]]",
        "s.toml:9:8: there is already a Wi-Fi cell `wifi`; their names are unique",
    ),
    (
        "[[wifi]]",
        "[wifi]",
        "s.toml:3:1: `wifi`: write `[[wifi]]` with two brackets, as there may be many",
    ),
    (
        "algorithm",
        "stack = { mss = \"2kB\" }\nalgorithm",
        "s.toml:16:17: `mss`: 2000B and 40B of headers exceed the MTU of 1500B between `s1` and `server`; write at most `1460B`",
    ),
];

#[test]
fn each_mistake_in_a_cell_has_one_error_message() {
    let mut wrong = Vec::new();
    for (part, instead, expected) in MISTAKES {
        assert!(CELL.contains(part), "{part}");
        let error = Scenario::from_str(&CELL.replacen(part, instead, 1), "s.toml");
        let error = error.map_or_else(|e| e.to_string(), |_| "no error".to_owned());
        if error != *expected {
            wrong.push(format!("expected {expected}\n     got {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
