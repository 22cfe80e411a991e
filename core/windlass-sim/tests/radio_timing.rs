//! Exchanges on a radio, to the nanosecond. The expected values are calculated by hand.

use crate::common::listed;
use crate::common::radio::{Driver, line, us};
use windlass_cc::{Span, Time};
use windlass_sim::radio::{FrameErrors, Phy, RtsThreshold};

/// One second: a time at which the channel has been idle for long.
const START: Time = Time::from_secs(1);

/// 30 m at the speed of light: 100.07 ns.
const AIR: Span = Span(100);

#[test]
fn a_packet_is_sent_at_once_over_an_idle_channel() {
    // 1500 bytes and 36 of framing at 11 Mbit/s: 1117.1 µs, rounded up, after 192 µs of preamble.
    for (phy, data) in [
        (Phy::B_LONG, us(192 + 1118)),
        (Phy::B_SHORT, us(96 + 1118)),
        // 54 Mbit/s: 22 + 12288 bits in symbols of 216: 57 of 4 µs; preamble 20, extension 6.
        (Phy::G, us(20 + 228 + 6)),
        // 4 Mbit/s: 14 + 12288 bits in symbols of 160: 77 of 40 µs, after 560.
        (Phy::AH_1MHZ, us(560 + 3080)),
    ] {
        let mut d = Driver::new(&line(phy, 250, &[0, 30]), 1);
        let id = d.send(START, 0, 1, 1500);
        d.finish();
        assert_eq!(d.delivered(id), [START + data + AIR], "{}", phy.name);
        let sender = &d.radio.stations()[0].counters;
        let receiver = &d.radio.stations()[1].counters;
        assert_eq!(sender.airtime_ns, data.0);
        // The acknowledgement: SIFS after the data, 14 bytes at the control rate.
        let ack = match phy.name {
            "802.11g" => us(20 + 8 + 6),
            "802.11ah 1 MHz" => us(560 + 40 * 4), // 126 bits in symbols of 36
            _ if phy == Phy::B_SHORT => us(96 + 56),
            _ => us(192 + 56),
        };
        assert_eq!(receiver.airtime_ns, ack.0, "{}", phy.name);
        let service = data + AIR + phy.sifs + ack + AIR;
        assert_eq!(sender.service_ns, service.0, "{}", phy.name);
    }
}

#[test]
fn rts_and_cts_precede_the_data_with_a_sifs_between_frames() {
    for (phy, rts, answer, data) in [
        // At 2 Mbit/s: 20 bytes take 80 µs, 14 take 56.
        (Phy::B_LONG, us(192 + 80), us(192 + 56), us(192 + 1118)),
        // At 24 Mbit/s: 182 bits take 2 symbols, and so do 134.
        (Phy::G, us(34), us(34), us(254)),
    ] {
        let mut radio = line(phy, 250, &[0, 30]);
        radio.rts = RtsThreshold::Above(1535);
        let mut d = Driver::new(&radio, 1);
        let id = d.send(START, 0, 1, 1500);
        d.finish();
        let before = rts + AIR + phy.sifs + answer + AIR + phy.sifs;
        assert_eq!(d.delivered(id), [START + before + data + AIR], "{}", phy.name);
        let counters = d.radio.stations()[0].counters;
        assert_eq!((counters.rts_sent, counters.transmissions), (1, 1));
        // A frame at the threshold is sent without RTS.
        let again = START + us(100_000);
        let id = d.send(again, 0, 1, 1499);
        d.finish();
        assert_eq!(d.delivered(id).len(), 1);
        assert_eq!(d.radio.stations()[0].counters.rts_sent, 1);
    }
}

/// The second packet follows the first after ACK, DIFS and a back-off of whole slots, up to the minimum
/// contention window. Every number of slots occurs.
#[test]
fn the_next_packet_waits_for_difs_and_a_backoff_within_cw_min() {
    for phy in [Phy::B_LONG, Phy::G] {
        let radio = line(phy, 250, &[0, 30]);
        let rate = phy.rate(radio.data_rate_bps).unwrap();
        let control = phy.rate(radio.control_rate_bps).unwrap();
        let (data, ack) = (phy.airtime(1536, rate), phy.airtime(14, control));
        let mut seen = vec![0; phy.cw_min as usize + 1];
        for seed in 0..400 {
            let mut d = Driver::new(&radio, seed);
            let first = d.send(START, 0, 1, 1500);
            let second = d.send(START, 0, 1, 1500);
            d.finish();
            let gap = d.delivered(second)[0] - d.delivered(first)[0];
            let least = phy.sifs + AIR + ack + phy.difs() + data + AIR;
            let backoff = gap.0 - least.0;
            assert_eq!(backoff % phy.slot.0, 0, "{}: {backoff}", phy.name);
            seen[(backoff / phy.slot.0) as usize] += 1;
        }
        assert!(seen.iter().all(|n| *n > 0), "{}: {seen:?}", phy.name);
    }
}

#[test]
fn a_packet_that_finds_the_channel_idle_for_less_than_difs_waits_for_the_rest() {
    let phy = Phy::B_LONG;
    let mut d = Driver::new(&line(phy, 250, &[0, 30, 60]), 1);
    d.send(START, 0, 1, 1500);
    // Station 2 receives the end of the acknowledgement, 30 m from station 1.
    let data = us(192 + 1118);
    let idle = START + data + AIR + phy.sifs + us(192 + 56) + AIR;
    let id = d.send(idle + us(20), 2, 1, 1500);
    d.finish();
    assert_eq!(d.delivered(id), [idle + phy.difs() + data + AIR]);
}

/// A data frame is lost. The sender waits SIFS + slot + preamble for the acknowledgement and doubles its
/// window. It counts slots of the idle period that began with the end of its frame.
#[test]
fn a_retry_follows_the_timeout_after_a_backoff_within_the_doubled_window() {
    let phy = Phy::B_LONG;
    let mut radio = line(phy, 250, &[0, 30]);
    radio.errors = FrameErrors::Model(listed(&[1]).unwrap());
    let data = us(192 + 1118);
    let mut slots = Vec::new();
    for seed in 0..600 {
        let mut d = Driver::new(&radio, seed);
        let id = d.send(START, 0, 1, 1500);
        d.finish();
        // The acknowledgement, which is the first frame at station 0, is lost too: station 0 transmits three
        // times.
        assert_eq!(d.radio.stations()[0].counters.transmissions, 3);
        let [taken] = d.delivered(id)[..] else { panic!("taken once") };
        let sent = taken.0 - AIR.0 - data.0;
        let counted = sent - (START + data + phy.difs()).0;
        assert_eq!(counted % 20_000, 0, "on the slot grid");
        slots.push(counted / 20_000);
    }
    // The timeout of 10 + 20 + 192 µs ends 172 µs after the DIFS, in the ninth slot.
    assert_eq!(slots.iter().min(), Some(&9));
    assert_eq!(slots.iter().max(), Some(&(9 + 63)));
}

/// Station 2 senses a frame that it cannot receive, and waits for an EIFS, which is SIFS, an acknowledgement
/// at the lowest rate, and DIFS. Without the switch, it waits for a DIFS.
#[test]
fn a_frame_in_error_is_followed_by_an_eifs() {
    let phy = Phy::B_LONG;
    let data = us(192 + 1118);
    for (eifs, space) in [(true, us(10 + 304 + 50)), (false, us(50))] {
        // Station 2 senses station 0 at 400 m, but cannot receive it. It receives station 3.
        let mut radio = line(phy, 500, &[0, -30, 400, 430]);
        radio.eifs = eifs;
        let mut d = Driver::new(&radio, 1);
        d.broadcast(START, 0, 1000 - 36);
        let frame = us(192 + 8000);
        let end = START + frame + Span(1334); // 400 m
        let id = d.send(end + us(1), 2, 3, 1500);
        d.finish();
        assert_eq!(d.delivered(id), [end + space + data + AIR], "eifs {eifs}");
    }
}

/// A correct frame, such as the acknowledgement from a station in range, ends the EIFS.
#[test]
fn a_correct_frame_ends_the_eifs() {
    let phy = Phy::B_LONG;
    // Station 2 cannot receive station 0 at 400 m, but receives station 1 at 200 m.
    let radio = line(phy, 500, &[0, 200, 400]);
    let mut d = Driver::new(&radio, 1);
    d.send(START, 0, 1, 1500);
    let (data, ack, hop) = (us(192 + 1118), us(192 + 56), Span(667));
    let idle = START + data + hop + phy.sifs + ack + hop;
    let id = d.send(idle + us(1), 2, 1, 1500);
    d.finish();
    assert_eq!(d.delivered(id), [idle + phy.difs() + data + hop]);
}
