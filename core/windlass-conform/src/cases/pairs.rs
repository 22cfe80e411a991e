//! The cases of coupled algorithms with two paths. The vector has the events of the first path.

use windlass_cc::Span;

use super::MSS;
use crate::host::Move::{self, Acks, Decide, Join, Leave, On};
use crate::host::Step::{Drop, EarlyTimeout, Mss, Timeout};

/// One of the two paths.
#[derive(Clone, Copy)]
pub struct Lane {
    /// Segment size, bytes.
    pub mss: u32,
    /// Initial window, segments.
    pub window: u64,
    /// Round-trip time of the empty path.
    pub rtt: Span,
    /// Time that the bottleneck takes for one segment.
    pub segment_time: Span,
}

/// One case.
pub struct PairCase {
    /// Name, which is also the file's name.
    pub id: &'static str,
    /// Description, one sentence.
    pub about: &'static str,
    /// The paths.
    pub lanes: [Lane; 2],
    /// True if the paths begin in congestion avoidance.
    pub avoidance: bool,
    /// The script.
    pub script: fn() -> Vec<Move>,
}

/// A path that is never full.
const fn wide(window: u64, rtt_ms: u64) -> Lane {
    Lane { mss: MSS, window, rtt: Span::from_millis(rtt_ms), segment_time: Span::from_micros(130) }
}

/// A path on which a queue builds.
const fn slow(window: u64, rtt_ms: u64, segment_us: u64) -> Lane {
    Lane { segment_time: Span::from_micros(segment_us), ..wide(window, rtt_ms) }
}

const OWN: PairCase = PairCase {
    id: "",
    about: "",
    lanes: [wide(12, 100), wide(12, 100)],
    avoidance: true,
    script: Vec::new,
};

/// Modes of MFVL.
const MVEGAS: u8 = 0;
const MFAST: u8 = 1;
const COUPLED: u8 = 2;

fn losses(place: usize, acks: u32) -> Vec<Move> {
    [Acks(acks), On(place, Drop(vec![0])), Acks(acks)].to_vec()
}

/// The cases in the order of the list.
pub const CASES: &[PairCase] = &[
    PairCase {
        id: "equal-paths",
        about: "Two equal paths in congestion avoidance without a loss.",
        script: || vec![Acks(150)],
        ..OWN
    },
    PairCase {
        id: "slow-start",
        about: "Both paths in slow start.",
        lanes: [wide(4, 60), wide(4, 100)],
        avoidance: false,
        script: || vec![Acks(100)],
    },
    PairCase {
        id: "longer-path",
        about: "The path has a longer round-trip time and a larger window than its sibling: Reno's \
            increase is less than the coupled one.",
        lanes: [wide(40, 400), wide(4, 50)],
        script: || vec![Acks(170)],
        ..OWN
    },
    PairCase {
        id: "shorter-path",
        about: "The path has a shorter round-trip time than its sibling.",
        lanes: [wide(12, 37), wide(20, 150)],
        script: || vec![Acks(150)],
        ..OWN
    },
    PairCase {
        id: "losses-of-its-own",
        about: "Three losses on the path.",
        script: || (0..3).flat_map(|_| losses(0, 25)).collect(),
        ..OWN
    },
    PairCase {
        id: "losses-of-the-sibling",
        about: "Three losses on the sibling, in whose recovery duplicates inflate its window.",
        lanes: [wide(8, 100), wide(20, 100)],
        script: || (0..3).flat_map(|_| losses(1, 25)).collect(),
        ..OWN
    },
    PairCase {
        id: "far-behind",
        about: "The path has a tenth of its sibling's window and loses what it has.",
        lanes: [wide(4, 100), wide(40, 100)],
        script: || vec![Acks(60), On(0, Drop(vec![0])), Acks(90), On(0, Timeout), Acks(40)],
        ..OWN
    },
    PairCase {
        id: "timeout",
        about: "A retransmission timeout on the path, and one on its sibling.",
        script: || vec![Acks(30), On(0, Timeout), Acks(40), On(1, Timeout), Acks(50)],
        ..OWN
    },
    PairCase {
        id: "undone-timeout",
        about: "The retransmission timer of the path expires too early and the timeout is undone.",
        script: || vec![Acks(30), On(0, EarlyTimeout), Acks(70), On(0, Drop(vec![1])), Acks(60)],
        ..OWN
    },
    PairCase {
        id: "sibling-leaves",
        about: "The sibling goes, the path is alone, and the sibling comes back.",
        script: || vec![Acks(40), Leave, Acks(50), Join, Acks(60)],
        ..OWN
    },
    PairCase {
        id: "unequal-segments",
        about: "The paths have segments of different sizes, and the segments of the first path \
            become smaller.",
        lanes: [wide(12, 100), Lane { mss: 536, ..wide(12, 100) }],
        script: || {
            let smaller = On(0, Mss(1_000));
            vec![Acks(50), smaller, Acks(50), On(0, Drop(vec![2])), Acks(50)]
        },
        ..OWN
    },
    PairCase {
        id: "queues",
        about: "Each path fills its bottleneck, so that queues build.",
        lanes: [slow(14, 100, 7_300), slow(10, 150, 19_100)],
        script: || vec![Acks(160)],
        ..OWN
    },
    PairCase {
        id: "narrow-path",
        about: "Each path fills its bottleneck, and the path's has a tenth of the rate.",
        lanes: [slow(6, 100, 41_300), slow(40, 100, 4_100)],
        script: || vec![Acks(200)],
        ..OWN
    },
    PairCase {
        id: "queue-of-its-own",
        about: "The path's queue becomes long while its sibling's queue is empty.",
        lanes: [slow(24, 80, 6_700), wide(10, 100)],
        script: || vec![Acks(150)],
        ..OWN
    },
];

/// The cases of MFVL. The connection selects the algorithm of each path.
pub const MFVL_CASES: &[PairCase] = &[
    PairCase {
        id: "mvegas-from-below",
        about: "MVegas on a path whose queue grows with its window, and falls after losses.",
        lanes: [slow(9, 40, 7_000), slow(2, 400, 61_000)],
        script: || vec![Acks(70), On(0, Drop(vec![1])), Acks(60), On(0, Timeout), Acks(40)],
        ..OWN
    },
    PairCase {
        id: "mvegas-from-above",
        about: "MVegas on a path whose queue is longer than its upper threshold.",
        lanes: [slow(14, 40, 7_000), slow(2, 400, 61_000)],
        script: || vec![Acks(170)],
        ..OWN
    },
    PairCase {
        id: "mfast-from-the-start",
        about: "MFast on the path and MVegas on its sibling, from slow start on.",
        lanes: [slow(4, 60, 3_100), slow(4, 60, 9_100)],
        avoidance: false,
        script: || vec![Decide([MFAST, MVEGAS]), Acks(130), On(0, Drop(vec![1])), Acks(90)],
    },
    PairCase {
        id: "mfast-after-mvegas",
        about: "The path goes from MVegas to MFast, in congestion avoidance, and back.",
        lanes: [slow(14, 100, 4_300), slow(10, 150, 19_100)],
        script: || {
            let change = |modes| [Decide(modes), Acks(60)];
            [change([MVEGAS, MVEGAS]), change([MFAST, MVEGAS]), change([MVEGAS, MFAST])].concat()
        },
        ..OWN
    },
    PairCase {
        id: "coupled",
        about: "The paths share a bottleneck: LIA on both, until the connection decides otherwise.",
        lanes: [wide(12, 100), wide(20, 150)],
        script: || {
            let shared = Decide([COUPLED, COUPLED]);
            vec![
                Acks(30),
                shared,
                Acks(75),
                On(0, Drop(vec![0])),
                Acks(75),
                Decide([MVEGAS, MFAST]),
                Acks(60),
            ]
        },
        ..OWN
    },
    PairCase {
        id: "coupled-with-another",
        about: "The path is coupled, but not with this sibling: Reno, until the sibling joins its \
            bottleneck.",
        lanes: [wide(12, 100), wide(40, 60)],
        script: || {
            let apart = Decide([COUPLED, COUPLED + 1]);
            vec![apart, Acks(70), Decide([COUPLED, COUPLED]), Acks(80)]
        },
        ..OWN
    },
    PairCase {
        id: "coupled-slow-start",
        about: "Coupled paths open by the standard slow start.",
        lanes: [wide(4, 60), wide(4, 100)],
        avoidance: false,
        script: || vec![Decide([COUPLED, COUPLED]), Acks(75), On(0, Drop(vec![1])), Acks(60)],
    },
];
