//! Figure 10: one loss and its repair, packet by packet.

use super::trace::{EXCHANGE, Exchange, Passage, RWND};
use crate::models::reno_ber::MSS;
use crate::papers::Material;
use crate::papers::parts::series::seconds;
use crate::papers::parts::{commands, tables::section as titled};
use crate::report::model::{Block, Ladder, Message, Section};
use windlass_cc::{Span, Time};
use windlass_tcp::Flags;

/// How long before the loss the drawing begins: a little more than a round trip.
const BEFORE: Span = Span::from_millis(48);
/// Packets shown after the retransmission has arrived: its acknowledgement, a window update, the
/// next flight and its acknowledgement.
const AFTER: usize = 6;

/// The ladder, when the trace has one loss and its repair.
pub(super) fn section(m: &Material) -> Option<Section> {
    let exchange = Exchange::read(m.traces.get(EXCHANGE)?)?;
    let ladder = Ladder {
        id: "fig-10".to_owned(),
        caption: caption(&exchange),
        left: "server".to_owned(),
        right: "client".to_owned(),
        messages: shown(&exchange).iter().map(|i| message(&exchange, *i)).collect(),
    };
    let record = ("record.capture", "[\"cloud-client\"]");
    let about =
        "The packets on the lossy link, as `out/captures/exchange/all@…/1.pcapng` for Wireshark:";
    Some(titled(
        "figure-10",
        "Figure 10: packet exchange",
        vec![Block::Ladder(ladder)],
        commands::recording(m, about, EXCHANGE, record),
    ))
}

/// What is seen, and where the paper's capture of its Linux hosts shows it otherwise (its section
/// 5.1).
fn caption(e: &Exchange) -> String {
    let windows = || e.asking().map(|(_, p)| u64::from(p.segment.window));
    let (low, high) = (windows().min().unwrap_or(0), windows().max().unwrap_or(0));
    let unread = RWND.saturating_sub(low) / MSS as u64;
    let data = |i: &usize| e.passages[*i].from_server && e.passages[*i].segment.len > 0;
    let fresh = shown(e).into_iter().filter(|i| *i > e.resent && data(i)).count();
    let between = (e.lost + 1..e.resent).filter(data).count();
    let closed = e.passages[e.resent..].iter().any(|p| !p.from_server && p.segment.window == 0);
    let mut text = format!(
        "Figure 10. One lost segment, number {}. {unread} segments wait unread and the client \
         offers {low} bytes; it reads and offers {high} again. {between} later segments fill the \
         window, the third of {} duplicates makes the server resend, and the next acknowledgement \
         lets it send {fresh} new segments. Sequence numbers count from the first data byte. In the \
         paper's capture the acknowledgement that offers 2920 bytes answers the segment after the \
         lost one, here that before it, and two new segments follow the repair, though its window \
         of 4380 bytes holds three.",
        e.lost_number(),
        e.repeats(),
    );
    if closed {
        text.push_str(
            " Our reader's constant delay (RB-29) closes the window once more when the repair \
             arrives; the paper does not show that.",
        );
    }
    text
}

/// Packets drawn, by index.
fn shown(e: &Exchange) -> Vec<usize> {
    let lost = e.passages[e.lost].sent;
    let from = Time(lost.as_nanos().saturating_sub(BEFORE.as_nanos()));
    let repaired = e.passages[e.resent].received;
    let mut after = 0;
    let mut shown = Vec::new();
    for (i, p) in e.passages.iter().enumerate().filter(|(_, p)| p.sent >= from) {
        if repaired.is_some_and(|t| p.sent >= t) {
            after += 1;
        }
        if after > AFTER {
            break;
        }
        shown.push(i);
    }
    shown
}

fn message(e: &Exchange, i: usize) -> Message {
    let p = &e.passages[i];
    Message {
        sent_s: seconds(p.sent),
        received_s: p.received.map(seconds),
        rightward: p.from_server,
        label: label(e, p),
        remark: remark(e, i, &e.duplicates()),
    }
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
