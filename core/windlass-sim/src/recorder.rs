//! Records time series during a simulation.

use windlass_cc::Time;
use windlass_tcp::mptcp::Connection;
use windlass_tcp::{Endpoint, Profile};

use crate::config::{Config, FlowConfig};
use crate::core::Core;
use crate::external::Report;
use crate::host::{Host, Kind};
use crate::latency::Messages;
use crate::multipath::MultipathEnd;
use crate::results::{Sample, Series};

/// The series of a simulation. A simulation has no recorder if no series is recorded.
#[derive(Clone, Debug)]
pub struct Recorder {
    series: Vec<Series>,
    /// Index in `series` of the first field of an algorithm's inner state. These fields are last.
    states: usize,
    interval: u64,
    /// Last recorded time and value, by flow or subflow and series.
    last: Vec<Option<(Time, u64)>>,
    /// Samples so far.
    pub samples: Vec<Sample>,
}

impl Recorder {
    /// A recorder, or `None` if there is no series to record.
    pub fn new(config: &Config) -> Option<Recorder> {
        let Config { record, flows, .. } = config;
        if record.series.is_empty() {
            return None;
        }
        let series = expanded(&record.series, flows);
        let is_state = |s: &Series| matches!(s, Series::State(_));
        Some(Recorder {
            states: series.iter().position(is_state).unwrap_or(series.len()),
            interval: record.interval.0,
            last: vec![None; (flows.len() + config.subflows()) * series.len()],
            series,
            samples: Vec::new(),
        })
    }

    /// Records the values of a host after an event.
    pub(crate) fn record(&mut self, core: &Core, host: u32) {
        let Host { profile, kind, .. } = &core.hosts[host as usize];
        let (flow, sends) = (host / 2, host.is_multiple_of(2));
        match kind {
            Kind::Tcp { endpoint, .. } if sends => {
                self.sender(core.now, flow, &core.profiles[*profile as usize], endpoint);
            }
            Kind::Tcp { endpoint, app } => {
                self.receiver(core.now, flow, endpoint, app.delivered);
                self.messages(core.now, flow, app.messages.as_deref());
            }
            Kind::DatagramSink { bytes, .. } => self
                .observe(core.now, flow, |series| (series == Series::Delivered).then_some(*bytes)),
            Kind::CoapServer(server) => self.observe(core.now, flow, |series| {
                (series == Series::Delivered).then_some(server.bytes)
            }),
            Kind::MediaSource(source) => self.observe(core.now, flow, |series| {
                (series == Series::Pacing).then_some(source.rate_bps())
            }),
            Kind::MediaSink(sink) => self.observe(core.now, flow, |series| {
                (series == Series::Delivered).then_some(sink.bytes)
            }),
            Kind::CoapClient(client) => {
                let [srtt, _, rto] = client.times();
                self.observe(core.now, flow, |series| match series {
                    Series::Srtt => Some(srtt).filter(|s| s.is_known()).map(|s| s.0),
                    Series::Rto => Some(rto.0),
                    _ => None,
                });
            }
            Kind::Session(end) => match end.endpoint() {
                Some(endpoint) if sends => {
                    self.sender(core.now, flow, &core.profiles[*profile as usize], endpoint);
                }
                Some(endpoint) => {
                    self.receiver(core.now, flow, endpoint, end.delivered());
                    self.messages(core.now, flow, end.messages());
                }
                None => {}
            },
            Kind::Multipath(end) => self.multipath(core, flow, sends, end),
            Kind::External { report: Some(report), .. } => {
                self.observe(core.now, flow, |series| reported(report, sends, series));
            }
            _ => {}
        }
    }

    fn multipath(&mut self, core: &Core, flow: u32, sends: bool, end: &MultipathEnd) {
        let MultipathEnd { connection, app, .. } = end;
        let profile = end.profile(&core.multipath_profiles);
        for (path, p) in profile.paths().iter().enumerate() {
            let (subflow, track) = (connection.subflow(path), end.track + path as u32);
            match sends {
                true => self.sender(core.now, track, p, subflow),
                false => self.receiver(core.now, track, subflow, subflow.received()),
            }
        }
        match sends {
            true => self.multipath_sender(core.now, flow, end.cwnd(), connection),
            false => self.multipath_receiver(core.now, flow, connection, app.delivered),
        }
    }

    /// Records the values of the data sender of a flow or subflow after an event.
    fn sender(&mut self, now: Time, flow: u32, p: &Profile, e: &Endpoint) {
        self.observe(now, flow, |series| match series {
            Series::Cwnd => Some(e.control().cwnd),
            Series::Ssthresh => Some(e.control().ssthresh),
            Series::InFlight => Some(e.in_flight()),
            Series::Srtt => Some(e.srtt()).filter(|s| s.is_known()).map(|s| s.0),
            Series::Rto => Some(e.rto(p).0),
            Series::Pacing => Some(e.pacing_rate(p).0.saturating_mul(8)),
            _ => None,
        });
        let (samples, rtt) = e.rtt_samples();
        self.events(now, flow, Series::Rtt, u64::from(samples), &[rtt.0]);
        if self.states < self.series.len() {
            e.trace(&mut |field, value| {
                let states = &self.series[self.states..];
                if let Some(i) = states.iter().position(|s| *s == Series::State(field.name)) {
                    self.note(now, flow, self.states + i, value);
                }
            });
        }
    }

    /// Records the latencies of the messages that have just arrived.
    fn messages(&mut self, now: Time, flow: u32, messages: Option<&Messages>) {
        let Some(latencies) = messages.map(Messages::latencies_ns) else { return };
        self.events(now, flow, Series::Latency, latencies.len() as u64, latencies);
    }

    /// Records the last values of a series of events, of which there were `count` so far. `latest` ends with the
    /// newest. The sampling interval does not apply.
    fn events(&mut self, now: Time, flow: u32, series: Series, count: u64, latest: &[u64]) {
        let Some(place) = self.series.iter().position(|s| *s == series) else { return };
        let last = &mut self.last[flow as usize * self.series.len() + place];
        // Each connection of successive connections counts anew.
        let known = last.map_or(0, |(_, known)| known);
        let known = if known > count { 0 } else { known };
        let new = count.saturating_sub(known).min(latest.len() as u64) as usize;
        *last = Some((now, count));
        let samples = latest[latest.len() - new..].iter();
        self.samples.extend(samples.map(|&value| Sample { time: now, flow, series, value }));
    }

    /// Records the values of the data receiver of a flow after an event. Its application has read
    /// `delivered` bytes.
    fn receiver(&mut self, now: Time, flow: u32, e: &Endpoint, delivered: u64) {
        self.observe(now, flow, |series| match series {
            Series::AckNumber => Some(e.acknowledged_to_peer()),
            Series::Rwnd => Some(e.advertised_window()),
            Series::Delivered => Some(delivered),
            _ => None,
        });
    }

    /// Records the values of the data sender of a multipath flow after an event. `cwnd` is the sum
    /// of its windows.
    fn multipath_sender(&mut self, now: Time, flow: u32, cwnd: u64, c: &Connection) {
        self.observe(now, flow, |series| match series {
            Series::Cwnd => Some(cwnd),
            Series::InFlight => Some((0..c.paths()).map(|i| c.subflow(i).in_flight()).sum()),
            _ => None,
        });
    }

    /// Records the values of the data receiver of a multipath flow after an event.
    fn multipath_receiver(&mut self, now: Time, flow: u32, c: &Connection, delivered: u64) {
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

    /// Records a value of the series at `place` if it has changed and the sampling interval has
    /// passed.
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
}

/// The value of a series at an external end, which sends the data or receives it.
fn reported(report: &Report, sends: bool, series: Series) -> Option<u64> {
    match series {
        Series::Cwnd if sends => Some(report.cwnd),
        Series::Ssthresh if sends => report.ssthresh,
        Series::Srtt if sends => report.srtt.map(|srtt| srtt.0),
        Series::Delivered if !sends => Some(report.delivered),
        _ => None,
    }
}

/// The series in their order, without duplicates, and with the fields of inner state last.
/// [`Series::States`] is replaced by all fields of all flows.
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
