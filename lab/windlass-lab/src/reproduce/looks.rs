//! Interim analyses: the verdicts at several numbers of runs.

use std::collections::BTreeSet;
use std::io::Write;

use serde::Serialize;

use super::Reproduction;
use super::error::ReproduceError;
use super::tasks::{draw_up, place, read_by_all};
use crate::claims::{Basis, Claim, Verdict};
use crate::papers::parts::tables::columns;
use crate::report::model::{Block, Row, Section, Table};
use crate::run::store::replace;
use crate::run::{Failed, RunRecord, Runner, Task, World};

/// The file in the paper's folder of results.
const FILE: &str = "looks.json";

/// Verdicts on the measured claims at several numbers of runs per point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Looks {
    /// Numbers of runs per point.
    pub runs: Vec<u64>,
    /// The claims in their order.
    pub claims: Vec<Looked>,
}

/// The verdicts on a claim at each interim analysis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Looked {
    /// Identifier of the claim.
    pub id: String,
    /// The verdicts, in the order of the interim analyses.
    pub verdicts: Vec<Verdict>,
}

impl Looked {
    fn new(claim: &Claim) -> Looked {
        Looked { id: claim.id.clone(), verdicts: Vec::new() }
    }

    /// True if the claim was decided in two different ways.
    pub fn changed_side(&self) -> bool {
        let decided: Vec<&Verdict> = self.verdicts.iter().filter(|v| v.is_decided()).collect();
        decided.windows(2).any(|pair| pair[0] != pair[1])
    }

    /// True if the claim was decided, and later undecided.
    pub fn reopened(&self) -> bool {
        self.verdicts.windows(2).any(|pair| pair[0].is_decided() && !pair[1].is_decided())
    }
}

impl Reproduction<'_> {
    /// Makes the runs of the last interim analysis for all points that claims read, in the simulator only, and writes
    /// `looks.json`. Decided points also get all runs. Returns the verdicts and the failed runs.
    ///
    /// # Errors
    ///
    /// A scenario is invalid, or results cannot be stored.
    pub fn looks(
        mut self,
        runs: &[u64],
        runner: &Runner,
        done: impl Fn(&RunRecord) + Sync,
    ) -> Result<(Looks, Vec<Failed>), ReproduceError> {
        self.tasks = self.looked(runs.iter().copied().max().unwrap_or(0))?;
        self.make(self.tasks.clone(), runner, &done)?;
        let measured = |claim: &&Claim| claim.basis() == Basis::Measured;
        let mut claims: Vec<Looked> =
            self.claims.iter().filter(measured).map(Looked::new).collect();
        for look in runs {
            let judged = self.judged(&self.records_up_to(*look), runner)?;
            let measured = judged.iter().filter(|j| j.kind == Basis::Measured);
            claims.iter_mut().zip(measured).for_each(|(c, j)| c.verdicts.push(j.verdict));
        }
        let looks = Looks { runs: runs.to_vec(), claims };
        replace(self.dir(), FILE, |out| {
            serde_json::to_writer_pretty(&mut *out, &looks)?;
            out.write_all(b"\n")
        })?;
        Ok((looks, self.campaign.failed().to_vec()))
    }

    /// Number of missing runs of the interim analyses.
    ///
    /// # Errors
    ///
    /// A scenario is invalid.
    pub fn to_look_at(&self, runs: &[u64]) -> Result<usize, ReproduceError> {
        let all = self.looked(runs.iter().copied().max().unwrap_or(0))?;
        Ok(self.campaign.missing(all).len())
    }

    fn looked(&self, runs: u64) -> Result<Vec<Task>, ReproduceError> {
        let read = read_by_all(self.paper, &self.plan, &self.claims)?;
        let read: BTreeSet<String> = read.into_iter().flatten().collect();
        draw_up(self.paper, &self.plan, |experiment, point| {
            let simulated = experiment.world(point) == World::Sim;
            if simulated && read.contains(&place(&experiment.id, &point.id)) {
                (1..=runs).collect()
            } else {
                Vec::new()
            }
        })
    }
}

impl Looks {
    /// The numbers of verdicts at each interim analysis, and the claims whose verdict changes.
    pub fn section(&self, title: &str) -> Section {
        let heads: Vec<String> = self.runs.iter().map(|n| format!("{n} runs")).collect();
        let heads = |first: &str| {
            let all = [first].into_iter().chain(heads.iter().map(String::as_str));
            columns(&all.collect::<Vec<_>>())
        };
        let count = |verdict: Verdict| {
            let at = |look| self.claims.iter().filter(|c| c.verdicts[look] == verdict).count();
            let counts: Vec<usize> = (0..self.runs.len()).map(at).collect();
            let cells = counts.iter().map(ToString::to_string);
            let cells = [verdict.badge().name.to_owned()].into_iter().chain(cells).collect();
            counts.iter().any(|n| *n > 0).then(|| Row { cells, ..Row::default() })
        };
        let row = |c: &Looked| {
            let said = c.verdicts.iter().map(|v| v.badge().name.to_owned());
            Row { cells: [c.id.clone()].into_iter().chain(said).collect(), ..Row::default() }
        };
        let differ = |c: &&Looked| c.verdicts.windows(2).any(|pair| pair[0] != pair[1]);
        let many = |what: &str, n: usize| format!("{n} of {} claims {what}.", self.claims.len());
        let changed = self.claims.iter().filter(|c| c.changed_side()).count();
        let reopened = self.claims.iter().filter(|c| c.reopened()).count();
        let tables = [
            Table {
                id: "looks".to_owned(),
                caption: format!("{title}: measured claims by verdict"),
                columns: heads("verdict"),
                rows: Verdict::ALL.into_iter().filter_map(count).collect(),
                notes: vec![
                    many("changed between two decided verdicts", changed),
                    many("were decided and later undecided", reopened),
                ],
            },
            Table {
                id: "looks-moved".to_owned(),
                caption: "Claims whose verdict changes".to_owned(),
                columns: heads("claim"),
                rows: self.claims.iter().filter(differ).map(row).collect(),
                notes: vec![],
            },
        ];
        let blocks = tables.into_iter().filter(|t| !t.rows.is_empty()).map(Block::Table).collect();
        Section { id: "looks".to_owned(), title: "Verdicts by number of runs".to_owned(), blocks }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_changes_side_if_two_decided_verdicts_differ() {
        use Verdict::{Contradicted, Reproduced, Undecided};
        let looked =
            |verdicts: &[Verdict]| Looked { id: String::new(), verdicts: verdicts.to_vec() };
        let said = |verdicts: &[Verdict]| {
            let looked = looked(verdicts);
            (looked.changed_side(), looked.reopened())
        };
        assert_eq!(said(&[Undecided, Reproduced, Reproduced]), (false, false));
        assert_eq!(said(&[Reproduced, Undecided, Reproduced]), (false, true));
        assert_eq!(said(&[Reproduced, Undecided, Contradicted]), (true, true));
        assert_eq!(said(&[Reproduced, Contradicted]), (true, false));
    }
}
