//! A parsed script.

use std::fmt;

use windlass_cc::{Phase, Span};
use windlass_tcp::accurate_option::EcnOption;
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
    /// Every stack with its name in scripts and on the command line.
    pub const ALL: [(&'static str, World); 2] = [("sim", World::Sim), ("linux", World::Linux)];

    /// Returns the name of the stack.
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

/// A parsed script.
#[derive(Clone, PartialEq, Debug)]
pub struct Script {
    /// Name of the file, as it was given.
    pub file: String,
    /// Subject of the script, in one line.
    pub title: String,
    /// Sources of the expected behaviour: an RFC and its section.
    pub sources: Vec<String>,
    /// Settings of both stacks.
    pub settings: Settings,
    /// A stack with a known difference, and the reason.
    pub differs: Option<Difference>,
    /// Events of the script, in order.
    pub lines: Vec<Line>,
}

impl Difference {
    /// True if the difference applies to this stack. For a kernel, `release` is its release.
    pub fn holds(&self, world: World, release: &str) -> bool {
        let earlier = |before| release_numbers(release).is_none_or(|numbers| numbers < before);
        self.world == world && self.before.is_none_or(earlier)
    }
}

/// Returns the major and minor number of a kernel's release, such as `6.12.117+deb12-cloud-amd64`.
pub(crate) fn release_numbers(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// A stack that differs from a script's common lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// The stack that differs.
    pub world: World,
    /// For a kernel: the difference applies only to releases before this one (major and minor number).
    pub before: Option<(u32, u32)>,
    /// Reason of the difference.
    pub reason: String,
}

/// One line: an event at a time.
#[derive(Clone, PartialEq, Debug)]
pub struct Line {
    /// Line number in the file, from 1.
    pub number: usize,
    /// Text of the line, without its remark.
    pub text: String,
    /// The only stack that the line applies to; `None` for all stacks.
    pub only: Option<World>,
    /// Time of the event.
    pub when: When,
    /// The event.
    pub event: Event,
}

/// The time of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct When {
    /// True if the time counts from the time of the line before instead of the start of the script.
    pub relative: bool,
    /// Earliest allowed time.
    pub earliest: Span,
    /// Latest allowed time. For actions of the script it equals the earliest time.
    pub latest: Span,
}

/// Event of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// The application acts.
    Act(Action),
    /// This segment arrives from the peer.
    In(SegmentSpec),
    /// This segment leaves.
    Out(SegmentSpec),
    /// A visible value has this value.
    Check(Check),
    /// Time passes without a departure.
    Quiet,
}

/// Action of the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Passive open.
    Listen,
    /// Active open.
    Connect,
    /// Writes this number of bytes, at least 1.
    Write(u32),
    /// Reads exactly this number of bytes, at least 1.
    Read(u32),
    /// Closes the sending direction; the peer may continue to send.
    Shutdown,
    /// Closes both directions. Data that arrive later are not read.
    Close,
    /// Drops the connection with a reset.
    Abort,
}

/// A segment in a script. For an arriving segment every value is definite. For a leaving segment, unwritten
/// values are not compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SegmentSpec {
    /// Header flags. PSH of a leaving segment is not compared.
    pub flags: Flags,
    /// Sequence number relative to the sender's initial number; `None` is `*`.
    pub seq: Option<i64>,
    /// Payload, bytes.
    pub len: u32,
    /// Acknowledgement number relative to the receiver's initial number.
    pub ack: Option<i64>,
    /// Window, bytes after scaling; on a SYN, the value in the header.
    pub window: Option<Bounds>,
    /// ECN field.
    pub ecn: Option<Codepoint>,
    /// Options.
    pub options: OptionsSpec,
}

/// Options of a segment as a script writes them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OptionsSpec {
    /// True for `...`: other options than the written options are allowed.
    pub others: bool,
    /// Maximum segment size.
    pub mss: Option<Bounds>,
    /// Window scale shift.
    pub window_scale: Option<Bounds>,
    /// SACK permitted.
    pub sack_permitted: bool,
    /// Timestamps.
    pub timestamps: TimestampsSpec,
    /// SACK blocks as pairs of numbers, relative to the initial sequence number of the data's sender.
    pub sack: Vec<(i64, i64)>,
    /// The option of accurate ECN.
    pub accurate_ecn: Option<EcnOption>,
}

/// Timestamps of a segment as a script writes them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum TimestampsSpec {
    /// Not written: the segment has timestamps if both sides have offered them. The peer's own values are its
    /// clock, and the latest clock value that it received.
    #[default]
    Implied,
    /// The segment has no timestamps.
    Absent,
    /// Written: TSval and TSecr.
    Given(Stamp, Stamp),
}

/// One timestamp.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stamp {
    /// Any value in a leaving segment. In an arriving segment: the peer's clock now, or the latest value that
    /// the peer received.
    Any,
    /// This number. Only the peer's clock is known: the peer sends it as TSval, and the stack echoes it as
    /// TSecr.
    Number(i64),
    /// In the TSval of a leaving segment: any value, stored under this name. In the TSecr of an arriving
    /// segment: the stored value.
    Named(String),
}

/// Minimum and maximum of the allowed values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Minimum.
    pub least: u64,
    /// Maximum.
    pub most: u64,
}

impl Bounds {
    /// Any value.
    pub const ANY: Bounds = Bounds { least: 0, most: u64::MAX };

    /// True if a value is allowed.
    pub fn allow(self, value: u64) -> bool {
        (self.least..=self.most).contains(&value)
    }
}

impl fmt::Display for Bounds {
    /// Writes the bounds as in a script.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (0, u64::MAX) => f.write_str("*"),
            (least, u64::MAX) => write!(f, "{least}.."),
            (least, most) if least == most => write!(f, "{least}"),
            (least, most) => write!(f, "{least}..{most}"),
        }
    }
}

/// A visible value, and the expected value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    /// The connection's state.
    State(State),
    /// Congestion window, whole segments.
    Cwnd(Bounds),
    /// Slow-start threshold, whole segments; [`INFINITE`] if it is not set.
    Ssthresh(Bounds),
    /// Packets that the peer has reported as marked.
    DeliveredCe(Bounds),
    /// Bytes that the peer has reported as received with this ECN field.
    DeliveredBytes(Codepoint, Bounds),
    /// Smoothed RTT, nanoseconds.
    Srtt(Bounds),
    /// Retransmission timeout, back-off included, nanoseconds.
    Rto(Bounds),
    /// Bytes that wait to be read.
    Readable(Bounds),
    /// True if everything up to the peer's FIN has been read.
    Eof(bool),
    /// Failure of the connection.
    Error(ErrorKind),
    /// Phase of loss recovery.
    Phase(Phase),
    /// A value that only Windlass's endpoint shows, by its name.
    Own(&'static str, Bounds),
}

/// Phases of loss recovery with their names in scripts.
pub const PHASES: [(&str, Phase); 4] = [
    ("open", Phase::Open),
    ("recovery", Phase::Recovery),
    ("loss", Phase::Loss),
    ("cwr", Phase::Cwr),
];

/// Slow-start threshold that is not set yet.
pub const INFINITE: u64 = u64::MAX;

/// Failure of a connection as its application sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// No failure.
    None,
    /// The peer refused the connection with a reset.
    Refused,
    /// The peer reset the connection.
    Reset,
    /// The peer did not answer.
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

/// Returns the name of a value in a table of names.
pub fn name_of<T: PartialEq>(table: &[(&'static str, T)], value: &T) -> &'static str {
    table.iter().find(|entry| entry.1 == *value).map_or("?", |entry| entry.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_before_a_release_does_not_apply_to_newer_kernels() {
        let of = |before| Difference { world: World::Linux, before, reason: String::new() };
        let old = of(Some((6, 18)));
        assert!(old.holds(World::Linux, "6.12.117+deb12-cloud-amd64"));
        assert!(old.holds(World::Linux, "5.20.1"));
        assert!(!old.holds(World::Linux, "6.18.0"));
        assert!(!old.holds(World::Sim, ""));
        assert!(of(None).holds(World::Linux, "6.18.0"));
    }
}
