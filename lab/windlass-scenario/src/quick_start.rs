//! The key for Quick-Start of a link: `true`, `false`, or a table of settings.

use windlass_sim::quick_start::QuickStart;

use crate::codec::{Codec, changed, table};
use crate::fields::{Field, Fields, probability, span};
use crate::problem::Problem;
use crate::tree::Value;

/// Shortest and longest interval, nanoseconds: a millisecond and an hour.
const INTERVALS: std::ops::RangeInclusive<u64> = 1_000_000..=3_600_000_000_000;

table!(QUICK_START, "quick_start", apply, written, QuickStart {
    share: Codec::share(share), "share of the rate up to which requests are approved, more than zero", "`1`";
    interval: Codec::time(interval), "interval for the rate in use, from `1ms` to `1h`: the busier of the last two whole intervals counts, and rates approved in the current and the previous interval count as used", "`\"150ms\"`";
});

fn share(field: &Field) -> Result<f64, Problem> {
    match probability(field)? {
        0.0 => Err(field.error("must be more than zero; `quick_start = false` answers no request")),
        share => Ok(share),
    }
}

fn interval(field: &Field) -> Result<windlass_cc::Span, Problem> {
    let interval = span(field)?;
    if INTERVALS.contains(&interval.0) {
        return Ok(interval);
    }
    Err(field.error("must be from `1ms` to `1h`"))
}

/// `true`, `false`, or a table.
pub(super) fn read(field: &Field) -> Result<Option<QuickStart>, Problem> {
    match &field.node.value {
        Value::Boolean(false) => Ok(None),
        Value::Boolean(true) => Ok(Some(QuickStart::DEFAULT)),
        Value::Table(_) => changed(field, &QUICK_START, QuickStart::DEFAULT, apply).map(Some),
        _ => Err(field.wrong_kind("`true`, `false` or a table such as `{ share = 0.9 }`")),
    }
}
