//! Loss detection and recovery: RFC 5681, 6582, 6298, 3042.

use crate::script::{Script, plain, plain_with, ten};
use windlass_cc::AnyParams;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::rto::{self, Rfc6298Params};
use windlass_tcp::{Failure, InitialWindow, Profile};

fn recovery(name: &'static str) -> Profile {
    Profile { params: AnyParams::by_name(name).unwrap(), ..plain() }
}

/// A transfer of ten segments of 1000 bytes, sent at 100 ms.
pub(crate) fn ten_segments(p: Profile) -> Script {
    let mut s = Script::connected(p);
    s.run(&ten(10_000));
    s
}

/// The eight duplicates after the loss of the first and third of ten segments.
const EIGHT_DUPLICATES: &str = "
    200ms < . 1 ack 1
    201ms < . 1 ack 1
          = phase open
    202ms < . 1 ack 1
          > . 1+1000
          = phase recovery
          = ssthresh_bytes 5000
          = cwnd_bytes 8000
    203ms < . 1 ack 1
    204ms < . 1 ack 1
    205ms < . 1 ack 1
    206ms < . 1 ack 1
    207ms < . 1 ack 1
          = cwnd_bytes 13000";

// RFC 5681-3.2-3, 5681-3.2-7, 5681-3.2-9
#[test]
fn the_third_duplicate_and_no_other_triggers_fast_retransmit() {
    ten_segments(plain()).run(EIGHT_DUPLICATES).run(
        "300ms < . 1 ack 10001
               = phase open
               = cwnd_bytes 5000
               = fast_retransmissions 1
               = duplicate_acks 8
               = retransmissions 1
         9000ms quiet",
    );
    ten_segments(plain_with(|s| s.dupthresh = 1)).run(
        "200ms < . 1 ack 1
               > . 1+1000
               = cwnd_bytes 8000",
    );
    ten_segments(plain_with(|s| s.fast_retransmit = false)).run(
        "200ms < . 1 ack 1
         201ms < . 1 ack 1
         202ms < . 1 ack 1
         203ms < . 1 ack 1
         1100ms > . 1+1000",
    );
}

/// CoCoA3+ (C3-17, C3-18): the second duplicate retransmits the segment with half the flight. Each further
/// duplicate grows cwnd by a segment, and the acknowledgement of all data deflates cwnd.
#[test]
fn the_second_duplicate_triggers_the_fast_retransmit_of_cocoa3plus() {
    let mut p = plain_with(|s| s.dupthresh = 2);
    p.params = AnyParams::by_name("cocoa3plus").unwrap();
    ten_segments(p).run(
        "200ms < . 1 ack 1
               = phase open
         201ms < . 1 ack 1
               > . 1+1000
               = phase recovery
               = ssthresh_bytes 5000
               = cwnd_bytes 8000
         202ms < . 1 ack 1
               = cwnd_bytes 9000
         300ms < . 1 ack 10001
               = phase open
               = cwnd_bytes 2000               # RFC 6582: nothing is in flight
               = fast_retransmissions 1",
    );
}

// RFC 6675-5-2
#[test]
fn only_duplicates_as_defined_in_rfc_5681_count() {
    ten_segments(plain()).run(
        "200ms < . 1 ack 1
         201ms < . 1 ack 1
         202ms < . 1 ack 1 win 50000     # a window update
               < . 1+10 ack 1 win 50000  # data
               > . 10001 ack 11
               < . 11 ack 0 win 50000    # an older acknowledgement
               = duplicate_acks 2
         203ms < . 11 ack 1 win 50000
               > . 1+1000
               = duplicate_acks 3",
    );
}

#[test]
fn reno_leaves_recovery_at_a_partial_acknowledgement_and_needs_a_timeout() {
    ten_segments(plain()).run(EIGHT_DUPLICATES).run(
        "300ms < . 1 ack 2001
               = phase open
               = cwnd_bytes 5000
         1300ms > . 2001+1000
                = timeouts 1",
    );
}

#[test]
fn reno_may_enter_recovery_again_in_the_same_window() {
    ten_segments(plain()).run(EIGHT_DUPLICATES).run(
        "300ms < . 1 ack 2001
         310ms < . 1 ack 2001
         311ms < . 1 ack 2001
         312ms < . 1 ack 2001
               > . 2001+1000
               = ssthresh_bytes 4000
               = fast_retransmissions 2",
    );
}

#[test]
fn newreno_repairs_one_hole_per_partial_acknowledgement() {
    ten_segments(recovery("newreno")).run(EIGHT_DUPLICATES).run(
        "300ms < . 1 ack 2001
               > . 2001+1000
               = phase recovery
               = cwnd_bytes 12000              # 13000 - 2000 + 1000
         400ms < . 1 ack 10001
               = phase open
               = cwnd_bytes 2000               # min(ssthresh, max(FlightSize, SMSS) + SMSS)
         9000ms quiet",
    );
}

// RFC 6298-5.3-1
#[test]
fn newreno_restarts_its_timer_at_the_first_partial_acknowledgement_only() {
    ten_segments(recovery("newreno")).run(EIGHT_DUPLICATES).run(
        "300ms < . 1 ack 2001
               > . 2001+1000
         900ms < . 1 ack 4001
               > . 4001+1000
         1300ms > . 4001+1000            # from 300, not from 900
                = phase loss",
    );
}

#[test]
fn duplicates_up_to_recover_do_not_start_newreno_again() {
    ten_segments(recovery("newreno")).run(EIGHT_DUPLICATES).run(
        "300ms < . 1 ack 10001
               write 5000
               > . 10001+1000
               > . 11001+1000
         310ms < . 1 ack 10001
         311ms < . 1 ack 10001
         312ms < . 1 ack 10001
               = phase open
         400ms < . 1 ack 11001
               > . 12001+1000
               > . 13001+1000
         410ms < . 1 ack 11001
         411ms < . 1 ack 11001
         412ms < . 1 ack 11001
               > . 11001+1000
               > . 14001+1000            # inflated by two and three segments
               = phase recovery",
    );
}

#[test]
fn tahoe_goes_back_and_starts_slowly() {
    ten_segments(recovery("tahoe")).run(
        "200ms < . 1 ack 1
         201ms < . 1 ack 1
         202ms < . 1 ack 1
               > . 1+1000
               = cwnd_bytes 1000
               = ssthresh_bytes 5000
         203ms < . 1 ack 1
         204ms < . 1 ack 1
         205ms < . 1 ack 1
               < . 1 ack 1
         302ms < . 1 ack 2001
               > . 2001+1000
               > . 3001+1000
         402ms < . 1 ack 10001
               = phase open
               = fast_retransmissions 1
         9000ms quiet",
    );
}

#[test]
fn a_stack_may_run_another_recovery_than_the_algorithm_names() {
    let p = plain_with(|s| s.recovery = Some(LossRecovery::NewReno));
    ten_segments(p).run(EIGHT_DUPLICATES).run(
        "300ms < . 1 ack 2001
               > . 2001+1000
               = phase recovery",
    );
}

// RFC 5681-3.1-13, 5681-3.1-14, 6298-5.2-1
#[test]
fn a_timeout_goes_back_backs_off_and_halves_once() {
    ten_segments(plain()).run(
        "1100ms > . 1+1000
                = cwnd_bytes 1000
                = ssthresh_bytes 5000
                = rto 2000ms
         3100ms > . 1+1000
                = ssthresh_bytes 5000          # RFC 5681: the same segment timed out again
                = rto 4000ms
         3150ms < . 1 ack 1001
                > . 1001+1000
                > . 2001+1000
                = cwnd_bytes 2000
                = rto 4000ms            # Karn: no sample from a retransmitted segment
         3250ms < . 1 ack 10001
                = phase open
                = rto 4000ms
         3300ms write 1000
                > . 10001+1000
         3400ms < . 1 ack 11001
                = rto 1000ms            # a valid sample ends the backoff
                = srtt 100ms
         60000ms quiet",
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
    let mut s = Script::connected(p);
    s.run(
        "100ms write 1000
               > . 1+1000
         1100ms > . 1+1000
         3100ms > . 1+1000
         6100ms > . 1+1000
         9100ms > R. 1001 ack 1
                = state CLOSED
         99000ms quiet",
    );
    assert_eq!(s.stack.endpoint.failure(), Some(Failure::DataTimeout));
}

#[test]
fn timeouts_expire_at_ticks_of_a_slow_timer() {
    let p = plain_with(|s| s.timer_tick = windlass_cc::Span::from_millis(500));
    Script::connected(p).run(
        "120ms write 1000
               > . 1+1000
         1500ms > . 1+1000               # 1120 rounded up
         3500ms > . 1+1000",
    );
}

#[test]
fn a_timeout_of_other_data_is_another_loss() {
    ten_segments(plain()).run(
        "1100ms > . 1+1000
         1200ms < . 1 ack 1001
                > . 1001+1000
                > . 2001+1000
         3200ms > . 1001+1000
                = ssthresh_bytes 2000          # minimum: two segments",
    );
}

// RFC 5681-3-1
#[test]
fn retransmissions_are_full_segments_if_cwnd_has_a_fraction() {
    ten_segments(plain()).run(
        "1100ms > . 1+1000
         1200ms < . 1 ack 1001
                > . 1001+1000
                > . 2001+1000
         3200ms > . 1001+1000
         3300ms < . 1 ack 2001
                > . 2001+1000
                > . 3001+1000
         3400ms < . 1 ack 3001
                > . 4001+1000            # without 500 bytes more
                = cwnd_bytes 2500
         3410ms quiet",
    );
}

// RFC 6675-5.1-3
#[test]
fn duplicates_after_a_timeout_do_not_start_fast_retransmit() {
    for algorithm in ["tahoe", "reno", "newreno"] {
        ten_segments(recovery(algorithm)).run(
            "1100ms > . 1+1000
             1200ms < . 1 ack 1001
                    > . 1001+1000
                    > . 2001+1000
             1201ms < . 1 ack 1001
             1202ms < . 1 ack 1001
             1203ms < . 1 ack 1001
             1204ms < . 1 ack 1001
             1300ms < . 1 ack 10001
                    = phase open
                    write 2000
                    > . 10001+1000
                    > . 11001+1000
             1301ms < . 1 ack 10001      # duplicates of retransmitted data
             1302ms < . 1 ack 10001
             1303ms < . 1 ack 10001
                    = fast_retransmissions 0",
        );
    }
}

#[test]
fn pure_ack_while_going_back_has_the_highest_sequence_number_sent() {
    ten_segments(plain()).run(
        "1100ms > . 1+1000
         1150ms < . 1+500 ack 1
                > . 10001 ack 501",
    );
}

#[test]
fn timestamps_end_the_back_off_after_a_retransmission() {
    let p = plain_with(|s| s.timestamps = true);
    Script::new(p).run(
        "0ms connect
             > S 0 <...>
         100ms < S. 0 ack 1 <mss 1012, ts 900 1>
               > . 1 ack 1
               write 988
               > . 1+988 <ts * 900>
         1100ms > . 1+988 <ts * 900>
                = rto 2000ms
         1150ms < . 1 ack 989 <ts 950 1101>
                = rto 1000ms
                = srtt 93.75ms           # 7/8 of 100 and 1/8 of 50
         1200ms write 988
                > . 989+988
         2200ms > . 989+988
         2250ms < . 1 ack 1977 <ts 950 999999>
                = rto 2000ms            # an echo from the future gives no sample",
    );
}

#[test]
fn without_karn_the_sample_starts_at_the_first_transmission() {
    let p = plain_with(|s| s.karn = false);
    Script::connected(p).run(
        "100ms write 1000
               > . 1+1000
         1100ms > . 1+1000
         1200ms < . 1 ack 1001
                = srtt 225ms            # 7/8 of 100 and 1/8 of 1100",
    );
}

// RFC 5681-3.2-5, 5681-3.2-8
#[test]
fn limited_transmit_sends_two_new_segments_that_do_not_count_as_flight() {
    let mut s = ten_segments(plain_with(|s| s.limited_transmit = true));
    s.run(
        "150ms write 10000
         200ms < . 1 ack 1
               > . 10001+1000
         201ms < . 1 ack 1
               > . 11001+1000
         202ms < . 1 ack 1
               > . 1+1000
               = ssthresh_bytes 5000           # half of ten segments, not of twelve
               = cwnd_bytes 8000",
    );
}

// RFC 5681-3.2-4
#[test]
fn limited_transmit_respects_the_receive_window() {
    let mut s = ten_segments(plain_with(|s| s.limited_transmit = true));
    s.run(
        "150ms write 10000
         160ms < . 1 ack 1 win 10500
         200ms < . 1 ack 1 win 10500
         201ms < . 1 ack 1 win 10500",
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
        "100ms write 4000
               > . 1+1000
               > . 1001+1000
         200ms < . 1 ack 2001
               > . 2001+1000
               > . 3001+1000
         300ms < . 1 ack 4001
               = cwnd_bytes 4000
         1100ms write 3000               # less than an RTO since the last transmission
                > . 4001+1000
                > . 5001+1000
                > . 6001+1000
         1200ms < . 1 ack 7001
                = cwnd_bytes 5000
         2200ms write 4000
                > . 7001+1000
                > . 8001+1000
                = cwnd_bytes 2000",
    );
}

// RFC 9293-3.9.1.2-SHLD-27
#[test]
fn small_segments_are_merged_in_retransmissions_after_a_timeout() {
    // Going back N repacketises sent data (RFC 1122 section 4.2.2.15), but adds no new data.
    let mut s = Script::connected(plain());
    for n in 0..6 {
        s.run(&format!("100ms write 400\n100ms > . {}+400", 1 + 400 * n));
    }
    s.run(
        "1100ms > . 1+1000                # the first segment, the second, and half of the third
                = in_flight_bytes 1000
         1200ms < . 1 ack 1001
                > . 1001+1000             # a cwnd of two segments
                > . 2001+400
         1300ms < . 1 ack 2401
                = phase open
                = retransmissions 3",
    );
}

// RFC 5681-3.2-11
#[test]
fn further_duplicates_in_recovery_send_new_data() {
    Script::connected(plain()).run(&ten(20_000)).run(
        "200ms < . 1 ack 1
         201ms < . 1 ack 1
         202ms < . 1 ack 1
               > . 1+1000
         203ms < . 1 ack 1
         204ms < . 1 ack 1
               = cwnd_bytes 10000
         205ms < . 1 ack 1
               > . 10001+1000
         206ms < . 1 ack 1
               > . 11001+1000",
    );
}
