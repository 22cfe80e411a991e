//! Acknowledging and the offered window: RFC 1122 section 4.2.3, RFC 5681 section 4.2, RFC 2018,
//! RFC 7323.

use crate::script::{PEER_ISS, Script, plain, plain_with, segment};
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
        "200 < . 1+1000 ack 1
         210 < . 1001+1000 ack 1
         210 > . 1 ack 2001
         220 < . 2001+1000 ack 1
         420 > . 1 ack 3001
         500 < . 3001+1000 ack 1
         600 offer 10                     # the data carry the acknowledgement
         600 > . 1+10 ack 4001
         700 < . 4001 ack 11
         999",
    );
    delaying(3).run(
        "200 < . 1+1000 ack 1
         210 < . 1001+1000 ack 1
         220 < . 2001+1000 ack 1
         220 > . 1 ack 3001",
    );
}

fn lying(lies: Lies) -> Script {
    Script::connected(plain_with(|s| s.lies = lies))
}

#[test]
fn receiver_that_hides_losses_acknowledges_missing_data() {
    lying(Lies::HidesLosses).run(
        "200 < . 1001+1000 ack 1          # the first segment is lost
         200 > . 1 ack 2001 bare
         200 = received 2000
         201 < . 1+1000 ack 1             # it was late: an ordinary duplicate
         201 > . 1 ack 2001 bare
         201 = received 2000",
    );
}

#[test]
fn a_receiver_that_splits_acknowledgements_covers_a_quarter_of_a_segment_at_a_time() {
    lying(Lies::SplitsAcks).run(
        "200 < . 1+1000 ack 1
         200 > . 1 ack 251
         200 > . 1 ack 501
         200 > . 1 ack 751
         200 > . 1 ack 1001
         201 < . 2001+1000 ack 1          # a hole is reported once
         201 > . 1 ack 1001",
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
        let sent = |n: u32| format!("200 > . {}+1000 ack 1\n", 1 + 1_000 * n);
        s.run(&format!("200 offer 10000\n{}", (0..10).map(sent).collect::<String>()));
        for piece in 1..=40 {
            s.run(&format!("{} < . 1 ack {}", 300 + piece, 1 + 250 * piece));
        }
        opened.push(s.e.control().cwnd);
    }
    assert!(opened[0] >= 13_000, "RFC 5681, equation 3, counts acknowledgements: {opened:?}");
    assert!((10_900..=11_000).contains(&opened[1]), "a segment in a round trip: {opened:?}");
}

// RFC 5681-3.2-1, 5681-3.2-2, 5681-4.2-4, 9293-3.10.7.4-SHLD-31
#[test]
fn gaps_their_filling_and_duplicates_are_acknowledged_at_once() {
    delaying(2).run(
        "200 < . 1001+1000 ack 1
         200 > . 1 ack 1
         201 < . 3001+1000 ack 1
         201 > . 1 ack 1
         202 < . 1+1000 ack 1              # fills the first gap; another remains
         202 > . 1 ack 2001
         203 < . 2001+1000 ack 1           # fills the last gap
         203 > . 1 ack 4001
         204 < . 1+1000 ack 1
         204 > . 1 ack 4001
         205 < . 3501+1000 ack 1           # half old, half new: an ordinary segment
         405 > . 1 ack 4501",
    );
}

#[test]
fn data_beyond_the_window_is_cut_off() {
    let mut s = Script::connected(plain_with(|s| s.receive_buffer = 1500));
    s.run(
        "200 < . 1+1000 ack 1
         200 > . 1 ack 1001 win 500
         210 < F. 1001+1000 ack 1
         210 > . 1 ack 1501 win 0
         210 = state Established
         220 < . 1501+1000 ack 1
         220 > . 1 ack 1501 win 0
         230 < . 5000+10 ack 1
         230 > . 1 ack 1501",
    );
}

#[test]
fn ack_of_a_segment_at_a_closed_window_is_processed() {
    let mut s = Script::connected(plain_with(|s| s.receive_buffer = 1000));
    s.run(
        "200 offer 1000
         200 > . 1+1000
         210 < . 1+1000 ack 1
         210 > . 1001 ack 1001 win 0
         300 < . 1001+1 ack 1001            # a probe
         300 > . 1001 ack 1001 win 0
         300 = acknowledged 1000",
    );
}

// RFC 7323-2.4-2, 7323-2.4-3
#[test]
fn ack_at_the_right_edge_of_the_window_is_processed() {
    // The peer filled the window of this end and lost its first segment. Its acknowledgements have the
    // sequence number of the right edge.
    let mut s = Script::connected(plain_with(|s| s.receive_buffer = 3000));
    s.run(
        "200 offer 1000
         200 > . 1+1000
         210 < . 2001+1000 ack 1
         210 > . 1001 ack 1
         300 < . 3001 ack 1001
         300 = acknowledged 1000
         9000",
    );
}

// RFC 9293-3.8.6-SHLD-14, 9293-3.8.6.2.2-MUST-39
#[test]
fn window_advances_in_sufficiently_large_steps() {
    Script::connected(plain()).run(
        "200 < . 1+8000 ack 1
         200 > . 1 ack 8001 win 2000
         210 read 1000                      # less than two segments
         220 read 500
         230 read 500
         230 > . 1 ack 8001 win 4000
         240 read 6000
         240 > . 1 ack 8001 win 10000
         250 < . 8001+400 ack 1
         250 > . 1 ack 8401 win 9600
         260 read 400                       # too small for an update
         270 < . 8401+400 ack 1
         270 > . 1 ack 8801 win 9200        # the edge does not advance: 9600 would be only 400 more
         280 read 400
         290 < . 8801+400 ack 1
         290 > . 1 ack 9201 win 8800        # 800 more, with 400 unread
         300 read 400
         310 < . 9201+400 ack 1
         310 > . 1 ack 9601 win 9600        # now 1200 more",
    );
}

// RFC 9293-3.8.6.2.2-MUST-39
#[test]
fn small_buffer_advances_by_half() {
    let mut s = Script::connected(plain_with(|s| s.receive_buffer = 1200));
    s.run(
        "200 < . 1+1000 ack 1
         200 > . 1 ack 1001 win 200
         210 read 500
         220 read 100
         220 > . 1 ack 1001 win 800",
    );
}

/// Reno-BER figure 10: the application reads late, the acknowledgement announces 2920 bytes, an update
/// announces 8760, and the duplicates after it count.
#[test]
fn figure_10_of_reno_ber_at_the_receiver() {
    let stack = Preset::by_name("riverbed").unwrap().config;
    let mut s = Script::new(Profile { stack, mtu: 1500, ..plain() });
    s.run(
        "0 listen
         0 < S 0 win 8760 mss 1460
         0 > S. 0 ack 1 win 8760
         40 < . 1 ack 1 win 8760
         100 < . 1+1460 ack 1
         101 < . 1461+1460 ack 1
         101 > . 1 ack 2921 win 5840
         102 < . 2921+1460 ack 1
         103 < . 4381+1460 ack 1
         103 > . 1 ack 5841 win 2920
         104 read 5840
         104 > . 1 ack 5841 win 8760
         105 < . 7301+1460 ack 1            # 5841 was lost
         105 > . 1 ack 5841 win 8760
         106 < . 8761+1460 ack 1
         106 > . 1 ack 5841 win 8760
         107 < . 10221+1460 ack 1
         107 > . 1 ack 5841 win 8760
         145 < . 5841+1460 ack 1
         145 > . 1 ack 11681 win 2920",
    );
}

#[test]
fn figure_10_of_reno_ber_at_the_sender() {
    let stack = Preset::by_name("riverbed").unwrap().config;
    let mut s = Script::new(Profile { stack, mtu: 1500, ..plain() });
    s.run(
        "0 connect
         0 > S 0
         40 < S. 0 ack 1 win 8760 mss 1460
         40 > . 1 ack 1
         40 offer 20440
         40 > . 1+1460
         40 > . 1461+1460
         80 < . 1 ack 2921 win 8760
         80 > . 2921+1460
         80 > . 4381+1460
         80 > . 5841+1460
         120 < . 1 ack 5841 win 2920
         120 > . 7301+1460
         121 < . 1 ack 5841 win 8760         # the update is not a duplicate
         121 > . 8761+1460
         121 > . 10221+1460
         122 = dup_acks 0
         160 < . 1 ack 5841 win 8760
         161 < . 1 ack 5841 win 8760
         162 < . 1 ack 5841 win 8760
         162 > . 5841+1460
         162 = ssthresh 2920
         162 = fast_retransmits 1
         162 > . 11681+1460",
    );
}

#[test]
fn received_ranges_are_reported_most_recent_first() {
    let mut s = Script::new(plain_with(|s| s.sack = true));
    s.run(
        "0 connect
         0 > S 0 sackok
         9 < S. 0 ack 1 mss 1000 sackok
         9 > . 1 ack 1
         20 < . 1001+1000 ack 1
         20 > . 1 ack 1 sack 1001-2001
         21 < . 3001+1000 ack 1
         21 > . 1 ack 1 sack 3001-4001,1001-2001
         22 < . 5001+1000 ack 1
         22 > . 1 ack 1 sack 5001-6001,3001-4001,1001-2001
         23 < . 2001+1000 ack 1
         23 > . 1 ack 1 sack 1001-4001,5001-6001
         24 offer 2000                       # twenty bytes for two blocks
         24 > . 1+980 ack 1 sack 1001-4001,5001-6001
         24 > . 981+980
         24 > . 1961+40
         25 < . 1+1000 ack 1
         25 > . 2001 ack 4001 sack 5001-6001
         26 < . 4001+1000 ack 1
         26 > . 2001 ack 6001 bare",
    );
}

fn with_timestamps() -> Script {
    let mut s = Script::new(plain_with(|s| {
        s.timestamps = true;
        s.delayed_ack_segments = 2;
    }));
    s.run(
        "0 listen
         0 < S 0 mss 1000 ts 500 0
         0 > S. 0 ack 1 ts 1 500
         40 < . 1 ack 1 ts 540 1",
    );
    s
}

// RFC 7323-3.2-2, 7323-3.2-4, 7323-4.3-1, 7323-4.3-2, 7323-4.3-3, 7323-5.3-3, 7323-5.4-1
#[test]
fn a_delayed_acknowledgement_echoes_its_first_segment() {
    with_timestamps().run(
        "100 < . 1+988 ack 1 ts 600 1
         110 < . 989+988 ack 1 ts 610 1
         110 > . 1 ack 1977 ts 111 600
         120 < . 2965+988 ack 1 ts 620 1     # beyond a gap: not echoed
         120 > . 1 ack 1977 ts 121 600
         130 < . 1977+988 ack 1 ts 630 1
         130 > . 1 ack 3953 ts 131 630",
    );
}

// RFC 7323-3.2-8, 7323-5.2-1, 7323-5.2-4, 7323-5.3-1
#[test]
fn a_timestamp_from_the_past_marks_an_old_duplicate() {
    with_timestamps().run(
        "100 < . 1+988 ack 1 ts 539 1
         100 > . 1 ack 1
         100 = received 0
         110 < . 1+988 ack 1                  # without a timestamp: dropped
         110 = received 0
         120 < R 1                            # a reset needs no timestamp
         120 = failure Reset",
    );
}

// RFC 7323-5.5-1
#[test]
fn a_timestamp_is_forgotten_after_24_days() {
    // 2 147 483 649 ms later the peer's clock seems to have gone backwards.
    with_timestamps().run(
        "2147483700 < . 1+988 ack 1 ts 2147484189 1
         2147483900 > . 1 ack 989 ts 2147483901 2147484189",
    );
}

#[test]
fn delayed_ack_is_not_moved_to_the_ticks_of_the_slow_timer() {
    let p = plain_with(|s| {
        s.delayed_ack_segments = 2;
        s.timer_tick = Span::from_millis(500);
    });
    Script::connected(p).run("210 < . 1+1000 ack 1\n 410 > . 1 ack 1001");
}

// RFC 9293-3.10.7.4-MUST-58, 9293-3.10.7.4-MUST-59
#[test]
fn segments_that_arrive_together_get_one_acknowledgement() {
    let mut s = Script::connected(plain());
    let now = Time::from_millis(150);
    for text in [". 1+1000 ack 1", ". 1001+1000 ack 1", ". 3001+1000 ack 1"] {
        s.e.on_segment(&s.p, now, &segment(text));
    }
    let sent: Vec<_> = std::iter::from_fn(|| s.e.poll_transmit(&s.p, now)).collect();
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].ack, PEER_ISS.add(2001));
}

// RFC 7323-3.2-3
#[test]
fn echo_without_ack_is_ignored() {
    with_timestamps().run(
        "100 offer 988
         100 > . 1+988 ack 1
         150 < F 1 ts 700 1
         150 = state Established
         150 = srtt_ms 40
         150 = received 0
         200 < . 1 ack 989 ts 700 101",
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
            "0 connect
             0 > S 0 ts 1 0
             100 < S. 0 ack 1 win 60000 mss 1012 ts 5000 1
             100 > . 1 ack 1
             100 offer 2000
             100 > . 1+1000
             100 > . 1001+1000
             200 < . 1 ack 1001 win 50000 ts 5100 101",
        );
        let at = Time::from_millis(300);
        s.e.on_segment(&s.p, at, &segment(&format!(". {text} 101")));
        s.e.poll_transmit(&s.p, at).is_some()
    };
    for text in ["1 ack 1001 win 50000 ts 5090", "1 ack 1001 win 49999 ts 3900"] {
        assert!(!answered(Flavour::Linux, text), "{text}");
        assert!(answered(Flavour::Rfc, text), "{text}");
    }
    for text in [
        "1 ack 1001 win 50000 ts 3899",
        "1 ack 1001 win 50001 ts 5090",
        "1 ack 1 win 50000 ts 5090",
        "0 ack 1001 win 50000 ts 5090",
        "2 ack 1001 win 50000 ts 5090",
        "1+10 ack 1001 win 50000 ts 5090",
    ] {
        assert!(answered(Flavour::Linux, text), "{text}");
    }
}
