//! Options: agreed, refused and not offered, with the effects.

use windlass_tcp::{Flags, Options, StackConfig};

use super::super::Side::{self, Receiver, Sender};
use super::super::faults::Which;
use super::super::findings::Findings;
use super::super::plan::{Case, Plan};
use super::super::trace::Trace;

const BYTES: u64 = 100_000;

/// An option, with the way to turn it on and to detect it.
#[derive(Clone, Copy)]
struct Negotiated {
    name: &'static str,
    origin: &'static str,
    set: fn(&mut StackConfig, bool),
    has: fn(&Trace, Side) -> bool,
}

const NEGOTIATED: [Negotiated; 4] = [
    Negotiated {
        name: "window-scale",
        origin: "RFC 7323 section 2.2",
        set: |stack, on| stack.window_scaling = on,
        has: |trace, side| trace.offered(side).window_scale.is_some(),
    },
    Negotiated {
        name: "sack",
        origin: "RFC 2018 section 2",
        set: |stack, on| stack.sack = on,
        has: |trace, side| trace.offered(side).sack_permitted,
    },
    Negotiated {
        name: "timestamps",
        origin: "RFC 7323 section 3.2",
        set: |stack, on| stack.timestamps = on,
        has: |trace, side| trace.offered(side).timestamps.is_some(),
    },
    Negotiated {
        name: "ecn",
        origin: "RFC 3168 section 6.1.1",
        set: |stack, on| stack.ecn = on.into(),
        has: |trace, side| trace.first_syn(side).is_some_and(|s| s.flags.has(Flags::ECE)),
    },
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = NEGOTIATED.into_iter().flat_map(negotiations).collect();
    cases.push(none());
    cases.push(segment_size(Receiver, "mss-of-receiver"));
    cases.push(segment_size(Sender, "mss-of-sender"));
    cases
}

/// The three ways in which an option is offered. A segment is lost, so that SACK has an effect.
fn negotiations(option: Negotiated) -> [Case; 3] {
    let Negotiated { name, origin, set, has } = option;
    let plan = move |sender, receiver| {
        Plan::transfer(BYTES)
            .lose(Sender, Which::Byte(30_000, (1, 1)))
            .stack(Sender, |stack| set(stack, sender))
            .stack(Receiver, |stack| set(stack, receiver))
            .needless(1)
    };
    let check = move |sender: bool, receiver: bool| {
        move |trace: &Trace, findings: &mut Findings| {
            let expected = [sender, sender && receiver];
            let found = Side::BOTH.map(|side| has(trace, side));
            findings.expect(
                found == expected,
                format!("{name} in SYN and SYN-ACK: {expected:?}"),
                format!("{found:?}"),
            );
            in_use(name, sender && receiver, trace, findings);
        }
    };
    [
        Case::new(
            format!("{name}-agreed"),
            format!("{name} offered by both is in use ({origin})"),
            plan(true, true),
        )
        .check(check(true, true)),
        Case::new(
            format!("{name}-refused"),
            format!("{name} is not used if the peer does not support it"),
            plan(true, false),
        )
        .check(check(true, false)),
        Case::new(
            format!("{name}-unasked"),
            format!("{name} is not in the answer if it was not offered"),
            plan(false, true),
        )
        .check(check(false, true)),
    ]
}

/// Checks that an option is used if and only if it was agreed. For every case, a rule already forbids options
/// that were not agreed.
fn in_use(name: &str, agreed: bool, trace: &Trace, findings: &mut Findings) {
    let used = match name {
        "sack" => trace.sent(Receiver).any(|(_, s)| s.options.sack_count > 0),
        "ecn" => trace.data(Sender).iter().any(|s| s.segment.ecn.is_capable()),
        // The windows of a connection without scaling are below 64 KiB; the windows of this connection are
        // not.
        "window-scale" => trace.offered(Receiver).window_scale.is_some_and(|shift| shift > 0),
        _ => trace.sent(Receiver).any(|(_, s)| s.len == 0 && s.options.timestamps.is_some()),
    };
    findings.expect(used == agreed, format!("{name} to be in use: {agreed}"), used);
}

fn none() -> Case {
    let plan = Plan::transfer(BYTES)
        .stacks(|stack| {
            (stack.window_scaling, stack.sack, stack.timestamps) = (false, false, false);
        })
        .lose(Sender, Which::Byte(30_000, (1, 1)))
        .needless(None);
    Case::new("no-options", "a connection with the segment size as its only option", plan).check(
        |trace, findings| {
            for side in Side::BOTH {
                let bare = Options { mss: Some(1460), ..Options::default() };
                let found = trace.offered(side);
                findings.expect(
                    found == bare,
                    "an MSS of 1460 and no other option",
                    format!("{found:?}"),
                );
            }
            let window = trace.most_in_flight(Sender);
            findings.expect(window <= 65_535, "at most 65535 bytes in flight", window);
        },
    )
}

fn segment_size(side: Side, name: &str) -> Case {
    const MSS: u32 = 700;
    let plan = Plan::transfer(BYTES).stack(side, |stack| stack.mss = Some(MSS));
    Case::new(
        name,
        format!(
            "the {side} announces an MSS of {MSS} bytes, and segments with options stay within it (RFC 6691)"
        ),
        plan,
    )
    .check(move |trace, findings| {
        let announced = trace.offered(side).mss;
        findings.expect(
            announced == Some(MSS as u16),
            format!("an MSS of {MSS} from the {side}"),
            format!("{announced:?}"),
        );
        // Timestamps use twelve bytes of it.
        let largest = trace.data(Sender).iter().map(|s| s.segment.len).max().unwrap_or(0);
        findings.expect(
            largest == MSS - 12,
            format!("payloads of up to {} bytes", MSS - 12),
            largest,
        );
    })
}
