//! A script as a value.

use std::fmt;

use windlass_cc::Span;
use windlass_tcp::{Codepoint, Flags, State};

use super::settings::Settings;

/// A stack that a script can be compared with.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum World {
    /// [`windlass_tcp::Endpoint`], in virtual time.
    Sim,
    /// This machine's kernel, through a TUN device.
    Linux,
}

impl World {
    /// Every world with its name in scripts and on the command line.
    pub const ALL: [(&'static str, World); 2] = [("sim", World::Sim), ("linux", World::Linux)];

    /// The world's name.
    pub fn name(self) -> &'static str {
        match self {
            World::Sim => "sim",
            World::Linux => "linux",
        }
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A script that has been read.
#[derive(Clone, PartialEq, Debug)]
pub struct Script {
    /// The file's name, as it was given.
    pub file: String,
    /// What the script shows, in one line.
    pub title: String,
    /// Where it is written that a stack shall do so: an RFC and its section.
    pub sources: Vec<String>,
    /// What both stacks are told before the first line.
    pub settings: Settings,
    /// A world that is known to do otherwise, and why.
    pub differs: Option<Difference>,
    /// What happens, in order.
    pub lines: Vec<Line>,
}

impl Difference {
    /// Whether it holds in a world whose kernel, if it has one, is of this release.
    pub fn holds(&self, world: World, release: &str) -> bool {
        let earlier = |before| release_numbers(release).is_none_or(|numbers| numbers < before);
        self.world == world && self.before.is_none_or(earlier)
    }
}

/// Major and minor number of a kernel's release, such as `6.12.117+deb12-cloud-amd64`.
pub(super) fn release_numbers(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// A world that does otherwise than a script's common lines say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Which world.
    pub world: World,
    /// Of a kernel: only releases before this one, major and minor number.
    pub before: Option<(u32, u32)>,
    /// Why.
    pub reason: String,
}

/// One line: at some time, something.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// Number in the file, from 1.
    pub number: usize,
    /// The line as written, without its remark.
    pub text: String,
    /// The only world that it is for, if it is not for all.
    pub only: Option<World>,
    /// When.
    pub when: When,
    /// What.
    pub event: Event,
}

/// The time of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct When {
    /// Counted from the moment in which the line before came true, instead of the script's begin.
    pub relative: bool,
    /// Earliest time at which it holds.
    pub earliest: Span,
    /// Latest; the same as the earliest for what the script itself does.
    pub latest: Span,
}

/// What a line says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// The application acts.
    Act(Action),
    /// This segment arrives from the peer.
    In(SegmentSpec),
    /// This segment leaves.
    Out(SegmentSpec),
    /// Something that can be seen has this value.
    Check(Check),
    /// Time passes, and nothing leaves.
    Quiet,
}

/// What the application does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Passive open.
    Listen,
    /// Active open.
    Connect,
    /// Hands over this number of bytes, at least 1.
    Write(u32),
    /// Reads exactly this number of bytes, at least 1.
    Read(u32),
    /// Closes the sending direction; the peer may go on.
    Shutdown,
    /// Closes both directions: nobody will read what still comes.
    Close,
    /// Drops the connection with a reset.
    Abort,
}

/// A segment as a script writes it: for what arrives every value is definite, for what leaves a
/// value that is not written is free.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SegmentSpec {
    /// Header flags. For what leaves, PSH is not compared.
    pub flags: Flags,
    /// Sequence number counted from the sender's initial one; `None` is `*`.
    pub seq: Option<i64>,
    /// Payload, bytes.
    pub len: u32,
    /// Acknowledgement number counted from the receiver's initial one.
    pub ack: Option<i64>,
    /// Window, bytes after scaling; on a SYN as it stands in the header.
    pub window: Option<Bounds>,
    /// ECN field.
    pub ecn: Option<Codepoint>,
    /// Options.
    pub options: OptionsSpec,
}

/// Options of a segment as a script writes them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OptionsSpec {
    /// `...`: other options may stand beside those that are written.
    pub others: bool,
    /// Maximum segment size.
    pub mss: Option<Bounds>,
    /// Window scale shift.
    pub window_scale: Option<Bounds>,
    /// SACK permitted.
    pub sack_permitted: bool,
    /// Timestamps.
    pub timestamps: TimestampsSpec,
    /// SACK blocks as pairs of numbers counted from the initial sequence number of whoever sent the
    /// data.
    pub sack: Vec<(i64, i64)>,
}

/// Timestamps of a segment as a script writes them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum TimestampsSpec {
    /// Not written: there are some if both sides have offered them. The peer's own are its clock and
    /// the latest clock it has seen.
    #[default]
    Implied,
    /// There are none.
    Absent,
    /// Written: TSval and TSecr.
    Given(Stamp, Stamp),
}

/// One timestamp.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stamp {
    /// Of what leaves: any. Of the peer's own: its clock now, or the latest that it has seen.
    Any,
    /// This number. Only the peer's clock can be known: it is what is sent as TSval and comes back as
    /// TSecr.
    Number(i64),
    /// As TSval of what leaves: any, to be remembered under this name. As TSecr of what arrives: the
    /// one remembered.
    Named(String),
}

/// Least and greatest value allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Least.
    pub least: u64,
    /// Greatest.
    pub most: u64,
}

impl Bounds {
    /// Any value at all.
    pub const ANY: Bounds = Bounds { least: 0, most: u64::MAX };

    /// Whether a value is allowed.
    pub fn allow(self, value: u64) -> bool {
        (self.least..=self.most).contains(&value)
    }
}

/// Something that can be seen, and what it shall be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    /// The connection's state.
    State(State),
    /// Congestion window, whole segments.
    Cwnd(Bounds),
    /// Slow start threshold, whole segments; [`INFINITE`] while there is none.
    Ssthresh(Bounds),
    /// Smoothed round-trip time, nanoseconds.
    Srtt(Bounds),
    /// Retransmission timeout, back-off included, nanoseconds.
    Rto(Bounds),
    /// Bytes that wait to be read.
    Readable(Bounds),
    /// Whether everything up to the peer's FIN has been read.
    Eof(bool),
    /// How the connection failed.
    Error(ErrorKind),
}

/// A slow start threshold that nothing has set yet.
pub const INFINITE: u64 = u64::MAX;

/// How a connection failed, as its application sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// It did not.
    None,
    /// The peer refused it with a reset.
    Refused,
    /// The peer reset it.
    Reset,
    /// Nothing was answered.
    TimedOut,
}

impl ErrorKind {
    /// Every kind with its name in scripts.
    pub const ALL: [(&'static str, ErrorKind); 4] = [
        ("none", ErrorKind::None),
        ("refused", ErrorKind::Refused),
        ("reset", ErrorKind::Reset),
        ("timeout", ErrorKind::TimedOut),
    ];
}

/// Names of the states, as RFC 9293 section 3.3.2 writes them.
pub const STATES: [(&str, State); 11] = [
    ("CLOSED", State::Closed),
    ("LISTEN", State::Listen),
    ("SYN-SENT", State::SynSent),
    ("SYN-RECEIVED", State::SynReceived),
    ("ESTABLISHED", State::Established),
    ("FIN-WAIT-1", State::FinWait1),
    ("FIN-WAIT-2", State::FinWait2),
    ("CLOSE-WAIT", State::CloseWait),
    ("CLOSING", State::Closing),
    ("LAST-ACK", State::LastAck),
    ("TIME-WAIT", State::TimeWait),
];

/// The name of a value in a table of names.
pub(crate) fn name_of<T: PartialEq>(table: &[(&'static str, T)], value: &T) -> &'static str {
    table.iter().find(|entry| entry.1 == *value).map_or("?", |entry| entry.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_of_older_kernels_is_none_of_newer_ones() {
        let of = |before| Difference { world: World::Linux, before, reason: String::new() };
        let old = of(Some((6, 18)));
        assert!(old.holds(World::Linux, "6.12.117+deb12-cloud-amd64"));
        assert!(old.holds(World::Linux, "5.20.1"));
        assert!(!old.holds(World::Linux, "6.18.0"));
        assert!(!old.holds(World::Sim, ""));
        assert!(of(None).holds(World::Linux, "6.18.0"));
    }
}
