//! In steady state, the simulator allocates no memory. This binary counts every allocation.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::radio::{line, over};
use common::{cbr, drops, dumbbell};
use windlass_cc::Time;
use windlass_sim::Simulation;
use windlass_sim::config::Config;
use windlass_sim::link::QueueLimit;
use windlass_sim::queue::{Device, Discipline, FqCoDel, Level, Red, Threshold};
use windlass_sim::radio::{FrameErrors, Hops, Phy, RtsThreshold};
use windlass_tcp::InitialWindow;
use windlass_tcp::stack::LINUX;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations and packet-hops between two times of a run.
fn allocations(mut config: Config, from_s: u64, to_s: u64) -> (u64, u64) {
    config.duration = Time::from_secs(to_s);
    let mut simulation = Simulation::new(config).expect("valid");
    simulation.run_until(Time::from_secs(from_s));
    let (hops, count) = (simulation.packet_hops(), COUNT.with(Cell::get));
    simulation.run_until(Time::from_secs(to_s));
    let allocated = COUNT.with(Cell::get) - count;
    (allocated, simulation.packet_hops() - hops)
}

fn assert_none(config: Config, from_s: u64, to_s: u64) {
    let (allocated, hops) = allocations(config, from_s, to_s);
    assert!(hops > 50_000, "only {hops} hops");
    assert_eq!(allocated, 0, "in {hops} hops");
}

#[test]
fn the_counter_counts() {
    let before = COUNT.with(Cell::get);
    drop(std::hint::black_box(vec![1u8; 100]));
    assert_eq!(COUNT.with(Cell::get), before + 1);
}

#[test]
fn a_lossless_flow_allocates_nothing() {
    let mut config = dumbbell(1, "newreno", Time::ZERO);
    // A window of half the path and queue, so that nothing is dropped.
    config.flows[0].profile_mut().stack.receive_buffer = 100_000;
    config.links[0].queue = QueueLimit::Unlimited;
    assert_none(config, 5, 60);
}

#[test]
fn a_lossy_flow_allocates_nothing() {
    let mut config = dumbbell(1, "newreno", Time::ZERO);
    config.links[0].loss = [drops(0.005), drops(0.005)].into();
    assert_none(config, 100, 400);
}

#[test]
fn a_scoreboard_allocates_nothing_for_a_segment() {
    for algorithm in ["cubic", "bbr"] {
        let mut config = dumbbell(1, algorithm, Time::ZERO);
        config.flows[0].profile_mut().stack = LINUX;
        config.links[0].loss = [drops(0.005), drops(0.005)].into();
        assert_none(config, 100, 300);
    }
}

#[test]
fn an_overflowing_queue_allocates_nothing() {
    assert_none(dumbbell(1, "reno", Time::ZERO), 60, 120);
}

#[test]
fn queue_disciplines_allocate_nothing_for_a_packet() {
    let red = Red {
        min_threshold: Level::Packets(20),
        max_threshold: Level::Packets(60),
        ecn: true,
        adaptive: true,
        ..Red::DEFAULT
    };
    let busier = [
        Discipline::Red(red),
        Discipline::Device(Box::new(Device {
            discipline: Discipline::FqCoDel(FqCoDel::DEFAULT),
            packets: 100,
        })),
        Discipline::Threshold(Threshold { mark: Level::Packets(20), probability: 0.01 }),
    ];
    for discipline in Discipline::DEFAULTS.into_iter().chain(busier) {
        let mut config = dumbbell(20, "newreno", Time::ZERO);
        first_bursts_largest(&mut config);
        config.links[0].rate_bps = 20_000_000;
        config.links[0].discipline = discipline.clone();
        // The discipline's largest queue may occur late, and then a ring doubles.
        let (allocated, hops) = allocations(config, 30, 60);
        // The policer's rate is a twentieth of the link's.
        let fewest = if let Discipline::Policer(_) = discipline { 10_000 } else { 200_000 };
        assert!(hops > fewest, "only {hops} hops");
        assert!(allocated <= 8, "{allocated} in {hops} hops: {discipline:?}");
    }
}

#[test]
fn twenty_flows_that_overflow_a_queue_allocate_nothing() {
    // Twenty full windows exceed half the usual bottleneck.
    let mut config = dumbbell(20, "newreno", Time::ZERO);
    config.links[0].rate_bps = 100_000_000;
    config.links[0].queue = QueueLimit::Packets(200);
    first_bursts_largest(&mut config);
    let mut seen = config.clone();
    seen.duration = Time::from_secs(20);
    assert!(common::run(seen).links[0].drops_queue > 100, "the queue never overflowed");
    assert_none(config, 60, 120);
}

#[test]
fn a_saturated_cell_allocates_nothing() {
    for rts in [RtsThreshold::Never, RtsThreshold::Always] {
        let mut radio = line(Phy::G, 250, &[0, 10, -20, 30, -40, 50]);
        radio.rts = rts;
        radio.errors = FrameErrors::Model(drops(0.02).unwrap());
        radio.hops = Hops::Star { centre: 0 };
        let source = cbr(1472, 1000, Time::from_secs(60));
        let flows = [1, 2, 3, 4, 5].map(|i| ([i, 0], source));
        assert_none(over(radio, &flows, Time::ZERO), 5, 60);
    }
}

/// A ring doubles when its link gets a burst that is larger than all before. So that the first bursts are the
/// largest, each flow starts alone with a full window of 60 segments. Each segment is acknowledged.
fn first_bursts_largest(config: &mut Config) {
    for (i, flow) in config.flows.iter_mut().enumerate() {
        let stack = &mut flow.profile_mut().stack;
        stack.receive_buffer = 60 * 1448;
        stack.initial_window = InitialWindow::Segments(60);
        stack.delayed_ack_segments = 1;
        flow.start = Time::from_millis(500 * i as u64);
    }
}
