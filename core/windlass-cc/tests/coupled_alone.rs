//! One path: LIA equals Reno, byte for byte, and the others equal the reduction in their papers.

use crate::common::any::{any_conn, any_event, any_mss, params_of};
use crate::common::history::{play, script};
use proptest::prelude::*;
use windlass_cc::congestion_avoidance::CongestionAvoidance;
use windlass_cc::lia::Lia;
use windlass_cc::{AnyController, AnyParams, Conn, Control, Event, Group, PathView};

/// The group of a host with one path.
fn alone(c: &Conn, now: Control) -> Group {
    Group::new([PathView {
        cwnd: now.cwnd,
        ssthresh: now.ssthresh,
        srtt: c.srtt,
        min_rtt: c.min_rtt,
        disclosed: 0,
        mss: c.mss,
        phase: c.phase,
    }])
}

/// The outputs for a history, with a group of the connection's only path after each event.
fn answers(p: &AnyParams, first: &Conn, steps: &[(Conn, Event)]) -> Vec<Control> {
    let mut state = AnyController::init(p, first);
    let mut answers = vec![state.control(p, first)];
    for (c, e) in steps {
        state.apply(p, c, e);
        let now = state.control(p, c);
        state.on_group(p, c, &alone(c, now));
        assert_eq!(state.control(p, c), now, "being told of oneself moves nothing");
        answers.push(now);
    }
    answers
}

/// The parameters of another algorithm with the same host settings.
fn instead(p: &AnyParams, id: &str) -> AnyParams {
    let mut other = AnyParams::by_name(id).expect("a registered algorithm");
    other.set_common(&p.common());
    other
}

fn without_groups(steps: Vec<(Conn, Event)>) -> Vec<(Conn, Event)> {
    steps.into_iter().filter(|(_, e)| !matches!(e, Event::Group(_))).collect()
}

fn as_reno() -> Vec<&'static str> {
    vec!["lia", "olia", "balia", "emreno-approx"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn over_any_history_of_one_path_coupled_growth_is_reno(
        p in params_of(vec!["reno"]),
        first in any_conn(any_mss().boxed()),
        steps in prop::collection::vec((any_conn(any_mss().boxed()), any_event()), 0..60),
    ) {
        let steps = without_groups(steps);
        let reno = answers(&instead(&p, "reno"), &first, &steps);
        for id in as_reno() {
            prop_assert_eq!(&answers(&instead(&p, id), &first, &steps), &reno, "{}", id);
        }
    }

    #[test]
    fn over_the_history_of_a_real_host_coupled_growth_is_reno(script in script()) {
        let reno = AnyParams::by_name("reno").expect("a registered algorithm");
        let (first, steps) = play(&reno, &script);
        let expected = answers(&reno, &first, &steps);
        for id in as_reno() {
            let own = AnyParams::by_name(id).expect("a registered algorithm");
            prop_assert_eq!(&answers(&own, &first, &steps), &expected, "{}", id);
        }
    }

    #[test]
    fn a_path_without_siblings_behaves_as_a_single_path(script in script()) {
        for (id, single) in [("lia", "reno"), ("mpfast-approx", "fast")] {
            let mut own = AnyParams::by_name(id).expect("a registered algorithm");
            let single = AnyParams::by_name(single).expect("a registered algorithm");
            own.set_common(&single.common());
            let (first, steps) = play(&single, &script);
            prop_assert_eq!(answers(&own, &first, &steps), answers(&single, &first, &steps));
        }
    }
}

#[test]
fn lia_is_set_up_as_reno() {
    let [lia, reno] = ["lia", "reno"].map(|id| AnyParams::by_name(id).expect("registered"));
    assert_eq!(lia.requirements(), reno.requirements());
    assert_eq!(lia.requirements(), Lia::REQUIREMENTS);
    assert_eq!(lia.common(), reno.common());
}
