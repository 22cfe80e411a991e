//! This machine's kernel as the stack under test: a socket in its own network namespace. The only exit of the
//! namespace is a TUN device that the script uses.

mod settings;
mod socket;

use std::io;
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use windlass_cc::{Span, Time};
use windlass_sim::addresses::FlowAddresses;
use windlass_tcp::wire::{self, Addresses, WireError};
use windlass_tcp::{Flags, Segment, Seq};

use self::settings::{NAME, told};
use self::socket::Application;
use windlass_script::{
    Action, Check, Departure, PEER_ISS, Seen, Settings, Stack, Tolerance, pattern,
};
use windlass_testbed::live::Error;
use windlass_testbed::live::namespace::Namespace;
use windlass_testbed::live::socket::{Purpose, Wanted};
use windlass_testbed::live::sys::be_punctual;
use windlass_testbed::live::tun::{self, Tun};

/// Real-time priority of the playing thread: the minimum.
const PRIORITY: i32 = 1;
/// A timer may be early by one tick (4 ms at 250 Hz). Its expiry is a whole number of ticks after a tick that
/// has already begun. TCP's clocks are in whole milliseconds.
const EARLY: Span = Span::from_millis(5);
/// A timer may be late by one tick, plus the time that a loaded machine needs to wake a process.
const LATE: Span = Span::from_millis(10);
/// A tick: `HZ` is 250.
const TICK: Duration = Duration::from_millis(4);
/// Time between a tick of the kernel and the start of a script, for scripts that start at a tick.
const BEHIND_TICK: Duration = Duration::from_micros(500);
/// A timer of the kernel's wheel expires up to an eighth of its time late.
const WHEEL: u64 = 8;

/// A kernel's end of one connection.
#[derive(Debug)]
pub struct Kernel {
    application: Application,
    tun: Tun,
    /// Addresses from the kernel to the script's peer.
    addresses: Addresses,
    begin: Instant,
    /// The kernel's initial sequence number.
    iss: Option<Seq>,
    packet: Vec<u8>,
}

impl Kernel {
    /// Creates a namespace that contains only the kernel's end, with the settings of a script. Use it in the
    /// thread that creates it, because this thread gets a real-time priority.
    ///
    /// # Errors
    ///
    /// Returns an error without root, if the kernel misses a feature, or if it refuses a setting.
    pub fn new(settings: &Settings) -> Result<Kernel, Error> {
        be_punctual(PRIORITY);
        let ends = FlowAddresses::new(0, 0, 1);
        let (told, algorithm) = told(settings)?;
        let namespace = Namespace::new().map_err(Error::on("making a network namespace"))?;
        let device = tun::Settings {
            address: *ends.from.ip(),
            mtu: told.mtu,
            metrics: told.metrics.clone(),
        };
        let tun = Tun::new(&namespace, &device)?;
        let application = namespace.enter(|| {
            told.apply_sysctls()?;
            let wanted = Wanted {
                flow: NAME,
                purpose: Purpose::Connect,
                algorithm: Some(algorithm),
                settings: &told,
                ends: (ends.from, ends.to),
                multipath: false,
            };
            Application::new(wanted.open()?, ends.to, !settings.stack.quick_acks)
        })?;
        Ok(Kernel {
            application,
            tun,
            addresses: ends.addresses(true),
            begin: Instant::now(),
            iss: None,
            packet: vec![0; 1 << 16],
        })
    }

    /// Waits until the kernel's count of ticks is a multiple of `period`, and half a millisecond more, and starts the
    /// script. Events of the script at whole milliseconds then never coincide with a tick. If the count cannot be
    /// read, the clock counts.
    pub fn begin_at_multiple(&mut self, period: Duration) {
        let clock =
            || clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from);
        let lead = tick_count_lead(period).unwrap_or_default() + BEHIND_TICK;
        let period = period.as_nanos() as u64;
        let now = clock().saturating_sub(lead).as_nanos() as u64;
        let begin = Duration::from_nanos((now / period + 1) * period) + lead;
        thread::sleep(begin.saturating_sub(clock()));
        self.begin = Instant::now() - clock().saturating_sub(begin);
    }

    /// Returns the segment in a packet that the kernel sent, if it belongs to this connection.
    fn departure(&mut self, len: usize) -> Result<Option<Departure>, String> {
        let at = self.now();
        let packet = match wire::parse(&self.packet[..len]) {
            Ok(packet) => packet,
            Err(WireError::NotTcp(_) | WireError::Version(_)) => return Ok(None),
            Err(e) => return Err(format!("the kernel sent a packet that cannot be read: {e}")),
        };
        if packet.addresses != self.addresses {
            return Ok(None);
        }
        let segment = packet.segment;
        if segment.flags.has(Flags::SYN) {
            self.iss = Some(segment.seq);
        }
        let offset = segment.seq.0.wrapping_sub(self.iss.unwrap_or_default().0);
        let mut expected = vec![0; packet.payload.len()];
        pattern(offset, &mut expected);
        let intact = packet.payload == expected;
        Ok(Some(Departure { at, segment, intact }))
    }

    /// Waits for a packet until a time. Returns true if the time is reached first.
    fn wait(&self, until: Time) -> Result<bool, String> {
        let left = until.since(self.now());
        if until <= self.now() {
            return Ok(true);
        }
        let timeout = TimeSpec::from_duration(Duration::from_nanos(left.0));
        let mut fds = [PollFd::new(self.tun.as_fd(), PollFlags::POLLIN)];
        match ppoll(&mut fds, Some(timeout), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(false),
            Err(e) => Err(format!("cannot wait for the TUN device: {e}")),
        }
    }
}

fn refused(what: &str) -> impl FnOnce(io::Error) -> String {
    move |e| format!("the kernel refuses to {what}: {e}")
}

impl Stack for Kernel {
    fn now(&self) -> Time {
        Time(self.begin.elapsed().as_nanos() as u64)
    }

    fn tolerance(&self, wait: Span) -> Tolerance {
        Tolerance { early: EARLY, late: Span(LATE.0 + wait.0 / WHEEL) }
    }

    fn act(&mut self, action: Action) -> Result<(), String> {
        let sockets = &mut self.application;
        match action {
            Action::Listen => sockets.listen().map_err(refused("listen")),
            Action::Connect => sockets.connect().map_err(refused("connect")),
            Action::Write(bytes) => sockets.write(bytes as usize),
            Action::Read(bytes) => sockets.read(bytes as usize),
            Action::Shutdown => sockets.shutdown().map_err(refused("shut the connection down")),
            Action::Close => sockets.close().map_err(refused("close the connection")),
            Action::Abort => sockets.abort().map_err(refused("abort the connection")),
        }
    }

    fn deliver(&mut self, segment: &Segment) -> Result<(), String> {
        let offset = segment.seq.0.wrapping_sub(PEER_ISS.0);
        let mut packet = Vec::new();
        wire::emit(
            segment,
            &self.addresses.reversed(),
            |bytes| pattern(offset, bytes),
            &mut packet,
        )
        .map_err(|e| format!("the segment has no wire format: {e}"))?;
        self.tun.write(&packet).map_err(refused("take the packet"))?;
        self.application.after_delivery().map_err(refused("set the socket up"))
    }

    fn next(&mut self, until: Time) -> Result<Option<Departure>, String> {
        loop {
            match self.tun.read(&mut self.packet).map_err(refused("give its packets"))? {
                Some(len) => {
                    if let Some(departure) = self.departure(len)? {
                        return Ok(Some(departure));
                    }
                }
                None if self.wait(until)? => return Ok(None),
                None => {}
            }
        }
    }

    fn look(&mut self, at: &Check) -> Result<Seen, String> {
        self.application.look(at)
    }
}

/// The clock minus the kernel's count of ticks (`jiffies`), within a period of whole ticks; `None` if this process may not
/// read the count.
fn tick_count_lead(period: Duration) -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/timer_list").ok()?;
    let number = |before: &str| {
        let at = text.find(before)? + before.len();
        text[at..].split_whitespace().next()?.parse::<u64>().ok()
    };
    let ticks = TICK.as_nanos() as u64;
    let lead = (number("now at")? / ticks).wrapping_sub(number("jiffies:")?);
    let within = lead % (period.as_nanos() as u64 / ticks).max(1);
    Some(TICK * within as u32)
}
