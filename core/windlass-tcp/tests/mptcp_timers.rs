//! Timers of a multipath connection: their first expiry, their backoff, and the path of each retransmission.

use crate::multinet::{App, Net, Path, multipath, profile, scheduled};
use windlass_cc::{Span, Time};
use windlass_tcp::mptcp::{Dss, MpOption, MultipathConfig, MultipathProfile, Outgoing, Scheduler};
use windlass_tcp::stack::RFC;
use windlass_tcp::{Failure, Flags, StackConfig};

/// Two paths with a retransmission timeout of one second, the minimum of the RFCs.
fn two_paths() -> Vec<Path> {
    vec![Path::clean(10), Path::clean(20)]
}

/// A profile with these numbers of retransmissions of a SYN and of data.
fn patient(paths: usize, max_syn_retries: u32, max_data_retries: u32) -> MultipathProfile {
    let stack = StackConfig { max_syn_retries, max_data_retries, ..RFC };
    let paths = vec![profile("reno", stack, 1500); paths];
    MultipathProfile::new(MultipathConfig::default(), paths).unwrap()
}

/// Whole seconds between the client's segments that satisfy `wanted`. RTTs do not count: they are far below a
/// second.
fn seconds_between(net: &Net, wanted: impl Fn(&Outgoing) -> bool) -> Vec<u64> {
    let sent = net.log.iter().filter(|(_, from, out)| *from == 0 && wanted(out));
    let times: Vec<Time> = sent.map(|(at, ..)| *at).collect();
    times.windows(2).map(|pair| ((pair[1] - pair[0]).0 + 100_000_000) / 1_000_000_000).collect()
}

fn is_data_fin(out: &Outgoing) -> bool {
    matches!(out.option, Some(MpOption::Dss(Dss { data_fin: true, .. })))
}

fn is_syn(out: &Outgoing) -> bool {
    out.segment.flags.has(Flags::SYN)
}

/// RFC 9293 section 3.8.6.1: the interval grows exponentially. It does not exceed the maximum of the timeout, a
/// minute.
// RFC 9293-3.8.6.1-SHLD-30
#[test]
fn probes_of_a_closed_window_back_off_to_one_per_minute() {
    let config = MultipathConfig { receive_buffer: 4_000, ..Default::default() };
    let p = multipath(config, 2);
    let reader = App { read: 4_000, period: 400_000, ..App::receives() };
    let mut net = Net::new([p.clone(), p], [App::sends(12_000), reader], two_paths(), 8);
    net.keep_log = true;
    net.run_until(390_000);
    assert_eq!(net.ends[1].c.received(), 4_000);
    let probes = seconds_between(&net, |out| out.segment.len == 1);
    assert_eq!(probes, [2, 4, 8, 16, 32, 60, 60, 60, 60, 60]);
    assert_eq!(net.ends[0].c.stats().probe_bytes, 11);
    // The window opens, closes and opens. Its first probe then waits as short as before.
    net.run_until(410_000);
    assert_eq!(net.ends[1].c.received(), 8_000);
    let probes = seconds_between(&net, |out| out.segment.len == 1);
    assert_eq!(probes[11..], [2, 4], "{probes:?}");
}

// RFC 8684-3.3.3-2
#[test]
fn data_fin_is_retransmitted_with_backoff_on_alternating_paths() {
    let mut net = Net::transfer(
        multipath(MultipathConfig::default(), 2),
        1_000_000,
        vec![Path::clean(10), Path::clean(40)],
        3,
    );
    net.keep_log = true;
    net.lose = |from, out| from == 0 && is_data_fin(out);
    net.run_until(300_000);
    assert_eq!(seconds_between(&net, is_data_fin), [1, 2, 4, 8, 16, 32, 64, 64, 64]);
    let fins = net.log.iter().filter(|(_, _, out)| is_data_fin(out));
    let paths: Vec<usize> = fins.map(|(_, _, out)| out.path).collect();
    assert_eq!(paths, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]);
    net.lose = |_, _| false;
    net.run_to_close(1_000);
    assert!(net.ends.iter().all(|e| e.c.failure().is_none()));
}

/// The peer's subflows acknowledge the data, but the acknowledgements at data level are lost.
// RFC 8684-3.3.2-3
#[test]
fn data_without_acknowledgement_at_data_level_are_retransmitted_with_backoff() {
    let p = multipath(MultipathConfig::default(), 2);
    let open = App { closes_last: true, ..App::sends(5_680) };
    let mut net = Net::new([p.clone(), p], [open, App::receives()], two_paths(), 3);
    net.keep_log = true;
    net.tamper = |from, out| {
        if let (1, Some(MpOption::Dss(dss))) = (from, &mut out.option) {
            dss.data_ack = None;
        }
    };
    net.run_until(600_000);
    let client = &net.ends[0].c;
    assert_eq!((client.acknowledged(), net.ends[1].c.received()), (0, 5_680));
    // A segment each time: the data at the start, of which the peer has no record.
    let first = |out: &Outgoing| out.option.and_then(|o| o.mapping()).map(|m| m.data_seq);
    let data: Vec<_> = net.log.iter().filter(|(_, _, out)| out.segment.len > 0).collect();
    let mss = data[1].2.segment.len;
    let again = |out: &Outgoing| out.segment.len == mss && first(out) == first(&data[0].2);
    assert_eq!(seconds_between(&net, again), [2, 4, 8, 16, 32, 64, 128, 128, 128]);
    assert_eq!(client.stats().reinjected_bytes, u64::from(mss) * 9);
    net.tamper = |_, _| {};
    net.run_until(700_000);
    assert_eq!(net.ends[0].c.acknowledged(), 5_680);
}

// RFC 8684-3.2-4
#[test]
fn third_segment_of_a_join_is_retransmitted_with_backoff_until_the_join_fails() {
    let mut net = Net::transfer(patient(2, 3, 15), 1_000_000_000, vec![Path::rated(10, 1); 2], 3);
    net.keep_log = true;
    net.lose = |from, out| from == 1 && out.path == 1 && !is_syn(out);
    net.run_until(15_900);
    let proof = |out: &Outgoing| matches!(out.option, Some(MpOption::JoinAck { .. }));
    assert_eq!(seconds_between(&net, proof), [1, 2, 4]);
    let reset = |out: &Outgoing| out.path == 1 && out.segment.flags.has(Flags::RST);
    let ended = seconds_between(&net, |out| proof(out) || reset(out));
    assert_eq!(ended, [1, 2, 4, 8], "the subflow is reset");
    let client = &net.ends[0].c;
    assert_eq!((client.stats().joins, client.stats().lost_subflows), (1, 1));
    assert_eq!(client.path_stats(1).data_bytes, 0, "the peer has not accepted the join");
}

#[test]
fn joins_of_a_dead_path_back_off_to_one_per_minute() {
    let mut paths = two_paths();
    paths[1].outages = vec![(0, u64::MAX)];
    let p = patient(2, 0, 15);
    let slow = App { write: 100, period: 500, ..App::sends(1_000_000) };
    let mut net = Net::new([p.clone(), p], [slow, App::receives()], paths, 3);
    net.keep_log = true;
    net.run_until(250_000);
    let joins = seconds_between(&net, |out| out.path == 1 && is_syn(out));
    // The SYN's timeout of a second, and the wait.
    assert_eq!(joins, [1, 2, 4, 8, 16, 32, 64, 64].map(|wait| 1 + wait));
    assert_eq!(net.ends[0].c.stats().failed_joins, 9);
}

/// The first failure after a success counts as the first.
#[test]
fn success_of_a_join_ends_the_backoff_of_its_path() {
    let mut paths = two_paths();
    paths[1].outages = vec![(0, 20_000), (60_000, 200_000)];
    let p = patient(2, 0, 1);
    let slow = App { write: 10_000, period: 200, ..App::sends(10_000_000) };
    let mut net = Net::new([p.clone(), p], [slow, App::receives()], paths, 3);
    net.keep_log = true;
    net.run_until(100_000);
    assert_eq!(net.ends[0].c.stats().joins, 1);
    let joins = seconds_between(&net, |out| out.path == 1 && is_syn(out));
    // The first attempt during the second outage ends the subflow at the second timeout of its data.
    assert_eq!(joins[..5], [1, 2, 4, 8, 16].map(|wait| 1 + wait));
    assert_eq!(joins[6..], [2, 4, 8, 16].map(|wait| 1 + wait));
}

#[test]
fn connection_without_subflows_fails_after_ten_minutes() {
    let mut path = Path::rated(10, 10);
    path.outages = vec![(100, u64::MAX)];
    let mut net = Net::transfer(patient(1, 0, 1), 2_000_000, vec![path], 6);
    net.run_until(100);
    let mut ended = None;
    while net.ends[0].c.failure().is_none() {
        net.step();
        if net.ends[0].c.stats().lost_subflows > 0 {
            ended.get_or_insert(net.now);
        }
    }
    assert_eq!(net.ends[0].c.failure(), Some(Failure::DataTimeout));
    assert_eq!(net.now - ended.unwrap(), Span::from_secs(600));
}

/// The acknowledgement of its DATA_FIN never arrives, because no path returns.
#[test]
fn connection_ends_without_failure_if_only_the_last_acknowledgement_is_missing() {
    let mut net = Net::transfer(patient(1, 0, 15), 10_000, vec![Path::clean(10)], 6);
    net.keep_log = true;
    net.lose = |from, out| from == 0 && is_data_fin(out);
    net.run_until(500);
    assert!(net.ends[0].c.all_acknowledged());
    // The server closes its side, which it does not do by itself before the client's DATA_FIN.
    net.ends[1].c.close();
    net.run_until(3_000);
    assert!(net.ends[0].c.at_end());
    net.lose = |_, _| true;
    let (_, _, last) = *net.log.iter().rfind(|(_, from, _)| *from == 1).unwrap();
    let reset = windlass_tcp::Segment { flags: Flags::RST, ..last.segment };
    net.inject(0, &Outgoing { segment: reset, option: None, ..last });
    net.run_until(602_900);
    let client = &net.ends[0].c;
    assert!(!client.is_closed() && client.stats().failed_joins > 0);
    net.run_until(603_100);
    let client = &net.ends[0].c;
    assert!(client.is_closed() && client.failure().is_none(), "{}", net.describe());
}

#[test]
fn path_is_suspended_by_the_third_timeout_in_a_row_and_not_before() {
    let mut paths = vec![Path::rated(10, 1), Path::rated(20, 1)];
    // Two timeouts, then an answer; later at least three timeouts.
    paths[1].outages = vec![(1_000, 3_500), (20_000, 40_000)];
    let p = multipath(MultipathConfig::default(), 2);
    let mut net = Net::transfer(p, 1_000_000_000, paths, 6);
    net.run_until(900);
    for (end_ms, expected) in [(19_900, 2), (39_900, 4)] {
        let before = net.ends[0].c.path_stats(1).rto_count;
        while net.now < Time::from_millis(end_ms) {
            net.step();
            let client = &net.ends[0].c;
            let timeouts = client.path_stats(1).rto_count - before;
            assert_eq!(client.in_use(1), timeouts < 3, "{timeouts} timeouts at {:?}", net.now);
        }
        assert_eq!(net.ends[0].c.path_stats(1).rto_count - before, expected);
    }
    assert_eq!(net.ends[0].c.stats().suspensions, 1);
}

#[test]
fn clean_paths_cause_no_reinjections_and_no_duplicates() {
    let both = App { period: 7, write: 3_000, ..App::sends(300_000) };
    for delays in [[10, 10], [10, 40], [40, 10]] {
        let p = multipath(MultipathConfig::default(), 2);
        let paths = delays.map(Path::clean).to_vec();
        let mut net = Net::new([p.clone(), p], [both, both], paths, 4);
        net.run_to_close(20_000);
        for end in &net.ends {
            let s = end.c.stats();
            assert_eq!((s.reinjections, s.duplicate_bytes, s.probe_bytes), (0, 0, 0), "{delays:?}");
            assert_eq!((s.suspensions, s.returns, s.penalties), (0, 0, 0), "{delays:?}");
            assert_eq!((s.lost_subflows, s.failed_joins, s.joins), (0, 0, 1), "{delays:?}");
            assert_eq!(s.first_bytes, 300_000);
        }
    }
}

/// SplitMix64 with seed 0 (Steele, Lea and Flood 2014): e220a8397b1dcdaf, 6e789e6aa1b965f4, 06c45d188009454f.
#[test]
fn keys_and_sequence_numbers_are_outputs_of_splitmix64() {
    let p = multipath(MultipathConfig::default(), 2);
    let mut client = windlass_tcp::mptcp::Connection::client(&p, 0);
    client.connect();
    let syn = client.poll_transmit(&p, Time::ZERO).unwrap();
    assert_eq!(syn.segment.seq.0, 0xa1b9_65f4);
    let mut server = windlass_tcp::mptcp::Connection::server(&p, 0);
    server.listen();
    server.on_segment(&p, Time::ZERO, 0, &syn.segment, syn.option.as_ref());
    let answer = server.poll_transmit(&p, Time::ZERO).unwrap();
    let Some(MpOption::Capable { sender_key, .. }) = answer.option else { panic!("{answer:?}") };
    assert_eq!(sender_key, Some(0xe220_a839_7b1d_cdaf));
}

/// The SYN-ACK offers no window. The timer of the probe starts with the connection, not with the first SYN.
#[test]
fn closed_window_of_the_handshake_is_probed_one_timeout_after_the_handshake() {
    for (name, scheduler) in Scheduler::ALL {
        let p = multipath(scheduled(scheduler), 1);
        let mut net = Net::transfer(p, 10_000, vec![Path::clean(50)], 3);
        net.keep_log = true;
        net.tamper = |from, out| {
            if from == 1 && is_syn(out) {
                out.segment.window = 0;
            }
        };
        net.run_until(0);
        while !net.ends[0].c.was_established() {
            net.step();
        }
        let established = net.now;
        net.run_to_close(1_000);
        let probe =
            net.log.iter().find(|(_, from, out)| *from == 0 && out.segment.len > 0).unwrap();
        assert_eq!((probe.0 - established, probe.2.segment.len), (Span::from_secs(1), 1), "{name}");
        assert_eq!(net.ends[1].read, 10_000);
        assert!(net.now - established < Span::from_secs(62), "TIME-WAIT and the transfer");
    }
}
