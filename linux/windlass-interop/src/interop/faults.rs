//! Listed faults of packets between an end and the first link. Packets are identified by their kind, not by
//! their number, so that a case has the same meaning in both directions.

use windlass_cc::Span;
use windlass_tcp::{Flags, Segment, Seq};

use super::Side;

/// A fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fault {
    /// End that sends the packets.
    pub from: Side,
    /// Packets with the fault.
    pub which: Which,
    /// Effect on the packets.
    pub what: What,
}

/// The packets of an end that a fault applies to. Numbers count from 1, up to and including the last number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Which {
    /// Segments with SYN, with or without an acknowledgement.
    Syn(u32, u32),
    /// Transmissions of the data byte with this offset, from 0.
    Byte(u64, (u32, u32)),
    /// Segments with FIN.
    Fin(u32, u32),
    /// Acknowledgements without data, SYN or FIN.
    Ack(u32, u32),
    /// Acknowledgements without data that follow the end's FIN.
    AckAfterFin(u32, u32),
    /// Acknowledgements without data, SYN or FIN that reopen a closed window.
    Reopening(u32, u32),
}

/// Effect on a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// The packet is lost.
    Drop,
    /// The packet is delayed until this number of later packets of the same end has passed.
    Behind(u32),
    /// The packet arrives twice, the second time after this delay.
    Twice(Span),
}

/// The faults of a run, and the state of the ends that they depend on.
#[derive(Debug)]
pub(super) struct Faults {
    faults: Vec<(Fault, u32)>,
    /// For each end: its first sequence number, whether its window is closed, and whether it has sent a FIN.
    seen: [Seen; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    iss: Seq,
    closed: bool,
    fin: bool,
}

impl Faults {
    pub fn new(faults: Vec<Fault>) -> Faults {
        Faults {
            faults: faults.into_iter().map(|fault| (fault, 0)).collect(),
            seen: Default::default(),
        }
    }

    /// Returns the effect on this segment, `None` for no effect.
    pub fn judge(&mut self, from: Side, s: &Segment) -> Option<What> {
        let seen = &mut self.seen[from as usize];
        if s.flags.has(Flags::SYN) {
            *seen = Seen { iss: s.seq, ..Seen::default() };
        }
        let before = *seen;
        seen.closed = s.window == 0;
        seen.fin |= s.flags.has(Flags::FIN);
        let mut happens = None;
        for (fault, count) in self.faults.iter_mut().filter(|(fault, _)| fault.from == from) {
            if let Some((first, last)) = fault.which.range(s, before) {
                *count += 1;
                if (first..=last).contains(count) {
                    happens = happens.or(Some(fault.what));
                }
            }
        }
        happens
    }

    /// Returns the faults that have not been applied.
    pub fn unused(&self) -> impl Iterator<Item = &Fault> {
        let first = |fault: &Fault| match fault.which {
            Which::Syn(first, _)
            | Which::Byte(_, (first, _))
            | Which::Fin(first, _)
            | Which::Ack(first, _)
            | Which::AckAfterFin(first, _)
            | Which::Reopening(first, _) => first,
        };
        self.faults.iter().filter(move |(fault, count)| *count < first(fault)).map(|(f, _)| f)
    }
}

impl Which {
    /// Returns the range of affected numbers, if the segment is of this kind.
    fn range(self, s: &Segment, seen: Seen) -> Option<(u32, u32)> {
        let control = s.flags.has(Flags::SYN) || s.flags.has(Flags::FIN) || s.flags.has(Flags::RST);
        let bare = s.len == 0 && !control;
        let (first, last, fits) = match self {
            Which::Syn(first, last) => (first, last, s.flags.has(Flags::SYN)),
            Which::Fin(first, last) => (first, last, s.flags.has(Flags::FIN)),
            Which::Ack(first, last) => (first, last, bare),
            Which::AckAfterFin(first, last) => (first, last, bare && seen.fin),
            Which::Reopening(first, last) => (first, last, bare && seen.closed && s.window > 0),
            Which::Byte(offset, (first, last)) => {
                let start = u64::from(s.seq.0.wrapping_sub(seen.iss.0).wrapping_sub(1));
                (first, last, (start..start + u64::from(s.len)).contains(&offset))
            }
        };
        fits.then_some((first, last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(seq: u32, len: u32, flags: Flags) -> Segment {
        Segment { seq: Seq(seq), len, flags, window: 100, ..Segment::default() }
    }

    #[test]
    fn byte_is_identified_by_its_offset_from_any_initial_number() {
        let which = Which::Byte(1000, (2, 3));
        let mut faults = Faults::new(vec![Fault { from: Side::Sender, which, what: What::Drop }]);
        let iss = u32::MAX - 500;
        assert_eq!(faults.judge(Side::Sender, &segment(iss, 0, Flags::SYN)), None);
        let data = segment(iss.wrapping_add(1), 1001, Flags::ACK);
        assert_eq!(faults.judge(Side::Receiver, &data), None);
        let short = Segment { len: 1000, ..data };
        assert_eq!(faults.judge(Side::Sender, &short), None, "it ends before the byte");
        assert_eq!(faults.unused().count(), 1);
        let struck = [data; 4].map(|s| faults.judge(Side::Sender, &s));
        assert_eq!(struck, [None, Some(What::Drop), Some(What::Drop), None]);
        assert_eq!(faults.unused().count(), 0);
    }

    #[test]
    fn reopening_counts_only_after_a_closed_window() {
        let which = Which::Reopening(1, 1);
        let mut faults = Faults::new(vec![Fault { from: Side::Receiver, which, what: What::Drop }]);
        let open = segment(1, 0, Flags::ACK);
        let closed = Segment { window: 0, ..open };
        let struck = [open, closed, closed, open, open].map(|s| faults.judge(Side::Receiver, &s));
        assert_eq!(struck, [None, None, None, Some(What::Drop), None]);
    }
}
