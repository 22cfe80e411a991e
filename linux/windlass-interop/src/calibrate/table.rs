//! A calibration as a table, and as a document for programs.

use std::fmt::Write;

use serde::Serialize;
use windlass_run::World;

use super::{Calibration, Measured, Quantity, Row, Unit};

/// Formats the table: one block per point, one line per quantity.
pub fn text(calibration: &Calibration) -> String {
    let mut out = String::new();
    for point in &calibration.points {
        write_point(&mut out, point);
    }
    let rows = || calibration.points.iter().flat_map(|p| &p.rows);
    let beyond = rows().filter(|row| !row.is_ok()).count();
    let invalid: usize = calibration.points.iter().map(|p| p.invalid.len()).sum();
    let runs: u32 = calibration.points.iter().map(|p| p.runs).sum();
    let _ = write!(out, "{} values of {runs} runs, {beyond} out of bounds", rows().count());
    if invalid > 0 {
        let _ = write!(out, "; {invalid} probes without a valid run");
    }
    let _ = writeln!(out, " (Linux {})", calibration.kernel);
    out
}

fn write_point(out: &mut String, point: &Measured) {
    let _ = writeln!(out, "{}", point.asked);
    let _ = writeln!(
        out,
        "  {:<38} {:>14} {:>14} {:>14} {:>22}",
        "", "asked", "delivered", "error", "bound"
    );
    for row in &point.rows {
        let [asked, delivered] = [row.asked, row.delivered].map(|v| value(row.quantity, v));
        let _ = writeln!(
            out,
            "  {:<38} {asked:>14} {delivered:>14} {:>14} {:>22}  {}",
            row.quantity.label(),
            error(row, row.error()),
            bound(row),
            if row.is_ok() { "ok" } else { "OUT" },
        );
    }
    for why in &point.invalid {
        let _ = writeln!(out, "  invalid: {why}");
    }
    out.push('\n');
}

fn value(quantity: Quantity, value: f64) -> String {
    match quantity.unit() {
        Unit::Nanoseconds => format!("{:.3} ms", value / 1e6),
        Unit::BitsPerSecond => format!("{:.4} Mbps", value / 1e6),
        Unit::Datagrams => format!("{value}"),
    }
}

/// Formats a difference from the requested value, with its sign.
fn error(row: &Row, error: f64) -> String {
    match row.quantity.unit() {
        Unit::Nanoseconds => format!("{:+.3} ms", error / 1e6),
        Unit::BitsPerSecond => format!("{:+.3} %", error / row.asked * 100.0),
        Unit::Datagrams if error == 0.0 => "0".to_string(),
        Unit::Datagrams => format!("{error:+}"),
    }
}

fn bound(row: &Row) -> String {
    if row.least == 0.0 && row.most == 0.0 {
        return "0".to_string();
    }
    let [least, most] = [row.least, row.most].map(|limit| match row.quantity.unit() {
        Unit::Nanoseconds => limit / 1e6,
        Unit::BitsPerSecond => limit / row.asked * 100.0,
        Unit::Datagrams => limit,
    });
    let unit = match row.quantity.unit() {
        Unit::Nanoseconds => " ms",
        Unit::BitsPerSecond => " %",
        Unit::Datagrams => "",
    };
    // Rounded to a step that is small enough for every bound, without the digits of a quotient.
    let short = |limit: f64| (limit * 1e6).round() / 1e6;
    format!("{} to +{}{unit}", short(least), short(most))
}

/// A calibration with derived values, for programs.
#[derive(Serialize)]
pub struct Document<'a> {
    version: &'static str,
    world: String,
    kernel: &'a str,
    quick: bool,
    ok: bool,
    points: Vec<PointOut<'a>>,
}

#[derive(Serialize)]
struct PointOut<'a> {
    asked: &'a str,
    rate_bps: u64,
    delay_ns: u64,
    runs: u32,
    invalid: &'a [String],
    rows: Vec<RowOut<'a>>,
}

/// A row with derived values.
#[derive(Serialize)]
struct RowOut<'a> {
    #[serde(flatten)]
    row: &'a Row,
    unit: Unit,
    error: f64,
    ok: bool,
}

/// Returns the document of a calibration on this backend.
pub fn document(world: World, quick: bool, calibration: &Calibration) -> Document<'_> {
    Document {
        version: world.version(),
        world: world.to_string(),
        kernel: &calibration.kernel,
        quick,
        ok: calibration.is_ok(),
        points: calibration.points.iter().map(point).collect(),
    }
}

fn point(p: &Measured) -> PointOut<'_> {
    let rows = p.rows.iter().map(|row| RowOut {
        row,
        unit: row.quantity.unit(),
        error: row.error(),
        ok: row.is_ok(),
    });
    PointOut {
        asked: &p.asked,
        rate_bps: p.rate_bps,
        delay_ns: p.delay_ns,
        runs: p.runs,
        invalid: &p.invalid,
        rows: rows.collect(),
    }
}
