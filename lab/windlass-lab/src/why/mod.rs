//! Explanations of cwnd reductions: the rule that caused each reduction, the packets concerned, and their fate in the
//! network.
//!
//! The explanations are not stored. The run is repeated from its scenario and seed with the record of
//! decisions, and must give the same totals. The record does not change the run ([`windlass_sim::evidence`]).

mod found;
mod message;
mod qlog;
mod qvis;
mod source;
mod words;

use std::collections::BTreeMap;

use windlass_cc::{Ecn, Phase, Time, Undo};
use windlass_sim::config::Record;
use windlass_sim::{Config, Decided, Decisions, Fate, Incident, PacketEvent, RunResult};
use windlass_tcp::{Cause, Decision, LostSegment, Profile};

use crate::compile::compile;
use crate::run::{RunError, simulate_as};
use crate::scenario::Scenario;

pub use found::{Explained, FilledBy, Packet};
pub use message::{Which, message};
pub use qlog::qlog;
pub use qvis::qvis;
pub use source::{Choice, find};
pub use words::{brief, in_force, sentences};

/// A run with its record of decisions.
#[derive(Clone, Debug)]
pub struct Case {
    /// The scenario.
    pub scenario: Scenario,
    /// The seed.
    pub seed: u64,
    /// The simulator's configuration.
    pub config: Config,
    /// The result of the run.
    pub result: RunResult,
    decisions: Decisions,
    /// Indices of the incidents of each flow and path.
    incidents: BTreeMap<(u32, Option<u8>), Vec<usize>>,
}

/// A reduction of cwnd or ssthresh, and its causes.
#[derive(Clone, Debug)]
pub struct Reduction<'a> {
    /// The sender.
    pub sender: &'a Decided,
    /// The decision.
    pub decision: &'a Decision,
    /// Segments whose loss caused the reduction, each with the incident of the transmission that was deemed
    /// lost. `None` if the transmission had no incident.
    pub lost: Vec<(LostSegment, Option<&'a Incident>)>,
    /// Number of the flow's acknowledgements that were dropped since the first of these transmissions.
    pub acks_dropped: usize,
    /// Packets of the flow that queues marked since the flow's last reaction to a mark, and that were not dropped
    /// later.
    pub marks: Vec<&'a Incident>,
    /// End of the recovery that the reduction began, and cwnd at this time, bytes.
    pub over: Option<(Time, u64)>,
    /// Time at which the reduction was undone as spurious, and the rule.
    pub undone: Option<(Time, Undo)>,
}

impl Case {
    /// Makes a run with the record of decisions.
    ///
    /// # Errors
    ///
    /// The simulator does not accept the scenario.
    pub fn of(scenario: &Scenario, seed: u64) -> Result<Case, RunError> {
        Case::recording(scenario, seed, |_| ())
    }

    /// Makes a run with the record of decisions. `more` may enable other records.
    ///
    /// # Errors
    ///
    /// As [`Case::of`].
    pub fn recording(
        scenario: &Scenario,
        seed: u64,
        more: impl FnOnce(&mut Record),
    ) -> Result<Case, RunError> {
        let mut config = compile(scenario, seed)?;
        let Record { delays, .. } = config.record;
        config.record = Record { delays, decisions: true, ..Record::default() };
        more(&mut config.record);
        let mut result = simulate_as(config.clone(), scenario)?;
        let decisions = result.decisions.take().map(|d| *d).unwrap_or_default();
        let mut incidents: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (place, i) in decisions.incidents.iter().enumerate() {
            incidents.entry((i.flow, i.path)).or_default().push(place);
        }
        Ok(Case { scenario: scenario.clone(), seed, config, result, decisions, incidents })
    }

    /// Every packet on every link, from a repetition of the run. A radio has no such packets.
    ///
    /// # Errors
    ///
    /// As [`Case::of`].
    pub fn packets(&self) -> Result<Vec<PacketEvent>, RunError> {
        let log = Case::recording(&self.scenario, self.seed, |record| {
            record.capture = (0..self.config.links.len()).collect();
        })?;
        Ok(log.result.packets)
    }

    /// The node where a link direction begins (0) or ends (1).
    pub(crate) fn end_of_link(&self, direction: u32, end: usize) -> usize {
        let ends = self.config.links[direction as usize / 2].ends;
        ends[(direction as usize + end) % 2]
    }

    /// The decisions of the senders, and the incidents of packets.
    pub fn decisions(&self) -> &Decisions {
        &self.decisions
    }

    /// All reductions in order of time.
    pub fn reductions(&self) -> Vec<Reduction<'_>> {
        let mut all: Vec<Reduction<'_>> =
            self.decisions.senders.iter().flat_map(|s| self.reductions_of(s)).collect();
        all.sort_by_key(|r| (r.decision.since, r.sender.flow, r.sender.path));
        all
    }

    fn reductions_of<'a>(&'a self, sender: &'a Decided) -> Vec<Reduction<'a>> {
        let decisions = sender.journal.decisions();
        let chosen = (0..decisions.len()).filter(|i| is_reduction(&decisions[*i]));
        let mut answered = Time::ZERO;
        let mut found = Vec::new();
        for place in chosen {
            let decision = &decisions[place];
            let reduction = self.reduction(sender, decision, &decisions[place + 1..], answered);
            if self.hears_marks(sender, decision) {
                answered = decision.time;
            }
            found.push(reduction);
        }
        found
    }

    fn reduction<'a>(
        &'a self,
        sender: &'a Decided,
        decision: &'a Decision,
        later: &'a [Decision],
        answered: Time,
    ) -> Reduction<'a> {
        let answers = matches!(decision.cause, Cause::Losses | Cause::Timeout { .. });
        let losses = if answers { sender.journal.losses_of(decision) } else { &[] };
        let lost: Vec<_> = losses.iter().map(|l| (*l, self.befell(sender, l))).collect();
        let first = lost.iter().map(|(l, _)| l.sent).min();
        let own = || self.incidents_of(sender);
        let backward = own().filter(|i| !i.forward && i.fate != Fate::Marked);
        let dropped_since =
            |from: Time| move |i: &&Incident| i.time >= from && i.time <= decision.time;
        // The decisions before the next reduction for another reason belong to this reduction.
        let next = later.iter().position(|d| is_reduction(d) && d.from == Phase::Open);
        let episode = &later[..next.unwrap_or(later.len())];
        let over = episode.iter().find(|d| d.to == Phase::Open && d.from != Phase::Open);
        let undone = episode.iter().find_map(|d| match d.cause {
            Cause::Undo(why) => Some((d.time, why)),
            _ => None,
        });
        Reduction {
            sender,
            decision,
            acks_dropped: first.map_or(0, |from| backward.filter(dropped_since(from)).count()),
            lost,
            marks: self.marks(sender, decision, answered),
            over: over.filter(|_| decision.to != Phase::Open).map(|d| (d.time, d.after.cwnd)),
            undone: undone.filter(|_| decision.to != Phase::Open),
        }
    }

    /// The marks that may have caused a sender's reaction.
    fn marks<'a>(
        &'a self,
        sender: &'a Decided,
        decision: &Decision,
        answered: Time,
    ) -> Vec<&'a Incident> {
        let may = self.hears_marks(sender, decision);
        let (from, to) = (answered, decision.since);
        let data = self.incidents_of(sender).filter(|i| may && i.forward);
        let (marks, drops): (Vec<&Incident>, Vec<&Incident>) =
            data.partition(|i| i.fate == Fate::Marked);
        let arrived = |m: &&&Incident| !drops.iter().any(|d| d.sent == m.sent && same_data(d, m));
        let marks = marks.iter().filter(|m| m.sent >= from && m.time < to).filter(arrived);
        marks.copied().collect()
    }

    /// True if a decision may be a reaction to marks: to an echo, or by an algorithm that uses the share of marked
    /// packets.
    fn hears_marks(&self, sender: &Decided, decision: &Decision) -> bool {
        let exact = self.profile(sender).params.requirements().ecn == Ecn::Exact;
        decision.cause == Cause::Echo || decision.cause == Cause::Acks && exact
    }

    /// The stack and the algorithm of a sender.
    pub fn profile(&self, sender: &Decided) -> &Profile {
        let flow = &self.config.flows[sender.flow as usize];
        let path = usize::from(sender.path.unwrap_or(0));
        flow.profiles().nth(path).unwrap_or(&flow.profile)
    }

    /// The incident of the transmission of a segment that was deemed lost.
    fn befell(&self, sender: &Decided, lost: &LostSegment) -> Option<&Incident> {
        let this = |i: &&Incident| {
            let overlaps = i.segment.is_some_and(|s| {
                let from = s.seq.0.wrapping_sub(lost.seq.0);
                let back = lost.seq.0.wrapping_sub(s.seq.0);
                from < lost.len || back < s.seq_len()
            });
            i.forward && i.fate != Fate::Marked && i.sent == lost.sent && overlaps
        };
        self.incidents_of(sender).find(this)
    }

    fn incidents_of(&self, sender: &Decided) -> impl Iterator<Item = &Incident> {
        let places = self.incidents.get(&(sender.flow, sender.path));
        places.into_iter().flatten().map(|place| &self.decisions.incidents[*place])
    }

    /// The latest decision at a time.
    pub fn at<'a>(&self, sender: &'a Decided, time: Time) -> Option<&'a Decision> {
        sender.journal.decisions().iter().rfind(|d| d.since <= time)
    }

    /// Name of a sender in results: its flow, or flow and subflow.
    pub fn name(&self, sender: &Decided) -> String {
        let flow = &self.scenario.flows[sender.flow as usize];
        let subflow = sender.path.zip(flow.multipath.as_ref());
        let subflow = subflow.and_then(|(path, m)| m.subflows.get(usize::from(path)));
        subflow.map_or(flow.name.clone(), |s| format!("{}:{}", flow.name, s.name))
    }
}

fn same_data(a: &Incident, b: &Incident) -> bool {
    a.segment.map(|s| (s.seq, s.len)) == b.segment.map(|s| (s.seq, s.len))
}

/// True if a decision reduces cwnd or ssthresh, and is not part of an earlier recovery.
fn is_reduction(d: &Decision) -> bool {
    let own = match d.cause {
        Cause::Acks | Cause::Coupling => d.from == Phase::Open,
        Cause::RecoveryEnds | Cause::Undo(_) | Cause::Handshake => false,
        Cause::ProbeTimer | Cause::PersistTimer => false,
        Cause::Losses | Cause::Timeout { .. } | Cause::Echo | Cause::RepairedByProbe => true,
        Cause::Idle(_) => d.after.cwnd < d.before.cwnd,
    };
    own && d.reduces()
}
