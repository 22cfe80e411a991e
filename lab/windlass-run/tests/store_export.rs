//! Tables and files: all data of the records are there, and files are complete.

use std::fs::{self, File};
use std::path::Path;

use crate::store_support::record;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::{Map, Value, json};
use windlass_cc::Time;
use windlass_run::RunRecord;
use windlass_run::fields::SUMMARY;
use windlass_run::store::{
    Batch, Column, Format, Place, Provenance, SeriesRun, Table, Values, export, table,
};
use windlass_sim::{Sample, Series};

fn records() -> Vec<RunRecord> {
    (0..20).map(record).collect()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// The rows of a Parquet file as JSON objects.
fn parquet_rows(path: &Path) -> Vec<Map<String, Value>> {
    let file = File::open(path).expect("there");
    let reader = SerializedFileReader::new(file).expect("Parquet");
    let row = |row: Row| row.get_column_iter().map(|(n, f)| (n.clone(), value(f))).collect();
    reader.get_row_iter(None).expect("rows").map(|r| row(r.expect("readable"))).collect()
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Str(text) => json!(text),
        Field::ULong(number) => json!(number),
        Field::Double(number) => json!(number),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        other => panic!("no table has {other}"),
    }
}

/// The expected rows for the parts of runs (`flows` or `links`): all fields of the run and all fields
/// of the part. The part's name is under `name`.
fn expected_rows(records: &[RunRecord], part: &str, name: &str) -> Vec<Map<String, Value>> {
    let mut rows = Vec::new();
    for record in records {
        let Value::Object(run) = json!(record) else { panic!("an object") };
        for part in run[part].as_array().expect("a list") {
            let mut row = part.as_object().expect("an object").clone();
            let own_name = row.remove("name").expect("a name");
            row.insert(name.into(), own_name);
            for key in
                ["experiment", "point", "seed", "scenario_hash", "version", "world", "kernel"]
            {
                row.insert(key.into(), run[key].clone());
            }
            rows.push(row);
        }
    }
    rows
}

fn expected_runs(records: &[RunRecord]) -> Vec<Map<String, Value>> {
    let run = |record| {
        let Value::Object(mut run) = json!(record) else { panic!("an object") };
        run.remove("flows");
        run.remove("links");
        run.remove("radios");
        run
    };
    records.iter().map(run).collect()
}

/// The expected rows of the cells: as [`expected_rows`], without their stations.
fn expected_cells(records: &[RunRecord]) -> Vec<Map<String, Value>> {
    let mut rows = expected_rows(records, "radios", "cell");
    rows.iter_mut().for_each(|row| drop(row.remove("stations")));
    rows
}

/// The expected rows of the stations: their fields, their run's fields and the name of their cell.
fn expected_stations(records: &[RunRecord]) -> Vec<Map<String, Value>> {
    let of_cell = |mut cell: Map<String, Value>| {
        let stations = cell.remove("stations").expect("stations");
        cell.retain(|field, _| field != "busy" && field != "airtime");
        let row = |station: &Value| {
            let mut row = station.as_object().expect("an object").clone();
            let name = row.remove("name").expect("a name");
            row.insert("station".into(), name);
            row.extend(cell.clone());
            row
        };
        stations.as_array().expect("a list").iter().map(row).collect::<Vec<_>>()
    };
    expected_rows(records, "radios", "cell").into_iter().flat_map(of_cell).collect()
}

/// Columns of the flows that come from an inner object: the column's name, the object's name, and the
/// name of the field.
const INNER: [(&str, &str, &str); 16] = [
    ("sender_radio_s", "radio", "sender_s"),
    ("receiver_radio_s", "radio", "receiver_s"),
    ("sender_energy_j", "radio", "sender_j"),
    ("receiver_energy_j", "radio", "receiver_j"),
    ("delay_ms", "transit", "mean_ms"),
    ("delay_min_ms", "transit", "min_ms"),
    ("delay_max_ms", "transit", "max_ms"),
    ("jitter_ms", "transit", "jitter_ms"),
    ("jitter_smoothed_ms", "transit", "jitter_smoothed_ms"),
    ("gap_ms", "transit", "gap_ms"),
    ("messages_sent", "messages", "sent"),
    ("messages_arrived", "messages", "arrived"),
    ("messages_late", "messages", "late"),
    ("message_mean_ms", "messages", "mean_ms"),
    ("message_p99_ms", "messages", "p99_ms"),
    ("message_max_ms", "messages", "max_ms"),
];

/// The expected rows of the flows, without their subflows.
fn expected_flows(records: &[RunRecord]) -> Vec<Map<String, Value>> {
    let mut rows = expected_rows(records, "flows", "flow");
    for row in &mut rows {
        row.remove("multipath");
        for (column, object, field) in INNER {
            let value = row.get(object).and_then(|inner| inner.get(field)?.as_f64());
            row.insert(column.into(), json!(value));
        }
        let count = |field: &str| row.get("messages")?.get(field)?.as_f64();
        let on_time = || Some(count("arrived")? - (count("late")? - count("undelivered")?));
        row.insert("messages_on_time".into(), json!(on_time()));
        row.remove("transit");
        row.remove("messages");
        row.remove("radio");
    }
    rows
}

/// The expected rows of the connections and of the subflows of each multipath flow, with the fields
/// that identify the run and the flow.
fn expected_multipath(records: &[RunRecord]) -> [Vec<Map<String, Value>>; 2] {
    let (mut connections, mut subflows) = (Vec::new(), Vec::new());
    for mut flow in expected_rows(records, "flows", "flow") {
        let Some(Value::Object(mut connection)) = flow.remove("multipath") else { continue };
        let outside =
            ["experiment", "point", "seed", "scenario_hash", "version", "world", "kernel"];
        flow.retain(|field, _| field == "flow" || outside.contains(&field.as_str()));
        for subflow in connection.remove("subflows").expect("a list").as_array().expect("a list") {
            let mut row = subflow.as_object().expect("an object").clone();
            let name = row.remove("name").expect("a name");
            row.insert("subflow".into(), name);
            row.extend(flow.clone());
            subflows.push(row);
        }
        let fallen_back = connection["fallen_back"].as_bool().expect("yes or no");
        connection.insert("fallen_back".into(), json!(u64::from(fallen_back)));
        connection.extend(flow);
        connections.push(connection);
    }
    [connections, subflows]
}

#[test]
fn parquet_holds_every_field_of_every_run_flow_and_link() {
    let (dir, records) = (folder(), records());
    let paths = export::export_records(dir.path(), &records, "windlass run x", &[Format::Parquet])
        .expect("written");
    let names: Vec<_> = paths.iter().map(|p| p.file_name().expect("a name")).collect();
    let expected = ["runs", "summary", "links", "cells", "stations", "multipath", "subflows"]
        .map(|n| n.to_owned() + ".parquet");
    assert_eq!(names, expected.each_ref().map(|n| n.as_str()));
    assert_eq!(parquet_rows(&paths[0]), expected_runs(&records));
    assert_eq!(parquet_rows(&paths[1]), expected_flows(&records));
    assert_eq!(parquet_rows(&paths[2]), expected_rows(&records, "links", "link"));
    assert_eq!(parquet_rows(&paths[3]), expected_cells(&records));
    assert_eq!(parquet_rows(&paths[4]), expected_stations(&records));
    let [connections, subflows] = expected_multipath(&records);
    assert_eq!(parquet_rows(&paths[5]), connections);
    assert_eq!(parquet_rows(&paths[6]), subflows);
}

#[test]
fn json_holds_every_field_of_every_run_flow_and_link() {
    let (dir, records) = (folder(), records());
    let paths = export::export_records(dir.path(), &records, "", &[Format::Json]).expect("written");
    let rows = |path: &Path| -> Vec<Map<String, Value>> {
        serde_json::from_slice(&fs::read(path).expect("there")).expect("JSON")
    };
    assert_eq!(rows(&paths[0]), expected_runs(&records));
    assert_eq!(rows(&paths[1]), expected_flows(&records));
    assert_eq!(rows(&paths[2]), expected_rows(&records, "links", "link"));
    assert_eq!(rows(&paths[3]), expected_cells(&records));
    assert_eq!(rows(&paths[4]), expected_stations(&records));
    let [connections, subflows] = expected_multipath(&records);
    assert_eq!(rows(&paths[5]), connections);
    assert_eq!(rows(&paths[6]), subflows);
}

#[test]
fn without_wifi_and_multipath_there_are_no_files_of_cells_and_subflows() {
    let (dir, mut records) = (folder(), records());
    records.iter_mut().for_each(|run| run.radios.clear());
    records.iter_mut().flat_map(|run| &mut run.flows).for_each(|flow| flow.multipath = None);
    let paths = export::export_records(dir.path(), &records, "", &[Format::Csv]).expect("written");
    assert_eq!(paths.len(), 3);
    let line = serde_json::to_string(&records[0]).expect("JSON");
    assert!(!line.contains("radios"), "journals without cells stay as they were");
    assert!(!line.contains("multipath"), "journals without subflows stay as they were");
}

#[test]
fn parquet_has_provenance_and_meanings_of_columns() {
    let (dir, mut records) = (folder(), records());
    records[3].version = "0.0.9".into();
    export::export_records(dir.path(), &records, "windlass run x", &[Format::Parquet])
        .expect("written");
    let file = File::open(dir.path().join("summary.parquet")).expect("there");
    let reader = SerializedFileReader::new(file).expect("Parquet");
    let pairs = reader.metadata().file_metadata().key_value_metadata().expect("metadata");
    let get = |key| pairs.iter().find(|p| p.key == key).and_then(|p| p.value.as_deref());
    assert_eq!(get("windlass.version"), Some("0.0.9 0.1.0"));
    assert_eq!(get("windlass.scenario_hash"), Some("0123abcd"));
    assert_eq!(get("windlass.command"), Some("windlass run x"));
    let seeds = (0..20).map(|s| s.to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!(get("windlass.seeds"), Some(&*seeds));
    assert_eq!(get("windlass.column.goodput_bps"), Some("delivered_bytes · 8 / active_s"));
}

#[test]
fn the_same_records_give_the_same_bytes() {
    let formats = [Format::Parquet, Format::Csv, Format::Json];
    let bytes = |dir: &Path| -> Vec<Vec<u8>> {
        let paths = export::export_records(dir, &records(), "x", &formats).expect("written");
        paths.iter().map(|p| fs::read(p).expect("there")).collect()
    };
    let (a, b) = (folder(), folder());
    assert_eq!(bytes(a.path()), bytes(b.path()));
}

fn small_table() -> Table {
    let text = [Some("plain"), Some("a,b"), Some("say \"x\""), Some("two\nlines"), None];
    let columns = vec![
        Column {
            name: "text".into(),
            meaning: "",
            values: Values::Text(text.iter().map(|t| t.map(str::to_owned)).collect()),
        },
        Column {
            name: "n".into(),
            meaning: "",
            values: Values::Integer(vec![Some(0), Some(u64::MAX), None, Some(1), Some(2)]),
        },
        Column {
            name: "x_s".into(),
            meaning: "",
            values: Values::Real(vec![Some(0.1 + 0.2), None, Some(-0.5), Some(1e-7), Some(3.0)]),
        },
        Column {
            name: "list_s".into(),
            meaning: "",
            values: Values::Reals(vec![vec![], vec![1.5], vec![1.0, 0.25], vec![], vec![]]),
        },
    ];
    Table { name: "small", columns }
}

fn written(format: Format, parts: Vec<Table>) -> String {
    let mut out = Vec::new();
    export::write(&mut out, format, parts, &Provenance::default()).expect("written");
    String::from_utf8(out).expect("text")
}

#[test]
fn csv_is_quoted_where_it_must_be_and_null_is_empty() {
    let expected = "text,n,x_s,list_s\n\
        plain,0,0.30000000000000004,\n\
        \"a,b\",18446744073709551615,,1.5\n\
        \"say \"\"x\"\"\",,-0.5,1;0.25\n\
        \"two\nlines\",1,0.0000001,\n\
        ,2,3,\n";
    assert_eq!(written(Format::Csv, vec![small_table()]), expected);
    let twice = written(Format::Csv, vec![small_table(), small_table()]);
    assert_eq!(twice.matches("text,n").count(), 1);
    assert_eq!(twice.matches("plain").count(), 2);
}

/// The names of a sweep's columns are the names of its axes, which the user chooses.
#[test]
fn names_of_columns_are_escaped_as_texts_are() {
    let mut table = small_table();
    table.columns[0].name = "a,b\"c".into();
    let csv = written(Format::Csv, vec![table.clone()]);
    assert!(csv.starts_with("\"a,b\"\"c\",n,x_s,list_s\n"), "{csv}");
    let rows: serde_json::Value =
        serde_json::from_str(&written(Format::Json, vec![table])).unwrap();
    assert_eq!(rows[0]["a,b\"c"], "plain");
}

#[test]
fn json_without_rows_is_an_empty_array() {
    let empty = SUMMARY.table(&[]);
    assert_eq!(written(Format::Json, vec![empty.clone()]), "[]\n");
    assert_eq!(written(Format::Csv, vec![empty]).lines().count(), 1);
}

#[test]
fn a_table_of_no_part_is_refused() {
    let error = export::write(&mut Vec::new(), Format::Csv, [], &Provenance::default());
    assert_eq!(error.expect_err("no columns").kind(), std::io::ErrorKind::InvalidInput);
}

fn sample(time_ms: u64, flow: u32, series: Series, value: u64) -> Sample {
    Sample { time: Time::from_millis(time_ms), flow, series, value }
}

const PLACE: Place<'_> = Place { experiment: "e", point: "p", form: "0123abcd" };

#[test]
fn samples_of_one_instant_and_flow_share_a_row() {
    let samples = [
        sample(0, 0, Series::Cwnd, 10),
        sample(0, 0, Series::Ssthresh, 20),
        sample(0, 1, Series::Cwnd, 30),
        sample(1500, 1, Series::Cwnd, 40),
        sample(1500, 1, Series::Cwnd, 50),
        sample(1500, 1, Series::Srtt, 60),
    ];
    let flows = ["a".to_owned(), "b".to_owned()];
    let run = SeriesRun { place: PLACE, seed: 7, flows: &flows, samples: &samples };
    let dir = folder();
    let (batch, _) = Batch::open(dir.path()).expect("a batch");
    let path = batch.write_series(run, &Provenance::default()).expect("written");
    assert_eq!(path, dir.path().join("series/e/p@0123abcd/7.parquet"));
    let row = |time: f64, flow: &str, cwnd: u64, other: Option<(&str, u64)>| {
        let mut row = Map::new();
        for (name, _) in Series::ALL {
            row.insert(name.into(), Value::Null);
        }
        row.insert("experiment".into(), json!("e"));
        row.insert("point".into(), json!("p"));
        row.insert("seed".into(), json!(7));
        row.insert("time_s".into(), json!(time));
        row.insert("flow".into(), json!(flow));
        row.insert("cwnd_bytes".into(), json!(cwnd));
        if let Some((name, value)) = other {
            row.insert(name.into(), json!(value));
        }
        row
    };
    let expected = [
        row(0.0, "a", 10, Some(("ssthresh_bytes", 20))),
        row(0.0, "b", 30, None),
        row(1.5, "b", 40, None),
        row(1.5, "b", 50, Some(("srtt_ns", 60))),
    ];
    assert_eq!(parquet_rows(&path), expected);
}

#[test]
fn long_series_are_written_in_parts_and_none_is_still_a_table() {
    let flows = ["a".to_owned()];
    let samples: Vec<Sample> =
        (0..150_000).map(|i| sample(i, 0, Series::Delivered, i * 3)).collect();
    let run = SeriesRun { place: PLACE, seed: 1, flows: &flows, samples: &samples };
    let parts: Vec<usize> = table::series([run]).map(|t| t.rows()).collect();
    assert_eq!(parts, [65_536, 65_536, 150_000 - 2 * 65_536]);
    let dir = folder();
    let path = export::export(
        dir.path(),
        "series",
        Format::Parquet,
        table::series([run]),
        &Provenance::default(),
    )
    .expect("written");
    let rows = parquet_rows(&path);
    assert_eq!(rows.len(), 150_000);
    assert!(rows.iter().zip(0_u64..).all(|(r, i)| r["delivered_bytes"] == json!(3 * i)));

    let parts: Vec<Table> = table::series([]).collect();
    assert_eq!((parts.len(), parts[0].rows()), (1, 0));
    assert!(parts[0].columns.len() > Series::ALL.len());
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error_in_every_format() {
    for format in [Format::Parquet, Format::Csv, Format::Json] {
        let mut full = File::options().write(true).open("/dev/full").expect("Linux has it");
        let parts = [SUMMARY.table(&records())];
        let error = export::write(&mut full, format, parts, &Provenance::default());
        let text = error.expect_err("no space").to_string();
        assert!(text.contains("No space left"), "{format:?}: {text}");
    }
}

#[test]
fn a_failed_export_leaves_nothing_behind() {
    let dir = folder();
    fs::create_dir(dir.path().join("summary.csv")).expect("made");
    let parts = [SUMMARY.table(&records())];
    let result = export::export(dir.path(), "summary", Format::Csv, parts, &Provenance::default());
    let text = result.expect_err("a folder is in the way").to_string();
    assert!(text.starts_with("cannot put in place ") && text.contains("summary.csv: "), "{text}");
    assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 1);
}

/// The other tables of the page are generated from the fields.
#[test]
fn every_series_is_explained_in_the_data_dictionary() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference/results.md");
    let text = fs::read_to_string(path).expect("docs/src/reference/results.md");
    let (_, section) = text.split_once("## `series`").expect("the section");
    let section = section.split("\n## ").next().unwrap_or_default();
    for column in table::series([]).next().expect("a table").columns {
        let kind = match (&column.values, column.name.as_ref()) {
            (Values::Text(_), _) => "text",
            (Values::Real(_), _) => "real",
            (_, "seed") => "integer",
            _ => "integer or null",
        };
        let row = format!("| `{}` | {kind} | {} |", column.name, column.meaning);
        assert!(section.lines().any(|line| line == row), "the section lacks {row}");
    }
}

/// A folder with another program's file of a name in the page's list is refused and not changed.
#[test]
fn a_folder_with_a_foreign_file_is_refused_and_unchanged() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference/results.md");
    let page = fs::read_to_string(path).expect("docs/src/reference/results.md");
    let (table, _) = page.split_once("\n\nFor ").expect("the table's end");
    let cells = table.lines().filter_map(|row| row.strip_prefix("| `")?.split(" | ").next());
    let names = cells.flat_map(|cell| cell.split('`').filter(|word| word.contains('.')));
    let ours = ["journal.jsonl", "batch.lock"];
    let mut refused = 0;
    for name in names.filter(|name| !name.contains('/') && !ours.contains(name)) {
        let dir = folder();
        let file = dir.path().join(name.replace('*', "csv"));
        fs::write(&file, "mine").expect("written");
        let said = Batch::open(dir.path()).expect_err(name).to_string();
        assert!(said.contains("is there and was not written by Windlass"), "{said}");
        assert_eq!(fs::read_to_string(&file).expect("there"), "mine");
        assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 1, "{name}");
        refused += 1;
    }
    assert!(refused > 15, "{refused}");
    let dir = folder();
    fs::write(dir.path().join("notes.csv"), "mine").expect("written");
    Batch::open(dir.path()).expect("what is never written over may stay");
}
