use super::*;
use crate::drawn::{categories, drawn};
use crate::model::ChartPoint;
use crate::model::{Block, ChartAxis, Report, Section};

fn point(category: &str, y: f64, interval: Option<(f64, f64)>) -> ChartPoint {
    ChartPoint {
        category: Some(category.to_owned()),
        y,
        lo: interval.map(|i| i.0),
        hi: interval.map(|i| i.1),
        ..ChartPoint::default()
    }
}

fn series(name: &str, mark: Mark, points: Vec<ChartPoint>) -> ChartSeries {
    ChartSeries { name: name.to_owned(), mark, points }
}

fn chart(y: Scale, series: Vec<ChartSeries>) -> Chart {
    Chart {
        id: "c".to_owned(),
        caption: String::new(),
        x: ChartAxis { label: "Loss, \"drop\"".to_owned(), scale: Scale::Category },
        y: ChartAxis { label: "Time (s)".to_owned(), scale: y },
        series,
        zoom: false,
    }
}

fn spec_of(chart: &Chart) -> Value {
    let section = Section { blocks: vec![Block::Chart(chart.clone())], ..Section::default() };
    let report = Report { sections: vec![section], ..Report::default() };
    spec_with(chart, &drawn(chart), &Palette::of(&report), |_| Vec::new())
}

#[test]
fn categories_keep_the_order_of_first_appearance() {
    let first = series("a", Mark::Bars, vec![point("10 %", 1.0, None), point("1 %", 1.0, None)]);
    let second = series("b", Mark::Bars, vec![point("1 %", 1.0, None), point("0 %", 1.0, None)]);
    assert_eq!(categories(&chart(Scale::Linear, vec![first, second])), ["10 %", "1 %", "0 %"]);
}

#[test]
fn one_papers_values_are_in_the_middle_and_two_pair_up_with_measured_series() {
    let of = |marks: &[Mark]| {
        let name = |(at, &mark): (usize, &Mark)| series(&at.to_string(), mark, Vec::new());
        slots(&chart(Scale::Linear, marks.iter().enumerate().map(name).collect()))
    };
    use Mark::{Bars, Line, Paper, Points};
    assert_eq!(of(&[Paper, Bars, Points, Line]), [None, Some(0), Some(1), None]);
    assert_eq!(of(&[Bars, Bars, Paper, Paper]), [Some(0), Some(1), Some(0), Some(1)]);
    assert_eq!(of(&[Bars, Paper, Paper]), [Some(0), Some(1), Some(2)]);
}

#[test]
fn csv_quotes_special_characters_and_keeps_all_digits() {
    let odd = series("a,\"b\"", Mark::Points, vec![point("1 %", 0.1 + 0.2, Some((0.25, 0.5)))]);
    let odd = chart(Scale::Linear, vec![odd]);
    let text = csv(&odd, &drawn(&odd));
    assert_eq!(text, "series,x,y,lo,hi\n\"a,\"\"b\"\"\",1 %,0.30000000000000004,0.25,0.5\n");
    assert!(csv_header(&odd, &drawn(&odd)).starts_with("series,\"Loss, \"\"drop\"\"\",Time (s),"));
}

#[test]
fn intervals_of_positions_are_columns_and_horizontal_lines() {
    let at = |x_lo, x_hi| {
        let point = ChartPoint { x: 2.0, y: 5.0, x_lo, x_hi, ..ChartPoint::default() };
        let mut chart = chart(Scale::Linear, vec![series("s", Mark::Points, vec![point])]);
        chart.x.scale = Scale::Linear;
        (csv(&chart, &drawn(&chart)), csv_header(&chart, &drawn(&chart)), spec_of(&chart))
    };
    let (text, header, spec) = at(Some(1.5), Some(2.5));
    assert_eq!(text, "series,x,y,x_lo,x_hi\ns,2,5,1.5,2.5\n");
    assert!(header.ends_with("interval high\""), "{header}");
    let layers = spec["layer"].as_array().unwrap();
    let across = layers.iter().find(|l| l["encoding"]["x2"]["field"] == "x_hi").unwrap();
    assert_eq!(
        (&across["mark"]["type"], &across["encoding"]["x"]["field"]),
        (&json!("rule"), &json!("x_lo"))
    );
    let (text, _, spec) = at(None, None);
    assert_eq!(text, "series,x,y\ns,2,5\n");
    assert!(!spec.to_string().contains("x_hi"));
}

#[test]
fn curves_are_sorted_by_x() {
    let at = |x, y| ChartPoint { x, y, ..ChartPoint::default() };
    let points = vec![at(2.0, 1.0), at(1.0, 5.0), at(2.0, 3.0)];
    let mut curve = chart(Scale::Linear, vec![series("s", Mark::Step, points)]);
    curve.x.scale = Scale::Linear;
    let order: Vec<f64> = drawn(&curve)[0].points.iter().map(|p| p.y).collect();
    assert_eq!(order, [5.0, 1.0, 3.0]);
}

#[test]
fn a_band_is_an_area_behind_its_curve_without_whiskers() {
    let at = |x| ChartPoint { x, y: 2.0, lo: Some(1.0), hi: Some(4.0), ..ChartPoint::default() };
    let mut banded = chart(Scale::Linear, vec![series("s", Mark::Band, vec![at(0.0), at(1.0)])]);
    banded.x.scale = Scale::Linear;
    let text = spec_of(&banded).to_string();
    assert!(text.contains("\"area\"") && text.contains("\"y2\":{\"field\":\"hi\"}"), "{text}");
    assert!(!text.contains("\"rule\"") && !text.contains("95 %"), "{text}");
    assert!(csv_header(&banded, &drawn(&banded)).ends_with("lowest,highest"));
}

#[test]
fn an_interval_reaching_below_zero_is_cut_on_a_logarithmic_axis_only() {
    let ours = || series("ours", Mark::Points, vec![point("1 %", 0.5, Some((-0.25, 1.5)))]);
    let text = |scale| spec_of(&chart(scale, vec![ours()])).to_string();
    assert!(text(Scale::Log).contains("datum.lo > 0 ? datum.lo : 0.5"));
    assert!(!text(Scale::Linear).contains("datum.lo > 0"));
}

#[test]
fn the_legend_has_hollow_published_and_filled_measured_symbols() {
    let both = vec![
        series("Paper", Mark::Paper, vec![point("1 %", 1.0, None)]),
        series("ours", Mark::Points, vec![point("1 %", 1.0, None)]),
    ];
    let legend = spec_of(&chart(Scale::Linear, both))["layer"][0]["encoding"].clone();
    assert_eq!(legend["fill"]["scale"]["range"], json!(["transparent", "#0072B2"]));
    assert_eq!(legend["shape"]["scale"]["range"], json!(["diamond", "circle"]));
}

#[test]
fn a_name_keeps_its_colour_from_chart_to_chart() {
    let with = |names: &[&str]| {
        let all = names.iter().map(|n| series(n, Mark::Line, Vec::new())).collect();
        chart(Scale::Linear, all)
    };
    let (first, second) = (with(&["a", "b"]), with(&["b"]));
    let blocks = vec![Block::Chart(first.clone()), Block::Chart(second.clone())];
    let sections = vec![Section { blocks, ..Section::default() }];
    let palette = Palette::of(&Report { sections, ..Report::default() });
    assert_eq!(palette.style(&first.series[1]), palette.style(&second.series[0]));
    assert_ne!(palette.style(&first.series[0]), palette.style(&first.series[1]));
}
