//! `docs/src/reference/scenarios.md` against the code.

use windlass_cc::Flavour;
use windlass_cc::window::MAX_WINDOW;
use windlass_sim::Series;
use windlass_tcp::stack::PRESETS;

use super::{
    Scenario, flow, multipath, network, params, queue, quick_start, read, stack, two_path, wifi,
};

const REFERENCE: &str = include_str!("../../../docs/src/reference/scenarios.md");

/// The table rows of the section with this heading.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let after = REFERENCE.split_once(&format!("\n{heading}\n")).expect(heading).1;
    let section = after.split("\n#").next().unwrap_or(after);
    let cells = |line: &'static str| line.trim_matches('|').split(" | ").map(str::trim).collect();
    section.lines().filter(|line| line.starts_with('|')).map(cells).collect()
}

fn documents(heading: &str, keys: &[&str]) {
    let rows = rows(heading);
    for key in keys {
        let cell = format!("`{key}`");
        let found = rows.iter().any(|row| row.iter().take(2).any(|c| *c == cell));
        assert!(found, "{heading} lacks {key}");
    }
}

#[test]
fn the_reference_has_every_key() {
    documents("## The scenario", &read::KEYS);
    documents("## `[[link]]`", &["name", "between"]);
    documents("## `[[link]]`", &network::LINE_KEYS);
    documents("### `quick_start`", quick_start::KEYS);
    documents("## `[[wifi]]`", &wifi::CELL_KEYS);
    documents("## `[[wifi]]`", &wifi::AIR_KEYS);
    documents("## `[topology]`", &network::TOPOLOGY_KEYS);
    documents("## `[topology]`", &two_path::KEYS);
    documents("### `grid` and `chain`", &["kind", "spacing", "range", "sense", "base", "wireless"]);
    documents("## `[[flow]]`", &flow::KEYS);
    documents("### `multipath`", multipath::CONFIG_KEYS);
    documents("### `multipath`", &multipath::PATH_KEYS);
    documents("### `multipath`", &multipath::SUBFLOW_KEYS);
    let routing = REFERENCE.split_once("\n### `routing`\n").expect("a section").1;
    assert!(wifi::AODV_KEYS.iter().all(|key| routing.contains(&format!("`{key}`"))));
    documents("## `[stack]` and `stack`", stack::STACK_KEYS);
    documents("## `[testbed]`", &read::TESTBED_KEYS);
    let series: Vec<&str> = Series::ALL.iter().map(|(name, _)| *name).collect();
    assert!(series.iter().all(|name| REFERENCE.contains(&format!("`{name}`"))));
    assert_eq!(MAX_WINDOW, 1 << 40, "the reference says 1TiB");
}

#[test]
fn the_reference_has_every_discipline_with_its_keys_and_defaults() {
    let rows = rows("### `queue`");
    let documented = |key: &str| rows.iter().any(|row| row[0] == format!("`{key}`"));
    assert!(queue::KEYS.iter().all(|key| documented(key)));
    for (discipline, keys) in queue::DISCIPLINES {
        let id = discipline.id();
        assert!(rows[2][1].contains(&format!("`{id}`")), "{id} is not named");
        let Some(written) = queue::own_written(&discipline) else { continue };
        let first = rows.iter().position(|row| row[0] == format!("`{id}`")).expect(id);
        assert_eq!(written.len(), keys.len());
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
        assert_eq!(scenario.flows[0].name, "download");
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
