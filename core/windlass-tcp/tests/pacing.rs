//! Pacing and the use of cwnd (RFC 7661).

use crate::script::{Script, plain_with, ten};
use windlass_cc::AnyParams;
use windlass_cc::recovery::LossRecovery;
use windlass_tcp::{Pacing, Profile};

fn paced() -> Profile {
    plain_with(|s| s.pacing = Pacing::Always)
}

#[test]
fn cwnd_without_pacing_rate_is_paced_at_twice_its_rate_in_slow_start() {
    // 2 · 10000 bytes in 100 ms: 1000 bytes in 5 ms.
    Script::connected(paced()).run(
        "100ms write 4000
               > . 1+1000
               = timer_ms 105
         105ms > . 1001+1000
         110ms > . 2001+1000
         115ms > . 3001+1000",
    );
}

#[test]
fn acknowledgements_do_not_wait_for_the_pacer() {
    Script::connected(paced()).run(
        "100ms write 3000
               > . 1+1000
         102ms < . 1+500 ack 1
               > . 1001 ack 501
         105ms > . 1001+1000
         110ms > . 2001+1000",
    );
}

#[test]
fn new_connection_sends_an_unpaced_burst() {
    let mut p = paced();
    p.stack.pacing_burst = 3;
    Script::connected(p).run(
        "100ms write 6000
               > . 1+1000
               > . 1001+1000
               > . 2001+1000
               > . 3001+1000
         105ms > . 4001+1000
         110ms > . 5001+1000",
    );
}

#[test]
fn unused_pacing_time_is_not_recovered() {
    Script::connected(paced()).run(
        "100ms write 1000
               > . 1+1000
         150ms write 2000
               > . 1001+1000
         155ms > . 2001+1000",
    );
}

#[test]
fn a_timeout_does_not_wait_for_the_pacer() {
    Script::connected(paced()).run(
        "100ms write 1000
               > . 1+1000
         1100ms > . 1+1000",
    );
}

#[test]
fn an_algorithm_with_a_rate_is_paced_unless_the_stack_forbids_it() {
    for (pacing, at_once) in [(Pacing::Algorithm, false), (Pacing::Off, true)] {
        let mut p = plain_with(|s| (s.pacing, s.sack) = (pacing, true));
        p.params = AnyParams::by_name("bbr").unwrap();
        let mut s = Script::connected_with_sack(p);
        s.stack.endpoint.offer(3000);
        let now = windlass_cc::Time::from_millis(100);
        let mut sent = 0;
        while s.stack.endpoint.poll_transmit(&s.stack.profile, now).is_some() {
            sent += 1;
        }
        assert_eq!(sent == 3, at_once, "{pacing:?}: {sent}");
    }
}

fn validating() -> Profile {
    plain_with(|s| {
        s.window_validation = true.into();
        s.sack = true;
        s.recovery = Some(LossRecovery::Prr);
    })
}

#[test]
fn cwnd_that_was_full_in_a_round_grows_for_the_whole_round() {
    // The application has no more data, so that the flight is small at the last acknowledgements.
    let mut s = Script::connected_with_sack(validating());
    s.run(&ten(10_000));
    for n in 1..=10 {
        s.run(&format!("{}ms < . 1 ack {}", 200 + n, 1 + 1000 * n));
    }
    s.run("300ms = cwnd_bytes 20000");
}

#[test]
fn unused_cwnd_does_not_grow() {
    let mut s = Script::connected_with_sack(validating());
    for n in 0..5 {
        let (at, from) = (100 + 100 * n, 1 + 1000 * n);
        s.run(&format!(
            "{at}ms write 1000\n{at}ms > . {from}+1000\n{}ms < . 1 ack {}",
            at + 90,
            from + 1000
        ));
    }
    s.run("700ms = cwnd_bytes 10000");
}
