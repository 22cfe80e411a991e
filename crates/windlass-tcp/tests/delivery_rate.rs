//! Samples of the delivery rate, as a controller is given them: none is over less than the least round trip
//! (draft-cheng-iccrg-delivery-rate-estimation section 3.3, `tcp_rate_gen`).

use std::sync::{Arc, Mutex};

use crate::script::{Script, plain_with, segment};
use windlass_cc::{AnyParams, Conn, Control, Event, Phase, Rate, RateSample, Span, Time};
use windlass_tcp::{CongestionControl, Pacing, Profile};

type Heard = Arc<Mutex<Vec<(u64, RateSample)>>>;

/// A window of ten segments, and of one after a timeout, that writes down the samples it is given, and when.
#[derive(Clone, Debug)]
struct Listens {
    heard: Heard,
    cwnd: u64,
}

/// Milliseconds at which there was a sample, and its interval if it is valid.
fn intervals(heard: &Heard) -> Vec<(u64, Option<u64>)> {
    let interval = |s: &RateSample| s.is_valid().then_some(s.interval.0 / 1_000_000);
    heard.lock().expect("no panic").iter().map(|(at, s)| (*at, interval(s))).collect()
}

impl CongestionControl for Listens {
    fn begin(&mut self, _: &AnyParams, _: &Conn) {}

    fn on_event(&mut self, conn: &Conn, event: &Event) {
        match event {
            Event::Ack(a) => {
                self.heard.lock().expect("no panic").push((conn.now.0 / 1_000_000, a.rate));
            }
            Event::Phase { to: Phase::Loss, .. } => self.cwnd = 1000,
            _ => {}
        }
    }

    fn control(&self) -> Control {
        Control { cwnd: self.cwnd, ssthresh: u64::MAX, pacing: Rate(0) }
    }

    fn boxed(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

fn sampling() -> Profile {
    let mut p = plain_with(|s| (s.pacing, s.sack) = (Pacing::Off, true));
    p.params = AnyParams::by_name("bbr").expect("it is built in");
    p
}

/// Ten segments leave at 100 ms and the first is acknowledged after a round trip of 100 ms. The others are held back for
/// so long that the timer expires at 1200 ms, and the second goes again.
const HELD_BACK: &str = "100 offer 10000
     100 > . 1+1000
     100 > . 1001+1000
     100 > . 2001+1000
     100 > . 3001+1000
     100 > . 4001+1000
     100 > . 5001+1000
     100 > . 6001+1000
     100 > . 7001+1000
     100 > . 8001+1000
     100 > . 9001+1000
     200 < . 1 ack 1001
     1200 > . 1001+1000
     1200 = phase Loss\n";

fn listening() -> (Script, Heard) {
    let heard = Heard::default();
    let mut s = Script::new(sampling());
    s.e.set_controller(Box::new(Listens { heard: heard.clone(), cwnd: 10_000 }));
    s.run(
        "0 connect
         0 > S 0 sackok
         100 < S. 0 ack 1 win 60000 mss 1000 sackok
         100 > . 1 ack 1",
    );
    s.run(HELD_BACK);
    (s, heard)
}

#[test]
fn the_original_that_arrives_after_its_retransmission_makes_no_sample() {
    let (mut s, heard) = listening();
    // 10 ms after it was sent again: this is the first transmission's.
    s.run(
        "1210 < . 1 ack 2001
         1210 > . 2001+1000",
    );
    assert_eq!(intervals(&heard), [(200, Some(100)), (1210, None)]);
}

#[test]
fn a_retransmission_that_was_needed_makes_one() {
    let (mut s, heard) = listening();
    s.run(
        "1300 < . 1 ack 2001
         1300 > . 2001+1000",
    );
    assert_eq!(intervals(&heard), [(200, Some(100)), (1300, Some(100))]);
}

#[test]
fn a_round_of_bbr_ends_by_a_sample_alone() {
    let round = |s: &Script| {
        let mut round = None;
        s.e.trace(&mut |field, value| round = round.or((field.name == "round").then_some(value)));
        round.expect("BBR counts rounds")
    };
    for (at, rounds) in [(1210, 0), (1300, 1)] {
        let mut s = Script::connected_with_sack(sampling());
        s.run(HELD_BACK);
        let before = round(&s);
        let acknowledges = segment(". 1 ack 2001");
        s.e.on_segment(&s.p, Time::ZERO + Span::from_millis(at), &acknowledges);
        assert_eq!(round(&s) - before, rounds, "at {at} ms");
    }
}
