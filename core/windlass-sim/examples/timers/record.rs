//! Record of a connection: the times of its transmissions, its RTT samples, and the fate of each
//! segment.

use windlass_cc::{RttSample, Span, Time};
use windlass_sim::config::Config;
use windlass_sim::results::{PacketEvent, PacketFate};
use windlass_sim::{RunResult, Simulation};
use windlass_tcp::Seq;

/// An event of a connection.
pub enum Step {
    /// New data is sent: a segment with this number.
    Sent(usize),
    /// An acknowledgement yields an RTT sample.
    Sample(RttSample),
}

/// Fate of the first transmission of a segment.
#[derive(Clone, Copy, PartialEq)]
pub enum Fate {
    /// It was acknowledged after this time.
    Acknowledged(Span),
    /// It was lost.
    Lost,
    /// A segment was retransmitted meanwhile, so that the acknowledgement yields no RTT sample.
    Unclear,
}

/// A recorded connection.
pub struct Recorded {
    /// Events in order.
    pub steps: Vec<Step>,
    /// Fate of each segment.
    pub fates: Vec<Fate>,
}

impl Recorded {
    /// Number of segments and number of lost segments.
    pub fn size(&self) -> (f64, f64) {
        let lost = self.fates.iter().filter(|f| **f == Fate::Lost).count();
        (self.fates.len() as f64, lost as f64)
    }
}

/// A segment that is not acknowledged yet.
struct Outstanding {
    number: usize,
    end: u64,
    at: Time,
}

/// Follows the packets on the sender's wire.
struct Follower {
    recorded: Recorded,
    outstanding: Vec<Outstanding>,
    first: Seq,
    una: u64,
    next: u64,
    sent: u64,
    resent: u64,
    sent_again_at: Time,
}

/// Simulates and records flow 0, whose wires are links 0 and 1.
pub fn record(mut config: Config) -> Recorded {
    config.record.capture = vec![0, 1];
    let mut simulation = Simulation::new(config).expect("a valid network");
    simulation.run();
    let result = simulation.finish().expect("conserved packets");
    let arrived = arrivals(&result);
    let mut arrived = arrived.into_iter().peekable();
    let data = |e: &PacketEvent| e.flow == 0 && e.segment.is_some_and(|s| s.len > 0);
    let first = result.packets.iter().find(|e| data(e) && e.forward).and_then(|e| e.segment);
    let mut follower = Follower::new(first.expect("data was sent").seq);
    for event in result.packets.iter().filter(|e| e.flow == 0 && e.link / 2 == 0) {
        let Some(segment) = event.segment else { continue };
        if event.forward && event.fate == PacketFate::Sent && segment.len > 0 {
            // The path keeps the order: the next arrival is this packet or a later packet.
            let lost = arrived.next_if_eq(&(segment.seq, segment.len)).is_none();
            follower.on_sent(event.time, segment.seq, segment.len, lost);
        } else if !event.forward && event.fate == PacketFate::Delivered {
            follower.on_ack(event.time, segment.ack);
        }
    }
    follower.recorded
}

/// The data packets that reached the receiver's wire, in order.
fn arrivals(result: &RunResult) -> Vec<(Seq, u32)> {
    let on_wire = |e: &&PacketEvent| {
        e.flow == 0 && e.forward && e.link / 2 == 1 && e.fate == PacketFate::Sent
    };
    let segments = result.packets.iter().filter(on_wire).filter_map(|e| e.segment);
    segments.filter(|s| s.len > 0).map(|s| (s.seq, s.len)).collect()
}

impl Follower {
    fn new(first: Seq) -> Follower {
        Follower {
            recorded: Recorded { steps: Vec::new(), fates: Vec::new() },
            outstanding: Vec::new(),
            first,
            una: 0,
            next: 0,
            sent: 0,
            resent: 0,
            sent_again_at: Time::ZERO,
        }
    }

    /// Stream offset of a sequence number near `near`.
    fn offset(&self, seq: Seq, near: u64) -> Option<u64> {
        seq.unwrap_near(self.first, near)
    }

    fn on_sent(&mut self, now: Time, seq: Seq, len: u32, lost: bool) {
        let Some(start) = self.offset(seq, self.next) else { return };
        self.sent += 1;
        if start < self.next {
            self.resent += 1;
            self.sent_again_at = now;
            return;
        }
        self.next = start + u64::from(len);
        let number = self.recorded.fates.len();
        self.recorded.fates.push(if lost { Fate::Lost } else { Fate::Unclear });
        self.recorded.steps.push(Step::Sent(number));
        self.outstanding.push(Outstanding { number, end: self.next, at: now });
    }

    fn on_ack(&mut self, now: Time, ack: Seq) {
        let Some(una) = self.offset(ack, self.una) else { return };
        if una <= self.una {
            return;
        }
        self.una = una;
        let covered = self.outstanding.iter().take_while(|o| o.end <= una).count();
        let mut latest = None;
        for o in self.outstanding.drain(..covered) {
            let clear = self.sent_again_at < o.at || self.resent == 0;
            if clear && self.recorded.fates[o.number] == Fate::Unclear {
                self.recorded.fates[o.number] = Fate::Acknowledged(now.since(o.at));
                latest = Some(now.since(o.at));
            }
        }
        if let Some(rtt) = latest {
            let (sent, resent, next_id) = (self.sent, self.resent, self.next);
            let sample = RttSample { rtt, retransmits: 0, now, una, next_id, sent, resent };
            self.recorded.steps.push(Step::Sample(sample));
        }
    }
}
