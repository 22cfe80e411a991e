use super::*;

const PLAN: &str = r#"
[[experiment]]
id = "e"
title = "t"
scenario = "s.toml"
seeds = 30
quick_seeds = 3
[[experiment.axis]]
name = "mode"
value = [{ label = "a" }, { label = "b", set = { "x.y" = "both" } }]
[[experiment.axis]]
name = "p"
value = [{ label = "0%", seeds = 2, quick_seeds = 1 }, { label = "1%", set = { "x.p" = "1%" } }]

[[trace]]
id = "t"
experiment = "e"
point = "mode=b,p=1%"
series = ["cwnd_bytes"]
"#;

fn error(text: &str) -> String {
    Plan::parse(text, "experiments.toml").unwrap_err().to_string()
}

#[test]
fn points_are_the_product_of_the_axes_with_the_last_fastest() {
    let plan = Plan::parse(PLAN, "f").unwrap();
    let points = plan.experiments[0].points();
    let ids: Vec<&str> = points.iter().map(|p| p.id.as_str()).collect();
    assert_eq!(ids, ["mode=a,p=0%", "mode=a,p=1%", "mode=b,p=0%", "mode=b,p=1%"]);
    let pair = |k: &str, v: &str| (k.to_owned(), v.to_owned());
    assert_eq!(points[3].overrides, [pair("x.y", "both"), pair("x.p", "1%")]);
    assert_eq!(points[3].coordinates, [pair("mode", "b"), pair("p", "1%")]);
    let found: Vec<_> = ids.iter().filter_map(|id| plan.experiments[0].point(id)).collect();
    assert_eq!(found, points);
    for id in ["mode=a", "mode=a,p=0%,q=1", "p=0%,mode=a", "mode=c,p=0%", "all", ""] {
        assert_eq!(plan.experiments[0].point(id), None, "{id}");
    }
}

#[test]
fn the_number_of_seeds_of_an_axis_value_replaces_the_experiments() {
    let plan = Plan::parse(PLAN, "f").unwrap();
    let (e, points) = (&plan.experiments[0], plan.experiments[0].points());
    assert_eq!((e.seeds(&points[0], false), e.seeds(&points[0], true)), (1..=2, 1..=1));
    assert_eq!((e.seeds(&points[1], false), e.seeds(&points[1], true)), (1..=30, 1..=3));
}

#[test]
fn zero_quick_seeds_leave_points_out_of_quick_runs_only() {
    let plan = PLAN.replace("label = \"a\"", "label = \"a\", quick_seeds = 0");
    let plan = Plan::parse(&plan, "f").unwrap();
    let (e, points) = (&plan.experiments[0], plan.experiments[0].points());
    // The next axis gives 1, which has no effect.
    assert_eq!((e.seeds(&points[0], true).count(), e.seeds(&points[0], false).count()), (0, 2));
    assert_eq!((e.seeds(&points[1], true).count(), e.seeds(&points[3], true).count()), (0, 3));
    let plan = Plan::parse(&PLAN.replace("quick_seeds = 3", "quick_seeds = 0"), "f").unwrap();
    let (e, points) = (&plan.experiments[0], plan.experiments[0].points());
    assert!(points.iter().all(|p| e.seeds(p, true).count() == 0));
    assert_eq!(e.seeds(&points[1], false), 1..=30);
}

#[test]
fn an_experiment_without_axes_has_one_point() {
    let text = "[[experiment]]\nid='e'\ntitle='t'\nscenario='s'\nseeds=1\nquick_seeds=1\n";
    let points = Plan::parse(text, "f").unwrap().experiments[0].points();
    assert_eq!((points.len(), points[0].id.as_str()), (1, "all"));
}

#[test]
fn a_trace_turns_into_overrides_of_the_record_table() {
    let plan = Plan::parse(PLAN, "f").unwrap();
    let overrides = plan.traces[0].overrides();
    assert_eq!(overrides[0], ("record.series".to_owned(), "[\"cwnd_bytes\"]".to_owned()));
    assert_eq!(plan.traces[0].seed, None);
}

#[test]
fn figures_show_the_seed_with_goodput_closest_to_the_median_at_every_traced_point() {
    let second = "\n[[trace]]\nid = \"u\"\nexperiment = \"e\"\npoint = \"mode=a,p=1%\"\n";
    let plan = Plan::parse(&format!("{PLAN}{second}"), "f").unwrap();
    let run = |point: &str, seed: u64, goodput: f64| {
        let mut record = crate::claims::fixtures::run("e", point, seed, 1.0);
        record.flows[0].goodput_bps = goodput;
        record
    };
    let of = |point: &str, all: [f64; 5]| {
        all.into_iter().zip(1..).map(|(g, seed)| run(point, seed, g)).collect::<Vec<_>>()
    };
    // Seed 1 is an outlier at one point and seed 2 at the other; seed 4 is one place off at both.
    let both = [
        of("mode=b,p=1%", [9.0, 3.0, 1.0, 4.0, 2.0]),
        of("mode=a,p=1%", [3.0, 9.0, 1.0, 4.0, 2.0]),
    ]
    .concat();
    assert_eq!(plan.shown_seed(&plan.traces[0], &both), 4);
    assert_eq!(plan.shown_seed(&plan.traces[0], &[]), 1);
    let given = TraceRequest { seed: Some(7), ..plan.traces[0].clone() };
    assert_eq!(plan.shown_seed(&given, &both), 7);
}

#[test]
fn errors_give_the_place_and_the_remedy() {
    let cases = [
        (PLAN.replace("seeds = 30", "seeds = 0"), "6:9: an experiment needs at least one seed"),
        (PLAN.replace("seeds = 30", "sedes = 30"), "6:1: unknown field `sedes`"),
        (PLAN.replace("name = \"p\"", "name = \"mode\""), "12:8: axis `mode` exists already"),
        (PLAN.replace("label = \"b\"", "label = \"a\""), "axis `mode` has the value `a` already"),
        (PLAN.replace("label = \"b\"", "label = \"a=b\""), "label `a=b` must not contain `=`"),
        (PLAN.replace("cwnd_bytes", "cwnd"), "series `cwnd` not found; did you mean `cwnd_bytes`?"),
        (PLAN.replace("mode=b,p", "mode=c,p"), "experiment `e` has no point `mode=c,p=1%`"),
        (
            PLAN.replace("experiment = \"e\"", "experiment = \"f\""),
            "experiment `f` not found; did you mean `e`?",
        ),
        (format!("{PLAN}{}", &PLAN[..PLAN.find("[[trace]]").unwrap()]), "`e` exists already"),
        (
            "experiment = 3".to_owned(),
            "1:1: `experiment` is a list of tables; write `[[experiment]]`",
        ),
    ];
    for (text, expected) in cases {
        let message = error(&text);
        assert!(message.starts_with("experiments.toml:"), "{message}");
        assert!(message.contains(expected), "{message} does not contain {expected}");
    }
}
