//! RFC 8985: loss detection by time, and the tail loss probe.

use crate::script::{Script, plain_with};
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

/// The lines that send ten segments of 1000 bytes at 100 ms.
fn ten(offered: u64) -> String {
    let segments: String = (0..10).map(|n| format!("100 > . {}+1000\n", 1 + 1000 * n)).collect();
    format!("100 offer {offered}\n{segments}")
}

fn ten_out(p: Profile, offered: u64) -> Script {
    let mut s = Script::connected_with_sack(p);
    s.run(&ten(offered));
    s
}

// RFC 8985-3.3.2-2, 8985-6.2-6, 8985-6.2-7
#[test]
fn segment_late_by_a_quarter_of_the_min_rtt_is_lost() {
    // One segment delivered out of order is not proof: the minimum RTT is 100 ms, and a quarter of it is 25
    // ms.
    ten_out(rack(), 10_000).run(
        "200 < . 1 ack 1 sack 1001-2001
         200 = phase Open
         200 = deadline_ms 225           # 100 + RTT 100 + 25
         225 > . 1+1000
         225 = phase Recovery
         225 = ssthresh 5000
         300 < . 1 ack 10001
         300 = phase Open
         300 = retransmits 1",
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
            "{at} < . 1 ack 1 sack 1001-2001
             {at} = deadline_ms {expires}
             {expires} > . 1+1000
             {expires} = phase Recovery
             300 < . 1 ack 10001
             300 = retransmits 1",
        ));
    }
}

// RFC 8985-3.3.2-1
#[test]
fn three_segments_delivered_above_a_hole_end_the_wait() {
    // Section 6.2 step 4: without reordering so far, DupThresh segments end the wait.
    ten_out(rack(), 10_000).run(
        "200 < . 1 ack 1 sack 1001-2001
         201 < . 1 ack 1 sack 1001-3001
         201 = phase Open
         202 < . 1 ack 1 sack 1001-4001
         202 > . 1+1000
         202 = phase Recovery",
    );
}

// RFC 8985-9.2-1
#[test]
fn late_segment_is_not_retransmitted() {
    // Delivered 20 ms after its successor: reordering, and no loss by time.
    let mut s = ten_out(rack(), 20_000);
    s.run(
        "200 < . 1 ack 1 sack 1001-3001
         220 < . 1 ack 3001
         220 > . 10001+1000
         220 > . 11001+1000
         220 > . 12001+1000
         220 > . 13001+1000             # slow start: one segment per delivered segment, and one more
         220 = phase Open
         220 = retransmits 0
         221 < . 1 ack 3001 sack 4001-7001 # three above the hole, but reordering has been seen
         221 = phase Open",
    );
}

// RFC 8985-9.2-1
#[test]
fn counting_treats_the_same_lateness_as_a_loss() {
    let mut p = rack();
    p.stack.loss_detection = LossDetection::DupThresh;
    ten_out(p, 20_000).run(
        "200 < . 1 ack 1 sack 1001-4001
         200 > . 1+1000
         220 < . 1 ack 4001",
    );
}

// RFC 8985-6.2-2
#[test]
fn a_lost_retransmission_is_found_and_repaired_without_the_timer() {
    let mut s = ten_out(rack(), 20_000);
    s.run(
        "200 < . 1 ack 1 sack 1001-4001
         200 > . 1+1000
         201 < . 1 ack 1 sack 1001-10001
         201 > . 10001+1000
         201 > . 11001+1000
         201 > . 12001+1000
         201 > . 13001+1000
         301 < . 1 ack 1 sack 1001-11001 # sent 1 ms after the retransmission, and here before it
         301 > . 1+1000
         301 > . 14001+1000
         301 = rto_count 0
         401 < . 1 ack 14001
         401 > . 15001+1000
         401 > . 16001+1000
         401 > . 17001+1000
         401 > . 18001+1000
         401 = rto_count 0",
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
        "0 connect
         0 > S 0 sackok
         100 < S. 0 ack 1 win 60000 mss 1012 sackok ts 500 1
         100 > . 1 ack 1
         {}
         200 < . 1 ack 1 ts 600 101 sack 2001-5001
         200 > . 1+1000
         201 < . 1 ack 1 ts 601 101 sack 2001-10001
         201 > . 1001+1000
         201 > . 10001+1000
         201 > . 11001+1000
         201 > . 12001+1000
         301 < . 1 ack 1 ts 701 101 sack 1001-10001
         301 > . 1+1000
         301 > . 13001+1000
         301 = rto_count 0",
        ten(20_000)
    ));
}

// RFC 8985-7.2-2
#[test]
fn a_lost_tail_is_probed_after_two_round_trips() {
    // The SRTT is 100 ms. The last three of ten segments are lost.
    ten_out(with_probe(), 10_000).run(
        "200 < . 1 ack 7001
         400 > . 9001+1000              # 200 + 2 · srtt: the last segment is retransmitted
         400 = phase Open
         500 < . 1 ack 7001 sack 9001-10001
         500 > . 7001+1000              # sent before the probe, and 300 ms late
         500 > . 8001+1000
         500 = phase Recovery
         600 < . 1 ack 10001
         600 = phase Open
         600 = rto_count 0",
    );
}

// RFC 8985-7.2-4
#[test]
fn single_segment_is_probed_after_the_max_ack_delay() {
    let mut s = Script::connected_with_sack(with_probe());
    s.run(
        "100 offer 1000
         100 > . 1+1000
         500 > . 1+1000                 # 2 · 100 + 200
         600 < . 1 ack 1001",
    );
}

// RFC 8985-7.3-4, 8985-7.3-7
#[test]
fn a_probe_sends_new_data_if_there_are_any() {
    ten_out(with_probe(), 20_000).run(
        "300 > . 10001+1000             # 100 + 2 · srtt
         1300 > . 1+1000                # the timer restarted at the probe
         1300 = phase Loss",
    );
}

// RFC 8985-7.4.2-1, 8985-7.4.2-2
#[test]
fn loss_repaired_by_the_probe_reduces_cwnd_once() {
    // The last segment was lost and the probe replaced it. More data show that only one copy arrived.
    ten_out(with_probe(), 10_000).run(
        "200 < . 1 ack 9001
         600 > . 9001+1000              # one segment in flight: 2 · srtt + 200
         700 < . 1 ack 10001
         700 = phase Open
         700 offer 1000
         700 > . 10001+1000
         800 < . 1 ack 11001
         800 = ssthresh 2000",
    );
}

// RFC 5681-3.1-6, 8985-7.4.2-1
#[test]
fn duplicate_probe_does_not_reduce_cwnd() {
    ten_out(with_probe(), 10_000).run(
        "200 < . 1 ack 9001
         600 > . 9001+1000
         610 < . 1 ack 10001
         700 < . 1 ack 10001 sack 9001-10001
         700 offer 1000
         700 > . 10001+1000
         800 < . 1 ack 11001
         800 = ssthresh 1099511627776",
    );
}

#[test]
fn duplicate_probe_does_not_widen_the_reordering_window_of_linux() {
    let mut p = with_probe();
    p.stack.rules = Flavour::Linux;
    ten_out(p, 10_000).run(
        "200 < . 1 ack 1 sack 1001-2001
         200 < . 1 ack 2001              # late data: reordering
         200 < . 1 ack 9001
         600 > . 9001+1000
         610 < . 1 ack 10001
         700 < . 1 ack 10001 sack 9001-10001
         900 offer 2000
         900 > . 10001+1000
         900 > . 11001+1000
         1000 < . 1 ack 10001 sack 11001-12001
         1000 = reordering_ms 124        # RTT 100 + 25, less the nanoseconds between segments",
    );
}

// RFC 6675-5-8, 8985-9.3-1
#[test]
fn loss_during_recovery_begins_another_recovery() {
    // The first and the last of ten segments are lost, and the eleventh, which recovery sent. The latter two
    // are retransmitted in this recovery, which ends with the tenth segment.
    ten_out(rack(), 20_000).run(
        "200 < . 1 ack 1 sack 1001-5001
         200 > . 1+1000
         200 = ssthresh 5000
         201 < . 1 ack 1 sack 1001-7001
         201 > . 10001+1000
         202 < . 1 ack 1 sack 1001-9001
         202 > . 11001+1000
         202 > . 12001+1000
         300 < . 1 ack 9001
         300 > . 9001+1000
         300 > . 13001+1000
         302 < . 1 ack 9001 sack 11001-12001
         302 > . 10001+1000
         302 > . 14001+1000
         303 < . 1 ack 9001 sack 11001-13001
         303 > . 15001+1000
         303 = phase Recovery
         303 = ssthresh 5000
         400 < . 1 ack 10001 sack 11001-13001
         400 = phase Recovery
         400 = ssthresh 2500",
    );
}

// RFC 8985-6.2-4
#[test]
fn ack_of_much_data_at_once_is_not_reordering() {
    // In order up to 4001, a hole, and more above it, all in one report: segments below the report are not
    // late. Three segments above the hole then end the wait.
    ten_out(rack(), 10_000).run(
        "200 < . 1 ack 4001 sack 5001-8001
         200 > . 4001+1000
         200 = phase Recovery",
    );
}

// RFC 8985-6.3-1
#[test]
fn timeout_marks_late_segments_as_lost_but_not_recent_segments() {
    // Section 6.3 (`tcp_timeout_mark_lost`).
    Script::connected_with_sack(rack()).run(
        "100 offer 1000
         100 > . 1+1000
         200 < . 1 ack 1001
         200 offer 2000
         200 > . 1001+1000
         200 > . 2001+1000
         1190 offer 1000
         1190 > . 3001+1000
         1200 > . 1001+1000
         1200 = phase Loss
         1200 = lost 1000
         1200 = in_flight 2000          # a retransmission and a recent segment
         1290 < . 1 ack 1001 sack 3001-4001
         1300 < . 1 ack 2001 sack 3001-4001
         1300 > . 2001+1000
         1400 < . 1 ack 4001
         1400 = phase Open
         1400 = retransmits 2",
    );
}

#[test]
fn cwnd_in_whole_segments_allows_one_segment_beyond_the_spared_segments() {
    // `tcp_enter_loss`: retransmissions need not wait for the data in flight.
    let mut p = rack();
    p.stack.window_counting = Counting::Segments;
    Script::connected_with_sack(Profile::new(p.stack, p.params, p.mtu)).run(
        "100 offer 1000
         100 > . 1+1000
         200 < . 1 ack 1001
         200 offer 2000
         200 > . 1001+1000
         200 > . 2001+1000
         1190 offer 1000
         1190 > . 3001+1000
         1200 > . 1001+1000
         1200 = phase Loss
         1200 = cwnd 2000
         1290 < . 1 ack 1001 sack 3001-4001
         1290 > . 2001+1000
         1300 < . 1 ack 2001 sack 3001-4001
         1390 < . 1 ack 4001
         1390 = phase Open
         1390 = retransmits 2",
    );
}

// RFC 8985-4-2, 8985-6.2-3
#[test]
fn rack_rtt_is_the_rtt_of_the_last_delivered_segment() {
    // Section 6.2 step 2 (`tcp_rack_advance`): also of a segment sent before other delivered segments.
    ten_out(rack(), 10_000).run(
        "200 < . 1 ack 1 sack 2001-3001
         200 = deadline_ms 225
         220 < . 1 ack 1 sack 1001-3001
         220 = deadline_ms 245           # 100 + RTT 120 + 25
         230 < . 1 ack 10001",
    );
}

// RFC 8985-3.3.2-3, 8985-4-3, 8985-6.2-5
#[test]
fn recoveries_after_a_timeout_narrow_the_reordering_window_too() {
    // Section 6.2 step 4: sixteen fast or timeout recoveries without a duplicate report.
    for (recoveries, deadline) in [(15, "+0 = reordering_ms 150"), (16, "+0 = reordering_ms 125")] {
        let mut s = Script::connected_with_sack(rack());
        s.run(
            "100 offer 1000
             100 > . 1+1000
             200 < . 1 ack 1001
             300 < . 1 ack 1001 sack 1-1001",
        );
        let mut at = 1001;
        for _ in 0..recoveries {
            s.run(&format!(
                "+100 offer 1000
                 +0 > . {at}+1000
                 +1000 > . {at}+1000
                 +0 = phase Loss
                 +100 < . 1 ack {next}
                 +0 = phase Open
                 +0 offer 1000           # an RTT that ends the backoff
                 +0 > . {next}+1000
                 +100 < . 1 ack {}",
                at + 2000,
                next = at + 1000,
            ));
            at += 2000;
        }
        s.run(&format!(
            "+100 offer 2000
             +0 > . {at}+1000
             +0 > . {}+1000
             +100 < . 1 ack {at} sack {}-{}
             {deadline}",
            at + 1000,
            at + 1000,
            at + 2000,
        ));
        s.run(&format!("+1 < . 1 ack {}", at + 2000));
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
            "{at} offer 1000
             {at} > . {next}+1000
             {} < . 1 ack {} sack 1-{next}",
            at + 100,
            next + 1000,
        ));
    }
    s.run(
        "900 offer 3000
         900 > . 7001+1000
         900 > . 8001+1000
         900 > . 9001+1000
         1000 < . 1 ack 7001 sack 8001-9001
         1000 = deadline_ms 1100         # 900 + RTT 100 + SRTT 100
         1050 < . 1 ack 10001",
    );
}

// RFC 8985-7.3-2, 8985-7.3-3
#[test]
fn next_probe_needs_a_new_rtt_sample() {
    // Section 7.3. The original and the probe arrive, so that no probe is in flight, but Karn's rule forbids
    // a sample of them. The next lost segment waits for the timer. The last one is probed again.
    ten_out(with_probe(), 10_000).run(
        "200 < . 1 ack 9001
         600 > . 9001+1000
         610 < . 1 ack 10001
         700 < . 1 ack 10001 sack 9001-10001
         700 offer 1000
         700 > . 10001+1000
         1700 > . 10001+1000
         1700 = phase Loss
         1800 < . 1 ack 11001
         1800 offer 1000
         1800 > . 11001+1000
         1900 < . 1 ack 12001
         1900 offer 1000
         1900 > . 12001+1000
         2300 > . 12001+1000
         2300 = phase Open
         2400 < . 1 ack 13001",
    );
}

// RFC 7323-3.2-9, 8985-6.2-2
#[test]
fn timestamps_that_were_not_negotiated_are_ignored() {
    // Their echo is older than the retransmission. The retransmission that arrives shows nevertheless that
    // the segments sent before it are lost.
    ten_out(rack(), 10_000).run(
        "200 < . 1 ack 1 sack 1001-4001
         200 > . 1+1000
         300 < . 1 ack 4001 ts 5 1
         300 > . 4001+1000
         300 > . 5001+1000
         300 > . 6001+1000
         300 > . 7001+1000
         300 > . 8001+1000
         300 = phase Recovery
         400 < . 1 ack 10001",
    );
}
