//! Accurate ECN (RFC 9768): negotiation with all fallbacks, and the counter in the ACE field (`A`, `C` and `E`
//! are its three bits).

use crate::script::{Script, plain_with};
use windlass_cc::AnyParams;
use windlass_tcp::Profile;
use windlass_tcp::stack::EcnFeedback;

fn accurate(algorithm: &str) -> Profile {
    let mut p = plain_with(|s| s.ecn = EcnFeedback::Accurate);
    p.params = AnyParams::by_name(algorithm).expect("an algorithm");
    p
}

fn script(algorithm: &str) -> Script {
    Script::new(accurate(algorithm))
}

#[test]
fn client_requests_accurate_ecn_and_reads_the_answer_by_table_2() {
    // Flags of the SYN-ACK, flags of the third ACK, and the field of data.
    for (answer, third, field) in [
        ("S.", ".", "not-ect"),    // 000: no ECN
        ("SE.", ".", "ect"),       // 001: RFC 3168
        ("SC.", "C.", "ect"),      // 010: accurate, the SYN came without ECT
        ("SCE.", "C.", "ect"),     // 011: with ECT(1)
        ("SA.", "C.", "ect"),      // 100: with ECT(0)
        ("SAE.", "C.", "ect"),     // 101: reserved
        ("SAC.", "C.", "ect"),     // 110: with CE
        ("SACE.", ".", "not-ect"), // 111: reflected by a broken server
    ] {
        script("reno").run(&format!(
            "0 connect
             0 > SACE 0
             100 < {answer} 0 ack 1 win 60000 mss 1000
             100 > {third} 1 ack 1 not-ect
             100 offer 1000
             100 > {} 1+1000 {field}",
            if third == "C." { "AE." } else { "." }
        ));
    }
}

#[test]
fn client_reflects_the_field_of_the_syn_ack_in_its_third_ack() {
    for (field, third, later) in
        [("not-ect", "C.", "AE."), ("ect", "A.", "AE."), ("ce", "AC.", "AC.")]
    {
        script("reno").run(&format!(
            "0 connect
             0 > SACE 0
             100 < SC. 0 ack 1 win 60000 mss 1000 {field}
             100 > {third} 1 ack 1 not-ect
             100 offer 1000
             100 > {later} 1+1000 ect"
        ));
    }
}

#[test]
fn server_reflects_the_field_of_the_syn_and_takes_unknown_flags_as_a_request() {
    for (syn, field, answer) in [
        ("SACE", "not-ect", "SC."),
        ("SACE", "ect", "SA."),
        ("SACE", "ce", "SAC."),
        ("SA", "not-ect", "SC."),
        ("SCE", "not-ect", "SE."), // RFC 3168
        ("S", "not-ect", "S."),
    ] {
        script("reno").run(&format!(
            "0 listen
             10 < {syn} 0 win 60000 mss 1000 {field}
             10 > {answer} 0 ack 1"
        ));
    }
}

#[test]
fn classic_server_takes_a_request_of_accurate_ecn_as_classic() {
    Script::new(plain_with(|s| s.ecn = EcnFeedback::Classic))
        .run("0 listen\n10 < SACE 0 win 60000 mss 1000\n10 > SE. 0 ack 1");
    Script::new(plain_with(|s| s.ecn = EcnFeedback::Off))
        .run("0 listen\n10 < SACE 0 win 60000 mss 1000\n10 > S. 0 ack 1");
}

#[test]
fn third_syn_and_third_syn_ack_have_no_flags() {
    script("reno").run("0 connect\n0 > SACE 0\n1000 > SACE 0\n3000 > S 0");
    let mut s = script("reno");
    s.run(
        "0 listen
         0 < SACE 0 win 60000 mss 1000
         0 > SC. 0 ack 1
         1000 > SC. 0 ack 1
         3000 > S. 0 ack 1
         3100 < C. 1 ack 1
         3100 offer 1000
         3100 > AE. 1+1000 not-ect      # feedback, but no ECT",
    );
}

#[test]
fn cleared_feedback_stops_ect_and_the_server_still_counts_marks() {
    script("reno").run(
        "0 listen
         10 < SACE 0 win 60000 mss 1000
         10 > SC. 0 ack 1
         20 < . 1 ack 1
         20 offer 1000
         20 > AE. 1+1000 not-ect
         30 < AE. 1+1000 ack 1001 ce
         30 > AC. 1001 ack 1001",
    );
}

/// A server with ten segments in flight.
fn sending(algorithm: &str) -> Script {
    let mut s = script(algorithm);
    let sent: String = (0..10).map(|n| format!("20 > AE. {}+1000\n", 1 + 1000 * n)).collect();
    s.run(&format!(
        "0 listen
         10 < SACE 0 win 60000 mss 1000
         10 > SC. 0 ack 1
         20 < C. 1 ack 1
         20 offer 100000
         {sent}"
    ));
    s
}

#[test]
fn counter_that_advances_reduces_cwnd_once_per_rtt() {
    sending("reno").run(
        "120 < AE. 1 ack 1001
         120 = phase Open
         120 > AE. 10001+1000
         120 > AE. 11001+1000
         130 < AC. 1 ack 2001
         130 = ecn_reductions 1
         130 = phase Cwr
         140 < ACE. 1 ack 3001
         140 = ecn_reductions 1
         150 < ACE. 1 ack 4001
         150 = ecn_reductions 1",
    );
}

#[test]
fn counter_of_an_acknowledgement_without_progress_is_ignored() {
    sending("reno").run(
        "120 < AE. 1 ack 1001
         120 > AE. 10001+1000
         120 > AE. 11001+1000
         130 < AC. 1 ack 1
         130 = ecn_reductions 0",
    );
}

#[test]
fn mark_on_the_syn_ack_is_known_after_the_third_ack_and_not_counted_again() {
    let mut s = script("reno");
    s.run(
        "0 listen
         10 < SACE 0 win 60000 mss 1000
         10 > SC. 0 ack 1
         20 < AC. 1 ack 1               # the SYN-ACK was marked
         20 offer 1000
         20 > AE. 1+1000
         120 < AC. 1 ack 1001
         120 = ecn_reductions 0",
    );
}

#[test]
fn receiver_acknowledges_at_once_after_two_marks_and_after_a_change() {
    let mut p = accurate("reno");
    (p.stack.delayed_ack_segments, p.stack.receive_buffer) = (10, 60_000);
    let mut s = Script::new(p);
    s.run(
        "0 listen
         10 < SACE 0 win 60000 mss 1000
         10 > SC. 0 ack 1
         20 < C. 1 ack 1
         30 < AE. 1+1000 ack 1 ect
         31 < AE. 1001+1000 ack 1 ce
         31 > AC. 1 ack 2001            # change
         32 < AE. 2001+1000 ack 1 ce
         33 < AE. 3001+1000 ack 1 ce
         33 > . 1 ack 4001              # two marks: the counter wraps to 0
         34 < AE. 4001+1000 ack 1 ect
         34 > . 1 ack 5001              # change
         35 < AE. 5001+1000 ack 1 ect",
    );
}

#[test]
fn algorithm_with_exact_marks_takes_the_counter_without_a_phase() {
    // Alpha is one at first: the first mark halves cwnd.
    let mut s = sending("dctcp");
    s.run("120 < AC. 1 ack 1001\n120 = ssthresh 5000\n120 = cwnd 5000\n120 = phase Open");
}
