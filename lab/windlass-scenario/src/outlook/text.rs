//! Paths and cells as text.

use std::fmt::Write;

use windlass_cc::Span;

use super::Path;
use super::air::CellOutlook;
use crate::units::{BitRate, Duration};

/// The cells as text, one line per cell.
pub fn cells_text(cells: &[CellOutlook]) -> String {
    cells.iter().map(CellOutlook::text).collect()
}

/// The paths as text. Flows that differ only in their names share one entry.
pub fn text(paths: &[Path]) -> String {
    let mut out = String::new();
    let alike = |a: &Path, b: &Path| {
        let nameless = |p: &Path| Path {
            flow: String::new(),
            nodes: vec![String::new(); p.nodes.len()],
            bottleneck: String::new(),
            ..p.clone()
        };
        nameless(a) == nameless(b)
    };
    let mut told: Vec<(&Path, usize)> = Vec::new();
    for path in paths {
        match told.iter_mut().find(|(first, _)| alike(first, path)) {
            Some((_, others)) => *others += 1,
            None => told.push((path, 0)),
        }
    }
    for (path, others) in told {
        out.push_str(&one(path, others));
    }
    out
}

fn one(path: &Path, others: usize) -> String {
    let more = if others > 0 { format!(", and {others} more like it") } else { String::new() };
    let mut out =
        format!("flow {} ({}): {}{more}\n", path.flow, path.algorithm, path.nodes.join(" > "),);
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "  base RTT    {} of propagation; over idle links {} {:.3} ms",
        Duration(path.base_rtt),
        if path.window_bytes.is_some() {
            "a full packet and its acknowledgement take"
        } else {
            "a packet takes"
        },
        millis(path.idle_time),
    );
    let _ = writeln!(
        out,
        "  bottleneck  {} at {}; bandwidth-delay product {} B = {:.1} packets of {} B",
        path.bottleneck,
        rate_text(path),
        path.bdp_bytes,
        path.bdp_bytes as f64 / f64::from(path.packet_bytes),
        path.packet_bytes,
    );
    let _ = match path.queue {
        None => writeln!(out, "  queue       unlimited"),
        Some(q) => writeln!(
            out,
            "  queue       {} packets, {} B, {:.1} ms{}",
            q.packets,
            q.bytes,
            millis(q.drain),
            in_bdp(q.bytes, path.bdp_bytes),
        ),
    };
    if let Some(window) = path.window_bytes {
        let bdp = in_bdp(window, path.bdp_bytes);
        let _ = writeln!(out, "  window      at most {window} B{bdp}");
    }
    out
}

/// The rate of the bottleneck. Over the air it is rounded.
pub(super) fn rate_text(path: &Path) -> String {
    if path.shared {
        let mbps = path.rate_bps as f64 / 1e6;
        return format!("{mbps:.3}Mbps for one station alone, shared by all");
    }
    BitRate(path.rate_bps).to_string()
}

fn millis(span: Span) -> f64 {
    span.0 as f64 / 1e6
}

fn in_bdp(bytes: u64, bdp: u64) -> String {
    match bdp {
        0 => String::new(),
        _ => format!(", {:.2} bdp", bytes as f64 / bdp as f64),
    }
}
