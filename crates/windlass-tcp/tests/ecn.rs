//! Explicit congestion notification: RFC 3168, RFC 8257.

use crate::script::{self, Script, plain_with};
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
        "0 connect
         0 > SEC 0
         100 < SE. 0 ack 1 win 60000 mss 1000
         100 > . 1 ack 1 not-ect",
    );
    s
}

#[test]
fn ecn_is_negotiated_in_the_handshake() {
    agreed(ecn()).run("100 offer 1000\n100 > . 1+1000 ect");
    let mut s = Script::new(ecn());
    s.run(
        "0 listen
         10 < SEC 0 win 60000 mss 1000
         10 > SE. 0 ack 1
         20 < . 1 ack 1
         20 offer 1000
         20 > . 1+1000 ect",
    );
}

#[test]
fn ecn_is_off_if_the_peer_lacks_it_or_reflects_the_flags() {
    for answer in ["S.", "SEC."] {
        let mut s = Script::new(ecn());
        s.run(&format!(
            "0 connect
             0 > SEC 0
             100 < {answer} 0 ack 1 win 60000 mss 1000
             100 > . 1 ack 1
             100 offer 1000
             100 > . 1+1000 not-ect"
        ));
    }
    let mut s = Script::new(plain_with(|_| ()));
    s.run("0 listen\n10 < SEC 0 mss 1000\n10 > S. 0 ack 1");
}

#[test]
fn echo_reduces_cwnd_once_per_rtt_and_is_confirmed() {
    let mut s = agreed(ecn());
    let sent: String = (0..10).map(|n| format!("100 > . {}+1000 ect\n", 1 + 1000 * n)).collect();
    s.run(&format!("100 offer 40000\n{sent}"));
    s.run(
        "200 < E. 1 ack 4001
         200 = phase Cwr
         200 = ssthresh 5000            # half of the flight of the marked packet
         200 = cwnd 5000
         210 < E. 1 ack 6001
         210 > C. 10001+1000 ect        # the first new data report it
         220 < E. 1 ack 10001           # all data before the reduction
         220 > . 11001+1000 ect
         220 > . 12001+1000 ect
         220 > . 13001+1000 ect
         220 > . 14001+1000 ect
         220 = phase Cwr
         220 = ecn_reductions 1
         310 < . 1 ack 11001
         310 > . 15001+1000 ect
         310 = phase Open
         320 < E. 1 ack 12001           # a mark after the reduction: another reduction
         320 = ecn_reductions 2
         320 = phase Cwr",
    );
}

/// DCTCP: the first mark halves cwnd, the reduction takes an RTT, and ten segments are in flight.
fn spreading() -> Script {
    let mut p = ecn();
    p.params = AnyParams::by_name("dctcp").unwrap();
    p.stack.recovery = Some(LossRecovery::Prr);
    (p.stack.mark_cut, p.stack.window_counting) = (MarkCut::Proportional, Counting::Segments);
    let mut s = agreed(Profile::new(p.stack, p.params, p.mtu));
    let sent: String = (0..10).map(|n| format!("100 > . {}+1000 ect\n", 1 + 1000 * n)).collect();
    s.run(&format!("100 offer 40000\n{sent}"));
    s
}

#[test]
fn mark_may_reduce_cwnd_over_an_rtt_without_growth() {
    // `tcp_enter_cwr`: five segments are sent for ten delivered segments, the first at once.
    spreading().run(
        "200 < E. 1 ack 1001
         200 = phase Cwr
         200 = ssthresh 5000
         200 > C. 10001+1000 ect
         202 < E. 1 ack 2001
         202 = cwnd 9000
         204 < E. 1 ack 3001
         204 > . 11001+1000 ect
         206 < E. 1 ack 4001
         208 < . 1 ack 5001
         208 > . 12001+1000 ect
         210 < . 1 ack 6001
         212 < . 1 ack 7001
         212 > . 13001+1000 ect
         214 < . 1 ack 8001
         216 < . 1 ack 9001
         218 < . 1 ack 10001
         218 > . 14001+1000 ect
         218 = phase Cwr
         218 = ecn_reductions 1
         300 < . 1 ack 11001            # the first segment sent after the mark
         300 = phase Open
         300 = cwnd 5000
         300 > . 15001+1000 ect",
    );
}

#[test]
fn loss_halves_cwnd_of_dctcp_in_addition_to_a_mark() {
    // RFC 8257 section 3.5, `dctcp_react_to_loss`.
    spreading().run(
        "200 < E. 1 ack 1001
         200 = ssthresh 5000
         200 > C. 10001+1000 ect
         201 < E. 1 ack 1001
         202 < E. 1 ack 1001
         203 < E. 1 ack 1001
         203 > . 1001+1000 not-ect
         203 = phase Recovery
         203 = ssthresh 4000            # half of the nine segments to which cwnd was reduced",
    );
}

#[test]
fn loss_in_the_rtt_of_a_mark_is_repaired_and_not_counted_twice() {
    for name in ["newreno", "reno"] {
        let mut p = ecn();
        p.params = AnyParams::by_name(name).unwrap();
        let mut s = agreed(p);
        let sent: String = (0..10).map(|n| format!("100 > . {}+1000\n", 1 + 1000 * n)).collect();
        s.run(&format!("100 offer 10000\n{sent}"));
        s.run(
            "200 < E. 1 ack 1001
             200 = phase Cwr
             201 < E. 1 ack 1001
             202 < E. 1 ack 1001
             203 < E. 1 ack 1001
             203 > . 1001+1000 not-ect
             203 = phase Recovery
             203 = ssthresh 5000",
        );
    }
}

#[test]
fn a_duplicate_carries_an_echo_too() {
    let mut s = agreed(ecn());
    s.run(
        "100 offer 4000
         100 > . 1+1000 ect
         100 > . 1001+1000 ect
         100 > . 2001+1000 ect
         100 > . 3001+1000 ect
         200 < E. 1 ack 1
         200 = phase Cwr
         200 = ssthresh 2000",
    );
}

#[test]
fn a_receiver_echoes_until_the_window_is_reduced() {
    let mut s = agreed(ecn());
    s.run(
        "200 < . 1+1000 ack 1 ect
         200 > . 1 ack 1001
         210 < . 1001+1000 ack 1 ce
         210 > E. 1 ack 2001
         220 < . 2001+1000 ack 1 ect
         220 > E. 1 ack 3001
         230 < C. 3001+1000 ack 1 ect
         230 > . 1 ack 4001
         240 < C. 4001+1000 ack 1 ce    # reduced, and marked again
         240 > E. 1 ack 5001",
    );
}

#[test]
fn retransmission_is_not_ecn_capable() {
    let mut s = agreed(ecn());
    s.run(
        "100 offer 2000
         100 > . 1+1000 ect
         100 > . 1001+1000 ect
         1100 > . 1+1000 not-ect
         1200 < . 1 ack 2001
         1200 offer 2000
         1200 > C. 2001+1000 ect        # a timeout reduces cwnd too
         1200 > . 3001+1000 ect",
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
        "200 < . 1+1000 ack 1 ect
         201 < . 1001+1000 ack 1 ce
         201 > . 1 ack 1001             # the unmarked data, at once
         201 > E. 1 ack 2001
         202 < . 2001+1000 ack 1 ce
         203 < . 3001+1000 ack 1 ce
         203 > E. 1 ack 4001            # every second segment
         204 < . 4001+1000 ack 1 ce
         205 < . 5001+1000 ack 1 ect
         205 > E. 1 ack 5001
         205 > . 1 ack 6001",
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
            "100 offer 4000
             100 > . 1+1000 ect
             100 > . 1001+1000 ect
             100 > . 2001+1000 ect
             100 > . 3001+1000 ect
             200 < E. 1 ack 1 win 50000
             200 = phase Cwr
             200 = ssthresh 2000",
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
        "0 connect
         0 > SEC 0
         100 < SE. 0 ack 1 win 60000 mss 1012 ts 500 1
         100 > . 1 ack 1
         200 < . 1+1000 ack 1 ect ts 600 101",
    );
    let now = windlass_cc::Time::from_millis(201);
    let arrive = |s: &mut Script, text| s.e.on_segment(&s.p, now, &script::segment(text));
    arrive(&mut s, ". 1001+1000 ack 1 ce ts 700 101");
    let told = s.e.poll_transmit(&s.p, now).expect("the unmarked data");
    assert_eq!(told.ack, script::PEER_ISS.add(1001));
    arrive(&mut s, ". 2001+1000 ack 1 ce ts 900 101");
    let next = s.e.poll_transmit(&s.p, now).expect("the rest");
    assert_eq!(next.options.timestamps.unwrap().echo, 600);
}
