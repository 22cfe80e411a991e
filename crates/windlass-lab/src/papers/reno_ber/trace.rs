//! What is read from traced runs: peaks of the windows, round trips of growth, and the packet
//! exchange of figure 10.

use crate::papers::{Trace, Traces};
use std::collections::BTreeMap;
use windlass_cc::{Span, Time};
use windlass_sim::{PacketEvent, PacketFate, Series};
use windlass_tcp::{Flags, Segment, Seq};

/// Identifier of figure 10's trace in `experiments.toml`.
pub(crate) const EXCHANGE: &str = "exchange";
/// The receiver's window, bytes.
pub(crate) const RWND: u64 = 8760;
/// Half of the window in flight when figure 10's segment is lost, bytes.
const HALF: u64 = 4380;

/// One packet's way between server and client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    /// When its first transmission began.
    pub(crate) sent: Time,
    /// When it arrived; `None` when it was lost or still under way at the end.
    pub(crate) received: Option<Time>,
    /// From the server to the client.
    pub(crate) from_server: bool,
    /// The segment.
    pub(crate) segment: Segment,
}

/// A packet exchange with its turning points.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    /// Packets in order of sending.
    pub(crate) passages: Vec<Passage>,
    /// Sequence number of the server's first data byte less one.
    pub(crate) server_isn: Seq,
    /// Index of the lost segment.
    pub(crate) lost: usize,
    /// Index of its retransmission.
    pub(crate) resent: usize,
}

impl Exchange {
    /// Reads the exchange from a trace whose captures cover the whole path; `None` when it has no
    /// handshake, no loss or no retransmission.
    pub(crate) fn read(trace: &Trace) -> Option<Exchange> {
        let passages = passages(trace);
        let syn = passages.iter().find(|p| p.from_server && p.segment.flags.has(Flags::SYN))?;
        let server_isn = syn.segment.seq;
        let data = |p: &Passage| p.from_server && p.segment.len > 0;
        let lost = passages.iter().position(|p| data(p) && p.received.is_none())?;
        let seq = passages[lost].segment.seq;
        let later = passages.iter().skip(lost + 1);
        let resent = lost + 1 + later.clone().position(|p| data(p) && p.segment.seq == seq)?;
        Some(Exchange { passages, server_isn, lost, resent })
    }

    /// The lost segment's number as Wireshark counts: the first data byte is 1.
    pub(crate) fn lost_number(&self) -> u32 {
        self.relative(self.passages[self.lost].segment.seq)
    }

    /// A sequence number of the server's relative to its first.
    pub(crate) fn relative(&self, seq: Seq) -> u32 {
        seq.0.wrapping_sub(self.server_isn.0)
    }

    /// Acknowledgements that ask for the lost segment and had arrived when it was resent.
    pub(crate) fn asking(&self) -> impl Iterator<Item = (usize, &Passage)> {
        let seq = self.passages[self.lost].segment.seq;
        let resent = self.passages[self.resent].sent;
        self.passages.iter().enumerate().filter(move |(_, p)| {
            let in_time = p.received.is_some_and(|t| t <= resent);
            !p.from_server && p.segment.ack == seq && p.segment.len == 0 && in_time
        })
    }

    /// Acknowledgements sent, in time or not, that repeat the number of the lost segment at the
    /// same window.
    pub(crate) fn repeats(&self) -> usize {
        let seq = self.passages[self.lost].segment.seq;
        let asking: Vec<u16> = self
            .passages
            .iter()
            .filter(|p| !p.from_server && p.segment.ack == seq && p.segment.len == 0)
            .map(|p| p.segment.window)
            .collect();
        asking.windows(2).filter(|w| w[0] == w[1]).count()
    }

    /// Duplicates among them in the sense of RFC 5681: nothing new acknowledged and the same
    /// window as before, so that a window update is none.
    pub(crate) fn duplicates(&self) -> Vec<usize> {
        let asking: Vec<(usize, u16)> = self.asking().map(|(i, p)| (i, p.segment.window)).collect();
        asking.windows(2).filter(|w| w[0].1 == w[1].1).map(|w| w[1].0).collect()
    }
}

/// Joins the captures of the links of a path: a packet leaves where it is first sent and arrives
/// where it is last delivered. Links are FIFO, so equal segments are matched in order.
fn passages(trace: &Trace) -> Vec<Passage> {
    let ends = |forward: bool| {
        let mut links: Vec<(Time, u32)> = Vec::new();
        for e in trace.packets.iter().filter(|e| e.forward == forward) {
            if links.iter().all(|(_, link)| *link != e.link) {
                links.push((e.time, e.link));
            }
        }
        Some((links.first()?.1, links.last()?.1))
    };
    let mut all: Vec<Passage> = Vec::new();
    for forward in [true, false] {
        let Some((first, last)) = ends(forward) else { continue };
        let at = |link: u32, fate: PacketFate| {
            let here =
                move |e: &&PacketEvent| e.forward == forward && e.link == link && e.fate == fate;
            trace.packets.iter().filter(here)
        };
        let mut arrivals: Vec<&PacketEvent> = at(last, PacketFate::Delivered).collect();
        let mut losses: Vec<&PacketEvent> = trace
            .packets
            .iter()
            .filter(|e| e.forward == forward)
            .filter(|e| matches!(e.fate, PacketFate::DroppedError | PacketFate::DroppedQueue))
            .collect();
        for sent in at(first, PacketFate::Sent) {
            let Some(segment) = sent.segment else { continue };
            let matching = |list: &[&PacketEvent]| {
                list.iter().position(|e| e.segment == sent.segment && e.time >= sent.time)
            };
            let loss = matching(&losses);
            let arrival = matching(&arrivals);
            // The loss belongs to this copy unless a copy arrived before it happened.
            let lost = match (loss, arrival) {
                (Some(l), Some(a)) => losses[l].time < arrivals[a].time,
                (loss, _) => loss.is_some(),
            };
            let received = if lost {
                loss.map(|l| losses.remove(l));
                None
            } else {
                arrival.map(|a| arrivals.remove(a).time)
            };
            all.push(Passage { sent: sent.time, received, from_server: forward, segment });
        }
    }
    all.sort_by_key(|p| (p.sent, !p.from_server));
    all
}

/// The quantities that `trace = "…"` in `claims.toml` refers to, as far as the traces yield them.
pub(crate) fn quantities(traces: &Traces) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    for (id, trace) in traces {
        if let Some(p) = id.strip_prefix("p=") {
            let mut peak = |name: &str, series| {
                if let Some(value) = trace.values(series).map(|(_, v)| v).max() {
                    found.insert(format!("{name}.p={p}"), value as f64);
                }
            };
            peak("cwnd_max", Series::Cwnd);
            peak("in_flight_max", Series::InFlight);
        } else if let Some(growth) = id.strip_prefix("growth=") {
            if let Some(rtts) = rtts_to_full_window(trace) {
                found.insert(format!("growth.{growth}.rtts"), rtts);
            }
        } else if id == EXCHANGE {
            exchange_quantities(trace, &mut found);
        }
    }
    found
}

/// Share of a download's time in pauses of at least `least` during which nothing new was
/// acknowledged; `None` without a download.
pub(crate) fn waiting(trace: &Trace, least: Span) -> Option<f64> {
    let (mut last, mut highest, mut paused) = (Time(0), 0, 0);
    for (time, value) in trace.values(Series::AckNumber).filter(|(_, v)| *v > 0) {
        if value > highest {
            let pause = time.since(last).as_nanos();
            paused += if pause >= least.as_nanos() { pause } else { 0 };
            (last, highest) = (time, value);
        }
    }
    (last > Time(0)).then(|| paused as f64 / last.as_nanos() as f64)
}

/// Round trips from the end of the only recovery, where the congestion window falls to three
/// segments, until it is back at the receiver's; the round trip is the smoothed one at that time.
fn rtts_to_full_window(trace: &Trace) -> Option<f64> {
    let cwnd: Vec<(Time, u64)> = trace.values(Series::Cwnd).collect();
    let start = 1 + cwnd.windows(2).position(|w| w[0].1 > HALF && w[1].1 == HALF)?;
    let (from, _) = cwnd[start];
    let (to, _) = *cwnd[start..].iter().find(|(_, v)| *v >= RWND)?;
    let (_, rtt) = trace.values(Series::Srtt).take_while(|(t, _)| *t <= to).last()?;
    (rtt > 0).then(|| to.since(from).as_nanos() as f64 / rtt as f64)
}

fn exchange_quantities(trace: &Trace, found: &mut BTreeMap<String, f64>) {
    let Some(exchange) = Exchange::read(trace) else { return };
    let mut put = |name: &str, value: f64| {
        found.insert(format!("{EXCHANGE}.{name}"), value);
    };
    put("lost", f64::from(exchange.lost_number()));
    put("duplicates", exchange.duplicates().len() as f64);
    let windows = || exchange.asking().map(|(_, p)| f64::from(p.segment.window));
    if let Some(low) = windows().reduce(f64::min) {
        put("window_low", low);
    }
    if let Some(high) = windows().reduce(f64::max) {
        put("window_high", high);
    }
    let resent = exchange.passages[exchange.resent].sent;
    let after = trace.values(Series::Cwnd).skip_while(|(t, _)| *t < resent);
    let mut falls = after.scan(u64::MAX, |last, (_, v)| Some((std::mem::replace(last, v), v)));
    // Recovery inflates the window by duplicates; its end is the first fall.
    if let Some((_, window)) = falls.find(|(before, v)| *before != u64::MAX && v < before) {
        put("cwnd_after", window as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Quantity;
    use crate::papers::Paper;
    use std::collections::BTreeSet;
    use windlass_sim::Sample;

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

    /// A packet over two links of 10 ms each; lost on the second when `arrives` is false.
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

    /// Segment 1 is lost, segment 0 waits unread: the window falls, reopens, three duplicates.
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
        Trace { samples, packets: log }
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
    fn a_window_update_is_no_duplicate() {
        let e = Exchange::read(&exchange()).unwrap();
        assert_eq!((e.asking().count(), e.duplicates().len()), (5, 3));
    }

    #[test]
    fn the_exchange_yields_the_quantities_of_figure_10() {
        let traces = Traces::from([(EXCHANGE.to_owned(), exchange())]);
        let found = quantities(&traces);
        for (name, value) in [
            ("lost", 1461.0),
            ("duplicates", 3.0),
            ("window_low", 2920.0),
            ("window_high", 8760.0),
            ("cwnd_after", 4380.0),
        ] {
            assert_eq!(found.get(&format!("exchange.{name}")), Some(&value), "{name}");
        }
    }

    #[test]
    fn growth_is_counted_in_round_trips_from_the_end_of_recovery() {
        let sample = |t: u64, series, value| Sample { time: ms(t), flow: 0, series, value };
        let samples = vec![
            sample(0, Series::Cwnd, 2920),
            sample(10, Series::Srtt, 99_000_000),
            sample(20, Series::Cwnd, 4380), // on the way up in slow start: not the start
            sample(30, Series::Srtt, 40_000_000),
            sample(40, Series::Cwnd, 20_000),
            sample(100, Series::Cwnd, 4380),
            sample(300, Series::Cwnd, 8000),
            sample(340, Series::Cwnd, 9000),
        ];
        let trace = Trace { samples, packets: vec![] };
        assert_eq!(rtts_to_full_window(&trace), Some(6.0));
    }

    #[test]
    fn pauses_between_new_acknowledgements_count_from_the_least_length_on() {
        let sample =
            |t: u64, value| Sample { time: ms(t), flow: 0, series: Series::AckNumber, value };
        let samples = vec![
            sample(100, 1460),
            sample(1200, 1460), // nothing new
            sample(2100, 2920), // 2 s after the first
            sample(2900, 4380),
            sample(4000, 5840), // 1.1 s
        ];
        let trace = Trace { samples, packets: vec![] };
        assert_eq!(waiting(&trace, Span::from_millis(1000)), Some(3.1 / 4.0));
        assert_eq!(waiting(&Trace::default(), Span::from_millis(1)), None);
    }

    #[test]
    fn a_trace_without_a_loss_yields_nothing_of_figure_10() {
        let mut trace = exchange();
        trace.packets.retain(|e| e.fate != PacketFate::DroppedError);
        trace.packets.retain(|e| e.segment != Some(data(1)));
        assert!(Exchange::read(&trace).is_none());
    }

    /// Every quantity that a claim reads comes out of the traces that the plan asks for.
    #[test]
    fn every_trace_quantity_that_a_claim_names_is_read_from_a_planned_trace() {
        let paper = Paper::by_id("reno-ber").unwrap();
        let plan = paper.plan().unwrap();
        let mut traces = Traces::new();
        for request in &plan.traces {
            let series: Vec<&str> = request.series.iter().map(String::as_str).collect();
            let mut trace = if request.capture.is_empty() { Trace::default() } else { exchange() };
            for (at, value) in [(1, 9000), (2, 4380), (3, 9000)] {
                for (name, series_id) in Series::ALL {
                    if series.contains(&name) && request.capture.is_empty() {
                        let (time, flow) = (ms(at), 0);
                        trace.samples.push(Sample { time, flow, series: series_id, value });
                    }
                }
            }
            traces.insert(request.id.clone(), trace);
        }
        let found = quantities(&traces);
        let claims = paper.parsed_claims().unwrap();
        let named: BTreeSet<&String> = claims
            .iter()
            .flat_map(|c| c.quantities())
            .filter_map(|q| if let Quantity::Trace(name) = q { Some(name) } else { None })
            .collect();
        assert!(named.len() >= 9);
        for name in named {
            assert!(found.contains_key(name), "{name} is not read from any trace");
        }
    }
}
