//! Charts as Vega-Lite specifications.
//!
//! The data of a chart is embedded once, as CSV text. The page draws it and offers it for download. Every series is a
//! separate layer. An empty layer has the legend, which shows each series exactly as drawn (line, dash, filled symbol,
//! hollow diamond).

use serde_json::{Value, json};

use super::chart_axes::{
    config, decade_below, number_format, positions, values, x_encoding, y_encoding,
};
use super::drawn::{Drawn, dotted};
use super::model::{Chart, ChartSeries, Mark, Scale};
use super::palette::{INK, Palette};

/// Maximum number of points of a series that are announced one by one to screen readers.
const ANNOUNCED: usize = 200;

/// True if any point of a chart has an interval.
fn any_interval(drawn: &[Drawn<'_>]) -> bool {
    drawn.iter().any(Drawn::has_interval)
}

/// True if any point of a chart has an interval of its position.
fn any_interval_across(drawn: &[Drawn<'_>]) -> bool {
    drawn.iter().any(Drawn::has_interval_across)
}

/// The data as CSV with the columns `series`, `x` and `y`. Intervals add `lo` and `hi`, or `x_lo` and `x_hi`.
pub(super) fn csv(chart: &Chart, drawn: &[Drawn<'_>]) -> String {
    let (intervals, across) = (any_interval(drawn), any_interval_across(drawn));
    let mut out = String::from("series,x,y");
    out.push_str(if intervals { ",lo,hi" } else { "" });
    out.push_str(if across { ",x_lo,x_hi\n" } else { "\n" });
    let number = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
    for d in drawn {
        let name = csv_field(&d.series.name);
        for p in &d.points {
            let x = match (&chart.x.scale, &p.category) {
                (Scale::Category, Some(category)) => csv_field(category),
                _ => p.x.to_string(),
            };
            out.push_str(&format!("{name},{x},{}", p.y));
            if intervals {
                out.push_str(&format!(",{},{}", number(p.lo), number(p.hi)));
            }
            if across {
                out.push_str(&format!(",{},{}", number(p.x_lo), number(p.x_hi)));
            }
            out.push('\n');
        }
    }
    out
}

/// The first line of the downloaded CSV, with the axes' labels.
pub(super) fn csv_header(chart: &Chart, drawn: &[Drawn<'_>]) -> String {
    let banded = drawn.iter().any(|d| d.series.mark == Mark::Band);
    let [low, high] =
        if banded { ["lowest", "highest"] } else { ["95 % interval low", "95 % interval high"] };
    let names = ["series", &chart.x.label, &chart.y.label, low, high];
    let columns = if any_interval(drawn) { 5 } else { 3 };
    let mut header = names.map(csv_field)[..columns].join(",");
    if any_interval_across(drawn) {
        let ends = ["low", "high"].map(|end| format!("{}: 95 % interval {end}", chart.x.label));
        ends.iter().for_each(|name| header.push_str(&format!(",{}", csv_field(name))));
    }
    header
}

/// A CSV field, quoted if RFC 4180 requires it.
pub(super) fn csv_field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// The Vega-Lite specification of a chart. Its `usermeta` has the header of the CSV, and the series whose values the
/// page's script shows at the pointer. `more` makes further layers from the encoding of the horizontal position.
pub(super) fn spec_with(
    chart: &Chart,
    drawn: &[Drawn<'_>],
    palette: &Palette,
    more: impl FnOnce(&Value) -> Vec<Value>,
) -> Value {
    let x_type = if chart.x.scale == Scale::Category { "string" } else { "number" };
    let mut layers = vec![legend_layer(drawn, palette)];
    let frame = Frame::of(chart, drawn);
    for (at, d) in drawn.iter().enumerate() {
        layers.extend(series_layers(&frame, at, d, palette));
    }
    if chart.zoom
        && let Some(first) = layers.get_mut(1)
    {
        first["params"] = json!([{
            "name": "zoom",
            "select": {"type": "interval", "encodings": frame.zoomed()},
            "bind": "scales",
        }]);
    }
    layers.extend(more(&frame.x));
    let mut parse = json!({
        "series": "string", "x": x_type, "y": "number", "lo": "number", "hi": "number",
    });
    if any_interval_across(drawn) {
        parse["x_lo"] = json!("number");
        parse["x_hi"] = json!("number");
    }
    json!({
        "description": chart.caption,
        "width": "container",
        "height": 300,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {
            "values": csv(chart, drawn),
            "format": {"type": "csv", "parse": parse},
        },
        "layer": layers,
        "config": config(),
        "usermeta": {
            "csvHeader": csv_header(chart, drawn),
            "readout": readout(chart, drawn),
            "xLabel": chart.x.label,
        },
    })
}

/// Curves whose values the page shows at the pointer.
fn readout(chart: &Chart, drawn: &[Drawn<'_>]) -> Vec<Value> {
    if chart.x.scale == Scale::Category || dotted(drawn) {
        return Vec::new();
    }
    let curves = drawn.iter().filter(|d| d.is_curve());
    curves.map(|d| json!({"name": d.series.name, "step": d.series.mark != Mark::Line})).collect()
}

/// Common properties of the layers of one chart.
struct Frame<'a> {
    chart: &'a Chart,
    /// Names of the positions within a category.
    slots: Vec<String>,
    /// Position of each series; `None` for the middle of the category.
    slot_of: Vec<Option<usize>>,
    x: Value,
    y: Value,
    tooltip: Value,
    /// Value at which bars begin; `None` for zero.
    foot: Option<f64>,
    /// True if lines show their points.
    dotted: bool,
}

impl<'a> Frame<'a> {
    fn of(chart: &'a Chart, drawn: &[Drawn<'_>]) -> Frame<'a> {
        let slot_of = slots(chart);
        let used = slot_of.iter().flatten().max().map_or(0, |&last| last + 1);
        let tooltip = json!([
            {"field": "series", "type": "nominal", "title": "Series"},
            x_tooltip(chart, drawn),
            {"field": "y", "type": "quantitative", "title": chart.y.label,
             "format": number_format(values(drawn))},
        ]);
        Frame {
            chart,
            slots: (0..used).map(|n| n.to_string()).collect(),
            slot_of,
            x: x_encoding(chart, drawn),
            y: y_encoding(chart, drawn),
            tooltip,
            foot: (chart.y.scale == Scale::Log).then(|| decade_below(values(drawn))),
            dotted: dotted(drawn),
        }
    }

    fn zoomed(&self) -> Value {
        match self.chart.x.scale {
            Scale::Category => json!(["y"]),
            Scale::Linear | Scale::Log => json!(["x", "y"]),
        }
    }

    /// Position channels of a layer of series `at`.
    fn position(&self, at: usize) -> Value {
        let mut encoding = json!({"x": self.x, "y": self.y});
        if let Some(slot) = self.slot_of[at]
            && self.slots.len() > 1
        {
            encoding["xOffset"] = json!({
                "datum": self.slots[slot], "type": "nominal",
                "scale": {"type": "band", "domain": self.slots, "paddingInner": 0.15},
                "bandPosition": 0.5,
            });
        }
        encoding
    }
}

/// The position of each series within a category. Curves and bounds are in the middle, and so is a single series of a
/// paper's values. If there are as many series of papers as other series, they share positions in pairs, in order.
/// Otherwise every series has a separate position.
fn slots(chart: &Chart) -> Vec<Option<usize>> {
    let is_paper = |s: &ChartSeries| s.mark == Mark::Paper;
    let in_the_middle = |s: &ChartSeries| s.mark.is_curve() || matches!(s.mark, Mark::Bound(_));
    if chart.x.scale != Scale::Category {
        return vec![None; chart.series.len()];
    }
    let papers = chart.series.iter().filter(|s| is_paper(s)).count();
    let ours = chart.series.iter().filter(|s| !is_paper(s) && !in_the_middle(s)).count();
    let (mut next, mut next_paper) = (0, if papers == ours { 0 } else { ours });
    let mut place = |series| {
        if in_the_middle(series) || (is_paper(series) && papers == 1) {
            return None;
        }
        let counter = if is_paper(series) { &mut next_paper } else { &mut next };
        *counter += 1;
        Some(*counter - 1)
    };
    chart.series.iter().map(&mut place).collect()
}

fn x_tooltip(chart: &Chart, drawn: &[Drawn<'_>]) -> Value {
    match chart.x.scale {
        Scale::Category => json!({"field": "x", "type": "nominal", "title": chart.x.label}),
        _ => json!({
            "field": "x", "type": "quantitative", "title": chart.x.label,
            "format": number_format(positions(drawn)),
        }),
    }
}

/// An empty layer whose scales make the legend.
fn legend_layer(drawn: &[Drawn<'_>], palette: &Palette) -> Value {
    let styles: Vec<_> = drawn.iter().map(|d| (d, palette.style(d.series))).collect();
    let names: Vec<&str> = drawn.iter().map(|d| d.series.name.as_str()).collect();
    let shape = |d: &Drawn<'_>, shape| match d.series.mark {
        Mark::Line | Mark::Step | Mark::Band => "stroke",
        Mark::Bars => "square",
        Mark::Points | Mark::Paper | Mark::Bound(_) => shape,
    };
    let fill = |d: &Drawn<'_>, colour| match d.series.mark {
        Mark::Points | Mark::Bars => colour,
        _ => "transparent",
    };
    let dash = |d: &Drawn<'_>, dash| if d.is_curve() { json!(dash) } else { json!([]) };
    let channel = |range: Value| {
        json!({
            "field": "series", "type": "nominal", "title": null,
            "scale": {"domain": names, "range": range},
        })
    };
    json!({
        "transform": [{"filter": "false"}],
        "mark": {"type": "point", "aria": false},
        "encoding": {
            "shape": channel(styles.iter().map(|(d, s)| shape(d, s.shape)).collect()),
            "stroke": channel(styles.iter().map(|(_, s)| s.colour).collect()),
            "fill": channel(styles.iter().map(|(d, s)| fill(d, s.colour)).collect()),
            "strokeDash": channel(styles.iter().map(|(d, s)| dash(d, s.dash)).collect()),
        },
    })
}

fn series_layers(frame: &Frame<'_>, at: usize, d: &Drawn<'_>, palette: &Palette) -> Vec<Value> {
    let style = palette.style(d.series);
    let announced = d.points.len() <= ANNOUNCED;
    let only = json!({"field": "series", "equal": d.series.name});
    // Symbols may overlap the frame, but a zoomed chart clips symbols outside it.
    let clip = frame.chart.zoom;
    let layer = |mark: Value, tooltip: bool| {
        let mut encoding = frame.position(at);
        if tooltip {
            encoding["tooltip"] = tooltip_of(frame, d);
        }
        if d.series.mark == Mark::Bars
            && let Some(foot) = frame.foot
        {
            encoding["y2"] = json!({"datum": foot});
        }
        json!({"transform": transforms(&only, frame, d), "mark": mark, "encoding": encoding})
    };
    let curve = |interpolate: &str| {
        json!({
            "type": "line", "clip": true, "interpolate": interpolate, "color": style.colour,
            "strokeDash": style.dash, "strokeWidth": 1.6, "strokeJoin": "round",
        })
    };
    let symbols = |size: f64, filled: bool| {
        json!({
            "type": "point", "clip": clip, "shape": style.shape, "size": size, "filled": filled,
            "color": style.colour, "opacity": 1, "strokeWidth": 1.8, "aria": announced,
        })
    };
    let mut layers = match d.series.mark {
        Mark::Line => vec![layer(curve("linear"), false)],
        Mark::Step => vec![layer(curve("step-after"), false)],
        Mark::Band => {
            let mut area = layer(
                json!({
                    "type": "area", "clip": true, "interpolate": "step-after", "color": style.colour,
                    "opacity": 0.22, "line": false, "aria": false,
                }),
                false,
            );
            between_low_and_high(&mut area["encoding"]);
            vec![area, layer(curve("step-after"), false)]
        }
        Mark::Points => vec![layer(symbols(60.0, true), true)],
        Mark::Paper => vec![layer(symbols(110.0, false), true)],
        Mark::Bound(_) => vec![layer(symbols(500.0, false), true)],
        Mark::Bars => vec![layer(bars(frame, style.colour), true)],
    };
    if d.is_curve() && frame.dotted {
        layers.push(layer(symbols(30.0, true), true));
    }
    if d.has_interval() && d.series.mark != Mark::Band {
        layers.extend(whiskers(frame, at, d, whisker_colour(d, style.colour)));
    }
    if d.has_interval_across() {
        layers.push(whisker_across(&only, frame, at, style.colour));
    }
    layers
}

/// The interval of a position, without caps, because the interval of the value has caps.
fn whisker_across(only: &Value, frame: &Frame<'_>, at: usize, colour: &str) -> Value {
    let mut encoding = frame.position(at);
    encoding["x"]["field"] = json!("x_lo");
    encoding["x2"] = json!({"field": "x_hi"});
    json!({
        "transform": [{"filter": only}, {"filter": "isValid(datum.x_lo) && isValid(datum.x_hi)"}],
        "mark": {
            "type": "rule", "clip": true, "color": colour, "strokeWidth": 1.4, "aria": false,
        },
        "encoding": encoding,
    })
}

fn bars(frame: &Frame<'_>, colour: &str) -> Value {
    let width = match frame.chart.x.scale {
        Scale::Category => json!({"band": 1}),
        Scale::Linear | Scale::Log => json!(8),
    };
    json!({"type": "bar", "clip": true, "color": colour, "opacity": 0.75, "width": width})
}

/// The colour of a whisker. On a bar it is ink, which is visible on and above the bar.
fn whisker_colour(d: &Drawn<'_>, colour: &'static str) -> &'static str {
    if d.series.mark == Mark::Bars { INK } else { colour }
}

fn tooltip_of(frame: &Frame<'_>, d: &Drawn<'_>) -> Value {
    let mut tooltip = frame.tooltip.clone();
    if d.has_interval()
        && let Some(lines) = tooltip.as_array_mut()
    {
        let title = if d.series.mark == Mark::Band { "lowest to highest" } else { "95 % interval" };
        lines.push(json!({"field": "interval", "type": "nominal", "title": title}));
    }
    tooltip
}

/// Picks the rows of one series, and adds the interval as text. For the whiskers, a lower end that a logarithmic axis
/// cannot show is replaced by the lowest positive value.
fn transforms(only: &Value, frame: &Frame<'_>, d: &Drawn<'_>) -> Value {
    if !d.has_interval() {
        return json!([{"filter": only}]);
    }
    let all = || d.points.iter().flat_map(|p| [Some(p.y), p.lo, p.hi]).flatten();
    let format = number_format(all());
    let text = format!(
        "isValid(datum.lo) && isValid(datum.hi) \
         ? format(datum.lo, '{format}') + ' to ' + format(datum.hi, '{format}') : 'none'"
    );
    let floor = all().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
    let low = if frame.chart.y.scale == Scale::Log && floor.is_finite() {
        format!("datum.lo > 0 ? datum.lo : {floor}")
    } else {
        "datum.lo".to_owned()
    };
    json!([
        {"filter": only},
        {"calculate": text, "as": "interval"},
        {"calculate": low, "as": "low"},
    ])
}

/// The range from the lower to the upper end of the interval.
fn between_low_and_high(encoding: &mut Value) {
    encoding["y"]["field"] = json!("low");
    encoding["y2"] = json!({"field": "hi"});
}

fn whiskers(frame: &Frame<'_>, at: usize, d: &Drawn<'_>, colour: &str) -> Vec<Value> {
    let mut pick = transforms(&json!({"field": "series", "equal": d.series.name}), frame, d);
    if let Some(steps) = pick.as_array_mut() {
        steps.push(json!({"filter": "isValid(datum.lo) && isValid(datum.hi)"}));
    }
    let at_field = |field: &str| {
        let mut encoding = frame.position(at);
        encoding["y"]["field"] = json!(field);
        encoding
    };
    let mut rule = frame.position(at);
    between_low_and_high(&mut rule);
    let stem = json!({
        "type": "rule", "clip": true, "color": colour, "strokeWidth": 1.4, "aria": false,
    });
    let cap = json!({
        "type": "point", "shape": "stroke", "clip": true, "size": 70, "color": colour,
        "strokeWidth": 1.4, "opacity": 1, "aria": false,
    });
    let layer =
        |mark: &Value, encoding| json!({"transform": pick, "mark": mark, "encoding": encoding});
    vec![layer(&stem, rule), layer(&cap, at_field("low")), layer(&cap, at_field("hi"))]
}

#[cfg(test)]
mod tests;
