use super::*;
use crate::claims::At;
use crate::claims::fixtures::run;

fn metric(field: &str, at: &str) -> Quantity {
    Quantity::Metric(At { path: format!("flow.f.{field}"), at: at.to_owned() })
}

fn time(point: &str) -> Quantity {
    metric("completion_s", &format!("e/{point}"))
}

/// The point `a` has the seeds 1 to 3, `b` the seeds 2 to 4, and `far` the seed 9.
fn records() -> Vec<RunRecord> {
    let points: [(&str, &[(u64, f64)]); 4] = [
        ("a", &[(1, 2.0), (2, 3.0), (3, 10.0)]),
        ("b", &[(2, 4.0), (3, 5.0), (4, 8.0)]),
        ("far", &[(9, 1.0)]),
        ("late", &[(2, f64::INFINITY), (3, 1.0)]),
    ];
    let mut all = vec![run("other", "a", 1, 77.0), run("other", "b", 5, 77.0)];
    for (point, runs) in points {
        all.extend(runs.iter().map(|(seed, s)| run("e", point, *seed, *s)));
    }
    for record in all.iter_mut().filter(|r| r.point == "late" && r.seed == 2) {
        record.flows[0].srtt_ms = None;
    }
    for seed in 1..=6 {
        all.push(RunRecord { seed, ..run("e", "fixed", 1, 7.0) });
    }
    all
}

fn value(quantity: &Quantity) -> Result<Value, Missing> {
    let (records, models) = (records(), BTreeMap::from([("eq".to_owned(), 4.5)]));
    let traces = BTreeMap::from([
        ("dup".to_owned(), Value::Exact { value: 3.0, n: 2 }),
        ("why".to_owned(), Value::Missing("The trace ends early.".to_owned())),
    ]);
    let least = LeastEffect::default();
    let evidence = Evidence {
        records: &records,
        models: &models,
        traces: &traces,
        least: &least,
        planned: None,
    };
    evidence.value(quantity)
}

fn runs<const N: usize>(all: [(u64, f64); N]) -> Result<Value, Missing> {
    Ok(Value::Runs(all.into()))
}

fn missing(verdict: Verdict, note: &str) -> Result<Value, Missing> {
    Err((verdict, note.to_owned()))
}

type Operation = fn(Vec<Quantity>) -> Quantity;

fn two(all: Vec<Quantity>) -> Box<[Quantity; 2]> {
    Box::new(all.try_into().expect("two operands"))
}

const TWO: [Operation; 3] = [
    |all| Quantity::Difference(two(all)),
    |all| Quantity::Ratio(two(all)),
    |all| Quantity::PercentChange(two(all)),
];
const SEVERAL: [Operation; 6] = [
    Quantity::Sum,
    Quantity::Mean,
    Quantity::Median,
    Quantity::Largest,
    Quantity::Least,
    Quantity::Trend,
];

#[test]
fn operations_are_done_run_by_run_on_the_common_seeds() {
    let of = |operation: &Operation, all: &[Quantity]| value(&operation(all.to_vec()));
    let all = [time("a"), time("b")];
    assert_eq!(value(&all[0]), runs([(1, 2.0), (2, 3.0), (3, 10.0)]));
    let expected = [(-1.0, 5.0), (0.75, 2.0), (-25.0, 100.0)];
    for (operation, (second, third)) in TWO.iter().zip(expected) {
        assert_eq!(of(operation, &all), runs([(2, second), (3, third)]));
    }
    // The number applies to each run; of 3, 4, 4.5 and of 10, 5, 4.5.
    let all = [time("a"), time("b"), Quantity::Constant(4.5)];
    let expected =
        [(11.5, 19.5), (11.5 / 3.0, 6.5), (4.0, 5.0), (4.5, 10.0), (3.0, 4.5), (1.0, -1.0)];
    for (operation, (second, third)) in SEVERAL.iter().zip(expected) {
        assert_eq!(of(operation, &all), runs([(2, second), (3, third)]));
    }
    let difference = TWO[0](all[..2].to_vec());
    assert_eq!(value(&Quantity::Abs(Box::new(difference))), runs([(2, 1.0), (3, 5.0)]));
    let few = [time("a"), time("far")];
    for operation in TWO.iter().chain(&SEVERAL) {
        let note = "The points have no seed in common.";
        assert_eq!(of(operation, &few), missing(Verdict::NotRun, note));
    }
}

#[test]
fn operations_on_exact_values_are_exact() {
    let all = [Quantity::Trace("dup".into()), Quantity::Constant(4.0), time("fixed")];
    let exact = |value: f64, n: u64| Ok(Value::Exact { value, n });
    let of = |operation: &Operation, all: &[Quantity]| value(&operation(all.to_vec()));
    for (operation, expected) in TWO.iter().zip([-1.0, 0.75, -25.0]) {
        assert_eq!(of(operation, &all[..2]), exact(expected, 2));
    }
    for (operation, expected) in SEVERAL.iter().zip([14.0, 14.0 / 3.0, 4.0, 7.0, 3.0, 1.0]) {
        assert_eq!(of(operation, &all), exact(expected, 6));
    }
    assert_eq!(value(&Quantity::Abs(Box::new(Quantity::Constant(-4.0)))), exact(4.0, 0));
    assert_eq!(value(&Quantity::Model("eq".into())), exact(4.5, 0));
    // An exact value on either side of runs.
    let mixed = [time("fixed"), time("a")];
    assert_eq!(of(&TWO[0], &mixed), runs([(1, 5.0), (2, 4.0), (3, -3.0)]));
    let mixed = [time("a"), time("fixed")];
    assert_eq!(of(&TWO[0], &mixed), runs([(1, -5.0), (2, -4.0), (3, 3.0)]));
}

#[test]
fn a_quotient_of_equal_finite_values_is_1_even_of_zeros() {
    let of = |a: f64, b: f64| {
        let pair = vec![Quantity::Constant(a), Quantity::Constant(b)];
        [1, 2].map(|i: usize| match value(&TWO[i](pair.clone())) {
            Ok(Value::Exact { value, .. }) => value,
            other => panic!("{other:?}"),
        })
    };
    let never = f64::INFINITY;
    assert_eq!(of(0.0, 0.0), [1.0, 0.0]);
    assert_eq!(of(3.0, 3.0), [1.0, 0.0]);
    assert_eq!(of(3.0, 0.0), [never, never]);
    assert_eq!(of(0.0, 4.0), [0.0, -100.0]);
    assert_eq!(of(5.0, -4.0), [-1.25, -225.0]);
    assert!(of(never, never).iter().all(|v| v.is_nan()));
    assert_eq!(of(3.0, never)[0], 0.0);
}

#[test]
fn a_missing_value_has_a_reason() {
    let unknown = |note: &str| missing(Verdict::NotComparable, note);
    assert_eq!(value(&time("none")), unknown("No runs of e/none found."));
    assert_eq!(value(&metric("completion_s", "a")), unknown("No runs of a/ found."));
    let of_h = Quantity::Metric(At { path: "flow.h.srtt_ms".into(), at: "e/a".into() });
    assert_eq!(value(&of_h), unknown("No run of e/a has this metric."));
    assert_eq!(value(&Quantity::Model("x".into())), unknown("Closed form `x` not found."));
    assert_eq!(value(&Quantity::Measure("x".into())), unknown("Measure `x` not found."));
    assert_eq!(value(&Quantity::Trace("x".into())), unknown("No traced run yields `x`."));
    assert_eq!(
        value(&Quantity::Trace("why".into())),
        unknown("No traced run yields `why`: The trace ends early.")
    );
    let (verdict, note) = value(&metric("tiem", "e/a")).unwrap_err();
    assert_eq!(verdict, Verdict::NotComparable);
    assert!(note.starts_with("metric `flow.f.tiem` ends in an unknown field"), "{note}");
    // A run without a value counts as the worst value.
    assert_eq!(value(&time("late")), runs([(2, f64::INFINITY), (3, 1.0)]));
    assert_eq!(value(&metric("srtt_ms", "e/late")), runs([(2, f64::INFINITY), (3, 40.0)]));
}

#[test]
fn a_missing_value_has_no_runs_and_combines_with_none() {
    let gone = Value::Missing("Gone.".to_owned());
    assert_eq!((gone.n(), gone.at(1), gone.values()), (0, None, Vec::new()));
    let one = Value::exact(1.0);
    for pair in [[&gone, &one], [&one, &gone], [&gone, &gone]] {
        assert_eq!(pair[0].combine(pair[1], |a, _| a), missing(Verdict::NotComparable, "Gone."));
    }
    let several = Value::Runs([(3, 5.0), (4, 6.0)].into());
    assert_eq!((several.n(), several.at(4), several.at(5)), (2, Some(6.0), None));
    assert_eq!(several.values(), [5.0, 6.0]);
    assert_eq!((one.n(), one.at(99), one.values()), (0, Some(1.0), vec![1.0]));
}

/// Six runs that differ at most in their seed are one value. Five may have missed a rare loss.
#[test]
fn six_equal_runs_are_without_chance() {
    let equal = |n: u64| -> Vec<RunRecord> {
        (1..=n).map(|seed| RunRecord { seed, ..run("e", "p", 1, 7.0) }).collect()
    };
    let of = |records: &[RunRecord]| without_chance(&records.iter().collect::<Vec<_>>());
    assert_eq!([0, 1, 5, 6, 7].map(|n| of(&equal(n))), [false, false, false, true, true]);
    let changes: [fn(&mut RunRecord); 4] = [
        |r| r.events += 1,
        |r| r.packet_hops += 1,
        |r| r.flows[0].delivered_bytes += 1,
        |r| r.end_s += 1.0,
    ];
    for (i, change) in changes.into_iter().enumerate() {
        for at in [0, 3, 5] {
            let mut records = equal(6);
            change(&mut records[at]);
            assert!(!of(&records), "{i} {at}");
        }
    }
}

#[test]
fn trend_is_1_if_sorted_and_changes_its_sign_in_reverse() {
    let rows: [&[f64]; 6] = [
        &[1.0, 2.0, 4.0],
        &[1.0, 4.0, 2.0],
        &[1.0, 1.0],
        &[1.0, 1.0, 2.0],
        &[0.0, -1.0],
        &[3.0, 1.0, 2.0],
    ];
    let expected = [1.0, 1.0 / 3.0, 0.0, 2.0 / 3.0, -1.0, -1.0 / 3.0];
    for (row, expected) in rows.into_iter().zip(expected) {
        let reverse: Vec<f64> = row.iter().rev().copied().collect();
        assert!(
            (trend(row) - expected).abs() < 1e-15 && (trend(&reverse) + expected).abs() < 1e-15
        );
    }
}

#[test]
fn median_of_a_row_is_its_middle_value_or_the_mean_of_two() {
    for (row, expected) in [
        (&[5.0][..], 5.0),
        (&[5.0, 1.0], 3.0),
        (&[9.0, 1.0, 5.0], 5.0),
        (&[9.0, 1.0, 5.0, 7.0], 6.0),
        (&[9.0, 1.0, 5.0, 7.0, -2.0], 5.0),
    ] {
        assert_eq!(median(row), expected);
    }
    assert!(median(&[]).is_nan() && extreme(&[], f64::max).is_nan());
}

#[test]
fn median_extreme_and_trend_of_a_row() {
    let rows = [[3.0, 1.0, 2.0, 8.0], [5.0, 5.0, 5.0, 5.0]];
    assert_eq!(rows.map(|row| median(&row)), [2.5, 5.0]);
    assert_eq!(rows.map(|row| extreme(&row, f64::max)), [8.0, 5.0]);
    assert_eq!(rows.map(|row| trend(&row)), [(4.0 - 2.0) / 6.0, 0.0]);
    assert!(median(&[1.0, f64::NAN]).is_nan());
}
