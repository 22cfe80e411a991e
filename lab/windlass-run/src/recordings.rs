//! Series and packets that a folder stores with its runs.

use windlass_scenario::compile::senders;
use windlass_scenario::{FlowSpec, Traffic};
use windlass_sim::addresses::FlowAddresses;

use crate::capture::{CaptureOptions, CapturedFlow, write_pcapng};
use crate::store::{Batch, Provenance, SeriesRun, StoreError};
use crate::{Ran, Task};

/// True if the series and packets that the scenario of the run records are stored.
pub(crate) fn are_kept(batch: &Batch, task: &Task) -> bool {
    let (form, record) = (task.form(), &task.scenario.record);
    let place = task.place(&form);
    (record.series.is_empty() || batch.series_path(place, task.seed).is_file())
        && (record.capture.is_empty() || batch.capture_path(place, task.seed).is_file())
}

/// The properties of the flow with this index for a capture.
fn captured(index: u32, from: usize, flow: &FlowSpec) -> CapturedFlow {
    let addresses = FlowAddresses::new(index, from as u32, flow.to as u32);
    let asks = matches!(flow.traffic, Traffic::RequestResponse { .. });
    CapturedFlow {
        addresses: if asks { addresses.opened_by_to() } else { addresses },
        checksums: flow.multipath.as_ref().is_some_and(|m| m.config.checksum),
    }
}

/// Stores the series and packets of a run, before its record, so that each run in the journal has its recordings.
pub(crate) fn keep(batch: &Batch, task: &Task, ran: &Ran, command: &str) -> Result<(), StoreError> {
    let result = &ran.result;
    let (scenario, form) = (&task.scenario, task.form());
    let place = task.place(&form);
    if !scenario.record.series.is_empty() {
        let flows = scenario.tracks();
        let run = SeriesRun { place, seed: task.seed, flows: &flows, samples: &result.samples };
        batch.write_series(run, &Provenance::of(&[task.record(ran)], command))?;
    }
    if !scenario.record.capture.is_empty() {
        let flows: Vec<CapturedFlow> = (0u32..)
            .zip(&scenario.flows)
            .zip(senders(scenario, task.seed))
            .map(|((i, f), from)| captured(i, from, f))
            .collect();
        let links: Vec<&str> = result.links.iter().map(|l| l.name.as_str()).collect();
        let options = CaptureOptions::default();
        batch.write_capture(place, task.seed, |out| {
            write_pcapng(out, &links, &flows, &result.packets, options).map(|_| ())
        })?;
    }
    Ok(())
}
