//! Samples of the delivery rate for a controller: no sample covers less than the minimum RTT
//! (draft-cheng-iccrg-delivery-rate-estimation section 3.3, `tcp_rate_gen`).

use std::sync::{Arc, Mutex};

use crate::script::{Script, plain_with};
use windlass_cc::{AnyParams, Conn, Control, Event, Phase, Rate, RateSample, Time};
use windlass_tcp::{CongestionControl, Pacing, Profile};

type Heard = Arc<Mutex<Vec<(u64, RateSample)>>>;

/// A cwnd of ten segments, and of one segment after a timeout. It records its samples and their times.
#[derive(Clone, Debug)]
struct Listens {
    heard: Heard,
    cwnd: u64,
}

/// Times of the samples in milliseconds, and their intervals if they are valid.
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

/// Ten segments are sent at 100 ms, and the first is acknowledged after an RTT of 100 ms. The
/// acknowledgements of the others are delayed until the timer expires at 1200 ms, and the second segment is
/// retransmitted.
const HELD_BACK: &str = "100ms write 10000
           > . 1+1000
           > . 1001+1000
           > . 2001+1000
           > . 3001+1000
           > . 4001+1000
           > . 5001+1000
           > . 6001+1000
           > . 7001+1000
           > . 8001+1000
           > . 9001+1000
     200ms < . 1 ack 1001
     1200ms > . 1001+1000
     1200ms = phase loss\n";

fn listening() -> (Script, Heard) {
    let heard = Heard::default();
    let mut s = Script::new(sampling());
    s.stack.endpoint.set_controller(Box::new(Listens { heard: heard.clone(), cwnd: 10_000 }));
    s.run(
        "0ms connect
             > S 0 <sackok, ...>
         100ms < S. 0 ack 1 win 60000 <mss 1000, sackok>
               > . 1 ack 1",
    );
    s.run(HELD_BACK);
    (s, heard)
}

#[test]
fn first_sample_after_a_timeout_spans_the_wait_and_the_next_spans_the_min_rtt_or_is_invalid() {
    // 10 ms after the retransmission, the acknowledgement is for the first transmission. 100 ms after it, it
    // is for the second. The other segments were outstanding all the time.
    for at in [1210, 1300] {
        let (mut s, heard) = listening();
        s.run(&format!(
            "{at}ms < . 1 ack 2001
                    > . 2001+1000
             {}ms < . 1 ack 3001
             {0}ms > . 3001+1000",
            at + 10
        ));
        let expected = [(200, Some(100)), (at, Some(1100)), (at + 10, (at == 1300).then_some(100))];
        assert_eq!(intervals(&heard), expected);
    }
}

#[test]
fn bbr_round_ends_with_any_sample() {
    let round = |s: &Script| {
        let mut round = None;
        s.stack
            .endpoint
            .trace(&mut |field, value| round = round.or((field.name == "round").then_some(value)));
        round.expect("BBR counts rounds")
    };
    let mut s = Script::connected_with_sack(sampling());
    s.run(HELD_BACK);
    let mut rounds = vec![round(&s)];
    // The acknowledgements of the originals, one after another. After the first, less than an RTT has passed.
    for (at, ack) in [(1210, 2001), (1220, 3001), (1230, 4001)] {
        s.arrives(Time::from_millis(at), &format!(". 1 ack {ack}"));
        rounds.push(round(&s));
    }
    let ended: Vec<u64> = rounds.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(ended, [1, 0, 0]);
}
