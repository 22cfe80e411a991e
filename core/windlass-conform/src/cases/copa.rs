//! The cases of Copa. Each acknowledgement covers four segments, so that half an RTT has two
//! acknowledgements. An implementation that keeps few samples then has the same minimum as an
//! implementation that keeps all samples.

use windlass_cc::Span;
use windlass_cc::recovery::LossRecovery;

use super::{Case, OWN, WEEKS};
use crate::host::Step::{
    self, Acks, Aggregated, AppLimit, Delay, Drop, EarlyTimeout, Idle, Link, Mss, Timeout,
};

/// The given number of acknowledgements of four segments.
fn acks(acks: u32) -> Step {
    Aggregated { acks, of: 4 }
}

/// The path becomes longer or slower.
fn link(rtt_ms: u64, segment_us: u64) -> Step {
    Link { rtt: Span::from_millis(rtt_ms), segment_time: Span::from_micros(segment_us) }
}

/// A path that is never full, so that all RTTs are equal.
const WIDE: Option<(Span, Span)> = Some((Span::from_millis(100), Span::from_micros(100)));

/// On that path another flow keeps 40 ms of data in a queue. After five RTTs the flow competes.
fn competing(acknowledgements: u32) -> [Step; 3] {
    [acks(4), link(140, 100), acks(acknowledgements)]
}

/// The application has no data to send, then silence.
fn silence(gap: Span) -> [Step; 4] {
    [AppLimit(Some(0)), acks(9), Idle(gap), AppLimit(None)]
}

/// A path on which ten seconds are about sixty acknowledgements.
const SLOW: Option<(Span, Span)> = Some((Span::from_millis(300), Span::from_micros(41_000)));

/// The cases of Copa.
pub const CASES: &[Case] = &[
    Case {
        id: "startup",
        about: "Slow start on a path that it does not fill: window and pacing rate double each \
            round trip.",
        path: WIDE,
        script: |_| vec![Acks(60)],
        ..OWN
    },
    Case {
        id: "steady",
        about: "Slow start until the rate exceeds the target, and the oscillation around it, in which \
            the queue is nearly empty now and then.",
        script: |_| vec![acks(90)],
        ..OWN
    },
    Case {
        id: "velocity",
        about: "The bottleneck becomes eight times as fast, so that the window rises for long and the \
            velocity doubles, and slow again, so that it falls for long.",
        script: |_| {
            let many = |acks| Aggregated { acks, of: 32 };
            vec![acks(30), link(40, 640), many(45), link(40, 5_100), many(8)]
        },
        ..OWN
    },
    Case {
        id: "competitive-mode",
        about: "Others fill the queue: 1/delta rises by one each round trip, until the queue has been \
            nearly empty.",
        path: WIDE,
        script: |_| {
            let gone = [AppLimit(Some(0)), acks(20), link(100, 100), AppLimit(None), acks(20)];
            competing(75).into_iter().chain(gone).collect()
        },
        ..OWN
    },
    Case {
        id: "competitive-losses",
        about: "Two losses while others fill the queue: each halves 1/delta, and its round trip does \
            not raise it.",
        path: WIDE,
        script: |_| {
            let lost = || [Drop(vec![1]), acks(30)];
            competing(75).into_iter().chain(lost()).chain(lost()).collect()
        },
        ..OWN
    },
    Case {
        id: "longer-path",
        about: "The path becomes longer while the application has little to send: for ten seconds that \
            is taken for a queue.",
        path: SLOW,
        script: |_| {
            let little = [link(400, 41_000), AppLimit(Some(3)), acks(24), AppLimit(None)];
            [acks(25)].into_iter().chain(little).chain([acks(40)]).collect()
        },
        ..OWN
    },
    Case {
        id: "one-loss",
        about: "One loss in the default mode, which changes nothing.",
        script: |_| vec![acks(20), Drop(vec![2]), acks(28)],
        ..OWN
    },
    Case {
        id: "rate-reduction",
        about: "The same where the host's recovery is proportional rate reduction (RFC 9937): the \
            window is Copa's.",
        recovery: Some(LossRecovery::Prr),
        script: |_| vec![acks(20), Drop(vec![2]), acks(28)],
        ..OWN
    },
    Case {
        id: "without-sack",
        about: "Two segments of one window lost without a scoreboard (RFC 6582), while others fill the \
            queue: the window is not inflated.",
        recovery: Some(LossRecovery::NewReno),
        path: WIDE,
        script: |_| competing(75).into_iter().chain([Drop(vec![0, 4]), acks(30)]).collect(),
        ..OWN
    },
    Case {
        id: "two-holes",
        about: "Two segments of one window lost while others fill the queue: one halving of 1/delta.",
        path: WIDE,
        script: |_| competing(75).into_iter().chain([Drop(vec![0, 4]), acks(30)]).collect(),
        ..OWN
    },
    Case {
        id: "timeout",
        about: "A retransmission timeout: one segment, then slow start.",
        script: |_| vec![acks(20), Timeout, acks(36)],
        ..OWN
    },
    Case {
        id: "repeated-timeout",
        about: "The same data times out twice while others fill the queue: 1/delta is halved \
            once.",
        path: WIDE,
        script: |_| competing(75).into_iter().chain([Timeout, Timeout, acks(36)]).collect(),
        ..OWN
    },
    Case {
        id: "application-limited",
        about: "The application keeps eight segments in flight for a while: the window does not grow.",
        path: WIDE,
        script: |_| vec![acks(6), AppLimit(Some(8)), acks(20), AppLimit(None), acks(20)],
        ..OWN
    },
    Case {
        id: "idle-restart",
        about: "Idle for less than a timeout and for more than a timeout, after which slow start \
            begins again.",
        script: |_| {
            let idle = [silence(Span::from_millis(300)), silence(Span::from_secs(5))];
            let busy = idle.into_iter().flat_map(|gap| [acks(20)].into_iter().chain(gap));
            busy.chain([acks(30)]).collect()
        },
        ..OWN
    },
    Case {
        id: "minimum-window",
        about: "A path that one segment fills, and timeouts on it: cwnd is reduced to two \
            segments and to one.",
        path: Some((Span::from_millis(2), Span::from_millis(20))),
        script: |_| vec![Acks(40), Timeout, Acks(2), Timeout, Timeout, Acks(40)],
        ..OWN
    },
    Case {
        id: "undo-recovery",
        about: "A segment arrives late while others fill the queue: the halving of 1/delta is undone.",
        path: WIDE,
        script: |_| {
            let late = Delay(0, Span::from_millis(20));
            competing(75).into_iter().chain([late, acks(30)]).collect()
        },
        ..OWN
    },
    Case {
        id: "undo-timeout",
        about: "The retransmission timer expires too early and the timeout is undone.",
        script: |_| vec![acks(20), EarlyTimeout, acks(40)],
        ..OWN
    },
    Case {
        id: "mss-change",
        about: "The segment size falls and rises again: the window keeps its bytes, its steps and its \
            floor are segments.",
        script: |_| vec![acks(20), Mss(1_000), acks(40), Mss(1_460), acks(30)],
        ..OWN
    },
    Case {
        id: "aggregation",
        about: "Each acknowledgement covers eight segments.",
        script: |_| vec![acks(10), Aggregated { acks: 40, of: 8 }],
        ..OWN
    },
    Case {
        id: "silence",
        about: "Three weeks without a word while others fill the queue: all round-trip times are \
            forgotten.",
        path: WIDE,
        script: |_| competing(75).into_iter().chain(silence(WEEKS)).chain([acks(36)]).collect(),
        ..OWN
    },
];
