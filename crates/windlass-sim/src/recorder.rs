//! Records series and packets while a simulation runs.

use windlass_cc::Time;
use windlass_tcp::mptcp::Connection;
use windlass_tcp::{Endpoint, Profile};

use crate::config::{Config, FlowConfig};
use crate::results::{PacketEvent, Sample, Series};

/// What a simulation records; absent when nothing is to be recorded.
#[derive(Clone, Debug)]
pub struct Recorder {
    series: Vec<Series>,
    /// Where the fields of inner state begin in `series`: they come last.
    states: usize,
    interval: u64,
    captured: Vec<bool>,
    /// Last recorded time and value by flow or subflow and series.
    last: Vec<Option<(Time, u64)>>,
    /// Samples so far.
    pub samples: Vec<Sample>,
    /// Packet events so far, not yet in order: a transmission is logged when it is decided.
    pub packets: Vec<PacketEvent>,
}

impl Recorder {
    /// A recorder, or `None` if there is nothing to record.
    pub fn new(config: &Config) -> Option<Recorder> {
        let Config { record, flows, links, .. } = config;
        if record.series.is_empty() && record.capture.is_empty() {
            return None;
        }
        let mut captured = vec![false; 2 * links.len()];
        for &link in &record.capture {
            captured[2 * link] = true;
            captured[2 * link + 1] = true;
        }
        let series = expanded(&record.series, flows);
        let is_state = |s: &Series| matches!(s, Series::State(_));
        Some(Recorder {
            states: series.iter().position(is_state).unwrap_or(series.len()),
            interval: record.interval.0,
            captured,
            last: vec![None; (flows.len() + config.subflows()) * series.len()],
            series,
            samples: Vec::new(),
            packets: Vec::new(),
        })
    }

    /// The data sender of a flow or subflow did something.
    pub fn sender(&mut self, now: Time, flow: u32, p: &Profile, e: &Endpoint) {
        self.observe(now, flow, |series| match series {
            Series::Cwnd => Some(e.control().cwnd),
            Series::Ssthresh => Some(e.control().ssthresh),
            Series::InFlight => Some(e.in_flight()),
            Series::Srtt => Some(e.srtt()).filter(|s| s.is_known()).map(|s| s.0),
            Series::Rto => Some(e.rto(p).0),
            Series::Pacing => Some(e.pacing_rate(p).0.saturating_mul(8)),
            _ => None,
        });
        if self.states < self.series.len() {
            e.trace(&mut |field, value| {
                let states = &self.series[self.states..];
                if let Some(i) = states.iter().position(|s| *s == Series::State(field.name)) {
                    self.note(now, flow, self.states + i, value);
                }
            });
        }
    }

    /// The data receiver of a flow did something; its application has read `delivered` bytes.
    pub fn receiver(&mut self, now: Time, flow: u32, e: &Endpoint, delivered: u64) {
        self.observe(now, flow, |series| match series {
            Series::AckNumber => Some(e.acknowledged_to_peer()),
            Series::Rwnd => Some(e.advertised_window()),
            Series::Delivered => Some(delivered),
            _ => None,
        });
    }

    /// The data sender of a multipath flow did something; its windows are `cwnd` together.
    pub fn multipath_sender(&mut self, now: Time, flow: u32, cwnd: u64, c: &Connection) {
        self.observe(now, flow, |series| match series {
            Series::Cwnd => Some(cwnd),
            Series::InFlight => Some((0..c.paths()).map(|i| c.subflow(i).in_flight()).sum()),
            _ => None,
        });
    }

    /// The data receiver of a multipath flow did something.
    pub fn multipath_receiver(&mut self, now: Time, flow: u32, c: &Connection, delivered: u64) {
        self.observe(now, flow, |series| match series {
            Series::AckNumber => Some(c.received()),
            Series::Delivered => Some(delivered),
            _ => None,
        });
    }

    fn observe(&mut self, now: Time, flow: u32, value: impl Fn(Series) -> Option<u64>) {
        for i in 0..self.states {
            if let Some(value) = value(self.series[i]) {
                self.note(now, flow, i, value);
            }
        }
    }

    /// A value of the series at `place`, which is recorded if it has changed and is due.
    fn note(&mut self, now: Time, flow: u32, place: usize, value: u64) {
        let last = &mut self.last[flow as usize * self.series.len() + place];
        let due = match *last {
            None => true,
            Some((at, before)) => before != value && now.since(at).0 >= self.interval,
        };
        if due {
            *last = Some((now, value));
            self.samples.push(Sample { time: now, flow, series: self.series[place], value });
        }
    }

    /// Whether packets of this link direction are logged.
    pub fn captures(&self, link: u32) -> bool {
        self.captured[link as usize]
    }
}

/// The series in their order, each once, the fields of inner state last; [`Series::States`] stands
/// for all fields that some flow has.
fn expanded(series: &[Series], flows: &[FlowConfig]) -> Vec<Series> {
    let is_state = |s: &Series| matches!(s, Series::State(_) | Series::States);
    let mut all: Vec<Series> = series.iter().copied().filter(|s| !is_state(s)).collect();
    let mut add = |s: Series| {
        if !all.contains(&s) {
            all.push(s);
        }
    };
    for &wanted in series.iter().filter(|s| is_state(s)) {
        if wanted != Series::States {
            add(wanted);
            continue;
        }
        for params in flows.iter().flat_map(FlowConfig::profiles).map(|p| &p.params) {
            let fields = params.info().trace.iter().chain(params.common().slow_start.info().trace);
            fields.for_each(|field| add(Series::State(field.name)));
        }
    }
    all
}
