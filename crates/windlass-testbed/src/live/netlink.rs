//! Devices, addresses and routes by netlink, so that no external program is needed.

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkMessage};
use netlink_packet_route::route::{
    RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol, RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};

/// A conversation with the kernel about the network namespace in which it was opened.
pub struct Netlink {
    socket: Socket,
}

impl Netlink {
    /// Opens one in the namespace of the calling thread.
    pub fn open() -> io::Result<Netlink> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Netlink { socket })
    }

    /// Sets attributes of the device with this index and brings it up.
    pub fn bring_up(&self, index: u32, attributes: Vec<LinkAttribute>) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        message.attributes = attributes;
        self.request(RouteNetlinkMessage::SetLink(message), 0)
    }

    /// Gives a device an address, all 32 bits of which are the host's.
    pub fn add_address(&self, index: u32, address: Ipv4Addr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = 32;
        message.header.index = index;
        let address = IpAddr::V4(address);
        message.attributes =
            vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
        self.request(RouteNetlinkMessage::NewAddress(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Sends everything to a device, with these metrics.
    pub fn add_default_route(&self, index: u32, metrics: Vec<RouteMetric>) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = RouteScope::Link;
        message.header.kind = RouteType::Unicast;
        message.attributes = vec![RouteAttribute::Oif(index), RouteAttribute::Metrics(metrics)];
        self.request(RouteNetlinkMessage::NewRoute(message), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Sends a request and waits for the kernel's answer to it.
    fn request(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        let mut request = NetlinkMessage::from(message);
        request.header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.socket.send(&bytes, 0)?;
        let (answer, _) = self.socket.recv_from_full()?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer)
            .map_err(|e| io::Error::other(e.to_string()))?;
        match answer.payload {
            NetlinkPayload::Error(e) if e.code.is_some() => Err(e.to_io()),
            NetlinkPayload::Error(_) => Ok(()),
            other => Err(io::Error::other(format!("netlink answered {other:?}"))),
        }
    }
}
