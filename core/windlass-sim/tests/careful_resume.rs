//! Careful Resume (RFC 9959) from end to end: the paced jump, its failure, the age of the saved set, and
//! the next connection's set.

use std::sync::Arc;

use windlass_cc::slow_start::{AnyParams as Start, CarefulResumeParams};
use windlass_cc::{AnyParams, Setup, Span, Time};
use windlass_sim::arrivals::{Arrivals, Draw};
use windlass_sim::config::{Config, LinkConfig, Record};
use windlass_sim::link::QueueLimit;
use windlass_sim::session::{Connect, Dialogue, Exchanges, Sessions, Side, Step};
use windlass_sim::{PacketFate, RunResult, Series};
use windlass_tcp::Profile;
use windlass_tcp::stack::{LINUX, RFC, StackConfig};

use crate::common::{Traffic, flow, link, network, run};

/// Payload of a full segment with timestamps.
const MSS: u64 = 1448;
const MBPS: u64 = 1_000_000;
const JUMP: u64 = 150;

fn profile(stack: StackConfig, p: CarefulResumeParams) -> Profile {
    let mut params = AnyParams::by_name("newreno").unwrap();
    params.set_common(&Setup { slow_start: Start::CarefulResume(p), ..params.common() });
    let stack = StackConfig { receive_buffer: 64 << 20, send_buffer: 64 << 20, ..stack };
    Profile::new(stack, params, 1500)
}

fn saved() -> CarefulResumeParams {
    CarefulResumeParams {
        saved_cwnd: 2 * JUMP * MSS,
        saved_rtt: Span::from_millis(100),
        ..Default::default()
    }
}

/// A bulk flow on a path of 100 ms with this rate and queue, for two seconds.
fn path(profile: Profile, mbps: u64, queue: QueueLimit) -> Config {
    let line = LinkConfig { queue, ..link([0, 1], mbps * MBPS, 50) };
    let flows = vec![flow([0, 1], profile, Traffic::Bulk { bytes: None })];
    let config = network(vec![line], flows, Time::from_secs(2));
    let record = Record {
        series: vec![Series::Cwnd, Series::Ssthresh],
        capture: vec![0],
        ..Record::default()
    };
    Config { record, ..config }
}

/// A path that carries the jump.
fn wide(p: CarefulResumeParams) -> Config {
    path(profile(RFC, p), 50, QueueLimit::Unlimited)
}

fn series(result: &RunResult, wanted: Series) -> Vec<(Time, u64)> {
    let ours = result.samples.iter().filter(|s| s.series == wanted);
    ours.map(|s| (s.time, s.value / MSS)).collect()
}

/// The first time at which cwnd has this number of segments.
fn reaches(result: &RunResult, segments: u64) -> Option<Time> {
    series(result, Series::Cwnd).iter().find(|(_, w)| *w >= segments).map(|(time, _)| *time)
}

/// Times of data segments on the link.
fn data(result: &RunResult) -> Vec<Time> {
    let is = |p: &&windlass_sim::PacketEvent| {
        p.forward && p.fate == PacketFate::Sent && p.segment.is_some_and(|s| s.len > 0)
    };
    result.packets.iter().filter(is).map(|p| p.time).collect()
}

#[test]
fn after_the_initial_data_the_window_jumps_to_half_of_the_saved_window() {
    for stack in [RFC, LINUX] {
        let result = run(path(profile(stack, saved()), 50, QueueLimit::Unlimited));
        let jumped = reaches(&result, JUMP).expect("a jump");
        assert!((200..320).contains(&(jumped.0 / 1_000_000)), "{jumped}");
    }
    let result = run(wide(CarefulResumeParams::default()));
    assert!(reaches(&result, JUMP).expect("slow start").0 > 500_000_000, "nothing was saved");
}

#[test]
fn the_data_of_the_jump_is_paced_over_an_rtt_though_the_stack_does_not_pace() {
    let result = run(wide(saved()));
    let jumped = reaches(&result, JUMP).expect("a jump");
    let times = data(&result);
    let rtt = |t: &&Time| **t > jumped && t.since(jumped) < Span::from_millis(90);
    let within: Vec<Time> = times.iter().filter(rtt).copied().collect();
    assert!((110..=140).contains(&within.len()), "{}", within.len());
    let gap = 100_000_000 / JUMP;
    for pair in within.windows(2) {
        let found = pair[1].since(pair[0]).0;
        assert!(found.abs_diff(gap) <= gap / 50, "{found} {gap}");
    }
}

#[test]
fn a_jump_beyond_the_queue_retreats_and_halves_the_arrived_data_as_threshold() {
    // NewReno repairs one loss in an RTT, and its recovery does not end within the run.
    for (stack, repaired) in [(RFC, false), (LINUX, true)] {
        // 83 segments fill the path, and 10 the queue.
        let result = run(path(profile(stack, saved()), 10, QueueLimit::Packets(10)));
        let (cwnd, ssthresh) = (series(&result, Series::Cwnd), series(&result, Series::Ssthresh));
        let jumped = reaches(&result, JUMP).expect("a jump");
        let cut = ssthresh.iter().find(|(t, w)| *t > jumped && *w < JUMP).expect("a loss").0;
        let after = |t: Time| t >= cut && t.since(cut) < Span::from_millis(90);
        let held: Vec<u64> = cwnd.iter().filter(|(t, _)| after(*t)).map(|(_, w)| *w).collect();
        assert!(held.iter().all(|w| *w <= 60) && !held.is_empty(), "{held:?}");
        let later = ssthresh.iter().find(|(t, _)| t.since(cut) > Span::from_millis(90));
        let threshold = later.map(|(_, w)| *w);
        assert_eq!(threshold.is_some(), repaired);
        // The receive window of the preset `linux` ends the jump at 56 segments.
        assert!(threshold.is_none_or(|w| (20..=40).contains(&w)), "{threshold:?}");
        assert!(result.flows[0].retransmits > 0);
        assert!(!repaired || result.flows[0].rto_count == 0, "the first loss is repaired at once");
    }
}

#[test]
fn a_set_older_than_its_lifetime_and_another_rtt_prevent_the_jump() {
    let jumps = |change: fn(&mut CarefulResumeParams), start_s| {
        let mut p = saved();
        change(&mut p);
        let mut config = wide(p);
        config.flows[0].start = Time::from_secs(start_s);
        config.duration = Time(config.flows[0].start.0 + 350_000_000);
        reaches(&run(config), JUMP).is_some()
    };
    assert!(jumps(|_| {}, 60));
    assert!(!jumps(|p| p.lifetime = Span::from_secs(59), 60));
    assert!(!jumps(|p| p.saved_rtt = Span::from_millis(250), 0), "half of it is more than 100 ms");
}

/// Messages of 600 kB every 10 s, each on a new connection.
fn messages(p: CarefulResumeParams) -> Config {
    let exchanges = Exchanges::Messages(Arrivals {
        gaps: Draw::constant(10_000_000_000),
        sizes: Draw::constant(600_000),
        phases: None,
        stop: Time::from_secs(45),
        deadline: None,
        seed: 1,
    });
    let step = Step { by: Side::Opener, bytes: 0, message: true, record: 0, think: Span::ZERO };
    let plan = Sessions {
        exchanges,
        connect: Connect::PerMessage,
        opening: Vec::new(),
        exchange: Dialogue::new(vec![step]),
        reconnect: None,
        cuts: [Vec::new(), Vec::new()],
    };
    let mut config = wide(p);
    config.flows[0].traffic = Traffic::Sessions(Arc::new(plan));
    config.duration = Time::from_secs(60);
    config
}

/// Durations of the transfers, from the first to the last data segment, milliseconds.
fn transfers(config: Config) -> Vec<u64> {
    let (mut found, mut last) = (Vec::<[Time; 2]>::new(), Time::ZERO);
    for time in data(&run(config)) {
        match found.last_mut() {
            Some(transfer) if time.since(last) < Span::from_secs(2) => transfer[1] = time,
            _ => found.push([time; 2]),
        }
        last = time;
    }
    found.iter().map(|[first, last]| last.since(*first).0 / 1_000_000).collect()
}

#[test]
fn each_connection_of_a_flow_takes_over_the_set_of_the_one_before() {
    let times = transfers(messages(CarefulResumeParams::default()));
    assert!(times.len() >= 3, "{times:?}");
    assert!(times[1..].iter().all(|t| t + 50 < times[0]), "the first has no set: {times:?}");
    let short = CarefulResumeParams { lifetime: Span::from_secs(5), ..Default::default() };
    let old = transfers(messages(short));
    assert!(old[1..].iter().all(|t| t.abs_diff(old[0]) < 10), "the sets are too old: {old:?}");
}
