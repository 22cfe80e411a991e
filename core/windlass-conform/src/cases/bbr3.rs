//! The cases of BBR version 3. On the usual path the bandwidth-delay product is 10.3 segments.

use windlass_cc::Span;
use windlass_cc::recovery::LossRecovery;

use super::{Case, OWN, WEEKS};
use crate::host::Step::{
    self, Acks, Aggregated, AppLimit, Delay, Drop, DropEvery, EarlyTimeout, Idle, Link, Mss,
    Timeout,
};

/// The given number of acknowledgements of six segments. With constant acknowledgements the bytes
/// per acknowledgement hardly vary. Implementations that keep few samples of them then agree with
/// implementations that keep all samples.
fn acks(acks: u32) -> Step {
    Aggregated { acks, of: 6 }
}

/// Startup, Drain and the beginning of ProbeBW_CRUISE.
fn start() -> Step {
    acks(26)
}

/// The start, then the whole first ProbeBW_CRUISE and REFILL, so that ProbeBW_UP has begun.
fn up() -> Step {
    acks(46)
}

/// The start, then the given steps.
fn after_start<const N: usize>(steps: [Step; N]) -> Vec<Step> {
    [start()].into_iter().chain(steps).collect()
}

/// The beginning of ProbeBW_UP, then the given steps.
fn after_up<const N: usize>(steps: [Step; N]) -> Vec<Step> {
    [up()].into_iter().chain(steps).collect()
}

/// A path on which five seconds are about sixty acknowledgements.
const SLOW: Option<(Span, Span)> = Some((Span::from_millis(350), Span::from_micros(21_500)));
/// A product of 81 segments, and 63 rounds in less than two seconds.
const FAST: Option<(Span, Span)> = Some((Span::from_millis(10), Span::from_micros(130)));

/// The path becomes longer or slower.
fn link(rtt_ms: u64, segment_us: u64) -> Step {
    Link { rtt: Span::from_millis(rtt_ms), segment_time: Span::from_micros(segment_us) }
}

/// The cases of BBR version 3.
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
        about: "Three rounds without growth end Startup. Drain empties the queue. ProbeBW \
            begins.",
        script: |_| vec![Aggregated { acks: 100, of: 2 }],
        ..OWN
    },
    Case {
        id: "short-path",
        about: "A path so short and fast that three quanta of a millisecond are more than the window \
            would be.",
        path: Some((Span::from_micros(500), Span::from_micros(250))),
        script: |_| vec![Acks(120)],
        ..OWN
    },
    Case {
        id: "probe-cycle",
        about: "Two cycles of ProbeBW, each begun after the rounds in which Reno regains as much.",
        script: |_| vec![acks(100)],
        ..OWN
    },
    Case {
        id: "probe-wait",
        about: "A path so long that two to three seconds end ProbeBW_CRUISE.",
        path: Some((Span::from_millis(600), Span::from_micros(20_000))),
        script: |_| vec![acks(100)],
        ..OWN
    },
    Case {
        id: "probe-rounds",
        about: "A product so large and a round trip so short that 63 rounds end ProbeBW_CRUISE.",
        path: FAST,
        script: |_| vec![Aggregated { acks: 105, of: 80 }],
        ..OWN
    },
    Case {
        id: "faster-link",
        about: "The bottleneck becomes twice as fast: ProbeBW_UP lasts until it finds no quarter more.",
        script: |_| after_start([link(40, 2_150), acks(62)]),
        ..OWN
    },
    Case {
        id: "slower-link",
        about: "The bottleneck becomes half as fast while nothing is sent, which the filter shows after \
            two cycles.",
        script: |_| {
            let pause = [acks(4), AppLimit(Some(0)), acks(4), link(40, 8_600), AppLimit(None)];
            [start()].into_iter().chain(pause).chain([acks(100)]).collect()
        },
        ..OWN
    },
    Case {
        id: "probe-rtt",
        about: "Every five seconds without a lower round-trip time: half the product for 200 ms and a \
            round, then ProbeBW_CRUISE.",
        path: SLOW,
        script: |_| vec![acks(133)],
        ..OWN
    },
    Case {
        id: "probe-rtt-short-path",
        about: "The same on a path whose round trip is shorter than 200 ms, with four segments.",
        path: Some((Span::from_millis(4), Span::from_millis(43))),
        script: |_| vec![Aggregated { acks: 100, of: 2 }],
        ..OWN
    },
    Case {
        id: "probe-rtt-longer-path",
        about: "The path becomes longer: ProbeRTT sees its round-trip time, and after ten seconds it \
            is the estimate.",
        path: SLOW,
        script: |_| vec![acks(27), link(500, 21_500), acks(113)],
        ..OWN
    },
    Case {
        id: "probe-rtt-in-startup",
        about: "Five seconds of an application that has little to send: ProbeRTT interrupts Startup.",
        path: SLOW,
        script: |_| vec![AppLimit(Some(5)), acks(20), AppLimit(None), acks(40)],
        ..OWN
    },
    Case {
        id: "startup-loss",
        about: "Six acknowledgements with losses in a round of recovery, and more than 2 %, end Startup \
            and bound the flight.",
        script: |_| {
            vec![
                Aggregated { acks: 10, of: 4 },
                DropEvery(Some(4)),
                Acks(60),
                DropEvery(None),
                acks(40),
            ]
        },
        ..OWN
    },
    Case {
        id: "startup-few-losses",
        about: "Fewer losses do not end Startup.",
        script: |_| vec![acks(5), DropEvery(Some(9)), Acks(70), DropEvery(None), acks(33)],
        ..OWN
    },
    Case {
        id: "one-loss",
        about: "One loss in ProbeBW_CRUISE: rate and flight are bounded until ProbeBW_REFILL.",
        script: |_| after_start([Drop(vec![4]), acks(33)]),
        ..OWN
    },
    Case {
        id: "two-holes",
        about: "Two segments of one window lost: one bound, at 0.7 or at the delivered data.",
        script: |_| after_start([Drop(vec![2, 9]), acks(40)]),
        ..OWN
    },
    Case {
        id: "two-losses",
        about: "Losses in several rounds of ProbeBW_CRUISE: the bounds fall once in each.",
        script: |_| {
            let lost = || Drop(vec![6]);
            after_start([lost(), Acks(16), lost(), Acks(16), lost(), Acks(16), acks(24)])
        },
        ..OWN
    },
    Case {
        id: "probe-loss",
        about: "A loss in ProbeBW_UP bounds the flight for long; the next probe stops at the bound, and \
            being clean is followed by another, which raises it.",
        script: |_| after_up([Drop(vec![8]), acks(100)]),
        ..OWN
    },
    Case {
        id: "probe-losses",
        about: "Losses in two probes.",
        script: |_| after_up([Drop(vec![8]), acks(32), Drop(vec![9]), acks(47)]),
        ..OWN
    },
    Case {
        id: "probe-small-loss",
        about: "One loss among more than fifty segments does not end ProbeBW_UP.",
        path: FAST,
        script: |_| {
            let probing = Aggregated { acks: 84, of: 80 };
            vec![probing, Drop(vec![60]), Acks(60), Aggregated { acks: 12, of: 80 }]
        },
        ..OWN
    },
    Case {
        id: "rate-reduction",
        about: "Two segments of one window lost where the host's recovery is proportional rate \
            reduction (RFC 9937): the window is BBR's.",
        recovery: Some(LossRecovery::Prr),
        script: |_| after_start([Drop(vec![2, 9]), acks(27)]),
        ..OWN
    },
    Case {
        id: "without-sack",
        about: "Without a scoreboard (RFC 6582) any loss in ProbeBW_UP is too much.",
        recovery: Some(LossRecovery::NewReno),
        script: |_| after_up([Drop(vec![8]), acks(53)]),
        ..OWN
    },
    Case {
        id: "startup-without-sack",
        about: "Without a scoreboard a round of recovery ends Startup.",
        recovery: Some(LossRecovery::NewReno),
        script: |_| vec![acks(4), Drop(vec![1, 3, 4]), acks(47)],
        ..OWN
    },
    Case {
        id: "timeout",
        about: "A retransmission timeout: one segment, and back to the window when it is repaired.",
        script: |_| after_start([Timeout, acks(40)]),
        ..OWN
    },
    Case {
        id: "timeout-in-startup",
        about: "A retransmission timeout in Startup.",
        script: |_| vec![acks(5), Timeout, acks(47)],
        ..OWN
    },
    Case {
        id: "timeout-at-first",
        about: "The first flight times out: the first round-trip time comes with a window of one \
            segment, and the pacing rate is still that of the initial window.",
        window: 10,
        script: |_| vec![Timeout, acks(40)],
        ..OWN
    },
    Case {
        id: "repeated-timeout",
        about: "The same data times out three times: the window of before the first is restored.",
        script: |_| after_start([Timeout, Timeout, Timeout, acks(40)]),
        ..OWN
    },
    Case {
        id: "application-limited",
        about: "The application keeps six segments in flight for a dozen rounds: their rates are no \
            bandwidth.",
        script: |_| after_start([AppLimit(Some(6)), acks(13), AppLimit(None), acks(33)]),
        ..OWN
    },
    Case {
        id: "application-limited-startup",
        about: "The application limits Startup for ten rounds, which do not count as rounds without \
            growth, and the pacing rate does not fall.",
        script: |_| vec![AppLimit(Some(4)), acks(9), AppLimit(None), acks(40)],
        ..OWN
    },
    Case {
        id: "idle-restart",
        about: "Idle for less than a timeout and for six seconds: the first segments leave at the \
            estimated bandwidth, and ProbeRTT is not entered.",
        script: |_| {
            let (short, long) = (Span::from_millis(300), Span::from_secs(6));
            let idle = |gap| [AppLimit(Some(0)), acks(4), Idle(gap), AppLimit(None), acks(20)];
            [start()].into_iter().chain(idle(short)).chain(idle(long)).collect()
        },
        ..OWN
    },
    Case {
        id: "minimum-window",
        about: "A path that holds little more than a segment, and timeouts on it: never less than \
            four segments but after a timeout.",
        path: Some((Span::from_millis(2), Span::from_millis(20))),
        script: |_| {
            let down = [Timeout, Acks(2), Timeout, Acks(1), Timeout, Timeout];
            [Acks(40)].into_iter().chain(down).chain([Acks(40)]).collect()
        },
        ..OWN
    },
    Case {
        id: "undo-recovery",
        about: "A segment arrives late in ProbeBW_CRUISE: the bounds of the loss are taken back.",
        script: |_| after_start([Delay(0, Span::from_millis(90)), acks(40)]),
        ..OWN
    },
    Case {
        id: "undo-probe",
        about: "A segment arrives late in ProbeBW_UP, which the loss has ended: it begins again \
            with ProbeBW_REFILL.",
        script: |_| after_up([Delay(2, Span::from_millis(40)), acks(40)]),
        ..OWN
    },
    Case {
        id: "undo-timeout",
        about: "The retransmission timer expires too early and the timeout is undone.",
        script: |_| after_start([EarlyTimeout, acks(40)]),
        ..OWN
    },
    Case {
        id: "mss-change",
        about: "The segment size falls and rises again: quanta and the smallest window are segments.",
        script: |_| {
            after_start([Mss(1_000), acks(22), Drop(vec![5]), acks(22), Mss(1_460), acks(14)])
        },
        ..OWN
    },
    Case {
        id: "aggregation",
        about: "Each acknowledgement covers ten segments: the window has room for them until ten \
            rounds after the last of these acknowledgements.",
        script: |_| after_start([Aggregated { acks: 20, of: 10 }, acks(40)]),
        ..OWN
    },
    Case {
        id: "heavy-loss",
        about: "A fifth of all segments is lost for ten rounds of ProbeBW and more.",
        script: |_| after_start([DropEvery(Some(5)), Acks(120), DropEvery(None), acks(29)]),
        ..OWN
    },
    Case {
        id: "silence",
        about: "Three weeks of silence: the estimates do not change.",
        script: |_| {
            let silence = [AppLimit(Some(0)), acks(4), Idle(WEEKS), AppLimit(None), acks(30)];
            [start(), Drop(vec![3]), acks(13)].into_iter().chain(silence).collect()
        },
        ..OWN
    },
];
