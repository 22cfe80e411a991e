//! Multipath connections with faulty paths, peers or middleboxes.

use crate::multinet::{App, Net, Path, Strip, multipath, profile};
use windlass_cc::Span;
use windlass_tcp::mptcp::{MpOption, MultipathConfig, MultipathProfile, Outgoing};
use windlass_tcp::stack::RFC;
use windlass_tcp::{Failure, Flags, Segment, StackConfig};

const SIZE: u64 = 200_000;

fn two_paths() -> Vec<Path> {
    vec![Path::rated(10, 10), Path::rated(20, 10)]
}

fn assert_complete(net: &Net) {
    let [client, server] = &net.ends;
    assert_eq!((client.c.failure(), server.c.failure()), (None, None));
    assert_eq!((server.read, client.c.acknowledged()), (SIZE, SIZE));
    assert!(client.c.all_acknowledged() && server.c.at_end());
}

// RFC 8684-3.1-17, 8684-3.7-1
#[test]
fn server_without_multipath_tcp_gets_a_plain_connection() {
    let able = multipath(MultipathConfig::default(), 2);
    let unable = multipath(MultipathConfig { peer_capable: false, ..Default::default() }, 2);
    let mut net = Net::new([able, unable], [App::sends(SIZE), App::receives()], two_paths(), 1);
    net.keep_log = true;
    net.run_to_close(20_000);
    assert_complete(&net);
    assert!(net.ends.iter().all(|e| e.c.fallen_back()));
    let with_option = net.log.iter().filter(|(_, _, out)| out.option.is_some()).count();
    assert_eq!(with_option, 1, "the client's SYN alone offers it");
    assert!(net.log.iter().all(|(_, _, out)| out.path == 0));
    // A full segment uses the bytes that options would take.
    assert_eq!(net.ends[0].c.subflow(0).mss(), 1448);
}

// RFC 8684-3.1-6, 8684-3.1-7, 8684-3.1-18, 8684-3.1-19
#[test]
fn middlebox_that_removes_options_causes_a_plain_connection() {
    for strips in [Strip::Syn, Strip::SynAck, Strip::ClientData] {
        let mut paths = two_paths();
        paths[0].strips = strips;
        let p = multipath(MultipathConfig::default(), 2);
        let mut net = Net::transfer(p, SIZE, paths, 2);
        net.run_to_close(20_000);
        assert_complete(&net);
        assert!(net.ends.iter().all(|e| e.c.fallen_back()), "{strips:?}");
    }
}

// RFC 8684-3.7-4, 8684-3.7-9
#[test]
fn data_offered_before_a_late_fallback_arrives() {
    // The client falls back at the response to the first flight.
    let mut paths = two_paths();
    paths[0].strips = Strip::ClientData;
    let p = multipath(MultipathConfig::default(), 2);
    let both = App::sends(SIZE);
    let mut net = Net::new([p.clone(), p], [both, both], paths, 5);
    net.run_to_close(40_000);
    assert_eq!((net.ends[0].read, net.ends[1].read), (SIZE, SIZE));
}

// RFC 8684-3.2-5, 8684-3.2-6, 8684-3.2-7
#[test]
fn a_join_without_the_keys_is_refused() {
    fn wrong_answer(_: usize, out: &mut windlass_tcp::mptcp::Outgoing) {
        if let Some(MpOption::JoinSynAck { hmac, .. }) = &mut out.option {
            *hmac ^= 1;
        }
    }
    fn wrong_third(_: usize, out: &mut windlass_tcp::mptcp::Outgoing) {
        if let Some(MpOption::JoinAck { hmac }) = &mut out.option {
            hmac[19] ^= 1;
        }
    }
    fn wrong_token(_: usize, out: &mut windlass_tcp::mptcp::Outgoing) {
        if let Some(MpOption::JoinSyn { token, .. }) = &mut out.option {
            *token ^= 1;
        }
    }
    for tamper in [wrong_answer, wrong_third, wrong_token] {
        let p = multipath(MultipathConfig::default(), 2);
        let mut net = Net::transfer(p, SIZE, two_paths(), 3);
        net.tamper = tamper;
        net.run_to_close(20_000);
        assert_complete(&net);
        let [client, server] = &net.ends;
        assert_eq!(server.c.stats().joins, 0);
        assert!(client.c.stats().failed_joins + client.c.stats().lost_subflows > 0);
        assert_eq!(client.c.path_stats(1).data_bytes, 0, "data on a path that is not accepted");
    }
}

#[test]
fn path_that_is_never_established_does_not_stop_the_others() {
    let mut paths = two_paths();
    paths[1].outages = vec![(0, u64::MAX)];
    let p = multipath(MultipathConfig::default(), 2);
    let mut net = Net::transfer(p, SIZE, paths, 4);
    net.run_to_close(20_000);
    assert_complete(&net);
    assert_eq!(net.ends[0].c.stats().joins, 0);
    assert!(net.now < windlass_cc::Time::from_millis(60_000 + 2_000), "TIME-WAIT and the transfer");
}

#[test]
fn unresponsive_first_path_is_replaced_by_the_next() {
    let mut paths = two_paths();
    paths[0].outages = vec![(0, 10_000)];
    let p = multipath(MultipathConfig::default(), 2);
    let mut net = Net::transfer(p, 80_000_000, paths, 4);
    net.run_until(16_000);
    let client = &net.ends[0].c;
    assert!(client.was_established() && !client.fallen_back());
    assert!(client.in_use(1), "it was opened there");
    assert!(client.in_use(0), "the first path has joined after its outage");
    assert!(client.path_stats(0).data_bytes > 0);
}

#[test]
fn connection_with_only_silent_paths_fails_like_a_plain_connection() {
    let mut paths = two_paths();
    for path in &mut paths {
        path.outages = vec![(0, u64::MAX)];
    }
    let stack = StackConfig { max_syn_retries: 3, ..RFC };
    let p = MultipathProfile::new(Default::default(), vec![profile("reno", stack, 1500); 2]);
    let mut net = Net::transfer(p.unwrap(), SIZE, paths, 4);
    net.keep_log = true;
    net.run_until(600_000);
    let client = &net.ends[0].c;
    assert_eq!(client.failure(), Some(Failure::ConnectTimeout));
    assert!(client.is_closed() && client.deadline().is_never());
    for path in 0..2 {
        let syns = net.log.iter().filter(|(_, _, out)| out.path == path).count();
        assert!((3..=6).contains(&syns), "{syns} SYNs on path {path}");
    }
}

// RFC 8684-3.3.6-1
#[test]
fn failed_path_is_suspended_and_returns_to_use() {
    let mut paths = two_paths();
    paths[1].outages = vec![(1_000, 12_000)];
    let p = multipath(MultipathConfig::default(), 2);
    let mut net = Net::transfer(p, 80_000_000, paths, 6);
    net.run_until(11_900);
    let (client, server) = (&net.ends[0].c, &net.ends[1].c);
    assert!(!client.in_use(1) && client.in_use(0));
    assert_eq!(client.stats().suspensions, 1);
    assert!(client.stats().reinjections > 0, "its data are reinjected on the other path");
    // No data are lost with the path.
    let received = server.received();
    assert!(received > 10_000_000, "{received}");
    net.run_until(30_000);
    let client = &net.ends[0].c;
    assert!(client.in_use(1));
    assert_eq!((client.stats().returns, client.stats().lost_subflows), (1, 0));
    let before = client.path_stats(1).data_bytes;
    net.run_until(31_000);
    assert!(net.ends[0].c.path_stats(1).data_bytes > before + 500_000, "used as before");
}

#[test]
fn a_subflow_that_ends_is_replaced_when_its_path_is_back() {
    let mut paths = two_paths();
    paths[1].outages = vec![(1_000, 30_000)];
    let stack = StackConfig { max_data_retries: 2, max_syn_retries: 2, ..RFC };
    let p = MultipathProfile::new(Default::default(), vec![profile("reno", stack, 1500); 2]);
    let mut net = Net::transfer(p.unwrap(), 300_000_000, paths, 6);
    net.run_until(29_000);
    let client = &net.ends[0].c;
    assert_eq!(client.stats().lost_subflows, 1);
    assert!(client.stats().failed_joins > 0);
    let lost = client.path_stats(1);
    net.run_until(60_000);
    let client = &net.ends[0].c;
    assert_eq!(client.stats().joins, 2);
    assert!(client.in_use(1));
    assert!(client.path_stats(1).data_bytes > lost.data_bytes + 1_000_000);
}

#[test]
fn a_connection_survives_the_end_of_its_only_subflow() {
    let mut path = Path::rated(10, 10);
    path.outages = vec![(100, 20_000)];
    let stack = StackConfig { max_data_retries: 2, max_syn_retries: 1, ..RFC };
    let p = MultipathProfile::new(Default::default(), vec![profile("reno", stack, 1500)]);
    let mut net = Net::transfer(p.unwrap(), SIZE, vec![path], 6);
    net.run_to_close(20_000);
    assert_complete(&net);
    assert!(net.ends[0].c.stats().joins >= 1);
}

#[test]
fn a_connection_that_stays_without_subflows_fails_in_the_end() {
    let mut paths = two_paths();
    for path in &mut paths {
        path.outages = vec![(100, u64::MAX)];
    }
    let stack = StackConfig { max_data_retries: 2, max_syn_retries: 1, ..RFC };
    let p = MultipathProfile::new(Default::default(), vec![profile("reno", stack, 1500); 2]);
    let mut net = Net::transfer(p.unwrap(), 2_000_000, paths, 6);
    net.run_until(2_000_000);
    // The server has nothing to send and is never notified, like a plain server.
    let client = &net.ends[0].c;
    assert_eq!(client.failure(), Some(Failure::DataTimeout));
    assert!(client.is_closed() && client.deadline().is_never());
}

#[test]
fn profile_that_cannot_carry_data_is_rejected_with_a_reason() {
    let path = profile("reno", RFC, 1500);
    let with = |config, paths| MultipathProfile::new(config, paths).unwrap_err();
    let good = MultipathConfig::default();
    assert!(with(good, vec![]).contains("at least one path"));
    assert!(with(good, vec![path; 9]).contains("at most 8"));
    let none = MultipathConfig { receive_buffer: 0, ..good };
    assert!(with(none, vec![path]).contains("receive buffer of 0"));
    let none = MultipathConfig { send_buffer: 0, ..good };
    assert!(with(none, vec![path]).contains("send buffer of 0"));
    let never = MultipathConfig { timeouts_to_fail: 0, ..good };
    assert!(with(never, vec![path]).contains("0 timeouts"));
}

#[test]
fn the_smallest_buffers_carry_a_stream_byte_by_byte() {
    let config = MultipathConfig { receive_buffer: 1, send_buffer: 1, ..Default::default() };
    let p = multipath(config, 2);
    let mut net = Net::transfer(p, 50, vec![Path::clean(5), Path::clean(9)], 8);
    net.run_to_close(20_000);
    assert_eq!(net.ends[1].read, 50);
}

#[test]
fn window_is_probed_if_its_update_is_lost() {
    let config = MultipathConfig { receive_buffer: 4_000, ..Default::default() };
    let p = multipath(config, 2);
    let reader = App { read: 4_000, period: 3_000, ..App::receives() };
    let mut net =
        Net::new([p.clone(), p], [App::sends(12_000), reader], vec![Path::clean(5); 2], 8);
    // The window updates after the first read are lost.
    for path in &mut net.paths {
        path.outages = vec![(2_900, 3_500)];
    }
    net.run_to_close(20_000);
    assert_eq!(net.ends[1].read, 12_000);
    assert!(net.ends[0].c.stats().probe_bytes > 0);
    assert_eq!(net.ends[1].c.stats().duplicate_bytes, net.ends[0].c.stats().probe_bytes);
    assert!(net.now > windlass_cc::Time::ZERO + Span::from_secs(6));
}

// RFC 8684-3.3.1-6, 8684-3.7-5
#[test]
fn subflow_whose_data_lose_their_mappings_is_reset_and_the_others_carry_on() {
    let p = multipath(MultipathConfig::default(), 2);
    let mut net = Net::transfer(p, SIZE, two_paths(), 6);
    net.keep_log = true;
    net.tamper = |from, out| {
        if from == 0 && out.path == 1 && out.segment.len > 0 {
            out.option = None;
        }
    };
    net.run_to_close(40_000);
    assert_complete(&net);
    let reset = |out: &Outgoing| out.path == 1 && out.segment.flags.has(Flags::RST);
    assert!(net.log.iter().any(|(_, from, out)| *from == 1 && reset(out)), "{}", net.describe());
}

// RFC 8684-3.3.2-4
#[test]
fn segments_without_data_acknowledgement_are_accepted() {
    // Only the second path's segments have it, also for the data of the first path.
    let p = multipath(MultipathConfig::default(), 2);
    let mut net = Net::transfer(p, SIZE, two_paths(), 7);
    net.tamper = |from, out| {
        if let (1, 0, Some(MpOption::Dss(dss))) = (from, out.path, &mut out.option) {
            dss.data_ack = None;
        }
    };
    net.run_to_close(40_000);
    assert_complete(&net);
    assert!(net.ends[0].c.path_stats(0).data_bytes > 0);
}

// RFC 8684-3.5-2
#[test]
fn fast_close_ends_the_connection_only_with_the_right_key() {
    let p = multipath(MultipathConfig::default(), 2);
    let mut net = Net::transfer(p, SIZE, two_paths(), 8);
    net.keep_log = true;
    net.run_until(50);
    let third = net.log.iter().find_map(|(_, _, out)| match out.option {
        Some(MpOption::Capable { receiver_key: Some(key), .. }) => Some((key, *out)),
        _ => None,
    });
    let (key, like) = third.expect("the third segment of the handshake");
    for (key, failure) in [(key ^ 1, None), (key, Some(Failure::Reset))] {
        net.inject(1, &Outgoing { option: Some(MpOption::FastClose { key }), ..like });
        assert_eq!(net.ends[1].c.failure(), failure);
    }
}

/// A signal without data that points beyond the next segment, which is lost. A correct peer sends none.
#[test]
fn empty_mapping_does_not_hide_the_mapping_of_later_data() {
    let stack = StackConfig { nagle: false, ..RFC };
    let p = vec![profile("reno", stack, 1500)];
    let p = MultipathProfile::new(Default::default(), p).unwrap();
    let slow = App { write: 1_000, period: 100, ..App::sends(5_000) };
    let mut net = Net::new([p.clone(), p], [slow, App::receives()], vec![Path::clean(5)], 8);
    (net.keep_log, net.drop_data) = (true, vec![2]);
    net.run_until(250);
    let (_, _, last) = *net.log.iter().rfind(|(_, _, out)| out.segment.len > 0).unwrap();
    let Some(MpOption::Dss(mut dss)) = last.option else { panic!("{last:?}") };
    let (mapping, ahead) = (dss.mapping.as_mut().unwrap(), 2 * last.segment.len);
    mapping.subflow_offset += ahead;
    mapping.data_seq += u64::from(ahead);
    mapping.len = 0;
    let segment = Segment { seq: last.segment.seq.add(ahead.into()), len: 0, ..last.segment };
    net.inject(1, &Outgoing { segment, option: Some(MpOption::Dss(dss)), ..last });
    net.run_to_close(1_000);
    assert_eq!(net.ends[1].read, 5_000);
    assert!(net.log.iter().all(|(_, _, out)| !out.segment.flags.has(Flags::RST)));
}

/// Only the first SYN arrives on the first path. The server does not answer it any more when the connection is open on
/// the second path.
#[test]
fn server_with_syns_on_two_paths_continues_on_the_path_that_responds() {
    let p = multipath(MultipathConfig::default(), 2);
    let slow = App { write: 1_000, period: 1_000, ..App::sends(100_000) };
    let mut net = Net::new([p.clone(), p], [slow, App::receives()], vec![Path::clean(10); 2], 8);
    net.keep_log = true;
    net.lose = |from, out| out.path == 0 && (from == 1 || out.attempt > 0);
    net.run_until(60_000);
    let answers = |path| {
        let answer = move |out: &Outgoing| out.path == path && out.segment.flags.has(Flags::SYN);
        net.log.iter().filter(move |(_, from, out)| *from == 1 && answer(out)).map(|(at, ..)| *at)
    };
    let opened = answers(1).next().expect("a SYN-ACK on the second path");
    assert!(answers(0).count() > 0 && answers(0).all(|at| at <= opened + Span::from_millis(20)));
    assert!(net.ends[1].c.subflow(1).received() > 40_000);
}
