//! Opening: RFC 9293 section 3.5, RFC 7323, RFC 6298 section 5.7.

use crate::script::{Script, plain, plain_with};
use windlass_cc::Time;
use windlass_tcp::stack::UIP;
use windlass_tcp::{Endpoint, Flags, InitialWindow, Preset, Profile, Segment, Seq};

// RFC 6298-2.4-1
#[test]
fn an_active_open_takes_a_sample_from_the_handshake() {
    Script::connected(plain()).run(
        "100 = state Established
         100 = srtt_ms 100
         100 = rto_ms 1000
         100 = cwnd 10000",
    );
}

#[test]
fn a_passive_open_answers_and_is_established_by_the_last_acknowledgement() {
    Script::new(plain()).run(
        "0 listen
         5 < S 0 win 5000 mss 700
         5 > S. 0 ack 1 win 10000 mss 1000
         5 = state SynReceived
         45 < . 1 ack 1
         45 = state Established
         45 = srtt_ms 40
         50 offer 700
         50 > . 1+700 ack 1 bare",
    );
}

// RFC 7323-2.2-2, 7323-2.3-2, 7323-2.3-5, 7323-3.2-1, 7323-3.2-6, 9293-3.1-REC-1, 9293-3.2-MUST-65
#[test]
fn the_options_of_both_sides_are_negotiated() {
    let p = plain_with(|s| {
        (s.window_scaling, s.timestamps, s.sack) = (true, true, true);
        s.receive_buffer = 200_000;
    });
    Script::new(p).run(
        "0 connect
         0 > S 0 win 65535 mss 1000 ws 2 sackok ts 1 0
         100 < S. 0 ack 1 win 1000 mss 2000 ws 3 sackok ts 700 1
         100 > . 1 ack 1 win 50000 ts 101 700      # 200000 >> 2
         150 offer 9000
         150 > . 1+988 ts 151 700                  # twelve bytes less; the SYN's window is not scaled
         250 < . 1 ack 989 win 1000 ts 800 151
         250 > . 989+988 ts 251 800                # 8000 bytes now
         250 > . 1977+988
         250 > . 2965+988
         250 > . 3953+988
         250 > . 4941+988
         250 > . 5929+988
         250 > . 6917+988
         250 > . 7905+988",
    );
    // An option that the peer does not offer is not used.
    Script::new(p).run(
        "0 listen
         0 < S 0 win 60000 mss 500
         0 > S. 0 ack 1 win 65535 mss 1000 mss 1000
         9 < . 1 ack 1 win 60000
         9 offer 500
         9 > . 1+500 win 65535 bare",
    );
}

// RFC 7323-2.2-1
#[test]
fn a_scale_of_zero_is_answered_too() {
    Script::new(plain_with(|s| s.window_scaling = true)).run(
        "0 listen
         0 < S 0 mss 1000 ws 0
         0 > S. 0 ack 1 ws 0",
    );
}

// RFC 9293-3.7.1-MUST-15
#[test]
fn a_missing_mss_option_means_536() {
    Script::new(plain()).run(
        "0 listen
         0 < S 0
         0 > S. 0 ack 1
         9 < . 1 ack 1
         9 offer 1000
         9 > . 1+536
         9 > . 537+464",
    );
}

// RFC 5681-3.1-4, 6298-2.1-1, 6298-5.7-1
#[test]
fn lost_syn_is_repeated_with_backoff_and_reduces_the_initial_window() {
    Script::new(plain()).run(
        "0 connect
         0 > S 0
         1000 > S 0
         3000 > S 0
         3100 < S. 0 ack 1 mss 1000
         3100 > . 1 ack 1
         3100 = srtt_ms 18446744073709    # Karn: no sample
         3100 = rto_ms 3000               # RFC 6298 rule 5.7
         3100 = cwnd 1000                 # RFC 5681 section 3.1",
    );
}

#[test]
fn the_riverbed_preset_waits_three_seconds_for_the_syn() {
    let stack = Preset::by_name("riverbed").unwrap().config;
    Script::new(Profile { stack, mtu: 1500, ..plain() }).run(
        "10 connect
         10 > S 0 win 8760 mss 1460
         3500 > S 0                       # 3010 rounded up to half a second
         9500 > S 0",
    );
}

// RFC 9293-3.8.3-MUST-22
#[test]
fn an_unanswered_attempt_fails_after_its_last_retry() {
    Script::new(plain_with(|s| s.max_syn_retries = 2)).run(
        "0 connect
         0 > S 0
         1000 > S 0
         3000 > S 0
         7000 = state Closed
         7000 = failure ConnectTimeout
         99000",
    );
}

/// The times of uIP 1.0, which counts the first SYN as a retransmission.
#[test]
fn uip_sends_five_syns_after_growing_numbers_of_half_seconds() {
    Script::new(Profile { stack: UIP, ..plain() }).run(
        "0 connect
         0 > S 0
         2000 > S 0
         5500 > S 0
         12000 > S 0
         24500 > S 0
         49000 = state Closed
         49000 = failure ConnectTimeout
         99000",
    );
}

#[test]
fn stack_may_keep_the_initial_window_after_one_lost_syn_but_not_after_two() {
    let linux = || Script::new(plain_with(|s| s.spared_syns = 1));
    linux().run(
        "0 connect
         0 > S 0
         1000 > S 0
         1100 < S. 0 ack 1 mss 1000
         1100 > . 1 ack 1
         1100 = cwnd 10000",
    );
    linux().run(
        "0 connect
         0 > S 0
         1000 > S 0
         3000 > S 0
         3100 < S. 0 ack 1 mss 1000
         3100 > . 1 ack 1
         3100 = cwnd 1000",
    );
}

#[test]
fn a_lost_syn_ack_is_repeated_by_timer_and_by_a_repeated_syn() {
    Script::new(plain()).run(
        "0 listen
         0 < S 0 mss 1000
         0 > S. 0 ack 1
         1000 > S. 0 ack 1
         1500 < S 0 mss 1000
         1500 > S. 0 ack 1
         1600 < . 1 ack 1
         1600 = state Established
         1600 = srtt_ms 18446744073709
         1600 = cwnd 1000",
    );
}

#[test]
fn an_answer_to_a_repeated_syn_gives_no_sample() {
    Script::new(plain()).run(
        "0 listen
         0 < S 0 mss 1000
         0 > S. 0 ack 1
         500 < S 0 mss 1000
         500 > S. 0 ack 1
         540 < . 1 ack 1
         540 = srtt_ms 18446744073709
         540 = cwnd 1000",
    );
}

#[test]
fn lost_third_ack_is_repeated_after_a_repeated_syn_ack() {
    Script::connected(plain()).run(
        "1100 < S. 0 ack 1 mss 1000
         1100 > . 1 ack 1
         1100 = state Established",
    );
    // The ACK may be replaced by data.
    Script::new(plain()).run(
        "0 listen
         0 < S 0 mss 1000
         0 > S. 0 ack 1
         90 < . 1+1000 ack 1
         90 > . 1 ack 1001
         90 = state Established",
    );
}

// RFC 9293-3.5-MUST-10
#[test]
fn simultaneous_open_ends_established_on_both_sides() {
    Script::new(plain()).run(
        "0 connect
         0 > S 0
         20 < S 0 mss 1000
         20 > S. 0 ack 1
         20 = state SynReceived
         40 < S. 0 ack 1 mss 1000
         40 = state Established
         40 > . 1 ack 1
         50 offer 1000
         50 > . 1+1000
         90 < . 1 ack 1001
         2000",
    );
}

#[test]
fn syn_ack_for_another_syn_is_reset_and_the_attempt_continues() {
    Script::new(plain()).run(
        "0 connect
         0 > S 0
         20 < S. 0 ack 77 mss 1000
         20 > R 77
         20 = state SynSent
         30 < S. 0 ack 1 mss 1000
         30 > . 1 ack 1",
    );
}

// RFC 9293-3.5-MUST-11
#[test]
fn a_listener_survives_an_old_duplicate_syn() {
    Script::new(plain()).run(
        "0 listen
         0 < S 500 mss 1000
         0 > S. 0 ack 501
         20 < R 501
         20 = state Listen
         20 = failure none
         30 < S 0 mss 1000
         30 > S. 0 ack 1
         60 < . 1 ack 1
         60 = state Established",
    );
}

#[test]
fn a_wrong_acknowledgement_in_the_handshake_is_reset() {
    Script::new(plain()).run(
        "0 listen
         0 < . 10 ack 33
         0 > R 33
         1 < R 10
         2 < S 0 mss 1000
         2 > S. 0 ack 1
         3 < . 1 ack 2
         3 > R 2
         3 = state SynReceived",
    );
}

// RFC 9293-3.10.7.3-1
#[test]
fn a_refused_attempt_fails_and_only_a_right_refusal_counts() {
    Script::new(plain()).run(
        "0 connect
         0 > S 0
         9 < R. 0 ack 9
         9 < R 0
         9 = state SynSent
         9 < R. 0 ack 1
         9 = state Closed
         9 = failure Reset",
    );
}

// RFC 9293-3.10.7.1-1
#[test]
fn closed_endpoint_resets_all_segments_except_resets() {
    Script::new(plain()).run(
        "0 < S 0 mss 1000
         0 > R. 2000 ack 1          # sequence number zero
         1 < . 5+10 ack 44
         1 > R 44
         2 < R 5",
    );
}

// RFC 7323-2.2-4
#[test]
fn data_directly_after_the_syn_ack_fits_the_window_of_the_syn() {
    let p = plain();
    let mut e = Endpoint::new(&p, Seq(7));
    e.connect();
    assert!(e.poll_transmit(&p, Time::ZERO).is_some());
    let ack = Seq(8);
    let flags = Flags::SYN.with(Flags::ACK);
    let syn_ack = Segment { seq: Seq(0), ack, flags, ..Segment::default() };
    e.on_segment(&p, Time::from_millis(9), &syn_ack);
    let data = Segment { seq: Seq(1), ack, flags: Flags::ACK, len: 500, ..Segment::default() };
    e.on_segment(&p, Time::from_millis(9), &data);
    assert_eq!(e.readable(), 500);
}

// RFC 7323-2.2-3
#[test]
fn window_scale_outside_a_syn_is_ignored() {
    Script::new(plain_with(|s| s.window_scaling = true)).run(
        "0 listen
         0 < S 0 mss 1000 ws 1
         0 > S. 0 ack 1
         9 < . 1 ack 1 win 1000 ws 5
         9 offer 9000
         9 > . 1+1000
         9 > . 1001+1000                 # 1000 << 1
         19 < . 1 ack 2001 win 1000 ws 5
         19 > . 2001+1000
         19 > . 3001+1000",
    );
}

// RFC 7323-2.3-6
#[test]
fn shift_above_14_counts_as_14() {
    let p = plain_with(|s| {
        s.window_scaling = true;
        s.initial_window = InitialWindow::Segments(40);
    });
    let mut s = Script::new(p);
    s.run(
        "0 listen
         0 < S 0 mss 1000 ws 15
         0 > S. 0 ack 1
         9 < . 1 ack 1 win 1",
    );
    s.e.offer(40_000);
    let sent = std::iter::from_fn(|| s.e.poll_transmit(&s.p, Time::from_millis(9)));
    assert_eq!(sent.count(), 16, "16384 bytes are 16 whole segments");
}
