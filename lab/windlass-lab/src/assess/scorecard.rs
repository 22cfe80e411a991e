//! Grades of networks, criteria and families, from the verdicts on claims.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::examination::{Asked, AskedCriterion, Examination, Subject};
use crate::claims::{Claim, Direction, Judgement, Quantity, Verdict};
use crate::experiment::Plan;
use crate::papers::folder::SCORECARD;
use crate::report::model::{Badge, Tone};
use crate::reproduce::{ReproduceError, Reproduction};
use crate::run::{Runner, VERSION};

/// Grade of an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Not judged: the model does not contain the mechanism.
    NotJudged,
    /// The measure significantly keeps the bound of passing.
    Pass,
    /// Runs are missing.
    NotRun,
    /// The runs are too few to decide about a bound.
    Undecided,
    /// The measure significantly breaks the bound of passing, and keeps the bound of failing.
    Concern,
    /// The measure significantly breaks the bound of failing.
    Fail,
}

impl Grade {
    /// All grades, the best first. The grade of several grades is the last of them in this order.
    pub const ALL: [Grade; 6] = [
        Grade::NotJudged,
        Grade::Pass,
        Grade::NotRun,
        Grade::Undecided,
        Grade::Concern,
        Grade::Fail,
    ];

    /// The grade for the verdicts on the two bounds.
    pub(super) fn of(pass: Verdict, fail: Verdict) -> Grade {
        let holds = |v| matches!(v, Verdict::Reproduced | Verdict::SameDirection);
        match (pass, fail) {
            (_, Verdict::Contradicted) => Grade::Fail,
            (Verdict::Contradicted, kept) if holds(kept) => Grade::Concern,
            (kept, _) if holds(kept) => Grade::Pass,
            (Verdict::NotRun, _) | (_, Verdict::NotRun) => Grade::NotRun,
            (Verdict::NotComparable, _) | (_, Verdict::NotComparable) => Grade::NotJudged,
            _ => Grade::Undecided,
        }
    }

    /// The badge on pages.
    pub fn badge(self) -> Badge {
        let (tone, sign, name, meaning) = match self {
            Grade::Pass => (Tone::Good, "✓", "pass", "significantly keeps the bound of passing"),
            Grade::Concern => (
                Tone::Near,
                "!",
                "concern",
                "significantly breaks the bound of passing, and keeps the bound of failing",
            ),
            Grade::Fail => (Tone::Bad, "✗", "fail", "significantly breaks the bound of failing"),
            Grade::Undecided => (Tone::None, "?", "undecided", "the runs are too few to decide"),
            Grade::NotRun => (Tone::None, "○", "not run", "runs are missing"),
            Grade::NotJudged => {
                (Tone::None, "–", "not judged", "the model does not contain the mechanism")
            }
        };
        Badge { tone, sign, name, meaning }
    }
}

/// Grades of an algorithm in an examination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scorecard {
    /// The algorithm with its parameters, as the user named it.
    pub algorithm: String,
    /// The examination's name.
    pub examination: String,
    /// Title of the document.
    pub title: String,
    /// Summary of the examination, with the source of the bounds.
    pub summary: String,
    /// Version of Windlass.
    pub version: String,
    /// The command that reproduces the scorecard.
    pub command: String,
    /// Number of finished runs.
    pub runs: usize,
    /// Families in the document's order.
    pub families: Vec<Family>,
}

/// One family of criteria.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Family {
    /// Identifier.
    pub id: String,
    /// Title.
    pub title: String,
    /// Section of the document.
    pub section: String,
    /// Quotation from this section.
    pub says: String,
    /// Grade of its worst criterion.
    pub grade: Grade,
    /// Criteria. Empty if the family is not judged.
    pub criteria: Vec<Criterion>,
    /// The reason why the family is not judged.
    pub not_judged: Option<String>,
}

/// One measure over several networks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    /// Identifier within the family.
    pub id: String,
    /// The measured quantity.
    pub what: String,
    /// Unit of the quantity.
    pub unit: String,
    /// The reason for the bounds.
    pub why: String,
    /// Grade on its worst network.
    pub grade: Grade,
    /// Networks, in the order of the claims.
    pub networks: Vec<Network>,
}

/// A criterion on one network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// Label.
    pub id: String,
    /// Description of the network.
    pub about: String,
    /// Grade of the algorithm on this network.
    pub grade: Grade,
    /// Measured value.
    pub measured: Option<f64>,
    /// 95 % confidence interval. `None` if nothing is random.
    pub ci95: Option<[f64; 2]>,
    /// Number of runs.
    pub runs: u64,
    /// Bound of passing.
    pub pass: f64,
    /// Bound of failing.
    pub fail: f64,
    /// The reason for the grade, with intervals at the level that Holm's procedure gives.
    pub note: String,
    /// The commands that repeat the runs, from the folder of results.
    pub commands: Vec<String>,
}

impl Network {
    /// Position of a value between the bounds: 0 is the bound of passing, 1 the bound of failing.
    pub(super) fn position(&self, value: f64) -> f64 {
        (value - self.pass) / (self.fail - self.pass)
    }

    fn badness(&self) -> (Grade, f64) {
        let position = self.measured.map(|v| self.position(v)).filter(|p| p.is_finite());
        (self.grade, position.unwrap_or(f64::NEG_INFINITY))
    }
}

impl Criterion {
    /// The network with the worst grade. Among equal grades, the network closest to failing.
    pub fn worst(&self) -> Option<&Network> {
        self.networks.iter().max_by(|a, b| {
            let ((g, p), (h, q)) = (a.badness(), b.badness());
            g.cmp(&h).then(p.total_cmp(&q))
        })
    }
}

impl Family {
    /// The criterion and the network with the worst grade. Among equal grades, the pair closest to failing.
    pub fn worst(&self) -> Option<(&Criterion, &Network)> {
        let all = self.criteria.iter().filter_map(|c| Some((c, c.worst()?)));
        all.max_by(|(_, a), (_, b)| {
            let ((g, p), (h, q)) = (a.badness(), b.badness());
            g.cmp(&h).then(p.total_cmp(&q))
        })
    }
}

impl Scorecard {
    /// The family with this identifier.
    pub fn family(&self, id: &str) -> Option<&Family> {
        self.families.iter().find(|f| f.id == id)
    }

    /// The grade of `family.criterion` on a network.
    pub fn grade(&self, family: &str, criterion: &str, network: &str) -> Option<Grade> {
        let criterion = self.family(family)?.criteria.iter().find(|c| c.id == criterion)?;
        criterion.networks.iter().find(|n| n.id == network).map(|n| n.grade)
    }

    /// Number of families by grade, without grades that no family has.
    pub fn tally(&self) -> Vec<(Badge, usize)> {
        let count = |g: Grade| self.families.iter().filter(|f| f.grade == g).count();
        let order = Grade::ALL.into_iter().rev();
        order.map(|g| (g.badge(), count(g))).filter(|(_, n)| *n > 0).collect()
    }
}

/// The parts of a claim's name.
struct Name<'a> {
    family: &'a str,
    criterion: &'a str,
    network: &'a str,
    bound: &'a str,
}

impl<'a> Name<'a> {
    fn of(id: &'a str) -> Option<Name<'a>> {
        let (rest, bound) = id.rsplit_once('.')?;
        let (family, rest) = rest.split_once('.')?;
        let (criterion, network) = rest.split_once('.')?;
        Some(Name { family, criterion, network, bound })
    }

    fn is(&self, family: &str, criterion: &str) -> bool {
        (self.family, self.criterion) == (family, criterion)
    }
}

/// The bound of a claim: the constant of its direction.
fn bound(claim: &Claim) -> Option<f64> {
    match claim.direction.as_ref().map(Direction::baseline) {
        Some(Quantity::Constant(bound)) => Some(*bound),
        _ => None,
    }
}

/// Checks that claims belong to families, and that the bound of failing is beyond the bound of passing. The
/// error has the place in the claims and the message.
pub(super) fn check(families: &[Asked], claims: &[Claim]) -> Result<(), (Range<usize>, String)> {
    for claim in claims {
        let wrong = |message: String| Err((claim.span.clone(), message));
        let id = &claim.id;
        let Some(name) = Name::of(id).filter(|n| ["pass", "fail"].contains(&n.bound)) else {
            return wrong(format!(
                "claim `{id}` must be called FAMILY.CRITERION.NETWORK.pass or ….fail"
            ));
        };
        let asked = families.iter().find(|f| f.id == name.family);
        if !asked.is_some_and(|f| f.criterion.iter().any(|c| c.id == name.criterion)) {
            let (family, criterion, file) = (name.family, name.criterion, SCORECARD);
            return wrong(format!(
                "claim `{id}`: {file} has no criterion `{criterion}` in a family `{family}`"
            ));
        }
        if bound(claim).is_none() {
            return wrong(format!("claim `{id}` needs a `direction` against a `constant`"));
        }
        let stem = &id[..id.len() - name.bound.len()];
        let other = if name.bound == "pass" { "fail" } else { "pass" };
        let Some(other) = claims.iter().find(|c| c.id == format!("{stem}{other}")) else {
            return wrong(format!("claim `{id}` has no counterpart `{stem}{other}`"));
        };
        let [pass, fail] = if name.bound == "pass" { [claim, other] } else { [other, claim] };
        let apart = match (&pass.direction, bound(pass), bound(fail)) {
            (Some(Direction::LessThan(_)), Some(pass), Some(fail)) => pass < fail,
            (Some(Direction::GreaterThan(_)), Some(pass), Some(fail)) => pass > fail,
            _ => false,
        };
        let same = |f: fn(&Claim) -> bool| f(pass) == f(fail);
        let one_way = same(|c| matches!(c.direction, Some(Direction::LessThan(_))));
        if !apart || !one_way || pass.measure != fail.measure {
            return wrong(format!(
                "claims `{stem}pass` and `{stem}fail` must have the same measure and direction, and `fail` the weaker bound"
            ));
        }
    }
    Ok(())
}

/// The scorecard from the finished runs.
pub(super) fn of(
    examination: &Examination,
    subject: &Subject,
    work: &Reproduction,
    runner: &Runner,
    runs: usize,
) -> Result<Scorecard, ReproduceError> {
    let (plan, claims, judgements) = work.judgements(runner)?;
    let kept = if subject.has_files { work.kept() } else { BTreeMap::new() };
    let seen = Seen { plan, claims, judgements: &judgements, kept: &kept };
    let paper = &examination.paper;
    Ok(Scorecard {
        algorithm: subject.label.clone(),
        examination: paper.id.clone(),
        title: paper.title.clone(),
        summary: paper.summary.clone(),
        version: VERSION.to_owned(),
        command: work.command().to_owned(),
        runs,
        families: examination.families.iter().map(|f| seen.family(f)).collect(),
    })
}

/// The data of grades.
struct Seen<'a> {
    plan: &'a Plan,
    claims: &'a [Claim],
    judgements: &'a [Judgement],
    kept: &'a BTreeMap<String, (PathBuf, usize)>,
}

impl Seen<'_> {
    fn family(&self, asked: &Asked) -> Family {
        let criterion = |c: &AskedCriterion| {
            let networks = self.networks(&asked.id, &c.id);
            let first = self.of_criterion(&asked.id, &c.id).next();
            Criterion {
                id: c.id.clone(),
                what: first.map(|(c, _)| c.quantity.clone()).unwrap_or_default(),
                unit: first.map(|(c, _)| c.unit.clone()).unwrap_or_default(),
                why: c.why.clone(),
                grade: worst(networks.iter().map(|n| n.grade)),
                networks,
            }
        };
        let criteria = asked.criterion.iter().map(criterion);
        // The scorecard leaves out criteria that were not requested.
        let criteria: Vec<Criterion> = criteria.filter(|c| !c.networks.is_empty()).collect();
        Family {
            id: asked.id.clone(),
            title: asked.title.clone(),
            section: asked.section.clone(),
            says: asked.says.clone(),
            grade: worst(criteria.iter().map(|c| c.grade)),
            criteria,
            not_judged: asked.not_judged.clone(),
        }
    }

    fn of_criterion(
        &self,
        family: &str,
        criterion: &str,
    ) -> impl Iterator<Item = (&Claim, &Judgement)> {
        let all = self.claims.iter().zip(self.judgements);
        all.filter(move |(c, _)| Name::of(&c.id).is_some_and(|n| n.is(family, criterion)))
    }

    fn networks(&self, family: &str, criterion: &str) -> Vec<Network> {
        let with = |bound: &'static str| {
            let all = self.of_criterion(family, criterion);
            all.filter(move |(c, _)| Name::of(&c.id).is_some_and(|n| n.bound == bound))
        };
        let fails: BTreeMap<&str, (&Claim, &Judgement)> =
            with("fail").filter_map(|(c, j)| Some((Name::of(&c.id)?.network, (c, j)))).collect();
        let network = |(claim, pass): (&Claim, &Judgement)| {
            let id = Name::of(&claim.id)?.network;
            let (failing, fail) = fails.get(id)?;
            let grade = Grade::of(pass.verdict, fail.verdict);
            let decisive = if grade == Grade::Fail { fail } else { pass };
            Some(Network {
                id: id.to_owned(),
                about: self.about(claim),
                grade,
                measured: pass.measured,
                ci95: pass.ci95,
                runs: pass.n,
                pass: bound(claim)?,
                fail: bound(failing)?,
                note: decisive.note.clone(),
                commands: self.commands(claim),
            })
        };
        with("pass").filter_map(network).collect()
    }

    /// The points that a claim reads, without duplicates, in the order of the claim.
    fn places<'c>(&self, claim: &'c Claim) -> Vec<&'c str> {
        let mut places: Vec<&str> = Vec::new();
        for quantity in claim.quantities() {
            if let Quantity::Metric(at) = quantity
                && !places.contains(&at.at.as_str())
            {
                places.push(&at.at);
            }
        }
        places
    }

    /// Description of a claim's first point, from the axis values.
    fn about(&self, claim: &Claim) -> String {
        let words = |place: &&str| -> Option<String> {
            let (experiment, point) = place.split_once('/')?;
            let experiment = self.plan.experiment(experiment)?;
            let point = experiment.point(point)?;
            let of = |(axis, label): &(String, String)| {
                let axis = experiment.axes.iter().find(|a| a.name == *axis)?;
                let value = axis.values.iter().find(|v| v.label == *label)?;
                Some(value.about.clone()).filter(|about| !about.is_empty())
            };
            Some(point.coordinates.iter().filter_map(of).collect::<Vec<_>>().join("; "))
        };
        self.places(claim).first().and_then(words).unwrap_or_default()
    }

    fn commands(&self, claim: &Claim) -> Vec<String> {
        let command = |place: &str| {
            let (path, runs) = self.kept.get(place)?;
            Some(format!("windlass run '{}' --seeds {runs}", path.display()))
        };
        self.places(claim).into_iter().filter_map(command).collect()
    }
}

fn worst(grades: impl Iterator<Item = Grade>) -> Grade {
    grades.max().unwrap_or(Grade::NotJudged)
}
