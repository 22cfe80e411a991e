//! Calibration on this machine. Counts must be exact. The bounds on times are wide, as the machine may be
//! busy.

use windlass_cc::Span;
use windlass_interop::calibrate::{self, Effort, Measured, Options, Point, Quantity, Row};
use windlass_sim::link::QueueLimit;
use windlass_sim::loss::LossModel;
use windlass_skip::skip;
use windlass_testbed::live::{self, Bound};

const EFFORT: Effort = Effort { delays: 40, losses: 150, busy: Span::from_secs(1) };

/// True if the live testbed can run here. Otherwise prints the reason.
fn is_live() -> bool {
    live::check().map_err(skip).is_ok()
}

/// Measures a point, without an upper bound on lateness.
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
fn losses_equal_the_draws_of_the_error_model() {
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
fn burst_fills_exactly_the_places_of_the_queue() {
    if !is_live() {
        return;
    }
    for (queue, passes) in [(QueueLimit::Packets(7), 8.0), (QueueLimit::Bytes(4_999), 4.0)] {
        // 1500 bytes take 60 ms; a burst is faster even on the busiest machine.
        let measured = measured(point(200_000, queue));
        assert!(measured.invalid.is_empty(), "{:?}", measured.invalid);
        let passed = row(&measured, Quantity::BurstPassed);
        assert_eq!((passed.asked, passed.delivered), (passes, passes), "{queue:?}");
    }
}

#[test]
fn no_datagram_is_early_and_the_rate_is_as_requested() {
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
fn busy_machine_is_distinguished_from_a_wrong_link() {
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
