//! Axes, scales and number formats of charts.

use serde_json::{Value, json};

use super::drawn::{Drawn, categories, dotted};
use super::model::{Chart, ChartAxis, Mark, Scale};
use super::palette::INK;

/// All values of a chart, including the ends of intervals.
pub(super) fn values<'a>(drawn: &'a [Drawn<'_>]) -> impl Iterator<Item = f64> + Clone + 'a {
    drawn.iter().flat_map(|d| &d.points).flat_map(|p| [Some(p.y), p.lo, p.hi]).flatten()
}

/// All positions on a numeric horizontal axis.
pub(super) fn positions<'a>(drawn: &'a [Drawn<'_>]) -> impl Iterator<Item = f64> + Clone + 'a {
    drawn.iter().flat_map(|d| &d.points).map(|p| p.x)
}

/// A d3 number format that shows these values in full; only small values are powers of ten.
pub(super) fn number_format(values: impl Iterator<Item = f64>) -> &'static str {
    let largest = values.map(f64::abs).fold(0.0, f64::max);
    if largest > 0.0 && largest < 1e-3 { ".4~e" } else { ",.7~r" }
}

/// Ticks of an axis. Small and large values on a logarithmic axis are powers of ten.
fn axis(channel: &str, axis: &ChartAxis, values: impl Iterator<Item = f64> + Clone) -> Value {
    let small = values.clone().map(f64::abs).filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
    let large = values.map(f64::abs).fold(0.0, f64::max);
    match axis.scale {
        Scale::Log => {
            let powers = small < 1e-3 || large >= 1e6;
            json!({"grid": true, "format": ",~r", "labelExpr": log_label(channel, powers)})
        }
        _ if large > 0.0 && large < 1e-3 => json!({
            "format": ".3~e", "grid": true, "labelExpr": "datum.value == 0 ? '0' : datum.label",
        }),
        _ => json!({"format": ",~r", "grid": true}),
    }
}

/// A Vega expression for the labels of a logarithmic axis. If more than one and a half decades are
/// in view, only decades have labels. If more than half a decade is in view, 2 and 5 have labels
/// too. Otherwise all ticks have labels.
fn log_label(channel: &str, powers: bool) -> String {
    const DIGITS: &str = "['⁰','¹','²','³','⁴','⁵','⁶','⁷','⁸','⁹']";
    let exponent = "floor(log(datum.value) / LN10 + 1e-9)";
    let leading = format!("round(datum.value / pow(10, {exponent}))");
    let decades = format!("(log(domain('{channel}')[1] / domain('{channel}')[0]) / LN10)");
    let digits = format!(
        "(abs({exponent}) >= 10 ? {DIGITS}[floor(abs({exponent}) / 10)] : '') \
         + {DIGITS}[abs({exponent}) % 10]"
    );
    let label = if powers {
        format!(
            "({leading} == 1 ? '' : {leading} + '·') \
             + '10' + ({exponent} < 0 ? '⁻' : '') + {digits}"
        )
    } else {
        "format(datum.value, ',~r')".to_owned()
    };
    format!(
        "{leading} == 1 || {decades} < 0.5 \
         || ({decades} < 1.5 && ({leading} == 2 || {leading} == 5)) ? {label} : ''"
    )
}

fn scale(scale: Scale, zero: bool) -> Value {
    match scale {
        Scale::Log => json!({"type": "log", "nice": true}),
        Scale::Linear | Scale::Category => json!({"type": "linear", "zero": zero, "nice": true}),
    }
}

/// The power of ten below all positive values. Bars on a logarithmic axis begin there, because they
/// cannot begin at zero.
pub(super) fn decade_below(values: impl Iterator<Item = f64>) -> f64 {
    let least = values.filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
    if least.is_finite() { libm::exp10((libm::log10(least) - 1e-9).floor()) } else { 1.0 }
}

/// The vertical scale begins at zero, unless all values are far above zero and close together.
fn y_scale(chart: &Chart, drawn: &[Drawn<'_>]) -> Value {
    let low = values(drawn).fold(f64::INFINITY, f64::min);
    let high = values(drawn).fold(f64::NEG_INFINITY, f64::max);
    let bars = drawn.iter().any(|d| d.series.mark == Mark::Bars);
    let zero = bars || low <= 0.0 || high - low > low / 2.0;
    let mut scale = scale(chart.y.scale, zero);
    if bars && chart.y.scale == Scale::Log {
        scale["domain"] = json!([decade_below(values(drawn)), high]);
    }
    scale
}

/// Space at both ends of the axis, so that symbols and bars there are not cut in half.
fn x_scale(chart: &Chart, drawn: &[Drawn<'_>]) -> Value {
    let mut scale = scale(chart.x.scale, false);
    if drawn.iter().any(|d| !d.is_curve()) || dotted(drawn) {
        scale["padding"] = json!(12);
        scale["nice"] = json!(false);
    }
    scale
}

/// The horizontal position of points.
pub(super) fn x_encoding(chart: &Chart, drawn: &[Drawn<'_>]) -> Value {
    if chart.x.scale != Scale::Category {
        return json!({
            "field": "x", "type": "quantitative", "title": chart.x.label,
            "scale": x_scale(chart, drawn),
            "axis": axis("x", &chart.x, positions(drawn)),
        });
    }
    let names = categories(chart);
    let letters: usize = names.iter().map(|name| name.chars().count() + 2).sum();
    let labels = if letters > 60 {
        json!({
            "labelAngle": -30, "labelAlign": "right", "labelLimit": 160, "labelOverlap": false,
            "grid": false,
        })
    } else {
        json!({"labelAngle": 0, "labelOverlap": false, "grid": false})
    };
    json!({
        "field": "x", "type": "nominal", "title": chart.x.label, "sort": null,
        "scale": {"type": "band", "domain": names, "paddingInner": 0.3, "paddingOuter": 0.15},
        "bandPosition": 0.5,
        "axis": labels,
    })
}

/// The vertical position of values.
pub(super) fn y_encoding(chart: &Chart, drawn: &[Drawn<'_>]) -> Value {
    json!({
        "field": "y", "type": "quantitative", "title": chart.y.label,
        "scale": y_scale(chart, drawn), "axis": axis("y", &chart.y, values(drawn)),
    })
}

/// Common style of all charts. All colours follow the page's ink, also in dark mode and in print.
pub(super) fn config() -> Value {
    let sans =
        "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif";
    json!({
        "background": "transparent",
        "font": sans,
        "view": {"stroke": null},
        "axis": {
            "labelColor": INK, "titleColor": INK, "tickColor": INK, "domainColor": INK,
            "gridColor": INK, "gridOpacity": 0.13, "labelFontSize": 11.5, "titleFontSize": 12.5,
            "titleFontWeight": "normal", "titlePadding": 8, "labelOverlap": "greedy",
            "labelSeparation": 6,
        },
        "axisY": {"minExtent": 44},
        "legend": {
            "orient": "top", "direction": "horizontal", "labelColor": INK, "labelFontSize": 12,
            "symbolSize": 130, "symbolOpacity": 1, "symbolStrokeWidth": 1.8, "columnPadding": 18, "offset": 10,
            "labelLimit": 0,
        },
    })
}
