//! Closing and resetting connections, and the states after that.

use windlass_cc::{Span, Time};
use windlass_tcp::Flags;

use super::super::Side::{self, Receiver, Sender};
use super::super::faults::Which;
use super::super::findings::Findings;
use super::super::plan::{Case, Plan};
use super::super::script::Step::*;
use super::super::trace::Trace;

const BYTES: u64 = 10_000;
const BULK: u64 = 1_000_000;

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = orderly().into();
    cases.extend(resets());
    cases.extend(vanished());
    cases
}

fn orderly() -> [Case; 4] {
    [
        Case::new(
            "half-close",
            "after one end has closed, the other may still send (RFC 9293 section 3.6)",
            half_close(),
        ),
        Case::new(
            "simultaneous-close",
            "FINs that cross close the connection (RFC 9293 section 3.6)",
            simultaneous_close(),
        )
        .check(fins_cross),
        Case::new(
            "lost-last-ack",
            "an end in TIME-WAIT acknowledges a repeated FIN",
            Plan::transfer(BYTES).lose(Sender, Which::AckAfterFin(1, 1)),
        )
        .check(|trace, findings| {
            let fins = trace.count(Receiver, Flags::FIN);
            findings.expect(fins == 2, "two FINs of the receiver", fins);
        }),
        Case::new(
            "time-wait-reuse",
            "a SYN beyond the last connection ends TIME-WAIT and opens the next connection at once \
             (RFC 6191, RFC 9293 section 3.10.7.4)",
            reuse(),
        )
        .check(|trace, findings| {
            for side in Side::BOTH {
                let syns = trace.count(side, Flags::SYN);
                findings.expect(
                    syns == 2,
                    format!("a SYN of the {side} for each connection"),
                    syns,
                );
            }
        }),
    ]
}

fn half_close() -> Plan {
    const ANSWER: u64 = 100_000;
    Plan::new(
        vec![Connect, Send(BYTES), Close, Received(ANSWER), End, Over],
        vec![Listen, Open(1), Received(BYTES), End, Send(ANSWER), Close, Over],
    )
}

fn simultaneous_close() -> Plan {
    let together = Until(Time::from_millis(300));
    Plan::new(
        vec![Connect, Send(BYTES), together, Close, End, Over],
        vec![Listen, Open(1), Received(BYTES), together, Close, End, Over],
    )
}

/// Checks that each FIN leaves before the other FIN has arrived.
fn fins_cross(trace: &Trace, findings: &mut Findings) {
    for side in Side::BOTH {
        let sent = trace.sent(side).find(|(_, s)| s.flags.has(Flags::FIN));
        let other = trace.arrived(side.other()).find(|(_, s)| s.flags.has(Flags::FIN));
        let crosses = sent.zip(other).is_some_and(|((sent, _), (came, _))| sent < came);
        findings.expect(
            crosses,
            format!("the {side}'s FIN before the arrival of the other"),
            "a later FIN",
        );
    }
}

/// The passive opener closes first and is in TIME-WAIT when the next connection arrives.
fn reuse() -> Plan {
    Plan::new(
        vec![
            Connect,
            Send(BYTES),
            End,
            Close,
            Over,
            Pause(Span::from_millis(100)),
            Connect,
            Send(2 * BYTES),
            Close,
            End,
            Over,
        ],
        vec![
            Listen,
            Open(1),
            Received(BYTES),
            Close,
            End,
            Over,
            Open(2),
            Received(2 * BYTES),
            End,
            Close,
            Over,
        ],
    )
}

fn resets() -> [Case; 2] {
    let sender_resets = Plan::new(
        vec![Connect, Send(BULK), Pause(Span::from_millis(120)), Abort],
        vec![Listen, Open(1), Reset],
    );
    let receiver_resets = Plan::new(
        vec![Connect, Send(BULK), Reset],
        vec![Listen, Open(1), Received(BULK / 10), Abort],
    );
    [
        Case::new(
            "sender-resets",
            "a reset in the middle of the stream ends the receiver's connection",
            sender_resets.with_resets(),
        )
        .check(|trace, findings| reset_came_from(trace, Sender, findings)),
        Case::new(
            "receiver-resets",
            "a reset in the middle of the stream ends the sender's connection",
            receiver_resets.with_resets(),
        )
        .check(|trace, findings| reset_came_from(trace, Receiver, findings)),
    ]
}

fn reset_came_from(trace: &Trace, side: Side, findings: &mut Findings) {
    let resets = trace.arrived(side).filter(|(_, s)| s.flags.has(Flags::RST)).count();
    findings.expect(resets > 0, format!("a reset of the {side}"), "none");
    let others = trace.count(side.other(), Flags::RST);
    findings.expect(others == 0, format!("no reset of the {}", side.other()), others);
}

/// Half-open connections of RFC 9293 section 3.5.1: one end has lost its connection state.
fn vanished() -> [Case; 2] {
    let receiver = Plan::new(
        vec![Connect, Send(BYTES), Pause(Span::from_millis(250)), Send(BYTES), Reset],
        vec![Listen, Open(1), Received(BYTES), Pause(Span::from_millis(60)), Vanish],
    );
    let sender = Plan::new(
        vec![
            Connect,
            Send(BYTES),
            Pause(Span::from_millis(250)),
            Vanish,
            Pause(Span::from_millis(50)),
            Connect,
            Send(2 * BYTES),
            Close,
            End,
            Over,
        ],
        vec![
            Listen,
            Open(1),
            Received(BYTES),
            Reset,
            Open(2),
            Received(2 * BYTES),
            End,
            Close,
            Over,
        ],
    );
    [
        Case::new(
            "forgotten-by-receiver",
            "data for a connection that the receiver has forgotten are reset (RFC 9293 figure 10)",
            receiver.with_resets(),
        )
        .check(|trace, findings| reset_came_from(trace, Receiver, findings)),
        Case::new(
            "forgotten-by-sender",
            "a SYN on a connection that the sender has forgotten is challenged, the answer resets it, \
             and the next SYN opens another (RFC 9293 figure 9, RFC 5961 section 4)",
            sender.with_resets(),
        )
        .check(|trace, findings| reset_came_from(trace, Sender, findings)),
    ]
}
