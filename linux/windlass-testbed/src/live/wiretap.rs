//! Data of a connection from its packets: acknowledgement numbers and windows as they were sent. `tcp_info`
//! shows these only on newer kernels, and never as the emulator has changed them.

use windlass_cc::Time;
use windlass_sim::config::Config;
use windlass_sim::results::{Sample, Series};
use windlass_tcp::{Flags, Segment, Seq};

use super::series::Recorder;

/// Follows the connections and subflows of all flows whose receiver is outside the simulation.
#[derive(Debug)]
pub(crate) struct Wiretap {
    /// Connections by [track](Config::track), which is half the number of the host or gate.
    tracks: Vec<Watched>,
    recorder: Recorder,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watched {
    /// True if the receiver's packets pass here.
    seen: bool,
    /// Sequence number of the first byte of the data.
    base: Option<Seq>,
    /// Stream offset after the last byte of data sent.
    sent: u64,
    /// Greatest acknowledged stream offset.
    pub acknowledged: u64,
    /// Segments that contain data sent before.
    pub retransmits: u64,
    /// Window scale shifts that the sender and the receiver have offered.
    scale: [Option<u8>; 2],
}

impl Wiretap {
    /// Watches the hosts outside the simulation and their gates, for which `by_gate` has a position.
    pub fn new(config: &Config, by_gate: &[Option<usize>]) -> Wiretap {
        let watched =
            |pair: &[Option<usize>]| Watched { seen: pair[1].is_some(), ..Watched::default() };
        let tracks = by_gate.chunks_exact(2).map(watched).collect();
        Wiretap { tracks, recorder: Recorder::new(config) }
    }

    /// Records a segment that a host outside sends by this gate.
    pub fn sent(&mut self, now: Time, gate: u32, segment: &Segment) {
        let watched = &mut self.tracks[gate as usize / 2];
        if !watched.seen {
            return;
        }
        let receiver = gate % 2 == 1;
        if segment.flags.has(Flags::SYN) {
            watched.scale[usize::from(receiver)] = segment.options.window_scale;
        }
        if !receiver {
            watched.on_data(segment);
        } else if segment.flags.has(Flags::ACK) {
            let track = gate / 2;
            if let Some(acknowledged) = watched.on_acknowledgement(segment) {
                self.recorder.note(now, track, Series::AckNumber, acknowledged);
            }
            self.recorder.note(now, track, Series::Rwnd, watched.window(segment));
        }
    }

    /// Returns the data of a track.
    pub fn track(&self, track: usize) -> &Watched {
        &self.tracks[track]
    }

    /// Returns the recorded samples.
    pub fn into_samples(self) -> Vec<Sample> {
        self.recorder.into_samples()
    }
}

impl Watched {
    fn on_data(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            self.base = Some(segment.seq.add(1));
        }
        let Some(base) = self.base else { return };
        if segment.len > 0
            && let Some(first) = segment.seq.unwrap_near(base, self.sent)
        {
            self.retransmits += u64::from(first < self.sent);
            self.sent = self.sent.max(first + u64::from(segment.len));
        }
    }

    /// Returns the acknowledged offset without the FIN. If the sender is inside, its SYN does not pass here,
    /// and the acknowledgement of the SYN gives the start of the data.
    fn on_acknowledgement(&mut self, segment: &Segment) -> Option<u64> {
        let base = *self.base.get_or_insert(segment.ack);
        let offset = segment.ack.unwrap_near(base, self.acknowledged)?;
        self.acknowledged = self.acknowledged.max(offset);
        Some(if self.sent > 0 { self.acknowledged.min(self.sent) } else { self.acknowledged })
    }

    /// Returns the window that a segment of the receiver advertises, bytes (RFC 7323 section 2.2).
    fn window(&self, segment: &Segment) -> u64 {
        let shift = match self.scale {
            [Some(_), Some(ours)] if !segment.flags.has(Flags::SYN) => ours.min(14),
            _ => 0,
        };
        u64::from(segment.window) << shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(seq: u32, ack: u32, len: u32, flags: Flags) -> Segment {
        Segment { seq: Seq(seq), ack: Seq(ack), len, flags, window: 100, ..Segment::default() }
    }

    #[test]
    fn offsets_count_from_the_first_byte_without_the_fin() {
        let mut watched = Watched::default();
        let start = u32::MAX - 10;
        watched.on_data(&segment(start, 0, 0, Flags::SYN));
        watched.on_data(&segment(start.wrapping_add(1), 0, 1000, Flags::ACK));
        let ack = |n: u32| segment(0, start.wrapping_add(1 + n), 0, Flags::ACK);
        assert_eq!(watched.on_acknowledgement(&ack(0)), Some(0));
        assert_eq!(watched.on_acknowledgement(&ack(700)), Some(700));
        assert_eq!(watched.on_acknowledgement(&ack(1001)), Some(1000));
        assert_eq!(watched.retransmits, 0);
        watched.on_data(&segment(start.wrapping_add(501), 0, 500, Flags::ACK));
        assert_eq!(watched.retransmits, 1);
    }

    #[test]
    fn window_is_scaled_only_if_both_ends_offer_scaling() {
        let mut watched = Watched { scale: [Some(2), Some(7)], ..Watched::default() };
        assert_eq!(watched.window(&segment(0, 0, 0, Flags::ACK)), 100 << 7);
        assert_eq!(watched.window(&segment(0, 0, 0, Flags::ACK.with(Flags::SYN))), 100);
        watched.scale[0] = None;
        assert_eq!(watched.window(&segment(0, 0, 0, Flags::ACK)), 100);
    }
}
