//! RFC 8985: losses found by time, and the tail loss probe.

use crate::script::{Script, plain_with};
use windlass_cc::Span;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::setup::Counting;
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

/// The lines in which ten segments of 1000 bytes go at 100 ms.
fn ten(offered: u64) -> String {
    let segments: String = (0..10).map(|n| format!("100 > . {}+1000\n", 1 + 1000 * n)).collect();
    format!("100 offer {offered}\n{segments}")
}

fn ten_out(p: Profile, offered: u64) -> Script {
    let mut s = Script::connected_with_sack(p);
    s.run(&ten(offered));
    s
}

#[test]
fn what_is_late_by_a_quarter_round_trip_is_lost() {
    // One segment delivered out of order is no proof: the least RTT is 100 ms, a quarter is 25.
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
fn a_stack_with_ticks_looks_again_after_whole_ticks_and_two_milliseconds() {
    // `tcp_rack_mark_lost`: 25 ms are left and 2 more are seven ticks of 4 ms, counted from the end of
    // the tick that runs.
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

#[test]
fn three_segments_delivered_above_a_hole_leave_it_no_time() {
    // Section 6.2 step 4: without reordering seen, DupThresh segments end the waiting.
    ten_out(rack(), 10_000).run(
        "200 < . 1 ack 1 sack 1001-2001
         201 < . 1 ack 1 sack 1001-3001
         201 = phase Open
         202 < . 1 ack 1 sack 1001-4001
         202 > . 1+1000
         202 = phase Recovery",
    );
}

#[test]
fn a_segment_that_is_merely_late_is_not_sent_again() {
    // Delivered 20 ms after its successor: reordering, and no loss by time.
    let mut s = ten_out(rack(), 20_000);
    s.run(
        "200 < . 1 ack 1 sack 1001-3001
         220 < . 1 ack 3001
         220 > . 10001+1000
         220 > . 11001+1000
         220 > . 12001+1000
         220 > . 13001+1000             # slow start: one for each segment, and one more
         220 = phase Open
         220 = retransmits 0
         221 < . 1 ack 3001 sack 4001-7001 # three above the hole, but reordering has been seen
         221 = phase Open",
    );
}

#[test]
fn counting_takes_the_same_lateness_for_a_loss() {
    let mut p = rack();
    p.stack.loss_detection = LossDetection::DupThresh;
    ten_out(p, 20_000).run(
        "200 < . 1 ack 1 sack 1001-4001
         200 > . 1+1000
         220 < . 1 ack 4001",
    );
}

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
fn a_retransmission_reported_above_a_hole_tells_of_an_earlier_one_that_was_lost() {
    // The echoed timestamp stays that of the last segment in order, whatever arrives above the hole.
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

#[test]
fn a_lost_tail_is_probed_after_two_round_trips() {
    // srtt 100 ms. The last three of ten are lost.
    ten_out(with_probe(), 10_000).run(
        "200 < . 1 ack 7001
         400 > . 9001+1000              # 200 + 2 · srtt: the last segment again
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

#[test]
fn a_lone_segment_is_probed_after_what_its_acknowledgement_may_be_delayed_by() {
    let mut s = Script::connected_with_sack(with_probe());
    s.run(
        "100 offer 1000
         100 > . 1+1000
         500 > . 1+1000                 # 2 · 100 + 200
         600 < . 1 ack 1001",
    );
}

#[test]
fn a_probe_sends_new_data_if_there_are_any() {
    ten_out(with_probe(), 20_000).run(
        "300 > . 10001+1000             # 100 + 2 · srtt
         1300 > . 1+1000                # the timer, anew from the probe
         1300 = phase Loss",
    );
}

#[test]
fn a_loss_that_the_probe_repaired_cuts_the_window_once() {
    // The last segment was lost, the probe replaced it, and more data show that only one came.
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

#[test]
fn a_probe_that_was_a_duplicate_does_not_cut_the_window() {
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
fn what_was_lost_since_recovery_began_begins_another_when_it_ends() {
    // The first and the last of ten are lost, and the eleventh, which recovery sent: the latter two
    // go again in it, and it ends with the tenth.
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

#[test]
fn an_acknowledgement_that_brings_much_at_once_is_no_reordering() {
    // In order up to 4001, a hole, and more beyond it, all told at once: what is below the report is
    // not late. Three segments above the hole then leave it no time.
    ten_out(rack(), 10_000).run(
        "200 < . 1 ack 4001 sack 5001-8001
         200 > . 4001+1000
         200 = phase Recovery",
    );
}

#[test]
fn a_timeout_takes_for_lost_what_is_late_and_not_what_has_just_been_sent() {
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
         1200 = in_flight 2000          # sent again, and fresh
         1290 < . 1 ack 1001 sack 3001-4001
         1300 < . 1 ack 2001 sack 3001-4001
         1300 > . 2001+1000
         1400 < . 1 ack 4001
         1400 = phase Open
         1400 = retransmits 2",
    );
}

#[test]
fn a_window_of_whole_segments_has_room_for_one_besides_what_a_timeout_spares() {
    // `tcp_enter_loss`: what is repaired need not wait for what is in flight.
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

#[test]
fn the_round_trip_is_that_of_whatever_was_delivered_last() {
    // Section 6.2 step 2 (`tcp_rack_advance`): also of a segment sent before others that are delivered.
    ten_out(rack(), 10_000).run(
        "200 < . 1 ack 1 sack 2001-3001
         200 = deadline_ms 225
         220 < . 1 ack 1 sack 1001-3001
         220 = deadline_ms 245           # 100 + RTT 120 + 25
         230 < . 1 ack 10001",
    );
}

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
                 +0 offer 1000           # a round trip that ends the back-off
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
