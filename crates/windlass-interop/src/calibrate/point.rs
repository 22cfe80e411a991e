//! What is asked of a link, and the traffic that shows what it delivers.

use std::fmt;

use windlass_cc::{AnyParams, Span, Time};
use windlass_sim::config::{Cbr, Config, FlowConfig, LinkConfig, ReadPolicy, Record, Traffic};
use windlass_sim::link::{Framing, QueueLimit};
use windlass_sim::loss::{BerFormula, LossModel, LossProcess};
use windlass_sim::queue::Discipline;
use windlass_sim::random::{Purpose, Stream};
use windlass_tcp::segment::IPV4_HEADER;
use windlass_tcp::wire::UDP_HEADER;
use windlass_tcp::{Profile, stack};

/// Seed of the error models.
pub(crate) const SEED: u64 = 1;
/// IP bytes of the datagrams that measure rate and queue: a full Ethernet packet.
pub(crate) const FULL: u32 = 1_500;
/// IP bytes of the datagrams that measure delay and loss: short enough for hundreds of them on a slow
/// link.
pub(crate) const SMALL: u32 = 250;
/// Before the first datagram: the applications wait by then.
const BEFORE: Span = Span::from_millis(5);
/// After the last could have arrived.
const AFTER: Span = Span::from_secs(1);
/// Time between two datagrams that measure delay, at least: room for a late one to be gone.
const LEAST_SPACING: Span = Span::from_millis(5);
/// Time between two datagrams that measure loss, at least: any processor follows.
const LEAST_INTERVAL: Span = Span::from_micros(500);

/// A link as it is asked for, the same in both directions but for the loss, which is of the forward
/// one.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// Rate in bits per second; IP packets count as they are.
    pub rate_bps: u64,
    /// Propagation delay.
    pub delay: Span,
    /// Error model.
    pub loss: LossModel,
    /// Most that may wait; a queue without limit is not measured.
    pub queue: QueueLimit,
}

/// What traffic is sent to measure what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Probe {
    /// Datagrams with pauses between them on an idle link: the one-way time.
    Delay,
    /// More datagrams than the link can carry: its rate.
    Rate,
    /// Datagrams at less than the link's rate: which are lost.
    Loss,
    /// A burst into an idle link: how many pass, and how long they take.
    Queue,
}

/// How much is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Datagrams that measure delay.
    pub delays: u64,
    /// Datagrams that measure loss.
    pub losses: u64,
    /// For how long the link is kept busy.
    pub busy: Span,
}

impl Effort {
    /// Enough for a 99th percentile, rare losses and a rate to a fraction of a percent.
    pub const FULL: Effort = Effort { delays: 500, losses: 1_000, busy: Span::from_secs(4) };
    /// A smoke run.
    pub const QUICK: Effort = Effort { delays: 100, losses: 200, busy: Span::from_secs(2) };
}

/// The links that are calibrated: from a sensor's radio to a fast Ethernet, with every error model.
pub fn points() -> Vec<Point> {
    let point = |rate_bps, delay_ms, loss, queue| Point {
        rate_bps,
        delay: Span::from_millis(delay_ms),
        loss,
        queue,
    };
    let bursts = LossModel::GilbertElliott {
        good_to_bad: 0.01,
        bad_to_good: 0.25,
        loss_good: 0.0,
        loss_bad: 0.8,
    };
    vec![
        point(250_000, 50, LossModel::Drop { probability: 0.05 }, QueueLimit::Packets(10)),
        point(
            2_000_000,
            10,
            LossModel::Ber { rate: 1e-5, formula: BerFormula::Exact },
            QueueLimit::Packets(50),
        ),
        point(10_000_000, 20, bursts, QueueLimit::Bytes(20 * u64::from(FULL))),
        point(
            100_000_000,
            1,
            LossModel::List { packets: vec![1, 2, 50, 51, 52, 199] },
            QueueLimit::Unlimited,
        ),
    ]
}

impl Point {
    /// Time on the wire of an IP packet of this number of bytes, rounded up to a nanosecond as the link
    /// does.
    pub fn transmission(&self, ip_len: u32) -> Span {
        Span((u64::from(ip_len) * 8 * 1_000_000_000).div_ceil(self.rate_bps))
    }

    /// Packets of full size (1500 bytes) that the queue holds; `None` without a limit.
    pub fn places(&self) -> Option<u64> {
        match self.queue {
            QueueLimit::Packets(packets) => Some(packets),
            QueueLimit::Bytes(bytes) => Some(bytes / u64::from(FULL)),
            QueueLimit::Unlimited => None,
        }
    }

    /// The probes that make sense here.
    pub fn probes(&self) -> impl Iterator<Item = Probe> {
        let all = [Probe::Delay, Probe::Rate, Probe::Loss, Probe::Queue];
        let bounded = self.places().is_some();
        all.into_iter().filter(move |probe| bounded || *probe != Probe::Queue)
    }

    /// Which of so many datagrams of [`SMALL`] size, numbered from 0, the error model takes: what it
    /// draws with [`SEED`] for the first direction of the first link.
    pub(crate) fn draws(&self, datagrams: u64) -> Vec<u64> {
        let mut process = LossProcess::new(&self.loss, Stream::new(SEED, 0, Purpose::Loss));
        (0..datagrams).filter(|_| process.takes(SMALL)).collect()
    }

    /// Datagrams that a probe sends.
    pub(crate) fn datagrams(&self, probe: Probe, effort: &Effort) -> u64 {
        let places = self.places().unwrap_or(0);
        match probe {
            Probe::Delay => effort.delays,
            Probe::Loss => effort.losses,
            Probe::Rate => effort.busy.0 / self.overload().0,
            Probe::Queue => places + places / 2 + 5,
        }
    }

    /// The configuration of a probe.
    pub fn config(&self, probe: Probe, effort: &Effort) -> Config {
        let (ip_len, interval) = match probe {
            Probe::Delay => (SMALL, self.spacing()),
            Probe::Loss => (SMALL, self.interval()),
            Probe::Rate => (FULL, self.overload()),
            Probe::Queue => (FULL, Span(1)),
        };
        let datagrams = self.datagrams(probe, effort);
        let start = Time::ZERO + BEFORE;
        let sending = Span(interval.0 * datagrams);
        // No probe but the burst is to lose anything in the queue, nor any but one to errors.
        let queue = if probe == Probe::Queue { self.queue } else { QueueLimit::Unlimited };
        let loss = (probe == Probe::Loss).then(|| self.loss.clone());
        let link = LinkConfig {
            name: "wire".into(),
            ends: [0, 1],
            rate_bps: self.rate_bps,
            delay: self.delay,
            queue,
            discipline: Discipline::DropTail,
            framing: Framing::NONE,
            loss: [loss, None],
            down: Vec::new(),
            quick_start: None,
            back: None,
            course: Default::default(),
        };
        let packet = u64::from(ip_len - IPV4_HEADER - UDP_HEADER);
        let stop = start + sending;
        let drained = Span(self.transmission(ip_len).0 * datagrams) + self.delay;
        Config {
            nodes: vec!["sender".into(), "receiver".into()],
            links: vec![link],
            radios: Vec::new(),
            flows: vec![flow(
                Cbr { packet, interval, spread: Span::ZERO, stop, deadline: None },
                start,
            )],
            duration: stop + drained + AFTER,
            seed: SEED,
            record: Record {
                capture: if probe == Probe::Queue { vec![0] } else { Vec::new() },
                ..Record::default()
            },
        }
    }

    /// Between two datagrams that measure delay: the link is idle for as long as it was busy.
    fn spacing(&self) -> Span {
        Span(self.transmission(SMALL).0 * 2).max(LEAST_SPACING)
    }

    /// Between two datagrams that measure loss: four fifths of the rate.
    fn interval(&self) -> Span {
        Span(self.transmission(SMALL).0 * 5 / 4).max(LEAST_INTERVAL)
    }

    /// Between two datagrams that measure rate: a twentieth above it. That is a backlog of 50 ms after a
    /// second, more than a sender is held up for, and not so much that memory has to grow for it all the
    /// time.
    fn overload(&self) -> Span {
        Span(self.transmission(FULL).0 * 19 / 20).max(Span(1))
    }
}

fn flow(cbr: Cbr, start: Time) -> FlowConfig {
    FlowConfig {
        name: "probe".into(),
        from: 0,
        to: 1,
        profile: Profile::new(stack::LINUX, AnyParams::by_name("reno").unwrap_or_default(), FULL)
            .into(),
        traffic: Traffic::CbrUdp(cbr),
        read: ReadPolicy::Immediate,
        start,
        multipath: None,
        pauses: Vec::new(),
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = match self.rate_bps {
            bps if bps >= 1_000_000 => format!("{} Mbps", bps as f64 / 1e6),
            bps => format!("{} kbps", bps as f64 / 1e3),
        };
        let queue = match self.queue {
            QueueLimit::Packets(n) => format!("queue of {n} packets"),
            QueueLimit::Bytes(n) => format!("queue of {n} bytes"),
            QueueLimit::Unlimited => "queue without limit".to_string(),
        };
        let loss = match &self.loss {
            LossModel::Drop { probability } => format!("loss of {} %", probability * 100.0),
            LossModel::Ber { rate, .. } => format!("bit errors at {rate:e}"),
            LossModel::GilbertElliott { .. } => "loss in bursts (Gilbert-Elliott)".to_string(),
            LossModel::List { packets } => format!("{} listed losses", packets.len()),
            LossModel::Custom(model) => format!("losses by {model:?}"),
        };
        write!(f, "{rate}, {} ms, {loss}, {queue}", self.delay.0 as f64 / 1e6)
    }
}
