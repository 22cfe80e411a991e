//! Requested links, and the traffic that measures their delivered values.

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
/// IP bytes of the datagrams that measure delay and loss. They are short enough for hundreds of datagrams on
/// a slow link.
pub(crate) const SMALL: u32 = 250;
/// Time before the first datagram, after which the applications wait.
const BEFORE: Span = Span::from_millis(5);
/// Time after the last possible arrival.
const AFTER: Span = Span::from_secs(1);
/// Minimum time between two datagrams that measure delay, so that a late datagram has left the link.
const LEAST_SPACING: Span = Span::from_millis(5);
/// Minimum time between two datagrams that measure loss, which any processor can keep up with.
const LEAST_INTERVAL: Span = Span::from_micros(500);

/// A requested link, equal in both directions except for the loss, which affects the forward direction.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// Rate in bits per second of IP packets, without framing.
    pub rate_bps: u64,
    /// Propagation delay.
    pub delay: Span,
    /// Error model.
    pub loss: LossModel,
    /// Limit of the queue; a queue without limit is not measured.
    pub queue: QueueLimit,
}

/// Kind of traffic, by the measured property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Probe {
    /// Datagrams with pauses on an idle link, which measure the one-way delay.
    Delay,
    /// More datagrams than the link can carry, which measure its rate.
    Rate,
    /// Datagrams below the link's rate, which measure the losses.
    Loss,
    /// A burst into an idle link, which measures the number of passed datagrams and their delay.
    Queue,
}

/// Amount of measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Number of datagrams that measure delay.
    pub delays: u64,
    /// Number of datagrams that measure loss.
    pub losses: u64,
    /// Time for which the link is kept busy.
    pub busy: Span,
}

impl Effort {
    /// Enough for a 99th percentile, rare losses, and a rate accurate to a fraction of one percent.
    pub const FULL: Effort = Effort { delays: 500, losses: 1_000, busy: Span::from_secs(4) };
    /// A smoke test.
    pub const QUICK: Effort = Effort { delays: 100, losses: 200, busy: Span::from_secs(2) };
}

/// Returns the calibrated links: from a sensor's radio to fast Ethernet, with every error model.
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
    /// Returns the transmission time of an IP packet of this number of bytes, rounded up to a nanosecond like
    /// on the link.
    pub fn transmission(&self, ip_len: u32) -> Span {
        Span((u64::from(ip_len) * 8 * 1_000_000_000).div_ceil(self.rate_bps))
    }

    /// Returns the number of full-size packets (1500 bytes) that the queue holds; `None` without a limit.
    pub fn places(&self) -> Option<u64> {
        match self.queue {
            QueueLimit::Packets(packets) => Some(packets),
            QueueLimit::Bytes(bytes) => Some(bytes / u64::from(FULL)),
            QueueLimit::Unlimited => None,
        }
    }

    /// Returns the probes that apply to this link.
    pub fn probes(&self) -> impl Iterator<Item = Probe> {
        let all = [Probe::Delay, Probe::Rate, Probe::Loss, Probe::Queue];
        let bounded = self.places().is_some();
        all.into_iter().filter(move |probe| bounded || *probe != Probe::Queue)
    }

    /// Returns the numbers, from 0, of the datagrams of [`SMALL`] size that the error model drops among this
    /// many. The model draws with [`SEED`] for the first direction of the first link.
    pub(crate) fn draws(&self, datagrams: u64) -> Vec<u64> {
        let mut process = LossProcess::new(&self.loss, Stream::new(SEED, 0, Purpose::Loss));
        (0..datagrams).filter(|_| process.takes(SMALL)).collect()
    }

    /// Returns the number of datagrams that a probe sends.
    pub(crate) fn datagrams(&self, probe: Probe, effort: &Effort) -> u64 {
        let places = self.places().unwrap_or(0);
        match probe {
            Probe::Delay => effort.delays,
            Probe::Loss => effort.losses,
            Probe::Rate => effort.busy.0 / self.overload().0,
            Probe::Queue => places + places / 2 + 5,
        }
    }

    /// Returns the configuration of a probe.
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
        // Only the burst may lose datagrams in the queue, and only the loss probe may lose them to errors.
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
            loss: [loss, None].into(),
            down: Vec::new(),
            quick_start: None,
            back: None,
            radio: None,
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

    /// Time between two datagrams that measure delay: the link is idle for as long as it was busy.
    fn spacing(&self) -> Span {
        Span(self.transmission(SMALL).0 * 2).max(LEAST_SPACING)
    }

    /// Time between two datagrams that measure loss: 4/5 of the rate.
    fn interval(&self) -> Span {
        Span(self.transmission(SMALL).0 * 5 / 4).max(LEAST_INTERVAL)
    }

    /// Time between two datagrams that measure rate: the load is about 5 % above the rate. After one second,
    /// the backlog is 50 ms, more than a usual delay of the sender. The memory for the backlog does not have
    /// to grow all the time.
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
