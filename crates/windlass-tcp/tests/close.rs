//! Closing, resetting and aborting: RFC 9293 sections 3.6 and 3.10, RFC 5961.

use crate::script::{PEER_ISS, Script, plain, plain_with};
use windlass_cc::Span;
use windlass_tcp::{Flags, Options, Segment, Timestamps};

fn connected() -> Script {
    Script::connected(plain())
}

#[test]
fn an_active_close_passes_through_time_wait() {
    connected().run(
        "200 close
         200 > F. 1 ack 1
         200 = state FinWait1
         300 < . 1 ack 2
         300 = state FinWait2
         400 < F. 1 ack 2
         400 > . 2 ack 2
         400 = state TimeWait
         10400 < F. 1 ack 2              # the last acknowledgement was lost
         10400 > . 2 ack 2
         70399 = state TimeWait          # restarted for its full time
         70400 = state Closed
         70400 = failure none
         99000",
    );
}

#[test]
fn fin_with_ack_of_own_fin_enters_time_wait() {
    connected().run(
        "200 close
         200 > F. 1 ack 1
         300 < F. 1 ack 2
         300 > . 2 ack 2
         300 = state TimeWait",
    );
}

#[test]
fn simultaneous_close_passes_through_closing() {
    connected().run(
        "200 close
         200 > F. 1 ack 1
         210 < F. 1 ack 1
         210 > . 2 ack 2
         210 = state Closing
         310 < . 2 ack 2
         310 = state TimeWait
         60310 = state Closed",
    );
}

#[test]
fn passive_close_ends_with_the_ack_of_own_fin() {
    connected().run(
        "200 < F. 1 ack 1
         200 > . 1 ack 2
         200 = state CloseWait
         200 = at_end true
         300 offer 1000                  # half closed: this side continues
         300 > . 1+1000 ack 2
         400 < . 2 ack 1001
         400 close
         400 > F. 1001 ack 2
         400 = state LastAck
         500 < . 2 ack 1002
         500 = state Closed
         500 = failure none",
    );
}

#[test]
fn peer_may_continue_to_send_after_close() {
    connected().run(
        "200 close
         200 > F. 1 ack 1
         300 < . 1 ack 2
         310 < . 1+1000 ack 2
         310 > . 2 ack 1001
         310 = readable 1000
         400 < F. 1001+500 ack 2
         400 > . 2 ack 1502
         400 = received 1500
         400 = at_end false
         410 read 1500
         410 = at_end true",
    );
}

#[test]
fn the_fin_travels_with_the_last_data_and_is_repeated_with_them() {
    connected().run(
        "200 offer 1500
         200 > . 1+1000
         200 > . 1001+500
         250 close
         250 > F. 1501
         300 < . 1 ack 1001
         1300 > F. 1001+500              # 500 bytes and the FIN in one retransmission
         1400 < . 1 ack 1502
         1400 = state FinWait2
         9000",
    );
    connected().run("200 close\n 200 > F. 1\n 1200 > F. 1\n 3200 > F. 1\n 3200 = retransmits 0");
}

#[test]
fn closing_before_the_handshake_is_done_closes_after_it() {
    let mut s = Script::new(plain());
    s.run(
        "0 connect
         0 > S 0
         0 offer 500
         0 close
         100 < S. 0 ack 1 mss 1000
         100 > F. 1+500 ack 1
         100 = state FinWait1",
    );
}

#[test]
fn a_fin_waits_for_the_window_which_is_probed() {
    connected().run(
        "150 < . 1 ack 1 win 0
         200 close
         1200 > . 0 ack 1                  # an old sequence number, to which the peer must respond
         1250 < . 1 ack 1 win 0
         1300 < . 1 ack 1 win 1000
         1300 > F. 1
         1400 < . 1 ack 2 win 1000
         1400 = state FinWait2
         9000",
    );
}

#[test]
fn a_fin_from_beyond_a_gap_waits_for_the_gap() {
    connected().run(
        "200 < F. 1001+500 ack 1
         200 > . 1 ack 1
         200 = state Established
         300 < . 1+1000 ack 1
         300 > . 1 ack 1502
         300 = state CloseWait
         300 = received 1500",
    );
}

#[test]
fn a_fin_at_the_edge_of_a_full_window_is_taken() {
    let mut s = Script::connected(plain_with(|s| s.receive_buffer = 2000));
    s.run(
        "200 < . 1001+1000 ack 1
         200 > . 1 ack 1
         201 < F. 2001 ack 1
         201 > . 1 ack 1
         300 < . 1+1000 ack 1
         300 > . 1 ack 2002
         300 = state CloseWait",
    );
}

#[test]
fn nothing_follows_a_fin() {
    connected().run(
        "200 < F. 1+100 ack 1
         200 > . 1 ack 102
         210 < . 102+1000 ack 1
         210 > . 1 ack 102
         220 < F. 50+1000 ack 1
         220 > . 1 ack 102
         220 = received 100",
    );
    // Data that arrived early from beyond the FIN do not follow it either.
    connected().run(
        "200 < . 501+1000 ack 1
         200 > . 1 ack 1
         210 < F. 1+600 ack 1
         210 > . 1 ack 602
         210 = received 600",
    );
}

#[test]
fn data_after_a_fin_is_neither_kept_nor_reported() {
    let mut s = Script::new(plain_with(|s| s.sack = true));
    s.run(
        "0 connect
         0 > S 0 sackok
         9 < S. 0 ack 1 mss 1000 sackok
         9 > . 1 ack 1
         20 < . 2001+1000 ack 1
         20 > . 1 ack 1 sack 2001-3001
         30 < F. 1+600 ack 1
         30 > . 1 ack 602 bare
         40 < . 1001+100 ack 1
         40 > . 1 ack 602 bare",
    );
    let mut s = Script::new(plain_with(|s| s.sack = true));
    s.run(
        "0 connect
         0 > S 0 sackok
         9 < S. 0 ack 1 mss 1000 sackok
         9 > . 1 ack 1
         20 < F. 1001+100 ack 1
         20 > . 1 ack 1 sack 1001-1101
         30 < . 1051+500 ack 1
         30 > . 1 ack 1 sack 1051-1101,1001-1101  # the duplicate first",
    );
}

#[test]
fn read_sends_a_window_update_even_if_a_fin_waits_behind_a_gap() {
    let mut s = connected();
    s.run(
        "200 < . 1+6000 ack 1
         200 > . 1 ack 6001 win 4000
         210 < F. 8001+1000 ack 1
         210 > . 1 ack 6001 win 4000
         300 read 6000
         300 > . 1 ack 6001 win 10000",
    );
}

// RFC 9293-3.6-MUST-12, 9293-3.10.7.4-2
#[test]
fn only_a_reset_that_matches_exactly_resets() {
    connected().run(
        "200 < R 0                       # before the window: ignored
         210 < R 5000                    # inside: challenged
         210 > . 1 ack 1
         220 < R 60000                   # beyond the window: ignored
         220 = state Established
         230 < R 1
         230 = state Closed
         230 = failure Reset
         99000",
    );
}

// RFC 9293-3.10.7.4-1
#[test]
fn a_reset_from_before_the_stream_began_is_not_answered() {
    connected().run("200 < R 4294967295\n 201 < . 4294967295 ack 1\n 201 > . 1 ack 1");
}

// RFC 9293-3.10.7.4-4
#[test]
fn a_syn_in_a_connection_is_challenged() {
    connected().run(
        "200 < S 100 mss 1000
         200 > . 1 ack 1
         210 < S 99999 mss 1000
         210 > . 1 ack 1
         210 = state Established",
    );
}

#[test]
fn reset_after_both_sides_have_closed_is_not_a_failure() {
    connected().run(
        "200 < F. 1 ack 1
         200 > . 1 ack 2
         210 close
         210 > F. 1 ack 2
         220 < R 2
         220 = state Closed
         220 = failure none",
    );
    // In this case data were lost.
    connected().run(
        "200 < F. 1 ack 1
         200 > . 1 ack 2
         210 offer 10
         210 > . 1+10
         210 close
         210 > F. 11 ack 2
         220 < R 2
         220 = failure Reset",
    );
}

#[test]
fn abort_resets_the_peer_and_continues_to_reset_it() {
    connected().run(
        "200 offer 3000
         200 > . 1+1000
         200 > . 1001+1000
         200 > . 2001+1000
         250 abort
         250 > R. 3001 ack 1
         250 = failure Aborted
         300 < . 1 ack 1001              # the reset was lost
         300 > R 1001
         310 < R 1
         99000",
    );
}

#[test]
fn abort_sends_nothing_if_the_peer_expects_nothing() {
    let mut s = Script::new(plain());
    s.run("0 connect\n 0 > S 0\n 10 abort\n 10 = failure Aborted\n 9000");
    s.run("9000 < S. 0 ack 1\n 9000 > R 1");
    connected().run(
        "200 close
         200 > F. 1
         300 < F. 1 ack 2
         300 > . 2 ack 2
         310 abort
         310 = state Closed
         310 = failure none
         320 abort
         320 = failure none",
    );
}

// RFC 9293-3.6.1-MUST-13
#[test]
fn time_wait_lasts_as_configured() {
    let mut s = Script::connected(plain_with(|s| s.time_wait = Span::from_secs(1)));
    s.run(
        "200 close
         200 > F. 1
         300 < F. 1 ack 2
         300 > . 2 ack 2
         1299 = state TimeWait
         1300 = state Closed
         1400 < F. 1 ack 2               # too late
         1400 > R 2",
    );
}

// RFC 9293-3.6.1-SHLD-3
#[test]
fn data_that_will_not_be_read_is_answered_with_a_reset() {
    // The data arrive after both directions were closed.
    Script::connected(plain()).run(
        "100 close_both
         100 > F. 1 ack 1
         150 < . 1 ack 2
         160 < . 1+1000 ack 2
         160 > R 2
         160 = state Closed
         160 = failure Aborted",
    );
    // The data waited to be read.
    Script::connected(plain()).run(
        "150 < . 1+1000 ack 1
         150 > . 1 ack 1001
         160 close_both
         160 > R. 1 ack 1001
         160 = state Closed",
    );
    // A repetition of data taken before is not a loss.
    let mut s = Script::connected(plain());
    s.run(
        "150 < . 1+1000 ack 1
         150 > . 1 ack 1001
         150 read 1000
         160 close_both
         160 > F. 1 ack 1001
         170 < . 1+1000 ack 1
         170 > . 2 ack 1001
         180 < F. 1001 ack 2
         180 > . 2 ack 1002
         180 = state TimeWait",
    );
}

// RFC 9293-3.6.1-SHLD-4
/// RFC 6191 section 2.
#[test]
fn time_wait_gives_way_to_a_syn_from_beyond_the_old_connection() {
    let syn = |seq: u64, timestamp: Option<u32>| Segment {
        seq: PEER_ISS.add(seq),
        flags: Flags::SYN,
        options: Options {
            timestamps: timestamp.map(|value| Timestamps { value, echo: 0 }),
            ..Options::default()
        },
        ..Segment::default()
    };
    let mut without = connected();
    assert!(!without.e.gives_way_to(&syn(5_000, None)), "it is established");
    without.run("200 close\n 200 > F. 1 ack 1\n 300 < F. 1 ack 2\n 300 > . 2 ack 2");
    for (seq, timestamp, expected) in [
        (3, None, true),
        (2, None, false),
        (0, None, false),
        // The old connection had no timestamps, so its segments would be dropped.
        (0, Some(7), true),
    ] {
        assert_eq!(without.e.gives_way_to(&syn(seq, timestamp)), expected, "{seq} {timestamp:?}");
    }
    let answer = Segment { flags: Flags::SYN.with(Flags::ACK), ..syn(3, None) };
    assert!(!without.e.gives_way_to(&answer), "a new connection does not begin with a SYN-ACK");

    let mut with = Script::new(plain_with(|stack| stack.timestamps = true));
    with.run(
        "0 connect
         0 > S 0
         100 < S. 0 ack 1 win 60000 mss 1000 ts 500 1
         100 > . 1 ack 1
         200 close
         200 > F. 1 ack 1
         300 < F. 1 ack 2 ts 700 201
         300 > . 2 ack 2",
    );
    for (seq, timestamp, expected) in [
        (0, Some(701), true),
        (3, Some(700), true),
        (2, Some(700), false),
        (3, Some(699), false),
        (3, None, true),
        (2, None, false),
    ] {
        assert_eq!(with.e.gives_way_to(&syn(seq, timestamp)), expected, "{seq} {timestamp:?}");
    }
}

// RFC 7323-3.2-5, 7323-5.2-3
#[test]
fn reset_of_an_abort_carries_timestamps() {
    let mut s = Script::new(plain_with(|stack| stack.timestamps = true));
    s.run(
        "0 connect
         0 > S 0
         100 < S. 0 ack 1 mss 1000 ts 700 1
         100 > . 1 ack 1
         200 abort
         200 > R. 1 ack 1 ts 201 700",
    );
}

// RFC 9293-3.4-MUST-66
#[test]
fn reset_is_taken_at_a_closed_window() {
    let mut s = Script::connected(plain_with(|s| s.receive_buffer = 2000));
    s.run(
        "150 < . 1+1000 ack 1
         150 > . 1 ack 1001 win 1000
         160 < . 1001+1000 ack 1
         160 > . 1 ack 2001 win 0
         170 < R 2001
         170 = failure Reset",
    );
}

// RFC 9293-3.5.3-SHLD-2
#[test]
fn reset_with_data_is_taken() {
    Script::connected(plain()).run("150 < R 1+10\n 150 = failure Reset");
}
