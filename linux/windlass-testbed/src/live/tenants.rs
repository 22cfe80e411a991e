//! Windlass's algorithms in the kernel for the duration of a run, one per flow with such an algorithm.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use windlass_cc::AnyParams;
use windlass_sim::config::{Config, FlowConfig};

use super::error::Error;
use super::options::{Options, Watch};
use crate::bpf::record::Record;
use crate::bpf::replay::{Replayed, replay};
use crate::bpf::{self, Algorithm, Attached};

/// Interval at which the event ring is emptied. The ring holds more than one second of events at any emulated
/// rate.
const VISIT: Duration = Duration::from_millis(10);

/// An algorithm in the kernel. It is removed when this is dropped, and at the latest with the process.
pub struct Tenant {
    /// Position of the flow.
    pub flow: usize,
    /// Name by which the flow's sockets choose the algorithm.
    pub name: String,
    /// Name of the flow.
    of: String,
    params: AnyParams,
    attached: Option<Attached>,
    reader: Option<Reader>,
    counting: Option<bpf::Statistics>,
}

/// A thread that collects the kernel's records.
struct Reader {
    done: Arc<AtomicBool>,
    thread: JoinHandle<Result<Vec<Record>, bpf::Error>>,
}

/// Loads Windlass's algorithms into the kernel.
pub fn load(config: &Config, options: &Options) -> Result<Vec<Tenant>, Error> {
    let flow = |place: &usize| Tenant::new(*place, &config.flows[*place], options);
    options.ours.iter().map(flow).collect()
}

/// Returns a name that no other concurrent run on this machine uses.
fn fresh_name() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed) & 0xffff;
    format!("wl_{:x}_{number:x}", process::id() & 0xff_ffff)
}

impl Tenant {
    fn new(place: usize, flow: &FlowConfig, options: &Options) -> Result<Tenant, Error> {
        let (name, params) = (fresh_name(), bpf::params_of(&flow.profile));
        let algorithm =
            Algorithm { params, name: name.clone(), recording: options.watch == Watch::Replay };
        let home = |source| Error::Home { flow: flow.name.clone(), source };
        let attached = algorithm.load(&options.objects).map_err(home)?;
        let mut tenant = Tenant {
            flow: place,
            name,
            of: flow.name.clone(),
            params,
            attached: None,
            reader: None,
            counting: None,
        };
        match options.watch {
            Watch::Replay => tenant.reader = Some(Reader::new(attached)),
            Watch::Count => {
                tenant.counting = Some(bpf::Statistics::on().map_err(home)?);
                tenant.attached = Some(attached);
            }
            Watch::Nothing => tenant.attached = Some(attached),
        }
        Ok(tenant)
    }

    /// Removes the algorithm at the end of the run. Replays the recorded events, or returns the counted run
    /// times.
    pub fn leave(self) -> Result<Replayed, Error> {
        let home = |source| Error::Home { flow: self.of.clone(), source };
        let Some(Reader { done, thread }) = self.reader else {
            let counted = self.attached.filter(|_| self.counting.is_some());
            let ran = counted.map_or(Ok(Vec::new()), |a| a.run_times()).map_err(home)?;
            return Ok(Replayed { ran, ..Replayed::default() });
        };
        done.store(true, Ordering::Relaxed);
        let records = thread.join().unwrap_or(Ok(Vec::new()));
        let records = records.map_err(home)?;
        Ok(replay(&self.params, &records, true))
    }
}

impl Reader {
    fn new(mut attached: Attached) -> Reader {
        let done = Arc::new(AtomicBool::new(false));
        let stop = done.clone();
        let thread = thread::spawn(move || {
            let mut records = Vec::new();
            loop {
                let last = stop.load(Ordering::Relaxed);
                records.append(&mut attached.take_records()?);
                if last {
                    return Ok(records);
                }
                thread::sleep(VISIT);
            }
        });
        Reader { done, thread }
    }
}
