use super::*;
use crate::claims::fixtures::run;
use crate::claims::{LeastEffect, parse};
use std::collections::BTreeMap;

fn metric(path: &str, at: &str) -> String {
    format!("{{ metric = {{ path = '{path}', at = '{at}' }} }}")
}

/// Completion time at a point.
fn time(point: &str) -> String {
    metric("flow.f.completion_s", &format!("e/{point}"))
}

fn pair(key: &str, a: &str, b: &str) -> String {
    format!("{{ {key} = [{a}, {b}] }}")
}

fn order(measure: &str, baseline: &str) -> String {
    format!("measure = {measure}\ndirection = {{ less_than = {baseline} }}")
}

fn claim(rest: &str) -> Claim {
    let text = format!("[[claim]]\nid='c'\nsource='s'\nquantity='q'\nunit='s'\n{rest}");
    parse(&text, "f").unwrap_or_else(|e| panic!("{e}")).remove(0)
}

#[test]
fn the_name_of_a_side_has_the_parts_that_the_other_side_lacks() {
    assert_eq!(parts("cwnd_max.p = 0.1%"), ["cwnd_max", "p = 0.1%"]);
    assert_eq!(parts("fig14.icc-tcp.largest"), ["fig14", "icc-tcp", "largest"]);
}

/// The points of two sides, such as `x y`; empty without sides.
fn points(sides: Option<[&Quantity; 2]>) -> String {
    let point = |q: &Quantity| match q {
        Quantity::Metric(at) => at.place().unwrap().1.to_owned(),
        other => other.key().to_owned(),
    };
    sides.map_or(String::new(), |all| all.map(point).join(" "))
}

#[test]
fn sides_are_the_compared_quantities_and_rivals_if_equality_contradicts() {
    let [x, y, z] = ["x", "y", "z"].map(time);
    let number = |v: f64| format!("{{ constant = {v:?} }}");
    let model = "{ model = 'm' }";
    let size = "paper = 1\ntolerance = { absolute = 1, reason = 'r' }";
    for (rest, sides_are, rivals_are) in [
        (order(&x, &y), "x y", "x y"),
        (order(&x, &pair("sum", &y, &z)), "x sum", "x sum"),
        (order(&pair("difference", &x, &y), &z), "difference z", "difference z"),
        (order(&x, &number(0.0)), "", ""),
        (order(&x, model), "", ""),
        (order(&number(3.0), &x), "", ""),
        (order(model, &x), "", ""),
        (order(&pair("difference", &x, &y), &number(0.0)), "x y", "x y"),
        (order(&pair("difference", &x, &y), &number(1.0)), "x y", ""),
        (order(&pair("percent_change", &x, &y), &number(0.0)), "x y", "x y"),
        (order(&pair("percent_change", &x, &y), &number(1.0)), "x y", ""),
        (order(&pair("ratio", &x, &y), &number(1.0)), "x y", "x y"),
        (order(&pair("ratio", &x, &y), &number(0.0)), "x y", ""),
        (order(&pair("ratio", &x, &y), model), "x y", ""),
        (order(&pair("difference", &x, &y), model), "x y", ""),
        (order(&pair("ratio", &x, &number(8.0)), &number(1.0)), "", ""),
        (order(&pair("ratio", model, &x), &number(1.0)), "", ""),
        (order(&pair("sum", &x, &y), &number(0.0)), "", ""),
        (format!("{size}\nmeasure = {}", pair("ratio", &x, &y)), "x y", ""),
        (format!("{size}\nmeasure = {x}"), "", ""),
        ("not_comparable = 'n'".to_owned(), "", ""),
    ] {
        let claim = claim(&rest);
        assert_eq!(
            [points(sides(&claim)), points(rivals(&claim))],
            [sides_are, rivals_are],
            "{rest}"
        );
    }
}

/// Three runs at each point: completion times of 1, 2 and 6 s after a begin that differs by point.
fn records() -> Vec<RunRecord> {
    let begins = [("a=1,b=1", 10.0), ("a=1,b=2", 20.0), ("a=2,b=2", 30.0), ("a=1", 40.0)];
    let mut all = Vec::new();
    for (seed, s) in [(1, 1.0), (2, 2.0), (3, 6.0)] {
        for (point, begin) in begins {
            let mut record = run("e", point, seed, begin + s);
            let mut other = record.flows[0].clone();
            (other.name, other.completion_s) = ("g".into(), Some(50.0 + s));
            record.flows.push(other);
            all.push(record);
        }
        all.push(run("e", "late", seed, if seed == 1 { 1.0 } else { f64::INFINITY }));
        all.push(run("e", "part", seed + 1, 60.0 + s));
    }
    all
}

/// The sides of a claim as `NAME VALUE UNIT`.
fn shown(rest: &str) -> Vec<String> {
    let (records, models) = (records(), BTreeMap::new());
    let traces = BTreeMap::from([
        ("peak.x = 0.5".to_owned(), Value::exact(4.0)),
        ("peak.y".to_owned(), Value::exact(5.0)),
        ("nan".to_owned(), Value::exact(f64::NAN)),
    ]);
    let least = LeastEffect::default();
    let evidence = Evidence {
        records: &records,
        models: &models,
        traces: &traces,
        least: &least,
        planned: None,
    };
    let line = |s: &Side| format!("{} {} {}", s.name, s.value, s.unit).trim_end().to_owned();
    told(&claim(rest), &evidence).iter().map(line).collect()
}

#[test]
fn a_side_has_the_name_of_its_difference_and_the_value_of_its_statistic() {
    let [p11, p12, p22] = ["a=1,b=1", "a=1,b=2", "a=2,b=2"].map(time);
    let of_g = metric("flow.g.completion_s", "e/a=1,b=1");
    let both = pair("mean", &p11, &p12);
    let [run_rate, flow_rate] =
        [metric("run.goodput_bps", "e/a=1"), metric("flow.f.goodput_bps", "e/a=1")];
    for (rest, expected) in [
        (order(&p11, &p12), ["b=1 12 s", "b=2 22 s"]),
        (order(&p11, &p22), ["a=1, b=1 12 s", "a=2, b=2 32 s"]),
        (order(&p11, &p12) + "\nstatistic = 'mean'", ["b=1 13 s", "b=2 23 s"]),
        (order(&p11, &of_g), ["f 12 s", "g 52 s"]),
        // Of the coordinates only those that all points of a side share.
        (order(&both, &p22), ["a=1 17 s", "a=2, b=2 32 s"]),
        (order(&pair("ratio", &p11, &p12), "{ constant = 1 }"), ["b=1 12 s", "b=2 22 s"]),
        (order(&p11, &time("part")), ["a=1, b=1 14 s", "part 61.5 s"]),
        (order(&p11, &p12) + "\nsides = { names = ['x', 'y'] }", ["x 12 s", "y 22 s"]),
        (order(&p11, &p12) + "\nsides = { unit = 'min' }", ["b=1 12 min", "b=2 22 min"]),
        (order("{ trace = 'peak.x = 0.5' }", "{ trace = 'peak.y' }"), ["x = 0.5 4 s", "y 5 s"]),
        (
            order(
                &pair("ratio", "{ trace = 'peak.x = 0.5' }", "{ trace = 'peak.y' }"),
                "{ constant = 1 }",
            ),
            ["x = 0.5 4", "y 5"],
        ),
        (
            order(
                &pair(
                    "percent_change",
                    &metric("flow.f.retransmits", "e/a=1"),
                    &metric("flow.f.retransmits", "e/part"),
                ),
                "{ constant = 0 }",
            ),
            ["a=1 2.5", "part 2.5"],
        ),
    ] {
        assert_eq!(shown(&rest), expected, "{rest}");
    }
    // A metric of the whole run has no name of a part.
    let whole =
        order(&pair("ratio", &run_rate, &flow_rate.replace("e/a=1", "e/part")), "{ constant = 1 }");
    let names: Vec<String> = shown(&whole)
        .iter()
        .map(|side| side.rsplit_once(' ').unwrap().0.rsplit_once(' ').unwrap().0.to_owned())
        .collect();
    assert_eq!(names, ["a=1", "f, part"]);
}

#[test]
fn sides_are_shown_only_if_both_have_a_name_and_a_finite_value() {
    let [whole, part] = [time("a=1"), time("a=1,b=1")];
    for rest in [
        // The first point has no coordinate that the other lacks.
        order(&whole, &part),
        order(&time("late"), &whole),
        order(&whole, &time("late")),
        order(&whole, &time("none")),
        order(&whole, "{ trace = 'unknown' }"),
        order(&whole, "{ trace = 'nan' }"),
        order(&whole, "{ constant = 1 }"),
    ] {
        assert_eq!(shown(&rest), [""; 0], "{rest}");
    }
    assert_eq!(
        shown(&(order(&whole, &part) + "\nsides = { names = ['x', 'y'] }")),
        ["x 42 s", "y 12 s"]
    );
    let error = parse(
        &format!(
            "[[claim]]\nid='c'\nsource='s'\nquantity='q'\nunit='s'\n{}\nsides = {{ names = ['x'] }}",
            order(&whole, &part)
        ),
        "f",
    );
    assert!(error.unwrap_err().to_string().contains("expected a list of two values, not of 1"));
}

#[test]
fn median_and_mean_leave_out_values_that_are_not_numbers() {
    let of = |values: &[f64], statistic| {
        let runs = values.iter().copied().enumerate().map(|(seed, v)| (seed as u64, v)).collect();
        median_or_mean(&Value::Runs(runs), statistic)
    };
    let some = [1.0, f64::NAN, 2.0, 6.0];
    assert_eq!(of(&some, Statistic::Median), Some(2.0));
    assert_eq!(of(&some, Statistic::Mean), Some(3.0));
    assert_eq!(of(&[f64::NAN], Statistic::Mean), None);
    assert_eq!(of(&[], Statistic::Median), None);
}

/// Changes of a record, and whether the packets are still the same.
#[test]
fn packets_are_the_same_if_all_results_of_links_and_flows_are() {
    type Change = fn(&mut RunRecord);
    let same: [Change; 4] = [
        |_| (),
        |r| r.flows[0].algorithm = "cubic".into(),
        |r| (r.seed, r.point) = (9, "q".into()),
        |r| r.flows[0].cwnd_bytes += 1,
    ];
    let other: [Change; 12] = [
        |r| r.events += 1,
        |r| r.packet_hops += 1,
        |r| r.end_s += 1.0,
        |r| r.messages = Some(Default::default()),
        |r| r.links[0].drops += 1,
        |r| r.radios[0].busy += 0.1,
        |r| r.flows[0].name = "g".into(),
        |r| r.flows[0].completion_s = None,
        |r| r.flows[0].delivered_bytes += 1,
        |r| r.flows[0].goodput_bps += 1.0,
        |r| r.flows[0].retransmits += 1,
        |r| r.flows.clear(),
    ];
    let first = run("e", "p", 1, 7.0);
    let changed = |change: Change| {
        let mut second = first.clone();
        change(&mut second);
        same_packets(&first, &second)
    };
    assert_eq!(same.map(changed), [true; 4]);
    assert_eq!(other.map(changed), [false; 12]);
}

#[test]
fn identical_runs_are_counted_if_every_pair_has_the_same_packets() {
    let mut records = Vec::new();
    for seed in 1..=3 {
        for point in ["x", "y", "u", "v"] {
            records.push(run("e", point, seed, seed as f64));
            records.push(run("other", point, seed, 99.0));
        }
        records.push(run("e", "part", seed + 1, seed as f64 + 1.0));
        records.push(run("e", "last", seed, if seed == 3 { 8.0 } else { seed as f64 }));
    }
    let of = |a: &str, b: &str| {
        let claim = claim(&order(a, b));
        identical_runs(sides(&claim).unwrap(), &records)
    };
    let [x, y, u, v] = ["x", "y", "u", "v"].map(time);
    let (two, rate) = (pair("sum", &x, &u), metric("flow.f.goodput_bps", "e/y"));
    assert_eq!(of(&x, &y), Some(3));
    assert_eq!(of(&two, &pair("sum", &y, &v)), Some(6));
    for (a, b) in [
        (&x, &time("last")),
        // The run with the seed 1 has no partner.
        (&x, &time("part")),
        (&x, &time("none")),
        (&time("none"), &time("nor")),
        (&two, &y),
        (&x, &pair("sum", &y, &v)),
        // One point on both sides at the same place.
        (&two, &pair("sum", &x, &v)),
        (&"{ trace = 'a' }".to_owned(), &"{ trace = 'b' }".to_owned()),
    ] {
        assert_eq!(of(a, b), None, "{a} {b}");
    }
    let claim = claim(&order(&pair("ratio", &x, &rate), "{ constant = 1 }"));
    assert_eq!(identical_runs(sides(&claim).unwrap(), &records), None);
}
