//! A link in virtual time: a rate, a delay, a drop-tail queue and random losses.

use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;

/// Largest IP packet, bytes.
pub const MTU: usize = 576;
/// Maximum number of packets in one place. A link holds 21 packets in its queue and six in transit.
const ROOM: usize = 64;
/// Rate in bits per second, delay of one direction in microseconds, and packets of the queue.
const RATE: u64 = 250_000;
const DELAY: u64 = 50_000;
const QUEUE: usize = 20;

#[derive(Clone, Copy)]
struct Packet {
    len: usize,
    bytes: [u8; MTU],
}

/// Packets in order.
pub struct Packets {
    packets: [Packet; ROOM],
    first: usize,
    used: usize,
}

impl Packets {
    pub const fn new() -> Packets {
        Packets { packets: [Packet { len: 0, bytes: [0; MTU] }; ROOM], first: 0, used: 0 }
    }

    fn push<R>(&mut self, len: usize, fill: impl FnOnce(&mut [u8]) -> R) -> R {
        assert!(self.used < ROOM);
        let packet = &mut self.packets[(self.first + self.used) % ROOM];
        self.used += 1;
        packet.len = len;
        fill(&mut packet.bytes[..len])
    }

    fn pop(&mut self) -> Option<&[u8]> {
        if self.used == 0 {
            return None;
        }
        let packet = &self.packets[self.first];
        self.first = (self.first + 1) % ROOM;
        self.used -= 1;
        Some(&packet.bytes[..packet.len])
    }

    pub fn is_empty(&self) -> bool {
        self.used == 0
    }
}

/// One direction of a link.
pub struct Link {
    packets: Packets,
    /// Departure time of each packet, microseconds, and true if it is lost in transit.
    left: [(u64, bool); ROOM],
    busy: u64,
    random: u32,
    /// Loss probability, multiplied by 2³².
    loss: u32,
    /// Packets and bytes that were sent into it.
    pub sent: u32,
    pub bytes: u64,
}

impl Link {
    pub const fn new() -> Link {
        Link {
            packets: Packets::new(),
            left: [(0, false); ROOM],
            busy: 0,
            random: 0,
            loss: 0,
            sent: 0,
            bytes: 0,
        }
    }

    /// Resets the link, with losses of this percentage.
    pub fn reset(&mut self, seed: u32, percent: u32) {
        (self.packets.first, self.packets.used) = (0, 0);
        (self.busy, self.sent, self.bytes) = (0, 0, 0);
        self.random = seed.wrapping_mul(0x9e37_79b9) | 1;
        self.loss = u32::MAX / 100 * percent;
    }

    /// Marsaglia's xorshift.
    fn draw(&mut self) -> u32 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 17;
        self.random ^= self.random << 5;
        self.random
    }

    /// Takes the packets that an end has sent.
    pub fn take(&mut self, now: u64, from: &mut Packets) {
        while let Some(packet) = from.pop() {
            self.sent += 1;
            self.bytes += packet.len() as u64;
            let lost = self.draw() < self.loss;
            let here = (0..self.packets.used).map(|n| (self.packets.first + n) % ROOM);
            // One of these packets is in transmission.
            if here.filter(|place| self.left[*place].0 > now).count() > QUEUE {
                continue;
            }
            self.busy = self.busy.max(now) + packet.len() as u64 * 8 * 1_000_000 / RATE;
            self.left[(self.packets.first + self.packets.used) % ROOM] = (self.busy, lost);
            self.packets.push(packet.len(), |bytes| bytes.copy_from_slice(packet));
        }
    }

    /// Arrival time of the next packet, also if it is lost.
    pub fn next(&self) -> u64 {
        let left = self.left[self.packets.first].0;
        if self.packets.is_empty() { u64::MAX } else { left + DELAY }
    }

    /// Gives the arrived packets to an end.
    pub fn give(&mut self, now: u64, to: &mut Packets) {
        while self.next() <= now {
            let lost = self.left[self.packets.first].1;
            let Some(packet) = self.packets.pop() else { return };
            if !lost {
                to.push(packet.len(), |bytes| bytes.copy_from_slice(packet));
            }
        }
    }
}

/// Received and sent packets of an end.
pub struct Port {
    pub heard: Packets,
    pub said: Packets,
}

impl Port {
    pub const fn new() -> Port {
        Port { heard: Packets::new(), said: Packets::new() }
    }
}

pub struct Heard<'a>(&'a [u8]);
pub struct Says<'a>(&'a mut Packets);

impl Device for Port {
    type RxToken<'a> = Heard<'a>;
    type TxToken<'a> = Says<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Heard<'_>, Says<'_>)> {
        let packet = self.heard.pop()?;
        Some((Heard(packet), Says(&mut self.said)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Says<'_>> {
        Some(Says(&mut self.said))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut all = DeviceCapabilities::default();
        all.medium = Medium::Ip;
        all.max_transmission_unit = MTU;
        all
    }
}

impl RxToken for Heard<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(self.0)
    }
}

impl TxToken for Says<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        self.0.push(len, f)
    }
}
