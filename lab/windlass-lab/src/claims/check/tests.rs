//! The last value that a check accepts, the first that it does not, and the whole message.

use super::Wrong;
use crate::claims::{Claim, LeastEffect, parse, parse_every};
use crate::experiment::FileError;
use crate::template::Vars;
use std::collections::BTreeMap;

const TIME: &str = "{ metric = { path = 'flow.f.completion_s', at = 'e/p' } }";
const RATE: &str = "{ metric = { path = 'flow.f.goodput_bps', at = 'e/p' } }";
const COUNT: &str = "{ metric = { path = 'flow.f.rto_count', at = 'e/p' } }";
const SIZE: &str = "tolerance = { absolute = 0.5, reason = 'r' }";

/// A claim in seconds whose lines from the sixth on are given.
fn claim(lines: &str) -> String {
    format!("[[claim]]\nid = 'a'\nsource = 'T'\nquantity = 'q'\nunit = 's'\n{lines}\n")
}

/// An error as `LINE KEY: message` with the key at its place, or as `LINE:COLUMN: message` where no key is.
fn shown(text: &str, error: &FileError) -> String {
    let line = text.split('\n').nth(error.line - 1).unwrap_or_default();
    let rest = &line[error.column - 1..];
    let key = rest.split(|c: char| !c.is_alphabetic() && c != '_').next().unwrap_or_default();
    match key {
        "" => format!("{}:{}: {}", error.line, error.column, error.message),
        key => format!("{} {key}: {}", error.line, error.message),
    }
}

/// All errors in a file of claims.
fn errors(text: &str) -> Vec<String> {
    let all = parse_every(text, "f", &Vars::new()).err().unwrap_or_default();
    all.iter().map(|e| shown(text, e)).collect()
}

fn all_are(cases: &[(String, &str)]) {
    for (lines, expected) in cases {
        let found = errors(&claim(lines));
        let expected: Vec<&str> = Some(*expected).filter(|e| !e.is_empty()).into_iter().collect();
        assert_eq!(found, expected, "{lines}");
    }
}

#[test]
fn a_tolerance_is_below_500_percent_and_100_times_its_value() {
    let of = |paper: &str, size: &str| {
        format!("paper = {paper}\nmeasure = {TIME}\ntolerance = {{ {size}, reason = 'r' }}")
    };
    let unclear = "8 tolerance: claim `a` needs either a relative or an absolute tolerance";
    let invalid =
        "8 tolerance: claim `a` has a tolerance that is not a finite number of at least 0";
    let wide = "8 absolute: claim `a` has a tolerance of 100 times its value or more, which accepts any result; narrow it";
    let zero = "8 relative: claim `a` has a relative tolerance, but its value is 0; give an `absolute` tolerance";
    all_are(&[
        (of("2", "relative = 4.99"), ""),
        (
            of("2", "relative = 5"),
            "8 relative: claim `a` has a tolerance of 500 %: `relative` is a fraction below 5, and 0.05 is 5 %",
        ),
        (of("2", "absolute = 199.9"), ""),
        (of("2", "absolute = 200"), wide),
        (of("-2", "absolute = 199.9"), ""),
        (of("-2", "absolute = 200"), wide),
        (of("2", "relative = 0"), ""),
        (of("0", "relative = 0"), ""),
        (of("0", "relative = 1e-9"), zero),
        (of("0", "absolute = 0"), ""),
        (of("0", "absolute = 1e9"), ""),
        (of("2", "absolute = -1e-9"), invalid),
        (of("2", "relative = -1e-9"), invalid),
        (of("2", "absolute = nan"), invalid),
        (of("2", "relative = inf"), invalid),
        (of("2", "relative = 0.1, absolute = 0.1"), unclear),
    ]);
}

#[test]
fn a_smallest_effect_of_a_claim_is_one_finite_number() {
    let of = |size: &str| {
        format!(
            "measure = {TIME}\ndirection = {{ less_than = {{ constant = 2 }} }}\nleast_effect = {{ {size}, reason = 'r' }}"
        )
    };
    all_are(&[
        (of("relative = 0"), ""),
        (of("absolute = 1e9"), ""),
        (of("relative = 4.99"), ""),
        (
            of("relative = 5"),
            "8 relative: claim `a` has a least effect of 500 %: `relative` is a fraction below 5, and 0.05 is 5 %",
        ),
        (
            of("absolute = -1"),
            "8 least_effect: claim `a` has a least effect that is not a finite number of at least 0",
        ),
        (
            of("relative = 0, absolute = 0"),
            "8 least_effect: claim `a` needs either a relative or an absolute least effect",
        ),
    ]);
}

#[test]
fn a_smallest_effect_of_a_paper_is_finite_and_has_a_reason() {
    let of = |relative: f64, absolute: f64, reason: &str| {
        let absolute = BTreeMap::from([("s".to_owned(), absolute)]);
        LeastEffect { relative, absolute, reason: reason.to_owned() }.check().err()
    };
    assert_eq!(of(0.0, 0.0, "r"), None);
    assert_eq!(of(4.99, 1e9, "r"), None);
    let finite = Some("`least_effect` needs finite numbers of at least 0".to_owned());
    for [relative, absolute] in [[-0.1, 1.0], [0.1, -1.0], [f64::NAN, 1.0], [0.1, f64::INFINITY]] {
        assert_eq!(of(relative, absolute, "r"), finite, "{relative} {absolute}");
    }
    assert_eq!(
        of(0.1, 1.0, " ").unwrap(),
        "`least_effect` has an empty `reason`; give the reason for this size"
    );
    assert_eq!(
        of(5.0, 1.0, "r").unwrap(),
        "`least_effect` is of 500 %: `relative` is a fraction below 5, and 0.05 is 5 %"
    );
}

#[test]
fn every_text_of_a_claim_has_printable_characters() {
    let whole = claim(&format!(
        "paper = 2\ncompare_with = {{ value = 1, reason = 'c' }}\nmeasure = {TIME}\n{SIZE}\n\
         least_effect = {{ relative = 0.1, reason = 'l' }}\nstatement = 'S'"
    ));
    assert_eq!(errors(&whole), [""; 0]);
    for (old, new, expected) in [
        ("'a'", "''", "2 id: claim `` needs an `id` of printable characters"),
        ("'a'", "\"a\\tb\"", "2 id: claim `a\tb` needs an `id` of printable characters"),
        ("'T'", "''", "3 source: claim `a` has an empty `source`; write it, in words"),
        ("'q'", "' '", "4 quantity: claim `a` has an empty `quantity`; write it, in words"),
        ("'S'", "''", "11 statement: claim `a` has an empty `statement`; write it, in words"),
        ("'c'", "' '", "7 reason: claim `a` has an empty `reason`; give the reason for this size"),
        ("'r'", "''", "9 reason: claim `a` has an empty `reason`; give the reason for this size"),
        ("'l'", "''", "10 reason: claim `a` has an empty `reason`; give the reason for this size"),
    ] {
        assert_eq!(errors(&whole.replacen(old, new, 1)), [expected]);
    }
}

#[test]
fn sides_and_corrections_need_the_values_that_they_explain() {
    let order = format!("measure = {TIME}\ndirection = {{ less_than = {COUNT} }}");
    let order =
        order.replace("'flow.f.rto_count', at = 'e/p'", "'flow.f.completion_s', at = 'e/q'");
    let sides = "sides = { names = ['x', 'y'] }";
    let size = format!("measure = {TIME}\n{SIZE}");
    all_are(&[
        (order.clone(), ""),
        (format!("{order}\n{sides}"), ""),
        (
            format!("paper = 2\n{size}\n{sides}"),
            "9 sides: claim `a` has words for the sides of a comparison, but compares no two measures of runs; leave `sides` out",
        ),
        (format!("paper = 2\ncompare_with = {{ value = 3, reason = 'r' }}\n{size}"), ""),
        (
            format!("{order}\ncompare_with = {{ value = 3, reason = 'r' }}"),
            "8 compare_with: claim `a` has `compare_with` but no `paper`, the printed value that it replaces",
        ),
        (
            format!("paper = 2\n{size}\ncompare_with = {{ value = -inf, reason = 'r' }}")
                .replace(SIZE, "direction = { less_than = { constant = 2 } }"),
            "9 value: claim `a` has a value that is not a finite number",
        ),
        (size, "7 tolerance: claim `a` has a tolerance but no `paper` value to compare with"),
    ]);
}

#[test]
fn units_of_measure_baseline_and_claim_agree() {
    let of = |measure: &str, baseline: &str| {
        format!("measure = {measure}\ndirection = {{ greater_than = {baseline} }}")
    };
    let mixed = "combines `s` and `1`; convert one of them by a `ratio` with a `constant`";
    let (ten, sum) = ("{ constant = 10 }", format!("{{ sum = [{TIME}, {COUNT}] }}"));
    all_are(&[
        (of(TIME, ten), ""),
        (of(COUNT, ten), ""),
        (of(ten, TIME), ""),
        (of(TIME, &TIME.replace("e/p", "e/q")), ""),
        (
            of(TIME, COUNT),
            "7 greater_than: claim `a` is measured in `s` and compared with a measure in `1`",
        ),
        (
            of(COUNT, TIME),
            "7 greater_than: claim `a` is measured in `1` and compared with a measure in `s`",
        ),
        (
            of(RATE, ten),
            "5 unit: claim `a` is in `s` and its metric in `bit/s`; convert the metric by a `ratio` with a `constant`",
        ),
        (of(&sum, ten), &format!("6 measure: claim `a` {mixed}")),
        (of(TIME, &sum), &format!("7 greater_than: claim `a` {mixed}")),
        (of(&format!("{{ abs = {sum} }}"), ten), &format!("6 abs: claim `a` {mixed}")),
    ]);
}

#[test]
fn a_measure_is_not_compared_with_itself() {
    let of = |measure: &str, baseline: &str| {
        format!("measure = {measure}\ndirection = {{ less_than = {baseline} }}")
    };
    let twice = |key: &str| format!("{{ {key} = [{TIME}, {TIME}] }}");
    all_are(&[
        (of(TIME, TIME), "7 less_than: claim `a` compares its measure with itself"),
        (
            of("{ constant = 1 }", &twice("difference")),
            "7:102: claim `a` takes the `difference` of a measure and itself",
        ),
        (
            of(&twice("percent_change"), "{ constant = 1 }"),
            "6:90: claim `a` takes the `percent_change` of a measure and itself",
        ),
        // Claims without a criterion only show their measure.
        (format!("measure = {}\nnot_comparable = 'n'", twice("difference")), ""),
        (of(&twice("sum"), "{ constant = 1 }"), ""),
    ]);
}

#[test]
fn a_claim_has_one_kind_of_criterion_and_the_basis_of_its_measure() {
    let of = |measure: &str, kind: &str| {
        format!(
            "measure = {measure}\ndirection = {{ less_than = {{ constant = 9 }} }}\nkind = '{kind}'"
        )
    };
    let (model, trace) = ("{ model = 'm' }", "{ trace = 't' }");
    let unread = "8 kind: claim `a` reads no run, so that it is not `measured`; leave `kind` out";
    let read = "8 kind: claim `a` reads runs, so that it is not `arithmetic`; leave `kind` out";
    all_are(&[
        (of(TIME, "measured"), ""),
        (of(trace, "measured"), ""),
        (of(model, "measured"), unread),
        (of(model, "arithmetic"), ""),
        (of(TIME, "arithmetic"), read),
        (of(trace, "arithmetic"), read),
        (of(TIME, "given"), ""),
        (of(model, "given"), ""),
        ("kind = 'measured'\nnot_comparable = 'n'".into(), ""),
        (format!("measure = {TIME}\nnot_comparable = 'n'"), ""),
        (
            format!("{}\nnot_comparable = 'n'", of(TIME, "given")),
            "9 not_comparable: claim `a` is `not_comparable` and has a criterion; keep one",
        ),
        (
            format!("measure = {TIME}"),
            "1:1: claim `a` needs a `tolerance`, a `direction` or `not_comparable`",
        ),
        ("direction = { less_than = { constant = 9 } }".into(), "1:1: claim `a` needs a `measure`"),
    ]);
    // A fault without a place is at its own claim.
    let two = format!("{}{}", claim(&of(TIME, "given")), claim(SIZE).replace("'a'", "'b'"));
    assert_eq!(
        errors(&two),
        [
            "9:1: claim `b` needs a `measure`",
            "14 tolerance: claim `b` has a tolerance but no `paper` value to compare with"
        ]
    );
}

#[test]
fn operations_have_operands_and_constants_are_finite() {
    let of = |measure: &str| {
        format!("measure = {{ {measure} }}\ndirection = {{ less_than = {{ constant = 9 }} }}")
    };
    let at =
        |place: &str| of(&format!("metric = {{ path = 'flow.f.completion_s', at = '{place}' }}"));
    all_are(&[
        (of("trend = [{ constant = 1 }, { constant = 2 }]"), ""),
        (
            of("trend = [{ constant = 1 }]"),
            "6 trend: claim `a` takes the `trend` of 1 measure; it needs 2 or more",
        ),
        (of("trend = []"), "6 trend: claim `a` takes the `trend` of nothing; it needs 2 or more"),
        (of("sum = [{ constant = 1 }]"), ""),
        (of("sum = []"), "6 sum: claim `a` takes the `sum` of nothing; it needs 1 or more"),
        (
            of("abs = { constant = nan }"),
            "6 constant: claim `a` has a constant that is not a finite number",
        ),
        (at("e/"), ""),
        (at("e"), "6 at: claim `a` reads `e`, which must look like experiment/point"),
    ]);
}

/// The messages about values that closed forms give.
fn with_models(lines: &str) -> String {
    let text = claim(lines);
    let claims = parse(&text, "f").unwrap_or_else(|e| panic!("{e}"));
    let models = BTreeMap::from([
        ("eq".to_owned(), 45.662),
        ("less".to_owned(), -45.662),
        ("zero".to_owned(), 0.0),
    ]);
    let told = |wrong: &Wrong| shown(&text, &claims[0].error(&text, "f", wrong));
    claims[0].check_with(&models).iter().map(told).collect::<Vec<_>>().join("\n")
}

#[test]
fn nothing_is_divided_by_an_exact_zero() {
    let of = |key: &str, by: &str| {
        with_models(&format!(
            "measure = {{ {key} = [{TIME}, {{ {by} }}] }}\ndirection = {{ less_than = {{ constant = 9 }} }}"
        ))
    };
    assert_eq!(of("ratio", "constant = 0"), "6:81: claim `a` takes the `ratio` to 0");
    assert_eq!(
        of("percent_change", "model = 'zero'"),
        "6:90: claim `a` takes the `percent_change` to `zero`, which is 0"
    );
    for (key, by) in [
        ("difference", "constant = 0"),
        ("ratio", "constant = 1e-300"),
        ("ratio", "model = 'eq'"),
        ("ratio", "model = 'unknown'"),
        ("ratio", "metric = { path = 'flow.f.rto_count', at = 'e/p' }"),
    ] {
        assert_eq!(of(key, by), "", "{key} {by}");
    }
}

/// A closed form is compared up to the rounding of the printed value: 0.5 % of 45.662 is 0.228.
#[test]
fn the_published_value_has_its_own_direction() {
    let of = |paper: f64, word: &str, baseline: &str| {
        with_models(&format!(
            "paper = {paper}\nmeasure = {TIME}\ndirection = {{ {word} = {{ {baseline} }} }}"
        ))
    };
    for (paper, word, baseline) in [
        (1.001, "greater_than", "constant = 1"),
        (0.999, "less_than", "constant = 1"),
        (45.44, "greater_than", "model = 'eq'"),
        (45.89, "less_than", "model = 'eq'"),
        (-45.89, "greater_than", "model = 'less'"),
        (-45.44, "less_than", "model = 'less'"),
        (0.0, "greater_than", "metric = { path = 'flow.f.completion_s', at = 'e/q' }"),
    ] {
        assert_eq!(of(paper, word, baseline), "", "{paper} {word} {baseline}");
    }
    for (paper, word, baseline, shown) in [
        (1.0, "greater_than", "constant = 1", "1, which is not greater than 1"),
        (1.0, "less_than", "constant = 1", "1, which is not less than 1"),
        (45.43, "greater_than", "model = 'eq'", "45.43, which is not greater than 45.662"),
        (45.9, "less_than", "model = 'eq'", "45.9, which is not less than 45.662"),
        (-45.9, "greater_than", "model = 'less'", "-45.9, which is not greater than -45.662"),
        (-45.43, "less_than", "model = 'less'", "-45.43, which is not less than -45.662"),
        (0.0, "greater_than", "model = 'zero'", "0, which is not greater than 0"),
        (0.0, "less_than", "model = 'zero'", "0, which is not less than 0"),
    ] {
        let expected = format!(
            "8 {word}: claim `a` has the published value {shown}; reverse the direction, or correct the value"
        );
        assert_eq!(of(paper, word, baseline), expected);
    }
}

#[test]
fn a_message_that_continues_the_name_of_its_claim_has_no_gap() {
    let text = claim(&format!("paper = 2\nmeasure = {TIME}\n{SIZE}"));
    let claim: &Claim = &parse(&text, "f").unwrap()[0];
    let of = |path: &str, message: &str| {
        shown(&text, &claim.error(&text, "f", &Wrong::new(path, message)))
    };
    assert_eq!(of("paper", "is odd"), "6 paper: claim `a` is odd");
    assert_eq!(of("", ": odd"), "1:1: claim `a`: odd");
}
