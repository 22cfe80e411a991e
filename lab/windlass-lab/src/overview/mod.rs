//! Tables of a scenario's runs, for the terminal and for pages.

mod failures;
mod listing;
mod pooled;

use crate::report::model::Table;
use crate::report::text;
use crate::run::RunRecord;
use crate::run::fields::Kind;
use crate::scenario::Scenario;
pub(crate) use failures::Slow;
pub(crate) use listing::masked;
use listing::{NOTHING, Scale, Shown, Told, cell, listing, tells_of_many};
use windlass_sim::MultipathResult;
use windlass_sim::results::ConnectionsResult;

/// The tables of one run, or medians with 95 % intervals over several runs, as text of at most `width` columns.
pub fn text(scenario: &Scenario, records: &[RunRecord], width: usize) -> String {
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
    let tables = all(scenario, &Told { records, longest: MANY });
    let shown = |table| text::table_within(table, width);
    out.push_str(&tables.iter().map(shown).collect::<Vec<_>>().join("\n"));
    if tables.iter().any(tells_of_many) {
        out.push_str(
            "\nA name with * combines several rows; --csv, --json and --out have each row.\n",
        );
    }
    out
}

/// The tables of flows, links, stations and cells for a page, and a note if some rows stand for many. Each part has a row,
/// unless there are more than [`MANY`] flows. A table without rows is left out.
pub fn page_tables(
    scenario: &Scenario,
    records: &[RunRecord],
) -> (Vec<Table>, Option<&'static str>) {
    let longest = if scenario.flows.len() > MANY { MANY } else { usize::MAX };
    let tables = all(scenario, &Told { records, longest });
    let note = tables.iter().any(tells_of_many).then_some(
        "A name with * combines several rows; summary.parquet and links.parquet have each row.",
    );
    (tables, note)
}

/// Maximum number of rows of a table in a terminal, and of flows that a page shows one by one.
pub const MANY: usize = 24;

fn all(scenario: &Scenario, told: &Told<'_>) -> Vec<Table> {
    let mut all = vec![flows(scenario, told)];
    all.extend(failures::slowest(scenario, told));
    if scenario.flows.iter().any(|f| f.multipath.is_some()) {
        all.push(subflows(scenario, told));
    }
    let has = |any: fn(&RunRecord) -> bool| told.records.iter().any(any);
    if has(|r| r.flows.iter().any(|f| f.messages.is_some())) {
        all.push(messages(told));
        all.extend(pooled::table(&pooled::MESSAGES, told));
    }
    if has(|r| r.connections.is_some()) {
        all.push(connections(told));
    }
    if has(|r| r.flows.iter().any(|f| f.coap.is_some())) {
        all.push(exchanges(told));
        all.extend(pooled::table(&pooled::EXCHANGES, told));
    }
    if has(|r| !r.links.is_empty()) {
        all.push(links(told));
    }
    if has(|r| r.radios.iter().any(|radio| !radio.link)) {
        all.push(stations(told));
        if has(|r| r.radios.iter().any(|c| c.routing.is_some())) {
            all.push(routing(told));
        }
    }
    if has(|r| !r.radios.is_empty()) {
        all.push(radios(told));
    }
    all
}

/// The backend of the runs. All runs have the same backend.
fn place(records: &[RunRecord]) -> String {
    match records.first() {
        Some(RunRecord { world, kernel: Some(release), .. }) => {
            format!("on {world} ({release})")
        }
        _ => "simulated".to_string(),
    }
}

const PLAIN: Scale = |v, _| v;
const KILO: Scale = |v, _| v / 1e3;
const PERCENT: Scale = |v, _| v * 100.0;
const DAYS: Scale = |v, _| v / 86_400.0;
/// A time as a share of the run.
const PERCENT_OF_RUN: Scale = |v, r| 100.0 * v / r.end_s.max(f64::MIN_POSITIVE);

/// The columns without the column of a field.
fn without(field: &str, columns: &[Shown]) -> Vec<Shown> {
    columns.iter().filter(|(_, fields, ..)| *fields != [field]).copied().collect()
}

/// The names of the parts of a kind, as the first cells of their rows.
fn names(kind: Kind, records: &[RunRecord]) -> Vec<Vec<String>> {
    let rows = records.first().map_or_else(Vec::new, |first| kind.rows(first));
    rows.into_iter().map(|row| vec![row.name().into_owned()]).collect()
}

fn flows(scenario: &Scenario, told: &Told<'_>) -> Table {
    const COLUMNS: &[Shown] = &[
        ("goodput (bps)", &["goodput_bps"], PLAIN, 0),
        ("throughput (bps)", &["throughput_bps"], PLAIN, 0),
        ("retransmits", &["retransmits"], PLAIN, 0),
        ("timeouts", &["rto_count"], PLAIN, 0),
        ("loss (%)", &["loss_rate"], PERCENT, 2),
        ("srtt (ms)", &["srtt_ms"], PLAIN, 1),
        ("completion (s)", &["completion_s"], PLAIN, 3),
    ];
    let flows = &scenario.flows;
    let firsts = flows.iter().map(|f| vec![f.name.clone(), f.algorithm().into_owned()]).collect();
    let kind = (Kind::Flow, &["flow", "algorithm"][..]);
    let mut table = listing("Flows", kind, firsts, COLUMNS, told);
    table.notes = failures::notes(scenario, told);
    table
}

/// The table of messages at the receiving applications.
fn messages(told: &Told<'_>) -> Table {
    const COLUMNS: &[Shown] = &[
        ("sent", &["messages_sent"], PLAIN, 0),
        ("arrived", &["messages_arrived"], PLAIN, 0),
        ("on time", &["messages_on_time"], PLAIN, 0),
        ("median (ms)", &["message_p50_ms"], PLAIN, 1),
        ("95 % within (ms)", &["message_p95_ms"], PLAIN, 1),
        ("age, 95 % of the time below (ms)", &["message_age_p95_ms"], PLAIN, 0),
    ];
    flows_with("Messages", COLUMNS, told)
}

/// The table of the connections of flows that open them again. Notes give the totals and the first loss.
fn connections(told: &Told<'_>) -> Table {
    const COLUMNS: &[Shown] = &[
        ("opened", &["connections_opened"], PLAIN, 0),
        ("ready", &["connections_ready"], PLAIN, 0),
        ("lost", &["connections_failed"], PLAIN, 0),
        ("connected again, median (ms)", &["reconnect_p50_ms"], PLAIN, 0),
        ("95 % within (ms)", &["reconnect_p95_ms"], PLAIN, 0),
        ("handshakes (bytes)", &["opening_bytes"], PLAIN, 0),
        ("messages lost", &["messages_dropped", "messages_lost"], PLAIN, 0),
    ];
    let mut table = flows_with("Connections", COLUMNS, told);
    let results = || told.records.iter().filter_map(|r| Some((r.seed, r.connections.as_ref()?)));
    type Count = fn(&ConnectionsResult) -> u64;
    let sum = |count: Count| results().map(|(_, c)| count(c)).sum::<u64>();
    let causes: [(&str, Count); 5] = [
        ("without an answer to a SYN", |c| c.no_answer),
        ("with unacknowledged data", |c| c.unacknowledged),
        ("by a reset", |c| c.reset),
        ("by a power cut", |c| c.power_cuts),
        ("not ready in time", |c| c.time_limit),
    ];
    let counted = causes.map(|(cause, count)| (cause, sum(count)));
    let list: Vec<String> =
        (counted.iter().filter(|(_, n)| *n > 0)).map(|(cause, n)| format!("{n} {cause}")).collect();
    if !list.is_empty() {
        let times = |value: fn(&ConnectionsResult) -> Option<f64>| {
            let all: Vec<f64> = results().filter_map(|(_, c)| c.duration(value(c))).collect();
            let unit = if all.iter().all(|ms| ms.is_finite()) { " ms" } else { "" };
            cell(&all, 0) + unit
        };
        table.notes.push(format!("all flows: {} lost: {}", sum(|c| c.failed), list.join(", ")));
        if results().any(|(_, c)| c.duration(c.p50_ms).is_some()) {
            table.notes.push(format!(
                "all flows: connected again after {} (median) and {} (95 %); {} not until the end",
                times(|c| c.p50_ms),
                times(|c| c.p95_ms),
                sum(|c| c.unfinished),
            ));
        }
    }
    let first = results().find_map(|(seed, c)| Some((seed, c.first_loss.as_ref()?)));
    table.notes.extend(first.map(|(seed, text)| format!("first loss, seed {seed}: {text}")));
    table
}

/// The table of CoAP exchanges.
fn exchanges(told: &Told<'_>) -> Table {
    const COLUMNS: &[Shown] = &[
        ("begun", &["exchanges_begun"], PLAIN, 0),
        ("answered", &["exchanges_completed"], PLAIN, 0),
        ("given up", &["exchanges_given_up"], PLAIN, 0),
        ("median (ms)", &["exchange_p50_ms"], PLAIN, 1),
        ("95 % within (ms)", &["exchange_p95_ms"], PLAIN, 1),
    ];
    flows_with("Exchanges of CoAP", COLUMNS, told)
}

/// A table of the flows with a value in the first of these columns.
fn flows_with(caption: &str, columns: &[Shown], told: &Told<'_>) -> Table {
    let firsts = names(Kind::Flow, told.records);
    let mut table = listing(caption, (Kind::Flow, &["flow"][..]), firsts, columns, told);
    table.rows.retain(|row| row.cells[1] != NOTHING);
    table
}

/// The table of the subflows of all multipath flows, with notes about the connections.
fn subflows(scenario: &Scenario, told: &Told<'_>) -> Table {
    const COLUMNS: &[Shown] = &[
        ("goodput (bps)", &["goodput_bps"], PLAIN, 0),
        ("share (%)", &["share"], PERCENT, 1),
        ("retransmits", &["retransmits"], PLAIN, 0),
        ("timeouts", &["rto_count"], PLAIN, 0),
        ("loss (%)", &["loss_rate"], PERCENT, 2),
        ("srtt (ms)", &["srtt_ms"], PLAIN, 1),
        ("window (kB)", &["cwnd_bytes"], KILO, 1),
    ];
    let (mut firsts, mut notes) = (Vec::new(), Vec::new());
    for (i, flow) in scenario.flows.iter().enumerate() {
        let Some(spec) = &flow.multipath else { continue };
        firsts.extend(spec.subflows.iter().map(|subflow| {
            let algorithm = match flow.kernel {
                Some(_) => flow.algorithm().into_owned(),
                None => subflow.controller.info().id.to_owned(),
            };
            vec![format!("{}:{}", flow.name, subflow.name), algorithm]
        }));
        let results: Vec<&MultipathResult> =
            told.records.iter().filter_map(|r| r.flows.get(i)?.multipath.as_deref()).collect();
        notes.push(connection(&flow.name, &results));
    }
    let kind = (Kind::Subflow, &["subflow", "algorithm"][..]);
    Table { notes, ..listing("Subflows", kind, firsts, COLUMNS, told) }
}

/// Note about a multipath connection: reinjections, reordering and fallback.
fn connection(flow: &str, results: &[&MultipathResult]) -> String {
    let of = |value: fn(&MultipathResult) -> f64, digits| {
        cell(&results.iter().map(|m| value(m)).collect::<Vec<f64>>(), digits)
    };
    let mut note = format!(
        "{flow}: {} reinjections on another subflow; at most {} kB waited for earlier data",
        of(|m| m.reinjections as f64, 0),
        of(|m| m.max_out_of_order_bytes as f64 / 1e3, 1),
    );
    let fallen = results.iter().filter(|m| m.fallen_back).count();
    if fallen > 0 {
        note += &match results.len() {
            1 => "; the connection fell back to ordinary TCP".to_string(),
            n => format!("; the connection fell back to ordinary TCP in {fallen} of {n} runs"),
        };
    }
    note
}

fn links(told: &Told<'_>) -> Table {
    const COLUMNS: &[Shown] = &[
        ("sent (packets)", &["sent"], PLAIN, 0),
        ("dropped by queue", &["drops_queue"], PLAIN, 0),
        ("dropped by errors", &["drops_error"], PLAIN, 0),
        ("thinned out", &["drops_thinned"], PLAIN, 0),
        ("utilisation (%)", &["utilisation"], PERCENT, 1),
        ("mean queue (packets)", &["mean_queue_packets"], PLAIN, 2),
        ("mean wait (ms)", &["mean_queue_delay_ms"], PLAIN, 3),
    ];
    let kind = (Kind::Link, &["link"][..]);
    let thinned = told.records.iter().flat_map(|r| &r.links).any(|l| l.drops_thinned > 0);
    let columns = if thinned { COLUMNS.to_vec() } else { without("drops_thinned", COLUMNS) };
    listing("Links", kind, names(Kind::Link, told.records), &columns, told)
}

/// The table of the stations of all cells. A note gives the share of time in which each cell is busy.
fn stations(told: &Told<'_>) -> Table {
    const COLUMNS: &[Shown] = &[
        ("offered (packets)", &["offered"], PLAIN, 0),
        ("delivered", &["delivered"], PLAIN, 0),
        ("dropped by queue", &["drops_queue"], PLAIN, 0),
        ("dropped after retries", &["drops_retry"], PLAIN, 0),
        ("frames retransmitted", &["retransmissions"], PLAIN, 0),
        ("airtime (%)", &["airtime_s"], PERCENT_OF_RUN, 1),
        ("mean queue (packets)", &["mean_queue_packets"], PLAIN, 2),
        ("mean service (ms)", &["mean_service_ms"], PLAIN, 3),
    ];
    let kind = (Kind::Station, &["station"][..]);
    let mut table = listing("Stations", kind, names(Kind::Station, told.records), COLUMNS, told);
    let cells = told.records.first().map_or(&[][..], |first| &first.radios);
    let of_link = |name: &str| cells.iter().any(|radio| radio.link && is_of(&radio.name, name));
    table.rows.retain(|row| !of_link(&row.cells[0]));
    for (c, radio) in cells.iter().enumerate().filter(|(_, radio)| !radio.link) {
        let busy: Vec<f64> =
            told.records.iter().filter_map(|r| Some(100.0 * r.radios.get(c)?.busy)).collect();
        let note = format!("{}: a station transmits {} % of the time", radio.name, cell(&busy, 1));
        table.notes.push(note);
    }
    table
}

/// True if this is the name of a station of the radio.
fn is_of(radio: &str, station: &str) -> bool {
    station.strip_prefix(radio).is_some_and(|rest| rest.starts_with(':'))
}

/// The table of routing in the cells with a routing protocol.
fn routing(told: &Told<'_>) -> Table {
    const COLUMNS: &[Shown] = &[
        ("requests sent (packets)", &["rreq_originated", "rreq_forwarded"], PLAIN, 0),
        ("replies", &["rrep_originated", "rrep_forwarded"], PLAIN, 0),
        ("errors", &["rerr_sent"], PLAIN, 0),
        ("HELLO", &["hello_sent"], PLAIN, 0),
        ("searches", &["discoveries"], PLAIN, 0),
        ("without success", &["discoveries_failed"], PLAIN, 0),
        ("broken links", &["link_breaks"], PLAIN, 0),
        ("mean hops", &["mean_hops"], PLAIN, 2),
        (
            "dropped without a route (packets)",
            &["drops_no_route", "drops_on_way", "drops_buffer_time"],
            PLAIN,
            0,
        ),
    ];
    let kind = (Kind::Cell, &["cell"][..]);
    let mut table = listing("Routing (AODV)", kind, names(Kind::Cell, told.records), COLUMNS, told);
    // A cell without routing has no value in any column.
    table.rows.retain(|row| row.cells[1..].iter().any(|cell| cell != NOTHING));
    table
}

/// The table of the radio time and energy of all stations.
fn radios(told: &Told<'_>) -> Table {
    const COLUMNS: &[Shown] = &[
        ("transmit (%)", &["transmit_s"], PERCENT_OF_RUN, 2),
        ("receive (%)", &["receive_s"], PERCENT_OF_RUN, 2),
        ("listen (%)", &["listen_s"], PERCENT_OF_RUN, 2),
        ("idle (%)", &["idle_s"], PERCENT_OF_RUN, 2),
        ("sleep (%)", &["sleep_s"], PERCENT_OF_RUN, 2),
        ("off (%)", &["off_s"], PERCENT_OF_RUN, 2),
        ("connections", &["connections"], PLAIN, 0),
        ("energy (J)", &["energy_j"], PLAIN, 3),
        ("without packets (J)", &["rest_j"], PLAIN, 3),
        ("died (s)", &["died_s"], PLAIN, 3),
        ("battery (days)", &["battery_life_s"], DAYS, 0),
    ];
    let kind = (Kind::Station, &["radio"][..]);
    let stations = told.records.iter().flat_map(|r| &r.radios).flat_map(|cell| &cell.stations);
    let radios = told.records.iter().flat_map(|r| &r.radios);
    let [mut on_links, mut in_cells] = [false; 2];
    radios.for_each(|radio| *(if radio.link { &mut on_links } else { &mut in_cells }) = true);
    let asleep = stations.clone().any(|s| s.sleep_s > 0.0);
    let charged = stations.into_iter().any(|s| s.battery_left_j.is_some());
    let mut hidden: Vec<&str> = Vec::new();
    hidden.extend((!asleep).then_some("sleep_s"));
    if !on_links {
        hidden.extend(["connections", "rest_j"]);
    }
    if !(on_links && charged) {
        hidden.push("battery_life_s");
    }
    if !in_cells {
        hidden.extend(["off_s", "died_s"]);
    }
    let shown = |column: &&Shown| !hidden.iter().any(|field| column.1 == [*field]);
    let columns: Vec<Shown> = COLUMNS.iter().filter(shown).copied().collect();
    listing("Radio time and energy", kind, names(Kind::Station, told.records), &columns, told)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Runner, Task, World};

    const SCENARIO: &str = r#"
duration = "20s"
[[link]]
between = ["meter", "base"]
rate = "250kbps"
delay = "10ms"
[[flow]]
name = "reading"
from = "meter"
to = "base"
traffic = { kind = "coap", every = "2s", size = "40B", deadline = "1s" }
[[flow]]
name = "log"
from = "meter"
to = "base"
algorithm = "reno"
"#;

    #[test]
    fn tables_of_messages_and_exchanges_list_only_flows_with_messages_or_exchanges() {
        let scenario = Scenario::from_str(SCENARIO, "street").expect("a scenario");
        let task = Task {
            experiment: "street".into(),
            point: "all".into(),
            seed: 1,
            scenario: scenario.clone().into(),
            scenario_hash: scenario.hash().into(),
            world: World::Sim,
        };
        let record = task.record(&Runner::new(1).run(&task).expect("a run"));
        let (tables, _) = page_tables(&scenario, &[record]);
        for caption in ["Messages", "Exchanges of CoAP"] {
            let table = tables.iter().find(|t| t.caption == caption).expect(caption);
            let cells: Vec<&str> = table.rows.iter().map(|row| row.cells[0].as_str()).collect();
            assert_eq!(cells, ["reading"], "the flow `log` has no row");
            assert_ne!(table.rows[0].cells[1], "0", "{table:?}");
        }
    }
}
