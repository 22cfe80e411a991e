//! The live testbed: kernel sockets over the simulator's links, in real time. The tests check bytes, packets
//! and orders of magnitude of time, as the machine may be busy.

mod common;

use common::{bulk, config, flow, link, need_live, run};
use windlass_cc::{Span, Time};
use windlass_sim::config::{Cbr, Config, ReadPolicy, Record, Traffic};
use windlass_sim::loss::LossModel;
use windlass_sim::queue::{Discipline, Level, Threshold};
use windlass_sim::{PacketFate, Series};
use windlass_skip::skip;
use windlass_tcp::stack::{LINUX, RIVERBED};
use windlass_tcp::{Flags, Pacing, Segment};
use windlass_testbed::live::{self, Options, Outcome};

/// Segments that the sender of the data put on its link, in order, retransmissions included.
fn data_sent(outcome: &Outcome) -> Vec<Segment> {
    let sent = outcome.result.packets.iter().filter(|p| p.forward && p.fate == PacketFate::Sent);
    sent.filter_map(|p| p.segment).filter(|s| s.len > 0).collect()
}

/// Segments of the receiver, with the values at the time when they were put on the link.
fn acknowledgements(outcome: &Outcome) -> Vec<Segment> {
    let sent = outcome.result.packets.iter().filter(|p| !p.forward && p.fate == PacketFate::Sent);
    sent.filter_map(|p| p.segment).collect()
}

fn captured(mut config: Config) -> Config {
    config.record.capture = vec![0];
    config
}

#[test]
fn every_byte_of_a_transfer_arrives_and_both_ends_close() {
    need_live!();
    let mut config = config(vec![link(20_000_000, 5)], vec![bulk(LINUX, "cubic", Some(1_000_000))]);
    config.duration = Time::from_secs(20);
    let outcome = run(&captured(config));
    let flow = &outcome.result.flows[0];
    assert_eq!((flow.delivered_bytes, &flow.failure), (1_000_000, &None));
    assert!(flow.completion_s.is_some_and(|s| s < 20.0), "{flow:?}");
    // Nothing can happen any more, so the run ends early with its clock at the end of the duration.
    assert_eq!(outcome.result.end, Time::from_secs(20));
    let fins = outcome.result.packets.iter().filter(|p| p.fate == PacketFate::Delivered);
    let fins: Vec<bool> = fins
        .filter(|p| p.segment.is_some_and(|s| s.flags.has(Flags::FIN)))
        .map(|p| p.forward)
        .collect();
    assert_eq!(fins, [true, false], "one FIN from each end");
    let payload: u64 = data_sent(&outcome).iter().map(|s| u64::from(s.len)).sum();
    assert_eq!(payload, 1_000_000);
}

#[test]
fn transfer_time_matches_rate_and_delay() {
    need_live!();
    // 2,000,000 bytes at 10 Mbps are 1.6 s of payload, and a little more with headers and start.
    let config = config(vec![link(10_000_000, 20)], vec![bulk(LINUX, "reno", Some(2_000_000))]);
    let outcome = run(&config);
    let flow = &outcome.result.flows[0];
    let seconds = flow.completion_s.unwrap();
    assert!((1.68..2.4).contains(&seconds), "{seconds} s, {}", outcome.lateness);
    let least = flow.min_rtt_ms.unwrap();
    assert!((40.0..45.0).contains(&least), "least RTT {least} ms, {}", outcome.lateness);
}

#[test]
fn kernel_repairs_listed_losses() {
    need_live!();
    let mut wire = link(10_000_000, 10);
    // The first packet is the SYN, the second is the last acknowledgement of the handshake.
    wire.loss[0] = Some(LossModel::List { packets: vec![10, 11, 30] });
    let outcome = run(&captured(config(vec![wire], vec![bulk(LINUX, "reno", Some(300_000))])));
    let (flow, link) = (&outcome.result.flows[0], &outcome.result.links[0]);
    assert_eq!((link.drops_error, link.drops), (3, 3));
    assert_eq!(flow.delivered_bytes, 300_000);
    // A tail loss probe may add one.
    assert!((3..=4).contains(&flow.retransmits), "{flow:?}");
    assert!(flow.fast_retransmits >= 1, "{flow:?}");
    let sent = data_sent(&outcome);
    let repeated =
        sent.iter().enumerate().filter(|(i, s)| sent[..*i].iter().any(|t| t.seq == s.seq));
    assert_eq!(repeated.count() as u64, flow.retransmits, "the wire and tcp_info agree");
}

#[test]
fn lost_syn_causes_a_timeout() {
    need_live!();
    let mut wire = link(10_000_000, 10);
    wire.loss[0] = Some(LossModel::List { packets: vec![1] });
    let outcome = run(&config(vec![wire], vec![bulk(LINUX, "reno", Some(10_000))]));
    let flow = &outcome.result.flows[0];
    assert_eq!((flow.rto_count, flow.retransmits), (1, 0));
    assert!(flow.completion_s.unwrap() > 1.0, "{flow:?}");
}

#[test]
fn a_pinned_window_holds_under_loss() {
    need_live!();
    let mut wire = link(20_000_000, 10);
    wire.loss[0] = Some(LossModel::Drop { probability: 0.03 });
    let transfer = bulk(RIVERBED, "reno", Some(400_000));
    let mut config = captured(config(vec![wire], vec![transfer]));
    config.duration = Time::from_secs(60);
    let outcome = run(&config);
    assert_eq!(outcome.result.flows[0].delivered_bytes, 400_000);
    assert!(outcome.result.flows[0].retransmits > 0, "nothing was lost");
    // The packets alone show that the sender never exceeds the window that the receiver has advertised.
    let (mut right_edge, mut pinned) = (None, 0);
    let events = outcome.result.packets.iter();
    for (forward, fate, s) in events.filter_map(|p| Some((p.forward, p.fate, p.segment?))) {
        if !forward && fate == PacketFate::Sent {
            assert!(s.window <= 8_760, "a window of {} left the receiver", s.window);
            pinned += u32::from(s.window == 8_760);
            right_edge = Some(s.ack.add(8_760));
        } else if forward && fate == PacketFate::Sent && s.len > 0 {
            let over = s.seq.add(u64::from(s.len)).0.wrapping_sub(right_edge.unwrap().0) as i32;
            assert!(over <= 0, "{over} bytes past the window");
        }
    }
    // The kernel's own buffer never reduced the window.
    assert_eq!(
        pinned as usize,
        acknowledgements(&outcome).iter().filter(|s| !s.flags.has(Flags::RST)).count()
    );
}

#[test]
fn kernel_uses_the_stack_of_the_scenario() {
    need_live!();
    let syn_of = |outcome: &Outcome| {
        let first = outcome.result.packets.first().and_then(|p| p.segment);
        first.expect("a capture begins with a SYN")
    };
    let run = |stack| {
        run(&captured(config(vec![link(10_000_000, 5)], vec![bulk(stack, "reno", Some(50_000))])))
    };
    let linux = run(LINUX);
    let options = syn_of(&linux).options;
    assert_eq!(options.mss, Some(1460));
    assert!(
        options.sack_permitted && options.timestamps.is_some() && options.window_scale.is_some()
    );
    let riverbed = run(RIVERBED);
    let options = syn_of(&riverbed).options;
    assert!(
        !options.sack_permitted && options.timestamps.is_none() && options.window_scale.is_none()
    );
    // Two segments at first, and no others before the first acknowledgement of data.
    let before_first = |outcome: &Outcome| {
        let base = syn_of(outcome).seq.add(1);
        let events = outcome.result.packets.iter();
        let until = events.take_while(|p| {
            p.forward
                || p.fate != PacketFate::Delivered
                || p.segment.is_none_or(|s| s.ack.0.wrapping_sub(base.0) as i32 <= 0)
        });
        until
            .filter(|p| {
                p.forward && p.fate == PacketFate::Sent && p.segment.is_some_and(|s| s.len > 0)
            })
            .count()
    };
    assert_eq!(before_first(&riverbed), 2);
    assert_eq!(before_first(&linux), 10);
}

#[test]
fn segments_are_full_until_the_last() {
    need_live!();
    let outcome = run(&captured(config(
        vec![link(50_000_000, 5)],
        vec![bulk(RIVERBED, "reno", Some(146_001))],
    )));
    let mut lengths: Vec<u32> = data_sent(&outcome).iter().map(|s| s.len).collect();
    assert_eq!(lengths.pop(), Some(1));
    assert_eq!(lengths, [1460; 100]);
}

#[test]
fn requests_are_answered_one_after_the_other() {
    need_live!();
    let think = Span::from_millis(50);
    let traffic = Traffic::RequestResponse { request: 300, response: 40_000, requests: 5, think };
    let outcome = run(&config(vec![link(20_000_000, 10)], vec![flow(LINUX, "cubic", traffic)]));
    let flow = &outcome.result.flows[0];
    assert_eq!(flow.delivered_bytes, 5 * 40_000);
    assert_eq!(flow.responses_s.len(), 5);
    // The first response includes the handshake, so it takes at least two RTTs.
    assert!(flow.responses_s[0] > 0.04 && flow.responses_s[1] > 0.02, "{flow:?}");
    assert!(flow.completion_s.unwrap() > 5.0 * 0.02 + 4.0 * 0.05, "{flow:?}");
}

/// 100 datagrams of 500 bytes per second, for two seconds.
fn readings() -> Cbr {
    Cbr {
        packet: 500,
        interval: Span::from_millis(10),
        spread: Span::ZERO,
        stop: Time::from_secs(2),
        deadline: None,
    }
}

#[test]
fn constant_bit_rate_arrives_at_its_rate_over_both_transports() {
    need_live!();
    let cbr = readings();
    let mut udp = flow(LINUX, "reno", Traffic::CbrUdp(cbr));
    udp.name = "u".into();
    let tcp = flow(LINUX, "reno", Traffic::CbrTcp(cbr));
    let mut config = config(vec![link(10_000_000, 10)], vec![udp, tcp]);
    config.duration = Time::from_secs(5);
    let outcome = run(&config);
    let [udp, tcp] = &outcome.result.flows[..] else { panic!("two flows") };
    assert_eq!((udp.delivered_bytes, udp.data_segments), (200 * 500, 200));
    assert_eq!(tcp.delivered_bytes, 200 * 500);
    assert!((1.99..2.5).contains(&udp.active_s), "{udp:?}");
    assert!(tcp.completion_s.is_some_and(|s| (2.0..2.5).contains(&s)), "{tcp:?}");
}

#[test]
fn a_source_of_datagrams_is_silent_in_its_pauses() {
    need_live!();
    let cbr = readings();
    let mut udp = flow(LINUX, "reno", Traffic::CbrUdp(cbr));
    // Sent from 0 to 0.5 s and from 1.505 s on: 50 and 50.
    udp.pauses = vec![[Time::from_millis(500), Time::from_millis(1_505)]];
    let mut config = config(vec![link(10_000_000, 10)], vec![udp]);
    config.duration = Time::from_secs(3);
    let outcome = run(&config);
    let flow = &outcome.result.flows[0];
    assert_eq!((flow.packets_sent, flow.delivered_bytes), (100, 50_000));
    assert!((0.98..1.2).contains(&flow.active_s), "{flow:?}");
    let mut simulation = windlass_sim::Simulation::new(config).expect("a simulation");
    simulation.run();
    let simulated = simulation.finish().expect("every packet accounted for");
    assert_eq!(simulated.flows[0].packets_sent, flow.packets_sent);
}

/// The times between datagrams are drawn as the simulator draws them.
#[test]
fn spread_datagrams_have_the_simulators_send_times() {
    need_live!();
    let cbr = Cbr { spread: Span::from_millis(9), ..readings() };
    let mut config =
        config(vec![link(10_000_000, 10)], vec![flow(LINUX, "reno", Traffic::CbrUdp(cbr))]);
    config.duration = Time::from_secs(3);
    let live = run(&config).result.flows.remove(0);
    let mut simulation = windlass_sim::Simulation::new(config).expect("a simulation");
    simulation.run();
    let simulated = simulation.finish().expect("every packet accounted for").flows.remove(0);
    assert_eq!(live.packets_sent, simulated.packets_sent);
    assert_ne!(live.packets_sent, 200, "same number as without a spread");
    assert!((live.active_s - simulated.active_s).abs() < 0.05, "{live:?}");
}

#[test]
fn datagrams_larger_than_the_path_are_not_fragmented() {
    need_live!();
    let cbr = Cbr {
        packet: 4_000,
        interval: Span::from_millis(20),
        spread: Span::ZERO,
        stop: Time::from_millis(200),
        deadline: None,
    };
    let mut config =
        config(vec![link(10_000_000, 1)], vec![flow(LINUX, "reno", Traffic::CbrUdp(cbr))]);
    config.duration = Time::from_secs(2);
    let outcome = run(&config);
    let flow = &outcome.result.flows[0];
    assert_eq!((flow.packets_sent, flow.delivered_bytes), (10, 40_000));
}

#[test]
fn slow_reader_limits_the_flow() {
    need_live!();
    let mut transfer = bulk(RIVERBED, "reno", Some(100_000));
    transfer.read = ReadPolicy::Rate(100_000);
    let outcome = run(&config(vec![link(100_000_000, 1)], vec![transfer]));
    let flow = &outcome.result.flows[0];
    assert_eq!(flow.delivered_bytes, 100_000);
    assert!((0.98..1.6).contains(&flow.completion_s.unwrap()), "{flow:?}");
}

#[test]
fn a_delayed_reader_reads_everything_a_while_later() {
    need_live!();
    let mut transfer = bulk(LINUX, "reno", Some(5_000));
    transfer.read = ReadPolicy::Delayed(Span::from_millis(300));
    let outcome = run(&config(vec![link(100_000_000, 1)], vec![transfer]));
    let flow = &outcome.result.flows[0];
    assert_eq!(flow.delivered_bytes, 5_000);
    assert!((0.3..0.8).contains(&flow.completion_s.unwrap()), "{flow:?}");
}

#[test]
fn series_record_the_connection_during_the_run() {
    need_live!();
    let mut config =
        config(vec![link(10_000_000, 20)], vec![bulk(LINUX, "cubic", Some(1_500_000))]);
    // A kernel tells neither single RTT samples nor the latency of messages.
    let told = |s: &Series| !matches!(s, Series::Rtt | Series::Latency);
    let series: Vec<Series> = Series::ALL.iter().map(|(_, s)| *s).filter(told).collect();
    config.record =
        Record { series: series.clone(), interval: Span::from_millis(5), ..Record::default() };
    let outcome = run(&config);
    let values = |wanted: Series| {
        let samples = outcome.result.samples.iter().filter(move |s| s.series == wanted);
        samples.map(|s| s.value).collect::<Vec<u64>>()
    };
    assert!(outcome.result.samples.is_sorted_by_key(|s| s.time));
    for s in &series {
        assert!(!values(*s).is_empty(), "no sample of {}", s.name());
    }
    let cwnd = values(Series::Cwnd);
    assert!(cwnd.len() > 10 && cwnd.iter().max() > cwnd.first(), "{cwnd:?}");
    assert!(values(Series::Srtt).iter().all(|ns| (40_000_000..1_000_000_000).contains(ns)));
    assert!(values(Series::Delivered).last() > Some(&1_000_000));
    assert!(values(Series::AckNumber).is_sorted());
    // The interval may delay a sample, but not by more than the interval.
    assert!(values(Series::AckNumber).last() > Some(&1_450_000));
    assert_eq!(values(Series::Pacing), [0], "CUBIC is not paced");
}

#[test]
fn pacing_spreads_bursts() {
    need_live!();
    let gaps = |pacing: Pacing| {
        let mut stack = LINUX;
        stack.pacing = pacing;
        let outcome = run(&captured(config(
            vec![link(1_000_000_000, 50)],
            vec![bulk(stack, "reno", Some(300_000))],
        )));
        let times: Vec<Time> = outcome
            .result
            .packets
            .iter()
            .filter(|p| {
                p.forward && p.fate == PacketFate::Sent && p.segment.is_some_and(|s| s.len > 0)
            })
            .map(|p| p.time)
            .collect();
        times.windows(2).filter(|w| w[1].since(w[0]) > Span::from_micros(300)).count()
    };
    let (free, paced) = (gaps(Pacing::Algorithm), gaps(Pacing::Always));
    assert!(paced > 3 * free.max(5), "{paced} gaps paced, {free} otherwise");
}

#[test]
fn marks_of_a_queue_reach_the_kernel() {
    need_live!();
    let mut wire = link(5_000_000, 10);
    wire.discipline =
        Discipline::Threshold(Threshold { mark: Level::Packets(10), probability: 0.0 });
    let mut stack = LINUX;
    stack.ecn = true.into();
    let outcome = run(&captured(config(vec![wire], vec![bulk(stack, "reno", Some(1_000_000))])));
    assert!(outcome.result.links[0].marks > 0, "nothing was marked");
    assert_eq!(outcome.result.flows[0].delivered_bytes, 1_000_000);
    let echoes = acknowledgements(&outcome);
    assert!(echoes.iter().any(|s| s.flags.has(Flags::ECE) && !s.flags.has(Flags::SYN)), "no echo");
    assert!(data_sent(&outcome).iter().any(|s| s.flags.has(Flags::CWR)), "no answer to the echo");
}

#[test]
fn two_flows_share_a_link_and_two_runs_the_machine() {
    need_live!();
    let transfer = |name: &str, from: usize, to: usize| {
        let mut flow = bulk(LINUX, "cubic", Some(400_000));
        (flow.name, flow.from, flow.to) = (name.into(), from, to);
        flow
    };
    let flows = vec![transfer("there", 0, 1), transfer("too", 0, 1), transfer("back", 1, 0)];
    let config = config(vec![link(20_000_000, 5)], flows);
    let outcomes = std::thread::scope(|scope| {
        let runs = [(); 2].map(|()| scope.spawn(|| run(&config)));
        runs.map(|run| run.join().unwrap())
    });
    for outcome in outcomes {
        for flow in &outcome.result.flows {
            assert_eq!((flow.delivered_bytes, &flow.failure), (400_000, &None), "{}", flow.name);
        }
    }
}

#[test]
fn windlass_endpoint_and_the_kernel_interoperate_in_both_directions() {
    need_live!();
    let mut wire = link(10_000_000, 10);
    wire.loss = [Some(LossModel::Drop { probability: 0.02 }), None].into();
    let config = config(vec![wire], vec![bulk(LINUX, "cubic", Some(400_000))]);
    for inside in [0, 1] {
        let options = Options { bound: None, inside: vec![inside], ..Options::default() };
        let outcome = live::run(&config, &options).unwrap();
        let flow = &outcome.result.flows[0];
        assert_eq!((flow.delivered_bytes, &flow.failure), (400_000, &None), "{inside} inside");
        assert!(flow.completion_s.is_some(), "{inside} inside: {flow:?}");
        assert!(flow.retransmits > 0 && flow.srtt_ms.is_some(), "{inside} inside: {flow:?}");
        assert!(flow.goodput_bps > 1e6, "{inside} inside: {flow:?}");
    }
}

#[test]
fn a_flow_without_end_runs_for_the_duration() {
    need_live!();
    let mut config = config(vec![link(10_000_000, 10)], vec![bulk(LINUX, "bbr", None)]);
    config.duration = Time::from_secs(2);
    let outcome = run(&config);
    let flow = &outcome.result.flows[0];
    assert_eq!((flow.completion_s, flow.active_s), (None, 2.0));
    assert!((4e6..10e6).contains(&flow.goodput_bps), "{flow:?}");
}

#[test]
fn unreachable_peer_fails_the_flow_without_a_hang() {
    need_live!();
    let mut wire = link(10_000_000, 10);
    wire.loss[0] = Some(LossModel::Drop { probability: 1.0 });
    let mut stack = LINUX;
    (stack.max_syn_retries, stack.syn_linear_timeouts) = (1, 0);
    let mut config = config(vec![wire], vec![bulk(stack, "reno", Some(1_000))]);
    config.duration = Time::from_secs(20);
    let outcome = run(&config);
    let flow = &outcome.result.flows[0];
    assert_eq!(flow.failure.as_deref(), Some("the connection attempt timed out"));
    assert_eq!((flow.delivered_bytes, outcome.result.links[0].drops_error), (0, 2));
}

#[test]
fn late_run_is_repeated_and_then_refused() {
    need_live!();
    let bound = live::Bound { p99: Span::ZERO, max: Span::ZERO };
    let config = config(vec![link(10_000_000, 5)], vec![bulk(LINUX, "reno", Some(10_000))]);
    let options = Options { attempts: 2, bound: Some(bound), ..Options::default() };
    let error = live::run(&config, &options).unwrap_err();
    assert!(matches!(error, live::Error::Late { attempts: 2, .. }), "{error}");
    assert!(error.to_string().contains("too late in each of 2 runs"), "{error}");
}

#[test]
fn missing_algorithm_is_named_with_the_available_algorithms() {
    need_live!();
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let offered = read("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let loadable = read(&format!("/lib/modules/{}/modules.dep", live::kernel()));
    let lacks = |name: &str| {
        !offered.split_whitespace().any(|o| o == name)
            && !loadable.contains(&format!("tcp_{name}.ko"))
    };
    let lacking = live::COUNTERPARTS.into_iter().find(|(_, theirs)| lacks(theirs));
    let Some((ours, theirs)) = lacking else {
        skip("this kernel has every algorithm");
        return;
    };
    let config = config(vec![link(10_000_000, 5)], vec![bulk(LINUX, ours, Some(10_000))]);
    let error = live::run(&config, &Options::default()).unwrap_err().to_string();
    assert!(error.contains(&format!("modprobe tcp_{theirs}")), "{error}");
    assert!(error.contains("cubic"), "{error}");
}

#[test]
fn actions_due_after_the_end_do_not_delay_the_end() {
    need_live!();
    // The reader would read too late, and a packet would be sent a few microseconds too late.
    let mut transfer = bulk(LINUX, "reno", None);
    transfer.read = ReadPolicy::Delayed(Span::from_secs(3));
    let cbr = Cbr {
        packet: 100,
        interval: Span::from_micros(500_001),
        spread: Span::ZERO,
        stop: Time::from_secs(9),
        deadline: None,
    };
    let mut config = config(
        vec![link(10_000_000, 1)],
        vec![transfer, flow(LINUX, "reno", Traffic::CbrTcp(cbr))],
    );
    config.duration = Time::from_secs(1);
    let begun = std::time::Instant::now();
    let outcome = run(&config);
    assert!(begun.elapsed().as_secs() < 30, "it lasted {:?}", begun.elapsed());
    assert_eq!(outcome.result.flows[0].delivered_bytes, 0);
    assert_eq!(outcome.result.flows[1].delivered_bytes, 200);
}
