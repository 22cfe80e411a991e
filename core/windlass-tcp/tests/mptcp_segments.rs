//! Segments of a multipath connection on the wire: their flags, their space for options, and their paths.

use crate::multinet::{App, Net, Path, multipath, profile};
use windlass_cc::Span;
use windlass_cc::recovery::LossRecovery;
use windlass_tcp::mptcp::{MultipathConfig, MultipathProfile};
use windlass_tcp::stack::{NS3, RFC, RIVERBED};
use windlass_tcp::{Failure, Flags, StackConfig};

fn with(paths: usize, stack: StackConfig) -> MultipathProfile {
    let paths = vec![profile("reno", stack, 1500); paths];
    MultipathProfile::new(MultipathConfig::default(), paths).unwrap()
}

/// RFC 9293 section 3.9.1.2: the last segment of the data has PSH. A subflow knows only its current piece, and the
/// stream continues after it.
#[test]
fn only_the_last_segment_of_the_stream_has_psh() {
    let p = multipath(MultipathConfig::default(), 2);
    let mut net = Net::transfer(p, 300_000, vec![Path::clean(10), Path::clean(30)], 3);
    net.keep_log = true;
    net.run_to_close(2_000);
    let data: Vec<_> = net.log.iter().filter(|(_, _, out)| out.segment.len > 0).collect();
    let pushed: Vec<bool> =
        data.iter().map(|(.., out)| out.segment.flags.has(Flags::PSH)).collect();
    assert_eq!(pushed.iter().position(|push| *push), Some(data.len() - 1));
    let empty = |out: &windlass_tcp::mptcp::Outgoing| out.segment.len == 0;
    let bare = net.log.iter().filter(|(_, _, out)| empty(out)).collect::<Vec<_>>();
    assert!(bare.iter().all(|(_, _, out)| !out.segment.flags.has(Flags::PSH)));
}

/// A DSS with an acknowledgement has 12 of the 40 bytes, and timestamps have 12.
// RFC 8684-3-2
#[test]
fn acknowledgements_have_as_many_sack_blocks_as_fit() {
    for (timestamps, most) in [(false, 3), (true, 2)] {
        let stack =
            StackConfig { timestamps, sack: true, recovery: Some(LossRecovery::Sack), ..RFC };
        let path = Path { loss: 150, ..Path::rated(20, 10) };
        let mut net = Net::transfer(with(1, stack), 1_000_000, vec![path], 5);
        net.keep_log = true;
        net.run_to_close(20_000);
        let counts = net.log.iter().map(|(.., out)| out.segment.options.sack_count);
        assert_eq!(counts.max(), Some(most), "timestamps: {timestamps}");
    }
}

/// Two timeouts without a response, and no more SYNs per path than a plain connection sends.
#[test]
fn first_handshake_moves_to_the_next_path_after_two_timeouts() {
    let dead = Path { outages: vec![(0, u64::MAX)], ..Path::clean(10) };
    let stack = StackConfig { max_syn_retries: 3, ..RFC };
    let mut net = Net::transfer(with(3, stack), 1_000, vec![dead; 3], 4);
    net.keep_log = true;
    net.run_until(600_000);
    let syns: Vec<(u64, usize)> =
        net.log.iter().map(|(at, _, out)| (at.0 / 1_000_000_000, out.path)).collect();
    // Two SYNs on each path in turn, as long as no path has more than three retransmissions.
    let in_turn: Vec<(u64, usize)> = (0..6)
        .flat_map(|turn| [(3 * turn, turn as usize % 3), (3 * turn + 1, turn as usize % 3)])
        .collect();
    assert_eq!(syns[..12], in_turn);
    // The last path continues until its handshake fails.
    assert_eq!(syns[12..], [(18, 2), (22, 2)]);
    assert_eq!(net.ends[0].c.failure(), Some(Failure::ConnectTimeout));
}

/// The first probe waits as long as for a plain connection with the same stack.
#[test]
fn first_probe_of_a_closed_window_waits_for_the_persist_timeout_of_the_stack() {
    for (stack, seconds) in [(RFC, 1), (NS3, 6), (RIVERBED, 1)] {
        let config = MultipathConfig { receive_buffer: 4_000, ..Default::default() };
        let p = MultipathProfile::new(config, vec![profile("reno", stack, 1500); 2]).unwrap();
        let reader = App { read: 4_000, period: 400_000, ..App::receives() };
        let paths = vec![Path::clean(10), Path::clean(20)];
        let mut net = Net::new([p.clone(), p], [App::sends(12_000), reader], paths, 8);
        net.keep_log = true;
        net.run_until(0);
        while net.ends[0].c.acknowledged() < 4_000 {
            net.step();
        }
        let full = net.now;
        net.run_until(20_000);
        let probe = net.log.iter().find(|(_, from, out)| *from == 0 && out.segment.len == 1);
        assert_eq!(probe.expect("a probe").0 - full, Span::from_secs(seconds));
    }
}

#[test]
fn each_path_has_its_own_journal() {
    let p = multipath(MultipathConfig::default(), 2);
    let paths = vec![Path::rated(10, 10), Path { loss: 50, ..Path::rated(20, 10) }];
    let mut net = Net::transfer(p, 1_000_000, paths, 3);
    net.ends[0].c.keep_journals();
    net.run_to_close(50_000);
    let client = &net.ends[0].c;
    assert_eq!(client.paths(), 2);
    for path in 0..client.paths() {
        let journal = client.subflow(path).journal().expect("a journal");
        let retransmits = client.path_stats(path).retransmits;
        assert!(retransmits > 0 && journal.decisions().iter().any(|d| d.reduces()));
        assert_eq!(journal.losses().len() as u64, retransmits);
    }
}
