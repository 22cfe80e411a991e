//! Rate traces in columns: a time and a rate on each line, as in published measurements of 4G, 5G and satellite links.

use windlass_cc::Span;

/// Rates from given times on, and the time after which they repeat.
pub(super) struct Columns {
    pub(super) steps: Vec<(Span, u64)>,
    pub(super) period: Span,
}

/// Position of a column and the factor of its numbers, for nanoseconds or bits per second.
type Column = (usize, f64);

/// Seconds and Mbit/s, the units without a header.
const USUAL: [Column; 2] = [(0, 1e9), (1, 1e6)];
const REMEDY: &str =
    "a first line such as `time_s,rate_mbps` or `time_ms,rate_kbps` names the columns";
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

/// The rates of a file of this name.
///
/// # Errors
///
/// A sentence with the faulty line.
pub(super) fn parsed(name: &str, text: &str) -> Result<Columns, String> {
    let mut lines = lines(text).peekable();
    let mut columns = USUAL;
    if let Some((number, first)) =
        lines.next_if(|(_, line)| fields(line).all(|f| f.parse::<f64>().is_err()))
    {
        columns = header(first).map_err(|problem| format!("{name}:{number}: {problem}"))?;
    }
    let mut begin = None;
    let mut steps: Vec<(Span, u64)> = Vec::new();
    for (number, line) in lines {
        let wrong = |problem: String| format!("{name}:{number}: {problem}");
        let [time, rate] = values(line, columns).map_err(wrong)?;
        let from = (time - *begin.get_or_insert(time)).round();
        let before = steps.last().map_or(-1.0, |(before, _)| before.0 as f64);
        if from <= before {
            return Err(wrong("each line has a later time than the one before it".to_owned()));
        }
        let from = Span(from as u64);
        steps.push((from, rate.round() as u64));
    }
    let [.., before, last] = &steps[..] else {
        return Err(format!(
            "{name}: a trace in columns needs at least two lines; write a single rate as `rate = \"2Mbps\"`"
        ));
    };
    if steps.iter().all(|(_, rate)| *rate == 0) {
        return Err(format!("{name}: one of its rates must be more than zero"));
    }
    let period = Span(last.0.0 + (last.0.0 - before.0.0));
    Ok(Columns { steps, period })
}

/// Time in nanoseconds and rate in bits per second of a line.
fn values(line: &str, columns: [Column; 2]) -> Result<[f64; 2], String> {
    let all: Vec<&str> = fields(line).collect();
    let value = |(place, scale): Column, largest: f64, what: &str| {
        let text = all.get(place).copied().unwrap_or_default();
        let value = text.parse::<f64>().ok().map(|v| v * scale);
        value
            .filter(|v| (0.0..=largest).contains(v))
            .ok_or_else(|| format!("`{}` is not a {what}; {REMEDY}", text.escape_debug()))
    };
    Ok([value(columns[0], LONGEST_NS, "time")?, value(columns[1], 1e15, "rate of zero or more")?])
}

/// The columns that a header names.
fn header(line: &str) -> Result<[Column; 2], String> {
    let names: Vec<String> = fields(line).map(str::to_lowercase).collect();
    let found = |unit: fn(&str) -> Option<f64>| -> Vec<Column> {
        names.iter().enumerate().filter_map(|(place, name)| Some((place, unit(name)?))).collect()
    };
    match (&found(of_time)[..], &found(of_rate)[..]) {
        ([time, ..], [rate]) => Ok([*time, *rate]),
        (_, rates) => Err(format!(
            "the header has {} columns of rates, and needs one of times and one of rates; {REMEDY}",
            rates.len()
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

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Span = Span::from_millis;

    #[test]
    fn two_columns_are_seconds_and_megabits_unless_a_header_says_otherwise() {
        for (text, steps, period) in [
            (
                "0.0 2.000\n0.5 3.000\n1.0\t0\n",
                vec![(0, 2_000_000), (500, 3_000_000), (1000, 0)],
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
            let read = parsed("x", text).unwrap_or_else(|e| panic!("{e}"));
            let steps: Vec<(Span, u64)> =
                steps.into_iter().map(|(at, rate)| (MS(at), rate)).collect();
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
            let error = parsed("x", text).err().unwrap_or_else(|| panic!("{text}"));
            assert!(error.starts_with(says), "{error}");
        }
    }
}
