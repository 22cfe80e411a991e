//! Choice of the path of a segment: the rules of the schedulers, for cases computed by hand.

use windlass_cc::{CrossLayer, Rate, Span, Time};
use windlass_tcp::fitness::Reading;
use windlass_tcp::mptcp::Scheduler;
use windlass_tcp::mptcp::scheduler::{Assignment, Backlog, PathState, Scheduling};

const MSS: u64 = 1_000;

/// A path with a cwnd of ten segments.
fn path(path: usize, srtt_ms: u64, room: u64) -> PathState {
    PathState {
        path,
        srtt: Span::from_millis(srtt_ms),
        rttvar: Span::ZERO,
        cwnd: 10 * MSS,
        in_flight: if room > 0 { 0 } else { 10 * MSS },
        mss: MSS,
        room,
        rtt: Span::NONE,
        ..PathState::default()
    }
}

fn backlog(unsent: u64) -> Backlog {
    Backlog { now: Time::ZERO, next: 1, limit: 1 + unsent, una: 1, unsent, window: 1 << 20 }
}

fn chosen(s: &mut Scheduling, paths: &[PathState], b: &Backlog) -> Option<usize> {
    s.next(paths, b).map(|a| a.path)
}

#[test]
fn lowest_rtt_selects_the_path_with_space_and_the_lowest_srtt() {
    let mut s = Scheduling::new(Scheduler::LowestRtt);
    let b = backlog(50 * MSS);
    let all = [path(0, 50, MSS), path(1, 20, MSS), path(2, 30, MSS)];
    assert_eq!(s.next(&all, &b), Some(Assignment { path: 1, start: 1, len: MSS }));
    let full = [path(0, 50, MSS), path(1, 20, 0), path(2, 30, MSS)];
    assert_eq!(chosen(&mut s, &full, &b), Some(2));
    assert_eq!(chosen(&mut s, &[path(0, 50, 0), path(1, 20, 0)], &b), None);
    // A piece is at most as long as the waiting data.
    assert_eq!(s.next(&all, &backlog(400)).map(|a| a.len), Some(400));
}

#[test]
fn round_robin_takes_the_paths_in_turn_and_skips_full_paths() {
    let mut s = Scheduling::new(Scheduler::RoundRobin);
    let paths = [path(0, 50, MSS), path(1, 20, MSS), path(2, 30, MSS)];
    let mut turns = Vec::new();
    for i in 0..7 {
        let mut now = paths;
        if i == 4 {
            now[1].room = 0;
        }
        let a = s.next(&now, &backlog(50 * MSS)).unwrap();
        s.on_assigned(&a);
        turns.push(a.path);
    }
    assert_eq!(turns, [0, 1, 2, 0, 2, 0, 1]);
}

// RFC 8684-3.3.1-2
#[test]
fn redundant_gives_every_path_the_whole_stream() {
    let mut s = Scheduling::new(Scheduler::Redundant);
    let mut b = backlog(3 * MSS);
    let mut sent = [Vec::new(), Vec::new()];
    while let Some(a) = {
        // A path that has all data takes nothing more.
        let room = |i: usize| {
            let (start, end) = s.piece_for(i, &b);
            MSS.min(end.saturating_sub(start))
        };
        let paths = [path(0, 10, room(0)), path(1, 40, room(1))];
        s.next(&paths, &b)
    } {
        s.on_assigned(&a);
        sent[a.path].push(a.start);
        let end = a.start + a.len;
        b.unsent -= end.saturating_sub(b.next);
        b.next = b.next.max(end);
    }
    assert_eq!(sent, [[1, 1001, 2001]; 2]);
    // Data acknowledged meanwhile are not sent on the slower path.
    s.on_path_gone(1);
    b.una = 2001;
    assert_eq!(s.piece_for(1, &b), (2001, 3001));
}

/// RTTs of 20 and 100 ms: `rtts` = 5 and X = 1000·(10 + (5 − 1)/2)·5 = 60 000 bytes. With λ = 1.2 the fast
/// path needs 72 000 bytes, and the slow path would occupy 1000·(4 + 1) bytes.
#[test]
fn blest_does_not_use_a_slow_path_that_would_block_the_fast_path() {
    let fast = path(0, 20, 0);
    let slow = PathState { in_flight: 4 * MSS, ..path(1, 100, MSS) };
    let decide = |window| {
        let b = Backlog { window, ..backlog(50 * MSS) };
        chosen(&mut Scheduling::new(Scheduler::Blest), &[fast, slow], &b)
    };
    assert_eq!(decide(77_000), Some(1));
    assert_eq!(decide(76_999), None);
    // The fast path is used whenever it has space.
    let b = Backlog { window: 1_000, ..backlog(50 * MSS) };
    let ready = [path(0, 20, MSS), slow];
    assert_eq!(chosen(&mut Scheduling::new(Scheduler::Blest), &ready, &b), Some(0));
}

/// λ falls by 0.01 after an RTT of 20 ms without blocking, to 1.19: 71 400 bytes are needed. It rises by 0.04
/// after an RTT with blocking, to 1.23: 73 800 bytes.
#[test]
fn blest_adapts_lambda_to_blocking() {
    let paths = [path(0, 20, 0), PathState { in_flight: 4 * MSS, ..path(1, 100, MSS) }];
    let mut s = Scheduling::new(Scheduler::Blest);
    let decide = |s: &mut Scheduling, ms, window| {
        let b = Backlog { now: Time::from_millis(ms), window, ..backlog(50 * MSS) };
        chosen(s, &paths, &b)
    };
    assert_eq!(decide(&mut s, 20, 76_400), Some(1));
    assert_eq!(decide(&mut s, 21, 76_399), None);
    s.on_blocked();
    assert_eq!(decide(&mut s, 40, 78_800), Some(1));
    assert_eq!(decide(&mut s, 41, 78_799), None);
    // λ is never above 1.3, for which the fast path needs 78 000 bytes, and the slow path 5 000.
    for ms in 3..30 {
        s.on_blocked();
        decide(&mut s, 20 * ms, 0);
    }
    assert_eq!((decide(&mut s, 581, 83_000), decide(&mut s, 581, 82_999)), (Some(1), None));
    // λ is never below 1: 60 000 and 5 000 bytes.
    for ms in 31..99 {
        decide(&mut s, 20 * ms, 0);
    }
    assert_eq!((decide(&mut s, 1961, 65_000), decide(&mut s, 1961, 64_999)), (Some(1), None));
}

/// RTTs of 20 and 100 ms, δ = 10 ms, cwnds of 10 segments.
#[test]
fn ecf_waits_for_the_fast_path_if_it_completes_earlier() {
    let paths = [path(0, 20, 0), PathState { rttvar: Span::from_millis(10), ..path(1, 100, MSS) }];
    let decide = |s: &mut Scheduling, segments: u64| chosen(s, &paths, &backlog(segments * MSS));
    let fresh = || Scheduling::new(Scheduler::Ecf);
    // (1 + 20/10)·20 = 60 < 110, and 20/10·100 = 200 ≥ 2·20 + 10: wait.
    assert_eq!(decide(&mut fresh(), 20), None);
    // 2/10·100 = 20 < 50: the slow path finishes before the fast path has space.
    assert_eq!(decide(&mut fresh(), 2), Some(1));
    // 5/10·100 = 50 ≥ 50: wait.
    assert_eq!(decide(&mut fresh(), 5), None);
    // (1 + 45/10)·20 = 110: not earlier.
    assert_eq!((decide(&mut fresh(), 44), decide(&mut fresh(), 45)), (None, Some(1)));
    // After a wait, the limit is 1.25·110 = 137.5: (1 + 58/10)·20 = 136.
    let mut waiting = fresh();
    decide(&mut waiting, 20);
    assert_eq!(decide(&mut waiting, 58), None);
    assert_eq!(decide(&mut waiting, 59), Some(1));
    assert_eq!(decide(&mut waiting, 58), Some(1), "it has stopped waiting");
}

/// A segment that waits for `k` other segments of the fast path's cwnd arrives after 2·k + 10 ms. On the slow
/// path it arrives after 50 ms. The fast path therefore gets twenty segments.
#[test]
fn earliest_arrival_sends_from_further_ahead_on_a_slow_path() {
    let mut s = Scheduling::new(Scheduler::EarliestArrival);
    let mut b = backlog(100 * MSS);
    let slow = path(1, 100, MSS);
    let a = s.next(&[path(0, 20, 0), slow], &b).unwrap();
    assert_eq!(a, Assignment { path: 1, start: 1 + 20 * MSS, len: MSS });
    s.on_assigned(&a);
    b.next = a.start + a.len;
    b.unsent = 100 * MSS + 1 - b.next;
    // The fast path has space again: its planned data are sent in order.
    for i in 0..20 {
        let a = s.next(&[path(0, 20, MSS), path(1, 100, 0)], &b).unwrap();
        assert_eq!(a, Assignment { path: 0, start: 1 + i * MSS, len: MSS });
        s.on_assigned(&a);
    }
    assert!(!s.has_earlier_pieces());
}

#[test]
fn data_planned_for_a_lost_path_is_sent_on_another_path() {
    let mut s = Scheduling::new(Scheduler::EarliestArrival);
    let b = backlog(100 * MSS);
    s.next(&[path(0, 20, 0), path(1, 100, MSS)], &b).unwrap();
    s.on_path_gone(0);
    assert!(s.plans(1) && s.has_earlier_pieces());
    // The slow path sends its own piece first, and then the data planned for the fast path.
    let only = [path(1, 100, MSS)];
    let starts: Vec<u64> = (0..4)
        .map(|_| {
            let a = s.next(&only, &b).unwrap();
            s.on_assigned(&a);
            a.start
        })
        .collect();
    assert_eq!(starts, [1 + 20 * MSS, 1, 1 + MSS, 1 + 2 * MSS]);
}

/// A mains-powered node with a route of three hops, an idle station and 1 MB/s to the next hop.
const LAYERS: CrossLayer = CrossLayer {
    queue_len: 5,
    queue_limit: 30,
    hops: 3,
    failure_share: 0,
    battery: 65_536,
    service_rate: Rate(1_000_000),
    service_time: Span::from_millis(1),
    base_rtt: Span::from_millis(20),
};

/// The chosen path of two equal paths, after this change of the second path.
fn between(kind: Scheduler, change: fn(&mut PathState, &mut CrossLayer)) -> Option<usize> {
    let first = PathState { layers: Some(LAYERS), in_flight: 3 * MSS, ..path(0, 50, MSS) };
    let mut layers = LAYERS;
    let mut second = PathState { path: 1, ..first };
    change(&mut second, &mut layers);
    second.layers = Some(layers);
    chosen(&mut Scheduling::new(kind), &[first, second], &backlog(50 * MSS))
}

#[test]
fn fpf_selects_the_path_that_is_better_in_any_single_attribute() {
    let fpf = Scheduler::Fpf(Reading::Repaired);
    assert_eq!(between(fpf, |_, _| {}), Some(0), "the first of equal paths");
    assert_eq!(between(fpf, |_, l| l.queue_len = 4), Some(1), "a shorter queue");
    assert_eq!(between(fpf, |_, l| l.queue_len = 6), Some(0), "a longer queue");
    assert_eq!(between(fpf, |_, l| l.battery = 60_000), Some(0), "less energy");
    assert_eq!(between(fpf, |_, l| l.service_rate = Rate(2_000_000)), Some(1), "a faster hop");
    assert_eq!(between(fpf, |_, l| l.failure_share = 100), Some(0), "failed attempts");
    assert_eq!(between(fpf, |_, l| l.base_rtt = Span::from_millis(15)), Some(1), "a shorter delay");
    assert_eq!(between(fpf, |p, _| p.cwnd += MSS), Some(1), "a larger window");
    assert_eq!(between(fpf, |p, _| p.in_flight = 2 * MSS), Some(1), "an earlier completion");
    // Of the lower layers' state, the choice by congestion, delay and throughput uses only the failures.
    let choice = Scheduler::PathChoice;
    assert_eq!(between(choice, |_, l| l.queue_len = 4), Some(0));
    assert_eq!(between(choice, |_, l| l.service_rate = Rate(2_000_000)), Some(0));
    assert_eq!(between(choice, |_, l| l.base_rtt = Span::from_millis(15)), Some(1));
    // Throughput has twice the weight of congestion.
    assert_eq!(between(choice, |p, l| (p.cwnd, l.failure_share) = (20 * MSS, 9)), Some(1));
}

/// The second path has the same rate, half of the delay, less energy and a longer queue. Its completion and its delay in
/// both scores outweigh energy and queue by 1/4.
#[test]
fn fpf_counts_the_delay_in_the_fitness_and_in_the_path_score() {
    let change = |p: &mut PathState, l: &mut CrossLayer| {
        l.base_rtt = Span::from_millis(10);
        p.cwnd /= 2;
        (l.battery, l.queue_len) = (60_000, 6);
    };
    assert_eq!(between(Scheduler::Fpf(Reading::Repaired), change), Some(1));
}

/// The paper's sign of the queue length and its buffer rate have a weight of 1/4 each. As printed they cancel
/// each other; repaired they add up.
#[test]
fn interpretations_of_equation_4_weigh_a_queue_differently() {
    // A shorter queue against a slower hop: 1/2 against 1/4, and 0 against 1/4.
    let change = |_: &mut PathState, l: &mut CrossLayer| {
        (l.queue_len, l.service_rate) = (4, Rate(900_000));
    };
    assert_eq!(between(Scheduler::Fpf(Reading::Repaired), change), Some(1));
    assert_eq!(between(Scheduler::Fpf(Reading::Literal), change), Some(0));
}

#[test]
fn fpf_takes_the_next_best_path_when_the_best_has_no_room() {
    let fpf = || Scheduling::new(Scheduler::Fpf(Reading::Repaired));
    let b = backlog(50 * MSS);
    let all = [path(0, 50, MSS), path(1, 20, 0), path(2, 30, MSS)];
    // Path 1 is the best, then path 2: without layers only delay, rate and completion count.
    assert_eq!(chosen(&mut fpf(), &all, &b), Some(2));
    assert_eq!(chosen(&mut fpf(), &[path(0, 50, 0), path(1, 20, 0)], &b), None);
}

fn lost(i: usize, srtt_ms: u64) -> PathState {
    PathState { layers: Some(CrossLayer { hops: 0, ..LAYERS }), ..path(i, srtt_ms, MSS) }
}

#[test]
fn path_without_a_route_is_used_only_if_no_path_has_a_route() {
    let mut s = Scheduling::new(Scheduler::PathChoice);
    let b = backlog(50 * MSS);
    let routed = |room| PathState { layers: Some(LAYERS), ..path(0, 90, room) };
    assert_eq!(chosen(&mut s, &[routed(MSS), lost(1, 10)], &b), Some(0));
    assert_eq!(chosen(&mut s, &[routed(0), lost(1, 10)], &b), None);
    let empty = |i, ms| {
        let layers = CrossLayer { hops: 0, base_rtt: Span::NONE, ..LAYERS };
        PathState { layers: Some(layers), ..lost(i, ms) }
    };
    assert_eq!(chosen(&mut s, &[empty(0, 90), empty(1, 10)], &b), Some(1));
}

/// Both the time and the number of segments must be reached.
#[test]
fn unused_path_is_probed_with_one_segment_in_seventeen() {
    let mut s = Scheduling::new(Scheduler::PathChoice);
    let mut turns = Vec::new();
    for n in 0..67 {
        let paths = [path(0, 20, MSS), lost(1, 90)];
        let now = Time::from_secs(1) + Span::from_millis(10 * n);
        let a = s.next(&paths, &Backlog { now, ..backlog(50 * MSS) }).unwrap();
        s.on_assigned(&a);
        turns.push(a.path);
    }
    let tried: Vec<usize> = (0..67).filter(|n| turns[*n] == 1).collect();
    // The first segment counts as a probe of its own path; sixteen segments follow.
    assert_eq!(tried, [17]);
    // No other probe while one is in flight.
    let busy = PathState { in_flight: MSS, ..path(0, 20, MSS) };
    let waits = PathState { in_flight: MSS, ..lost(1, 90) };
    let b = Backlog { now: Time::from_secs(9), ..backlog(50 * MSS) };
    for _ in 0..20 {
        let a = s.next(&[busy, waits], &b).unwrap();
        s.on_assigned(&a);
        assert_eq!(a.path, 0);
    }
    assert_eq!(chosen(&mut s, &[busy, lost(1, 90)], &b), Some(1));
}

/// A sender that sends less often than the probe interval stays on the best path.
#[test]
fn sparse_traffic_does_not_alternate() {
    let mut s = Scheduling::new(Scheduler::Fpf(Reading::Repaired));
    for n in 1..30 {
        let paths = [path(0, 20, MSS), path(1, 90, MSS)];
        let a = s.next(&paths, &Backlog { now: Time::from_secs(n), ..backlog(400) }).unwrap();
        s.on_assigned(&a);
        assert_eq!(a.path, 0);
    }
}

#[test]
fn retransmissions_count_as_congestion_and_fade() {
    let mut s = Scheduling::new(Scheduler::PathChoice);
    let b = |ms| Backlog { now: Time::from_millis(ms), ..backlog(50 * MSS) };
    let p = |i, segments, retransmits| PathState { segments, retransmits, ..path(i, 50, MSS) };
    assert_eq!(chosen(&mut s, &[p(0, 20, 5), p(1, 20, 0)], &b(1_000)), Some(1));
    // Within the interval there is no new observation. Then the second path loses more of its segments.
    assert_eq!(chosen(&mut s, &[p(0, 20, 5), p(1, 30, 10)], &b(1_050)), Some(1));
    assert_eq!(chosen(&mut s, &[p(0, 40, 5), p(1, 40, 20)], &b(1_200)), Some(0));
    // The state of an unused path does not change. Sending without loss reduces the other path's value below
    // it.
    let mut now = 1_200;
    let mut chosen_at = None;
    for n in 1..20 {
        now += 100;
        let paths = [p(0, 40, 5), p(1, 40 + 10 * n, 20)];
        if chosen(&mut s, &paths, &b(now)) == Some(1) {
            chosen_at.get_or_insert(n);
        }
    }
    // 1/4 of 1/4, faded once, is 3/64; 1/4 of 1 falls below that after six fadings by 3/4.
    assert_eq!(chosen_at, Some(6));
}

/// The handshake's RTT may include the search for a route. It is not used as the delay if the lower layers
/// have a base RTT. RTT samples of data have priority over both.
#[test]
fn delay_of_a_path_is_the_rtt_of_its_data() {
    let state = |i, srtt_ms, rtt, segments| PathState {
        rtt,
        segments,
        layers: Some(LAYERS),
        ..path(i, srtt_ms, MSS)
    };
    let choose = |first: PathState, second: PathState| {
        let mut s = Scheduling::new(Scheduler::PathChoice);
        let b = Backlog { now: Time::from_secs(1), ..backlog(50 * MSS) };
        chosen(&mut s, &[first, second], &b)
    };
    let fresh = |i, srtt_ms| state(i, srtt_ms, Span::NONE, 0);
    assert_eq!(choose(fresh(0, 1_000), fresh(1, 50)), Some(0), "equal routes");
    // The base RTT is 20 ms.
    assert_eq!(choose(state(0, 50, Span::from_millis(30), 9), fresh(1, 900)), Some(1));
    assert_eq!(choose(fresh(0, 50), state(1, 900, Span::from_millis(19), 9)), Some(1));
}
