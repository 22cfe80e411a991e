//! The interface of a TCP, Windlass's or the kernel's, to an application.

use windlass_cc::Time;
use windlass_tcp::Segment;
use windlass_tcp::mptcp::MpOption;
use windlass_tcp::wire::Packet;

use windlass_testbed::live::Error;

/// Windlass's end, which receives and sends packets.
pub(super) trait Stack: Host {
    /// Time of the next call of [`act`](Stack::act).
    fn deadline(&self) -> Time;
    /// Processes an arrived packet.
    fn take(&mut self, now: Time, packet: &Packet<'_>);
    /// Runs the timers and the application, and adds the packets to send to `sent`.
    fn act(&mut self, now: Time, sent: &mut Vec<Passing>) -> Result<(), Error>;
}

/// A packet in transit, with its parsed contents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Passing {
    /// Path of its subflow; 0 without Multipath TCP.
    pub path: u8,
    pub segment: Segment,
    /// Its option of Multipath TCP, with the full sequence numbers.
    pub option: Option<MpOption>,
    pub bytes: Vec<u8>,
}

/// One end: a stack with at most one connection at a time.
pub(super) trait Host {
    /// Starts to accept connections.
    fn listen(&mut self) -> Result<(), Error>;
    /// Opens a connection.
    fn connect(&mut self) -> Result<(), Error>;
    /// Offers bytes to send. The bytes are the test pattern, which continues from offer to offer.
    fn offer(&mut self, bytes: u64);
    /// Closes the sending side after the offered bytes.
    fn close(&mut self);
    /// Drops the connection with a reset.
    fn abort(&mut self) -> Result<(), Error>;
    /// Deletes the connection without sending a packet.
    fn vanish(&mut self) -> Result<(), Error>;
    /// Sets whether the application reads arriving data.
    fn set_reading(&mut self, on: bool);
    /// Returns the state of the connection.
    fn standing(&self) -> Standing;
}

/// State of a connection as its application sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Standing {
    /// Number of connections that have been open, including this connection.
    pub opened: u32,
    /// Bytes read.
    pub received: u64,
    /// Offset of the first byte read that differs from the byte sent.
    pub wrong_at: Option<u64>,
    /// True if the peer has closed, and everything before that has been read.
    pub at_end: bool,
    /// True if the connection is over except for TIME-WAIT.
    pub over: bool,
    /// True if the peer has reset the connection.
    pub reset: bool,
    /// Reason of a failure other than a reset.
    pub failed: Option<&'static str>,
}
