//! Listed losses, and delayed or duplicate packets.

use windlass_cc::Span;
use windlass_tcp::Flags;
use windlass_tcp::stack::LossDetection;

use super::super::Side::{Receiver, Sender};
use super::super::faults::{What, Which};
use super::super::plan::{Case, Plan};
use super::super::script::Step;
use super::super::trace::Trace;

/// Payload of a full segment with timestamps, bytes.
const FULL: u64 = 1448;
const BYTES: u64 = 200_000;
/// A byte of the 31st segment, when a window of dozens of segments is in flight.
const MIDDLE: u64 = 30 * FULL + 100;

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = data().into();
    cases.extend(ends());
    cases.extend(by_counting());
    cases.extend(without_sack());
    cases.extend(out_of_order());
    cases.push(back_off());
    cases
}

fn first(byte: u64) -> Which {
    Which::Byte(byte, (1, 1))
}

/// Checks a fast recovery: the number of retransmitted segments equals the number of lost segments.
fn repaired(count: usize) -> impl Fn(&Trace, &mut super::super::findings::Findings) + Send + Sync {
    move |trace, findings| {
        let again = trace.retransmissions(Sender);
        findings.expect(again == count, format!("{count} retransmissions"), again);
    }
}

fn data() -> [Case; 5] {
    [
        Case::new(
            "lost-segment",
            "only the lost segment is retransmitted (RFC 6675, RFC 8985)",
            Plan::transfer(BYTES).lose(Sender, first(MIDDLE)),
        )
        .check(repaired(1)),
        Case::new(
            "lost-first-segment",
            "only the lost first segment of the stream is retransmitted",
            Plan::transfer(BYTES).lose(Sender, first(0)),
        )
        .check(repaired(1)),
        Case::new(
            "lost-two",
            "only two lost segments of one window are retransmitted, in one recovery",
            Plan::transfer(BYTES)
                .lose(Sender, first(MIDDLE))
                .lose(Sender, first(MIDDLE + 5 * FULL)),
        )
        .check(repaired(2)),
        Case::new(
            "lost-retransmission",
            "a lost retransmission is retransmitted again",
            Plan::transfer(BYTES).lose(Sender, Which::Byte(MIDDLE, (1, 2))),
        )
        .check(repaired(2)),
        Case::new(
            "lost-acks",
            "acknowledgements are cumulative: the loss of eleven has no effect",
            Plan::transfer(BYTES).lose(Receiver, Which::Ack(10, 20)),
        )
        .check(repaired(0)),
    ]
}

/// Losses at the end of the stream, where no later segment reveals the loss.
fn ends() -> [Case; 2] {
    let pause = Step::Pause(Span::from_millis(250));
    let mut late_close = Plan::transfer(BYTES);
    late_close.ends[0].script.insert(2, pause);
    [
        Case::new(
            "lost-last-segment",
            "a probe or the timer finds a lost tail (RFC 8985 section 7, RFC 6298)",
            Plan::transfer(BYTES).lose(Sender, first(BYTES - 1)),
        )
        .check(repaired(1)),
        Case::new(
            "lost-fin",
            "a lost FIN is retransmitted",
            late_close.lose(Sender, Which::Fin(1, 1)),
        )
        .check(|trace, findings| {
            let fins = trace.count(Sender, Flags::FIN);
            findings.expect(fins == 2, "two FINs of the sender", fins);
        }),
    ]
}

/// Loss recovery of RFC 6675 and RFC 6298, without time-based loss detection and without probes.
fn by_counting() -> [Case; 2] {
    let plan = || {
        Plan::transfer(BYTES).stacks(|stack| {
            (stack.loss_detection, stack.tlp) = (LossDetection::DupThresh, false);
        })
    };
    [
        Case::new(
            "lost-two-by-counting",
            "SACK blocks above the holes reveal two losses, without any clock (RFC 6675)",
            plan().lose(Sender, first(MIDDLE)).lose(Sender, first(MIDDLE + 5 * FULL)),
        )
        .check(|trace, findings| {
            let again = trace.retransmissions(Sender);
            let expected =
                "two retransmissions, and at most one rescue retransmission (NextSeg rule 4)";
            findings.expect((2..=3).contains(&again), expected, again);
        }),
        Case::new(
            "lost-last-by-timer",
            "without probes the timer finds a lost tail (RFC 6298)",
            plan().lose(Sender, first(BYTES - 1)),
        )
        .check(repaired(1)),
    ]
}

fn without_sack() -> [Case; 2] {
    let plan = || {
        Plan::transfer(BYTES)
            .algorithm("newreno")
            .stacks(|stack| stack.sack = false)
            .lose(Sender, first(MIDDLE))
    };
    [
        Case::new(
            "lost-segment-without-sack",
            "without SACK three duplicate acknowledgements reveal a loss (RFC 5681, RFC 6582)",
            plan(),
        )
        .check(repaired(1)),
        Case::new(
            "lost-two-without-sack",
            "a partial acknowledgement reveals the second loss (RFC 6582 section 3.2)",
            plan().lose(Sender, first(MIDDLE + 5 * FULL)),
        )
        .check(repaired(2)),
    ]
}

fn out_of_order() -> [Case; 4] {
    let later = What::Twice(Span::from_millis(3));
    [
        Case::new(
            "reordered-by-one",
            "a segment overtaken by one segment is not considered lost",
            Plan::transfer(BYTES).fault(Sender, first(MIDDLE), What::Behind(1)),
        )
        .check(repaired(0)),
        Case::new(
            "reordered",
            "a segment overtaken by many is retransmitted at most once, and the stream stays in order",
            Plan::transfer(BYTES).fault(Sender, first(MIDDLE), What::Behind(8)).needless(1),
        ),
        Case::new(
            "reordered-acks",
            "an acknowledgement that arrives after a later acknowledgement has no effect",
            Plan::transfer(BYTES).fault(Receiver, Which::Ack(10, 12), What::Behind(3)),
        )
        .check(repaired(0)),
        Case::new(
            "duplicates",
            "duplicate data and acknowledgements have no effect",
            Plan::transfer(BYTES)
                .fault(Sender, first(MIDDLE), later)
                .fault(Sender, first(MIDDLE + FULL), later)
                .fault(Receiver, Which::Ack(10, 14), later),
        )
        .check(repaired(0)),
    ]
}

fn back_off() -> Case {
    // A single segment, so that only the timer can detect the loss.
    let plan = Plan::transfer(1_000)
        .stacks(|stack| stack.tlp = false)
        .lose(Sender, Which::Byte(0, (1, 3)));
    Case::new(
        "timeouts-back-off",
        "each timeout of the same data takes twice as long as the previous timeout (RFC 6298 section 5.5)",
        plan,
    )
    .check(|trace, findings| {
        let gaps = Trace::gaps(&trace.copies(Sender, 0));
        let ratios: Vec<f64> = gaps.windows(2).map(|g| g[1].0 as f64 / g[0].0 as f64).collect();
        let doubles = ratios.len() == 2 && ratios.iter().all(|r| (1.7..2.3).contains(r));
        let found: Vec<f64> = gaps.iter().map(|gap| gap.0 as f64 / 1e6).collect();
        findings.expect(doubles, "three gaps, each twice the previous gap", format!("{found:.0?} ms"));
        let least = gaps.first().is_some_and(|gap| *gap >= Span::from_millis(200));
        findings.expect(least, "a first timeout of at least 200 ms", format!("{found:.0?} ms"));
    })
}
