//! Interaction of stations on one channel.

use crate::common::radio::{Driver, line, over, us};
use crate::common::{cbr, drops, flow, link, listed, network, rfc, run};
use windlass_cc::{Span, Time};
use windlass_sim::config::Traffic;
use windlass_sim::link::QueueLimit;
use windlass_sim::radio::{
    FrameErrors, Hops, Outcome, PathLoss, Phy, Position, RadioConfig, Retries, RtsThreshold,
};
use windlass_sim::{RunResult, Simulation};

const START: Time = Time::from_secs(1);

/// A back-off stops while another station transmits, and then resumes.
#[test]
fn a_backoff_is_frozen_while_the_channel_is_busy() {
    let phy = Phy::B_LONG;
    let radio = line(phy, 250, &[0, 0, 0]);
    let data = us(192 + 1118);
    let cycle = data + phy.sifs + us(192 + 56) + phy.difs();
    let mut frozen = 0;
    for seed in 0..200 {
        let mut d = Driver::new(&radio, seed);
        // All stations are at one place, without propagation delay. Stations 1 and 2 find the channel busy
        // and draw back-offs.
        d.send(START, 0, 1, 1500);
        let ids = [d.send(START + us(10), 1, 0, 1500), d.send(START + us(20), 2, 0, 1500)];
        d.finish();
        let sent = ids.map(|id| d.delivered(id)[0].0 - data.0);
        let idle = START + cycle;
        let [first, second] = [sent[0].min(sent[1]), sent[0].max(sent[1])];
        let tries: u64 = d.radio.stations().iter().map(|s| s.counters.transmissions).sum();
        if tries > 3 {
            continue; // both chose the same slot: a collision
        }
        let slots = (first - idle.0) / 20_000;
        assert_eq!((first - idle.0) % 20_000, 0);
        // The second station counted the same slots, was frozen, and counts the rest: at most 31 in total.
        let rest = second - first - cycle.0;
        assert_eq!(rest % 20_000, 0);
        assert!(rest > 0 && slots + rest / 20_000 <= 31, "{slots} and {rest}");
        frozen += 1;
    }
    assert!(frozen > 150, "{frozen}");
}

#[test]
fn stations_in_the_same_slot_collide_and_retry() {
    let radio = line(Phy::B_LONG, 250, &[0, 100, 200]);
    // Both find the channel idle at the same time; station 1, in the middle, senses both.
    let mut d = Driver::new(&radio, 1);
    let ids = [d.send(START, 0, 1, 1500), d.send(START, 2, 1, 1500)];
    d.finish();
    let counters = d.radio.stations()[1].counters;
    assert!(counters.collisions_seen >= 2, "{counters:?}");
    assert!(ids.iter().all(|id| d.delivered(*id).len() == 1), "each frame was retransmitted");
}

#[test]
fn the_stronger_frame_survives_if_receivers_capture() {
    let collide = |capture_db| {
        let mut radio = RadioConfig::new("air", Phy::G);
        radio.capture_db = capture_db;
        radio.stations = line(Phy::G, 1, &[0, 10, 50]).stations;
        let mut d = Driver::new(&radio, 1);
        // Station 1 receives station 0 from 10 m, and station 2 from 40 m with 18 dB less power.
        d.send(START, 0, 1, 1000);
        d.send(START, 2, 1, 1000);
        d.run_until(START + us(250));
        d.log.len()
    };
    assert_eq!(collide(None), 0);
    assert_eq!(collide(Some(10.0)), 1);
    assert_eq!(collide(Some(20.0)), 0);
}

#[test]
fn a_frame_given_up_at_the_retry_limit_is_reported() {
    for (rts, retries, attempts, rts_sent) in [
        (RtsThreshold::Never, Retries::STANDARD, 7, 0),
        (RtsThreshold::Never, Retries { short: 2, long: 9 }, 2, 0),
        (RtsThreshold::Always, Retries::STANDARD, 0, 7),
    ] {
        let mut radio = line(Phy::G, 250, &[0, 30]);
        radio.errors = FrameErrors::Model(drops(1.0).unwrap());
        (radio.rts, radio.retries) = (rts, retries);
        let mut d = Driver::new(&radio, 1);
        let id = d.send(START, 0, 1, 1500);
        d.finish();
        let s = &d.radio.stations()[0];
        let c = s.counters;
        assert_eq!((c.transmissions, c.rts_sent, c.drops_retry), (attempts, rts_sent, 1));
        assert_eq!(c.failures, attempts + rts_sent);
        assert!(s.conserves_packets() && s.inside() == 0);
        let [(_, Outcome::GaveUp { from: 0, to: 1, handle, taken: false })] = d.log[..] else {
            panic!("{:?}", d.log)
        };
        assert_eq!(handle.id, id);
    }
}

/// After RTS and CTS, the long limit applies.
#[test]
fn data_after_rts_has_the_long_retry_limit() {
    let mut radio = line(Phy::G, 250, &[0, 30]);
    radio.rts = RtsThreshold::Always;
    // Both stations lose every other frame that arrives. Station 1 receives an RTS and loses the data after
    // it (a long failure). In the next exchange, station 0 loses the CTS, and in the one after that, station
    // 1 loses the RTS (two short failures). This repeats. In the tenth exchange, data is lost for the fourth
    // time. At that time there are six short failures, one fewer than their limit.
    radio.errors = FrameErrors::Model(listed(&[2, 4, 6, 8, 10, 12, 14, 16]).unwrap());
    let mut d = Driver::new(&radio, 1);
    d.send(START, 0, 1, 1500);
    d.finish();
    let c = d.radio.stations()[0].counters;
    assert_eq!((c.delivered, c.drops_retry), (0, 1));
    assert_eq!((c.transmissions, c.rts_sent, c.failures), (4, 10, 10), "{c:?}");
}

#[test]
fn a_lost_acknowledgement_does_not_deliver_twice() {
    let mut radio = line(Phy::G, 250, &[0, 30]);
    // Half of the acknowledgements and half of the data frames are lost.
    radio.errors = FrameErrors::Model(drops(0.5).unwrap());
    let mut d = Driver::new(&radio, 3);
    let mut ids = Vec::new();
    for i in 0..1000 {
        ids.push(d.send(START + Span::from_millis(20 * i), 0, 1, 500));
    }
    d.finish();
    let [sender, receiver] = d.radio.stations() else { panic!("two") };
    assert!(receiver.counters.duplicates > 100, "{:?}", receiver.counters);
    assert!(sender.counters.unconfirmed > 0, "{:?}", sender.counters);
    assert!(ids.iter().all(|id| d.delivered(*id).len() <= 1));
    assert_eq!(sender.counters.delivered + sender.counters.drops_retry, 1000);
    // The order is kept too.
    let order: Vec<u32> = d
        .log
        .iter()
        .filter_map(|(_, o)| match o {
            Outcome::Delivered { handle, .. } => Some(handle.id),
            _ => None,
        })
        .collect();
    assert!(order.windows(2).all(|w| w[0] < w[1]));
}

#[test]
fn a_broadcast_reaches_all_in_range_and_none_beyond_and_is_not_acknowledged() {
    let phy = Phy::B_LONG;
    let radio = line(phy, 550, &[0, 100, 250, 251, -250, 600]);
    let mut d = Driver::new(&radio, 1);
    d.broadcast(START, 0, 64);
    d.finish();
    let heard: Vec<u32> = d
        .log
        .iter()
        .filter_map(|(_, o)| match o {
            Outcome::Heard { from: 0, at, .. } => Some(*at),
            _ => None,
        })
        .collect();
    assert_eq!(heard, [1, 2, 4]);
    let at = d.log.iter().find(|(_, o)| matches!(o, Outcome::Heard { at: 1, .. })).unwrap().0;
    // At the lowest rate: 100 bytes take 800 µs.
    assert_eq!(at, START + us(192 + 800) + Span(334));
    let transmitted: Vec<u64> = d.radio.stations().iter().map(|s| s.counters.airtime_ns).collect();
    assert_eq!(transmitted[1..], [0; 5]);
    assert_eq!(d.radio.stations()[0].counters.delivered, 1);
}

#[test]
fn farther_stations_lose_more_frames_and_have_less_goodput() {
    let at = |metres| {
        let mut radio = RadioConfig::new("cell", Phy::G);
        radio.errors = FrameErrors::Snr;
        radio.sensitivity_dbm = -90.0;
        radio.carrier_sense_dbm = -90.0;
        radio.stations = line(Phy::G, 1, &[0, metres]).stations;
        let end = Time::from_secs(2);
        let r = run(over(radio, &[([0, 1], cbr(1472, 400, end))], end));
        (r.radios[0].stations[1].frame_errors, r.flows[0].goodput_bps)
    };
    // The noise is at -94 dBm. The signal-to-noise ratio is 31 dB at 20 m, 23 dB at 36 m and 22 dB at 39 m,
    // which is the limit of 54 Mbit/s.
    let [near, far, farther] = [20, 36, 39].map(at);
    assert_eq!(near.0, 0);
    assert!(far.0 > 100 && farther.0 > far.0, "{far:?} {farther:?}");
    assert!(near.1 > 25e6 && far.1 < near.1 && farther.1 < 0.7 * near.1, "{near:?} {farther:?}");
}

/// A TCP download over a wire and a radio. The access point is also a router.
fn download(seed: u64, losses: f64) -> RunResult {
    let mut radio = line(Phy::B_SHORT, 250, &[0, 40]);
    radio.stations[0].node = 1;
    radio.stations[1].node = 2;
    radio.stations[0].queue = QueueLimit::Unlimited;
    radio.hops = Hops::Star { centre: 0 };
    radio.errors = FrameErrors::Model(drops(losses).unwrap());
    let bulk = Traffic::Bulk { bytes: Some(1_000_000) };
    let mut config = network(
        vec![link([0, 1], 100_000_000, 10)],
        vec![flow([0, 2], rfc("newreno"), bulk)],
        Time::from_secs(60),
    );
    config.nodes.push("n2".into());
    config.radios.push(radio);
    config.seed = seed;
    run(config)
}

#[test]
fn mac_retries_hide_losses_from_tcp_over_wire_and_radio() {
    let r = download(1, 0.1);
    assert_eq!(r.flows[0].delivered_bytes, 1_000_000);
    assert_eq!(r.flows[0].retransmits, 0, "seven attempts at 10 % each");
    let [ap, station] = &r.radios[0].stations[..] else { panic!("two") };
    assert!(ap.retransmissions > 50 && station.duplicates > 10, "{ap:?} {station:?}");
    // 11 Mbit/s with its overheads carries 5 … 6 Mbit/s of TCP.
    assert!((2e6..6.5e6).contains(&r.flows[0].goodput_bps), "{}", r.flows[0].goodput_bps);
    assert!(r.radios[0].busy > 0.02 && r.radios[0].busy < 1.0);
}

#[test]
fn the_seed_determines_the_run() {
    assert_eq!(download(1, 0.1), download(1, 0.1));
    assert_ne!(download(1, 0.1).radios, download(2, 0.1).radios);
}

/// Golden values: distances, powers, error rates and random numbers are equal on every machine.
#[test]
fn a_run_with_powers_and_error_curves_is_equal_on_every_machine() {
    let mut radio = RadioConfig::new("cell", Phy::G);
    radio.errors = FrameErrors::Snr;
    radio.capture_db = Some(6.0);
    (radio.sensitivity_dbm, radio.carrier_sense_dbm) = (-90.0, -88.0);
    radio.stations = line(Phy::G, 1, &[0, 20, -36, 37, -38]).stations;
    for (s, y_mm) in radio.stations.iter_mut().zip([0, 1234, -5678, 910, -1112]) {
        s.position.y_mm = y_mm;
    }
    radio.hops = Hops::Star { centre: 0 };
    let end = Time::from_secs(2);
    let flows = [1, 2, 3, 4].map(|i| ([i, 0], cbr(1472, 700 + 13 * i as u64, end)));
    let r = run(over(radio, &flows, end));
    let s = r.radios[0].stations.iter();
    let totals: Vec<[u64; 4]> =
        s.map(|s| [s.delivered, s.retransmissions, s.frame_errors, s.collisions_seen]).collect();
    let expected = [
        [0, 0, 303, 932],
        [2280, 24, 2043, 302],
        [1144, 405, 2946, 435],
        [982, 394, 2043, 406],
        [675, 410, 2946, 555],
    ];
    assert_eq!((r.events, &totals[..]), (154_847, &expected[..]));
}

#[test]
fn a_full_queue_drops_and_includes_the_packet_in_transmission() {
    let mut radio = line(Phy::B_LONG, 250, &[0, 30]);
    radio.stations[0].queue = QueueLimit::Packets(5);
    let end = Time::from_secs(1);
    let r = run(over(radio, &[([0, 1], cbr(1472, 100, end))], end));
    let s = &r.radios[0].stations[0];
    assert_eq!(s.max_queue_packets, 5);
    assert!(s.drops_queue > 8000 && s.offered == 10_000, "{s:?}");
    // Four packets wait while one is transmitted: Little's law.
    let wait = s.mean_queue_delay_ms + s.mean_service_ms;
    let arrivals = s.delivered as f64 / 1000.0;
    assert!((s.mean_queue_packets - wait * arrivals).abs() < 0.05, "{s:?}");
    assert!((4.8..=5.0).contains(&s.mean_queue_packets), "{s:?}");
}

/// A chain of stations that sense each other over two hops. The nodes between relay the packets.
#[test]
fn a_chain_relays_over_many_hops() {
    let radio = line(Phy::B_LONG, 550, &[0, 200, 400, 600, 800]);
    let end = Time::from_secs(5);
    let r = run(over(radio, &[([0, 4], cbr(1000, 50_000, Time::from_secs(4)))], end));
    assert_eq!(r.flows[0].delivered_bytes, 80_000);
    let s = &r.radios[0].stations;
    assert!(s[..4].iter().all(|s| s.delivered == 80) && s[4].offered == 0, "{s:?}");
}

#[test]
fn a_disc_ignores_the_transmit_power() {
    let mut radio = line(Phy::B_LONG, 250, &[0, 200]);
    radio.tx_power_dbm = -200.0;
    assert!(matches!(radio.path_loss, PathLoss::Disc { .. }));
    assert!(Simulation::new(over(radio, &[], START)).is_ok());
}

/// Three senders around a receiver that do not sense each other. The second frame overlaps the end of the
/// first frame and the beginning of the third, and destroys both.
#[test]
fn the_rest_of_a_collision_destroys_the_next_frame() {
    let mut radio = line(Phy::B_LONG, 250, &[0, 0, 0, 0]);
    for (s, (x, y)) in radio.stations.iter_mut().zip([(0, 0), (240, 0), (-120, 207), (-120, -207)])
    {
        s.position = Position::metres(x, y);
    }
    // A broadcast of 1000 bytes takes 8480 µs.
    let heard = |third_after_us| {
        let mut d = Driver::new(&radio, 1);
        d.broadcast(START, 1, 1000);
        d.broadcast(START + us(5000), 2, 1000);
        d.broadcast(START + us(third_after_us), 3, 1000);
        d.finish();
        d.log.iter().filter(|(_, o)| matches!(o, Outcome::Heard { at: 0, .. })).count()
    };
    assert_eq!(heard(10_000), 0, "the third begins before the second ends");
    assert_eq!(heard(13_600), 1, "the third begins after the second ends");
}

/// A station that finds the channel busy draws a back-off, so that two waiting stations seldom transmit at
/// the same time. The same applies to a station that detects a busy channel while it waits for the end of the
/// DIFS.
#[test]
fn stations_that_waited_for_the_same_frame_seldom_collide_after_it() {
    let phy = Phy::B_LONG;
    let radio = line(phy, 250, &[0, 0, 0, 0]);
    let data = us(192 + 1118);
    let idle = START + data + phy.sifs + us(192 + 56);
    let collisions = |at: [Time; 3]| {
        let collided = (0..200).filter(|seed| {
            let mut d = Driver::new(&radio, *seed);
            d.send(START, 0, 1, 1500);
            for (station, at) in [3, 2, 1].into_iter().zip(at) {
                d.send(at, station, 0, 1500);
            }
            d.finish();
            d.radio.stations().iter().any(|s| s.counters.failures > 0)
        });
        collided.count()
    };
    // Three stations in 32 slots: in 9 % of runs, two share a slot. The two that remain may collide later.
    let during = collisions([START + us(10), START + us(20), START + us(30)]);
    assert!((4..40).contains(&during), "{during} of 200");
    let answer = START + data + phy.sifs;
    let at_the_end = collisions([answer + us(10), answer + us(20), answer + us(30)]);
    assert!((4..40).contains(&at_the_end), "{at_the_end} of 200");
    // Station 3 has drawn a back-off and often transmits first, at the end of the DIFS or later. The packets
    // of the others arrived within the DIFS, so that they transmit together at its end.
    let within = collisions([START + us(10), idle + us(10), idle + us(20)]);
    assert_eq!(within, 200, "both transmit at the same time");
}

/// A station that waits for the end of a DIFS draws a back-off if another station begins to transmit.
#[test]
fn a_packet_overtaken_within_the_difs_waits_for_a_backoff() {
    let phy = Phy::B_LONG;
    // Station 3 senses stations 0 and 2, which do not sense each other. Station 2 begins while station 3
    // waits after station 0's frame.
    let mut radio = line(phy, 250, &[0, -100, 400, 200]);
    radio.eifs = false;
    let mut delays = Vec::new();
    for seed in 0..100 {
        let mut d = Driver::new(&radio, seed);
        d.broadcast(START, 0, 1000);
        let idle = START + us(192 + 8288) + Span(667);
        let id = d.send(idle + us(1), 3, 2, 500);
        d.broadcast(idle + us(10), 2, 100);
        d.finish();
        let again = idle + us(10) + us(192 + 8 * 136) + Span(667);
        let data = phy.airtime(536, phy.rate(11_000_000).unwrap());
        let wait = d.delivered(id)[0].0 - (again + phy.difs() + data + Span(667)).0;
        assert_eq!(wait % 20_000, 0);
        delays.push(wait / 20_000);
    }
    assert!(delays.iter().max() > Some(&20) && delays.iter().min() < Some(&10), "{delays:?}");
}

/// 5 µs pass between the decision to transmit and the first symbol. A frame that arrives in this time is
/// noticed too late.
#[test]
fn a_station_does_not_notice_frames_within_its_turnaround() {
    let phy = Phy::B_LONG;
    let mut radio = line(phy, 250, &[0, -100, 400, 200]);
    radio.eifs = false;
    let transmitted = |begins_us| {
        let mut d = Driver::new(&radio, 1);
        d.broadcast(START, 0, 1000);
        // Station 3 waits for the rest of the DIFS, 50 µs. Station 2 does not sense station 0.
        let idle = START + us(192 + 8288) + Span(667);
        d.send(idle + us(1), 3, 0, 500);
        d.broadcast(idle + us(begins_us), 2, 100);
        d.run_until(idle + us(900));
        d.radio.stations()[3].counters.transmissions
    };
    // The propagation delay is 0.7 µs.
    assert_eq!(transmitted(43), 0, "it draws a back-off");
    assert_eq!(transmitted(45), 1);
    assert_eq!(transmitted(49), 1);
}
