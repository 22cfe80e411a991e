//! Traces of datagrams: when each was sent, and when it came to the kernel at the other end.

use std::io::IoSliceMut;
use std::os::fd::AsRawFd;
use std::time::Duration;

use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrIn, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use socket2::Socket;
use windlass_cc::Time;
use windlass_sim::config::Cbr;

use super::clock::Clock;
use super::error::Error;

/// Bytes of the number that a datagram of a trace begins with.
pub(crate) const NUMBER: usize = 8;
/// Datagrams for which there is room from the beginning, at most.
const MOST_ROOM: u64 = 1 << 20;

/// What became of the datagrams of a flow ([`Traffic::CbrUdp`](windlass_sim::config::Traffic)), in
/// the time of the run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// When the sending application handed each datagram to its kernel, in the order of their
    /// numbers from 0. Those that the kernel refused have none.
    pub sent: Vec<Time>,
    /// What came to the receiver's kernel, in the order of its coming.
    pub arrived: Vec<Arrival>,
}

/// A datagram that has come to the receiver's kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Its number.
    pub number: u64,
    /// When the kernel took it from the device, before any application was told.
    pub time: Time,
}

/// Room for the datagrams of a flow that starts at `start`, as far as it is worth having at once: a list
/// that grows while it is in use holds up what it is to measure.
pub(crate) fn room<T>(cbr: Cbr, start: Time) -> Vec<T> {
    let datagrams = cbr.stop.since(start).0.div_ceil(cbr.interval.0.max(1));
    Vec::with_capacity(datagrams.min(MOST_ROOM) as usize)
}

/// Asks the kernel for the moment at which each datagram came (`SO_TIMESTAMPNS`, socket(7)).
pub(crate) fn stamp_arrivals(socket: &Socket) -> Result<(), Error> {
    setsockopt(socket, sockopt::ReceiveTimestampns, &true)
        .map_err(|e| Error::on("setting SO_TIMESTAMPNS")(e.into()))
}

/// The next datagram: its length, and its arrival if it has a number and the kernel's stamp.
pub(crate) fn receive(socket: &Socket, clock: &Clock) -> Option<(u64, Option<Arrival>)> {
    let mut number = [0; NUMBER];
    let mut room = [IoSliceMut::new(&mut number)];
    let mut control = nix::cmsg_space!(TimeSpec);
    // With MSG_TRUNC a datagram's true length is returned (udp(7)).
    let flags = MsgFlags::MSG_TRUNC | MsgFlags::MSG_DONTWAIT;
    let message =
        recvmsg::<SockaddrIn>(socket.as_raw_fd(), &mut room, Some(&mut control), flags).ok()?;
    let stamp = message.cmsgs().ok()?.find_map(|message| match message {
        ControlMessageOwned::ScmTimestampns(time) => Some(Duration::from(time)),
        _ => None,
    });
    let len = message.bytes;
    let time = stamp.filter(|_| len >= NUMBER).map(|stamp| clock.at(stamp));
    let arrival = time.map(|time| Arrival { number: u64::from_be_bytes(number), time });
    Some((len as u64, arrival))
}
