//! Advice for small networks, compared with the means over many draws.

use windlass_lab::choose::{Advice, Choice, Property, Spread};
use windlass_lab::compare::{Measure, Request};
use windlass_lab::run::{RunRecord, Runner, World};
use windlass_lab::scenario::Scenario;

const DOWNLOAD: &str = r#"
    duration = "200s"
    [[link]]
    between = ["sensor", "gateway"]
    rate = "2Mbps"
    delay = "50ms"
    queue = "1bdp"
    loss = { model = "drop", probability = "1%" }
    [[flow]]
    name = "upload"
    from = "sensor"
    to = "gateway"
    algorithm = "reno"
    traffic = { kind = "bulk", bytes = "1MB" }
"#;

fn choice(text: &str, algorithms: &[&str], measure: Measure, spread: Spread, seeds: u64) -> Choice {
    let request = Request {
        scenario: Scenario::from_str(text, "s.toml").expect("a scenario"),
        algorithms: algorithms.iter().map(|a| (*a).to_owned()).collect(),
        settings: Vec::new(),
        flows: Vec::new(),
        seeds,
        baseline: None,
        jitter: None,
        measure: Some(measure),
        harm: false,
        world: World::Sim,
    };
    Choice::new(request.question().expect("a question"), spread, Vec::new()).expect("a choice")
}

fn runs(choice: &Choice) -> Vec<RunRecord> {
    let (memory, failed) = Runner::new(0).in_memory(&choice.tasks(), |_| ()).expect("runs");
    assert!(failed.is_empty());
    memory.into_records()
}

fn advice(choice: &Choice) -> Advice {
    choice.advice(&runs(choice)).expect("advice")
}

/// Rate, delay of one direction, random loss, queue; `docs/choose-agrees` has ten, with every candidate.
const NETWORKS: [[&str; 4]; 2] =
    [["5Mbps", "50ms", "0.1%", "1bdp"], ["2Mbps", "50ms", "2%", "1bdp"]];

/// Compares the advice of 12 draws with the means of 60 draws. Returns whether they agree, and the advice.
fn agrees([rate, delay, loss, queue]: [&str; 4], algorithms: &[&str]) -> (bool, Advice) {
    let spread = Spread { rate: 1.5, delay: 1.5, loss: 2.0 };
    let text = DOWNLOAD.replace("1%", loss).replace("2Mbps", rate).replace("50ms", delay);
    let text = text.replace("1bdp", queue);
    let few = advice(&choice(&text, algorithms, Measure::Completion, spread, 12));
    let records = runs(&choice(&text, algorithms, Measure::Completion, spread, 60));
    let mean = |name: &str| {
        let own = records.iter().filter(|r| r.flows[0].algorithm == name);
        // An unfinished run counts as longer than all finished runs.
        let own: Vec<f64> = own.map(|r| r.flows[0].completion_s.unwrap_or(f64::INFINITY)).collect();
        assert_eq!(own.len(), 60, "{name}");
        own.iter().sum::<f64>() / own.len() as f64
    };
    let best = algorithms.iter().min_by(|a, b| mean(a).total_cmp(&mean(b)));
    let best = *best.expect("one at least");
    assert_eq!(few.decided, few.alike.is_empty());
    (few.algorithm == best || few.alike.iter().any(|a| a == best), few)
}

#[test]
fn advice_agrees_with_an_exhaustive_comparison_or_is_undecided() {
    for network in &NETWORKS {
        let (agrees, advice) = agrees(*network, &["reno", "cubic", "bbr", "vegas"]);
        assert!(agrees, "{network:?}: {:?}", advice.sentences);
    }
}

#[test]
fn draws_depend_only_on_the_seed_and_a_network_known_exactly_does_not_vary() {
    let spread = Spread { rate: 2.0, delay: 2.0, loss: 2.0 };
    let drawn = choice(DOWNLOAD, &["reno", "cubic"], Measure::Completion, spread, 8).tasks();
    let rates = |of: &[windlass_lab::run::Task]| -> Vec<u64> {
        of.iter().map(|t| t.scenario.links[0].rate_bps).collect()
    };
    let (reno, cubic) = drawn.split_at(8);
    assert_eq!(rates(reno), rates(cubic));
    assert!(rates(reno).iter().all(|r| (1_000_000..=4_000_000).contains(r)));
    assert!(rates(reno).windows(2).all(|w| w[0] != w[1]));
    let exact = Spread { rate: 1.0, delay: 1.0, loss: 1.0 };
    let exact = choice(DOWNLOAD, &["reno", "cubic"], Measure::Completion, exact, 8).tasks();
    assert!(rates(&exact).iter().all(|r| *r == 2_000_000));
}

#[test]
fn the_advice_lists_networks_on_which_another_algorithm_is_better() {
    // With few losses CUBIC and BBR finish at similar times. With many losses only BBR keeps its rate.
    let text = DOWNLOAD.replace("1%", "0.3%").replace("1MB", "4MB").replace("2Mbps", "10Mbps");
    let spread = Spread { rate: 1.0, delay: 1.0, loss: 30.0 };
    let choice = choice(&text, &["cubic", "bbr", "vegas"], Measure::Completion, spread, 30);
    let advice = advice(&choice);
    assert_eq!(advice.algorithm, "bbr", "{:?}", advice.sentences);
    for turn in &advice.turns {
        assert_eq!(turn.property, Property::Loss);
        assert!(!turn.much && turn.factor < 1.0 && turn.difference < 0.0, "{turn:?}");
    }
}

#[test]
fn too_few_networks_invalid_factors_and_missing_measures_are_errors() {
    let request = || Request {
        scenario: Scenario::from_str(DOWNLOAD, "s.toml").expect("a scenario"),
        algorithms: vec!["reno".to_owned(), "cubic".to_owned()],
        settings: Vec::new(),
        flows: Vec::new(),
        seeds: 3,
        baseline: None,
        jitter: None,
        measure: Some(Measure::Jain),
        harm: false,
        world: World::Sim,
    };
    let exact = Spread { rate: 1.0, delay: 1.0, loss: 1.0 };
    let question = request().question().expect("a question");
    let error = Choice::new(question, exact, Vec::new()).expect_err("three networks");
    assert!(
        error.to_string().contains("3 networks are too few for advice; expected 6 or more"),
        "{error}"
    );
    let question = Request { seeds: 6, ..request() }.question().expect("a question");
    let wide = Spread { loss: 0.5, ..exact };
    let error = Choice::new(question.clone(), wide, Vec::new()).expect_err("a factor below 1");
    assert!(error.to_string().contains("a factor from 1"), "{error}");
    let choice = Choice::new(question, exact, Vec::new()).expect("a choice");
    let error = choice.advice(&runs(&choice)).expect_err("one flow has no fairness");
    assert!(error.to_string().contains("this network has no Jain's index"), "{error}");
}

/// A transfer that fits into the initial window, over a path whose RTT exceeds the initial timeout.
#[test]
fn the_advice_names_the_settings_that_matter_if_all_candidates_are_equal() {
    let text = DOWNLOAD.replace("1MB", "100B").replace("50ms", "1500ms").replace("1%", "0%");
    let exact = Spread { rate: 1.0, delay: 1.0, loss: 1.0 };
    let choice = choice(&text, &["tahoe", "reno", "cubic"], Measure::Completion, exact, 6);
    let advice = advice(&choice);
    assert!(advice.identical && !advice.decided, "{:?}", advice.sentences);
    let [does, why, instead] = &advice.sentences;
    assert!(does.starts_with("The algorithm does not matter here: all 3 candidates"), "{does}");
    assert!(why.contains("sends at most 100B at once"), "{why}");
    for part in ["initial timeout of 1s is below the RTT of 3", "stack.rto", "stack.initial_window"]
    {
        assert!(instead.contains(part), "{part}: {instead}");
    }
    assert!(!windlass_lab::choose::text(&advice, &[]).contains("The advice is the same"));
}

const COAP: &str = r#"
    duration = "3600s"
    [[link]]
    between = ["meter", "server"]
    rate = "60kbps"
    delay = "2s"
    [[flow]]
    name = "m"
    from = "meter"
    to = "server"
    traffic = { kind = "coap", every = "60s", gaps = "constant", size = "40B", response = "10B" }
"#;

/// The response takes twice as long as the initial timeout, and no packet is lost.
#[test]
fn candidates_for_coap_are_its_timers_and_a_timer_that_fits_the_rtt() {
    use windlass_lab::choose::{Device, candidates};
    let scenario = Scenario::from_str(COAP, "s.toml").expect("a scenario");
    let (timers, left_out) = candidates(&scenario, &Device::default()).expect("timers");
    assert_eq!(timers, ["coap", "cocoa", "cocoa+", "fasor", "coap:initial=9s"]);
    assert!(left_out.is_empty());
    let device = Device { memory: Some(100), flash: None };
    assert!(candidates(&scenario, &device).expect_err("not counted").to_string().contains("CoAP"));
    let names: Vec<&str> = timers.iter().map(String::as_str).collect();
    let exact = Spread { rate: 1.0, delay: 1.0, loss: 1.0 };
    let advice = advice(&choice(COAP, &names, Measure::Exchange, exact, 6));
    assert_eq!(advice.algorithm, "coap:initial=9s", "{:?}", advice.sentences);
    let said = &advice.sentences[1];
    assert_eq!(
        said,
        "It matters for retransmissions (%): 0 with coap:initial=9s, and 50 with coap."
    );
    let once =
        COAP.replace("size =", "confirmable = false, size =").replace(", response = \"10B\"", "");
    let once = Scenario::from_str(&once, "s.toml").expect("a scenario");
    let error = candidates(&once, &Device::default()).expect_err("no timer").to_string();
    assert!(error.contains("no confirmable CoAP flow") && !error.contains("--flows"), "{error}");
}

/// A SYN over a path with an RTT of 1.5 s: an initial timeout of 1 s sends it twice, which costs bytes and no time.
#[test]
fn settings_are_compared_one_at_a_time_and_bytes_count_both_directions() {
    let meter = r#"
        duration = "60s"
        [[link]]
        between = ["meter", "server"]
        rate = "60kbps"
        delay = "750ms"
        [[flow]]
        from = "meter"
        to = "server"
        algorithm = "newreno"
        traffic = { kind = "bulk", bytes = "400B" }
    "#;
    let named = ["stack.rto.initial=4s".to_owned(), "stack.initial_window=4mss".to_owned()];
    let changed = windlass_lab::sweep::settings(meter, &named).expect("settings");
    let labels: Vec<&str> = changed.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels, ["initial=4s", "initial_window=4mss"]);
    let with = |set: &[(String, String)]| Scenario::with_overrides(meter, "meter.toml", set);
    let mut settings = vec![("as given".to_owned(), with(&[]).expect("a scenario"))];
    settings.extend(changed.iter().map(|(l, set)| (l.clone(), with(set).expect("a scenario"))));
    let request = Request {
        scenario: settings[0].1.clone(),
        algorithms: Vec::new(),
        settings,
        flows: Vec::new(),
        seeds: 6,
        baseline: None,
        jitter: None,
        measure: Some(Measure::Bytes),
        harm: false,
        world: World::Sim,
    };
    let spread = Spread { rate: 1.0, delay: 1.0, loss: 1.0 };
    let choice = Choice::new(request.question().expect("a question"), spread, Vec::new());
    let advice = advice(&choice.expect("a choice"));
    assert_eq!(advice.algorithm, "initial=4s");
    assert!(advice.sentences[0].starts_with("Set initial=4s: "), "{:?}", advice.sentences);
    let bytes = &advice.findings.rankings[0];
    let of = |i: usize| bytes.entries.iter().find(|e| e.algorithm == i).and_then(|e| e.mean);
    let [given, late] = [0, 1].map(|i| of(i).expect("a mean"));
    // The second SYN of 60 bytes, and the packets that both ends send because of it.
    assert!((0.06..0.4).contains(&(given - late)), "{given} kB, {late} kB");
    assert!(late > 0.4 + 5.0 * 0.04, "400 B, and the headers of both directions: {late} kB");
}
