//! Hidden stations, and what RTS, CTS and the NAV do about them.

use crate::common::radio::{Driver, line, over, pairs, us};
use crate::common::{cbr, listed, run};
use windlass_cc::{Span, Time};
use windlass_sim::RadioResult;
use windlass_sim::config::Cbr;
use windlass_sim::radio::{FrameErrors, Hops, Phy, Position, RtsThreshold};

const START: Time = Time::from_secs(1);

/// Stations 0 and 2 send to 1, a hundred packets a second each, at all phases of each other.
fn two_sources(end: Time) -> [([usize; 2], Cbr); 2] {
    [([0, 1], cbr(1472, 10_000, end)), ([2, 1], cbr(1472, 10_007, end))]
}

/// Two senders that do not hear each other, and the receiver between them that hears both.
fn hidden(rts: RtsThreshold) -> RadioResult {
    let mut radio = line(Phy::B_LONG, 250, &[0, 200, 400]);
    radio.rts = rts;
    radio.hops = Hops::Star { centre: 1 };
    let end = Time::from_secs(10);
    run(over(radio, &two_sources(end), end)).radios.remove(0)
}

#[test]
fn hidden_stations_collide_and_rts_mends_most_of_it() {
    let [bare, guarded] = [RtsThreshold::Never, RtsThreshold::Always].map(hidden);
    let failed = |r: &RadioResult| {
        let s = [&r.stations[0], &r.stations[2]];
        let tried: u64 = s.iter().map(|s| s.transmissions).sum();
        let again: u64 = s.iter().map(|s| s.retransmissions).sum();
        again as f64 / tried as f64
    };
    // 200 packets a second of 1.3 ms: without carrier sense between them many overlap.
    assert!(failed(&bare) > 0.2, "{}", failed(&bare));
    assert!(failed(&guarded) < 0.02, "{}", failed(&guarded));
    assert!(bare.stations[1].collisions_seen > 500);
    assert_eq!(guarded.stations[0].drops_retry + guarded.stations[2].drops_retry, 0);
}

/// The same two within earshot of each other take turns.
#[test]
fn stations_in_earshot_seldom_collide() {
    let mut radio = line(Phy::B_LONG, 500, &[0, 200, 400]);
    radio.hops = Hops::Star { centre: 1 };
    let end = Time::from_secs(10);
    let r = run(over(radio, &two_sources(end), end)).radios.remove(0);
    let again = r.stations[0].retransmissions + r.stations[2].retransmissions;
    assert!(again < 100, "{again} of 2000");
    assert_eq!(r.stations[0].drops_retry + r.stations[2].drops_retry, 0);
}

/// Station 2 hears the RTS only and station 3 the CTS only; both keep silent for what follows.
#[test]
fn who_hears_rts_or_cts_keeps_silent() {
    let phy = Phy::B_LONG;
    let mut radio = line(phy, 250, &[0, 200, -200, 400]);
    radio.rts = RtsThreshold::Always;
    radio.hops = pairs(&[[0, 1]]);
    for (bystander, neighbour) in [(2, 0), (3, 1)] {
        let mut d = Driver::new(&radio, 1);
        let id = d.send(START, 0, 1, 1500);
        // Between RTS and data the air around the bystander is quiet, but reserved.
        d.send(START + us(700), bystander, neighbour, 1000);
        d.finish();
        let [taken] = d.delivered(id)[..] else { panic!("taken once") };
        let first = us(272 + 10 + 248 + 10 + 1310) + Span(3 * 667);
        assert_eq!(taken, START + first, "bystander {bystander}");
        assert_eq!(d.radio.stations()[0].counters.failures, 0);
    }
}

/// An RTS that nobody answers does not silence those who heard it for the whole exchange.
#[test]
fn the_silence_that_an_rts_asks_for_lapses_without_an_answer() {
    let phy = Phy::B_LONG;
    let mut radio = line(phy, 250, &[0, 200, -200]);
    radio.rts = RtsThreshold::Above(1000);
    radio.retries.short = 1;
    // The RTS is the first frame at station 1, and at station 2, where it must not be lost.
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

/// Station 2 has heard the CTS of station 1 and not a word of the data that follows. Station 3, which
/// has heard neither, gets no answer from it meanwhile.
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

/// The RTS asked for silence, and the data that followed was heard, though in error: the silence
/// stands to its end, for the sake of an acknowledgement that one may not hear.
#[test]
fn the_silence_that_an_rts_asks_for_stands_once_anything_is_heard() {
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
