//! Input of the timer that a stack chooses, and its setting.

use crate::script::{Script, plain_with};
use windlass_cc::rto::cmbo::Reading;
use windlass_cc::rto::{AnyParams, CmboParams, CocoaPlusParams, IccParams};
use windlass_cc::{Ratio, Span};
use windlass_tcp::{InitialWindow, Profile};

fn with_timer(rto: AnyParams) -> Profile {
    plain_with(|s| s.rto = rto)
}

fn cocoa_plus() -> CocoaPlusParams {
    CocoaPlusParams { dither: Ratio::ONE, ..Default::default() }
}

#[test]
fn cocoa_plus_samples_a_retransmitted_segment_but_the_controller_does_not() {
    // Handshake of 100 ms: (0.1 + 4 · 0.05 + 2) / 2 = 1.15 s. The second transmission is answered
    // 1.25 s after the first: 0.25 · (1.25 + 0.625) + 0.75 · 1.15 = 1.33125 s.
    let mut s = Script::connected(with_timer(AnyParams::CocoaPlus(cocoa_plus())));
    s.run(
        "200ms = rto 1150ms
               write 1000
               > . 1+1000
         1350ms > . 1+1000
                = rto 2300ms
         1450ms < . 1 ack 1001
                = rto 1331.25ms
                = srtt 100ms",
    );
    assert_eq!(s.stack.endpoint.min_rtt(), windlass_cc::Span::from_millis(100));
}

#[test]
fn cocoa_plus_times_a_segment_through_a_repair_of_everything() {
    // Three segments are in flight and all are lost. The first is the timed segment and is retransmitted with
    // the others.
    Script::connected(with_timer(AnyParams::CocoaPlus(cocoa_plus()))).run(
        "200ms write 3000
               > . 1+1000
               > . 1001+1000
               > . 2001+1000
         1350ms > . 1+1000
         1450ms < . 1 ack 1001
                > . 1001+1000
                > . 2001+1000
                = rto 1331.25ms
         1550ms < . 1 ack 3001",
    );
}

#[test]
fn third_retransmission_ends_the_samples_of_cocoa_plus_but_not_its_backoff() {
    Script::connected(with_timer(AnyParams::CocoaPlus(cocoa_plus()))).run(
        "200ms write 1000
               > . 1+1000
         1350ms > . 1+1000
         3650ms > . 1+1000
         8250ms > . 1+1000               # 2.3 s doubled
                = rto 6900ms            # above 3 s: by 1.5
         8350ms < . 1 ack 1001
                = rto 1150ms",
    );
}

#[test]
fn the_timer_of_uip_backs_off_from_its_constant() {
    // Three ticks of half a second, because the SYN has no sample. Then 3 + 1, 6 + 1 and 12 + 1 ticks. A
    // sample of less than a tick makes 16 - 4 = 12 ticks.
    let p = AnyParams::by_name("uip").unwrap();
    Script::connected(with_timer(p)).run(
        "200ms write 2000
               > . 1+1000
               > . 1001+1000
         1700ms > . 1+1000
         3700ms > . 1+1000
         7200ms > . 1+1000
         13700ms > . 1+1000
         13800ms < . 1 ack 2001
                 = rto 1500ms           # the constant again, not measured
         14000ms write 1000
                 > . 2001+1000
         14100ms < . 1 ack 3001
                 = rto 6000ms",
    );
}

#[test]
fn the_timer_of_linux_is_200_ms_longer_than_the_average() {
    // 100 ms and twice this value as deviation.
    let p = AnyParams::by_name("linux").unwrap();
    Script::connected(with_timer(p)).run(
        "200ms = rto 300ms
               write 1000
               > . 1+1000
         500ms > . 1+1000
               = rto 600ms",
    );
}

/// Like CoCoA+: 1.15 s after the handshake, and the sample of a retransmitted segment has a weight of a
/// quarter. The backoff stops at four times an estimate between 1 and 3 s.
#[test]
fn timer_of_icc_samples_a_retransmission_and_limits_its_backoff() {
    let icc = IccParams { dithering: false, ..Default::default() };
    Script::connected(with_timer(AnyParams::Icc(icc))).run(
        "200ms = rto 1150ms
               write 1000
               > . 1+1000
         1350ms > . 1+1000
                = rto 2300ms
         3650ms > . 1+1000
                = rto 4600ms
         8250ms > . 1+1000
                = rto 4600ms
         12850ms > . 1+1000
         12950ms < . 1 ack 1001
                 = rto 5643.75ms         # 0.25 · (12.75 + 6.375) + 0.75 · 1.15",
    );
}

/// The timer of ICC if at most one segment is outstanding, as in uIP (C3-23).
#[test]
fn the_timer_of_icc_runs_with_one_segment_at_a_time() {
    let icc = AnyParams::Icc(IccParams { dithering: false, ..Default::default() });
    let p = plain_with(|s| (s.rto, s.initial_window) = (icc, InitialWindow::Segments(1)));
    Script::connected(p).run(
        "200ms write 2000
               > . 1+1000
         1350ms > . 1+1000
         1450ms < . 1 ack 1001
                > . 1001+1000
                = rto 1331.25ms",
    );
}

/// The endpoint passes RTT samples and numbers of retransmissions to the timer. The eighth sample starts the
/// search: all samples are 100 ms, and so is the optimum.
#[test]
fn timer_of_cocoa3_searches_after_enough_samples() {
    let cmbo = CmboParams { reading: Reading::Best, min: Span::ZERO, ..Default::default() };
    let mut s = Script::connected(with_timer(AnyParams::Cmbo(cmbo)));
    s.run("200ms = rto 300ms"); // 3 · R
    for n in 0..7u64 {
        let at = 200 + 100 * n;
        let (from, to) = (1 + 1000 * n, 1001 + 1000 * n);
        s.run(&format!("{at}ms write 1000\n{at}ms > . {from}+1000\n{}ms < . 1 ack {to}", at + 100));
    }
    s.run("900ms = rto 100ms");
}

#[test]
fn spread_timer_expires_between_1_and_1_5_times_its_value_and_is_reproducible() {
    let expiry = |seed: u32| {
        use windlass_cc::Time;
        use windlass_tcp::{Endpoint, Seq};
        let p = with_timer(AnyParams::by_name("cocoa+").unwrap());
        let mut e = Endpoint::new(&p, Seq(seed));
        e.connect();
        e.poll_transmit(&p, Time::ZERO).expect("a SYN");
        e.deadline().0
    };
    let expiries: Vec<u64> = (0..50).map(expiry).collect();
    assert!(expiries.iter().all(|at| (2_000_000_000..=3_000_000_000).contains(at)));
    let mean = expiries.iter().sum::<u64>() / 50;
    assert!(mean.abs_diff(2_500_000_000) < 150_000_000, "{mean}");
    assert_eq!(expiry(7), expiries[7]);
}

#[test]
fn rtt_by_the_peers_clock_is_only_for_the_timer() {
    // The sample has a resolution of a millisecond: a controller with a minimum RTT would see 1 ms instead of
    // 1.9 ms.
    use windlass_cc::recovery::LossRecovery;
    for recovery in
        [LossRecovery::Tahoe, LossRecovery::Reno, LossRecovery::NewReno, LossRecovery::Prr]
    {
        let mut p = plain_with(|s| (s.timestamps, s.recovery) = (true, Some(recovery)));
        p.params = windlass_cc::AnyParams::by_name("ledbat").unwrap();
        p.mtu = 1052;
        let mut s = Script::new(p);
        s.run(
            "0ms connect
                 > S 0 <...>
             1.9ms < S. 0 ack 1 win 60000 <mss 1012, ts 500 1>
                   > . 1 ack 1
             10ms write 2000
                  > . 1+1000
                  > . 1001+1000
             11.95ms < . 1 ack 1001 <ts 501 11>
             11.96ms < . 1 ack 2001 <ts 501 11>",
        );
        let mut least = None;
        s.stack.endpoint.trace(&mut |field, value| {
            if field.name == "base_delay_us" {
                least = Some(value);
            }
        });
        assert_eq!(least, Some(1_950), "{recovery:?}");
    }
}
