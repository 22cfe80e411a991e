//! Sockets of the ends of flows, configured according to their stacks.

use std::net::SocketAddrV4;

use nix::sys::socket::setsockopt;
use nix::sys::socket::sockopt::{RcvBuf, RcvBufForce};
use socket2::{Domain, Protocol, Socket, Type};
use windlass_sim::addresses::FlowAddresses;

use super::algorithm;
use super::error::Error;
use super::settings::Settings;
use super::sys;

/// Receive buffer for datagrams, larger than any queue of the network.
const DATAGRAM_BUFFER: usize = 32 << 20;
/// Rate limit that enables the kernel's own pacing, at the rate that the kernel computes. Any limit below the
/// maximum value does this.
const NO_LIMIT: u64 = u64::MAX - 1;

/// Purpose of a host's socket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Opens a connection.
    Connect,
    /// Waits for a connection.
    Listen,
    /// Sends datagrams or receives them.
    Datagrams,
}

/// Returns the local and remote address of a host.
pub(crate) fn ends(addresses: &FlowAddresses, host: u32) -> (SocketAddrV4, SocketAddrV4) {
    if host.is_multiple_of(2) {
        (addresses.from, addresses.to)
    } else {
        (addresses.to, addresses.from)
    }
}

/// Requirements of a socket.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Name of the flow.
    pub flow: &'a str,
    /// Purpose of the socket.
    pub purpose: Purpose,
    /// The kernel's name of the algorithm.
    pub algorithm: Option<&'a str>,
    /// Settings of the stack.
    pub settings: &'a Settings,
    /// Local and remote address.
    pub ends: (SocketAddrV4, SocketAddrV4),
    /// True for Multipath TCP.
    pub multipath: bool,
}

impl Wanted<'_> {
    /// Opens and binds the socket in the calling thread's namespace. All sockets except connecting ones are
    /// then ready.
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
            // If the machine's limit may not be exceeded, use the allowed maximum.
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

    /// Sets TCP's options before the connection is opened. Connections inherit the options of their listener.
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
        // A multipath socket does not accept a segment size (before 6.17); the device's MTU determines it.
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
