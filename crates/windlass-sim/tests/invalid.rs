//! What cannot be simulated is refused with a sentence that says so.

mod common;

use common::{Traffic, cbr, drops, flow, link, listed, network, rfc};
use windlass_cc::{Span, Time};
use windlass_sim::config::{Config, ReadPolicy};
use windlass_sim::loss::LossModel;
use windlass_sim::queue::{CoDel, Discipline, FqCoDel, Level, Pie, Red};
use windlass_sim::{ConfigError, Simulation};

fn valid() -> Config {
    let bulk = Traffic::Bulk { bytes: None };
    network(vec![link([0, 1], 1000, 1)], vec![flow([0, 1], rfc("reno"), bulk)], Time::from_secs(1))
}

/// The sentence with which the changed configuration is refused.
fn refusal(change: impl FnOnce(&mut Config)) -> String {
    let mut config = valid();
    change(&mut config);
    match Simulation::new(config) {
        Ok(_) => panic!("accepted"),
        Err(e) => e.to_string(),
    }
}

#[test]
fn the_unchanged_configuration_is_accepted() {
    assert!(Simulation::new(valid()).is_ok());
}

#[test]
fn what_does_not_exist_is_named() {
    assert_eq!(
        refusal(|c| c.links[0].ends[1] = 2),
        "link \"0-1\": node 2 does not exist; there are 2"
    );
    assert_eq!(refusal(|c| c.flows[0].to = 9), "flow \"0>1\": node 9 does not exist; there are 2");
    assert_eq!(
        refusal(|c| c.record.capture = vec![1]),
        "the run: link 1 is to be captured, but there are 1"
    );
}

#[test]
fn a_flow_needs_a_route_between_two_nodes() {
    let error = |change: fn(&mut Config)| {
        let mut config = valid();
        change(&mut config);
        Simulation::new(config).err()
    };
    let none = Some(ConfigError::NoRoute { flow: "0>1".into() });
    assert_eq!(error(|c| c.links.clear()), none);
    assert_eq!(error(|c| c.flows[0].to = 0), none);
}

#[test]
fn probabilities_lie_between_zero_and_one() {
    for p in [1.2, -0.1, f64::NAN] {
        let message = refusal(|c| c.links[0].loss[1] = drops(p));
        assert_eq!(
            message,
            format!("link \"0-1\": a loss probability must be between 0 and 1, not {p}")
        );
    }
    let state = LossModel::GilbertElliott {
        good_to_bad: 0.1,
        bad_to_good: 0.1,
        loss_good: 0.0,
        loss_bad: 2.0,
    };
    assert!(refusal(|c| c.links[0].loss[0] = Some(state)).ends_with("not 2"));
    for list in [[0, 1], [3, 3], [4, 2]] {
        assert!(refusal(|c| c.links[0].loss[0] = listed(&list)).contains("ascend"));
    }
}

#[test]
fn disciplines_have_bounds() {
    let level = Level::Packets;
    let red = Red {
        min_threshold: level(5),
        max_threshold: level(15),
        weight: 0.002,
        max_probability: 0.1,
        gentle: true,
        ecn: false,
        adaptive: false,
        mean_packet: 500,
    };
    let codel = CoDel::DEFAULT;
    for (discipline, problem) in [
        (Discipline::Red(Red { max_threshold: level(4), ..red }), "less than the lower"),
        (Discipline::Red(Red { max_threshold: Level::Bytes(15), ..red }), "both be in packets"),
        (Discipline::Red(Red { weight: 0.0, ..red }), "more than 0"),
        (Discipline::Red(Red { max_probability: f64::NAN, ..red }), "between 0 and 1"),
        (Discipline::Red(Red { mean_packet: 0, ..red }), "at least 1 byte"),
        (Discipline::CoDel(CoDel { interval: Span::ZERO, ..codel }), "at least 1 ns"),
        (Discipline::CoDel(CoDel { interval: Span::NONE, ..codel }), "too long"),
        (Discipline::FqCoDel(FqCoDel { flows: 0, ..FqCoDel::DEFAULT }), "1 to 65536"),
        (Discipline::FqCoDel(FqCoDel { quantum: 0, ..FqCoDel::DEFAULT }), "at least 1 byte"),
        (Discipline::FqCoDel(FqCoDel { interval: Span::ZERO, ..FqCoDel::DEFAULT }), "1 ns"),
        (Discipline::Pie(Pie { update: Span::ZERO, ..Pie::DEFAULT }), "at least 1 ns"),
        (Discipline::Pie(Pie { alpha: -1.0, ..Pie::DEFAULT }), "from 0 to 1000"),
        (Discipline::Pie(Pie { mark_limit: 2.0, ..Pie::DEFAULT }), "between 0 and 1"),
    ] {
        let message = refusal(|c| c.links[0].discipline = discipline);
        assert!(message.starts_with("link \"0-1\": ") && message.contains(problem), "{message}");
    }
}

#[test]
fn rates_sizes_and_times_have_bounds() {
    assert!(refusal(|c| c.links[0].rate_bps = 0).contains("at least 1 bit/s"));
    assert!(refusal(|c| c.links[0].delay = Span::NONE).contains("at most 73 years"));
    assert!(refusal(|c| c.duration = Time::NEVER).contains("finite"));
    assert!(refusal(|c| c.flows[0].read = ReadPolicy::Rate(0)).contains("at least 1 byte/s"));
    let end = Time::from_secs(1);
    for (source, word) in [
        (Traffic::CbrUdp(cbr(65_508, 1, end)), "65507"),
        (Traffic::CbrUdp(cbr(0, 1, end)), "between 1"),
        (Traffic::CbrTcp(cbr(0, 1, end)), "between 1"),
        (Traffic::CbrTcp(cbr(1, 0, end)), "nanosecond"),
        (
            Traffic::RequestResponse { request: 1, response: 1, requests: 0, think: Span::ZERO },
            "at least 1",
        ),
    ] {
        let message = refusal(|c| c.flows[0].traffic = source);
        assert!(message.contains(word), "{message}");
    }
}
