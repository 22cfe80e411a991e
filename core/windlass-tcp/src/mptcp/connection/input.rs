//! Processing of received segments and of their options.

use windlass_cc::Time;

use super::handshake::Verdict;
use super::{Connection, MultipathProfile, Role};
use crate::endpoint::Failure;
use crate::mptcp::option::{Dss, Mapping, MpOption};
use crate::mptcp::subflow::{DssMapping, Stage};
use crate::segment::{Flags, Segment};

impl Connection {
    /// Processes a segment that arrived on a path, with its option of Multipath TCP.
    pub fn on_segment(
        &mut self,
        p: &MultipathProfile,
        now: Time,
        path: usize,
        s: &Segment,
        option: Option<&MpOption>,
    ) {
        if path >= self.subflows.len() {
            return;
        }
        // RFC 8684-3.7-9
        if !self.fallback {
            match self.judge(p, path, s, option) {
                Verdict::Drop => return,
                Verdict::Abort => {
                    self.subflows[path].endpoint.on_segment(p.path(path), now, s);
                    self.subflows[path].endpoint.abort();
                    self.end_subflow(p, now, path);
                    self.settle(p, now);
                    return;
                }
                Verdict::Take => {}
            }
        }
        if !self.fallback && !s.flags.has(Flags::RST) && self.subflows[path].stage != Stage::Idle {
            self.read_option(path, s, option);
        }
        self.subflows[path].endpoint.on_segment(p.path(path), now, s);
        if self.fallback {
            self.follow_handshake(p, now, path);
            self.coupling.report(now, path, &mut self.subflows[path]);
            self.coupling.share(p, now, &mut self.subflows);
            return;
        }
        // The segment that ends a plain handshake may have data without a mapping.
        if self.subflows[path].endpoint.is_layered() {
            self.read_third_ack(path, s, option);
            self.take_arrived(path);
        }
        self.refresh(p, now, path);
    }

    fn read_option(&mut self, path: usize, s: &Segment, option: Option<&MpOption>) {
        if s.flags.has(Flags::SYN) {
            return;
        }
        match option {
            Some(MpOption::Dss(dss)) => {
                self.confirmed = true;
                self.confirm_join(path);
                self.read_signal(path, s, dss);
            }
            Some(MpOption::Capable { data_len: Some(len), .. }) => {
                let piece = DssMapping { start: 1, data: 1, len: u64::from(*len), repeated: false };
                self.subflows[path].arrived.insert(piece);
            }
            // The peer aborts the whole connection (RFC 8684 section 3.5).
            // RFC 8684-3.5-2
            Some(MpOption::FastClose { key }) if *key == self.key => self.fail(Failure::Reset),
            Some(MpOption::JoinAck { .. }) => self.subflows[path].endpoint.acknowledge_now(),
            _ => {}
        }
    }

    /// Reads the window in the third segment of the first handshake. The endpoint must process the segment
    /// first, because the scale is unknown before.
    fn read_third_ack(&mut self, path: usize, s: &Segment, option: Option<&MpOption>) {
        let third = matches!(option, Some(MpOption::Capable { receiver_key: Some(_), .. }));
        let subflow = &self.subflows[path];
        if third && self.role == Role::Server && subflow.endpoint.was_established() {
            self.sender.open_window(1, subflow.endpoint.window_told(s));
        }
    }

    /// Processes a data sequence signal.
    // RFC 8684-3.3.2-4
    fn read_signal(&mut self, path: usize, s: &Segment, dss: &Dss) {
        let subflow = &mut self.subflows[path];
        // RFC 8684-3.3.2-2
        if let Some(ack) = dss.data_ack {
            let window = subflow.endpoint.window_told(s);
            self.sender.on_data_ack(ack.wrapping_sub(self.own_start), window);
        }
        let Some(mapping) = dss.mapping else { return };
        let data = mapping.data_seq.wrapping_sub(self.peer_start);
        let Some(len) = u64::from(mapping.len).checked_sub(u64::from(dss.data_fin)) else { return };
        let Some(end) = data.checked_add(len) else { return };
        if dss.data_fin {
            self.receiver.end_at(end);
            subflow.endpoint.acknowledge_now();
        }
        if let (Some(start), true) = (start_of(&mapping, subflow, s), len > 0) {
            subflow.arrived.insert(DssMapping { start, data, len, repeated: false });
        }
    }

    /// Checks that the position of a segment's payload in the stream is known.
    // RFC 8684-3.3.1-5
    pub(super) fn judge_place(
        &mut self,
        path: usize,
        s: &Segment,
        o: Option<&MpOption>,
    ) -> Verdict {
        let subflow = &self.subflows[path];
        if s.len == 0 {
            return Verdict::Take;
        }
        match o {
            Some(MpOption::Dss(Dss { mapping: Some(mapping), .. })) => {
                // Otherwise the mapping is from an earlier subflow of this path, or invalid.
                let known = start_of(mapping, subflow, s).is_some();
                if known { Verdict::Take } else { Verdict::Drop }
            }
            Some(MpOption::Capable { data_len: Some(_), .. }) => Verdict::Take,
            _ => {
                let start = subflow.endpoint.offset_of(s, true).unwrap_or(0);
                let old = start + u64::from(s.len) <= subflow.taken;
                let known = old || subflow.arrived.at(start.max(subflow.taken)).is_some();
                // The stream could not continue without these bytes of the subflow.
                // RFC 8684-3.7-5
                if known { Verdict::Take } else { Verdict::Abort }
            }
        }
    }

    /// Moves the subflow's in-order data to their positions in the stream.
    fn take_arrived(&mut self, path: usize) {
        let subflow = &mut self.subflows[path];
        let to = subflow.endpoint.take_arrived();
        if to > subflow.taken {
            self.last_path = path;
        }
        while subflow.taken < to {
            let Some(piece) = subflow.arrived.at(subflow.taken) else {
                // RFC 8684-3.3.1-6
                // Bytes without a mapping: the subflow is not usable any more.
                subflow.taken = to;
                subflow.endpoint.abort();
                return;
            };
            let end = piece.end().min(to);
            let data = piece.data.wrapping_add(subflow.taken - piece.start);
            let twice = self.receiver.take(data, data.wrapping_add(end - subflow.taken));
            self.stats.duplicate_bytes += twice;
            subflow.taken = end;
        }
        subflow.arrived.forget_below(subflow.taken);
        let waiting = self.out_of_order();
        self.stats.max_out_of_order_bytes = self.stats.max_out_of_order_bytes.max(waiting);
    }
}

/// Offset in the subflow at which a mapping begins, if it covers the payload of its segment.
// RFC 8684-3.3.1-11
fn start_of(
    mapping: &Mapping,
    subflow: &crate::mptcp::subflow::Subflow,
    s: &Segment,
) -> Option<u64> {
    let first = subflow.endpoint.peer_start().add(u64::from(mapping.subflow_offset));
    let before = u64::from(s.seq.0.wrapping_sub(first.0));
    if before + u64::from(s.len) > u64::from(mapping.len) {
        return None;
    }
    subflow.endpoint.offset_of(s, true)?.checked_sub(before)
}
