//! Calibration on this machine. Counts have to be exact; times are asserted loosely, as the machine may
//! be busy.

use windlass_cc::Span;
use windlass_interop::calibrate::{self, Effort, Measured, Options, Point, Quantity, Row};
use windlass_sim::link::QueueLimit;
use windlass_sim::loss::LossModel;
use windlass_skip::skip;
use windlass_testbed::live::{self, Bound};

const EFFORT: Effort = Effort { delays: 40, losses: 150, busy: Span::from_secs(1) };

/// Whether the live testbed can run here; says so where it cannot.
fn is_live() -> bool {
    live::check().map_err(skip).is_ok()
}

/// A point measured on a machine that is never too busy.
fn measured(point: Point) -> Measured {
    let mut options = Options::live(EFFORT);
    options.live.bound = None;
    let calibration = calibrate::run(&[point], &options, &mut |_| {}).unwrap();
    calibration.points.into_iter().next().unwrap()
}

fn point(rate_bps: u64, queue: QueueLimit) -> Point {
    let loss = LossModel::Drop { probability: 0.1 };
    Point { rate_bps, delay: Span::from_millis(10), loss, queue }
}

fn row(measured: &Measured, quantity: Quantity) -> Row {
    *measured.rows.iter().find(|row| row.quantity == quantity).unwrap()
}

#[test]
fn losses_are_those_that_the_error_model_draws() {
    if !is_live() {
        return;
    }
    let measured = measured(point(5_000_000, QueueLimit::Unlimited));
    let lost = row(&measured, Quantity::Lost);
    assert!(lost.is_ok() && (1.0..75.0).contains(&lost.delivered), "{lost:?}");
    for exact in [Quantity::LostDifferently, Quantity::LostBeside, Quantity::OutOfOrder] {
        assert_eq!(row(&measured, exact).delivered, 0.0, "{exact:?}");
    }
}

#[test]
fn a_burst_fills_the_queue_to_the_last_place_and_no_further() {
    if !is_live() {
        return;
    }
    for (queue, passes) in [(QueueLimit::Packets(7), 8.0), (QueueLimit::Bytes(4_999), 4.0)] {
        // 1500 bytes take 60 ms: a burst takes less on the busiest machine.
        let measured = measured(point(200_000, queue));
        assert!(measured.invalid.is_empty(), "{:?}", measured.invalid);
        let passed = row(&measured, Quantity::BurstPassed);
        assert_eq!((passed.asked, passed.delivered), (passes, passes), "{queue:?}");
    }
}

#[test]
fn nothing_comes_early_and_the_rate_is_what_was_asked() {
    if !is_live() {
        return;
    }
    let measured = measured(point(10_000_000, QueueLimit::Unlimited));
    let least = row(&measured, Quantity::OneWayMin);
    assert_eq!(least.asked, 10_200_000.0);
    assert!((0.0..5e6).contains(&least.error()), "{least:?}");
    let rate = row(&measured, Quantity::Rate);
    assert!(rate.error().abs() < 0.1 * rate.asked, "{rate:?}");
}

#[test]
fn a_machine_too_busy_is_told_from_a_link_that_is_wrong() {
    if !is_live() {
        return;
    }
    let mut options = Options::live(EFFORT);
    options.live.attempts = 2;
    options.live.bound = Some(Bound { p99: Span::ZERO, max: Span::ZERO });
    let points = [point(10_000_000, QueueLimit::Unlimited)];
    let calibration = calibrate::run(&points, &options, &mut |_| {}).unwrap();
    let [measured] = &calibration.points[..] else { panic!("one point") };
    assert_eq!((measured.invalid.len(), measured.runs), (3, 6), "three probes, two runs each");
    assert!(measured.invalid[0].contains("too late in each of 2 runs"), "{:?}", measured.invalid);
    assert!(!calibration.is_ok());
}
