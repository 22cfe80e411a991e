//! The link of every library's transfer, and the summary of a transfer.

use std::time::{Duration, Instant};

pub const FILE: usize = 4_000_000;
const RATE_BPS: u64 = 10_000_000;
const ONE_WAY: Duration = Duration::from_millis(20);
/// Capacity of the queue, bytes: a bandwidth-delay product.
const QUEUE: u64 = 50_000;
/// One of this number of packets is lost at random.
const LOST_ONE_IN: u64 = 500;

/// One direction: a rate, a delay, a drop-tail queue and random losses.
#[derive(Debug)]
pub struct Link {
    free: Instant,
    draws: u64,
    loses: bool,
    pub sent: u64,
    pub lost: u64,
}

impl Link {
    pub fn new(now: Instant, loses: bool) -> Link {
        Link { free: now, draws: 1, loses, sent: 0, lost: 0 }
    }

    /// Arrival time of a packet of this number of bytes; `None` if it is dropped.
    pub fn offer(&mut self, now: Instant, bytes: usize) -> Option<Instant> {
        let bits = |time: Duration| time.as_nanos() as u64 * RATE_BPS / 1_000_000_000;
        let waiting = bits(self.free.saturating_duration_since(now)) / 8;
        self.draws ^= self.draws << 13;
        self.draws ^= self.draws >> 7;
        self.draws ^= self.draws << 17;
        self.sent += 1;
        let unlucky = self.loses && self.draws.is_multiple_of(LOST_ONE_IN);
        let fits = waiting + bytes as u64 <= QUEUE;
        if fits {
            let taken = Duration::from_nanos(bytes as u64 * 8 * 1_000_000_000 / RATE_BPS);
            self.free = self.free.max(now) + taken;
        }
        if fits && !unlucky {
            return Some(self.free + ONE_WAY);
        }
        self.lost += 1;
        None
    }
}

/// The result of a transfer.
#[derive(Debug)]
pub struct Outcome {
    mbps: f64,
    /// Packets, by route.
    lost: Vec<u64>,
    pub sent: Vec<u64>,
}

impl Outcome {
    /// The result of a transfer of the file over these links, which took `took`.
    pub fn of<'a>(took: Duration, links: impl Iterator<Item = &'a Link>) -> Outcome {
        let (lost, sent) = links.map(|link| (link.lost, link.sent)).unzip();
        Outcome { mbps: FILE as f64 * 8.0 / took.as_secs_f64() / 1e6, lost, sent }
    }
}

pub const OURS: [&str; 6] = ["cubic", "bbr3", "tcp-modified", "reno", "westwood", "lia"];

/// Minimum rate of a transfer. With 0.2 % of the packets lost, CUBIC and Reno reach about half of the link's rate.
const LEAST_MBPS: f64 = 2.0;

pub fn show(library: &str, name: &str, outcome: &Outcome) {
    let Outcome { mbps, lost, sent } = outcome;
    println!("{library} {name}: {mbps:.2} Mbit/s, {lost:?} of {sent:?} packets lost");
    assert!(
        *mbps > LEAST_MBPS && *mbps < sent.len() as f64 * RATE_BPS as f64 / 1e6,
        "{library} {name}: {outcome:?}"
    );
}
