//! Figure 10: one loss and its repair, packet by packet.

use super::figures::seconds;
use super::section as titled;
use super::trace::{EXCHANGE, Exchange, Passage};
use crate::papers::Material;
use crate::report::model::{Block, Ladder, Message, Section};
use windlass_cc::{Span, Time};
use windlass_tcp::Flags;

/// How long before the loss the drawing begins: a little more than a round trip.
const BEFORE: Span = Span::from_millis(48);
/// Packets shown after the retransmission was acknowledged.
const AFTER: usize = 4;

/// The ladder, when the trace has one loss and its repair.
pub(super) fn section(m: &Material) -> Option<Section> {
    let exchange = Exchange::read(m.traces.get(EXCHANGE)?)?;
    let ladder = Ladder {
        id: "fig-10".to_owned(),
        caption: "Figure 10. One lost segment: the receiver's window falls while the client has \
            not read and reopens after, duplicates arrive, the server resends. Sequence numbers \
            count from the first data byte."
            .to_owned(),
        left: "server".to_owned(),
        right: "client".to_owned(),
        messages: messages(&exchange),
    };
    Some(titled("figure-10", "Figure 10: packet exchange", vec![Block::Ladder(ladder)]))
}

fn messages(e: &Exchange) -> Vec<Message> {
    let lost = e.passages[e.lost].sent;
    let from = Time(lost.as_nanos().saturating_sub(BEFORE.as_nanos()));
    let repaired = e.passages[e.resent].received;
    let duplicates = e.duplicates();
    let mut after = 0;
    let mut messages = Vec::new();
    for (i, p) in e.passages.iter().enumerate().filter(|(_, p)| p.sent >= from) {
        if repaired.is_some_and(|t| p.sent >= t) {
            after += 1;
        }
        if after > AFTER {
            break;
        }
        messages.push(Message {
            sent_s: seconds(p.sent),
            received_s: p.received.map(seconds),
            rightward: p.from_server,
            label: label(e, p),
            remark: remark(e, i, &duplicates),
        });
    }
    messages
}

fn label(e: &Exchange, p: &Passage) -> String {
    if p.from_server {
        let fin = if p.segment.flags.has(Flags::FIN) { " FIN" } else { "" };
        format!("seq {} len {}{fin}", e.relative(p.segment.seq), p.segment.len)
    } else {
        format!("ack {} win {}", e.relative(p.segment.ack), p.segment.window)
    }
}

fn remark(e: &Exchange, i: usize, duplicates: &[usize]) -> Option<String> {
    if i == e.resent {
        return Some("fast retransmit".to_owned());
    }
    if i == e.lost {
        return Some("lost".to_owned());
    }
    if let Some(nth) = duplicates.iter().position(|d| *d == i) {
        return Some(format!("duplicate {}", nth + 1));
    }
    let mut asking = e.asking().map(|(k, p)| (k, p.segment.window));
    let first = asking.next()?;
    let update = asking.find(|(_, window)| *window > first.1);
    (update.is_some_and(|(k, _)| k == i)).then(|| "window update".to_owned())
}
