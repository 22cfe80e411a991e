//! RFC 8985: loss detection by time, and the tail loss probe.

use crate::script::{Script, plain_with, ten, ten_out};
use windlass_cc::recovery::LossRecovery;
use windlass_cc::setup::Counting;
use windlass_cc::{Flavour, Span};
use windlass_tcp::Profile;
use windlass_tcp::stack::LossDetection;

fn rack() -> Profile {
    plain_with(|s| {
        s.sack = true;
        s.recovery = Some(LossRecovery::Sack);
        s.loss_detection = LossDetection::Rack;
    })
}

fn with_probe() -> Profile {
    let mut p = rack();
    p.stack.tlp = true;
    p
}

// RFC 8985-3.3.2-2, 8985-6.2-6, 8985-6.2-7
#[test]
fn segment_late_by_a_quarter_of_the_min_rtt_is_lost() {
    // One segment delivered out of order is not proof: the minimum RTT is 100 ms, and a quarter of it is 25
    // ms.
    ten_out(rack(), 10_000).run(
        "200ms < . 1 ack 1 <sack 1001-2001>
               = phase open
               = timer_ms 225           # 100 + RTT 100 + 25
         225ms > . 1+1000
               = phase recovery
               = ssthresh_bytes 5000
         300ms < . 1 ack 10001
               = phase open
               = retransmissions 1",
    );
}

#[test]
fn stack_with_ticks_checks_again_after_whole_ticks_and_two_milliseconds() {
    // `tcp_rack_mark_lost`: the remaining 25 ms and 2 ms more are seven ticks of 4 ms, counted from the end
    // of the current tick.
    for (at, expires) in [(200, 232), (203, 232), (204, 236)] {
        let mut p = rack();
        p.stack.wheel_tick = Span::from_millis(4);
        ten_out(p, 10_000).run(&format!(
            "{at}ms < . 1 ack 1 <sack 1001-2001>
                    = timer_ms {expires}
             {expires}ms > . 1+1000
                         = phase recovery
             300ms < . 1 ack 10001
                   = retransmissions 1",
        ));
    }
}

// RFC 8985-9.2-1
#[test]
fn late_segment_is_not_retransmitted() {
    // Delivered 20 ms after its successor: reordering, and no loss by time.
    let mut s = ten_out(rack(), 20_000);
    s.run(
        "200ms < . 1 ack 1 <sack 1001-3001>
         220ms < . 1 ack 3001
               > . 10001+1000
               > . 11001+1000
               > . 12001+1000
               > . 13001+1000             # slow start: one segment per delivered segment, and one more
               = phase open
               = retransmissions 0
         221ms < . 1 ack 3001 <sack 4001-7001> # three above the hole, but reordering has been seen
               = phase open",
    );
}

// RFC 8985-9.2-1
#[test]
fn counting_treats_the_same_lateness_as_a_loss() {
    let mut p = rack();
    p.stack.loss_detection = LossDetection::DupThresh;
    ten_out(p, 20_000).run(
        "200ms < . 1 ack 1 <sack 1001-4001>
               > . 1+1000
         220ms < . 1 ack 4001",
    );
}

// RFC 8985-6.2-2
#[test]
fn a_lost_retransmission_is_found_and_repaired_without_the_timer() {
    let mut s = ten_out(rack(), 20_000);
    s.run(
        "200ms < . 1 ack 1 <sack 1001-4001>
               > . 1+1000
         201ms < . 1 ack 1 <sack 1001-10001>
               > . 10001+1000
               > . 11001+1000
               > . 12001+1000
               > . 13001+1000
         301ms < . 1 ack 1 <sack 1001-11001> # sent 1 ms after the retransmission, and here before it
               > . 1+1000
               > . 14001+1000
               = timeouts 0
         401ms < . 1 ack 14001
               > . 15001+1000
               > . 16001+1000
               > . 17001+1000
               > . 18001+1000
               = timeouts 0",
    );
}

#[test]
fn retransmission_reported_above_a_hole_shows_an_earlier_lost_retransmission() {
    // The echoed timestamp is still from the last segment in order, regardless of the data above the hole.
    let mut p = rack();
    p.stack.timestamps = true;
    p.mtu = 1052;
    let mut s = Script::new(p);
    s.run(&format!(
        "0ms connect
             > S 0 <sackok, ...>
         100ms < S. 0 ack 1 win 60000 <mss 1012, sackok, ts 500 1>
               > . 1 ack 1
         {}
         200ms < . 1 ack 1 <ts 600 101, sack 2001-5001>
               > . 1+1000
         201ms < . 1 ack 1 <ts 601 101, sack 2001-10001>
               > . 1001+1000
               > . 10001+1000
               > . 11001+1000
               > . 12001+1000
         301ms < . 1 ack 1 <ts 701 101, sack 1001-10001>
               > . 1+1000
               > . 13001+1000
               = timeouts 0",
        ten(20_000)
    ));
}

// RFC 8985-7.2-2
#[test]
fn a_lost_tail_is_probed_after_two_round_trips() {
    // The SRTT is 100 ms. The last three of ten segments are lost.
    ten_out(with_probe(), 10_000).run(
        "200ms < . 1 ack 7001
         400ms > . 9001+1000              # 200 + 2 · srtt: the last segment is retransmitted
               = phase open
         500ms < . 1 ack 7001 <sack 9001-10001>
               > . 7001+1000              # sent before the probe, and 300 ms late
               > . 8001+1000
               = phase recovery
         600ms < . 1 ack 10001
               = phase open
               = timeouts 0",
    );
}

// RFC 8985-7.2-4
#[test]
fn single_segment_is_probed_after_the_max_ack_delay() {
    let mut s = Script::connected_with_sack(with_probe());
    s.run(
        "100ms write 1000
               > . 1+1000
         500ms > . 1+1000                 # 2 · 100 + 200
         600ms < . 1 ack 1001",
    );
}

// RFC 8985-7.3-4, 8985-7.3-7
#[test]
fn a_probe_sends_new_data_if_there_are_any() {
    ten_out(with_probe(), 20_000).run(
        "300ms > . 10001+1000             # 100 + 2 · srtt
         1300ms > . 1+1000                # the timer restarted at the probe
                = phase loss",
    );
}

// RFC 8985-7.4.2-1, 8985-7.4.2-2
#[test]
fn loss_repaired_by_the_probe_reduces_cwnd_once() {
    // The last segment was lost and the probe replaced it. More data show that only one copy arrived.
    ten_out(with_probe(), 10_000).run(
        "200ms < . 1 ack 9001
         600ms > . 9001+1000              # one segment in flight: 2 · srtt + 200
         700ms < . 1 ack 10001
               = phase open
               write 1000
               > . 10001+1000
         800ms < . 1 ack 11001
               = ssthresh_bytes 2000",
    );
}

// RFC 5681-3.1-6, 8985-7.4.2-1
#[test]
fn duplicate_probe_does_not_reduce_cwnd() {
    ten_out(with_probe(), 10_000).run(
        "200ms < . 1 ack 9001
         600ms > . 9001+1000
         610ms < . 1 ack 10001
         700ms < . 1 ack 10001 <sack 9001-10001>
               write 1000
               > . 10001+1000
         800ms < . 1 ack 11001
               = ssthresh infinite",
    );
}

#[test]
fn duplicate_probe_does_not_widen_the_reordering_window_of_linux() {
    let mut p = with_probe();
    p.stack.rules = Flavour::Linux;
    ten_out(p, 10_000).run(
        "200ms < . 1 ack 1 <sack 1001-2001>
               < . 1 ack 2001              # late data: reordering
               < . 1 ack 9001
         600ms > . 9001+1000
         610ms < . 1 ack 10001
         700ms < . 1 ack 10001 <sack 9001-10001>
         900ms write 2000
               > . 10001+1000
               > . 11001+1000
         1000ms < . 1 ack 10001 <sack 11001-12001>
                = timer_ms 1024        # 900 + RTT 100 + 25, less the nanoseconds between segments",
    );
}

// RFC 6675-5-8, 8985-9.3-1
#[test]
fn loss_during_recovery_begins_another_recovery() {
    // The first and the last of ten segments are lost, and the eleventh, which recovery sent. The latter two
    // are retransmitted in this recovery, which ends with the tenth segment.
    ten_out(rack(), 20_000).run(
        "200ms < . 1 ack 1 <sack 1001-5001>
               > . 1+1000
               = ssthresh_bytes 5000
         201ms < . 1 ack 1 <sack 1001-7001>
               > . 10001+1000
         202ms < . 1 ack 1 <sack 1001-9001>
               > . 11001+1000
               > . 12001+1000
         300ms < . 1 ack 9001
               > . 9001+1000
               > . 13001+1000
         302ms < . 1 ack 9001 <sack 11001-12001>
               > . 10001+1000
               > . 14001+1000
         303ms < . 1 ack 9001 <sack 11001-13001>
               > . 15001+1000
               = phase recovery
               = ssthresh_bytes 5000
         400ms < . 1 ack 10001 <sack 11001-13001>
               = phase recovery
               = ssthresh_bytes 2500",
    );
}

// RFC 8985-6.2-4
#[test]
fn ack_of_much_data_at_once_is_not_reordering() {
    // In order up to 4001, a hole, and more above it, all in one report: segments below the report are not
    // late. Three segments above the hole then end the wait.
    ten_out(rack(), 10_000).run(
        "200ms < . 1 ack 4001 <sack 5001-8001>
               > . 4001+1000
               = phase recovery",
    );
}

// RFC 8985-6.3-1
#[test]
fn timeout_marks_late_segments_as_lost_but_not_recent_segments() {
    // Section 6.3 (`tcp_timeout_mark_lost`).
    Script::connected_with_sack(rack()).run(
        "100ms write 1000
               > . 1+1000
         200ms < . 1 ack 1001
               write 2000
               > . 1001+1000
               > . 2001+1000
         1190ms write 1000
                > . 3001+1000
         1200ms > . 1001+1000
                = phase loss
                = lost_bytes 1000
                = in_flight_bytes 2000          # a retransmission and a recent segment
         1290ms < . 1 ack 1001 <sack 3001-4001>
         1300ms < . 1 ack 2001 <sack 3001-4001>
                > . 2001+1000
         1400ms < . 1 ack 4001
                = phase open
                = retransmissions 2",
    );
}

#[test]
fn cwnd_in_whole_segments_allows_one_segment_beyond_the_spared_segments() {
    // `tcp_enter_loss`: retransmissions need not wait for the data in flight.
    let mut p = rack();
    p.stack.window_counting = Counting::Segments;
    Script::connected_with_sack(Profile::new(p.stack, p.params, p.mtu)).run(
        "100ms write 1000
               > . 1+1000
         200ms < . 1 ack 1001
               write 2000
               > . 1001+1000
               > . 2001+1000
         1190ms write 1000
                > . 3001+1000
         1200ms > . 1001+1000
                = phase loss
                = cwnd_bytes 2000
         1290ms < . 1 ack 1001 <sack 3001-4001>
                > . 2001+1000
         1300ms < . 1 ack 2001 <sack 3001-4001>
         1390ms < . 1 ack 4001
                = phase open
                = retransmissions 2",
    );
}

// RFC 8985-4-2, 8985-6.2-3
#[test]
fn rack_rtt_is_the_rtt_of_the_last_delivered_segment() {
    // Section 6.2 step 2 (`tcp_rack_advance`): also of a segment sent before other delivered segments.
    ten_out(rack(), 10_000).run(
        "200ms < . 1 ack 1 <sack 2001-3001>
               = timer_ms 225
         220ms < . 1 ack 1 <sack 1001-3001>
               = timer_ms 245           # 100 + RTT 120 + 25
         230ms < . 1 ack 10001",
    );
}

// RFC 8985-3.3.2-3, 8985-4-3, 8985-6.2-5
#[test]
fn recoveries_after_a_timeout_narrow_the_reordering_window_too() {
    // Section 6.2 step 4: sixteen fast or timeout recoveries without a duplicate report.
    for (recoveries, window) in [(15, 50), (16, 25)] {
        let mut s = Script::connected_with_sack(rack());
        s.run(
            "100ms write 1000
                   > . 1+1000
             200ms < . 1 ack 1001
             300ms < . 1 ack 1001 <sack 1-1001>",
        );
        let mut at = 1001;
        for _ in 0..recoveries {
            s.run(&format!(
                "+100ms write 1000
                 +0ms > . {at}+1000
                 +1000ms > . {at}+1000
                 +0ms = phase loss
                 +100ms < . 1 ack {next}
                 +0ms = phase open
                      write 1000           # an RTT that ends the backoff
                      > . {next}+1000
                 +100ms < . 1 ack {}",
                at + 2000,
                next = at + 1000,
            ));
            at += 2000;
        }
        s.run(&format!(
            "+100ms write 2000
             +0ms > . {at}+1000
                  > . {}+1000
             +100ms < . 1 ack {at} <sack {}-{}>
             +{window}ms > . {at}+1000",
            at + 1000,
            at + 1000,
            at + 2000,
        ));
    }
}

// RFC 8985-3.3.2-4
#[test]
fn reordering_window_is_at_most_the_srtt() {
    // Seven RTTs with a reported duplicate would make it eight quarters of the minimum RTT.
    let mut s = Script::connected_with_sack(rack());
    for round in 0..7 {
        let (at, next) = (100 + 100 * round, 1000 * round + 1);
        s.run(&format!(
            "{at}ms write 1000
                    > . {next}+1000
             {}ms < . 1 ack {} <sack 1-{next}>",
            at + 100,
            next + 1000,
        ));
    }
    s.run(
        "900ms write 3000
               > . 7001+1000
               > . 8001+1000
               > . 9001+1000
         1000ms < . 1 ack 7001 <sack 8001-9001>
                = timer_ms 1100         # 900 + RTT 100 + SRTT 100
         1050ms < . 1 ack 10001",
    );
}

// RFC 8985-7.3-2, 8985-7.3-3
#[test]
fn next_probe_needs_a_new_rtt_sample() {
    // Section 7.3. The original and the probe arrive, so that no probe is in flight, but Karn's rule forbids
    // a sample of them. The next lost segment waits for the timer. The last one is probed again.
    ten_out(with_probe(), 10_000).run(
        "200ms < . 1 ack 9001
         600ms > . 9001+1000
         610ms < . 1 ack 10001
         700ms < . 1 ack 10001 <sack 9001-10001>
               write 1000
               > . 10001+1000
         1700ms > . 10001+1000
                = phase loss
         1800ms < . 1 ack 11001
                write 1000
                > . 11001+1000
         1900ms < . 1 ack 12001
                write 1000
                > . 12001+1000
         2300ms > . 12001+1000
                = phase open
         2400ms < . 1 ack 13001",
    );
}

// RFC 7323-3.2-9, 8985-6.2-2
#[test]
fn timestamps_that_were_not_negotiated_are_ignored() {
    // Their echo is older than the retransmission. The retransmission that arrives shows nevertheless that
    // the segments sent before it are lost.
    ten_out(rack(), 10_000).run(
        "200ms < . 1 ack 1 <sack 1001-4001>
               > . 1+1000
         300ms < . 1 ack 4001 <ts 5 1>
               > . 4001+1000
               > . 5001+1000
               > . 6001+1000
               > . 7001+1000
               > . 8001+1000
               = phase recovery
         400ms < . 1 ack 10001",
    );
}
