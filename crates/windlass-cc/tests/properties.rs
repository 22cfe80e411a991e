//! What must hold of every algorithm and of the timer for every input that a host can hand over,
//! sensible or not.

use proptest::prelude::*;
use windlass_cc::window::MAX_WINDOW;
use windlass_cc::{
    ALGORITHMS, Ack, AnyController, AnyParams, Conn, Control, Event, Loss, Phase, RateSample,
    Rfc6298, RtoEstimator, RtoParams, Setup, Span, Time, Undo, flags,
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
    prop_oneof![Just(Phase::Open), Just(Phase::Recovery), Just(Phase::Loss), Just(Phase::Cwr)]
}

prop_compose! {
    fn any_conn(mss: BoxedStrategy<u32>)(
        mss in mss,
        phase in any_phase(),
        flags in 0..8u32,
        (now, in_flight, flight_size, una) in (any_u64(), any_u64(), any_u64(), any_u64()),
        (next_id, delivered, lost, sent) in (any_u64(), any_u64(), any_u64(), any_u64()),
        (srtt, min_rtt, entropy) in (any_u64(), any_u64(), any::<u32>()),
    ) -> Conn {
        let (srtt, min_rtt) = (Span(srtt), Span(min_rtt));
        let now = Time(now);
        Conn {
            now, in_flight, flight_size, una, next_id, delivered, lost, sent, srtt, min_rtt, mss,
            flags, entropy, phase,
        }
    }
}

prop_compose! {
    fn any_rate_sample()(
        (delivered, interval, prior_delivered) in (any_u64(), any_u64(), any_u64()),
        (lost, tx_in_flight, app_limited) in (any_u64(), any_u64(), any::<bool>()),
    ) -> RateSample {
        let interval = Span(interval);
        RateSample { delivered, interval, prior_delivered, lost, tx_in_flight, app_limited }
    }
}

prop_compose! {
    fn any_loss()(
        (bytes, tx_in_flight, lost_since_sent) in (any_u64(), any_u64(), any_u64()),
        app_limited in any::<bool>(),
    ) -> Loss {
        Loss { bytes, tx_in_flight, lost_since_sent, app_limited }
    }
}

prop_compose! {
    fn any_ack()(
        (acked, delivered, lost, ce) in (any_u64(), any_u64(), any_u64(), any_u64()),
        prior_in_flight in any_u64(),
        rtt in any_u64(),
        rate in any_rate_sample(),
        duplicate in any::<bool>(),
    ) -> Ack {
        Ack { acked, delivered, lost, ce, prior_in_flight, rtt: Span(rtt), rate, duplicate }
    }
}

/// Events that a host with a constant segment size can send.
fn steady_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => any_ack().prop_map(Event::Ack),
        2 => (any_phase(), any_phase()).prop_map(|(from, to)| Event::Phase { from, to }),
        1 => any_loss().prop_map(Event::Loss),
        1 => prop::sample::select(vec![Undo::Dsack, Undo::Eifel, Undo::Frto]).prop_map(Event::Undo),
        1 => (any_u64(), any::<bool>())
            .prop_map(|(gap, reset)| Event::IdleRestart { gap: Span(gap), reset }),
    ]
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![6 => steady_event(), 1 => any_mss().prop_map(Event::Mss)]
}

prop_compose! {
    fn any_params()(
        id in any_algorithm(),
        initial_window in any_u64(),
        initial_ssthresh in any_u64(),
        own in prop::collection::vec(prop::option::of(any_u64()), 0..20),
    ) -> AnyParams {
        let mut p = AnyParams::by_name(id).expect("ids come from the registry");
        p.set_common(&Setup { initial_window, initial_ssthresh, ..p.common() });
        for (place, raw) in own.iter().enumerate() {
            if let Some(raw) = raw {
                p.set(place, *raw); // refused beyond its range
            }
        }
        p
    }
}

/// Algorithms that grow a window. Those with a model of the path owe it nothing else: they set the
/// window to what the model says, whatever limits the sender.
fn windowed_params() -> impl Strategy<Value = AnyParams> {
    any_params().prop_filter("grows a window", |p| p.wants().slow_start.is_some())
}

fn any_algorithm() -> impl Strategy<Value = &'static str> {
    prop::sample::select(ALGORITHMS.iter().map(|info| info.id).collect::<Vec<_>>())
}

/// A history: one connection with a fixed segment size, each event with the facts after it.
fn history() -> impl Strategy<Value = (Conn, Vec<(Conn, Event)>)> {
    real_mss().prop_flat_map(|mss| {
        let steps = (any_conn(Just(mss).boxed()), steady_event());
        (any_conn(Just(mss).boxed()), prop::collection::vec(steps, 0..60))
    })
}

/// The answers after the start and after each event.
fn run(p: &AnyParams, first: &Conn, steps: &[(Conn, Event)]) -> Vec<Control> {
    let mut state = AnyController::init(p, first);
    let mut answers = vec![state.control(p, first)];
    for (c, e) in steps {
        state.apply(p, c, e);
        answers.push(state.control(p, c));
    }
    answers
}

/// The connection as it would look had its clock and its stream begun elsewhere.
fn shifted(c: &Conn, time: u64, id: u64) -> Conn {
    let (now, next_id, una) = (Time(c.now.0 + time), c.next_id + id, c.una + id);
    Conn { now, next_id, una, ..*c }
}

/// Clocks and offsets small enough that a shift does not overflow.
fn with_room(c: &Conn) -> Conn {
    let (now, next_id, una) = (Time(c.now.0 >> 2), c.next_id >> 2, c.una >> 2);
    Conn { now, next_id, una, ..*c }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_input_makes_an_algorithm_panic_or_leave_the_window_range(
        p in any_params(),
        first in any_conn(any_mss().boxed()),
        steps in prop::collection::vec((any_conn(any_mss().boxed()), any_event()), 0..60),
    ) {
        for answer in run(&p, &first, &steps) {
            prop_assert!((1..=MAX_WINDOW).contains(&answer.cwnd), "{answer:?}");
        }
    }

    #[test]
    fn the_window_never_falls_below_one_segment(
        p in any_params(), (first, steps) in history(),
    ) {
        for answer in run(&p, &first, &steps) {
            prop_assert!(answer.cwnd >= u64::from(first.mss), "{answer:?}");
        }
    }

    #[test]
    fn a_change_of_segment_size_leaves_at_least_one_new_segment(
        p in any_params(), (first, steps) in history(),
        old in any_mss(), mss in real_mss(),
    ) {
        let mut state = AnyController::init(&p, &first);
        for (c, e) in &steps {
            state.apply(&p, c, e);
        }
        let c = Conn { mss, ..first };
        state.apply(&p, &c, &Event::Mss(old));
        prop_assert!(state.control(&p, &c).cwnd >= u64::from(mss));
    }

    #[test]
    fn acknowledgements_open_the_window_only_while_it_limits_the_sender(
        p in windowed_params(), (first, steps) in history(),
        c in any_conn(Just(1_460).boxed()), phase in growing_phase(), ack in any_ack(),
    ) {
        let mut state = AnyController::init(&p, &first);
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
        p in windowed_params(), (first, steps) in history(),
        c in any_conn(Just(1_460).boxed()), phase in growing_phase(), ack in any_ack(),
    ) {
        let mut state = AnyController::init(&p, &first);
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
        p in any_params(), (first, steps) in history(),
    ) {
        let mut state = AnyController::init(&p, &first);
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
        p in any_params(), (first, steps) in history(),
        time in 0..(1u64 << 60), offset in 0..(1u64 << 60),
    ) {
        let first = with_room(&first);
        let steps: Vec<_> = steps.iter().map(|(c, e)| (with_room(c), *e)).collect();
        let moved: Vec<_> = steps.iter().map(|(c, e)| (shifted(c, time, offset), *e)).collect();
        let here = run(&p, &first, &steps);
        let there = run(&p, &shifted(&first, time, offset), &moved);
        prop_assert_eq!(here, there);
    }

    #[test]
    fn the_threshold_moves_only_with_a_phase_and_at_most_once(
        p in windowed_params(), (first, steps) in history(),
    ) {
        let mut state = AnyController::init(&p, &first);
        for (c, e) in &steps {
            let before = state.control(&p, c).ssthresh;
            state.apply(&p, c, e);
            let after = state.control(&p, c).ssthresh;
            let Event::Phase { from, to } = *e else {
                let undone = matches!(e, Event::Undo(_)) && after > before;
                prop_assert!(undone || after == before, "{:?}", e);
                continue;
            };
            let cut = (c.flight_size / 2).max(2 * u64::from(c.mss)).min(MAX_WINDOW);
            let expected = match (from, to) {
                (Phase::Open | Phase::Loss, Phase::Recovery | Phase::Cwr) => cut,
                (Phase::Open, Phase::Loss) => cut,
                // A timeout in recovery never raises the threshold that recovery set.
                (Phase::Recovery | Phase::Cwr, Phase::Loss) => cut.min(before),
                _ => before,
            };
            prop_assert_eq!(after, expected, "{:?}", e);
        }
    }

    #[test]
    fn a_timeout_leaves_one_segment_whatever_came_before(
        p in windowed_params(), (first, steps) in history(), from in any_phase(),
    ) {
        let mut state = AnyController::init(&p, &first);
        for (c, e) in &steps {
            state.apply(&p, c, e);
        }
        state.on_phase(&p, &first, from, Phase::Loss);
        prop_assert_eq!(state.control(&p, &first).cwnd, u64::from(first.mss));
    }

    #[test]
    fn an_idle_restart_never_opens_the_window(
        p in windowed_params(), (first, steps) in history(), gap in any_u64(),
    ) {
        let mut state = AnyController::init(&p, &first);
        for (c, e) in &steps {
            state.apply(&p, c, e);
        }
        let before = state.control(&p, &first);
        state.on_idle_restart(&p, &first, Span(gap), true);
        let after = state.control(&p, &first);
        prop_assert!(after.cwnd <= before.cwnd);
        prop_assert!(after.cwnd <= p.common().initial_window.max(u64::from(first.mss)));
        prop_assert_eq!(after.ssthresh, before.ssthresh);
    }

    #[test]
    fn a_recorded_history_replays_to_the_same_state(
        p in any_params(), (first, steps) in history(),
    ) {
        let mut live = AnyController::init(&p, &first);
        for (c, e) in &steps {
            match *e {
                Event::Ack(a) => live.on_ack(&p, c, &a),
                Event::Phase { from, to } => live.on_phase(&p, c, from, to),
                Event::Loss(l) => live.on_loss(&p, c, &l),
                Event::Undo(why) => live.on_undo(&p, c, why),
                Event::IdleRestart { gap, reset } => live.on_idle_restart(&p, c, gap, reset),
                Event::Mss(_) => unreachable!("a history has one segment size"),
            }
        }
        let mut replayed = AnyController::init(&p, &first);
        for (c, e) in &steps {
            replayed.apply(&p, c, e);
        }
        prop_assert_eq!(replayed, live);
        prop_assert_eq!(format!("{replayed:?}"), format!("{live:?}"));
    }

    #[test]
    fn the_trace_shows_the_fields_that_the_description_lists(
        p in any_params(), (first, steps) in history(),
    ) {
        let mut state = AnyController::init(&p, &first);
        for (c, e) in &steps {
            state.apply(&p, c, e);
        }
        let mut seen = Vec::new();
        state.trace(&mut |field, value| seen.push((field.name, value)));
        let names: Vec<_> = state.info().trace.iter().map(|field| field.name).collect();
        prop_assert_eq!(seen.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
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
    for info in ALGORITHMS {
        let found = AnyParams::by_name(&info.id.to_uppercase());
        assert_eq!(found.map(|params| params.info().id), Some(info.id));
    }
    assert!(AnyParams::by_name("renoo").is_none());
    assert!(AnyParams::by_name("").is_none());
}
