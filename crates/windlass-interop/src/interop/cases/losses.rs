//! Listed losses, and packets that come late or twice.

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
/// A byte of the thirty-first segment, when a window of dozens is in flight.
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

/// A fast recovery: as many data segments again as were lost.
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
            "a lost segment goes again, and only it (RFC 6675, RFC 8985)",
            Plan::transfer(BYTES).lose(Sender, first(MIDDLE)),
        )
        .check(repaired(1)),
        Case::new(
            "lost-first-segment",
            "so does the first of the stream",
            Plan::transfer(BYTES).lose(Sender, first(0)),
        )
        .check(repaired(1)),
        Case::new(
            "lost-two",
            "two segments of one window go again in one recovery, and only they",
            Plan::transfer(BYTES)
                .lose(Sender, first(MIDDLE))
                .lose(Sender, first(MIDDLE + 5 * FULL)),
        )
        .check(repaired(2)),
        Case::new(
            "lost-retransmission",
            "a retransmission that is lost too goes again",
            Plan::transfer(BYTES).lose(Sender, Which::Byte(MIDDLE, (1, 2))),
        )
        .check(repaired(2)),
        Case::new(
            "lost-acks",
            "acknowledgements are cumulative: eleven of them lost change nothing",
            Plan::transfer(BYTES).lose(Receiver, Which::Ack(10, 20)),
        )
        .check(repaired(0)),
    ]
}

/// The end of the stream, behind which nothing comes that would tell.
fn ends() -> [Case; 2] {
    let pause = Step::Pause(Span::from_millis(250));
    let mut late_close = Plan::transfer(BYTES);
    late_close.ends[0].script.insert(2, pause);
    [
        Case::new(
            "lost-last-segment",
            "a lost tail is found by a probe or the timer (RFC 8985 section 7, RFC 6298)",
            Plan::transfer(BYTES).lose(Sender, first(BYTES - 1)),
        )
        .check(repaired(1)),
        Case::new("lost-fin", "a lost FIN goes again", late_close.lose(Sender, Which::Fin(1, 1)))
            .check(|trace, findings| {
                let fins = trace.count(Sender, Flags::FIN);
                findings.expect(fins == 2, "two FINs of the sender", fins);
            }),
    ]
}

/// As RFC 6675 and RFC 6298 have it, without a clock for losses and without probes.
fn by_counting() -> [Case; 2] {
    let plan = || {
        Plan::transfer(BYTES).stacks(|stack| {
            (stack.loss_detection, stack.tlp) = (LossDetection::DupThresh, false);
        })
    };
    [
        Case::new(
            "lost-two-by-counting",
            "SACK blocks above the holes tell of two losses, without any clock (RFC 6675)",
            plan().lose(Sender, first(MIDDLE)).lose(Sender, first(MIDDLE + 5 * FULL)),
        )
        .check(|trace, findings| {
            let again = trace.retransmissions(Sender);
            let expected = "two retransmissions, and one of rescue at most (NextSeg rule 4)";
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
            "without SACK three duplicate acknowledgements tell of a loss (RFC 5681, RFC 6582)",
            plan(),
        )
        .check(repaired(1)),
        Case::new(
            "lost-two-without-sack",
            "a partial acknowledgement tells of the second (RFC 6582 section 3.2)",
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
            "a segment that one other overtakes is no loss",
            Plan::transfer(BYTES).fault(Sender, first(MIDDLE), What::Behind(1)),
        )
        .check(repaired(0)),
        Case::new(
            "reordered",
            "a segment that many overtake is sent again once at most, and the stream stays in order",
            Plan::transfer(BYTES).fault(Sender, first(MIDDLE), What::Behind(8)).needless(1),
        ),
        Case::new(
            "reordered-acks",
            "an acknowledgement that comes after a later one changes nothing",
            Plan::transfer(BYTES).fault(Receiver, Which::Ack(10, 12), What::Behind(3)),
        )
        .check(repaired(0)),
        Case::new(
            "duplicates",
            "data and acknowledgements that come twice change nothing",
            Plan::transfer(BYTES)
                .fault(Sender, first(MIDDLE), later)
                .fault(Sender, first(MIDDLE + FULL), later)
                .fault(Receiver, Which::Ack(10, 14), later),
        )
        .check(repaired(0)),
    ]
}

fn back_off() -> Case {
    // A single segment, so that nothing but the timer can tell.
    let plan = Plan::transfer(1_000)
        .stacks(|stack| stack.tlp = false)
        .lose(Sender, Which::Byte(0, (1, 3)));
    Case::new(
        "timeouts-back-off",
        "each timeout of the same data waits twice as long as the last (RFC 6298 section 5.5)",
        plan,
    )
    .check(|trace, findings| {
        let gaps = Trace::gaps(&trace.copies(Sender, 0));
        let ratios: Vec<f64> = gaps.windows(2).map(|g| g[1].0 as f64 / g[0].0 as f64).collect();
        let doubles = ratios.len() == 2 && ratios.iter().all(|r| (1.7..2.3).contains(r));
        let found: Vec<f64> = gaps.iter().map(|gap| gap.0 as f64 / 1e6).collect();
        findings.expect(doubles, "three gaps, each twice the last", format!("{found:.0?} ms"));
        let least = gaps.first().is_some_and(|gap| *gap >= Span::from_millis(200));
        findings.expect(least, "a first timeout of at least 200 ms", format!("{found:.0?} ms"));
    })
}
