//! Reading `claims.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::check::Wrong;
use super::{Claim, Direction, Quantity};
use crate::experiment::FileError;
use crate::scenario::what_there_is;
use crate::template::{Placed, Places, Tree, Vars, expanded};

/// Maximum nesting depth of named measures.
const DEEPEST: usize = 12;

/// The tables of the file. Their elements are read one by one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimsFile {
    #[serde(rename = "claim")]
    _claim: Vec<IgnoredAny>,
    #[serde(default, rename = "measure")]
    _measure: Vec<IgnoredAny>,
}

/// A measure that several claims share.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
    is: Quantity,
}

/// Reads the claims of a paper. `file` is the name of the text in errors.
///
/// # Errors
///
/// The first error in the text, with its line and column.
pub fn parse(text: &str, file: &str) -> Result<Vec<Claim>, FileError> {
    parse_every(text, file, &Vars::new()).map_err(|mut errors| errors.swap_remove(0))
}

/// Reads claims as [`parse`] does, with the values `given` for some names of the file's `let` tables.
///
/// # Errors
///
/// An error for each wrong claim.
pub(crate) fn parse_every(
    text: &str,
    file: &str,
    given: &Vars,
) -> Result<Vec<Claim>, Vec<FileError>> {
    let tree = expanded(text, file, given).map_err(|e| vec![e])?;
    let mut found = Found { text, file, errors: tree.errors().to_vec() };
    let named = found.named(&tree);
    let mut claims: Vec<Claim> = Vec::new();
    for Placed { value, span, places } in tree.elements::<Claim>("claim", &mut found.errors) {
        let mut claim = Claim { span, places, ..value };
        let mut wrong = named.put_into(&mut claim);
        if claims.iter().any(|c| c.id == claim.id) {
            wrong.push(Wrong::new("id", "exists already, give it another id"));
        }
        if wrong.is_empty() {
            wrong = claim.check();
        }
        found.errors.extend(wrong.iter().map(|wrong| claim.error(text, file, wrong)));
        claims.push(claim);
    }
    if found.errors.is_empty() {
        tree.whole::<ClaimsFile>()?;
        return Ok(claims);
    }
    Err(FileError::in_order(found.errors))
}

struct Found<'a> {
    text: &'a str,
    file: &'a str,
    errors: Vec<FileError>,
}

/// The named measures, with the places of their values.
struct Measures(BTreeMap<String, (Quantity, Places)>);

impl Found<'_> {
    fn named(&mut self, tree: &Tree) -> Measures {
        let mut named = BTreeMap::new();
        for Placed { value, span, places } in tree.elements::<Named>("measure", &mut self.errors) {
            let Named { name, is } = value;
            if named.contains_key(&name) {
                let message = format!("measure `{name}` exists already, give it another name");
                let span = places.of("name").unwrap_or(span);
                self.errors.push(FileError::at(self.file, self.text, span, message));
            }
            named.insert(name, (is, places));
        }
        Measures(named)
    }
}

impl Measures {
    /// Replaces the names of measures in a claim by the measures.
    fn put_into(&self, claim: &mut Claim) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        let Claim { measure, direction, places, .. } = claim;
        if let Some(measure) = measure {
            wrong.extend(self.put(measure, "measure", places, &mut Vec::new()).err());
        }
        if let Some(direction) = direction {
            let path = direction.path();
            let (Direction::GreaterThan(baseline) | Direction::LessThan(baseline)) = direction;
            wrong.extend(self.put(baseline, path, places, &mut Vec::new()).err());
        }
        wrong
    }

    /// Replaces named measures in a quantity. `within` lists the named measures that contain it.
    fn put(
        &self,
        quantity: &mut Quantity,
        path: &str,
        places: &mut Places,
        within: &mut Vec<String>,
    ) -> Result<(), Wrong> {
        let depth = within.len();
        while let Quantity::Measure(name) = quantity {
            let Some((is, inside)) = self.0.get(name) else {
                let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
                let instead = what_there_is(name, &known);
                let message =
                    format!("reads the measure `{name}`, which is not in this file{instead}");
                return Err(Wrong::new(format!("{path}.measure"), message));
            };
            if within.contains(name) || within.len() == DEEPEST {
                let message = match within.contains(name) {
                    true => format!("reads the measure `{name}`, which reads itself"),
                    false => {
                        format!(
                            "nests named measures more than {DEEPEST} deep; write the measure out"
                        )
                    }
                };
                return Err(Wrong::new(format!("{path}.measure"), message));
            }
            within.push(name.clone());
            places.graft(path, inside, "is");
            *quantity = is.clone();
        }
        let paths: Vec<String> =
            (0..quantity.parts().len()).map(|i| quantity.path_of(path, i)).collect();
        for (part, path) in quantity.parts_mut().iter_mut().zip(&paths) {
            self.put(part, path, places, within)?;
        }
        within.truncate(depth);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Statistic;

    const CLAIM: &str = "[[claim]]\nid = 'a'\nsource = 'T'\nquantity = 'q'\nunit = 's'\npaper = 1.0\n\
        measure = { metric = { path = 'flow.f.completion_s', at = 'e/p' } }\n\
        tolerance = { relative = 0.1, reason = 'r' }\n";

    #[test]
    fn a_claim_reads_back_with_its_quantities() {
        let text = format!(
            "{CLAIM}direction = {{ greater_than = {{ ratio = [{{ constant = 1.0 }}, {{ model = 'm' }}] }} }}"
        );
        let claims = parse(&text, "claims.toml").unwrap();
        assert_eq!(claims[0].quantities().len(), 4);
        assert_eq!(claims[0].statistic, Statistic::Median);
    }

    const METRIC: &str = "metric = { path = 'flow.f.completion_s', at = 'e/p' }";
    const NAMED: &str =
        "[[measure]]\nname = 'b'\nis = { metric = { path = 'flow.f.completion_s', at = 'e/p' } }\n";

    #[test]
    fn a_named_measure_is_replaced_by_its_quantity() {
        let text = format!("{NAMED}{}", CLAIM.replace(METRIC, "abs = { measure = 'b' }"));
        let (named, plain) = (parse(&text, "f").unwrap(), parse(CLAIM, "f").unwrap());
        assert_eq!(named[0].quantities()[1], plain[0].quantities()[0]);
        let wrong = text.replace("completion_s", "completion");
        let said = parse(&wrong, "f").unwrap_err().to_string();
        assert!(said.starts_with("f:3:19: claim `a` metric"), "the measure's own line: {said}");
    }

    #[test]
    fn each_wrong_claim_has_an_error() {
        let text =
            CLAIM.replace("unit", "units") + &CLAIM.replace("'a'", "'b'").replace("e/p", "e");
        let text = text + &CLAIM.replace("'a'", "'{{ c }}'");
        let said = parse_every(&text, "f", &Vars::new()).unwrap_err();
        let places: Vec<(usize, usize)> = said.iter().map(|e| (e.line, e.column)).collect();
        assert_eq!(places, [(5, 1), (15, 54), (18, 6)]);
    }

    #[test]
    fn errors_give_the_claim_the_place_and_the_remedy() {
        let cases = [
            (CLAIM.replace("flow.f.completion_s", "flow.f.time"), "unknown field"),
            (CLAIM.replace("e/p", "e"), "must look like experiment/point"),
            (CLAIM.replace("relative = 0.1", "relative = -0.1"), "finite number of at least 0"),
            (CLAIM.replace("relative = 0.1, ", ""), "either a relative or an absolute"),
            (CLAIM.replace("paper = 1.0\n", ""), "no `paper` value"),
            (CLAIM.replace("tolerance = ", "# "), "needs a `tolerance`, a `direction`"),
            (format!("{CLAIM}not_comparable = 'x'"), "keep one"),
            (CLAIM.replace("measure = ", "# "), "needs a `measure`"),
            (format!("{CLAIM}{CLAIM}"), "10:1: claim `a` exists already"),
            (CLAIM.replace("unit", "units"), "unknown field `units`"),
            (CLAIM.replace("'s'", "'ms'"), "is in `ms` and its metric in `s`"),
            (CLAIM.replace("1.0", "inf"), "has a value that is not a finite number"),
            (CLAIM.replace("'a'", "''"), "needs an `id`"),
            (CLAIM.replace("'T'", "' '"), "3:1: claim `a` has an empty `source`"),
            (CLAIM.replace("'r'", "''"), "8:31: claim `a` has an empty `reason`"),
            (
                CLAIM.replace("measure = {", "measure = { ratio = [{ constant = 8 }, { constant = 2 }, { constant = 2 }] } #"),
                "expected a list of two values, not of 3",
            ),
            (CLAIM.replace(METRIC, "trend = [{ METRIC }]").replace("METRIC", METRIC), "takes the `trend` of 1 measure; it needs 2"),
            (CLAIM.replace(METRIC, "median = []"), "takes the `median` of nothing"),
            (CLAIM.replace("paper = 1.0", "paper = 0"), "8:15: claim `a` has a relative tolerance, but its value is 0"),
            (CLAIM.replace("relative = 0.1", "relative = 10"), "has a tolerance of 1000 %"),
            (CLAIM.replace("relative = 0.1", "absolute = 1e9"), "accepts any result"),
            (CLAIM.replace("paper =", "compare_with = { value = 1.0, reason = 'r' } #"), "but no `paper`, the printed value"),
            (
                CLAIM.replace(METRIC, &format!("difference = [{{ {METRIC} }}, {{ {} }}]", METRIC.replace("completion_s", "goodput_bps"))),
                "7:1: claim `a` combines `s` and `bit/s`",
            ),
            (
                CLAIM.replace(METRIC, &format!("ratio = [{{ {METRIC} }}, {{ {METRIC} }}]")),
                "7:81: claim `a` takes the `ratio` of a measure and itself",
            ),
            (format!("{CLAIM}kind = 'arithmetic'"), "9:1: claim `a` reads runs, so that it is not `arithmetic`"),
            (CLAIM.replace(METRIC, "measure = 'b'"), "7:13: claim `a` reads the measure `b`, which is not in this file; none exists"),
            (
                format!("{NAMED}{}", CLAIM.replace(METRIC, "measure = 'c'")),
                "`c`, which is not in this file; did you mean `b`?",
            ),
            (
                format!("{}{}", NAMED.replace(METRIC, "abs = { measure = 'b' }"), CLAIM.replace(METRIC, "measure = 'b'")),
                "reads the measure `b`, which reads itself",
            ),
            (format!("{NAMED}{NAMED}{CLAIM}"), "5:1: measure `b` exists already"),
        ];
        for (text, expected) in cases {
            let message = parse(&text, "claims.toml").unwrap_err().to_string();
            assert!(message.starts_with("claims.toml:"), "{message}");
            assert!(message.contains(expected), "{message} does not contain {expected}");
        }
    }

    /// Measures from `m1` on. Each measure is the absolute value of the next measure.
    fn nested(depth: usize) -> String {
        let link = |n: usize| match n == depth {
            true => format!("{{ {METRIC} }}"),
            false => format!("{{ abs = {{ measure = 'm{}' }} }}", n + 1),
        };
        let all: String = (1..=depth)
            .map(|n| format!("[[measure]]\nname = 'm{n}'\nis = {}\n", link(n)))
            .collect();
        all + CLAIM
    }

    #[test]
    fn named_measures_nest_twelve_deep_and_may_occur_in_each_part() {
        let of = |depth: usize, measure: &str| {
            parse(
                &nested(depth)
                    .replace(METRIC, "METRIC")
                    .replacen("measure = { METRIC }", &format!("measure = {{ {measure} }}"), 1)
                    .replace("METRIC", METRIC),
                "f",
            )
        };
        let claims = of(12, "measure = 'm1'").unwrap();
        assert_eq!(claims[0].quantities().len(), 12);
        let claims = of(12, "sum = [{ measure = 'm1' }, { measure = 'm12' }, { measure = 'm1' }]");
        assert_eq!(claims.unwrap()[0].quantities().len(), 1 + 12 + 1 + 12);
        assert_eq!(
            of(13, "measure = 'm1'").unwrap_err().to_string(),
            "f:36:16: claim `a` nests named measures more than 12 deep; write the measure out"
        );
        assert_eq!(
            of(1, "sum = [{ measure = 'm1' }, { measure = 'x' }]").unwrap_err().to_string(),
            "f:10:42: claim `a` reads the measure `x`, which is not in this file; there are `m1`"
        );
    }

    #[test]
    fn a_baseline_may_be_a_named_measure() {
        let baseline = "direction = { less_than = { measure = 'b' } }";
        let text = format!("{NAMED}{CLAIM}{baseline}").replacen("e/p", "e/q", 1);
        let claims = parse(&text, "f").unwrap();
        let read = |q: &Quantity| match q {
            Quantity::Metric(at) => at.at.clone(),
            other => other.key().to_owned(),
        };
        let read: Vec<String> = claims[0].quantities().into_iter().map(read).collect();
        assert_eq!(read, ["e/p", "e/q"]);
        assert_eq!(
            parse(&text.replace("'b' }", "'c' }"), "f").unwrap_err().to_string(),
            "f:12:29: claim `a` reads the measure `c`, which is not in this file; did you mean `b`?"
        );
    }

    #[test]
    fn two_claims_are_in_the_order_of_the_file() {
        let text = format!("{}{CLAIM}", CLAIM.replace("'a'", "7"));
        let claims = parse(&text, "f").unwrap();
        assert_eq!([&claims[0].id, &claims[1].id], ["7", "a"]);
        assert_eq!(
            claims[0].without_place(),
            Claim { id: "7".into(), ..claims[1].without_place() }
        );
        assert!(claims[0].span.end <= claims[1].span.start, "{:?}", claims[1].span);
    }
}
