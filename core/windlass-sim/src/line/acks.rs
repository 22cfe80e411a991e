//! Acknowledgements that a link holds, by destination host.

use std::collections::BTreeMap;

use windlass_cc::Span;
use windlass_tcp::segment::Flags;
use windlass_tcp::{Segment, Seq};

use crate::course::{AckRule, AckShaping};
use crate::packet::PacketHandle;

/// Treatment of an arriving packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Admitted {
    /// True if the packet continues immediately, after the packets held for its host.
    pub(super) passes: bool,
    /// True if the packets held for its host continue now.
    pub(super) lets_go: bool,
    /// Round number and maximum holding time, if the packet is the first held packet of a round.
    pub(super) waits: Option<(u64, Span)>,
    /// The held packet that this packet replaces.
    pub(super) replaced: Option<PacketHandle>,
}

impl Admitted {
    /// Treatment of a packet that is independent of the held packets.
    pub(super) const PASSES: Admitted =
        Admitted { passes: true, lets_go: false, waits: None, replaced: None };
}

/// Held packets of one host.
#[derive(Clone, Debug, Default)]
struct Gate {
    held: Vec<PacketHandle>,
    /// Acknowledgements held since the last release.
    count: u32,
    /// Number of releases.
    round: u64,
    /// The last acknowledgement number received.
    last: Option<Seq>,
}

/// The gates of all hosts of a line.
#[derive(Clone, Debug)]
pub(super) struct Gates {
    shaping: AckShaping,
    gates: BTreeMap<u32, Gate>,
}

impl Gates {
    pub(super) fn new(shaping: AckShaping) -> Gates {
        Gates { shaping, gates: BTreeMap::new() }
    }

    /// Receives a segment for this host.
    pub(super) fn admit(&mut self, host: u32, s: &Segment, handle: PacketHandle) -> Admitted {
        let AckShaping { rule, count, within } = self.shaping;
        let gate = self.gates.entry(host).or_default();
        let is_new = gate.last.replace(s.ack) != Some(s.ack);
        let mere = s.len == 0 && s.flags.0 & !Flags::of_ace(0b111).0 == Flags::ACK.0;
        let dispensable = is_new && s.options.sack_count == 0 && !s.flags.has(Flags::ECE);
        if !mere || (rule == AckRule::Thin && !dispensable) {
            return Admitted { lets_go: !gate.held.is_empty(), ..Admitted::PASSES };
        }
        let waits = gate.held.is_empty().then_some((gate.round, within));
        let replaced = (rule == AckRule::Thin).then(|| gate.held.pop()).flatten();
        gate.held.push(handle);
        gate.count += 1;
        Admitted { passes: false, lets_go: gate.count >= count, waits, replaced }
    }

    /// True if this round of the host's gate has not ended.
    pub(super) fn is_round(&self, host: u32, round: u64) -> bool {
        self.gates.get(&host).is_some_and(|gate| gate.round == round)
    }

    /// Releases and returns the packets held for this host.
    pub(super) fn open(&mut self, host: u32) -> Vec<PacketHandle> {
        let Some(gate) = self.gates.get_mut(&host) else { return Vec::new() };
        (gate.count, gate.round) = (0, gate.round + 1);
        std::mem::take(&mut gate.held)
    }
}
