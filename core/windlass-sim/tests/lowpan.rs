//! IEEE 802.15.4 and 6LoWPAN: timing, saturation, losses, hidden stations.

use crate::common::cbr;
use crate::common::radio::{Driver, line, over, pairs};
use windlass_cc::{Span, Time};
use windlass_sim::config::Traffic;
use windlass_sim::loss::LossModel;
use windlass_sim::radio::lowpan::Lowpan;
use windlass_sim::radio::{FrameErrors, Framing, Outcome, Phy, RadioConfig};
use windlass_sim::results::StationResult;
use windlass_sim::{RunResult, Simulation};

const PHY: Phy = Phy::OQPSK_2450;

/// Stations on a line at these distances from the origin, in metres. They receive each other up to 250 m and
/// sense up to `sense_m`.
fn air(sense_m: u64, places: &[i64]) -> RadioConfig {
    line(PHY, sense_m, places)
}

fn run(
    radio: RadioConfig,
    flows: &[[usize; 2]],
    packet: u32,
    seconds: u64,
    seed: u64,
) -> RunResult {
    let end = Time::from_secs(seconds);
    // One packet per millisecond, more than the channel can carry.
    let flows: Vec<_> =
        flows.iter().map(|ends| (*ends, cbr(u64::from(packet) - 28, 1000, end))).collect();
    let mut config = over(radio, &flows, end);
    config.seed = seed;
    let mut simulation = Simulation::new(config).expect("valid");
    simulation.run();
    simulation.finish().expect("packets conserved")
}

fn seconds(span: Span) -> f64 {
    span.0 as f64 / 1e9
}

/// Mean time of an undisturbed frame, from the end of the previous exchange to the end of its exchange,
/// without the space before it: mean back-off, assessment, turnaround, frame, turnaround, acknowledgement.
fn exchange(bytes: u32) -> f64 {
    let rate = PHY.rates[0];
    let frames = PHY.airtime(bytes, rate) + PHY.airtime(5, rate);
    3.5 * seconds(PHY.slot)
        + seconds(Lowpan::assessment(&PHY) + PHY.turnaround + PHY.sifs)
        + seconds(frames)
}

#[test]
fn a_frame_follows_whole_back_off_periods_an_assessment_and_a_turnaround() {
    let mut seen = [0; 8];
    for seed in 0..200 {
        let mut driver = Driver::new(&air(500, &[0, 100]), seed);
        let packet = driver.send(Time::from_secs(1), 0, 1, 100);
        driver.finish();
        let took = driver.delivered(packet)[0].since(Time::from_secs(1));
        let flight = Span(334);
        let frame = PHY.airtime(11 + 7 + 80, PHY.rates[0]) + flight;
        let back_off = took.0 - frame.0 - (8 + 12) * 16_000;
        assert_eq!(back_off % PHY.slot.0, 0, "{took:?}");
        seen[(back_off / PHY.slot.0) as usize] += 1;
    }
    assert!(seen.iter().all(|n| (10..45).contains(n)), "uniform from 0 to 7: {seen:?}");
}

#[test]
fn saturation_throughput_of_one_station_follows_the_closed_form() {
    for ip_bytes in [60, 129, 500, 1280] {
        let framing = Framing::SHORT;
        let part = |p| {
            let bytes = framing.bytes(ip_bytes, p);
            exchange(bytes) + seconds(Lowpan::space(&PHY, bytes))
        };
        let cycle: f64 = (0..framing.parts(ip_bytes)).map(part).sum();
        let result = run(air(500, &[0, 100]), &[[0, 1]], ip_bytes, 200, 1);
        let station = &result.radios[0].stations[0];
        assert!(station.drops_queue > 0, "saturated");
        let (got, model) = (station.delivered as f64 / 200.0, 1.0 / cycle);
        println!(
            "{ip_bytes} bytes: {got:.3}/s, model {model:.3}/s ({:+.2} %)",
            100.0 * (got / model - 1.0)
        );
        assert!((got / model - 1.0).abs() < 0.01, "{ip_bytes}: {got} and {model}");
        assert_eq!(station.retransmissions + station.failures + station.access_failures, 0);
    }
}

#[test]
fn compressed_udp_headers_shorten_the_first_frame_of_a_datagram() {
    // Size of the UDP header, payload of a datagram, and size of its frames from MAC header to check
    // sequence. The IP header has 7 bytes with a next-header field, or 6 if the UDP header is compressed (RFC
    // 6282 section 3.1.1). Fragments begin at multiples of eight of the uncompressed packet.
    let cases: [(u32, u32, &[u32]); 8] = [
        (8, 40, &[11 + 7 + 8 + 40]),
        (7, 40, &[11 + 6 + 7 + 40]),
        (4, 40, &[11 + 6 + 4 + 40]),
        (2, 40, &[11 + 6 + 2 + 40]),
        // One frame holds 101 bytes of payload, or 106 with both ports in one byte.
        (8, 102, &[11 + 4 + 7 + 8 + 96, 11 + 5 + 6]),
        (4, 106, &[127]),
        (4, 107, &[11 + 4 + 6 + 4 + 96, 11 + 5 + 11]),
        // 127 - 11 - 4 - 8 leaves 104 bytes after the compressed headers: 112 bytes of UDP, eight more than
        // uncompressed.
        (2, 300, &[11 + 4 + 6 + 2 + 104, 11 + 5 + 104, 11 + 5 + 92]),
    ];
    for (udp_header, payload, frames) in cases {
        let mut radio = air(500, &[0, 100]);
        radio.lowpan = Some(Lowpan { udp_header, ..Lowpan::default() });
        let result = run(radio, &[[0, 1]], payload + 28, 200, 1);
        let station = &result.radios[0].stations[0];
        let case = format!("{udp_header} B, {payload} B");
        assert!(station.drops_queue > 0, "saturated: {case}");
        let sent = station.transmissions as f64 / frames.len() as f64;
        assert!((sent - station.delivered as f64).abs() <= 1.0, "frames per datagram: {case}");
        // On the air, 6 bytes precede each frame; 32 µs per byte.
        let bytes: u32 = frames.iter().map(|bytes| bytes + 6).sum();
        let airtime = station.airtime_s / station.delivered as f64;
        assert!((airtime / (f64::from(bytes) * 32e-6) - 1.0).abs() < 1e-3, "{case}: {airtime}");
        let cycle: f64 =
            frames.iter().map(|b| exchange(*b) + seconds(Lowpan::space(&PHY, *b))).sum();
        let (got, model) = (station.delivered as f64 / 200.0, 1.0 / cycle);
        assert!((got / model - 1.0).abs() < 0.01, "{case}: {got}/s, model {model}/s");
    }
}

#[test]
fn a_segment_of_tcp_and_the_ports_of_aodv_are_not_compressed() {
    let end = Time::from_secs(20);
    let tcp = |udp_header| {
        let mut radio = air(500, &[0, 100]);
        radio.lowpan = Some(Lowpan { udp_header, ..Lowpan::default() });
        let mut config = over(radio, &[([0, 1], cbr(100, 1000, end))], end);
        config.flows[0].traffic = Traffic::Bulk { bytes: None };
        let mut simulation = Simulation::new(config).expect("valid");
        simulation.run();
        simulation.finish().expect("packets conserved")
    };
    assert_eq!(tcp(8), tcp(2));
    let lowpan = |udp_header| Lowpan { udp_header, ..Lowpan::default() };
    assert_eq!([8, 7, 4, 2].map(|n| lowpan(n).saved(false)), [0, 2, 5, 7]);
    assert_eq!([8, 7, 4, 2].map(|n| lowpan(n).saved(true)), [0, 2, 2, 2]);
    // An IP header without a next-header field cannot be shortened.
    assert_eq!(Lowpan { ip_header: 2, ..lowpan(4) }.saved(false), 4);
}

#[test]
fn a_datagram_is_lost_with_any_of_its_fragments_after_four_attempts_each() {
    let (p, ip_bytes) = (0.3, 500);
    let mut radio = air(500, &[0, 100]);
    radio.errors = FrameErrors::Model(LossModel::Drop { probability: p });
    let result = run(radio, &[[0, 1]], ip_bytes, 3000, 1);
    let sender = &result.radios[0].stations[0];
    // An attempt fails if the frame or its acknowledgement is lost. The datagram is given up only if all
    // attempts of a fragment fail.
    let fails: f64 = 1.0 - (1.0 - p) * (1.0 - p);
    let given_up = 1.0 - (1.0 - fails.powi(4)).powi(5);
    let finished = sender.delivered + sender.drops_retry;
    let measured = (sender.drops_retry + sender.unconfirmed) as f64 / finished as f64;
    println!("{finished} datagrams, given up {measured:.4}, model {given_up:.4}");
    assert!((measured / given_up - 1.0).abs() < 0.05);
    let again = sender.retransmissions as f64 / sender.transmissions as f64;
    // Share of all attempts of a fragment except the first: 1 - (1 - f) / (1 - f⁴).
    let model = 1.0 - (1.0 - fails) / (1.0 - fails.powi(4));
    assert!((again / model - 1.0).abs() < 0.02, "{again} and {model}");
    let receiver = &result.radios[0].stations[1];
    assert!(receiver.duplicates > 0, "lost acknowledgements");
}

/// Results of two hidden senders on opposite sides of a common receiver.
fn hidden(retry_delay: Span) -> [StationResult; 2] {
    let mut radio = air(250, &[0, 200, 400]);
    radio.hops = pairs(&[[0, 1], [1, 2]]);
    radio.lowpan = Some(Lowpan { retry_delay, ..Lowpan::default() });
    let end = Time::from_secs(300);
    // Each uses two fifths of the channel.
    let flows = [[0, 1], [2, 1]].map(|ends| (ends, cbr(100, 17_000, end)));
    let mut simulation = Simulation::new(over(radio, &flows, end)).expect("valid");
    simulation.run();
    let stations = simulation.finish().expect("packets conserved").radios.remove(0).stations;
    [stations[0].clone(), stations[2].clone()]
}

#[test]
fn a_random_delay_of_retries_keeps_hidden_stations_from_colliding_again() {
    let share = |stations: [StationResult; 2]| {
        let (lost, all) =
            stations.iter().fold((0, 0), |(lost, all), s| (lost + s.drops_retry, all + s.offered));
        lost as f64 / all as f64
    };
    let [standard, delayed] = [Span::ZERO, Span::from_millis(40)].map(|delay| share(hidden(delay)));
    println!("lost: {standard:.4} without a delay, {delayed:.4} with up to 40 ms");
    assert!(standard > 0.05, "hidden stations lose packets: {standard}");
    assert!(delayed < standard / 2.0, "{standard} without, {delayed} with a delay");
}

#[test]
fn a_busy_channel_ends_a_frame_or_causes_a_retry_after_five_assessments() {
    // A station in the middle senses two pairs of stations that do not sense each other.
    let busy = |retry_busy| {
        let mut radio = air(250, &[0, 240, 480, 720, 960]);
        radio.hops = pairs(&[[0, 1], [1, 2], [3, 4], [2, 3]]);
        radio.lowpan = Some(Lowpan { retry_busy, ..Lowpan::default() });
        let result = run(radio, &[[1, 0], [3, 4], [2, 1]], 129, 60, 1);
        result.radios[0].stations[2].clone()
    };
    let (standard, stack) = (busy(false), busy(true));
    assert!(standard.access_failures > 0 && stack.access_failures > 0);
    let given_up = |s: &StationResult| s.drops_retry + s.unconfirmed;
    assert!(standard.access_failures <= given_up(&standard), "each ends a packet: {standard:?}");
    assert!(stack.access_failures > given_up(&stack), "several per packet: {stack:?}");
}

#[test]
fn a_fragmented_broadcast_is_received_once_and_completely() {
    let mut radio = air(500, &[0, 100, 200]);
    radio.errors = FrameErrors::Model(LossModel::Drop { probability: 0.2 });
    let mut driver = Driver::new(&radio, 1);
    let n = 2000;
    for i in 0..n {
        driver.broadcast(Time::from_secs(1 + i), 0, 500);
    }
    driver.finish();
    let heard =
        driver.log.iter().filter(|(_, o)| matches!(o, Outcome::Heard { at: 1, .. })).count();
    let model = 0.8_f64.powi(5) * n as f64;
    assert!((heard as f64 / model - 1.0).abs() < 0.15, "{heard} of {n}, {model} expected");
}

#[test]
fn invalid_lowpan_parameters_are_refused() {
    let refused = |edit: &dyn Fn(&mut RadioConfig)| {
        let mut radio = air(500, &[0, 100]);
        edit(&mut radio);
        radio.check(&["a".into(), "b".into()]).expect_err("refused")
    };
    let no_lowpan = refused(&|r| r.lowpan = None);
    assert!(no_lowpan.contains("belong together"), "{no_lowpan}");
    let wide = refused(&|r| {
        r.lowpan = Some(Lowpan { mac_header: 90, ip_header: 40, ..Lowpan::default() });
    });
    assert!(wide.contains("127 bytes"), "{wide}");
    let odd = refused(&|r| r.lowpan = Some(Lowpan { udp_header: 3, ..Lowpan::default() }));
    assert!(odd.contains("7, 6, 5, 4 or 2 compressed, not 3"), "{odd}");
    let eager = refused(&|r| {
        r.lowpan = Some(Lowpan { retry_delay: Span::from_secs(60), ..Lowpan::default() });
    });
    assert!(eager.contains("at most 10 s"), "{eager}");
}
