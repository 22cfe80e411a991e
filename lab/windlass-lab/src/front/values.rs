//! Published and measured values in words.

use crate::claims::{Claim, Judgement, Quantity, Side, Statement, Statistic, Verdict};
use crate::report::numbers::{number, printed, rate_unit, together};

/// The part of a statement that decides it: of the parts with the statement's verdict the weakest in the main
/// interpretation, and the first of these; or else the weakest part.
pub(super) fn deciding<'a>(statement: &Statement<'a>) -> &'a Judgement {
    let own = || statement.claims.iter().copied().filter(|j| j.kind == statement.kind);
    let decides = |j: &&Judgement| j.verdict == statement.verdict;
    // If the parts hold in different interpretations, no part alone may have the statement's verdict.
    let weakest = |j: &&Judgement| {
        (j.verdict.weakness(), std::cmp::Reverse(j.readings.map_or(0, |share| share.fails)))
    };
    // A statement of several kinds may have the verdict of a part of another kind.
    let any = || statement.claims.iter().copied().find(decides);
    let in_main = |j: &&Judgement| main_verdict(j).weakness();
    own()
        .filter(decides)
        .min_by_key(in_main)
        .or_else(any)
        .or_else(|| own().min_by_key(weakest))
        .unwrap_or(statement.claims[0])
}

/// The verdict in the main interpretation.
fn main_verdict(j: &Judgement) -> Verdict {
    j.in_readings.first().map_or(j.verdict, |main| main.verdict)
}

/// The verdict in the main interpretation as a sentence, if it differs from the verdict over all interpretations.
pub(super) fn in_main_interpretation(statement: &Statement<'_>) -> String {
    match statement.in_readings.first() {
        Some(main) if *main != statement.verdict => {
            format!(" In the main interpretation: {}.", main.badge().name)
        }
        _ => String::new(),
    }
}

/// Format of values of a unit: the divisor (a power of ten, for rates) and the unit after the number.
struct Written {
    by: f64,
    unit: String,
}

impl Written {
    /// The format for values of this magnitude.
    fn of(unit: &str, value: f64) -> Written {
        let (by, unit) = match unit {
            "bit/s" => rate_unit([value.abs()].into_iter()),
            unit => (1.0, unit),
        };
        let unit = if unit == "1" || unit.is_empty() { String::new() } else { format!(" {unit}") };
        Written { by, unit }
    }

    fn value(&self, value: f64) -> String {
        format!("{}{}", number(value / self.by), self.unit)
    }
}

/// The published value with its unit, the corrected value and the tolerance.
pub(super) fn published(j: &Judgement, claim: Option<&Claim>) -> String {
    let Some(paper) = j.paper else { return String::new() };
    let written = Written::of(&j.unit, paper);
    let mut text = match written.by == 1.0 {
        true => format!("{}{}", printed(Some(paper)), written.unit),
        false => written.value(paper),
    };
    let corrected = claim.and_then(|c| c.compare_with.as_ref());
    if let Some(corrected) = corrected {
        text += &format!(", judged as {}", written.value(corrected.value));
    }
    if let Some(tolerance) = claim.and_then(|c| c.tolerance.as_ref()) {
        let target = corrected.map_or(paper, |c| c.value);
        text += &format!(" ± {}", number(tolerance.about(target) / written.by));
    }
    if let Some(corrected) = corrected {
        text += &format!(" ({})", corrected.reason.trim_end_matches('.'));
    }
    text
}

/// The measured value with its unit, interval and number of runs, and both sides of a comparison. A change has a sign.
/// Empty without a run.
pub(super) fn found(j: &Judgement, claim: Option<&Claim>) -> String {
    let Some(measured) = j.measured.filter(|_| j.verdict != Verdict::NotRun) else {
        return String::new();
    };
    let written = Written::of(&j.unit, measured);
    let runs = match j.n {
        0 => "recomputed".to_owned(),
        1 => "1 run".to_owned(),
        n => format!("{n} runs"),
    };
    let change = claim.and_then(|c| c.measure.as_ref()).is_some_and(|measure| {
        matches!(measure, Quantity::Difference(_) | Quantity::PercentChange(_))
    });
    let plus = |v: f64| if change && v > 0.0 { "+" } else { "" };
    let value = match j.ci95 {
        Some([low, high]) if low < high => {
            let all = [measured, low, high];
            let [value, low, high] = together(all.map(|v| v / written.by));
            let [a, b, c] = all.map(plus);
            format!("{a}{value}{} (95 % CI {b}{low} to {c}{high}, {runs})", written.unit)
        }
        _ => format!("{}{} ({runs})", plus(measured), written.value(measured)),
    };
    let side = |s: &Side| {
        let written = Written::of(&s.unit, s.value);
        format!("{}: {}", s.name.replace('=', " = "), written.value(s.value))
    };
    let each = match claim.map(|c| c.statistic) {
        Some(Statistic::Mean) => "means",
        _ => "medians",
    };
    match j.sides.as_slice() {
        [a, b] if j.n == 1 => format!("{value}; sides: {}; {}", side(a), side(b)),
        [a, b] => format!("{value}; {each} of the sides: {}; {}", side(a), side(b)),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::{Basis, InReading};

    #[test]
    fn of_equal_parts_the_weakest_in_the_main_interpretation_decides() {
        let part = |id: &str, main: Verdict| Judgement {
            id: id.to_owned(),
            in_readings: [main, Verdict::Undecided, Verdict::Undecided]
                .iter()
                .enumerate()
                .map(|(i, verdict)| InReading { verdict: *verdict, runs: i.to_string() })
                .collect(),
            ..crate::claims::judged("all", Basis::Measured, Verdict::Undecided)
        };
        let parts = [part("holds", Verdict::Reproduced), part("open", Verdict::Undecided)];
        let statement = Statement::of(parts.iter().collect());
        assert_eq!(deciding(&statement).id, "open");
        assert_eq!(in_main_interpretation(&statement), "");
        let first = Statement::of(vec![&parts[0]]);
        assert_eq!(in_main_interpretation(&first), " In the main interpretation: reproduced.");
    }
}
