//! The stations that receive each station, and the frames on the air.

use windlass_cc::{Span, Time};

use crate::packet::PacketHandle;
use crate::radio::config::{FrameErrors, RadioConfig};
use crate::radio::propagation::from_db;
use crate::radio::rates::Rates;

/// Type of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FrameKind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// A packet.
    Data,
    /// Acknowledgement.
    Ack,
    /// A beacon.
    Beacon,
    /// IEEE 802.15.4: a data request. A sleeping device requests the frames that its parent keeps for it.
    Request,
}

/// A frame on the air.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Type of the frame.
    pub kind: FrameKind,
    /// Index of the transmitter among the radio's stations.
    pub from: u32,
    /// Index of the receiver, or [`BROADCAST`](crate::radio::BROADCAST).
    pub to: u32,
    /// Duration field: the time after the end of the frame for which the channel is reserved.
    pub nav: Span,
    /// Number of the packet among the packets of its transmitter, from 1. It corresponds to the standard's
    /// sequence number, but never wraps around. An old frame is therefore never mistaken for a new one.
    pub sequence: u64,
    /// True if the frame is a retransmission.
    pub retry: bool,
    /// Index of the part of the packet that the frame carries, from 0.
    pub part: u8,
    /// Number of parts of the packet.
    pub parts: u8,
    /// Number of frames that it contains or acknowledges: more than one for an aggregate.
    pub mpdus: u8,
    /// Index of its rate among the radio's rates.
    pub rate: u8,
    /// IEEE 802.15.4: true if the sender keeps more frames for the receiver. In the acknowledgement of a data
    /// request: true if it keeps any frame.
    pub pending: bool,
    /// The packet of a data frame.
    pub handle: PacketHandle,
    /// Bytes from MAC header to check sequence.
    pub bytes: u32,
}

impl Frame {
    /// Returns a frame that carries no packet.
    pub(super) fn bare(kind: FrameKind, from: u32, to: u32, rate: u8, bytes: u32) -> Frame {
        Frame {
            kind,
            from,
            to,
            nav: Span::ZERO,
            sequence: 0,
            retry: false,
            part: 0,
            parts: 1,
            mpdus: 1,
            rate,
            pending: false,
            handle: PacketHandle { id: 0, size: 0, hop: 0 },
            bytes,
        }
    }

    /// Number that identifies a part of a packet among all parts of this transmitter. Consecutive parts have
    /// consecutive numbers.
    pub fn token(&self) -> u64 {
        self.sequence << 8 | u64::from(self.part)
    }

    /// True if the frame carries the last part of its packet.
    pub fn is_last(&self) -> bool {
        self.part + 1 == self.parts
    }
}

/// A frame on its way to the neighbours of its transmitter.
#[derive(Clone, Copy, Debug)]
pub struct Transmission {
    /// The frame.
    pub frame: Frame,
    /// Time at which the transmission began.
    pub start: Time,
    /// Duration of the transmission.
    pub airtime: Span,
    /// Number of the transmitter's neighbours that the beginning of the frame has reached.
    pub reached: usize,
    /// Number of neighbours that the end of the frame has reached.
    pub left: usize,
    /// True if the next event is the end of the frame at a neighbour, false if it is its beginning.
    pub leaves: bool,
    /// True if the transmitter was switched off during the transmission. No station receives the frame.
    pub cut: bool,
}

/// Result of processing the events of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Passed {
    /// Time of the last event that was processed.
    pub(crate) now: Time,
    /// Number of different times after the first at which events were processed.
    pub(crate) moments: u64,
}

/// A station that senses another station.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour {
    /// Index of the station.
    pub station: u32,
    /// True if the station can receive frames, false if it can only sense them.
    pub receivable: bool,
    /// Propagation delay.
    pub delay: Span,
    /// Received power, milliwatts; 1 with a disc.
    pub power: f64,
}

/// The neighbours of all stations.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Neighbours of all stations, station by station, nearest first.
    neighbours: Vec<Neighbour>,
    /// Bit-error rates at the neighbours, one for each rate of the radio. Empty unless errors follow from the
    /// signal-to-noise ratio.
    error_rates: Vec<f64>,
    /// Number of rates of the radio.
    rates: usize,
    /// Index of the first neighbour of each station, with one more entry at the end.
    begins: Vec<usize>,
}

impl Channel {
    /// Returns the channel of a radio whose configuration has been checked.
    pub fn new(radio: &RadioConfig, rates: &Rates) -> Channel {
        let mut channel = Channel {
            neighbours: Vec::new(),
            error_rates: Vec::new(),
            rates: rates.all().len(),
            begins: vec![0],
        };
        for (i, a) in radio.stations.iter().enumerate() {
            let others = radio.stations.iter().enumerate().filter(|(j, _)| *j != i);
            let audible = others.filter_map(|(j, b)| {
                let reach = radio.reach(a.position, b.position);
                reach.audible.then_some(Neighbour {
                    station: j as u32,
                    receivable: reach.receivable,
                    delay: reach.delay,
                    power: reach.power_dbm.map_or(1.0, from_db),
                })
            });
            channel.neighbours.extend(audible);
            let begin = *channel.begins.last().unwrap_or(&0);
            channel.neighbours[begin..].sort_by_key(|n| (n.delay, n.station));
            channel.begins.push(channel.neighbours.len());
        }
        if radio.errors == FrameErrors::Snr {
            let noise = from_db(radio.noise_dbm());
            let at = |n: &Neighbour| {
                let snr = n.power / noise;
                rates.all().iter().map(move |rate| rate.modulation.bit_error_rate(snr))
            };
            channel.error_rates = channel.neighbours.iter().flat_map(at).collect();
        }
        channel
    }

    /// Stations that sense this station, nearest first.
    pub fn of(&self, station: u32) -> &[Neighbour] {
        let station = station as usize;
        &self.neighbours[self.begins[station]..self.begins[station + 1]]
    }

    /// Bit-error rate of this frame at a neighbour of its transmitter.
    pub fn bit_error_rate(&self, frame: &Frame, place: usize) -> f64 {
        let neighbour = self.begins[frame.from as usize] + place;
        self.error_rates[neighbour * self.rates + usize::from(frame.rate)]
    }
}

impl Transmission {
    /// Time of the next event at a neighbour, and true if this event is the end of the frame. `None` after
    /// the last event.
    #[inline]
    pub fn next(&self, channel: &Channel) -> Option<(Time, bool)> {
        self.next_of(channel.of(self.frame.from))
    }

    /// Like [`Transmission::next`], with the neighbours given by the caller.
    #[inline(always)]
    pub(super) fn next_of(&self, hearing: &[Neighbour]) -> Option<(Time, bool)> {
        let leaves = self.start + hearing.get(self.left)?.delay + self.airtime;
        match hearing.get(self.reached) {
            Some(n) if self.start + n.delay < leaves => Some((self.start + n.delay, false)),
            _ => Some((leaves, true)),
        }
    }
}
