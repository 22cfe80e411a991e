//! Properties of every algorithm over histories that a real host can produce: losses, timeouts,
//! reordering, marks, aggregation, changes of the segment size and weeks without traffic, but no
//! invalid values.

use crate::common::any::{any_params, params_of, run};
use crate::common::classes::{framed, shrinking_by_phase_only};
use crate::common::history::{play, script};
use proptest::prelude::*;
use windlass_cc::setup::{Counting, MarkCut};
use windlass_cc::window::MAX_WINDOW;
use windlass_cc::{AnyController, AnyParams, Event, Phase, Setup, slow_start};

/// Parameters with an initial window and a threshold that a host could set.
fn sensible(p: &AnyParams, segments: u64) -> AnyParams {
    let mut p = *p;
    let common = p.common();
    p.set_common(&Setup { initial_window: segments * 1_460, ack_limit: 1, ..common });
    p
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn the_window_stays_between_a_segment_and_its_largest(
        p in any_params(), script in script(), segments in 1..40u64,
    ) {
        let p = sensible(&p, segments);
        let (first, history) = play(&p, &script);
        let answers = run(&p, &first, &history);
        for ((c, e), answer) in history.iter().zip(&answers[1..]) {
            let range = u64::from(c.mss)..=MAX_WINDOW;
            prop_assert!(range.contains(&answer.cwnd), "{e:?} {c:?}: {answer:?}");
        }
    }

    /// RFC 5681 equation 4: the window can grow again from its minimum.
    #[test]
    fn a_cut_leaves_a_threshold_of_at_least_two_segments(
        p in params_of(framed()), script in script(), segments in 1..40u64,
    ) {
        let p = sensible(&p, segments);
        let (first, history) = play(&p, &script);
        let answers = run(&p, &first, &history);
        for ((c, e), answer) in history.iter().zip(&answers[1..]) {
            if let Event::Phase { from: Phase::Open, .. } = e {
                prop_assert!(answer.ssthresh >= 2 * u64::from(c.mss), "{e:?}: {answer:?}");
            }
        }
    }

    /// Between two entries of a phase for a loss or a mark, the window of an algorithm that reduces by
    /// phase only decreases only with idle times and segment sizes. A cut for a mark that is spread
    /// over an RTT ends at the threshold, or at the flight if a new segment size or a minimum puts the
    /// threshold above it.
    #[test]
    fn an_rtt_has_at_most_one_reduction(
        p in params_of(shrinking_by_phase_only()), script in script(), segments in 1..40u64,
    ) {
        let mut p = sensible(&p, segments);
        p.set_common(&Setup { slow_start: slow_start::AnyParams::default(), ..p.common() });
        let spread = p.common().mark_cut == MarkCut::Proportional;
        let (first, history) = play(&p, &script);
        let mut state = AnyController::init(&p, &first);
        for (c, e) in &history {
            let before = state.control(&p, c);
            state.apply(&p, c, e);
            let after = state.control(&p, c);
            // A loss in the same RTT as a mark lowers the window together with the flight
            // (`tcp_cwnd_reduction`).
            let segments = p.common().counting == Counting::Segments && c.phase == Phase::Cwr;
            let reduced = matches!(e, Event::Ack(a) if a.lost > 0) && spread && segments;
            if let Event::Ack(a) = e
                && c.phase != Phase::Recovery
                && !reduced
            {
                let least = if spread { before.cwnd.min(before.ssthresh).min(a.prior_in_flight) } else { before.cwnd };
                prop_assert!(after.cwnd >= least, "{e:?}: {before:?} {after:?}");
                prop_assert_eq!(after.ssthresh, before.ssthresh);
            }
            // Only the response to a repeated timeout of the same data keeps the threshold.
            if let Event::Phase { from: Phase::Loss, to: Phase::Loss } = e {
                prop_assert_eq!(after.ssthresh, before.ssthresh);
            }
        }
    }

    #[test]
    fn the_same_script_makes_the_same_history(
        p in any_params(), script in script(), segments in 1..40u64,
    ) {
        let p = sensible(&p, segments);
        prop_assert_eq!(play(&p, &script), play(&p, &script));
    }
}
