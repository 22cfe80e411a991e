//! What must hold of every algorithm and of the timer for every input that a host can hand over,
//! sensible or not.

use proptest::prelude::*;
use windlass_cc::growth::MAX_WINDOW;
use windlass_cc::reno::{Increase, Params};
use windlass_cc::{
    ALGORITHMS, Ack, AnyController, Conn, Control, Event, Phase, Rfc6298, RtoEstimator, RtoParams,
    Span, Time, flags,
};

/// Any integer, with the ends of the range and the small numbers often.
fn any_u64() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(u64::MAX),
        Just(1 << 40),
        0..100_000u64,
        0..(1u64 << 41),
        any::<u64>()
    ]
}

/// Nothing at all up to 16 MiB, a thousand times what a path can carry.
fn any_mss() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), Just(1), Just(u32::MAX), 1..9_000u32, any::<u32>()]
}

fn real_mss() -> impl Strategy<Value = u32> {
    prop_oneof![Just(1), Just(536), Just(1_460), 1..65_496u32]
}

fn growing_phase() -> impl Strategy<Value = Phase> {
    prop_oneof![Just(Phase::Open), Just(Phase::Loss)]
}

fn any_phase() -> impl Strategy<Value = Phase> {
    prop_oneof![Just(Phase::Open), Just(Phase::Recovery), Just(Phase::Loss)]
}

prop_compose! {
    fn any_conn(mss: BoxedStrategy<u32>)(
        mss in mss,
        phase in any_phase(),
        flags in 0..8u32,
        (now, in_flight, delivered) in (any_u64(), any_u64(), any_u64()),
        (next_id, srtt, min_rtt) in (any_u64(), any_u64(), any_u64()),
    ) -> Conn {
        let (srtt, min_rtt) = (Span(srtt), Span(min_rtt));
        Conn { now: Time(now), in_flight, delivered, next_id, srtt, min_rtt, mss, flags, phase }
    }
}

prop_compose! {
    fn any_ack()(
        acked in any_u64(),
        prior_in_flight in any_u64(),
        rtt in any_u64(),
        duplicate in any::<bool>(),
    ) -> Ack {
        Ack { acked, prior_in_flight, rtt: Span(rtt), duplicate }
    }
}

/// Events that a host with a constant segment size can send.
fn steady_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => any_ack().prop_map(Event::Ack),
        2 => (any_phase(), any_phase()).prop_map(|(from, to)| Event::Phase { from, to }),
        1 => any_u64().prop_map(|gap| Event::IdleRestart(Span(gap))),
    ]
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![6 => steady_event(), 1 => any_mss().prop_map(Event::Mss)]
}

prop_compose! {
    fn any_params()(
        initial_window in any_u64(),
        initial_ssthresh in any_u64(),
        increase in prop::sample::select(Increase::ALL.map(|(_, increase)| increase).to_vec()),
    ) -> Params {
        Params { initial_window, initial_ssthresh, increase, recovery: None }
    }
}

fn any_algorithm() -> impl Strategy<Value = &'static str> {
    prop::sample::select(ALGORITHMS.iter().map(|info| info.id).collect::<Vec<_>>())
}

fn start(id: &str, p: &Params, c: &Conn) -> AnyController {
    AnyController::by_name(id, p, c).expect("ids come from the registry")
}

/// A history: one connection with a fixed segment size, each event with the facts after it.
fn history() -> impl Strategy<Value = (Conn, Vec<(Conn, Event)>)> {
    real_mss().prop_flat_map(|mss| {
        let steps = (any_conn(Just(mss).boxed()), steady_event());
        (any_conn(Just(mss).boxed()), prop::collection::vec(steps, 0..60))
    })
}

/// The answers after the start and after each event.
fn run(id: &str, p: &Params, first: &Conn, steps: &[(Conn, Event)]) -> Vec<Control> {
    let mut state = start(id, p, first);
    let mut answers = vec![state.control(p, first)];
    for (c, e) in steps {
        state.apply(p, c, e);
        answers.push(state.control(p, c));
    }
    answers
}

/// The connection as it would look had its clock and its stream begun elsewhere.
fn shifted(c: &Conn, time: u64, id: u64) -> Conn {
    let (now, next_id) = (Time(c.now.0 + time), c.next_id + id);
    Conn { now, next_id, delivered: c.delivered + id, ..*c }
}

/// Clocks and offsets small enough that a shift does not overflow.
fn with_room(c: &Conn) -> Conn {
    let (now, next_id) = (Time(c.now.0 >> 2), c.next_id >> 2);
    Conn { now, next_id, delivered: c.delivered >> 2, ..*c }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_input_makes_an_algorithm_panic_or_leave_the_window_range(
        id in any_algorithm(),
        p in any_params(),
        first in any_conn(any_mss().boxed()),
        steps in prop::collection::vec((any_conn(any_mss().boxed()), any_event()), 0..60),
    ) {
        for answer in run(id, &p, &first, &steps) {
            prop_assert!((1..=MAX_WINDOW).contains(&answer.cwnd), "{answer:?}");
        }
    }

    #[test]
    fn the_window_never_falls_below_one_segment(
        id in any_algorithm(), p in any_params(), (first, steps) in history(),
    ) {
        for answer in run(id, &p, &first, &steps) {
            prop_assert!(answer.cwnd >= u64::from(first.mss), "{answer:?}");
        }
    }

    #[test]
    fn a_change_of_segment_size_leaves_at_least_one_new_segment(
        id in any_algorithm(), p in any_params(), (first, steps) in history(),
        old in any_mss(), mss in real_mss(),
    ) {
        let mut state = start(id, &p, &first);
        for (c, e) in &steps {
            state.apply(&p, c, e);
        }
        let c = Conn { mss, ..first };
        state.apply(&p, &c, &Event::Mss(old));
        prop_assert!(state.control(&p, &c).cwnd >= u64::from(mss));
    }

    #[test]
    fn acknowledgements_open_the_window_only_while_it_limits_the_sender(
        id in any_algorithm(), p in any_params(), (first, steps) in history(),
        c in any_conn(Just(1_460).boxed()), phase in growing_phase(), ack in any_ack(),
    ) {
        let mut state = start(id, &p, &first);
        for (c, e) in &steps {
            state.apply(&p, c, e);
        }
        let c = Conn { flags: c.flags & !flags::CWND_LIMITED, mss: first.mss, phase, ..c };
        let before = state.control(&p, &c);
        state.on_ack(&p, &c, &ack);
        prop_assert_eq!(state.control(&p, &c), before);
    }

    #[test]
    fn an_acknowledgement_outside_recovery_never_shrinks_the_window(
        id in any_algorithm(), p in any_params(), (first, steps) in history(),
        c in any_conn(Just(1_460).boxed()), phase in growing_phase(), ack in any_ack(),
    ) {
        let mut state = start(id, &p, &first);
        for (c, e) in &steps {
            state.apply(&p, c, e);
        }
        let c = Conn { mss: first.mss, phase, ..c };
        let before = state.control(&p, &c);
        state.on_ack(&p, &c, &ack);
        let after = state.control(&p, &c);
        prop_assert!(after.cwnd >= before.cwnd);
        // One acknowledgement adds at most one segment (RFC 5681 equations 2 and 3, cwnd >= mss).
        prop_assert!(after.cwnd - before.cwnd <= u64::from(c.mss), "{before:?} {after:?}");
    }

    #[test]
    fn reading_the_answer_changes_nothing(
        id in any_algorithm(), p in any_params(), (first, steps) in history(),
    ) {
        let mut state = start(id, &p, &first);
        let mut undisturbed = state;
        for (c, e) in &steps {
            let before = state;
            let answer = state.control(&p, c);
            prop_assert_eq!(state.control(&p, c), answer);
            prop_assert_eq!(state, before);
            state.apply(&p, c, e);
            undisturbed.apply(&p, c, e);
        }
        prop_assert_eq!(state, undisturbed);
    }

    #[test]
    fn clock_and_stream_origin_do_not_matter(
        id in any_algorithm(), p in any_params(), (first, steps) in history(),
        time in 0..(1u64 << 60), offset in 0..(1u64 << 60),
    ) {
        let first = with_room(&first);
        let steps: Vec<_> = steps.iter().map(|(c, e)| (with_room(c), *e)).collect();
        let moved: Vec<_> = steps.iter().map(|(c, e)| (shifted(c, time, offset), *e)).collect();
        let here = run(id, &p, &first, &steps);
        let there = run(id, &p, &shifted(&first, time, offset), &moved);
        prop_assert_eq!(here, there);
    }

    #[test]
    fn the_threshold_moves_only_with_a_phase_and_at_most_once(
        id in any_algorithm(), p in any_params(), (first, steps) in history(),
    ) {
        let mut state = start(id, &p, &first);
        for (c, e) in &steps {
            let before = state.control(&p, c).ssthresh;
            state.apply(&p, c, e);
            let after = state.control(&p, c).ssthresh;
            let Event::Phase { from, to } = *e else {
                prop_assert_eq!(after, before, "{:?}", e);
                continue;
            };
            let cut = (c.in_flight / 2).max(2 * u64::from(c.mss));
            let expected = match (from, to) {
                (Phase::Open | Phase::Loss, Phase::Recovery) => cut,
                (Phase::Open, Phase::Loss) => cut,
                // A timeout in recovery never raises the threshold that recovery set.
                (Phase::Recovery, Phase::Loss) => cut.min(before),
                _ => before,
            };
            prop_assert_eq!(after, expected, "{:?}", e);
        }
    }

    #[test]
    fn a_timeout_leaves_one_segment_whatever_came_before(
        id in any_algorithm(), p in any_params(), (first, steps) in history(), from in any_phase(),
    ) {
        let mut state = start(id, &p, &first);
        for (c, e) in &steps {
            state.apply(&p, c, e);
        }
        state.on_phase(&p, &first, from, Phase::Loss);
        prop_assert_eq!(state.control(&p, &first).cwnd, u64::from(first.mss));
    }

    #[test]
    fn an_idle_restart_never_opens_the_window(
        id in any_algorithm(), p in any_params(), (first, steps) in history(), gap in any_u64(),
    ) {
        let mut state = start(id, &p, &first);
        for (c, e) in &steps {
            state.apply(&p, c, e);
        }
        let before = state.control(&p, &first);
        state.on_idle_restart(&p, &first, Span(gap));
        let after = state.control(&p, &first);
        prop_assert!(after.cwnd <= before.cwnd);
        prop_assert!(after.cwnd <= p.initial_window.max(u64::from(first.mss)));
        prop_assert_eq!(after.ssthresh, before.ssthresh);
    }

    #[test]
    fn a_recorded_history_replays_to_the_same_state(
        id in any_algorithm(), p in any_params(), (first, steps) in history(),
    ) {
        let mut live = start(id, &p, &first);
        for (c, e) in &steps {
            match *e {
                Event::Ack(a) => live.on_ack(&p, c, &a),
                Event::Phase { from, to } => live.on_phase(&p, c, from, to),
                Event::IdleRestart(gap) => live.on_idle_restart(&p, c, gap),
                Event::Mss(_) => unreachable!("a history has one segment size"),
            }
        }
        let mut replayed = start(id, &p, &first);
        for (c, e) in &steps {
            replayed.apply(&p, c, e);
        }
        prop_assert_eq!(replayed, live);
        prop_assert_eq!(format!("{replayed:?}"), format!("{live:?}"));
    }

    #[test]
    fn the_trace_shows_the_fields_that_the_description_lists(
        id in any_algorithm(), p in any_params(), (first, steps) in history(),
    ) {
        let mut state = start(id, &p, &first);
        for (c, e) in &steps {
            state.apply(&p, c, e);
        }
        let mut seen = Vec::new();
        state.trace(&mut |field, value| seen.push((field.name, value)));
        let names: Vec<_> = state.info().trace.iter().map(|field| field.name).collect();
        prop_assert_eq!(seen.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
        let answer = state.control(&p, &first);
        prop_assert_eq!(seen[0].1, answer.cwnd);
        prop_assert_eq!(seen[1].1, answer.ssthresh);
    }

    #[test]
    fn no_input_makes_the_timer_panic_or_pass_its_maximum(
        p in any_rto_params(),
        steps in prop::collection::vec(prop::option::of(any_u64()), 0..60),
    ) {
        let mut timer = Rfc6298::init(&p);
        prop_assert!(timer.rto(&p) <= p.max);
        for step in steps {
            match step {
                Some(rtt) => timer.on_sample(&p, Span(rtt)),
                None => timer.on_timeout(&p),
            }
            prop_assert!(timer.rto(&p) <= p.max);
        }
    }

    #[test]
    fn an_expiry_never_shortens_the_timeout_and_a_sample_ends_the_backoff(
        p in any_rto_params(),
        samples in prop::collection::vec(0..(1u64 << 40), 1..20),
        expiries in 1..20usize,
    ) {
        let mut timer = Rfc6298::init(&p);
        for rtt in &samples {
            timer.on_sample(&p, Span(*rtt));
        }
        let mut undisturbed = timer;
        for _ in 0..expiries {
            let before = timer.rto(&p);
            timer.on_timeout(&p);
            prop_assert!(timer.rto(&p) >= before);
        }
        timer.on_sample(&p, Span(samples[0]));
        undisturbed.on_sample(&p, Span(samples[0]));
        prop_assert_eq!(timer, undisturbed);
    }
}

prop_compose! {
    fn any_rto_params()(
        (initial, min, max) in (any_u64(), any_u64(), any_u64()),
        granularity in any_u64(),
        (alpha_q16, beta_q16) in (any::<u32>(), any::<u32>()),
        (k, backoff) in (any::<u32>(), any::<u32>()),
    ) -> RtoParams {
        let (initial, min, max) = (Span(initial), Span(min), Span(max));
        let granularity = Span(granularity);
        RtoParams { initial, min, max, granularity, alpha_q16, beta_q16, k, backoff }
    }
}

#[test]
fn names_are_found_in_any_case_and_unknown_ones_are_not() {
    let (p, c) = (Params::default(), Conn::new(1_460));
    for info in ALGORITHMS {
        let found = AnyController::by_name(&info.id.to_uppercase(), &p, &c);
        assert_eq!(found.map(|state| state.info().id), Some(info.id));
    }
    assert!(AnyController::by_name("renoo", &p, &c).is_none());
    assert!(AnyController::by_name("", &p, &c).is_none());
}
