//! The options of a TCP header.

use super::error::{EmitError, MAX_OPTIONS, WireError};
use crate::accurate_option::{EcnOption, EcnOrder};
use crate::mptcp::codec::{self, Signal};
use crate::mptcp::{Mapping, MpOption};
use crate::quick_start::{self, QuickOption};
use crate::segment::{MAX_SACK_BLOCKS, Options, SackBlock, Segment, Timestamps};
use crate::seq::Seq;

const END_OF_OPTIONS: u8 = 0;
const NO_OPERATION: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;

/// Encoded options of a header.
pub(super) struct OptionBytes {
    bytes: [u8; MAX_OPTIONS as usize],
    len: usize,
}

impl OptionBytes {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn push_timestamps(&mut self, timestamps: Timestamps) {
        self.push(&[TIMESTAMPS, 10]);
        self.push(&timestamps.value.to_be_bytes());
        self.push(&timestamps.echo.to_be_bytes());
    }

    fn push_sack(&mut self, blocks: &[SackBlock]) {
        self.push(&[SACK, 2 + 8 * blocks.len() as u8]);
        for block in blocks {
            self.push(&block.left.0.to_be_bytes());
            self.push(&block.right.0.to_be_bytes());
        }
    }

    /// Adds the counters, and padding up to a multiple of four.
    fn push_accurate_ecn(&mut self, option: &EcnOption) {
        let len = option.wire_len();
        self.push(&[option.order().kind(), len as u8]);
        for counter in option.counters() {
            self.push(&counter.to_be_bytes()[1..]);
        }
        for _ in len..len.next_multiple_of(4) {
            self.push(&[NO_OPERATION]);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Encodes options in exactly [`Options::wire_len`] bytes. The lengths of MSS and of window scale (with one
/// byte of padding) are multiples of four. The lengths of SACK-permitted, timestamps and SACK are two more
/// than a multiple of four. Two of them together are a multiple of four. An odd number of them needs two
/// bytes of padding, which are in front, as in RFC 7323 appendix A.
// RFC 9293-3.1-MUST-69
pub(super) fn encode_options(options: &Options) -> Result<OptionBytes, EmitError> {
    if usize::from(options.sack_count) > MAX_SACK_BLOCKS {
        return Err(EmitError::TooManySackBlocks(options.sack_count));
    }
    if options.wire_len() > MAX_OPTIONS {
        return Err(EmitError::OptionsTooLong(options.wire_len()));
    }
    let mut out = OptionBytes { bytes: [0; MAX_OPTIONS as usize], len: 0 };
    if let Some(mss) = options.mss {
        out.push(&[MSS, 4]);
        out.push(&mss.to_be_bytes());
    }
    let halves = u8::from(options.sack_permitted)
        + u8::from(options.timestamps.is_some())
        + u8::from(options.sack_count > 0);
    if halves % 2 == 1 {
        out.push(&[NO_OPERATION, NO_OPERATION]);
    }
    if options.sack_permitted {
        out.push(&[SACK_PERMITTED, 2]);
    }
    if let Some(timestamps) = options.timestamps {
        out.push_timestamps(timestamps);
    }
    if options.sack_count > 0 {
        out.push_sack(options.sack_blocks());
    }
    if let Some(shift) = options.window_scale {
        out.push(&[NO_OPERATION, WINDOW_SCALE, 3, shift]);
    }
    if let Some(option) = options.accurate_ecn() {
        out.push_accurate_ecn(&option);
    }
    Ok(out)
}

/// Appends an option of Multipath TCP. Returns the mapping that needs a checksum, and the position of the
/// checksum in the options.
pub(super) fn append_multipath(
    segment: &Segment,
    option: &MpOption,
    checksums: bool,
    options: &mut OptionBytes,
) -> Result<Option<(Mapping, usize)>, EmitError> {
    let encoded = codec::encode(option, checksums).map_err(EmitError::Multipath)?;
    let len = (options.len() + encoded.padded().len()) as u32;
    if len > MAX_OPTIONS {
        return Err(EmitError::OptionsTooLong(len));
    }
    let at = options.len() + encoded.sum_at();
    options.push(encoded.padded());
    // A mapping without length, which ends Multipath TCP, has the checksum 0 (section 3.7).
    let Some(mapping) = option.mapping().filter(|m| checksums && m.len > 0) else {
        return Ok(None);
    };
    let fin = matches!(option, MpOption::Dss(dss) if dss.data_fin);
    let mapped = u32::from(mapping.len) - u32::from(fin);
    if mapped != segment.len {
        return Err(EmitError::MappingCut { mapped, payload: segment.len });
    }
    Ok(Some((mapping, at)))
}

/// Appends the option of Quick-Start after the other options.
pub(super) fn append_quick_start(
    option: &QuickOption,
    options: &mut OptionBytes,
) -> Result<(), EmitError> {
    let len = options.len() as u32 + quick_start::OPTION_LEN;
    if len > MAX_OPTIONS {
        return Err(EmitError::OptionsTooLong(len));
    }
    options.push(&quick_start::encode(option));
    Ok(())
}

/// The decoded options of a header.
#[derive(Default)]
pub(super) struct Decoded {
    pub(super) options: Options,
    pub(super) multipath: Option<Signal>,
    pub(super) quick_start: Option<QuickOption>,
}

// RFC 9293-3.1-MUST-4, 9293-3.1-MUST-5, 9293-3.2-MUST-64
pub(super) fn decode_options(mut bytes: &[u8]) -> Result<Decoded, WireError> {
    let Decoded { mut options, mut multipath, mut quick_start } = Decoded::default();
    let mut accurate = None;
    while let [kind, rest @ ..] = bytes {
        match *kind {
            END_OF_OPTIONS => break,
            NO_OPERATION => bytes = rest,
            kind => {
                // RFC 9293-3.1-MUST-68
                let len = rest.first().map_or(0, |&len| usize::from(len));
                // RFC 9293-3.1-MUST-7
                if len < 2 || len > bytes.len() {
                    return Err(WireError::OptionLength(kind));
                }
                if kind == codec::KIND {
                    let found = codec::decode(&bytes[2..len]);
                    let more_pressing = |s: &Signal| {
                        multipath.is_none_or(|m| codec::rank(&m.option) < codec::rank(&s.option))
                    };
                    multipath = found.filter(more_pressing).or(multipath);
                } else if kind == quick_start::TCP_OPTION {
                    quick_start = quick_start::decode_tcp(&bytes[2..len]);
                } else if let Some(order) = EcnOrder::of_kind(kind) {
                    accurate = Some(decode_accurate_ecn(order, &bytes[2..len]));
                } else {
                    decode_option(kind, &bytes[2..len], &mut options)?;
                }
                bytes = &bytes[len..];
            }
        }
    }
    if let Some(option) = accurate {
        options.set_accurate_ecn(&option);
    }
    Ok(Decoded { options, multipath, quick_start })
}

/// Reads as many whole counters as the option has. Other bytes are padding (RFC 9768 section 3.2.3).
fn decode_accurate_ecn(order: EcnOrder, value: &[u8]) -> EcnOption {
    let mut counters = [0; 3];
    let whole = value.chunks_exact(3).zip(&mut counters).map(|(bytes, counter)| {
        *counter = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]);
    });
    let count = whole.count();
    EcnOption::new(order, &counters[..count])
}

fn decode_option(kind: u8, value: &[u8], options: &mut Options) -> Result<(), WireError> {
    match (kind, value) {
        (MSS, &[a, b]) => options.mss = Some(u16::from_be_bytes([a, b])),
        (WINDOW_SCALE, &[shift]) => options.window_scale = Some(shift),
        (SACK_PERMITTED, &[]) => options.sack_permitted = true,
        (TIMESTAMPS, &[a, b, c, d, e, f, g, h]) => {
            options.timestamps = Some(Timestamps {
                value: u32::from_be_bytes([a, b, c, d]),
                echo: u32::from_be_bytes([e, f, g, h]),
            });
        }
        (SACK, blocks) if !blocks.is_empty() && blocks.len() % 8 == 0 => {
            decode_sack(blocks, options);
        }
        (MSS | WINDOW_SCALE | SACK_PERMITTED | TIMESTAMPS | SACK, _) => {
            return Err(WireError::OptionLength(kind));
        }
        // RFC 9293-3.1-MUST-6
        _ => {}
    }
    Ok(())
}

fn decode_sack(value: &[u8], options: &mut Options) {
    let edge = |b: &[u8]| Seq(u32::from_be_bytes([b[0], b[1], b[2], b[3]]));
    options.sack = Default::default();
    options.sack_count = 0;
    for (slot, block) in options.sack.iter_mut().zip(value.chunks_exact(8)) {
        *slot = SackBlock { left: edge(&block[..4]), right: edge(&block[4..]) };
        options.sack_count += 1;
    }
}
