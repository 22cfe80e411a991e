//! MFVL's loop and the algorithms that it selects for a path.

use proptest::prelude::*;
use windlass_cc::coupling::cycle::{
    Compare, CycleParams, Events, First, MFAST, MVEGAS, Reset, Selection,
};
use windlass_cc::coupling::detection::Matching;
use windlass_cc::group::{COUPLED, MAX_PATHS};
use windlass_cc::lia::Lia;
use windlass_cc::loss_based::LossBased;
use windlass_cc::mfast::MFast;
use windlass_cc::mfvl::{Mfvl, Params};
use windlass_cc::mvegas::MVegas;
use windlass_cc::params::Parameters;
use windlass_cc::slow_start::{Standard, StandardParams, VegasStart, VegasStartParams};
use windlass_cc::{
    Ack, AnyParams, Conn, Controller, Coordinator, Group, PathEvent, PathView, Ratio, Setup, Span,
    Time,
};

const T: u64 = 50_000;

fn coordinator(cycle: CycleParams) -> Coordinator {
    let own = Params { cycle, ..Params::default() };
    let setup = Setup { own, ..Setup::default() };
    AnyParams::Mfvl(setup).coordinator(Time::ZERO)
}

/// Modes after a cycle in which each entry of `losses` retransmits segments on a path at a time.
fn after(own: CycleParams, losses: &[(u64, usize, u32)]) -> Coordinator {
    let mut coordinator = coordinator(own);
    cycle(&mut coordinator, 0, losses);
    coordinator
}

/// One cycle from `begin` on, ms. Every path sends a thousand segments; a loss begins recovery and
/// retransmits.
fn cycle(coordinator: &mut Coordinator, begin: u64, losses: &[(u64, usize, u32)]) -> bool {
    let at = |ms| Time::from_millis(begin + ms);
    for place in 0..4 {
        coordinator.on_event(at(0), place, PathEvent::Sent(1_000));
    }
    let mut losses = losses.to_vec();
    losses.sort_unstable();
    for (ms, place, segments) in losses {
        coordinator.on_event(at(ms), place, PathEvent::FastRetransmit);
        coordinator.on_event(at(ms), place, PathEvent::Retransmitted(segments));
    }
    assert_eq!(coordinator.deadline(), at(T));
    assert!(!coordinator.advance(Time(at(T).0 - 1)), "it decides at the end");
    coordinator.advance(at(T))
}

fn modes(coordinator: &Coordinator) -> [u8; 4] {
    [0, 1, 2, 3].map(|place| coordinator.mode(place))
}

/// `losses` losses of one segment on a path, far from each other and from the losses of other paths.
fn alone(place: usize, losses: u64) -> Vec<(u64, usize, u32)> {
    (0..losses).map(|i| (1_000 + 2_000 * i + 500 * place as u64, place, 1)).collect()
}

fn all(parts: &[Vec<(u64, usize, u32)>]) -> Vec<(u64, usize, u32)> {
    parts.concat()
}

#[test]
fn other_algorithms_have_nothing_to_coordinate() {
    let mut none = AnyParams::by_name("lia").unwrap().coordinator(Time::ZERO);
    none.on_event(Time::ZERO, 0, PathEvent::Retransmitted(9));
    assert!(!none.advance(Time::from_secs(1_000)));
    assert_eq!((none, none.deadline()), (Coordinator::None, Time::NEVER));
}

#[test]
fn the_first_cycle_follows_parameter_first() {
    let of = |first| modes(&coordinator(CycleParams { first, ..CycleParams::default() }));
    assert_eq!(of(First::MVegas), [MVEGAS; 4]);
    assert_eq!(of(First::Setup2), [MVEGAS, MFAST, MFAST, MFAST]);
    assert_eq!(of(First::Setup3), [MFAST, MVEGAS, MVEGAS, MVEGAS]);
}

#[test]
fn the_path_with_fewer_retransmissions_gets_mfast_and_the_other_mvegas() {
    for own in [CycleParams::default(), CycleParams::repaired()] {
        let two = |a, b| {
            let mut loop_ = coordinator(own);
            for place in 0..2 {
                loop_.on_event(Time::ZERO, place, PathEvent::Sent(1_000));
            }
            let mut losses = all(&[alone(0, a), alone(1, b)]);
            losses.sort_unstable();
            for (ms, place, segments) in losses {
                loop_.on_event(Time::from_millis(ms), place, PathEvent::Retransmitted(segments));
            }
            loop_.advance(Time::from_millis(T));
            (loop_.mode(0), loop_.mode(1))
        };
        assert_eq!(two(3, 9), (MFAST, MVEGAS));
        assert_eq!(two(9, 3), (MVEGAS, MFAST));
        assert_eq!(two(0, 1), (MFAST, MVEGAS));
        assert_eq!(two(4, 4), (MVEGAS, MVEGAS), "MF-16");
        assert_eq!(two(0, 0), (MVEGAS, MVEGAS));
    }
}

#[test]
fn each_cycle_resets_the_counts_and_equal_paths_keep_their_mode() {
    let mut loop_ = coordinator(CycleParams::default());
    assert!(cycle(&mut loop_, 0, &all(&[alone(0, 9), alone(1, 3), alone(2, 9), alone(3, 9)])));
    assert_eq!(modes(&loop_), [MVEGAS, MFAST, MVEGAS, MVEGAS]);
    let equal: Vec<_> = (0..4).map(|place| alone(place, 5)).collect();
    assert!(!cycle(&mut loop_, T, &all(&equal)));
    assert_eq!(modes(&loop_), [MVEGAS, MFAST, MVEGAS, MVEGAS]);
    assert!(cycle(&mut loop_, 2 * T, &all(&[alone(0, 1), alone(1, 3), alone(2, 1), alone(3, 9)])));
    assert_eq!(modes(&loop_), [MFAST, MVEGAS, MFAST, MVEGAS], "two have the fewest");
}

/// Losses of two paths 50 ms apart, which are shared, and `more` further losses of the second path.
fn together(more: u64) -> Vec<(u64, usize, u32)> {
    let shared = (0..10).flat_map(|i| [(500 + 4_000 * i, 0, 1), (550 + 4_000 * i, 1, 1)]);
    let own = (0..more).map(|i| (2_500 + 4_000 * i, 1, 1));
    shared.chain(own).collect()
}

/// Modes after a cycle for a connection of two paths.
fn pair(own: CycleParams, losses: &[(u64, usize, u32)]) -> (u8, u8) {
    let mut loop_ = coordinator(own);
    for place in 0..2 {
        loop_.on_event(Time::ZERO, place, PathEvent::Sent(1_000));
    }
    let mut losses = losses.to_vec();
    losses.sort_unstable();
    for (ms, place, segments) in losses {
        loop_.on_event(Time::from_millis(ms), place, PathEvent::FastRetransmit);
        loop_.on_event(Time::from_millis(ms), place, PathEvent::Retransmitted(segments));
    }
    loop_.advance(Time::from_millis(T));
    (loop_.mode(0), loop_.mode(1))
}

#[test]
fn the_printed_comparison_overwrites_the_decision_to_couple_and_the_other_does_not() {
    let exclusive = CycleParams { selection: Selection::Exclusive, ..CycleParams::default() };
    for own in [CycleParams::default(), exclusive] {
        assert_eq!(pair(own, &together(0)), (COUPLED, COUPLED), "counts are equal");
    }
    assert_eq!(pair(CycleParams::default(), &together(1)), (MFAST, MVEGAS), "MF-15");
    assert_eq!(pair(exclusive, &together(1)), (COUPLED, COUPLED));
}

#[test]
fn paths_that_no_longer_share_are_uncoupled_by_a_difference_or_by_the_decision() {
    let quiet = [];
    for (selection, left) in [(Selection::Literal, COUPLED), (Selection::Exclusive, MVEGAS)] {
        let mut loop_ = after(
            CycleParams { selection, reset: Reset::EachCycle, ..CycleParams::default() },
            &together(0),
        );
        // The connection has four paths: the other two have no losses, so the printed comparison finds
        // a difference at once.
        let coupled = selection == Selection::Exclusive;
        assert_eq!(loop_.mode(0) == COUPLED, coupled);
        cycle(&mut loop_, T, &quiet);
        let kept = if coupled { left } else { MVEGAS };
        assert_eq!(loop_.mode(0), kept);
    }
}

#[test]
fn matches_go_on_from_cycle_to_cycle_only_as_printed() {
    let second = |reset| {
        let own = CycleParams { reset, selection: Selection::Exclusive, ..CycleParams::default() };
        let mut loop_ = after(own, &together(0));
        cycle(&mut loop_, T, &all(&[alone(0, 8), alone(1, 8)]));
        loop_.mode(0)
    };
    assert_eq!(second(Reset::Literal), COUPLED, "10 matches of before, 8 events now (MF-12)");
    assert_ne!(second(Reset::EachCycle), COUPLED);
}

#[test]
fn a_burst_of_retransmissions_is_one_event_where_entries_are_matched() {
    // One overflow affects both paths and loses 20 segments each; the 8 other losses are separate.
    let mut losses = vec![(500, 0, 20), (520, 1, 20)];
    losses.extend((1..9).flat_map(|i| [(5_000 * i, 0, 1), (5_000 * i + 2_500, 1, 1)]));
    let base = CycleParams { selection: Selection::Exclusive, ..CycleParams::default() };
    assert_eq!(pair(base, &losses), (COUPLED, COUPLED), "400 pairs of 28 events");
    let single = CycleParams { matching: Matching::OneToOne, ..base };
    assert_eq!(pair(single, &losses), (COUPLED, COUPLED), "20 of 28");
    let entries = CycleParams { events: Events::Entries, ..base };
    assert_eq!(pair(entries, &losses), (MVEGAS, MVEGAS), "1 of 9 (MF-17)");
}

#[test]
fn a_timeout_counts_in_the_printed_algorithm_by_its_retransmissions() {
    let seen = |events| {
        let mut loop_ = coordinator(CycleParams {
            events,
            selection: Selection::Exclusive,
            ..CycleParams::default()
        });
        for place in 0..2 {
            loop_.on_event(Time::from_millis(9), place, PathEvent::Timeout);
            loop_.on_event(Time::from_millis(9), place, PathEvent::Retransmitted(1));
        }
        loop_.advance(Time::from_millis(T));
        loop_.mode(0)
    };
    assert_eq!((seen(Events::Literal), seen(Events::Entries)), (COUPLED, MVEGAS));
}

#[test]
fn ratios_compare_retransmissions_with_sent_segments() {
    let choose = |compare| {
        let mut loop_ = coordinator(CycleParams { compare, ..CycleParams::default() });
        for (place, sent, again) in [(0, 20_000, 40), (1, 3_000, 30)] {
            loop_.on_event(Time::ZERO, place, PathEvent::Sent(sent));
            loop_.on_event(
                Time::from_secs(9 + 9 * place as u64),
                place,
                PathEvent::Retransmitted(again),
            );
        }
        loop_.advance(Time::from_millis(T));
        (loop_.mode(0), loop_.mode(1))
    };
    assert_eq!(choose(Compare::Counts), (MVEGAS, MFAST));
    assert_eq!(choose(Compare::Ratios), (MFAST, MVEGAS), "0.2 % against 1 % (MF-19)");
}

#[test]
fn paths_that_share_through_a_third_path_are_coupled_and_the_rest_is_ranked() {
    let own = CycleParams { selection: Selection::Exclusive, ..CycleParams::repaired() };
    // 1 loses 100 ms after 0, and 2 after 1: 0 matches 1, 1 matches 2, and 0 does not match 2.
    let chain = (0..6).flat_map(|i| {
        let at = 1_000 + 5_000 * i;
        [(at, 0, 1), (at + 150, 1, 1), (at + 300, 2, 1)]
    });
    let loop_ = after(own, &chain.clone().chain(alone(3, 2)).collect::<Vec<_>>());
    assert_eq!(modes(&loop_), [COUPLED, COUPLED, COUPLED, MVEGAS]);
    // Two bottlenecks of two paths each.
    let two = (0..6).flat_map(|i| {
        let at = 1_000 + 5_000 * i;
        [(at, 0, 1), (at + 10, 2, 1), (at + 2_000, 1, 1), (at + 2_010, 3, 1)]
    });
    let loop_ = after(own, &two.collect::<Vec<_>>());
    assert_eq!(modes(&loop_), [COUPLED, COUPLED + 1, COUPLED, COUPLED + 1]);
    // 0 and 3 share; 1 loses less than 2.
    let rest = (0..6).flat_map(|i| [(1_000 + 5_000 * i, 0, 1), (1_050 + 5_000 * i, 3, 1)]);
    let rest = rest.chain([(3_000, 1, 1), (8_000, 2, 1), (13_500, 2, 1)]);
    let loop_ = after(own, &rest.collect::<Vec<_>>());
    assert_eq!(modes(&loop_), [COUPLED, MFAST, MVEGAS, COUPLED]);
}

#[test]
fn a_path_that_sent_nothing_is_not_ranked() {
    let mut loop_ = coordinator(CycleParams::default());
    loop_.on_event(Time::ZERO, 0, PathEvent::Sent(500));
    loop_.on_event(Time::from_secs(3), 0, PathEvent::Retransmitted(4));
    assert!(!loop_.advance(Time::from_millis(T)));
    assert_eq!((loop_.mode(0), loop_.mode(1)), (MVEGAS, MVEGAS));
}

#[test]
fn cycles_without_an_event_are_processed_later_and_keep_the_time_grid() {
    let own = CycleParams { selection: Selection::Exclusive, ..CycleParams::default() };
    let mut loop_ = after(own, &together(0));
    assert_eq!(loop_.mode(0), COUPLED);
    assert!(loop_.advance(Time::from_millis(7 * T + 1)), "nothing was lost since");
    assert_eq!((loop_.mode(0), loop_.deadline()), (MVEGAS, Time::from_millis(8 * T)));
    // The host also receives a change caused by an event before its call.
    let mut loop_ = coordinator(own);
    for (ms, place, segments) in together(0) {
        loop_.on_event(Time::from_millis(ms), place, PathEvent::Retransmitted(segments));
    }
    loop_.on_event(Time::from_millis(T + 5), 0, PathEvent::Sent(1));
    assert_eq!(loop_.mode(0), COUPLED);
    assert!(loop_.advance(Time::from_millis(T + 5)));
    assert!(!loop_.advance(Time::from_millis(T + 5)), "once");
}

fn any_event() -> impl Strategy<Value = PathEvent> {
    let segments = prop_oneof![1u32..50, any::<u32>()];
    (0..4u8, segments).prop_map(|(kind, segments)| match kind {
        0 => PathEvent::FastRetransmit,
        1 => PathEvent::Timeout,
        2 => PathEvent::Retransmitted(segments),
        _ => PathEvent::Sent(segments),
    })
}

prop_compose! {
    fn any_params()(raws in prop::collection::vec(any::<u64>(), 9)) -> CycleParams {
        let mut p = CycleParams::default();
        for (place, raw) in raws.into_iter().enumerate() {
            // Choices by their index, times and ratios unchanged.
            let _ = p.set(place, raw) || p.set(place, raw % 3) || p.set(place, raw % 2);
        }
        p
    }
}

proptest! {
    #[test]
    fn modes_are_valid_and_clusters_have_at_least_two_members(
        own in any_params(),
        steps in prop::collection::vec((0u64..40_000_000_000, 0..MAX_PATHS + 2, any_event()), 0..120),
    ) {
        let mut loop_ = coordinator(own);
        let mut now = Time::ZERO;
        for (after, place, what) in steps {
            now += Span(after / 40);
            loop_.on_event(now, place, what);
            prop_assert!(loop_.deadline() > now);
            let modes: Vec<u8> = (0..MAX_PATHS).map(|place| loop_.mode(place)).collect();
            for (place, mode) in modes.iter().enumerate() {
                prop_assert!(*mode < COUPLED + MAX_PATHS as u8);
                if *mode >= COUPLED && own.selection == Selection::Exclusive {
                    let members = modes.iter().filter(|other| *other == mode).count();
                    prop_assert!(members >= 2, "{place}: {modes:?}");
                }
            }
        }
    }
}

const MSS: u64 = 1_000;

fn setup<P: Default, S: Default>(own: P, segments: u64, ssthresh: u64) -> Setup<P, S> {
    Setup {
        initial_window: segments * MSS,
        initial_ssthresh: ssthresh * MSS,
        own,
        ..Setup::<P, S>::default()
    }
}

/// Acknowledgements of single segments with a varying RTT.
fn acks(count: u64) -> impl Iterator<Item = (Conn, Ack)> {
    let mut c = Conn { next_id: 30 * MSS, min_rtt: Span::from_millis(40), ..Conn::new(MSS as u32) };
    (0..count).map(move |i| {
        let rtt = Span::from_millis(42 + (i / 13) % 9);
        c.now += Span::from_millis(2);
        (c.una, c.next_id) = (c.una + MSS, c.next_id + MSS);
        c.srtt = rtt;
        (c, Ack { rtt, ..Ack::of(MSS) })
    })
}

fn view(cwnd: u64, disclosed: u8) -> PathView {
    let rtt = Span::from_millis(44);
    PathView {
        cwnd: cwnd * MSS,
        ssthresh: MSS,
        srtt: rtt,
        min_rtt: rtt,
        disclosed: disclosed.into(),
        mss: MSS as u32,
        ..PathView::EMPTY
    }
}

#[test]
fn a_path_alone_is_mvegas() {
    let p: Setup<Params, VegasStartParams> = setup(Params::default(), 4, 1_000);
    let q = setup(Default::default(), 4, 1_000);
    let c = Conn::new(MSS as u32);
    let mut mfvl: LossBased<Mfvl, VegasStart> = LossBased::init(&p, &c);
    let mut mvegas: LossBased<MVegas, VegasStart> = LossBased::init(&q, &c);
    for (c, ack) in acks(2_000) {
        mfvl.on_ack(&p, &c, &ack);
        mvegas.on_ack(&q, &c, &ack);
        assert_eq!(mfvl.control(&p, &c), mvegas.control(&q, &c));
    }
}

#[test]
fn a_new_mode_starts_with_fresh_state_and_the_present_window() {
    let p: Setup<Params, StandardParams> = setup(Params::default(), 20, 20);
    let mut mfvl: LossBased<Mfvl, Standard> = LossBased::init(&p, &Conn::new(MSS as u32));
    let mut events = acks(3_000);
    for (c, ack) in events.by_ref().take(500) {
        mfvl.on_ack(&p, &c, &ack);
    }
    let (c, _) = events.next().expect("there are more");
    let cwnd = mfvl.cwnd();
    let group = Group::new([view(cwnd / MSS, MVEGAS), view(20, MVEGAS)]);
    mfvl.on_group(&p, &c, &group.seen_from(0, MFAST));
    assert_eq!((mfvl.cwnd(), mfvl.disclosed()), (cwnd, u64::from(MFAST)));
    let q: Setup<_, StandardParams> =
        Setup { initial_window: cwnd, initial_ssthresh: cwnd, ..setup(Default::default(), 0, 0) };
    let mut mfast: LossBased<MFast, Standard> = LossBased::init(&q, &c);
    for (c, ack) in events {
        mfvl.on_ack(&p, &c, &ack);
        mfast.on_ack(&q, &c, &ack);
        // The rest of a fraction of a byte of MVegas.
        assert!(mfvl.cwnd().abs_diff(mfast.cwnd()) <= 1);
    }
    assert_ne!(mfvl.cwnd(), cwnd);
}

#[test]
fn coupled_paths_run_lia_only_with_paths_of_the_same_bottleneck() {
    let p: Setup<Params, StandardParams> = setup(Params::default(), 20, 20);
    let q = setup(Default::default(), 20, 20);
    let c = Conn::new(MSS as u32);
    let mut mfvl: LossBased<Mfvl, Standard> = LossBased::init(&p, &c);
    let mut lia: LossBased<Lia, Standard> = LossBased::init(&q, &c);
    let mode = COUPLED + 1;
    for (at, (c, ack)) in acks(500).enumerate() {
        // Paths 1 and 3 share; 0 and 2 would have large weights.
        let own = mfvl.cwnd() / MSS;
        let views = [view(400, MFAST), view(own, mode), view(300, COUPLED), view(20, mode)];
        mfvl.on_group(&p, &c, &Group::new(views).seen_from(1, mode));
        let two = [view(own, mode), view(20, mode)];
        lia.on_group(&q, &c, &Group::new(two).seen_from(0, 0));
        mfvl.on_ack(&p, &c, &ack);
        lia.on_ack(&q, &c, &ack);
        assert_eq!(mfvl.control(&p, &c), lia.control(&q, &c), "{at}");
    }
    // 500 acknowledgements at 20 to 30 segments: Reno would grow by 20, two coupled paths at first by a
    // quarter of it each.
    assert!((22 * MSS..30 * MSS).contains(&mfvl.cwnd()), "{}", mfvl.cwnd());
}

#[test]
fn slow_start_is_vegas_in_mode_mvegas_and_standard_otherwise() {
    let p: Setup<Params, VegasStartParams> = setup(Params::default(), 4, 1_000);
    for (mode, every) in [(MVEGAS, false), (MFAST, true), (COUPLED, true)] {
        let c = Conn::new(MSS as u32);
        let mut mfvl: LossBased<Mfvl, VegasStart> = LossBased::init(&p, &c);
        let group = Group::new([view(4, mode), view(4, mode)]);
        mfvl.on_group(&p, &c, &group.seen_from(0, mode));
        // RTTs without a queue, for one window after the other.
        let mut c = Conn { min_rtt: Span::from_millis(40), ..c };
        let mut windows = vec![];
        for _ in 0..4 {
            let cwnd = mfvl.cwnd();
            (c.una, c.next_id) = (c.next_id, c.next_id + cwnd);
            for _ in 0..cwnd / MSS {
                c.una += MSS;
                mfvl.on_ack(&p, &c, &Ack { rtt: c.min_rtt, ..Ack::of(MSS) });
            }
            windows.push(mfvl.cwnd() / MSS);
        }
        assert_eq!(windows == [8, 16, 32, 64], every, "mode {mode}: {windows:?}");
    }
}

#[test]
fn siblings_are_coupled_by_mode_and_all_without_a_coordinator() {
    let group = Group::new([view(1, 9), view(2, COUPLED), view(3, MVEGAS)]);
    let coupled =
        |mode| [0, 1, 2].map(|at| group.seen_from(0, mode).coupled_with(&group.paths()[at]));
    assert_eq!(coupled(0), [true; 3]);
    assert_eq!(coupled(COUPLED), [false, true, false]);
    assert_eq!(coupled(9), [true, false, false]);
}

#[test]
fn delta_above_one_never_couples_one_to_one() {
    let own = CycleParams {
        delta: Ratio::ONE,
        matching: Matching::OneToOne,
        selection: Selection::Exclusive,
        ..CycleParams::default()
    };
    assert_eq!(pair(own, &together(0)), (MVEGAS, MVEGAS));
}

#[test]
fn parameters_of_the_parts_have_their_names_with_a_prefix() {
    use windlass_cc::{Param, mfast, mvegas};
    let named = |prefix: &'static str, table: &'static [Param]| {
        table.iter().map(move |param| format!("{prefix}{}", param.name))
    };
    let parts = named("mvegas_", mvegas::Params::TABLE)
        .chain(named("mfast_", mfast::Params::TABLE))
        .chain(named("", CycleParams::TABLE));
    assert!(Params::TABLE.iter().map(|param| param.name.to_owned()).eq(parts));
    let (mut p, k) = (Params::default(), Ratio::of(3, 2));
    assert!(p.set(2, k.0) && p.get(2) == Some(k.0) && p.mvegas.k == k);
    assert!(p.set(10, 7) && p.mfast.interval == 7, "the fourth of MFast");
    assert!(p.set(15, 5_000_000) && p.cycle.cycle == Span::from_millis(5));
    assert!(!p.set(24, 0) && p.get(24).is_none());
}
