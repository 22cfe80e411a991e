//! Judges a recorded QUIC connection by RFC 9002: the window against acknowledged and lost packets.
//!
//! The recording has the library's own window, and not the network's view. A rule that the recorded
//! events cannot show is not observable.

mod read;

use std::collections::BTreeMap;

pub use read::{Event, Kind, Name, Space, Trace, read};

use super::verdict::{Event as First, Finding, Verdict};

/// Bytes that a recorded size may lack, such as the authentication tag.
const SLACK: u64 = 64;
/// Smallest datagram size of QUIC (RFC 9000 section 14).
const SMALLEST: u64 = 1_200;
/// Smallest factor of a reduction that is no persistent congestion, with the error of integers.
const LEAST: f64 = 0.49;
/// Share of the window above which it is used (RFC 9002 section 7.8 has no number; this is slow start's half).
const USED: f64 = 0.5;

/// A rule for a recorded connection.
pub struct Rule {
    /// Name.
    pub id: &'static str,
    /// Section of RFC 9002.
    pub source: &'static str,
    /// The rule.
    pub text: &'static str,
}

/// The rules, in the order of reports.
pub const RULES: [Rule; 6] = [
    Rule {
        id: "minimum",
        source: "RFC 9002 section 7.2",
        text: "The window is at least two datagrams.",
    },
    Rule {
        id: "growth",
        source: "RFC 9002 sections 7.3.1 and 7.3.3",
        text: "The window grows by at most the bytes acknowledged since its last value.",
    },
    Rule {
        id: "cause",
        source: "RFC 9002 section 7.3.2",
        text: "The window is reduced only after a loss or a mark.",
    },
    Rule {
        id: "once",
        source: "RFC 9002 section 7.3.2",
        text: "Losses of packets that were sent before a reduction do not reduce the window again.",
    },
    Rule {
        id: "factor",
        source: "RFC 9002 sections 7.3.2 and 7.6.2",
        text: "A reduction is to at least half of the window, or to the minimum window.",
    },
    Rule {
        id: "unused",
        source: "RFC 9002 section 7.8",
        text: "The window does not grow while less than half of it is in flight during an RTT.",
    },
];

/// A recorded connection with its findings.
pub struct Judged {
    /// Title of the recording.
    pub title: String,
    /// Number of events that count.
    pub events: usize,
    /// Finding of each rule, in the order of [`RULES`].
    pub findings: Vec<Finding>,
}

/// Judges a recorded connection.
pub fn judge(trace: &Trace) -> Judged {
    let mut judge = Judge::new(trace);
    for event in &trace.events {
        judge.event(event);
    }
    judge.give_up();
    Judged {
        title: trace.title.clone(),
        events: trace.events.len(),
        findings: (0..RULES.len()).map(|rule| judge.finding(rule)).collect(),
    }
}

/// The report of recorded connections of a file.
pub fn page(file: &str, all: &[Judged]) -> String {
    let mut out = format!("# Audit of the recording {file}\n");
    for judged in all {
        let title = if judged.title.is_empty() { "Connection" } else { &judged.title };
        out += &format!(
            "\n## {title}\n\n{} events.\n\n| rule | requirement | verdict | measured | first event |\n| --- | --- | --- | --- | --- |\n",
            judged.events
        );
        for (rule, finding) in RULES.iter().zip(&judged.findings) {
            let first = finding
                .event
                .as_ref()
                .map_or(String::new(), |e| format!("{:.4} s, {}", e.at_s, e.what));
            out += &format!(
                "| {} | {} ({}) | {} | {} | {first} |\n",
                rule.id,
                rule.text,
                rule.source,
                finding.verdict.name(),
                finding.measured
            );
        }
    }
    out
}

/// A reduction whose loss is not recorded yet: some libraries write the loss after its effect.
struct Unexplained {
    event: Event,
    what: String,
    /// Time of the reduction before it, unless it is to the minimum window.
    reduced: Option<f64>,
}

/// Time within which the loss must follow, seconds.
const LATE: f64 = 0.001;

/// A broken rule.
struct Broken {
    first: First,
    times: usize,
}

struct Judge {
    broken: BTreeMap<usize, Broken>,
    /// Smallest allowed window.
    least: u64,
    window: Option<u64>,
    /// Window before the latest reduction.
    before: u64,
    windows: usize,
    reductions: usize,
    acked: u64,
    sent: BTreeMap<Name, f64>,
    /// Time of the first packet after the handshake, which never uses the window.
    begun: Option<f64>,
    /// Latest sending time of the packets that were lost since the last value of the window.
    lost: Option<f64>,
    losses: usize,
    marked: bool,
    /// Time of the latest loss or mark.
    signalled: f64,
    spurious: bool,
    reduced: Option<f64>,
    unexplained: Option<Unexplained>,
    acknowledges: bool,
    rtt: f64,
    /// Bytes in flight with their times, for the largest value of an RTT.
    flights: Vec<(f64, u64)>,
}

impl Judge {
    fn new(trace: &Trace) -> Judge {
        Judge {
            broken: BTreeMap::new(),
            // A recording may have smaller datagrams than the connection's maximum.
            least: 2 * trace.largest.min(SMALLEST),
            window: None,
            before: 0,
            windows: 0,
            reductions: 0,
            acked: 0,
            sent: BTreeMap::new(),
            begun: None,
            lost: None,
            losses: 0,
            marked: false,
            signalled: 0.0,
            spurious: false,
            reduced: None,
            unexplained: None,
            acknowledges: false,
            rtt: 0.0,
            flights: Vec::new(),
        }
    }

    fn event(&mut self, event: &Event) {
        if self.unexplained.as_ref().is_some_and(|u| event.at > u.event.at + LATE) {
            self.give_up();
        }
        match event.kind {
            Kind::Sent { packet, .. } => {
                if packet.0 == Space::Data {
                    self.begun.get_or_insert(event.at);
                }
                self.sent.insert(packet, event.at);
            }
            Kind::Acked { bytes } => {
                self.acked += bytes;
                self.acknowledges = true;
            }
            Kind::Lost { packet } => {
                self.losses += 1;
                self.signalled = event.at;
                // A packet that the recording does not have was sent long ago.
                let sent = self.sent.get(&packet).copied().unwrap_or(0.0);
                match self.unexplained.take() {
                    Some(before) => self.again(&before.event, before.what, sent, before.reduced),
                    None => self.lost = Some(self.lost.map_or(sent, |latest| latest.max(sent))),
                }
            }
            Kind::Marked if self.unexplained.is_some() => self.unexplained = None,
            Kind::Marked => (self.marked, self.signalled) = (true, event.at),
            Kind::Spurious => self.spurious = true,
            Kind::Metrics { window, in_flight, rtt } => {
                if let Some(rtt) = rtt {
                    self.rtt = rtt;
                }
                if let Some(bytes) = in_flight {
                    self.flights.push((event.at, bytes));
                }
                if let Some(window) = window {
                    self.change(event, window);
                }
            }
        }
    }

    fn change(&mut self, event: &Event, window: u64) {
        self.windows += 1;
        if window + SLACK < self.least {
            self.breaks(0, event, format!("a window of {window} B; minimum {} B", self.least));
        }
        let Some(old) = self.window.replace(window) else {
            self.acked = 0;
            return;
        };
        if window > old {
            self.grows(event, old, window);
        } else if window < old {
            self.shrinks(event, old, window);
        }
        if window != old {
            (self.acked, self.spurious) = (0, false);
        }
        // An acknowledgement may first increase the window, and then reveal the loss.
        if window < old || window > old && event.at > self.signalled + LATE {
            (self.lost, self.marked) = (None, false);
        }
    }

    fn grows(&mut self, event: &Event, old: u64, window: u64) {
        let grown = window - old;
        // After a spurious loss the window returns to its former value.
        let undone = self.spurious || window <= self.before && self.acked + SLACK < grown;
        if !undone && grown > self.acked + SLACK {
            let what = format!("from {old} to {window} B, with {} B acknowledged", self.acked);
            self.breaks(1, event, what);
        }
        let since = event.at - self.rtt;
        let seen = self.begun.is_some_and(|begun| begun <= since);
        let recent = self.flights.iter().rev().take_while(|(at, _)| *at >= since);
        let most = recent.map(|(_, bytes)| *bytes).max();
        if let (true, Some(most)) = (seen && self.rtt > 0.0 && !undone, most)
            && (most as f64) < USED * old as f64
        {
            let what =
                format!("from {old} to {window} B, with at most {most} B in flight during an RTT");
            self.breaks(5, event, what);
        }
    }

    fn shrinks(&mut self, event: &Event, old: u64, window: u64) {
        self.reductions += 1;
        self.give_up();
        let minimum = window <= self.least.max(2 * 1_500) + SLACK;
        let reduced = self.reduced.filter(|_| !minimum);
        let what = format!("from {old} to {window} B");
        match self.lost {
            Some(sent) if !self.marked => self.again(event, what, sent, reduced),
            None if !self.marked => {
                self.unexplained = Some(Unexplained { event: event.clone(), what, reduced });
            }
            _ => {}
        }
        if (window as f64) < LEAST * old as f64 && !minimum {
            let what = format!("from {old} to {window} B, × {:.2}", window as f64 / old as f64);
            self.breaks(4, event, what);
        }
        (self.reduced, self.before) = (Some(event.at), old);
    }

    /// A reduction by the loss of a packet that was sent at this time.
    fn again(&mut self, event: &Event, what: String, sent: f64, reduced: Option<f64>) {
        if let Some(reduced) = reduced.filter(|reduced| sent < *reduced) {
            let what = format!(
                "{what} after a loss of packets sent up to {sent:.4} s; the last reduction was at {reduced:.4} s"
            );
            self.breaks(3, event, what);
        }
    }

    /// A reduction has no recorded cause.
    fn give_up(&mut self) {
        if let Some(Unexplained { event, what, .. }) = self.unexplained.take() {
            self.breaks(2, &event, format!("{what} without a loss or a mark"));
        }
    }

    fn breaks(&mut self, rule: usize, event: &Event, what: String) {
        let what = format!("event {}: {what}", event.number);
        let first = First { at_s: event.at, what };
        self.broken.entry(rule).or_insert(Broken { first, times: 0 }).times += 1;
    }

    fn finding(&mut self, rule: usize) -> Finding {
        if self.windows < 2 {
            return Finding::none("the recording has no values of the window");
        }
        if rule == 1 && !self.acknowledges {
            return Finding::none("the recording has no acknowledged packets");
        }
        if matches!(rule, 2..=4) && self.reductions == 0 {
            return Finding::none(format!("the window is never reduced; {} losses", self.losses));
        }
        if rule == 5 && (self.flights.is_empty() || self.rtt == 0.0) {
            return Finding::none("the recording has no bytes in flight or no RTT");
        }
        let values = match rule {
            2..=4 => format!("{} reductions, {} losses", self.reductions, self.losses),
            _ => format!("{} values of the window", self.windows),
        };
        match self.broken.remove(&rule) {
            None => Finding::pass(values),
            Some(broken) => Finding {
                verdict: Verdict::Fails,
                measured: format!("{} of {values}", broken.times),
                event: Some(broken.first),
                ..Finding::none("")
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at: f64, kind: Kind) -> Event {
        Event { at, number: 1, kind }
    }

    fn window(at: f64, window: u64, in_flight: u64) -> Event {
        let rtt = Some(0.1);
        event(at, Kind::Metrics { window: Some(window), in_flight: Some(in_flight), rtt })
    }

    fn sent(at: f64, number: u64) -> Event {
        event(at, Kind::Sent { packet: (Space::Data, number), bytes: 1_200, only_acks: false })
    }

    fn lost(at: f64, number: u64) -> Event {
        event(at, Kind::Lost { packet: (Space::Data, number) })
    }

    fn verdicts(events: Vec<Event>) -> Vec<Verdict> {
        let trace = Trace { title: String::new(), events, largest: 1_200 };
        judge(&trace).findings.iter().map(|f| f.verdict).collect()
    }

    use Verdict::{Fails, NotObservable, Pass};

    #[test]
    fn slow_start_by_acknowledged_bytes_passes() {
        let events = vec![
            window(0.0, 12_000, 12_000),
            event(0.1, Kind::Acked { bytes: 1_200 }),
            window(0.1, 13_200, 12_000),
        ];
        assert_eq!(
            verdicts(events),
            [Pass, Pass, NotObservable, NotObservable, NotObservable, Pass]
        );
    }

    #[test]
    fn growth_by_more_than_acknowledged_bytes_fails() {
        let events = vec![
            window(0.0, 12_000, 12_000),
            event(0.1, Kind::Acked { bytes: 1_200 }),
            window(0.1, 14_400, 12_000),
        ];
        assert_eq!(verdicts(events)[1], Fails);
    }

    #[test]
    fn second_reduction_by_packets_of_the_same_round_trip_fails() {
        let twice = |sent_at: f64| {
            vec![
                window(0.0, 40_000, 40_000),
                sent(0.1, 1),
                sent(sent_at, 2),
                lost(0.2, 1),
                window(0.2, 20_000, 38_000),
                lost(0.5, 2),
                window(0.5, 10_000, 20_000),
            ]
        };
        assert_eq!(verdicts(twice(0.1))[3], Fails);
        assert_eq!(verdicts(twice(0.3))[3], Pass);
    }

    #[test]
    fn reduction_without_a_loss_and_to_a_third_fails() {
        let events = vec![window(0.0, 60_000, 60_000), window(0.2, 20_000, 60_000)];
        let found = verdicts(events);
        assert_eq!((found[2], found[4]), (Fails, Fails));
    }

    #[test]
    fn loss_that_is_recorded_just_after_its_reduction_is_its_cause() {
        let reduction = |loss_at: f64| {
            vec![
                window(0.0, 40_000, 40_000),
                sent(0.1, 1),
                window(0.2, 20_000, 40_000),
                lost(loss_at, 1),
            ]
        };
        assert_eq!(verdicts(reduction(0.2))[2], Pass);
        assert_eq!(verdicts(reduction(0.3))[2], Fails);
    }

    #[test]
    fn growth_by_the_same_acknowledgement_does_not_hide_the_cause_of_a_reduction() {
        let events = vec![
            window(0.0, 40_000, 40_000),
            sent(0.1, 1),
            event(0.2, Kind::Acked { bytes: 1_200 }),
            lost(0.2, 1),
            window(0.2, 41_200, 40_000),
            window(0.2, 20_600, 40_000),
        ];
        assert_eq!(verdicts(events)[2], Pass);
    }

    #[test]
    fn growth_of_an_unused_window_fails() {
        let events = vec![
            sent(0.0, 1),
            window(0.0, 12_000, 2_400),
            event(0.2, Kind::Acked { bytes: 1_200 }),
            window(0.2, 13_200, 2_400),
        ];
        assert_eq!(verdicts(events)[5], Fails);
    }

    #[test]
    fn window_below_two_datagrams_fails() {
        let events = vec![window(0.0, 12_000, 0), lost(0.1, 1), window(0.1, 1_200, 0)];
        assert_eq!(verdicts(events)[0], Fails);
    }
}
