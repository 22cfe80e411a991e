//! Charts over time for several runs: the median of each curve, and the range of all runs as a band.

use crate::report::model::{Chart, ChartPoint, ChartSeries, Mark};

/// Number of points of each curve.
const MOMENTS: usize = 400;

/// A chart for each chart and curve that all runs have. `runs` has a list of charts per run.
pub(super) fn bands(runs: &[Vec<Chart>], end: f64) -> Vec<Chart> {
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    let of_chart = |chart: &Chart| {
        let others: Option<Vec<&Chart>> =
            others.iter().map(|charts| charts.iter().find(|c| c.id == chart.id)).collect();
        let others = others?;
        let of_series = |series: &ChartSeries| {
            let same = others.iter().map(|c| c.series.iter().find(|s| s.name == series.name));
            let curves: Option<Vec<&ChartSeries>> =
                std::iter::once(Some(series)).chain(same).collect();
            Some(band(&series.name, &curves?, end))
        };
        let series: Vec<ChartSeries> = chart.series.iter().filter_map(of_series).collect();
        (!series.is_empty()).then(|| Chart {
            id: format!("{}-of-all", chart.id),
            series,
            ..Chart::clone(chart)
        })
    };
    first.iter().filter_map(of_chart).collect()
}

/// Minimum, median and maximum of step functions, for the time in which all of them have a value.
fn band(name: &str, curves: &[&ChartSeries], end: f64) -> ChartSeries {
    let mut places = vec![0; curves.len()];
    let at = |moment: usize| {
        let x = end * moment as f64 / MOMENTS as f64;
        let mut values: Vec<f64> = (curves.iter().zip(&mut places))
            .map(|(curve, place)| {
                let points = &curve.points;
                *place += points[*place..].iter().take_while(|p| p.x <= x).count();
                (*place > 0 && *place < points.len()).then(|| points[*place - 1].y)
            })
            .collect::<Option<_>>()?;
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let y = f64::midpoint(values[(n - 1) / 2], values[n / 2]);
        Some(ChartPoint {
            x,
            y,
            lo: Some(values[0]),
            hi: Some(values[n - 1]),
            ..ChartPoint::default()
        })
    };
    let points = (0..=MOMENTS).filter_map(at).collect();
    ChartSeries { name: name.to_owned(), mark: Mark::Band, points }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(values: &[(f64, f64)]) -> ChartSeries {
        let point = |&(x, y): &(f64, f64)| ChartPoint { x, y, ..ChartPoint::default() };
        ChartSeries {
            name: "cwnd".into(),
            mark: Mark::Step,
            points: values.iter().map(point).collect(),
        }
    }

    #[test]
    fn a_band_is_the_range_of_step_functions_and_ends_with_the_shortest() {
        let a = curve(&[(0.0, 1.0), (1.0, 5.0), (4.0, 5.0)]);
        let b = curve(&[(0.5, 2.0), (3.0, 2.0)]);
        let c = curve(&[(0.0, 9.0), (4.0, 9.0)]);
        let band = band("cwnd", &[&a, &b, &c], 4.0);
        let at = |x: f64| {
            let p = band.points.iter().find(|p| p.x == x)?;
            Some((p.lo?, p.y, p.hi?))
        };
        assert_eq!(at(0.25), None, "one has no value yet");
        assert_eq!(at(0.5), Some((1.0, 2.0, 9.0)));
        assert_eq!(at(2.0), Some((2.0, 5.0, 9.0)));
        assert_eq!(at(3.5), None, "one has ended");
    }
}
