//! Flow control of the sending side: RFC 9293 section 3.8.6, RFC 1122 section 4.2.3.

use crate::script::{Script, plain, plain_with};
use windlass_cc::recovery::LossRecovery;
use windlass_cc::{Flavour, Time};
use windlass_tcp::stack::LossCut;
use windlass_tcp::{Endpoint, Failure, Flags, InitialWindow};

#[test]
fn only_newer_segments_move_the_window() {
    Script::connected(plain()).run(
        "150ms < . 11+10 ack 1 win 9000    # from beyond a gap: newer
               > . 1 ack 1
         151ms < . 1+10 ack 1 win 1000     # older: its window is ignored
               > . 1 ack 21
         160ms write 9000
               > . 1+1000
               > . 1001+1000
               > . 2001+1000
               > . 3001+1000
               > . 4001+1000
               > . 5001+1000
               > . 6001+1000
               > . 7001+1000
               > . 8001+1000",
    );
}

// RFC 9293-3.9.1.2-MUST-60
#[test]
fn send_buffer_limits_unacknowledged_data() {
    Script::connected(plain_with(|s| s.send_buffer = 2000)).run(
        "100ms write 9000
               > . 1+1000
               > . 1001+1000
               shutdown
         200ms < . 1 ack 1001
               > . 2001+1000
               = in_flight_bytes 2000",
    );
}

/// The memory of a segment is its payload and 896 bytes, and the last segment may exceed the buffer.
#[test]
fn linux_counts_the_send_buffer_in_memory() {
    let with_rules = |rules| {
        plain_with(|s| {
            (s.rules, s.send_buffer, s.initial_send_buffer) = (rules, 8_000, 8_000);
        })
    };
    assert_eq!(Endpoint::buffered_by(&with_rules(Flavour::Rfc)), 8_000);
    assert_eq!(Endpoint::buffered_by(&with_rules(Flavour::Linux)), 5_000);
    Script::connected(with_rules(Flavour::Linux)).run(
        "100ms write 20000
               > . 1+1000
               > . 1001+1000
               > . 2001+1000
               > . 3001+1000
               > . 4001+1000
         110ms quiet",
    );
}

// RFC 9293-3.8.6.1-MUST-36, 9293-3.8.6.1-SHLD-29, 9293-3.8.6.1-SHLD-30
#[test]
fn a_closed_window_is_probed_with_back_off_until_it_opens() {
    Script::connected(plain()).run(
        "100ms write 3000
               > . 1+1000
               > . 1001+1000
               > . 2001+1000
         200ms < . 1 ack 3001 win 0
               write 3000
         1200ms > . 3001+1
         1250ms < . 1 ack 3001 win 0
         3200ms > . 3001+1
         3250ms < . 1 ack 3001 win 0
         7200ms > . 3001+1
         7250ms < . 1 ack 3001 win 5000
                > . 3001+1000
                > . 4001+1000
                > . 5001+1000
                = window_probes 3
                = duplicate_acks 0
         7350ms < . 1 ack 6001 win 5000
         60000ms quiet",
    );
}

#[test]
fn a_lost_window_update_is_found_by_a_probe() {
    Script::connected(plain()).run(
        "100ms < . 1 ack 1 win 0
               write 2000
         1100ms > . 1+1
         1200ms < . 1 ack 2 win 8000        # the update had been lost; the byte is accepted
                > . 2+1000
                > . 1002+999
         1300ms < . 1 ack 2001 win 8000
         60000ms quiet",
    );
}

#[test]
fn accepted_probe_resets_the_probe_interval() {
    Script::connected(plain()).run(
        "100ms < . 1 ack 1 win 0
               write 2000
         1100ms > . 1+1
         3100ms > . 1+1
         3200ms < . 1 ack 2 win 0
         4200ms > . 2+1",
    );
}

#[test]
fn larger_window_restarts_the_probe_timer() {
    Script::connected(plain()).run(
        "100ms < . 1 ack 1 win 0
               write 2000                   # a probe is due at 1100
         600ms < . 1 ack 1 win 300
         1600ms > . 1+300",
    );
}

// RFC 9293-3.8.6.1-MUST-37
#[test]
fn answered_probes_continue_and_unanswered_probes_end() {
    let p = plain_with(|s| s.max_data_retries = 2);
    let mut s = Script::connected(p);
    s.run(
        "100ms < . 1 ack 1 win 0
               write 2000
         1100ms > . 1+1
         1101ms < . 1 ack 1 win 0
         3100ms > . 1+1
         3101ms < . 1 ack 1 win 0
         7100ms > . 1+1
         7101ms < . 1 ack 1 win 0
         15100ms > . 1+1
         31100ms > . 1+1
         31101ms < . 1 ack 1 win 0
         63100ms > . 1+1
         63101ms < . 1 ack 1 win 0
         123100ms > . 1+1                   # the largest interval: 60 s
         183100ms > . 1+1
         243100ms > R. 1 ack 1",
    );
    assert_eq!(s.stack.endpoint.failure(), Some(Failure::ProbeTimeout));
}

// RFC 9293-3.8.6-MUST-34, 9293-3.8.6-SHLD-16, 9293-3.8.6-SHLD-17, 9293-3.8.6-MUST-35
#[test]
fn a_window_that_closes_over_data_in_flight_ends_retransmission_in_probes() {
    Script::connected(plain_with(|s| s.max_data_retries = 2)).run(
        "100ms write 3000
               > . 1+1000
               > . 1001+1000
               > . 2001+1000
         200ms < . 1 ack 1 win 0
         3100ms > . 1+1                     # the timeout at 1100 set the probe timer, with its backoff
         3110ms < . 1 ack 1 win 0
         7100ms > . 1+1
         7110ms < . 1 ack 1 win 0
         15100ms > . 1+1
         15110ms < . 1 ack 1 win 60000
                 > . 1+1000
         15210ms < . 1 ack 3001
                 = timeouts 1
         60000ms quiet",
    );
}

// RFC 9293-3.8.6.2.1-MUST-38
#[test]
fn window_below_a_segment_is_used_after_the_override_timeout() {
    Script::connected(plain()).run(
        "100ms < . 1 ack 1 win 300
               write 2000
         1100ms > . 1+300
                = in_flight_bytes 300
         2100ms > . 1+300                   # real data: the retransmission timer is set
         2200ms < . 1 ack 301 win 60000
                > . 301+1000",
    );
}

// RFC 9293-3.8.6.2.1-MUST-38
#[test]
fn segment_of_half_the_largest_window_is_sent() {
    Script::new(plain()).run(
        "0ms listen
             < S 0 win 600 <mss 1000>
             > S. 0 ack 1 <...>
         9ms < . 1 ack 1 win 600
             write 5000
             > . 1+600
         20ms < . 1 ack 601 win 300
              > . 601+300
         30ms < . 1 ack 901 win 200
         1030ms > . 901+200",
    );
}

// RFC 9293-3.10.7.4-5
#[test]
fn ack_of_unsent_data_is_answered_and_its_payload_is_dropped() {
    Script::connected(plain()).run(
        "100ms < . 1+10 ack 2
               > . 1 ack 1
         110ms < . 1+10 ack -294967296       # far in the past: RFC 5961 section 5.2
               > . 1 ack 1
         120ms < . 1+10 ack 1
               > . 1 ack 11",
    );
    Script::new(plain()).run(
        "0ms listen
             < S 0 win 600 <mss 1000>
             > S. 0 ack 1 <...>
         9ms < . 1 ack 1 win 600
             write 1200
             > . 1+600
         20ms < . 1 ack 601 win 600
              > . 601+600
         30ms < . 1 ack 1201 win 600
         40ms < . 1+10 ack 1                # older than the largest window
              > . 1201 ack 1
         50ms < . 1+10 ack 601              # an ordinary old acknowledgement
              > . 1201 ack 11",
    );
}

// RFC 5681-3.1-2
#[test]
fn initial_window_of_rfc_5681_depends_on_the_segment_size() {
    for (mss, segments) in [(1000, 4), (1095, 4), (1096, 3), (2190, 3), (2191, 2)] {
        let mut p = plain_with(|s| s.initial_window = InitialWindow::Rfc5681);
        p.mtu = mss + 40;
        let mut s = Script::new(p);
        s.run(&format!(
            "0ms connect\n 0ms > S 0 <...>\n 100ms < S. 0 ack 1 <mss {mss}>\n 100ms > . 1 ack 1"
        ));
        s.stack.endpoint.offer(20_000);
        let sent = std::iter::from_fn(|| {
            s.stack.endpoint.poll_transmit(&s.stack.profile, Time::from_millis(100))
        });
        assert_eq!(sent.map(|s| s.len).collect::<Vec<_>>(), vec![mss; segments]);
    }
}

// RFC 9293-3.9.1.2-MUST-61
#[test]
fn last_buffered_segment_is_pushed() {
    let mut s = Script::connected(plain());
    s.stack.endpoint.offer(2500);
    let sent = std::iter::from_fn(|| {
        s.stack.endpoint.poll_transmit(&s.stack.profile, Time::from_millis(100))
    });
    let pushed: Vec<_> = sent.map(|s| (s.len, s.flags.has(Flags::PSH))).collect();
    assert_eq!(pushed, [(1000, false), (1000, false), (500, true)]);
}

/// A sender by Linux's rules, whose send buffer holds 30 segments of 1000 bytes with the kernel's 896 bytes each, and
/// that has sent them.
fn full_buffer(sack: bool) -> Script {
    let recovery = if sack { LossRecovery::Sack } else { LossRecovery::NewReno };
    let profile = plain_with(|s| {
        (s.sack, s.rules, s.recovery) = (sack, Flavour::Linux, Some(recovery));
        (s.send_buffer, s.initial_window) = (30 * 1896, InitialWindow::Segments(100));
        s.loss_cut = LossCut::Window; // half of 100 segments does not limit
    });
    let mut s =
        if sack { Script::connected_with_sack(profile) } else { Script::connected(profile) };
    s.stack.endpoint.offer(1_000_000);
    assert_eq!(sent(&mut s), 30);
    s
}

#[test]
fn segment_that_fills_the_send_buffer_of_linux_is_pushed() {
    let mut s = Script::connected(plain_with(|s| s.rules = Flavour::Linux));
    s.stack.endpoint.offer(1_000_000);
    let pushed = |s: &mut Script| {
        let sent = std::iter::from_fn(|| {
            s.stack.endpoint.poll_transmit(&s.stack.profile, Time::from_millis(150))
        });
        sent.map(|s| s.flags.has(Flags::PSH)).collect::<Vec<_>>()
    };
    pushed(&mut s);
    // Ten segments of 1000 bytes need 10 * 2 * 2304 bytes of memory, in which 25 have room.
    arrives(&mut s, ". 1 ack 2001 win 60000");
    let room = 25 - s.stack.endpoint.stats().data_segments as usize;
    let mut all = Vec::new();
    for ack in 3..=12 {
        arrives(&mut s, &format!(". 1 ack {}001 win 60000", ack));
        all.extend(pushed(&mut s));
    }
    assert_eq!(all.iter().position(|pushed| *pushed), Some(room - 1), "{all:?}");
}

fn sent(s: &mut Script) -> usize {
    std::iter::from_fn(|| s.stack.endpoint.poll_transmit(&s.stack.profile, Time::from_millis(150)))
        .count()
}

fn arrives(s: &mut Script, text: &str) {
    s.arrives(Time::from_millis(150), text);
}

#[test]
fn full_send_buffer_of_linux_takes_no_data_until_a_third_is_free() {
    let mut s = full_buffer(true);
    arrives(&mut s, ". 1 ack 9001 win 60000");
    assert_eq!(sent(&mut s), 0, "9 of 30 are free");
    arrives(&mut s, ". 1 ack 10001 win 60000");
    assert_eq!(sent(&mut s), 10);
}

#[test]
fn segments_that_sack_reports_share_the_memory_of_the_send_buffer() {
    let mut s = full_buffer(true);
    // 26 segments keep 26 * 1000 of 26 * 1896 bytes: 12 segments of memory are free.
    arrives(&mut s, ". 1 ack 1 win 60000 <sack 4001-30001>");
    sent(&mut s);
    let stats = s.stack.endpoint.stats();
    assert_eq!(stats.data_segments - stats.retransmits, 30 + 12);
}

#[test]
fn segments_that_duplicates_report_keep_the_memory_of_the_send_buffer() {
    let mut s = full_buffer(false);
    for _ in 0..28 {
        arrives(&mut s, ". 1 ack 1 win 60000");
        sent(&mut s);
    }
    let stats = s.stack.endpoint.stats();
    assert_eq!((stats.data_segments - stats.retransmits, stats.retransmits), (30, 1));
}
