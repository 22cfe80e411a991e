//! What an application and a packet script want of a stack: one TCP connection that speaks packets.

use windlass_cc::{Span, Time};
use windlass_sim::external::PacketEnd;
use windlass_tcp::State;

/// A TCP connection without an application. What it sends is fetched by [`PacketEnd::transmit`].
pub trait Connection: PacketEnd {
    /// What its timers are whole multiples of.
    fn tick(&self) -> Span;

    /// Begins to open it.
    ///
    /// # Errors
    ///
    /// It cannot: why, in one sentence.
    fn connect(&mut self, now: Time) -> Result<(), String>;

    /// Waits for the peer to open it.
    ///
    /// # Errors
    ///
    /// It cannot: why, in one sentence.
    fn listen(&mut self, now: Time) -> Result<(), String>;

    /// Takes of these bytes as many as it has room for, and says how many.
    fn write(&mut self, now: Time, bytes: &[u8]) -> usize;

    /// Gives what has come, as much as there is and fits, and says how much.
    fn read(&mut self, now: Time, room: &mut [u8]) -> usize;

    /// Nothing more will be written.
    fn shutdown(&mut self, now: Time);

    /// Nothing more will be written or read.
    fn close(&mut self, now: Time);

    /// Resets it.
    fn abort(&mut self, now: Time);

    /// Where it stands.
    fn state(&mut self) -> State;

    /// Bytes that can be read.
    fn readable(&mut self) -> usize;

    /// Whether the peer has closed and everything was read.
    fn at_end(&mut self) -> bool;
}
