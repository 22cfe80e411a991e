//! One direction of a connection as the network saw it: packets, their fates and acknowledgements.

use windlass_cc::{Span, Time};
use windlass_sim::{PacketEvent, PacketFate};

/// Packets that must be acknowledged after a lost packet until the loss is known (RFC 5681 section
/// 3.2, RFC 9002 section 6.1.1).
const THRESHOLD: usize = 3;
/// Largest size of packets that carry no data, such as acknowledgements; bytes with headers.
const NO_DATA: u32 = 120;
/// Time after which a lost packet no longer counts as in flight, if nothing is acknowledged after it.
const FORGOTTEN: Span = Span(1_000_000_000);

/// Index of the link on which a sender's packets appear at the time of sending: it is faster than any
/// burst of acknowledgements.
pub const ACCESS: u32 = 0;
/// Index of the link behind it, with the losses and the receiver.
pub const PATH: u32 = 1;

/// A packet of the audited sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    /// Time at which its transmission began.
    pub sent: Time,
    /// IP packet size, bytes.
    pub len: u32,
    /// Time at which it reached the receiver; `None` if the network lost it.
    pub arrived: Option<Time>,
    /// Time at which the sender received an acknowledgement that can cover it.
    pub acked: Option<Time>,
}

impl Packet {
    /// True if the network lost the packet.
    pub fn is_lost(&self) -> bool {
        self.arrived.is_none()
    }

    /// True if the packet has more than headers and acknowledgements.
    pub fn has_data(&self) -> bool {
        self.len > NO_DATA
    }
}

/// A round trip: from the sending of a packet to its acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Beginning.
    pub start: Time,
    /// End: acknowledgement of the first packet that was sent at or after the beginning.
    pub end: Time,
    /// Largest number of full packets in flight.
    pub peak: f64,
    /// Number of full packets sent.
    pub sent: f64,
}

/// The packets of a sender, and the acknowledgements that reached it.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Packets with data in the order of sending.
    pub packets: Vec<Packet>,
    /// Sending times of all packets, with and without data.
    pub all: Vec<Time>,
    /// Times at which packets of the receiver reached the sender.
    pub heard: Vec<Time>,
    /// Size of a full packet, bytes.
    pub full: u32,
    /// End of the observation.
    pub end: Time,
    /// Changes of the bytes in flight, in the order of time.
    flight: Vec<(Time, i64)>,
}

impl Trace {
    /// The packets of the flow with this index, which the network logged on the links [`ACCESS`] and
    /// [`PATH`].
    pub fn of(events: &[PacketEvent], flow: u32, end: Time) -> Trace {
        let on = |link: u32, forward: bool| {
            let direction = 2 * link + u32::from(!forward);
            events.iter().filter(move |e| e.flow == flow && e.link == direction)
        };
        let replies = passages(on(PATH, false));
        let mut packets = through(&passages(on(ACCESS, true)), &on(PATH, true).collect::<Vec<_>>());
        for packet in &mut packets {
            packet.acked = packet.arrived.and_then(|arrived| acknowledged(&replies, arrived));
        }
        let all = packets.iter().map(|p| p.sent).collect();
        packets.retain(Packet::has_data);
        let full = full_size(&packets);
        let heard = replies.iter().filter_map(|reply| reply.arrived).collect();
        let flight = flight(&packets);
        Trace { packets, all, heard, full, end, flight }
    }

    /// Number of full packets that have as many bytes.
    pub fn in_packets(&self, bytes: i64) -> f64 {
        bytes as f64 / f64::from(self.full.max(1))
    }

    /// Base RTT: the minimum time from a packet to its acknowledgement.
    pub fn rtt(&self) -> Span {
        let times = self.packets.iter().filter_map(|p| Some(p.acked?.since(p.sent)));
        times.min().unwrap_or(Span::ZERO)
    }

    /// Largest number of full packets in flight from `from` to `to`.
    pub fn peak(&self, from: Time, to: Time) -> f64 {
        let (mut now, mut peak) = (0, 0);
        for (time, change) in &self.flight {
            if *time > to {
                break;
            }
            if *time >= from {
                peak = peak.max(now);
            }
            now += change;
        }
        self.in_packets(peak.max(now))
    }

    /// Full packets in flight after each change from `from` to `to`.
    pub fn in_flight(&self, from: Time, to: Time) -> Vec<(Time, f64)> {
        let (mut now, mut all) = (0, vec![(from, 0.0)]);
        for (time, change) in self.flight.iter().take_while(|(time, _)| *time <= to) {
            now += change;
            match *time < from {
                true => all[0].1 = self.in_packets(now),
                false => all.push((*time, self.in_packets(now))),
            }
        }
        all
    }

    /// Packets that were sent from `from` until before `to`.
    pub fn sent(&self, from: Time, to: Time) -> impl Iterator<Item = &Packet> {
        self.packets.iter().filter(move |p| p.sent >= from && p.sent < to)
    }

    /// Number of full packets with as many bytes as were sent from `from` until before `to`.
    pub fn amount(&self, from: Time, to: Time) -> f64 {
        self.in_packets(self.sent(from, to).map(|p| i64::from(p.len)).sum())
    }

    /// Time of the first arrival from the receiver at or after `time`.
    pub fn hears(&self, time: Time) -> Option<Time> {
        self.heard.iter().copied().find(|heard| *heard >= time)
    }

    /// Rounds from `from` to the end of the observation.
    pub fn rounds(&self, from: Time) -> Vec<Round> {
        let mut rounds = Vec::new();
        let mut start = from;
        while let Some(end) = self.answered(start) {
            rounds.push(Round {
                start,
                end,
                peak: self.peak(start, end),
                sent: self.amount(start, end),
            });
            start = end;
        }
        rounds
    }

    /// Time at which a packet that was sent at or after `from` is first acknowledged.
    pub fn answered(&self, from: Time) -> Option<Time> {
        self.packets.iter().filter(|p| p.sent >= from).filter_map(|p| p.acked).min()
    }

    /// Lost packets, by their place.
    pub fn losses(&self) -> impl Iterator<Item = usize> {
        (0..self.packets.len()).filter(|i| self.packets[*i].is_lost())
    }

    /// Time at which the sender can know that this packet is lost: three later packets are acknowledged.
    pub fn known_lost(&self, place: usize) -> Option<Time> {
        known_lost(&self.packets, place)
    }
}

/// Passage of a packet over a link.
struct Passage {
    sent: Time,
    len: u32,
    arrived: Option<Time>,
}

/// The packets of a link direction that the queue did not drop. A link keeps their order.
fn passages<'a>(events: impl Iterator<Item = &'a PacketEvent>) -> Vec<Passage> {
    let mut all: Vec<Passage> = Vec::new();
    let mut next = 0;
    for event in events {
        match event.fate {
            PacketFate::Sent => {
                all.push(Passage { sent: event.time, len: event.ip_len, arrived: None });
            }
            PacketFate::DroppedQueue => {}
            fate => {
                if let Some(passage) = all.get_mut(next) {
                    passage.arrived = (fate == PacketFate::Delivered).then_some(event.time);
                }
                next += 1;
            }
        }
    }
    all
}

/// The packets that a sender put on the access link, with their fates on the path behind it. A packet
/// reaches the path's queue when it leaves the access link.
fn through(access: &[Passage], path: &[&PacketEvent]) -> Vec<Packet> {
    let dropped = path.iter().filter(|e| e.fate == PacketFate::DroppedQueue);
    let dropped: Vec<Time> = dropped.map(|e| e.time).collect();
    let mut over = passages(path.iter().copied()).into_iter();
    let fate = |passage: &Passage| {
        let at_queue = passage.arrived?;
        match dropped.binary_search(&at_queue) {
            Ok(_) => None,
            Err(_) => over.next().and_then(|p| p.arrived),
        }
    };
    let arrived: Vec<Option<Time>> = access.iter().map(fate).collect();
    let packet = |(p, arrived): (&Passage, Option<Time>)| Packet {
        sent: p.sent,
        len: p.len,
        arrived,
        acked: None,
    };
    access.iter().zip(arrived).map(packet).collect()
}

/// Arrival of the first reply that was sent after a packet had arrived at this time.
fn acknowledged(replies: &[Passage], arrived: Time) -> Option<Time> {
    let first = replies.partition_point(|reply| reply.sent < arrived);
    replies[first..].iter().find_map(|reply| reply.arrived)
}

/// The most frequent size among the larger half of sizes, which a sender with enough data uses.
fn full_size(packets: &[Packet]) -> u32 {
    let largest = packets.iter().map(|p| p.len).max().unwrap_or(0);
    let mut sizes: Vec<u32> =
        packets.iter().map(|p| p.len).filter(|len| *len > largest / 2).collect();
    sizes.sort_unstable();
    let runs = sizes.chunk_by(|a, b| a == b);
    runs.max_by_key(|run| run.len()).map_or(largest, |run| run[0])
}

fn known_lost(packets: &[Packet], place: usize) -> Option<Time> {
    let mut later: Vec<Time> =
        packets[place + 1..].iter().filter_map(|p| p.acked).take(4 * THRESHOLD).collect();
    later.sort_unstable();
    later.get(THRESHOLD - 1).copied()
}

/// Changes of the bytes in flight. A lost packet leaves when its loss is known, but at most after
/// [`FORGOTTEN`].
fn flight(packets: &[Packet]) -> Vec<(Time, i64)> {
    let mut changes = Vec::with_capacity(2 * packets.len());
    for (place, packet) in packets.iter().enumerate() {
        let len = i64::from(packet.len);
        changes.push((packet.sent, len));
        let forgotten = packet.sent + FORGOTTEN;
        let leaves = match packet.is_lost() {
            true => known_lost(packets, place).map_or(forgotten, |known| known.min(forgotten)),
            false => packet.acked.unwrap_or(Time::NEVER),
        };
        changes.push((leaves, -len));
    }
    // Departures before arrivals at the same time, because an acknowledgement precedes the packets
    // that it releases.
    changes.sort_unstable();
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An event of the path at this millisecond.
    fn event(ms: u64, forward: bool, fate: PacketFate, ip_len: u32) -> PacketEvent {
        PacketEvent {
            time: Time::from_millis(ms),
            link: 2 * PATH + u32::from(!forward),
            flow: 0,
            forward,
            fate,
            segment: None,
            ip_len,
            path: None,
            quick_start: None,
        }
    }

    /// The trace of these events of the path. Each forward packet was on the access link just before.
    fn trace(path: &[PacketEvent]) -> Trace {
        let enters = |e: &&PacketEvent| e.forward && matches!(e.fate, Sent | DroppedQueue);
        let access = path.iter().filter(enters).flat_map(|e| {
            [Sent, Delivered].map(|fate| PacketEvent { link: 2 * ACCESS, fate, ..*e })
        });
        let all: Vec<PacketEvent> = access.chain(path.iter().copied()).collect();
        Trace::of(&all, 0, Time::from_millis(200))
    }

    use PacketFate::{Delivered, DroppedError, DroppedQueue, Sent};

    #[test]
    fn packet_is_acknowledged_by_the_first_reply_after_its_arrival() {
        let events = [
            event(0, true, Sent, 1500),
            event(1, true, Sent, 1500),
            event(40, false, Sent, 40),
            event(50, true, Delivered, 1500),
            event(51, true, Delivered, 1500),
            event(51, false, Sent, 40),
            event(90, false, Delivered, 40),
            event(101, false, Delivered, 40),
        ];
        let trace = trace(&events);
        let acked: Vec<_> = trace.packets.iter().map(|p| p.acked).collect();
        assert_eq!(acked, [Some(Time::from_millis(101)); 2]);
        assert_eq!(trace.rtt(), Span::from_millis(100));
    }

    #[test]
    fn lost_packet_never_arrives_and_its_successor_does() {
        let events = [
            event(0, true, Sent, 1500),
            event(1, true, Sent, 1400),
            event(50, true, DroppedError, 1500),
            event(51, true, Delivered, 1400),
        ];
        let trace = trace(&events);
        assert!(trace.packets[0].is_lost());
        assert_eq!(trace.packets[1].arrived, Some(Time::from_millis(51)));
    }

    #[test]
    fn packet_that_the_queue_drops_does_not_take_the_arrival_of_another() {
        let events = [
            event(0, true, DroppedQueue, 1500),
            event(1, true, Sent, 1500),
            event(50, true, Delivered, 1500),
        ];
        let trace = trace(&events);
        assert!(trace.packets[0].is_lost());
        assert!(!trace.packets[1].is_lost());
    }

    #[test]
    fn flight_counts_packets_until_their_acknowledgement() {
        let events = [
            event(0, true, Sent, 1500),
            event(1, true, Sent, 1500),
            event(50, true, Delivered, 1500),
            event(50, false, Sent, 40),
            event(51, true, Delivered, 1500),
            event(51, false, Sent, 40),
            event(100, false, Delivered, 40),
            event(101, false, Delivered, 40),
        ];
        let trace = trace(&events);
        let at = Time::from_millis;
        assert_eq!(trace.peak(at(0), at(99)), 2.0);
        assert_eq!(trace.peak(at(101), at(150)), 1.0);
        assert_eq!(trace.peak(at(110), at(150)), 0.0);
    }
}
