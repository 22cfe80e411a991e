//! What the runs of a point come to.

use windlass_sim::radio::Consumption;
use windlass_sim::{FlowResult, StationResult};

pub(super) use crate::papers::parts::seeds::{
    BySeed, Measure, at, bar, by_seed, cell, change, named, paired, summary,
};
use crate::run::RunRecord;

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
