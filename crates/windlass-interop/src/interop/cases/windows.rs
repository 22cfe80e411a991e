//! Windows: closed, reopened, large, and reduced by marks.

use windlass_cc::Span;
use windlass_sim::queue::{Discipline, Level, Threshold};
use windlass_tcp::Flags;

use super::super::Side::{Receiver, Sender};
use super::super::faults::Which;
use super::super::plan::{Case, Plan};
use super::super::script::Step::*;

const BYTES: u64 = 400_000;

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new(
            "zero-window",
            "a stopped reader closes the window; probes are sent until the reader continues \
             (RFC 9293 section 3.8.6.1)",
            closed(BYTES),
        )
        .check(|trace, findings| {
            let shut = trace.sent(Receiver).find(|(_, s)| s.window == 0 && s.flags.has(Flags::ACK));
            findings.expect(shut.is_some(), "a window of zero", "none");
            let Some((since, _)) = shut else { return };
            let open = trace.sent(Receiver).find(|(time, s)| *time > since && s.window > 0);
            let until = open.map_or(since, |(time, _)| time);
            let probes = trace
                .sent(Sender)
                .filter(|(time, s)| {
                    *time > since + Span::from_millis(30) && *time < until && s.len <= 1
                })
                .count();
            findings.expect(probes >= 2, "at least two probes of the closed window", probes);
        }),
        Case::new(
            "lost-window-update",
            "a probe detects the open window after its update was lost (RFC 9293 section 3.8.6.1)",
            closed(BYTES).lose(Receiver, Which::Reopening(1, 1)),
        ),
        Case::new(
            "large-window",
            "scaled windows keep 50 Mbps full over an RTT of 100 ms (RFC 7323 section 2)",
            large(),
        )
        .check(|trace, findings| {
            let most = trace.most_in_flight(Sender);
            findings.expect(most > 4 * 65_535, "more than 262140 bytes in flight", most);
        }),
        Case::new(
            "ecn-marks",
            "a queue's marks are echoed and answered, without losses (RFC 3168)",
            marked(),
        )
        .check(|trace, findings| {
            findings.expect(trace.marks > 0, "marks", "none");
            let echoes = trace.sent(Receiver).filter(|(_, s)| echo(s.flags)).count();
            findings.expect(echoes > 0, "echoes of the receiver", "none");
            let answers =
                trace.data(Sender).iter().filter(|s| s.segment.flags.has(Flags::CWR)).count();
            findings.expect(answers > 0, "the sender's answers to echoes", "none");
            let again = trace.retransmissions(Sender);
            findings.expect(again == 0, "no retransmission", again);
        }),
    ]
}

fn echo(flags: Flags) -> bool {
    flags.has(Flags::ECE) && !flags.has(Flags::SYN)
}

/// A plan in which the receiver reads nothing for a while.
pub(super) fn closed(bytes: u64) -> Plan {
    let mut plan = Plan::transfer(bytes);
    plan.ends[1].script = vec![
        Listen,
        StopReading,
        Open(1),
        Pause(Span::from_millis(1_500)),
        Read,
        Received(bytes),
        End,
        Close,
        Over,
    ];
    // A tail loss probe is sent if the last acknowledgement is delayed (RFC 8985 section 7.2).
    plan.stack(Receiver, |stack| stack.receive_buffer = 64 << 10).needless(1)
}

fn large() -> Plan {
    let mut plan = Plan::transfer(6_000_000);
    (plan.rate_bps, plan.delay) = (50_000_000, Span::from_millis(50));
    plan
}

fn marked() -> Plan {
    let mut plan = Plan::transfer(1_000_000).stacks(|stack| stack.ecn = true.into());
    plan.rate_bps = 10_000_000;
    plan.discipline = Discipline::Threshold(Threshold { mark: Level::Packets(10) });
    plan
}
