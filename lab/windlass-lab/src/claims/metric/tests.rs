use super::*;
use crate::run::fields::jain_index;
use windlass_sim::StationResult;
use windlass_sim::latency::{MessageResult, TransitResult};

#[test]
fn metric_path_accepts_the_name_of_a_link_direction() {
    let m = Metric::parse("link.cloud-client:cloud>client.drops").unwrap();
    assert_eq!((m.kind, m.name.as_str()), (Kind::Link, "cloud-client:cloud>client"));
    assert_eq!(m.field.name, "drops");
}

#[test]
fn error_of_a_wrong_path_gives_valid_forms_or_fields() {
    for (path, expected) in [
        ("goodput", "must look like flow.NAME.FIELD"),
        ("node.a.goodput_bps", "must look like flow.NAME.FIELD"),
        ("flow.a.goodput", "ends in an unknown field; did you mean `goodput_bps`?"),
        ("link.a.goodput_bps", "there are `sent`, "),
        ("run.cwnd_bytes", "there are `end_s`, "),
        ("flow.a.goodput_bsp", "; did you mean `goodput_bps`?"),
        ("cell.a.sent", "there are `busy`, "),
        ("station.a:b.sent", "there are `offered`, "),
    ] {
        let message = Metric::parse(path).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn jains_index_is_1_for_equal_rates_and_1_over_n_for_a_single_nonzero_rate() {
    let index = |values: &[f64]| jain_index(values.iter().copied());
    assert_eq!(index(&[2.0, 2.0, 2.0]), Some(1.0));
    assert_eq!(index(&[3.0, 0.0, 0.0, 0.0]), Some(0.25));
    // Jain, Chiu and Hawe 1984: with shares 1 and 3 of 2, 16 / (2 · 10).
    assert_eq!(index(&[1.0, 3.0]), Some(0.8));
    assert_eq!((index(&[0.0, 0.0]), index(&[])), (None, None));
}

#[test]
fn metrics_of_the_whole_run_sum_over_its_flows() {
    let mut run = crate::claims::fixtures::run("e", "p", 1, 2.0);
    let mut second = run.flows[0].clone();
    run.flows[0].goodput_bps = 1e6;
    second.goodput_bps = 3e6;
    run.flows.push(second);
    let of = |path: &str| Metric::parse(path).unwrap().of(&run);
    assert_eq!(of("run.goodput_bps"), Some(4e6));
    assert_eq!(of("run.jain_index"), Some(0.8));
    assert_eq!(of("run.goodput_mean_bps"), Some(2e6));
    assert_eq!((of("run.delay_ms"), of("run.late_fraction")), (None, None));
}

#[test]
fn mean_delay_of_a_run_is_weighted_by_packets_and_late_fraction_by_messages() {
    let mut run = crate::claims::fixtures::run("e", "p", 1, 2.0);
    let transit = |packets, mean_ms| TransitResult {
        packets,
        mean_ms,
        min_ms: 1.0,
        ..TransitResult::default()
    };
    let mut second = run.flows[0].clone();
    run.flows[0].transit = Some(transit(1, 10.0).into());
    second.transit = Some(transit(3, 30.0).into());
    second.messages = Some(MessageResult { sent: 8, late: 2, ..Default::default() }.into());
    run.flows.push(second);
    let of = |path: &str| Metric::parse(path).unwrap().of(&run);
    assert_eq!((of("run.delay_ms"), of("run.delay_excess_ms")), (Some(25.0), Some(24.0)));
    assert_eq!((of("run.late_fraction"), of("run.jitter_ms")), (Some(0.25), None));
}

#[test]
fn message_percentiles_of_a_run_cover_all_flows() {
    let mut run = crate::claims::fixtures::run("e", "p", 1, 2.0);
    let of = |run: &RunRecord, path: &str| Metric::parse(path).unwrap().of(run);
    assert_eq!(of(&run, "run.message_p99_ms"), None);
    let all =
        MessageResult { sent: 9, arrived: 8, late: 2, p99_ms: Some(700.0), ..Default::default() };
    run.messages = Some(all);
    assert_eq!(of(&run, "run.message_p99_ms"), Some(700.0));
    assert_eq!(of(&run, "run.messages_late"), Some(2.0));
}

/// The fixture's station used 2 J of 20 J in the 90 s before it went off.
#[test]
fn battery_life_of_a_run_is_the_minimum_over_its_stations() {
    let mut run = crate::claims::fixtures::run("e", "p", 1, 2.0);
    let of = |run: &RunRecord, path: &str| Metric::parse(path).unwrap().of(run).unwrap();
    assert_eq!(of(&run, "run.battery_life_s"), 900.0);
    assert_eq!((of(&run, "run.battery_left_j"), of(&run, "run.first_death_s")), (18.0, 90.0));
    let first = run.radios[0].stations[0].clone();
    let alive = |left, spent| StationResult {
        battery_left_j: Some(left),
        energy_j: Some(spent),
        died_s: None,
        ..first.clone()
    };
    // A station with 50 mW over 100 s, and a station on mains power, without a battery.
    run.radios[0].stations.push(alive(15.0, 5.0));
    run.radios[0].stations.push(StationResult { battery_left_j: None, ..alive(0.0, 50.0) });
    assert_eq!((of(&run, "run.battery_life_s"), of(&run, "run.battery_left_j")), (400.0, 15.0));
    run.radios[0].stations.remove(0);
    assert_eq!(of(&run, "run.first_death_s"), f64::INFINITY);
    // An empty battery lasted until the station went off.
    run.radios[0].stations[0] = StationResult { died_s: Some(60.0), ..alive(0.0, 20.0) };
    assert_eq!((of(&run, "run.battery_life_s"), of(&run, "run.first_death_s")), (60.0, 60.0));
}

/// A numeric field that is added to the results must have a metric.
#[test]
fn every_number_of_the_results_is_a_metric() {
    let run = crate::claims::fixtures::run("e", "p", 1, 2.0);
    let flow = serde_json::to_value(&run.flows[0]).unwrap();
    let cell = serde_json::to_value(&run.radios[0]).unwrap();
    let routing = windlass_sim::routing::aodv::RoutingResult::default();
    for (kind, part) in [
        (Kind::Flow, &flow),
        (Kind::Multipath, &flow["multipath"]),
        (Kind::Subflow, &flow["multipath"]["subflows"][0]),
        (Kind::Link, &serde_json::to_value(&run.links[0]).unwrap()),
        (Kind::Cell, &cell),
        (Kind::Cell, &serde_json::to_value(routing).unwrap()),
        (Kind::Station, &cell["stations"][0]),
    ] {
        for (name, value) in part.as_object().unwrap() {
            let known = kind.metric(name).is_some();
            assert_eq!(known, value.is_number() || value.is_boolean(), "{kind:?} field {name}");
        }
    }
}

#[test]
fn subflows_are_found_by_the_names_of_flow_and_subflow() {
    let run = crate::claims::fixtures::run("e", "p", 1, 2.0);
    let of = |path: &str| Metric::parse(path).unwrap().of(&run);
    assert_eq!(of("subflow.f:wifi.share"), Some(0.75));
    assert_eq!(of("multipath.f.reinjections"), Some(3.0));
    assert_eq!(of("subflow.f:lte.share"), None);
    assert_eq!(of("multipath.g.reinjections"), None);
}

#[test]
fn cells_and_stations_are_found_by_their_names() {
    let run = crate::claims::fixtures::run("e", "p", 1, 2.0);
    let of = |path: &str| Metric::parse(path).unwrap().of(&run);
    assert_eq!(of("cell.cell.airtime"), Some(0.625));
    assert_eq!(of("station.cell:s1.offered"), Some(8.0));
    assert_eq!(of("station.cell:s2.offered"), None);
}

#[test]
fn a_star_matches_any_text_and_many_stars_take_no_longer() {
    let cases = [
        ("*", "", true),
        ("a*", "a", true),
        ("a*a", "a", false),
        ("a*a", "aba", true),
        ("*b*", "abc", true),
        ("*é*ü", "éü", true),
        ("a*b*b", "ab", false),
        ("a*b*b", "abb", true),
        ("a*b*a*b", "abab", true),
        ("a", "ab", false),
    ];
    for (pattern, text, expected) in cases {
        assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
    }
    assert!(!matches(&format!("{}b", "*a".repeat(40)), &"a".repeat(4000)));
}

#[test]
fn a_metric_needs_a_part_of_the_scenario_with_its_name() {
    let scenario =
        |text: &str| Scenario::from_str(text, "s.toml").unwrap_or_else(|e| panic!("{e}"));
    let two_paths = scenario(include_str!("../../../../../scenarios/two-path.toml"));
    let cell = scenario(include_str!("../../../../../scenarios/wifi-cell.toml"));
    let meter = scenario(include_str!("../../../../../scenarios/nb-iot-meter.toml"));
    let said = |scenario: &Scenario, path: &str| {
        let metric = Metric::parse(path).unwrap();
        metric.check(scenario, |name| name == metric.name).err().unwrap_or_default()
    };
    for (scenario, path) in [
        (&two_paths, "flow.download.completion_s"),
        (&two_paths, "multipath.download.reinjections"),
        (&two_paths, "subflow.download:lte.share"),
        (&cell, "link.wire:ap>server.drops"),
        (&cell, "link.wire:server>ap.drops"),
        (&cell, "cell.cell.airtime"),
        (&cell, "station.cell:s4.offered"),
        (&cell, "run.goodput_bps"),
    ] {
        assert_eq!(said(scenario, path), "", "{path}");
    }
    for (scenario, path, expected) in [
        (&two_paths, "flow.upload.completion_s", "flow `upload` not found; there are `download`"),
        (
            &cell,
            "multipath.upload-1.reinjections",
            "multipath flow `upload-1` not found; none exists",
        ),
        (
            &two_paths,
            "subflow.download:lt.share",
            "subflow `download:lt` not found; did you mean `download:lte`?",
        ),
        (&cell, "link.wire:ap>s1.drops", "link direction `wire:ap>s1` not found; "),
        (&two_paths, "cell.cell.airtime", "cell `cell` not found; none exists"),
        (&cell, "station.cell:s5.offered", "station `cell:s5` not found; did you mean "),
    ] {
        let found = said(scenario, path);
        assert!(found.starts_with(expected), "{found}");
    }
    // The device of a link with a radio is a station of the cell of this link.
    let (link, spec) = meter.links.iter().find_map(|l| Some((l, l.radio.as_ref()?))).unwrap();
    let device = &meter.nodes[[link.a, link.b][spec.radio.device]];
    let other = &meter.nodes[[link.b, link.a][spec.radio.device]];
    assert_eq!(said(&meter, &format!("cell.{}.airtime", link.name)), "");
    assert_eq!(said(&meter, &format!("station.{}:{device}.offered", link.name)), "");
    assert_ne!(said(&meter, &format!("station.{}:{other}.offered", link.name)), "");
}

#[test]
fn a_missing_value_counts_as_infinite_in_the_worse_direction() {
    let worst = |path: &str| Metric::parse(path).unwrap().worst();
    assert_eq!(worst("flow.f.completion_s"), f64::INFINITY);
    assert_eq!(worst("flow.f.goodput_bps"), f64::NEG_INFINITY);
    assert!(worst("flow.f.cwnd_bytes").is_nan());
    let unit = |path: &str| Metric::parse(path).unwrap().unit();
    assert_eq!(
        ["completion_s", "goodput_bps", "rto_count", "srtt_ms"]
            .map(|f| unit(&format!("flow.f.{f}"))),
        ["s", "bit/s", "", "ms"]
    );
}

#[test]
fn a_mean_over_parts_needs_the_value_of_each() {
    let mut run = crate::claims::fixtures::run("e", "p", 1, 2.0);
    for (name, srtt_ms) in [("g", Some(80.0)), ("h", Some(90.0)), ("i", None)] {
        let other = windlass_sim::FlowResult { name: name.into(), srtt_ms, ..run.flows[0].clone() };
        run.flows.push(other);
    }
    let metric = Metric::parse("flow.f.srtt_ms").unwrap();
    let mean = |names: &str| metric.mean(&run, |name| names.contains(name));
    let values = |names: &str| metric.values(&run, |name| names.contains(name));
    assert_eq!((mean("f"), mean("fg"), mean("fgh")), (Some(40.0), Some(60.0), Some(70.0)));
    assert_eq!((mean("fi"), mean("")), (None, None));
    assert_eq!(
        (values("gf"), values("hi"), values("")),
        (Some(vec![40.0, 80.0]), None, Some(vec![]))
    );
    assert_eq!(metric.of(&run), Some(40.0));
    assert_eq!(Metric::of_run("end_s", &run), Some(100.0));
    assert_eq!(Metric::of_run("srtt_ms", &run), None);
}

/// A flow without a deadline has no late messages.
#[test]
fn parts_to_which_a_field_does_not_apply_are_left_out_of_a_mean() {
    let mut run = crate::claims::fixtures::run("e", "p", 1, 2.0);
    let with = run.flows[0].clone();
    run.flows.push(windlass_sim::FlowResult { name: "g".into(), messages: None, ..with });
    run.flows[0].messages = Some(MessageResult { sent: 8, late: 2, ..Default::default() }.into());
    let metric = Metric::parse("flow.f.messages_late").unwrap();
    assert_eq!(metric.values(&run, |_| true), Some(vec![2.0]));
    assert_eq!(metric.mean(&run, |_| true), Some(2.0));
}

/// Compares with the definition: a star takes no letter, or the first letter and itself.
#[test]
fn patterns_match_as_their_definition_says() {
    fn defined(pattern: &[u8], text: &[u8]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, _) => text.is_empty(),
            (Some((b'*', rest)), None) => defined(rest, text),
            (Some((b'*', rest)), Some((_, more))) => defined(rest, text) || defined(pattern, more),
            (Some((a, rest)), Some((b, more))) => a == b && defined(rest, more),
            (Some(_), None) => false,
        }
    }
    let words = |letters: &'static str, longest: usize| {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..longest {
            last =
                last.iter().flat_map(|w| letters.chars().map(move |c| format!("{w}{c}"))).collect();
            all.extend(last.clone());
        }
        all
    };
    let texts = words("ab", 5);
    for pattern in words("ab*", 5) {
        for text in &texts {
            let expected = defined(pattern.as_bytes(), text.as_bytes());
            assert_eq!(matches(&pattern, text), expected, "{pattern} {text}");
        }
    }
}
