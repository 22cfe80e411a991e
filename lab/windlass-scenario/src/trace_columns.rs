//! Traces in columns: a time and a rate, a delay or a loss probability on each line, as in published measurements of
//! 4G, 5G and satellite links.

use windlass_cc::Span;

use crate::units::{BitRate, Duration, Probability};

/// Values from given times on, and the time after which they repeat.
pub(super) struct Columns {
    pub(super) steps: Vec<(Span, f64)>,
    pub(super) period: Span,
}

/// A kind of values in a column.
pub(super) struct Column {
    /// Key of a link with these values.
    pub(super) key: &'static str,
    /// With its article.
    noun: &'static str,
    plural: &'static str,
    /// A header with these values.
    header: &'static str,
    /// Factor of the numbers without a header.
    usual: f64,
    /// Factor of the unit of a column with this name; `None` for a column of another kind.
    unit: fn(&str) -> Option<f64>,
    largest: f64,
    /// True if one of the values must be more than zero.
    positive: bool,
    /// The text of a value in a scenario.
    pub(super) text: fn(f64) -> String,
}

/// The kinds of values: bits per second, nanoseconds and probabilities.
pub(super) static COLUMNS: [Column; 3] = [
    Column {
        key: "rate",
        noun: "a rate of zero or more",
        plural: "rates",
        header: "`time_s,rate_mbps` or `time_ms,rate_kbps`",
        usual: 1e6,
        unit: of_rate,
        largest: 1e15,
        positive: true,
        text: |bps| BitRate(bps.round() as u64).to_string(),
    },
    Column {
        key: "delay",
        noun: "a delay of zero or more",
        plural: "delays",
        header: "`time_s,delay_ms` or `time_s,rtt_ms`",
        usual: 1e6,
        unit: of_delay,
        largest: LONGEST_NS / 2.0,
        positive: false,
        text: |ns| Duration(Span(ns.round() as u64)).to_string(),
    },
    Column {
        key: "loss",
        noun: "a probability",
        plural: "losses",
        header: "`time_s,loss` or `time_s,loss_percent`",
        usual: 1.0,
        unit: of_loss,
        largest: 1.0,
        positive: false,
        text: |p| Probability(p).to_string(),
    },
];

/// Position of a column and the factor of its numbers.
type Found = (usize, f64);
/// A century in nanoseconds: longer than any run.
const LONGEST_NS: f64 = 3e18;

/// True if the first line with content has more than one column.
pub(super) fn has_columns(text: &str) -> bool {
    lines(text).next().is_some_and(|(_, line)| fields(line).count() > 1)
}

/// Lines with content, and their numbers.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let all = (1..).zip(text.trim_start_matches('\u{feff}').lines());
    let used = |(_, line): &(usize, &str)| !line.is_empty() && !line.starts_with('#');
    all.map(|(number, line)| (number, line.trim())).filter(used)
}

fn fields(line: &str) -> impl Iterator<Item = &str> {
    let separator = [',', ';', '\t'].into_iter().find(|c| line.contains(*c));
    let apart = move |c: char| separator.map_or(c.is_whitespace(), |s| c == s);
    line.split(apart)
        .map(|field| field.trim().trim_matches('"'))
        .filter(move |field| separator.is_some() || !field.is_empty())
}

/// The values of a file of this name.
///
/// # Errors
///
/// A sentence with the faulty line.
pub(super) fn parsed(column: &Column, name: &str, text: &str) -> Result<Columns, String> {
    let mut lines = lines(text).peekable();
    let mut columns = [(0, 1e9), (1, column.usual)];
    if let Some((number, first)) =
        lines.next_if(|(_, line)| fields(line).all(|f| f.parse::<f64>().is_err()))
    {
        columns = header(column, first).map_err(|problem| format!("{name}:{number}: {problem}"))?;
    }
    let mut begin = None;
    let mut steps: Vec<(Span, f64)> = Vec::new();
    for (number, line) in lines {
        let wrong = |problem: String| format!("{name}:{number}: {problem}");
        let [time, value] = values(column, line, columns).map_err(wrong)?;
        let from = (time - *begin.get_or_insert(time)).round();
        let before = steps.last().map_or(-1.0, |(before, _)| before.0 as f64);
        if from <= before {
            return Err(wrong("each line has a later time than the one before it".to_owned()));
        }
        let from = Span(from as u64);
        steps.push((from, value));
    }
    let [.., before, last] = &steps[..] else {
        return Err(format!(
            "{name}: a trace in columns needs at least two lines; write a single value in the scenario: `{} = ...`",
            column.key
        ));
    };
    if column.positive && steps.iter().all(|(_, value)| value.round() == 0.0) {
        return Err(format!("{name}: one of its {} must be more than zero", column.plural));
    }
    let period = Span(last.0.0 + (last.0.0 - before.0.0));
    Ok(Columns { steps, period })
}

/// Time in nanoseconds and value of a line.
fn values(column: &Column, line: &str, columns: [Found; 2]) -> Result<[f64; 2], String> {
    let all: Vec<&str> = fields(line).collect();
    let value = |(place, scale): Found, largest: f64, what: &str| {
        let text = all.get(place).copied().unwrap_or_default();
        let value = text.parse::<f64>().ok().map(|v| v * scale);
        value
            .filter(|v| (0.0..=largest).contains(v))
            .ok_or_else(|| format!("`{}` is not {what}; {}", text.escape_debug(), remedy(column)))
    };
    let [time, other] = columns;
    Ok([value(time, LONGEST_NS, "a time")?, value(other, column.largest, column.noun)?])
}

fn remedy(column: &Column) -> String {
    format!("a first line such as {} names the columns", column.header)
}

/// The columns that a header names.
fn header(column: &Column, line: &str) -> Result<[Found; 2], String> {
    let names: Vec<String> = fields(line).map(str::to_lowercase).collect();
    let found = |unit: fn(&str) -> Option<f64>| -> Vec<Found> {
        names.iter().enumerate().filter_map(|(place, name)| Some((place, unit(name)?))).collect()
    };
    match (&found(of_time)[..], &found(column.unit)[..]) {
        ([time, ..], [value]) => Ok([*time, *value]),
        (_, values) => Err(format!(
            "the header has {} columns of {plural}, and needs one of times and one of {plural}; {}",
            values.len(),
            remedy(column),
            plural = column.plural
        )),
    }
}

/// Nanoseconds of the unit of a column of times.
fn of_time(name: &str) -> Option<f64> {
    if !name.contains("time") && !name.starts_with("sec") && !["t", "s", "ms"].contains(&name) {
        return None;
    }
    let unit = name.rsplit(|c: char| !c.is_alphanumeric()).find(|part| !part.is_empty());
    Some(match unit {
        Some("ms" | "msec" | "milliseconds") => 1e6,
        Some("us" | "usec" | "microseconds") => 1e3,
        Some("ns" | "nanoseconds") => 1.0,
        _ => 1e9,
    })
}

/// Bits per second of the unit of a column of rates.
fn of_rate(name: &str) -> Option<f64> {
    let units = [("gb", 1e9), ("mb", 1e6), ("kb", 1e3), ("b", 1.0)];
    let has = |prefix: &str| {
        ["ps", "it/s", "its/s", "it_s", "it_per_s"]
            .iter()
            .any(|end| name.contains(&format!("{prefix}{end}")))
    };
    units.into_iter().find(|(prefix, _)| has(prefix)).map(|(_, scale)| scale)
}

/// Nanoseconds of the unit of a column of delays. Half of a round-trip time is a delay.
fn of_delay(name: &str) -> Option<f64> {
    let share = match () {
        () if name.contains("rtt") || name.contains("round") => 0.5,
        () if ["delay", "latency", "owd"].iter().any(|word| name.contains(word)) => 1.0,
        () => return None,
    };
    let unit = name.rsplit(|c: char| !c.is_alphanumeric()).find(|part| !part.is_empty());
    let unit = match unit {
        Some("s" | "sec" | "seconds") => 1e9,
        Some("us" | "usec" | "microseconds") => 1e3,
        Some("ns" | "nanoseconds") => 1.0,
        _ => 1e6,
    };
    Some(share * unit)
}

/// Factor of a column of losses.
fn of_loss(name: &str) -> Option<f64> {
    let is_loss = name.contains("loss") || name.contains("lost");
    let percent = ["percent", "pct", "%"].iter().any(|word| name.contains(word));
    is_loss.then_some(if percent { 0.01 } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Span = Span::from_millis;

    #[test]
    fn two_columns_are_seconds_and_megabits_unless_a_header_says_otherwise() {
        for (text, steps, period) in [
            (
                "0.0 2.000\n0.5 3.000\n1.0\t0\n",
                vec![(0u64, 2_000_000u32), (500, 3_000_000), (1000, 0)],
                1500,
            ),
            (
                "\u{feff}time_s,throughput_kbps\r\n0,1000\r\n1,1010\r\n",
                vec![(0, 1_000_000), (1000, 1_010_000)],
                2000,
            ),
            (
                "\"Timestamp (ms)\";cell;\"DL Mbit/s\"\n1500;A;1.5\n1750;B;0.5\n",
                vec![(0, 1_500_000), (250, 500_000)],
                500,
            ),
            ("# by hand\n\n10, 8\n12, 4\n", vec![(0, 8_000_000), (2000, 4_000_000)], 4000),
        ] {
            assert!(has_columns(text), "{text}");
            let read = parsed(&COLUMNS[0], "x", text).unwrap_or_else(|e| panic!("{e}"));
            let steps: Vec<(Span, f64)> =
                steps.into_iter().map(|(at, rate)| (MS(at), f64::from(rate))).collect();
            assert_eq!((read.steps, read.period), (steps, MS(period)), "{text}");
        }
        assert!(!has_columns("\u{feff}1\n2 \n"));
    }

    #[test]
    fn a_bad_line_is_named_with_a_remedy() {
        for (text, says) in [
            (
                "0 1\n1 x\n",
                "x:2: `x` is not a rate of zero or more; a first line such as `time_s,rate_mbps`",
            ),
            ("0 1\n1 -2\n", "x:2: `-2` is not a rate"),
            ("0,1\n1\n", "x:2: `` is not a rate"),
            ("5 1\n5 2\n", "x:2: each line has a later time"),
            ("5 1\n4 2\n", "x:2: each line has a later time"),
            ("0 1\n", "x: a trace in columns needs at least two lines"),
            ("0 0\n1 0\n", "x: one of its rates must be more than zero"),
            ("time,dl,ul\n0,1,1\n", "x:1: the header has 0 columns of rates"),
            ("time,dl_kbps,ul_kbps\n0,1,1\n", "x:1: the header has 2 columns of rates"),
        ] {
            let error = parsed(&COLUMNS[0], "x", text).err().unwrap_or_else(|| panic!("{text}"));
            assert!(error.starts_with(says), "{error}");
        }
    }
}
