//! What the runs of a point come to.

use std::collections::BTreeMap;

use windlass_sim::radio::Consumption;
use windlass_sim::{FlowResult, StationResult};

use crate::claims::Metric;
use crate::experiment::RunRecord;
use crate::papers::Material;
use crate::papers::parts::cells::{self, NONE};
use crate::report::model::ChartPoint;
use crate::stats::Summary;

/// A value in each run of a point, by seed.
pub(super) type BySeed = BTreeMap<u64, f64>;
/// A number that a run yields.
pub(super) type Measure = fn(&RunRecord) -> Option<f64>;

/// A value of every run of a point that has it.
pub(super) fn by_seed(
    m: &Material,
    experiment: &str,
    point: &str,
    value: impl Fn(&RunRecord) -> Option<f64>,
) -> BySeed {
    let here = m.records.iter().filter(|r| r.experiment == experiment && r.point == point);
    here.filter_map(|r| Some((r.seed, value(r)?))).collect()
}

/// The same summed up.
pub(super) fn summary(values: &BySeed) -> Option<Summary> {
    Summary::of(&values.values().copied().collect::<Vec<f64>>())
}

/// Two values of the runs with the same seed made one.
pub(super) fn paired(a: &BySeed, b: &BySeed, f: impl Fn(f64, f64) -> f64) -> BySeed {
    a.iter().filter_map(|(seed, a)| Some((*seed, f(*a, *b.get(seed)?)))).collect()
}

/// How much more, per cent of `b`, `a` is.
pub(super) fn change(a: &BySeed, b: &BySeed) -> BySeed {
    let mut all = paired(a, b, |a, b| 100.0 * (a - b) / b);
    all.retain(|_, v| v.is_finite());
    all
}

/// Median and interval as a cell.
pub(super) fn cell(values: &BySeed) -> String {
    summary(values).map_or(NONE.to_owned(), |s| cells::median(&s))
}

/// Median and interval as a bar or a point of a category.
pub(super) fn bar(category: &str, values: &BySeed) -> Option<ChartPoint> {
    let category = Some(category.to_owned());
    Some(ChartPoint { category, ..at(0.0, values)? })
}

/// The same at a place on the axis.
pub(super) fn at(x: f64, values: &BySeed) -> Option<ChartPoint> {
    let s = summary(values)?;
    let (lo, hi) = (s.ci95_median.map(|c| c[0]), s.ci95_median.map(|c| c[1]));
    Some(ChartPoint { x, y: s.median, lo, hi, ..ChartPoint::default() })
}

/// A metric by its path.
pub(super) fn named(path: &str) -> impl Fn(&RunRecord) -> Option<f64> + use<> {
    let metric = Metric::parse(path).ok();
    move |run| metric.as_ref()?.of(run)
}

fn meter(run: &RunRecord) -> Option<&FlowResult> {
    run.flows.iter().find(|f| f.name == "meter")
}

/// Goodput of the connection, Mbit/s.
pub(super) fn goodput(run: &RunRecord) -> Option<f64> {
    Some(meter(run)?.goodput_bps / 1e6)
}

/// Packets of the connection dropped a second (reading 1 of MF-22).
pub(super) fn drops_per_s(run: &RunRecord) -> Option<f64> {
    let f = meter(run)?;
    (f.active_s > 0.0).then(|| f.loss_rate * f.packets_sent as f64 / f.active_s)
}

/// Packets of the connection dropped, per cent of those sent (reading 2).
pub(super) fn drop_share(run: &RunRecord) -> Option<f64> {
    Some(100.0 * meter(run)?.loss_rate)
}

/// Segments sent again.
pub(super) fn retransmits(run: &RunRecord) -> Option<f64> {
    Some(meter(run)?.retransmits as f64)
}

/// Datagrams lost, per cent, both flows together.
pub(super) fn datagram_loss(run: &RunRecord) -> Option<f64> {
    let cbr = || run.flows.iter().filter(|f| f.name.starts_with("cbr-"));
    let sent: f64 = cbr().map(|f| f.packets_sent as f64).sum();
    let lost: f64 = cbr().map(|f| f.loss_rate * f.packets_sent as f64).sum();
    (sent > 0.0).then(|| 100.0 * lost / sent)
}

/// The meter's stations.
fn radios(run: &RunRecord) -> impl Iterator<Item = &StationResult> {
    run.radios.iter().flat_map(|r| &r.stations).filter(|s| s.name == "meter")
}

/// Energy of the meter's radios with these powers, microjoules for a delivered byte: all, or what they
/// drew beyond being idle all the time.
pub(super) fn energy(run: &RunRecord, c: &Consumption, beyond_idle: bool) -> Option<f64> {
    let bytes = meter(run)?.delivered_bytes;
    let base = if beyond_idle { c.idle_uw as f64 } else { 0.0 };
    let of = |s: &StationResult| {
        let parts = [
            (s.transmit_s, c.transmit_uw),
            (s.receive_s, c.receive_uw),
            (s.listen_s, c.listen_uw),
            (s.idle_s, c.idle_uw),
        ];
        parts.iter().map(|(time_s, uw)| time_s * (*uw as f64 - base)).sum::<f64>()
    };
    (bytes > 0).then(|| radios(run).map(of).sum::<f64>() / bytes as f64)
}

/// Time for which the meter's radios transmit and receive, microseconds for a delivered kilobyte.
pub(super) fn radio_time(run: &RunRecord) -> Option<f64> {
    let bytes = meter(run)?.delivered_bytes;
    let active: f64 = radios(run).map(|s| s.transmit_s + s.receive_s).sum();
    (bytes > 0).then(|| active * 1e9 / bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::fixtures::run;

    #[test]
    fn energy_is_times_by_powers_over_the_bytes_delivered() {
        let mut record = run("e", "p", 1, 2.0);
        record.flows[0].name = "meter".into();
        record.flows[0].delivered_bytes = 1_000_000;
        let station = &mut record.radios[0].stations[0];
        station.name = "meter".into();
        (station.transmit_s, station.receive_s, station.listen_s, station.idle_s) =
            (1.0, 2.0, 3.0, 4.0);
        let c = Consumption { transmit_uw: 100, receive_uw: 50, listen_uw: 40, idle_uw: 10 };
        let all = energy(&record, &c, false).unwrap();
        assert!((all - (100.0 + 100.0 + 120.0 + 40.0) / 1e6).abs() < 1e-12);
        let beyond = energy(&record, &c, true).unwrap();
        assert!((beyond - (90.0 + 80.0 + 90.0) / 1e6).abs() < 1e-12);
    }
}
