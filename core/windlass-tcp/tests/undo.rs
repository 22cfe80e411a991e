//! Undo of reductions: RFC 5682, RFC 3522, RFC 3708.

use crate::script::{Script, plain_with, ten, ten_out};
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

#[test]
fn f_rto_undoes_a_spurious_timeout() {
    // All ten segments are delayed, but none is lost.
    ten_out(with(|s| s.frto = true), 20_000).run(
        "1100ms > . 1+1000
                = phase loss
         1110ms < . 1 ack 1001
                > . 10001+1000            # new data instead of retransmissions
                > . 11001+1000
         1111ms < . 1 ack 2001            # sent before the timeout and not since
                > . 12001+1000
                = phase open
                = ssthresh infinite
                = retransmissions 1",
    );
}

#[test]
fn f_rto_continues_retransmissions_after_a_real_loss() {
    ten_out(with(|s| s.frto = true), 20_000).run(
        "1100ms > . 1+1000
         1200ms < . 1 ack 1001
                > . 10001+1000
                > . 11001+1000
         1300ms < . 1 ack 1001 <sack 10001-11001>
                > . 1001+1000
                = phase loss
                = ssthresh_bytes 5000",
    );
}

#[test]
fn without_f_rto_all_data_is_retransmitted() {
    ten_out(with(|_| ()), 20_000).run(
        "1100ms > . 1+1000
         1110ms < . 1 ack 1001
                > . 1001+1000
                > . 2001+1000
         1111ms < . 1 ack 2001
                > . 3001+1000
                > . 4001+1000
                = phase loss",
    );
}

/// Ten segments of 1000 bytes from an end with timestamps, whose values are the milliseconds plus one.
fn ten_with_timestamps(change: impl FnOnce(&mut StackConfig)) -> Script {
    let mut p = with(|s| {
        (s.timestamps, s.eifel) = (true, true);
        change(s);
    });
    p.mtu = 1052;
    let mut s = Script::new(p);
    s.run(
        "connect
         > S 0 <sackok, ...>
         100ms < S. 0 ack 1 win 60000 <mss 1012, sackok, ts 500 1>
         > . 1 ack 1",
    );
    s.run(&ten(10_000));
    s
}

#[test]
fn eifel_undoes_a_reduction_if_the_original_arrived() {
    ten_with_timestamps(|_| ()).run(
        "200ms < . 1 ack 1 <ts 600 101, sack 1001-4001>
               > . 1+1000
               = phase recovery
         210ms < . 1 ack 4001 <ts 610 101>  # the original's timestamp, not 201
               = phase open
               = cwnd_bytes 10000
               = ssthresh infinite",
    );
}

#[test]
fn eifel_accepts_a_necessary_retransmission() {
    ten_with_timestamps(|_| ()).run(
        "200ms < . 1 ack 1 <ts 600 101, sack 1001-4001>
               > . 1+1000
         300ms < . 1 ack 10001 <ts 700 201>
               = phase open
               = ssthresh_bytes 5000",
    );
}

#[test]
fn duplicate_of_other_data_undoes_nothing() {
    ten_out(with(|s| s.dsack_undo = true), 20_000).run(
        "190ms < . 1 ack 1001
               > . 10001+1000
               > . 11001+1000
         200ms < . 1 ack 1001 <sack 2001-5001>
               > . 1001+1000
         300ms < . 1 ack 5001 <sack 1-1001>  # from before the reduction
               > . 12001+1000
               = phase recovery
               = retransmissions 1
               = undone_reductions 0",
    );
}

#[test]
fn reduction_for_a_mark_is_not_undone_by_evidence_of_an_earlier_loss() {
    // `tcp_enter_cwr` discards the state that would undo an earlier reduction.
    let mut p = with(|s| (s.dsack_undo, s.ecn) = (true, true.into()));
    p.stack.pacing = windlass_tcp::Pacing::Off;
    let mut s = Script::new(p);
    s.run(
        "0ms connect
             > SEW 0 <sackok, ...>
         100ms < SE. 0 ack 1 win 60000 <mss 1000, sackok>
               > . 1 ack 1",
    );
    s.run(&ten(15_000));
    s.run(
        "200ms < . 1 ack 1 <sack 1001-4001>
               > . 1+1000
         201ms < . 1 ack 10001            # it was only late
               > W. 10001+1000
               > . 11001+1000
               > . 12001+1000
               > . 13001+1000
               > . 14001+1000
               = phase open
         300ms < E. 1 ack 11001
               = phase cwr
               = ssthresh_bytes 2500
         301ms < . 1 ack 11001 <sack 1-1001>
               = undone_reductions 0
               = phase cwr
               = ssthresh_bytes 2500",
    );
}

#[test]
fn f_rto_does_not_judge_a_timeout_within_a_recovery() {
    // RFC 5682 section 2.1 step 1: the acknowledged data may be retransmissions of the first timeout.
    let mut s = ten_out(with(|s| s.frto = true), 20_000);
    s.run(
        "1100ms > . 1+1000
         1200ms < . 1 ack 1001
                > . 10001+1000
                > . 11001+1000
         1300ms < . 1 ack 1001 <sack 10001-11001>
                > . 1001+1000
                = phase loss
         1400ms < . 1 ack 2001 <sack 10001-11001>
                > . 2001+1000
                > . 3001+1000",
    );
    s.run(
        "2400ms > . 2001+1000             # this segment is lost too
                = timeouts 2
         2500ms < . 1 ack 3001 <sack 10001-11001>
                > . 3001+1000             # no new data instead
                > . 4001+1000",
    );
}

#[test]
fn f_rto_does_not_judge_a_timeout_within_fast_recovery() {
    ten_out(with(|s| s.frto = true), 20_000).run(
        "200ms < . 1 ack 1 <sack 1001-4001>
               > . 1+1000
               = phase recovery
         1200ms > . 1+1000
                = phase loss
         1300ms < . 1 ack 4001
                > . 4001+1000             # no new data instead
                > . 5001+1000",
    );
}

/// Ten segments in flight from an end with RACK and timestamps, which show unnecessary retransmissions.
fn ten_out_with_eifel(rules: Flavour) -> Script {
    ten_with_timestamps(|s| (s.rules, s.loss_detection) = (rules, LossDetection::Rack))
}

/// `tcp_rack_detect_loss` removes a segment from the list of unexamined segments when it marks it, and an undo does
/// not add it again. Other stacks find the loss.
#[test]
fn linux_does_not_mark_a_segment_again_after_an_undo() {
    for (rules, later) in [
        (Flavour::Linux, "300ms = phase open"),
        (Flavour::Rfc, "300ms > . 2001+1000\n300ms = undone_reductions 1"),
    ] {
        let mut s = ten_out_with_eifel(rules);
        s.run(&format!(
            "200ms < . 1 ack 1 <ts 600 101, sack 3001-7001>
                   > . 1+1000
                   > . 1001+1000
                   = phase recovery
             210ms < . 1 ack 2001 <ts 610 101, sack 3001-7001> # the originals were late
                   = undone_reductions 1
             300ms < . 1 ack 2001 <ts 620 101, sack 3001-8001>
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
            "200ms < . 1 ack 1 <ts 600 101, sack 3001-7001>
                   > . 1+1000
                   > . 1001+1000
             210ms < . 1 ack 1001 <ts 610 101, sack 3001-7001>
                   = undone_reductions {undone}
             220ms < . 1 ack 3001 <ts 620 101, sack 3001-7001>
                   = undone_reductions 1
                   = phase open",
        ));
    }
}

/// The lines of ten segments of which two are retransmitted, although the originals were only late.
const TWO_RETRANSMITTED: &str = "200ms < . 1 ack 1 <sack 2001-6001>
           > . 1+1000
     201ms < . 1 ack 1 <sack 2001-10001>
           > . 1001+1000
     202ms < . 1 ack 10001
           = phase open
     202ms = undone_reductions 0\n";

#[test]
fn reduction_is_undone_by_the_duplicate_of_its_last_retransmission() {
    for rules in [Flavour::Rfc, Flavour::Linux] {
        let mut s = ten_out(with(|s| (s.dsack_undo, s.rules) = (true, rules)), 10_000);
        s.run(TWO_RETRANSMITTED);
        s.run(
            "300ms < . 1 ack 10001 <sack 1-1001>
                   = undone_reductions 0
             301ms < . 1 ack 10001 <sack 1001-2001>
                   = undone_reductions 1",
        );
    }
}

/// `tcp_dsack_seen`: the network duplicates segments, and more duplicates than retransmissions prove nothing.
#[test]
fn linux_ignores_more_duplicates_than_retransmissions() {
    for (rules, undone) in [(Flavour::Rfc, 1), (Flavour::Linux, 0)] {
        let mut s = ten_out(with(|s| (s.dsack_undo, s.rules) = (true, rules)), 10_000);
        s.run(&format!(
            "190ms < . 1 ack 1001
             191ms < . 1 ack 1001 <sack 1-1001>
             200ms < . 1 ack 1001 <sack 2001-5001>
                   > . 1001+1000
             201ms < . 1 ack 10001
                   = undone_reductions 0
             300ms < . 1 ack 10001 <sack 1001-2001>
                   = undone_reductions {undone}",
        ));
    }
}
