//! Hidden stations, and the effect of RTS, CTS and the NAV.

use crate::common::radio::{Driver, line, over, pairs, us};
use crate::common::{cbr, listed, run};
use windlass_cc::{Span, Time};
use windlass_sim::RadioResult;
use windlass_sim::config::Cbr;
use windlass_sim::radio::{FrameErrors, Hops, Phy, Position, RtsThreshold};

const START: Time = Time::from_secs(1);

/// Stations 0 and 2 each send about a hundred packets per second to station 1, with a varying phase
/// difference.
fn two_sources(end: Time) -> [([usize; 2], Cbr); 2] {
    [([0, 1], cbr(1472, 10_000, end)), ([2, 1], cbr(1472, 10_007, end))]
}

/// Two senders that do not sense each other, and a receiver between them that receives both.
fn hidden(rts: RtsThreshold) -> RadioResult {
    let mut radio = line(Phy::B_LONG, 250, &[0, 200, 400]);
    radio.rts = rts;
    radio.hops = Hops::Star { centre: 1 };
    let end = Time::from_secs(10);
    run(over(radio, &two_sources(end), end)).radios.remove(0)
}

#[test]
fn rts_prevents_most_collisions_of_hidden_stations() {
    let [bare, guarded] = [RtsThreshold::Never, RtsThreshold::Always].map(hidden);
    let failed = |r: &RadioResult| {
        let s = [&r.stations[0], &r.stations[2]];
        let tried: u64 = s.iter().map(|s| s.transmissions).sum();
        let again: u64 = s.iter().map(|s| s.retransmissions).sum();
        again as f64 / tried as f64
    };
    // 200 packets per second of 1.3 ms: without carrier sense between the senders, many packets overlap.
    assert!(failed(&bare) > 0.2, "{}", failed(&bare));
    assert!(failed(&guarded) < 0.02, "{}", failed(&guarded));
    assert!(bare.stations[1].collisions_seen > 500);
    assert_eq!(guarded.stations[0].drops_retry + guarded.stations[2].drops_retry, 0);
}

/// The same two senders in range of each other take turns.
#[test]
fn stations_in_range_seldom_collide() {
    let mut radio = line(Phy::B_LONG, 500, &[0, 200, 400]);
    radio.hops = Hops::Star { centre: 1 };
    let end = Time::from_secs(10);
    let r = run(over(radio, &two_sources(end), end)).radios.remove(0);
    let again = r.stations[0].retransmissions + r.stations[2].retransmissions;
    assert!(again < 100, "{again} of 2000");
    assert_eq!(r.stations[0].drops_retry + r.stations[2].drops_retry, 0);
}

/// Station 2 receives only the RTS and station 3 only the CTS. Both keep silent during the exchange.
#[test]
fn stations_that_receive_rts_or_cts_keep_silent() {
    let phy = Phy::B_LONG;
    let mut radio = line(phy, 250, &[0, 200, -200, 400]);
    radio.rts = RtsThreshold::Always;
    radio.hops = pairs(&[[0, 1]]);
    for (bystander, neighbour) in [(2, 0), (3, 1)] {
        let mut d = Driver::new(&radio, 1);
        let id = d.send(START, 0, 1, 1500);
        // Between RTS and data, the bystander senses an idle channel, but it is reserved.
        d.send(START + us(700), bystander, neighbour, 1000);
        d.finish();
        let [taken] = d.delivered(id)[..] else { panic!("taken once") };
        let first = us(272 + 10 + 248 + 10 + 1310) + Span(3 * 667);
        assert_eq!(taken, START + first, "bystander {bystander}");
        assert_eq!(d.radio.stations()[0].counters.failures, 0);
    }
}

/// An RTS without a CTS does not silence other stations for the whole exchange.
#[test]
fn the_reservation_of_an_rts_ends_without_an_answer() {
    let phy = Phy::B_LONG;
    let mut radio = line(phy, 250, &[0, 200, -200]);
    radio.rts = RtsThreshold::Above(1000);
    radio.retries.short = 1;
    // The RTS is the first frame at station 1 and at station 2, where it must not be lost.
    radio.errors = FrameErrors::None;
    radio.stations[1].position = Position::metres(0, 1000);
    radio.hops = pairs(&[[0, 2]]);
    let mut d = Driver::new(&radio, 1);
    d.send(START, 0, 1, 2000);
    let rts = START + us(272) + Span(667);
    let id = d.send(rts + us(1), 2, 0, 500);
    d.finish();
    let data = phy.airtime(536, phy.rate(11_000_000).unwrap());
    let lapse = rts + us(10 + 10 + 248 + 192 + 20 + 20);
    let backoff = d.delivered(id)[0].0 - (lapse + phy.difs() + data + Span(667)).0;
    assert_eq!(backoff % 20_000, 0);
    assert!(backoff <= 31 * 20_000, "{backoff}");
}

/// Station 2 has received the CTS of station 1, but does not sense the data. Station 3 has received neither,
/// and gets no answer from station 2 during the exchange.
#[test]
fn an_rts_is_not_answered_while_the_channel_is_reserved() {
    let phy = Phy::B_LONG;
    let mut radio = line(phy, 250, &[-400, -200, 0, 200]);
    radio.rts = RtsThreshold::Always;
    let mut d = Driver::new(&radio, 1);
    let id = d.send(START, 0, 1, 1500);
    let other = d.send(START + us(700), 3, 2, 1500);
    d.finish();
    let first = us(272 + 10 + 248 + 10 + 1310) + Span(3 * 667);
    assert_eq!(d.delivered(id), [START + first]);
    assert!(d.radio.stations()[3].counters.failures >= 1);
    assert!(d.delivered(other)[0] > START + us(1800 + 258 + 1310));
}

/// The RTS reserved the channel, and the data frame arrived, though with errors. The reservation then remains
/// until its end, to protect an acknowledgement that the station may not sense.
#[test]
fn the_reservation_of_an_rts_remains_once_a_frame_arrives() {
    let phy = Phy::B_LONG;
    let mut radio = line(phy, 250, &[0, 200, -200, -400]);
    radio.rts = RtsThreshold::Above(1000);
    radio.eifs = false;
    radio.errors = FrameErrors::Model(listed(&[2]).unwrap());
    let rts_end = START + us(272) + Span(667);
    let silence = rts_end + us(10 + 248 + 10 + 1310 + 10 + 248);
    let data = phy.airtime(536, phy.rate(11_000_000).unwrap());
    for seed in 0..20 {
        let mut d = Driver::new(&radio, seed);
        d.send(START, 0, 1, 1500);
        let id = d.send(rts_end + us(400), 2, 3, 500);
        d.finish();
        let sent = d.delivered(id)[0].0 - (data + Span(667)).0;
        assert!(sent >= (silence + phy.difs()).0, "seed {seed}");
    }
}
