//! The options of Multipath TCP as bytes of a TCP header (RFC 8684 section 3 and its figures).
//!
//! [`MpOption`] is written in full: data sequence numbers and data acknowledgements have 64 bits, which
//! section 3.3.1 permits. A received option may be shorter. A [`Signal`] is the content of the header, and
//! [`Numbers`](super::Numbers) completes it. [`crate::wire`] puts options into packets and finds them in
//! packets.
//!
//! # Skipped options
//!
//! The parser skips an option of kind 30 with a subtype, version, method or length that version 1 does not
//! define, like any unknown option. It also skips forms that Windlass does not use: IPv6 addresses, and
//! addresses with a port in ADD_ADDR. It reads only the first address in REMOVE_ADDR.

use std::fmt;

use etherparse::checksum::Sum16BitWords;

use super::keys;
use super::option::{Dss, Mapping, MpOption};

/// Kind of all options of Multipath TCP (IANA: TCP option kind numbers).
pub const KIND: u8 = 30;
/// Maximum length of an option here, bytes: a complete DSS with a checksum.
pub const MAX_LEN: usize = 28;

/// The supported version.
const VERSION: u8 = 1;

const MP_CAPABLE: u8 = 0;
const MP_JOIN: u8 = 1;
const DSS: u8 = 2;
const ADD_ADDR: u8 = 3;
const REMOVE_ADDR: u8 = 4;
const MP_PRIO: u8 = 5;
const MP_FAIL: u8 = 6;
const MP_FASTCLOSE: u8 = 7;
const MP_TCPRST: u8 = 8;

/// Flags of MP_CAPABLE (section 3.1).
const CHECKSUM_REQUIRED: u8 = 0x80;
const EXTENSIBILITY: u8 = 0x40;
const HMAC_SHA256: u8 = 0x01;

/// Flags of DSS (section 3.3).
const DATA_FIN: u8 = 0x10;
const LONG_SEQ: u8 = 0x08;
const HAS_MAPPING: u8 = 0x04;
const LONG_ACK: u8 = 0x02;
const HAS_ACK: u8 = 0x01;

/// The part of an option about the checksum of section 3.3.1. It is separate from the option, because it
/// depends on the payload, which the option as a value does not contain.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Checksum {
    /// No checksum.
    #[default]
    None,
    /// MP_CAPABLE without data requests checksums (flag A).
    Demanded,
    /// A mapping has this checksum.
    Sum(u16),
}

/// An option as read from a header.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Signal {
    /// The option. The upper half of a number is 0 if the header had only 32 bits.
    pub option: MpOption,
    /// Its checksum or its request for checksums.
    pub checksum: Checksum,
    /// True if the data acknowledgement had 32 bits.
    pub short_ack: bool,
    /// True if the data sequence number had 32 bits.
    pub short_seq: bool,
}

/// Reason why an option cannot be encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Impossible {
    /// MP_CAPABLE with a receiver's key but no sender's, or a length without both.
    Keys,
    /// A DATA_FIN without mapping. The end of the mapping gives its position in the stream.
    DataFin,
    /// ADD_ADDR with an HMAC in an echo, or without an HMAC elsewhere.
    AddressProof,
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Impossible::Keys => {
                "MP_CAPABLE must have no key, the sender's key or both keys; a data length needs both"
            }
            Impossible::DataFin => "a DATA_FIN needs a mapping, because its position is the mapping's end",
            Impossible::AddressProof => {
                "ADD_ADDR needs an HMAC, except for an echo of the other end's option"
            }
        })
    }
}

impl MpOption {
    /// Length on the wire in bytes, padding included: a multiple of four, at most 28.
    pub fn wire_len(&self) -> u32 {
        // A checksum uses the bytes of the padding.
        self.len().next_multiple_of(4)
    }

    /// Length in bytes without checksum.
    fn len(&self) -> u32 {
        match self {
            MpOption::Capable { data_len: Some(_), .. } => 22,
            MpOption::Capable { sender_key, receiver_key, .. } => {
                4 + 8 * (u32::from(sender_key.is_some()) + u32::from(receiver_key.is_some()))
            }
            MpOption::JoinSyn { .. } | MpOption::Fail { .. } | MpOption::FastClose { .. } => 12,
            MpOption::JoinSynAck { .. } => 16,
            MpOption::JoinAck { .. } => 24,
            MpOption::Dss(dss) => {
                // RFC 8684-3.3.2-1
                let ack = if dss.data_ack.is_some() { 8 } else { 0 };
                4 + ack + if dss.mapping.is_some() { 14 } else { 0 }
            }
            MpOption::AddAddress { hmac, .. } => 8 + if hmac.is_some() { 8 } else { 0 },
            MpOption::RemoveAddress { .. } | MpOption::Reset { .. } => 4,
            MpOption::Priority { .. } => 3,
        }
    }

    /// The option's mapping. The mapping of MP_CAPABLE begins the stream (section 3.1).
    pub fn mapping(&self) -> Option<Mapping> {
        match *self {
            MpOption::Dss(dss) => dss.mapping,
            MpOption::Capable { sender_key: Some(key), data_len: Some(len), .. } => Some(Mapping {
                data_seq: keys::initial_data_seq(key).wrapping_add(1),
                subflow_offset: 1,
                len,
            }),
            _ => None,
        }
    }
}

/// The checksum of a mapping (section 3.3.1): over its data sequence number, its offset in the
/// subflow, its length, two octets of zero, and its payload.
pub fn checksum(mapping: Mapping, payload: &[u8]) -> u16 {
    let sum = Sum16BitWords::new()
        .add_8bytes(mapping.data_seq.to_be_bytes())
        .add_4bytes(mapping.subflow_offset.to_be_bytes())
        .add_2bytes(mapping.len.to_be_bytes())
        .add_slice(payload)
        .ones_complement();
    // Words are added in memory order.
    u16::from_be_bytes(sum.to_ne_bytes())
}

/// An encoded option.
pub(crate) struct Encoded {
    bytes: [u8; MAX_LEN],
    len: usize,
}

impl Encoded {
    fn new(subtype: u8, low: u8, flags: u8) -> Encoded {
        let mut new = Encoded { bytes: [0; MAX_LEN], len: 0 };
        new.push(&[KIND, 0, subtype << 4 | low, flags]);
        new
    }

    fn push(&mut self, bytes: &[u8]) -> &mut Encoded {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
        self
    }

    /// Sets the length. Zeros (end of options) follow up to a multiple of four.
    fn finish(mut self) -> Encoded {
        self.bytes[1] = self.len as u8;
        self
    }

    /// The bytes, padding included.
    pub(crate) fn padded(&self) -> &[u8] {
        &self.bytes[..self.len.next_multiple_of(4)]
    }

    /// Position of the checksum, which is always the last field.
    pub(crate) fn sum_at(&self) -> usize {
        self.len - 2
    }
}

/// Encodes an option. With `checksums`, MP_CAPABLE requests checksums. A mapping then has two zero octets for
/// a checksum at [`Encoded::sum_at`].
pub(crate) fn encode(option: &MpOption, checksums: bool) -> Result<Encoded, Impossible> {
    let out = match *option {
        MpOption::Capable { sender_key, receiver_key, data_len } => {
            return encode_capable(sender_key, receiver_key, data_len, checksums);
        }
        // RFC 8684-3.2-2
        MpOption::JoinSyn { backup, address, token, nonce } => {
            let mut out = Encoded::new(MP_JOIN, backup.into(), address);
            out.push(&token.to_be_bytes()).push(&nonce.to_be_bytes());
            out
        }
        MpOption::JoinSynAck { backup, address, hmac, nonce } => {
            let mut out = Encoded::new(MP_JOIN, backup.into(), address);
            out.push(&hmac.to_be_bytes()).push(&nonce.to_be_bytes());
            out
        }
        MpOption::JoinAck { hmac } => {
            let mut out = Encoded::new(MP_JOIN, 0, 0);
            out.push(&hmac);
            out
        }
        MpOption::Dss(dss) => return encode_dss(&dss, checksums),
        MpOption::AddAddress { address, echo, ip, hmac } => {
            if echo == hmac.is_some() {
                return Err(Impossible::AddressProof);
            }
            let mut out = Encoded::new(ADD_ADDR, echo.into(), address);
            out.push(&ip);
            if let Some(hmac) = hmac {
                out.push(&hmac.to_be_bytes());
            }
            out
        }
        MpOption::RemoveAddress { address } => Encoded::new(REMOVE_ADDR, 0, address),
        MpOption::Priority { backup } => {
            let mut out = Encoded::new(MP_PRIO, backup.into(), 0);
            out.len = 3;
            out
        }
        MpOption::Fail { data_seq } => with_number(MP_FAIL, data_seq),
        MpOption::FastClose { key } => with_number(MP_FASTCLOSE, key),
        MpOption::Reset { transient, reason } => Encoded::new(MP_TCPRST, transient.into(), reason),
    };
    Ok(out.finish())
}

fn with_number(subtype: u8, number: u64) -> Encoded {
    let mut out = Encoded::new(subtype, 0, 0);
    out.push(&number.to_be_bytes());
    out
}

// RFC 8684-3.1-1
fn encode_capable(
    sender_key: Option<u64>,
    receiver_key: Option<u64>,
    data_len: Option<u16>,
    checksums: bool,
) -> Result<Encoded, Impossible> {
    let sensible = match (sender_key, receiver_key) {
        (Some(_), Some(_)) => true,
        (_, None) => data_len.is_none(),
        (None, Some(_)) => false,
    };
    if !sensible {
        return Err(Impossible::Keys);
    }
    // RFC 8684-3.1-11
    let demand = if checksums { CHECKSUM_REQUIRED } else { 0 };
    let mut out = Encoded::new(MP_CAPABLE, VERSION, demand | HMAC_SHA256);
    for key in sender_key.into_iter().chain(receiver_key) {
        out.push(&key.to_be_bytes());
    }
    if let Some(len) = data_len {
        out.push(&len.to_be_bytes());
        if checksums {
            out.push(&[0, 0]);
        }
    }
    Ok(out.finish())
}

// RFC 8684-3.3-1
fn encode_dss(dss: &Dss, checksums: bool) -> Result<Encoded, Impossible> {
    if dss.data_fin && dss.mapping.is_none() {
        return Err(Impossible::DataFin);
    }
    let ack = if dss.data_ack.is_some() { HAS_ACK | LONG_ACK } else { 0 };
    // RFC 8684-3.3.1-9
    let mapping = if dss.mapping.is_some() { HAS_MAPPING | LONG_SEQ } else { 0 };
    let fin = if dss.data_fin { DATA_FIN } else { 0 };
    let mut out = Encoded::new(DSS, 0, ack | mapping | fin);
    if let Some(ack) = dss.data_ack {
        out.push(&ack.to_be_bytes());
    }
    if let Some(mapping) = dss.mapping {
        out.push(&mapping.data_seq.to_be_bytes());
        out.push(&mapping.subflow_offset.to_be_bytes()).push(&mapping.len.to_be_bytes());
        if checksums {
            out.push(&[0, 0]);
        }
    }
    Ok(out.finish())
}

/// Decodes the value of an option of kind 30, without kind and length. Returns `None` if the option is
/// unknown.
pub(crate) fn decode(value: &[u8]) -> Option<Signal> {
    let &[first, ref rest @ ..] = value else { return None };
    let low = first & 15;
    let backup = low & 1 != 0;
    let option = match (first >> 4, rest) {
        // RFC 8684-3.1-2
        (MP_CAPABLE, [flags, keys @ ..]) if low == VERSION => return decode_capable(*flags, keys),
        (MP_JOIN, [address, rest @ ..]) => decode_join(backup, *address, rest)?,
        (DSS, [flags, rest @ ..]) => return decode_dss(*flags, rest),
        (ADD_ADDR, &[address, a, b, c, d, ref proof @ ..]) => {
            let (echo, ip) = (low & 1 != 0, [a, b, c, d]);
            let hmac = if echo { None } else { Some(long(proof)?) };
            if echo && !proof.is_empty() {
                return None;
            }
            MpOption::AddAddress { address, echo, ip, hmac }
        }
        (REMOVE_ADDR, [address, ..]) => MpOption::RemoveAddress { address: *address },
        (MP_PRIO, []) => MpOption::Priority { backup },
        (MP_FAIL, [_, data_seq @ ..]) => MpOption::Fail { data_seq: long(data_seq)? },
        (MP_FASTCLOSE, [_, key @ ..]) => MpOption::FastClose { key: long(key)? },
        (MP_TCPRST, [reason]) => MpOption::Reset { transient: low & 1 != 0, reason: *reason },
        _ => return None,
    };
    Some(Signal::plain(option))
}

/// Priority of an option, if only one option of a segment can be kept. A mapping, a handshake and an end of
/// the connection are needed at once. Data acknowledgements have the lowest priority, because later segments
/// repeat them.
pub(crate) fn rank(option: &MpOption) -> u8 {
    match option {
        MpOption::Dss(dss) if dss.mapping.is_none() => 0,
        MpOption::AddAddress { .. }
        | MpOption::RemoveAddress { .. }
        | MpOption::Priority { .. }
        | MpOption::Reset { .. } => 1,
        _ => 2,
    }
}

fn decode_capable(flags: u8, rest: &[u8]) -> Option<Signal> {
    // RFC 8684-3.1-9, 8684-3.1-12
    if flags & EXTENSIBILITY != 0 || flags & HMAC_SHA256 == 0 {
        return None;
    }
    let (keys, tail) = rest.split_at(rest.len().min(16));
    let (sender_key, receiver_key) = match keys.len() {
        0 => (None, None),
        8 => (long(keys), None),
        16 => (long(&keys[..8]), long(&keys[8..])),
        _ => return None,
    };
    let demanded = flags & CHECKSUM_REQUIRED != 0;
    let (data_len, checksum) = match (tail, demanded) {
        ([], false) => (None, Checksum::None),
        ([], true) => (None, Checksum::Demanded),
        (&[a, b], false) => (Some([a, b]), Checksum::None),
        (&[a, b, c, d], true) => (Some([a, b]), Checksum::Sum(u16::from_be_bytes([c, d]))),
        _ => return None,
    };
    let data_len = data_len.map(u16::from_be_bytes);
    let option = MpOption::Capable { sender_key, receiver_key, data_len };
    Some(Signal { checksum, ..Signal::plain(option) })
}

fn decode_join(backup: bool, address: u8, rest: &[u8]) -> Option<MpOption> {
    Some(match rest.len() {
        8 => {
            let both = long(rest)?;
            MpOption::JoinSyn { backup, address, token: (both >> 32) as u32, nonce: both as u32 }
        }
        12 => {
            let hmac = long(&rest[..8])?;
            let nonce = u32::from_be_bytes(rest[8..].try_into().ok()?);
            MpOption::JoinSynAck { backup, address, hmac, nonce }
        }
        20 => MpOption::JoinAck { hmac: rest.try_into().ok()? },
        _ => return None,
    })
}

fn decode_dss(flags: u8, rest: &[u8]) -> Option<Signal> {
    let width = |long: u8| if flags & long != 0 { 8 } else { 4 };
    let (data_ack, rest) = if flags & HAS_ACK != 0 {
        let (ack, rest) = rest.split_at_checked(width(LONG_ACK))?;
        (Some(long_or_short(ack)?), rest)
    } else {
        (None, rest)
    };
    let (mapping, rest) = if flags & HAS_MAPPING != 0 {
        let (seq, rest) = rest.split_at_checked(width(LONG_SEQ))?;
        let (&[a, b, c, d, e, f], rest) = rest.split_first_chunk::<6>()?;
        let subflow_offset = u32::from_be_bytes([a, b, c, d]);
        let len = u16::from_be_bytes([e, f]);
        (Some(Mapping { data_seq: long_or_short(seq)?, subflow_offset, len }), rest)
    } else {
        (None, rest)
    };
    let checksum = match *rest {
        [] => Checksum::None,
        [a, b] if mapping.is_some() => Checksum::Sum(u16::from_be_bytes([a, b])),
        _ => return None,
    };
    // A DATA_FIN without mapping has no position. Without this flag the other fields are still valid.
    let data_fin = flags & DATA_FIN != 0 && mapping.is_some();
    Some(Signal {
        option: MpOption::Dss(Dss { data_ack, mapping, data_fin }),
        checksum,
        short_ack: data_ack.is_some() && flags & LONG_ACK == 0,
        short_seq: mapping.is_some() && flags & LONG_SEQ == 0,
    })
}

/// Decodes a number of eight octets.
fn long(bytes: &[u8]) -> Option<u64> {
    bytes.try_into().ok().map(u64::from_be_bytes)
}

/// Decodes a number of four or eight octets.
fn long_or_short(bytes: &[u8]) -> Option<u64> {
    long(bytes).or_else(|| bytes.try_into().ok().map(u32::from_be_bytes).map(u64::from))
}

impl Signal {
    fn plain(option: MpOption) -> Signal {
        Signal { option, checksum: Checksum::None, short_ack: false, short_seq: false }
    }

    /// True if the option requests checksums on all mappings of the connection, or has a checksum.
    // RFC 8684-3.1-16
    pub fn demands_checksums(&self) -> bool {
        self.checksum != Checksum::None
    }
}
