//! Maps of stations as SVG.

use std::fmt::Write;

use super::ladder::escape;
use super::model::{NetworkMap, Place, Role};

/// Explanation of the symbols in the caption, in whole sentences.
pub(super) const KEY: &str = "Each station shows its value. Senders have a second ring, the base \
    station is square. The width of a line shows the number of routes over it.";

/// Side of the drawn area and its margin, in the drawing's units.
const SIDE: f64 = 640.0;
const MARGIN: f64 = 34.0;
/// Height of the colour scale below the drawing.
const SCALE: f64 = 46.0;
/// Maximum radius of a station.
const RADIUS: f64 = 17.0;
/// Colours from the smallest to the largest value, light to dark, so that they differ in grey too
/// (C. Brewer's YlGnBu).
const RAMP: [[f64; 3]; 4] =
    [[255.0, 255.0, 204.0], [127.0, 205.0, 187.0], [44.0, 127.0, 184.0], [8.0, 29.0, 88.0]];
/// Width of a line per route over it.
const ROUTE: f64 = 2.2;

// Writing to a `String` cannot fail, so results of `write!` are dropped below.

/// The SVG element, safe to embed into a page and complete as a separate file.
pub(super) fn draw(map: &NetworkMap) -> String {
    let frame = Frame::of(map);
    let height = SIDE + SCALE;
    let mut svg = String::new();
    let label = escape(&format!(
        "Map of {} stations and {} routes. The table below holds every station.",
        map.places.len(),
        map.routes.len()
    ));
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ladder-drawing\" role=\"img\" \
         aria-label=\"{label}\" width=\"{SIDE}\" height=\"{height}\" viewBox=\"0 0 {SIDE} {height}\" \
         font-size=\"10\" font-family=\"'DejaVu Sans', Helvetica, Arial, sans-serif\">"
    );
    routes(&mut svg, map, &frame);
    for place in &map.places {
        station(&mut svg, map, place, &frame);
    }
    scale(&mut svg, map, &frame);
    svg.push_str("</svg>");
    svg
}

/// Converts metres to the drawing's units, and values to colours.
struct Frame {
    west: f64,
    south: f64,
    /// Units per metre.
    unit: f64,
    radius: f64,
    /// Smallest and largest value, if any station has a value.
    range: Option<[f64; 2]>,
}

impl Frame {
    fn of(map: &NetworkMap) -> Frame {
        let ends = |axis: usize| {
            let all = map.places.iter().map(|p| p.at[axis]);
            (all.clone().fold(f64::INFINITY, f64::min), all.fold(f64::NEG_INFINITY, f64::max))
        };
        let ((west, east), (south, north)) = (ends(0), ends(1));
        let extent = (east - west).max(north - south).max(1.0);
        let unit = (SIDE - 2.0 * MARGIN) / extent;
        let values = map.places.iter().filter_map(|p| p.value);
        let range = values.fold(None, |range: Option<[f64; 2]>, v| {
            Some(range.map_or([v, v], |[low, high]| [low.min(v), high.max(v)]))
        });
        // The nearest neighbours do not touch, except for a base station between four of them.
        let across = (map.places.len() as f64).sqrt().ceil().max(2.0) - 1.0;
        let radius = RADIUS.min(0.36 * (SIDE - 2.0 * MARGIN) / across);
        Frame { west, south, unit, radius, range }
    }

    fn at(&self, place: &Place) -> (f64, f64) {
        let [x, y] = place.at;
        (MARGIN + (x - self.west) * self.unit, SIDE - MARGIN - (y - self.south) * self.unit)
    }

    /// Relative position of a value in the range, 0 to 1.
    fn share(&self, value: f64) -> f64 {
        match self.range {
            Some([low, high]) if high > low => (value - low) / (high - low),
            _ => 0.0,
        }
    }
}

/// The colour at a share of the range.
fn colour(share: f64) -> [f64; 3] {
    let last = RAMP.len() - 1;
    let along = share.clamp(0.0, 1.0) * last as f64;
    let from = (along.floor() as usize).min(last - 1);
    let part = along - from as f64;
    [0, 1, 2].map(|c| RAMP[from][c] + part * (RAMP[from + 1][c] - RAMP[from][c]))
}

fn css(rgb: [f64; 3]) -> String {
    let [r, g, b] = rgb.map(|c| c.round() as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Black or white: the colour with the better contrast.
fn ink_on([r, g, b]: [f64; 3]) -> &'static str {
    if 0.299 * r + 0.587 * g + 0.114 * b > 140.0 { "#000" } else { "#fff" }
}

/// A value in a form that fits into a station.
fn brief(value: f64) -> String {
    match value.abs() {
        v if v >= 99.95 => format!("{value:.0}"),
        v if v >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn routes(svg: &mut String, map: &NetworkMap, frame: &Frame) {
    let mut used = std::collections::BTreeMap::new();
    for pair in map.routes.iter().flat_map(|route| route.windows(2)) {
        *used.entry((pair[0].min(pair[1]), pair[0].max(pair[1]))).or_insert(0) += 1;
    }
    for ((a, b), n) in used {
        let ((x1, y1), (x2, y2)) = (frame.at(&map.places[a]), frame.at(&map.places[b]));
        let width = ROUTE * f64::from(n);
        let _ = write!(
            svg,
            "<line class=\"route\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" \
             stroke=\"#D55E00\" stroke-width=\"{width:.1}\" stroke-linecap=\"round\"/>"
        );
    }
}

fn station(svg: &mut String, map: &NetworkMap, place: &Place, frame: &Frame) {
    let ((x, y), r) = (frame.at(place), frame.radius);
    let fill = place.value.map(|v| colour(frame.share(v)));
    let shown = fill.map_or("none".to_owned(), css);
    let value = place.value.map_or("–".to_owned(), brief);
    let title = escape(&format!("{}: {} {value}", place.name, map.value));
    let _ = write!(svg, "<g><title>{title}</title>");
    let _ = match place.role {
        Role::Base => write!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{shown}\" \
             stroke=\"currentColor\" stroke-width=\"2\"/>",
            x - r,
            y - r,
            2.0 * r,
            2.0 * r
        ),
        role => {
            let ring = if role == Role::Sender {
                format!(
                    "<circle class=\"sender\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.1}\" fill=\"none\" \
                     stroke=\"currentColor\" stroke-width=\"2.5\"/>",
                    r + 4.0
                )
            } else {
                String::new()
            };
            write!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\" fill=\"{shown}\" \
                 stroke=\"currentColor\"/>{ring}"
            )
        }
    };
    let ink = fill.map_or("currentColor", ink_on);
    let _ = write!(
        svg,
        "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"{ink}\">{value}</text></g>",
        y + 3.5
    );
}

/// The colours with the values at their ends.
fn scale(svg: &mut String, map: &NetworkMap, frame: &Frame) {
    let Some([low, high]) = frame.range else { return };
    let (left, width, steps) = (MARGIN, 200.0, 40);
    let top = SIDE + 4.0;
    for step in 0..steps {
        let x = left + width * f64::from(step) / f64::from(steps);
        let fill = css(colour(f64::from(step) / f64::from(steps - 1)));
        let _ = write!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"12\" fill=\"{fill}\"/>",
            width / f64::from(steps) + 0.3
        );
    }
    let under = top + 26.0;
    let label = escape(&map.value);
    let _ = write!(
        svg,
        "<text x=\"{left:.1}\" y=\"{under:.1}\" fill=\"currentColor\">{}</text>\
         <text x=\"{:.1}\" y=\"{under:.1}\" text-anchor=\"end\" fill=\"currentColor\">{}</text>\
         <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"12\" fill=\"currentColor\">{label}</text>",
        brief(low),
        left + width,
        brief(high),
        left + width + 12.0,
        top + 11.0
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(name: &str, at: [f64; 2], value: f64, role: Role) -> Place {
        Place { name: name.to_owned(), at, role, value: Some(value), more: vec![] }
    }

    fn map() -> NetworkMap {
        NetworkMap {
            value: "load (%)".to_owned(),
            places: vec![
                place("a", [0.0, 0.0], 0.0, Role::Sender),
                place("b", [150.0, 0.0], 50.0, Role::Relay),
                place("<c>", [150.0, 150.0], 100.0, Role::Base),
            ],
            routes: vec![vec![0, 1, 2], vec![1, 2]],
            ..NetworkMap::default()
        }
    }

    #[test]
    fn north_is_up_and_a_line_is_as_wide_as_it_has_routes() {
        let map = map();
        let frame = Frame::of(&map);
        let [a, b, c] = [0, 1, 2].map(|k| frame.at(&map.places[k]));
        assert!(a.0 < b.0 && (a.1 - b.1).abs() < 1e-9 && c.1 < b.1);
        let svg = draw(&map);
        assert_eq!(svg.matches("class=\"route\"").count(), 2);
        assert!(svg.contains("stroke-width=\"2.2\"") && svg.contains("stroke-width=\"4.4\""));
    }

    #[test]
    fn colours_span_the_values_and_names_are_escaped() {
        let svg = draw(&map());
        for end in [RAMP[0], RAMP[RAMP.len() - 1]] {
            assert!(svg.contains(&format!("fill=\"{}\" stroke", css(end))), "{end:?}");
        }
        assert!(svg.contains("&lt;c&gt;") && !svg.contains("<c>"));
        assert_eq!((ink_on(RAMP[0]), ink_on(RAMP[3])), ("#000", "#fff"));
    }

    #[test]
    fn a_map_without_values_or_with_one_place_is_still_drawn() {
        let mut bare = map();
        bare.places.iter_mut().for_each(|p| p.value = None);
        assert!(!draw(&bare).contains("NaN") && draw(&bare).contains("fill=\"none\""));
        bare.places.truncate(1);
        bare.routes.clear();
        assert!(!draw(&bare).contains("NaN"));
    }
}
