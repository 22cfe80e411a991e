//! Overrides of which the later one replaces a part of the earlier one.

/// False if two overrides have the same effect in either order, because their keys are different parts of a scenario.
/// An item of a list has its number or its name. An algorithm may have parameters and a slow start with it.
pub(super) fn may_overlap(a: &str, b: &str) -> bool {
    let is_of_flows = a.starts_with("flow.") && b.starts_with("flow.");
    let is_algorithm = |key: &str| key.ends_with(".algorithm");
    let same = |(x, y): (&str, &str)| {
        let is_item = |word: &str| word.bytes().all(|b| b.is_ascii_digit());
        x == y || is_item(x) || is_item(y)
    };
    // The second word may be a name.
    let mut words = a.split('.').zip(b.split('.')).enumerate();
    a.contains('"')
        || b.contains('"')
        || (is_of_flows && (is_algorithm(a) || is_algorithm(b)))
        || words.all(|(place, pair)| place == 1 && a.matches('.').count() > 1 || same(pair))
}

#[cfg(test)]
mod tests {
    use super::may_overlap;
    use crate::scenario::Document;

    const SCENARIO: &str = r#"
        duration = "1s"
        [[link]]
        name = "a"
        between = ["x", "y"]
        rate = "1Mbps"
        delay = "1ms"
        queue = "10pkt"
        [[link]]
        name = "b"
        between = ["y", "z"]
        rate = "1Mbps"
        delay = "1ms"
        queue = "10pkt"
        [[flow]]
        name = "one"
        from = "x"
        to = "z"
        algorithm = "reno"
        [[flow]]
        name = "two"
        from = "x"
        to = "z"
        algorithm = "reno"
    "#;

    const OVERRIDES: &[(&str, &str)] = &[
        ("duration", "2s"),
        ("link.0.rate", "2Mbps"),
        ("link.a.rate", "3Mbps"),
        ("link.b.rate", "5Mbps"),
        ("link.b.delay", "5ms"),
        ("stack.sack", "false"),
        ("stack.preset", "linux"),
        ("stack.initial_window", "4mss"),
        ("flow.one.algorithm", "cubic"),
        ("flow.0.algorithm", "newreno:slow_start=hystart++"),
        ("flow.0.slow_start", "limited"),
        ("flow.two.slow_start", "hystart++"),
        ("flow.1.start", "0.1s"),
        ("flow.two.start", "0.2s"),
    ];

    #[test]
    fn overrides_of_different_parts_have_the_same_effect_in_either_order() {
        let document = Document::parse(SCENARIO, "s.toml").unwrap();
        let with = |pair: [(&str, &str); 2]| {
            let pair = pair.map(|(key, value)| (key.to_owned(), value.to_owned()));
            document.with(&pair).ok()
        };
        let (mut apart, mut together) = (0, 0);
        for a in OVERRIDES {
            assert!(with([*a, *a]).is_some(), "{a:?}");
            for b in OVERRIDES.iter().filter(|b| *b != a) {
                let commute = with([*a, *b]) == with([*b, *a]);
                assert!(commute || may_overlap(a.0, b.0), "{} and {}", a.0, b.0);
                assert_eq!(may_overlap(a.0, b.0), may_overlap(b.0, a.0), "{} and {}", a.0, b.0);
                *if may_overlap(a.0, b.0) { &mut together } else { &mut apart } += 1;
            }
        }
        assert!(apart > 2 * together && together > 10, "{apart} {together}");
    }
}
