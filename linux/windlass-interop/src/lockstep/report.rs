//! The results of many cases.

use std::collections::BTreeMap;
use std::fmt;

use super::case::Case;
use super::finding::{Finding, Outcome};
use super::run::Played;

/// Maximum number of seeds to list per cause.
const NAMED: usize = 12;

/// The cases by result. Cases that differ are grouped by their apparent cause.
#[derive(Debug)]
pub struct Report {
    cases: usize,
    equal: usize,
    segments: u64,
    ties: Vec<u64>,
    failed: Vec<(u64, String)>,
    causes: Vec<Cause>,
}

/// Cases with the same signature.
#[derive(Debug)]
struct Cause {
    signature: String,
    /// Seeds; the seed with the shortest exchange is first.
    seeds: Vec<u64>,
    example: Finding,
    shrunk: Option<Played>,
}

impl Report {
    /// Sorts the results. The most frequent cause is first.
    pub fn new(played: &[Played]) -> Report {
        let mut report = Report {
            cases: played.len(),
            equal: 0,
            segments: 0,
            ties: Vec::new(),
            failed: Vec::new(),
            causes: Vec::new(),
        };
        let mut by_cause: BTreeMap<String, Vec<(usize, u64, &Finding)>> = BTreeMap::new();
        for one in played {
            let seed = one.case.seed;
            match &one.outcome {
                Ok(Outcome::Equal(segments)) => {
                    report.equal += 1;
                    report.segments += u64::from(*segments);
                }
                Ok(Outcome::Tie(_)) => report.ties.push(seed),
                Ok(Outcome::Differs(finding)) => {
                    let lines = finding.script.lines().count();
                    let same = by_cause.entry(finding.signature()).or_default();
                    same.push((lines, seed, finding));
                }
                Err(why) => report.failed.push((seed, why.clone())),
            }
        }
        for (signature, mut same) in by_cause {
            same.sort_by_key(|one| (one.0, one.1));
            let example = same[0].2.clone();
            let seeds = same.iter().map(|one| one.1).collect();
            report.causes.push(Cause { signature, seeds, example, shrunk: None });
        }
        report.causes.sort_by_key(|cause| std::cmp::Reverse(cause.seeds.len()));
        report
    }

    /// Returns the number of cases that differ or could not be played.
    pub fn differing(&self) -> usize {
        self.causes.iter().map(|cause| cause.seeds.len()).sum::<usize>() + self.failed.len()
    }

    /// Returns the number of equal cases.
    pub fn equal(&self) -> usize {
        self.equal
    }

    /// The case of each cause with the shortest exchange.
    pub fn first_of_each_cause(&self, cases: &[Case]) -> Vec<Case> {
        let of = |cause: &Cause| cases.iter().find(|case| case.seed == cause.seeds[0]).cloned();
        self.causes.iter().filter_map(of).collect()
    }

    /// Adds a case that was shrunk.
    pub fn shrunk(&mut self, played: Played) {
        let seed = played.case.seed;
        if let Some(cause) = self.causes.iter_mut().find(|cause| cause.seeds[0] == seed)
            && let Some(finding) = played.outcome.as_ref().ok().and_then(Outcome::difference)
        {
            cause.example = finding.clone();
            cause.shrunk = Some(played);
        }
    }

    /// Returns a script of each cause, with a file name.
    pub fn scripts(&self) -> impl Iterator<Item = (String, &str)> {
        self.causes
            .iter()
            .map(|cause| (format!("lockstep-{}.script", cause.seeds[0]), &*cause.example.script))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for cause in &self.causes {
            writeln!(f, "{cause}")?;
        }
        for (seed, why) in &self.failed {
            writeln!(f, "seed {seed} could not be played: {why}")?;
        }
        if !self.ties.is_empty() {
            writeln!(f, "ties: seeds {}", list(&self.ties))?;
        }
        let differ = self.causes.iter().map(|cause| cause.seeds.len()).sum::<usize>();
        writeln!(
            f,
            "{} cases: {} equal ({} segments), {} ties, {differ} differ in {} ways, {} not played",
            self.cases,
            self.equal,
            self.segments,
            self.ties.len(),
            self.causes.len(),
            self.failed.len()
        )
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let e = &self.example;
        writeln!(f, "{} x {}: seeds {}", self.seeds.len(), self.signature, list(&self.seeds))?;
        writeln!(f, "  kernel    > {}", e.kernel)?;
        writeln!(f, "  endpoint  > {}", e.endpoint)?;
        writeln!(f, "  kernel    {}", e.states[0])?;
        writeln!(f, "  endpoint  {}", e.states[1])?;
        if let Some(parted) = &e.parted {
            writeln!(f, "  windows differ {parted}")?;
        }
        if let Some(played) = &self.shrunk {
            let said = played.script.as_ref().map(|both| match both {
                [Ok(()), Err(_)] => "the kernel passes it, the endpoint does not".to_owned(),
                [Err(why), _] => format!("the kernel does not pass it: {why}"),
                [Ok(()), Ok(())] => "both pass it".to_owned(),
            });
            writeln!(f, "  shrunk    {}", said.unwrap_or_default())?;
        }
        e.script.lines().try_for_each(|line| writeln!(f, "    {line}"))
    }
}

fn list(seeds: &[u64]) -> String {
    let named: Vec<String> = seeds.iter().take(NAMED).map(u64::to_string).collect();
    let more = seeds.len().saturating_sub(NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", named.join(", "))
}
