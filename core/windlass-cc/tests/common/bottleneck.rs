//! A small deterministic network for tests of state machines. Flows with unlimited data share one
//! drop-tail queue with a fixed rate and a fixed propagation delay.
//!
//! Each transmission is a packet with its own number and its own acknowledgement; a retransmission of
//! lost data has a new number. Three later acknowledgements mark a packet as lost. A second without an
//! acknowledgement marks all packets as lost. Each flow has the events that a host passes to its
//! controller, in the same order.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use windlass_cc::pacer::{self, Pacer};
use windlass_cc::{
    Ack, AnyController, AnyParams, Conn, Control, Phase, RateSampler, SentRecord, Span, Time, flags,
};

pub const MSS: u64 = 1_000;
const REORDERING: u64 = 3;
const TIMEOUT: Span = Span::from_secs(1);

#[derive(Clone, Copy)]
pub struct Path {
    /// Bytes per second.
    pub rate: u64,
    /// Round-trip propagation time.
    pub delay: Span,
    /// Room in the queue, bytes.
    pub buffer: u64,
    /// Packets lost by the path itself, per 65536 packets.
    pub loss: u64,
}

impl Path {
    pub fn new(mbit: u64, delay_ms: u64, buffer: u64) -> Path {
        Path { rate: mbit * 125_000, delay: Span::from_millis(delay_ms), buffer, loss: 0 }
    }

    /// Bandwidth-delay product, bytes.
    pub fn bdp(&self) -> f64 {
        self.rate as f64 * self.delay.0 as f64 * 1e-9
    }
}

pub struct Flow {
    pub params: AnyParams,
    pub controller: AnyController,
    pub control: Control,
    pub conn: Conn,
    /// Bytes that the application still has to send.
    pub data: u64,
    /// Bytes that this flow has in the queue.
    pub queued: u64,
    /// Packets that were dropped.
    pub drops: u64,
    sampler: RateSampler,
    pacer: Pacer,
    outstanding: BTreeMap<u64, SentRecord>,
    next_packet: u64,
    recovery_point: u64,
    window_blocked: Option<Time>,
    last_progress: Time,
    waiting: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Depart,
    Acked { flow: usize, packet: u64 },
    Send { flow: usize },
    Timer { flow: usize },
}

pub struct Bottleneck {
    pub path: Path,
    pub now: Time,
    pub flows: Vec<Flow>,
    pub queued: u64,
    queue: VecDeque<(usize, u64)>,
    events: BinaryHeap<Reverse<(Time, u64, Event)>>,
    count: u64,
    random: u64,
}

impl Bottleneck {
    pub fn new(path: Path) -> Bottleneck {
        Bottleneck {
            path,
            now: Time::from_secs(1),
            flows: vec![],
            queued: 0,
            queue: VecDeque::new(),
            events: BinaryHeap::new(),
            count: 0,
            random: 1,
        }
    }

    /// Adds a flow that begins at `begin` seconds.
    pub fn flow(mut self, params: AnyParams, begin: f64) -> Bottleneck {
        let now = Time(self.now.0 + (begin * 1e9) as u64);
        let conn = Conn { now, ..Conn::new(MSS as u32) };
        let controller = AnyController::init(&params, &conn);
        self.flows.push(Flow {
            control: controller.control(&params, &conn),
            params,
            controller,
            conn,
            data: u64::MAX,
            queued: 0,
            drops: 0,
            sampler: RateSampler::new(now),
            pacer: Pacer::new(&pacer::Params::default()),
            outstanding: BTreeMap::new(),
            next_packet: 0,
            recovery_point: 0,
            window_blocked: None,
            last_progress: now,
            waiting: true,
        });
        let flow = self.flows.len() - 1;
        self.at(now, Event::Send { flow });
        self.at(now + TIMEOUT, Event::Timer { flow });
        self
    }

    /// Seconds since the beginning.
    pub fn seconds(&self) -> f64 {
        (self.now.0 - 1_000_000_000) as f64 * 1e-9
    }

    /// Gives a flow more data.
    pub fn write(&mut self, flow: usize, bytes: u64) {
        self.flows[flow].data += bytes;
        self.send(flow);
    }

    /// Runs for `seconds` seconds and calls `look` after each event.
    pub fn run(&mut self, seconds: f64, mut look: impl FnMut(&Bottleneck)) {
        let end = Time(self.now.0 + (seconds * 1e9) as u64);
        while let Some(&Reverse((at, _, event))) = self.events.peek() {
            if at > end {
                break;
            }
            self.events.pop();
            self.now = at;
            match event {
                Event::Depart => self.depart(),
                Event::Acked { flow, packet } => self.acked(flow, packet),
                Event::Send { flow } => {
                    self.flows[flow].waiting = false;
                    self.send(flow);
                }
                Event::Timer { flow } => self.timer(flow),
            }
            look(self);
        }
        self.now = end;
    }

    fn at(&mut self, when: Time, event: Event) {
        self.count += 1;
        self.events.push(Reverse((when, self.count, event)));
    }

    /// A linear congruential generator (Knuth's MMIX), upper half.
    fn draw(&mut self) -> u32 {
        self.random =
            self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.random >> 32) as u32
    }

    fn service(&self) -> Span {
        Span(MSS * 1_000_000_000 / self.path.rate)
    }

    fn send(&mut self, flow: usize) {
        let now = self.now;
        loop {
            let f = &mut self.flows[flow];
            if f.data < MSS {
                if f.conn.in_flight + MSS <= f.control.cwnd {
                    f.sampler.on_app_limited(f.conn.in_flight);
                }
                return;
            }
            if f.conn.in_flight + MSS > f.control.cwnd {
                f.window_blocked = Some(now);
                return;
            }
            if !f.pacer.ready(now) {
                if !f.waiting {
                    f.waiting = true;
                    let when = f.pacer.next();
                    self.at(when, Event::Send { flow });
                }
                return;
            }
            if f.conn.in_flight == 0 {
                f.last_progress = now;
            }
            let record = f.sampler.on_sent(now, f.conn.in_flight, f.conn.in_flight, MSS);
            f.pacer.on_sent(&pacer::Params::default(), now, MSS, f.control.pacing);
            let packet = f.next_packet;
            f.outstanding.insert(packet, record);
            f.next_packet += 1;
            f.data -= if f.data == u64::MAX { 0 } else { MSS };
            f.conn.in_flight += MSS;
            f.conn.sent += MSS;
            f.conn.next_id += MSS;
            self.arrive(flow, packet);
        }
    }

    fn arrive(&mut self, flow: usize, packet: u64) {
        let unlucky = u64::from(self.draw() >> 16) < self.path.loss;
        if unlucky || self.queued + MSS > self.path.buffer {
            self.flows[flow].drops += 1;
            return;
        }
        if self.queue.is_empty() {
            self.at(self.now + self.service(), Event::Depart);
        }
        self.queue.push_back((flow, packet));
        self.queued += MSS;
        self.flows[flow].queued += MSS;
    }

    fn depart(&mut self) {
        let Some((flow, packet)) = self.queue.pop_front() else { return };
        self.queued -= MSS;
        self.flows[flow].queued -= MSS;
        self.at(self.now + self.path.delay, Event::Acked { flow, packet });
        if !self.queue.is_empty() {
            self.at(self.now + self.service(), Event::Depart);
        }
    }

    fn acked(&mut self, flow: usize, packet: u64) {
        let entropy = self.draw();
        let now = self.now;
        let f = &mut self.flows[flow];
        let Some(record) = f.outstanding.remove(&packet) else { return };
        f.last_progress = now;
        let prior_in_flight = f.conn.in_flight;
        f.conn.in_flight -= MSS;
        f.conn.now = now;
        f.conn.entropy = entropy;
        let rtt = now.since(record.sent_time);
        f.conn.min_rtt = f.conn.min_rtt.min(rtt);
        f.conn.srtt =
            if f.conn.srtt.is_known() { Span((7 * f.conn.srtt.0 + rtt.0) / 8) } else { rtt };
        let blocked = f.window_blocked.is_some_and(|at| now.since(at) < f.conn.srtt);
        f.conn.flags = if blocked { flags::CWND_LIMITED } else { 0 };
        if f.sampler.is_app_limited() {
            f.conn.flags |= flags::APP_LIMITED;
        }
        let late = f.outstanding.range(..(packet + 1).saturating_sub(REORDERING));
        let lost: Vec<u64> = late.map(|(number, _)| *number).collect();
        f.sampler.on_delivered(now, MSS, packet, Some(&record));
        f.conn.delivered = f.sampler.delivered();
        f.conn.una += MSS;
        let fresh = lost.iter().any(|number| *number >= f.recovery_point);
        let bytes = MSS * lost.len() as u64;
        f.lose(&lost);
        f.conn.flight_size = f.conn.in_flight + bytes;
        let rate = f.sampler.sample(f.conn.min_rtt);
        let ack = Ack { lost: bytes, prior_in_flight, rtt, rate, ..Ack::of(MSS) };
        f.controller.on_ack(&f.params, &f.conn, &ack);
        if f.conn.phase == Phase::Open && fresh {
            f.recovery_point = f.next_packet;
            f.phase(Phase::Recovery);
        } else if f.conn.phase != Phase::Open && packet >= f.recovery_point {
            f.phase(Phase::Open);
        }
        f.control = f.controller.control(&f.params, &f.conn);
        self.send(flow);
    }

    fn timer(&mut self, flow: usize) {
        let now = self.now;
        let f = &mut self.flows[flow];
        let due = f.last_progress + TIMEOUT;
        if f.conn.in_flight == 0 || now < due {
            self.at(if now < due { due } else { now + TIMEOUT }, Event::Timer { flow });
            return;
        }
        f.conn.now = now;
        f.conn.flight_size = f.conn.in_flight;
        let lost: Vec<u64> = f.outstanding.keys().copied().collect();
        f.lose(&lost);
        f.recovery_point = f.next_packet;
        f.last_progress = now;
        f.phase(Phase::Loss);
        f.control = f.controller.control(&f.params, &f.conn);
        self.at(now + TIMEOUT, Event::Timer { flow });
        self.send(flow);
    }
}

impl Flow {
    fn lose(&mut self, packets: &[u64]) {
        for number in packets {
            let Some(record) = self.outstanding.remove(number) else { continue };
            let loss = self.sampler.on_lost(&record, MSS);
            self.conn.in_flight -= MSS;
            self.conn.lost = self.sampler.lost();
            self.controller.on_loss(&self.params, &self.conn, &loss);
        }
    }

    fn phase(&mut self, to: Phase) {
        let from = std::mem::replace(&mut self.conn.phase, to);
        self.controller.on_phase(&self.params, &self.conn, from, to);
    }

    /// The value of a field of the controller's trace.
    pub fn traced(&self, name: &str) -> u64 {
        let mut found = None;
        self.controller.trace(&mut |field, value| {
            if field.name == name {
                found = Some(value);
            }
        });
        found.unwrap_or_else(|| panic!("no trace field {name}"))
    }
}

/// Tests slow and fast, short and long paths: the estimates of the bandwidth (in the trace field
/// `bandwidth`) and of the minimum RTT are within 5 % of the path's values, and the path is used.
pub fn assert_estimates_converge(params: AnyParams, bandwidth: &str) {
    for (mbit, delay) in [(2, 20), (20, 40), (100, 10), (10, 200)] {
        let path = Path::new(mbit, delay, 4_000 * MSS);
        let mut net = Bottleneck::new(path).flow(params, 0.0);
        net.run(8.0, |_| {});
        let bw = net.flows[0].traced(bandwidth) as f64;
        assert!((bw / path.rate as f64 - 1.0).abs() < 0.05, "{mbit} Mbit/s: {bw}");
        // The minimum RTT includes one transmission time.
        let least = path.delay.0 as f64 + MSS as f64 * 1e9 / path.rate as f64;
        let rtt = net.flows[0].traced("min_rtt_ns") as f64;
        assert!((rtt / least - 1.0).abs() < 0.05, "{mbit} Mbit/s: {rtt}");
        let before = net.flows[0].conn.delivered;
        net.run(1.5, |_| {});
        let goodput = (net.flows[0].conn.delivered - before) as f64 / 1.5;
        assert!(goodput > 0.9 * path.rate as f64, "{mbit} Mbit/s: {goodput}");
    }
}
