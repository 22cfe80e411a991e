//! Traces of datagrams: send times, and arrival times at the receiver's kernel.

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

/// Length of the number at the beginning of a traced datagram, bytes.
pub(crate) const NUMBER: usize = 8;
/// Maximum number of datagrams for which memory is reserved in advance.
const MOST_ROOM: u64 = 1 << 20;

/// Send and arrival times of the datagrams of a flow ([`Traffic::CbrUdp`](windlass_sim::config::Traffic))
/// during the run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// Times at which the sending application passed each datagram to its kernel, ordered by the datagrams'
    /// numbers from 0. Datagrams that the kernel refused have no number.
    pub sent: Vec<Time>,
    /// Datagrams that arrived at the receiver's kernel, in order of arrival.
    pub arrived: Vec<Arrival>,
}

/// A datagram that arrived at the receiver's kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Number of the datagram.
    pub number: u64,
    /// Time at which the kernel took the datagram from the device, before it woke any application.
    pub time: Time,
}

/// Reserves memory for the datagrams of a flow that starts at `start`, up to a maximum. A list that grows
/// during the run would delay the events that it measures.
pub(crate) fn room<T>(cbr: Cbr, start: Time) -> Vec<T> {
    let datagrams = cbr.stop.since(start).0.div_ceil(cbr.interval.0.max(1));
    Vec::with_capacity(datagrams.min(MOST_ROOM) as usize)
}

/// Makes the kernel record the arrival time of each datagram (`SO_TIMESTAMPNS`, socket(7)).
pub(crate) fn stamp_arrivals(socket: &Socket) -> Result<(), Error> {
    setsockopt(socket, sockopt::ReceiveTimestampns, &true)
        .map_err(|e| Error::on("setting SO_TIMESTAMPNS")(e.into()))
}

/// Returns the length of the next datagram, and its arrival if it has a number and the kernel's timestamp.
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
