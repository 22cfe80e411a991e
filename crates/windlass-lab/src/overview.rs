//! What a person is told of a scenario and its runs: warnings before, tables after.

use crate::experiment::RunRecord;
use crate::papers::text;
use crate::report::model::{Row, Table};
use crate::scenario::{QueueLimit, Scenario, Traffic};
use crate::stats::Summary;
use windlass_cc::Span;

/// What is probably not meant: unlimited queues, windows that cannot fill the path, runs too short
/// for anything to settle.
pub fn warnings(scenario: &Scenario) -> Vec<String> {
    let mut warnings = Vec::new();
    for link in &scenario.links {
        if link.queue == QueueLimit::Unlimited {
            warnings.push(format!(
                "link {} has an unlimited queue: nothing is ever dropped there for want of room",
                link.name
            ));
        }
    }
    let routes = scenario.routes();
    for flow in &scenario.flows {
        let path = routes.path(flow.from, flow.to).unwrap_or_default();
        let crossed = || path.iter().map(|d| &scenario.links[*d as usize / 2]);
        let rtt = Span(2 * crossed().map(|l| l.delay.0).sum::<u64>());
        let rate = crossed().map(|l| l.rate_bps).min().unwrap_or(0);
        let bdp = (u128::from(rate) * u128::from(rtt.0) / 8_000_000_000) as u64;
        let window = flow.stack.receive_buffer.min(flow.stack.send_buffer);
        let limited =
            matches!(flow.traffic, Traffic::Bulk { .. } | Traffic::RequestResponse { .. });
        if limited && window < bdp {
            warnings.push(format!(
                "flow {}: buffers of {window} B are below the path's bandwidth-delay product of \
                 {bdp} B and limit it to {:.3} Mbps",
                flow.name,
                window as f64 * 8e3 / rtt.0.max(1) as f64
            ));
        }
        if rtt.0 > 0 && scenario.duration.0 < 100 * rtt.0 {
            warnings.push(format!(
                "flow {}: the run is shorter than 100 round trips of {:.0} ms",
                flow.name,
                rtt.0 as f64 / 1e6
            ));
        }
    }
    warnings
}

/// Flows and links of one run, or medians with 95 % intervals over several.
pub fn text(scenario: &Scenario, records: &[RunRecord]) -> String {
    let seeds = match records {
        [one] => format!("seed {}", one.seed),
        [first, .., last] => {
            format!(
                "{} runs, seeds {} to {}: median [95 % interval]",
                records.len(),
                first.seed,
                last.seed
            )
        }
        [] => "no runs".to_string(),
    };
    let mut out = format!(
        "{}: {} s simulated, {seeds}\n\n",
        scenario.name,
        scenario.duration.as_nanos() as f64 / 1e9
    );
    out.push_str(&text::table(&flows(scenario, records)));
    out.push('\n');
    out.push_str(&text::table(&links(records)));
    out
}

fn flows(scenario: &Scenario, records: &[RunRecord]) -> Table {
    let columns = [
        "flow",
        "algorithm",
        "goodput (Mbps)",
        "throughput (Mbps)",
        "retransmits",
        "timeouts",
        "loss (%)",
        "srtt (ms)",
        "completion (s)",
    ];
    let mut table = table("Flows", &columns);
    for (i, flow) in scenario.flows.iter().enumerate() {
        let of = |value: &dyn Fn(&windlass_sim::FlowResult) -> Option<f64>, digits: usize| {
            let values: Vec<f64> =
                records.iter().filter_map(|r| r.flows.get(i).and_then(value)).collect();
            cell(&values, digits)
        };
        table.rows.push(row(vec![
            flow.name.clone(),
            flow.algorithm.clone(),
            of(&|f| Some(f.goodput_bps / 1e6), 3),
            of(&|f| Some(f.throughput_bps / 1e6), 3),
            of(&|f| Some(f.retransmits as f64), 0),
            of(&|f| Some(f.rto_count as f64), 0),
            of(&|f| Some(f.loss_rate * 100.0), 2),
            of(&|f| f.srtt_ms, 1),
            of(&|f| f.completion_s, 3),
        ]));
        for failure in records.iter().filter_map(|r| r.flows.get(i)?.failure.as_ref()) {
            let note = format!("{}: {failure}", flow.name);
            if !table.notes.contains(&note) {
                table.notes.push(note);
            }
        }
    }
    table
}

fn links(records: &[RunRecord]) -> Table {
    let columns = [
        "link",
        "sent (packets)",
        "dropped by queue",
        "dropped by errors",
        "utilisation (%)",
        "mean queue (packets)",
        "mean wait (ms)",
    ];
    let mut table = table("Links", &columns);
    let Some(first) = records.first() else { return table };
    for (i, link) in first.links.iter().enumerate() {
        let of = |value: &dyn Fn(&windlass_sim::LinkResult) -> f64, digits: usize| {
            let values: Vec<f64> =
                records.iter().filter_map(|r| r.links.get(i).map(value)).collect();
            cell(&values, digits)
        };
        table.rows.push(row(vec![
            link.name.clone(),
            of(&|l| l.sent as f64, 0),
            of(&|l| l.drops_queue as f64, 0),
            of(&|l| l.drops_error as f64, 0),
            of(&|l| l.utilisation * 100.0, 1),
            of(&|l| l.mean_queue_packets, 2),
            of(&|l| l.mean_queue_delay_ms, 3),
        ]));
    }
    table
}

fn table(caption: &str, columns: &[&str]) -> Table {
    Table {
        caption: caption.to_string(),
        columns: columns.iter().map(ToString::to_string).collect(),
        ..Table::default()
    }
}

fn row(cells: Vec<String>) -> Row {
    Row { cells, ..Row::default() }
}

/// One value as it is, several as their median with its interval.
fn cell(values: &[f64], digits: usize) -> String {
    match values {
        [] => "-".to_string(),
        [one] => format!("{one:.digits$}"),
        many => match Summary::of(many) {
            Some(Summary { median, ci95_median: Some([lo, hi]), .. }) => {
                format!("{median:.digits$} [{lo:.digits$}, {hi:.digits$}]")
            }
            Some(s) => format!("{:.digits$}", s.median),
            None => "-".to_string(),
        },
    }
}
