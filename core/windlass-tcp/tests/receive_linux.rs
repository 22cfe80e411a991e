//! Linux's receiver: quick and delayed acknowledgements, reports of holes, and the window by memory.

use crate::script::{Script, plain_with};
use windlass_cc::{Flavour, Time};

#[test]
fn linux_sends_sixteen_quick_acks_at_first_and_after_a_duplicate() {
    let mut s = Script::connected(plain_with(|s| {
        s.delayed_ack_segments = 2;
        s.quick_acks = true;
        s.receive_buffer = 1 << 20;
    }));
    let arrive = |n: u64| format!("{}ms < . {}+1000 ack 1\n", 200 + n, 1 + 1000 * n);
    let answer = |n: u64| format!("{}ms > . 1 ack {}\n", 200 + n, 1001 + 1000 * n);
    for n in 0..16 {
        s.run(&(arrive(n) + &answer(n)));
    }
    s.run(&(arrive(16) + &arrive(17) + &answer(17)));
    s.run(
        "220ms < . 1+1000 ack 1\n220ms > . 1 ack 18001\n221ms < . 18001+1000 ack 1\n221ms > . 1 ack 19001",
    );
}

/// `__tcp_cleanup_rbuf`, with a buffer that is set, so that the kernel does not tune it. 101 unread
/// segments leave 99,000 bytes of the window, and 99 leave 101,000.
#[test]
fn linux_announces_a_window_that_a_read_doubles() {
    let read = |segments: u64, answer: &str| {
        let mut s = Script::new(plain_with(|s| {
            (s.quick_acks, s.window_scaling, s.receive_buffer) = (true, true, 200_000);
        }));
        s.run("0ms connect\n0ms > S 0 <...>\n10ms < S. 0 ack 1 <mss 1460, ws 0>\n10ms > . 1 ack 1");
        let bytes = 1000 * segments;
        for first in (1..bytes - 1000).step_by(1000) {
            s.arrives(Time::from_millis(20), &format!(". {first}+1000 ack 1"));
        }
        s.run(&format!("20ms < . {}+1000 ack 1\n20ms > . 1 ack {}", bytes - 999, bytes + 1));
        s.run(&format!("30ms read {bytes}\n{answer}"));
    };
    read(101, "> . 1 ack 101001 win 200000");
    read(100, "> . 1 ack 100001 win 200000");
    read(99, "");
}

#[test]
fn fourth_report_of_a_hole_waits_for_a_millisecond_or_a_twentieth_of_an_rtt() {
    // An RTT of 10 ms by the echo of this end's timestamps; half a millisecond and the timer's slack.
    let mut s = Script::new(plain_with(|s| {
        (s.sack, s.timestamps, s.sack_compression) = (true, true, true);
        (s.receive_autotuning, s.delayed_ack_segments) = (true, 1);
        s.receive_buffer = 20_000;
    }));
    s.run(
        "0ms connect
             > S 0 <ts * 0, ...>
         10ms < S. 0 ack 1 <mss 1012, sackok, ts 100 1>
              > . 1 ack 1
         100ms < . 1+1000 ack 1 <ts 101 91>
               > . 1 ack 1001
         101ms < . 2001+1000 ack 1 <ts 102 91>
               > . 1 ack 1001 <sack 2001-3001>
         102ms < . 3001+1000 ack 1 <ts 103 91>
               > . 1 ack 1001 <sack 2001-4001>
         103ms < . 4001+1000 ack 1 <ts 104 91>
               > . 1 ack 1001 <sack 2001-5001>
         104ms < . 5001+1000 ack 1 <ts 105 91>
               = timer_ms 104          # 0.6 ms later
         104.6ms > . 1 ack 1001 <sack 2001-6001>
         105ms < . 6001+1000 ack 1 <ts 106 91>
         105.1ms < . 1001+1000 ack 1 <ts 106 91>
                 > . 1 ack 7001           # reports all waiting segments
         110ms quiet",
    );
}

#[test]
fn autotuned_window_begins_at_64_kb_and_grows_by_two_segments() {
    let p = plain_with(|s| {
        (s.timestamps, s.receive_autotuning, s.delayed_ack_segments) = (true, true, 1);
        (s.window_scaling, s.receive_buffer) = (true, 1 << 20);
    });
    let mut small = p;
    small.stack.initial_receive_buffer = 40_000;
    Script::new(small).run("0ms connect\n0ms > S 0 win 20000 <ts * 0, ...>");
    let mut s = Script::new(p);
    s.run(
        "0ms connect
             > S 0 win 65000 <ts * 0, ...>
         10ms < S. 0 ack 1 <mss 1460, ws 0, ts 100 1>
              > . 1 ack 1
         100ms < . 1+1448 ack 1 <ts 101 91>
               > . 1 ack 1449 win 66528          # 64 KiB less a segment, and two segments, in units of 32
         101ms < . 1449+1448 ack 1 <ts 102 92>
               > . 1 ack 2897 win 68512",
    );
}

#[test]
fn autotuned_buffer_is_memory_and_data_beyond_a_hole_take_it() {
    let mut s = Script::new(plain_with(|s| {
        (s.sack, s.receive_autotuning, s.delayed_ack_segments) = (true, true, 1);
        (s.window_scaling, s.receive_buffer) = (true, 16_384);
    }));
    s.run(
        "0ms connect
             > S 0 win 8000 <sackok, ...>
         10ms < S. 0 ack 1 <mss 1460, ws 0, sackok>
              > . 1 ack 1
         100ms < . 1+1448 ack 1
               > . 1 ack 1449 win 8792           # 160 of 256 parts are payload, of which one segment is unread
               read 1448
         101ms < . 2897+1448 ack 1
               > . 1 ack 1449 win 8792 <sack 2897-4345> # 10,240 less the segment beyond the hole
         102ms < . 4345+1448 ack 1
               > . 1 ack 1449 win 8792 <sack 2897-5793> # 7344 are free, but the window never shrinks
         103ms < . 1449+1448 ack 1
               > . 1 ack 5793 win 5896",
    );
}

#[test]
fn ack_leaves_at_once_in_the_last_quarter_of_its_delay() {
    for (at, answer) in [(279, ""), (280, "280ms > . 1101 ack 267")] {
        let mut s = Script::connected(plain_with(|s| {
            (s.rules, s.quick_acks, s.delayed_ack_segments) = (Flavour::Linux, true, 2);
        }));
        s.run(&format!(
            "100ms < . 1+265 ack 1
                   > . 1 ack 266
                   read 265
                   write 1100
                   > . 1+1000 ack 266
                   > . 1001+100 ack 266
             130ms < F. 266 ack 1              # delayed by 200 ms
             {at}ms < . 267 ack 1001
             {answer}"
        ));
    }
}

#[test]
fn autotuned_window_stays_closed_until_a_segment_fits() {
    let mut s = Script::new(plain_with(|s| {
        (s.receive_autotuning, s.delayed_ack_segments, s.quick_acks) = (true, 1, true);
        s.receive_buffer = 10_000; // 4335 bytes of payload in segments of 1000
    }));
    s.run(
        "0ms connect
             > S 0 <...>
         10ms < S. 0 ack 1 <mss 1000>
              > . 1 ack 1
         100ms < . 1+1000 ack 1
               > . 1 ack 1001
               < . 1001+1000 ack 1
               > . 1 ack 2001
               < . 2001+1000 ack 1
               > . 1 ack 3001
               < . 3001+1000 ack 1
               > . 1 ack 4001
               < . 4001+1000 ack 1
               > . 1 ack 5001 win 0
         110ms read 1000                   # 335 are free
         120ms read 1000
               > . 1 ack 5001 win 1335",
    );
}

/// `__tcp_select_window`: less than half of 10,240 bytes is free.
#[test]
fn autotuned_window_advances_while_a_segment_fits_the_buffer() {
    let mut s = Script::new(plain_with(|s| {
        (s.receive_autotuning, s.delayed_ack_segments) = (true, 1);
        (s.window_scaling, s.receive_buffer) = (true, 16_384);
    }));
    s.run(
        "0ms connect
             > S 0 <...>
         10ms < S. 0 ack 1 <mss 1460, ws 0>
              > . 1 ack 1
         100ms < . 1+1448 ack 1
               > . 1 ack 1449
         101ms < . 1449+1448 ack 1
               > . 1 ack 2897
         102ms < . 2897+1448 ack 1
               > . 1 ack 4345
         103ms < . 4345+1448 ack 1
               > . 1 ack 5793
         104ms < . 5793+1448 ack 1
               > . 1 ack 7241 win 3000
         105ms read 1460
         106ms < . 7241+1448 ack 1
               > . 1 ack 8689 win 3012
         107ms < . 8689+1448 ack 1
               > . 1 ack 10137 win 1564
         108ms < . 10137+1448 ack 1
               > . 1 ack 11585 win 116",
    );
}
