//! Quick-Start (RFC 4782) from end to end: requests, the approved rate, the first RTT, and losses in it.

use crate::common::{Traffic, flow, link, network, run};
use windlass_cc::{AnyParams, Setup, Span, Time, slow_start};
use windlass_sim::config::{Cbr, Config, Record};
use windlass_sim::loss::LossModel;
use windlass_sim::quick_start::QuickStart;
use windlass_sim::{PacketEvent, PacketFate, RunResult, Series};
use windlass_tcp::quick_start::{QuickOption, RateCode};
use windlass_tcp::stack::{RFC, StackConfig};
use windlass_tcp::{Flags, Pacing, Profile};

const BULK: Traffic = Traffic::Bulk { bytes: None };
/// Payload of a full segment with timestamps.
const MSS: u64 = 1448;
const MBPS: u64 = 1_000_000;
/// Maximum encodable rate up to 250 Mbit/s.
const APPROVED: u64 = 163_840_000;

fn profile(start: &str, stack: StackConfig) -> Profile {
    let mut params = AnyParams::by_name("cubic").unwrap();
    let slow_start = slow_start::AnyParams::by_name(start).unwrap();
    params.set_common(&Setup { slow_start, ..params.common() });
    let stack = StackConfig { receive_buffer: 64 << 20, send_buffer: 64 << 20, ..stack };
    Profile::new(stack, params, 1500)
}

/// A flow over links of 1 Gbit/s, 250 Mbit/s (50 ms) and 1 Gbit/s, which all answer requests. The middle link
/// is captured.
fn path(profile: Profile) -> Config {
    let mut links = vec![
        link([0, 1], 1_000 * MBPS, 0),
        link([1, 2], 250 * MBPS, 50),
        link([2, 3], 1_000 * MBPS, 0),
    ];
    links.iter_mut().for_each(|l| l.quick_start = Some(QuickStart::DEFAULT));
    let mut config = network(links, vec![flow([0, 3], profile, BULK)], Time::from_millis(390));
    config.record = Record {
        series: vec![Series::Cwnd, Series::Ssthresh],
        capture: vec![1],
        ..Record::default()
    };
    config
}

fn quick(stack: StackConfig) -> Config {
    path(profile("quick-start", stack))
}

/// Like `quick`, with competing datagrams of 1500 bytes at this rate, which start 1 s before the flow.
fn busy(mbps: u64) -> Config {
    let mut config = quick(RFC);
    let cbr = Cbr {
        packet: 1472,
        interval: Span(12_000 * 1_000 / mbps),
        spread: Span::ZERO,
        stop: Time::from_secs(9),
        deadline: None,
    };
    config.flows[0].start = Time::from_secs(1);
    config.duration = Time::from_millis(1_390);
    config.flows.push(flow([1, 2], profile("standard", RFC), Traffic::CbrUdp(cbr)));
    config
}

/// Packets of the flow on the middle link.
fn sent(result: &RunResult) -> Vec<&PacketEvent> {
    let ours = |p: &&PacketEvent| p.flow == 0 && p.forward && p.fate == PacketFate::Sent;
    result.packets.iter().filter(ours).collect()
}

/// Times of the data segments of the first window: those sent before the first acknowledgement of data
/// returns.
fn first_window(result: &RunResult) -> Vec<Time> {
    let data: Vec<Time> = sent(result)
        .iter()
        .filter(|p| p.segment.is_some_and(|s| s.len > 0))
        .map(|p| p.time)
        .collect();
    data.iter().copied().filter(|t| t.since(data[0]) < Span::from_millis(100)).collect()
}

/// The rate in the report that follows the handshake.
fn reported(result: &RunResult) -> Option<RateCode> {
    sent(result).iter().find_map(|p| match p.quick_start?.option {
        QuickOption::Report(report) => Some(report.rate),
        _ => None,
    })
}

fn series(result: &RunResult, wanted: Series) -> Vec<(Time, u64)> {
    let ours = result.samples.iter().filter(|s| s.series == wanted && s.flow == 0);
    ours.map(|s| (s.time, s.value)).collect()
}

/// Rate code of the option for a router that approves at most this rate.
fn at_most(bps: u64) -> RateCode {
    RateCode::at_most(bps)
}

#[test]
fn an_idle_path_starts_at_the_approved_rate_paced_over_the_rtt() {
    for pacing in [Pacing::Algorithm, Pacing::Off, Pacing::Always] {
        let result = run(quick(StackConfig { pacing, pacing_burst: 10, ..RFC }));
        assert_eq!(reported(&result), Some(at_most(250 * MBPS)));
        assert_eq!(at_most(250 * MBPS).bits_per_second(), APPROVED);
        let times = first_window(&result);
        // R·T/(MSS + H), with the RTT of the handshake: 100 ms and the SYN's transmission times.
        let segments = APPROVED / 8 / 10 / (MSS + 40);
        let (count, expected) = (times.len() as u64, segments);
        assert!(count.abs_diff(expected) <= 2, "{count} {expected}");
        // One segment every T/n; the links before the middle do not delay segments.
        let gap = 100_000_000 / segments;
        for pair in times.windows(2) {
            let found = pair[1].since(pair[0]).0;
            assert!(found.abs_diff(gap) <= gap / 100, "{found} {gap}");
        }
        let cwnd = series(&result, Series::Cwnd);
        assert!(cwnd.iter().any(|(_, w)| w.abs_diff(segments * MSS) <= 2 * MSS));
    }
}

#[test]
fn without_quick_start_the_same_path_starts_with_the_initial_window() {
    let result = run(path(profile("standard", RFC)));
    assert_eq!(first_window(&result).len(), 10);
    assert!(result.packets.iter().all(|p| p.quick_start.is_none()));
}

#[test]
fn a_router_without_quick_start_causes_standard_slow_start() {
    let standard = first_window(&run(path(profile("standard", RFC)))).len();
    for unknowing in [1, 2] {
        let mut config = quick(RFC);
        config.links[unknowing].quick_start = None;
        let result = run(config);
        assert_eq!(first_window(&result).len(), standard, "link {unknowing}");
        assert_eq!(reported(&result), Some(RateCode::ZERO));
    }
    // The sender's own IP layer is not a router: it neither approves nor blocks a request.
    let mut config = quick(RFC);
    config.links[0].quick_start = None;
    assert_eq!(reported(&run(config)), Some(at_most(250 * MBPS)));
}

#[test]
fn a_busy_router_reduces_or_refuses_the_rate() {
    for (mbps, left) in [(80, 170), (100, 150), (150, 100), (200, 50), (240, 10)] {
        let result = run(busy(mbps));
        assert_eq!(reported(&result), Some(at_most(left * MBPS)), "with {mbps} Mbit/s");
        let segments = at_most(left * MBPS).bits_per_second() / 8 / 10 / (MSS + 40);
        assert!(first_window(&result).len() as u64 <= segments.max(10) + 2);
    }
    let mut full = busy(130);
    full.links[1].quick_start = Some(QuickStart { share: 0.5, ..QuickStart::DEFAULT });
    let result = run(full);
    assert_eq!(reported(&result), Some(RateCode::ZERO));
    assert_eq!(first_window(&result).len(), 10);
}

#[test]
fn an_approved_rate_is_available_again_after_a_time() {
    let asked_after = |ms: u64| {
        let mut config = quick(RFC);
        // The first flow sends a request, and then only a little data.
        config.flows[0].traffic = Traffic::Bulk { bytes: Some(20_000) };
        config.flows.push(flow([0, 3], profile("quick-start", RFC), BULK));
        config.flows[1].start = Time::from_millis(ms);
        config.duration = Time::from_millis(ms + 300);
        let result = run(config);
        let of_second = |p: &&PacketEvent| p.flow == 1 && p.forward;
        let found = result.packets.iter().filter(of_second).find_map(|p| p.quick_start);
        match found.expect("a request").option {
            QuickOption::Request(request) => request.rate,
            _ => unreachable!("the SYN comes first"),
        }
    };
    let left = at_most(250 * MBPS - APPROVED);
    assert_eq!(left.bits_per_second(), 81_920_000);
    assert_eq!(asked_after(1), left);
    assert_eq!(asked_after(299), left);
    assert_eq!(asked_after(301), at_most(250 * MBPS));
}

#[test]
fn a_loss_in_the_first_window_resets_cwnd_to_the_initial_window() {
    let mut config = quick(RFC);
    config.duration = Time::from_millis(800);
    // After the SYN and the report, frames 40 and 41 are the 38th and 39th data segment.
    config.links[1].loss[0] = Some(LossModel::List { packets: vec![40, 41] });
    let result = run(config);
    let cwnd = series(&result, Series::Cwnd);
    let opened = cwnd.iter().map(|(_, w)| *w).max().unwrap();
    assert!(opened > 1_000 * MSS, "{opened}");
    let (at, ssthresh) = *series(&result, Series::Ssthresh).last().unwrap();
    // Half of the arrived part of the window: about 1372 segments, minus two.
    let half = (APPROVED / 8 / 10 / (MSS + 40) - 2) * MSS / 2;
    assert!(ssthresh.abs_diff(half) <= 4 * MSS, "{ssthresh} {half}");
    let after = cwnd.iter().filter(|(t, _)| *t >= at);
    let first = after.clone().next().unwrap().1;
    assert!(first <= 11 * MSS, "recovery ends with the initial window, not {first}");
    assert!(after.map(|(_, w)| *w).max().unwrap() > 15 * MSS, "slow start continues from there");
    assert_eq!(result.flows[0].retransmits, 2);
}

#[test]
fn a_loss_after_the_first_window_is_an_ordinary_loss() {
    let mut config = quick(RFC);
    config.duration = Time::from_millis(600);
    config.links[1].loss[0] = Some(LossModel::List { packets: vec![2_000] });
    let result = run(config);
    let (_, ssthresh) = *series(&result, Series::Ssthresh).last().unwrap();
    assert!(ssthresh > 900 * MSS, "CUBIC keeps 0.7 of the flight, not {ssthresh}");
}

#[test]
fn the_request_and_the_response_carry_ttl_and_rate() {
    let result = run(quick(RFC));
    let first = |forward: bool| {
        let found = result.packets.iter().find(|p| p.forward == forward);
        found.and_then(|p| Some((p.segment?, p.quick_start?, p.ip_len))).expect("a packet")
    };
    let (syn, asked, syn_len) = first(true);
    let (syn_ack, answered, _) = first(false);
    assert!(syn.flags == Flags::SYN && syn_ack.flags == Flags::SYN.with(Flags::ACK));
    assert_eq!(syn_len, syn.ip_len() + 8);
    let (QuickOption::Request(request), QuickOption::Response(response)) =
        (asked.option, answered.option)
    else {
        panic!("{asked:?} {answered:?}")
    };
    assert_eq!(asked.ttl, 63, "on the link after the first router");
    assert_eq!(request.rate, at_most(250 * MBPS), "the first router has reduced the rate");
    assert_eq!(response.rate, request.rate);
    assert_eq!(response.nonce, request.nonce, "the last router did not reduce the rate");
    assert_eq!(response.ttl_diff, asked.ttl.wrapping_sub(request.ttl));
}

#[test]
fn a_short_flow_sends_no_request() {
    let mut config = quick(RFC);
    config.flows[0].traffic = Traffic::Bulk { bytes: Some(10 * MSS) };
    let result = run(config);
    assert!(result.packets.iter().all(|p| p.quick_start.is_none()));
    assert_eq!(result.flows[0].delivered_bytes, 10 * MSS);
}

#[test]
fn a_retransmitted_syn_has_no_request() {
    let mut config = quick(RFC);
    config.links[1].loss[0] = Some(LossModel::List { packets: vec![1] });
    config.duration = Time::from_secs(2);
    let result = run(config);
    let syns: Vec<bool> = sent(&result)
        .iter()
        .filter(|p| p.segment.is_some_and(|s| s.flags.has(Flags::SYN)))
        .map(|p| p.quick_start.is_some())
        .collect();
    assert_eq!(syns, [true, false]);
    assert!(result.flows[0].delivered_bytes > 0);
}
