//! Tests of mistakes in `quantities.toml`. Each is one error with its place and a remedy.

use std::fs;

use windlass_cc::Time;
use windlass_sim::{Sample, Series};

use crate::papers::check::check;
use crate::papers::material::{Material, Trace, Traces};
use crate::papers::{Paper, new};

const TRACES: &str = "
[[trace]]
id = 't'
experiment = 'loss'
point = 'p=1%'
series = ['cwnd_bytes', 'ssthresh_bytes']
capture = ['path']

[[trace]]
id = 'bare'
experiment = 'loss'
point = 'p=1%'
series = ['srtt_ns']
";

const QUANTITIES: &str = "\
[[quantity]]
name = 'largest'
trace = 't'
is = { of = 'cwnd_bytes', take = 'max', unit = 1460 }

[[quantity]]
name = 'window.*'
trace = 't'
flows = [0]
over = 'share'

[quantity.read]
window = { of = 'cwnd_bytes', flow = 'transfer' }
cut = { of = 'ssthresh_bytes', when = { change = 1 }, otherwise = 'end' }
top = { of = 'window', before = 'cut', take = 'max' }
rise = { of = 'window', since = 'cut', take = { rise_from = 'ssthresh_bytes' } }
first = { packets = 'dropped_error', when = { at_least = 1 } }

[quantity.values]
small = 'top < 65535 and rise > 0'
half = { of = 'window', at = 'first' }
";

/// Text, its replacement, and the error from its line number on.
const MISTAKES: &[[&str; 3]] = &[
    ["name = 'largest'\n", "", "1:1: missing field `name`"],
    ["'largest'", "'largest.*'", "2:8: `name`: `*` stands for the names of `values`"],
    ["'window.*'", "'window'", "7:8: `name` needs one `*`"],
    ["'window.*'", "'*'\nis = 1", "7:8: `*` needs either `is` or `values`"],
    ["trace = 't'", "trace = 'u'", "3:9: `trace`: trace `u` not found"],
    ["trace = 't'", "trac = 't'", "3:1: unknown field `trac`, expected one of"],
    ["trace = 't'", "trac = 't'", "; did you mean `trace`?"],
    [
        "'cwnd_bytes', take",
        "'cwnd_byte', take",
        "4:13: series `cwnd_byte` not found; did you mean `cwnd_bytes`?",
    ],
    [
        "trace = 't'",
        "trace = 'bare'",
        "4:13: trace `bare` does not record `cwnd_bytes`; it records srtt_ns: add it to `series`",
    ],
    ["'max', unit", "'mx', unit", "4:34: unknown variant `mx`, expected one of"],
    ["take = 'max', unit", "tak = 'max', unit", "4:27: unknown field `tak`, expected one of"],
    [
        "take = 'max', unit",
        "unit",
        "4:6: `largest` is a course, not a number: add `take`, `at` or `when`",
    ],
    ["unit = 1460", "unit = 0", "4:48: `unit`: invalid 0"],
    [
        "unit = 1460",
        "at = 1",
        "4:6: a measure has more than one of `take`, `at` and `when`; keep one",
    ],
    ["unit = 1460", "plus = 1", "4:6: `after`, `otherwise` and `plus` need `when`"],
    [
        "unit = 1460",
        "packets = 'sent'",
        "4:6: a measure needs one of `of`, `packets` and `exchange`",
    ],
    [
        "unit = 1460",
        "flow = 7",
        "4:48: trace `t` has no flow 7; expected an index from 0 to 0, or a name: transfer",
    ],
    [
        "unit = 1460",
        "from = 'start'",
        "4:49: `from`: name `start` not found; there are `end`, `last_sample`",
    ],
    ["unit = 1460", "from = 'event'", "4:49: `from`: name `event` not found"],
    ["unit = 1460 }", "unit = 1460", "6:1: missing key for inline table element, expected `,`"],
    [
        "{ of = 'cwnd_bytes', take = 'max', unit = 1460 }",
        "true",
        "4:6: invalid type: boolean `true`, expected a number, a formula or a table",
    ],
    [
        "{ of = 'cwnd_bytes', take = 'max', unit = 1460 }",
        "'{% if x %}1{% endif %}'",
        "4:7: this file has no template statements",
    ],
    ["{ of = 'cwnd_bytes', take = 'max', unit = 1460 }", "'1 +'", "4:6: invalid formula: "],
    [
        "{ of = 'cwnd_bytes', take = 'max', unit = 1460 }",
        "'mox(1, 2)'",
        "4:7: name `mox` not found; did you mean `max`?",
    ],
    [
        "{ of = 'cwnd_bytes', take = 'max', unit = 1460 }",
        "{ exchange = 'lst' }",
        "4:19: property `lst` of an exchange not found; did you mean `lost`?",
    ],
    ["[0]", "[0, 3]", "9:13: trace `t` has no flow 3; expected an index"],
    ["[0]", "['trnsfer']", "9:10: trace `t` has no flow `trnsfer`; did you mean `transfer`?"],
    ["[0]", "[-1]", "9:10: `-1` is neither a flow's name nor its index; expected one of transfer"],
    ["[0]", "7", "9:9: invalid type: integer `7`, expected \"all\" or a list of flows"],
    ["[0]", "'every'", "9:9: `flows`: invalid `every`; expected \"all\" or a list of flows"],
    ["over = 'share'\n", "", "7:8: `flows` and `each` need `over`"],
    ["flows = [0]\n", "", "9:8: `over` needs `flows` or `each`"],
    ["flows = [0]", "each = { of = 'cwnd_bytes' }", "9:8: `each` needs `when`"],
    ["'share'", "'shares'", "10:8: unknown variant `shares`"],
    ["window = {", "end = {", "13:7: `read`: `end` has a meaning already"],
    ["window = { of = 'cwnd_bytes'", "window = { of = 'top'", "needs itself"],
    ["change = 1", "changes = 1", "14:41: unknown variant `changes`"],
    ["change = 1", "change = 0", "14:7: `change`: invalid 0; expected 1 or more"],
    ["change = 1", "change = 'nth'", "14:51: `when`: name `nth` not found"],
    [
        "before = 'cut'",
        "before = 'ct'",
        "15:34: `before`: name `ct` not found; did you mean `cut`?",
    ],
    ["before = 'cut'", "before = 'window'", "15:34: `before`: name `window` not found"],
    [
        "of = 'window', since",
        "of = 'top', since",
        "16:15: `top` of `read` is a number, not a course",
    ],
    [
        "rise_from = 'ssthresh_bytes'",
        "rise_from = 'ssthresh_byte'",
        "16:62: series `ssthresh_byte` not found; did you mean `ssthresh_bytes`?",
    ],
    [
        "'dropped_error'",
        "'dropped_eror'",
        "17:21: fate `dropped_eror` not found; did you mean `dropped_error`?",
    ],
    ["top < 65535", "tip < 65535", "20:10: name `tip` not found; did you mean `top`?"],
    ["top < 65535", "window < 65535", "20:10: name `window` not found"],
    ["half = {", "small = {", "duplicate key"],
];

fn paper(dir: &std::path::Path, quantities: &str) -> Paper {
    let folder = dir.join("p");
    if !folder.exists() {
        new(&folder).unwrap();
        let path = folder.join("experiments.toml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text + TRACES).unwrap();
    }
    fs::write(folder.join("quantities.toml"), quantities).unwrap();
    Paper::read(&folder).unwrap()
}

#[test]
fn each_mistake_is_one_error_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    check(&paper(dir.path(), QUANTITIES)).unwrap_or_else(|e| panic!("{:?}", e[0].to_string()));
    let mut odd = Vec::new();
    for [right, wrong, expected] in MISTAKES {
        assert!(QUANTITIES.contains(right), "{right}");
        let paper = paper(dir.path(), &QUANTITIES.replacen(right, wrong, 1));
        let said = match check(&paper) {
            Ok(_) => String::new(),
            Err(errors) => errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        };
        let place = said.rsplit("quantities.toml:").next().unwrap_or_default();
        if said.lines().count() > 1 || !place.contains(expected) {
            odd.push(format!("{wrong}: {said} is not {expected}"));
        }
    }
    assert!(odd.is_empty(), "{}", odd.join("\n"));
}

#[test]
fn names_are_unique_in_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let text = QUANTITIES.replace("'window.*'", "'*'").replace("small =", "largest =");
    let said = check(&paper(dir.path(), &text)).unwrap_err()[0].to_string();
    assert!(said.contains("20:11: `largest` exists already; give it another name"), "{said}");
}

#[test]
fn truncated_and_changed_texts_do_not_panic() {
    let dir = tempfile::tempdir().unwrap();
    let mut paper = paper(dir.path(), QUANTITIES);
    let plan = paper.plan().unwrap();
    let samples = (0..4).map(|i| Sample {
        time: Time::from_millis(i * 100),
        flow: 0,
        series: if i % 2 == 0 { Series::Cwnd } else { Series::Ssthresh },
        value: (i * 70_000) % 90_000,
    });
    let trace = Trace { samples: samples.collect(), ..Trace::default() };
    let traces = Traces::from([("t".to_owned(), trace)]);
    let (records, judgements, claims) = (&[][..], &[][..], &[][..]);
    let mut right = 0;
    for at in 0..QUANTITIES.len() {
        let (before, after) = QUANTITIES.split_at(at);
        let skipped = after.get(7..).unwrap_or_default();
        for text in [before.to_owned(), format!("{before}{skipped}"), format!("{before}9{after}")] {
            paper.files.insert("quantities.toml".to_owned(), text);
            let m = Material {
                paper: &paper,
                plan: &plan,
                claims,
                records,
                judgements,
                traces: &traces,
            };
            right += usize::from(super::quantities(&m).is_ok());
        }
    }
    assert!(right > 50, "{right}");
}

#[test]
fn a_trace_without_samples_has_no_value_and_no_error() {
    let dir = tempfile::tempdir().unwrap();
    let paper = paper(dir.path(), QUANTITIES);
    let plan = paper.plan().unwrap();
    let traces = Traces::from([("t".to_owned(), Trace::default())]);
    let (records, judgements, claims) = (&[][..], &[][..], &[][..]);
    let m = Material { paper: &paper, plan: &plan, claims, records, judgements, traces: &traces };
    let told = super::quantities(&m).unwrap();
    assert_eq!(told.gaps["largest"], "`max`: `cwnd_bytes` has no value there");
    let told = told.values;
    // Without samples no flow satisfies the condition of a small window, so that the share is 0.
    assert_eq!(
        told.into_iter().collect::<Vec<_>>(),
        [("window.half".to_owned(), 0.0), ("window.small".to_owned(), 0.0)]
    );
    let sources = super::sources(&m).unwrap();
    assert_eq!(sources["largest"], [0]);
}
