//! Charts over one axis of time: each a chart like any other, with spans of time behind the curves and moments above them, by
//! which a reader gets to what is said of them.

use serde_json::{Value, json};

use super::model::{Moment, MomentKind, Spell, SpellTone, Timeline};
use super::palette::INK;

/// Spans of time with their colours and names.
const TONES: [(SpellTone, &str, &str); 2] = [
    (SpellTone::Recovery, "#E69F00", "fast recovery"),
    (SpellTone::Timeout, "#D55E00", "after a timeout"),
];

/// What the caption must say about the symbols, in whole sentences.
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
    /// In the order of the key.
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

    /// Vega's symbol, its colour, and the same as a letter.
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

/// The layers that a timeline adds to its first chart or to another, whose horizontal position is encoded like `x`.
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
    let rows: Vec<Value> = (t.spells.iter())
        .filter(|s| s.tone == tone)
        .map(|Spell { from, to, .. }| json!({"from": from, "to": to}))
        .collect();
    (!rows.is_empty()).then(|| {
        json!({
            "data": {"values": rows},
            "mark": {"type": "rect", "clip": true, "color": colour, "opacity": 0.13, "aria": false},
            "encoding": {"x": at_field(x, "from"), "x2": {"field": "to"}},
        })
    })
}

fn moments(t: &Timeline, kind: MomentKind, x: &Value) -> Option<Value> {
    let rows: Vec<Value> = (t.moments.iter())
        .filter(|m| m.kind == kind)
        .map(|Moment { at, text, story, .. }| {
            let href = story.as_ref().map_or(String::new(), |id| format!("#{id}"));
            json!({"at": at, "text": text, "href": href})
        })
        .collect();
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
    fn moments_stand_in_the_first_chart_alone_and_spells_in_all() {
        let x = json!({"field": "x", "type": "quantitative"});
        let first = layers(&timeline(), true, &x);
        assert_eq!(first.len(), 2);
        assert_eq!(first[0]["encoding"]["x"]["field"], "from");
        assert_eq!(first[1]["data"]["values"][0]["href"], "#why-0");
        let other = layers(&timeline(), false, &x);
        assert_eq!(other, first[..1]);
    }

    #[test]
    fn the_key_names_what_there_is_and_nothing_else() {
        let said = key(&timeline());
        assert!(said.contains("■ timeout") && said.contains("fast recovery"), "{said}");
        assert!(!said.contains("mark") && !said.contains("after a timeout"), "{said}");
        assert_eq!(key(&Timeline::default()), "");
    }
}
