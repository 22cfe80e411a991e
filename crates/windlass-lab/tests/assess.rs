//! The examination of RFC 9743: its files fit each other, and what literature knows of algorithms comes out.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use windlass_cc::{AnyParams, Conn, Control, Event, Rate};
use windlass_lab::assess::{Assessed, EXAMINATIONS, Examination, Grade, Scorecard, Subject};
use windlass_lab::reproduce::{Options, Reproduction};
use windlass_lab::run::{Failed, Runner, Simulator, World, simulate};
use windlass_lab::scenario::{Candidate, FlowSpec, Scenario};
use windlass_tcp::CongestionControl;

fn examination(id: &str) -> &'static Examination {
    EXAMINATIONS.iter().find(|e| e.id() == id).expect("it is built in and right")
}

fn rfc() -> &'static Examination {
    examination("rfc9743")
}

/// Some families, judged on the runs of an algorithm.
fn assessed(algorithm: &str, families: &[&str]) -> Scorecard {
    assessed_by(rfc(), algorithm, families)
}

fn assessed_by(whole: &Examination, algorithm: &str, families: &[&str]) -> Scorecard {
    let dir = tempfile::tempdir().expect("a folder");
    let families: Vec<String> = families.iter().map(|f| (*f).to_owned()).collect();
    let examination = whole.only(&families).expect("families of the examination");
    let subject = Candidate::parse(algorithm).expect("an algorithm");
    let subject = Subject::from(&subject);
    let paper = examination.of(&subject, World::Sim, "windlass assess");
    let options = Options {
        budget: Some(60.0),
        seeds: None,
        on: vec![World::Sim],
        shard: None,
        out: dir.path().to_path_buf(),
        command: "windlass assess".to_owned(),
    };
    let runner = Runner::new(0);
    let mut work = Reproduction::prepare(&paper, &options).expect("prepared");
    assert!(work.work(&runner, |_| ()).expect("runs are kept").is_empty());
    let assessed = examination.conclude(&subject, &work, &runner, &[]).expect("a scorecard");
    for name in ["scorecard.html", "scorecard.md", "scorecard.json", "report.html"] {
        assert!(assessed.dir.join(name).is_file(), "{name}");
    }
    let network = assessed.scorecard.families[0].criteria[0].networks.first().expect("a network");
    assert!(network.commands.iter().all(|c| c.contains(".toml' --seeds ")), "{network:?}");
    assessed.scorecard
}

#[test]
fn the_files_of_the_examination_fit_each_other() {
    let subject = Candidate::parse("newreno:increase=per-byte").expect("an algorithm");
    let checked = rfc().check_for(&subject);
    let checked = checked.unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert!(checked.claims > 100 && checked.points > 50, "{checked:?}");
}

#[test]
fn a_subject_with_one_path_is_not_asked_for_several_and_rivals_are_told() {
    assert_eq!(rfc().rivals(), ["cubic", "reno", "bbr"]);
    let parts = ["path.goodput.policer", "multipath"].map(str::to_owned);
    let both = rfc().only(&parts).expect("parts");
    let subject = Candidate::parse("reno").expect("an algorithm");
    let claims = |asked: &Examination| asked.check_for(&subject).expect("right").claims;
    assert_eq!(claims(&both), 6);
    assert_eq!(claims(&both.on_one_path("it has one")), 2);
}

#[test]
fn an_algorithm_without_back_off_fails_where_it_must_and_cubic_does_not() {
    let families = ["loss.four.50M-50ms-1bdp", "bufferbloat.wait.10M-40ms-8bdp"];
    let bad = assessed("scalable:cut=0.001:acks_per_segment=1:legacy_window=0pkt", &families);
    assert_eq!(bad.family("loss").map(|f| f.grade), Some(Grade::Fail));
    assert_eq!(bad.family("bufferbloat").map(|f| f.grade), Some(Grade::Fail));
    let cubic = assessed("cubic", &families);
    assert_eq!(cubic.family("loss").map(|f| f.grade), Some(Grade::Pass));
    // The RFC's own words on CUBIC: it does not address this problem.
    assert_eq!(cubic.family("bufferbloat").map(|f| f.grade), Some(Grade::Concern));
}

#[test]
fn bbr_loses_and_harms_where_the_queue_is_short() {
    // The example of section 5.1.3, and Ware and others, IMC 2019.
    let bbr = assessed("bbr", &["loss.four.50M-50ms-0.3bdp", "general.cubic.10M-40ms-0.3bdp"]);
    assert_eq!(bbr.grade("loss", "four", "50M-50ms-0.3bdp"), Some(Grade::Fail));
    assert_eq!(bbr.grade("general", "cubic", "10M-40ms-0.3bdp"), Some(Grade::Fail));
}

#[test]
fn vegas_does_not_hold_its_own_beside_cubic() {
    let vegas = assessed("vegas", &["standing.cubic.8M-50ms-4bdp"]);
    assert!(vegas.families[0].grade >= Grade::Concern, "{:?}", vegas.families);
}

#[test]
fn without_slow_start_a_ledbat_that_comes_late_takes_what_the_first_had() {
    // Carofiglio and others, 2010: it takes the queue of the first for the path's delay.
    let late = "ledbat:initial_ssthresh=10000B";
    let ledbat = assessed(late, &["fairness.latecomer.10M-40ms-8bdp"]);
    assert_ne!(ledbat.families[0].grade, Grade::Pass, "{:?}", ledbat.families);
}

#[test]
fn dctcp_is_for_itself_where_queues_mark() {
    // RFC 8257 section 5: it answers marks less than others answer losses.
    let dctcp = assessed("dctcp", &["aqm.cubic.codel-ecn"]);
    assert_eq!(dctcp.families[0].grade, Grade::Fail);
}

#[test]
fn ledbat_alone_leaves_the_queue_at_its_target() {
    // RFC 6817: 100 ms, in a queue of 200 ms.
    let ledbat =
        assessed("ledbat", &["bufferbloat.wait.8M-50ms-4bdp", "standing.cubic.8M-50ms-4bdp"]);
    let wait = ledbat.families[0].criteria[0].networks[0].measured.expect("measured");
    assert!((95.0..105.0).contains(&wait), "{wait} ms");
    assert_ne!(ledbat.families[1].grade, Grade::Pass, "it yields there: {:?}", ledbat.families);
}

#[test]
fn a_receiver_that_splits_acknowledgements_shows_bbr_no_more_than_the_path_carries() {
    // Pieces that counted as deliveries made its estimate too high, and ten packets wait. The way back carries them all at once.
    let queue = |lies: &str| {
        let changes = [
            ("flow.subject.algorithm", "bbr"),
            ("flow.subject.stack.lies", lies),
            ("link.bottleneck.back.rate", "1Gbps"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()));
        let path = include_str!("../src/adversary/path.toml");
        let scenario = Scenario::with_overrides(path, "path.toml", &changes).expect("a scenario");
        let run = simulate(&scenario, 1).expect("a run");
        let link = run.links.iter().find(|l| l.name == "bottleneck:router>client");
        link.expect("it is there").mean_queue_packets
    };
    let (honest, lying) = (queue("none"), queue("splits-acks"));
    assert!(lying < honest + 2.0, "{lying} packets wait, {honest} without a lie");
}

#[test]
fn bbr3_passes_the_cases_of_its_draft() {
    let families = ["startup-plateau", "drain-inflight", "up-plateau", "limited", "probe-rtt"];
    let bbr3 = assessed_by(examination("bbr-draft"), "bbr3", &families);
    assert!(bbr3.families.iter().all(|f| f.grade == Grade::Pass), "{:#?}", bbr3.families);
}

#[test]
fn what_the_adversary_found_stays_found_and_what_was_mended_stays_mended() {
    let found = |algorithm: &str, case: &str| {
        assessed_by(examination("weaknesses"), algorithm, &[case]).families[0].grade
    };
    assert_eq!(found("newreno", "low-rate"), Grade::Fail);
    assert_eq!(found("vegas", "jitter"), Grade::Fail);
    assert_eq!(found("copa", "jitter"), Grade::Fail);
    assert_eq!(found("cubic", "thin-acks"), Grade::Fail);
    // Startup ends at a fiftieth of the rate, and the estimate takes forty seconds to come back; Linux's does the same.
    assert_eq!(found("bbr", "stall"), Grade::Fail);
    // A paced sender with less than a packet a round trip was taken to be idle at each.
    assert_eq!(found("bbr", "spike"), Grade::Pass);
}

#[test]
fn a_claim_without_its_place_in_the_scorecard_is_refused_where_it_stands() {
    let dir = tempfile::tempdir().expect("a folder");
    let from =
        std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examinations/rfc9743"));
    for entry in std::fs::read_dir(from).expect("the folder") {
        let path = entry.expect("a file").path();
        let name = path.file_name().expect("a name").to_owned();
        std::fs::copy(&path, dir.path().join(name)).expect("copied");
    }
    let file = dir.path().join("claims.toml");
    let text = std::fs::read_to_string(&file).expect("claims");
    let cases = [
        (
            "collapse.useful.{{ net }}.{{ level }}",
            "collapse.used.{{ net }}.{{ level }}",
            "no criterion `used`",
        ),
        (
            "collapse.useful.{{ net }}.{{ level }}",
            "collapse.useful{{ net }}{{ level }}",
            "must be called FAMILY.CRITERION",
        ),
        (
            "[[\"pass\", 0.8], [\"fail\", 0.5]]",
            "[[\"pass\", 0.5], [\"fail\", 0.8]]",
            "the second less",
        ),
        ("[[\"pass\", 0.8], [\"fail\", 0.5]]", "[[\"pass\", 0.8]]", "has no counterpart"),
    ];
    for (from, to, expected) in cases {
        std::fs::write(&file, text.replacen(from, to, 1)).expect("written");
        let error = Examination::read(dir.path()).expect_err("a mistake").to_string();
        assert!(error.contains(expected) && error.contains("claims.toml:"), "{error}");
    }
}

/// An algorithm from outside that fills the queue at once, and panics when it hears of a loss.
#[derive(Clone, Debug)]
struct Panics {
    window: u64,
}

impl CongestionControl for Panics {
    fn begin(&mut self, _: &AnyParams, conn: &Conn) {
        self.window = 4000 * u64::from(conn.mss);
    }

    fn on_event(&mut self, _: &Conn, event: &Event) {
        assert!(matches!(event, Event::Ack(_)), "what is that?");
    }

    fn control(&self) -> Control {
        Control { cwnd: self.window, ssthresh: u64::MAX, pacing: Rate(0) }
    }

    fn boxed(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// An algorithm from outside whose window of so many segments closes for good when it hears of a loss.
#[derive(Clone, Debug)]
struct Stalls {
    segments: u64,
    window: u64,
}

impl CongestionControl for Stalls {
    fn begin(&mut self, _: &AnyParams, conn: &Conn) {
        self.window = self.segments * u64::from(conn.mss);
    }

    fn on_event(&mut self, _: &Conn, event: &Event) {
        if !matches!(event, Event::Ack(_)) {
            self.window = 0;
        }
    }

    fn control(&self) -> Control {
        Control { cwnd: self.window, ssthresh: u64::MAX, pacing: Rate(0) }
    }

    fn boxed(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// Some families judged on so many runs a point of an algorithm from outside, and the runs that failed.
fn assessed_from_outside(
    dir: &Path,
    examination: &Examination,
    seeds: u32,
    algorithm: impl CongestionControl + Sync + 'static,
) -> (Assessed, Vec<Failed>) {
    let seat = Candidate::parse("newreno").expect("an algorithm");
    let subject = Subject::in_place_of(&seat, "outsider".to_owned());
    let paper = examination.of(&subject, World::Sim, "a test");
    let options = Options {
        budget: None,
        seeds: Some(seeds),
        on: vec![World::Sim],
        shard: None,
        out: dir.to_path_buf(),
        command: "a test".to_owned(),
    };
    let stop = Arc::new(AtomicBool::new(false));
    let outsider = move |flow: &FlowSpec| -> Option<Box<dyn CongestionControl>> {
        (flow.algorithm() == "newreno").then(|| algorithm.boxed())
    };
    let simulator = Simulator::until(stop.clone()).with_controllers(Arc::new(outsider));
    let runner = Runner::on(simulator, stop, 0);
    let mut work = Reproduction::prepare(&paper, &options).expect("prepared");
    let failed = work.work(&runner, |_| ()).expect("the others go on");
    (examination.conclude(&subject, &work, &runner, &[]).expect("a scorecard"), failed)
}

#[test]
fn an_algorithm_that_panics_leaves_a_scorecard_that_says_what_was_not_run() {
    let dir = tempfile::tempdir().expect("a folder");
    let parts = ["loss.four.50M-50ms-1bdp", "far"].map(str::to_owned);
    let examination = rfc().only(&parts).expect("families").without("far", "it is near");
    let (assessed, failed) =
        assessed_from_outside(dir.path(), &examination, 2, Panics { window: 0 });
    assert!(failed.iter().any(|f| f.to_string().contains("panicked: what is that?")), "{failed:?}");
    let card = &assessed.scorecard;
    assert_eq!(card.algorithm, "outsider");
    assert_eq!(card.family("loss").map(|f| f.grade), Some(Grade::NotRun));
    assert_eq!(card.family("far").map(|f| f.grade), Some(Grade::NotJudged));
    let criteria = card.families.iter().flat_map(|f| &f.criteria);
    assert!(criteria.flat_map(|c| &c.networks).all(|n| n.commands.is_empty()));
    let reasons =
        std::fs::read_to_string(assessed.dir.join("failures.jsonl")).expect("the reasons");
    assert!(reasons.contains("what is that?"), "{reasons}");
}

#[test]
fn an_algorithm_that_stops_sending_fails_by_what_it_does_not_deliver() {
    let parts = ["wired.goodput.10M-40ms-1bdp", "loss.four.50M-50ms-1bdp"];
    let examination = rfc().only(&parts.map(str::to_owned)).expect("families");
    // The second never sends but what its timer repeats, which loses nothing.
    for (segments, loss) in [(4000, Grade::Fail), (0, Grade::Pass)] {
        let dir = tempfile::tempdir().expect("a folder");
        let stalls = Stalls { segments, window: 0 };
        let (assessed, failed) = assessed_from_outside(dir.path(), &examination, 12, stalls);
        assert!(failed.is_empty(), "{failed:?}");
        let wired = assessed.scorecard.family("wired").expect("it was asked");
        assert_eq!(wired.grade, Grade::Fail);
        assert_eq!(assessed.scorecard.family("loss").map(|f| f.grade), Some(loss));
        let goodput = wired.criteria[0].networks[0].measured.expect("runs were made");
        assert!(goodput < 0.01, "{goodput} of the rate");
    }
}
