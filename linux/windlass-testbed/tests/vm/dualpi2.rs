//! The simulator's DualPI2 against the kernel's `sch_dualpi2`, which `tests/dualpi2/build` builds.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use nix::sched::{CloneFlags, setns};
use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, Socket, Type};
use windlass_cc::{Span, Time};
use windlass_sim::Simulation;
use windlass_sim::link::{Framing, QueueLimit};
use windlass_sim::queue::{Discipline, DualPi2};
use windlass_skip::skip;
use windlass_testbed::live::namespace::Namespace;
use windlass_testbed::live::netlink::{
    LinkAttribute, Netlink, ROOT, RouteMetric, attribute, attributes,
};
use windlass_testbed::vm::{Job, Kernel};

use crate::{common, job, run};

const MODULE: &str = "sch_dualpi2.ko";
/// Rate of the bottleneck, bytes per second.
const RATE: u32 = 1_250_000;
/// Bytes that the token bucket passes at once.
const BURST: u32 = 3_000;
/// Class of the token bucket, in which DualPI2 waits.
const CLASS: u32 = 1 << 16 | 1;
/// Bytes of a frame around an IP packet, which the kernel counts.
const FRAME: u32 = 14;
const ROUND_TRIP: Duration = Duration::from_millis(40);
/// Time of a transfer, and the part of it that is measured.
const LENGTH: Duration = Duration::from_secs(30);
const MEASURED_FROM: Duration = Duration::from_secs(10);
/// Windows over which delays are averaged, their number, and the observations of the kernel in each.
const WINDOW: Duration = Duration::from_millis(100);
const WINDOWS: u32 = 200;
const SAMPLES: u32 = 10;
/// The kernel shows how long the first packet has waited. On average it waits for half the time of a packet more.
const REST_MS: f64 = 0.6;

/// Fields of IP headers.
const FIELDS: [(&str, u32); 3] = [("ECT(1)", 1), ("ECT(0)", 2), ("Not-ECT", 0)];
/// Datagrams per field, and the time in which they are sent.
const DATAGRAMS: u32 = 4_438;
const SENT_IN: Duration = Duration::from_secs(3);
/// Loads of the queue by datagrams of all fields at once: the datagrams of each field in [`GRID_TIME`], and the figures
/// of the kernel. The queue of the simulator is compared with the same file.
const GRID: &str = "../../conformance/dualpi2/floods.csv";
const GRID_TIME: Duration = Duration::from_secs(60);
/// First port of the receivers; each field has its own.
const PORT: u16 = 7_000;

/// Figures of a queue.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Queue {
    /// Packets that left it, and packets that it dropped.
    passed: u64,
    dropped: u64,
    marked: u64,
    /// Median and 95th percentile of the mean delay in a window, ms.
    median: f64,
    high: f64,
}

/// Returns a job with the module, or `None` if the kernel is another or the module is missing.
fn with_module(kernel: &Kernel, args: &[&str]) -> Option<Job> {
    if !kernel.release.starts_with("7.3") {
        return None;
    }
    let cache = env::var_os("WINDLASS_CACHE").map(PathBuf::from).unwrap_or_else(|| {
        let home = || PathBuf::from(env::var_os("HOME").unwrap_or_default()).join(".cache");
        env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from).join("windlass")
    });
    match fs::read(cache.join("modules").join(&kernel.release).join(MODULE)) {
        Ok(module) => Some(Job { files: vec![(MODULE.to_string(), module)], ..job(args) }),
        Err(e) => {
            skip(format_args!("sch_dualpi2: {e}; `tests/dualpi2/build` builds it"));
            None
        }
    }
}

fn text(e: impl std::fmt::Display) -> String {
    e.to_string()
}

fn load() -> Result<(), String> {
    let file = fs::File::open(MODULE).map_err(text)?;
    nix::kmod::finit_module(&file, c"", nix::kmod::ModuleInitFlags::empty()).map_err(text)
}

/// Runs work in a namespace, in a thread of its own.
fn inside<T: Send>(
    namespace: &Namespace,
    work: impl FnOnce() -> io::Result<T> + Send,
) -> Result<T, String> {
    let work = || {
        setns(namespace, CloneFlags::CLONE_NEWNET)?;
        work()
    };
    let done = thread::scope(|scope| scope.spawn(work).join());
    done.map_err(|_| "a thread has panicked")?.map_err(text)
}

/// Adds a token bucket with DualPI2 to a device.
fn add_bottleneck(netlink: &Netlink, index: u32) -> io::Result<()> {
    // struct tc_ratespec: the kernel computes its table from the rate, as the link layer is named.
    let rate = [&[0, 1, 0, 0, 0, 0, 0, 0][..], &RATE.to_ne_bytes()].concat();
    let ticks = BURST * (1_000_000_000 / RATE) / 64;
    let rest = [100_000, ticks, 0].map(u32::to_ne_bytes).concat();
    let parameters = attribute(1, &[rate, vec![0; 12], rest].concat());
    let options = [parameters, attribute(6, &BURST.to_ne_bytes())].concat();
    netlink.add_discipline(index, ROOT, 1 << 16, "tbf", Some(&options))?;
    netlink.add_discipline(index, CLASS, 2 << 16, "dualpi2", None)
}

/// The datagrams of a field that passed the queue.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Passed {
    received: u32,
    marked: u32,
    /// Time of each on the way, µs.
    delays: Vec<u32>,
}

/// Sends datagrams with the ECN fields through the bottleneck of the loopback device: of each field a number, at equal
/// distances. A field begins a third of its distance after the one before it.
fn flood(counts: [u32; 3], time: Duration) -> io::Result<[Passed; 3]> {
    let tap = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::UDP))?;
    tap.set_recv_buffer_size(1 << 20)?;
    tap.set_read_timeout(Some(Duration::from_millis(500)))?;
    let begin = Instant::now();
    let now = move || begin.elapsed().as_micros() as u32;
    let reader = thread::spawn(move || {
        let (mut passed, mut packet) = (<[Passed; 3]>::default(), [0; 2_000]);
        while let Ok(32..) = (&tap).read(&mut packet) {
            let field = u16::from_be_bytes([packet[22], packet[23]]).wrapping_sub(PORT);
            let Some(passed) = passed.get_mut(usize::from(field)) else { continue };
            let sent = u32::from_ne_bytes([packet[28], packet[29], packet[30], packet[31]]);
            passed.received += 1;
            passed.marked += u32::from(packet[1] & 3 == 3);
            passed.delays.push(now().saturating_sub(sent));
        }
        passed
    });
    let mut ends = Vec::new();
    for ((_, field), port) in FIELDS.iter().zip(PORT..) {
        let place = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
        let sender = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
        sender.set_send_buffer_size(1 << 20)?;
        sender.set_tos_v4(*field)?;
        // The datagrams have a receiver, so that the kernel does not refuse them.
        let receiver = UdpSocket::bind(place)?;
        sender.connect(&place.into())?;
        ends.push((sender, receiver));
    }
    let mut all: Vec<(Duration, usize)> = Vec::new();
    for (field, count) in counts.into_iter().enumerate() {
        all.extend((0..count).map(|i| (time * (3 * i + field as u32) / (3 * count), field)));
    }
    all.sort();
    for (due, field) in all {
        thread::sleep((begin + due).saturating_duration_since(Instant::now()));
        let mut payload = [0; 972];
        payload[..4].copy_from_slice(&now().to_ne_bytes());
        let _ = ends[field].0.send(&payload);
    }
    reader.join().map_err(|_| io::Error::other("the reader has panicked"))
}

/// Runs work in a namespace whose loopback device has the bottleneck.
fn at_bottleneck<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> Result<T, String> {
    let namespace = Namespace::new().map_err(text)?;
    inside(&namespace, || {
        let netlink = Netlink::open()?;
        // DualPI2 does not act while less than two packets of the largest size wait.
        netlink.bring_up(1, &[LinkAttribute::Mtu(1_500)])?;
        add_bottleneck(&netlink, 1)?;
        work()
    })
}

/// Floods one queue with each field.
pub fn flood_all() -> Result<Vec<u8>, String> {
    load()?;
    let only = |field| [0, 1, 2].map(|each| if each == field { DATAGRAMS } else { 0 });
    let counts = at_bottleneck(|| {
        let passed = |field: usize| {
            flood(only(field), SENT_IN).map(|all| [all[field].received, all[field].marked])
        };
        [0, 1, 2].map(passed).into_iter().collect::<io::Result<Vec<_>>>()
    })?;
    serde_json::to_vec(&counts).map_err(text)
}

pub fn floods(kernel: &Kernel) {
    let Some(job) = with_module(kernel, &["dualpi2", "flood"]) else { return };
    let answer = run(kernel, &job);
    assert_eq!(answer.output, run(kernel, &job).output, "the same packets have the same fate");
    let counts: Vec<[u32; 2]> = serde_json::from_slice(&answer.output).expect("counts");
    // Marks and their deviation: all but the first packets, p² at random, and none. The simulator's test
    // `floods_have_the_marks_and_drops_of_the_kernel` has the same bounds.
    let known = [(3_695, 37), (347, 56), (0, 0)];
    for (((field, _), [received, marked]), (marks, most)) in FIELDS.iter().zip(&counts).zip(known) {
        println!("  {field}: {} sent, {received} received, {marked} marked", DATAGRAMS);
        assert!(received.abs_diff(3_721) <= 37, "{field}: {received} received");
        assert!(marked.abs_diff(marks) <= most, "{field}: {marked} marked");
    }
}

/// Loads the queue with datagrams of all fields. Returns the received and the marked datagrams of each field, and the
/// median and the 95th percentile of the delays in both queues, µs.
pub fn grid(counts: [&str; 3]) -> Result<Vec<u8>, String> {
    load()?;
    let [l, classic, plain] = counts.map(|count| count.parse().unwrap_or(0));
    let [l, classic, plain] = at_bottleneck(|| flood([l, classic, plain], GRID_TIME))?;
    let mut figures: Vec<u32> = [&l, &classic, &plain]
        .into_iter()
        .flat_map(|passed| [passed.received, passed.marked])
        .collect();
    for mut delays in [l.delays, [classic.delays, plain.delays].concat()] {
        delays.sort_unstable();
        let of = |share| delays.get(delays.len() * share / 100).copied().unwrap_or(0);
        figures.extend([of(50), of(95)]);
    }
    serde_json::to_vec(&figures).map_err(text)
}

pub fn grids(kernel: &Kernel) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(GRID);
    let kept = fs::read_to_string(&file).expect("the grid");
    let writes = env::var_os("WINDLASS_BLESS").is_some();
    let mut new = format!("{}\n", kept.lines().next().expect("a head"));
    // A load takes a quarter of a minute. A test has three of them.
    for line in kept.lines().skip(1).step_by(if writes { 1 } else { 4 }) {
        let words: Vec<&str> = line.split(',').collect();
        let Some(job) = with_module(kernel, &["dualpi2", "grid", words[0], words[1], words[2]])
        else {
            return;
        };
        let figures: Vec<u32> = serde_json::from_slice(&run(kernel, &job).output).expect("figures");
        let figures: Vec<String> = figures.iter().map(u32::to_string).collect();
        new += &format!("{},{}\n", words[..3].join(","), figures.join(","));
    }
    if writes {
        fs::write(file, new).expect("the grid is written");
        return;
    }
    // Random numbers depend on the guest's program, and marks on them.
    for (now, then) in new.lines().skip(1).zip(kept.lines().skip(1).step_by(4)) {
        let figures = |line: &str| -> Vec<f64> {
            line.split(',').map(|n| n.parse().expect("a number")).collect()
        };
        for (place, (a, b)) in figures(now).into_iter().zip(figures(then)).enumerate() {
            let most = match place {
                4 | 6 | 8 => (0.01 * b).max(5.0 * b.sqrt()),
                0..9 => 0.01 * b,
                _ => 0.06 * b,
            };
            assert!((a - b).abs() <= most, "figure {place}: now {now}, before {then}");
        }
    }
}

/// Figures of the discipline now: packets sent and dropped, marks, and the delay of the C queue, µs.
fn look(netlink: &Netlink, index: u32) -> io::Result<[u64; 4]> {
    const STATS2: u16 = 7;
    let all = netlink.discipline(index, CLASS)?;
    let stats = all.iter().find(|(kind, _)| *kind == STATS2).map_or(&[][..], |(_, value)| value);
    let word = |value: &[u8], at: usize| {
        let bytes = value.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        u64::from(bytes.map_or(0, u32::from_ne_bytes))
    };
    let mut figures = [0; 4];
    for (kind, value) in attributes(stats) {
        match kind {
            // gnet_stats_basic: bytes, packets; gnet_stats_queue: length, backlog, drops; the discipline's own.
            1 => figures[0] = word(value, 8),
            3 => figures[1] = word(value, 8),
            4 => (figures[2], figures[3]) = (word(value, 24), word(value, 4)),
            _ => {}
        }
    }
    Ok(figures)
}

/// Median and 95th percentile.
fn percentiles(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let of = |share: usize| values.get(values.len() * share / 100).copied().unwrap_or(0.0);
    (of(50), of(95))
}

/// Addresses of the sender and the receiver.
const ENDS: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2)];

/// Joins two ends by a router with the bottleneck; the round-trip time is on the way back. The bottleneck cannot be at
/// the sender, where TCP keeps its own queue short.
fn join(ends: [&Namespace; 2], router: &Namespace, ecn: &str) -> Result<(), String> {
    use std::os::fd::AsFd;
    inside(router, || {
        let set = |name: &str, value| fs::write(format!("/proc/sys/net/ipv4/{name}"), value);
        set("conf/all/forwarding", "1")?;
        set("conf/all/proxy_arp", "1")?;
        let netlink = Netlink::open()?;
        for (place, end) in ends.into_iter().enumerate() {
            let name = ["r0", "r1"][place];
            netlink.add_pair(name, "end", end.as_fd())?;
            set(&format!("neigh/{name}/proxy_delay"), "0")?;
            let index = nix::net::if_::if_nametoindex(name)?;
            netlink.bring_up(index, &[LinkAttribute::GsoMaxSegs(1)])?;
            netlink.add_address(index, Ipv4Addr::new(10, 0, 0, 11 + place as u8))?;
            netlink.add_route(index, ENDS[place])?;
            if place == 1 {
                add_bottleneck(&netlink, index)?;
            }
        }
        Ok(())
    })?;
    for (place, end) in ends.into_iter().enumerate() {
        inside(end, move || {
            fs::write("/proc/sys/net/ipv4/tcp_ecn", ecn)?;
            let netlink = Netlink::open()?;
            let index = nix::net::if_::if_nametoindex("end")?;
            netlink.bring_up(index, &[LinkAttribute::GsoMaxSegs(1)])?;
            netlink.add_address(index, ENDS[place])?;
            netlink.add_default_route(index, &[RouteMetric::InitCwnd(10)])?;
            if place == 0 {
                return Ok(());
            }
            // struct tc_netem_qopt: delay in ticks of 64 ns, limit, loss, gap, duplicates, jitter.
            let ticks = (ROUND_TRIP.as_nanos() / 64) as u32;
            let options = [ticks, 10_000, 0, 0, 0, 0].map(u32::to_ne_bytes).concat();
            netlink.add_discipline(index, ROOT, 1 << 16, "netem", Some(&options))
        })?;
    }
    Ok(())
}

/// Sends bulk data over the bottleneck, and observes its queue.
pub fn transfer(algorithm: &str, flows: &str, ecn: &str) -> Result<Vec<u8>, String> {
    load()?;
    let flows: usize = flows.parse().map_err(text)?;
    let new = || Namespace::new().map_err(text);
    let (from, to, router) = (new()?, new()?, new()?);
    join([&from, &to], &router, ecn)?;
    let listener = inside(&to, || TcpListener::bind("0.0.0.0:7000"))?;
    // These threads end with the guest.
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut bytes = vec![0; 1 << 16];
                while let Ok(1..) = stream.read(&mut bytes) {}
            });
        }
    });
    let over = AtomicBool::new(false);
    let queue = thread::scope(|scope| {
        for _ in 0..flows {
            let mut stream = inside(&from, || {
                let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
                socket.set_tcp_congestion(algorithm.as_bytes())?;
                socket.connect(&SocketAddrV4::new(ENDS[1], 7_000).into())?;
                Ok(TcpStream::from(socket))
            })?;
            let over = &over;
            scope.spawn(move || {
                let bytes = vec![0; 1 << 16];
                while !over.load(Ordering::Relaxed) && stream.write_all(&bytes).is_ok() {}
            });
        }
        let queue = inside(&router, || {
            let netlink = Netlink::open()?;
            let index = nix::net::if_::if_nametoindex("r1")?;
            thread::sleep(MEASURED_FROM);
            let before = look(&netlink, index)?;
            let mut means = Vec::new();
            for _ in 0..WINDOWS {
                let mut sum = 0;
                for _ in 0..SAMPLES {
                    thread::sleep(WINDOW / SAMPLES);
                    sum += look(&netlink, index)?[3];
                }
                means.push(sum as f64 / f64::from(SAMPLES) / 1e3 + REST_MS);
            }
            let after = look(&netlink, index)?;
            let [passed, dropped, marked] = [0, 1, 2].map(|place| after[place] - before[place]);
            let (median, high) = percentiles(means);
            Ok(Queue { passed, dropped, marked, median, high })
        });
        over.store(true, Ordering::Relaxed);
        queue
    })?;
    serde_json::to_vec(&queue).map_err(text)
}

/// Means of the same transfer in the simulator, whose marks are random.
fn simulated(algorithm: &str, flows: usize, ecn: bool) -> Queue {
    const SEEDS: u64 = 8;
    let all: Vec<Queue> =
        (1..=SEEDS).map(|seed| simulated_once(algorithm, flows, ecn, seed)).collect();
    let count = |of: fn(&Queue) -> u64| all.iter().map(of).sum::<u64>() / SEEDS;
    let delay = |of: fn(&Queue) -> f64| all.iter().map(of).sum::<f64>() / SEEDS as f64;
    Queue {
        passed: count(|queue| queue.passed),
        dropped: count(|queue| queue.dropped),
        marked: count(|queue| queue.marked),
        median: delay(|queue| queue.median),
        high: delay(|queue| queue.high),
    }
}

fn simulated_once(algorithm: &str, flows: usize, ecn: bool, seed: u64) -> Queue {
    let mut link = common::link(u64::from(RATE) * 8, ROUND_TRIP.as_millis() as u64 / 2);
    link.discipline = Discipline::DualPi2(DualPi2::LINUX);
    link.queue = QueueLimit::Packets(10_000);
    link.framing = Framing { frame_bytes: FRAME, ..Framing::NONE };
    let all = (0..flows).map(|_| {
        let mut stack = windlass_tcp::stack::LINUX;
        stack.ecn = ecn.into();
        common::bulk(stack, algorithm, None)
    });
    let mut config = common::config(vec![link], all.collect());
    config.duration = Time::ZERO + Span(LENGTH.as_nanos() as u64);
    config.seed = seed;
    let mut simulation = Simulation::new(config).expect("a valid configuration");
    let mut look = |at: Duration| {
        simulation.run_until(Time::ZERO + Span(at.as_nanos() as u64));
        let link = simulation.clone().finish().expect("packets conserved").links[0].clone();
        (link.mean_queue_delay_ms * link.delivered as f64, link)
    };
    let (mut sum, first) = look(MEASURED_FROM);
    let (mut last, mut means) = (first.clone(), Vec::new());
    for window in 1..=WINDOWS {
        let (total, link) = look(MEASURED_FROM + WINDOW * window);
        means.push((total - sum) / (link.delivered - last.delivered).max(1) as f64);
        (sum, last) = (total, link);
    }
    let (median, high) = percentiles(means);
    Queue {
        passed: last.delivered - first.delivered,
        dropped: last.drops_queue - first.drops_queue,
        marked: last.marks - first.marks,
        median,
        high,
    }
}

pub fn transfers(kernel: &Kernel) {
    for (algorithm, flows, ecn) in
        [("cubic", 1, true), ("cubic", 4, true), ("reno", 2, true), ("cubic", 4, false)]
    {
        let (count, switch) = (flows.to_string(), u8::from(ecn).to_string());
        let args = ["dualpi2", algorithm, &count, &switch];
        let Some(job) = with_module(kernel, &args) else { return };
        let real: Queue =
            serde_json::from_slice(&run(kernel, &job).output).expect("figures of a queue");
        let ours = simulated(algorithm, flows, ecn);
        println!("  {flows} {algorithm}, ECN {ecn}: kernel {real:?}");
        println!("  {flows} {algorithm}, ECN {ecn}: simulator {ours:?}");
        // TCP's own differences move the queue too. A transfer has few marks, so that their number varies.
        assert!((real.median - ours.median).abs() < 2.0, "median delay");
        assert!((real.high / ours.high - 1.0).abs() < 0.15, "95th percentile of the delay");
        let [a, b] = [real, ours].map(|queue| (queue.marked + queue.dropped) as f64);
        assert!((a - b).abs() < 0.3 * b + 4.0 * b.sqrt(), "{a} and {b} marks and drops");
        assert_eq!(real.marked > 0, ecn, "marks");
    }
}
