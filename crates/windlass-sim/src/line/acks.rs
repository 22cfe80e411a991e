//! Acknowledgements that a link holds, by the host that they are for.

use std::collections::BTreeMap;

use windlass_cc::Span;
use windlass_tcp::segment::Flags;
use windlass_tcp::{Segment, Seq};

use crate::course::{AckRule, AckShaping};
use crate::packet::PacketHandle;

/// What is done with a packet that comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Admitted {
    /// It goes on at once, after those held for its host.
    pub(super) passes: bool,
    /// Those held for its host go on now.
    pub(super) lets_go: bool,
    /// It is the first that is held of a round with this number, which ends after this time.
    pub(super) waits: Option<(u64, Span)>,
    /// It takes the place of this one.
    pub(super) replaced: Option<PacketHandle>,
}

impl Admitted {
    /// A packet that has nothing to do with those held.
    pub(super) const PASSES: Admitted =
        Admitted { passes: true, lets_go: false, waits: None, replaced: None };
}

/// The gate of one host.
#[derive(Clone, Debug, Default)]
struct Gate {
    held: Vec<PacketHandle>,
    /// How many have come since it was open.
    count: u32,
    /// How many times it has been open.
    round: u64,
    /// The acknowledgement number that came last.
    last: Option<Seq>,
}

/// All gates of a line.
#[derive(Clone, Debug)]
pub(super) struct Gates {
    shaping: AckShaping,
    gates: BTreeMap<u32, Gate>,
}

impl Gates {
    pub(super) fn new(shaping: AckShaping) -> Gates {
        Gates { shaping, gates: BTreeMap::new() }
    }

    /// A segment has come for this host.
    pub(super) fn admit(&mut self, host: u32, s: &Segment, handle: PacketHandle) -> Admitted {
        let AckShaping { rule, count, within } = self.shaping;
        let gate = self.gates.entry(host).or_default();
        let is_new = gate.last.replace(s.ack) != Some(s.ack);
        let mere = s.len == 0 && s.flags.0 & !Flags::ECE.0 == Flags::ACK.0;
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

    /// Whether this round of the host's gate has not ended.
    pub(super) fn is_round(&self, host: u32, round: u64) -> bool {
        self.gates.get(&host).is_some_and(|gate| gate.round == round)
    }

    /// Those held for this host.
    pub(super) fn open(&mut self, host: u32) -> Vec<PacketHandle> {
        let Some(gate) = self.gates.get_mut(&host) else { return Vec::new() };
        (gate.count, gate.round) = (0, gate.round + 1);
        std::mem::take(&mut gate.held)
    }
}
