//! Mistakes in overrides, and the parts of an error.

use windlass_scenario::Scenario;

use crate::errors::GOOD;

/// Overrides of [`GOOD`], and the error that must follow.
const BAD_OVERRIDES: &[(&[(&str, &str)], &str)] = &[
    (
        &[("link.0.rate", "10")],
        "--set link.0.rate=10: `rate`: `10` has no unit; write a rate such as `10Mbps`, `250kbps` or `1MB/s`",
    ),
    (
        &[("link.0.rate", "-2Mbps")],
        "--set link.0.rate=-2Mbps: `rate`: `-2Mbps` is negative; write a rate such as `10Mbps`, `250kbps` or `1MB/s`",
    ),
    (
        &[("link.0.delay", "700000h")],
        "--set link.0.delay=700000h: `delay`: must be at most 73 years",
    ),
    (
        &[("link.0.rte", "2Mbps")],
        "--set link.0.rte=2Mbps: unknown key `rte` in `[[link]]`; did you mean `rate`?",
    ),
    (
        &[("link.1.rate", "2Mbps")],
        "--set link.1.rate=2Mbps: `link` has no item `1`; its items are called by number, from 0, or by name: `server-client`",
    ),
    (
        &[("link.server-cleint.rate", "2Mbps")],
        "--set link.server-cleint.rate=2Mbps: `link` has no item `server-cleint`; did you mean `server-client`?",
    ),
    (
        &[("lnk.0.rate", "2Mbps")],
        "--set lnk.0.rate=2Mbps: the file has no table `lnk`; did you mean `link`?",
    ),
    (
        &[("link.0.loss.probability", "1%")],
        "--set link.0.loss.probability=1%: the file has no table `link.0.loss`; a table as a whole is set with --set 'link.0.loss={ key = value, ... }'",
    ),
    (&[("link.0.rate.x", "1%")], "--set link.0.rate.x=1%: `link.0.rate` is a string, not a table"),
    (
        &[("link.0.rate.x.y", "1%")],
        "--set link.0.rate.x.y=1%: `link.0.rate` is a string, not a table",
    ),
    (
        &[("", "1")],
        "--set =1: `` is not a key; write the names of tables and the key joined by dots, such as `link.0.rate`",
    ),
    (
        &[("flow.2.start", "1s")],
        "--set flow.2.start=1s: `flow` has no item `2`; its items are called by number, from 0, or by name: `server-client`",
    ),
    (
        &[("link..rate", "1")],
        "--set link..rate=1: `link..rate` is not a key; write the names of tables and the key joined by dots, such as `link.0.rate`",
    ),
    (
        &[("link.0.loss", "{ model = \"drop\"")],
        "--set link.0.loss={ model = \"drop\": not valid TOML: unclosed inline table, expected `}`",
    ),
    (
        &[("link.0.loss", "{ model = \"drop\", probability = \"120%\" }")],
        "--set link.0.loss={ model = \"drop\", probability = \"120%\" }: `probability`: `120%` is more than 100 %; write a number from 0 to 1, or from `0%` to `100%`",
    ),
    (
        &[("flow.server-client.stack.mss", "1461B")],
        "--set flow.server-client.stack.mss=1461B: `mss`: 1461B and 40B of headers exceed the MTU of 1500B between `server` and `client`; write at most `1460B`",
    ),
    (
        &[("link.0.mtu", "576B"), ("flow.0.stack.mss", "1000B")],
        "--set flow.0.stack.mss=1000B: `mss`: 1000B and 40B of headers exceed the MTU of 576B between `server` and `client`; write at most `536B`",
    ),
    (
        &[("flow.0.stack.mss", "1000B"), ("link.0.mtu", "576B")],
        "--set flow.0.stack.mss=1000B: `mss`: 1000B and 40B of headers exceed the MTU of 576B between `server` and `client`; write at most `536B`",
    ),
    (
        &[("flow.0.start", "7s"), ("duration", "5s"), ("seed", "2")],
        "--set flow.0.start=7s: flow `server-client` starts at 7s, when the run has ended (5s)",
    ),
    (&[("flow.0", "3")], "--set flow.0=3: `[[flow]]` must be a table, not an integer"),
    (&[("flow", "3")], "--set flow=3: `flow`: must be tables, each beginning with `[[flow]]`"),
    (&[("name", "42")], "--set name=42: `name` must be a string, not an integer"),
    (
        &[("duration", "")],
        "--set duration=: `duration`: `` is not a time; write a time such as `30ms`, `1.5s`, `100us` or `2min`",
    ),
];

#[test]
fn each_mistake_in_an_override_names_the_override() {
    for (overrides, expected) in BAD_OVERRIDES {
        let set: Vec<_> =
            overrides.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let error = Scenario::with_overrides(GOOD, "s.toml", &set).expect_err(expected);
        assert_eq!(error.to_string(), *expected);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let error = Scenario::from_file("no/such/scenario.toml").unwrap_err().to_string();
    assert!(
        error.starts_with("no/such/scenario.toml: the scenario file cannot be read: "),
        "{error}"
    );
}

#[test]
fn an_error_tells_the_path_of_its_key_and_the_word_that_was_meant() {
    for (part, instead, key, suggestion) in [
        ("rate =", "rte =", Some("link[0].rte"), Some("rate")),
        ("10Mbps", "fast", Some("link[0].rate"), None),
        ("rate = \"10Mbps\"\n", "", Some("link[0]"), None),
        ("\"reno\"", "\"rno\"", Some("flow[0].algorithm"), Some("reno")),
        (
            "algorithm = \"reno\"",
            "algorithm = \"reno\"\nstack = { mss = \"1\" }",
            Some("flow[0].stack.mss"),
            None,
        ),
        ("duration = \"100s\"\n", "", None, None),
        ("duration = \"100s\"", "duration = \"100s", None, None),
    ] {
        let text = GOOD.replace(part, instead);
        let error = Scenario::from_str(&text, "s.toml").expect_err(instead);
        assert_eq!((error.key(), error.suggestion()), (key, suggestion), "{error}");
        assert_eq!(error.file(), Some("s.toml"));
        let (line, column) = error.line_and_column().expect("a place");
        assert!(error.to_string().starts_with(&format!("s.toml:{line}:{column}: ")), "{error}");
    }
    let set = [("flow.0.algorithm".to_owned(), "rno".to_owned())];
    let error = Scenario::with_overrides(GOOD, "s.toml", &set).expect_err("no such algorithm");
    assert_eq!((error.key(), error.file()), (Some("flow.0.algorithm"), None));
}
