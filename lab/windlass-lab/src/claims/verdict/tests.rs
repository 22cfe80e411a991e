use super::*;

#[test]
fn a_statement_counts_once_and_has_the_weakest_verdict_of_its_parts() {
    use Basis::{Arithmetic, Given, Measured};
    use Verdict::{Contradicted, NotComparable, Reproduced, Undecided};
    let all = [
        judged("slip", Arithmetic, Contradicted),
        judged("slip", Arithmetic, Contradicted),
        judged("each rate", Measured, Reproduced),
        judged("each rate", Measured, Undecided),
        judged("each rate", Given, Contradicted),
        judged("partly", Measured, NotComparable),
        judged("partly", Measured, Reproduced),
        judged("set", Given, Reproduced),
    ];
    assert_eq!(
        headline(&all),
        "2 measured statements: 1 reproduced, 1 undecided\n\
         1 arithmetic statement: 1 contradicted\n1 given statement: 1 reproduced"
    );
}

#[test]
fn a_statement_is_contradicted_if_no_interpretation_satisfies_all_its_parts() {
    use Verdict::{Contradicted, DependsOnReading, Reproduced, Undecided};
    let part = |in_readings: [Verdict; 3]| Judgement {
        in_readings: (in_readings.iter().enumerate())
            .map(|(i, verdict)| InReading { verdict: *verdict, runs: i.to_string() })
            .collect(),
        ..judged("both", Basis::Measured, Verdict::over_readings(&in_readings))
    };
    let [one, other] = [
        part([Contradicted, Reproduced, Contradicted]),
        part([Reproduced, Contradicted, Undecided]),
    ];
    assert_eq!([one.verdict, other.verdict], [DependsOnReading; 2]);
    let both = [one, other];
    assert_eq!(statements(&both)[0].verdict, Contradicted);
    assert_eq!(statements(&both[..1])[0].verdict, DependsOnReading);
    // A claim that other interpretations reproduce is still undecided if the headline's is.
    assert_eq!(Verdict::over_readings(&[Undecided, Reproduced]), Undecided);
    // Two that decide differently do not outweigh three open ones.
    let two = [Undecided, Reproduced, Contradicted, Undecided, Undecided];
    assert_eq!(Verdict::over_readings(&two), Undecided);
    assert_eq!(Verdict::over_readings(&two[..4]), DependsOnReading);
}

#[test]
fn settled_claims_have_the_verdicts_of_their_statements() {
    use Verdict::{Contradicted, Reproduced, Undecided};
    let all =
        [("one", Reproduced), ("two", Reproduced), ("two", Contradicted), ("three", Undecided)];
    let mut all = all.map(|(statement, verdict)| judged(statement, Basis::Measured, verdict));
    settle(&mut all);
    let settled = all.map(|j| j.statement_verdict);
    assert_eq!(settled, [Reproduced, Contradicted, Contradicted, Undecided]);
}

#[test]
fn share_names_the_interpretations_with_the_direction_only_if_there_are_any() {
    use Verdict::{Contradicted, NotComparable, Reproduced, SameDirection, Undecided};
    let words = |verdicts: &[Verdict]| Share::of(verdicts).to_string();
    let some = [Undecided, SameDirection, NotComparable, Reproduced, SameDirection, Undecided];
    assert_eq!(words(&some), "holds in 1, in its direction only in 2, fails in 0, open in 2");
    assert_eq!(words(&[Reproduced, Contradicted]), "holds in 1, fails in 1, open in 0");
}

#[test]
fn an_interpretation_that_changes_no_run_of_a_statement_does_not_count() {
    use Verdict::{Reproduced, Undecided};
    let seen = |verdict, runs: &str| InReading { verdict, runs: runs.to_owned() };
    let all = [seen(Reproduced, "a"), seen(Undecided, "b"), seen(Reproduced, "a")];
    let one = Judgement {
        in_readings: all.to_vec(),
        ..judged("one", Basis::Measured, Verdict::Reproduced)
    };
    assert_eq!(statements([&one])[0].in_readings, [Reproduced, Undecided]);
    let runs = ["c", "c", "d"];
    let other =
        Judgement { in_readings: runs.map(|runs| seen(Reproduced, runs)).to_vec(), ..one.clone() };
    assert_eq!(statements([&one, &other])[0].in_readings, [Reproduced, Undecided, Reproduced]);
}

#[test]
fn the_order_of_combined_verdicts_contains_every_verdict() {
    for verdict in Verdict::ALL {
        assert!(Verdict::TOGETHER.contains(&verdict), "{verdict:?}");
    }
}

/// All lists of up to three verdicts.
fn lists() -> Vec<Vec<Verdict>> {
    let mut all: Vec<Vec<Verdict>> = vec![Vec::new()];
    for _ in 0..3 {
        let longer = all
            .iter()
            .flat_map(|list| Verdict::ALL.map(|verdict| [list.as_slice(), &[verdict]].concat()));
        all = [vec![Vec::new()], longer.collect()].concat();
    }
    all
}

#[test]
fn an_open_majority_or_two_different_decisions_outweigh_the_headline() {
    use Verdict::{Contradicted, DependsOnReading, Reproduced, SameDirection, Undecided};
    let mut kinds = BTreeSet::new();
    for list in lists() {
        let decided = |v: &Verdict| [Reproduced, SameDirection, Contradicted].contains(v);
        let different: BTreeSet<&str> =
            list.iter().filter(|v| decided(v)).map(|v| v.badge().name).collect();
        let open = list.iter().filter(|v| **v == Undecided).count();
        let n = list.iter().filter(|v| decided(v)).count();
        let expected = match (different.len(), list.first()) {
            (1.., _) if open > n => Undecided,
            (2.., _) => DependsOnReading,
            (_, None) => Undecided,
            (_, Some(first)) => *first,
        };
        assert_eq!(Verdict::over_readings(&list), expected, "{list:?}");
        kinds.insert(expected.badge().name);
        for v in list {
            assert_eq!(v.is_decided(), decided(&v), "{v:?}");
        }
    }
    assert_eq!(kinds.len(), 7);
}

#[test]
fn together_the_weakest_verdict_counts() {
    let names = Verdict::TOGETHER.map(|v| v.badge().name);
    assert_eq!(
        names,
        [
            "contradicted",
            "depends on the interpretation",
            "undecided",
            "not run",
            "same direction",
            "reproduced",
            "not comparable"
        ]
    );
    assert_eq!(Verdict::TOGETHER.map(Verdict::weakness), [0, 1, 2, 3, 4, 5, 6]);
    for list in lists() {
        let weakest = list.iter().copied().min_by_key(|v| v.weakness());
        assert_eq!(Verdict::together(&list), weakest.unwrap_or(Verdict::NotComparable), "{list:?}");
    }
}

#[test]
fn every_verdict_has_one_word_in_reports_and_in_json() {
    let signs = Verdict::ALL.map(|v| v.badge().sign).concat();
    assert_eq!(signs, "✓≈✗◐?○–");
    use Tone::{Bad, Good, Near};
    assert_eq!(
        Verdict::ALL.map(|v| v.badge().tone),
        [Good, Near, Bad, Near, Tone::None, Tone::None, Tone::None]
    );
    for verdict in Verdict::ALL {
        let Badge { name, meaning, .. } = verdict.badge();
        assert_eq!(serde_json::to_value(verdict).unwrap(), name);
        assert_eq!(serde_json::from_value::<Verdict>(name.into()).unwrap(), verdict);
        assert!(meaning.split(' ').count() > 4, "{name}: {meaning}");
    }
    let old = serde_json::from_value::<Verdict>("depends on the reading".into());
    assert_eq!(old.unwrap(), Verdict::DependsOnReading);
}

#[test]
fn the_schema_has_the_keys_and_words_of_a_judgement() {
    let schema = json_schema();
    let item = &schema["items"];
    let side = Side { name: "x".into(), value: 1.0, unit: "s".into() };
    let mut full = judged("one", Basis::Measured, Verdict::Reproduced);
    full.readings = Some(Share::of(&[Verdict::Reproduced]));
    full.sides = vec![side.clone(), side];
    let written = serde_json::to_value(&full).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&item["properties"]), keys(&written));
    assert_eq!(item["required"], json!(keys(&written)));
    let words = |list: &Value| list.as_array().unwrap().len();
    let properties = &item["properties"];
    assert_eq!(words(&properties["verdict"]["enum"]), 7);
    assert_eq!(properties["kind"]["enum"], json!(["measured", "arithmetic", "given"]));
    assert_eq!(properties["verdict"]["enum"], properties["statement_verdict"]["enum"]);
    assert_eq!(
        properties["readings"]["required"],
        json!(["holds", "same_direction", "fails", "open"])
    );
    assert_eq!(keys(&properties["sides"]["items"]["properties"]), keys(&written["sides"][0]));
    assert_eq!(serde_json::from_value::<Judgement>(written).unwrap(), full);
}

#[test]
fn a_share_counts_reproduced_same_direction_contradicted_and_undecided() {
    use Verdict::{Contradicted, NotComparable, NotRun, Reproduced, SameDirection, Undecided};
    let all = [Reproduced, SameDirection, Contradicted, Undecided, NotRun, NotComparable];
    let times = [1, 2, 4, 8, 16, 32];
    let several: Vec<Verdict> =
        all.iter().zip(times).flat_map(|(v, n)| std::iter::repeat_n(*v, n)).collect();
    let share = Share::of(&several);
    assert_eq!(share, Share { holds: 1, same_direction: 2, fails: 4, open: 8 });
    assert_eq!((share.decided(), Share::of(&[]).decided()), (7, 0));
    let one = Share { holds: 0, same_direction: 1, fails: 0, open: 0 };
    assert_eq!(one.to_string(), "holds in 0, in its direction only in 1, fails in 0, open in 0");
    assert_eq!(Share { same_direction: 0, ..one }.to_string(), "holds in 0, fails in 0, open in 0");
}

/// Lists of a statement's claims with its basis and verdict.
#[test]
fn a_statement_has_the_basis_and_verdict_of_its_strongest_evidence() {
    use Basis::{Arithmetic, Given, Measured};
    use Verdict::{Contradicted, NotComparable, Reproduced, Undecided};
    for (parts, kind, verdict) in [
        (vec![(Measured, Reproduced), (Arithmetic, Contradicted)], Measured, Contradicted),
        (vec![(Arithmetic, Reproduced), (Measured, Undecided)], Measured, Undecided),
        (vec![(Measured, Reproduced), (Given, Contradicted)], Measured, Reproduced),
        (vec![(Given, Contradicted), (Arithmetic, Reproduced)], Arithmetic, Reproduced),
        (vec![(Given, Contradicted), (Given, Reproduced)], Given, Contradicted),
        (vec![(Arithmetic, NotComparable)], Arithmetic, NotComparable),
        (vec![], Measured, NotComparable),
    ] {
        let all: Vec<Judgement> = parts.iter().map(|(kind, v)| judged("s", *kind, *v)).collect();
        let statement = Statement::of(all.iter().collect());
        assert_eq!((statement.kind, statement.verdict), (kind, verdict), "{parts:?}");
        assert!(statement.in_readings.is_empty() && statement.claims.len() == parts.len());
    }
}

/// The second claim has no runs, so that its verdict is the same in each interpretation.
#[test]
fn a_part_without_runs_counts_in_each_interpretation() {
    use Verdict::{Contradicted, Reproduced, SameDirection};
    let seen = |verdict, runs: &str| InReading { verdict, runs: runs.to_owned() };
    let runs = Judgement {
        in_readings: vec![seen(Reproduced, "a"), seen(Contradicted, "b"), seen(Reproduced, "c")],
        ..judged("s", Basis::Measured, Reproduced)
    };
    let exact = judged("s", Basis::Arithmetic, SameDirection);
    let given = judged("s", Basis::Given, Contradicted);
    let all = [runs, exact, given];
    let found = statements(&all);
    assert_eq!(found[0].in_readings, [SameDirection, Contradicted, SameDirection]);
    assert_eq!(found[0].verdict, Verdict::DependsOnReading);
    assert_eq!(found.len(), 1);
}

#[test]
fn statements_are_in_the_order_of_their_first_claims() {
    use Verdict::{NotRun, Reproduced, Undecided};
    let all = [("b", Reproduced), ("a", NotRun), ("b", Undecided), ("c", Reproduced)]
        .map(|(statement, verdict)| judged(statement, Basis::Measured, verdict));
    let found = statements(&all);
    let names: Vec<&str> = found.iter().map(|s| s.claims[0].statement.as_str()).collect();
    assert_eq!(names, ["b", "a", "c"]);
    assert_eq!(found.iter().map(|s| s.claims.len()).collect::<Vec<_>>(), [2, 1, 1]);
    let counts: Vec<usize> = tally(&all, Basis::Measured).iter().map(|(_, n)| *n).collect();
    assert_eq!(counts, [1, 0, 0, 0, 1, 1, 0]);
    assert_eq!(tally(&all, Basis::Given).iter().map(|(_, n)| n).sum::<usize>(), 0);
    assert_eq!(headline(&all), "3 measured statements: 1 reproduced, 1 undecided, 1 not run");
    assert_eq!(headline(&all[1..2]), "1 measured statement: 1 not run");
    assert_eq!(headline(&[]), "");
}
