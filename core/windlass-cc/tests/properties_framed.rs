//! Properties of the algorithms with a window, slow start and threshold, for every input that a host
//! can pass. Each property names the class of its algorithms.

use crate::common::any::{
    after, any_ack, any_conn, any_phase, any_u64, growing_phase, history, params_of,
};
use crate::common::classes::{
    closing_when_idle, framed, growing_as_reno_at_most, halving_the_flight, named,
    one_after_timeout, shrinking_by_phase_only,
};
use proptest::prelude::*;
use windlass_cc::setup::{Counting, Credit};
use windlass_cc::window::MAX_WINDOW;
use windlass_cc::{AnyParams, Conn, Event, Phase, Rate, Setup, Span, flags, slow_start};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn acknowledgements_increase_the_window_only_while_it_limits_the_sender(
        p in params_of(framed()), (first, steps) in history(),
        c in any_conn(Just(1_460).boxed()), phase in growing_phase(), ack in any_ack(),
    ) {
        let mut state = after(&p, &first, &steps);
        let c = Conn { flags: c.flags & !flags::CWND_LIMITED, mss: first.mss, phase, ..c };
        let before = state.control(&p, &c);
        state.on_ack(&p, &c, &ack);
        prop_assert!(state.control(&p, &c).cwnd <= before.cwnd);
    }

    #[test]
    fn an_acknowledgement_outside_recovery_never_shrinks_the_window(
        p in params_of(shrinking_by_phase_only()), (first, steps) in history(),
        c in any_conn(Just(1_460).boxed()), phase in growing_phase(), ack in any_ack(),
    ) {
        let mut p = p;
        // Vegas's slow start ends with a window smaller by `decrease`, and Quick-Start removes the
        // unused part of an approved window.
        use slow_start::AnyParams::{QuickStart, Vegas};
        if matches!(p.common().slow_start, Vegas(_) | QuickStart(_)) {
            p.set_common(&Setup { slow_start: slow_start::AnyParams::default(), ..p.common() });
        }
        let mut state = after(&p, &first, &steps);
        let c = Conn { mss: first.mss, phase, ..c };
        let before = state.control(&p, &c);
        state.on_ack(&p, &c, &ack);
        prop_assert!(state.control(&p, &c).cwnd >= before.cwnd);
    }

    /// RFC 5681 equations 2 and 3 with `cwnd >= mss`.
    #[test]
    fn an_acknowledgement_adds_no_more_than_it_counts_for(
        p in params_of(growing_as_reno_at_most()), (first, steps) in history(),
        c in any_conn(Just(1_460).boxed()), phase in growing_phase(), ack in any_ack(),
    ) {
        let mut p = p;
        // Other slow starts may jump, because an estimate of the path sets the window.
        p.set_common(&Setup { slow_start: slow_start::AnyParams::default(), ..p.common() });
        let mut state = after(&p, &first, &steps);
        let c = Conn { mss: first.mss, phase, ..c };
        let before = state.control(&p, &c).cwnd;
        state.on_ack(&p, &c, &ack);
        let counts = u64::from(p.common().ack_limit.max(1)) * u64::from(c.mss);
        let more = state.control(&p, &c).cwnd.saturating_sub(before);
        let news = match p.common().credit {
            Credit::Acked => ack.acked,
            Credit::Delivered => ack.acked.max(ack.delivered),
        };
        // The fractions that divisions have cut off are added once per window.
        let rounding = match p.common().counting {
            Counting::Bytes => 0,
            Counting::Segments => 1 + ((before / u64::from(c.mss)) >> 16),
        };
        let most = counts.min(news.max(u64::from(c.mss))) + rounding;
        prop_assert!(more <= most, "{before} +{more}");
    }

    /// At most one reduction per round: the host enters a phase once per RTT, and events within the
    /// phase do not reduce the threshold.
    #[test]
    fn only_entering_a_phase_lowers_the_threshold(
        p in params_of(shrinking_by_phase_only()), (first, steps) in history(),
    ) {
        let mut p = p;
        p.set_common(&Setup { slow_start: slow_start::AnyParams::default(), ..p.common() });
        let mut state = after(&p, &first, &[]);
        for (c, e) in &steps {
            let before = state.control(&p, c).ssthresh;
            state.apply(&p, c, e);
            let after = state.control(&p, c).ssthresh;
            match *e {
                Event::Phase { from: Phase::Open | Phase::Loss, to: Phase::Recovery | Phase::Cwr }
                | Event::Phase { from: Phase::Open, to: Phase::Loss } => {}
                // A timeout in recovery never raises the threshold that recovery set.
                Event::Phase { from: Phase::Recovery | Phase::Cwr, to: Phase::Loss } => {
                    prop_assert!(after <= before, "{e:?}: {before} {after}");
                }
                Event::Undo(_) | Event::IdleRestart { .. } => prop_assert!(after >= before, "{e:?}: {before} {after}"),
                _ => prop_assert_eq!(after, before, "{:?}", e),
            }
        }
    }

    #[test]
    fn a_cut_leaves_half_the_flight(
        p in params_of(halving_the_flight()), (first, steps) in history(),
        to in prop::sample::select(vec![Phase::Recovery, Phase::Cwr, Phase::Loss]),
    ) {
        let mut p = p;
        // Quick-Start responds to a loss in a window that routers have approved.
        let approved = Rate(0);
        p.set_common(&Setup { counting: Counting::Bytes, approved, ..p.common() });
        let mut state = after(&p, &first, &steps);
        state.on_phase(&p, &first, Phase::Open, to);
        let cut = (first.flight_size / 2).max(2 * u64::from(first.mss)).min(MAX_WINDOW);
        prop_assert_eq!(state.control(&p, &first).ssthresh, cut);
    }

    #[test]
    fn a_timeout_leaves_one_segment_after_any_history(
        p in params_of(one_after_timeout()), (first, steps) in history(), from in any_phase(),
    ) {
        let mut state = after(&p, &first, &steps);
        // With Linux's arithmetic, plus the data that the host did not consider lost.
        let first = Conn { in_flight: 0, ..first };
        state.on_phase(&p, &first, from, Phase::Loss);
        prop_assert_eq!(state.control(&p, &first).cwnd, u64::from(first.mss));
    }

    #[test]
    fn an_idle_restart_falls_back_at_once_or_by_halves_and_lowers_no_threshold(
        p in params_of(framed()), (first, steps) in history(), gap in any_u64(),
    ) {
        let mut state = after(&p, &first, &steps);
        let before = state.control(&p, &first);
        state.on_idle_restart(&p, &first, Span(gap), true);
        let after = state.control(&p, &first);
        prop_assert!(after.cwnd <= before.cwnd);
        let initial = p.common().initial_window.max(u64::from(first.mss));
        if p.common().counting == Counting::Bytes {
            prop_assert!(after.cwnd <= initial);
            prop_assert_eq!(after.ssthresh, before.ssthresh);
        } else {
            // The part of a segment that was acknowledged towards the next growth remains.
            let most = initial.max(before.cwnd / 2).saturating_add(u64::from(first.mss));
            prop_assert!(after.cwnd < most);
            prop_assert!(after.ssthresh >= before.ssthresh);
        }
    }

    #[test]
    fn an_idle_restart_never_increases_the_window(
        p in params_of(closing_when_idle()), (first, steps) in history(), gap in any_u64(),
    ) {
        let mut state = after(&p, &first, &steps);
        let before = state.control(&p, &first);
        state.on_idle_restart(&p, &first, Span(gap), true);
        prop_assert!(state.control(&p, &first).cwnd <= before.cwnd);
    }
}

#[test]
fn classes_name_registered_algorithms_and_none_is_empty() {
    for id in named() {
        assert!(AnyParams::by_name(id).is_some(), "{id}");
    }
    assert!(framed().len() > shrinking_by_phase_only().len());
    assert!(shrinking_by_phase_only().len() > growing_as_reno_at_most().len());
    assert!(!halving_the_flight().is_empty());
}
