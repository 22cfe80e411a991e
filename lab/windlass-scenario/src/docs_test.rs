//! Compares `docs/src/reference/scenarios.md` with the declared keys.

use std::collections::BTreeMap;

use windlass_cc::Flavour;
use windlass_cc::window::MAX_WINDOW;
use windlass_sim::Series;
use windlass_tcp::stack::PRESETS;

use crate::queue::{self, QUEUE};
use crate::read::SCENARIO;
use crate::reference::{key_table, sections};
use crate::schema::{Section, Shape};
use crate::{Scenario, params, stack};

const REFERENCE: &str = include_str!("../../../docs/src/reference/scenarios.md");

/// The table rows of the section with this heading.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let after = REFERENCE.split_once(&format!("\n{heading}\n")).expect(heading).1;
    let section = after.split("\n#").next().unwrap_or(after);
    let cells = |line: &'static str| line.trim_matches('|').split(" | ").map(str::trim).collect();
    section.lines().filter(|line| line.starts_with('|')).map(cells).collect()
}

/// Checks that a table under this heading has the section's keys with the declared meanings and defaults.
fn documents(heading: &str, section: &Section) {
    let rows = rows(heading);
    for key in (section.own)() {
        let name = format!("`{}`", key.name);
        let says = |cells: &[&str]| {
            cells[0] == name
                && cells.get(1) == Some(&key.meaning)
                && (key.default.is_empty() || cells.get(2) == Some(&key.default))
        };
        let found = rows.iter().any(|row| says(row) || row.len() > 1 && says(&row[1..]));
        assert!(found, "{heading} lacks | {name} | {} | {} |", key.meaning, key.default);
    }
}

/// The sections whose tables the book generates.
fn generated() -> impl Iterator<Item = &'static str> {
    let directives =
        REFERENCE.lines().filter_map(|line| line.strip_prefix("{{#windlass book keys "));
    directives.flat_map(|line| line.trim_end_matches('}').split([' ', '+']))
}

/// The sections of all queue disciplines.
fn of_disciplines() -> Vec<&'static str> {
    let mut names: Vec<&str> =
        QUEUE.kinds.iter().flat_map(|(_, all)| *all).map(|s| s.name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[test]
fn each_generated_table_exists() {
    assert!(generated().count() > 20);
    for name in generated() {
        assert!(key_table(&[name]).is_ok(), "{name}");
    }
}

#[test]
fn the_reference_has_every_key_with_its_meaning_and_default() {
    let mut there = BTreeMap::new();
    sections(&Shape::Table(&SCENARIO), &mut there);
    for (heading, sections) in [
        ("## The scenario", &["scenario"][..]),
        ("## `[[link]]`", &["link", "line"]),
        ("### `rate`", &["rate_trace"]),
        ("### `delay`", &["delay_trace"]),
        ("### `jitter`, `reorder` and `acks`", &["jitter", "reorder", "acks"]),
        ("### `back`", &["back"]),
        ("### `quick_start`", &["quick_start"]),
        ("### `radio`", &["radio", "radio_power", "cellular", "class-a"]),
        ("### `queue`", &of_disciplines()),
        (
            "### `loss`",
            &["direction", "drop", "ber", "gilbert-elliott", "bursts", "list", "loss_steps"],
        ),
        ("## `[[wifi]]`", &["wifi", "air", "station", "consumption", "log-distance", "disc"]),
        ("## `[[wifi]]`", &["fair", "fitness"]),
        (
            "### `rate_adaptation`, `aggregation` and `beacons`",
            &["rate_adaptation", "aggregation", "beacons"],
        ),
        ("### `lowpan`", &["lowpan"]),
        ("### `sleep`", &["cell_sleep", "sleep"]),
        ("### `routing`", &["aodv", "aodv_constants"]),
        ("## `[topology]`", &["dumbbell", "wireless", "star", "two-path"]),
        ("### `grid` and `chain`", &["grid", "chain", "stations"]),
        ("## `[[flow]]`", &["flow"]),
        ("### `traffic`", &["bulk", "request-response", "cbr", "messages", "coap", "media"]),
        ("### `read`", &["delayed", "rate"]),
        ("### `reconnect`", &["reconnect", "reconnect_rule"]),
        ("### `dialogue`", &["dialogue", "step"]),
        ("### `multipath`", &["multipath", "connection", "subflow"]),
        ("## `[stack]` and `stack`", &["endpoint"]),
        ("## `[[outage]]`", &["outage"]),
        ("## `[record]`", &["record"]),
        ("## `[testbed]`", &["testbed"]),
    ] {
        for name in sections {
            let section = there.remove(name).expect(name);
            if !generated().any(|known| known == *name) {
                documents(heading, section);
            }
        }
    }
    // Its table has a column for each preset, which another test reads.
    there.remove("stack");
    assert!(there.is_empty(), "not looked for: {:?}", there.keys());
    let series: Vec<&str> = Series::ALL.iter().map(|(name, _)| *name).collect();
    let record = key_table(&["record"]).expect("the section");
    assert!(series.iter().all(|name| record.contains(&format!("`{name}`"))));
    assert_eq!(MAX_WINDOW, 1 << 40, "the reference says 1TiB");
}

#[test]
fn the_reference_has_every_discipline_with_its_keys_and_defaults() {
    let rows = rows("### `queue`");
    for discipline in queue::disciplines() {
        let id = discipline.id();
        assert!(rows[2][1].contains(&format!("`{id}`")), "{id} is not named");
        let Some(written) = queue::own_written(&discipline) else { continue };
        let first = rows.iter().position(|row| row[0] == format!("`{id}`")).expect(id);
        let rtts = if id == "dualpi2" { 2 } else { 0 };
        assert_eq!(written.len() + 3 + rtts, QUEUE.names(id).len());
        for (row, (key, text)) in rows[first..].iter().zip(written) {
            assert_eq!((row[1], row[3]), (&*format!("`{key}`"), &*format!("`{text}`")), "{id}");
            assert!(!row[2].is_empty() && !row[4].is_empty(), "{id} {key}");
        }
    }
}

#[test]
fn the_reference_has_the_presets_values() {
    let rows = rows("## `[stack]` and `stack`");
    for (column, preset) in PRESETS.iter().enumerate() {
        assert_eq!(rows[0][2 + column], format!("`{}`", preset.name));
        let flavour = Flavour::WORDS[preset.flavour as usize];
        assert_eq!(rows[3][..1], ["`flavour`"]);
        assert_eq!(rows[3][2 + column], format!("`\"{flavour}\"`"), "{}", preset.name);
        let (rto, fields): (Vec<_>, Vec<_>) =
            stack::written(&preset.config).into_iter().partition(|(key, _)| *key == "rto");
        let rto_fields = params::written_timer(&preset.config.rto);
        assert_eq!(rto.len(), 1);
        for (key, text) in fields.into_iter().chain(rto_fields) {
            let row = rows.iter().find(|row| row[0] == format!("`{key}`")).expect(key);
            assert_eq!(row[2 + column], format!("`{text}`"), "{key} of {}", preset.name);
        }
    }
}

/// The whole scenarios among the reference's TOML.
fn examples() -> Vec<&'static str> {
    let blocks = REFERENCE.split("```toml\n").skip(1).filter_map(|s| s.split("```").next());
    blocks.filter(|text| text.contains("duration")).collect()
}

#[test]
fn the_references_examples_are_scenarios() {
    for text in examples() {
        let scenario = Scenario::from_str(text, "example.toml").unwrap();
        assert!(["download", "meter-1"].contains(&&*scenario.flows[0].name), "{text}");
        let config = crate::compile::compile(&scenario, scenario.seed).unwrap();
        let mut simulation = windlass_sim::Simulation::new(config).unwrap();
        simulation.run();
        simulation.finish().unwrap();
    }
    assert_eq!(examples().len(), REFERENCE.matches("```toml").count());
}

#[test]
fn the_references_overrides_fit_its_example() {
    let text = examples()[0];
    let sets = REFERENCE.lines().filter_map(|l| l.strip_prefix("    --set "));
    let mut count = 0;
    for set in sets {
        let (key, value) = set.trim_matches('\'').split_once('=').unwrap();
        let set = [(key.to_owned(), value.to_owned())];
        let changed = Scenario::with_overrides(text, "example.toml", &set).unwrap();
        assert_ne!(changed, Scenario::from_str(text, "example.toml").unwrap(), "{key}");
        count += 1;
    }
    assert!(count >= 5, "{count}");
}
