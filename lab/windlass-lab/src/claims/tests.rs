//! Parts of a claim and their meaning.

use super::*;

const TIME: &str = "{ metric = { path = 'flow.f.completion_s', at = 'e/p' } }";

/// A claim in seconds with the rest of its lines.
fn claim(rest: &str) -> Claim {
    let text = format!("[[claim]]\nid='c'\nsource='s'\nquantity='q'\nunit='s'\n{rest}");
    parse(&text, "f").unwrap_or_else(|e| panic!("{e}")).remove(0)
}

#[test]
fn half_width_of_a_tolerance_is_its_size_or_a_fraction_of_the_value() {
    let of = |relative, absolute| Tolerance { relative, absolute, reason: String::new() };
    for value in [-8.0, 0.0, 0.5, 8.0] {
        assert_eq!(of(Some(0.25), None).about(value), 0.25 * f64::abs(value));
        assert_eq!(of(None, Some(3.0)).about(value), 3.0);
        assert_eq!(of(Some(0.25), Some(3.0)).about(value), 3.0 + 0.25 * f64::abs(value));
    }
}

/// The claim's own size precedes the paper's for its unit, and this the paper's fraction. None exceeds half of the
/// published effect.
#[test]
fn smallest_effect_is_of_the_claim_or_the_unit_or_a_fraction_of_the_baseline() {
    let of = |paper: &str, own: &str, units: &[(&str, f64)], baseline: f64| {
        let order = "direction = { greater_than = { constant = 1 } }";
        let claim = claim(&format!("{paper}\nmeasure = {TIME}\n{order}\n{own}"));
        let absolute = units.iter().map(|(unit, size)| ((*unit).to_owned(), *size)).collect();
        LeastEffect { relative: 0.1, absolute, reason: "r".into() }.of(&claim, baseline)
    };
    let own = "least_effect = { relative = 0.5, reason = 'r' }";
    let [seconds, others] = [[("s", 3.0)], [("ms", 3.0)]];
    assert_eq!(of("", own, &seconds, 40.0), 20.0);
    assert_eq!(of("", "", &seconds, 40.0), 3.0);
    assert_eq!(of("", "", &others, 40.0), 4.0);
    assert_eq!(of("", "", &[], -40.0), 4.0);
    for (paper, least) in [(48.1, 4.0), (47.0, 3.5), (33.0, 3.5), (40.0, 0.0)] {
        assert_eq!(of(&format!("paper = {paper:?}"), "", &[], 40.0), least, "{paper}");
    }
    assert_eq!(of("paper = 47", own, &seconds, 40.0), 3.5);
    assert_eq!(
        of("paper = 99\ncompare_with = { value = 44, reason = 'r' }", "", &seconds, 40.0),
        2.0
    );
    assert_eq!(of("", "", &[], f64::INFINITY), 0.0);
}

#[test]
fn a_claim_has_the_basis_of_its_measure_unless_it_gives_another() {
    let order = |measure: &str, baseline: &str| {
        format!("measure = {measure}\ndirection = {{ less_than = {baseline} }}")
    };
    let (one, model, trace) = ("{ constant = 1 }", "{ model = 'm' }", "{ trace = 't' }");
    use Basis::{Arithmetic, Given, Measured};
    for (rest, basis, decided) in [
        (order(TIME, one), Measured, true),
        (order(trace, one), Measured, true),
        (order(model, TIME), Measured, true),
        (order(&format!("{{ abs = {TIME} }}"), one), Measured, true),
        (order(model, one), Arithmetic, false),
        (order(TIME, one) + "\nkind = 'given'", Given, false),
        (order(model, one) + "\nkind = 'given'", Given, false),
        (format!("measure = {TIME}\nnot_comparable = 'n'"), Measured, false),
        (format!("measure = {model}\nnot_comparable = 'n'"), Arithmetic, false),
        ("not_comparable = 'n'".into(), Measured, false),
        (
            format!("paper = 1\nmeasure = {TIME}\ntolerance = {{ absolute = 1, reason = 'r' }}"),
            Measured,
            true,
        ),
    ] {
        let claim = claim(&rest);
        assert_eq!((claim.basis(), claim.is_decided_by_runs()), (basis, decided), "{rest}");
    }
    assert_eq!(Basis::ALL.map(Basis::name), ["measured", "arithmetic", "given"]);
    for basis in Basis::ALL {
        assert_eq!(serde_json::to_value(basis).unwrap(), basis.name());
    }
}

#[test]
fn quantities_of_a_claim_have_their_paths() {
    let all = claim(&format!(
        "measure = {{ ratio = [{{ abs = {TIME} }}, {{ sum = [{{ constant = 1 }}, {{ model = 'm' }}] }}] }}\n\
         direction = {{ less_than = {{ largest = [{{ trace = 't' }}] }} }}"
    ));
    let placed: Vec<(String, &str)> =
        all.placed_quantities().into_iter().map(|(path, q)| (path, q.key())).collect();
    let expected = [
        ("measure", "ratio"),
        ("measure.ratio.0", "abs"),
        ("measure.ratio.0.abs", "metric"),
        ("measure.ratio.1", "sum"),
        ("measure.ratio.1.sum.0", "constant"),
        ("measure.ratio.1.sum.1", "model"),
        ("direction.less_than", "largest"),
        ("direction.less_than.largest.0", "trace"),
    ];
    assert_eq!(placed, expected.map(|(path, key)| (path.to_owned(), key)));
    let keys: Vec<&str> = all.quantities().into_iter().map(Quantity::key).collect();
    assert_eq!(keys, expected.map(|(_, key)| key));
    let order =
        claim(&format!("measure = {TIME}\ndirection = {{ greater_than = {{ constant = 1 }} }}"));
    assert_eq!(order.direction.as_ref().map(Direction::path), Some("direction.greater_than"));
    assert_eq!(order.direction.as_ref().unwrap().baseline(), &Quantity::Constant(1.0));
}

/// A median of n runs is decided at a level of 2⁻ⁿ or more. Holm's first level is 5 % divided by the number of statements.
#[test]
fn runs_of_a_family_grow_with_its_statements_only() {
    let order = format!("measure = {TIME}\ndirection = {{ less_than = {{ constant = 1 }} }}");
    let several = |n: usize, rest: &str| -> Vec<Claim> {
        (0..n).map(|k| Claim { id: k.to_string(), ..claim(&format!("{order}\n{rest}")) }).collect()
    };
    for (statements, runs) in [(0, 6), (1, 6), (3, 6), (4, 7), (6, 7), (7, 8), (13, 9), (100, 11)] {
        assert_eq!(family(&several(statements, "")), (statements, runs));
    }
    assert_eq!(family(&several(100, "statement = 'one'")), (1, 6));
    assert_eq!(family(&several(100, "kind = 'given'")), (0, 6));
}

#[test]
fn a_claim_is_looked_up_by_its_id() {
    let order = format!("measure = {TIME}\ndirection = {{ less_than = {{ constant = 1 }} }}");
    let named = |id: &str| Claim { id: id.to_owned(), ..claim(&order) };
    let all = [named("table1"), named("fig2")];
    assert_eq!(look_up(&all, "fig2").unwrap(), &all[1]);
    assert_eq!(look_up(&all, "fig3").unwrap_err(), "claim `fig3` not found; did you mean `fig2`?");
    assert_eq!(all.each_ref().map(|c| c.statement()), ["table1", "fig2"]);
    assert_eq!(claim(&format!("{order}\nstatement = 'S'")).statement(), "S");
}

#[test]
fn a_claim_without_its_place_equals_the_same_claim_elsewhere() {
    let body = format!("measure = {TIME}\ndirection = {{ less_than = {{ constant = 1 }} }}");
    let text = |before: &str| {
        format!("{before}[[claim]]\nid='c'\nsource='s'\nquantity='q'\nunit='s'\n{body}")
    };
    let [a, b] = ["", "# A remark.\n"].map(|before| parse(&text(before), "f").unwrap().remove(0));
    assert_ne!(a, b);
    assert_eq!(a.without_place(), b.without_place());
    assert_eq!(a.without_place().span, 0..0);
}
