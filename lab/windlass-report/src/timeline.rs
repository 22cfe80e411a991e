//! Charts over one time axis. Each is an ordinary chart, with spans of time behind the curves and moments above them. A
//! moment links to its explanation.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde_json::{Value, json};

use super::model::{Moment, MomentKind, Spell, SpellTone, Timeline};
use super::palette::INK;

/// Maximum number of spans, and of moments, that are drawn separately. If there are more, the time is divided into this
/// number of parts, and the spans or moments of one part become one.
const LIMIT: usize = 1000;

/// Spans of time with their colours and names.
const TONES: [(SpellTone, &str, &str); 2] = [
    (SpellTone::Recovery, "#E69F00", "fast recovery"),
    (SpellTone::Timeout, "#D55E00", "after a timeout"),
];

/// Explanation of the symbols in the caption, in whole sentences.
pub(super) fn key(t: &Timeline) -> String {
    let kinds = MomentKind::ALL.into_iter().filter(|k| t.moments.iter().any(|m| m.kind == *k));
    let mut said: Vec<String> =
        kinds.map(|kind| format!("{} {}", kind.look().2, kind.name())).collect();
    for (tone, _, name) in TONES {
        if t.spells.iter().any(|s| s.tone == tone) {
            said.push(format!("shaded: {name}"));
        }
    }
    match said.is_empty() {
        true => String::new(),
        false => format!("Symbols at the top: {}. Choose one to read why.", said.join("; ")),
    }
}

impl MomentKind {
    /// Every kind in the order of the key.
    pub(super) const ALL: [MomentKind; 5] = [
        MomentKind::Loss,
        MomentKind::Timeout,
        MomentKind::Mark,
        MomentKind::Unfounded,
        MomentKind::Other,
    ];

    fn name(self) -> &'static str {
        match self {
            MomentKind::Loss => "loss found",
            MomentKind::Timeout => "timeout",
            MomentKind::Mark => "congestion mark answered",
            MomentKind::Unfounded => "reduction that proved unfounded",
            MomentKind::Other => "the algorithm's own rule",
        }
    }

    /// Vega's symbol, its colour, and the symbol as a character.
    fn look(self) -> (&'static str, &'static str, char) {
        match self {
            MomentKind::Loss => ("triangle-down", "#D55E00", '▼'),
            MomentKind::Timeout => ("square", "#D55E00", '■'),
            MomentKind::Mark => ("diamond", "#0072B2", '◆'),
            MomentKind::Unfounded => ("circle", "#009E73", '●'),
            MomentKind::Other => ("triangle-right", INK, '▶'),
        }
    }
}

/// The layers that a timeline adds to a chart whose horizontal position is encoded like `x`. `first` is true for its
/// first chart.
pub(super) fn layers(t: &Timeline, first: bool, x: &Value) -> Vec<Value> {
    let mut layers: Vec<Value> =
        TONES.into_iter().filter_map(|(tone, colour, _)| spells(t, tone, colour, x)).collect();
    if first {
        layers.extend(MomentKind::ALL.into_iter().filter_map(|kind| moments(t, kind, x)));
    }
    layers
}

fn at_field(x: &Value, field: &str) -> Value {
    let mut encoding = x.clone();
    encoding["field"] = json!(field);
    encoding
}

fn spells(t: &Timeline, tone: SpellTone, colour: &str, x: &Value) -> Option<Value> {
    let all = t.spells.iter().filter(|s| s.tone == tone).map(|Spell { from, to, .. }| [*from, *to]);
    let rows: Vec<Value> =
        joined(all.collect()).iter().map(|[from, to]| json!({"from": from, "to": to})).collect();
    (!rows.is_empty()).then(|| {
        json!({
            "data": {"values": rows},
            "mark": {"type": "rect", "clip": true, "color": colour, "opacity": 0.13, "aria": false},
            "encoding": {"x": at_field(x, "from"), "x2": {"field": "to"}},
        })
    })
}

/// The length of one part of the time between two moments.
fn part(from: f64, to: f64) -> f64 {
    ((to - from) / LIMIT as f64).max(f64::MIN_POSITIVE)
}

/// The spans. If there are too many, spans without a visible gap between them are joined.
fn joined(mut spans: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    if spans.len() <= LIMIT {
        return spans;
    }
    spans.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let end = spans.iter().map(|s| s[1]).fold(spans[0][1], f64::max);
    let near = part(spans[0][0], end);
    let mut out: Vec<[f64; 2]> = Vec::new();
    for [from, to] in spans {
        match out.last_mut() {
            Some(last) if from - last[1] < near => last[1] = last[1].max(to),
            _ => out.push([from, to]),
        }
    }
    out
}

/// The moments. If there are too many, all explained moments are kept. The first other moment of each part of the time
/// is also kept, with the number of further moments in this part.
fn gathered(all: Vec<&Moment>) -> Vec<(&Moment, usize)> {
    let times = || all.iter().map(|m| m.at);
    let Some(first) = times().reduce(f64::min).filter(|_| all.len() > LIMIT) else {
        return all.into_iter().map(|m| (m, 0)).collect();
    };
    let width = part(first, times().fold(first, f64::max));
    let mut firsts: BTreeMap<u64, usize> = BTreeMap::new();
    let mut out: Vec<(&Moment, usize)> = Vec::new();
    for moment in all {
        if moment.story.is_some() {
            out.push((moment, 0));
            continue;
        }
        match firsts.entry(((moment.at - first) / width) as u64) {
            Entry::Occupied(place) => out[*place.get()].1 += 1,
            Entry::Vacant(place) => {
                place.insert(out.len());
                out.push((moment, 0));
            }
        }
    }
    out
}

fn moments(t: &Timeline, kind: MomentKind, x: &Value) -> Option<Value> {
    let all = gathered(t.moments.iter().filter(|m| m.kind == kind).collect());
    let row = |(Moment { at, text, story, .. }, more): (&Moment, usize)| {
        let href = story.as_ref().map_or(String::new(), |id| format!("#{id}"));
        let more = if more > 0 { format!("; {more} more close by") } else { String::new() };
        json!({"at": at, "text": format!("{text}{more}"), "href": href})
    };
    let rows: Vec<Value> = all.into_iter().map(row).collect();
    let (shape, colour, _) = kind.look();
    (!rows.is_empty()).then(|| {
        json!({
            "data": {"values": rows},
            "mark": {
                "type": "point", "clip": true, "shape": shape, "filled": true, "size": 70,
                "color": colour, "opacity": 0.9, "cursor": "pointer", "aria": false,
            },
            "encoding": {
                "x": at_field(x, "at"),
                "y": {"value": 6},
                "href": {"field": "href"},
                "tooltip": [
                    {"field": "at", "type": "quantitative", "title": "Time (s)", "format": ".6f"},
                    {"field": "text", "type": "nominal", "title": kind.name()},
                ],
            },
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline() -> Timeline {
        Timeline {
            spells: vec![Spell { from: 1.0, to: 2.0, tone: SpellTone::Recovery }],
            moments: vec![Moment {
                at: 1.0,
                kind: MomentKind::Timeout,
                text: "reading: 20 → 1 segments".to_owned(),
                story: Some("why-0".to_owned()),
            }],
            ..Timeline::default()
        }
    }

    #[test]
    fn moments_are_in_the_first_chart_only_and_spells_in_all_charts() {
        let x = json!({"field": "x", "type": "quantitative"});
        let first = layers(&timeline(), true, &x);
        assert_eq!(first.len(), 2);
        assert_eq!(first[0]["encoding"]["x"]["field"], "from");
        assert_eq!(first[1]["data"]["values"][0]["href"], "#why-0");
        let other = layers(&timeline(), false, &x);
        assert_eq!(other, first[..1]);
    }

    #[test]
    fn thousands_of_moments_and_spells_are_thinned_and_explained_moments_stay() {
        let many = 10 * LIMIT;
        let at = |i: usize| i as f64;
        let moment = |i: usize| Moment {
            at: at(i),
            kind: MomentKind::Loss,
            text: format!("{i}"),
            story: i.is_multiple_of(2500).then(|| format!("why-{i}")),
        };
        let t = Timeline {
            spells: (0..many)
                .filter(|i| i % 1000 != 0)
                .map(|i| Spell { from: at(i), to: at(i) + 0.5, tone: SpellTone::Recovery })
                .chain([Spell { from: 1e5, to: 1e5 + 1.0, tone: SpellTone::Recovery }])
                .collect(),
            moments: (0..many).map(moment).collect(),
            ..Timeline::default()
        };
        let drawn = layers(&t, true, &json!({}));
        let rows = |layer: &Value| layer["data"]["values"].as_array().cloned().expect("rows");
        let spells = rows(&drawn[0]);
        assert_eq!(spells.len(), 2, "one that goes on, and one far away");
        assert_eq!((&spells[0]["from"], &spells[1]["to"]), (&json!(1.0), &json!(1e5 + 1.0)));
        let moments = rows(&drawn[1]);
        assert!((LIMIT..=LIMIT + 5).contains(&moments.len()), "{}", moments.len());
        let told = moments.iter().filter(|m| m["href"] != "").count();
        assert_eq!(told, 4);
        let also = |m: &Value| -> usize {
            let text = m["text"].as_str().expect("a text");
            let more = text.split_once("; ").and_then(|(_, rest)| rest.split_once(" more"));
            1 + more.map_or(0, |(n, _)| n.parse().expect("a number"))
        };
        assert_eq!(moments.iter().map(also).sum::<usize>(), many, "none is forgotten");
    }

    #[test]
    fn the_key_names_only_symbols_that_occur() {
        let said = key(&timeline());
        assert!(said.contains("■ timeout") && said.contains("fast recovery"), "{said}");
        assert!(!said.contains("mark") && !said.contains("after a timeout"), "{said}");
        assert_eq!(key(&Timeline::default()), "");
    }
}
