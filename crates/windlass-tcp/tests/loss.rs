//! Loss detection and recovery: RFC 5681, 6582, 6298, 3042.

use crate::script::{Script, plain, plain_with};
use windlass_cc::AnyParams;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::rto::{self, Rfc6298Params};
use windlass_tcp::{InitialWindow, Profile};

fn recovery(name: &'static str) -> Profile {
    Profile { params: AnyParams::by_name(name).unwrap(), ..plain() }
}

/// A transfer of ten segments of 1000 bytes, sent at 100 ms.
pub(crate) fn ten_segments(p: Profile) -> Script {
    let mut s = Script::connected(p);
    s.run(
        "100 offer 10000
         100 > . 1+1000
         100 > . 1001+1000
         100 > . 2001+1000
         100 > . 3001+1000
         100 > . 4001+1000
         100 > . 5001+1000
         100 > . 6001+1000
         100 > . 7001+1000
         100 > . 8001+1000
         100 > . 9001+1000",
    );
    s
}

/// The eight duplicates after the loss of the first and third of ten segments.
const EIGHT_DUPLICATES: &str = "
    200 < . 1 ack 1
    201 < . 1 ack 1
    201 = phase Open
    202 < . 1 ack 1
    202 > . 1+1000
    202 = phase Recovery
    202 = ssthresh 5000
    202 = cwnd 8000
    203 < . 1 ack 1
    204 < . 1 ack 1
    205 < . 1 ack 1
    206 < . 1 ack 1
    207 < . 1 ack 1
    207 = cwnd 13000";

// RFC 5681-3.2-3, 5681-3.2-7, 5681-3.2-9
#[test]
fn the_third_duplicate_and_no_other_triggers_fast_retransmit() {
    ten_segments(plain()).run(EIGHT_DUPLICATES).run(
        "300 < . 1 ack 10001
         300 = phase Open
         300 = cwnd 5000
         300 = fast_retransmits 1
         300 = dup_acks 8
         300 = retransmits 1
         9000",
    );
    ten_segments(plain_with(|s| s.dupthresh = 1)).run(
        "200 < . 1 ack 1
         200 > . 1+1000
         200 = cwnd 8000",
    );
    ten_segments(plain_with(|s| s.fast_retransmit = false)).run(
        "200 < . 1 ack 1
         201 < . 1 ack 1
         202 < . 1 ack 1
         203 < . 1 ack 1
         1100 > . 1+1000",
    );
}

/// CoCoA3+ (C3-17, C3-18): the second duplicate retransmits the segment with half the flight. Each further
/// duplicate grows cwnd by a segment, and the acknowledgement of all data deflates cwnd.
#[test]
fn the_second_duplicate_triggers_the_fast_retransmit_of_cocoa3plus() {
    let mut p = plain_with(|s| s.dupthresh = 2);
    p.params = AnyParams::by_name("cocoa3plus").unwrap();
    ten_segments(p).run(
        "200 < . 1 ack 1
         200 = phase Open
         201 < . 1 ack 1
         201 > . 1+1000
         201 = phase Recovery
         201 = ssthresh 5000
         201 = cwnd 8000
         202 < . 1 ack 1
         202 = cwnd 9000
         300 < . 1 ack 10001
         300 = phase Open
         300 = cwnd 2000               # RFC 6582: nothing is in flight
         300 = fast_retransmits 1",
    );
}

// RFC 6675-5-2
#[test]
fn only_duplicates_as_defined_in_rfc_5681_count() {
    ten_segments(plain()).run(
        "200 < . 1 ack 1
         201 < . 1 ack 1
         202 < . 1 ack 1 win 50000     # a window update
         202 < . 1+10 ack 1 win 50000  # data
         202 > . 10001 ack 11
         202 < . 11 ack 0 win 50000    # an older acknowledgement
         202 = dup_acks 2
         203 < . 11 ack 1 win 50000
         203 > . 1+1000
         203 = dup_acks 3",
    );
}

#[test]
fn reno_leaves_recovery_at_a_partial_acknowledgement_and_needs_a_timeout() {
    ten_segments(plain()).run(EIGHT_DUPLICATES).run(
        "300 < . 1 ack 2001
         300 = phase Open
         300 = cwnd 5000
         1300 > . 2001+1000
         1300 = rto_count 1",
    );
}

#[test]
fn reno_may_enter_recovery_again_in_the_same_window() {
    ten_segments(plain()).run(EIGHT_DUPLICATES).run(
        "300 < . 1 ack 2001
         310 < . 1 ack 2001
         311 < . 1 ack 2001
         312 < . 1 ack 2001
         312 > . 2001+1000
         312 = ssthresh 4000
         312 = fast_retransmits 2",
    );
}

#[test]
fn newreno_repairs_one_hole_per_partial_acknowledgement() {
    ten_segments(recovery("newreno")).run(EIGHT_DUPLICATES).run(
        "300 < . 1 ack 2001
         300 > . 2001+1000
         300 = phase Recovery
         300 = cwnd 12000              # 13000 - 2000 + 1000
         400 < . 1 ack 10001
         400 = phase Open
         400 = cwnd 2000               # min(ssthresh, max(FlightSize, SMSS) + SMSS)
         9000",
    );
}

// RFC 6298-5.3-1
#[test]
fn newreno_restarts_its_timer_at_the_first_partial_acknowledgement_only() {
    ten_segments(recovery("newreno")).run(EIGHT_DUPLICATES).run(
        "300 < . 1 ack 2001
         300 > . 2001+1000
         900 < . 1 ack 4001
         900 > . 4001+1000
         1300 > . 4001+1000            # from 300, not from 900
         1300 = phase Loss",
    );
}

#[test]
fn duplicates_up_to_recover_do_not_start_newreno_again() {
    ten_segments(recovery("newreno")).run(EIGHT_DUPLICATES).run(
        "300 < . 1 ack 10001
         300 offer 5000
         300 > . 10001+1000
         300 > . 11001+1000
         310 < . 1 ack 10001
         311 < . 1 ack 10001
         312 < . 1 ack 10001
         312 = phase Open
         400 < . 1 ack 11001
         400 > . 12001+1000
         400 > . 13001+1000
         410 < . 1 ack 11001
         411 < . 1 ack 11001
         412 < . 1 ack 11001
         412 > . 11001+1000
         412 = phase Recovery
         412 > . 14001+1000            # inflated by two and three segments",
    );
}

#[test]
fn tahoe_goes_back_and_starts_slowly() {
    ten_segments(recovery("tahoe")).run(
        "200 < . 1 ack 1
         201 < . 1 ack 1
         202 < . 1 ack 1
         202 > . 1+1000
         202 = cwnd 1000
         202 = ssthresh 5000
         203 < . 1 ack 1
         204 < . 1 ack 1
         205 < . 1 ack 1
         205 < . 1 ack 1
         302 < . 1 ack 2001
         302 > . 2001+1000
         302 > . 3001+1000
         402 < . 1 ack 10001
         402 = phase Open
         402 = fast_retransmits 1
         9000",
    );
}

#[test]
fn a_stack_may_run_another_recovery_than_the_algorithm_names() {
    let p = plain_with(|s| s.recovery = Some(LossRecovery::NewReno));
    ten_segments(p).run(EIGHT_DUPLICATES).run(
        "300 < . 1 ack 2001
         300 > . 2001+1000
         300 = phase Recovery",
    );
}

// RFC 5681-3.1-13, 5681-3.1-14, 6298-5.2-1
#[test]
fn a_timeout_goes_back_backs_off_and_halves_once() {
    ten_segments(plain()).run(
        "1100 > . 1+1000
         1100 = cwnd 1000
         1100 = ssthresh 5000
         1100 = rto_ms 2000
         3100 > . 1+1000
         3100 = ssthresh 5000          # RFC 5681: the same segment timed out again
         3100 = rto_ms 4000
         3150 < . 1 ack 1001
         3150 > . 1001+1000
         3150 > . 2001+1000
         3150 = cwnd 2000
         3150 = rto_ms 4000            # Karn: no sample from a retransmitted segment
         3250 < . 1 ack 10001
         3250 = phase Open
         3250 = rto_ms 4000
         3300 offer 1000
         3300 > . 10001+1000
         3400 < . 1 ack 11001
         3400 = rto_ms 1000            # a valid sample ends the backoff
         3400 = srtt_ms 100
         60000",
    );
}

// RFC 9293-3.8.3-MUST-20, 9293-3.8.3-MUST-21, 9293-3.8.3-SHLD-11
#[test]
fn backoff_stops_at_the_maximum_timeout_and_fails_after_the_last_retry() {
    let p = plain_with(|s| {
        let max = windlass_cc::Span::from_secs(3);
        s.rto = rto::AnyParams::Rfc6298(Rfc6298Params { max, ..Default::default() });
        s.max_data_retries = 3;
    });
    Script::connected(p).run(
        "100 offer 1000
         100 > . 1+1000
         1100 > . 1+1000
         3100 > . 1+1000
         6100 > . 1+1000
         9100 > R. 1001 ack 1
         9100 = state Closed
         9100 = failure DataTimeout
         99000",
    );
}

#[test]
fn timeouts_expire_at_ticks_of_a_slow_timer() {
    let p = plain_with(|s| s.timer_tick = windlass_cc::Span::from_millis(500));
    Script::connected(p).run(
        "120 offer 1000
         120 > . 1+1000
         1500 > . 1+1000               # 1120 rounded up
         3500 > . 1+1000",
    );
}

#[test]
fn a_timeout_of_other_data_is_another_loss() {
    ten_segments(plain()).run(
        "1100 > . 1+1000
         1200 < . 1 ack 1001
         1200 > . 1001+1000
         1200 > . 2001+1000
         3200 > . 1001+1000
         3200 = ssthresh 2000          # minimum: two segments",
    );
}

// RFC 5681-3-1
#[test]
fn retransmissions_are_full_segments_if_cwnd_has_a_fraction() {
    ten_segments(plain()).run(
        "1100 > . 1+1000
         1200 < . 1 ack 1001
         1200 > . 1001+1000
         1200 > . 2001+1000
         3200 > . 1001+1000
         3300 < . 1 ack 2001
         3300 > . 2001+1000
         3300 > . 3001+1000
         3400 < . 1 ack 3001
         3400 = cwnd 2500
         3400 > . 4001+1000            # without 500 bytes more
         3410",
    );
}

// RFC 6675-5.1-3
#[test]
fn duplicates_after_a_timeout_do_not_start_fast_retransmit() {
    for algorithm in ["tahoe", "reno", "newreno"] {
        ten_segments(recovery(algorithm)).run(
            "1100 > . 1+1000
             1200 < . 1 ack 1001
             1200 > . 1001+1000
             1200 > . 2001+1000
             1201 < . 1 ack 1001
             1202 < . 1 ack 1001
             1203 < . 1 ack 1001
             1204 < . 1 ack 1001
             1300 < . 1 ack 10001
             1300 = phase Open
             1300 offer 2000
             1300 > . 10001+1000
             1300 > . 11001+1000
             1301 < . 1 ack 10001      # duplicates of retransmitted data
             1302 < . 1 ack 10001
             1303 < . 1 ack 10001
             1303 = fast_retransmits 0",
        );
    }
}

#[test]
fn pure_ack_while_going_back_has_the_highest_sequence_number_sent() {
    ten_segments(plain()).run(
        "1100 > . 1+1000
         1150 < . 1+500 ack 1
         1150 > . 10001 ack 501",
    );
}

#[test]
fn timestamps_end_the_back_off_after_a_retransmission() {
    let p = plain_with(|s| s.timestamps = true);
    Script::new(p).run(
        "0 connect
         0 > S 0
         100 < S. 0 ack 1 mss 1012 ts 900 1
         100 > . 1 ack 1
         100 offer 988
         100 > . 1+988 ts 101 900
         1100 > . 1+988 ts 1101 900
         1100 = rto_ms 2000
         1150 < . 1 ack 989 ts 950 1101
         1150 = rto_ms 1000
         1150 = srtt_ms 93             # 7/8 of 100 and 1/8 of 50
         1200 offer 988
         1200 > . 989+988
         2200 > . 989+988
         2250 < . 1 ack 1977 ts 950 999999
         2250 = rto_ms 2000            # an echo from the future gives no sample",
    );
}

#[test]
fn without_karn_the_sample_starts_at_the_first_transmission() {
    let p = plain_with(|s| s.karn = false);
    Script::connected(p).run(
        "100 offer 1000
         100 > . 1+1000
         1100 > . 1+1000
         1200 < . 1 ack 1001
         1200 = srtt_ms 225            # 7/8 of 100 and 1/8 of 1100",
    );
}

// RFC 5681-3.2-5, 5681-3.2-8
#[test]
fn limited_transmit_sends_two_new_segments_that_do_not_count_as_flight() {
    let mut s = ten_segments(plain_with(|s| s.limited_transmit = true));
    s.run(
        "150 offer 10000
         200 < . 1 ack 1
         200 > . 10001+1000
         201 < . 1 ack 1
         201 > . 11001+1000
         202 < . 1 ack 1
         202 > . 1+1000
         202 = ssthresh 5000           # half of ten segments, not of twelve
         202 = cwnd 8000",
    );
}

// RFC 5681-3.2-4
#[test]
fn limited_transmit_respects_the_receive_window() {
    let mut s = ten_segments(plain_with(|s| s.limited_transmit = true));
    s.run(
        "150 offer 10000
         160 < . 1 ack 1 win 10500
         200 < . 1 ack 1 win 10500
         201 < . 1 ack 1 win 10500",
    );
}

// RFC 5681-4.1-1
#[test]
fn idle_time_restores_the_restart_window() {
    let p = plain_with(|s| {
        s.idle_restart = true;
        s.initial_window = InitialWindow::Segments(2);
    });
    Script::connected(p).run(
        "100 offer 4000
         100 > . 1+1000
         100 > . 1001+1000
         200 < . 1 ack 2001
         200 > . 2001+1000
         200 > . 3001+1000
         300 < . 1 ack 4001
         300 = cwnd 4000
         1100 offer 3000               # less than an RTO since the last transmission
         1100 > . 4001+1000
         1100 > . 5001+1000
         1100 > . 6001+1000
         1200 < . 1 ack 7001
         1200 = cwnd 5000
         2200 offer 4000
         2200 > . 7001+1000
         2200 > . 8001+1000
         2200 = cwnd 2000",
    );
}

// RFC 9293-3.9.1.2-SHLD-27
#[test]
fn small_segments_are_merged_in_retransmissions_after_a_timeout() {
    // Going back N repacketises sent data (RFC 1122 section 4.2.2.15), but adds no new data.
    let mut s = Script::connected(plain());
    for n in 0..6 {
        s.run(&format!("100 offer 400\n100 > . {}+400", 1 + 400 * n));
    }
    s.run(
        "1100 > . 1+1000                # the first segment, the second, and half of the third
         1100 = in_flight 1000
         1200 < . 1 ack 1001
         1200 > . 1001+1000             # a cwnd of two segments
         1200 > . 2001+400
         1300 < . 1 ack 2401
         1300 = phase Open
         1300 = retransmits 3",
    );
}

// RFC 5681-3.2-11
#[test]
fn further_duplicates_in_recovery_send_new_data() {
    let flight: String = (0..10).map(|n| format!("100 > . {}+1000\n", 1 + 1000 * n)).collect();
    Script::connected(plain()).run(&format!("100 offer 20000\n{flight}")).run(
        "200 < . 1 ack 1
         201 < . 1 ack 1
         202 < . 1 ack 1
         202 > . 1+1000
         203 < . 1 ack 1
         204 < . 1 ack 1
         204 = cwnd 10000
         205 < . 1 ack 1
         205 > . 10001+1000
         206 < . 1 ack 1
         206 > . 11001+1000",
    );
}
