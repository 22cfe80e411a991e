//! A TCP segment as a small plain value without payload bytes. Offsets identify the bytes of a stream. The
//! owner of the bytes looks them up by offset.

use crate::accurate_option::EcnOption;
use crate::seq::Seq;

/// Header flags of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Flags(pub u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgement field is valid.
    pub const ACK: Flags = Flags(0x10);
    /// ECN echo: a mark was received, or, on a SYN, ECN is offered (RFC 3168 section 6.1).
    pub const ECE: Flags = Flags(0x40);
    /// Congestion window reduced, in answer to an echo (RFC 3168 section 6.1.2).
    pub const CWR: Flags = Flags(0x80);
    /// Accurate ECN: the third bit of the ACE field (RFC 9768 section 3.1.1).
    pub const AE: Flags = Flags(0x100);

    /// True if all flags of `other` are set.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// The ACE field: AE, CWR and ECE as a number of three bits (RFC 9768).
    pub const fn ace(self) -> u8 {
        (self.0 >> 6) as u8 & 0b111
    }

    /// The flags AE, CWR and ECE of an ACE field.
    pub const fn of_ace(ace: u8) -> Flags {
        Flags((ace as u16 & 0b111) << 6)
    }

    /// The union of both sets.
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// The ECN field of the IP header (RFC 3168 section 5).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(u8)]
pub enum Codepoint {
    /// The transport does not support ECN. Queues drop the packet instead of marking it.
    #[default]
    NotEct = 0b00,
    /// ECN-capable. RFC 8311 reserves this codepoint for experiments.
    Ect1 = 0b01,
    /// ECN-capable.
    Ect0 = 0b10,
    /// A queue has marked the packet: congestion experienced.
    Ce = 0b11,
}

impl Codepoint {
    /// True if a queue may mark the packet instead of dropping it.
    pub const fn is_capable(self) -> bool {
        !matches!(self, Codepoint::NotEct)
    }

    /// The codepoint of the two lowest bits.
    pub const fn from_bits(bits: u8) -> Codepoint {
        match bits & 0b11 {
            0b00 => Codepoint::NotEct,
            0b01 => Codepoint::Ect1,
            0b10 => Codepoint::Ect0,
            _ => Codepoint::Ce,
        }
    }
}

/// Timestamps of RFC 7323.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub value: u32,
    /// TSecr: the peer's clock, echoed.
    pub echo: u32,
}

/// A selectively acknowledged range, `[left, right)` (RFC 2018).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SackBlock {
    /// First sequence number received.
    pub left: Seq,
    /// Sequence number after the last received.
    pub right: Seq,
}

/// Payload of a segment if the peer does not announce its MSS, bytes (RFC 9293 section 3.7.1).
pub const DEFAULT_MSS: u32 = 536;

/// Maximum number of SACK blocks that a segment keeps; this number fits with timestamps. A fourth block would
/// add a second cache line to each packet in the simulator.
pub const MAX_SACK_BLOCKS: usize = 3;

/// Options of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Options {
    /// Maximum segment size, bytes (RFC 9293); on SYN only.
    pub mss: Option<u16>,
    /// Window scale shift (RFC 7323); on SYN only.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018); on SYN only.
    pub sack_permitted: bool,
    /// Timestamps.
    pub timestamps: Option<Timestamps>,
    /// Number of valid entries in `sack`.
    pub sack_count: u8,
    /// SACK blocks, the most recent first. Entries that are not valid are zero, or are the place of
    /// [`accurate_ecn`](Options::accurate_ecn).
    pub sack: [SackBlock; MAX_SACK_BLOCKS],
}

impl Options {
    /// The valid SACK blocks.
    pub fn sack_blocks(&self) -> &[SackBlock] {
        &self.sack[..usize::from(self.sack_count).min(MAX_SACK_BLOCKS)]
    }

    /// The option of accurate ECN (RFC 9768).
    pub fn accurate_ecn(&self) -> Option<EcnOption> {
        let third = if self.sack_count < 2 { self.sack[1].left.0 } else { 0 };
        let words = [self.sack[2].left.0, self.sack[2].right.0, third];
        EcnOption::of_words(words).filter(|_| self.sack_count < 3)
    }

    /// Adds the option of accurate ECN, after the SACK blocks. The option is stored in unused entries of
    /// [`sack`](Options::sack), so that a segment does not become larger. With two blocks it has at most two counters,
    /// and with three blocks there is no option.
    pub fn set_accurate_ecn(&mut self, option: &EcnOption) {
        match self.sack_count {
            0 | 1 => {
                let [first, second, third] = option.words();
                self.sack[1] = SackBlock { left: Seq(third), right: Seq(0) };
                self.sack[2] = SackBlock { left: Seq(first), right: Seq(second) };
            }
            2 => {
                let [first, second, _] = option.shortened(2).words();
                self.sack[2] = SackBlock { left: Seq(first), right: Seq(second) };
            }
            _ => {}
        }
    }

    /// Length on the wire in bytes, padding included: always a multiple of four, at most 40.
    #[inline]
    pub fn wire_len(&self) -> u32 {
        match self.is_plain() {
            true => 12 * u32::from(self.timestamps.is_some()),
            false => self.long_wire_len(),
        }
    }

    /// True if there is no option other than timestamps.
    #[inline]
    pub fn is_plain(&self) -> bool {
        let opening = self.mss.is_some() | self.window_scale.is_some() | self.sack_permitted;
        !(opening | (self.sack_count > 0) | (self.sack[2].left.0 != 0))
    }

    /// Length of the options of a segment that has others than timestamps.
    fn long_wire_len(&self) -> u32 {
        let mut len = 0;
        if self.mss.is_some() {
            len += 4;
        }
        if self.window_scale.is_some() {
            len += 4; // three, and one of padding
        }
        if self.sack_permitted {
            len += 2;
        }
        if self.timestamps.is_some() {
            len += 10;
        }
        if self.sack_count > 0 {
            len += 2 + 8 * u32::from(self.sack_count);
        }
        let counters =
            self.accurate_ecn().map_or(0, |option| option.wire_len().next_multiple_of(4));
        len.next_multiple_of(4) + counters
    }
}

/// One TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Segment {
    /// First sequence number.
    pub seq: Seq,
    /// Acknowledgement number, valid with [`Flags::ACK`].
    pub ack: Seq,
    /// Payload, bytes.
    pub len: u32,
    /// Window field of the header, before scaling.
    // RFC 9293-3.1-MUST-1
    pub window: u16,
    /// Header flags.
    pub flags: Flags,
    /// ECN field of the packet that carries it.
    pub ecn: Codepoint,
    /// Options.
    pub options: Options,
}

/// Bytes of an IPv4 header without options.
pub const IPV4_HEADER: u32 = 20;
/// Bytes of a TCP header without options.
pub const TCP_HEADER: u32 = 20;

impl Segment {
    /// Size of the IPv4 packet that carries this segment, bytes.
    #[inline]
    pub fn ip_len(&self) -> u32 {
        IPV4_HEADER + TCP_HEADER + self.options.wire_len() + self.len
    }

    /// Sequence space used: payload plus one for SYN and one for FIN.
    pub fn seq_len(&self) -> u32 {
        self.len + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }
}
