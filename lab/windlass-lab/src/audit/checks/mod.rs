//! The examination: requirements on the behaviour of a sender, each with its probe, bound and judge.

mod growth;
mod opening;
mod pause;
mod reduction;
mod share;
mod timers;

use super::subject::{Law, Observed, Transport};
use super::verdict::Finding;

/// A requirement on a sender.
pub struct Check {
    /// Name.
    pub id: &'static str,
    /// Title in reports.
    pub title: &'static str,
    /// RFC and section.
    pub source: &'static str,
    /// The requirement, as this tool understands it.
    pub rule: &'static str,
    /// The bound, with its reason.
    pub bound: &'static str,
    /// Name of the probe.
    pub probe: &'static str,
    /// Judges what the probe observed.
    pub judge: fn(&Observed, Law, Transport) -> Finding,
}

/// The checks, in the order of reports.
pub const CHECKS: [Check; 18] = [
    Check {
        id: "initial-window",
        title: "Initial window",
        source: "RFC 6928 section 2, RFC 9002 section 7.2",
        rule: "The first flight has at most ten full packets.",
        bound: "10 packets; QUIC: 12, because the acknowledged handshake already increases the window",
        probe: "start",
        judge: opening::initial_window,
    },
    Check {
        id: "slow-start",
        title: "Growth in slow start",
        source: "RFC 5681 section 3.1, RFC 9002 section 7.3.1",
        rule: "The window grows by at most the acknowledged data.",
        bound: "per round trip × 1.2 to × 2.15, until 100 packets: below is no slow start, and above grows by more than acknowledged; 0.15 for packets of other sizes",
        probe: "start",
        judge: opening::slow_start,
    },
    Check {
        id: "first-timeout",
        title: "First timeout",
        source: "RFC 6298 section 2.1, RFC 9002 section 6.2.2",
        rule: "Without an RTT sample, the first packet is repeated after 1 s.",
        bound: "0.9 s to 1.6 s: timers have ticks, up to half a second",
        probe: "first-lost",
        judge: timers::first,
    },
    Check {
        id: "one-loss",
        title: "Reduction after one loss",
        source: "RFC 5681 section 3.2, RFC 9002 section 7.3.2, RFC 9438 section 4.6",
        rule: "A loss reduces the window to 0.5 (Reno) or 0.7 (CUBIC) of the flight at its detection.",
        bound: "0.08 below the factor, because recovery ends with a window that differs by some packets; 0.15 above it, because pacing in slow start keeps the flight below the window",
        probe: "one-loss",
        judge: reduction::one,
    },
    Check {
        id: "second-loss",
        title: "Reduction after a second loss",
        source: "RFC 5681 section 3.2, RFC 9002 section 7.3.2, RFC 9438 sections 4.6 and 4.7",
        rule: "A later loss reduces the window by the same factor; fast convergence changes only W_max.",
        bound: "± 0.05: 5 of 100 packets, for growth in the round trips after recovery and a window that is not full",
        probe: "two-losses",
        judge: reduction::second,
    },
    Check {
        id: "losses-in-one-round",
        title: "Five losses in one round trip",
        source: "RFC 6582 section 3.2, RFC 9002 section 7.3.2, RFC 9438 section 4.6",
        rule: "Losses of one round trip reduce the window once.",
        bound: "at least 0.1 below the factor, because a recovery of several round trips may end with less; at most 0.15 above it, as after one loss",
        probe: "burst-loss",
        judge: reduction::burst,
    },
    Check {
        id: "ecn",
        title: "Reaction to ECN-CE",
        source: "RFC 9002 section 7.1, RFC 9438 section 4.6, RFC 8511 section 3",
        rule: "Marks of one round trip reduce the window once.",
        bound: "factor of a loss − 0.1, to 0.85 + 0.05 (RFC 8511 allows 0.85 for marks)",
        probe: "marks",
        judge: reduction::marks,
    },
    Check {
        id: "avoidance",
        title: "Growth in congestion avoidance",
        source: "RFC 5681 section 3.1, RFC 9002 section 7.3.3, RFC 9438 sections 4.2 to 4.5",
        rule: "Reno grows by at most a packet per round trip; CUBIC follows max(W_cubic, W_est).",
        bound: "Reno: 0.4 to 1.15 packets per round trip (0.5 with delayed acknowledgements that are not byte-counted). CUBIC: 15 % and 4 packets around the curve",
        probe: "one-loss",
        judge: growth::avoidance,
    },
    Check {
        id: "short-rtt",
        title: "Growth with a short RTT",
        source: "RFC 5681 section 3.1, RFC 9002 section 7.3.3, RFC 9438 section 4.3",
        rule: "Growth follows Reno or CUBIC. With an RTT of 20 ms CUBIC is in the Reno-friendly region.",
        bound: "the bounds of congestion avoidance. The slope of W_est may stay 0.53 (RFC 8312), or become 1 (RFC 9438)",
        probe: "one-loss-short",
        judge: growth::avoidance,
    },
    Check {
        id: "every-ack",
        title: "Growth with an acknowledgement per packet",
        source: "RFC 5681 section 3.1, RFC 9438 sections 4.2 to 4.5",
        rule: "Growth does not depend on the number of packets per acknowledgement.",
        bound: "the bounds of congestion avoidance",
        probe: "every-ack",
        judge: growth::avoidance,
    },
    Check {
        id: "back-off",
        title: "Back-off of timeouts",
        source: "RFC 6298 section 5.5, RFC 9002 section 6.2.1",
        rule: "Each timeout without an acknowledgement doubles the next interval.",
        bound: "at least × 1.7, from the second interval on (the first may be a tail loss probe); ticks explain 0.3",
        probe: "outage",
        judge: timers::back_off,
    },
    Check {
        id: "after-outage",
        title: "Window after an outage",
        source: "RFC 5681 section 3.1, RFC 9002 section 7.6.2, RFC 9438 section 4.8",
        rule: "After a timeout, or persistent congestion, the window is at most one or two packets, and slow start begins.",
        bound: "5 packets in the first round trip: two, two probes, and one that their acknowledgement releases",
        probe: "outage",
        judge: timers::after_outage,
    },
    Check {
        id: "spurious-timeout",
        title: "Window after a spurious timeout",
        source: "RFC 9002 section 6.2, RFC 5682 section 3, RFC 4015 section 3.2",
        rule: "A timeout of packets that were only late does not reduce the window.",
        bound: "0.85 of the flight before the pause, in the third to fifth round trip after it; CUBIC's reduction is 0.7. TCP deviates, because its RFCs leave the detection optional",
        probe: "held",
        judge: timers::spurious,
    },
    Check {
        id: "after-heavy-loss",
        title: "Recovery after 30 % loss",
        source: "RFC 5681 section 3.1, RFC 9002 section 7.3.3, RFC 9438 section 4",
        rule: "The window grows again when losses end.",
        bound: "half of 10 Mbit/s from 28 s to 38 s after the end: one packet per RTT of 40 ms needs 2 s for the whole rate",
        probe: "heavy-loss",
        judge: share::after_heavy_loss,
    },
    Check {
        id: "idle",
        title: "Burst after idle",
        source: "RFC 5681 section 4.1, RFC 9002 sections 7.7 and 7.8",
        rule: "After an idle time longer than a timeout, a sender paces, or sends at most the initial window at once.",
        bound: "in 1 ms of an RTT of 100 ms: the initial window, 2 packets, and the packets of a pace of two windows per RTT; the window may be twice the flight before the pause",
        probe: "idle",
        judge: pause::idle,
    },
    Check {
        id: "app-limited",
        title: "Window of a thin stream",
        source: "RFC 9002 section 7.8, RFC 9438 section 5.8, RFC 7661 section 4.3",
        rule: "A window that is not used does not grow.",
        bound: "24 packets in the round trip after the change to bulk data: twice the initial window, and 4 packets",
        probe: "thin",
        judge: pause::thin,
    },
    Check {
        id: "copy",
        title: "Fairness with a copy of itself",
        source: "RFC 9743 section 5.1.4",
        rule: "Two flows of the same stack share a bottleneck.",
        bound: "a fifth of the bytes for the smaller flow, from 35 s on: synchronised losses of a drop-tail queue explain 1 : 2",
        probe: "copies",
        judge: share::copies,
    },
    Check {
        id: "with-cubic",
        title: "Fairness with Linux's CUBIC",
        source: "RFC 9743 section 5.2.1",
        rule: "A flow of the stack and a flow of Windlass's CUBIC with Linux's settings share a bottleneck.",
        bound: "a tenth of the bytes for the smaller flow, from 35 s on: less is starvation",
        probe: "with-cubic",
        judge: share::with_cubic,
    },
];
