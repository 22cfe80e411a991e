//! The packets of random exchanges in which the endpoint equals Linux 6.12, kept as checksums. The test needs no kernel, and
//! fails if any packet or its time changes.

use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;
use std::{env, fs};

use windlass_cc::{Span, Time};
use windlass_interop::lockstep::{Case, Clock, compare};
use windlass_interop::script::{Action, Check, Departure, Seen, Stack, Tolerance, VirtualTime};
use windlass_tcp::{Segment, wire};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/packets.txt");
const END: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);
const ADDRESSES: wire::Addresses = wire::Addresses { source: END, destination: END };

/// An endpoint whose segments are added to a checksum.
struct Recorded {
    stack: VirtualTime,
    sum: crc32fast::Hasher,
}

impl Recorded {
    fn add(&mut self, departure: &Departure) {
        let mut packet = Vec::new();
        wire::emit(&departure.segment, &ADDRESSES, |_| (), &mut packet).expect("a valid segment");
        self.sum.update(&departure.at.0.to_le_bytes());
        self.sum.update(&packet);
    }
}

impl Stack for Recorded {
    fn now(&self) -> Time {
        self.stack.now()
    }

    fn tolerance(&self, wait: Span) -> Tolerance {
        self.stack.tolerance(wait)
    }

    fn act(&mut self, action: Action) -> Result<(), String> {
        self.stack.act(action)
    }

    fn deliver(&mut self, segment: &Segment) -> Result<(), String> {
        self.stack.deliver(segment)
    }

    fn next(&mut self, until: Time) -> Result<Option<Departure>, String> {
        let next = self.stack.next(until)?;
        next.iter().for_each(|departure| self.add(departure));
        Ok(next)
    }

    fn look(&mut self, at: &Check) -> Result<Seen, String> {
        self.stack.look(at)
    }
}

fn checksum(seed: u64) -> u32 {
    let case = Case::draw(seed);
    let endpoint = || VirtualTime::new(&case.options.settings().expect("a known algorithm"));
    let mut recorded = Recorded { stack: endpoint(), sum: crc32fast::Hasher::new() };
    compare(&case, &mut recorded, &mut endpoint(), Clock::Planned).expect("played");
    recorded.sum.finalize()
}

#[test]
fn packets_that_equal_linux_change_only_on_request() {
    let kept = fs::read_to_string(GOLDEN).expect("readable");
    let mut now = String::new();
    for line in kept.lines() {
        let seed = line.split(' ').next().unwrap_or_default();
        let sum = checksum(seed.parse().expect("a seed"));
        let _ = writeln!(now, "{seed} {sum:08x}");
    }
    let moved: Vec<&str> = now
        .lines()
        .zip(kept.lines())
        .filter(|(now, kept)| now != kept)
        .map(|(now, _)| now)
        .collect();
    if moved.is_empty() {
        return;
    }
    if env::var_os("WINDLASS_BLESS").is_some() {
        return fs::write(Path::new(GOLDEN), now).expect("writable");
    }
    panic!(
        "other packets in {} exchanges: {}\nCompare these seeds with the kernel (windlass-dev lockstep --seeds N). If they still \
         equal it, call this test with WINDLASS_BLESS=1",
        moved.len(),
        moved.join(", ")
    );
}
