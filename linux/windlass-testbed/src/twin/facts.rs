//! The facts that a host passes to an algorithm. Two hosts are compared by the first fact that differs.

use std::fmt;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use windlass_cc::{AnyController, AnyParams, Conn, Control, Event, Span};
use windlass_tcp::CongestionControl;

use crate::bpf::record::What;

/// One event with its kind and each of `FACTS`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Heard {
    /// Word for the kind of event.
    pub what: String,
    /// Nanoseconds since the connection was established.
    pub time: u64,
    /// Facts in the order of `FACTS`; [`u64::MAX`] for a missing fact.
    pub facts: Vec<u64>,
}

/// Unit of a fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unit {
    Bytes,
    /// Nanoseconds, compared with a tolerance because clocks differ.
    Time,
    Flag,
}

/// The facts: causes first, derived values afterwards.
const FACTS: [(&str, Unit); 13] = [
    ("acknowledged", Unit::Bytes),
    ("delivered", Unit::Bytes),
    ("lost", Unit::Bytes),
    ("marked", Unit::Bytes),
    ("RTT sample", Unit::Time),
    ("SRTT", Unit::Time),
    ("minimum RTT", Unit::Time),
    ("in flight", Unit::Bytes),
    ("in flight before", Unit::Bytes),
    ("window in use", Unit::Flag),
    ("delivered in the rate's interval", Unit::Bytes),
    ("the rate's interval", Unit::Time),
    ("window answered", Unit::Bytes),
];

/// Positions of some facts.
pub(super) const DELIVERED: usize = 1;
pub(super) const LOST: usize = 2;
pub(super) const SAMPLE: usize = 4;

/// Absolute tolerance of times, nanoseconds: a kernel's clock counts microseconds and its timers
/// milliseconds. 1/50 of the time is added.
const TIME_TOLERANCE: u64 = 1_000_000;
const TIME_PART: u64 = 50;

impl Heard {
    /// Returns an event of a connection that started with `first`, with the answer. Losses are omitted: a
    /// kernel reports several at once, and the acknowledgement contains their sum. Groups are omitted because
    /// each host reports them at different times.
    pub fn of(what: What, conn: &Conn, answer: Control, first: &Conn) -> Option<Heard> {
        if matches!(what, What::Event(Event::Loss(_) | Event::Group(_))) {
            return None;
        }
        let ack = match what {
            What::Event(Event::Ack(ack)) => Some(ack),
            _ => None,
        };
        let of_ack = |value: fn(&windlass_cc::Ack) -> u64| ack.as_ref().map_or(0, value);
        let mss = u64::from(conn.mss.max(1));
        let facts = vec![
            conn.una.wrapping_sub(first.una),
            conn.delivered.wrapping_sub(first.delivered),
            conn.lost.wrapping_sub(first.lost),
            of_ack(|a| a.ce),
            ack.map_or(Span::NONE, |a| a.rtt).0,
            conn.srtt.0,
            conn.min_rtt.0,
            conn.in_flight,
            of_ack(|a| a.prior_in_flight),
            // Only acknowledgements increase the window.
            ack.map_or(0, |_| u64::from(conn.cwnd_limited())),
            of_ack(|a| a.rate.delivered),
            ack.map_or(Span::NONE, |a| a.rate.interval).0,
            answer.cwnd - answer.cwnd % mss,
        ];
        let time = conn.now.since(first.now).0;
        Some(Heard { what: what.name().to_owned(), time, facts })
    }
}

/// Formats events as a CSV table in nanoseconds and bytes. A missing fact is an empty field.
pub fn table(heard: &[Heard]) -> String {
    let names: Vec<&str> = FACTS.iter().map(|(name, _)| *name).collect();
    let mut out = format!("event,time,{}\n", names.join(","));
    for Heard { what, time, facts } in heard {
        let value = |fact: &u64| if *fact == u64::MAX { String::new() } else { fact.to_string() };
        let facts: Vec<String> = facts.iter().map(value).collect();
        out.push_str(&format!("{what},{time},{}\n", facts.join(",")));
    }
    out
}

/// The first fact that differs between two hosts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Number of equal events before.
    pub common: usize,
    /// Time since the start of the host's connection, nanoseconds.
    pub time: u64,
    /// Event of the host.
    pub event: String,
    /// Name of the fact.
    pub fact: &'static str,
    /// Value of the host and value of the simulator.
    pub values: [String; 2],
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { common, time, event, fact, values: [host, own] } = self;
        let at = *time as f64 / 1e9;
        write!(f, "event {}, {event} at {at:.3} s: {fact} {host}, simulated {own}", common + 1)
    }
}

/// Returns the first fact in which a host's events differ from the simulator's events. Rate samples are
/// compared only with `rates`, because the simulator takes none for algorithms that do not read them. Times
/// measured before the connection starts are ignored, because a host may start it with the SYN or with the
/// first acknowledgement.
pub fn differ(host: &[Heard], own: &[Heard], rates: bool) -> Option<Difference> {
    for (common, theirs) in host.iter().enumerate() {
        let told = |fact, values| {
            let (time, event) = (theirs.time, theirs.what.clone());
            Some(Difference { common, time, event, fact, values })
        };
        let Some(ours) = own.get(common) else {
            return told("event", [theirs.what.clone(), "none".to_owned()]);
        };
        if theirs.what != ours.what {
            return told("event", [theirs.what.clone(), ours.what.clone()]);
        }
        for ((name, unit), (a, b)) in FACTS.iter().zip(theirs.facts.iter().zip(&ours.facts)) {
            let early = theirs.what == What::Begin.name() && *unit == Unit::Time;
            if !early && (rates || !name.contains("rate")) && !unit.alike(*a, *b) {
                return told(name, [unit.told(*a), unit.told(*b)]);
            }
        }
    }
    None
}

impl Unit {
    fn alike(self, a: u64, b: u64) -> bool {
        let known = a != u64::MAX && b != u64::MAX;
        match self {
            Unit::Time if known => a.abs_diff(b) <= TIME_TOLERANCE + a.max(b) / TIME_PART,
            _ => a == b,
        }
    }

    fn told(self, value: u64) -> String {
        match self {
            _ if value == u64::MAX => "none".to_owned(),
            Unit::Time => format!("{:.2} ms", value as f64 / 1e6),
            Unit::Bytes => format!("{value} B"),
            Unit::Flag => if value == 0 { "no" } else { "yes" }.to_owned(),
        }
    }
}

/// Facts that an algorithm receives in the simulator.
pub type Log = Arc<Mutex<Vec<Heard>>>;

/// The algorithm itself, which also records all facts that it receives.
#[derive(Clone, Debug)]
pub struct Listener {
    log: Log,
    at_work: Option<(AnyParams, AnyController)>,
    first: Conn,
    answer: Control,
}

impl Listener {
    /// Creates an algorithm that records in `log`.
    pub fn new(log: Log) -> Listener {
        let answer = Control { cwnd: 0, ssthresh: 0, pacing: windlass_cc::Rate(0) };
        Listener { log, at_work: None, first: Conn::new(1), answer }
    }

    fn note(&mut self, what: What, conn: &Conn) {
        let Some((params, controller)) = &self.at_work else { return };
        self.answer = controller.control(params, conn);
        let heard = Heard::of(what, conn, self.answer, &self.first);
        self.log.lock().expect("one thread").extend(heard);
    }
}

impl CongestionControl for Listener {
    fn begin(&mut self, params: &AnyParams, conn: &Conn) {
        self.first = *conn;
        self.at_work = Some((*params, AnyController::init(params, conn)));
        self.note(What::Begin, conn);
    }

    fn on_event(&mut self, conn: &Conn, event: &Event) {
        if let Some((params, controller)) = &mut self.at_work {
            controller.apply(params, conn, event);
        }
        self.note(What::Event(*event), conn);
    }

    fn control(&self) -> Control {
        self.answer
    }

    fn boxed(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use windlass_cc::{Ack, Rate, Time};

    use super::*;

    /// Ten acknowledgements of one segment each at intervals of a millisecond. `change` modifies each.
    fn told(change: impl Fn(usize, &mut Conn, &mut Ack)) -> Vec<Heard> {
        let first = Conn { now: Time(5), una: 7, delivered: 1_448, ..Conn::new(1_448) };
        let answer = Control { cwnd: 14_480, ssthresh: u64::MAX, pacing: Rate(0) };
        let mut heard = vec![Heard::of(What::Begin, &first, answer, &first).expect("no loss")];
        for number in 1..=10 {
            let passed = 1_448 * number as u64;
            let (now, una) = (Time(5 + number as u64 * 1_000_000), 7 + passed);
            let mut conn =
                Conn { now, una, delivered: 1_448 + passed, srtt: Span(80_000_000), ..first };
            let mut ack = Ack { rtt: Span(80_000_000), ..Ack::of(1_448) };
            change(number, &mut conn, &mut ack);
            heard.extend(Heard::of(What::Event(Event::Ack(ack)), &conn, answer, &first));
        }
        heard
    }

    #[test]
    fn first_differing_fact_is_named_with_both_values_and_its_event() {
        let own = told(|_, _, _| {});
        assert_eq!(differ(&own, &own, true), None);
        let kernel = told(|number, conn, _| conn.in_flight = if number < 4 { 0 } else { 2_896 });
        let found = differ(&kernel, &own, false).expect("a difference").to_string();
        assert_eq!(found, "event 5, ack at 0.004 s: in flight 2896 B, simulated 0 B");
        let fewer = differ(&own, &own[..3], false).expect("a difference").to_string();
        assert_eq!(fewer, "event 4, ack at 0.003 s: event ack, simulated none");
    }

    #[test]
    fn rate_samples_are_compared_only_if_the_algorithm_reads_them() {
        let own = told(|_, _, _| {});
        let kernel = told(|_, _, ack| ack.rate.delivered = 1_448);
        assert_eq!(differ(&kernel, &own, false), None);
        assert!(differ(&kernel, &own, true).is_some_and(|d| d.fact.contains("rate")));
    }

    #[test]
    fn times_are_equal_only_within_a_kernels_tick() {
        let own = told(|_, _, _| {});
        let late = |by| told(move |_, _, ack| ack.rtt = Span(ack.rtt.0 + by));
        assert_eq!(differ(&late(2_000_000), &own, false), None);
        let found = differ(&late(3_000_000), &own, false).expect("a difference").to_string();
        assert!(found.contains("RTT sample 83.00 ms, simulated 80.00 ms"), "{found}");
    }
}
