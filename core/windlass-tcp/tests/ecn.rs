//! Explicit congestion notification: RFC 3168, RFC 8257.

use crate::script::{PEER_ISS, Script, plain_with, ten};
use windlass_cc::AnyParams;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::setup::{Counting, MarkCut};
use windlass_tcp::{Codepoint, Profile};

fn ecn() -> Profile {
    plain_with(|s| s.ecn = true.into())
}

/// A connection with ECN and two segments in flight.
fn agreed(p: Profile) -> Script {
    let mut s = Script::new(p);
    s.run(
        "0ms connect
             > SEW 0 <...>
         100ms < SE. 0 ack 1 win 60000 <mss 1000>
               > . 1 ack 1 not-ect",
    );
    s
}

#[test]
fn ecn_is_off_if_the_peer_reflects_the_flags() {
    Script::new(ecn()).run(
        "0ms connect
             > SEW 0 <...>
         100ms < SEW. 0 ack 1 win 60000 <mss 1000>
               > . 1 ack 1
               write 1000
               > . 1+1000 not-ect",
    );
}

#[test]
fn echo_reduces_cwnd_once_per_rtt_and_is_confirmed() {
    let mut s = agreed(ecn());
    s.run(&ten(40_000));
    s.run(
        "200ms < E. 1 ack 4001
               = phase cwr
               = ssthresh_bytes 5000            # half of the flight of the marked packet
               = cwnd_bytes 5000
         210ms < E. 1 ack 6001
               > W. 10001+1000 ect        # the first new data report it
         220ms < E. 1 ack 10001           # all data before the reduction
               > . 11001+1000 ect
               > . 12001+1000 ect
               > . 13001+1000 ect
               > . 14001+1000 ect
               = phase cwr
               = ecn_reductions 1
         310ms < . 1 ack 11001
               > . 15001+1000 ect
               = phase open
         320ms < E. 1 ack 12001           # a mark after the reduction: another reduction
               = ecn_reductions 2
               = phase cwr",
    );
}

/// DCTCP: the first mark halves cwnd, the reduction takes an RTT, and ten segments are in flight.
fn spreading() -> Script {
    let mut p = ecn();
    p.params = AnyParams::by_name("dctcp").unwrap();
    p.stack.recovery = Some(LossRecovery::Prr);
    (p.stack.mark_cut, p.stack.window_counting) = (MarkCut::Proportional, Counting::Segments);
    let mut s = agreed(Profile::new(p.stack, p.params, p.mtu));
    s.run(&ten(40_000));
    s
}

#[test]
fn mark_may_reduce_cwnd_over_an_rtt_without_growth() {
    // `tcp_enter_cwr`: five segments are sent for ten delivered segments, the first at once.
    spreading().run(
        "200ms < E. 1 ack 1001
               > W. 10001+1000 ect
               = phase cwr
               = ssthresh_bytes 5000
         202ms < E. 1 ack 2001
               = cwnd_bytes 9000
         204ms < E. 1 ack 3001
               > . 11001+1000 ect
         206ms < E. 1 ack 4001
         208ms < . 1 ack 5001
               > . 12001+1000 ect
         210ms < . 1 ack 6001
         212ms < . 1 ack 7001
               > . 13001+1000 ect
         214ms < . 1 ack 8001
         216ms < . 1 ack 9001
         218ms < . 1 ack 10001
               > . 14001+1000 ect
               = phase cwr
               = ecn_reductions 1
         300ms < . 1 ack 11001            # the first segment sent after the mark
               > . 15001+1000 ect
               = phase open
               = cwnd_bytes 5000",
    );
}

#[test]
fn loss_halves_cwnd_of_dctcp_in_addition_to_a_mark() {
    // RFC 8257 section 3.5, `dctcp_react_to_loss`.
    spreading().run(
        "200ms < E. 1 ack 1001
               > W. 10001+1000 ect
               = ssthresh_bytes 5000
         201ms < E. 1 ack 1001
         202ms < E. 1 ack 1001
         203ms < E. 1 ack 1001
               > . 1001+1000 not-ect
               = phase recovery
               = ssthresh_bytes 4000            # half of the nine segments to which cwnd was reduced",
    );
}

#[test]
fn loss_in_the_rtt_of_a_mark_is_repaired_and_not_counted_twice() {
    for name in ["newreno", "reno"] {
        let mut p = ecn();
        p.params = AnyParams::by_name(name).unwrap();
        let mut s = agreed(p);
        s.run(&ten(10_000));
        s.run(
            "200ms < E. 1 ack 1001
                   = phase cwr
             201ms < E. 1 ack 1001
             202ms < E. 1 ack 1001
             203ms < E. 1 ack 1001
                   > . 1001+1000 not-ect
                   = phase recovery
                   = ssthresh_bytes 5000",
        );
    }
}

#[test]
fn a_duplicate_carries_an_echo_too() {
    let mut s = agreed(ecn());
    s.run(
        "100ms write 4000
               > . 1+1000 ect
               > . 1001+1000 ect
               > . 2001+1000 ect
               > . 3001+1000 ect
         200ms < E. 1 ack 1
               = phase cwr
               = ssthresh_bytes 2000",
    );
}

#[test]
fn retransmission_is_not_ecn_capable() {
    let mut s = agreed(ecn());
    s.run(
        "100ms write 2000
               > . 1+1000 ect
               > . 1001+1000 ect
         1100ms > . 1+1000 not-ect
         1200ms < . 1 ack 2001
                write 2000
                > W. 2001+1000 ect        # a timeout reduces cwnd too
                > . 3001+1000 ect",
    );
}

#[test]
fn exact_receiver_reports_each_change_of_mark_separately() {
    // RFC 8257 section 3.2, with delayed acknowledgements.
    let mut p = ecn();
    p.params = AnyParams::by_name("dctcp").unwrap();
    p.stack.delayed_ack_segments = 2;
    let mut s = agreed(p);
    s.run(
        "200ms < . 1+1000 ack 1 ect
         201ms < . 1001+1000 ack 1 ce
               > . 1 ack 1001             # the unmarked data, at once
               > E. 1 ack 2001
         202ms < . 2001+1000 ack 1 ce
         203ms < . 3001+1000 ack 1 ce
               > E. 1 ack 4001            # every second segment
         204ms < . 4001+1000 ack 1 ce
         205ms < . 5001+1000 ack 1 ect
               > E. 1 ack 5001
               > . 1 ack 6001",
    );
}

#[test]
fn codepoints_have_their_bits() {
    for (bits, codepoint) in
        [(0, Codepoint::NotEct), (1, Codepoint::Ect1), (2, Codepoint::Ect0), (3, Codepoint::Ce)]
    {
        assert_eq!(Codepoint::from_bits(bits), codepoint);
        assert_eq!(codepoint as u8, bits);
        assert_eq!(codepoint.is_capable(), bits != 0);
    }
}

#[test]
fn echo_counts_on_an_ack_without_other_news() {
    // RFC 3168 section 6.1.2 refers to any acknowledgement: here only the window changes.
    for recovery in [LossRecovery::NewReno, LossRecovery::Prr] {
        let mut p = ecn();
        p.stack.recovery = Some(recovery);
        agreed(p).run(
            "100ms write 4000
                   > . 1+1000 ect
                   > . 1001+1000 ect
                   > . 2001+1000 ect
                   > . 3001+1000 ect
             200ms < E. 1 ack 1 win 50000
                   = phase cwr
                   = ssthresh_bytes 2000",
        );
    }
}

#[test]
fn ack_of_data_before_a_change_of_mark_is_last_ack_sent() {
    // RFC 7323 section 4.3 compares with Last.ACK.sent, which is at most that acknowledgement.
    let mut p = ecn();
    p.params = AnyParams::by_name("dctcp").unwrap();
    (p.stack.delayed_ack_segments, p.stack.timestamps, p.mtu) = (2, true, 1052);
    let mut s = Script::new(p);
    s.run(
        "0ms connect
             > SEW 0 <...>
         100ms < SE. 0 ack 1 win 60000 <mss 1012, ts 500 1>
               > . 1 ack 1
         200ms < . 1+1000 ack 1 ect <ts 600 101>",
    );
    let now = windlass_cc::Time::from_millis(201);
    s.arrives(now, ". 1001+1000 ack 1 ce <ts 700 101>");
    let told = s.stack.endpoint.poll_transmit(&s.stack.profile, now).expect("the unmarked data");
    assert_eq!(told.ack, PEER_ISS.add(1001));
    s.arrives(now, ". 2001+1000 ack 1 ce <ts 900 101>");
    let next = s.stack.endpoint.poll_transmit(&s.stack.profile, now).expect("the rest");
    assert_eq!(next.options.timestamps.unwrap().echo, 600);
}
