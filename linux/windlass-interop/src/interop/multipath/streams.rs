//! Positions of the subflows' payload in the connection's stream.

use std::collections::BTreeMap;

use windlass_tcp::mptcp::{Mapping, MpOption, keys};
use windlass_tcp::{Flags, Segment, Seq};

/// Data of one end's stream, from its segments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stream {
    /// Data sequence number of the first byte.
    pub first: Option<u64>,
    subflows: Vec<Subflow>,
}

#[derive(Clone, Debug, Default)]
struct Subflow {
    iss: Option<Seq>,
    /// Highest offset so far, used to extend 32-bit numbers.
    near: u64,
    /// Data sequence number of each mapping, by the mapping's first offset and payload length.
    mappings: BTreeMap<(u64, u64), u64>,
}

/// A piece of payload: its start in the stream and in its segment, and its length in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    pub at: u64,
    pub from: usize,
    pub len: usize,
}

impl Stream {
    /// True if the end has sent its key. Otherwise its connection is plain TCP.
    pub fn is_multipath(&self) -> bool {
        self.first.is_some()
    }

    /// Processes a segment of this end, with the full numbers of its option. Returns true if its mapping
    /// agrees with the earlier mappings.
    pub fn learn(&mut self, path: u8, s: &Segment, option: Option<&MpOption>) -> bool {
        if let Some(MpOption::Capable { sender_key: Some(key), .. }) = option {
            self.first = Some(keys::initial_data_seq(*key).wrapping_add(1));
        }
        let subflow = self.subflow(path);
        if s.flags.has(Flags::SYN) && subflow.iss != Some(s.seq) {
            *subflow = Subflow { iss: Some(s.seq), ..Subflow::default() };
        }
        option.and_then(mapped).is_none_or(|mapping| subflow.enter(mapping))
    }

    /// Returns the positions of a segment's payload. Bytes without a mapping are not included.
    pub fn pieces(&mut self, path: u8, s: &Segment) -> Vec<Piece> {
        let first = self.first;
        let subflow = self.subflow(path);
        let Some(start) = subflow.iss.and_then(|iss| s.seq.unwrap_near(iss, subflow.near)) else {
            return Vec::new();
        };
        let end = start + u64::from(s.len);
        subflow.near = subflow.near.max(end);
        let Some(first) = first else {
            // A plain connection: the subflow's stream is the connection's stream.
            let at = start.saturating_sub(1);
            return vec![Piece { at, from: 0, len: s.len as usize }];
        };
        let cut = |(offset, len, data_seq): (u64, u64, u64)| {
            let (from, to) = (start.max(offset), end.min(offset + len));
            let at = data_seq.wrapping_add(from - offset).wrapping_sub(first);
            Piece { at, from: (from - start) as usize, len: (to - from) as usize }
        };
        subflow.meeting(start, end).map(cut).collect()
    }

    /// Converts a data sequence number to an offset in the stream.
    pub fn offset(&self, data_seq: u64) -> Option<u64> {
        self.first.map(|first| data_seq.wrapping_sub(first))
    }

    fn subflow(&mut self, path: u8) -> &mut Subflow {
        let at = usize::from(path);
        if self.subflows.len() <= at {
            self.subflows.resize(at + 1, Subflow::default());
        }
        &mut self.subflows[at]
    }
}

impl Subflow {
    /// Returns the mappings that overlap these offsets: first offset, bytes, data sequence number.
    fn meeting(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64, u64)> {
        let longest = u64::from(u16::MAX);
        let near = self.mappings.range((start.saturating_sub(longest), 0)..(end, 0));
        near.map(|(&(offset, len), &data_seq)| (offset, len, data_seq))
            .filter(move |(offset, len, _)| *offset < end && start < offset + len)
    }

    fn enter(&mut self, mapping: Mapping) -> bool {
        let near = self.near.max(1);
        // Offsets on the wire have 32 bits; no run here exceeds that length.
        let offset = Seq(mapping.subflow_offset).unwrap_near(Seq(0), near).unwrap_or_default();
        let (len, data_seq) = (u64::from(mapping.len), mapping.data_seq);
        if len == 0 {
            return true;
        }
        let base = data_seq.wrapping_sub(offset);
        let agrees = self.meeting(offset, offset + len).all(|m| m.2.wrapping_sub(m.0) == base);
        self.mappings.insert((offset, len), data_seq);
        agrees
    }
}

/// Returns the part of an option's mapping that covers payload, without the DATA_FIN.
pub(crate) fn mapped(option: &MpOption) -> Option<Mapping> {
    let fin = matches!(option, MpOption::Dss(dss) if dss.data_fin);
    let mapping = option.mapping()?;
    Some(Mapping { len: mapping.len.saturating_sub(fin.into()), ..mapping })
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_tcp::mptcp::Dss;

    const KEY: u64 = 7;

    fn told() -> Stream {
        let mut stream = Stream::default();
        let syn = Segment { seq: Seq(u32::MAX), flags: Flags::SYN, ..Segment::default() };
        let key = MpOption::Capable { sender_key: Some(KEY), receiver_key: None, data_len: None };
        assert!(stream.learn(0, &syn, Some(&key)));
        stream
    }

    fn mapping(at: u64, subflow_offset: u32, len: u16) -> MpOption {
        let data_seq = keys::initial_data_seq(KEY).wrapping_add(1 + at);
        let mapping = Some(Mapping { data_seq, subflow_offset, len });
        MpOption::Dss(Dss { mapping, ..Dss::default() })
    }

    #[test]
    fn payload_follows_its_mappings_even_from_other_segments() {
        let mut stream = told();
        // The subflow wraps: its first byte has the sequence number 0.
        let first = Segment { len: 100, ..Segment::default() };
        assert!(stream.learn(0, &first, Some(&mapping(5_000, 1, 150))));
        assert_eq!(stream.pieces(0, &first), [Piece { at: 5_000, from: 0, len: 100 }]);
        let second = Segment { seq: Seq(100), len: 80, ..Segment::default() };
        assert_eq!(stream.pieces(0, &second), [Piece { at: 5_100, from: 0, len: 50 }]);
        assert!(stream.learn(0, &second, Some(&mapping(0, 151, 30))));
        let rest = Piece { at: 0, from: 50, len: 30 };
        assert_eq!(stream.pieces(0, &second), [Piece { at: 5_100, from: 0, len: 50 }, rest]);
    }

    #[test]
    fn contradicting_mapping_is_reported() {
        let mut stream = told();
        let data = Segment { len: 10, ..Segment::default() };
        assert!(stream.learn(0, &data, Some(&mapping(0, 1, 10))));
        assert!(
            stream.learn(0, &data, Some(&mapping(5, 6, 10))),
            "the same mapping in other pieces"
        );
        assert!(!stream.learn(0, &data, Some(&mapping(4, 6, 10))));
    }
}
