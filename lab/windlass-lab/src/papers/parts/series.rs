//! Time series of traced runs as points of charts.

use crate::report::model::ChartPoint;
use windlass_cc::Time;

pub(crate) fn seconds(t: Time) -> f64 {
    t.as_nanos() as f64 / 1e9
}

/// Mean rate of a growing count in steps of `step` seconds, and a zero after the last step.
pub(crate) fn rates(count: &[ChartPoint], step: f64) -> Vec<ChartPoint> {
    let Some(last) = count.last() else { return Vec::new() };
    let bins = (last.x / step).floor() as usize + 1;
    let mut ends = vec![0.0; bins];
    for p in count {
        ends[((p.x / step).floor() as usize).min(bins - 1)] = p.y;
    }
    let mut before = 0.0f64;
    let mut points = Vec::with_capacity(bins + 1);
    for (i, end) in ends.iter().enumerate() {
        let end = end.max(before);
        let y = (end - before) / step;
        points.push(ChartPoint { x: i as f64 * step, y, ..ChartPoint::default() });
        before = end;
    }
    points.push(ChartPoint { x: bins as f64 * step, y: 0.0, ..ChartPoint::default() });
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_differences_of_the_count_and_end_in_zero() {
        let at = |x: f64, y: f64| ChartPoint { x, y, ..ChartPoint::default() };
        let rates = rates(&[at(0.5, 100.0), at(0.9, 300.0), at(2.5, 400.0)], 1.0);
        let pairs: Vec<(f64, f64)> = rates.iter().map(|p| (p.x, p.y)).collect();
        assert_eq!(pairs, [(0.0, 300.0), (1.0, 0.0), (2.0, 100.0), (3.0, 0.0)]);
    }
}
