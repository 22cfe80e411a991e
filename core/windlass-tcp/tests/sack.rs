//! Recovery by scoreboard: RFC 6675, 2883 and 9937.

use crate::script::{Script, plain_with, ten, ten_out};
use windlass_cc::recovery::LossRecovery;
use windlass_tcp::Profile;
use windlass_tcp::stack::LossCut;

fn with(recovery: LossRecovery) -> Profile {
    plain_with(|s| {
        s.sack = true;
        s.recovery = Some(recovery);
    })
}

// RFC 5681-4.3-2, 6675-5-6
#[test]
fn loss_reduces_from_the_flight_or_from_cwnd() {
    // Six segments in flight, a cwnd of ten. With the larger cwnd there is space for the rescue
    // retransmission of rule 4 of RFC 6675's NextSeg, because there are no new data.
    for (cut, ssthresh, rescue) in
        [(LossCut::Flight, 3_000, ""), (LossCut::Window, 5_000, "200ms > . 5001+1000")]
    {
        let mut p = with(LossRecovery::Sack);
        p.stack.loss_cut = cut;
        let segments: String =
            (0..6).map(|n| format!("100ms > . {}+1000\n", 1 + 1000 * n)).collect();
        Script::connected_with_sack(p).run(&format!(
            "100ms write 6000
             {segments}
             200ms < . 1 ack 1 <sack 1001-4001>
                   > . 1+1000
             {rescue}
             200ms = ssthresh_bytes {ssthresh}"
        ));
    }
}

// RFC 5681-4.3-3, 6675-4-3, 6675-4-4, 6675-4-5, 6675-5-7, 6675-5-10
#[test]
fn two_losses_in_a_window_are_repaired_within_an_rtt() {
    // The first and the third segment are lost.
    ten_out(with(LossRecovery::Sack), 20_000).run(
        "200ms < . 1 ack 1 <sack 1001-2001>
         201ms < . 1 ack 1 <sack 3001-4001 1001-2001>
               = phase open
         202ms < . 1 ack 1 <sack 3001-5001 1001-2001>
               > . 1+1000
               = phase recovery
               = ssthresh_bytes 5000
               = cwnd_bytes 5000
               = in_flight_bytes 7000          # ten minus three delivered and one lost, plus one retransmitted
         203ms < . 1 ack 1 <sack 3001-6001 1001-2001>
               = in_flight_bytes 5000          # the third is lost too
         204ms < . 1 ack 1 <sack 3001-7001 1001-2001>
               > . 2001+1000
         205ms < . 1 ack 1 <sack 3001-8001 1001-2001>
               > . 10001+1000
         206ms < . 1 ack 1 <sack 3001-9001 1001-2001>
               > . 11001+1000
         207ms < . 1 ack 1 <sack 3001-10001 1001-2001>
               > . 12001+1000
         302ms < . 1 ack 2001 <sack 3001-10001>
               > . 13001+1000
               = phase recovery
         304ms < . 1 ack 10001
               > . 14001+1000
               = phase open
               = cwnd_bytes 5000
               = retransmissions 2
               = timeouts 0",
    );
}

// RFC 6675-5-4
#[test]
fn three_separate_ranges_prove_a_loss_regardless_of_their_size() {
    // Segments of 100 bytes: three are far less than two full segments.
    let mut p = with(LossRecovery::Sack);
    p.stack.mss = Some(1000);
    let mut s = Script::connected_with_sack(p);
    for n in 0..8 {
        s.run(&format!("100ms write 100\n100ms > . {}+100", 1 + 100 * n));
    }
    s.run(
        "200ms < . 1 ack 1 <sack 101-201>
         201ms < . 1 ack 1 <sack 101-201 301-401 601-701> # the three: IsLost by separate ranges
               > . 1+100
               > . 201+100                # rule 3, because there are no other data
               > . 401+100
               > . 501+100
               > . 701+100                # rule 4
               = phase recovery",
    );
}

// RFC 6675-5-4, 6675-5-5
#[test]
fn as_many_bytes_as_two_segments_do_not_prove_a_loss_and_one_more_does() {
    // "more than (DupThresh - 1) * SMSS bytes"
    ten_out(with(LossRecovery::Sack), 20_000).run(
        "200ms < . 1 ack 1 <sack 1001-3001>
               = phase open
         201ms < . 1 ack 1 <sack 1001-4001>
               > . 1+1000
               = phase recovery",
    );
}

// RFC 6675-4-6, 6675-4-7, 6675-4-8
#[test]
fn possibly_lost_segment_is_retransmitted_if_there_is_no_other_data() {
    // Rule 3: no new data to send, and a hole below delivered data that is not deemed lost yet.
    let mut s = ten_out(with(LossRecovery::Sack), 10_000);
    s.run(
        "200ms < . 1 ack 1 <sack 1001-5001>
               > . 1+1000
               = in_flight_bytes 6000
         201ms < . 1 ack 1 <sack 1001-6001>
         202ms < . 1 ack 1 <sack 1001-7001>
               > . 9001+1000             # rule 4: the rescue retransmission, once
         203ms < . 1 ack 1 <sack 8001-9001 1001-7001>
               > . 7001+1000             # rule 3: below delivered data
         204ms < . 1 ack 1 <sack 8001-9001 1001-7001>
         300ms < . 1 ack 7001 <sack 8001-9001>
         310ms < . 1 ack 10001
               = phase open
               = retransmissions 3",
    );
}

// RFC 6675-5.1-2
#[test]
fn a_lost_retransmission_waits_for_the_timer_when_losses_are_counted() {
    let mut s = ten_out(with(LossRecovery::Sack), 20_000);
    s.run(
        "200ms < . 1 ack 1 <sack 1001-4001>
               > . 1+1000
         201ms < . 1 ack 1 <sack 1001-10001>
               > . 10001+1000
               > . 11001+1000
               > . 12001+1000
               > . 13001+1000
         301ms < . 1 ack 1 <sack 1001-14001>
               > . 14001+1000
               > . 15001+1000
               > . 16001+1000
               > . 17001+1000
         401ms < . 1 ack 1 <sack 1001-18001>
               > . 18001+1000
               > . 19001+1000
               > . 19001+1000             # rule 4: no other data to send
         1200ms > . 1+1000
                = timeouts 1
         1300ms < . 1 ack 20001
                = phase open",
    );
}

// RFC 6675-5.1-1
#[test]
fn after_a_timeout_only_missing_data_is_retransmitted() {
    ten_out(with(LossRecovery::Sack), 20_000).run(
        "200ms < . 1 ack 1 <sack 3001-5001>
         1100ms > . 1+1000
                = phase loss
                = cwnd_bytes 1000
                = in_flight_bytes 1000
         1300ms < . 1 ack 1001 <sack 3001-5001>
                > . 1001+1000
                > . 2001+1000
         1400ms < . 1 ack 5001
                > . 5001+1000
                > . 6001+1000
                > . 7001+1000",
    );
}

#[test]
fn report_of_duplicates_does_not_prove_a_loss() {
    ten_out(with(LossRecovery::Sack), 20_000).run(
        "200ms < . 1 ack 1001
               > . 10001+1000
               > . 11001+1000             # slow start
         201ms < . 1 ack 1001 <sack 1-1001>
         202ms < . 1 ack 1001 <sack 1-1001>
         203ms < . 1 ack 1001 <sack 1-1001>
               = phase open
               = sacked_bytes 0
               = duplicate_acks 0",
    );
}

// RFC 8985-4-1
#[test]
fn without_sack_rfc_6675_recovery_is_newreno() {
    let mut p = with(LossRecovery::Sack);
    p.stack.sack = false;
    let mut s = Script::connected(p);
    s.run(&ten(20_000));
    s.run(
        "200ms < . 1 ack 1
         201ms < . 1 ack 1
         202ms < . 1 ack 1
               > . 1+1000
               = cwnd_bytes 8000
         300ms < . 1 ack 2001
               > . 2001+1000
               = phase recovery",
    );
}

// RFC 8985-9.3-2, 9937-6.1-1, 9937-6.2-1, 9937-6.2-5
#[test]
fn proportional_reduction_follows_rfc_9937_down_to_ssthresh() {
    // RFC 9937 with ssthresh at half of RecoverFS: 10000 bytes were in flight and not delivered.
    ten_out(with(LossRecovery::Prr), 20_000).run(
        "200ms < . 1 ack 1 <sack 1001-2001>
         201ms < . 1 ack 1 <sack 1001-3001>
         202ms < . 1 ack 1 <sack 1001-4001>
               > . 1+1000                 # the first is always sent: 1000 · 5000 / 8000 is less
               = ssthresh_bytes 5000
               = in_flight_bytes 7000
         203ms < . 1 ack 1 <sack 1001-5001>
               = cwnd_bytes 6250                # 6000 and ceil(2000 · 5/8) − 1000
         204ms < . 1 ack 1 <sack 1001-6001>
               = in_flight_bytes 5000           # no more above ssthresh: pipe equals ssthresh
               = cwnd_bytes 5000
         205ms < . 1 ack 1 <sack 1001-7001>
               > . 10001+1000             # 4000 and the difference to ssthresh
               = cwnd_bytes 5000
         300ms < . 1 ack 10001
               > . 11001+1000
               > . 12001+1000
               > . 13001+1000
               > . 14001+1000
               = phase open
               = cwnd_bytes 5000",
    );
}

// RFC 9937-6.2-2
#[test]
fn without_sack_a_duplicate_removes_a_segment_from_the_flight() {
    let mut p = with(LossRecovery::Prr);
    p.stack.sack = false;
    let mut s = Script::connected(p);
    s.run(&ten(20_000));
    // Segments 1 and 3 are lost: eight duplicates.
    s.run(
        "200ms < . 1 ack 1
               = in_flight_bytes 9000
         201ms < . 1 ack 1
               = in_flight_bytes 8000
         202ms < . 1 ack 1
               > . 1+1000
               = in_flight_bytes 7000          # three delivered, one lost and retransmitted
               = ssthresh_bytes 5000",
    );
}

// RFC 6675-4-6, 6675-5-11
#[test]
fn segment_retransmitted_by_rule_3_is_not_retransmitted_again_after_its_loss_is_detected() {
    // RFC 6675 section 4: rule 1 of NextSeg sends data above HighRxt. The detected loss is the original; the
    // retransmission is in the network (SetPipe).
    let mut p = with(LossRecovery::Prr);
    p.params = windlass_cc::AnyParams::by_name("cubic").unwrap();
    let mut s = ten_out(p, 10_000);
    s.run(
        "200ms < . 1 ack 1 <sack 1001-2001>
         201ms < . 1 ack 1 <sack 1001-3001>
         202ms < . 1 ack 1 <sack 1001-4001>
               > . 1+1000
         203ms < . 1 ack 1 <sack 5001-6001 1001-4001>
         204ms < . 1 ack 1 <sack 5001-7001 1001-4001>
               > . 4001+1000              # rule 3: not lost yet
               = in_flight_bytes 6000
         205ms < . 1 ack 1 <sack 5001-8001 1001-4001>
               > . 9001+1000              # rule 4
               = lost_bytes 0
               = in_flight_bytes 5000           # the eighth is delivered, the fifth's original lost
         206ms < . 1 ack 1 <sack 5001-9001 1001-4001>
               = retransmissions 3",
    );
}

// RFC 6675-5.1-3
#[test]
fn segment_retransmitted_after_a_timeout_is_not_retransmitted_again_by_counting() {
    // Reports of data sent before the timeout show the loss of the originals, which is known.
    let mut s = ten_out(with(LossRecovery::Sack), 10_000);
    s.run(
        "1100ms > . 1+1000
         1110ms < . 1 ack 1 <sack 1001-2001>
         1111ms < . 1 ack 1 <sack 1001-3001>
         1112ms < . 1 ack 1 <sack 1001-4001>
                = lost_bytes 6000
                = retransmissions 1",
    );
}

#[test]
fn full_last_segment_is_retransmitted_together_with_its_fin() {
    for recovery in [LossRecovery::NewReno, LossRecovery::Sack, LossRecovery::Prr] {
        let mut s = Script::connected_with_sack(with(recovery));
        s.stack.endpoint.offer(2000);
        s.run(
            "100ms shutdown
                   > . 1+1000
                   > F. 1001+1000
             200ms < . 1 ack 1001
             1200ms > F. 1001+1000
             1300ms < . 1 ack 2002",
        );
    }
}

// RFC 5681-3.2-6
#[test]
fn a_duplicate_without_new_reports_sends_nothing() {
    let mut p = with(LossRecovery::Sack);
    p.stack.limited_transmit = true;
    ten_out(p, 20_000).run(
        "200ms < . 1 ack 1 <sack 1001-2001>
               > . 10001+1000
         201ms < . 1 ack 1 <sack 1001-2001>
         202ms < . 1 ack 1
         203ms < . 1 ack 1 <sack 1001-2001>
               = phase open",
    );
}

// RFC 6675-4-2, 6675-5.1-5
#[test]
fn receiver_that_reneges_gets_the_data_again() {
    // The peer discards the data that it has reported. The first outstanding segment shows it: reported, but
    // not acknowledged. RFC 2018 section 8.
    ten_out(with(LossRecovery::Sack), 20_000).run(
        "200ms < . 1 ack 1 <sack 1001-3001>
         1100ms > . 1+1000
         1200ms < . 1 ack 1001
                > . 3001+1000
                > . 4001+1000
         3200ms > . 1001+1000
         3300ms < . 1 ack 2001
                > . 2001+1000
                > . 3001+1000",
    );
}
