//! DualPI2 in a network: delays of both queues, shares of scalable and classic flows, and the ECN fields
//! that select the queue.

use crate::common::bottleneck::{Settled, bottleneck, settled};
use crate::common::{Traffic, cbr};
use windlass_cc::{Span, Time};
use windlass_sim::config::Config;
use windlass_sim::link::QueueLimit;
use windlass_sim::queue::{Discipline, DualPi2};
use windlass_sim::{PacketFate, RunResult};
use windlass_tcp::stack::{EcnFeedback, LINUX, StackConfig};
use windlass_tcp::{Codepoint, Profile};

const BOTH: [DualPi2; 2] = [DualPi2::RFC9332, DualPi2::LINUX];

/// Flows with these algorithms and RTTs in ms through DualPI2 at 40 Mbit/s. Only Prague uses ECN.
fn network(flows: &[(&'static str, u64)], dual: DualPi2) -> Config {
    let mut config = bottleneck(flows, 1);
    config.links[0].rate_bps = 40_000_000;
    config.links[0].discipline = Discipline::DualPi2(dual);
    config.links[0].queue = QueueLimit::Packets(10_000);
    for (flow, (algorithm, _)) in config.flows.iter_mut().zip(flows) {
        flow.profile_mut().stack.ecn = (*algorithm == "prague").into();
    }
    config.record.delays = true;
    config
}

/// 95th percentile of a flow's one-way delay beyond the minimum, ms.
fn queueing_p95_ms(run: &RunResult, flow: usize) -> f64 {
    let transit = run.flows[flow].transit.as_ref().expect("delays are measured");
    transit.p95_ms.expect("packets") - transit.min_ms
}

fn run(flows: &[(&'static str, u64)], dual: DualPi2) -> Settled {
    settled(network(flows, dual), 20, 80)
}

#[test]
fn prague_and_a_classic_flow_share_the_link_at_different_delays() {
    for dual in BOTH {
        for (classic, rtt) in [("cubic", 40), ("cubic", 20), ("reno", 40)] {
            let s = run(&[("prague", rtt), (classic, rtt)], dual);
            let share = s.goodput[0] / s.goodput[1];
            let most = if classic == "reno" { 1.8 } else { 1.5 };
            assert!((0.7..most).contains(&share), "{classic} {rtt} ms: {share}");
            let [l, c] = [0, 1].map(|flow| queueing_p95_ms(&s.run, flow));
            assert!(l < 2.0, "{classic} {rtt} ms: {l} ms in the L queue");
            assert!((10.0..30.0).contains(&c), "{classic} {rtt} ms: {c} ms in the C queue");
            assert!(s.utilisation > 0.97, "{}", s.utilisation);
        }
    }
}

#[test]
fn prague_has_the_published_share_against_cubic_of_linux() {
    let mut config = network(&[("prague", 20), ("cubic", 20)], DualPi2::LINUX);
    for (flow, ecn) in config.flows.iter_mut().zip([true, false]) {
        let profile = *flow.profile_mut();
        let stack = StackConfig { ecn: ecn.into(), ..LINUX };
        *flow.profile_mut() = Profile::new(stack, profile.params, profile.mtu);
    }
    let s = settled(config, 20, 80);
    // De Schepper and others, "Dual Queue Coupled AQM", 2022: 1.83 at 40 Mbit/s, with 5 ms for Prague, which competes
    // as with 25 ms, and 20 ms for CUBIC. Cuts to whole segments give 0.8.
    let share = s.goodput[0] / s.goodput[1];
    assert!((share / 1.83 - 1.0).abs() < 0.25, "{share}");
}

#[test]
fn accurate_ecn_feeds_prague_as_exactly_as_the_echo_of_dctcp() {
    let mut config = network(&[("prague", 40), ("cubic", 40)], DualPi2::RFC9332);
    for flow in &mut config.flows {
        flow.profile_mut().stack.ecn = EcnFeedback::Accurate;
    }
    let s = settled(config, 20, 80);
    let share = s.goodput[0] / s.goodput[1];
    let [l, c] = [0, 1].map(|flow| queueing_p95_ms(&s.run, flow));
    assert!((0.7..1.5).contains(&share), "{share}");
    assert!(l < 2.0 && (10.0..30.0).contains(&c), "{l} ms, {c} ms");
    // Marks replace all drops.
    assert_eq!(s.run.links[0].drops, 0, "{:?}", s.run.links[0]);
}

#[test]
fn the_receive_window_grows_although_the_option_shortens_every_segment() {
    // The first window of 64 kB is a third of what this path holds.
    let mut config = network(&[("cubic", 40)], DualPi2::RFC9332);
    config.flows[0].profile_mut().stack = StackConfig { ecn: EcnFeedback::Accurate, ..LINUX };
    let s = settled(config, 20, 40);
    assert!(s.utilisation > 0.95, "{}", s.utilisation);
}

#[test]
fn prague_alone_fills_the_link_at_the_delay_of_the_ramp() {
    for dual in BOTH {
        let s = run(&[("prague", 40)], dual);
        let delay = queueing_p95_ms(&s.run, 0);
        assert!(delay < 2.0 && s.utilisation > 0.99, "{delay} ms, {}", s.utilisation);
    }
}

#[test]
fn without_coupling_marks_the_l_queue_takes_most_of_the_link() {
    // A coupling of one marks L packets too rarely for the squared drops of the C queue.
    let shares = [1.0, 2.0, 4.0].map(|coupling| {
        let s = run(&[("prague", 40), ("cubic", 40)], DualPi2 { coupling, ..DualPi2::RFC9332 });
        s.goodput[0] / s.goodput[1]
    });
    assert!(shares[0] > 1.5 * shares[1] && shares[1] > 1.5 * shares[2], "{shares:?}");
}

#[test]
fn data_of_prague_carry_ect1_and_only_marked_data_arrive_with_ce() {
    let mut config = network(&[("prague", 40), ("cubic", 40)], DualPi2::LINUX);
    config.flows[1].profile_mut().stack.ecn = true.into();
    config.record.capture = vec![0];
    let s = settled(config, 5, 10);
    for (flow, own) in [(0, Codepoint::Ect1), (1, Codepoint::Ect0)] {
        let data = s
            .run
            .packets
            .iter()
            .filter(|p| p.link == 0 && p.flow == flow && p.fate == PacketFate::Delivered);
        let fields = data.filter_map(|p| p.segment.filter(|s| s.len > 0)).map(|s| s.ecn);
        let (capable, marked): (Vec<_>, Vec<_>) = fields.partition(|ecn| *ecn == own);
        assert!(capable.len() > 1000 && !marked.is_empty(), "{flow}: {}", marked.len());
        // Retransmissions are not ECN-capable.
        let strange = marked.iter().filter(|ecn| **ecn != Codepoint::Ce).count() as u64;
        assert!(strange <= s.run.flows[flow as usize].retransmits, "{flow}: {strange}");
    }
}

#[test]
fn a_flood_is_dropped_and_l_packets_share_the_overload() {
    for dual in BOTH {
        let mut config = network(&[("prague", 40), ("cubic", 40)], dual);
        // 54 Mbit/s of datagrams without ECN.
        config.flows[1].traffic = Traffic::CbrUdp(cbr(1350, 200, Time::from_secs(80)));
        let s = settled(config, 20, 80);
        let (l, flood) = (&s.run.links[0], &s.run.flows[1]);
        assert!(l.drops_early > 100_000 && l.drops_early == l.drops_queue, "{l:?}");
        assert!(s.run.flows[0].retransmits > 100, "{:?}", s.run.flows[0]);
        assert!(s.goodput[0] > 10_000.0, "{}", s.goodput[0]);
        let delay = queueing_p95_ms(&s.run, 1);
        assert!(delay < 40.0 && flood.delivered_bytes > 0, "{delay}");
    }
}

#[test]
fn prague_without_ecn_waits_in_the_c_queue_and_reacts_to_drops() {
    let mut config = network(&[("prague", 40)], DualPi2::RFC9332);
    config.flows[0].profile_mut().stack.ecn = false.into();
    let s = settled(config, 20, 80);
    assert!(s.run.links[0].marks == 0 && s.run.flows[0].retransmits > 10, "{:?}", s.run.flows);
    let delay = queueing_p95_ms(&s.run, 0);
    assert!(delay > 8.0, "{delay}");
}

#[test]
fn the_rates_of_prague_flows_do_not_depend_on_their_rtts_below_the_reference() {
    let ratio = |reference: Span| {
        let mut config = network(&[("prague", 20), ("prague", 80)], DualPi2::LINUX);
        for flow in &mut config.flows {
            let params = &mut flow.profile_mut().params;
            for (name, value) in [("reference_rtt", reference.0), ("transition_rounds", 0)] {
                let place = params.info().params.iter().position(|param| param.name == name);
                assert!(params.set(place.expect("a parameter"), value));
            }
        }
        let s = settled(config, 20, 120);
        s.goodput[0] / s.goodput[1]
    };
    let (dependent, independent) = (ratio(Span::ZERO), ratio(Span::from_millis(100)));
    assert!(dependent > 4.0, "{dependent}");
    assert!((0.6..1.7).contains(&independent), "{independent}");
}
