//! Traced runs: series of flows over time, and moments of packets.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use minijinja::value::{Object, ObjectRepr, from_args};
use minijinja::{Error, State, Value};
use windlass_sim::PacketFate;

use super::recorded::Recorded;
use crate::experiment::series;
use crate::papers::exchange;
use crate::papers::material::Trace;
use crate::papers::parts::series::seconds;
use crate::report::model::ChartPoint;
use crate::run::RunRecord;
use crate::scenario::what_there_is;
use crate::template::{Missing, absent_because, mistake};

/// The fate of packets with this name.
pub(crate) fn fate(name: &str) -> Result<PacketFate, String> {
    const FATES: [(&str, PacketFate); 5] = [
        ("sent", PacketFate::Sent),
        ("delivered", PacketFate::Delivered),
        ("dropped_queue", PacketFate::DroppedQueue),
        ("dropped_error", PacketFate::DroppedError),
        ("dropped_thinned", PacketFate::DroppedThinned),
    ];
    let found = FATES.iter().find(|(known, _)| *known == name).map(|(_, fate)| *fate);
    found.ok_or_else(|| {
        let known = FATES.map(|(name, _)| name);
        format!("fate `{name}` not found{}", what_there_is(name, &known))
    })
}

/// A traced run.
#[derive(Debug)]
pub(super) struct Traced {
    trace: Arc<Trace>,
    recorded: Arc<Recorded>,
    probing: bool,
    /// True if the trace must record each requested value.
    strict: bool,
}

impl Traced {
    pub(super) fn of(trace: Arc<Trace>, recorded: Arc<Recorded>) -> Traced {
        Traced { trace, recorded, probing: false, strict: false }
    }

    /// A stand-in with every value; with `strict`, only with the values that the trace records.
    pub(super) fn probe(recorded: Arc<Recorded>, strict: bool) -> Traced {
        Traced { trace: Arc::default(), recorded, probing: true, strict }
    }

    fn series(&self, name: &str, flow: &Value) -> Result<Course, Error> {
        let known = series(name).map_err(mistake)?;
        let flow = self.flow(flow)?;
        if self.strict {
            self.recorded.has_series(name)?;
        }
        if self.probing {
            return Ok(Course((0..5).map(|i| (f64::from(i), f64::from(5 - i))).collect()));
        }
        let values = self.trace.values_of(flow, known);
        Ok(Course(values.map(|(t, v)| (seconds(t), v as f64)).collect()))
    }

    /// The index of a flow; the first flow if no flow is given.
    fn flow(&self, flow: &Value) -> Result<u32, Error> {
        if flow.is_undefined() || flow.is_none() {
            return Ok(0);
        }
        let index = self.recorded.flow(flow)?;
        if self.strict {
            self.recorded.has_flow(index)?;
        }
        Ok(index)
    }

    fn end(&self) -> f64 {
        self.trace.samples.last().map_or(0.0, |s| seconds(s.time))
    }

    /// The flows that have a series.
    fn flows(&self, name: &str) -> Result<Vec<u32>, Error> {
        let series = series(name).map_err(mistake)?;
        if self.strict {
            self.recorded.has_series(name)?;
        }
        if self.probing {
            return Ok(vec![0]);
        }
        let mine = self.trace.samples.iter().filter(|s| s.series == series);
        Ok(BTreeSet::from_iter(mine.map(|s| s.flow)).into_iter().collect())
    }

    /// Number of packets of the flows with this fate so far, or their bytes: a growing count.
    fn counted(&self, flows: &[Value], name: &str, bytes: bool) -> Result<Course, Error> {
        let fate = fate(name).map_err(mistake)?;
        let flows: Vec<u32> = flows.iter().map(|f| self.flow(f)).collect::<Result<_, _>>()?;
        if self.strict {
            self.recorded.has_packets()?;
        }
        if self.probing {
            return Ok(Course(vec![(1.0, 1.0), (2.0, 2.0)]));
        }
        let mine = self.trace.packets.iter();
        let mine = mine.filter(|p| flows.contains(&p.flow) && p.forward && p.fate == fate);
        let mut so_far = 0.0;
        let point = |p: &windlass_sim::PacketEvent| {
            so_far += if bytes { f64::from(p.ip_len) } else { 1.0 };
            (seconds(p.time), so_far)
        };
        Ok(Course(mine.map(point).collect()))
    }
}

impl Object for Traced {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        Some(match key.as_str()? {
            "end" => self.end().into(),
            "seed" => self.trace.seed.into(),
            key => unknown("a trace", key, &METHODS),
        })
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        match method {
            "series" => {
                let (name, flow): (&str, Option<Value>) = from_args(args)?;
                Ok(Value::from_object(self.series(name, &flow.unwrap_or_default())?))
            }
            "flows" => {
                let (name,): (&str,) = from_args(args)?;
                Ok(self.flows(name)?.into())
            }
            "exchange" if self.probing => {
                if self.strict {
                    self.recorded.has_packets()?;
                }
                Ok(Value::from_object(exchange::Asked::probe()))
            }
            "exchange" => {
                let none = || absent_because("the captured packets have no loss with its repair");
                let asked = exchange::Asked::of(&self.trace).ok_or_else(none)?;
                Ok(Value::from_object(asked))
            }
            "packets" | "bytes" => {
                let (flows, fate): (Vec<Value>, &str) = from_args(args)?;
                Ok(Value::from_object(self.counted(&flows, fate, method == "bytes")?))
            }
            _ => Err(no_such("a trace", method, &METHODS)),
        }
    }
}

/// Names in expressions of a trace.
const METHODS: [&str; 6] = ["end", "series", "flows", "exchange", "packets", "bytes"];
/// Names in expressions of a value over time.
const OF_COURSES: [&str; 19] = [
    "n", "max", "min", "last", "start", "end", "pairs", "at", "mean", "within", "until", "since",
    "over", "most", "positive", "averages", "share_of", "pauses", "rates",
];

fn no_such(what: &str, name: &str, known: &[&str]) -> Error {
    mistake(format!("{what} has no `{name}`{}", what_there_is(name, known)))
}

/// A value that is an error in every use.
fn unknown(what: &str, name: &str, known: &[&str]) -> Value {
    Value::from(no_such(what, name, known))
}

/// A value over time: pairs of seconds and a value, which holds until the next pair.
#[derive(Clone, Debug)]
pub(crate) struct Course(pub(crate) Vec<(f64, f64)>);

impl Course {
    /// The pairs as points of a chart.
    pub(crate) fn points(&self) -> Vec<ChartPoint> {
        self.0.iter().map(|(x, y)| ChartPoint { x: *x, y: *y, ..ChartPoint::default() }).collect()
    }

    /// The reason why a method has no value.
    fn without(&self, method: &str, args: &[Value]) -> String {
        let args: Vec<String> = args.iter().map(ToString::to_string).collect();
        let call = format!("`.{method}({})`", args.join(", "));
        match self.0.first() {
            None => format!("{call} of a series without a value"),
            Some((first, _)) if method == "at" || method == "mean" => {
                format!("{call} is before the first value, at {first} s")
            }
            Some(_) => format!("{call} has no value in this series"),
        }
    }

    /// The value at a moment.
    pub(crate) fn at(&self, moment: f64) -> Option<f64> {
        let n = self.0.partition_point(|(t, _)| *t <= moment);
        n.checked_sub(1).map(|last| self.0[last].1)
    }

    /// The values in an interval, including the value at its beginning.
    pub(crate) fn within(&self, from: f64, until: f64) -> Course {
        let first = self.at(from).map(|v| (from, v));
        let later = self.0.iter().filter(|(t, _)| *t > from && *t <= until).copied();
        Course(first.into_iter().chain(later).collect())
    }

    /// The value of a growing count at a moment; zero before its first value.
    fn held(&self, moment: f64) -> f64 {
        self.at(moment).unwrap_or(0.0)
    }

    /// Share of the time in pauses of at least `least` seconds without growth.
    pub(crate) fn pauses(&self, least: f64) -> Option<f64> {
        let (mut last, mut highest, mut paused) = (0.0, 0.0, 0.0);
        for (time, value) in self.0.iter().filter(|(_, v)| *v > 0.0) {
            if *value > highest {
                let pause = time - last;
                paused += if pause >= least { pause } else { 0.0 };
                (last, highest) = (*time, *value);
            }
        }
        (last > 0.0).then(|| paused / last)
    }

    pub(crate) fn mapped(&self, f: impl Fn(f64) -> f64) -> Course {
        Course(self.0.iter().map(|(t, v)| (*t, f(*v))).collect())
    }

    /// Mean up to `end`, with each value weighted by its duration.
    pub(crate) fn mean(&self, end: f64) -> Option<f64> {
        let (first, _) = self.0.first()?;
        let ends = self.0.iter().skip(1).map(|(t, _)| *t).chain([end]);
        let sum: f64 = self.0.iter().zip(ends).map(|((t, v), until)| v * (until - t)).sum();
        (end > *first).then(|| sum / (end - first))
    }
}

fn course(value: &Value) -> Result<&Course, Error> {
    value
        .downcast_object_ref()
        .ok_or_else(|| mistake(format!("`{value}` is not a value over time")))
}

/// Moments after a start at which averages are taken.
fn steps(start: f64, step: f64, end: f64) -> impl Iterator<Item = f64> {
    let n = ((end - start) / step).max(0.0) as u32;
    (1..=n).map(move |i| start + f64::from(i) * step)
}

impl Object for Course {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let values = || self.0.iter().map(|(_, v)| *v);
        let key = key.as_str()?;
        match key {
            "n" => Some(self.0.len().into()),
            "max" | "min" | "last" | "end" | "start" if self.0.is_empty() => {
                Some(Value::from_object(Missing(format!("`.{key}` of a series without a value"))))
            }
            "max" => values().reduce(f64::max).map(Value::from),
            "min" => values().reduce(f64::min).map(Value::from),
            "last" => values().next_back().map(Value::from),
            "end" => self.0.last().map(|(t, _)| (*t).into()),
            "start" => self.0.first().map(|(t, _)| (*t).into()),
            "pairs" => Some(self.0.iter().map(|(t, v)| Value::from(vec![*t, *v])).collect()),
            _ => Some(unknown("a value over time", key, &OF_COURSES)),
        }
    }

    fn is_true(self: &Arc<Self>) -> bool {
        !self.0.is_empty()
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        let number = |v: Option<f64>| {
            v.map(Value::from).ok_or_else(|| absent_because(self.without(method, args)))
        };
        let one = || from_args::<(f64,)>(args).map(|(a,)| a);
        Ok(match method {
            "at" => return number(self.at(one()?)),
            "mean" => return number(self.mean(one()?)),
            "within" => {
                let (from, until) = from_args(args)?;
                Value::from_object(self.within(from, until))
            }
            "until" => {
                let end = one()?;
                let kept = self.0.iter().take_while(|(t, _)| *t <= end).copied();
                Value::from_object(Course(kept.collect()))
            }
            "since" => {
                let start = one()?;
                Value::from_object(Course(
                    self.0.iter().filter(|(t, _)| *t >= start).copied().collect(),
                ))
            }
            "over" => {
                let k = one()?;
                Value::from_object(self.mapped(|v| v / k))
            }
            "most" => {
                let most = one()?;
                Value::from_object(self.mapped(|v| v.min(most)))
            }
            "positive" => {
                Value::from_object(Course(self.0.iter().filter(|p| p.1 > 0.0).copied().collect()))
            }
            // A growing count, divided by the time since a start, in steps.
            "averages" => {
                let (start, step, end): (f64, f64, f64) = from_args(args)?;
                let of = |t: f64| (t, self.held(t) / (t - start));
                Value::from_object(Course(steps(start, step, end).map(of).collect()))
            }
            // The share of the first of two growing counts in both together, in %, in steps.
            "share_of" => {
                let (other, start, step, end): (&Value, f64, f64, f64) = from_args(args)?;
                let other = course(other)?;
                let of = |t: f64| {
                    let (mine, all) = (self.held(t), self.held(t) + other.held(t));
                    (t, if all > 0.0 { 100.0 * mine / all } else { 0.0 })
                };
                Value::from_object(Course(steps(start, step, end).map(of).collect()))
            }
            // Share of the time in pauses of at least this duration, in which the count did not grow.
            "pauses" => return number(self.pauses(one()?)),
            "rates" => {
                let step = one()?;
                let points = crate::papers::parts::series::rates(&self.points(), step);
                Value::from_object(Course(points.iter().map(|p| (p.x, p.y)).collect()))
            }
            _ => return Err(no_such("a value over time", method, &OF_COURSES)),
        })
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} values over time", self.0.len())
    }
}

/// Mean drops per second over the runs, in steps.
pub(super) fn drops(all: &[&RunRecord], step_s: f64) -> Course {
    let courses: Vec<_> = all.iter().filter_map(|r| r.course.as_ref()).collect();
    let end = all.iter().map(|r| r.end_s).fold(0.0, f64::max);
    let Some(bin_s) = courses.first().map(|c| c.bin_s) else { return Course(Vec::new()) };
    let per_step = (step_s / bin_s).round().max(1.0) as usize;
    let mut sums = vec![0u64; (end / bin_s) as usize];
    for course in &courses {
        let dropped = course.dropped(sums.len());
        sums.iter_mut().zip(dropped).for_each(|(sum, n)| *sum += n);
    }
    let scale = courses.len() as f64 * per_step as f64 * bin_s;
    let step = |(i, bins): (usize, &[u64])| {
        ((i * per_step) as f64 * bin_s, bins.iter().sum::<u64>() as f64 / scale)
    };
    Course(sums.chunks_exact(per_step).enumerate().map(step).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::fixtures::run;
    use crate::run::{Course as Bins, Drops};

    #[test]
    fn an_interval_includes_the_value_at_its_beginning() {
        let course = Course(vec![(1.0, 10.0), (4.0, 80.0), (6.0, 4.0), (20.0, 50.0)]);
        assert_eq!((course.at(5.0), course.at(0.5)), (Some(80.0), None));
        // 80 for one second of ten, and 4 for nine.
        assert_eq!(course.within(5.0, 15.0).mean(15.0), Some((80.0 + 9.0 * 4.0) / 10.0));
    }

    #[test]
    fn pauses_are_times_without_growth() {
        let acks = [(0.1, 1.0), (1.2, 1.0), (2.1, 2.0), (2.9, 3.0), (4.0, 4.0)];
        let share = Course(acks.to_vec()).pauses(1.0).unwrap();
        assert!((share - 3.1 / 4.0).abs() < 1e-12, "{share}");
    }

    #[test]
    fn losses_are_averaged_over_steps_and_runs() {
        let with = |bins: Vec<(u32, u64)>| {
            let drops = vec![Drops { link: "l:a>b".to_owned(), bins }];
            let (convergence_cwnd_s, convergence_rate_s) = (None, None);
            let course = Bins { bin_s: 1.0, convergence_cwnd_s, convergence_rate_s, drops };
            RunRecord { end_s: 30.0, course: Some(course), ..run("e", "p", 1, 1.0) }
        };
        let (a, b) = (with(vec![(0, 20), (29, 40)]), with(vec![(9, 20)]));
        assert_eq!(drops(&[&a, &b], 10.0).0, [(0.0, 2.0), (10.0, 0.0), (20.0, 2.0)]);
        assert!(drops(&[], 10.0).0.is_empty());
    }
}
