//! Who hears whom, and the frames on the air.

use windlass_cc::{Span, Time};

use crate::packet::PacketHandle;
use crate::radio::config::{FrameErrors, RadioConfig};
use crate::radio::propagation::from_db;
use crate::radio::rates::Rates;

/// What a frame is.
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
    /// IEEE 802.15.4: a data request, by which a device that sleeps asks for what is kept for it.
    Request,
}

/// A frame on the air.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// What it is.
    pub kind: FrameKind,
    /// Transmitter, by its index among the radio's stations.
    pub from: u32,
    /// Receiver, or [`BROADCAST`](crate::radio::BROADCAST).
    pub to: u32,
    /// Duration field: for how long after its end the channel is taken.
    pub nav: Span,
    /// Number of the packet among its transmitter's, from 1: the sequence number of the standard,
    /// but too long to come round, so that no old one is ever taken for a new one.
    pub sequence: u64,
    /// Whether it has been transmitted before.
    pub retry: bool,
    /// Which part of its packet it carries, from 0.
    pub part: u8,
    /// In how many parts its packet goes.
    pub parts: u8,
    /// How many frames are in it, or are acknowledged: more than one in an aggregate.
    pub mpdus: u8,
    /// Place of its rate among the radio's.
    pub rate: u8,
    /// IEEE 802.15.4: whether more is kept for the receiver, or anything if this acknowledges a data request.
    pub pending: bool,
    /// The packet of a data frame.
    pub handle: PacketHandle,
    /// Bytes from MAC header to check sequence.
    pub bytes: u32,
}

impl Frame {
    /// A frame of its own, which carries no packet.
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

    /// What tells the part of a packet from all others of its transmitter; parts in a row are numbers in a
    /// row.
    pub fn token(&self) -> u64 {
        self.sequence << 8 | u64::from(self.part)
    }

    /// Whether it carries the last part of its packet.
    pub fn is_last(&self) -> bool {
        self.part + 1 == self.parts
    }
}

/// A frame on its way to those who hear it.
#[derive(Clone, Copy, Debug)]
pub struct Transmission {
    /// The frame.
    pub frame: Frame,
    /// When its transmission began.
    pub start: Time,
    /// How long it takes.
    pub airtime: Span,
    /// How many of the transmitter's neighbours it has reached, and left again.
    pub reached: usize,
    /// See `reached`.
    pub left: usize,
    /// Whether it leaves the next of them, and does not reach it.
    pub leaves: bool,
    /// The transmitter has died meanwhile: nobody receives the frame.
    pub cut: bool,
}

/// How far the time has come with a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Passed {
    /// The moment of the last thing that was done.
    pub(crate) now: Time,
    /// Moments after the first at which something was done.
    pub(crate) moments: u64,
}

/// A station that hears another.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour {
    /// Which.
    pub station: u32,
    /// Whether it can receive, or only sense.
    pub receivable: bool,
    /// How long a signal takes.
    pub delay: Span,
    /// Received power, milliwatts; 1 over a disc.
    pub power: f64,
}

/// Who hears whom.
#[derive(Clone, Debug)]
pub struct Channel {
    /// The neighbours of all stations, the nearest first.
    neighbours: Vec<Neighbour>,
    /// Bit-error rates at these, one for each rate of the radio; empty unless they follow from signal and noise.
    error_rates: Vec<f64>,
    /// How many rates the radio has.
    rates: usize,
    /// Where the neighbours of each station begin; one entry more than there are stations.
    begins: Vec<usize>,
}

impl Channel {
    /// The channel of a radio that has been checked.
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

    /// Those who hear this station, the nearest first.
    pub fn of(&self, station: u32) -> &[Neighbour] {
        let station = station as usize;
        &self.neighbours[self.begins[station]..self.begins[station + 1]]
    }

    /// Bit-error rate of this frame at one of those who hear its transmitter.
    pub fn bit_error_rate(&self, frame: &Frame, place: usize) -> f64 {
        let neighbour = self.begins[frame.from as usize] + place;
        self.error_rates[neighbour * self.rates + usize::from(frame.rate)]
    }
}

impl Transmission {
    /// When it next reaches or leaves a station, and whether it leaves; `None` once it is over.
    #[inline]
    pub fn next(&self, channel: &Channel) -> Option<(Time, bool)> {
        self.next_of(channel.of(self.frame.from))
    }

    /// The same with those who hear it at hand.
    #[inline(always)]
    pub(super) fn next_of(&self, hearing: &[Neighbour]) -> Option<(Time, bool)> {
        let leaves = self.start + hearing.get(self.left)?.delay + self.airtime;
        match hearing.get(self.reached) {
            Some(n) if self.start + n.delay < leaves => Some((self.start + n.delay, false)),
            _ => Some((leaves, true)),
        }
    }
}
