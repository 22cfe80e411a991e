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
fn the_first_sample_after_a_timeout_is_over_the_wait_and_the_next_over_the_least_round_trip_or_none()
 {
    // 10 ms after it was sent again it is the first transmission's, 100 ms after it the second's. What was sent between the
    // two was outstanding all the time.
    for at in [1210, 1300] {
        let (mut s, heard) = listening();
        s.run(&format!(
            "{at} < . 1 ack 2001
             {at} > . 2001+1000
             {} < . 1 ack 3001
             {0} > . 3001+1000",
            at + 10
        ));
        let expected = [(200, Some(100)), (at, Some(1100)), (at + 10, (at == 1300).then_some(100))];
        assert_eq!(intervals(&heard), expected);
    }
}

#[test]
fn a_round_of_bbr_ends_by_a_sample_alone() {
    let round = |s: &Script| {
        let mut round = None;
        s.e.trace(&mut |field, value| round = round.or((field.name == "round").then_some(value)));
        round.expect("BBR counts rounds")
    };
    let mut s = Script::connected_with_sack(sampling());
    s.run(HELD_BACK);
    let mut rounds = vec![round(&s)];
    // The originals' acknowledgements, one after another: after the first, less than a round trip has passed.
    for (at, ack) in [(1210, 2001), (1220, 3001), (1230, 4001)] {
        let acknowledges = segment(&format!(". 1 ack {ack}"));
        s.e.on_segment(&s.p, Time::ZERO + Span::from_millis(at), &acknowledges);
        rounds.push(round(&s));
    }
    let ended: Vec<u64> = rounds.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(ended, [1, 0, 0]);
}
