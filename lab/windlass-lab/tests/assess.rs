//! The examinations: their files are consistent, and the grades agree with the literature on the algorithms.

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
    EXAMINATIONS.iter().find(|e| e.id() == id).expect("a valid built-in examination")
}

fn rfc() -> &'static Examination {
    examination("rfc9743")
}

/// Scorecard of an algorithm for some families.
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
fn the_files_of_the_rfc_9743_examination_are_consistent() {
    let subject = Candidate::parse("newreno:increase=per-byte").expect("an algorithm");
    let checked = rfc().check_for(&subject);
    let checked = checked.unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert!(checked.claims > 100 && checked.points > 50, "{checked:?}");
}

#[test]
fn a_subject_with_one_path_has_no_claims_about_several_paths() {
    assert_eq!(rfc().rivals(), ["cubic", "reno", "bbr"]);
    let parts = ["path.goodput.policer", "multipath"].map(str::to_owned);
    let both = rfc().only(&parts).expect("parts");
    let subject = Candidate::parse("reno").expect("an algorithm");
    let claims = |asked: &Examination| asked.check_for(&subject).expect("right").claims;
    assert_eq!(claims(&both), 6);
    assert_eq!(claims(&both.on_one_path("it has one")), 2);
}

#[test]
fn an_algorithm_without_back_off_fails_loss_and_bufferbloat_and_cubic_does_not() {
    let families = ["loss.four.50M-50ms-1bdp", "bufferbloat.wait.10M-40ms-8bdp"];
    let bad = assessed("scalable:cut=0.001:acks_per_segment=1:legacy_window=0pkt", &families);
    assert_eq!(bad.family("loss").map(|f| f.grade), Some(Grade::Fail));
    assert_eq!(bad.family("bufferbloat").map(|f| f.grade), Some(Grade::Fail));
    let cubic = assessed("cubic", &families);
    assert_eq!(cubic.family("loss").map(|f| f.grade), Some(Grade::Pass));
    // The RFC states that CUBIC does not address this problem.
    assert_eq!(cubic.family("bufferbloat").map(|f| f.grade), Some(Grade::Concern));
}

#[test]
fn bbr_fails_on_loss_and_on_harm_to_cubic_with_a_short_queue() {
    // The example of section 5.1.3, and Ware and others, IMC 2019.
    let bbr = assessed("bbr", &["loss.four.50M-50ms-0.3bdp", "general.cubic.10M-40ms-0.3bdp"]);
    assert_eq!(bbr.grade("loss", "four", "50M-50ms-0.3bdp"), Some(Grade::Fail));
    assert_eq!(bbr.grade("general", "cubic", "10M-40ms-0.3bdp"), Some(Grade::Fail));
}

#[test]
fn vegas_does_not_pass_in_competition_with_cubic() {
    let vegas = assessed("vegas", &["standing.cubic.8M-50ms-4bdp"]);
    assert!(vegas.families[0].grade >= Grade::Concern, "{:?}", vegas.families);
}

#[test]
fn a_late_ledbat_flow_without_slow_start_is_unfair_to_the_first() {
    // Carofiglio and others, 2010: the late flow measures the first flow's queue as part of the base delay.
    let late = "ledbat:initial_ssthresh=10000B";
    let ledbat = assessed(late, &["fairness.latecomer.10M-40ms-8bdp"]);
    assert_ne!(ledbat.families[0].grade, Grade::Pass, "{:?}", ledbat.families);
}

#[test]
fn bbr_harms_prague_in_a_queue_that_marks_and_cubic_does_not() {
    // BBR, version 1, reacts to no mark. The coupling of DualPI2 is for Reno's and CUBIC's reactions (RFC 9332, 2.1).
    let networks = ["l4s.prague.dualpi2-10M", "l4s.latency.dualpi2-10M"];
    let bbr = assessed("bbr", &networks);
    assert_eq!(bbr.grade("l4s", "prague", "dualpi2-10M"), Some(Grade::Fail));
    let reno = assessed("reno", &networks);
    assert_eq!(reno.families[0].grade, Grade::Pass, "{:?}", reno.families);
}

#[test]
fn bbr_takes_the_rate_of_media_in_a_short_queue_and_vegas_leaves_it() {
    // BBR, version 1, does not react to the losses of a queue of less than 1.5 BDP (RFC 9743, section 5.1.3). Vegas keeps
    // the queue short, from which NADA takes its rate.
    let networks = ["realtime.media-rate.10M-40ms-0.3bdp", "realtime.media-delay.8M-50ms-4bdp"];
    let bbr = assessed("bbr", &networks[..1]);
    assert_eq!(bbr.grade("realtime", "media-rate", "10M-40ms-0.3bdp"), Some(Grade::Fail));
    let vegas = assessed("vegas", &networks);
    assert_eq!(vegas.families[0].grade, Grade::Pass, "{:?}", vegas.families);
    let delay = vegas.families[0].criteria.iter().find(|c| c.id == "media-delay").expect("asked");
    assert!(delay.networks[0].measured.expect("measured") < -100.0, "{delay:?}");
}

#[test]
fn a_flood_of_the_return_path_defeats_vegas_and_not_ledbat() {
    // Fu and Liew, IEEE Communications Letters, 2003: Vegas takes the wait of its acknowledgements for a queue of its data.
    // So does Windlass's LEDBAT, but these 40 ms are below its target.
    let grade = |algorithm| assessed(algorithm, &["attackers.goodput.ack-flood"]).families[0].grade;
    assert_eq!(grade("vegas"), Grade::Fail);
    assert_eq!(grade("ledbat"), Grade::Pass);
}

#[test]
fn families_of_the_simulator_are_not_judged_on_a_kernel() {
    let on = |world| rfc().on(world).check_for(&Candidate::parse("reno").expect("an algorithm"));
    let [sim, kernel] = [World::Sim, World::Linux].map(|world| on(world).expect("right").claims);
    // L4S has five criteria on two networks with two bounds.
    assert_eq!(sim - kernel, 20);
}

#[test]
fn dctcp_fails_in_competition_with_cubic_at_a_marking_queue() {
    // RFC 8257 section 5: it reduces cwnd less after a mark than other algorithms do after a loss.
    let dctcp = assessed("dctcp", &["aqm.cubic.codel-ecn"]);
    assert_eq!(dctcp.families[0].grade, Grade::Fail);
}

#[test]
fn ledbat_alone_keeps_the_queueing_delay_at_its_target() {
    // RFC 6817: 100 ms, in a queue of 200 ms.
    let ledbat =
        assessed("ledbat", &["bufferbloat.wait.8M-50ms-4bdp", "standing.cubic.8M-50ms-4bdp"]);
    let wait = ledbat.families[0].criteria[0].networks[0].measured.expect("measured");
    assert!((95.0..105.0).contains(&wait), "{wait} ms");
    assert_ne!(
        ledbat.families[1].grade,
        Grade::Pass,
        "LEDBAT yields to CUBIC: {:?}",
        ledbat.families
    );
}

#[test]
fn a_receiver_that_splits_acks_does_not_raise_the_bandwidth_estimate_of_bbr() {
    // If partial ACKs counted as deliveries, the estimate would be too high, and ten packets would wait. The
    // return path is fast, so that all partial ACKs arrive at once.
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
fn bbr3_passes_the_criteria_of_its_draft() {
    let families = ["startup-plateau", "drain-inflight", "up-plateau", "limited", "probe-rtt"];
    let bbr3 = assessed_by(examination("bbr-draft"), "bbr3", &families);
    assert!(bbr3.families.iter().all(|f| f.grade == Grade::Pass), "{:#?}", bbr3.families);
}

#[test]
fn known_weaknesses_fail_and_the_mended_bbr_spike_passes() {
    let found = |algorithm: &str, case: &str| {
        assessed_by(examination("weaknesses"), algorithm, &[case]).families[0].grade
    };
    assert_eq!(found("newreno", "low-rate"), Grade::Fail);
    assert_eq!(found("vegas", "jitter"), Grade::Fail);
    assert_eq!(found("copa", "jitter"), Grade::Fail);
    assert_eq!(found("cubic", "thin-acks"), Grade::Fail);
    // Startup ends at a fiftieth of the rate, and the estimate recovers after forty seconds. Linux's BBR does the same.
    assert_eq!(found("bbr", "stall"), Grade::Fail);
    // Before the fix, a paced sender with less than one packet per RTT counted as idle at each packet.
    assert_eq!(found("bbr", "spike"), Grade::Pass);
}

#[test]
fn the_error_of_a_claim_without_a_criterion_has_its_place_in_claims_toml() {
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
            "`fail` the weaker bound",
        ),
        ("[[\"pass\", 0.8], [\"fail\", 0.5]]", "[[\"pass\", 0.8]]", "has no counterpart"),
    ];
    for (from, to, expected) in cases {
        std::fs::write(&file, text.replacen(from, to, 1)).expect("written");
        let error = Examination::read(dir.path()).expect_err("a mistake").to_string();
        assert!(error.contains(expected) && error.contains("claims.toml:"), "{error}");
    }
}

/// An external algorithm that fills the queue at once, and panics at the first loss event.
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

/// An external algorithm with a constant cwnd, which it sets to 0 permanently at the first loss event.
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

/// Assessment of an external algorithm with `seeds` runs per point, and the failed runs.
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
    let failed = work.work(&runner, |_| ()).expect("the other runs continue");
    (examination.conclude(&subject, &work, &runner, &[]).expect("a scorecard"), failed)
}

#[test]
fn the_scorecard_of_an_algorithm_that_panics_grades_its_families_as_not_run() {
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
fn an_algorithm_that_stops_sending_fails_the_goodput_criterion() {
    let parts = ["wired.goodput.10M-40ms-1bdp", "loss.four.50M-50ms-1bdp"];
    let examination = rfc().only(&parts.map(str::to_owned)).expect("families");
    // The second algorithm sends only on timeouts, which causes no loss.
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
