//! Stations of IEEE 802.15.4 that sleep, and parents that keep packets for them.

use crate::coap::coap;
use crate::common::radio::{Driver, line, over, pairs};
use crate::common::{Traffic, cbr, flow, rfc, run};
use windlass_cc::{Span, Time};
use windlass_sim::RunResult;
use windlass_sim::config::Coap;
use windlass_sim::loss::LossModel;
use windlass_sim::radio::energy::State;
use windlass_sim::radio::lowpan::Lowpan;
use windlass_sim::radio::sleep::{AGAIN, MAX_ATTEMPTS, Polling};
use windlass_sim::radio::{Consumption, FrameErrors, Framing, Hops, Outcome, Phy, RadioConfig};

const PHY: Phy = Phy::OQPSK_2450;
const EVERY: Span = Span::from_secs(2);
/// 100 m at the speed of light.
const FLIGHT: Span = Span(334);

fn every(poll_interval: Span) -> Option<Polling> {
    Some(Polling { poll_interval, fast_poll: None })
}

/// A parent at the origin, and `children` sleeping stations a hundred metres away.
fn family(children: usize, poll_interval: Span) -> RadioConfig {
    let mut radio = line(PHY, 500, &vec![100; children + 1]);
    radio.stations[0].position.x_mm = 0;
    radio.hops = Hops::Star { centre: 0 };
    radio.consumption = Some(Consumption::CC2420);
    for station in &mut radio.stations[1..] {
        station.sleep = every(poll_interval);
    }
    radio
}

/// Time from the beginning of a frame's back-off to its end at the receiver, with this number of back-off
/// periods.
fn frame(bytes: u32, periods: f64) -> f64 {
    let fixed = Lowpan::assessment(&PHY) + PHY.turnaround + PHY.airtime(bytes, PHY.rates[0]);
    periods * seconds(PHY.slot) + seconds(fixed + FLIGHT)
}

/// Time of a data request and its acknowledgement.
fn request(periods: f64) -> f64 {
    frame(12, periods) + seconds(PHY.sifs + PHY.airtime(5, PHY.rates[0]) + FLIGHT)
}

fn seconds(span: Span) -> f64 {
    span.0 as f64 / 1e9
}

#[test]
fn the_energy_of_an_idle_device_follows_its_states() {
    let mut d = Driver::new(&family(1, EVERY), 1);
    let end = Time::from_secs(4_000);
    d.run_until(end);
    let station = &d.radio.stations()[1];
    let n = station.counters.polls;
    assert_eq!(n, 2_000);
    let times = [State::Transmit, State::Receive, State::Listen, State::Idle, State::Sleep]
        .map(|state| station.meter.time_ns_by(state, end));
    let [transmit, receive, listen, idle, sleep] = times;
    let [ask, answer] = [12, 5].map(|bytes| PHY.airtime(bytes, PHY.rates[0]).0);
    assert_eq!((transmit, receive, listen), (n * ask, n * answer, 0));
    let awake = n as f64 * request(3.5);
    let model = 0.0522 * seconds(Span(n * ask))
        + 0.0564 * (awake - seconds(Span(n * ask)))
        + 60e-6 * (4_000.0 - awake);
    let spent = station.meter.spent_j_by(end).expect("known");
    println!("{:.3} mW, model {:.3} mW", spent / 4.0, model / 4.0);
    assert!((spent / model - 1.0).abs() < 0.01, "{spent} J, {model} J");
    assert_eq!(sleep + idle + transmit + receive, end.0);
    // The parent receives the requests and is always on.
    let parent = &d.radio.stations()[0];
    assert_eq!(parent.meter.time_ns_by(State::Sleep, end), 0);
    assert_eq!(parent.meter.time_ns_by(State::Receive, end), n * ask);
}

/// Delays of `n` packets of this size, sent one by one, from the parent to the device.
fn delays(radio: &RadioConfig, size: u32, n: u64) -> Vec<f64> {
    let mut d = Driver::new(radio, 1);
    // The period is not a multiple of the interval, so that all phases occur.
    let at = |i: u64| Time(10_000_000_000 + i * 7_373_100_000);
    let ids: Vec<u32> = (0..n).map(|i| d.send(at(i), 0, 1, size)).collect();
    d.run_until(at(n + 3));
    let came = |(i, id): (u64, &u32)| {
        let [came] = d.delivered(*id)[..] else {
            panic!("packet {id} once: {:?}", d.delivered(*id))
        };
        seconds(came.since(at(i)))
    };
    (0..n).zip(&ids).map(came).collect()
}

#[test]
fn a_lone_packet_waits_for_half_an_interval_and_the_exchange_on_average() {
    let mut delays = delays(&family(1, EVERY), 100, 2_000);
    let data = 11 + 7 + 80;
    let (least, mean) = (request(0.0) + frame(data, 0.0), request(3.5) + frame(data, 3.5));
    let got = delays.iter().sum::<f64>() / delays.len() as f64;
    println!("mean {got:.4} s, model {:.4} s", 1.0 + mean);
    assert!((got - (1.0 + mean)).abs() < 0.02, "{got} and {mean}");
    delays.sort_by(f64::total_cmp);
    assert!(delays[0] >= least && delays[1_999] <= 2.0 + request(7.0) + frame(data, 7.0));
    // Uniform distribution: each quantile deviates by at most three standard errors.
    for (i, delay) in delays.iter().enumerate() {
        let model = 2.0 * (i as f64 + 0.5) / 2_000.0 + mean;
        assert!((delay - model).abs() < 0.07, "number {i}: {delay} and {model}");
    }
}

#[test]
fn each_frame_needs_a_data_request_and_the_device_sleeps_after_the_last() {
    let radio = family(1, EVERY);
    let parts = Framing::SHORT.parts(500);
    let first = Driver::new(&radio, 1);
    let (mut idle, mut d) = (first, Driver::new(&radio, 1));
    let end = Time::from_secs(12);
    idle.run_until(end);
    let id = d.send(Time::from_secs(10), 0, 1, 500);
    d.run_until(end);
    assert_eq!(d.delivered(id).len(), 1);
    let polls = |d: &Driver| d.radio.stations()[1].counters.polls;
    assert_eq!(polls(&d), polls(&idle) + u64::from(parts) - 1);
    let parent = &d.radio.stations()[0].counters;
    assert_eq!((parent.transmissions, parent.retransmissions), (5, 0));
    assert_eq!(parent.later_parts, 4);
    // Five exchanges in a row. Each has a request and a frame of at most 127 bytes, with maximum back-offs.
    let awake = end.0 - d.radio.stations()[1].meter.time_ns_by(State::Sleep, end);
    let most = polls(&d) as f64 * request(7.0) + 5.0 * frame(127, 7.0) + 5.0 * 1e-3;
    assert!(seconds(Span(awake)) < most, "{awake} ns awake");
}

#[test]
fn uplink_packets_are_sent_at_once() {
    for seed in 0..50 {
        let mut d = Driver::new(&family(1, EVERY), seed);
        let at = Time::from_secs(11);
        let packet = d.send(at, 1, 0, 100);
        d.run_until(at + EVERY);
        let took = seconds(d.delivered(packet)[0].since(at));
        let (least, most) = (frame(98, 0.0), frame(98, 7.0) + request(7.0) + 1e-3);
        assert!((least..=most).contains(&took), "{took}");
    }
}

#[test]
fn several_devices_of_a_parent_receive_their_own_packets() {
    let (children, each) = (6, 20);
    let mut d = Driver::new(&family(children, EVERY), 1);
    let mut sent = Vec::new();
    for i in 0..each {
        for child in 1..=children as u32 {
            let at = Time(20_000_000_000 * (i + 1) + u64::from(child));
            sent.push((child, d.send(at, 0, child, 500), at));
        }
    }
    d.run_until(Time::from_secs(20 * (each + 2)));
    for (child, id, at) in sent {
        let came = d.log.iter().find_map(|(came, o)| match o {
            Outcome::Delivered { to, handle, .. } if handle.id == id => Some((*to, *came)),
            _ => None,
        });
        let (to, came) = came.expect("delivered");
        assert_eq!(to, child);
        // One interval, and half a second for each request that failed because of a busy channel.
        assert!(came.since(at) < EVERY + AGAIN + Span::from_millis(300), "{:?}", came.since(at));
    }
    assert!(d.radio.stations().iter().all(|s| s.conserves_packets() && s.dropped() == 0));
}

#[test]
fn kept_frames_are_sent_between_frames_of_other_packets() {
    let mut radio = line(PHY, 500, &[0, 100, -100]);
    radio.hops = Hops::Star { centre: 0 };
    radio.stations[1].sleep = every(EVERY);
    let mut d = Driver::new(&radio, 1);
    let (mut others, mut kept) = (Vec::new(), Vec::new());
    for i in 0..400 {
        let at = Time(1_000_000_000 + i * 100_000_000);
        // Eleven frames, which take more than half of the time until the next packet.
        others.push(d.send(at, 0, 2, 1280));
        if i % 20 == 0 {
            kept.push((at, d.send(at, 0, 1, 300)));
        }
    }
    d.run_until(Time::from_secs(60));
    assert!(others.iter().all(|id| d.delivered(*id).len() == 1), "each packet arrives once");
    let mut late = 0;
    for (at, id) in kept {
        let took = d.delivered(id)[0].since(at);
        late += u64::from(took > EVERY + Span::from_millis(200));
        assert!(took < EVERY + AGAIN + AGAIN + AGAIN, "{took:?}");
    }
    let [parent, device, _] = d.radio.stations() else { panic!("three") };
    assert!(parent.conserves_packets() && parent.dropped() == 0);
    // Later packets are explained by requests that failed because the channel was busy.
    assert!(late <= device.counters.access_failures, "{late}");
}

#[test]
fn a_frame_that_fails_is_tried_once_at_each_of_four_requests() {
    let p = 0.25;
    let mut radio = family(1, EVERY);
    radio.errors = FrameErrors::Model(LossModel::Drop { probability: p });
    radio.lowpan = Some(Lowpan { max_retries: 7, ..Lowpan::default() });
    let mut d = Driver::new(&radio, 1);
    let n = 4_000;
    for i in 0..n {
        d.send(Time(10_000_000_000 * (i + 1)), 0, 1, 100);
    }
    d.run_until(Time::from_secs(10 * (n + 2)));
    let parent = &d.radio.stations()[0];
    let c = &parent.counters;
    // An attempt fails if the frame or its acknowledgement is lost.
    let fails: f64 = 1.0 - (1.0 - p) * (1.0 - p);
    let given_up = (c.drops_retry + c.unconfirmed) as f64 / n as f64;
    let model = fails.powi(i32::from(MAX_ATTEMPTS));
    println!("given up {given_up:.4}, model {model:.4}");
    assert!((given_up / model - 1.0).abs() < 0.2, "{given_up} and {model}");
    assert!(parent.conserves_packets() && c.offered == c.finished);
    assert!(d.radio.stations()[1].counters.duplicates > 0, "lost acknowledgements");
}

#[test]
fn a_full_parent_drops_packets_and_a_parent_switched_off_loses_them() {
    let mut d = Driver::new(&family(1, Span::from_secs(100)), 1);
    let at = Time::from_secs(200);
    let taken = (0..120).filter(|_| d.try_send(at, 0, 1, 60).is_some()).count();
    assert_eq!(taken, 100, "the limit of its queue");
    d.run_until(at + Span::from_millis(1));
    d.radio.switch_off(0, at + Span::from_millis(1));
    d.run_until(Time::from_secs(500));
    let parent = &d.radio.stations()[0];
    let c = &parent.counters;
    assert!(parent.conserves_packets() && c.drops_queue == 20, "{c:?}");
    assert_eq!(c.drops_off + c.delivered, 100);
    // The device still polls.
    assert!(d.radio.stations()[1].counters.polls >= 5);
}

/// A TCP flow between the parent (station 0) and a device: sensor messages of 100 bytes every 10 s, or a
/// whole file.
fn tcp(polling: Option<Polling>, ends: [usize; 2], traffic: Traffic, seconds: u64) -> RunResult {
    let mut radio = family(1, EVERY);
    radio.stations[1].sleep = polling;
    let end = Time::from_secs(seconds);
    let mut config = over(radio, &[], end);
    config.flows = vec![flow(ends, rfc("newreno"), traffic)];
    config.flows[0].profile_mut().stack.mss = Some(400);
    run(config)
}

fn readings(polling: Option<Polling>) -> RunResult {
    let end = Time::from_secs(600);
    tcp(polling, [1, 0], Traffic::CbrTcp(cbr(100, 10_000_000, end)), 620)
}

#[test]
fn sensor_messages_over_tcp_arrive_at_a_fraction_of_the_energy() {
    let fast = Some(Polling { poll_interval: EVERY, fast_poll: Some(Span::from_millis(100)) });
    let [awake, slow, fast] = [None, every(EVERY), fast].map(readings);
    for result in [&awake, &slow, &fast] {
        assert_eq!(result.flows[0].delivered_bytes, 6_000);
        assert_eq!(result.radios[0].stations[1].drops_retry, 0);
    }
    let per_byte = |r: &RunResult| {
        r.flows[0].radio.and_then(|r| r.sender_j).expect("known")
            / r.flows[0].delivered_bytes as f64
    };
    let [awake_j, slow_j, fast_j] = [&awake, &slow, &fast].map(per_byte);
    println!("J per byte: {awake_j:.6} awake, {slow_j:.6} asleep, {fast_j:.6} with fast polls");
    // Polls every 2 s for 620 s take 0.14 % of the time.
    assert!(slow_j < awake_j / 100.0 && fast_j < awake_j / 100.0);
    // Acknowledgements wait for the next poll, regular or fast.
    let rtt = |r: &RunResult| r.flows[0].srtt_ms.expect("measured");
    println!(
        "rtt {:.0} ms awake, {:.0} ms asleep, {:.0} ms with fast polls",
        rtt(&awake),
        rtt(&slow),
        rtt(&fast)
    );
    assert!(rtt(&fast) < rtt(&awake) + 120.0, "{} {}", rtt(&fast), rtt(&awake));
    assert!(
        rtt(&slow) < rtt(&awake) + 2_020.0 && rtt(&slow) > rtt(&fast) + 500.0,
        "{}",
        rtt(&slow)
    );
    assert!(slow.radios[0].stations[1].sleep_s > 600.0);
    assert_eq!((awake.radios[0].stations[1].sleep_s, awake.radios[0].stations[1].polls), (0.0, 0));
}

/// One request per minute from a device that polls every 30 s, which is longer than the timeouts of a
/// request.
#[test]
fn only_confirmable_requests_cause_fast_polls() {
    let coap = |confirmable, fast_poll: Option<Span>| {
        let polling = Some(Polling { poll_interval: Span::from_secs(30), fast_poll });
        let requests = Coap { confirmable, ..coap(60, 3_600) };
        tcp(polling, [1, 0], Traffic::Coap(requests), 3_600)
    };
    let fast = Some(Span::from_millis(100));
    let [slow, quick] = [None, fast].map(|fast| coap(true, fast).flows.remove(0));
    assert!(slow.packets_sent > 2 * 59, "{} for 59", slow.packets_sent);
    assert_eq!((quick.packets_sent, quick.peer_packets_sent), (59, 59));
    let longest = quick.coap.expect("exchanges").max_ms.expect("answered");
    assert!((50.0..300.0).contains(&longest), "{longest}");
    let polls = |r: RunResult| r.radios[0].stations[1].polls;
    let [once, often] = [None, fast].map(|fast| polls(coap(false, fast)));
    assert_eq!(once, often, "non-confirmable requests have no answer to wait for");
}

/// A device that has closed its connection still waits for the FIN of the other end.
#[test]
fn a_connection_that_ends_at_a_device_ends_on_both_sides() {
    let polling =
        Polling { poll_interval: Span::from_secs(900), fast_poll: Some(Span::from_millis(100)) };
    let result = tcp(Some(polling), [1, 0], Traffic::Bulk { bytes: Some(400) }, 3_600);
    let flow = &result.flows[0];
    assert_eq!((flow.delivered_bytes, &flow.failure), (400, &None));
    assert!(flow.peer_packets_sent <= 4, "{} packets", flow.peer_packets_sent);
}

#[test]
fn fast_polls_speed_up_files_in_both_directions() {
    let fast = Some(Polling { poll_interval: EVERY, fast_poll: Some(Span::from_millis(100)) });
    let took = |polling, ends| {
        let result = tcp(polling, ends, Traffic::Bulk { bytes: Some(20_000) }, 2_000);
        assert_eq!(result.flows[0].delivered_bytes, 20_000);
        result.flows[0].completion_s.expect("complete")
    };
    let [up, up_fast] = [every(EVERY), fast].map(|p| took(p, [1, 0]));
    let [down, down_fast] = [every(EVERY), fast].map(|p| took(p, [0, 1]));
    println!("up {up:.1} s, {up_fast:.1} s with fast polls; down {down:.1} s, {down_fast:.1} s");
    assert!(up_fast < up / 3.0, "{up_fast} and {up}");
    // A receiving device does not wait for answers, so that fast polls help only in the handshake.
    assert!(down_fast <= down, "{down_fast} and {down}");
}

#[test]
fn a_sleeping_station_does_not_affect_other_stations() {
    let flows = [([1, 0], cbr(100, 50_000, Time::from_secs(20)))];
    let radio = |sleep| {
        let mut radio = line(PHY, 500, &[0, 100, 200]);
        radio.hops = pairs(&[[0, 1], [0, 2]]);
        radio.stations[2].sleep = sleep;
        run(over(radio, &flows, Time::from_secs(20)))
    };
    // The device polls once, in the middle of the run. Before that, it has no effect on the others.
    let [without, with] = [None, every(Span::from_secs(86_400))].map(radio);
    assert_eq!(without.flows, with.flows);
    assert_eq!(without.radios[0].stations[..2], with.radios[0].stations[..2]);
}

#[test]
fn stations_that_cannot_sleep_are_refused() {
    let refused = |edit: &dyn Fn(&mut RadioConfig)| {
        let mut radio = line(PHY, 500, &[0, 100, 200]);
        radio.hops = pairs(&[[0, 1], [1, 2]]);
        edit(&mut radio);
        radio.check(&["a".into(), "b".into(), "c".into()]).expect_err("refused")
    };
    let router = refused(&|r| r.stations[1].sleep = every(EVERY));
    assert!(router.contains("\"b\" cannot sleep: others may be routed through it"), "{router}");
    let root = refused(&|r| {
        r.hops = Hops::Star { centre: 0 };
        r.stations[0].sleep = every(EVERY);
    });
    assert!(root.contains("\"a\" cannot sleep: others may be routed"), "{root}");
    let both = refused(&|r| {
        r.hops = pairs(&[[0, 1]]);
        (r.stations[0].sleep, r.stations[1].sleep) = (every(EVERY), every(EVERY));
    });
    assert!(both.contains("its parent \"b\" sleeps too"), "{both}");
    let zero = refused(&|r| r.stations[2].sleep = every(Span::ZERO));
    assert!(zero.contains("1 ms to 1 day"), "{zero}");
    let slower = refused(&|r| {
        let (poll_interval, fast_poll) = (EVERY, Some(EVERY + EVERY));
        r.stations[2].sleep = Some(Polling { poll_interval, fast_poll });
    });
    assert!(slower.contains("must not poll less often"), "{slower}");
    let wifi = refused(&|r| {
        let mut other = line(Phy::B_LONG, 500, &[0, 100, 200]);
        other.hops = r.hops.clone();
        other.stations[2].sleep = every(EVERY);
        *r = other;
    });
    assert!(wifi.contains("use 802.15.4"), "{wifi}");
}
