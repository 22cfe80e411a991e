//! Figures 4 to 10: TCP Modified beside other algorithms.

use super::values::{
    FIELD, RATES, bar, by_seed, cell, goodput, harm, jain, queue_delay, queue_loss, spaced,
    utilisation,
};
use crate::papers::Material;
use crate::papers::parts::commands;
use crate::papers::parts::tables::{columns, section};
use crate::report::model::{
    Block, Chart, ChartAxis, ChartSeries, Mark, Row, Scale, Section, Table,
};

/// One of the paper's experiments with mixtures.
#[derive(Clone, Copy)]
pub(super) struct Mixture {
    /// Identifier of the experiment.
    pub(super) experiment: &'static str,
    /// Identifier of the experiment in which all four flows are alike.
    pub(super) alike: &'static str,
    /// Flows of TCP Modified.
    pub(super) modified: &'static [&'static str],
    /// The other flows.
    pub(super) others: &'static [&'static str],
    anchor: &'static str,
    title: &'static str,
    throughput: &'static str,
    fairness: &'static str,
}

/// Three and one, wired.
pub(super) const THREE_ONE: Mixture = Mixture {
    experiment: "three-one",
    alike: "same",
    modified: &["f1", "f2", "f3"],
    others: &["f4"],
    anchor: "figures-4-5",
    title: "Figures 4 and 5: three flows of TCP Modified and one other",
    throughput: "Figure 4",
    fairness: "Figure 5",
};

/// Two and two, wired.
pub(super) const TWO_TWO: Mixture = Mixture {
    experiment: "two-two",
    alike: "same",
    modified: &["f1", "f2"],
    others: &["f3", "f4"],
    anchor: "figures-6-7",
    title: "Figures 6 and 7: two flows of TCP Modified and two others",
    throughput: "Figure 6",
    fairness: "Figure 7",
};

/// Two and two over Wi-Fi.
pub(super) const WIRELESS: Mixture = Mixture {
    experiment: "wifi-two-two",
    alike: "wifi-same",
    anchor: "figures-8-10",
    title: "Figures 8 to 10: two flows of TCP Modified and two others over Wi-Fi",
    throughput: "Figure 9",
    fairness: "Figure 10",
    ..TWO_TWO
};

/// All of them, in the paper's order.
pub(super) const MIXTURES: &[Mixture] = &[THREE_ONE, TWO_TWO, WIRELESS];

/// One section for each.
pub(super) fn sections(m: &Material) -> Vec<Section> {
    MIXTURES.iter().map(|mix| mix.section(m)).collect()
}

impl Mixture {
    /// The point of an algorithm at a rate.
    pub(super) fn point(&self, other: &str, rate: &str) -> String {
        format!("other={other},rate={rate}")
    }

    /// Goodput that the others lose to TCP Modified, per cent, by seed.
    pub(super) fn harm(&self, m: &Material, other: &str, rate: &str) -> super::values::BySeed {
        let (mixed, alike) = (self.point(other, rate), format!("all={other},rate={rate}"));
        harm(m, (self.experiment, &mixed), (self.alike, &alike), self.others)
    }

    fn section(&self, m: &Material) -> Section {
        let mut blocks: Vec<Block> =
            RATES.iter().map(|rate| Block::Chart(self.bars(m, rate))).collect();
        blocks.push(Block::Chart(self.fairness(m)));
        blocks.extend(RATES.iter().map(|rate| Block::Table(self.table(m, rate))));
        let point = self.point("newreno", "1Mbps");
        let about = "The NewReno row at 1 Mbit/s; other rows with their own algorithm and rate:";
        section(self.anchor, self.title, blocks, commands::runs(m, about, self.experiment, &point))
    }

    fn bars(&self, m: &Material, rate: &str) -> Chart {
        let of = |flows: &'static [&'static str]| {
            let one = |(id, name): &(&str, &str)| {
                let point = self.point(id, rate);
                bar(name, &by_seed(m, (self.experiment, &point), |r| goodput(r, flows)))
            };
            FIELD.iter().filter_map(one).collect()
        };
        let series =
            |name: &str, points| ChartSeries { name: name.to_owned(), mark: Mark::Bars, points };
        Chart {
            id: format!("{}-{}", self.anchor, rate.to_lowercase()),
            caption: format!(
                "{}. Goodput of a flow at {}, the mean of those of its kind: medians with 95 % \
                 intervals",
                self.throughput,
                spaced(rate)
            ),
            x: ChartAxis { label: "The other algorithm".to_owned(), scale: Scale::Category },
            y: ChartAxis { label: "Goodput of a flow (kbit/s)".to_owned(), scale: Scale::Linear },
            series: vec![
                series("TCP Modified", of(self.modified)),
                series("the other algorithm", of(self.others)),
            ],
            zoom: false,
        }
    }

    fn fairness(&self, m: &Material) -> Chart {
        let series = RATES.iter().map(|rate| {
            let one = |(id, name): &(&str, &str)| {
                bar(name, &by_seed(m, (self.experiment, &self.point(id, rate)), jain))
            };
            let points = FIELD.iter().filter_map(one).collect();
            ChartSeries { name: spaced(rate), mark: Mark::Bars, points }
        });
        Chart {
            id: format!("{}-jain", self.anchor),
            caption: format!(
                "{}. Jain's fairness index of the four flows: medians with 95 % intervals",
                self.fairness
            ),
            x: ChartAxis { label: "The other algorithm".to_owned(), scale: Scale::Category },
            y: ChartAxis { label: "Jain's index".to_owned(), scale: Scale::Linear },
            series: series.collect(),
            zoom: false,
        }
    }

    fn table(&self, m: &Material, rate: &str) -> Table {
        let rows = FIELD.iter().map(|(id, name)| {
            let point = self.point(id, rate);
            let at = (self.experiment, point.as_str());
            Row {
                cells: vec![
                    (*name).to_owned(),
                    cell(&by_seed(m, at, |r| goodput(r, self.modified))),
                    cell(&by_seed(m, at, |r| goodput(r, self.others))),
                    cell(&by_seed(m, at, jain)),
                    cell(&self.harm(m, id, rate)),
                    cell(&by_seed(m, at, queue_loss)),
                    cell(&by_seed(m, at, queue_delay)),
                    cell(&by_seed(m, at, utilisation)),
                ],
                ..Row::default()
            }
        });
        Table {
            id: format!("{}-table-{}", self.anchor, rate.to_lowercase()),
            caption: format!(
                "What the throughput at {} was bought with: medians with 95 % intervals",
                spaced(rate)
            ),
            columns: columns(&[
                "other",
                "TCP Modified (kbit/s a flow)",
                "other (kbit/s a flow)",
                "Jain's index",
                "harm to the other (%)",
                "dropped by the queue (%)",
                "wait in the queue (ms)",
                "busy (%)",
            ]),
            rows: rows.collect(),
            notes: vec![HARM.to_owned()],
        }
    }
}

/// What harm is.
pub(super) const HARM: &str = "Harm: what a flow loses of the goodput that it has where all four run \
    its algorithm, seed by seed (Ware, Mukerjee, Seshan and Sherry 2019); below zero it gains.";
