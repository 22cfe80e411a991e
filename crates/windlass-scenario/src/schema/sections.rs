//! The tables of a scenario file and their keys.

use windlass_cc::{ALGORITHMS, Flavour};
use windlass_sim::Series;
use windlass_sim::link::Framing;
use windlass_sim::loss::BerFormula;
use windlass_sim::radio::check::MAX_STATIONS;
use windlass_sim::radio::scheduling::Users;
use windlass_sim::radio::scheduling::fitness::Reading;
use windlass_sim::radio::{Consumption, Phy};
use windlass_sim::routing::aodv::AodvParams;
use windlass_tcp::stack::PRESETS;

use super::Quantity::{Decibels, Distance, Energy, Power, Queue, Rate, Share, Size, Time, Watts};
use super::Shape::{
    self, Either, Flag, List, Name, Number, Of, Params, SlowStart, Table, Text, Timer, Whole, Words,
};
use super::{Kinds, section};
use crate::course::{ACKS, JITTER, REORDER};
use crate::model::{Home, Law, NO_ALGORITHM, ReceiveWindow, Transport};
use crate::multipath::MULTIPATH_CONFIG;
use crate::queue::{CODEL, FQ_CODEL, PIE, POLICER, RED, THRESHOLD};
use crate::quick_start::QUICK_START;
use crate::stack::STACK;
use crate::wifi::AODV_CONSTANTS;

fn list(shape: Shape) -> Shape {
    List(Box::new(shape))
}

/// The words of a table of words.
fn words<T>(all: &'static [(&'static str, T)]) -> Shape {
    Words(all.iter().map(|(word, _)| *word).collect())
}

/// A station: the name of its node, or a table.
fn station() -> Shape {
    Either(vec![Name, Table(&STATION)])
}

/// An algorithm by name; datagrams may say that they have none.
fn algorithms() -> Shape {
    Words(ALGORITHMS.iter().map(|info| info.id).chain([NO_ALGORITHM]).collect())
}

/// Series by name; there is one for each field of an inner state.
fn series() -> Shape {
    let all = Series::ALL.iter().map(|(name, _)| *name).chain(["state"]).collect();
    Either(vec![Words(all), Text])
}

/// A rate, steps of rates, or a trace.
fn rates() -> Shape {
    Either(vec![Of(Rate), list(list(Text)), Table(&RATE_TRACE)])
}

/// A delay, or steps of delays.
fn delays() -> Shape {
    Either(vec![Of(Time), list(list(Of(Time)))])
}

/// A length, or a table.
fn queues() -> Shape {
    Either(vec![Of(Queue), Shape::Kinds(&QUEUE)])
}

section! {
    /// The document.
    SCENARIO, "scenario":
    name Text, "string", "the file's name without `.toml`";
    description Text, "string", "empty";
    duration Of(Time), "simulated time, more than zero", "required";
    seed Whole(0, i64::MAX as u64), "integer from 0", "`1`";
    stack Table(&STACK_TABLE), "table: endpoint behaviour of all flows", "`{ preset = \"rfc\" }`";
    topology Shape::Kinds(&TOPOLOGY), "table: a shape that expands to links", "none";
    link list(Table(&LINK)), "tables: links", "none";
    wifi list(Table(&CELL)), "tables: Wi-Fi cells", "none";
    flow list(Table(&FLOW)), "tables: flows, at least one", "required";
    record Table(&RECORD), "table: what to record beside the totals", "nothing";
    testbed Table(&TESTBED), "table: what only kernels are told", "the defaults";
}

section! {
    /// `[[link]]`, but for what it has in common with the parts of a topology.
    LINK, "link" with LINE:
    name Name, "unique name", "`a-b` of `between = [\"a\", \"b\"]`, with `-2`, `-3` ... if taken";
    between list(Name), "two different nodes", "required";
}

section! {
    /// What a link has in common with the parts of a topology.
    LINE, "line":
    rate rates(), "rate, more than zero; or rates from moments on: `[[\"0s\", \"10Mbps\"], [\"20s\", \"2Mbps\"]]`; or a trace: [`rate`](#rate)", "required";
    delay delays(), "propagation delay of one direction, at most 73 years; or delays from moments on: `[[\"0s\", \"20ms\"], [\"10s\", \"60ms\"]]`", "`\"0s\"`";
    queue queues(), "most that may wait, what is being transmitted not counted, or a table: [`queue`](#queue)", "`\"100pkt\"`";
    bdp_rtt Of(Time), "round trip that `bdp` refers to", "the longest of the flows that cross the link";
    mtu Of(Size), "largest IP packet, `68B` to `65535B`", "`\"1500B\"`";
    framing words(&Framing::ALL), "`none`, `ethernet` (18 B of header and check sequence in the frame, which has 64 B at least, 20 B of preamble and gap beside it) or `ppp` (2 B in the frame)", "`\"none\"`";
    loss Either(vec![Shape::Kinds(&LOSS), list(Shape::Kinds(&LOSS))]), "a loss model, or an array of at most one for each direction", "none";
    down list(list(Of(Time))), "when the link is down: pairs of times such as `[[\"10s\", \"20s\"]]`, ascending", "`[]`";
    quick_start Either(vec![Flag, Table(&QUICK_START)]), "whether the routers at both ends answer Quick-Start requests for what they put on the link: `true`, `false` or a table: [`quick_start`](#quick_start)", "`false`";
    jitter Either(vec![Of(Time), Table(&JITTER)]), "by how much the delay differs from packet to packet: a time, evenly so much shorter or longer, or a table: [`jitter`](#jitter-reorder-and-acks)", "none";
    reorder Table(&REORDER), "table: packets that others overtake: [`reorder`](#jitter-reorder-and-acks)", "none";
    acks Either(vec![Words(vec!["none"]), Table(&ACKS)]), "table: acknowledgements that the link thins out or lets go in bursts: [`acks`](#jitter-reorder-and-acks)", "none";
    back Table(&BACK), "table: what is otherwise in the backward direction: [`back`](#back)", "as forward";
}

section! {
    /// A rate by a trace.
    RATE_TRACE, "rate_trace":
    trace Text, "file of delivery opportunities, relative to the scenario's folder; or the opportunities themselves with spaces between them", "required";
}

section! {
    /// What the backward direction of a link has to itself.
    BACK, "back":
    rate rates(), "rate of the backward direction", "as forward";
    delay delays(), "its delay", "as forward";
    queue queues(), "its queue", "as forward";
    jitter Either(vec![Of(Time), Table(&JITTER)]), "its jitter, `\"0s\"` for none", "as forward";
    reorder Table(&REORDER), "its reordering, `{ share = 0 }` for none", "as forward";
    acks Either(vec![Words(vec!["none"]), Table(&ACKS)]), "what becomes of acknowledgements there", "as forward";
}

section! {
    /// Beside the discipline of a queue.
    LIMIT, "limit":
    limit Of(Queue), "most that may wait, what is being transmitted not counted", "`\"100pkt\"`";
}

section! {
    /// A loss model.
    DROP, "drop":
    probability Of(Share), "probability that a packet is lost", "required";
}

section! {
    /// A loss model.
    BER, "ber":
    rate Of(Share), "bit-error rate over the bits of the frame", "required";
    formula words(&BerFormula::ALL), "`exact`: 1 − (1 − BER)^bits; `linear`: BER · bits, at most 1", "`\"exact\"`";
}

section! {
    /// A loss model.
    GILBERT_ELLIOTT, "gilbert-elliott":
    good_to_bad Of(Share), "probability of turning bad, for each packet", "required";
    bad_to_good Of(Share), "probability of turning good, for each packet", "required";
    loss_good Of(Share), "loss probability in the good state", "`0`";
    loss_bad Of(Share), "loss probability in the bad state", "`1`";
}

section! {
    /// A loss model.
    LIST, "list":
    packets list(Whole(1, i64::MAX as u64)), "numbers of the packets to lose, the direction's first being 1. Our sender's first data carry the handshake's last acknowledgement, which Linux sends by itself: there the numbers of the same data are one higher", "required";
}

section! {
    /// Of a link's loss model.
    DIRECTION, "direction":
    direction Words(vec!["forward", "backward", "both"]), "`forward`, `backward` or `both` (each on its own)", "`\"forward\"`";
}

section! {
    /// `[[wifi]]`, but for the air.
    CELL, "wifi" with AIR:
    name Name, "unique name", "`wifi`, then `wifi-2` ...";
    mode Words(vec!["infrastructure", "ad-hoc"]), "`infrastructure`: all packets go to or from the access point; `ad-hoc`: between stations", "`\"infrastructure\"`";
    access_point station(), "a station, in a cell with `infrastructure` only", "required there";
    stations Either(vec![Text, list(station())]), "array of the others, at least one; or a pattern such as `\"s*\"`, where `*` stands for 1, 2, ... up to `count`", "required";
    count Whole(1, MAX_STATIONS as u64), "how many stations a pattern makes", "required with a pattern";
    hops Either(vec![Words(vec!["in-range"]), list(list(Name))]), "between which stations of an ad-hoc cell packets may be routed: `in-range` for all that receive each other, or pairs such as `[[\"a\", \"b\"], [\"b\", \"c\"]]`", "`\"in-range\"`";
}

section! {
    /// What the air of a cell is like; a cell and the senders of a dumbbell have it in common.
    AIR, "air":
    standard words(&Phy::ALL), "`802.11b` (long preamble), `802.11b-short`, `802.11g` (no older stations near), `802.11ah-1mhz` or `802.11ah-2mhz`", "required";
    rate Of(Rate), "rate of data frames, one of the standard's", "the highest";
    control_rate Of(Rate), "rate of RTS, CTS and acknowledgements, one of the standard's", "the highest mandatory rate not above `rate`";
    broadcast_rate Of(Rate), "rate of broadcasts, one of the standard's", "the lowest mandatory rate";
    radius Of(Distance), "stations without a place stand at equal angles on a circle of this radius about the access point, or the origin", "`\"10m\"`";
    queue Of(Queue), "most packets or bytes that a station holds, **the packet being sent included**; no share of a `bdp`", "`\"100pkt\"`";
    mtu Of(Size), "largest IP packet, `68B` to `2296B`", "`\"1500B\"`";
    rts Either(vec![Words(vec!["never", "always"]), Of(Size)]), "before which frames the channel is reserved by RTS and CTS: `never`, `always`, or those larger than a size (IP packet and 36 B)", "`\"never\"`";
    short_retry_limit Whole(1, 255), "attempts of an RTS, or of a data frame without one, 1 to 255", "`7`";
    long_retry_limit Whole(1, 255), "attempts of a data frame after RTS and CTS, 1 to 255", "`4`";
    power Of(Power), "power that stations transmit with, antenna gains included", "`\"16dBm\"`";
    path_loss Shape::Kinds(&PATH_LOSS), "table: how power falls with distance", "`{ model = \"log-distance\" }`";
    carrier_sense Of(Power), "least power that makes the channel busy", "what the standard demands: `-82dBm`, `-98dBm` for `802.11ah-1mhz`, `-92dBm` for `802.11ah-2mhz`";
    sensitivity Of(Power), "least power that a frame is received with", "the same";
    noise_figure Of(Decibels), "noise of the receivers above thermal noise, for `loss = { model = \"snr\" }`", "`\"7dB\"`";
    capture Either(vec![Words(vec!["none"]), Of(Decibels)]), "a frame survives others on the air if it is stronger than their sum by this; `none`: never", "`\"none\"`";
    loss Shape::Kinds(&FRAME_LOSS), "frames that are received in error: `{ model = \"snr\" }` by modulation and signal-to-noise ratio, or a model of [`loss`](#loss) without `direction`, applied to every frame at every receiver", "none";
    eifs Flag, "wait for an extended interframe space after a frame in error, as the standard says", "`true`";
    routing Either(vec![Words(vec!["static", "aodv"]), Shape::Kinds(&ROUTING)]), "how packets cross an ad-hoc cell: `static` (over its `hops`, the fewest), `aodv`, or a table: [`routing`](#routing)", "`\"static\"`";
    off list(list(Text)), "stations that go off for ever, and when: `[[\"n5\", \"20s\"]]`; as if their battery ran out", "none";
    consumption Either(vec![words(&Consumption::ALL), Table(&CONSUMPTION)]), "what the radio of each station draws: a preset, `wavelan-11mbps`, `wavelan-2mbps` or `esp32-c3`, or a table of powers", "energy is not counted";
    battery Of(Energy), "what the battery of each station but the access point holds, such as `20J` or `2.6Wh`", "all are on the mains";
    scheduling Either(vec![Words(vec!["fifo", "pf", "fpf"]), Shape::Kinds(&SCHEDULING)]), "whose packet a station sends next: `fifo`, `pf`, `fpf`, or a table", "`\"fifo\"`";
}

section! {
    /// A station that is more than a name.
    STATION, "station":
    node Name, "name of the node", "required";
    at list(Of(Distance)), "place: two coordinates, east and north", "the access point at `[\"0m\", \"0m\"]`, others on the circle";
    queue Of(Queue), "as above, for this station", "that of the cell";
    battery Of(Energy), "as above, for this station; an access point may have one too", "that of the cell";
}

section! {
    /// What a radio draws, where no preset says so.
    CONSUMPTION, "consumption":
    transmit Of(Watts), "power drawn while it transmits, such as `1350mW`", "required";
    receive Of(Watts), "power drawn while it receives", "required";
    listen Of(Watts), "power drawn while the channel is busy with anything else", "`receive`";
    idle Of(Watts), "power drawn while nothing is on the air", "required";
}

section! {
    /// How power falls with distance: by a power of it.
    LOG_DISTANCE, "log-distance":
    exponent Number, "path-loss exponent, 0.1 to 20", "`3`";
    reference Of(Decibels), "loss at 1 m", "that of free space: 40.2 dB at 2.437 GHz, 31.7 dB at 915 MHz";
}

section! {
    /// All within a distance, and none beyond.
    DISC, "disc":
    receive Of(Distance), "frames are received up to this distance", "required";
    sense Of(Distance), "and sensed up to this one", "`receive`";
}

section! {
    /// Of the schedulers that look at rates.
    FAIR, "fair":
    window Whole(2, 1_000_000), "packets served over which a throughput is averaged, 2 to 1000000", "`256`";
    users words(&Users::ALL), "between whom: each end of a flow (`flow`) or each node that sends (`source`)", "`\"flow\"`";
}

section! {
    /// Of the scheduler that looks at fitness.
    FITNESS, "fitness":
    reading words(&Reading::ALL), "the queue counts by its length, as printed (`literal`), or by the room that is left (`repaired`)", "`\"literal\"`";
}

section! {
    /// A table `routing`, beside the constants of AODV.
    AODV, "aodv" with AODV_CONSTANTS:
    preset words(&AodvParams::ALL), "where the values below come from: `rfc3561`, or `ns3` for what ns-3 3.44 does by default (`my_route_timeout = \"11.2s\"`, `detection = \"both\"`, `hello_always = true`)", "`\"rfc3561\"`";
    disjoint list(list(Text)), "pairs of flows with the same ends that take routes without a common station: `[[\"a\", \"b\"]]`", "none";
}

section! {
    /// Two routers between senders and receivers.
    DUMBBELL, "dumbbell":
    pairs Whole(1, 10_000), "number of senders and of receivers, 1 to 10000", "required";
    access Table(&LINE), "links of the senders and the receivers: table with the keys of a link from `rate` on", "required";
    bottleneck Table(&LINE), "the same", "required";
    wireless Table(&WIRELESS), "table: the senders are stations of a Wi-Fi cell; the keys of [`[[wifi]]`](#wifi) from `standard` on, and `backhaul`", "senders on `access` links";
}

section! {
    /// The air between the senders of a dumbbell.
    WIRELESS, "wireless" with AIR:
    backhaul Table(&LINE), "table with the keys of a link from `rate` on: the access point is a node of its own", "the access point is `r1`";
}

section! {
    /// A client and a server with two paths between them.
    TWO_PATH, "two-path":
    paths list(Table(&LINE)), "two tables with the keys of a link from `rate` on: the bottleneck of each path", "required";
    access Table(&LINE), "the same: the links on both sides of each bottleneck", "`1Gbps`, no delay, `1000pkt`";
    shared Table(&LINE), "the same: a link that both paths go on over", "none";
}

section! {
    /// Rows of stations.
    GRID, "grid" with STATIONS:
    rows Whole(1, MAX_STATIONS as u64), "rows of a grid, 1 to 2000; there are 2 to 2000 stations in all", "required there";
    columns Whole(1, MAX_STATIONS as u64), "stations of each row, 1 to 2000", "required there";
}

section! {
    /// A row of stations.
    CHAIN, "chain" with STATIONS:
    stations Whole(2, MAX_STATIONS as u64), "stations of a chain, 2 to 2000", "required there";
}

section! {
    /// What grids and chains have in common.
    STATIONS, "stations":
    spacing Of(Distance), "from one station to the next", "`\"150m\"`";
    range Of(Distance), "frames are received up to this distance", "1.2 times `spacing`: only the four nearest hear each other";
    sense Of(Distance), "frames are sensed up to this distance and disturb", "2.2 times `range`";
    base Either(vec![Text, list(Of(Distance))]), "a base station: `centre`, one more station named `base` in the middle; a place such as `[\"0m\", \"0m\"]`, the same there; one of the stations, such as `n1`; or `none`. It has no battery", "`\"centre\"`, of a chain `\"none\"`";
    wireless Table(&AIR), "table: the keys of [`[[wifi]]`](#wifi) from `standard` on but `radius`; here `queue` is `\"30pkt\"` by default, and `path_loss` stands in place of `range` and `sense`", "required";
}

section! {
    /// `[[flow]]`.
    FLOW, "flow":
    name Name, "unique name", "`from-to`, with `-2`, `-3` ... if taken";
    from Text, "node that sends the data", "required";
    to Text, "node that receives it", "required";
    algorithm algorithms(), "congestion control; `windlass algorithms` lists them", "required, but for datagrams `none`";
    params Params, "table: parameters of the algorithm", "those of the algorithm";
    slow_start SlowStart, "`standard`, `limited`, `hystart`, `hystart++`, `vegas`, `packet-pair`, `adaptive`, `ccm-ss` or `quick-start`, or a table with a `name` and parameters: `{ name = \"hystart\", detect = \"delay\" }`", "the one that the algorithm wants";
    flavour Words(Flavour::WORDS.to_vec()), "whose version of the algorithm and its slow start runs: `rfc` (the paper's or RFC's), `linux` or `ns3`", "that of `stack`";
    home words(&Home::ALL), "whose build of the algorithm runs in a kernel, with `--on linux` or `linux-vt`: `\"kernel\"`, its own; `\"bpf\"`, this one, put into the kernel as a BPF program, parameters and all (`windlass kernel build` first). Other worlds have one build only", "`\"kernel\"`";
    stack Table(&STACK_TABLE), "table: endpoint behaviour, merged over `[stack]`", "`[stack]`";
    start Of(Time), "time at which the flow begins, before the end of the run", "`\"0s\"`";
    count Whole(1, 10_000), "number of flows like this one, 1 to 10000", "`1`, or the topology's pairs when `*` is used";
    stagger Of(Time), "how much later each of them starts than the one before", "`\"0s\"`";
    jitter Of(Time), "longest further delay of the start: each run draws one from zero up to it, the same for every algorithm. Two flows over one drop-tail queue without random losses lock in phase in a simulation, and have one share whatever the start: compare them over several offsets", "`\"0s\"`";
    traffic Shape::Kinds(&TRAFFIC), "table: what the applications send", "`{ kind = \"bulk\" }`";
    read Shape::Kinds(&READ), "table: how the receiving application reads", "`{ kind = \"immediate\" }`";
    multipath Table(&MULTIPATH), "table: the subflows of a Multipath TCP connection (RFC 8684): [`multipath`](#multipath)", "one ordinary connection";
    draw Either(vec![Flag, list(Text)]), "`true`: each run draws the sending nodes, no two the same, among all that `from` stands for with any text in place of its `*` (`to` left out); or the nodes to draw from, as an array", "senders are as `from` says";
}

section! {
    /// As fast as the connection allows.
    BULK, "bulk":
    bytes Of(Size), "size of the transfer, at most `1TiB`", "endless";
}

section! {
    /// Questions and answers.
    REQUESTS, "request-response":
    request Of(Size), "size of a request; `to` connects and asks, `from` answers", "required";
    response Of(Size), "size of a response; the last one closes the connection", "required";
    requests Whole(1, 1_000_000), "number of requests", "`1`";
    think Of(Time), "time from a response to the next request", "`\"0s\"`";
}

section! {
    /// Packets at equal intervals.
    CBR, "cbr":
    rate Of(Rate), "payload rate", "required";
    packet Of(Size), "payload of a packet", "required";
    spread Of(Time), "of datagrams: each time between two is up to so much shorter or longer, drawn evenly from the seed; less than their mean, `packet` over `rate`", "`\"0s\"`";
    transport words(&Transport::ALL), "`tcp` or `udp`", "`\"tcp\"`";
    stop Of(Time), "simulated time of the end", "the end of the run";
    on list(list(Of(Time))), "of datagrams: intervals of simulated time in which they are sent, such as `[[\"5s\", \"15s\"], [\"35s\", \"45s\"]]`, in place of `start` and `stop`; the flow's `jitter` moves them all, and `active_s` counts them only", "from `start` to `stop`";
    deadline Of(Time), "over TCP: each packet is a message that the other application should have read whole so long after it was written; the results then say how many were late (`messages_late`) and how long they took", "none";
}

section! {
    /// Reading some time after data became readable.
    DELAYED, "delayed":
    after Of(Time), "everything there is, this long after data became readable", "required";
}

section! {
    /// Reading at a rate.
    READ_RATE, "rate":
    rate Of(Rate), "at this rate", "required";
}

section! {
    /// `multipath`, beside what the connection itself has.
    MULTIPATH, "multipath" with MULTIPATH_CONFIG:
    subflows list(Table(&SUBFLOW)), "array of 1 to 8 tables", "required";
    disjoint Flag, "the two subflows that cross a cell with `routing = \"aodv\"` take [routes without a common station](#disjoint-routes)", "`false`";
}

section! {
    /// A subflow.
    SUBFLOW, "subflow":
    name Name, "unique name within the flow", "`1`, `2`, ...";
    via list(Text), "nodes that the subflow leads over from the flow's `from` to its `to`, by the fewest links from one to the next; a `*` as in `from`", "`[]`";
    algorithm algorithms(), "congestion control", "the flow's";
    params Params, "as of a flow: parameters to change", "the flow's, or those of `algorithm`";
    slow_start SlowStart, "as of a flow", "the flow's, or that of `algorithm`";
}

section! {
    /// `[stack]` and `stack`, beside what an endpoint itself has.
    STACK_TABLE, "stack" with STACK:
    preset Words(PRESETS.iter().map(|preset| preset.name).collect()), "one of these names", "`\"rfc\"`";
    flavour Words(Flavour::WORDS.to_vec()), "whose version of an algorithm runs, see below", "that of `preset`";
    rto Timer, "the retransmission timer: table with its `algorithm` and parameters", "that of `preset`";
}

section! {
    /// `[record]`.
    RECORD, "record":
    series list(series()), "series of every flow: `cwnd_bytes`, `ssthresh_bytes`, `in_flight_bytes`, `srtt_ns`, `rto_ns`, `ack_number_bytes`, `rwnd_bytes`, `delivered_bytes`, `pacing_bps`, `state.FIELD` or, for all fields, `state`", "`[]`";
    interval Of(Time), "least time between two samples of a series; `0s` records every change", "`\"0s\"`";
    capture list(Text), "names of links whose packets are written as a pcapng file", "`[]`";
    bins Of(Time), "length of the intervals by which drops of links and progress of flows are counted, for the metrics `run.convergence_cwnd_s` and `run.convergence_rate_s`, in the simulator only; `0s` counts none", "`\"0s\"`";
    delays Flag, "whether the one-way delay of each data packet is measured, for the metrics `flow.NAME.delay_ms`, `delay_min_ms`, `delay_max_ms`, `delay_p50_ms`, `delay_p95_ms`, `delay_p99_ms`, `jitter_ms`, `jitter_smoothed_ms` (RFC 3550) and `gap_ms`, in the simulator only", "`false`";
}

section! {
    /// `[testbed]`.
    TESTBED, "testbed":
    receive_window words(&ReceiveWindow::ALL), "what holds the window to `receive_buffer` where `window_scaling` is off: `\"pinned\"`, the emulator lowers the window field of passing segments, so that the sender sees what the simulator's would; `\"buffer\"`, the kernel's own buffer of twice the size (`tcp_rmem`), whose bookkeeping shrinks the window while segments wait behind a hole", "`\"pinned\"`";
}

/// The shapes that expand to links and cells.
pub(crate) static TOPOLOGY: Kinds = Kinds {
    name: "topology",
    tag: "kind",
    usual: None,
    kinds: &[
        ("dumbbell", &[&DUMBBELL]),
        ("two-path", &[&TWO_PATH]),
        ("grid", &[&GRID]),
        ("chain", &[&CHAIN]),
    ],
};

/// A queue that is more than its length.
pub(crate) static QUEUE: Kinds = Kinds {
    name: "queue",
    tag: "discipline",
    usual: Some("drop-tail"),
    kinds: &[
        ("drop-tail", &[&LIMIT]),
        ("red", &[&LIMIT, &RED]),
        ("codel", &[&LIMIT, &CODEL]),
        ("fq-codel", &[&LIMIT, &FQ_CODEL]),
        ("pie", &[&LIMIT, &PIE]),
        ("threshold", &[&LIMIT, &THRESHOLD]),
        ("policer", &[&LIMIT, &POLICER]),
    ],
};

/// What a link loses.
pub(crate) static LOSS: Kinds = Kinds {
    name: "loss",
    tag: "model",
    usual: None,
    kinds: &[
        ("drop", &[&DIRECTION, &DROP]),
        ("ber", &[&DIRECTION, &BER]),
        ("gilbert-elliott", &[&DIRECTION, &GILBERT_ELLIOTT]),
        ("list", &[&DIRECTION, &LIST]),
    ],
};

/// What a receiver of frames loses.
pub(crate) static FRAME_LOSS: Kinds = Kinds {
    name: "frame_loss",
    tag: "model",
    usual: None,
    kinds: &[
        ("drop", &[&DROP]),
        ("ber", &[&BER]),
        ("gilbert-elliott", &[&GILBERT_ELLIOTT]),
        ("list", &[&LIST]),
        ("snr", &[]),
    ],
};

/// How power falls with distance.
pub(crate) static PATH_LOSS: Kinds = Kinds {
    name: "path_loss",
    tag: "model",
    usual: Some("log-distance"),
    kinds: &[("log-distance", &[&LOG_DISTANCE]), ("friis", &[]), ("disc", &[&DISC])],
};

/// Whose packet a station sends next.
pub(crate) static SCHEDULING: Kinds = Kinds {
    name: "scheduling",
    tag: "rule",
    usual: None,
    kinds: &[("fifo", &[]), ("pf", &[&FAIR]), ("fpf", &[&FAIR, &FITNESS])],
};

/// How packets cross an ad-hoc cell.
pub(crate) static ROUTING: Kinds = Kinds {
    name: "routing",
    tag: "protocol",
    usual: None,
    kinds: &[("static", &[]), ("aodv", &[&AODV])],
};

section! {
    /// Messages at random.
    MESSAGES, "messages":
    every Of(Time), "mean time from one message to the next, and from the start to the first", "required";
    size Of(Size), "mean size of a message, at most `1GiB`", "required";
    gaps words(&Law::ALL), "how the times between messages are distributed: `constant`, `exponential` (a Poisson process) or `pareto`", "`\"exponential\"`";
    sizes words(&Law::ALL), "how sizes are distributed", "`\"constant\"`";
    shape Number, "shape of Pareto distributions, in thousandths at the finest, above 1, at most 1000", "`1.5`";
    most Of(Size), "largest size; what is drawn larger is cut to it", "a thousand times `size`";
    phases list(Of(Time)), "mean lengths of phases of sending and of silence that take turns, exponentially distributed, such as `[\"2s\", \"58s\"]`; silence does not count into `every`", "always sending";
    stop Of(Time), "simulated time of the end", "the end of the run";
    deadline Of(Time), "as of `cbr`: the results then say how many messages were late, how long they took and how old the newest one at the receiver was (`message_age_ms`)", "none";
}

/// What applications send.
pub(crate) static TRAFFIC: Kinds = Kinds {
    name: "traffic",
    tag: "kind",
    usual: None,
    kinds: &[
        ("bulk", &[&BULK]),
        ("request-response", &[&REQUESTS]),
        ("cbr", &[&CBR]),
        ("messages", &[&MESSAGES]),
    ],
};

/// How applications read.
pub(crate) static READ: Kinds = Kinds {
    name: "read",
    tag: "kind",
    usual: None,
    kinds: &[("immediate", &[]), ("delayed", &[&DELAYED]), ("rate", &[&READ_RATE])],
};
