//! Figure 11: four flows of the same algorithm.

use super::values::{
    BySeed, FIELD, RATES, bar, by_seed, cell, jain, paired, queue_delay, queue_loss, spaced,
    useful, utilisation,
};
use crate::papers::Material;
use crate::papers::parts::commands;
use crate::papers::parts::tables::{columns, row, section};
use crate::report::model::{
    Block, Chart, ChartAxis, ChartSeries, Mark, Row, Scale, Section, Table,
};
use crate::run::RunRecord;

/// One channel of the fifth experiment.
struct Channel {
    experiment: &'static str,
    /// Prefix of its claims.
    claims: &'static str,
    words: &'static str,
}

const CHANNELS: &[Channel] = &[
    Channel { experiment: "same", claims: "fig11.wired", words: "wired" },
    Channel { experiment: "wifi-same", claims: "fig11.wifi", words: "over Wi-Fi" },
];

/// Every algorithm, TCP Modified first.
fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    [("tcp-modified", "TCP Modified")].into_iter().chain(FIELD)
}

/// The section.
pub(super) fn section_of(m: &Material) -> Section {
    let mut blocks = Vec::new();
    for channel in CHANNELS {
        blocks.push(Block::Chart(channel.chart(m)));
        blocks.extend(RATES.iter().map(|rate| Block::Table(channel.table(m, rate))));
        blocks.push(Block::Table(channel.against_bbr(m)));
    }
    let about = "The TCP Modified row at 1 Mbit/s; other rows with their own algorithm and rate:";
    let command = commands::runs(m, about, "same", "all=tcp-modified,rate=1Mbps");
    section("figure-11", "Figure 11: four flows of the same algorithm", blocks, command)
}

impl Channel {
    fn at(
        &self,
        m: &Material,
        id: &str,
        rate: &str,
        f: impl Fn(&RunRecord) -> Option<f64>,
    ) -> BySeed {
        by_seed(m, (self.experiment, &format!("all={id},rate={rate}")), f)
    }

    fn chart(&self, m: &Material) -> Chart {
        let series = RATES.iter().map(|rate| {
            let points = all().filter_map(|(id, name)| bar(name, &self.at(m, id, rate, jain)));
            ChartSeries { name: spaced(rate), mark: Mark::Bars, points: points.collect() }
        });
        Chart {
            id: format!("fig-11-{}", self.words.replace(' ', "-").to_lowercase()),
            caption: format!(
                "Figure 11, {}. Jain's fairness index of four flows of the same algorithm: medians \
                 with 95 % intervals",
                self.words
            ),
            x: ChartAxis {
                label: "Algorithm of all four flows".to_owned(),
                scale: Scale::Category,
            },
            y: ChartAxis { label: "Jain's index".to_owned(), scale: Scale::Linear },
            series: series.collect(),
            zoom: false,
        }
    }

    fn table(&self, m: &Material, rate: &str) -> Table {
        let rows = all().map(|(id, name)| Row {
            cells: vec![
                name.to_owned(),
                cell(&self.at(m, id, rate, jain)),
                cell(&self.at(m, id, rate, utilisation)),
                cell(&self.at(m, id, rate, |r| useful(r, rate))),
                cell(&self.at(m, id, rate, queue_loss)),
                cell(&self.at(m, id, rate, queue_delay)),
            ],
            ..Row::default()
        });
        Table {
            id: format!("{}-table-{}", self.experiment, rate.to_lowercase()),
            caption: format!(
                "Four flows of the same algorithm, {}, {}: medians with 95 % intervals",
                self.words,
                spaced(rate)
            ),
            columns: columns(&[
                "algorithm",
                "Jain's index",
                "busy (%)",
                "goodput over rate (%)",
                "dropped by the queue (%)",
                "wait in the queue (ms)",
            ]),
            rows: rows.collect(),
            notes: vec![
                "A link can be busy with packets that were sent before: goodput over rate counts \
                 what is delivered once, headers aside."
                    .to_owned(),
            ],
        }
    }

    fn against_bbr(&self, m: &Material) -> Table {
        let mut rows = Vec::new();
        for rate in RATES {
            let change = |f: &dyn Fn(&RunRecord) -> Option<f64>, other: &str| {
                let (a, b) = (self.at(m, "tcp-modified", rate, f), self.at(m, other, rate, f));
                cell(&paired(&a, &b, |a, b| 100.0 * (a - b) / b))
            };
            for (what, key, f) in [
                ("utilisation", "utilisation", &utilisation as &dyn Fn(&RunRecord) -> Option<f64>),
                ("Jain's index", "fairness", &jain),
            ] {
                let label = format!("{what}, {}", spaced(rate));
                let claim = format!("{}.{key}.{rate}", self.claims);
                rows.push(row(m, &label, &claim, &[change(f, "newreno"), change(f, "cubic")]));
            }
        }
        Table {
            id: format!("{}-against-bbr", self.experiment),
            caption: format!(
                "Change from four flows of another algorithm to four of TCP Modified, {}, per cent: \
                 medians of the changes seed by seed, with 95 % intervals",
                self.words
            ),
            columns: columns(&["", "paper, from BBR", "from BBR", "from NewReno", "from CUBIC"]),
            rows,
            notes: vec![
                "The paper does not say at which rate; its Table 2 has 1 Mbit/s. An interval that \
                 holds zero is a tie (TM-15)."
                    .to_owned(),
            ],
        }
    }
}
