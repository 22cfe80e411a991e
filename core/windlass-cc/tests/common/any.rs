//! Inputs of every kind that a host can pass, plausible or not.

use proptest::prelude::*;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::setup::{Counting, Credit, MarkCut};
use windlass_cc::slow_start::{self, SLOW_STARTS};
use windlass_cc::{
    ALGORITHMS, Ack, AnyController, AnyParams, Conn, Control, CrossLayer, Event, Group, Loss,
    PathView, Phase, Rate, RateSample, Setup, Span, Time, Undo,
};

/// Any integer, often at the ends of the range or small. The strategy is boxed, because proptest's
/// choices are large, an input has dozens of them, and a test's stack is 2 MiB.
pub fn any_u64() -> BoxedStrategy<u64> {
    prop_oneof![
        Just(0),
        Just(u64::MAX),
        Just(1 << 40),
        0..100_000u64,
        0..(1u64 << 41),
        any::<u64>()
    ]
    .boxed()
}

/// From zero to 16 MiB, a thousand times a possible segment size.
pub fn any_mss() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), Just(1), Just(u32::MAX), 1..9_000u32, any::<u32>()]
}

pub fn real_mss() -> impl Strategy<Value = u32> {
    prop_oneof![Just(1), Just(536), Just(1_460), 1..65_496u32]
}

pub fn growing_phase() -> impl Strategy<Value = Phase> {
    prop_oneof![Just(Phase::Open), Just(Phase::Loss)]
}

pub fn any_phase() -> impl Strategy<Value = Phase> {
    prop_oneof![Just(Phase::Open), Just(Phase::Recovery), Just(Phase::Loss), Just(Phase::Cwr)]
}

prop_compose! {
    pub fn any_conn(mss: BoxedStrategy<u32>)(
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
    pub fn any_rate_sample()(
        (delivered, interval, prior_delivered) in (any_u64(), any_u64(), any_u64()),
        (lost, tx_in_flight, app_limited) in (any_u64(), any_u64(), any::<bool>()),
    ) -> RateSample {
        let interval = Span(interval);
        RateSample { delivered, interval, prior_delivered, lost, tx_in_flight, app_limited }
    }
}

prop_compose! {
    pub fn any_loss()(
        (bytes, tx_in_flight, lost_since_sent) in (any_u64(), any_u64(), any_u64()),
        app_limited in any::<bool>(),
    ) -> Loss {
        Loss { bytes, tx_in_flight, lost_since_sent, app_limited }
    }
}

prop_compose! {
    pub fn any_ack()(
        (acked, delivered, lost, ce) in (any_u64(), any_u64(), any_u64(), any_u64()),
        prior_in_flight in any_u64(),
        rtt in any_u64(),
        rate in any_rate_sample(),
        duplicate in any::<bool>(),
    ) -> Ack {
        Ack { acked, delivered, lost, ce, prior_in_flight, rtt: Span(rtt), rate, duplicate }
    }
}

prop_compose! {
    pub fn any_path()(
        (cwnd, ssthresh, disclosed) in (any_u64(), any_u64(), any_u64()),
        (srtt, min_rtt) in (any_u64(), any_u64()),
        mss in any_mss(),
        phase in any_phase(),
    ) -> PathView {
        let (srtt, min_rtt) = (Span(srtt), Span(min_rtt));
        PathView { cwnd, ssthresh, srtt, min_rtt, disclosed, mss, phase }
    }
}

/// A group of more paths than a connection may have, seen from any path or from none.
pub fn any_group() -> impl Strategy<Value = Group> {
    (prop::collection::vec(any_path(), 0..10), 0..12usize, any::<u8>())
        .prop_map(|(paths, own, mode)| Group::new(paths).seen_from(own, mode))
}

prop_compose! {
    pub fn any_cross_layer()(
        (queue_len, queue_limit, hops) in (any::<u32>(), any::<u32>(), any::<u32>()),
        (failure_share, battery) in (any::<u32>(), any::<u32>()),
        (service_rate, service_time, base_rtt) in (any_u64(), any_u64(), any_u64()),
    ) -> CrossLayer {
        let (service_time, base_rtt) = (Span(service_time), Span(base_rtt));
        let service_rate = Rate(service_rate);
        CrossLayer {
            queue_len, queue_limit, hops, failure_share, battery, service_rate, service_time,
            base_rtt,
        }
    }
}

/// Events that a host with a constant segment size can send.
pub fn steady_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => any_ack().prop_map(Event::Ack),
        2 => (any_phase(), any_phase()).prop_map(|(from, to)| Event::Phase { from, to }),
        1 => any_loss().prop_map(Event::Loss),
        1 => prop::sample::select(vec![Undo::Dsack, Undo::Eifel, Undo::Frto]).prop_map(Event::Undo),
        1 => (any_u64(), any::<bool>())
            .prop_map(|(gap, reset)| Event::IdleRestart { gap: Span(gap), reset }),
        1 => any_group().prop_map(Event::Group),
        1 => any_cross_layer().prop_map(Event::CrossLayer),
    ]
}

pub fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![6 => steady_event(), 1 => any_mss().prop_map(Event::Mss)]
}

/// Any slow start, with any admissible parameters.
pub fn any_slow_start() -> impl Strategy<Value = slow_start::AnyParams> {
    let id = prop::sample::select(SLOW_STARTS.iter().map(|info| info.id).collect::<Vec<_>>());
    (id, prop::collection::vec(prop::option::of(any_u64()), 0..12)).prop_map(|(id, own)| {
        let mut p = slow_start::AnyParams::by_name(id).expect("ids come from the table");
        for (place, raw) in own.iter().enumerate() {
            if let Some(raw) = raw {
                p.set(place, *raw); // rejected outside its range
            }
        }
        p
    })
}

fn any_style() -> impl Strategy<Value = Option<LossRecovery>> {
    prop::option::of(prop::sample::select(LossRecovery::ALL.map(|(_, style)| style).to_vec()))
}

prop_compose! {
    /// One of these algorithms with any parameters.
    pub fn params_of(ids: Vec<&'static str>)(
        id in prop::sample::select(ids),
        (initial_window, initial_ssthresh) in (any_u64(), any_u64()),
        recovery in any_style(),
        ack_limit in prop_oneof![Just(0), Just(1), Just(2), Just(u32::MAX), any::<u32>()],
        counting in prop::sample::select(Counting::ALL.map(|(_, c)| c).to_vec()),
        credit in prop::sample::select(Credit::ALL.map(|(_, c)| c).to_vec()),
        mark_cut in prop::sample::select(MarkCut::ALL.map(|(_, c)| c).to_vec()),
        approved in prop_oneof![Just(0), any_u64()],
        slow_start in any_slow_start(),
        own in prop::collection::vec(prop::option::of(any_u64()), 0..20),
    ) -> AnyParams {
        let mut p = AnyParams::by_name(id).expect("ids come from the registry");
        let setup = Setup {
            initial_window,
            initial_ssthresh,
            recovery,
            ack_limit,
            counting,
            credit,
            mark_cut,
            approved: Rate(approved),
            slow_start,
            own: (),
        };
        p.set_common(&setup);
        for (place, raw) in own.iter().enumerate() {
            if let Some(raw) = raw {
                p.set(place, *raw); // rejected outside its range
            }
        }
        p
    }
}

/// Any algorithm with any parameters.
pub fn any_params() -> impl Strategy<Value = AnyParams> {
    params_of(ALGORITHMS.iter().map(|info| info.id).collect())
}

/// A history: one connection with a fixed segment size, and for each event the state after it.
pub fn history() -> impl Strategy<Value = (Conn, Vec<(Conn, Event)>)> {
    real_mss().prop_flat_map(|mss| {
        let steps = (any_conn(Just(mss).boxed()), steady_event());
        (any_conn(Just(mss).boxed()), prop::collection::vec(steps, 0..60))
    })
}

/// The outputs after the start and after each event.
pub fn run(p: &AnyParams, first: &Conn, steps: &[(Conn, Event)]) -> Vec<Control> {
    let mut state = AnyController::init(p, first);
    let mut answers = vec![state.control(p, first)];
    for (c, e) in steps {
        state.apply(p, c, e);
        answers.push(state.control(p, c));
    }
    answers
}

/// The state after a history.
pub fn after(p: &AnyParams, first: &Conn, steps: &[(Conn, Event)]) -> AnyController {
    let mut state = AnyController::init(p, first);
    for (c, e) in steps {
        state.apply(p, c, e);
    }
    state
}
