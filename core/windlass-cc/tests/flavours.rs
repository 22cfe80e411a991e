//! Deviations of implementations: each exists, is admissible, differs from the default, and has a
//! reason.

use std::collections::BTreeSet;

use windlass_cc::slow_start::{self, SLOW_STARTS};
use windlass_cc::{ALGORITHMS, AnyParams, Change, Conn, Departure, Flavour, Info, Setup, Span};

fn check(info: &Info, departures: &[Departure], default: impl Fn(usize) -> Option<u64>) {
    let mut seen = BTreeSet::new();
    for Departure { flavour, change, why } in departures {
        let what = format!("{} {flavour:?} {change:?}", info.id);
        assert!(*flavour != Flavour::Rfc, "{what}: the defaults are the paper's");
        assert!(!why.is_empty(), "{what}");
        let key = match change {
            Change::Param(name, value) => {
                let place = info.params.iter().position(|p| p.name == *name).expect(&what);
                assert!(info.params[place].kind.admits(*value), "{what}");
                assert_ne!(default(place), Some(*value), "{what}: no difference");
                *name
            }
            Change::SlowStart(id) => {
                assert!(slow_start::AnyParams::by_name(id).is_some(), "{what}");
                "slow_start"
            }
            Change::AckLimit(segments) => {
                assert!(*segments > 0, "{what}");
                "ack_limit"
            }
            Change::Filled { .. } => "window_validation",
        };
        assert!(seen.insert((*flavour as u8, key)), "{what}: twice");
    }
}

#[test]
fn every_departure_is_an_admissible_difference_with_a_reason() {
    for info in ALGORITHMS {
        let params = AnyParams::by_name(info.id).unwrap();
        check(info, params.departures(), |place| params.get(place));
    }
    for info in SLOW_STARTS {
        let params = slow_start::AnyParams::by_name(info.id).unwrap();
        check(info, params.departures(), |place| params.get(place));
    }
}

#[test]
fn an_implementation_sets_only_its_listed_deviations() {
    for info in ALGORITHMS {
        let paper = AnyParams::by_name(info.id).unwrap();
        assert_eq!(paper.flavoured(Flavour::Rfc), paper);
        let linux = paper.flavoured(Flavour::Linux);
        let of_linux = paper.departures().iter().filter(|d| d.flavour == Flavour::Linux);
        let changes: Vec<Change> = of_linux.map(|d| d.change).collect();
        for (place, param) in info.params.iter().enumerate() {
            let told = changes.iter().find_map(|change| match change {
                Change::Param(name, value) if *name == param.name => Some(*value),
                _ => None,
            });
            assert_eq!(linux.get(place), told.or(paper.get(place)), "{} {}", info.id, param.name);
        }
    }
    let slow_start =
        |id| AnyParams::by_name(id).unwrap().flavoured(Flavour::Linux).common().slow_start;
    assert_eq!(slow_start("highspeed").info().id, "standard");
    let vegas = slow_start::AnyParams::by_name("vegas").unwrap();
    assert_eq!(slow_start("vegas"), vegas.flavoured(Flavour::Linux));
    assert_ne!(slow_start("vegas"), vegas, "a slow start has its own deviations");
}

#[test]
fn the_kernels_hybla_begins_with_the_handshakes_round_trip_over_25_ms() {
    let start = |flavour, srtt| {
        let mut params = AnyParams::by_name("hybla").unwrap().flavoured(flavour);
        params.set_common(&Setup { initial_window: 10_000, ..params.common() });
        let conn = Conn { srtt, ..Conn::new(1_000) };
        windlass_cc::AnyController::init(&params, &conn).control(&params, &conn).cwnd
    };
    for (ms, segments) in [(10, 1), (25, 1), (49, 1), (50, 2), (200, 8)] {
        assert_eq!(start(Flavour::Linux, Span::from_millis(ms)), 1_000 * segments, "{ms} ms");
        assert_eq!(start(Flavour::Rfc, Span::from_millis(ms)), 10_000);
    }
    assert_eq!(start(Flavour::Linux, Span::NONE), 10_000, "nothing measured yet");
}
