//! Closing, resetting and aborting: RFC 9293 sections 3.6 and 3.10, RFC 5961.

use crate::script::{PEER_ISS, Script, plain, plain_with};
use windlass_cc::Span;
use windlass_tcp::{Failure, Flags, Options, Segment, Timestamps};

fn connected() -> Script {
    Script::connected(plain())
}

#[test]
fn fin_with_ack_of_own_fin_enters_time_wait() {
    connected().run(
        "200ms shutdown
               > F. 1 ack 1
         300ms < F. 1 ack 2
               > . 2 ack 2
               = state TIME-WAIT",
    );
}

#[test]
fn the_fin_travels_with_the_last_data_and_is_repeated_with_them() {
    connected().run(
        "200ms write 1500
               > . 1+1000
               > . 1001+500
         250ms shutdown
               > F. 1501
         300ms < . 1 ack 1001
         1300ms > F. 1001+500              # 500 bytes and the FIN in one retransmission
         1400ms < . 1 ack 1502
                = state FIN-WAIT-2
         9000ms quiet",
    );
    connected().run("200ms shutdown\n 200ms > F. 1\n 1200ms > F. 1\n 3200ms > F. 1\n 3200ms = retransmissions 0");
}

#[test]
fn closing_before_the_handshake_is_done_closes_after_it() {
    let mut s = Script::new(plain());
    s.run(
        "0ms connect
             > S 0 <...>
             write 500
             shutdown
         100ms < S. 0 ack 1 <mss 1000>
               > F. 1+500 ack 1
               = state FIN-WAIT-1",
    );
}

#[test]
fn a_fin_waits_for_the_window_which_is_probed() {
    connected().run(
        "150ms < . 1 ack 1 win 0
         200ms shutdown
         1200ms > . 0 ack 1                  # an old sequence number, to which the peer must respond
         1250ms < . 1 ack 1 win 0
         1300ms < . 1 ack 1 win 1000
                > F. 1
         1400ms < . 1 ack 2 win 1000
                = state FIN-WAIT-2
         9000ms quiet",
    );
}

#[test]
fn a_fin_from_beyond_a_gap_waits_for_the_gap() {
    connected().run(
        "200ms < F. 1001+500 ack 1
               > . 1 ack 1
               = state ESTABLISHED
         300ms < . 1+1000 ack 1
               > . 1 ack 1502
               = state CLOSE-WAIT
               = received_bytes 1500",
    );
}

#[test]
fn a_fin_at_the_edge_of_a_full_window_is_taken() {
    let mut s = Script::connected(plain_with(|s| s.receive_buffer = 2000));
    s.run(
        "200ms < . 1001+1000 ack 1
               > . 1 ack 1
         201ms < F. 2001 ack 1
               > . 1 ack 1
         300ms < . 1+1000 ack 1
               > . 1 ack 2002
               = state CLOSE-WAIT",
    );
}

#[test]
fn nothing_follows_a_fin() {
    connected().run(
        "200ms < F. 1+100 ack 1
               > . 1 ack 102
         210ms < . 102+1000 ack 1
               > . 1 ack 102
         220ms < F. 50+1000 ack 1
               > . 1 ack 102
               = received_bytes 100",
    );
    // Data that arrived early from beyond the FIN do not follow it either.
    connected().run(
        "200ms < . 501+1000 ack 1
               > . 1 ack 1
         210ms < F. 1+600 ack 1
               > . 1 ack 602
               = received_bytes 600",
    );
}

#[test]
fn data_after_a_fin_is_neither_kept_nor_reported() {
    let mut s = Script::new(plain_with(|s| s.sack = true));
    s.run(
        "0ms connect
             > S 0 <sackok, ...>
         9ms < S. 0 ack 1 <mss 1000, sackok>
             > . 1 ack 1
         20ms < . 2001+1000 ack 1
              > . 1 ack 1 <sack 2001-3001>
         30ms < F. 1+600 ack 1
              > . 1 ack 602
         40ms < . 1001+100 ack 1
              > . 1 ack 602",
    );
    let mut s = Script::new(plain_with(|s| s.sack = true));
    s.run(
        "0ms connect
             > S 0 <sackok, ...>
         9ms < S. 0 ack 1 <mss 1000, sackok>
             > . 1 ack 1
         20ms < F. 1001+100 ack 1
              > . 1 ack 1 <sack 1001-1101>
         30ms < . 1051+500 ack 1
              > . 1 ack 1 <sack 1051-1101 1001-1101>  # the duplicate first",
    );
}

#[test]
fn read_sends_a_window_update_even_if_a_fin_waits_behind_a_gap() {
    let mut s = connected();
    s.run(
        "200ms < . 1+6000 ack 1
               > . 1 ack 6001 win 4000
         210ms < F. 8001+1000 ack 1
               > . 1 ack 6001 win 4000
         300ms read 6000
               > . 1 ack 6001 win 10000",
    );
}

// RFC 9293-3.10.7.4-1
#[test]
fn a_reset_from_before_the_stream_began_is_not_answered() {
    connected().run("200ms < R -1\n 201ms < . -1 ack 1\n 201ms > . 1 ack 1");
}

#[test]
fn reset_after_both_sides_have_closed_is_not_a_failure() {
    connected().run(
        "200ms < F. 1 ack 1
               > . 1 ack 2
         210ms shutdown
               > F. 1 ack 2
         220ms < R 2
               = state CLOSED
               = error none",
    );
    // In this case data were lost.
    connected().run(
        "200ms < F. 1 ack 1
               > . 1 ack 2
         210ms write 10
               > . 1+10
               shutdown
               > F. 11 ack 2
         220ms < R 2
               = error reset",
    );
}

#[test]
fn abort_resets_the_peer_and_continues_to_reset_it() {
    let mut s = connected();
    s.run(
        "200ms write 3000
               > . 1+1000
               > . 1001+1000
               > . 2001+1000
         250ms abort
               > R. 3001 ack 1
         300ms < . 1 ack 1001              # the reset was lost
               > R 1001
         310ms < R 1
         99000ms quiet",
    );
    assert_eq!(s.stack.endpoint.failure(), Some(Failure::Aborted));
}

#[test]
fn abort_sends_nothing_if_the_peer_expects_nothing() {
    let mut s = Script::new(plain());
    s.run("connect\n > S 0 <...>\n 10ms abort\n 9000ms < S. 0 ack 1\n > R 1");
    connected().run(
        "200ms shutdown
               > F. 1
         300ms < F. 1 ack 2
               > . 2 ack 2
         310ms abort
               = state CLOSED
               = error none
         320ms abort
               = error none",
    );
}

// RFC 9293-3.6.1-MUST-13
#[test]
fn time_wait_lasts_as_configured() {
    let mut s = Script::connected(plain_with(|s| s.time_wait = Span::from_secs(1)));
    s.run(
        "200ms shutdown
               > F. 1
         300ms < F. 1 ack 2
               > . 2 ack 2
         800ms < F. 1 ack 2                # the last acknowledgement was lost
               > . 2 ack 2
         1799ms = state TIME-WAIT           # restarted for its full time
         1800ms = state CLOSED
                = error none
         1900ms < F. 1 ack 2               # too late
                > R 2",
    );
}

#[test]
fn repetition_of_data_that_were_read_does_not_reset_a_closed_connection() {
    connected().run(
        "150ms < . 1+1000 ack 1
               > . 1 ack 1001
               read 1000
         160ms close
               > F. 1 ack 1001
         170ms < . 1+1000 ack 1
               > . 2 ack 1001
         180ms < F. 1001 ack 2
               > . 2 ack 1002
               = state TIME-WAIT",
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
    assert!(!without.stack.endpoint.gives_way_to(&syn(5_000, None)), "it is established");
    without.run("200ms shutdown\n 200ms > F. 1 ack 1\n 300ms < F. 1 ack 2\n 300ms > . 2 ack 2");
    for (seq, timestamp, expected) in [
        (3, None, true),
        (2, None, false),
        (0, None, false),
        // The old connection had no timestamps, so its segments would be dropped.
        (0, Some(7), true),
    ] {
        assert_eq!(
            without.stack.endpoint.gives_way_to(&syn(seq, timestamp)),
            expected,
            "{seq} {timestamp:?}"
        );
    }
    let answer = Segment { flags: Flags::SYN.with(Flags::ACK), ..syn(3, None) };
    assert!(
        !without.stack.endpoint.gives_way_to(&answer),
        "a new connection does not begin with a SYN-ACK"
    );

    let mut with = Script::new(plain_with(|stack| stack.timestamps = true));
    with.run(
        "0ms connect
             > S 0 <...>
         100ms < S. 0 ack 1 win 60000 <mss 1000, ts 500 1>
               > . 1 ack 1
         200ms shutdown
               > F. 1 ack 1
         300ms < F. 1 ack 2 <ts 700 201>
               > . 2 ack 2",
    );
    for (seq, timestamp, expected) in [
        (0, Some(701), true),
        (3, Some(700), true),
        (2, Some(700), false),
        (3, Some(699), false),
        (3, None, true),
        (2, None, false),
    ] {
        assert_eq!(
            with.stack.endpoint.gives_way_to(&syn(seq, timestamp)),
            expected,
            "{seq} {timestamp:?}"
        );
    }
}

// RFC 7323-3.2-5, 7323-5.2-3
#[test]
fn reset_of_an_abort_carries_timestamps() {
    let mut s = Script::new(plain_with(|stack| stack.timestamps = true));
    s.run(
        "0ms connect
             > S 0 <...>
         100ms < S. 0 ack 1 <mss 1000, ts 700 1>
               > . 1 ack 1
         200ms abort
               > R. 1 ack 1 <ts * 700>",
    );
}

// RFC 9293-3.4-MUST-66
#[test]
fn reset_is_taken_at_a_closed_window() {
    let mut s = Script::connected(plain_with(|s| s.receive_buffer = 2000));
    s.run(
        "150ms < . 1+1000 ack 1
               > . 1 ack 1001 win 1000
         160ms < . 1001+1000 ack 1
               > . 1 ack 2001 win 0
         170ms < R 2001
               = error reset",
    );
}

// RFC 9293-3.5.3-SHLD-2
#[test]
fn reset_with_data_is_taken() {
    Script::connected(plain()).run("150ms < R 1+10\n 150ms = error reset");
}
