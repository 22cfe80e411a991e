//! The HTML page of a report.

pub(crate) mod elements;
mod parts;

use elements::{anchor, badge, each, prose};
use parts::section;

use super::ReportError;
use super::check::check;
use super::ladder::escape;
use super::model::Report;
use super::prose::Span;
use super::view::{AnswerView, Count, Page, page};

const STYLE: &str = include_str!("../assets/report.css");
const SCRIPT: &str = include_str!("../assets/report.js");
const VEGA: &str = include_str!("../assets/vega/vega.min.js");
const VEGA_LITE: &str = include_str!("../assets/vega/vega-lite.min.js");
const LICENCES: [&str; 3] = [
    include_str!("../assets/vega/LICENSE-vega"),
    include_str!("../assets/vega/LICENSE-vega-lite"),
    include_str!("../assets/vega/LICENSE-parts"),
];

/// Draws a report as one HTML file that needs no network and no other file.
///
/// The chart library (0.8 MB) is embedded only if the report has a chart. The same report always gives the same bytes.
///
/// # Errors
///
/// The report is inconsistent: repeated or invalid anchors, rows that do not fit their table, values that a chart's
/// axes cannot show, or messages that arrive before they are sent. The error names the place.
pub fn render(report: &Report) -> Result<String, ReportError> {
    render_beside(report, None)
}

/// As [`render`], with links to the laboratory's page at the given address relative to the report. A run with a known
/// scenario can be repeated there.
///
/// # Errors
///
/// As [`render`].
pub fn render_beside(report: &Report, laboratory: Option<&str>) -> Result<String, ReportError> {
    check(report)?;
    Ok(whole(&page(report)?, laboratory))
}

/// The sections of a report in HTML, for a page that already has the style and the script.
///
/// # Errors
///
/// As [`render`].
pub fn sections(report: &Report) -> Result<String, ReportError> {
    check(report)?;
    Ok(each(&page(report)?.sections, |s| section(s, None)))
}

fn whole(page: &Page<'_>, laboratory: Option<&str>) -> String {
    let title = escape(page.title);
    let version = env!("CARGO_PKG_VERSION");
    let library = if page.charts { library() } else { String::new() };
    let summary = each(&page.summary, |p| format!("<p class=\"summary\">{}</p>\n", prose(p)));
    let byline = byline(page);
    let answers = answers(page);
    let strip = strip(page);
    let contents = contents(page);
    let verdicts = verdicts(page);
    let sections = each(&page.sections, |s| section(s, laboratory));
    let provenance = provenance(page);
    format!(
        r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:">
<meta name="generator" content="Windlass {version}">
<title>{title}</title>
<style>
{STYLE}
</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<h1>{title}</h1>
{byline}{answers}{strip}{summary}</header>
<nav id="contents" aria-label="Contents">
<h2>Contents</h2>
<ol>
{contents}</ol>
</nav>
<main id="content">
{verdicts}{sections}{provenance}</main>
<footer><p>Made with Windlass {version}. This file is complete: it needs no network and no other file.</p></footer>
<div id="tooltip" role="status" hidden></div>
<p class="announcement" role="status" aria-live="polite"></p>
{library}<script>
{SCRIPT}
</script>
</body>
</html>
"##
    )
}

fn contents(page: &Page<'_>) -> String {
    let line = |id: &str, title: &str| format!("<li><a href=\"#{id}\">{title}</a></li>\n");
    let mut out = String::new();
    if page.judged > 0 {
        out += &line("verdicts", "Verdicts");
    }
    out += &each(&page.sections, |s| line(s.id, &escape(s.title)));
    if !page.provenance.is_empty() {
        out += &line("provenance", "Provenance");
    }
    out
}

/// Authors and the link to the publication.
fn byline(page: &Page<'_>) -> String {
    let doi = match page.doi {
        "" => String::new(),
        doi => {
            let doi = escape(doi);
            format!(" <a href=\"https://doi.org/{doi}\">doi:{doi}</a>")
        }
    };
    match page.byline {
        "" => String::new(),
        byline => format!("<p class=\"byline\">{}{doi}</p>\n", escape(byline)),
    }
}

/// The answers of the page, each with its verdict.
fn answers(page: &Page<'_>) -> String {
    let line = |line: &Vec<Span>| format!("<p>{}</p>\n", prose(line));
    let answer = |a: &AnswerView| {
        format!(
            "<li>\n<p class=\"says\">{} {}</p>\n{}</li>\n",
            badge(&a.badge),
            prose(&a.says),
            each(&a.lines, line)
        )
    };
    match page.answers.as_slice() {
        [] => String::new(),
        all => format!(
            "<section class=\"answers\" aria-label=\"Answers\">\n<ol>\n{}</ol>\n</section>\n",
            each(all, answer)
        ),
    }
}

/// Summary of all verdicts on the first screen: a bar, and the number of claims with each verdict.
fn strip(page: &Page<'_>) -> String {
    if page.judged == 0 {
        return String::new();
    }
    let some: Vec<&Count> = page.verdicts.iter().filter(|v| v.count > 0).collect();
    let part = |v: &&Count| {
        let (tone, count) = (v.badge.badge.tone.class(), v.count);
        format!("<span class=\"{tone}\" style=\"flex-grow:{count}\"></span>")
    };
    let count = |v: &&Count| {
        let (tone, name) = (v.badge.badge.tone.class(), escape(v.badge.badge.name));
        format!("<li><a class=\"{tone}\" href=\"#verdicts\">{} {name}</a></li>\n", v.count)
    };
    format!(
        "<div class=\"strip\" aria-hidden=\"true\">{}</div>\n<ul class=\"standing\">\n<li>All {} statements:</li>\n{}</ul>\n",
        each(&some, part),
        page.judged,
        each(&some, count)
    )
}

/// The number of claims with each verdict.
fn verdicts(page: &Page<'_>) -> String {
    if page.judged == 0 {
        return String::new();
    }
    let rows = each(&page.verdicts, |v| {
        format!(
            "<tr><th scope=\"row\">{}</th><td class=\"number\" data-count=\"{}\">{}</td><td>{}</td></tr>\n",
            badge(&v.badge),
            escape(&v.badge.class),
            v.count,
            escape(v.badge.badge.meaning)
        )
    });
    format!(
        "<section id=\"verdicts\">\n<h2>Verdicts {}</h2>\n\
         <div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Verdicts counted\">\n\
         <table class=\"verdicts\">\n<caption>{}</caption>\n\
         <thead><tr><th scope=\"col\">Verdict</th><th scope=\"col\" class=\"number\">{}</th><th scope=\"col\">Meaning</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>\n</div>\n</section>\n",
        anchor("verdicts", "Verdicts"),
        escape(&page.counted.caption),
        escape(&page.counted.noun)
    )
}

fn provenance(page: &Page<'_>) -> String {
    if page.provenance.is_empty() {
        return String::new();
    }
    let rows = each(page.provenance, |(what, value)| {
        format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape(what), escape(value))
    });
    format!(
        "<section id=\"provenance\">\n<h2>Provenance {}</h2>\n\
         <div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Provenance\">\n\
         <table class=\"provenance\">\n<caption>Data and programs of this report.</caption>\n\
         <thead><tr><th scope=\"col\">Item</th><th scope=\"col\">Value</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>\n</div>\n</section>\n",
        anchor("provenance", "Provenance")
    )
}

/// The chart library with its licences. The references to source maps are removed, because a browser's developer tools
/// would look for these files in the folder of the report.
fn library() -> String {
    let code = |text: &'static str| text.split("//# sourceMappingURL").next().unwrap_or(text);
    let licences = LICENCES.join("\n\n");
    format!(
        "<script>\n/*\nVega and Vega-Lite, embedded unchanged.\n\n{licences}\n*/\n{}\n{}\n</script>\n",
        code(VEGA),
        code(VEGA_LITE)
    )
}
