//! The page itself.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, context, filters};

use super::ReportError;
use super::check::check;
use super::model::Report;
use super::view::page;

const TEMPLATES: [(&str, &str); 3] = [
    ("words.html", include_str!("../assets/words.html")),
    ("sections.html", include_str!("../assets/sections.html")),
    ("report.html", include_str!("../assets/report.html")),
];
const STYLE: &str = include_str!("../assets/report.css");
const SCRIPT: &str = include_str!("../assets/report.js");
const VEGA: &str = include_str!("../assets/vega/vega.min.js");
const VEGA_LITE: &str = include_str!("../assets/vega/vega-lite.min.js");
const LICENCES: [&str; 3] = [
    include_str!("../assets/vega/LICENSE-vega"),
    include_str!("../assets/vega/LICENSE-vega-lite"),
    include_str!("../assets/vega/LICENSE-parts"),
];

/// Draws a report as one HTML file that needs nothing else: no network, no other file.
///
/// The chart library (0.8 MB) is embedded only where the report has a chart. The same report
/// always gives the same bytes.
///
/// # Errors
///
/// When the report contradicts itself: anchors that repeat or do not work in a link, rows that do
/// not fit their table, values that a chart's axes cannot show, messages that arrive before they
/// leave. The error names the place.
pub fn render(report: &Report) -> Result<String, ReportError> {
    render_beside(report, None)
}

/// The same beside the laboratory's page, whose address from the report is given: runs whose scenarios are known can be made
/// again in it.
///
/// # Errors
///
/// As [`render`].
pub fn render_beside(report: &Report, laboratory: Option<&str>) -> Result<String, ReportError> {
    check(report)?;
    let page = page(report)?;
    let library = if page.charts { library() } else { String::new() };
    let environment = environment()?;
    Ok(environment.get_template("report.html")?.render(context! {
        page => Serde(page),
        library,
        laboratory,
        style => STYLE,
        script => SCRIPT,
        version => env!("CARGO_PKG_VERSION"),
    })?)
}

/// The sections of a report as they stand in its page, for a page that has the style and the script already.
///
/// # Errors
///
/// As [`render`].
pub fn sections(report: &Report) -> Result<String, ReportError> {
    check(report)?;
    let page = page(report)?;
    let context = context! { page => Serde(page), laboratory => None::<&str> };
    Ok(environment()?.get_template("sections.html")?.render(context)?)
}

fn environment() -> Result<Environment<'static>, ReportError> {
    // With the two filters that the templates use: all of the library's are a tenth of the module for browsers.
    let mut environment = Environment::empty();
    environment.add_filter("length", filters::length);
    environment.add_filter("safe", filters::safe);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    for (name, text) in TEMPLATES {
        environment.add_template(name, text)?;
    }
    Ok(environment)
}

/// The chart library with its licences, without the pointers to source maps, which a browser's
/// developer tools would look for beside the report.
fn library() -> String {
    let code = |text: &'static str| text.split("//# sourceMappingURL").next().unwrap_or(text);
    let licences = LICENCES.join("\n\n");
    format!(
        "/*\nVega and Vega-Lite, embedded unchanged.\n\n{licences}\n*/\n{}\n{}",
        code(VEGA),
        code(VEGA_LITE)
    )
}
