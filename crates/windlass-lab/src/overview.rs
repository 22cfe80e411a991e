//! What a person is told of a scenario's runs.

use crate::report::model::{Row, Table};
use crate::report::text;
use crate::run::RunRecord;
use crate::scenario::Scenario;
use crate::stats::Summary;
use windlass_sim::routing::aodv::RoutingResult;
use windlass_sim::{MultipathResult, SubflowResult};

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
        "{}: {} s {}, {seeds}\n\n",
        scenario.name,
        scenario.duration.as_nanos() as f64 / 1e9,
        place(records)
    );
    out.push_str(&text::table(&flows(scenario, records)));
    out.push('\n');
    if scenario.flows.iter().any(|f| f.multipath.is_some()) {
        out.push_str(&text::table(&subflows(scenario, records)));
        out.push('\n');
    }
    let has = |any: fn(&RunRecord) -> bool| records.iter().any(any);
    if has(|r| !r.links.is_empty()) {
        out.push_str(&text::table(&links(records)));
    }
    if has(|r| !r.radios.is_empty()) {
        if has(|r| !r.links.is_empty()) {
            out.push('\n');
        }
        out.push_str(&text::table(&stations(records)));
        if has(|r| r.radios.iter().any(|c| c.routing.is_some())) {
            out.push('\n');
            out.push_str(&text::table(&routing(records)));
        }
        out.push('\n');
        out.push_str(&text::table(&radios(records)));
    }
    out
}

/// Where the runs were made: they have one world between them.
fn place(records: &[RunRecord]) -> String {
    match records.first() {
        Some(RunRecord { world, kernel: Some(release), .. }) => {
            format!("in world {world} (kernel {release})")
        }
        _ => "simulated".to_string(),
    }
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
            // A run without the value, such as an unfinished one, must not go unnoticed.
            match values.len() {
                n if n == records.len() || n == 0 => cell(&values, digits),
                n => format!("{} ({n} of {} runs)", cell(&values, digits), records.len()),
            }
        };
        table.rows.push(row(vec![
            flow.name.clone(),
            flow.algorithm().to_string(),
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

/// The subflows of all multipath flows, with what the connections did in notes.
fn subflows(scenario: &Scenario, records: &[RunRecord]) -> Table {
    let columns = [
        "subflow",
        "algorithm",
        "goodput (Mbps)",
        "share (%)",
        "retransmits",
        "timeouts",
        "loss (%)",
        "srtt (ms)",
        "window (kB)",
    ];
    let mut table = table("Subflows", &columns);
    for (i, flow) in scenario.flows.iter().enumerate() {
        let Some(spec) = &flow.multipath else { continue };
        let results: Vec<&MultipathResult> =
            records.iter().filter_map(|r| r.flows.get(i)?.multipath.as_ref()).collect();
        for (place, subflow) in spec.subflows.iter().enumerate() {
            let of = |value: &dyn Fn(&SubflowResult) -> Option<f64>, digits: usize| {
                let all = results.iter().filter_map(|m| m.subflows.get(place).and_then(value));
                cell(&all.collect::<Vec<f64>>(), digits)
            };
            table.rows.push(row(vec![
                format!("{}:{}", flow.name, subflow.name),
                subflow.controller.info().id.to_string(),
                of(&|s| Some(s.goodput_bps / 1e6), 3),
                of(&|s| Some(s.share * 100.0), 1),
                of(&|s| Some(s.retransmits as f64), 0),
                of(&|s| Some(s.rto_count as f64), 0),
                of(&|s| Some(s.loss_rate * 100.0), 2),
                of(&|s| s.srtt_ms, 1),
                of(&|s| Some(s.cwnd_bytes as f64 / 1e3), 1),
            ]));
        }
        table.notes.push(connection(&flow.name, &results));
    }
    table
}

/// What a multipath connection did above its subflows, in a sentence.
fn connection(flow: &str, results: &[&MultipathResult]) -> String {
    let of = |value: fn(&MultipathResult) -> f64, digits| {
        cell(&results.iter().map(|m| value(m)).collect::<Vec<f64>>(), digits)
    };
    let mut note = format!(
        "{flow}: {} pieces sent again on another subflow; at most {} kB waited for data before them",
        of(|m| m.reinjections as f64, 0),
        of(|m| m.max_out_of_order_bytes as f64 / 1e3, 1),
    );
    let fallen = results.iter().filter(|m| m.fallen_back).count();
    if fallen > 0 {
        note += &match results.len() {
            1 => "; it went on as ordinary TCP".to_string(),
            n => format!("; in {fallen} of {n} runs it went on as ordinary TCP"),
        };
    }
    note
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

/// The stations of all cells, with the share of time that each cell is busy in a note.
fn stations(records: &[RunRecord]) -> Table {
    let columns = [
        "station",
        "offered (packets)",
        "delivered",
        "dropped by queue",
        "dropped after retries",
        "frames sent again",
        "airtime (%)",
        "mean queue (packets)",
        "mean service (ms)",
    ];
    let mut table = table("Wi-Fi stations", &columns);
    let Some(first) = records.first() else { return table };
    for (c, cell) in first.radios.iter().enumerate() {
        for (i, station) in cell.stations.iter().enumerate() {
            let of = |value: &dyn Fn(&windlass_sim::StationResult) -> f64, digits: usize| {
                let station = |r: &RunRecord| Some(value(r.radios.get(c)?.stations.get(i)?));
                cell_of(records, &station, digits)
            };
            let airtime = |r: &RunRecord| {
                let station = r.radios.get(c)?.stations.get(i)?;
                (r.end_s > 0.0).then(|| 100.0 * station.airtime_s / r.end_s)
            };
            table.rows.push(row(vec![
                format!("{}:{}", cell.name, station.name),
                of(&|s| s.offered as f64, 0),
                of(&|s| s.delivered as f64, 0),
                of(&|s| s.drops_queue as f64, 0),
                of(&|s| s.drops_retry as f64, 0),
                of(&|s| s.retransmissions as f64, 0),
                cell_of(records, &airtime, 1),
                of(&|s| s.mean_queue_packets, 2),
                of(&|s| s.mean_service_ms, 3),
            ]));
        }
        let busy = cell_of(records, &|r| Some(100.0 * r.radios.get(c)?.busy), 1);
        table.notes.push(format!("{}: a station transmits {busy} % of the time", cell.name));
    }
    table
}

/// What came of routing in the cells whose packets find their own way.
fn routing(records: &[RunRecord]) -> Table {
    let columns = [
        "cell",
        "requests sent (packets)",
        "replies",
        "errors",
        "HELLO",
        "searches",
        "without success",
        "broken links",
        "mean hops",
        "dropped for want of a route (packets)",
    ];
    let mut table = table("Routing (AODV)", &columns);
    let Some(first) = records.first() else { return table };
    for (c, cell) in first.radios.iter().enumerate().filter(|(_, c)| c.routing.is_some()) {
        let of = |value: &dyn Fn(&RoutingResult) -> f64, digits: usize| {
            let routing = |r: &RunRecord| Some(value(r.radios.get(c)?.routing.as_ref()?));
            cell_of(records, &routing, digits)
        };
        table.rows.push(row(vec![
            cell.name.clone(),
            of(&|r| (r.rreq_originated + r.rreq_forwarded) as f64, 0),
            of(&|r| (r.rrep_originated + r.rrep_forwarded) as f64, 0),
            of(&|r| r.rerr_sent as f64, 0),
            of(&|r| r.hello_sent as f64, 0),
            of(&|r| r.discoveries as f64, 0),
            of(&|r| r.discoveries_failed as f64, 0),
            of(&|r| r.link_breaks as f64, 0),
            of(&|r| r.mean_hops(), 2),
            of(&|r| (r.drops_no_route + r.drops_on_way + r.drops_buffer_time) as f64, 0),
        ]));
    }
    table
}

/// What the radios of all stations did with their time, and what they drew.
fn radios(records: &[RunRecord]) -> Table {
    let columns = [
        "radio",
        "transmit (%)",
        "receive (%)",
        "listen (%)",
        "idle (%)",
        "off (%)",
        "energy (J)",
        "died (s)",
    ];
    let mut table = table("Radio time and energy", &columns);
    let Some(first) = records.first() else { return table };
    for (c, cell) in first.radios.iter().enumerate() {
        for (i, station) in cell.stations.iter().enumerate() {
            let of = |value: &dyn Fn(&windlass_sim::StationResult) -> Option<f64>| {
                let station = |r: &RunRecord| value(r.radios.get(c)?.stations.get(i)?);
                cell_of(records, &station, 3)
            };
            let share = |value: &dyn Fn(&windlass_sim::StationResult) -> f64| {
                let station = |r: &RunRecord| {
                    let time = value(r.radios.get(c)?.stations.get(i)?);
                    (r.end_s > 0.0).then(|| 100.0 * time / r.end_s)
                };
                cell_of(records, &station, 2)
            };
            table.rows.push(row(vec![
                format!("{}:{}", cell.name, station.name),
                share(&|s| s.transmit_s),
                share(&|s| s.receive_s),
                share(&|s| s.listen_s),
                share(&|s| s.idle_s),
                share(&|s| s.off_s),
                of(&|s| s.energy_j),
                of(&|s| s.died_s),
            ]));
        }
    }
    table
}

fn cell_of(
    records: &[RunRecord],
    value: &dyn Fn(&RunRecord) -> Option<f64>,
    digits: usize,
) -> String {
    cell(&records.iter().filter_map(value).collect::<Vec<f64>>(), digits)
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
