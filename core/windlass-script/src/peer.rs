//! The script's side of the connection: the state that a peer needs to write and to read segments.

use std::collections::BTreeMap;

use windlass_cc::Time;
use windlass_tcp::{Flags, Options, SackBlock, Segment, Seq, Timestamps};

use super::ast::{OptionsSpec, SegmentSpec, Stamp, TimestampsSpec};

/// Initial sequence number of the peer. Its stream passes 2³² after a thousand bytes, so that every script
/// tests the wrap of sequence numbers.
pub const PEER_ISS: Seq = Seq(0u32.wrapping_sub(1_000));
/// Value of the peer's timestamp clock at the start. Zero would mean a missing timestamp.
pub const CLOCK_AT_BEGIN: u32 = 1_000;
/// Window of the peer's first segment, if the script does not give one.
const FIRST_WINDOW: u64 = 60_000;

/// State of the peer.
#[derive(Debug)]
pub struct Peer {
    /// The other end's initial sequence number, after its SYN has arrived.
    own_iss: Option<Seq>,
    /// True if the peer's SYN and the other end's SYN have timestamps. Timestamps are used if both values are
    /// true.
    offers_timestamps: [bool; 2],
    /// Window shifts of the peer's SYN and of the other end's SYN. Scaling is used if both SYNs have one.
    shifts: [Option<u8>; 2],
    /// Latest TSval of the other end.
    latest: u32,
    names: BTreeMap<String, u32>,
    /// Window of the peer's last segment, bytes.
    window: u64,
}

impl Peer {
    /// Creates a peer that has neither sent nor received a segment.
    pub fn new() -> Peer {
        Peer {
            own_iss: None,
            offers_timestamps: [false; 2],
            shifts: [None; 2],
            latest: 0,
            names: BTreeMap::new(),
            window: FIRST_WINDOW,
        }
    }

    /// Returns the initial sequence number of the end under test. It is zero before the end's SYN, so that
    /// numbers count from zero as in a reset.
    pub fn own_iss(&self) -> Seq {
        self.own_iss.unwrap_or_default()
    }

    /// True if both sides have offered timestamps.
    pub fn timestamps_agreed(&self) -> bool {
        self.offers_timestamps == [true; 2]
    }

    /// Returns the shift of the windows that the end under test advertises.
    pub fn own_shift(&self) -> u8 {
        if self.shifts[0].is_some() { self.shifts[1].unwrap_or(0).min(14) } else { 0 }
    }

    /// Returns the shift of the windows that the peer advertises; more than 14 counts as 14 (RFC 7323 section
    /// 2.3).
    pub fn peer_shift(&self) -> u8 {
        if self.shifts[1].is_some() { self.shifts[0].unwrap_or(0).min(14) } else { 0 }
    }

    /// Returns the TSval that was stored under a name.
    pub fn named(&self, name: &str) -> Option<u32> {
        self.names.get(name).copied()
    }

    /// Creates a segment of the peer, to be sent now.
    ///
    /// # Errors
    ///
    /// Returns an error, in one sentence, if the script's values do not make a valid segment.
    pub fn write(&mut self, spec: &SegmentSpec, now: Time) -> Result<Segment, String> {
        let syn = spec.flags.has(Flags::SYN);
        let mut segment = Segment {
            seq: offset(PEER_ISS, spec.seq.unwrap_or(0)),
            ack: spec.ack.map_or(Seq(0), |ack| offset(self.own_iss(), ack)),
            len: spec.len,
            window: 0,
            flags: spec.flags,
            ecn: spec.ecn.unwrap_or_default(),
            options: self.options(&spec.options, syn, now)?,
        };
        if syn {
            self.offers_timestamps[0] = segment.options.timestamps.is_some();
            self.shifts[0] = segment.options.window_scale;
        }
        segment.window = self.window_field(spec, syn)?;
        Ok(segment)
    }

    fn window_field(&mut self, spec: &SegmentSpec, syn: bool) -> Result<u16, String> {
        let shift = if syn { 0 } else { self.peer_shift() };
        let Some(window) = spec.window else {
            return Ok((self.window >> shift).min(0xffff) as u16);
        };
        let field = window.least >> shift;
        if field << shift != window.least || field > 0xffff {
            let step = 1 << shift;
            return Err(format!(
                "invalid window of {} bytes: it must be a multiple of {step}, at most {}",
                window.least,
                0xffff_u64 << shift
            ));
        }
        self.window = window.least;
        Ok(field as u16)
    }

    fn options(&self, spec: &OptionsSpec, syn: bool, now: Time) -> Result<Options, String> {
        let mut options = Options {
            mss: spec.mss.map(|mss| mss.least as u16),
            window_scale: spec.window_scale.map(|shift| shift.least as u8),
            sack_permitted: spec.sack_permitted,
            timestamps: self.timestamps(&spec.timestamps, syn, now)?,
            sack_count: spec.sack.len() as u8,
            ..Options::default()
        };
        for (slot, block) in options.sack.iter_mut().zip(&spec.sack) {
            let iss = self.own_iss();
            *slot = SackBlock { left: offset(iss, block.0), right: offset(iss, block.1) };
        }
        if let Some(option) = &spec.accurate_ecn {
            options.set_accurate_ecn(option);
        }
        Ok(options)
    }

    fn timestamps(
        &self,
        spec: &TimestampsSpec,
        syn: bool,
        now: Time,
    ) -> Result<Option<Timestamps>, String> {
        let clock = CLOCK_AT_BEGIN.wrapping_add((now.0 / 1_000_000) as u32);
        let (value, echo) = match spec {
            TimestampsSpec::Absent => return Ok(None),
            TimestampsSpec::Implied if syn || !self.timestamps_agreed() => return Ok(None),
            TimestampsSpec::Implied => (&Stamp::Any, &Stamp::Any),
            TimestampsSpec::Given(value, echo) => (value, echo),
        };
        let value = match value {
            Stamp::Any => clock,
            Stamp::Number(n) => *n as u32,
            Stamp::Named(_) => clock,
        };
        let echo = match echo {
            Stamp::Any => self.latest,
            Stamp::Number(n) => *n as u32,
            Stamp::Named(name) => self.named(name).ok_or_else(|| {
                format!(
                    "no timestamp is called \"{name}\": an earlier \"> ... <ts {name} *>\" names it"
                )
            })?,
        };
        Ok(Some(Timestamps { value, echo }))
    }

    /// Processes an arrived segment of the end under test.
    pub fn read(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            self.own_iss = Some(segment.seq);
            self.offers_timestamps[1] = segment.options.timestamps.is_some();
            self.shifts[1] = segment.options.window_scale;
        }
        if let Some(t) = segment.options.timestamps {
            self.latest = t.value;
        }
    }

    /// Stores the TSval of a segment under a name.
    pub fn remember(&mut self, name: &str, value: u32) {
        self.names.insert(name.to_owned(), value);
    }
}

/// Returns the sequence number this number of bytes after, or before, an initial number.
pub fn offset(iss: Seq, bytes: i64) -> Seq {
    Seq(iss.0.wrapping_add(bytes as u32))
}

/// Returns the distance of a sequence number from an initial number.
pub fn relative(seq: Seq, iss: Seq) -> i64 {
    i64::from(seq.0.wrapping_sub(iss.0) as i32)
}

impl Default for Peer {
    fn default() -> Peer {
        Peer::new()
    }
}

/// Fills a buffer with the bytes of a stream from an offset on. Both directions use the same bytes, so that a
/// retransmission must repeat the bytes that were sent before.
pub fn pattern(at: u32, payload: &mut [u8]) {
    windlass_tcp::wire::fill_pattern(Seq(at), payload);
}
