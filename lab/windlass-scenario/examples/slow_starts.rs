//! Compares slow starts of CUBIC over a grid of paths: losses, exit window and time to the full rate.
//!
//! `cargo run --release -p windlass-scenario --example slow_starts -- FOLDER [SEEDS]` (10 seeds by default) writes
//! `slow-starts.csv` (means over the paths of a condition) and `slow-starts-paths.csv` (each path), with
//! 95 % intervals over the seeds (Student). A bulk flow with the preset `linux` and large buffers starts
//! at a random time; 25 RTTs from its start count.
//!
//! * Exit window: the largest cwnd before ssthresh first falls. It is ideal from the product of capacity
//!   and RTT up to this product and the buffer. The distance is in doublings: log2 of the ratio.
//! * Full rate: the first RTT in which 90 % of the capacity arrives, in RTTs from the SYN.
//! * Missing: the capacity that did not arrive, in RTTs of capacity.
//! * Retransmissions are a share of the product of capacity and RTT.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::{env, fs};

use windlass_cc::slow_start::{self, SearchParams, SearchVariant};
use windlass_cc::{AnyParams, Ratio, Setup, Span, Time};
use windlass_sim::config::{Cbr, Config, FlowConfig, LinkConfig, ReadPolicy, Record, Traffic};
use windlass_sim::course::{Distribution, Jitter};
use windlass_sim::link::{Framing, QueueLimit};
use windlass_sim::queue::Discipline;
use windlass_sim::radio::{Hops, Phy, Position, RadioConfig, StationConfig};
use windlass_sim::{RunResult, Series, Simulation};
use windlass_stats::Summary;
use windlass_tcp::stack::{LINUX, StackConfig};
use windlass_tcp::{Pacing, Profile};

/// Payload of a full segment with timestamps, and its size on a link.
const MSS: u64 = 1448;
const PACKET: u64 = 1500;
/// RTTs that count.
const HORIZON: u64 = 25;
/// Intervals of the timeline in an RTT.
const PARTS: u64 = 4;

/// Variations of the paths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Condition {
    /// An empty path of constant delay.
    Clean,
    /// An empty path with a sender that paces, at twice cwnd per RTT.
    Paced,
    /// Exponential jitter with a mean of 5 % of the RTT, in order.
    Jitter,
    /// Datagrams at 30 % of the rate, with random gaps.
    Cross,
    /// A station of an 802.11g cell ten metres from the access point, which is the bottleneck.
    Wifi,
}

impl Condition {
    const ALL: [(Condition, &str); 5] = [
        (Condition::Clean, "clean"),
        (Condition::Paced, "clean, paced"),
        (Condition::Jitter, "jitter"),
        (Condition::Cross, "cross traffic"),
        (Condition::Wifi, "Wi-Fi"),
    ];

    /// The paths: bits per second, RTT in milliseconds, and hundredths of the product in the buffer.
    fn paths(self) -> Vec<Path> {
        let rates: &[u64] = match self {
            Condition::Wifi => &[0],
            _ => &[10, 50, 200],
        };
        let mut paths = Vec::new();
        for mbps in rates {
            for rtt_ms in [20, 60, 200] {
                for buffer in [25, 100, 300] {
                    paths.push(Path { condition: self, bps: mbps * 1_000_000, rtt_ms, buffer });
                }
            }
        }
        paths
    }
}

/// A path.
#[derive(Clone, Copy)]
struct Path {
    condition: Condition,
    /// Rate of the bottleneck; for Wi-Fi the measured capacity.
    bps: u64,
    rtt_ms: u64,
    buffer: u64,
}

/// Results of a start.
#[derive(Clone, Copy)]
struct Start {
    early: f64,
    late: f64,
    full: f64,
    missing: f64,
    retransmitted: f64,
}

const COLUMNS: [&str; 5] = [
    "early exit, doublings",
    "late exit, doublings",
    "full rate, RTTs",
    "missing, RTTs",
    "retransmitted, % of BDP",
];

impl Start {
    fn values(&self) -> [f64; 5] {
        [self.early, self.late, self.full, self.missing, self.retransmitted]
    }
}

/// The slow starts. For a sender that paces, Linux compares a train with the whole RTT, not with half.
fn starts(condition: Condition) -> Vec<(&'static str, slow_start::AnyParams)> {
    let named = |id| slow_start::AnyParams::by_name(id).expect("a slow start");
    let trains = |id| {
        let mut start = named(id);
        let place = start.info().params.iter().position(|p| p.name == "train_share");
        if condition == Condition::Paced {
            start.set(place.expect("a parameter"), Ratio::ONE.0);
        }
        start
    };
    let netdev = SearchParams { variant: SearchVariant::Netdev, ..Default::default() };
    vec![
        ("standard", named("standard")),
        ("HyStart", trains("hystart")),
        ("HyStart++", named("hystart++")),
        ("CCM-SS", trains("ccm-ss")),
        ("SEARCH, draft-09", named("search")),
        ("SEARCH, netdev", slow_start::AnyParams::Search(netdev)),
    ]
}

fn wire(ends: [usize; 2], rate_bps: u64, delay: Span) -> LinkConfig {
    LinkConfig {
        name: format!("{}-{}", ends[0], ends[1]),
        ends,
        rate_bps,
        delay,
        queue: QueueLimit::Unlimited,
        discipline: Discipline::DropTail,
        framing: Framing::NONE,
        loss: Default::default(),
        down: Vec::new(),
        quick_start: None,
        back: None,
        radio: None,
        course: Default::default(),
    }
}

fn flow(
    ends: [usize; 2],
    slow_start: slow_start::AnyParams,
    pacing: Pacing,
    traffic: Traffic,
) -> FlowConfig {
    let mut params = AnyParams::by_name("cubic").expect("CUBIC");
    params.set_common(&Setup { slow_start, ..params.common() });
    let stack = StackConfig {
        receive_buffer: 256 << 20,
        send_buffer: 256 << 20,
        receive_autotuning: false,
        pacing,
        ..LINUX
    };
    FlowConfig {
        name: format!("{}>{}", ends[0], ends[1]),
        from: ends[0],
        to: ends[1],
        profile: Profile::new(stack, params, 1500).into(),
        traffic,
        read: ReadPolicy::Immediate,
        start: Time::ZERO,
        pauses: Vec::new(),
        multipath: None,
    }
}

impl Path {
    fn rtt(&self) -> Span {
        Span::from_millis(self.rtt_ms)
    }

    /// Capacity that the flow can use, packets per second.
    fn capacity(&self) -> f64 {
        let free = if self.condition == Condition::Cross { 0.7 } else { 1.0 };
        free * self.bps as f64 / (8 * PACKET) as f64
    }

    /// Product of capacity and RTT, packets.
    fn product(&self) -> f64 {
        self.capacity() * self.rtt_ms as f64 / 1_000.0
    }

    fn queue(&self) -> u64 {
        let all = self.bps as f64 * self.rtt_ms as f64 / (8_000 * PACKET) as f64;
        ((all * self.buffer as f64 / 100.0).round() as u64).max(5)
    }

    /// A run that ends `rtts` RTTs after the flow's start.
    fn config(&self, start: slow_start::AnyParams, seed: u64, rtts: u64) -> Config {
        let half = Span(self.rtt().0 / 2);
        let bulk = Traffic::Bulk { bytes: None };
        let pacing = if self.condition == Condition::Paced { Pacing::Always } else { Pacing::Off };
        // The start shifts against the jitter, the gaps and the back-offs.
        let begins = Time(1_000_000_000 + seed * 7_919_113);
        let (mut links, mut radios) = (Vec::new(), Vec::new());
        let mut flows = vec![FlowConfig { start: begins, ..flow([0, 2], start, pacing, bulk) }];
        let end = begins + Span(rtts * self.rtt().0);
        if self.condition == Condition::Wifi {
            links.push(wire([0, 1], 1_000_000_000, half));
            radios.push(self.cell());
        } else {
            links.push(wire([0, 1], 10_000_000_000, Span::ZERO));
            let mut middle = wire([1, 2], self.bps, half);
            middle.queue = QueueLimit::Packets(self.queue());
            if self.condition == Condition::Jitter {
                let by = Span(self.rtt().0 / 20);
                let distribution = Distribution::Exponential;
                middle.course[0].jitter = Some(Jitter { distribution, by, overtaking: false });
            }
            links.push(middle);
        }
        if self.condition == Condition::Cross {
            let interval = Span((8 * PACKET * 1_000_000_000 * 10) / (self.bps * 3));
            let packet = PACKET - 28;
            let cbr =
                Cbr { packet, interval, spread: Span(interval.0 - 1), stop: end, deadline: None };
            flows.push(flow([0, 2], start, pacing, Traffic::CbrUdp(cbr)));
        }
        Config {
            nodes: (0..3).map(|n| format!("n{n}")).collect(),
            links,
            radios,
            flows,
            duration: end,
            seed,
            record: Record {
                series: vec![Series::Cwnd, Series::Ssthresh],
                bins: Span(self.rtt().0 / PARTS),
                ..Record::default()
            },
        }
    }

    fn cell(&self) -> RadioConfig {
        let mut radio = RadioConfig::new("air", Phy::G);
        let queue = QueueLimit::Packets(if self.bps == 0 { 1_000 } else { self.queue() });
        let station = |(node, x)| StationConfig {
            node,
            position: Position::metres(x, 0),
            queue,
            battery_uj: None,
            sleep: None,
        };
        radio.stations = [(1, 0), (2, 10)].map(station).to_vec();
        radio.hops = Hops::InRange;
        radio
    }

    /// The path with the measured capacity of the cell: standard slow start over the last two thirds
    /// of a long run.
    fn measured(mut self) -> Path {
        if self.condition == Condition::Wifi {
            let standard = slow_start::AnyParams::default();
            let near = Path { rtt_ms: 20, ..self };
            let result = run(near.config(standard, 1, 300));
            let bins = &result.timeline.as_ref().expect("bins").flows[0].delivered_bytes;
            let late = &bins[bins.len() / 3..];
            let bytes = late.iter().sum::<u64>() as f64;
            let seconds = late.len() as f64 * 0.020 / PARTS as f64;
            self.bps = (bytes / MSS as f64 * (8 * PACKET) as f64 / seconds) as u64;
        }
        self
    }

    fn run(&self, start: slow_start::AnyParams, seed: u64) -> Start {
        let config = self.config(start, seed, HORIZON);
        let begins = config.flows[0].start;
        let result = run(config);
        let of = |series| result.samples.iter().filter(move |s| s.flow == 0 && s.series == series);
        let initial = of(Series::Ssthresh).next().map_or(0, |s| s.value);
        let exit = of(Series::Ssthresh).find(|s| s.value < initial).map_or(Time::NEVER, |s| s.time);
        let before = of(Series::Cwnd).filter(|s| s.time <= exit).map(|s| s.value).max();
        let exit = before.unwrap_or(0) as f64 / MSS as f64;
        let (least, most) = (self.product(), self.product() + self.queue() as f64);
        let all = &result.timeline.as_ref().expect("bins").flows[0].delivered_bytes;
        let part = self.rtt().0 / PARTS;
        let bins = &all[(begins.0 / part) as usize..];
        let rtts = |n: usize| n as f64 / PARTS as f64;
        let wanted = 0.9 * self.product() * MSS as f64;
        let full =
            bins.windows(PARTS as usize).position(|w| w.iter().sum::<u64>() as f64 >= wanted);
        let arrived = bins.iter().sum::<u64>() as f64 / MSS as f64;
        Start {
            early: (least / exit).log2().max(0.0),
            late: (exit / most).log2().max(0.0),
            full: full.map_or(HORIZON as f64, |n| rtts(n + PARTS as usize)),
            missing: rtts(bins.len()) - arrived / self.product(),
            retransmitted: 100.0 * result.flows[0].retransmits as f64 / self.product(),
        }
    }
}

fn run(config: Config) -> RunResult {
    let mut simulation = Simulation::new(config).expect("a valid configuration");
    simulation.run();
    simulation.finish().expect("packets conserved")
}

/// `mean ± half width` of the 95 % interval, or the mean of one value.
fn interval(values: &[f64]) -> String {
    let summary = Summary::of(values).expect("numbers");
    match summary.ci95_mean {
        Some([low, high]) => format!("{:.2} ± {:.2}", summary.mean, (high - low) / 2.0),
        None => format!("{:.2}", summary.mean),
    }
}

/// Means over paths for each seed, or the values of a path, by condition and slow start.
type Rows = BTreeMap<(usize, usize), Vec<[f64; 5]>>;

fn row(text: &mut String, head: &str, of_seeds: &[[f64; 5]]) {
    let cells = (0..COLUMNS.len()).map(|column| {
        let values: Vec<f64> = of_seeds.iter().map(|values| values[column]).collect();
        interval(&values)
    });
    let cells = cells.collect::<Vec<_>>().join(",");
    writeln!(text, "{head},{cells}").expect("a string");
}

fn main() {
    let mut words = env::args().skip(1);
    let folder = words.next().expect("a folder for the tables");
    let seeds: u64 = words.next().map_or(10, |n| n.parse().expect("a number of seeds"));
    let columns = COLUMNS.map(|c| format!("\"{c}\"")).join(",");
    let mut paths = format!("path,rate Mbit/s,RTT ms,buffer BDP,slow start,{columns}\n");
    let mut means = format!("path,slow start,{columns}\n");
    for (condition, name) in Condition::ALL {
        // Nothing is random on a clean path.
        let seeds =
            if matches!(condition, Condition::Clean | Condition::Paced) { 1 } else { seeds };
        let mut rows = Rows::new();
        for path in condition.paths() {
            let path = path.measured();
            for (place, (label, start)) in starts(condition).into_iter().enumerate() {
                let of_seeds: Vec<[f64; 5]> =
                    (1..=seeds).map(|seed| path.run(start, seed).values()).collect();
                let (rate, buffer) = (path.bps as f64 / 1e6, path.buffer as f64 / 100.0);
                let head = format!("\"{name}\",{rate:.1},{},{buffer},\"{label}\"", path.rtt_ms);
                row(&mut paths, &head, &of_seeds);
                for (seed, values) in of_seeds.into_iter().enumerate() {
                    rows.entry((place, seed)).or_default().push(values);
                }
            }
        }
        for (place, (label, _)) in starts(condition).into_iter().enumerate() {
            let of_seeds: Vec<[f64; 5]> =
                (0..seeds as usize).map(|seed| mean(&rows[&(place, seed)])).collect();
            row(&mut means, &format!("\"{name}\",\"{label}\""), &of_seeds);
        }
    }
    fs::write(format!("{folder}/slow-starts.csv"), means).expect("the folder exists");
    fs::write(format!("{folder}/slow-starts-paths.csv"), paths).expect("the folder exists");
}

fn mean(of_paths: &[[f64; 5]]) -> [f64; 5] {
    let n = of_paths.len() as f64;
    std::array::from_fn(|column| of_paths.iter().map(|values| values[column]).sum::<f64>() / n)
}
