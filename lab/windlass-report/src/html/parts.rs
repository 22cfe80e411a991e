//! The sections of a page as HTML.

use super::elements::{anchor, badge, each, prose, when};
use crate::ladder::escape;
use crate::prose::Span;
use crate::view::{
    BlockView, ChartView, Column, Data, DrawingView, RowView, SectionView, StoryView, TableView,
};

/// A section; `laboratory` is the address of the laboratory's page, if the report has one.
pub(super) fn section(section: &SectionView<'_>, laboratory: Option<&str>) -> String {
    let SectionView { id, title, blocks } = section;
    format!(
        "<section id=\"{id}\">\n<h2>{} {}</h2>\n{}</section>\n",
        escape(title),
        anchor(id, title),
        each(blocks, |b| block(b, laboratory))
    )
}

fn block(block: &BlockView<'_>, laboratory: Option<&str>) -> String {
    match block {
        BlockView::Text { paragraphs } => each(paragraphs, |p| format!("<p>{}</p>\n", prose(p))),
        BlockView::List { items } => {
            format!("<ul>\n{}</ul>\n", each(items, |i| format!("<li>{}</li>\n", prose(i))))
        }
        BlockView::Command { about, command, again } => {
            let address = laboratory.zip(again.as_deref());
            command_with(about.as_deref(), command, address)
        }
        BlockView::Table(view) => table(view),
        BlockView::Chart(view) => chart(view),
        BlockView::Drawing(view) => drawing(view),
        BlockView::Statements(statements) => crate::statements::table(statements),
        BlockView::Timeline { charts } => each(charts, chart),
        BlockView::Stories { stories } => each(stories, story),
    }
}

fn command_with(about: Option<&[Span]>, command: &str, again: Option<(&str, &str)>) -> String {
    let about = about.map(|a| format!("<p class=\"about\">{}</p>\n", prose(a)));
    let again = again.map(|(page, scenario)| {
        let address = escape(&format!("{page}{scenario}"));
        format!("<a class=\"again\" href=\"{address}\">Run it here</a>\n")
    });
    format!(
        "{}<div class=\"command\">\n<pre tabindex=\"0\" aria-label=\"Command\"><code>{}</code></pre>\n\
         <button type=\"button\" class=\"copy\">Copy</button>\n{}</div>\n",
        about.unwrap_or_default(),
        escape(command),
        again.unwrap_or_default()
    )
}

fn table(view: &TableView<'_>) -> String {
    let head = each(&view.columns, |c| {
        format!("<th scope=\"col\"{}>{}</th>", when(c.number, " class=\"number\""), escape(c.name))
    });
    let verdict = when(view.judged, "<th scope=\"col\" class=\"verdict\">Verdict</th>");
    format!(
        "<div class=\"table\" id=\"{id}\">\n\
         <div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{label}\">\n<table>\n\
         <caption><span class=\"caption\">{caption} {anchor}</span></caption>\n\
         <thead>\n<tr>{head}{verdict}</tr>\n</thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n{notes}</div>\n",
        id = view.id,
        label = escape(view.label),
        caption = prose(&view.caption),
        anchor = anchor(view.id, "this table"),
        rows = each(&view.rows, |r| row(r, view)),
        notes = each(&view.notes, |n| format!("<p class=\"remark\">{}</p>\n", prose(n))),
    )
}

fn row(row: &RowView<'_>, table: &TableView<'_>) -> String {
    let cell = |(at, (text, column)): (usize, (&String, &Column<'_>))| {
        let text = escape(text);
        let short = when(column.short, " class=\"short\"");
        match (at, column.number) {
            (0, _) => format!("<th scope=\"row\"{short}>{text}</th>\n"),
            (_, true) => format!("<td class=\"number\">{text}</td>\n"),
            (_, false) => format!("<td{short}>{text}</td>\n"),
        }
    };
    let cells: String = row.cells.iter().zip(&table.columns).enumerate().map(cell).collect();
    let note = row.note.as_deref().map(prose);
    let verdict = row.verdict.as_ref().map(badge);
    let judged = match (&note, verdict) {
        _ if !table.judged => String::new(),
        (None, verdict) => {
            format!("<td class=\"verdict\">\n{}\n</td>\n", verdict.unwrap_or_default())
        }
        (Some(note), verdict) => format!(
            "<td class=\"verdict\">\n<details><summary>{}</summary><p class=\"note\">{note}</p></details>\n</td>\n",
            verdict.unwrap_or_else(|| "note".to_owned())
        ),
    };
    // On paper no note can be opened, so the note is under its row. Without a verdict column it is always there.
    let below = note.map(|note| {
        let class = match table.judged {
            true => "class=\"printed-note\" aria-hidden=\"true\"",
            false => "class=\"row-note\"",
        };
        let columns = table.columns.len() + usize::from(table.judged);
        format!("<tr {class}><td colspan=\"{columns}\">{note}</td></tr>\n")
    });
    format!("<tr>\n{cells}{judged}</tr>\n{}", below.unwrap_or_default())
}

fn chart(view: &ChartView<'_>) -> String {
    let id = view.id;
    let caption = prose(&view.caption);
    let thinned = view.thinned.as_ref();
    let thinned = thinned.map(|t| format!(" <span class=\"liberty\">{}</span>", escape(t)));
    let caption = format!(
        "<figcaption>{caption}{} {}</figcaption>\n",
        thinned.unwrap_or_default(),
        anchor(id, "this chart")
    );
    if view.empty {
        return format!(
            "<figure class=\"chart\" id=\"{id}\">\n\
             <p class=\"no-data\">No data: none of the series of this chart has a point.</p>\n{caption}</figure>\n"
        );
    }
    let linked = view.linked.map(|first| format!(" data-linked=\"{first}\"")).unwrap_or_default();
    let (zoom, buttons) = match view.zoom {
        false => (String::new(), ""),
        true => {
            let label = escape(view.label);
            let zoom = format!(
                " data-zoom tabindex=\"0\" role=\"group\" aria-label=\"Chart that can be zoomed: {label}\""
            );
            (zoom, ZOOM)
        }
    };
    format!(
        "<figure class=\"chart\" id=\"{id}\">\n<div class=\"plot\"{linked}{zoom}>\
         <noscript>This chart is drawn by a script in this file; its data are below.</noscript></div>\n\
         {buttons}{caption}<p class=\"downloads\"><a class=\"csv\" download=\"{id}.csv\" href=\"#{id}\">Download CSV</a> {}</p>\n\
         {}<script type=\"application/json\">{}</script>\n</figure>\n",
        svg_link(id),
        data_table(&view.data),
        view.spec
    )
}

const ZOOM: &str = "<div class=\"zoom\"><span class=\"hint\">Click the chart, then drag to pan, wheel to zoom, double-click to reset.</span>\n\
    <span role=\"group\" aria-label=\"Zoom\"><button type=\"button\" data-zoom-by=\"0.5\">Zoom in</button> \
    <button type=\"button\" data-zoom-by=\"2\">Zoom out</button> \
    <button type=\"button\" data-zoom-by=\"reset\">Reset</button></span></div>\n";

fn svg_link(id: &str) -> String {
    format!("<a class=\"svg\" download=\"{id}.svg\" href=\"#{id}\">Download SVG</a>")
}

fn drawing(view: &DrawingView<'_>) -> String {
    format!(
        "<figure class=\"drawing {class}\" id=\"{id}\">\n\
         <div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{label}\">\n{svg}\n</div>\n\
         <figcaption>{caption} <span class=\"liberty\">{remark}</span> {anchor}</figcaption>\n\
         <p class=\"downloads\">{link}</p>\n{data}</figure>\n",
        class = view.class,
        id = view.id,
        label = escape(view.label),
        svg = view.svg,
        caption = prose(&view.caption),
        remark = escape(&view.remark),
        anchor = anchor(view.id, "this diagram"),
        link = svg_link(view.id),
        data = data_table(&view.data),
    )
}

fn data_table(data: &Data) -> String {
    let title = escape(&data.title);
    let row = |cells: &Vec<String>| match cells.split_first() {
        None => "<tr></tr>\n".to_owned(),
        Some((first, rest)) => format!(
            "<tr><th scope=\"row\">{}</th>{}</tr>\n",
            escape(first),
            each(rest, |c| format!("<td>{}</td>", escape(c)))
        ),
    };
    format!(
        "<details class=\"data\">\n<summary>{title} ({} rows)</summary>\n\
         <div class=\"scroll\" role=\"group\" tabindex=\"0\" aria-label=\"{title}\">\n<table>\n\
         <thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table>\n</div>\n</details>\n",
        data.rows.len(),
        each(&data.columns, |c| format!("<th scope=\"col\">{}</th>", escape(c))),
        each(&data.rows, row)
    )
}

fn story(view: &StoryView<'_>) -> String {
    let StoryView { id, title, paragraphs, ladder } = view;
    let mut link = Some(format!(" {}", anchor(id, "this explanation")));
    format!(
        "<details class=\"story\" id=\"{id}\">\n<summary>{}</summary>\n{}{}</details>\n",
        prose(title),
        each(paragraphs, |p| format!("<p>{}{}</p>\n", prose(p), link.take().unwrap_or_default())),
        ladder.as_ref().map(drawing).unwrap_or_default()
    )
}
