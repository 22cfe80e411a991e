//! Hashes of the meaning of claims: of their criteria, and of the inputs of their measures.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use super::paper::Paper;
use super::{Material, Traces, quantities};
use crate::claims::{Claim, Quantity};
use crate::experiment::{FileError, Plan};
use crate::hash::digits;

/// Keys of claims and answers that do not affect verdicts.
const WORDS: [&str; 7] = ["quantity", "source", "note", "reason", "sides", "why", "question"];
/// Keys of a scenario that change no run.
const ASIDE: [&str; 3] = ["name", "description", "seed"];

/// Hashes by `claim ID`, `question ID` and `least effect`.
type Hashes = BTreeMap<String, String>;

/// The hashes of everything in a paper that decides a verdict.
///
/// # Errors
///
/// An error in the paper's files.
pub(super) fn hashes(paper: &Paper) -> Result<Hashes, FileError> {
    let mut all = elements(paper, true)?;
    let (plan, claims) = (paper.plan()?, paper.parsed_claims()?);
    let read = Read::of(paper, &plan, &claims)?;
    for claim in &claims {
        if let Some(hash) = all.get_mut(&format!("claim {}", claim.id)) {
            *hash = digits(format!("{hash}\n{}", read.by(claim)).as_bytes());
        }
    }
    Ok(all)
}

/// The hashes of the first scheme, which covers only texts.
///
/// # Errors
///
/// An error in the paper's files.
pub(super) fn texts(paper: &Paper) -> Result<Hashes, FileError> {
    elements(paper, false)
}

/// The hashes of the elements; `written_out` replaces named measures by their content.
fn elements(paper: &Paper, written_out: bool) -> Result<Hashes, FileError> {
    let mut all = Hashes::new();
    let files = [("claims.toml", "claim", "claim"), (crate::readings::FILE, "axis", "question")];
    for (file, list, word) in files {
        let Some(text) = paper.file(file) else { continue };
        let table: Table = crate::template::read(text, &paper.place(file))?;
        let named = if written_out { measures(&table) } else { BTreeMap::new() };
        for element in table.get(list).and_then(Value::as_array).into_iter().flatten() {
            let id = element.get("id").map(text_of).unwrap_or_default();
            all.insert(format!("{word} {id}"), hash(element, &named));
        }
    }
    let text = paper.file("paper.toml").unwrap_or_default();
    let table: Table = crate::template::read(text, &paper.place("paper.toml"))?;
    if let Some(least) = table.get("least_effect") {
        all.insert("least effect".to_owned(), hash(least, &BTreeMap::new()));
    }
    Ok(all)
}

/// The named measures of a file of claims.
fn measures(table: &Table) -> BTreeMap<String, Value> {
    let all = table.get("measure").and_then(Value::as_array).into_iter().flatten();
    all.filter_map(|m| Some((m.get("name")?.as_str()?.to_owned(), m.get("is")?.clone()))).collect()
}

/// Sixteen hexadecimal digits of a content. Spelling and order of keys do not affect them.
fn hash(value: &Value, named: &BTreeMap<String, Value>) -> String {
    let mut text = String::new();
    canonical(value, named, &mut text);
    digits(text.as_bytes())
}

fn canonical(value: &Value, named: &BTreeMap<String, Value>, out: &mut String) {
    match value {
        Value::Table(table) => {
            let name = table.get("measure").and_then(Value::as_str).filter(|_| table.len() == 1);
            if let Some(is) = name.and_then(|name| named.get(name)) {
                return canonical(is, named, out);
            }
            let mut keys: Vec<&String> =
                table.keys().filter(|k| !WORDS.contains(&k.as_str())).collect();
            keys.sort();
            for key in keys {
                *out += &format!("{key:?}:");
                canonical(&table[key], named, out);
            }
            out.push(';');
        }
        Value::Array(all) => {
            all.iter().for_each(|v| canonical(v, named, out));
            out.push('.');
        }
        other => *out += &format!("{other} "),
    }
}

/// The inputs of claims as text.
struct Read {
    /// The scenario of each point, by `experiment/point`.
    points: BTreeMap<String, String>,
    /// The value of each closed form.
    models: BTreeMap<String, String>,
    /// The declaration of each quantity of traced runs, with these runs.
    quantities: BTreeMap<String, String>,
}

impl Read {
    fn of(paper: &Paper, plan: &Plan, claims: &[Claim]) -> Result<Read, FileError> {
        // With this number of digits, the value is the same on every machine.
        let models: BTreeMap<String, String> =
            paper.models()?.into_iter().map(|(name, v)| (name, format!("{v:.11e}"))).collect();
        let sources = paper.sources(plan)?;
        let mut read = Read { points: BTreeMap::new(), models, quantities: BTreeMap::new() };
        let mut places = BTreeSet::new();
        for quantity in claims.iter().flat_map(Claim::quantities) {
            if let Quantity::Metric(at) = quantity {
                places.insert(at.at.clone());
            }
        }
        places.extend(plan.traces.iter().map(|t| t.place()));
        read.points = scenarios(paper, plan, &places);
        let (records, judgements, traces) = (&[][..], &[][..], &Traces::new());
        let m = Material { paper, plan, claims, records, judgements, traces };
        for (name, is) in quantities::meanings(&m)? {
            let traces = sources.get(&name).map(Vec::as_slice).unwrap_or_default();
            let traced = traces.iter().map(|at| {
                let t = &plan.traces[*at];
                let scenario = read.points.get(&t.place()).cloned().unwrap_or_default();
                format!("{:?} {:?} {} {:?}\n{scenario}", t.seed, t.series, t.interval, t.capture)
            });
            let traced: Vec<String> = traced.collect();
            read.quantities.insert(name, format!("{is}\n{}", traced.join("\n")));
        }
        Ok(read)
    }

    /// The inputs of a claim.
    fn by(&self, claim: &Claim) -> String {
        let of = |quantity: &Quantity| match quantity {
            Quantity::Metric(at) => self.points.get(&at.at).cloned(),
            Quantity::Model(name) => self.models.get(name).cloned(),
            Quantity::Trace(name) => self.quantities.get(name).cloned(),
            _ => None,
        };
        claim.quantities().into_iter().filter_map(of).collect::<Vec<String>>().join("\n")
    }
}

/// The scenario of each of these points, with its backend.
fn scenarios(paper: &Paper, plan: &Plan, places: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for experiment in &plan.experiments {
        let text = paper.scenario(&experiment.scenario).unwrap_or_default();
        let keys = text.parse::<Table>().map(|table| keys(&table)).unwrap_or_default();
        for point in experiment.points() {
            let place = format!("{}/{}", experiment.id, point.id);
            if places.contains(&place) {
                let written = with(&keys, &point.overrides);
                let warm_up =
                    experiment.warm_up.map(|w| format!(", warm-up {w}")).unwrap_or_default();
                let on = experiment.world(&point);
                all.insert(place, format!("on {on}{warm_up}\n{written}"));
            }
        }
    }
    all
}

/// The keys of a scenario in the form of `--set`, with their values.
fn keys(table: &Table) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (key, value) in table.iter().filter(|(key, _)| !ASIDE.contains(&key.as_str())) {
        add(key, value, &mut all);
    }
    all
}

fn add(path: &str, value: &Value, all: &mut BTreeMap<String, String>) {
    match value {
        Value::Table(table) => {
            table.iter().for_each(|(key, value)| add(&format!("{path}.{key}"), value, all));
        }
        Value::Array(items) if items.iter().all(Value::is_table) && !items.is_empty() => {
            for (i, item) in items.iter().enumerate() {
                let number = i.to_string();
                let name = item.get("name").and_then(Value::as_str).unwrap_or(&number);
                add(&format!("{path}.{name}"), item, all);
            }
        }
        other => {
            all.insert(path.to_owned(), text_of(other));
        }
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The keys with a point's changes, one per line.
fn with(keys: &BTreeMap<String, String>, changes: &[(String, String)]) -> String {
    let mut keys = keys.clone();
    for (key, value) in changes {
        let beneath = format!("{key}.");
        keys.retain(|known, _| !known.starts_with(&beneath));
        let value = value.trim().trim_matches(['"', '\'']);
        keys.insert(key.clone(), value.to_owned());
    }
    // Recording does not change a run, except for the intervals in which metrics count.
    let runs = |key: &str| !key.starts_with("record.") || key == "record.bins";
    keys.iter()
        .filter(|(key, _)| runs(key))
        .map(|(key, value)| format!("{key} = {value}\n"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spelling_of_a_scenario_does_not_change_its_meaning() {
        let text = "name = 'n'\n[[link]]\nname = 'l'\nrate = '1Mbps'\nloss = { model = 'drop', probability = 0.1 }\n\
                    [record]\nbins = '1s'\ninterval = '1s'\n";
        let keys = keys(&text.parse().unwrap());
        let change = |key: &str, value: &str| vec![(key.to_owned(), value.to_owned())];
        let plain = with(&keys, &[]);
        assert_eq!(
            plain,
            "link.l.loss.model = drop\nlink.l.loss.probability = 0.1\nlink.l.name = l\nlink.l.rate = 1Mbps\nrecord.bins = 1s\n"
        );
        assert_eq!(with(&keys, &change("link.l.rate", "\"1Mbps\"")), plain);
        assert_eq!(with(&keys, &change("record.interval", "2s")), plain);
        let without = with(&keys, &change("link.l.loss", "none"));
        assert!(!without.contains("probability") && without.contains("link.l.loss = none"));
    }
}
