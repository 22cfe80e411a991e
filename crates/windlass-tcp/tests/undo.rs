//! Undo of reductions: RFC 5682, RFC 3522, RFC 3708.

use crate::script::{Script, plain_with};
use windlass_cc::Flavour;
use windlass_cc::recovery::LossRecovery;
use windlass_tcp::stack::LossDetection;
use windlass_tcp::{Profile, StackConfig};

fn with(change: impl FnOnce(&mut StackConfig)) -> Profile {
    plain_with(|s| {
        s.sack = true;
        s.recovery = Some(LossRecovery::Prr);
        change(s);
    })
}

fn ten(offered: u64) -> String {
    let segments: String = (0..10).map(|n| format!("100 > . {}+1000\n", 1 + 1000 * n)).collect();
    format!("100 offer {offered}\n{segments}")
}

fn ten_out(p: Profile) -> Script {
    let mut s = Script::connected_with_sack(p);
    s.run(&ten(20_000));
    s
}

#[test]
fn f_rto_undoes_a_spurious_timeout() {
    // All ten segments are delayed, but none is lost.
    ten_out(with(|s| s.frto = true)).run(
        "1100 > . 1+1000
         1100 = phase Loss
         1110 < . 1 ack 1001
         1110 > . 10001+1000            # new data instead of retransmissions
         1110 > . 11001+1000
         1111 < . 1 ack 2001            # sent before the timeout and not since
         1111 > . 12001+1000
         1111 = phase Open
         1111 = ssthresh 1099511627776
         1111 = retransmits 1",
    );
}

#[test]
fn f_rto_continues_retransmissions_after_a_real_loss() {
    ten_out(with(|s| s.frto = true)).run(
        "1100 > . 1+1000
         1200 < . 1 ack 1001
         1200 > . 10001+1000
         1200 > . 11001+1000
         1300 < . 1 ack 1001 sack 10001-11001
         1300 > . 1001+1000
         1300 = phase Loss
         1300 = ssthresh 5000",
    );
}

#[test]
fn without_f_rto_all_data_is_retransmitted() {
    ten_out(with(|_| ())).run(
        "1100 > . 1+1000
         1110 < . 1 ack 1001
         1110 > . 1001+1000
         1110 > . 2001+1000
         1111 < . 1 ack 2001
         1111 > . 3001+1000
         1111 > . 4001+1000
         1111 = phase Loss",
    );
}

/// Ten segments of 1000 bytes with timestamps, whose values are the milliseconds plus one.
fn ten_with_timestamps() -> Script {
    let mut p = with(|s| (s.timestamps, s.eifel) = (true, true));
    p.mtu = 1052;
    let mut s = Script::new(p);
    let handshake = "0 connect
         0 > S 0 sackok
         100 < S. 0 ack 1 win 60000 mss 1012 sackok ts 500 1
         100 > . 1 ack 1\n";
    s.run(&(handshake.to_owned() + &ten(10_000)));
    s
}

#[test]
fn eifel_undoes_a_reduction_if_the_original_arrived() {
    ten_with_timestamps().run(
        "200 < . 1 ack 1 ts 600 101 sack 1001-4001
         200 > . 1+1000
         200 = phase Recovery
         210 < . 1 ack 4001 ts 610 101  # the original's timestamp, not 201
         210 = phase Open
         210 = cwnd 10000
         210 = ssthresh 1099511627776",
    );
}

#[test]
fn eifel_accepts_a_necessary_retransmission() {
    ten_with_timestamps().run(
        "200 < . 1 ack 1 ts 600 101 sack 1001-4001
         200 > . 1+1000
         300 < . 1 ack 10001 ts 700 201
         300 = phase Open
         300 = ssthresh 5000",
    );
}

#[test]
fn duplicates_reported_for_each_retransmission_undo_the_reduction() {
    ten_out(with(|s| s.dsack_undo = true)).run(
        "200 < . 1 ack 1 sack 1001-4001
         200 > . 1+1000
         201 < . 1 ack 10001            # it was only late
         201 > . 10001+1000
         201 > . 11001+1000
         201 > . 12001+1000
         201 > . 13001+1000
         201 > . 14001+1000
         201 = ssthresh 5000
         300 < . 1 ack 10001 sack 1-1001
         300 > . 15001+1000
         300 > . 16001+1000
         300 > . 17001+1000
         300 > . 18001+1000
         300 > . 19001+1000
         300 = cwnd 10000
         300 = ssthresh 1099511627776",
    );
}

#[test]
fn duplicate_of_other_data_undoes_nothing() {
    ten_out(with(|s| s.dsack_undo = true)).run(
        "190 < . 1 ack 1001
         190 > . 10001+1000
         190 > . 11001+1000
         200 < . 1 ack 1001 sack 2001-5001
         200 > . 1001+1000
         300 < . 1 ack 5001 sack 1-1001  # from before the reduction
         300 > . 12001+1000
         300 = phase Recovery
         300 = retransmits 1
         300 = undone 0",
    );
}

#[test]
fn reduction_for_a_mark_is_not_undone_by_evidence_of_an_earlier_loss() {
    // `tcp_enter_cwr` discards the state that would undo an earlier reduction.
    let mut p = with(|s| (s.dsack_undo, s.ecn) = (true, true.into()));
    p.stack.pacing = windlass_tcp::Pacing::Off;
    let mut s = Script::new(p);
    s.run(
        "0 connect
         0 > SEC 0 sackok
         100 < SE. 0 ack 1 win 60000 mss 1000 sackok
         100 > . 1 ack 1",
    );
    s.run(&ten(15_000));
    s.run(
        "200 < . 1 ack 1 sack 1001-4001
         200 > . 1+1000
         201 < . 1 ack 10001            # it was only late
         201 > C. 10001+1000
         201 > . 11001+1000
         201 > . 12001+1000
         201 > . 13001+1000
         201 > . 14001+1000
         201 = phase Open
         300 < E. 1 ack 11001
         300 = phase Cwr
         300 = ssthresh 2500
         301 < . 1 ack 11001 sack 1-1001
         301 = undone 0
         301 = phase Cwr
         301 = ssthresh 2500",
    );
}

#[test]
fn f_rto_does_not_judge_a_timeout_within_a_recovery() {
    // RFC 5682 section 2.1 step 1: the acknowledged data may be retransmissions of the first timeout.
    let mut s = ten_out(with(|s| s.frto = true));
    s.run(
        "1100 > . 1+1000
         1200 < . 1 ack 1001
         1200 > . 10001+1000
         1200 > . 11001+1000
         1300 < . 1 ack 1001 sack 10001-11001
         1300 > . 1001+1000
         1300 = phase Loss
         1400 < . 1 ack 2001 sack 10001-11001
         1400 > . 2001+1000
         1400 > . 3001+1000",
    );
    s.run(
        "2400 > . 2001+1000             # this segment is lost too
         2400 = rto_count 2
         2500 < . 1 ack 3001 sack 10001-11001
         2500 > . 3001+1000             # no new data instead
         2500 > . 4001+1000",
    );
}

#[test]
fn f_rto_does_not_judge_a_timeout_within_fast_recovery() {
    ten_out(with(|s| s.frto = true)).run(
        "200 < . 1 ack 1 sack 1001-4001
         200 > . 1+1000
         200 = phase Recovery
         1200 > . 1+1000
         1200 = phase Loss
         1300 < . 1 ack 4001
         1300 > . 4001+1000             # no new data instead
         1300 > . 5001+1000",
    );
}

/// Ten segments in flight from an end with RACK and timestamps, which show unnecessary retransmissions.
fn ten_out_with_eifel(rules: Flavour) -> Script {
    let mut p = with(|s| {
        (s.timestamps, s.eifel, s.rules) = (true, true, rules);
        s.loss_detection = LossDetection::Rack;
    });
    p.mtu = 1052;
    let mut s = Script::new(p);
    let handshake = "0 connect
         0 > S 0 sackok
         100 < S. 0 ack 1 win 60000 mss 1012 sackok ts 500 1
         100 > . 1 ack 1\n";
    s.run(&(handshake.to_owned() + &ten(10_000)));
    s
}

/// `tcp_rack_detect_loss` removes a segment from the list of unexamined segments when it marks it, and an undo does
/// not add it again. Other stacks find the loss.
#[test]
fn linux_does_not_mark_a_segment_again_after_an_undo() {
    for (rules, later) in
        [(Flavour::Linux, "300 = phase Open"), (Flavour::Rfc, "300 > . 2001+1000\n300 = undone 1")]
    {
        let mut s = ten_out_with_eifel(rules);
        s.run(&format!(
            "200 < . 1 ack 1 ts 600 101 sack 3001-7001
             200 > . 1+1000
             200 > . 1001+1000
             200 = phase Recovery
             210 < . 1 ack 2001 ts 610 101 sack 3001-7001 # the originals were late
             210 = undone 1
             300 < . 1 ack 2001 ts 620 101 sack 3001-8001
             {later}",
        ));
    }
}

/// `tcp_try_undo_partial`. The original of the first segment was late, and the copy of the second is in flight.
#[test]
fn linux_does_not_undo_while_a_retransmission_is_in_flight() {
    for (rules, undone) in [(Flavour::Linux, 0), (Flavour::Rfc, 1)] {
        let mut s = ten_out_with_eifel(rules);
        s.run(&format!(
            "200 < . 1 ack 1 ts 600 101 sack 3001-7001
             200 > . 1+1000
             200 > . 1001+1000
             210 < . 1 ack 1001 ts 610 101 sack 3001-7001
             210 = undone {undone}
             220 < . 1 ack 3001 ts 620 101 sack 3001-7001
             220 = undone 1
             220 = phase Open",
        ));
    }
}

/// The lines of ten segments of which two are retransmitted, although the originals were only late.
const TWO_RETRANSMITTED: &str = "200 < . 1 ack 1 sack 2001-6001
     200 > . 1+1000
     201 < . 1 ack 1 sack 2001-10001
     201 > . 1001+1000
     202 < . 1 ack 10001
     202 = phase Open
     202 = undone 0\n";

#[test]
fn reduction_is_undone_by_the_duplicate_of_its_last_retransmission() {
    for rules in [Flavour::Rfc, Flavour::Linux] {
        let mut s = Script::connected_with_sack(with(|s| (s.dsack_undo, s.rules) = (true, rules)));
        s.run(&ten(10_000));
        s.run(TWO_RETRANSMITTED);
        s.run(
            "300 < . 1 ack 10001 sack 1-1001
             300 = undone 0
             301 < . 1 ack 10001 sack 1001-2001
             301 = undone 1",
        );
    }
}

/// `tcp_dsack_seen`: the network duplicates segments, and more duplicates than retransmissions prove nothing.
#[test]
fn linux_ignores_more_duplicates_than_retransmissions() {
    for (rules, undone) in [(Flavour::Rfc, 1), (Flavour::Linux, 0)] {
        let mut s = Script::connected_with_sack(with(|s| (s.dsack_undo, s.rules) = (true, rules)));
        s.run(&ten(10_000));
        s.run(&format!(
            "190 < . 1 ack 1001
             191 < . 1 ack 1001 sack 1-1001
             200 < . 1 ack 1001 sack 2001-5001
             200 > . 1001+1000
             201 < . 1 ack 10001
             201 = undone 0
             300 < . 1 ack 10001 sack 1001-2001
             300 = undone {undone}",
        ));
    }
}
