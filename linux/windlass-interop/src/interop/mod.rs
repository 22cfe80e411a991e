//! Windlass's endpoint against the kernel: a conformance run with real packets.
//!
//! One end of a connection is a [`windlass_tcp::Endpoint`]. The other end is a kernel's socket in its own
//! network namespace. The simulator's links and listed faults are between them. A [`Case`] defines the
//! actions of both applications and the expected results. Each case is run in both [`Direction`]s.
//!
//! Every case compares the bytes that an application reads with the bytes that were sent. It also checks
//! every segment of either end against the rules of its connection. For example, a segment must stay within
//! the window and the segment size that the peer has allowed, acknowledge only arrived data, and have exactly
//! the agreed options. In cases of Multipath TCP, Windlass's end is a [`windlass_tcp::mptcp::Connection`],
//! the kernel's end is a socket of its Multipath TCP, and there are two paths.

mod cases;
mod faults;
mod findings;
mod host;
mod kernel;
mod multipath;
mod ours;
mod plan;
mod report;
mod rules;
mod runs;
mod spans;
mod steps;
mod trace;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use windlass_sim::addresses::FlowAddresses;

pub use cases::cases;
pub use findings::Finding;
pub use plan::Case;
pub use report::{Options, Report, run};

/// Returns the addresses of the two ends, the sender's first, if the sender opens the connection.
fn addresses() -> FlowAddresses {
    FlowAddresses::new(0, 0, 1)
}

/// The two ends of a connection. The sender opens the connection and sends the data, unless a case defines
/// otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Side {
    /// The end that sends more data.
    Sender,
    /// The other end.
    Receiver,
}

impl Side {
    const BOTH: [Side; 2] = [Side::Sender, Side::Receiver];

    fn other(self) -> Side {
        match self {
            Side::Sender => Side::Receiver,
            Side::Receiver => Side::Sender,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Side::Sender { "sender" } else { "receiver" })
    }
}

/// Role of Windlass's end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Windlass sends to the kernel.
    OursSends,
    /// The kernel sends to Windlass.
    KernelSends,
}

impl Direction {
    /// Both directions.
    pub const ALL: [Direction; 2] = [Direction::OursSends, Direction::KernelSends];

    /// Returns Windlass's side.
    pub fn ours(self) -> Side {
        match self {
            Direction::OursSends => Side::Sender,
            Direction::KernelSends => Side::Receiver,
        }
    }

    /// Returns the name, such as `ours-sends`.
    pub fn name(self) -> &'static str {
        match self {
            Direction::OursSends => "ours-sends",
            Direction::KernelSends => "kernel-sends",
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Direction {
    type Err = String;

    fn from_str(text: &str) -> Result<Direction, String> {
        Direction::ALL
            .into_iter()
            .find(|direction| direction.name() == text)
            .ok_or_else(|| format!("a direction is `ours-sends` or `kernel-sends`, not `{text}`"))
    }
}
