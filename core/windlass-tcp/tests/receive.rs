//! Acknowledging and the offered window: RFC 1122 section 4.2.3, RFC 5681 section 4.2, RFC 2018,
//! RFC 7323.

use crate::script::{PEER_ISS, Script, plain, plain_with};
use windlass_cc::setup::{Counting, Setup};
use windlass_cc::{Flavour, Span, Time};
use windlass_tcp::stack::Lies;
use windlass_tcp::{Preset, Profile};

fn delaying(segments: u32) -> Script {
    Script::connected(plain_with(|s| s.delayed_ack_segments = segments))
}

// RFC 5681-4.2-2, 5681-4.2-3, 5681-4.2-5
#[test]
fn every_second_segment_is_acknowledged_at_once_and_a_single_one_after_the_delay() {
    delaying(2).run(
        "200ms < . 1+1000 ack 1
         210ms < . 1001+1000 ack 1
               > . 1 ack 2001
         220ms < . 2001+1000 ack 1
         420ms > . 1 ack 3001
         500ms < . 3001+1000 ack 1
         600ms write 10                     # the data carry the acknowledgement
               > . 1+10 ack 4001
         700ms < . 4001 ack 11
         999ms quiet",
    );
    delaying(3).run(
        "200ms < . 1+1000 ack 1
         210ms < . 1001+1000 ack 1
         220ms < . 2001+1000 ack 1
               > . 1 ack 3001",
    );
}

fn lying(lies: Lies) -> Script {
    Script::connected(plain_with(|s| s.lies = lies))
}

#[test]
fn receiver_that_hides_losses_acknowledges_missing_data() {
    lying(Lies::HidesLosses).run(
        "200ms < . 1001+1000 ack 1          # the first segment is lost
               > . 1 ack 2001
               = received_bytes 2000
         201ms < . 1+1000 ack 1             # it was late: an ordinary duplicate
               > . 1 ack 2001
               = received_bytes 2000",
    );
}

#[test]
fn a_receiver_that_splits_acknowledgements_covers_a_quarter_of_a_segment_at_a_time() {
    lying(Lies::SplitsAcks).run(
        "200ms < . 1+1000 ack 1
               > . 1 ack 251
               > . 1 ack 501
               > . 1 ack 751
               > . 1 ack 1001
         201ms < . 2001+1000 ack 1          # a hole is reported once
               > . 1 ack 1001",
    );
}

/// A sender in congestion avoidance with ten segments in flight.
fn avoiding(counting: Counting) -> Script {
    let mut p = plain_with(|s| s.window_counting = counting);
    p.params.set_common(&Setup { initial_ssthresh: 2_000, ..p.params.common() });
    Script::connected(p)
}

#[test]
fn segment_counting_ignores_partial_segment_acks() {
    let mut opened = Vec::new();
    for counting in [Counting::Bytes, Counting::Segments] {
        let mut s = avoiding(counting);
        let sent = |n: u32| format!("200ms > . {}+1000 ack 1\n", 1 + 1_000 * n);
        s.run(&format!("200ms write 10000\n{}", (0..10).map(sent).collect::<String>()));
        for piece in 1..=40 {
            s.run(&format!("{}ms < . 1 ack {}", 300 + piece, 1 + 250 * piece));
        }
        opened.push(s.stack.endpoint.control().cwnd);
    }
    assert!(opened[0] >= 13_000, "RFC 5681, equation 3, counts acknowledgements: {opened:?}");
    assert!((10_900..=11_000).contains(&opened[1]), "a segment in a round trip: {opened:?}");
}

// RFC 5681-3.2-1, 5681-3.2-2, 5681-4.2-4, 9293-3.10.7.4-SHLD-31
#[test]
fn gaps_their_filling_and_duplicates_are_acknowledged_at_once() {
    delaying(2).run(
        "200ms < . 1001+1000 ack 1
               > . 1 ack 1
         201ms < . 3001+1000 ack 1
               > . 1 ack 1
         202ms < . 1+1000 ack 1              # fills the first gap; another remains
               > . 1 ack 2001
         203ms < . 2001+1000 ack 1           # fills the last gap
               > . 1 ack 4001
         204ms < . 1+1000 ack 1
               > . 1 ack 4001
         205ms < . 3501+1000 ack 1           # half old, half new: an ordinary segment
         405ms > . 1 ack 4501",
    );
}

#[test]
fn data_beyond_the_window_is_cut_off() {
    let mut s = Script::connected(plain_with(|s| s.receive_buffer = 1500));
    s.run(
        "200ms < . 1+1000 ack 1
               > . 1 ack 1001 win 500
         210ms < F. 1001+1000 ack 1
               > . 1 ack 1501 win 0
               = state ESTABLISHED
         220ms < . 1501+1000 ack 1
               > . 1 ack 1501 win 0
         230ms < . 5000+10 ack 1
               > . 1 ack 1501",
    );
}

#[test]
fn ack_of_a_segment_at_a_closed_window_is_processed() {
    let mut s = Script::connected(plain_with(|s| s.receive_buffer = 1000));
    s.run(
        "200ms write 1000
               > . 1+1000
         210ms < . 1+1000 ack 1
               > . 1001 ack 1001 win 0
         300ms < . 1001+1 ack 1001            # a probe
               > . 1001 ack 1001 win 0
               = acknowledged_bytes 1000",
    );
}

// RFC 7323-2.4-2, 7323-2.4-3
#[test]
fn ack_at_the_right_edge_of_the_window_is_processed() {
    // The peer filled the window of this end and lost its first segment. Its acknowledgements have the
    // sequence number of the right edge.
    let mut s = Script::connected(plain_with(|s| s.receive_buffer = 3000));
    s.run(
        "200ms write 1000
               > . 1+1000
         210ms < . 2001+1000 ack 1
               > . 1001 ack 1
         300ms < . 3001 ack 1001
               = acknowledged_bytes 1000
         9000ms quiet",
    );
}

// RFC 9293-3.8.6-SHLD-14, 9293-3.8.6.2.2-MUST-39
#[test]
fn window_advances_in_sufficiently_large_steps() {
    Script::connected(plain()).run(
        "200ms < . 1+8000 ack 1
               > . 1 ack 8001 win 2000
         210ms read 1000                      # less than two segments
         220ms read 500
         230ms read 500
               > . 1 ack 8001 win 4000
         240ms read 6000
               > . 1 ack 8001 win 10000
         250ms < . 8001+400 ack 1
               > . 1 ack 8401 win 9600
         260ms read 400                       # too small for an update
         270ms < . 8401+400 ack 1
               > . 1 ack 8801 win 9200        # the edge does not advance: 9600 would be only 400 more
         280ms read 400
         290ms < . 8801+400 ack 1
               > . 1 ack 9201 win 8800        # 800 more, with 400 unread
         300ms read 400
         310ms < . 9201+400 ack 1
               > . 1 ack 9601 win 9600        # now 1200 more",
    );
}

// RFC 9293-3.8.6.2.2-MUST-39
#[test]
fn small_buffer_advances_by_half() {
    let mut s = Script::connected(plain_with(|s| s.receive_buffer = 1200));
    s.run(
        "200ms < . 1+1000 ack 1
               > . 1 ack 1001 win 200
         210ms read 500
         220ms read 100
               > . 1 ack 1001 win 800",
    );
}

/// Reno-BER figure 10: the application reads late, the acknowledgement announces 2920 bytes, an update
/// announces 8760, and the duplicates after it count.
#[test]
fn figure_10_of_reno_ber_at_the_receiver() {
    let stack = Preset::by_name("riverbed").unwrap().config;
    let mut s = Script::new(Profile { stack, mtu: 1500, ..plain() });
    s.run(
        "0ms listen
             < S 0 win 8760 <mss 1460>
             > S. 0 ack 1 win 8760 <...>
         40ms < . 1 ack 1 win 8760
         100ms < . 1+1460 ack 1
         101ms < . 1461+1460 ack 1
               > . 1 ack 2921 win 5840
         102ms < . 2921+1460 ack 1
         103ms < . 4381+1460 ack 1
               > . 1 ack 5841 win 2920
         104ms read 5840
               > . 1 ack 5841 win 8760
         105ms < . 7301+1460 ack 1            # 5841 was lost
               > . 1 ack 5841 win 8760
         106ms < . 8761+1460 ack 1
               > . 1 ack 5841 win 8760
         107ms < . 10221+1460 ack 1
               > . 1 ack 5841 win 8760
         145ms < . 5841+1460 ack 1
               > . 1 ack 11681 win 2920",
    );
}

#[test]
fn figure_10_of_reno_ber_at_the_sender() {
    let stack = Preset::by_name("riverbed").unwrap().config;
    let mut s = Script::new(Profile { stack, mtu: 1500, ..plain() });
    s.run(
        "0ms connect
             > S 0 <...>
         40ms < S. 0 ack 1 win 8760 <mss 1460>
              > . 1 ack 1
              write 20440
              > . 1+1460
              > . 1461+1460
         80ms < . 1 ack 2921 win 8760
              > . 2921+1460
              > . 4381+1460
              > . 5841+1460
         120ms < . 1 ack 5841 win 2920
               > . 7301+1460
         121ms < . 1 ack 5841 win 8760         # the update is not a duplicate
               > . 8761+1460
               > . 10221+1460
         122ms = duplicate_acks 0
         160ms < . 1 ack 5841 win 8760
         161ms < . 1 ack 5841 win 8760
         162ms < . 1 ack 5841 win 8760
               > . 5841+1460
               > . 11681+1460
               = ssthresh_bytes 2920
               = fast_retransmissions 1",
    );
}

fn with_timestamps() -> Script {
    let mut s = Script::new(plain_with(|s| {
        s.timestamps = true;
        s.delayed_ack_segments = 2;
    }));
    s.run(
        "0ms listen
             < S 0 <mss 1000, ts 500 0>
             > S. 0 ack 1 <ts * 500, ...>
         40ms < . 1 ack 1 <ts 540 1>",
    );
    s
}

// RFC 7323-3.2-2, 7323-3.2-4, 7323-4.3-1, 7323-4.3-2, 7323-4.3-3, 7323-5.3-3, 7323-5.4-1
#[test]
fn a_delayed_acknowledgement_echoes_its_first_segment() {
    with_timestamps().run(
        "100ms < . 1+988 ack 1 <ts 600 1>
         110ms < . 989+988 ack 1 <ts 610 1>
               > . 1 ack 1977 <ts * 600>
         120ms < . 2965+988 ack 1 <ts 620 1>     # beyond a gap: not echoed
               > . 1 ack 1977 <ts * 600>
         130ms < . 1977+988 ack 1 <ts 630 1>
               > . 1 ack 3953 <ts * 630>",
    );
}

// RFC 7323-3.2-8, 7323-5.2-1, 7323-5.2-4, 7323-5.3-1
#[test]
fn a_timestamp_from_the_past_marks_an_old_duplicate() {
    with_timestamps().run(
        "100ms < . 1+988 ack 1 <ts 539 1>
               > . 1 ack 1
               = received_bytes 0
         110ms < . 1+988 ack 1 <no-ts>         # without a timestamp: dropped
               = received_bytes 0
         120ms < R 1 <no-ts>                     # a reset needs no timestamp
               = error reset",
    );
}

// RFC 7323-5.5-1
#[test]
fn a_timestamp_is_forgotten_after_24_days() {
    // 2 147 483 649 ms later the peer's clock seems to have gone backwards.
    let mut s = with_timestamps();
    s.arrives(Time::from_millis(2_147_483_700), ". 1+988 ack 1 <ts -2147483107 1>");
    assert_eq!(s.stack.endpoint.readable(), 988);
}

#[test]
fn delayed_ack_is_not_moved_to_the_ticks_of_the_slow_timer() {
    let p = plain_with(|s| {
        s.delayed_ack_segments = 2;
        s.timer_tick = Span::from_millis(500);
    });
    Script::connected(p).run("210ms < . 1+1000 ack 1\n 410ms > . 1 ack 1001");
}

// RFC 9293-3.10.7.4-MUST-58, 9293-3.10.7.4-MUST-59
#[test]
fn segments_that_arrive_together_get_one_acknowledgement() {
    let mut s = Script::connected(plain());
    let now = Time::from_millis(150);
    for text in [". 1+1000 ack 1", ". 1001+1000 ack 1", ". 3001+1000 ack 1"] {
        s.arrives(now, text);
    }
    let sent: Vec<_> =
        std::iter::from_fn(|| s.stack.endpoint.poll_transmit(&s.stack.profile, now)).collect();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].ack, PEER_ISS.add(2001));
}

// RFC 7323-3.2-3
#[test]
fn echo_without_ack_is_ignored() {
    with_timestamps().run(
        "100ms write 988
               > . 1+988 ack 1
         150ms < F 1 <ts 700 1>
               = state ESTABLISHED
               = srtt 40ms
               = received_bytes 0
         200ms < . 1 ack 989 <ts 700 101>",
    );
}

/// `tcp_disordered_ack`: the network reordered an acknowledgement that has nothing new. It may be older than the last
/// timestamp, 5100, by 1.2 timeouts of a second. Any other segment with an older timestamp is answered.
#[test]
fn linux_does_not_answer_an_old_acknowledgement_without_news() {
    let answered = |rules, text: &str| {
        let mut p = plain_with(|s| (s.timestamps, s.rules) = (true, rules));
        p.mtu = 1052;
        let mut s = Script::new(p);
        s.run(
            "0ms connect
                 > S 0 <ts * 0, ...>
             100ms < S. 0 ack 1 win 60000 <mss 1012, ts 5000 1>
                   > . 1 ack 1
                   write 2000
                   > . 1+1000
                   > . 1001+1000
             200ms < . 1 ack 1001 win 50000 <ts 5100 101>",
        );
        let at = Time::from_millis(300);
        s.arrives(at, &format!(". {text} 101>"));
        s.stack.endpoint.poll_transmit(&s.stack.profile, at).is_some()
    };
    for text in ["1 ack 1001 win 50000 <ts 5090", "1 ack 1001 win 49999 <ts 3900"] {
        assert!(!answered(Flavour::Linux, text), "{text}");
        assert!(answered(Flavour::Rfc, text), "{text}");
    }
    for text in [
        "1 ack 1001 win 50000 <ts 3899",
        "1 ack 1001 win 50001 <ts 5090",
        "1 ack 1 win 50000 <ts 5090",
        "0 ack 1001 win 50000 <ts 5090",
        "2 ack 1001 win 50000 <ts 5090",
        "1+10 ack 1001 win 50000 <ts 5090",
    ] {
        assert!(answered(Flavour::Linux, text), "{text}");
    }
}
