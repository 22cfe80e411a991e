//! A case: one connection with everything that happens to it.

use serde::{Deserialize, Serialize};
use windlass_cc::AnyParams;
use windlass_tcp::InitialWindow;

use crate::script::Settings;

/// One connection of the stack under test: its settings, its application, its path and its peer.
///
/// Everything is a list or a number, so that a smaller case is one with shorter lists. Times are
/// milliseconds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Case {
    /// The seed from which the case was drawn.
    pub seed: u64,
    /// Settings of the stack.
    pub options: Options,
    /// True if the stack opens the connection. Otherwise it listens.
    pub active: bool,
    /// Time from the departure of a segment to its arrival at the peer. Segments of the peer take
    /// no time, so this is the round-trip time.
    pub rtt: u32,
    /// Minimum time between two arrivals at the peer, as on a slow link.
    pub spacing: u32,
    /// How many of the stack's first SYNs or SYN-ACKs are lost.
    pub lost_syns: u32,
    /// Acts of the application once the connection is established.
    pub acts: Vec<Act>,
    /// True if the application reads data as soon as they have arrived.
    pub reads_at_once: bool,
    /// Answers of the application: total number of bytes read, number of bytes that it then writes.
    pub answers: Vec<(u32, u32)>,
    /// The peer as a receiver.
    pub receiver: Receiver,
    /// Fates of the stack's data segments, by their number from 0.
    pub fates: Vec<(u32, Fate)>,
    /// Fates of the peer's acknowledgements, by their number from 0. Only losses and delays count.
    pub ack_fates: Vec<(u32, Fate)>,
    /// Data of the peer.
    pub sends: Vec<Send>,
    /// When the peer sends its FIN, after the last of its data.
    pub fin: Option<u32>,
}

/// Settings of the stack under test that cases vary.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Options {
    /// Congestion control.
    pub algorithm: String,
    /// Selective acknowledgements.
    pub sack: bool,
    /// Timestamps.
    pub timestamps: bool,
    /// Explicit congestion notification.
    pub ecn: bool,
    /// Nagle's algorithm.
    pub nagle: bool,
    /// Window scaling.
    pub window_scaling: bool,
    /// Initial window, segments.
    pub initial_window: u32,
    /// Maximum segment size that the peer announces, bytes.
    pub mss: u16,
}

/// An act of the application and its delay.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Act {
    /// Milliseconds after the act before, or after the handshake.
    pub after: u32,
    /// The act.
    pub deed: Deed,
}

/// An act of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Deed {
    /// Opens the connection passively.
    Listen,
    /// Opens the connection actively.
    Connect,
    /// Writes this number of bytes.
    Write(u32),
    /// Reads all that has arrived.
    Read,
    /// Closes the sending direction.
    Shutdown,
    /// Closes both directions.
    Close,
}

/// How the peer receives.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Receiver {
    /// Number of segments in order that one acknowledgement covers.
    pub every: u32,
    /// It acknowledges a segment after this time at the latest.
    pub delay: u32,
    /// Its window, bytes; a multiple of 1024.
    pub window: u32,
    /// True if the peer reports duplicates (RFC 2883).
    pub dsack: bool,
    /// Times in which the application does not read: number of the acknowledgement at which the time
    /// begins, length in milliseconds.
    pub stalls: Vec<(u32, u32)>,
}

/// The fate of a segment on the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Fate {
    /// Loses it.
    Lose,
    /// Delays it by this many milliseconds; others overtake it.
    Late(u32),
    /// Delivers it a second time after this many milliseconds.
    Twice(u32),
    /// Marks it (CE) if the stack has declared it capable of that.
    Mark,
}

/// A segment of the peer with data.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Send {
    /// Milliseconds after the one before, or after the handshake.
    pub after: u32,
    /// Place of its first byte in the peer's stream, from 0.
    pub at: u32,
    /// Bytes.
    pub len: u32,
    /// True if the path has marked the segment.
    pub marked: bool,
}

impl Options {
    /// The simplest options. A shrunk case has them where they do not matter. Nagle's algorithm is off:
    /// a rule that delays segments would bring other differences into a case that is made simpler.
    pub fn plain() -> Options {
        Options {
            algorithm: "reno".to_owned(),
            sack: true,
            timestamps: false,
            ecn: false,
            nagle: false,
            window_scaling: false,
            initial_window: 10,
            mss: 1_000,
        }
    }

    /// Returns the options as settings of a script.
    ///
    /// # Errors
    ///
    /// Returns an error if the algorithm is unknown.
    pub fn settings(&self) -> Result<Settings, String> {
        let mut settings = Settings::new();
        let named = AnyParams::by_name(&self.algorithm);
        let algorithm =
            named.ok_or_else(|| format!("no algorithm is called {}", self.algorithm))?;
        settings.algorithm = algorithm;
        let stack = &mut settings.stack;
        stack.sack = self.sack;
        stack.timestamps = self.timestamps;
        stack.ecn = self.ecn.into();
        stack.nagle = self.nagle;
        stack.window_scaling = self.window_scaling;
        stack.initial_window = InitialWindow::Segments(self.initial_window);
        Ok(settings)
    }

    /// Returns the options as a line of a script, without the defaults.
    pub(super) fn line(&self) -> String {
        let on = |yes: bool| if yes { "on" } else { "off" };
        let mut parts = vec![
            format!("timestamps = {}", on(self.timestamps)),
            format!("window_scaling = {}", on(self.window_scaling)),
        ];
        for (name, value, default) in
            [("sack", self.sack, true), ("ecn", self.ecn, false), ("nagle", self.nagle, true)]
        {
            if value != default {
                parts.push(format!("{name} = {}", on(value)));
            }
        }
        if self.algorithm != "reno" {
            parts.push(format!("algorithm = {}", self.algorithm));
        }
        if self.initial_window != 10 {
            parts.push(format!("initial_window = {}", self.initial_window));
        }
        format!("set    {}", parts.join(", "))
    }
}
