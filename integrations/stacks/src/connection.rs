//! The interface of a stack for an application and for a packet script: one TCP connection that
//! exchanges packets.

use windlass_cc::{Span, Time};
use windlass_sim::external::PacketEnd;
use windlass_tcp::State;

/// A TCP connection without an application. [`PacketEnd::transmit`] fetches its packets.
pub trait Connection: PacketEnd {
    /// Resolution of its timers.
    fn tick(&self) -> Span;

    /// Begins an active open.
    ///
    /// # Errors
    ///
    /// The reason of the failure, in one sentence.
    fn connect(&mut self, now: Time) -> Result<(), String>;

    /// Begins a passive open.
    ///
    /// # Errors
    ///
    /// The reason of the failure, in one sentence.
    fn listen(&mut self, now: Time) -> Result<(), String>;

    /// Writes as many of these bytes as the buffer has space for, and returns their number.
    fn write(&mut self, now: Time, bytes: &[u8]) -> usize;

    /// Reads the available data that fits, and returns its length.
    fn read(&mut self, now: Time, room: &mut [u8]) -> usize;

    /// Closes the sending direction: no more data will be written.
    fn shutdown(&mut self, now: Time);

    /// Closes both directions: no more data will be written or read.
    fn close(&mut self, now: Time);

    /// Resets the connection.
    fn abort(&mut self, now: Time);

    /// Its state.
    fn state(&mut self) -> State;

    /// Number of readable bytes.
    fn readable(&mut self) -> usize;

    /// True if the peer has closed, and all data was read.
    fn at_end(&mut self) -> bool;
}
