//! Thinning of long series.

use super::model::ChartPoint;

/// Maximum number of points of one series in a chart: 500 groups of neighbours, about one group per
/// two pixels of the widest chart. The files of the series have all points.
pub(super) const LIMIT: usize = 2000;

/// The points of a series to draw. Up to `limit` points, all are drawn. Otherwise the points are
/// divided into `limit / 4` groups of neighbours, and the first, lowest, highest and last point of
/// each group are drawn. This keeps every extreme. On a plot narrower than `limit / 4` pixels, it
/// draws the same picture (U. Jugel et al., "M4: a visualization-oriented time series data
/// aggregation", VLDB 2014). Order is kept.
pub(super) fn thinned(points: Vec<&ChartPoint>, limit: usize) -> Vec<&ChartPoint> {
    if points.len() <= limit {
        return points;
    }
    let runs = (limit / 4).max(1);
    let mut kept = Vec::with_capacity(runs * 4);
    for run in 0..runs {
        let from = run * points.len() / runs;
        let to = (run + 1) * points.len() / runs;
        let bucket = &points[from..to];
        let Some(last) = bucket.len().checked_sub(1) else { continue };
        let by_value = |&a: &usize, &b: &usize| bucket[a].y.total_cmp(&bucket[b].y);
        let lowest = (0..=last).min_by(by_value).unwrap_or(0);
        let highest = (0..=last).max_by(by_value).unwrap_or(last);
        let mut picks = [0, lowest, highest, last];
        picks.sort_unstable();
        let mut previous = None;
        for pick in picks {
            if previous != Some(pick) {
                kept.push(bucket[pick]);
                previous = Some(pick);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn series(values: &[f64]) -> Vec<ChartPoint> {
        let point = |(at, &y)| ChartPoint { x: at as f64, y, ..ChartPoint::default() };
        values.iter().enumerate().map(point).collect()
    }

    #[test]
    fn a_short_series_is_drawn_whole() {
        let points = series(&[3.0, 1.0, 2.0]);
        assert_eq!(thinned(points.iter().collect(), 3).len(), 3);
    }

    #[test]
    fn a_lone_spike_among_many_points_survives() {
        let mut values = vec![10.0; 40_000];
        values[23_456] = 11.0;
        values[31_000] = -1.0;
        let points = series(&values);
        let kept = thinned(points.iter().collect(), LIMIT);
        assert!(kept.len() <= LIMIT);
        assert!(kept.iter().any(|p| p.x == 23_456.0 && p.y == 11.0));
        assert!(kept.iter().any(|p| p.x == 31_000.0 && p.y == -1.0));
    }

    proptest! {
        #[test]
        fn every_run_keeps_its_ends_and_extremes_in_order(
            values in prop::collection::vec(-1e6f64..1e6, 41..2000),
        ) {
            let points = series(&values);
            let kept = thinned(points.iter().collect(), 40);
            prop_assert!(kept.len() <= 40);
            prop_assert!(kept.windows(2).all(|w| w[0].x < w[1].x));
            for run in 0..10 {
                let range = run * values.len() / 10..(run + 1) * values.len() / 10;
                let bucket = &values[range.clone()];
                let here: Vec<f64> =
                    kept.iter().filter(|p| range.contains(&(p.x as usize))).map(|p| p.y).collect();
                let low = bucket.iter().copied().fold(f64::INFINITY, f64::min);
                let high = bucket.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                prop_assert!(here.contains(&low) && here.contains(&high));
                prop_assert_eq!(here.first(), bucket.first());
                prop_assert_eq!(here.last(), bucket.last());
            }
        }
    }
}
