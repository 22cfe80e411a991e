//! Values of a run that a case may bound, each of one end.

use windlass_cc::Span;
use windlass_sim::results::{PacketEvent, PacketFate};
use windlass_tcp::Flags;
use windlass_tcp::mptcp::MpOption;

use super::super::Side;
use super::super::plan::{Measure, Plan};
use super::super::trace::Trace;

/// Every value.
pub(super) const MEASURES: [Measure; 31] = [
    // Segments with these flags.
    ("syns", |_, trace, side| trace.count(side, Flags::SYN) as u64),
    ("fins", |_, trace, side| trace.count(side, Flags::FIN) as u64),
    ("resets", |_, trace, side| trace.count(side, Flags::RST) as u64),
    ("opens", |_, trace, side| opens(trace, side)),
    ("refusals", |_, trace, side| refusals(trace, side)),
    ("echoes", |_, trace, side| echoes(trace, side)),
    ("reductions", |_, trace, side| data_with(trace, side, |s| s.flags.has(Flags::CWR))),
    ("arrived_resets", |_, trace, side| {
        trace.arrived(side).filter(|(_, s)| s.flags.has(Flags::RST)).count() as u64
    }),
    ("fin_crosses", |_, trace, side| crosses(trace, side).into()),
    ("syn_gap_ms", |_, trace, side| syn_gap(trace, side)),
    // Options of the SYN.
    ("offers_scaling", |_, trace, side| trace.offered(side).window_scale.is_some().into()),
    ("offers_sack", |_, trace, side| trace.offered(side).sack_permitted.into()),
    ("offers_timestamps", |_, trace, side| trace.offered(side).timestamps.is_some().into()),
    ("offers_ecn", |_, trace, side| {
        trace.first_syn(side).is_some_and(|s| s.flags.has(Flags::ECE)).into()
    }),
    ("mss", |_, trace, side| trace.offered(side).mss.unwrap_or(0).into()),
    ("shift", |_, trace, side| trace.offered(side).window_scale.unwrap_or(0).into()),
    // Options in use.
    ("sack_blocks", |_, trace, side| {
        trace.sent(side).filter(|(_, s)| s.options.sack_count > 0).count() as u64
    }),
    ("stamped_acks", |_, trace, side| {
        trace.sent(side).filter(|(_, s)| s.len == 0 && s.options.timestamps.is_some()).count()
            as u64
    }),
    ("capable_data", |_, trace, side| data_with(trace, side, |s| s.ecn.is_capable())),
    ("queue_marks", |_, trace, _| trace.marks),
    // Data.
    ("retransmissions", |_, trace, side| trace.retransmissions(side) as u64),
    ("in_flight_bytes", |_, trace, side| trace.most_in_flight(side)),
    ("payload_bytes", |_, trace, side| {
        trace.data(side).iter().map(|s| u64::from(s.segment.len)).max().unwrap_or(0)
    }),
    ("window_probes", |_, trace, side| window_probes(trace, side)),
    ("first_timeout_ms", |_, trace, side| {
        timeouts(trace, side).first().map_or(0, |gap| gap.0 / 1_000_000)
    }),
    ("doubled_timeouts", |_, trace, side| {
        let doubles = |pair: &&[Span]| (1.7..2.3).contains(&(pair[1].0 as f64 / pair[0].0 as f64));
        timeouts(trace, side).windows(2).filter(doubles).count() as u64
    }),
    // Multipath TCP.
    ("joins", |_, trace, _| {
        let options = trace.packets.iter().filter_map(|p| p.path?.option);
        options.filter(|option| matches!(option, MpOption::JoinAck { .. })).count() as u64
    }),
    ("least_path_percent", |_, trace, side| {
        let carried = carried(trace, side);
        100 * carried[0].min(carried[1]) / carried.iter().sum::<u64>().max(1)
    }),
    ("second_path_bytes", |_, trace, side| carried(trace, side)[1]),
    ("options_after_syn", |_, trace, side| {
        let syn = |p: &PacketEvent| p.segment.is_some_and(|s| s.flags.has(Flags::SYN));
        let of_side = trace.packets.iter().filter(|p| p.forward == (side == Side::Sender));
        of_side.filter(|p| !syn(p) && p.path.is_some_and(|path| path.option.is_some())).count()
            as u64
    }),
    ("segments_after_silence", segments_after_silence),
];

fn data_with(trace: &Trace, side: Side, holds: fn(&windlass_tcp::Segment) -> bool) -> u64 {
    trace.data(side).iter().filter(|s| holds(s.segment)).count() as u64
}

/// SYNs without an acknowledgement.
fn opens(trace: &Trace, side: Side) -> u64 {
    let opens =
        trace.sent(side).filter(|(_, s)| s.flags.has(Flags::SYN) && !s.flags.has(Flags::ACK));
    opens.count() as u64
}

/// Resets with number 0 that acknowledge the other end's SYN (RFC 9293 section 3.10.7.1).
fn refusals(trace: &Trace, side: Side) -> u64 {
    let syn = trace.first_syn(side.other()).map(|s| s.seq.add(1));
    let right = trace.sent(side).filter(|(_, s)| {
        s.flags == Flags::RST.with(Flags::ACK) && Some(s.ack) == syn && s.seq.0 == 0
    });
    right.count() as u64
}

/// Segments with the echo of a mark.
fn echoes(trace: &Trace, side: Side) -> u64 {
    let echoes =
        trace.sent(side).filter(|(_, s)| s.flags.has(Flags::ECE) && !s.flags.has(Flags::SYN));
    echoes.count() as u64
}

/// True if the end's FIN leaves before the other FIN has arrived.
fn crosses(trace: &Trace, side: Side) -> bool {
    let sent = trace.sent(side).find(|(_, s)| s.flags.has(Flags::FIN));
    let other = trace.arrived(side.other()).find(|(_, s)| s.flags.has(Flags::FIN));
    sent.zip(other).is_some_and(|((sent, _), (came, _))| sent < came)
}

/// Time between the only two SYNs of an end, milliseconds; 0 for another number of SYNs.
fn syn_gap(trace: &Trace, side: Side) -> u64 {
    let syns = trace.sent(side).filter(|(_, s)| s.flags.has(Flags::SYN));
    match Trace::gaps(&syns.map(|(time, _)| time).collect::<Vec<_>>())[..] {
        [gap] => gap.0 / 1_000_000,
        _ => 0,
    }
}

/// Times between the transmissions of the first byte.
fn timeouts(trace: &Trace, side: Side) -> Vec<Span> {
    Trace::gaps(&trace.copies(side, 0))
}

/// Segments of at most a byte while the other end's window is closed for the first time. In its first 30 ms, older
/// segments may be on their way.
fn window_probes(trace: &Trace, side: Side) -> u64 {
    let mut windows = trace.sent(side.other()).filter(|(_, s)| s.flags.has(Flags::ACK));
    let Some((since, _)) = windows.find(|(_, s)| s.window == 0) else { return 0 };
    let open = trace.sent(side.other()).find(|(time, s)| *time > since && s.window > 0);
    let until = open.map_or(since, |(time, _)| time);
    let after = since + Span::from_millis(30);
    let probes = trace.sent(side).filter(|(time, s)| *time > after && *time < until && s.len <= 1);
    probes.count() as u64
}

/// Delivered payload of an end on each path.
fn carried(trace: &Trace, side: Side) -> [u64; 2] {
    let mut carried = [0; 2];
    let forward = side == Side::Sender;
    for p in
        trace.packets.iter().filter(|p| p.forward == forward && p.fate == PacketFate::Delivered)
    {
        if let (Some(path), Some(s)) = (p.path, &p.segment) {
            carried[usize::from(path.path)] += u64::from(s.len);
        }
    }
    carried
}

/// Segments of more than 1000 bytes that arrive on a path after it was silent.
fn segments_after_silence(plan: &Plan, trace: &Trace, side: Side) -> u64 {
    let outages = plan.multipath.iter().flat_map(|multipath| &multipath.outages);
    let after = |outage: &super::super::plan::Outage| {
        let back = trace.packets.iter().filter(|p| {
            p.path.is_some_and(|path| path.path == outage.path)
                && p.forward == (side == Side::Sender)
                && p.segment.is_some_and(|s| s.len > 1_000)
                && p.fate == PacketFate::Delivered
                && p.time > outage.to
        });
        back.count() as u64
    };
    outages.map(after).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_cc::Time;
    use windlass_tcp::{Segment, Seq};

    /// A segment that an end sends at this millisecond, and that arrives ten later.
    fn passes(
        ms: u64,
        side: Side,
        seq: u32,
        len: u32,
        flags: Flags,
        window: u16,
    ) -> [PacketEvent; 2] {
        let segment = Segment { seq: Seq(seq), len, flags, window, ..Segment::default() };
        [(ms, PacketFate::Sent), (ms + 10, PacketFate::Delivered)].map(|(ms, fate)| PacketEvent {
            time: Time::from_millis(ms),
            link: side as u32,
            flow: 0,
            forward: side == Side::Sender,
            fate,
            segment: Some(segment),
            ip_len: segment.ip_len(),
            path: None,
            quick_start: None,
        })
    }

    fn value(name: &str, side: Side, packets: impl IntoIterator<Item = [PacketEvent; 2]>) -> u64 {
        let measure = MEASURES.iter().find(|measure| measure.0 == name).expect("a measure");
        let mut packets: Vec<PacketEvent> = packets.into_iter().flatten().collect();
        packets.sort_by_key(|packet| packet.time);
        measure.1(&Plan::new(), &Trace::of(packets), side)
    }

    #[test]
    fn window_probes_are_small_segments_while_the_window_is_closed() {
        use Side::{Receiver, Sender};
        let ack = Flags::ACK;
        let closed = [passes(100, Receiver, 1, 0, ack, 0), passes(500, Receiver, 1, 0, ack, 90)];
        let sent = |ms, len| passes(ms, Sender, 1, len, ack, 90);
        let early = [sent(90, 1), sent(120, 1)];
        let in_time = [sent(200, 1), sent(300, 0), sent(400, 500)];
        let packets = || closed.into_iter().chain(early).chain(in_time).chain([sent(600, 1)]);
        assert_eq!(value("window_probes", Sender, packets()), 2);
        assert_eq!(value("window_probes", Receiver, packets()), 0);
    }

    #[test]
    fn timeouts_are_the_gaps_between_the_copies_of_the_first_byte() {
        let syn = passes(0, Side::Sender, 0, 0, Flags::SYN, 90);
        let copies =
            [20, 240, 680, 1_560, 2_000].map(|ms| passes(ms, Side::Sender, 1, 100, Flags::ACK, 90));
        let packets = || copies.into_iter().chain([syn]);
        assert_eq!(value("first_timeout_ms", Side::Sender, packets()), 220);
        assert_eq!(value("doubled_timeouts", Side::Sender, packets()), 2);
    }

    #[test]
    fn fins_cross_if_one_leaves_before_the_other_arrives() {
        let fins = |second| {
            [
                passes(0, Side::Sender, 1, 0, Flags::FIN, 90),
                passes(second, Side::Receiver, 1, 0, Flags::FIN, 90),
            ]
        };
        for (second, crosses) in [(5, 1), (15, 0)] {
            assert_eq!(value("fin_crosses", Side::Receiver, fins(second)), crosses);
            assert_eq!(value("fin_crosses", Side::Sender, fins(second)), 1);
        }
    }
}
