//! Sockets of the ends of flows, set up as their stacks say.

use std::net::SocketAddrV4;

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce};
use socket2::{Domain, Protocol, Socket, Type};
use windlass_sim::addresses::FlowAddresses;

use super::algorithm;
use super::error::Error;
use super::settings::Settings;
use super::sys;

/// Where datagrams wait to be read: more than any queue of the network holds.
const DATAGRAM_BUFFER: usize = 32 << 20;
/// Any limit but the greatest number turns on the kernel's own pacing, at the rate that it works out.
const NO_LIMIT: u64 = u64::MAX - 1;

/// What the socket of a host is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Opens a connection.
    Connect,
    /// Awaits one.
    Listen,
    /// Sends datagrams or receives them.
    Datagrams,
}

/// Local and remote address of a host.
pub(crate) fn ends(addresses: &FlowAddresses, host: u32) -> (SocketAddrV4, SocketAddrV4) {
    if host.is_multiple_of(2) {
        (addresses.from, addresses.to)
    } else {
        (addresses.to, addresses.from)
    }
}

/// Who wants a socket, and how it is to be.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Name of the flow.
    pub flow: &'a str,
    /// What for.
    pub purpose: Purpose,
    /// The kernel's name of the algorithm.
    pub algorithm: Option<&'a str>,
    /// The stack.
    pub settings: &'a Settings,
    /// Local and remote address.
    pub ends: (SocketAddrV4, SocketAddrV4),
    /// Whether TCP is to be Multipath TCP.
    pub multipath: bool,
}

impl Wanted<'_> {
    /// Opens the socket in the calling thread's namespace, bound and, unless it is to connect, ready.
    pub fn open(&self) -> Result<Socket, Error> {
        let on = |what: &str| Error::on(format!("flow \"{}\": {what}", self.flow));
        let datagrams = self.purpose == Purpose::Datagrams;
        let (kind, protocol) = match (datagrams, self.multipath) {
            (true, _) => (Type::DGRAM, Protocol::UDP),
            (false, false) => (Type::STREAM, Protocol::TCP),
            (false, true) => (Type::STREAM, Protocol::MPTCP),
        };
        let socket = Socket::new(Domain::IPV4, kind.nonblocking(), Some(protocol))
            .map_err(on("opening a socket"))?;
        if datagrams {
            // Where the machine's limit may not be exceeded, as much as it allows.
            setsockopt(&socket, RcvBufForce, &DATAGRAM_BUFFER)
                .or_else(|_| setsockopt(&socket, RcvBuf, &DATAGRAM_BUFFER))
                .map_err(|e| on("setting SO_RCVBUF")(e.into()))?;
        } else {
            self.set_up(&socket)?;
        }
        let (local, remote) = self.ends;
        socket.bind(&local.into()).map_err(on("binding a socket"))?;
        match self.purpose {
            Purpose::Connect => {}
            Purpose::Listen => socket.listen(1).map_err(on("listening"))?,
            Purpose::Datagrams => {
                socket.connect(&remote.into()).map_err(on("connecting a socket"))?;
            }
        }
        Ok(socket)
    }

    /// Options of TCP, all before the connection is opened: what a listener has, its connections get.
    fn set_up(&self, socket: &Socket) -> Result<(), Error> {
        let on = |what: &str| Error::on(format!("flow \"{}\": setting {what}", self.flow));
        if let Some(name) = self.algorithm {
            socket.set_tcp_congestion(name.as_bytes()).map_err(|e| match e.raw_os_error() {
                Some(libc::ENOENT) => Error::Unavailable {
                    flow: self.flow.to_string(),
                    name: name.to_string(),
                    offered: algorithm::offered(),
                },
                _ => on("TCP_CONGESTION")(e),
            })?;
        }
        // A multipath socket takes no segment size (before 6.17); the device's MTU decides.
        if let Some(mss) = self.settings.mss.filter(|_| !self.multipath) {
            socket.set_tcp_mss(mss).map_err(on("TCP_MAXSEG"))?;
        }
        if let Some(bytes) = self.settings.receive_buffer {
            socket.set_recv_buffer_size(bytes).map_err(on("SO_RCVBUF"))?;
        }
        if self.settings.paced {
            sys::set_max_pacing_rate(socket, NO_LIMIT).map_err(on("SO_MAX_PACING_RATE"))?;
        }
        socket.set_tcp_nodelay(self.settings.no_delay).map_err(on("TCP_NODELAY"))
    }
}
