//! Our endpoint against the kernel: a conformance run over real packets.
//!
//! One end of a connection is a [`windlass_tcp::Endpoint`], the other a kernel's socket in a network
//! namespace of its own; between them are the simulator's links and listed faults. A [`Case`] says what
//! both applications do and what must come of it, and is run in both [`Direction`]s. Whatever the case,
//! the bytes that an application reads are compared with those that were sent, and every segment of
//! either end is held to the rules of its connection: it stays within the window and the segment size
//! that the peer has allowed, acknowledges only what has come, has the options that were agreed on and
//! no others, and so on. In cases of Multipath TCP our end is a [`windlass_tcp::mptcp::Connection`], the
//! kernel's a socket of its own Multipath TCP, and there are two paths.

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
mod script;
mod spans;
mod trace;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use windlass_sim::addresses::FlowAddresses;

pub use cases::cases;
pub use findings::Finding;
pub use plan::Case;
pub use report::{Options, Report, run};

/// Addresses of the two ends, the sender's first, where the sender opens the connection.
fn addresses() -> FlowAddresses {
    FlowAddresses::new(0, 0, 1)
}

/// The two ends of a connection. Except in cases that say otherwise, the sender opens the connection
/// and sends the data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Side {
    /// The end that sends most.
    Sender,
    /// The other.
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

/// Which end is ours.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Ours sends to the kernel.
    OursSends,
    /// The kernel sends to ours.
    KernelSends,
}

impl Direction {
    /// Both.
    pub const ALL: [Direction; 2] = [Direction::OursSends, Direction::KernelSends];

    /// The side that is ours.
    pub fn ours(self) -> Side {
        match self {
            Direction::OursSends => Side::Sender,
            Direction::KernelSends => Side::Receiver,
        }
    }

    /// The name, such as `ours-sends`.
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
            .ok_or_else(|| format!("a direction is ours-sends or kernel-sends, not `{text}`"))
    }
}
