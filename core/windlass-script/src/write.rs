//! Segments in the language of scripts.

use std::fmt;

use windlass_tcp::{Flags, Segment};

use super::ast::{Bounds, OptionsSpec, SegmentSpec, Stamp, TimestampsSpec};
use super::matching::{accecn, blocks, codepoint, flags, window};
use super::peer::{PEER_ISS, Peer, relative};

impl SegmentSpec {
    /// Returns the exact description of a departure. The window is only compared with zero, because each
    /// stack chooses its own size.
    pub fn of_departure(segment: &Segment, peer: &Peer) -> SegmentSpec {
        let o = &segment.options;
        let syn = segment.flags.has(Flags::SYN);
        let exactly = |value: u64| Bounds { least: value, most: value };
        let open = match window(segment, peer) {
            0 => exactly(0),
            _ => Bounds { least: 1, most: 1 << 30 },
        };
        let timestamps = match o.timestamps {
            Some(t) => TimestampsSpec::Given(Stamp::Any, Stamp::Number(t.echo.into())),
            None => TimestampsSpec::Absent,
        };
        SegmentSpec {
            flags: Flags(segment.flags.0 & !Flags::PSH.0),
            seq: Some(relative(segment.seq, peer.own_iss())),
            len: segment.len,
            ack: segment.flags.has(Flags::ACK).then(|| relative(segment.ack, PEER_ISS)),
            window: (!syn && !segment.flags.has(Flags::RST)).then_some(open),
            ecn: Some(segment.ecn),
            options: OptionsSpec {
                others: false,
                mss: o.mss.map(|mss| exactly(mss.into())),
                window_scale: o.window_scale.map(|shift| exactly(shift.into())),
                sack_permitted: o.sack_permitted,
                timestamps,
                sack: blocks(o),
                accurate_ecn: o.accurate_ecn(),
            },
        }
    }
}

impl fmt::Display for SegmentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", flags(self.flags))?;
        match self.seq {
            Some(seq) => write!(f, "{seq}")?,
            None => f.write_str("*")?,
        }
        if self.len > 0 {
            write!(f, "+{}", self.len)?;
        }
        if let Some(ack) = self.ack {
            write!(f, " ack {ack}")?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        if let Some(ecn) = self.ecn {
            write!(f, " {}", codepoint(ecn))?;
        }
        let parts = self.options.parts();
        if parts.is_empty() { Ok(()) } else { write!(f, " <{}>", parts.join(", ")) }
    }
}

impl OptionsSpec {
    fn parts(&self) -> Vec<String> {
        let mut parts = Vec::new();
        parts.extend(self.mss.map(|mss| format!("mss {mss}")));
        parts.extend(self.sack_permitted.then(|| "sackok".to_owned()));
        match &self.timestamps {
            TimestampsSpec::Implied => {}
            TimestampsSpec::Absent => parts.push("no-ts".to_owned()),
            TimestampsSpec::Given(value, echo) => parts.push(format!("ts {value} {echo}")),
        }
        parts.extend(self.window_scale.map(|shift| format!("ws {shift}")));
        if !self.sack.is_empty() {
            let blocks: Vec<String> =
                self.sack.iter().map(|b| format!("{}-{}", b.0, b.1)).collect();
            parts.push(format!("sack {}", blocks.join(" ")));
        }
        parts.extend(self.accurate_ecn.map(accecn));
        parts.extend(self.others.then(|| "...".to_owned()));
        parts
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stamp::Any => f.write_str("*"),
            Stamp::Number(n) => write!(f, "{n}"),
            Stamp::Named(name) => f.write_str(name),
        }
    }
}
