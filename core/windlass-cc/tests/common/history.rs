//! Histories like those of a real host: a monotone clock, consistent counts, phases in order.

use proptest::prelude::*;
use windlass_cc::{AnyController, AnyParams, Conn, Event, Span, Time};

pub use windlass_conform::host::Step;
use windlass_conform::host::{Host, Sender, Setting};

/// An algorithm in the host.
struct Running {
    params: AnyParams,
    state: AnyController,
}

impl Sender for Running {
    fn cwnd(&self, c: &Conn) -> u64 {
        // Sixty-four segments are enough to show all effects, and few enough for a quick test.
        self.state.control(&self.params, c).cwnd.min(64 * u64::from(c.mss))
    }

    fn apply(&mut self, c: &Conn, e: &Event) {
        self.state.apply(&self.params, c, e);
    }
}

fn places() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..16usize, 1..4)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (1..40u32).prop_map(Step::Acks),
        2 => (1..10u32, 2..8u32).prop_map(|(acks, of)| Step::Aggregated { acks, of }),
        3 => places().prop_map(Step::Drop),
        2 => (0..8usize, 1..200u64).prop_map(|(at, ms)| Step::Delay(at, Span::from_millis(ms))),
        2 => places().prop_map(Step::Mark),
        1 => Just(Step::Timeout),
        1 => Just(Step::EarlyTimeout),
        1 => (1..3_000_000u64).prop_map(|s| Step::Idle(Span::from_secs(s))),
        1 => prop_oneof![Just(536u32), Just(1_000), Just(1_460), Just(9_000)].prop_map(Step::Mss),
        2 => prop::option::of(1..20u32).prop_map(Step::AppLimit),
    ]
}

/// A script and its path.
#[derive(Clone, Debug)]
pub struct Script {
    /// The events of the script.
    pub steps: Vec<Step>,
    rtt: Span,
    segment_time: Span,
}

/// Any script on any path.
pub fn script() -> impl Strategy<Value = Script> {
    let steps = prop::collection::vec(step(), 1..12);
    (steps, 1..600u64, 1..20_000u64).prop_map(|(steps, rtt, segment)| Script {
        steps,
        rtt: Span::from_millis(rtt),
        segment_time: Span::from_micros(segment),
    })
}

/// Runs a script with an algorithm, whose window determines the flight. Returns the history from the
/// first connection on.
pub fn play(params: &AnyParams, script: &Script) -> (Conn, Vec<(Conn, Event)>) {
    let first = Conn { now: Time::from_secs(1), una: 1, next_id: 1, ..Conn::new(1_460) };
    let state = AnyController::init(params, &first);
    let setting = Setting {
        rtt: script.rtt,
        segment_time: script.segment_time,
        rto: Span::from_secs(1),
        style: params.common().recovery.unwrap_or(params.requirements().recovery),
        ecn: params.requirements().ecn,
    };
    let mut history = Vec::new();
    let mut host = Host::new(Running { params: *params, state }, first, setting);
    for step in &script.steps {
        if !host.awaits() && host.outstanding() > 0 {
            host.play(&Step::Timeout, &mut |_, c, e| history.push((*c, *e)));
        }
        host.play(step, &mut |_, c, e| history.push((*c, *e)));
    }
    (first, history)
}
