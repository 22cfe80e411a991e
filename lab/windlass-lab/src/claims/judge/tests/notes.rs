//! Whole judgements: verdict, values and every word of the note.

use super::*;

/// `slow` has the values 21 to 40, and `fast` 11 to 30. The other points are for the limits.
fn all_records() -> Vec<RunRecord> {
    let mut all = records();
    for seed in 1..=20 {
        let s = seed as f64;
        all.push(run("e", "large", seed, 1e6 + s * 1e-6));
        all.push(run("e", "wide", seed, 1e6 + s * 1e-3));
        all.push(run("e", "half", seed, if seed < 10 { s } else { f64::INFINITY }));
        all.push(run("e", "never", seed, f64::INFINITY));
        all.push(run("e", "no-end", seed, f64::INFINITY));
        all.push(run("e", "small", seed, s / 100.0));
    }
    for seed in 1..=6 {
        all.push(run("e", "six", seed, seed as f64));
    }
    for seed in 1..=7 {
        all.push(run("e", "seven", seed, if seed < 7 { 1.0 } else { 3.0 }));
    }
    all
}

fn judgement(lines: &str) -> Judgement {
    let text = format!("[[claim]]\nid='c'\nsource='s'\nquantity='q'\nunit='s'\n{lines}");
    judge_all(&text, &all_records()).remove(0)
}

/// Verdict, measured value, interval and number of runs.
fn values(j: &Judgement) -> String {
    let interval = j.ci95.map_or(String::new(), |[low, high]| format!(" [{low:.4}, {high:.4}]"));
    let measured = j.measured.map_or("-".to_owned(), |v| format!("{v:.4}"));
    format!("{}: {measured}{interval}, {} runs", j.verdict.badge().name, j.n)
}

fn all_are(cases: &[(String, &str, &str)]) {
    for (lines, expected, note) in cases {
        let j = judgement(lines);
        assert_eq!([values(&j).as_str(), &j.note], [*expected, note], "{lines}");
        let (needs, ending) = (j.needs.as_str(), j.open.as_str());
        assert!(j.note.contains(needs) && j.note.contains(ending), "{needs} {ending}");
        assert_eq!(ending.is_empty(), j.verdict != Verdict::Undecided);
    }
}

fn of(measure: &str, paper: f64, absolute: f64, more: &str) -> String {
    format!(
        "paper = {paper:?}\nmeasure = {measure}\ntolerance = {{ absolute = {absolute:?}, reason = 'r' }}\n{more}"
    )
}

fn than(measure: &str, word: &str, baseline: &str, more: &str) -> String {
    format!("measure = {measure}\ndirection = {{ {word} = {baseline} }}\n{more}")
}

fn constant(value: f64) -> String {
    format!("{{ constant = {value:?} }}")
}

fn pair(key: &str, a: &str, b: &str) -> String {
    format!("{{ {key} = [{}, {}] }}", metric(a), metric(b))
}

#[test]
fn notes_of_sizes() {
    let zeros = "{ metric = { path = 'flow.f.rto_count', at = 'e/slow' } }";
    all_are(&[
        (
            of(&metric("slow"), 30.0, 9.0, "statistic = 'mean'"),
            "reproduced: 30.5000 [27.7312, 33.2688], 20 runs",
            "Reproduced. Measured 30.5 s (90 % CI 28.2 to 32.8; 20 runs); the claim is 30 s ± 9.",
        ),
        (
            of(&metric("slow"), 22.0, 4.5, ""),
            "undecided: 30.5000 [26.0000, 35.0000], 20 runs",
            "Undecided. Measured 30.5 s (90 % CI 26.0 to 35.0; 20 runs); the claim is 22 s ± 4.5. About 28 runs of each point would decide it.",
        ),
        (
            of(&metric("slow"), 22.0, 3.5, ""),
            "contradicted: 30.5000 [26.0000, 35.0000], 20 runs",
            "Contradicted. Measured 30.5 s (90 % CI 26.0 to 35.0; 20 runs); the claim is 22 s ± 3.5.",
        ),
        (
            of(&metric("small"), 0.1, 0.05, ""),
            "reproduced: 0.1050 [0.0600, 0.1500], 20 runs",
            "Reproduced. Measured 0.105 s (90 % CI 0.060 to 0.150; 20 runs); the claim is 0.1 s ± 0.05.",
        ),
        (
            of(&metric("large"), 1e6, 1.0, ""),
            "reproduced: 1000000.0000 [1000000.0000, 1000000.0000], 20 runs",
            "Reproduced. Measured 1000000 s; the claim is 1000000 s ± 1.",
        ),
        (
            of(&metric("wide"), 1e6, 1.0, ""),
            "reproduced: 1000000.0105 [1000000.0060, 1000000.0150], 20 runs",
            "Reproduced. Measured 1000000.0105 s (90 % CI 1000000.0060 to 1000000.0150; 20 runs); the claim is 1000000 s ± 1.",
        ),
        (
            of(&metric("never"), 1e6, 1.0, ""),
            "contradicted: -, 20 runs",
            "Contradicted. Measured infinite, because some runs have no value; the claim is 1000000 s ± 1.",
        ),
        (
            of(&metric("never"), 1e6, 1.0, "statistic = 'mean'"),
            "undecided: -, 20 runs",
            "Undecided. Measured infinite, because some runs have no value; the claim is 1000000 s ± 1. The number of runs that would decide it is unknown, because the estimate is infinite.",
        ),
        // The sixth value is 6 s and inside, and more than half of the values are infinite.
        (
            of(&metric("half"), 6.0, 1.0, ""),
            "undecided: -, 20 runs",
            "Undecided. Measured infinite, because some runs have no value; the claim is 6 s ± 1. The number of runs that would decide it is unknown, because the estimate is infinite.",
        ),
        (
            of(&metric("slow"), 30.5, 0.0, "statistic = 'mean'"),
            "undecided: 30.5000 [27.7312, 33.2688], 20 runs",
            "Undecided. Measured 30.5 s (90 % CI 28.2 to 32.8; 20 runs); the claim is 30.5 s ± 0. Compared with how much the runs vary, the estimate is so close to the edge of the claim that even 10000 runs like these would not decide it.",
        ),
        (
            of(&metric("stuck"), 1e6, 1.0, "statistic = 'mean'"),
            "undecided: -, 20 runs",
            "Undecided. Measured infinite, because some runs have no value; the claim is 1000000 s ± 1. The number of runs that would decide it is unknown, because the estimate is infinite.",
        ),
        (
            of(&metric("fixed"), 7.5, 0.5, ""),
            "reproduced: 7.0000, 20 runs",
            "Reproduced. Measured 7 s; the claim is 7.5 s ± 0.5.",
        ),
        (
            of(&metric("six"), 3.5, 2.5, ""),
            "reproduced: 3.5000 [1.0000, 6.0000], 6 runs",
            "Reproduced. Measured 3.5 s (90 % CI 1.0 to 6.0; 6 runs); the claim is 3.5 s ± 2.5.",
        ),
        (
            of(&metric("six"), 3.5, 2.4, ""),
            "undecided: 3.5000 [1.0000, 6.0000], 6 runs",
            "Undecided. Measured 3.5 s (90 % CI 1.0 to 6.0; 6 runs); the claim is 3.5 s ± 2.4. About 7 runs of each point would decide it.",
        ),
        (
            of(&metric("seven"), 1.0, 0.5, "statistic = 'mean'"),
            "undecided: 1.2857 [0.5866, 1.9848], 7 runs",
            "Undecided. Measured 1.3 s (90 % CI 0.7 to 1.8; 7 runs); the claim is 1 s ± 0.5. About 51 runs of each point would decide it.",
        ),
        (
            of(zeros, 1.0, 1.0, "").replace("paper", "note = ' Zero. '\npaper"),
            "reproduced: 0.0000 [0.0000, 0.0000], 20 runs",
            "Reproduced. Measured 0 s; the claim is 1 s ± 1. Zero.",
        ),
        (
            of(&metric("slow"), 30.5, 0.0, ""),
            "undecided: 30.5000 [26.0000, 35.0000], 20 runs",
            "Undecided. Measured 30.5 s (90 % CI 26.0 to 35.0; 20 runs); the claim is 30.5 s ± 0. Compared with how much the runs vary, the estimate is so close to the edge of the claim that even 10000 runs like these would not decide it.",
        ),
        (
            of(&pair("difference", "slow", "fast"), 9.0, 1.0, ""),
            "reproduced: 10.0000 [10.0000, 10.0000], 20 runs",
            "Reproduced. Measured 10 s; the claim is 9 s ± 1.",
        ),
        (
            of("{ model = 'eq' }", 45.7, 0.04, "kind = 'given'"),
            "reproduced: 45.6620, 0 runs",
            "Reproduced. Measured 45.662 s; the claim is 45.7 s ± 0.04.",
        ),
        (
            of(&metric("slow"), 3.0, 9.0, "compare_with = { value = 30, reason = 'times 10.' }"),
            "reproduced: 30.5000 [26.0000, 35.0000], 20 runs",
            "Reproduced. Measured 30.5 s (90 % CI 26.0 to 35.0; 20 runs); the claim is 30 s ± 9. Compared with 30 (printed 3: times 10).",
        ),
    ]);
}

#[test]
fn notes_of_directions() {
    let least = |size: f64| format!("least_effect = {{ absolute = {size:?}, reason = 'r' }}");
    let difference = |a: &str, b: &str| pair("difference", a, b);
    let (slow, fast) = (metric("slow"), metric("fast"));
    all_are(&[
        (
            than(&fast, "less_than", &slow, ""),
            "reproduced: 20.5000 [16.0000, 25.0000], 20 runs",
            "Reproduced. The claim holds at 29.89 s or less; the measured difference to 30.5 s is -10 s.",
        ),
        (
            than(&fast, "less_than", &constant(60.0), ""),
            "reproduced: 20.5000 [16.0000, 25.0000], 20 runs",
            "Reproduced. The claim holds at 58.8 s or less; the measured difference to 60 s is -39.5 s (90 % CI -44.0 to -35.0; 20 runs).",
        ),
        (
            than(&fast, "greater_than", &constant(5.0), &least(0.0)),
            "reproduced: 20.5000 [16.0000, 25.0000], 20 runs",
            "Reproduced. The claim holds above 5 s; the measured difference to 5 s is 15.5 s (90 % CI 11.0 to 20.0; 20 runs).",
        ),
        (
            than(&fast, "less_than", &constant(60.0), &least(0.0)),
            "reproduced: 20.5000 [16.0000, 25.0000], 20 runs",
            "Reproduced. The claim holds below 60 s; the measured difference to 60 s is -39.5 s (90 % CI -44.0 to -35.0; 20 runs).",
        ),
        (
            than(&difference("slow", "fast"), "greater_than", &constant(0.0), ""),
            "reproduced: 10.0000 [10.0000, 10.0000], 20 runs",
            "Reproduced. The claim holds above 0 s; measured 10 s.",
        ),
        (
            than(&difference("slow", "fast"), "greater_than", &constant(0.0), &least(10.0)),
            "reproduced: 10.0000 [10.0000, 10.0000], 20 runs",
            "Reproduced. The claim holds at +10 s or more; measured 10 s.",
        ),
        (
            than(&difference("slow", "fast"), "greater_than", &constant(0.0), &least(10.1)),
            "contradicted: 10.0000 [10.0000, 10.0000], 20 runs",
            "Contradicted. The claim holds at +10.1 s or more; measured 10 s.",
        ),
        (
            than(&difference("fast", "slow"), "less_than", &constant(0.0), &least(10.0)),
            "reproduced: -10.0000 [-10.0000, -10.0000], 20 runs",
            "Reproduced. The claim holds at -10 s or less; measured -10 s.",
        ),
        (
            than(&difference("same", "fast"), "less_than", &constant(0.0), ""),
            "undecided: 0.0000 [-1.0000, 1.0000], 20 runs",
            "Undecided. The claim holds below 0 s; measured 0 s (90 % CI -1 to 1; 20 runs). Compared with how much the runs vary, the estimate is so close to the edge of the claim that even 10000 runs like these would not decide it.",
        ),
        (
            than(&difference("fast", "slow"), "greater_than", &constant(-20.0), ""),
            "reproduced: -10.0000 [-10.0000, -10.0000], 20 runs",
            "Reproduced. The claim holds at -19.6 s or more; the measured difference to -20 s is 10 s.",
        ),
        (
            than(
                &pair("ratio", "slow", "fast"),
                "greater_than",
                &constant(1.0),
                "statistic = 'mean'",
            ),
            "reproduced: 1.5330 [1.4529, 1.6131], 20 runs",
            "Reproduced. The claim holds at 1.02 s or more; the measured difference to 1 s is 0.53 s (90 % CI 0.47 to 0.60; 20 runs).",
        ),
        (
            than(&pair("ratio", "never", "stuck"), "less_than", &constant(1.0), ""),
            "contradicted: -, 20 runs",
            "Contradicted. The claim holds at 0.98 s or less; the measured difference to 1 s is infinite, because some runs have no value.",
        ),
        (
            than("{ model = 'eq' }", "less_than", &constant(50.0), ""),
            "reproduced: 45.6620, 0 runs",
            "Reproduced. The claim holds below 50 s; the measured difference to 50 s is -4.338 s.",
        ),
        (
            than("{ model = 'eq' }", "greater_than", &constant(45.662), ""),
            "contradicted: 45.6620, 0 runs",
            "Contradicted. The claim holds above 45.66 s; the measured difference to 45.662 s is 0 s.",
        ),
        (
            than(&slow, "greater_than", &constant(12.0), "paper = 20.0"),
            "same direction: 30.5000 [26.0000, 35.0000], 20 runs",
            "Same direction. The claim holds at 12.24 s or more; the measured difference to 12 s is 18.5 s (90 % CI 14.0 to 23.0; 20 runs).",
        ),
        (
            than(
                &slow,
                "greater_than",
                &constant(25.0),
                "paper = 40.0\ntolerance = { relative = 0.4, reason = 'r' }",
            ),
            "reproduced: 30.5000 [26.0000, 35.0000], 20 runs",
            "Reproduced. Measured 30.5 s (90 % CI 26.0 to 35.0; 20 runs); the claim is 40 s ± 16. The claim holds at 25.5 s or more; the measured difference to 25 s is 5.5 s (90 % CI 1.0 to 10.0; 20 runs).",
        ),
        (
            than(
                &slow,
                "greater_than",
                &constant(12.0),
                "paper = 40.0\ntolerance = { relative = 0.1, reason = 'r' }",
            ),
            "same direction: 30.5000 [26.0000, 35.0000], 20 runs",
            "Same direction. Measured 30.5 s (90 % CI 26.0 to 35.0; 20 runs); the claim is 40 s ± 4. The claim holds at 12.24 s or more; the measured difference to 12 s is 18.5 s (90 % CI 14.0 to 23.0; 20 runs).",
        ),
        (
            than(&slow, "greater_than", &constant(29.0), ""),
            "undecided: 30.5000 [26.0000, 35.0000], 20 runs",
            "Undecided. The claim holds at 29.58 s or more; the measured difference to 29 s is 1.5 s (90 % CI -3.0 to 6.0; 20 runs). About 506 runs of each point would decide it.",
        ),
        (
            than(&metric("six"), "greater_than", &constant(0.9), &least(0.0)),
            "reproduced: 3.5000 [1.0000, 6.0000], 6 runs",
            "Reproduced. The claim holds above 0.9 s; the measured difference to 0.9 s is 2.6 s (90 % CI 0.1 to 5.1; 6 runs).",
        ),
        (
            than(&metric("six"), "greater_than", &constant(1.0), &least(0.0)),
            "undecided: 3.5000 [1.0000, 6.0000], 6 runs",
            "Undecided. The claim holds above 1 s; the measured difference to 1 s is 2.5 s (90 % CI 0.0 to 5.0; 6 runs). About 7 runs of each point would decide it.",
        ),
        (
            than(&metric("few"), "greater_than", &constant(1.0), &least(0.0)),
            "undecided: 2.3000, 5 runs",
            "Undecided. The claim holds above 1 s; the measured difference to 1 s is 1.3 s. At least 6 runs of each point are needed to decide it.",
        ),
        (
            than(&slow, "greater_than", &metric("p=later"), ""),
            "not run: 30.5000 [26.0000, 35.0000], 20 runs",
            "e/p=later was not run; `windlass reproduce x` does.",
        ),
        (
            than(&slow, "greater_than", "{ model = 'x' }", ""),
            "not comparable: 30.5000 [26.0000, 35.0000], 20 runs",
            "Closed form `x` not found.",
        ),
        (
            than(&pair("ratio", "never", "no-end"), "greater_than", &constant(2.0), ""),
            "not comparable: -, 20 runs",
            "No run has a value on both sides.",
        ),
    ]);
}

/// "a is less than b" is the same question as "b is greater than a", if the smallest effect is a number.
#[test]
fn a_reversed_comparison_has_the_same_verdict() {
    let least = "least_effect = { absolute = 0.5, reason = 'r' }";
    let points = ["slow", "fast", "same", "hardly", "stuck", "fixed", "few"];
    let mut seen = std::collections::BTreeMap::new();
    for a in points {
        for b in points.into_iter().filter(|b| *b != a) {
            let [less, more] = [(a, "less_than", b), (b, "greater_than", a)]
                .map(|(x, word, y)| judgement(&than(&metric(x), word, &metric(y), least)));
            assert_eq!(less.verdict, more.verdict, "{a} {b}");
            assert_eq!((less.n, less.open), (more.n, more.open), "{a} {b}");
            *seen.entry(less.verdict.badge().name).or_insert(0) += 1;
        }
    }
    assert!(seen.len() == 3 && seen.values().all(|n| *n > 9), "{seen:?}");
}

#[test]
fn numbers_have_four_digits() {
    for (value, expected) in [
        (0.0, "0"),
        (-0.123_45, "-0.1235"),
        (12.345, "12.35"),
        (1234.5, "1235"),
        (123_456.0, "123500"),
        (9.999_96, "10"),
        (f64::INFINITY, "never"),
    ] {
        assert_eq!(four_digits(value), expected);
    }
}

#[test]
fn a_claim_in_no_unit_shows_only_numbers() {
    let text = format!(
        "[[claim]]\nid='c'\nsource='s'\nquantity='q'\nunit='1'\n{}",
        than(&pair("ratio", "slow", "fast"), "greater_than", &constant(1.0), "")
    );
    let j = judge_all(&text, &all_records()).remove(0);
    let note = "Reproduced. The claim holds at 1.02 or more; the measured difference to 1 is 0.49 (90 % CI 0.40 to 0.62; 20 runs).";
    assert_eq!(j.note, note);
}

#[test]
fn a_claim_without_a_measure_is_not_comparable() {
    let text = format!(
        "[[claim]]\nid='c'\nsource='s'\nquantity='q'\nunit='s'\n{}",
        of(&metric("slow"), 30.0, 9.0, "")
    );
    let mut claims = parse(&text, "f").unwrap();
    claims[0].measure = None;
    let (models, traces, least) = Default::default();
    let evidence =
        Evidence { records: &[], models: &models, traces: &traces, least: &least, planned: None };
    let j = judge(&claims, &evidence).remove(0);
    assert_eq!(values(&j), "not comparable: -, 0 runs");
    assert_eq!(j.note, "The claim has no measure.");
}
