//! Specification curves as SVG: the estimates of many interpretations in order, and below them the answers of
//! each interpretation (U. Simonsohn, J. P. Simmons and L. D. Nelson, Nature Human Behaviour 4, 2020).

use std::fmt::Write;

use super::ladder::escape;
use super::model::{Curve, CurvePoint, Tone};
use super::numbers::number;

/// Explanation of the symbols in the caption, in whole sentences.
pub(super) const KEY: &str = "Each column is one interpretation with the measured value and its 95 % interval, in ascending order: filled \
    if the claim is reproduced, hollow if it is contradicted, grey if it is undecided or only its direction \
    holds. The shaded band is the published value with its tolerance. The dots below show the answers of the interpretation; \
    the headline's column is outlined.";

const WIDTH: f64 = 960.0;
/// Left edge of the columns, and height of the panel of estimates.
const LEFT: f64 = 250.0;
const PANEL: f64 = 170.0;
const TOP: f64 = 12.0;
const ROW: f64 = 15.0;

// Writing to a `String` cannot fail, so results of `write!` are dropped below.

/// The SVG element, safe to embed into a page and complete as a separate file.
pub(super) fn draw(curve: &Curve) -> String {
    let rows: usize = curve.axes.iter().map(|(_, answers)| answers.len()).sum();
    let height = TOP + PANEL + 14.0 + ROW * rows as f64 + 6.0 * curve.axes.len() as f64;
    let label = escape(&format!(
        "Specification curve of {} interpretations. The table below has their data.",
        curve.points.len()
    ));
    let mut svg = String::new();
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ladder-drawing\" role=\"img\" aria-label=\"{label}\" \
         width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" font-size=\"10\" \
         font-family=\"'DejaVu Sans', Helvetica, Arial, sans-serif\" fill=\"currentColor\">"
    );
    let points = ordered(curve);
    let frame = Frame::of(curve, points.len());
    estimates(&mut svg, curve, &points, &frame);
    matrix(&mut svg, curve, &points, &frame, height);
    svg.push_str("</svg>");
    svg
}

/// The points in ascending order of their estimates.
pub(super) fn ordered(curve: &Curve) -> Vec<&CurvePoint> {
    let mut points: Vec<&CurvePoint> = curve.points.iter().collect();
    points.sort_by(|a, b| a.value.total_cmp(&b.value));
    points
}

/// Converts values and columns to the drawing's units.
struct Frame {
    low: f64,
    high: f64,
    column: f64,
}

impl Frame {
    fn of(curve: &Curve, columns: usize) -> Frame {
        let ends = curve.points.iter().flat_map(|p| [Some(p.value), p.low, p.high]);
        let all = ends.chain(curve.band.iter().flat_map(|b| b.map(Some))).flatten();
        let (low, high) =
            all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let margin = if high > low { (high - low) * 0.05 } else { low.abs().max(1.0) * 0.1 };
        let column = ((WIDTH - LEFT - 8.0) / columns.max(1) as f64).min(26.0);
        Frame { low: low - margin, high: high + margin, column }
    }

    fn x(&self, column: usize) -> f64 {
        LEFT + self.column * (column as f64 + 0.5)
    }

    fn y(&self, value: f64) -> f64 {
        TOP + PANEL * (1.0 - (value - self.low) / (self.high - self.low))
    }
}

fn estimates(svg: &mut String, curve: &Curve, points: &[&CurvePoint], frame: &Frame) {
    let right = frame.x(points.len()) - frame.column / 2.0;
    if let Some([low, high]) = curve.band {
        let (top, bottom) = (frame.y(high), frame.y(low));
        let tall = (bottom - top).max(1.5);
        let _ = write!(
            svg,
            "<rect x=\"{LEFT}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{tall:.1}\" \
             style=\"fill:var(--near, #0b4f8a)\" opacity=\"0.22\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">the paper</text>",
            right - LEFT,
            LEFT - 6.0,
            (top + bottom) / 2.0 + 3.5
        );
    }
    for value in [frame.low, frame.high] {
        let y = frame.y(value);
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right:.1}\" y2=\"{y:.1}\" stroke=\"currentColor\" opacity=\"0.3\"/>",
            LEFT - 6.0,
            y + 3.5,
            tick(value, frame)
        );
    }
    let middle = TOP + PANEL / 2.0;
    let _ = write!(
        svg,
        "<text x=\"14\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {middle})\">{}</text>",
        escape(&curve.value)
    );
    for (column, point) in points.iter().enumerate() {
        estimate(svg, point, frame.x(column), frame);
    }
}

/// A value on the axis with a suitable number of digits for its range.
fn tick(value: f64, frame: &Frame) -> String {
    let step = libm::exp10(libm::log10(frame.high - frame.low).floor() - 1.0);
    number((value / step).round() * step)
}

fn estimate(svg: &mut String, point: &CurvePoint, x: f64, frame: &Frame) {
    if let Some((low, high)) = point.low.zip(point.high) {
        let (from, to) = (frame.y(high), frame.y(low));
        let _ = write!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{from:.1}\" x2=\"{x:.1}\" y2=\"{to:.1}\" stroke=\"currentColor\" \
             opacity=\"0.6\"/>"
        );
    }
    let (fill, ring) = match point.badge.tone {
        Tone::Good => ("var(--good, #00664a)", "var(--good, #00664a)"),
        Tone::Bad => ("none", "var(--bad, #a33a00)"),
        Tone::Near | Tone::None => ("#999999", "#777777"),
    };
    let _ = write!(
        svg,
        "<circle cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3.4\" style=\"fill:{fill};stroke:{ring};stroke-width:1.6\">\
         <title>{} {}: {}</title></circle>",
        frame.y(point.value),
        point.badge.sign,
        point.badge.name,
        number(point.value)
    );
}

fn matrix(svg: &mut String, curve: &Curve, points: &[&CurvePoint], frame: &Frame, height: f64) {
    if let Some(column) = points.iter().position(|p| p.headline) {
        let _ = write!(
            svg,
            "<rect x=\"{:.1}\" y=\"{TOP}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"none\" stroke=\"currentColor\" \
             stroke-dasharray=\"3 2\"/>",
            frame.x(column) - frame.column / 2.0,
            frame.column,
            height - TOP - 2.0
        );
    }
    let mut y = TOP + PANEL + 14.0;
    for (axis, (name, answers)) in curve.axes.iter().enumerate() {
        let _ = write!(
            svg,
            "<text x=\"4\" y=\"{:.1}\" font-weight=\"bold\">{}</text>",
            y + 11.0,
            escape(name)
        );
        for (place, answer) in answers.iter().enumerate() {
            let _ = write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 6.0,
                y + 11.0,
                escape(answer)
            );
            for (column, point) in points.iter().enumerate() {
                let chosen = point.choice.get(axis) == Some(&place);
                let (radius, strength) = if chosen { (3.2, 1.0) } else { (1.2, 0.3) };
                let _ = write!(
                    svg,
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\" opacity=\"{strength}\"/>",
                    frame.x(column),
                    y + 7.5
                );
            }
            y += ROW;
        }
        y += 6.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Badge;

    fn point(value: f64, choice: usize, headline: bool) -> CurvePoint {
        let badge = Badge { tone: Tone::Bad, sign: "✗", name: "contradicted", meaning: "" };
        CurvePoint { value, low: None, high: None, badge, choice: vec![choice], headline }
    }

    #[test]
    fn estimates_are_in_order_inside_the_panel_with_one_dot_per_answer() {
        let curve = Curve {
            points: vec![point(3.0, 0, true), point(1.0, 1, false), point(2.0, 1, false)],
            axes: vec![("X-1".into(), vec!["a".into(), "b".into()])],
            band: Some([2.5, 3.5]),
            ..Curve::default()
        };
        let values: Vec<f64> = ordered(&curve).iter().map(|p| p.value).collect();
        assert_eq!(values, [1.0, 2.0, 3.0]);
        let frame = Frame::of(&curve, 3);
        assert!([1.0, 3.5].map(|v| frame.y(v)).iter().all(|y| (TOP..=TOP + PANEL).contains(y)));
        let svg = draw(&curve);
        assert_eq!(svg.matches("r=\"3.2\" opacity=\"1\"").count(), 3);
        assert_eq!(svg.matches("stroke-dasharray=\"3 2\"").count(), 1);
    }

    #[test]
    fn one_value_alone_has_a_scale_around_it() {
        let curve = Curve { points: vec![point(0.0, 0, true)], ..Curve::default() };
        let frame = Frame::of(&curve, 1);
        assert!(frame.low < 0.0 && frame.high > 0.0 && frame.y(0.0).is_finite());
    }
}
