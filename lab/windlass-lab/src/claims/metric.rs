//! Paths of metrics: `flow.NAME.FIELD`, `multipath.FLOW.FIELD`, `subflow.FLOW:NAME.FIELD`,
//! `link.NAME.FIELD`, `cell.NAME.FIELD`, `station.CELL:NODE.FIELD` and `run.FIELD`.
//! [`fields`](crate::run::fields) declares the fields.

use crate::run::RunRecord;
use crate::run::fields::{Better, Field, Kind, Row};
use crate::scenario::{FlowSpec, LinkSpec, Scenario, what_there_is};
use windlass_sim::radio::{RadioConfig, StationConfig};

/// A path such as `flow.download.completion_s` or `link.cloud-client:cloud>client.drops`.
#[derive(Clone, Debug)]
pub struct Metric {
    /// Kind of the part: flow, subflow, link, cell, station or the whole run.
    pub kind: Kind,
    /// Name of the flow or cell, `flow:subflow`, `link:from>to`, or `cell:node`; empty for the whole
    /// run.
    pub name: String,
    /// The measured field.
    pub field: &'static Field,
}

impl Metric {
    /// Reads a path.
    ///
    /// # Errors
    ///
    /// The shape of the path or its field is invalid. The message gives the valid shapes or fields.
    pub fn parse(path: &str) -> Result<Metric, String> {
        let (kind, name, field) = parts(path).ok_or_else(|| shape(path))?;
        let known: Vec<&str> = kind.metrics().map(|f| f.name).collect();
        let unknown = || {
            let instead = what_there_is(field, &known);
            format!("metric `{path}` ends in an unknown field{instead}")
        };
        let field = kind.metric(field).ok_or_else(unknown)?;
        Ok(Metric { kind, name: name.to_owned(), field })
    }

    /// Unit, as claims spell it. Empty for a count or fraction.
    pub(crate) fn unit(&self) -> &'static str {
        match self.field.unit() {
            "bps" => "bit/s",
            unit => unit,
        }
    }

    /// Checks that runs of the scenario have a part whose name satisfies `meant`.
    ///
    /// # Errors
    ///
    /// No part has such a name. The message gives the names that exist.
    pub fn check(&self, scenario: &Scenario, meant: impl Fn(&str) -> bool) -> Result<(), String> {
        let nodes = &scenario.nodes;
        let ways = |l: &LinkSpec| {
            [(l.a, l.b), (l.b, l.a)].map(|(a, b)| format!("{}:{}>{}", l.name, nodes[a], nodes[b]))
        };
        let flows = || scenario.flows.iter();
        let radios = || scenario.wifi.iter().map(|w| &w.radio);
        let stations = |r: &RadioConfig| {
            let name = |s: &StationConfig| format!("{}:{}", r.name, nodes[s.node]);
            r.stations.iter().map(name).collect::<Vec<_>>()
        };
        let devices = || {
            let with = scenario.links.iter().filter_map(|l| Some((l, l.radio.as_ref()?)));
            with.map(|(l, spec)| (&l.name, &nodes[[l.a, l.b][spec.radio.device]]))
        };
        let multipath = |f: &&FlowSpec| f.multipath.is_some();
        let (noun, known): (&str, Vec<String>) = match self.kind {
            Kind::Run => return Ok(()),
            Kind::Flow => ("flow", flows().map(|f| f.name.clone()).collect()),
            Kind::Multipath => {
                ("multipath flow", flows().filter(multipath).map(|f| f.name.clone()).collect())
            }
            Kind::Subflow => ("subflow", scenario.tracks().split_off(scenario.flows.len())),
            Kind::Link => ("link direction", scenario.links.iter().flat_map(ways).collect()),
            Kind::Cell => {
                let of_links = devices().map(|(link, _)| link.clone());
                ("cell", radios().map(|r| r.name.clone()).chain(of_links).collect())
            }
            Kind::Station => {
                let of_links = devices().map(|(link, node)| format!("{link}:{node}"));
                ("station", radios().flat_map(stations).chain(of_links).collect())
            }
        };
        if known.iter().any(|name| meant(name)) {
            return Ok(());
        }
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let instead = what_there_is(&self.name, &known);
        Err(format!("{noun} `{}` not found{instead}", self.name))
    }

    /// The value of a field of the whole run. `None` if the run has no such value.
    pub fn of_run(field: &str, run: &RunRecord) -> Option<f64> {
        let row = Kind::Run.rows(run).into_iter().next()?;
        Kind::Run.metric(field)?.number(row)
    }

    /// The value in a run. `None` if the run has no part of this name, or the part has no value.
    pub fn of(&self, run: &RunRecord) -> Option<f64> {
        let mut rows = self.kind.rows(run).into_iter();
        self.field.number(rows.find(|row| row.name() == self.name)?)
    }

    /// The value that replaces a missing value of a run: infinite in the worse direction. NaN if neither more
    /// nor less is better.
    pub(super) fn worst(&self) -> f64 {
        match self.field.better {
            Some(Better::More) => f64::NEG_INFINITY,
            Some(Better::Less) => f64::INFINITY,
            None => f64::NAN,
        }
    }

    /// The mean over the parts of a run whose name is `wanted` and to which the field applies. `None` if
    /// there are no such parts, or one of them has no value: the mean of the others would be a different
    /// quantity.
    pub fn mean(&self, run: &RunRecord, wanted: impl Fn(&str) -> bool) -> Option<f64> {
        let values = self.values(run, wanted)?;
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The values of all parts whose name satisfies `wanted`; `None` if one of them has no value.
    pub(crate) fn values(
        &self,
        run: &RunRecord,
        wanted: impl Fn(&str) -> bool,
    ) -> Option<Vec<f64>> {
        let is_meant = |row: &Row<'_>| wanted(&row.name()) && self.field.applies(*row);
        let rows = self.kind.rows(run).into_iter().filter(is_meant);
        rows.map(|row| self.field.number(row)).collect()
    }
}

/// True if the text matches the pattern. Each `*` in the pattern matches any text.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    let Some(text) = text.strip_prefix(head).and_then(|text| text.strip_suffix(tail)) else {
        return false;
    };
    // Each part at its first place leaves the most text for the next parts.
    let after = |text: &'_ str, part: &str| text.find(part).map(|at| at + part.len());
    let mut from = 0;
    middle.split('*').all(|part| {
        let found = after(&text[from..], part);
        from += found.unwrap_or(0);
        found.is_some()
    })
}

/// Kind, name and field of a path.
fn parts(path: &str) -> Option<(Kind, &str, &str)> {
    let (word, rest) = path.split_once('.')?;
    let (_, kind, _) = Kind::ALL.into_iter().find(|(known, ..)| *known == word)?;
    match kind {
        Kind::Run => Some((kind, "", rest)),
        _ => rest.rsplit_once('.').map(|(name, field)| (kind, name, field)),
    }
}

fn shape(path: &str) -> String {
    let forms = Kind::ALL.map(|(word, _, name)| match name {
        "" => format!("{word}.FIELD"),
        name => format!("{word}.{name}.FIELD"),
    });
    format!("metric `{path}` must look like {}", forms.join(", "))
}

#[cfg(test)]
mod tests;
