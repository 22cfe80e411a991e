//! One receive buffer for all subflows, and the counters of its data.

use crate::multinet::{App, Net, Path, multipath, profile, scheduled};
use windlass_cc::{Span, Time};
use windlass_tcp::mptcp::{MultipathConfig, MultipathProfile, Scheduler};
use windlass_tcp::stack::RFC;
use windlass_tcp::{InitialWindow, StackConfig};

/// A fast path and a path with ten times its RTT.
fn unequal() -> Vec<Path> {
    [10, 100].map(|delay| Path { queue: 20, ..Path::rated(delay, 10) }).to_vec()
}

/// Bytes delivered in order until 20 s, with this receive buffer.
fn delivered(config: MultipathConfig) -> (u64, Net) {
    let p = multipath(config, 2);
    let mut net = Net::transfer(p, 100_000_000, unequal(), 5);
    net.run_until(20_000);
    (net.ends[1].c.received(), net)
}

#[test]
fn small_buffer_makes_the_slow_path_block_the_fast_path() {
    let plain = MultipathConfig { penalise: false, opportunistic: false, ..Default::default() };
    let (much, large) = delivered(plain);
    let (little, small) = delivered(MultipathConfig { receive_buffer: 120_000, ..plain });
    // 20 s at 20 Mbit/s are 50 MB.
    assert!(much > 30_000_000, "{much}");
    assert!(little < much * 3 / 4, "{little} of {much}");
    assert!(small.ends[1].c.stats().max_out_of_order_bytes > 50_000);
    assert!(small.ends[1].c.stats().max_out_of_order_bytes <= 120_000);
    assert!(large.ends[1].c.stats().max_out_of_order_bytes > 120_000);
}

#[test]
fn opportunistic_retransmission_and_penalties_recover_a_part_of_the_throughput() {
    let small = MultipathConfig { receive_buffer: 120_000, ..Default::default() };
    let (neither, net) =
        delivered(MultipathConfig { penalise: false, opportunistic: false, ..small });
    assert_eq!((net.ends[0].c.stats().opportunistic, net.ends[0].c.stats().penalties), (0, 0));
    let (both, net) = delivered(small);
    let stats = net.ends[0].c.stats();
    assert!(stats.opportunistic > 0 && stats.penalties > 0);
    assert!(both > neither * 5 / 4, "{both} against {neither}");
    // A cwnd is reduced at most once per RTT of its path.
    assert!(stats.penalties <= 20_000 / 200);
    let (_, net) = delivered(MultipathConfig { opportunistic: false, ..small });
    assert_eq!(net.ends[0].c.stats().opportunistic, 0);
    assert!(net.ends[0].c.stats().penalties > 0);
}

/// Twenty seconds of a client whose peer has a small receive buffer.
fn transferring(paths: Vec<Path>, window: u32, config: MultipathConfig) -> Net {
    let stack = StackConfig {
        initial_window: InitialWindow::Segments(window),
        delayed_ack_segments: 1,
        ..RFC
    };
    let p = MultipathProfile::new(config, vec![profile("reno", stack, 1500); 2]).unwrap();
    let mut net = Net::transfer(p, 10_000_000, paths, 3);
    net.keep_log = true;
    net.run_until(20_000);
    net
}

/// Twenty seconds on paths with constant delays, so that each SRTT is twice the delay.
fn blocked(delays: [u64; 2], window: u32, config: MultipathConfig) -> Net {
    let net = transferring(delays.map(Path::clean).to_vec(), window, config);
    let client = &net.ends[0].c;
    for (path, delay) in delays.into_iter().enumerate() {
        assert_eq!(client.subflow(path).srtt(), Span::from_millis(2 * delay));
    }
    net
}

/// Raiciu et al. 2012, section 4.1. The first path blocks the window, because it carries all data until the second
/// path has joined.
#[test]
fn blocking_data_are_retransmitted_on_a_path_that_is_more_than_four_times_as_fast() {
    let config = MultipathConfig { receive_buffer: 60_000, penalise: false, ..Default::default() };
    let count = |delays| blocked(delays, 10, config).ends[0].c.stats().opportunistic;
    assert_eq!((count([150, 100]), count([399, 100]), count([400, 100])), (0, 0, 0));
    assert!(count([401, 100]) > 0 && count([900, 100]) > 0);
}

#[test]
fn blocking_data_of_a_path_with_at_most_four_segments_are_retransmitted_on_any_faster_path() {
    let config = MultipathConfig { receive_buffer: 9_000, penalise: false, ..Default::default() };
    let count = |window| blocked([150, 100], window, config).ends[0].c.stats().opportunistic;
    assert!(count(2) > 0 && count(4) > 0);
    assert_eq!((count(5), count(6)), (0, 0));
}

/// Two segments fill the buffer, and the cwnd of the first path has room for more.
#[test]
fn blocking_data_are_not_retransmitted_on_a_slower_path() {
    let config = MultipathConfig { receive_buffer: 3_000, penalise: false, ..Default::default() };
    let net = transferring(vec![Path::clean(100), Path::clean(150)], 4, config);
    assert!(net.ends[0].c.stats().joins > 0);
    assert_eq!(net.ends[0].c.stats().opportunistic, 0);
}

/// The data are retransmitted as soon as new data fill the window, without another event. The rate of the second
/// path separates the acknowledgements in time.
#[test]
fn blocking_data_are_retransmitted_at_once() {
    let config = MultipathConfig { receive_buffer: 60_000, penalise: false, ..Default::default() };
    let net = transferring(vec![Path::clean(500), Path::rated(100, 1)], 10, config);
    let (mut end, mut before, mut at_once) = (0, Time::ZERO, 0);
    for (at, _, out) in net.log.iter().filter(|(_, from, _)| *from == 0) {
        let Some(mapping) = out.option.and_then(|option| option.mapping()) else { continue };
        if mapping.data_seq < end {
            at_once += u64::from((*at, out.path) == (before, 1));
        } else {
            (end, before) = (mapping.data_seq + u64::from(mapping.len), *at);
        }
    }
    assert!(at_once > 10, "{at_once}");
    assert_eq!(at_once, net.ends[0].c.stats().opportunistic);
}

/// Raiciu et al. 2012, section 4.2.
#[test]
fn path_is_penalised_only_if_it_blocks_a_faster_path() {
    let config =
        MultipathConfig { receive_buffer: 60_000, opportunistic: false, ..Default::default() };
    let count = |delays| blocked(delays, 10, config).ends[0].c.stats().penalties;
    assert_eq!((count([100, 150]), count([100, 100])), (0, 0));
    assert!(count([150, 100]) > 0);
}

// RFC 8684-3.3.2-2, 8684-3.3.4-1
#[test]
fn waiting_data_fits_the_buffer_and_all_subflows_share_one_window() {
    for buffer in [3_000, 20_000, 100_000] {
        let config = MultipathConfig { receive_buffer: buffer, ..Default::default() };
        let p = multipath(config, 2);
        let reader = App { read: 5_000, period: 30, ..App::receives() };
        let mut net = Net::new([p.clone(), p], [App::sends(400_000), reader], unequal(), 9);
        net.run_until(0);
        while !net.is_over() {
            net.step();
            let server = &net.ends[1].c;
            assert!(server.out_of_order() + server.readable() <= buffer);
        }
        assert_eq!(net.ends[1].read, 400_000);
    }
}

#[test]
fn counters_of_the_subflows_are_consistent() {
    for (name, scheduler) in Scheduler::ALL {
        let p = multipath(scheduled(scheduler), 3);
        let mut paths = unequal();
        paths.push(Path { loss: 30, ..Path::rated(40, 5) });
        paths[1].outages = vec![(2_000, 5_000)];
        let mut net = Net::transfer(p, 8_000_000, paths, 11);
        net.run_until(4_500);
        for last in [false, true] {
            if last {
                net.run_to_close(200_000);
            }
            let (client, server) = (&net.ends[0].c, &net.ends[1].c);
            let s = client.stats();
            assert_eq!(s.lost_subflows, 0, "{name}");
            // The data assigned to the subflows are acknowledged there or outstanding. They are the stream
            // once, plus the reinjected data.
            let given: u64 =
                (0..3).map(|i| client.subflow(i).acknowledged() + client.outstanding(i)).sum();
            let sent = s.first_bytes + s.reinjected_bytes + s.redundant_bytes + s.probe_bytes;
            assert_eq!(given, sent, "{name}");
            assert!(s.reinjected_bytes > 0 || scheduler == Scheduler::Redundant, "{name}");
            // The data delivered by the subflows are the stream, the data that wait for earlier bytes, and
            // duplicates.
            let arrived: u64 = (0..3).map(|i| server.subflow(i).received()).sum();
            let gaps: u64 = server.out_of_order_on_subflows();
            let kept = server.received() + server.out_of_order() - gaps;
            assert_eq!(arrived, kept + server.stats().duplicate_bytes, "{name}");
        }
        assert_eq!(net.ends[1].read, 8_000_000);
        assert!(net.now > Time::from_millis(4_500));
    }
}
