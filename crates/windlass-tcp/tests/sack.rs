//! Recovery by scoreboard: RFC 6675, 2883 and 9937.

use crate::script::{Script, plain_with};
use windlass_cc::recovery::LossRecovery;
use windlass_tcp::Profile;
use windlass_tcp::stack::LossCut;

fn with(recovery: LossRecovery) -> Profile {
    plain_with(|s| {
        s.sack = true;
        s.recovery = Some(recovery);
    })
}

/// The lines in which the application offers `offered` bytes at 100 ms and ten segments of 1000 bytes are
/// sent.
fn ten(offered: u64) -> String {
    let segments: String = (0..10).map(|n| format!("100 > . {}+1000\n", 1 + 1000 * n)).collect();
    format!("100 offer {offered}\n{segments}")
}

/// Ten segments of 1000 bytes are in flight at 100 ms, and ten more wait.
fn ten_out(p: Profile) -> Script {
    let mut s = Script::connected_with_sack(p);
    s.run(&ten(20_000));
    s
}

// RFC 5681-4.3-2, 6675-5-6
#[test]
fn loss_reduces_from_the_flight_or_from_cwnd() {
    // Six segments in flight, a cwnd of ten. With the larger cwnd there is space for the rescue
    // retransmission of rule 4 of RFC 6675's NextSeg, because there are no new data.
    for (cut, ssthresh, rescue) in
        [(LossCut::Flight, 3_000, ""), (LossCut::Window, 5_000, "200 > . 5001+1000")]
    {
        let mut p = with(LossRecovery::Sack);
        p.stack.loss_cut = cut;
        let segments: String = (0..6).map(|n| format!("100 > . {}+1000\n", 1 + 1000 * n)).collect();
        Script::connected_with_sack(p).run(&format!(
            "100 offer 6000
             {segments}
             200 < . 1 ack 1 sack 1001-4001
             200 > . 1+1000
             {rescue}
             200 = ssthresh {ssthresh}"
        ));
    }
}

// RFC 5681-4.3-3, 6675-4-3, 6675-4-4, 6675-4-5, 6675-5-7, 6675-5-10
#[test]
fn two_losses_in_a_window_are_repaired_within_an_rtt() {
    // The first and the third segment are lost.
    ten_out(with(LossRecovery::Sack)).run(
        "200 < . 1 ack 1 sack 1001-2001
         201 < . 1 ack 1 sack 3001-4001,1001-2001
         201 = phase Open
         202 < . 1 ack 1 sack 3001-5001,1001-2001
         202 > . 1+1000
         202 = phase Recovery
         202 = ssthresh 5000
         202 = cwnd 5000
         202 = in_flight 7000          # ten minus three delivered and one lost, plus one retransmitted
         203 < . 1 ack 1 sack 3001-6001,1001-2001
         203 = in_flight 5000          # the third is lost too
         204 < . 1 ack 1 sack 3001-7001,1001-2001
         204 > . 2001+1000
         205 < . 1 ack 1 sack 3001-8001,1001-2001
         205 > . 10001+1000
         206 < . 1 ack 1 sack 3001-9001,1001-2001
         206 > . 11001+1000
         207 < . 1 ack 1 sack 3001-10001,1001-2001
         207 > . 12001+1000
         302 < . 1 ack 2001 sack 3001-10001
         302 > . 13001+1000
         302 = phase Recovery
         304 < . 1 ack 10001
         304 > . 14001+1000
         304 = phase Open
         304 = cwnd 5000
         304 = retransmits 2
         304 = rto_count 0",
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
        s.run(&format!("100 offer 100\n100 > . {}+100", 1 + 100 * n));
    }
    s.run(
        "200 < . 1 ack 1 sack 101-201
         201 < . 1 ack 1 sack 101-201,301-401,601-701 # the three: IsLost by separate ranges
         201 > . 1+100
         201 > . 201+100                # rule 3, because there are no other data
         201 > . 401+100
         201 > . 501+100
         201 > . 701+100                # rule 4
         201 = phase Recovery",
    );
}

// RFC 6675-5-4, 6675-5-5
#[test]
fn as_many_bytes_as_two_segments_do_not_prove_a_loss_and_one_more_does() {
    // "more than (DupThresh - 1) * SMSS bytes"
    ten_out(with(LossRecovery::Sack)).run(
        "200 < . 1 ack 1 sack 1001-3001
         200 = phase Open
         201 < . 1 ack 1 sack 1001-4001
         201 > . 1+1000
         201 = phase Recovery",
    );
}

// RFC 6675-4-6, 6675-4-7, 6675-4-8
#[test]
fn possibly_lost_segment_is_retransmitted_if_there_is_no_other_data() {
    // Rule 3: no new data to send, and a hole below delivered data that is not deemed lost yet.
    let mut s = Script::connected_with_sack(with(LossRecovery::Sack));
    s.run(&ten(10_000));
    s.run(
        "200 < . 1 ack 1 sack 1001-5001
         200 > . 1+1000
         200 = in_flight 6000
         201 < . 1 ack 1 sack 1001-6001
         202 < . 1 ack 1 sack 1001-7001
         202 > . 9001+1000             # rule 4: the rescue retransmission, once
         203 < . 1 ack 1 sack 8001-9001,1001-7001
         203 > . 7001+1000             # rule 3: below delivered data
         204 < . 1 ack 1 sack 8001-9001,1001-7001
         300 < . 1 ack 7001 sack 8001-9001
         310 < . 1 ack 10001
         310 = phase Open
         310 = retransmits 3",
    );
}

// RFC 6675-5.1-2
#[test]
fn a_lost_retransmission_waits_for_the_timer_when_losses_are_counted() {
    let mut s = ten_out(with(LossRecovery::Sack));
    s.run(
        "200 < . 1 ack 1 sack 1001-4001
         200 > . 1+1000
         201 < . 1 ack 1 sack 1001-10001
         201 > . 10001+1000
         201 > . 11001+1000
         201 > . 12001+1000
         201 > . 13001+1000
         301 < . 1 ack 1 sack 1001-14001
         301 > . 14001+1000
         301 > . 15001+1000
         301 > . 16001+1000
         301 > . 17001+1000
         401 < . 1 ack 1 sack 1001-18001
         401 > . 18001+1000
         401 > . 19001+1000
         401 > . 19001+1000             # rule 4: no other data to send
         1200 > . 1+1000
         1200 = rto_count 1
         1300 < . 1 ack 20001
         1300 = phase Open",
    );
}

// RFC 6675-5.1-1
#[test]
fn after_a_timeout_only_missing_data_is_retransmitted() {
    ten_out(with(LossRecovery::Sack)).run(
        "200 < . 1 ack 1 sack 3001-5001
         1100 > . 1+1000
         1100 = phase Loss
         1100 = cwnd 1000
         1100 = in_flight 1000
         1300 < . 1 ack 1001 sack 3001-5001
         1300 > . 1001+1000
         1300 > . 2001+1000
         1400 < . 1 ack 5001
         1400 > . 5001+1000
         1400 > . 6001+1000
         1400 > . 7001+1000",
    );
}

#[test]
fn duplicate_data_are_reported_in_a_first_block() {
    // RFC 2883 section 4.
    let mut s = Script::connected_with_sack(plain_with(|s| (s.sack, s.dsack) = (true, true)));
    s.run(
        "200 < . 1+1000 ack 1
         200 > . 1 ack 1001 bare
         210 < . 1+1000 ack 1           # only old data
         210 > . 1 ack 1001 sack 1-1001
         220 < . 2001+1000 ack 1
         220 > . 1 ack 1001 sack 2001-3001
         230 < . 2001+500 ack 1         # held already: within the second block
         230 > . 1 ack 1001 sack 2001-2501,2001-3001
         240 < . 3001+1000 ack 1        # reported only once
         240 > . 1 ack 1001 sack 2001-4001
         250 < . 501+1500 ack 1         # partly old
         250 > . 1 ack 4001 sack 501-1001",
    );
}

#[test]
fn report_of_duplicates_does_not_prove_a_loss() {
    ten_out(with(LossRecovery::Sack)).run(
        "200 < . 1 ack 1001
         200 > . 10001+1000
         200 > . 11001+1000             # slow start
         201 < . 1 ack 1001 sack 1-1001
         202 < . 1 ack 1001 sack 1-1001
         203 < . 1 ack 1001 sack 1-1001
         203 = phase Open
         203 = sacked 0
         203 = dup_acks 0",
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
        "200 < . 1 ack 1
         201 < . 1 ack 1
         202 < . 1 ack 1
         202 > . 1+1000
         202 = cwnd 8000
         300 < . 1 ack 2001
         300 > . 2001+1000
         300 = phase Recovery",
    );
}

// RFC 8985-9.3-2, 9937-6.1-1, 9937-6.2-1, 9937-6.2-5
#[test]
fn proportional_reduction_follows_rfc_9937_down_to_ssthresh() {
    // RFC 9937 with ssthresh at half of RecoverFS: 10000 bytes were in flight and not delivered.
    ten_out(with(LossRecovery::Prr)).run(
        "200 < . 1 ack 1 sack 1001-2001
         201 < . 1 ack 1 sack 1001-3001
         202 < . 1 ack 1 sack 1001-4001
         202 > . 1+1000                 # the first is always sent: 1000 · 5000 / 8000 is less
         202 = ssthresh 5000
         202 = in_flight 7000
         203 < . 1 ack 1 sack 1001-5001
         203 = cwnd 6250                # 6000 and ceil(2000 · 5/8) − 1000
         204 < . 1 ack 1 sack 1001-6001
         204 = in_flight 5000           # no more above ssthresh: pipe equals ssthresh
         204 = cwnd 5000
         205 < . 1 ack 1 sack 1001-7001
         205 > . 10001+1000             # 4000 and the difference to ssthresh
         205 = cwnd 5000
         300 < . 1 ack 10001
         300 > . 11001+1000
         300 > . 12001+1000
         300 > . 13001+1000
         300 > . 14001+1000
         300 = phase Open
         300 = cwnd 5000",
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
        "200 < . 1 ack 1
         200 = in_flight 9000
         201 < . 1 ack 1
         201 = in_flight 8000
         202 < . 1 ack 1
         202 > . 1+1000
         202 = in_flight 7000          # three delivered, one lost and retransmitted
         202 = ssthresh 5000",
    );
}

// RFC 6675-4-6, 6675-5-11
#[test]
fn segment_retransmitted_by_rule_3_is_not_retransmitted_again_after_its_loss_is_detected() {
    // RFC 6675 section 4: rule 1 of NextSeg sends data above HighRxt. The detected loss is the original; the
    // retransmission is in the network (SetPipe).
    let mut p = with(LossRecovery::Prr);
    p.params = windlass_cc::AnyParams::by_name("cubic").unwrap();
    let mut s = Script::connected_with_sack(p);
    s.run(&ten(10_000));
    s.run(
        "200 < . 1 ack 1 sack 1001-2001
         201 < . 1 ack 1 sack 1001-3001
         202 < . 1 ack 1 sack 1001-4001
         202 > . 1+1000
         203 < . 1 ack 1 sack 5001-6001,1001-4001
         204 < . 1 ack 1 sack 5001-7001,1001-4001
         204 > . 4001+1000              # rule 3: not lost yet
         204 = in_flight 6000
         205 < . 1 ack 1 sack 5001-8001,1001-4001
         205 > . 9001+1000              # rule 4
         205 = lost 0
         205 = in_flight 5000           # the eighth is delivered, the fifth's original lost
         206 < . 1 ack 1 sack 5001-9001,1001-4001
         206 = retransmits 3",
    );
}

// RFC 6675-5.1-3
#[test]
fn segment_retransmitted_after_a_timeout_is_not_retransmitted_again_by_counting() {
    // Reports of data sent before the timeout show the loss of the originals, which is known.
    let mut s = Script::connected_with_sack(with(LossRecovery::Sack));
    s.run(&ten(10_000));
    s.run(
        "1100 > . 1+1000
         1110 < . 1 ack 1 sack 1001-2001
         1111 < . 1 ack 1 sack 1001-3001
         1112 < . 1 ack 1 sack 1001-4001
         1112 = lost 6000
         1112 = retransmits 1",
    );
}

#[test]
fn full_last_segment_is_retransmitted_together_with_its_fin() {
    for recovery in [LossRecovery::NewReno, LossRecovery::Sack, LossRecovery::Prr] {
        let mut s = Script::connected_with_sack(with(recovery));
        s.e.offer(2000);
        s.run(
            "100 close
             100 > . 1+1000
             100 > F. 1001+1000
             200 < . 1 ack 1001
             1200 > F. 1001+1000
             1300 < . 1 ack 2002",
        );
    }
}

// RFC 5681-3.2-6
#[test]
fn a_duplicate_without_new_reports_sends_nothing() {
    let mut p = with(LossRecovery::Sack);
    p.stack.limited_transmit = true;
    Script::connected_with_sack(p).run(&ten(20_000)).run(
        "200 < . 1 ack 1 sack 1001-2001
         200 > . 10001+1000
         201 < . 1 ack 1 sack 1001-2001
         202 < . 1 ack 1
         203 < . 1 ack 1 sack 1001-2001
         203 = phase Open",
    );
}

// RFC 6675-4-2, 6675-5.1-5
#[test]
fn receiver_that_reneges_gets_the_data_again() {
    // The peer discards the data that it has reported. The first outstanding segment shows it: reported, but
    // not acknowledged. RFC 2018 section 8.
    ten_out(with(LossRecovery::Sack)).run(
        "200 < . 1 ack 1 sack 1001-3001
         1100 > . 1+1000
         1200 < . 1 ack 1001
         1200 > . 3001+1000
         1200 > . 4001+1000
         3200 > . 1001+1000
         3300 < . 1 ack 2001
         3300 > . 2001+1000
         3300 > . 3001+1000",
    );
}
