//! A packet exchange of a traced run: one lost segment and its repair, packet by packet.

use std::fmt;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Object, ObjectRepr, ValueKind};
use windlass_cc::{Span, Time};
use windlass_sim::Series;
use windlass_tcp::{Flags, Seq};

use super::material::Trace;
use super::parts::series::seconds;
use crate::passage::{Passage, passages};
use crate::report::model::{Ladder, Message};

/// Time before the loss at which the drawing begins: a little more than an RTT.
const BEFORE: Span = Span::from_millis(48);
/// Properties of an exchange.
pub(super) const KNOWN: [&str; 10] = [
    "lost",
    "lost_segment",
    "duplicates",
    "repeats",
    "window_low",
    "window_high",
    "cwnd_after",
    "between",
    "fresh",
    "closed",
];
/// Number of packets shown after the retransmission has arrived: its acknowledgement, a window update, the next
/// flight and its acknowledgement.
const AFTER: usize = 6;

/// A packet exchange with its turning points.
#[derive(Clone, Debug)]
struct Exchange {
    /// Packets in order of sending.
    passages: Vec<Passage>,
    /// Sequence number of the server's first data byte, minus one.
    server_isn: Seq,
    /// Index of the lost segment.
    lost: usize,
    /// Index of its retransmission.
    resent: usize,
}

impl Exchange {
    /// Reads the exchange from a trace whose captures cover the whole path; `None` without a handshake, a loss or a
    /// retransmission.
    fn read(trace: &Trace) -> Option<Exchange> {
        let passages = passages(&trace.packets);
        let syn = passages.iter().find(|p| p.forward && p.segment.flags.has(Flags::SYN))?;
        let server_isn = syn.segment.seq;
        let data = |p: &Passage| p.forward && p.segment.len > 0;
        let lost = passages.iter().position(|p| data(p) && p.received.is_none())?;
        let seq = passages[lost].segment.seq;
        let later = passages.iter().skip(lost + 1);
        let resent = lost + 1 + later.clone().position(|p| data(p) && p.segment.seq == seq)?;
        Some(Exchange { passages, server_isn, lost, resent })
    }

    /// The lost segment's sequence number in Wireshark's relative form: the first data byte is 1.
    fn lost_number(&self) -> u32 {
        self.relative(self.passages[self.lost].segment.seq)
    }

    /// The lost segment's ordinal number if all segments before it have the same length; the first is 1.
    fn lost_segment(&self) -> u32 {
        let length = self.passages[self.lost].segment.len.max(1);
        self.lost_number().saturating_sub(1) / length + 1
    }

    /// A sequence number of the server, relative to its first.
    fn relative(&self, seq: Seq) -> u32 {
        seq.0.wrapping_sub(self.server_isn.0)
    }

    /// Acknowledgements that request the lost segment and had arrived when it was retransmitted.
    fn asking(&self) -> impl Iterator<Item = (usize, &Passage)> {
        let seq = self.passages[self.lost].segment.seq;
        let resent = self.passages[self.resent].sent;
        self.passages.iter().enumerate().filter(move |(_, p)| {
            let in_time = p.received.is_some_and(|t| t <= resent);
            !p.forward && p.segment.ack == seq && p.segment.len == 0 && in_time
        })
    }

    /// Number of acknowledgements, also of late ones, that repeat the number of the lost segment with the same
    /// window.
    fn repeats(&self) -> usize {
        let seq = self.passages[self.lost].segment.seq;
        let asking: Vec<u16> = self
            .passages
            .iter()
            .filter(|p| !p.forward && p.segment.ack == seq && p.segment.len == 0)
            .map(|p| p.segment.window)
            .collect();
        asking.windows(2).filter(|w| w[0] == w[1]).count()
    }

    /// Duplicates among them as RFC 5681 defines them: they acknowledge nothing new and have the same window as the
    /// one before. A window update is not a duplicate.
    fn duplicates(&self) -> Vec<usize> {
        let asking: Vec<(usize, u16)> = self.asking().map(|(i, p)| (i, p.segment.window)).collect();
        asking.windows(2).filter(|w| w[0].1 == w[1].1).map(|w| w[1].0).collect()
    }
}

/// An exchange as a value of expressions.
#[derive(Debug)]
pub(crate) struct Asked {
    exchange: Option<Exchange>,
    cwnd_after: Option<f64>,
}

impl Asked {
    /// Reads a trace whose captures cover the whole path; `None` without a loss and its repair.
    pub(super) fn of(trace: &Trace) -> Option<Asked> {
        let exchange = Exchange::read(trace)?;
        let resent = exchange.passages[exchange.resent].sent;
        let after = trace.values(Series::Cwnd).skip_while(|(t, _)| *t < resent);
        let mut falls = after.scan(u64::MAX, |last, (_, v)| Some((std::mem::replace(last, v), v)));
        // Duplicates inflate the window in recovery. The first reduction is the end of recovery.
        let fall = falls.find(|(before, v)| *before != u64::MAX && v < before);
        Some(Asked { exchange: Some(exchange), cwnd_after: fall.map(|(_, v)| v as f64) })
    }

    /// A stand-in without an exchange, in which every property has a value.
    pub(super) fn probe() -> Asked {
        Asked { exchange: None, cwnd_after: Some(1.0) }
    }

    /// A property as a number; `None` if it does not exist.
    pub(super) fn number(self, name: &str) -> Option<f64> {
        let value = Arc::new(self).get_value(&Value::from(name))?;
        if value.kind() == ValueKind::Bool {
            return Some(f64::from(u8::from(value.is_true())));
        }
        f64::try_from(value).ok()
    }

    /// The exchange as a ladder diagram.
    pub(super) fn ladder(&self, id: String, caption: String, ends: [String; 2]) -> Option<Ladder> {
        let e = self.exchange.as_ref()?;
        let [left, right] = ends;
        let messages = shown(e).iter().map(|i| message(e, *i)).collect();
        Some(Ladder { id, caption, left, right, messages })
    }
}

impl Object for Asked {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let key = key.as_str()?;
        let Some(e) = &self.exchange else {
            return KNOWN.contains(&key).then(|| Value::from(1.0));
        };
        let windows = || e.asking().map(|(_, p)| f64::from(p.segment.window));
        let data = |i: &usize| e.passages[*i].forward && e.passages[*i].segment.len > 0;
        Some(match key {
            "lost" => f64::from(e.lost_number()).into(),
            "lost_segment" => f64::from(e.lost_segment()).into(),
            "duplicates" => (e.duplicates().len() as f64).into(),
            "repeats" => e.repeats().into(),
            "window_low" => windows().reduce(f64::min)?.into(),
            "window_high" => windows().reduce(f64::max)?.into(),
            "cwnd_after" => self.cwnd_after?.into(),
            "between" => (e.lost + 1..e.resent).filter(data).count().into(),
            "fresh" => shown(e).into_iter().filter(|i| *i > e.resent && data(i)).count().into(),
            "closed" => {
                let later = e.passages[e.resent..].iter();
                later.into_iter().any(|p| !p.forward && p.segment.window == 0).into()
            }
            _ => return None,
        })
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a packet exchange")
    }
}

/// The packets of the drawing, by index.
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
        rightward: p.forward,
        label: label(e, p),
        remark: remark(e, i, &e.duplicates()),
    }
}

fn label(e: &Exchange, p: &Passage) -> String {
    if p.forward {
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

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_sim::{PacketEvent, PacketFate, Sample};
    use windlass_tcp::Segment;

    const ISN: u32 = 4_000_000_000;
    const MSS: u32 = 1460;

    fn ms(t: u64) -> Time {
        Time::from_millis(t)
    }

    fn data(segment: u32) -> Segment {
        let seq = Seq(ISN).add(1 + u64::from(segment * MSS));
        Segment { seq, len: MSS, flags: Flags::ACK, ..Segment::default() }
    }

    fn ack(segments: u32, window: u16) -> Segment {
        let ack = Seq(ISN).add(1 + u64::from(segments * MSS));
        Segment { ack, window, flags: Flags::ACK, ..Segment::default() }
    }

    /// A packet over two links of 10 ms each. If `arrives` is false, the second link loses it.
    fn pass(log: &mut Vec<PacketEvent>, at: u64, forward: bool, segment: Segment, arrives: bool) {
        let (first, second) = if forward { (0, 2) } else { (3, 1) };
        let end = if arrives { PacketFate::Delivered } else { PacketFate::DroppedError };
        for (time, link, fate) in [
            (at, first, PacketFate::Sent),
            (at + 10, first, PacketFate::Delivered),
            (at + 10, second, PacketFate::Sent),
            (at + 20, second, end),
        ] {
            let ip_len = segment.ip_len();
            log.push(PacketEvent {
                time: ms(time),
                link,
                flow: 0,
                forward,
                fate,
                segment: Some(segment),
                ip_len,
                path: None,
                quick_start: None,
            });
        }
    }

    /// Segment 1 is lost, and segment 0 is not read at once. The receive window shrinks and grows again, and three
    /// duplicates follow.
    fn exchange() -> Trace {
        let mut log = Vec::new();
        let syn =
            Segment { seq: Seq(ISN), flags: Flags::SYN.with(Flags::ACK), ..Segment::default() };
        pass(&mut log, 0, true, syn, true);
        for k in 0..6 {
            pass(&mut log, 100 + u64::from(k), true, data(k), k != 1);
        }
        pass(&mut log, 121, false, ack(1, 2920), true);
        pass(&mut log, 122, false, ack(1, 8760), true);
        for k in 0..3 {
            pass(&mut log, 123 + k, false, ack(1, 8760), true);
        }
        pass(&mut log, 145, true, data(1), true);
        pass(&mut log, 166, false, ack(6, 8760), true);
        log.sort_by_key(|e| e.time);
        let window =
            |t: u64, value: u64| Sample { time: ms(t), flow: 0, series: Series::Cwnd, value };
        let samples = vec![window(0, 20_000), window(145, 8760), window(186, 4380)];
        Trace { seed: 1, samples, packets: log }
    }

    #[test]
    fn the_exchange_is_read_across_both_links() {
        let e = Exchange::read(&exchange()).unwrap();
        assert_eq!(e.lost_number(), 1 + MSS);
        assert_eq!(e.passages.len(), 1 + 6 + 5 + 1 + 1);
        assert_eq!((e.passages[e.lost].received, e.passages[e.resent].sent), (None, ms(145)));
        let arrived = e.passages.iter().filter(|p| p.received.is_some()).count();
        assert_eq!(arrived, e.passages.len() - 1);
    }

    #[test]
    fn a_window_update_is_not_counted_as_a_duplicate() {
        let e = Exchange::read(&exchange()).unwrap();
        assert_eq!((e.asking().count(), e.duplicates().len()), (5, 3));
    }

    #[test]
    fn the_exchange_yields_the_quantities_of_figure_10() {
        let asked = Value::from_object(Asked::of(&exchange()).unwrap());
        for (name, value) in [
            ("lost", 1461.0),
            ("lost_segment", 2.0),
            ("duplicates", 3.0),
            ("window_low", 2920.0),
            ("window_high", 8760.0),
            ("cwnd_after", 4380.0),
        ] {
            assert_eq!(asked.get_attr(name).unwrap(), Value::from(value), "{name}");
        }
    }

    #[test]
    fn a_trace_without_a_loss_has_no_exchange() {
        let mut trace = exchange();
        trace.packets.retain(|e| e.fate != PacketFate::DroppedError);
        trace.packets.retain(|e| e.segment != Some(data(1)));
        assert!(Exchange::read(&trace).is_none());
    }
}
