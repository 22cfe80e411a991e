use super::super::support::plain;
use super::*;
use crate::random::Purpose;

const SIZE: u32 = 1000;
const BOTH: [DualPi2; 2] = [DualPi2::RFC9332, DualPi2::LINUX];

fn queue(p: DualPi2) -> DualPi2Queue {
    p.check().expect("valid");
    DualPi2Queue::new(p, QueueLimit::Unlimited, Stream::new(1, 1, Purpose::Queue))
}

fn of(ecn: Codepoint, since: Time) -> Waiting {
    Waiting { ecn, since, ..plain(0, SIZE) }
}

/// Adds packets that arrive now behind others.
fn add(q: &mut DualPi2Queue, now: Time, ecn: Codepoint, packets: u32) {
    for _ in 0..packets {
        q.enqueue(now, of(ecn, now), None, &mut Vec::new());
    }
}

/// Marks and drops among `packets` departures without waiting, with this base probability.
fn outcome(p: DualPi2, probability: f64, ecn: Codepoint, packets: u32) -> (u32, usize) {
    let mut q = queue(DualPi2 { update: Span::from_secs(1000), ..p });
    q.probability = probability;
    add(&mut q, Time::ZERO, ecn, packets + 2);
    let (mut marks, mut drops) = (0, Vec::new());
    while q.len() > 2 {
        if let Some((_, marked)) = q.dequeue(Time::ZERO, &mut drops) {
            marks += u32::from(marked);
        }
    }
    (marks, drops.len())
}

#[test]
fn ect1_and_ce_enter_the_l_queue_and_all_others_the_c_queue() {
    for p in BOTH {
        let mut q = queue(p);
        for (ecn, l, c) in [
            (Codepoint::Ect1, 1, 0),
            (Codepoint::Ce, 2, 0),
            (Codepoint::Ect0, 2, 1),
            (Codepoint::NotEct, 2, 2),
        ] {
            add(&mut q, Time::ZERO, ecn, 1);
            assert_eq!((q.l.fifo.len(), q.c.fifo.len()), (l, c), "{ecn:?}");
        }
    }
}

#[test]
fn classic_packets_are_struck_with_the_square_and_l_packets_with_twice_the_base_probability() {
    for p in BOTH {
        let near = |got: usize, expected: f64| {
            assert!((got as f64 - expected).abs() < 0.06 * expected, "{got} {expected} {p:?}");
        };
        let (marks, drops) = outcome(p, 0.3, Codepoint::Ect1, 20_000);
        near(marks as usize, 12_000.0);
        assert_eq!(drops, 0);
        let (marks, drops) = outcome(p, 0.3, Codepoint::Ect0, 20_000);
        near(marks as usize, 1_800.0);
        assert_eq!(drops, 0);
        let (marks, drops) = outcome(p, 0.3, Codepoint::NotEct, 20_000);
        near(drops, 1_800.0);
        assert_eq!(marks, 0);
        // Overload: both queues drop with the square, and the other L packets are marked.
        let (marks, drops) = outcome(p, 0.6, Codepoint::Ect1, 20_000);
        near(drops, 7_200.0);
        assert!(marks as usize + drops >= 20_000, "an L packet had neither");
        let (marks, drops) = outcome(p, 0.6, Codepoint::Ect0, 20_000);
        near(drops, 7_200.0);
        assert_eq!(marks, 0);
    }
}

#[test]
fn marks_without_randomness_are_evenly_spaced() {
    let mut q = queue(DualPi2 { update: Span::from_secs(1000), ..DualPi2::RFC9332 });
    q.probability = 0.125;
    add(&mut q, Time::ZERO, Codepoint::Ect1, 40);
    let marks: Vec<bool> =
        (0..32).map(|_| q.dequeue(Time::ZERO, &mut Vec::new()).expect("a packet").1).collect();
    let expected: Vec<bool> = (1..=32).map(|n| n % 4 == 0).collect();
    assert_eq!(marks, expected);
}

#[test]
fn an_overflowing_queue_marks_all_l_packets_and_drops_none() {
    for p in BOTH {
        let mut q = queue(DualPi2 { drop_on_overload: false, ..p });
        add(&mut q, Time::ZERO, Codepoint::Ect1, 100);
        let mut drops = Vec::new();
        let (_, marked) = q.dequeue(Time::from_secs(100), &mut drops).expect("a packet");
        assert!(marked && drops.is_empty());
        assert_eq!(q.probability, 0.5, "the inverse of the coupling");
    }
}

/// Marks of ten packets that leave a queue of `behind` more after a wait.
fn marks_after(p: DualPi2, us: u64, behind: u32) -> usize {
    let mut q = queue(DualPi2 { update: Span::from_secs(1000), ..p });
    add(&mut q, Time::ZERO, Codepoint::Ect1, 10 + behind);
    (0..10).filter(|_| q.dequeue(Time(1000 * us), &mut Vec::new()).expect("a packet").1).count()
}

#[test]
fn the_l_queue_marks_on_a_ramp_or_above_a_step() {
    assert_eq!(marks_after(DualPi2::RFC9332, 800, 9), 0);
    assert_eq!(marks_after(DualPi2::RFC9332, 1000, 9), 5, "the middle of the ramp");
    assert_eq!(marks_after(DualPi2::RFC9332, 1201, 9), 10);
    // One packet that is alone in its queue is not marked by its own delay.
    assert_eq!(marks_after(DualPi2::RFC9332, 1201, 0), 9);
    assert_eq!(marks_after(DualPi2::LINUX, 1000, 9), 0);
    assert_eq!(marks_after(DualPi2::LINUX, 1001, 0), 10);
}

#[test]
fn the_probability_follows_the_equation_update_by_update() {
    for p in BOTH {
        let mut q = queue(p);
        let [alpha, beta] = match p.variant {
            Variant::Rfc9332 => [0.15, 3.0],
            // 44 and 879 units of the kernel.
            Variant::Linux => [44.0, 879.0].map(|units| units * 4e9 / 4_294_967_295.0 / 256.0),
        };
        let (mut model, mut before, mut highest) = (0.0f64, 0.0, 0.0f64);
        let mut arrivals = std::collections::VecDeque::new();
        for ms in 1..6_000u64 {
            if ms % (p.update.0 / 1_000_000) == 0 {
                let delay = arrivals.front().map_or(0.0, |since| (ms - since) as f64 / 1000.0);
                model += alpha * (delay - 0.015) + beta * (delay - before);
                (model, before) = (model.clamp(0.0, 1.0), delay);
                highest = highest.max(model);
            }
            let now = Time::from_millis(ms);
            q.catch_up(now);
            // The queue grows and shrinks alternately. It is changed behind the discipline's back.
            if (ms / 500) % 2 == 0 || arrivals.len() < 3 {
                q.c.fifo.push(of(Codepoint::Ect0, now), true, &mut Vec::new());
                arrivals.push_back(ms);
            }
            if ms % 2 == 0 {
                q.c.fifo.pop();
                arrivals.pop_front();
            }
            assert!((q.probability - model).abs() < 1e-9, "{ms}: {} {model}", q.probability);
        }
        assert!(highest > 0.1, "the model itself never moved");
    }
}

#[test]
fn the_longer_of_both_delays_controls_the_probability() {
    for ecn in [Codepoint::Ect1, Codepoint::NotEct] {
        let mut q = queue(DualPi2::RFC9332);
        add(&mut q, Time::ZERO, ecn, 1);
        q.catch_up(Time::from_millis(15));
        assert!((q.probability - 3.0 * 0.015).abs() < 1e-12, "{ecn:?}");
    }
}

/// Shares of the first `served` packets that come from the C queue, with both queues full.
fn classic_served(p: DualPi2, served: usize, c_since_ms: u64) -> usize {
    let mut q = queue(DualPi2 { update: Span::from_secs(1000), ..p });
    for (ecn, ms) in [(Codepoint::Ect0, c_since_ms), (Codepoint::Ect1, 100)] {
        for _ in 0..served {
            q.enqueue(
                Time::from_millis(100),
                of(ecn, Time::from_millis(ms)),
                None,
                &mut Vec::new(),
            );
        }
    }
    let now = Time::from_millis(100);
    let packets = (0..served).map(|_| q.dequeue(now, &mut Vec::new()).expect("a packet").0);
    packets.filter(|packet| packet.ecn == Codepoint::Ect0).count()
}

#[test]
fn the_credit_gives_the_c_queue_its_share() {
    for p in BOTH {
        assert_eq!(classic_served(p, 9, 100), 0, "the L queue is first");
        let share = classic_served(p, 10_000, 100);
        assert!((995..=1_005).contains(&share), "{share}");
        let share = classic_served(DualPi2 { classic_share: 0.5, ..p }, 10_000, 100);
        assert!((4_995..=5_005).contains(&share), "{share}");
    }
}

#[test]
fn a_time_shifted_queue_serves_the_c_packets_that_wait_longer_than_the_shift() {
    let p = DualPi2 { scheduler: Scheduler::TimeShifted, ..DualPi2::RFC9332 };
    assert_eq!(classic_served(p, 100, 70), 0);
    assert_eq!(classic_served(p, 100, 69), 100);
}

#[test]
fn both_limits_count_the_packets_of_both_queues() {
    for p in BOTH {
        let limited = [
            (DualPi2 { memory: u64::from(5 * SIZE), ..p }, QueueLimit::Unlimited),
            (p, QueueLimit::Packets(5)),
        ];
        for (p, limit) in limited {
            let mut q = DualPi2Queue::new(p, limit, Stream::new(1, 1, Purpose::Queue));
            let mut drops = Vec::new();
            for ecn in [Codepoint::Ect1, Codepoint::Ect0].into_iter().cycle().take(8) {
                q.enqueue(Time::ZERO, of(ecn, Time::ZERO), None, &mut drops);
            }
            assert_eq!((q.l.fifo.len(), q.c.fifo.len(), drops.len()), (3, 2, 3));
            assert!(drops.iter().all(|dropped| !dropped.early));
        }
    }
}

#[test]
fn late_adjustments_after_an_idle_time_equal_stepwise_adjustments() {
    let mut q = queue(DualPi2::RFC9332);
    (q.probability, q.delay_before) = (0.5, Span::from_millis(30));
    let mut stepwise = q.clone();
    for ms in 0..20_000 {
        stepwise.catch_up(Time::from_millis(ms));
    }
    q.catch_up(Time::from_millis(19_999));
    assert_eq!(q.probability, stepwise.probability);
    assert_eq!(q.next_update, stepwise.next_update);
    q.catch_up(Time::from_secs(100 * 86_400));
    assert!(q.probability == 0.0 && q.next_update > Time::from_secs(100 * 86_400));
}

/// ECN fields of the floods.
const FIELDS: [Codepoint; 3] = [Codepoint::Ect1, Codepoint::Ect0, Codepoint::NotEct];

/// The datagrams of a field that passed the queue.
#[derive(Clone, Default)]
struct Passed {
    received: usize,
    marked: usize,
    /// Time of each on the way, µs.
    delays: Vec<u64>,
}

/// Datagrams of 1000 bytes through a token bucket of 10 Mbit/s and 3000 bytes, above which this queue waits: of each
/// field a number, at equal distances in a time from `start` on. A field begins a third of its distance after the one
/// before it. The bucket counts the 14 bytes of the frame's header. Like the kernel's, it takes a packet from the queue
/// before it has the tokens for it. Returns the end, too.
fn flood(q: &mut DualPi2Queue, counts: [u64; 3], time: Span, start: u64) -> ([Passed; 3], u64) {
    const FRAME: u32 = 1014;
    let mut arrivals: Vec<(u64, usize)> = Vec::new();
    for (field, count) in counts.into_iter().enumerate() {
        let due = |i| start + time.0 * (3 * i + field as u64) / (3 * count);
        arrivals.extend((0..count).map(|i| (due(i), field)));
    }
    arrivals.sort_unstable();
    let mut arrivals = arrivals.into_iter().peekable();
    let (mut passed, mut drops) = (<[Passed; 3]>::default(), Vec::new());
    // Tokens in nanoseconds at 10 Mbit/s, and the packet that waits for them.
    let (full, cost) = (3000 * 800, u64::from(FRAME) * 800);
    let (mut tokens, mut now, mut held) = (full, start, None);
    loop {
        if held.is_none() {
            held = q.dequeue(Time(now), &mut drops);
        }
        let departure = held.map(|_| now + cost.saturating_sub(tokens));
        let arrival = arrivals.peek().map(|arrival| arrival.0);
        let Some(next) = arrival.into_iter().chain(departure).min() else { break };
        tokens = (tokens + next - now).min(full);
        now = next;
        if arrival == Some(now) {
            let (_, field) = arrivals.next().expect("an arrival");
            let mut packet = of(FIELDS[field], Time(now));
            (packet.handle.size, packet.flow) = (FRAME, field as u32);
            q.enqueue(Time(now), packet, None, &mut drops);
        } else if let Some((packet, marked)) = held.take() {
            let passed = &mut passed[packet.flow as usize];
            passed.received += 1;
            passed.marked += usize::from(marked);
            passed.delays.push((now - packet.since.0) / 1000);
            tokens -= cost;
        }
    }
    (passed, now)
}

#[test]
fn floods_have_the_marks_and_drops_of_the_kernel() {
    // Measured with `sch_dualpi2` of Linux 7.3.4 in virtual time: ECT(1), then ECT(0), then Not-ECT, on one queue. Its
    // timer's phase, its random numbers and the exact send times are not known, so that packets agree within 1 % of
    // those received, and marks of ECT(0) within 3 standard deviations.
    let mut q = queue(DualPi2::LINUX);
    let mut now = 0;
    for (field, (kernel_marks, most)) in [(3695, 37), (347, 56), (0, 0)].into_iter().enumerate() {
        let counts = [0, 1, 2].map(|each| if each == field { 4438 } else { 0 });
        let (passed, end) = flood(&mut q, counts, Span::from_secs(3), now);
        now = end;
        let Passed { received, marked, .. } = passed[field];
        assert!(received.abs_diff(3721) <= 37, "{field}: {received}");
        assert!(marked.abs_diff(kernel_marks) <= most, "{field}: {marked}");
    }
}

/// Received and marked datagrams of each field, and the median and the 95th percentile of the delays in both queues, µs.
fn figures([l, classic, plain]: [Passed; 3]) -> [f64; 10] {
    let mut figures = [0.0; 10];
    for (field, passed) in [&l, &classic, &plain].into_iter().enumerate() {
        (figures[2 * field], figures[2 * field + 1]) =
            (passed.received as f64, passed.marked as f64);
    }
    for (queue, mut delays) in
        [l.delays, [classic.delays, plain.delays].concat()].into_iter().enumerate()
    {
        delays.sort_unstable();
        for (place, percentile) in [50, 95].into_iter().enumerate() {
            figures[6 + 2 * queue + place] =
                delays.get(delays.len() * percentile / 100).copied().unwrap_or(0) as f64;
        }
    }
    figures
}

#[test]
fn loads_have_the_delays_marks_and_drops_of_the_kernel() {
    const SEEDS: u64 = 8;
    // Linux 7.3.4 in virtual time (`loads_of_dualpi2_have_the_known_delays_marks_and_drops` of the testbed).
    let kernel = include_str!("../../../../../conformance/dualpi2/floods.csv");
    for line in kernel.lines().skip(1) {
        let kernel: Vec<u64> = line.split(',').map(|n| n.parse().expect("a number")).collect();
        let (counts, kernel) = kernel.split_at(3);
        let mut means = [0.0; 10];
        for seed in 1..=SEEDS {
            let draws = Stream::new(seed, 1, Purpose::Queue);
            let mut q = DualPi2Queue::new(DualPi2::LINUX, QueueLimit::Unlimited, draws);
            q.largest = 1514; // of the device
            let counts = [counts[0], counts[1], counts[2]];
            let (passed, _) = flood(&mut q, counts, Span::from_secs(60), 0);
            for (mean, figure) in means.iter_mut().zip(figures(passed)) {
                *mean += figure / SEEDS as f64;
            }
        }
        for (place, (kernel, ours)) in kernel.iter().zip(means).enumerate() {
            let kernel = *kernel as f64;
            // Marks are random: three standard deviations of the kernel's single run.
            let most = match place {
                1 | 3 | 5 => (0.01 * kernel).max(3.0 * kernel.sqrt()),
                0..6 => 0.01 * kernel,
                _ => 0.03 * kernel,
            };
            assert!((kernel - ours).abs() <= most, "figure {place} of {line}: {ours}");
        }
    }
}
