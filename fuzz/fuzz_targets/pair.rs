//! Two ends of a Multipath TCP connection, and bytes as their paths, applications and middleboxes: no panic, every deadline
//! advances, each segment is valid, and the data that an end delivers are those that the network carried.
#![no_main]
// The network of the tests of the endpoints; this program uses a part of it.
#![allow(dead_code)]

#[path = "../../core/windlass-tcp/tests/board/mod.rs"]
mod board;
#[path = "../../core/windlass-tcp/tests/multinet/mod.rs"]
mod multinet;
#[path = "../../core/windlass-tcp/tests/pipe/mod.rs"]
mod pipe;

use libfuzzer_sys::fuzz_target;
use multinet::{App, Net, Path, Strip, multipath, scheduled};
use windlass_tcp::mptcp::Scheduler;

/// Limits of one input: simulated time, and segments that both ends send.
const END_MS: u64 = 600_000;
const SEGMENTS: u64 = 3_000;

/// Numbers from the input; zero after its end.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn next(&mut self, below: u64) -> u64 {
        let (taken, rest) = self.0.split_at(self.0.len().min(2));
        self.0 = rest;
        taken.iter().fold(0, |n, byte| n << 8 | u64::from(*byte)) % below
    }

    fn path(&mut self) -> Path {
        let strips = [Strip::Nothing, Strip::Syn, Strip::SynAck, Strip::ClientData];
        let outages = self.next(4);
        Path {
            delay: 1 + self.next(400),
            jitter: self.next(100),
            loss: self.next(300),
            twice: self.next(300),
            byte_ns: self.next(20_000),
            queue: self.next(1000),
            outages: (0..outages)
                .map(|_| (self.next(30_000), self.next(20_000)))
                .map(|(from, long)| (from, from + long))
                .collect(),
            strips: strips[self.next(16).saturating_sub(12) as usize],
        }
    }

    fn app(&mut self, closes_last: bool) -> App {
        let bytes = self.next(3) * self.next(20_000);
        let mut pace = || 64 + self.next(1 << 16) * 8;
        App { bytes, write: pace(), read: pace(), period: self.next(200), closes_last }
    }
}

fuzz_target!(|data: &[u8]| {
    let mut numbers = Numbers(data);
    let schedulers = Scheduler::ALL.map(|s| s.1);
    let scheduler = schedulers[numbers.next(schedulers.len() as u64) as usize];
    let seed = numbers.next(1 << 16);
    let apps = [numbers.app(false), numbers.app(true)];
    let paths: Vec<Path> = (0..=numbers.next(3)).map(|_| numbers.path()).collect();
    let profile = multipath(scheduled(scheduler), paths.len());
    let mut net = Net::new([profile.clone(), profile], apps, paths, seed);
    for second in 1..=END_MS / 1000 {
        net.run_until(1000 * second);
        if net.is_over() || net.sent > SEGMENTS {
            break;
        }
    }
    let [client, server] = &net.ends;
    let sound = client.c.failure().is_none() && server.c.failure().is_none();
    if net.is_over() && sound {
        assert_eq!(
            [client.c.received(), server.c.received()],
            [apps[1].bytes, apps[0].bytes],
            "{}",
            net.describe()
        );
    }
});
