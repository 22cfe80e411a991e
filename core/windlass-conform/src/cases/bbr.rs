//! The cases of BBR version 1. On the usual path the bandwidth-delay product is 10.3 segments, so
//! that no window depends on rounding.

use windlass_cc::Span;
use windlass_cc::recovery::LossRecovery;

use super::{Case, OWN, WEEKS};
use crate::host::Step::{
    self, Acks, Aggregated, AppLimit, Delay, Drop, DropEvery, EarlyTimeout, Idle, Link, Mss,
    Timeout,
};

/// The given number of acknowledgements of four segments.
fn acks(acks: u32) -> Step {
    Aggregated { acks, of: 4 }
}

/// Startup, Drain and the beginning of ProbeBW.
fn start() -> Step {
    Aggregated { acks: 24, of: 8 }
}

/// The start, then the given steps.
fn after_start<const N: usize>(steps: [Step; N]) -> Vec<Step> {
    [start()].into_iter().chain(steps).collect()
}

/// The path becomes longer or slower.
fn link(rtt_ms: u64, segment_us: u64) -> Step {
    Link { rtt: Span::from_millis(rtt_ms), segment_time: Span::from_micros(segment_us) }
}

/// A path on which ten seconds are about two hundred segments.
const SLOW: Option<(Span, Span)> = Some((Span::from_millis(350), Span::from_micros(43_000)));

/// The cases of BBR version 1.
pub const CASES: &[Case] = &[
    Case {
        id: "startup",
        about: "Startup on a path that it does not fill: window and pacing rate double each round \
            trip.",
        path: Some((Span::from_millis(100), Span::from_micros(100))),
        script: |_| vec![Acks(60)],
        ..OWN
    },
    Case {
        id: "full-pipe",
        about: "Three rounds without growth end Startup. Drain empties the queue. ProbeBW begins \
            with a random phase.",
        script: |_| vec![acks(66)],
        ..OWN
    },
    Case {
        id: "fast-path",
        about: "Startup, Drain and ProbeBW at 43 Mbit/s, where a millisecond holds more than two \
            segments.",
        path: Some((Span::from_millis(10), Span::from_micros(270))),
        script: |_| vec![Aggregated { acks: 90, of: 16 }],
        ..OWN
    },
    Case {
        id: "gain-cycle",
        about: "Several cycles of ProbeBW.",
        script: |_| after_start([Aggregated { acks: 130, of: 3 }]),
        ..OWN
    },
    Case {
        id: "faster-link",
        about: "The bottleneck becomes twice as fast: each probing phase finds a quarter more.",
        script: |_| after_start([link(40, 2_150), Aggregated { acks: 100, of: 6 }]),
        ..OWN
    },
    Case {
        id: "slower-link",
        about: "The bottleneck becomes half as fast while nothing is sent, which the filter shows after \
            ten rounds.",
        script: |_| {
            let pause = [acks(4), AppLimit(Some(0)), acks(7), link(40, 8_600), AppLimit(None)];
            [start()].into_iter().chain(pause).chain([Aggregated { acks: 75, of: 4 }]).collect()
        },
        ..OWN
    },
    Case {
        id: "probe-rtt",
        about: "Ten seconds without a lower round-trip time: four segments for 200 ms and a round, then \
            the window of before.",
        path: SLOW,
        script: |_| vec![Aggregated { acks: 48, of: 4 }, acks(42)],
        ..OWN
    },
    Case {
        id: "probe-rtt-short-path",
        about: "The same on a path whose round trip with four segments is shorter than 200 ms.",
        path: Some((Span::from_millis(4), Span::from_millis(43))),
        script: |_| vec![acks(75)],
        ..OWN
    },
    Case {
        id: "probe-rtt-longer-path",
        about: "The path has become longer meanwhile: ProbeRTT finds its round-trip time.",
        path: SLOW,
        script: |_| {
            vec![Aggregated { acks: 30, of: 4 }, link(500, 43_000), Aggregated { acks: 70, of: 4 }]
        },
        ..OWN
    },
    Case {
        id: "probe-rtt-in-startup",
        about: "Ten seconds of an application that has little to send: ProbeRTT interrupts Startup.",
        path: SLOW,
        script: |_| vec![AppLimit(Some(5)), acks(48), AppLimit(None), acks(18)],
        ..OWN
    },
    Case {
        id: "one-loss",
        about: "One loss in ProbeBW: packets are conserved for a round, the window grows back, and the \
            end of recovery restores it.",
        script: |_| after_start([Drop(vec![4]), acks(19)]),
        ..OWN
    },
    Case {
        id: "two-holes",
        about: "Two segments of one window lost.",
        script: |_| after_start([Drop(vec![2, 9]), acks(19)]),
        ..OWN
    },
    Case {
        id: "two-losses",
        about: "Half of a window lost, and the retransmissions lost too, in the rounds after the \
            first: each loss takes its bytes from the window.",
        script: |_| {
            let many = Drop(vec![1, 2, 4, 6, 8, 10, 11]);
            after_start([many, Acks(22), Drop(vec![2, 3, 5]), Acks(22), acks(18)])
        },
        ..OWN
    },
    Case {
        id: "loss-in-startup",
        about: "Losses in Startup, which they do not end.",
        script: |_| vec![acks(5), Drop(vec![1, 3, 5, 7]), acks(12), Aggregated { acks: 40, of: 4 }],
        ..OWN
    },
    Case {
        id: "loss-in-probe",
        about: "A loss while probing ends the phase before the flight is a quarter above the product.",
        path: Some((Span::from_millis(4), Span::from_micros(4_300))),
        script: |_| {
            let round = |_| [Drop(vec![0]), Acks(14)];
            [acks(22)].into_iter().chain((0..6).flat_map(round)).collect()
        },
        ..OWN
    },
    Case {
        id: "rate-reduction",
        about: "Two segments of one window lost where the host's recovery is proportional rate \
            reduction (RFC 9937): the window is BBR's.",
        recovery: Some(LossRecovery::Prr),
        script: |_| after_start([Drop(vec![2, 9]), acks(19)]),
        ..OWN
    },
    Case {
        id: "without-sack",
        about: "Two segments of one window lost without a scoreboard (RFC 6582).",
        recovery: Some(LossRecovery::NewReno),
        script: |_| after_start([Drop(vec![2, 9]), acks(22)]),
        ..OWN
    },
    Case {
        id: "timeout",
        about: "A retransmission timeout: one segment, and back to the window when it is repaired.",
        script: |_| after_start([Timeout, acks(22)]),
        ..OWN
    },
    Case {
        id: "timeout-in-startup",
        about: "A retransmission timeout in Startup: the search for the full pipe begins again.",
        script: |_| vec![acks(6), Timeout, acks(54)],
        ..OWN
    },
    Case {
        id: "repeated-timeout",
        about: "The same data times out three times: the window of before the first is restored.",
        script: |_| after_start([Timeout, Timeout, Timeout, acks(22)]),
        ..OWN
    },
    Case {
        id: "application-limited",
        about: "The application keeps four segments in flight for fifteen rounds: their rates are no \
            bandwidth.",
        script: |_| after_start([AppLimit(Some(4)), acks(24), AppLimit(None), acks(19)]),
        ..OWN
    },
    Case {
        id: "application-limited-startup",
        about: "The application limits Startup for ten rounds, which do not count as rounds without \
            growth, and the pacing rate does not fall.",
        script: |_| vec![AppLimit(Some(4)), acks(15), AppLimit(None), acks(54)],
        ..OWN
    },
    Case {
        id: "idle-restart",
        about: "Idle for less than a timeout and for twelve seconds: the first segments leave at the \
            estimated bandwidth, and ProbeRTT is not entered.",
        script: |_| {
            let (short, long) = (Span::from_millis(300), Span::from_secs(12));
            after_start([acks(13), Idle(short), acks(18), Idle(long), acks(24)])
        },
        ..OWN
    },
    Case {
        id: "idle-in-probe-rtt",
        about: "Idle for a second in ProbeRTT, which that ends.",
        path: SLOW,
        script: |_| {
            let idle = Idle(Span::from_secs(1));
            vec![Aggregated { acks: 48, of: 4 }, acks(12), idle, acks(14)]
        },
        ..OWN
    },
    Case {
        id: "minimum-window",
        about: "A path that holds little more than a segment, and timeouts on it: never less than \
            four segments outside recovery.",
        path: Some((Span::from_millis(2), Span::from_millis(20))),
        script: |_| {
            let down = [Timeout, Acks(2), Timeout, Acks(1), Timeout, Timeout];
            [Acks(40)].into_iter().chain(down).chain([Acks(40)]).collect()
        },
        ..OWN
    },
    Case {
        id: "undo-recovery",
        about: "A segment arrives late, fast recovery begins and is undone.",
        script: |_| after_start([Delay(0, Span::from_millis(30)), acks(19)]),
        ..OWN
    },
    Case {
        id: "undo-in-startup",
        about: "A segment arrives late in Startup, and fast recovery is undone: the search for \
            the full pipe begins again.",
        script: |_| vec![acks(12), Delay(0, Span::from_millis(60)), acks(54)],
        ..OWN
    },
    Case {
        id: "undo-timeout",
        about: "The retransmission timer expires too early and the timeout is undone.",
        script: |_| after_start([EarlyTimeout, acks(22)]),
        ..OWN
    },
    Case {
        id: "mss-change",
        about: "The segment size falls and rises again: quanta and the smallest window are segments.",
        script: |_| {
            after_start([Mss(1_000), acks(36), Drop(vec![3]), acks(10), Mss(1_460), acks(14)])
        },
        ..OWN
    },
    Case {
        id: "aggregation",
        about: "Each acknowledgement covers ten segments: the window has room for them until ten \
            rounds after the last of these acknowledgements.",
        script: |_| after_start([Aggregated { acks: 20, of: 10 }, Aggregated { acks: 60, of: 3 }]),
        ..OWN
    },
    Case {
        id: "silence",
        about: "Three weeks of silence: the estimates do not change.",
        script: |_| after_start([Drop(vec![3]), acks(12), Idle(WEEKS), acks(22)]),
        ..OWN
    },
    Case {
        id: "policer",
        about: "A fifth of the data and more is lost in two intervals with the same rate: this \
            rate is kept for 48 rounds, and the cycle begins again.",
        path: Some((Span::from_millis(20), Span::from_micros(4_300))),
        script: |_| {
            let policed = [DropEvery(Some(4)), Acks(110), DropEvery(None)];
            let kept = Aggregated { acks: 110, of: 4 };
            [Aggregated { acks: 45, of: 4 }].into_iter().chain(policed).chain([kept]).collect()
        },
        ..OWN
    },
    Case {
        id: "no-policer",
        about: "Two intervals with heavy loss and different rates: no policer.",
        path: Some((Span::from_millis(20), Span::from_micros(4_300))),
        script: |_| {
            let first = [DropEvery(Some(4)), Acks(36), link(20, 8_600), Acks(50)];
            [start()].into_iter().chain(first).chain([DropEvery(None), acks(18)]).collect()
        },
        ..OWN
    },
    Case {
        id: "slow-policer",
        about: "Two intervals with heavy loss below 4 kB/s, whose rates differ by more than an eighth \
            and less than 500 B/s: a policer.",
        mss: 90,
        path: Some((Span::from_millis(60), Span::from_millis(30))),
        script: |_| {
            let lossy = [DropEvery(Some(4)), Acks(30), link(60, 55_000), Acks(80)];
            [start()].into_iter().chain(lossy).chain([DropEvery(None), acks(18)]).collect()
        },
        ..OWN
    },
];
