//! Opening of connections.

use windlass_cc::Span;
use windlass_tcp::Flags;

use super::super::Side;
use super::super::Side::{Receiver, Sender};
use super::super::faults::{What, Which};
use super::super::findings::Findings;
use super::super::plan::{Case, Plan};
use super::super::script::Step::*;
use super::super::trace::{Trace, describe};

const BYTES: u64 = 20_000;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        Case::new(
            "transfer",
            "one end opens, sends 200 kB and closes: one SYN and one FIN from each end, no retransmission",
            Plan::transfer(200_000),
        )
        .check(|trace, findings| {
            for side in Side::BOTH {
                let counts = (trace.count(side, Flags::SYN), trace.count(side, Flags::FIN));
                let wanted = format!("one SYN and one FIN from the {side}");
                findings.expect(counts == (1, 1), wanted, format!("{counts:?}"));
                let again = trace.retransmissions(side);
                findings.expect(again == 0, format!("no retransmission by the {side}"), again);
            }
        }),
        Case::new(
            "passive-sender",
            "the passive opener sends the data",
            passive_sender(),
        ),
        Case::new(
            "simultaneous-open",
            "SYNs cross and make one connection (RFC 9293 section 3.5)",
            simultaneous_open(),
        )
        .check(|trace, findings| {
            for side in Side::BOTH {
                let opens = trace
                    .sent(side)
                    .any(|(_, s)| s.flags.has(Flags::SYN) && !s.flags.has(Flags::ACK));
                findings.expect(opens, format!("a SYN without ACK from the {side}"), "none");
            }
        }),
        Case::new(
            "request-response",
            "requests and answers of several segments take turns on one connection",
            request_response(),
        ),
        Case::new(
            "both-ways",
            "both ends send 300 kB at the same time, with acknowledgements on data",
            both_ways(300_000),
        ),
    ];
    cases.extend(lost());
    cases.extend(twice());
    cases.extend(refused());
    cases
}

/// Lost segments of the handshake.
fn lost() -> [Case; 3] {
    [
        Case::new(
            "lost-syn",
            "the SYN is retransmitted after a second (RFC 6298 section 2)",
            Plan::transfer(BYTES).lose(Sender, Which::Syn(1, 1)),
        )
        .check(|trace, findings| again_after_a_second(trace, Sender, findings)),
        Case::new(
            "lost-syn-ack",
            "the handshake survives the loss of its second segment",
            Plan::transfer(BYTES).lose(Receiver, Which::Syn(1, 1)),
        ),
        Case::new(
            "lost-handshake-ack",
            "the SYN-ACK is retransmitted until the last acknowledgement of the handshake arrives",
            passive_sender().lose(Receiver, Which::Ack(1, 1)),
        )
        .check(|trace, findings| again_after_a_second(trace, Sender, findings)),
    ]
}

fn twice() -> [Case; 2] {
    let later = What::Twice(Span::from_millis(5));
    [
        Case::new(
            "duplicate-syn",
            "a duplicate SYN is answered and has no other effect",
            Plan::transfer(BYTES).fault(Sender, Which::Syn(1, 1), later),
        ),
        Case::new(
            "duplicate-syn-ack",
            "a duplicate SYN-ACK is acknowledged and has no other effect",
            Plan::transfer(BYTES).fault(Receiver, Which::Syn(1, 1), later),
        ),
    ]
}

/// Connections that are not established.
fn refused() -> [Case; 2] {
    let again = Plan::new(
        vec![
            Connect,
            Pause(Span::from_millis(12)),
            Abort,
            Pause(Span::from_millis(200)),
            Connect,
            Send(BYTES),
            Close,
            End,
            Over,
        ],
        vec![Listen, Open(1), Received(BYTES), End, Close, Over],
    );
    [
        Case::new(
            "closed-port",
            "a SYN to a closed port is reset (RFC 9293 section 3.10.7.1)",
            Plan::new(vec![Connect, Reset], vec![]).with_resets(),
        )
        .check(|trace, findings| {
            let syn = trace.first_syn(Sender).map(|s| s.seq.add(1));
            let resets: Vec<_> = trace.sent(Receiver).map(|(_, s)| s).collect();
            let right = resets.len() == 1
                && resets.iter().all(|s| {
                    s.flags == Flags::RST.with(Flags::ACK) && Some(s.ack) == syn && s.seq.0 == 0
                });
            let found: Vec<String> = resets.iter().map(|s| describe(s)).collect();
            findings.expect(
                right,
                "one RST with ACK and number 0 that acknowledges the SYN",
                found.join("; "),
            );
        }),
        Case::new(
            "half-open-reset",
            "a reset in SYN-RECEIVED leads back to LISTEN, and the next connection is accepted \
             (RFC 9293 section 3.10.7.4)",
            again.with_resets(),
        )
        .check(|trace, findings| {
            let resets = trace.count(Sender, Flags::RST);
            findings.expect(resets > 0, "a reset that answers the SYN-ACK", "none");
        }),
    ]
}

fn passive_sender() -> Plan {
    Plan::new(
        vec![Listen, Open(1), Send(BYTES), Close, End, Over],
        vec![Connect, Open(1), Received(BYTES), End, Close, Over],
    )
}

fn simultaneous_open() -> Plan {
    Plan::new(
        vec![Connect, Open(1), Send(BYTES), Close, End, Over],
        vec![Connect, Open(1), Received(BYTES), End, Close, Over],
    )
}

pub(super) fn request_response() -> Plan {
    let (request, answer) = (3_000, 30_000);
    Plan::new(
        vec![
            Listen,
            Open(1),
            Received(request),
            Send(answer),
            Received(2 * request),
            Send(answer),
            End,
            Close,
            Over,
        ],
        vec![
            Connect,
            Send(request),
            Received(answer),
            Send(request),
            Received(2 * answer),
            Close,
            End,
            Over,
        ],
    )
}

/// A plan in which both ends send this number of bytes at the same time.
pub(super) fn both_ways(bytes: u64) -> Plan {
    Plan::new(
        vec![Connect, Send(bytes), Received(bytes), Close, End, Over],
        vec![Listen, Open(1), Send(bytes), Received(bytes), End, Close, Over],
    )
}

fn again_after_a_second(trace: &Trace, side: Side, findings: &mut Findings) {
    let syns = trace.sent(side).filter(|(_, s)| s.flags.has(Flags::SYN));
    let times: Vec<_> = syns.map(|(time, _)| time).collect();
    let gaps = Trace::gaps(&times);
    let around = Span::from_millis(900)..Span::from_millis(1_400);
    let right = gaps.len() == 1 && around.contains(&gaps[0]);
    findings.expect(
        right,
        format!("two SYNs of the {side}, a second apart"),
        format!("gaps {gaps:?}"),
    );
}
