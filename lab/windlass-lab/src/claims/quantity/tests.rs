use super::*;

const TIME: &str = "metric = { path = 'flow.f.completion_s', at = 'e/p' }";
const RATE: &str = "metric = { path = 'flow.f.goodput_bps', at = 'e/p' }";
const COUNT: &str = "metric = { path = 'flow.f.rto_count', at = 'e/p' }";

fn quantity(text: &str) -> Quantity {
    #[derive(Deserialize)]
    struct One {
        q: Quantity,
    }
    toml::from_str::<One>(&format!("q = {{ {text} }}")).unwrap_or_else(|e| panic!("{text}: {e}")).q
}

/// Operations with their operands as `X` and `Y`.
const TWO: [&str; 3] =
    ["difference = [{ X }, { Y }]", "ratio = [{ X }, { Y }]", "percent_change = [{ X }, { Y }]"];
const SEVERAL: [&str; 6] = [
    "sum = [{ X }, { Y }]",
    "mean = [{ X }, { Y }]",
    "median = [{ X }, { Y }]",
    "largest = [{ X }, { Y }]",
    "least = [{ X }, { Y }]",
    "trend = [{ X }, { Y }]",
];

fn filled(operation: &str, x: &str, y: &str) -> Quantity {
    quantity(
        &operation.replace("{ X }", &format!("{{ {x} }}")).replace("{ Y }", &format!("{{ {y} }}")),
    )
}

#[test]
fn every_operation_has_its_word_its_parts_and_their_paths() {
    for operation in TWO.iter().chain(&SEVERAL) {
        let key = operation.split(' ').next().unwrap();
        let mut q = filled(operation, "constant = 1", "model = 'm'");
        let parts = [Quantity::Constant(1.0), Quantity::Model("m".into())];
        assert_eq!((q.key(), q.parts()), (key, &parts[..]));
        assert_eq!(q.parts_mut(), parts);
        assert_eq!(q.path_of("at", 1), format!("at.{key}.1"));
        let two = TWO.contains(operation);
        assert_eq!(q.pair().map(|pair| &pair[..]), two.then_some(&parts[..]));
        assert_eq!(q.several(), (!two).then_some(&parts[..]));
    }
    let mut abs = quantity("abs = { constant = 1 }");
    assert_eq!((abs.key(), abs.parts()), ("abs", &[Quantity::Constant(1.0)][..]));
    assert_eq!((abs.pair(), abs.several()), (None, None));
    assert_eq!(abs.path_of("at", 0), "at.abs");
    abs.parts_mut()[0] = Quantity::Constant(2.0);
    assert_eq!(abs, quantity("abs = { constant = 2 }"));
    for (text, key) in [
        (TIME, "metric"),
        ("model = 'm'", "model"),
        ("trace = 't'", "trace"),
        ("measure = 'm'", "measure"),
        ("constant = 1", "constant"),
    ] {
        let mut q = quantity(text);
        assert_eq!((q.key(), q.pair(), q.several()), (key, None, None));
        assert!(q.parts().is_empty() && q.parts_mut().is_empty(), "{key}");
    }
}

#[test]
fn walk_visits_a_quantity_before_its_parts() {
    let q = quantity("difference = [{ abs = { constant = 1 } }, { sum = [{ model = 'm' }] }]");
    let (mut keys, mut paths) = (Vec::new(), Vec::new());
    q.walk(&mut |q| keys.push(q.key()));
    q.walk_at("at", &mut |path, _| paths.push(path.to_owned()));
    assert_eq!(keys, ["difference", "abs", "constant", "sum", "model"]);
    assert_eq!(
        paths,
        [
            "at",
            "at.difference.0",
            "at.difference.0.abs",
            "at.difference.1",
            "at.difference.1.sum.0"
        ]
    );
}

#[test]
fn place_of_a_metric_ends_at_the_first_slash() {
    let place = |at: &str| {
        At { path: String::new(), at: at.to_owned() }.place().map(|(a, b)| format!("{a} {b}"))
    };
    assert_eq!(place("e/p=1/2"), Some("e p=1/2".to_owned()));
    assert_eq!(place("e"), None);
}

/// The unit of operations on seconds, on seconds and a number, and on seconds and another unit.
#[test]
fn units_are_kept_cancelled_or_mixed() {
    let number = "constant = 2";
    let mixed = |a: &str, b: &str| Err(("at".to_owned(), [a.to_owned(), b.to_owned()]));
    assert_eq!(quantity(TIME).unit("at"), Ok(Some("s")));
    assert_eq!(quantity(RATE).unit("at"), Ok(Some("bit/s")));
    assert_eq!(quantity(COUNT).unit("at"), Ok(Some("")));
    for text in [number, "model = 'm'", "trace = 't'"] {
        assert_eq!(quantity(text).unit("at"), Ok(None), "{text}");
    }
    assert_eq!(quantity(&format!("abs = {{ {TIME} }}")).unit("at"), Ok(Some("s")));
    for operation in TWO.iter().chain(&SEVERAL) {
        let unit = |x: &str, y: &str| filled(operation, x, y).unit("at");
        let key = operation.split(' ').next().unwrap();
        // A ratio to a number may convert a unit, and a ratio of two units has an unknown unit.
        let [same, one, other] = match key {
            "ratio" => [Ok(Some("")), Ok(None), Ok(None)],
            "percent_change" | "trend" => [Ok(Some("")), Ok(Some("")), mixed("s", "bit/s")],
            _ => [Ok(Some("s")), Ok(Some("s")), mixed("s", "bit/s")],
        };
        assert_eq!(unit(TIME, TIME), same, "{key}");
        assert_eq!(unit(TIME, number), one, "{key}");
        assert_eq!(unit(number, TIME), one, "{key}");
        assert_eq!(unit(TIME, RATE), other, "{key}");
        if key != "ratio" {
            assert_eq!(unit(COUNT, TIME), mixed("1", "s"), "{key}");
            assert_eq!(unit(TIME, COUNT), mixed("s", "1"), "{key}");
        }
    }
    let inner = quantity(&format!("abs = {{ sum = [{{ {TIME} }}, {{ {TIME} }}, {{ {RATE} }}] }}"));
    let place = inner.unit("at").unwrap_err();
    assert_eq!(place, ("at.abs".to_owned(), ["s", "bit/s"].map(str::to_owned)));
}

#[test]
fn two_values_are_needed_for_a_difference() {
    let error = toml::from_str::<BTreeMap<String, Quantity>>("q = { ratio = [{ constant = 1 }] }");
    assert!(error.unwrap_err().to_string().contains("expected a list of two values, not of 1"));
}

use std::collections::BTreeMap;
