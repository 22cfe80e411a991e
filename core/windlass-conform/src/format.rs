//! The file format: one JSON object per line. The first line is the header.
//! `docs/src/inside/conformance.md` describes the format for other programs.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use windlass_cc::recovery::LossRecovery;
use windlass_cc::setup::{Counting, Credit, MarkCut};
use windlass_cc::{Ack, AnyParams, Conn, Event, Loss, RateSample, Setup, Span, Time};

use super::parameters::{read_slow_start, read_table};
use super::paths::{BelowLine, PathLine, group};
use super::words::{LIMITS, PHASES, UNDOS, known, meaning, word};

/// The value of [`Header::format`].
pub const FORMAT: &str = "windlass-conformance";
/// The value of [`Header::version`]. It increases if old readers would misread new files.
pub const VERSION: u32 = 1;

/// The first line: the setup, and the answer of a new connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// Identifier of the algorithm.
    pub algorithm: String,
    /// Name of the case, which is the file's name.
    pub case: String,
    /// Description of the case, one sentence.
    pub about: String,
    /// Source of the equations for the expected values.
    pub source: String,
    /// All parameters of the algorithm.
    pub params: Map<String, Value>,
    /// The slow start by `name`, with its parameters; missing for an algorithm with a special slow
    /// start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start: Option<Map<String, Value>>,
    /// Values of the stack.
    pub setup: SetupLine,
    /// The connection before the first event, all fields.
    pub conn: ConnLine,
    /// The answer before the first event.
    pub expect: Expect,
}

/// Values of the stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetupLine {
    /// Bytes.
    pub initial_window: u64,
    /// Bytes.
    pub initial_ssthresh: u64,
    /// `tahoe`, `reno`, `newreno`, `sack` or `prr`.
    pub recovery: String,
    /// Maximum number of segments that one acknowledgement counts for.
    pub ack_limit: u32,
    /// Unit of cwnd: `bytes` or `segments`. By default `bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counting: Option<String>,
    /// Growth of cwnd: by `acked` or by `delivered` bytes. By default `acked`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credit: Option<String>,
    /// Duration of a mark's reduction: `at-once` or `proportional`. By default `at-once`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark_cut: Option<String>,
}

/// The expected answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Congestion window, bytes.
    pub cwnd: f64,
    /// Slow-start threshold, bytes; left out if the algorithm has no threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssthresh: Option<f64>,
    /// Pacing rate, bytes per second; left out if the algorithm does not pace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing: Option<f64>,
    /// Bytes by which `cwnd` and `ssthresh` may differ.
    pub tolerance: f64,
    /// Bytes per second by which `pacing` may differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing_tolerance: Option<f64>,
}

/// Values of the connection. A value that is left out is unchanged since the previous line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields of `Conn`")]
pub struct ConnLine {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flight_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub una: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
    /// Unknown if it was left out of all lines so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub srtt_ns: Option<u64>,
    /// Unknown if it was left out of all lines so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rtt_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss: Option<u32>,
    /// The limits of the sender: `cwnd`, `app` or `rwnd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_by: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entropy: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
}

/// An event, the connection after it, and the answer to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields of `Event`'s variants")]
pub struct Line {
    /// `ack`, `phase`, `loss`, `undo`, `idle`, `mss`, `group` or `cross_layer`. It determines the
    /// other fields.
    pub event: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acked: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newly_delivered: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newly_lost: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ce: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior_in_flight: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateLine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duplicate: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_in_flight: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_since_sent: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_limited: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_mss: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<PathLine>>,
    /// Index of the algorithm's path among `paths`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<usize>,
    /// The connection's mode for that path; 0 is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub below: Option<BelowLine>,
    /// The connection after the event.
    pub conn: ConnLine,
    /// The answer to it.
    pub expect: Expect,
}

/// A delivery-rate sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields of `RateSample`")]
pub struct RateLine {
    pub delivered: u64,
    /// Left out if the rate is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_ns: Option<u64>,
    pub prior_delivered: u64,
    pub lost: u64,
    pub tx_in_flight: u64,
    pub app_limited: bool,
}

fn need<T>(value: Option<T>, event: &str, key: &str) -> Result<T, String> {
    value.ok_or_else(|| format!("the event `{event}` lacks `{key}`"))
}

impl ConnLine {
    /// The values that changed since `before`; all values without it.
    pub fn of(c: &Conn, before: Option<&Conn>) -> ConnLine {
        fn changed<T: PartialEq>(
            c: &Conn,
            before: Option<&Conn>,
            get: impl Fn(&Conn) -> T,
        ) -> Option<T> {
            let value = get(c);
            before.is_none_or(|b| get(b) != value).then_some(value)
        }
        let limits = |c: &Conn| -> Vec<String> {
            let set = LIMITS.iter().filter(|(_, bit)| c.flags & bit != 0);
            set.map(|(name, _)| (*name).to_owned()).collect()
        };
        ConnLine {
            now_ns: changed(c, before, |c| c.now.0),
            in_flight: changed(c, before, |c| c.in_flight),
            flight_size: changed(c, before, |c| c.flight_size),
            una: changed(c, before, |c| c.una),
            next_id: changed(c, before, |c| c.next_id),
            delivered: changed(c, before, |c| c.delivered),
            lost: changed(c, before, |c| c.lost),
            sent: changed(c, before, |c| c.sent),
            srtt_ns: changed(c, before, |c| known(c.srtt)).flatten(),
            min_rtt_ns: changed(c, before, |c| known(c.min_rtt)).flatten(),
            mss: changed(c, before, |c| c.mss),
            limited_by: changed(c, before, limits),
            entropy: changed(c, before, |c| c.entropy),
            phase: changed(c, before, |c| word(&PHASES, c.phase)),
        }
    }

    /// Updates `c`.
    pub fn apply(&self, c: &mut Conn) -> Result<(), String> {
        fn set<T: Copy>(to: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *to = value;
            }
        }
        set(&mut c.now.0, self.now_ns);
        set(&mut c.in_flight, self.in_flight);
        set(&mut c.flight_size, self.flight_size);
        set(&mut c.una, self.una);
        set(&mut c.next_id, self.next_id);
        set(&mut c.delivered, self.delivered);
        set(&mut c.lost, self.lost);
        set(&mut c.sent, self.sent);
        set(&mut c.srtt.0, self.srtt_ns);
        set(&mut c.min_rtt.0, self.min_rtt_ns);
        set(&mut c.mss, self.mss);
        set(&mut c.entropy, self.entropy);
        if let Some(limits) = &self.limited_by {
            c.flags = 0;
            for limit in limits {
                c.flags |= meaning(&LIMITS, "limited_by", limit)?;
            }
        }
        if let Some(phase) = &self.phase {
            c.phase = meaning(&PHASES, "phase", phase)?;
        }
        Ok(())
    }

    /// A connection that has sent nothing, with these values.
    pub fn first(&self) -> Result<Conn, String> {
        let mut c = Conn { now: Time::ZERO, ..Conn::new(0) };
        self.apply(&mut c)?;
        Ok(c)
    }
}

impl Line {
    /// An event as a line. `rates` adds rate samples.
    pub fn of(e: &Event, rates: bool, conn: ConnLine, expect: Expect) -> Line {
        let mut line = Line { conn, expect, ..Line::default() };
        let some = |bytes: u64| (bytes > 0).then_some(bytes);
        match e {
            Event::Ack(a) => {
                line.event = "ack".to_owned();
                line.acked = Some(a.acked);
                line.newly_delivered = Some(a.delivered);
                line.newly_lost = some(a.lost);
                line.ce = some(a.ce);
                line.prior_in_flight = Some(a.prior_in_flight);
                line.rtt_ns = known(a.rtt);
                line.duplicate = a.duplicate.then_some(true);
                line.rate = (rates && a.rate != RateSample::NONE).then_some(RateLine {
                    delivered: a.rate.delivered,
                    interval_ns: known(a.rate.interval),
                    prior_delivered: a.rate.prior_delivered,
                    lost: a.rate.lost,
                    tx_in_flight: a.rate.tx_in_flight,
                    app_limited: a.rate.app_limited,
                });
            }
            Event::Phase { from, to } => {
                line.event = "phase".to_owned();
                (line.from, line.to) = (Some(word(&PHASES, *from)), Some(word(&PHASES, *to)));
            }
            Event::Loss(l) => {
                line.event = "loss".to_owned();
                line.bytes = Some(l.bytes);
                line.tx_in_flight = Some(l.tx_in_flight);
                line.lost_since_sent = Some(l.lost_since_sent);
                line.app_limited = Some(l.app_limited);
            }
            Event::Undo(why) => {
                line.event = "undo".to_owned();
                line.why = Some(word(&UNDOS, *why));
            }
            Event::IdleRestart { gap, reset } => {
                line.event = "idle".to_owned();
                (line.gap_ns, line.reset) = (Some(gap.0), Some(*reset));
            }
            Event::Mss(old) => {
                line.event = "mss".to_owned();
                line.old_mss = Some(*old);
            }
            Event::Group(g) => {
                line.event = "group".to_owned();
                line.paths = Some(g.paths().iter().map(PathLine::of).collect());
                line.own = Some(g.place());
                line.mode = (g.mode() > 0).then_some(g.mode());
            }
            Event::CrossLayer(l) => {
                line.event = "cross_layer".to_owned();
                line.below = Some(BelowLine::of(l));
            }
        }
        line
    }

    /// The event of the line.
    pub fn to_event(&self) -> Result<Event, String> {
        let name = self.event.as_str();
        match name {
            "ack" => Ok(Event::Ack(Ack {
                acked: need(self.acked, name, "acked")?,
                delivered: need(self.newly_delivered, name, "newly_delivered")?,
                lost: self.newly_lost.unwrap_or(0),
                ce: self.ce.unwrap_or(0),
                prior_in_flight: need(self.prior_in_flight, name, "prior_in_flight")?,
                rtt: self.rtt_ns.map_or(Span::NONE, Span),
                rate: self.rate.as_ref().map_or(RateSample::NONE, RateLine::sample),
                duplicate: self.duplicate.unwrap_or(false),
            })),
            "phase" => Ok(Event::Phase {
                from: meaning(&PHASES, "from", need(self.from.as_deref(), name, "from")?)?,
                to: meaning(&PHASES, "to", need(self.to.as_deref(), name, "to")?)?,
            }),
            "loss" => Ok(Event::Loss(Loss {
                bytes: need(self.bytes, name, "bytes")?,
                tx_in_flight: need(self.tx_in_flight, name, "tx_in_flight")?,
                lost_since_sent: need(self.lost_since_sent, name, "lost_since_sent")?,
                app_limited: need(self.app_limited, name, "app_limited")?,
            })),
            "undo" => {
                meaning(&UNDOS, "why", need(self.why.as_deref(), name, "why")?).map(Event::Undo)
            }
            "idle" => Ok(Event::IdleRestart {
                gap: Span(need(self.gap_ns, name, "gap_ns")?),
                reset: need(self.reset, name, "reset")?,
            }),
            "mss" => need(self.old_mss, name, "old_mss").map(Event::Mss),
            "group" => {
                let paths = need(self.paths.as_deref(), name, "paths")?;
                let own = need(self.own, name, "own")?;
                group(paths, own, self.mode.unwrap_or(0)).map(Event::Group)
            }
            "cross_layer" => {
                let below = need(self.below.as_ref(), name, "below")?;
                Ok(Event::CrossLayer(below.snapshot()))
            }
            other => Err(format!(
                "the event \"{other}\" is not one of ack, phase, loss, undo, idle, mss, group, \
                 cross_layer"
            )),
        }
    }
}

impl RateLine {
    fn sample(&self) -> RateSample {
        RateSample {
            delivered: self.delivered,
            interval: self.interval_ns.map_or(Span::NONE, Span),
            prior_delivered: self.prior_delivered,
            lost: self.lost,
            tx_in_flight: self.tx_in_flight,
            app_limited: self.app_limited,
        }
    }
}

impl SetupLine {
    /// The setup of a controller's parameters. The recovery is always written.
    pub fn of(params: &AnyParams) -> SetupLine {
        let common = params.common();
        SetupLine {
            initial_window: common.initial_window,
            initial_ssthresh: common.initial_ssthresh,
            recovery: word(
                &LossRecovery::ALL,
                common.recovery.unwrap_or(params.requirements().recovery),
            ),
            ack_limit: common.ack_limit,
            counting: unusual(&Counting::ALL, common.counting),
            credit: unusual(&Credit::ALL, common.credit),
            mark_cut: unusual(&MarkCut::ALL, common.mark_cut),
        }
    }
}

/// The word for a value that is not the default.
fn unusual<T: Copy + PartialEq + Default>(words: &[(&'static str, T)], value: T) -> Option<String> {
    (value != T::default()).then(|| word(words, value))
}

/// The value of a word; the default without a word.
fn usual<T: Copy + Default>(
    words: &[(&'static str, T)],
    key: &str,
    text: Option<&String>,
) -> Result<T, String> {
    text.map_or_else(|| Ok(T::default()), |text| meaning(words, key, text))
}

impl Header {
    /// The parameters of the header.
    pub fn to_params(&self) -> Result<AnyParams, String> {
        if self.format != FORMAT || self.version != VERSION {
            return Err(format!(
                "the file is \"{}\" version {}, not \"{FORMAT}\" version {VERSION}",
                self.format, self.version
            ));
        }
        let mut params = AnyParams::by_name(&self.algorithm)
            .ok_or_else(|| format!("no algorithm is called \"{}\"", self.algorithm))?;
        read_table(params.info().params, &self.params, |place, raw| params.set(place, raw))?;
        let mut common = Setup {
            initial_window: self.setup.initial_window,
            initial_ssthresh: self.setup.initial_ssthresh,
            recovery: Some(meaning(&LossRecovery::ALL, "recovery", &self.setup.recovery)?),
            ack_limit: self.setup.ack_limit,
            counting: usual(&Counting::ALL, "counting", self.setup.counting.as_ref())?,
            credit: usual(&Credit::ALL, "credit", self.setup.credit.as_ref())?,
            mark_cut: usual(&MarkCut::ALL, "mark_cut", self.setup.mark_cut.as_ref())?,
            ..params.common()
        };
        if let Some(given) = &self.slow_start {
            common.slow_start = read_slow_start(given)?;
        }
        params.set_common(&common);
        Ok(params)
    }
}
