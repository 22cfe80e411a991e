//! Accurate ECN (RFC 9768): the negotiation, and the counter of marked packets in the ACE field.

use super::ecn_option::EcnOptions;
use crate::segment::{Codepoint, Flags, Segment};

/// Initial value of both counters of marked packets, r.cep and s.cep (section 3.2.1).
const INITIAL: u32 = 5;
/// Marks since the last acknowledgement that demand another, of segments with data (section 3.2.2.5.1).
const PROMPT_MARKS: u32 = 2;
/// Marks that demand another of segments without data. It is greater, so that two ends do not acknowledge each other's
/// acknowledgements endlessly.
const PROMPT_EMPTY_MARKS: u32 = 3;
/// Bits of the fraction of the average of packets per acknowledgement; each acknowledgement has the weight 1/64.
const AVERAGE_BITS: u32 = 6;
/// Average of packets per acknowledgement up to which a wrap of the counter is assumed if it is possible. Beyond it, the
/// counter would be assumed to wrap with each acknowledgement (appendix A.2.1).
const LONGEST_AVERAGE: u64 = 4;
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

/// An acknowledgement that can be read for marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    /// Packets that it delivers.
    pub(super) packets: u64,
    /// Bytes that it delivers.
    pub(super) bytes: u64,
    /// True if it is newer than all acknowledgements before: it delivers data, or its timestamp is newer.
    pub(super) newer: bool,
    /// True if its packets are certain: with SACK, or without a recovery.
    pub(super) certain: bool,
    /// Payload of a segment, bytes.
    pub(super) mss: u64,
}

impl Delivery {
    /// Number of its packets that were marked, if the counter of three bits has advanced by `advance`, and the option by
    /// `marked` bytes. The option decides whether the counter has wrapped.
    fn marks_by_option(&self, advance: u8, marked: u64) -> u64 {
        let (least, most) = (u64::from(advance), safer(self.packets, advance));
        if marked == 0 || self.packets < 8 {
            return least;
        }
        if self.packets >= 16 && self.certain {
            if marked >= self.bytes {
                return most;
            }
            let estimate = (marked * self.packets).div_ceil(self.bytes);
            return most.min(least + estimate / 8 * 8);
        }
        // Between both, the more cautious number.
        if marked > least * self.mss || marked >= most * self.mss / 2 { most } else { least }
    }
}

/// Number of packets that were marked, if the counter of three bits has advanced by `advance` while
/// `packets` packets were delivered. A wrap is assumed if it is possible, so that no mark is missed (appendix
/// A.2.1).
fn safer(packets: u64, advance: u8) -> u64 {
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
    /// Packets that the peer has reported as marked.
    pub(super) total: u64,
    /// Average of packets per acknowledgement, with a fraction; 0 before the first.
    average: u64,
    /// True while the segment that completes a server's handshake is processed: its ACE field is no counter.
    third: bool,
    pub(super) option: EcnOptions,
}

impl AccurateEcn {
    /// State after this SYN, or after this SYN-ACK.
    pub(super) fn new(s: &Segment) -> AccurateEcn {
        let client = s.flags.has(Flags::ACK);
        let marked = u32::from(s.ecn == Codepoint::Ce);
        // The client's SYN was marked on its way.
        let reported = client && s.flags.ace() == reflected(Codepoint::Ce);
        let mut option = EcnOptions::default();
        option.on_handshake(s.options.accurate_ecn().filter(|_| client));
        AccurateEcn {
            received: INITIAL + marked,
            reported: INITIAL + marked,
            known: 5 + u8::from(reported),
            handshake: s.ecn,
            last: None,
            reflects: client,
            mute: false,
            news: 0,
            total: reported.into(),
            average: 0,
            third: false,
            option,
        }
    }

    /// Another SYN has arrived: the newest is reported. Without flags, the path or the peer does not support the
    /// feedback (section 3.1.4.2).
    pub(super) fn on_repeated_syn(&mut self, s: &Segment) {
        self.mute |= s.flags.ace() == 0;
        self.handshake = s.ecn;
        self.received = INITIAL + u32::from(s.ecn == Codepoint::Ce);
        self.reported = self.received;
    }

    /// The flags of a SYN-ACK after this number of timeouts. An end that has sent one without the flags sends
    /// no ECN-capable packets (section 3.1.5).
    pub(super) fn answer(&mut self, timeouts: u32) -> Flags {
        let silent = timeouts >= ATTEMPTS;
        self.mute |= silent;
        if silent { Flags::default() } else { Flags::of_ace(reflected(self.handshake)) }
    }

    /// The SYN-ACK has arrived again: the acknowledgement reports its field.
    pub(super) fn on_repeated_syn_ack(&mut self, s: &Segment) {
        self.handshake = s.ecn;
        self.reflects = true;
        self.option.on_handshake(s.options.accurate_ecn());
    }

    /// Reads the first ACE field that a server receives (table 4); with data it is a counter. The SYN-ACK was not
    /// ECN-capable. If its field has changed on the way, Linux sends no ECN-capable packets (`wary`, section 3.2.2.3).
    pub(super) fn on_third_ack(&mut self, s: &Segment, wary: bool) {
        self.third = true;
        self.option.on_handshake(s.options.accurate_ecn());
        let ace = s.flags.ace();
        let changed = matches!(ace, 0b011 | 0b100 | 0b110) && s.len == 0;
        self.mute |= ace == 0 || changed && wary;
        if changed && ace == 0b110 && !wary {
            (self.known, self.total) = (6, 1);
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
    pub(super) fn on_data(&mut self, ecn: Codepoint, len: u32) -> bool {
        let marked = ecn == Codepoint::Ce;
        self.received = self.received.wrapping_add(u32::from(marked));
        self.option.on_data(ecn, len);
        let changed = self.last.is_some_and(|last| last != ecn);
        if changed || marked {
            self.option.demand();
        }
        self.last = Some(ecn);
        changed || self.received.wrapping_sub(self.reported) >= PROMPT_MARKS
    }

    /// Counts a marked segment without data. Returns true if an acknowledgement is due at once.
    pub(super) fn on_empty(&mut self, ecn: Codepoint) -> bool {
        self.received = self.received.wrapping_add(u32::from(ecn == Codepoint::Ce));
        self.received.wrapping_sub(self.reported) >= PROMPT_EMPTY_MARKS
    }

    /// Reads the counters of an acknowledgement. An acknowledgement that may be older than others is ignored (section
    /// 3.2.2.2).
    pub(super) fn on_ack(&mut self, s: &Segment, d: &Delivery) {
        self.news = 0;
        if std::mem::take(&mut self.third) || !d.newer || self.mute {
            return;
        }
        let marked = self.option.on_ack(s.options.accurate_ecn());
        if d.packets > 0 {
            let sample = d.packets << AVERAGE_BITS;
            self.average = match self.average {
                0 => sample,
                average => average - average / (1 << AVERAGE_BITS) + d.packets,
            };
        }
        let advance = (s.flags.ace() + 8 - self.known % 8) % 8;
        self.news = match marked {
            Some(marked) => d.marks_by_option(advance, marked),
            None if self.average > LONGEST_AVERAGE << AVERAGE_BITS => advance.into(),
            None => safer(d.packets, advance),
        };
        self.known = (self.known + advance) % 8;
        self.total += self.news;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accurate_option::{EcnOption, EcnOrder};
    use windlass_cc::{Span, Time};

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
        let mut read = |ace, packets| {
            let s = Segment { flags: Flags::of_ace(ace), ..Segment::default() };
            let bytes = packets * 1000;
            e.on_ack(
                &s,
                &Delivery { packets, bytes, newer: packets > 0, certain: true, mss: 1000 },
            );
            e.news
        };
        for (ace, packets, marked) in [(5, 2, 0), (7, 2, 2), (1, 2, 2), (3, 0, 0), (2, 2, 1)] {
            assert_eq!(read(ace, packets), marked, "ACE {ace}");
        }
        // Ten segments in one acknowledgement, and the counter at 4.
        assert_eq!(read(4, 10), 10);
        for _ in 0..100 {
            read(4, 10);
        }
        assert_eq!(read(5, 10), 1, "no wrap if each acknowledgement could have one");
    }

    #[test]
    fn the_option_decides_whether_the_counter_has_wrapped() {
        let of = |packets, advance, marked| {
            let bytes = packets * 1000;
            let d = Delivery { packets, bytes, newer: true, certain: true, mss: 1000 };
            d.marks_by_option(advance, marked)
        };
        assert_eq!(of(10, 2, 0), 2, "no marked byte");
        assert_eq!(of(10, 2, 2_000), 2);
        assert_eq!(of(10, 2, 10_000), 10);
        assert_eq!(of(40, 2, 18_000), 18);
        assert_eq!(of(40, 2, 40_000), 34, "all bytes");
    }
    /// Section 3.2.3.3: a lost option is then followed by another.
    #[test]
    fn each_mark_and_each_change_of_the_field_demand_two_options() {
        let mut e = AccurateEcn::new(&Segment { flags: Flags::SYN, ..Segment::default() });
        e.option.on_handshake(Some(EcnOption::new(EcnOrder::Ect1First, &[1, 0, 1])));
        let mut options_after = |field: Option<Codepoint>| {
            let (now, rtt) = (Time(1), Span::from_secs(9));
            field.map(|field| e.on_data(field, 1_000));
            let mut acknowledge = || {
                e.option.plan(now, rtt, false);
                e.option.due.then(|| e.option.send(now, 3, None)).is_some()
            };
            (0..5).filter(|_| acknowledge()).count()
        };
        assert_eq!(options_after(None), 2, "the handshake");
        let fields =
            [Codepoint::Ect0, Codepoint::Ce, Codepoint::Ce, Codepoint::Ect0, Codepoint::Ect0];
        assert_eq!(fields.map(|field| options_after(Some(field))), [1, 2, 2, 2, 1]);
    }
}
