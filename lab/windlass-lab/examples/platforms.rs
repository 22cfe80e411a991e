//! Prints hashes of results and pages, which must be equal on every platform: `tests/platforms` compares them.
//!
//! Arguments: the folder of the repository, an empty folder for files, the maximum duration of a scenario in seconds,
//! and the cases. Each line of output has a case, a part of its results, the number of bytes, and SHA-256.

use std::error::Error;
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};
use windlass_cc::Span;
use windlass_lab::adversary::{Bounds, Goal, Search};
use windlass_lab::assess::{EXAMINATIONS, Subject};
use windlass_lab::compare::{Request, files, text};
use windlass_lab::report::html;
use windlass_lab::reproduce::{Options, Reproduction};
use windlass_lab::run::{Runner, World, simulate};
use windlass_lab::run_page;
use windlass_lab::scenario::{Candidate, Scenario};
use windlass_lab::stats::{Summary, bootstrap, effect, paired, share};

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [root, out, seconds, cases @ ..] = &args[..] else {
        return Err("usage: platforms ROOT OUT SECONDS CASE...".into());
    };
    let (root, out) = (Path::new(root), Path::new(out));
    for case in cases {
        match case.as_str() {
            "break" => search(case)?,
            "compare" => compare(case, root, out)?,
            "assess" => assess(case, out)?,
            "statistics" => statistics(case),
            path => scenario(path, root, seconds.parse()?)?,
        }
    }
    Ok(())
}

fn tell(case: &str, part: &str, bytes: impl AsRef<[u8]>) {
    let bytes = bytes.as_ref();
    let hash: String = Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
    println!("{case} {part} {} {hash}", bytes.len());
}

/// All results of a run with all digits, and its page.
fn scenario(path: &str, root: &Path, seconds: u64) -> Outcome {
    let mut scenario = Scenario::from_file(root.join("scenarios").join(path))?;
    scenario.duration = scenario.duration.min(Span(seconds * 1_000_000_000));
    let result = simulate(&scenario, scenario.seed)?;
    tell(path, "run", serde_json::to_string(&result)?);
    tell(path, "page", html::sections(&run_page::look(&scenario, scenario.seed, true)?)?);
    Ok(())
}

fn search(case: &str) -> Outcome {
    let bounds = Bounds {
        losses: 20,
        bursts: 0.1,
        outages_ms: 200,
        queue: [8, 132],
        rate: 0.5,
        jitter_ms: 20,
        acks_ms: 20,
    };
    let subject = Candidate::parse("cubic")?;
    let (goal, world) = (Goal::Idleness, World::Sim);
    let search = Search { subject, rival: None, goal, bounds, runs: 73, seed: 1, world };
    let found = search.work(&Runner::new(0), || ())?;
    tell(case, "attack", serde_json::to_string(&found)?);
    tell(case, "scenario", found.scenario.resolved_toml());
    Ok(())
}

fn compare(case: &str, root: &Path, out: &Path) -> Outcome {
    let request = Request {
        scenario: Scenario::from_file(root.join("scenarios/lossy-download.toml"))?,
        algorithms: ["newreno", "cubic", "bbr"].map(str::to_owned).to_vec(),
        settings: Vec::new(),
        flows: Vec::new(),
        seeds: 12,
        baseline: None,
        jitter: None,
        measure: None,
        harm: true,
        world: World::Sim,
    };
    let question = request.question()?;
    let records = Runner::new(0).in_memory(&question.tasks(), |_| ())?.0.into_records();
    let findings = question.answer(&records);
    tell(case, "findings", serde_json::to_string(&findings)?);
    tell(case, "text", text(&findings, 100));
    let folder = out.join("compare");
    files::keep(&folder, &findings, &records, "windlass compare")?;
    tell_files(case, &folder)
}

fn assess(case: &str, out: &Path) -> Outcome {
    let whole = EXAMINATIONS.iter().find(|e| e.id() == "rfc9743").ok_or("no examination")?;
    let wrong = |known: Vec<String>| format!("the families are {}", known.join(", "));
    let part = whole.only(&["bufferbloat".to_owned()]).map_err(wrong)?;
    let subject = Subject::from(&Candidate::parse("cubic")?);
    let paper = part.of(&subject, World::Sim, "windlass assess");
    let options = Options {
        budget: None,
        seeds: Some(6),
        on: vec![World::Sim],
        shard: None,
        out: out.join("assess"),
        command: "windlass assess".to_owned(),
    };
    let runner = Runner::new(0);
    let mut work = Reproduction::prepare(&paper, &options)?;
    work.work(&runner, |_| ())?;
    let assessed = part.conclude(&subject, &work, &runner, &[])?;
    assessed.files?;
    tell_files(case, &assessed.dir)
}

/// The result files of a folder. The journal has the order in which runs finished, `meta.json` has dates, and
/// `paper.json` has the path of the examination.
fn tell_files(case: &str, folder: &Path) -> Outcome {
    let mut paths: Vec<_> =
        fs::read_dir(folder)?.map(|e| Ok(e?.path())).collect::<Result<_, std::io::Error>>()?;
    paths.sort();
    for path in paths.iter().filter(|p| p.is_file()) {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if !["journal.jsonl", "meta.json", "paper.json", "batch.lock"].contains(&name) {
            tell(case, name, fs::read(path)?);
        }
    }
    Ok(())
}

/// Intervals and tests of samples with many sizes and forms.
fn statistics(case: &str) {
    let mut state = 1_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((state >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    };
    let mut told = String::new();
    for n in 2..200 {
        let values: Vec<f64> = (0..n).map(|_| -libm::log(uniform())).collect();
        let shifted: Vec<f64> = values.iter().map(|v| v - 0.8).collect();
        let options = bootstrap::Options::default();
        told += &format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {:?}\n",
            Summary::of(&values),
            bootstrap::percentile_t(&values, options),
            paired::t_test(&shifted, 0.95),
            paired::signed_rank(&shifted),
            effect::hodges_lehmann(&shifted, 0.95),
            share::exact(n as u64 / 7, n as u64),
            share::exact(n as u64 * 40, n as u64 * 1_000),
        );
    }
    tell(case, "intervals", told);
}
