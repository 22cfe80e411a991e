//! Properties of every algorithm and of the timer for every input that a host can pass, plausible or
//! not. Properties of some algorithms only are in `properties_framed.rs`.

use crate::common::any::{
    after, any_ack, any_conn, any_event, any_mss, any_params, any_u64, history, real_mss, run,
};
use proptest::prelude::*;
use windlass_cc::rto::{Rfc6298, Rfc6298Params};
use windlass_cc::window::MAX_WINDOW;
use windlass_cc::{
    ALGORITHMS, AnyController, AnyParams, Conn, Event, RateSample, Ratio, RtoEstimator, RttSample,
    Span, Time,
};

/// Origins of clocks and counts.
#[derive(Clone, Copy, Debug)]
struct Origin {
    time: u64,
    offset: u64,
    volume: u64,
}

/// The connection with other origins of its clock, its stream and its counts.
fn shifted(c: &Conn, o: Origin) -> Conn {
    let (now, next_id, una) = (Time(c.now.0 + o.time), c.next_id + o.offset, c.una + o.offset);
    let (delivered, lost) = (c.delivered + o.volume, c.lost + o.volume);
    Conn { now, next_id, una, delivered, lost, sent: c.sent + o.volume, ..*c }
}

fn shifted_event(e: &Event, o: Origin) -> Event {
    let mut e = *e;
    if let Event::Ack(ack) = &mut e {
        let prior_delivered = ack.rate.prior_delivered + o.volume;
        ack.rate = RateSample { prior_delivered, ..ack.rate };
    }
    e
}

/// Clocks and counts small enough that a shift does not overflow.
fn with_room(c: &Conn) -> Conn {
    let (now, next_id, una) = (Time(c.now.0 >> 2), c.next_id >> 2, c.una >> 2);
    let (delivered, lost, sent) = (c.delivered >> 2, c.lost >> 2, c.sent >> 2);
    Conn { now, next_id, una, delivered, lost, sent, ..*c }
}

fn event_with_room(e: &Event) -> Event {
    let mut e = *e;
    if let Event::Ack(ack) = &mut e {
        ack.rate.prior_delivered >>= 2;
    }
    e
}

fn any_origin() -> impl Strategy<Value = Origin> {
    let room = || 0..(1u64 << 60);
    (room(), room(), room()).prop_map(|(time, offset, volume)| Origin { time, offset, volume })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

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
        let mut state = after(&p, &first, &steps);
        let c = Conn { mss, ..first };
        state.apply(&p, &c, &Event::Mss(old));
        prop_assert!(state.control(&p, &c).cwnd >= u64::from(mss));
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
    fn origins_of_clock_stream_and_counts_do_not_matter(
        p in any_params(), (first, steps) in history(), origin in any_origin(),
    ) {
        let first = with_room(&first);
        let steps: Vec<_> =
            steps.iter().map(|(c, e)| (with_room(c), event_with_room(e))).collect();
        let moved: Vec<_> =
            steps.iter().map(|(c, e)| (shifted(c, origin), shifted_event(e, origin))).collect();
        let here = run(&p, &first, &steps);
        let there = run(&p, &shifted(&first, origin), &moved);
        prop_assert_eq!(here, there);
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
                Event::Group(g) => live.on_group(&p, c, &g),
                Event::CrossLayer(l) => live.on_cross_layer(&p, c, &l),
            }
        }
        let replayed = after(&p, &first, &steps);
        prop_assert_eq!(replayed, live);
        prop_assert_eq!(format!("{replayed:?}"), format!("{live:?}"));
    }

    #[test]
    fn the_trace_shows_the_fields_that_the_description_lists(
        p in any_params(), (first, steps) in history(),
    ) {
        let state = after(&p, &first, &steps);
        let mut seen = Vec::new();
        state.trace(&mut |field, _| seen.push((field.name, field.unit)));
        let listed: Vec<_> = state.info().trace.iter().map(|f| (f.name, f.unit)).collect();
        prop_assert_eq!(seen, listed);
    }

    #[test]
    fn parameters_of_another_algorithm_change_nothing(
        p in any_params(), other in any_params(), (first, steps) in history(), ack in any_ack(),
    ) {
        prop_assume!(p.info().id != other.info().id);
        let mut state = after(&p, &first, &steps);
        let before = state;
        state.on_ack(&other, &first, &ack);
        prop_assert_eq!(state, before);
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
                Some(rtt) => timer.on_sample(&p, &RttSample::of(Span(rtt))),
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
            timer.on_sample(&p, &RttSample::of(Span(*rtt)));
        }
        let mut undisturbed = timer;
        for _ in 0..expiries {
            let before = timer.rto(&p);
            timer.on_timeout(&p);
            prop_assert!(timer.rto(&p) >= before);
        }
        timer.on_sample(&p, &RttSample::of(Span(samples[0])));
        undisturbed.on_sample(&p, &RttSample::of(Span(samples[0])));
        prop_assert_eq!(timer, undisturbed);
    }
}

prop_compose! {
    fn any_rto_params()(
        (initial, min, max) in (any_u64(), any_u64(), any_u64()),
        granularity in any_u64(),
        (alpha, beta) in (any_u64(), any_u64()),
        (k, backoff) in (any_u64(), any_u64()),
    ) -> Rfc6298Params {
        let (initial, min, max) = (Span(initial), Span(min), Span(max));
        let granularity = Span(granularity);
        let (alpha, beta) = (Ratio(alpha), Ratio(beta));
        Rfc6298Params { initial, min, max, granularity, alpha, beta, k, backoff }
    }
}

#[test]
fn names_are_found_in_upper_or_lower_case_and_unknown_names_are_not() {
    for info in ALGORITHMS {
        let found = AnyParams::by_name(&info.id.to_uppercase());
        assert_eq!(found.map(|params| params.info().id), Some(info.id));
    }
    assert!(AnyParams::by_name("renoo").is_none());
    assert!(AnyParams::by_name("").is_none());
}
