//! Accurate ECN (RFC 9768): negotiation with all fallbacks, and the counter in the ACE field (`A`, `C` and `E`
//! are its three bits).

use crate::script::{Script, plain, plain_with};
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
        ("SW.", "W.", "ect"),      // 010: accurate, the SYN came without ECT
        ("SWE.", "W.", "ect"),     // 011: with ECT(1)
        ("SA.", "W.", "ect"),      // 100: with ECT(0)
        ("SAE.", "W.", "ect"),     // 101: reserved
        ("SAW.", "W.", "ect"),     // 110: with CE
        ("SAWE.", ".", "not-ect"), // 111: reflected by a broken server
    ] {
        script("reno").run(&format!(
            "0ms connect
                 > SAWE 0 <...>
             100ms < {answer} 0 ack 1 win 60000 <mss 1000>
                   > {third} 1 ack 1 not-ect
                   write 1000
                   > {} 1+1000 {field}",
            if third == "W." { "AE." } else { "." }
        ));
    }
}

#[test]
fn server_takes_unknown_flags_as_a_request() {
    script("reno").run("0ms listen\n10ms < SA 0 win 60000 <mss 1000>\n10ms > SW. 0 ack 1 <...>");
}

#[test]
fn server_without_ecn_ignores_a_request() {
    Script::new(plain())
        .run("0ms listen\n10ms < SAWE 0 win 60000 <mss 1000>\n10ms > S. 0 ack 1 <...>");
}

#[test]
fn cleared_feedback_stops_ect_and_the_server_still_counts_marks() {
    script("reno").run(
        "0ms listen
         10ms < SAWE 0 win 60000 <mss 1000>
              > SW. 0 ack 1 <...>
         20ms < . 1 ack 1
              write 1000
              > AE. 1+1000 not-ect
         30ms < AE. 1+1000 ack 1001 ce
              > AW. 1001 ack 1001",
    );
}

/// A server with ten segments in flight.
fn sending(algorithm: &str) -> Script {
    let mut s = script(algorithm);
    let sent: String = (0..10).map(|n| format!("20ms > AE. {}+1000\n", 1 + 1000 * n)).collect();
    s.run(&format!(
        "0ms listen
         10ms < SAWE 0 win 60000 <mss 1000>
              > SW. 0 ack 1 <...>
         20ms < W. 1 ack 1
              write 100000
         {sent}"
    ));
    s
}

#[test]
fn counter_that_advances_reduces_cwnd_once_per_rtt() {
    sending("reno").run(
        "120ms < AE. 1 ack 1001
               > AE. 10001+1000
               > AE. 11001+1000
               = phase open
         130ms < AW. 1 ack 2001
               = ecn_reductions 1
               = phase cwr
         140ms < AWE. 1 ack 3001
               = ecn_reductions 1
         150ms < AWE. 1 ack 4001
               = ecn_reductions 1",
    );
}

#[test]
fn receiver_acknowledges_at_once_after_two_marks_and_after_a_change() {
    let mut p = accurate("reno");
    (p.stack.delayed_ack_segments, p.stack.receive_buffer) = (10, 60_000);
    let mut s = Script::new(p);
    s.run(
        "0ms listen
         10ms < SAWE 0 win 60000 <mss 1000>
              > SW. 0 ack 1 <...>
         20ms < W. 1 ack 1
         30ms < AE. 1+1000 ack 1 ect
         31ms < AE. 1001+1000 ack 1 ce
              > AW. 1 ack 2001            # change
         32ms < AE. 2001+1000 ack 1 ce
         33ms < AE. 3001+1000 ack 1 ce
              > . 1 ack 4001              # two marks: the counter wraps to 0
         34ms < AE. 4001+1000 ack 1 ect
              > . 1 ack 5001              # change
         35ms < AE. 5001+1000 ack 1 ect",
    );
}

#[test]
fn algorithm_with_exact_marks_takes_the_counter_without_a_phase() {
    // Alpha is one at first: the first mark halves cwnd.
    let mut s = sending("dctcp");
    s.run("120ms < AW. 1 ack 1001\n120ms = ssthresh_bytes 5000\n120ms = cwnd_bytes 5000\n120ms = phase open");
}
