//! Accurate ECN (RFC 9768): the negotiation, and the counter of marked packets in the ACE field.

use crate::segment::{Codepoint, Flags, Segment};

/// Initial value of both counters of marked packets, r.cep and s.cep (section 3.2.1).
const INITIAL: u32 = 5;
/// Marks since the last acknowledgement that demand another (section 3.2.2.5.1).
const PROMPT_MARKS: u32 = 2;
/// SYNs, or their answers, with the flags before one is sent without them (sections 3.1.4.1 and 3.2.3.2.2).
const ATTEMPTS: u32 = 2;

/// Feedback that both ends have agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Agreement {
    None,
    /// RFC 3168, and for algorithms that need exact marks RFC 8257.
    Classic,
    Accurate,
}

/// The agreement of a server that supports accurate ECN, by the flags of a SYN (section 3.1.2). Combinations
/// that are not defined yet count as a request of accurate ECN (section 3.1.3).
pub(super) fn on_syn(ace: u8) -> Agreement {
    match ace {
        0b000 => Agreement::None,
        0b011 => Agreement::Classic,
        _ => Agreement::Accurate,
    }
}

/// The agreement of a client that requested accurate ECN, by the flags of the SYN-ACK (table 2). The
/// reserved combination 101 counts as accurate (section 3.1.3).
pub(super) fn on_syn_ack(ace: u8) -> Agreement {
    match ace {
        0b000 | 0b111 => Agreement::None,
        0b001 => Agreement::Classic,
        _ => Agreement::Accurate,
    }
}

/// The ACE field that reports the ECN field of a SYN or SYN-ACK (tables 2 and 4).
pub(super) fn reflected(ecn: Codepoint) -> u8 {
    match ecn {
        Codepoint::NotEct => 0b010,
        Codepoint::Ect1 => 0b011,
        Codepoint::Ect0 => 0b100,
        Codepoint::Ce => 0b110,
    }
}

/// The flags of a SYN after this number of timeouts.
pub(super) fn request(timeouts: u32) -> Flags {
    if timeouts < ATTEMPTS { Flags::of_ace(0b111) } else { Flags::default() }
}

/// Number of packets that were marked, if the counter of three bits has advanced by `advance` while
/// `packets` packets were delivered. A wrap is assumed if it is possible, so that no mark is missed (appendix
/// A.2.1).
pub(super) fn safer(packets: u64, advance: u8) -> u64 {
    let advance = u64::from(advance % 8);
    if packets < 8 {
        return advance;
    }
    packets - (packets - advance) % 8
}

/// State of a connection that has agreed on accurate ECN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AccurateEcn {
    /// Packets received with a mark, r.cep.
    received: u32,
    /// Value of `received` in the last segment sent.
    reported: u32,
    /// Packets that the peer has reported as marked, s.cep modulo 8.
    known: u8,
    /// ECN field of the peer's last SYN or SYN-ACK.
    handshake: Codepoint,
    /// ECN field of the last data received.
    last: Option<Codepoint>,
    /// True until a client has sent its first segment after the handshake.
    reflects: bool,
    /// True if the feedback does not arrive: no packet is sent as ECN-capable (sections 3.1.5, 3.2.2.1).
    pub(super) mute: bool,
    /// Packets that the present acknowledgement reports as marked.
    pub(super) news: u64,
}

impl AccurateEcn {
    /// State after this SYN, or after this SYN-ACK.
    pub(super) fn new(s: &Segment) -> AccurateEcn {
        let client = s.flags.has(Flags::ACK);
        let marked = u32::from(s.ecn == Codepoint::Ce);
        // The client's SYN was marked on its way.
        let known = if client && s.flags.ace() == reflected(Codepoint::Ce) { 6 } else { 5 };
        AccurateEcn {
            received: INITIAL + marked,
            reported: INITIAL + marked,
            known,
            handshake: s.ecn,
            last: None,
            reflects: client,
            mute: false,
            news: 0,
        }
    }

    /// Another SYN has arrived: the newest is reported (section 3.1.4.2).
    pub(super) fn on_repeated_syn(&mut self, s: &Segment) {
        self.handshake = s.ecn;
        self.received = INITIAL + u32::from(s.ecn == Codepoint::Ce);
        self.reported = self.received;
    }

    /// The flags of a SYN-ACK after this number of timeouts. An end that has sent one without the flags sends
    /// no ECN-capable packets (section 3.1.5).
    pub(super) fn answer(&mut self, timeouts: u32) -> Flags {
        self.mute |= timeouts >= ATTEMPTS;
        if self.mute { Flags::default() } else { Flags::of_ace(reflected(self.handshake)) }
    }

    /// Reads the first ACE field that a server receives (table 4). That segment delivers no data, so that
    /// [`on_ack`](Self::on_ack) does not take the field for a counter.
    pub(super) fn on_third_ack(&mut self, ace: u8) {
        match ace {
            0b000 => self.mute = true,
            0b110 => self.known = 6,
            _ => {}
        }
    }

    /// The ACE field of the next segment.
    pub(super) fn report(&mut self) -> Flags {
        self.reported = self.received;
        match std::mem::take(&mut self.reflects) {
            true => Flags::of_ace(reflected(self.handshake)),
            false => Flags::of_ace((self.received % 8) as u8),
        }
    }

    /// Counts a segment with data. Returns true if an acknowledgement is due at once: after two marks, and
    /// when the ECN field changes (section 3.2.2.5.1).
    pub(super) fn on_data(&mut self, ecn: Codepoint) -> bool {
        self.received = self.received.wrapping_add(u32::from(ecn == Codepoint::Ce));
        let changed = self.last.is_some_and(|last| last != ecn);
        self.last = Some(ecn);
        changed || self.received.wrapping_sub(self.reported) >= PROMPT_MARKS
    }

    /// Counts a marked segment without data.
    pub(super) fn on_empty(&mut self, ecn: Codepoint) {
        self.received = self.received.wrapping_add(u32::from(ecn == Codepoint::Ce));
    }

    /// Reads the counter of an acknowledgement that delivers this number of packets. Without a delivery it
    /// may be an old one, and is ignored (section 3.2.2.2).
    pub(super) fn on_ack(&mut self, ace: u8, packets: u64) {
        self.news = 0;
        if packets == 0 || self.mute {
            return;
        }
        let advance = (ace + 8 - self.known % 8) % 8;
        self.news = safer(packets, advance);
        self.known = (self.known + advance) % 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_syn_ack_selects_the_feedback_by_table_2() {
        use Agreement::{Accurate, Classic, None};
        let expected = [None, Classic, Accurate, Accurate, Accurate, Accurate, Accurate, None];
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(on_syn_ack), expected);
    }

    #[test]
    fn a_syn_selects_the_feedback_and_unknown_flags_request_accurate_ecn() {
        use Agreement::{Accurate, Classic, None};
        let expected = [None, Accurate, Accurate, Classic, Accurate, Accurate, Accurate, Accurate];
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7].map(on_syn), expected);
    }

    #[test]
    fn each_ecn_field_of_a_syn_has_its_reflection() {
        let fields = [Codepoint::NotEct, Codepoint::Ect1, Codepoint::Ect0, Codepoint::Ce];
        assert_eq!(fields.map(reflected), [0b010, 0b011, 0b100, 0b110]);
    }

    #[test]
    fn a_wrap_of_the_counter_is_assumed_if_it_is_possible() {
        // The known answers of appendix A.2.1.
        assert_eq!(safer(9, 2), 2);
        assert_eq!(safer(10, 2), 10);
        for packets in 8..200u64 {
            for advance in 0..8u8 {
                let marked = safer(packets, advance);
                assert_eq!(marked % 8, u64::from(advance));
                assert!(marked <= packets && marked + 8 > packets, "{packets} {advance}");
            }
        }
        assert_eq!(safer(1, 3), 3, "seven packets cannot wrap the counter");
    }

    #[test]
    fn the_counter_is_read_modulo_8_and_only_with_a_delivery() {
        let syn = Segment { flags: Flags::SYN, ..Segment::default() };
        let mut e = AccurateEcn::new(&syn);
        for (ace, packets, marked) in [(5, 2, 0), (7, 2, 2), (1, 2, 2), (3, 0, 0), (2, 2, 1)] {
            e.on_ack(ace, packets);
            assert_eq!(e.news, marked, "ACE {ace}");
        }
        // Ten segments in one acknowledgement, and the counter at 4.
        e.on_ack(4, 10);
        assert_eq!(e.news, 10);
    }
}
