//! Tests of the page as a whole.

use super::ReportError;
use super::html::render;
use super::model::*;

const HOSTILE: &str =
    "</script><script>alert(1)</script><img src=x onerror=\"alert(2)\">'&]]>{{7*7}}";

fn point(x: f64, y: f64) -> ChartPoint {
    ChartPoint { x, y, ..ChartPoint::default() }
}

fn chart(id: &str, series: Vec<ChartSeries>) -> Block {
    let axis = |label: &str| ChartAxis { label: label.to_owned(), scale: Scale::Linear };
    Block::Chart(Chart {
        id: id.to_owned(),
        caption: "A chart".to_owned(),
        x: axis("Time (s)"),
        y: axis("cwnd (bytes)"),
        series,
        zoom: true,
    })
}

fn series(name: &str, mark: Mark, points: Vec<ChartPoint>) -> ChartSeries {
    ChartSeries { name: name.to_owned(), mark, points }
}

const fn badge(tone: Tone, name: &'static str) -> Badge {
    Badge { tone, sign: "·", name, meaning: "what it says" }
}

const GOOD: Badge = badge(Tone::Good, "reproduced");
const NEAR: Badge = badge(Tone::Near, "same direction");
const BAD: Badge = badge(Tone::Bad, "contradicted");
const NONE: Badge = badge(Tone::None, "not comparable");

fn table(id: &str, verdicts: &[Option<Badge>]) -> Table {
    let row = |verdict: &Option<Badge>| Row {
        cells: vec!["p = 1 %".to_owned(), "66.83".to_owned()],
        verdict: *verdict,
        note: verdict.map(|_| "why so".to_owned()),
    };
    Table {
        id: id.to_owned(),
        caption: "A table".to_owned(),
        columns: vec!["Loss".to_owned(), "Time (s)".to_owned()],
        rows: verdicts.iter().map(row).collect(),
        notes: vec!["A remark.".to_owned()],
    }
}

fn report(blocks: Vec<Block>) -> Report {
    Report {
        title: "A report".to_owned(),
        summary: "What it says.".to_owned(),
        provenance: vec![("Seeds".to_owned(), "1 to 30".to_owned())],
        sections: vec![Section { id: "first".to_owned(), title: "First".to_owned(), blocks }],
        ..Report::default()
    }
}

fn ladder(id: &str) -> Block {
    let message = |sent_s, received_s, rightward| Message {
        sent_s,
        received_s,
        rightward,
        label: "seq 1".to_owned(),
        remark: None,
    };
    Block::Ladder(Ladder {
        id: id.to_owned(),
        caption: "A ladder".to_owned(),
        left: "server".to_owned(),
        right: "client".to_owned(),
        messages: vec![
            message(0.0, Some(0.02), true),
            message(0.001, None, true),
            message(0.02, Some(0.04), false),
        ],
    })
}

fn count(page: &str, needle: &str) -> usize {
    page.matches(needle).count()
}

#[test]
fn every_piece_has_its_anchor_and_the_contents_link_the_sections() {
    let blocks = vec![
        Block::Table(table("t", &[Some(GOOD)])),
        chart("c", vec![series("ours", Mark::Step, vec![point(0.0, 1.0), point(1.0, 2.0)])]),
        ladder("l"),
    ];
    let mut whole = report(blocks);
    whole.verdicts = vec![(GOOD, 1)];
    let page = render(&whole).unwrap();
    for id in ["first", "t", "c", "l", "verdicts", "provenance"] {
        assert_eq!(count(&page, &format!("id=\"{id}\"")), 1, "anchor {id}");
    }
    for id in ["first", "verdicts", "provenance"] {
        assert!(page.contains(&format!("<li><a href=\"#{id}\">")), "contents lack {id}");
    }
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    let blocks = || {
        let names = ["b", "a", "c"];
        let all = names.map(|n| series(n, Mark::Line, vec![point(0.0, 1.0), point(1.0, 2.0)]));
        report(vec![chart("c", all.to_vec())])
    };
    assert_eq!(render(&blocks()).unwrap(), render(&blocks()).unwrap());
}

#[test]
fn hostile_text_anywhere_never_becomes_markup() {
    let mut hostile = report(vec![
        Block::Text { text: format!("{HOSTILE} `{HOSTILE}`") },
        Block::Command {
            about: Some(HOSTILE.to_owned()),
            command: HOSTILE.to_owned(),
            scenario: Some(HOSTILE.to_owned()),
        },
        chart("c", vec![series(HOSTILE, Mark::Points, vec![point(1.0, 1.0)])]),
    ]);
    hostile.title = HOSTILE.to_owned();
    hostile.summary = HOSTILE.to_owned();
    hostile.provenance = vec![(HOSTILE.to_owned(), HOSTILE.to_owned())];
    hostile.sections[0].title = HOSTILE.to_owned();
    let mut table = table("t", &[Some(BAD)]);
    table.caption = HOSTILE.to_owned();
    table.columns[0] = HOSTILE.to_owned();
    table.notes[0] = HOSTILE.to_owned();
    table.rows[0].cells[0] = HOSTILE.to_owned();
    table.rows[0].note = Some(HOSTILE.to_owned());
    hostile.sections[0].blocks.push(Block::Table(table));
    hostile.sections[0].blocks.push(Block::List { items: vec![HOSTILE.to_owned()] });
    let Block::Chart(chart) = &mut hostile.sections[0].blocks[2] else { unreachable!() };
    chart.caption = HOSTILE.to_owned();
    chart.x = ChartAxis { label: HOSTILE.to_owned(), scale: Scale::Category };
    chart.y.label = HOSTILE.to_owned();
    chart.series[0].points[0].category = Some(HOSTILE.to_owned());
    let Block::Ladder(mut hostile_ladder) = ladder("l") else { unreachable!() };
    hostile_ladder.left = HOSTILE.to_owned();
    hostile_ladder.caption = HOSTILE.to_owned();
    hostile_ladder.messages[0].label = HOSTILE.to_owned();
    hostile_ladder.messages[0].remark = Some(HOSTILE.to_owned());
    hostile.sections[0].blocks.push(Block::Ladder(hostile_ladder));

    let page = render(&hostile).unwrap();
    assert!(!page.contains("<img"), "an element came in");
    assert!(!page.contains("<script>alert"), "a script came in");
    // The page's own: the chart's specification, the library and the behaviour.
    assert_eq!(count(&page, "</script>"), 3);
    assert!(page.contains("{{7*7}}"), "text was run as a template");
}

#[test]
fn the_chart_library_comes_only_with_a_chart() {
    let without = render(&report(vec![ladder("l")])).unwrap();
    assert!(without.len() < 60_000, "{} bytes", without.len());
    let with = render(&report(vec![chart("c", vec![])])).unwrap();
    assert!(with.contains("University of Washington Interactive Data Lab"));
    assert!(!with.contains("sourceMappingURL"));
}

#[test]
fn nothing_in_the_page_refers_to_another_file() {
    let one = series("ours", Mark::Line, vec![point(0.0, 1.0), point(1.0, 2.0)]);
    let page = render(&report(vec![chart("c", vec![one]), ladder("l")])).unwrap();
    assert!(page.contains("default-src 'none'"));
    for reference in ["src=", "@import", "<link", "url("] {
        let own = page.split("<script>").next().unwrap();
        assert!(!own.contains(reference), "{reference}");
    }
}

#[test]
fn a_verdict_counts_once_per_claim_in_any_number_of_rows() {
    let first = table("t1", &[Some(GOOD), Some(BAD), None]);
    let second = table("t2", &[Some(GOOD), Some(NONE)]);
    let mut judged = report(vec![Block::Table(first), Block::Table(second)]);
    judged.verdicts = vec![(GOOD, 1), (NEAR, 0), (BAD, 1), (NONE, 1)];
    let page = render(&judged).unwrap();
    for (class, claims) in
        [("reproduced", 1), ("same-direction", 0), ("contradicted", 1), ("not-comparable", 1)]
    {
        assert!(page.contains(&format!("data-count=\"{class}\">{claims}</td>")), "{class}");
    }
    assert!(page.contains("the 3 statements"));
    // The first screen has only verdicts that occur.
    let (first, _) = page.split_once("<nav").unwrap();
    for (tone, claims, name) in
        [("good", 1, "reproduced"), ("bad", 1, "contradicted"), ("none", 1, "not comparable")]
    {
        assert!(first.contains(&format!("class=\"{tone}\" href=\"#verdicts\">{claims} {name}<")));
    }
    assert!(!first.contains("same direction"));
    // Four in the summary, four in the rows.
    assert_eq!(count(&page, "class=\"badge "), 8);
}

#[test]
fn a_list_has_its_items_and_a_command_its_description() {
    let page = render(&report(vec![
        Block::List { items: vec!["one `code`".to_owned(), "two".to_owned()] },
        Block::Command {
            about: Some("The first row:".to_owned()),
            command: "a b".to_owned(),
            scenario: None,
        },
    ]));
    let page = page.unwrap();
    assert!(page.contains("<li>one <code>code</code></li>") && page.contains("<li>two</li>"));
    assert!(page.contains("The first row:"));
}

#[test]
fn a_table_without_verdicts_has_no_verdict_column_and_shows_its_notes() {
    let mut plain = table("t", &[None]);
    plain.rows[0].note = Some("beside the point".to_owned());
    let page = render(&report(vec![Block::Table(plain)])).unwrap();
    assert!(!page.contains("id=\"verdicts\""));
    assert!(!page.contains("class=\"verdict\""));
    assert_eq!(count(&page, "beside the point"), 1);
}

#[test]
fn a_long_series_is_thinned_with_a_remark_in_the_caption() {
    let mut points: Vec<_> = (0..20_000).map(|n| point(f64::from(n), 1.0)).collect();
    points[12_345].y = 987_654.0;
    let page = render(&report(vec![chart("c", vec![series("s", Mark::Step, points)])])).unwrap();
    assert!(page.contains("s,12345,987654\\n"));
    assert!(page.contains(" of 20000 points are drawn; every extreme is kept."));
}

#[test]
fn a_chart_without_points_has_a_remark() {
    let page = render(&report(vec![chart("c", vec![series("s", Mark::Line, vec![])])])).unwrap();
    assert!(page.contains("No data"));
    assert!(!page.contains("application/json\">"));
}

fn error(report: &Report) -> ReportError {
    render(report).unwrap_err()
}

#[test]
fn anchors_must_be_usable_and_distinct() {
    let twice = report(vec![ladder("x"), ladder("x")]);
    assert!(matches!(error(&twice), ReportError::DuplicateAnchor { id } if id == "x"));
    let reserved = report(vec![ladder("verdicts")]);
    assert!(matches!(error(&reserved), ReportError::DuplicateAnchor { .. }));
    for id in ["", "a b", "1st", "a\"b"] {
        assert!(
            matches!(error(&report(vec![ladder(id)])), ReportError::BadAnchor { .. }),
            "{id:?}"
        );
    }
}

#[test]
fn a_row_that_does_not_fit_its_table_is_an_error_with_its_place() {
    let mut uneven = table("t", &[None, None]);
    uneven.rows[1].cells.pop();
    let message = error(&report(vec![Block::Table(uneven)])).to_string();
    assert_eq!(message, "row 2 of table \"t\" has 1 cells for 2 columns");
}

#[test]
fn values_that_axes_cannot_show_are_errors() {
    let with = |scale_x, scale_y, point: ChartPoint| {
        let mut block = chart("c", vec![series("s", Mark::Points, vec![point])]);
        if let Block::Chart(chart) = &mut block {
            (chart.x.scale, chart.y.scale) = (scale_x, scale_y);
        }
        error(&report(vec![block]))
    };
    use Scale::*;
    let infinite = with(Linear, Linear, point(0.0, f64::INFINITY));
    assert!(matches!(infinite, ReportError::NotFinite { point: 1, .. }));
    let zero = with(Linear, Log, point(1.0, 0.0));
    assert!(matches!(zero, ReportError::NotPositive { axis, .. } if axis == "cwnd (bytes)"));
    let nameless = with(Category, Linear, point(0.0, 1.0));
    assert!(matches!(nameless, ReportError::NoCategory { .. }));
    let sideways = with(Linear, Category, point(0.0, 1.0));
    assert!(matches!(sideways, ReportError::CategoryValues { .. }));
    let same = || series("s", Mark::Line, vec![]);
    let double = error(&report(vec![chart("c", vec![same(), same()])]));
    assert!(matches!(double, ReportError::DuplicateSeries { .. }));
}

#[test]
fn a_message_that_arrives_before_it_left_is_an_error() {
    let mut block = ladder("l");
    if let Block::Ladder(ladder) = &mut block {
        ladder.messages[2].received_s = Some(0.01);
    }
    assert!(matches!(error(&report(vec![block])), ReportError::MessageTimes { message: 3, .. }));
}
