//! Opening: RFC 9293 section 3.5, RFC 7323, RFC 6298 section 5.7.

use crate::script::{Script, plain, plain_with};
use windlass_cc::Time;
use windlass_tcp::stack::UIP;
use windlass_tcp::{Endpoint, Failure, Flags, InitialWindow, Preset, Profile, Segment, Seq};

// RFC 6298-2.4-1
#[test]
fn an_active_open_takes_a_sample_from_the_handshake() {
    Script::connected(plain()).run(
        "100ms = state ESTABLISHED
               = srtt 100ms
               = rto 1000ms
               = cwnd_bytes 10000",
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
        "0ms connect
             > S 0 win 65535 <mss 1000, ws 2, sackok, ts * 0>
         100ms < S. 0 ack 1 win 1000 <mss 2000, ws 3, sackok, ts 700 1>
               > . 1 ack 1 win 200000 <ts * 700>
         150ms write 9000
               > . 1+988 <ts * 700>                  # twelve bytes less; the SYN's window is not scaled
         250ms < . 1 ack 989 win 8000 <ts 800 151>
               > . 989+988 <ts * 800>
               > . 1977+988
               > . 2965+988
               > . 3953+988
               > . 4941+988
               > . 5929+988
               > . 6917+988
               > . 7905+988",
    );
    // An option that the peer does not offer is not used.
    Script::new(p).run(
        "0ms listen
             < S 0 win 60000 <mss 500>
             > S. 0 ack 1 win 65535 <mss 1000>
         9ms < . 1 ack 1 win 60000
             write 500
             > . 1+500 win 65535",
    );
}

// RFC 7323-2.2-1
#[test]
fn a_scale_of_zero_is_answered_too() {
    Script::new(plain_with(|s| s.window_scaling = true)).run(
        "0ms listen
             < S 0 <mss 1000, ws 0>
             > S. 0 ack 1 <ws 0, ...>",
    );
}

// RFC 5681-3.1-4, 6298-2.1-1, 6298-5.7-1
#[test]
fn lost_syn_is_repeated_with_backoff_and_reduces_the_initial_window() {
    let mut s = Script::new(plain());
    s.run(
        "0ms connect
             > S 0 <...>
         1000ms > S 0 <...>
         3000ms > S 0 <...>
         3100ms < S. 0 ack 1 <mss 1000>
                > . 1 ack 1
                = rto 3000ms               # RFC 6298 rule 5.7
                = cwnd_bytes 1000                 # RFC 5681 section 3.1",
    );
    assert!(!s.stack.endpoint.srtt().is_known(), "Karn: no sample");
}

#[test]
fn the_riverbed_preset_waits_three_seconds_for_the_syn() {
    let stack = Preset::by_name("riverbed").unwrap().config;
    Script::new(Profile { stack, mtu: 1500, ..plain() }).run(
        "10ms connect
              > S 0 win 8760 <mss 1460, ...>
         3500ms > S 0 <...>                       # 3010 rounded up to half a second
         9500ms > S 0 <...>",
    );
}

// RFC 9293-3.8.3-MUST-22
#[test]
fn an_unanswered_attempt_fails_after_its_last_retry() {
    let mut s = Script::new(plain_with(|s| s.max_syn_retries = 2));
    s.run(
        "0ms connect
             > S 0 <...>
         1000ms > S 0 <...>
         3000ms > S 0 <...>
         7000ms = state CLOSED
         99000ms quiet",
    );
    assert_eq!(s.stack.endpoint.failure(), Some(Failure::ConnectTimeout));
}

/// The times of uIP 1.0, which counts the first SYN as a retransmission.
#[test]
fn uip_sends_five_syns_after_growing_numbers_of_half_seconds() {
    let mut s = Script::new(Profile { stack: UIP, ..plain() });
    s.run(
        "0ms connect
             > S 0 <...>
         2000ms > S 0 <...>
         5500ms > S 0 <...>
         12000ms > S 0 <...>
         24500ms > S 0 <...>
         49000ms = state CLOSED
         99000ms quiet",
    );
    assert_eq!(s.stack.endpoint.failure(), Some(Failure::ConnectTimeout));
}

#[test]
fn stack_may_keep_the_initial_window_after_one_lost_syn_but_not_after_two() {
    let linux = || Script::new(plain_with(|s| s.spared_syns = 1));
    linux().run(
        "0ms connect
             > S 0 <...>
         1000ms > S 0 <...>
         1100ms < S. 0 ack 1 <mss 1000>
                > . 1 ack 1
                = cwnd_bytes 10000",
    );
    linux().run(
        "0ms connect
             > S 0 <...>
         1000ms > S 0 <...>
         3000ms > S 0 <...>
         3100ms < S. 0 ack 1 <mss 1000>
                > . 1 ack 1
                = cwnd_bytes 1000",
    );
}

#[test]
fn an_answer_to_a_repeated_syn_gives_no_sample() {
    let mut s = Script::new(plain());
    s.run(
        "0ms listen
             < S 0 <mss 1000>
             > S. 0 ack 1 <...>
         500ms < S 0 <mss 1000>
               > S. 0 ack 1 <...>
         540ms < . 1 ack 1
               = cwnd_bytes 1000",
    );
    assert!(!s.stack.endpoint.srtt().is_known());
}

#[test]
fn data_may_replace_the_third_ack() {
    Script::new(plain()).run(
        "0ms listen
             < S 0 <mss 1000>
             > S. 0 ack 1 <...>
         90ms < . 1+1000 ack 1
              > . 1 ack 1001
              = state ESTABLISHED",
    );
}

#[test]
fn a_wrong_acknowledgement_in_the_handshake_is_reset() {
    Script::new(plain()).run(
        "0ms listen
             < . 10 ack 33
             > R 33
         1ms < R 10
         2ms < S 0 <mss 1000>
             > S. 0 ack 1 <...>
         3ms < . 1 ack 2
             > R 2
             = state SYN-RECEIVED",
    );
}

// RFC 9293-3.10.7.3-1
#[test]
fn a_refused_attempt_fails_and_only_a_right_refusal_counts() {
    Script::new(plain()).run(
        "0ms connect
             > S 0 <...>
         9ms < R. 0 ack 9
             < R 0
             = state SYN-SENT
             < R. 0 ack 1
             = state CLOSED
             = error refused",
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
        "0ms listen
             < S 0 <mss 1000, ws 1>
             > S. 0 ack 1 <...>
         9ms < . 1 ack 1 win 2000 <ws 5>
             write 9000
             > . 1+1000
             > . 1001+1000                 # the shift of the SYN
         19ms < . 1 ack 2001 win 2000 <ws 5>
              > . 2001+1000
              > . 3001+1000",
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
        "0ms listen
             < S 0 <mss 1000, ws 15>
             > S. 0 ack 1 <...>
         9ms < . 1 ack 1 win 16384",
    );
    s.stack.endpoint.offer(40_000);
    let sent = std::iter::from_fn(|| {
        s.stack.endpoint.poll_transmit(&s.stack.profile, Time::from_millis(9))
    });
    assert_eq!(sent.count(), 16, "16384 bytes are 16 whole segments");
}
