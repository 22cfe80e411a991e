//! Heat maps as Vega-Lite specifications: a coloured cell with its value for each pair.

use serde_json::{Value, json};

use super::chart::csv_field;
use super::chart_axes::config;
use super::model::HeatMap;
use super::palette::INK;

/// Height of a row, pixels.
const ROW: usize = 34;

/// Colours of the smallest and the largest value, which colour-blind readers can distinguish. Zero
/// is white between them, also on a dark page, because the numbers in the cells are black.
const ENDS: [&str; 2] = ["#D55E00", "#0072B2"];

/// Names in the order of their first appearance.
fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut out: Vec<&str> = Vec::new();
    for name in names {
        if !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

/// The data as CSV with the columns `y`, `x` and `value`.
fn csv(map: &HeatMap) -> String {
    let line = |c: &super::model::HeatCell| {
        format!("{},{},{}\n", csv_field(&c.y), csv_field(&c.x), c.value)
    };
    "y,x,value\n".to_owned() + &map.cells.iter().map(line).collect::<String>()
}

/// The specification. Colour is symmetric about zero, so that equal changes up and down look equally
/// strong. Every cell has its number, so that no information depends on colour alone.
pub(super) fn spec(map: &HeatMap) -> Value {
    let columns = distinct(map.cells.iter().map(|c| c.x.as_str()));
    let rows = distinct(map.cells.iter().map(|c| c.y.as_str()));
    let largest = map.cells.iter().map(|c| c.value.abs()).fold(0.0, f64::max);
    let end = if largest > 0.0 { largest } else { 1.0 };
    let axis = |field: &str, title: &str, names: &[&str]| {
        json!({
            "field": field, "type": "nominal", "title": title, "sort": names,
            "axis": {"grid": false, "labelAngle": 0, "domain": false, "ticks": false},
        })
    };
    let tooltip = json!([
        {"field": "y", "type": "nominal", "title": map.y},
        {"field": "x", "type": "nominal", "title": map.x},
        {"field": "value", "type": "quantitative", "title": map.value, "format": ",.4~r"},
    ]);
    let [low, high] = ENDS;
    let header = [&map.y, &map.x, &map.value].map(|name| csv_field(name)).join(",");
    json!({
        "description": map.caption,
        "width": "container",
        "height": ROW * rows.len().max(1),
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {
            "values": csv(map),
            "format": {
                "type": "csv", "parse": {"y": "string", "x": "string", "value": "number"},
            },
        },
        "encoding": {
            "x": axis("x", &map.x, &columns),
            "y": axis("y", &map.y, &rows),
            "tooltip": tooltip,
        },
        "layer": [
            {
                "mark": {"type": "rect", "stroke": INK, "strokeOpacity": 0.15},
                "encoding": {"color": {
                    "field": "value", "type": "quantitative", "title": map.value,
                    "scale": {
                        "domain": [-end, 0, end], "range": [low, "#ffffff", high], "type": "linear",
                        "interpolate": "lab",
                    },
                }},
            },
            {
                "mark": {"type": "text", "fontSize": 11, "color": "#000000"},
                "encoding": {"text": {"field": "value", "type": "quantitative", "format": ".3~r"}},
            },
        ],
        "config": config(),
        "usermeta": {
            "csvHeader": header,
            "readout": [],
            "xLabel": map.x,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::HeatCell;

    fn map(values: [f64; 4]) -> HeatMap {
        let at = |(x, y): (&str, &str), value| HeatCell { x: x.into(), y: y.into(), value };
        let places = [("50", "2.0"), ("9", "2.0"), ("50", "0.1"), ("9", "0.1")];
        HeatMap {
            id: "h".into(),
            cells: places.into_iter().zip(values).map(|(p, v)| at(p, v)).collect(),
            ..HeatMap::default()
        }
    }

    #[test]
    fn rows_and_columns_keep_their_order_and_colours_are_symmetric_about_zero() {
        let spec = spec(&map([1.0, -4.0, 2.0, 3.0]));
        assert_eq!(spec["encoding"]["x"]["sort"], json!(["50", "9"]));
        assert_eq!(spec["encoding"]["y"]["sort"], json!(["2.0", "0.1"]));
        let colour = &spec["layer"][0]["encoding"]["color"]["scale"];
        assert_eq!(colour["domain"], json!([-4.0, 0, 4.0]));
        assert_eq!(spec["data"]["values"], "y,x,value\n2.0,50,1\n2.0,9,-4\n0.1,50,2\n0.1,9,3\n");
    }

    #[test]
    fn a_map_without_any_difference_is_white() {
        let spec = spec(&map([0.0; 4]));
        assert_eq!(spec["layer"][0]["encoding"]["color"]["scale"]["domain"], json!([-1.0, 0, 1.0]));
    }
}
