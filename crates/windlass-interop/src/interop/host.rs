//! What an application asks of a TCP, ours or the kernel's.

use windlass_cc::Time;
use windlass_tcp::Segment;
use windlass_tcp::mptcp::MpOption;
use windlass_tcp::wire::Packet;

use windlass_testbed::live::Error;

/// Our end: packets go in and come out.
pub(super) trait Stack: Host {
    /// When [`act`](Stack::act) is to be called next.
    fn deadline(&self) -> Time;
    /// A packet has arrived.
    fn take(&mut self, now: Time, packet: &Packet<'_>);
    /// Lets timers and the application act, and adds what is to be sent to `sent`.
    fn act(&mut self, now: Time, sent: &mut Vec<Passing>) -> Result<(), Error>;
}

/// A packet on its way, and what it means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Passing {
    /// The path of its subflow; 0 without Multipath TCP.
    pub path: u8,
    pub segment: Segment,
    /// Its option of Multipath TCP, with all bits of its numbers.
    pub option: Option<MpOption>,
    pub bytes: Vec<u8>,
}

/// One end: a stack with at most one connection at a time.
pub(super) trait Host {
    /// Awaits connections from now on.
    fn listen(&mut self) -> Result<(), Error>;
    /// Opens a connection.
    fn connect(&mut self) -> Result<(), Error>;
    /// Offers bytes to send: the test pattern, which goes on from offer to offer.
    fn offer(&mut self, bytes: u64);
    /// Closes the sending side after what was offered.
    fn close(&mut self);
    /// Drops the connection with a reset.
    fn abort(&mut self) -> Result<(), Error>;
    /// Forgets the connection without a word.
    fn vanish(&mut self) -> Result<(), Error>;
    /// Whether the application reads what comes.
    fn set_reading(&mut self, on: bool);
    /// How things stand.
    fn standing(&self) -> Standing;
}

/// How a connection stands, as its application sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Standing {
    /// Connections that have been open, this one included.
    pub opened: u32,
    /// Bytes read.
    pub received: u64,
    /// The first byte read that was not the one sent, by its offset.
    pub wrong_at: Option<u64>,
    /// The peer has closed, and all before that has been read.
    pub at_end: bool,
    /// Nothing more will happen but for TIME-WAIT.
    pub over: bool,
    /// The peer has reset it.
    pub reset: bool,
    /// It has failed for another reason than a reset.
    pub failed: Option<&'static str>,
}
