//! The cases: the events of a connection, and the algorithms that they apply to.

use windlass_cc::recovery::LossRecovery;
use windlass_cc::{Ecn, Requirements, Span, slow_start};

use super::host::Step;

pub mod bbr;
pub mod bbr3;
pub mod copa;
pub mod pairs;

/// Slow starts with separate cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// RFC 5681.
    Standard,
    /// RFC 3742 with max_ssthresh of this number of segments.
    Limited(u64),
    /// RFC 9406.
    HyStartPlusPlus,
}

impl Opening {
    /// The slow start with its parameters.
    pub fn params(self) -> Option<slow_start::AnyParams> {
        match self {
            Opening::Standard => slow_start::AnyParams::by_name("standard"),
            Opening::Limited(segments) => {
                let mut params = slow_start::AnyParams::by_name("limited")?;
                params.set(0, segments).then_some(params)
            }
            Opening::HyStartPlusPlus => slow_start::AnyParams::by_name("hystart++"),
        }
    }
}

/// One case.
pub struct Case {
    /// Name, which is also the file's name.
    pub id: &'static str,
    /// Description, one sentence.
    pub about: &'static str,
    /// Segment size, bytes.
    pub mss: u32,
    /// Initial window, segments.
    pub window: u64,
    /// True if the connection begins in congestion avoidance.
    pub avoidance: bool,
    /// Maximum number of segments that one acknowledgement counts for.
    pub ack_limit: u32,
    /// Loss recovery. `None` is the algorithm's recovery, except that proportional rate reduction
    /// is replaced by RFC 6675, whose window is the threshold.
    pub recovery: Option<LossRecovery>,
    /// The slow start.
    pub opening: Opening,
    /// RTT of the empty path and time of one segment at its bottleneck, if they differ from the
    /// subject's.
    pub path: Option<(Span, Span)>,
    /// The script; counts of acknowledgements are multiplied by the argument.
    pub script: fn(u32) -> Vec<Step>,
    /// The reason why the case does not apply to an algorithm with these requirements, if it does
    /// not.
    pub beside: fn(&Requirements) -> Option<&'static str>,
}

fn always(_: &Requirements) -> Option<&'static str> {
    None
}

fn only_newreno(wants: &Requirements) -> Option<&'static str> {
    (wants.recovery != LossRecovery::NewReno)
        .then_some("congestion avoidance has no part in it, see `newreno`")
}

fn only_with_prr(wants: &Requirements) -> Option<&'static str> {
    (wants.recovery != LossRecovery::Prr).then_some("has a special fast recovery")
}

fn only_with_ecn(wants: &Requirements) -> Option<&'static str> {
    (wants.ecn == Ecn::None).then_some("its packets are not ECN-capable")
}

/// The usual segment size.
const MSS: u32 = 1_460;

const WEEKS: Span = Span::from_secs(3 * 7 * 24 * 3600);

use Step::{Acks, Aggregated, AppLimit, Delay, Drop, EarlyTimeout, Idle, Mark, Mss, Timeout};

/// Defaults of a case.
const OWN: Case = Case {
    id: "",
    about: "",
    mss: MSS,
    window: 4,
    avoidance: false,
    ack_limit: 1,
    recovery: None,
    opening: Opening::Standard,
    path: None,
    script: |_| Vec::new(),
    beside: always,
};

/// The cases of algorithms that probe for a loss or a delay with a window, in the order of the
/// checklist. The other algorithms have separate cases.
pub const CASES: &[Case] = &[
    Case {
        id: "slow-start",
        about: "Unlimited slow start from four segments.",
        script: |_| vec![Acks(60)],
        ..OWN
    },
    Case {
        id: "limited-slow-start",
        about: "Limited slow start (RFC 3742) with max_ssthresh of nine segments.",
        opening: Opening::Limited(9),
        script: |_| vec![Acks(100)],
        beside: only_newreno,
        ..OWN
    },
    Case {
        id: "hystart-plus-plus",
        about: "HyStart++ (RFC 9406) on a path that fills: conservative slow start begins.",
        opening: Opening::HyStartPlusPlus,
        script: |_| vec![Acks(120)],
        beside: only_newreno,
        ..OWN
    },
    Case {
        id: "avoidance",
        about: "Congestion avoidance without a loss.",
        window: 12,
        avoidance: true,
        script: |k| vec![Acks(60 * k)],
        ..OWN
    },
    Case {
        id: "one-loss",
        about: "One loss in congestion avoidance, repaired by fast recovery.",
        window: 12,
        avoidance: true,
        script: |k| vec![Acks(15 * k), Drop(vec![2]), Acks(45 * k)],
        ..OWN
    },
    Case {
        id: "two-losses",
        about: "Two losses, the second before the window is back where the first was \
            (fast convergence).",
        window: 12,
        avoidance: true,
        script: |k| {
            let lost = || Drop(vec![0]);
            vec![Acks(6 * k), lost(), Acks(25 * k), lost(), Acks(25 * k)]
        },
        ..OWN
    },
    Case {
        id: "three-losses",
        about: "A loss every two round trips: the path stays the same.",
        window: 12,
        avoidance: true,
        script: |k| {
            let round = || [Acks(24 * k), Drop(vec![0])];
            [round(), round(), round()].into_iter().flatten().chain([Acks(15 * k)]).collect()
        },
        ..OWN
    },
    Case {
        id: "two-holes",
        about: "Two segments of one window lost: one reduction.",
        window: 12,
        avoidance: true,
        script: |k| vec![Acks(6 * k), Drop(vec![0, 4]), Acks(40 * k)],
        ..OWN
    },
    Case {
        id: "rate-reduction",
        about: "Two segments of one window lost and repaired with proportional rate reduction \
            (RFC 9937).",
        window: 12,
        avoidance: true,
        recovery: Some(LossRecovery::Prr),
        script: |k| vec![Acks(6 * k), Drop(vec![0, 4]), Acks(40 * k)],
        beside: only_with_prr,
        ..OWN
    },
    Case {
        id: "timeout",
        about: "A retransmission timeout, slow start up to the threshold and avoidance above it.",
        window: 12,
        avoidance: true,
        script: |k| vec![Acks(6 * k), Timeout, Acks(50 * k)],
        ..OWN
    },
    Case {
        id: "repeated-timeout",
        about: "The same data times out three times: the threshold moves once.",
        window: 12,
        avoidance: true,
        script: |k| vec![Acks(6 * k), Timeout, Timeout, Timeout, Acks(40 * k)],
        ..OWN
    },
    Case {
        id: "application-limited",
        about: "The application keeps four segments in flight for a while: the window stays.",
        window: 12,
        avoidance: true,
        script: |k| {
            vec![Acks(12 * k), AppLimit(Some(4)), Acks(28 * k), AppLimit(None), Acks(20 * k)]
        },
        ..OWN
    },
    Case {
        id: "idle-restart",
        about: "Idle for less than a timeout, which changes no window, and for more, which does.",
        window: 12,
        avoidance: true,
        script: |k| {
            let (short, long) = (Span::from_millis(300), Span::from_secs(5));
            vec![Acks(20 * k), Idle(short), Acks(15 * k), Idle(long), Acks(20 * k)]
        },
        ..OWN
    },
    Case {
        id: "minimum-window",
        about: "Timeouts down to the smallest window and threshold, and the way back.",
        window: 6,
        avoidance: true,
        script: |k| {
            let down = [Timeout, Acks(2), Timeout, Acks(1), Timeout, Timeout];
            down.into_iter().chain([Acks(40 * k)]).collect()
        },
        ..OWN
    },
    Case {
        id: "undo-recovery",
        about: "A segment arrives late, fast recovery begins and is undone.",
        window: 12,
        avoidance: true,
        script: |k| vec![Acks(15 * k), Delay(0, Span::from_millis(30)), Acks(40 * k)],
        ..OWN
    },
    Case {
        id: "undo-timeout",
        about: "The retransmission timer expires too early and the timeout is undone.",
        window: 12,
        avoidance: true,
        script: |k| vec![Acks(15 * k), EarlyTimeout, Acks(40 * k)],
        ..OWN
    },
    Case {
        id: "mss-change",
        about: "The segment size falls and rises again: windows keep their size in segments.",
        window: 12,
        avoidance: true,
        script: |k| {
            let (small, large) = (Mss(1000), Mss(1460));
            vec![
                Acks(15 * k),
                small,
                Acks(25 * k),
                Drop(vec![3]),
                Acks(20 * k),
                large,
                Acks(15 * k),
            ]
        },
        ..OWN
    },
    Case {
        id: "ecn",
        about: "Marks, two of them in one round trip.",
        window: 12,
        avoidance: true,
        script: |k| vec![Acks(6 * k), Mark(vec![0, 3]), Acks(25 * k), Mark(vec![1]), Acks(30 * k)],
        beside: only_with_ecn,
        ..OWN
    },
    Case {
        id: "ecn-and-loss",
        about: "A loss in the round trip that a mark has answered: no second reduction.",
        window: 12,
        avoidance: true,
        script: |k| vec![Acks(6 * k), Mark(vec![0]), Drop(vec![3]), Acks(40 * k)],
        beside: only_with_ecn,
        ..OWN
    },
    Case {
        id: "aggregation",
        about: "Each acknowledgement covers four segments and counts for one.",
        window: 12,
        avoidance: true,
        script: |k| vec![Acks(6 * k), Aggregated { acks: 30 * k, of: 4 }],
        ..OWN
    },
    Case {
        id: "aggregation-counted",
        about: "Each acknowledgement covers four segments and counts for all of them.",
        window: 12,
        avoidance: true,
        ack_limit: u32::MAX,
        script: |k| vec![Acks(6 * k), Aggregated { acks: 30 * k, of: 4 }],
        ..OWN
    },
    Case {
        id: "silence",
        about: "Three weeks without a word, after a loss has started an epoch of growth.",
        window: 12,
        avoidance: true,
        script: |k| vec![Acks(6 * k), Drop(vec![0]), Acks(25 * k), Idle(WEEKS), Acks(30 * k)],
        ..OWN
    },
];
