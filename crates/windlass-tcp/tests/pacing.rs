//! Pacing and the use of cwnd (RFC 7661).

use crate::script::{Script, plain_with};
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
        "100 offer 4000
         100 > . 1+1000
         100 = deadline_ms 105
         105 > . 1001+1000
         110 > . 2001+1000
         115 > . 3001+1000",
    );
}

#[test]
fn acknowledgements_do_not_wait_for_the_pacer() {
    Script::connected(paced()).run(
        "100 offer 3000
         100 > . 1+1000
         102 < . 1+500 ack 1
         102 > . 1001 ack 501
         105 > . 1001+1000
         110 > . 2001+1000",
    );
}

#[test]
fn new_connection_sends_an_unpaced_burst() {
    let mut p = paced();
    p.stack.pacing_burst = 3;
    Script::connected(p).run(
        "100 offer 6000
         100 > . 1+1000
         100 > . 1001+1000
         100 > . 2001+1000
         100 > . 3001+1000
         105 > . 4001+1000
         110 > . 5001+1000",
    );
}

#[test]
fn unused_pacing_time_is_not_recovered() {
    Script::connected(paced()).run(
        "100 offer 1000
         100 > . 1+1000
         150 offer 2000
         150 > . 1001+1000
         155 > . 2001+1000",
    );
}

#[test]
fn a_timeout_does_not_wait_for_the_pacer() {
    Script::connected(paced()).run(
        "100 offer 1000
         100 > . 1+1000
         1100 > . 1+1000",
    );
}

#[test]
fn an_algorithm_with_a_rate_is_paced_unless_the_stack_forbids_it() {
    for (pacing, at_once) in [(Pacing::Algorithm, false), (Pacing::Off, true)] {
        let mut p = plain_with(|s| (s.pacing, s.sack) = (pacing, true));
        p.params = AnyParams::by_name("bbr").unwrap();
        let mut s = Script::connected_with_sack(p);
        s.e.offer(3000);
        let now = windlass_cc::Time::from_millis(100);
        let mut sent = 0;
        while s.e.poll_transmit(&s.p, now).is_some() {
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
    let sent: String = (0..10).map(|n| format!("100 > . {}+1000\n", 1 + 1000 * n)).collect();
    s.run(&format!("100 offer 10000\n{sent}"));
    for n in 1..=10 {
        s.run(&format!("{} < . 1 ack {}", 200 + n, 1 + 1000 * n));
    }
    s.run("300 = cwnd 20000");
}

#[test]
fn unused_cwnd_does_not_grow() {
    let mut s = Script::connected_with_sack(validating());
    for n in 0..5 {
        let (at, from) = (100 + 100 * n, 1 + 1000 * n);
        s.run(&format!(
            "{at} offer 1000\n{at} > . {from}+1000\n{} < . 1 ack {}",
            at + 90,
            from + 1000
        ));
    }
    s.run("700 = cwnd 10000");
}
