//! Records series and packets while a simulation runs.

use windlass_cc::Time;
use windlass_tcp::{Endpoint, Profile};

use crate::config::Record;
use crate::results::{PacketEvent, Sample, Series};

/// What a simulation records; absent when nothing is to be recorded.
#[derive(Clone, Debug)]
pub struct Recorder {
    series: Vec<Series>,
    interval: u64,
    captured: Vec<bool>,
    /// Last recorded time and value by flow and series.
    last: Vec<Option<(Time, u64)>>,
    /// Samples so far.
    pub samples: Vec<Sample>,
    /// Packet events so far, not yet in order: a transmission is logged when it is decided.
    pub packets: Vec<PacketEvent>,
}

impl Recorder {
    /// A recorder, or `None` if there is nothing to record.
    pub fn new(record: &Record, links: usize, flows: usize) -> Option<Recorder> {
        if record.series.is_empty() && record.capture.is_empty() {
            return None;
        }
        let mut captured = vec![false; 2 * links];
        for &link in &record.capture {
            captured[2 * link] = true;
            captured[2 * link + 1] = true;
        }
        Some(Recorder {
            interval: record.interval.0,
            captured,
            last: vec![None; flows * record.series.len()],
            series: record.series.clone(),
            samples: Vec::new(),
            packets: Vec::new(),
        })
    }

    /// The data sender of a flow did something.
    pub fn sender(&mut self, now: Time, flow: u32, p: &Profile, e: &Endpoint) {
        self.observe(now, flow, |series| match series {
            Series::Cwnd => Some(e.control().cwnd),
            Series::Ssthresh => Some(e.control().ssthresh),
            Series::InFlight => Some(e.in_flight()),
            Series::Srtt => Some(e.srtt()).filter(|s| s.is_known()).map(|s| s.0),
            Series::Rto => Some(e.rto(p).0),
            _ => None,
        });
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

    fn observe(&mut self, now: Time, flow: u32, value: impl Fn(Series) -> Option<u64>) {
        for (i, &series) in self.series.iter().enumerate() {
            let Some(value) = value(series) else { continue };
            let last = &mut self.last[flow as usize * self.series.len() + i];
            let due = match *last {
                None => true,
                Some((at, before)) => before != value && now.since(at).0 >= self.interval,
            };
            if due {
                *last = Some((now, value));
                self.samples.push(Sample { time: now, flow, series, value });
            }
        }
    }

    /// Whether packets of this link direction are logged.
    pub fn captures(&self, link: u32) -> bool {
        self.captured[link as usize]
    }
}
