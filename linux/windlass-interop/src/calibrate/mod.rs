//! Calibration: comparison of an emulated link's delivered values with the requested values.
//!
//! Each [`Point`] requests a rate, a delay, an error model and a queue. Its [probes](Probe) are flows of
//! datagrams. [`live::run`] carries them like other packets: through sockets, namespaces, TUN devices and the
//! emulator. Datagrams are numbered. The sender records the send time of each datagram, and the receiver's
//! kernel records its arrival time, by the same clock. The results are compared with arithmetic (size over
//! rate, plus delay; places in the queue, plus one) and with the error model's own draws.

mod measure;
mod point;
mod row;
pub mod table;

use serde::{Deserialize, Serialize};
use windlass_cc::Span;

pub use point::{Effort, Point, Probe, points};
pub use row::{Quantity, Row, Tolerance, Unit};
use windlass_testbed::live::{self, Bound, Error, Lateness, Outcome};

/// Maximum number of bursts until one reaches the link within one transmission time.
const BURSTS: u32 = 5;

/// Options of a calibration.
#[derive(Clone, Debug)]
pub struct Options {
    /// Options of the probes' runs.
    pub live: live::Options,
    /// Amount of measurement.
    pub effort: Effort,
    /// Allowed errors.
    pub tolerance: Tolerance,
}

impl Options {
    /// Options for this machine: up to five attempts per probe.
    pub fn live(effort: Effort) -> Options {
        let live = live::Options { attempts: 5, ..live::Options::default() };
        Options { live, effort, tolerance: Tolerance::live() }
    }

    /// Options for a guest whose clock counts instructions.
    pub fn in_virtual_time(effort: Effort) -> Options {
        Options {
            live: live::Options::in_virtual_time(),
            effort,
            tolerance: Tolerance::in_virtual_time(),
        }
    }
}

/// Result of all points.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Calibration {
    /// The kernel's release, as `uname -r` prints it.
    pub kernel: String,
    /// One entry per point.
    pub points: Vec<Measured>,
}

/// Result of one point.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// Description of the requested link.
    pub asked: String,
    /// Requested rate, bits per second.
    pub rate_bps: u64,
    /// Requested delay, nanoseconds.
    pub delay_ns: u64,
    /// Delivered values.
    pub rows: Vec<Row>,
    /// Reason why a probe has no result: the machine was too busy in every attempt.
    pub invalid: Vec<String>,
    /// Number of runs, late runs included.
    pub runs: u32,
}

impl Calibration {
    /// True if everything was measured and is within its bounds.
    pub fn is_ok(&self) -> bool {
        self.points.iter().all(|p| p.invalid.is_empty() && p.rows.iter().all(Row::is_ok))
    }
}

/// Calibrates these points one after the other. `tell` is called with each point before its start.
///
/// # Errors
///
/// Returns the errors of [`live::run`]. A probe that was too late in every attempt is
/// [invalid](Measured::invalid) instead.
pub fn run(
    points: &[Point],
    options: &Options,
    tell: &mut dyn FnMut(&Point),
) -> Result<Calibration, Error> {
    let measured = points.iter().map(|point| {
        tell(point);
        measure_point(point, options)
    });
    Ok(Calibration { points: measured.collect::<Result<_, Error>>()?, kernel: live::kernel() })
}

/// Sums over the probes of a point.
#[derive(Default)]
struct Tally {
    out_of_order: u64,
    beside: u64,
    lateness: Lateness,
    runs: u32,
}

impl Tally {
    fn add(&mut self, outcome: &Outcome, planned: u64) {
        self.out_of_order +=
            outcome.traces.iter().map(|t| measure::out_of_order(&t.arrived)).sum::<u64>();
        self.beside += measure::beside(outcome, planned);
        let (all, this) = (&mut self.lateness, &outcome.lateness);
        all.median = all.median.max(this.median);
        all.p99 = all.p99.max(this.p99);
        all.max = all.max.max(this.max);
    }

    fn rows(&self, tolerance: &Tolerance) -> Vec<Row> {
        let ns = |span: Span| span.0 as f64;
        let none = |quantity, delivered| tolerance.row(quantity, 0.0, delivered);
        vec![
            none(Quantity::OutOfOrder, self.out_of_order as f64),
            none(Quantity::LostBeside, self.beside as f64),
            none(Quantity::LatenessMedian, ns(self.lateness.median)),
            none(Quantity::LatenessP99, ns(self.lateness.p99)),
            none(Quantity::LatenessMax, ns(self.lateness.max)),
        ]
    }
}

fn measure_point(point: &Point, options: &Options) -> Result<Measured, Error> {
    let (mut rows, mut invalid, mut tally) = (Vec::new(), Vec::new(), Tally::default());
    for probe in point.probes() {
        match valid_outcome(point, probe, options, &mut tally)? {
            Ok(outcome) => {
                let trace = &outcome.traces[0];
                let of_probe = match probe {
                    Probe::Delay => measure::delay,
                    Probe::Rate => measure::rate,
                    Probe::Loss => measure::loss,
                    Probe::Queue => measure::queue,
                };
                rows.extend(of_probe(point, trace, &options.tolerance));
            }
            Err(why) => invalid.push(why),
        }
    }
    rows.extend(tally.rows(&options.tolerance));
    Ok(Measured {
        asked: point.to_string(),
        rate_bps: point.rate_bps,
        delay_ns: point.delay.0,
        rows,
        invalid,
        runs: tally.runs,
    })
}

/// Runs a probe until it is valid, or returns the reason why it never was.
fn valid_outcome(
    point: &Point,
    probe: Probe,
    options: &Options,
    tally: &mut Tally,
) -> Result<Result<Outcome, String>, Error> {
    let config = point.config(probe, &options.effort);
    // A distribution of times describes the link only if it contains no stall of the machine.
    let bound = match probe {
        Probe::Delay => options.live.bound.map(|b| Bound { max: b.p99, ..b }),
        _ => options.live.bound,
    };
    let traced = live::Options { trace: true, bound, ..options.live.clone() };
    let transmission = point.transmission(point::FULL);
    let mut spread = Span::ZERO;
    for _ in 0..BURSTS {
        let outcome = match live::run(&config, &traced) {
            Ok(outcome) => outcome,
            Err(e @ Error::Late { attempts, .. }) => {
                tally.runs += attempts;
                return Ok(Err(e.to_string()));
            }
            Err(e) => return Err(e),
        };
        tally.runs += outcome.attempts;
        spread = measure::spread(&outcome.result);
        if probe != Probe::Queue || spread < transmission {
            tally.add(&outcome, point.datagrams(probe, &options.effort));
            return Ok(Ok(outcome));
        }
    }
    let [took, allowed] = [spread, transmission].map(|span| span.0 as f64 / 1e6);
    Ok(Err(format!(
        "in each of {BURSTS} bursts the last packet reached the link too long after the first \
         ({took:.2} ms; one transmission takes {allowed:.2} ms)"
    )))
}
