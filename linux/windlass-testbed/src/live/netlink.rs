//! Devices, addresses and routes by netlink, without an external program.
//!
//! The layouts are defined in `linux/netlink.h` and `linux/rtnetlink.h`, in the machine's byte order.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, connect, recv, send,
    socket,
};

/// Length of a message header.
pub(super) const HEADER: usize = 16;
/// Type of an answer that contains an error number or, with 0, an acknowledgement.
const ERROR: u16 = libc::NLMSG_ERROR as u16;
/// Flag of an attribute that contains attributes.
pub(super) const NESTED: u16 = 1 << 15;
/// Maximum length of an answer. An answer quotes the request or describes a family, which takes some
/// kilobytes.
const LONGEST_ANSWER: usize = 1 << 16;

/// Settings of a device.
#[derive(Clone, Copy, Debug)]
pub enum LinkAttribute {
    /// Largest packet, bytes.
    Mtu(u32),
    /// Maximum number of queued packets.
    TxQueueLen(u32),
    /// Maximum number of segments per packet.
    GsoMaxSegs(u32),
}

/// A metric of a route, numbered as in `RTAX_*`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RouteMetric {
    /// Bits of the metrics that connections may not change.
    Lock(u32),
    /// Initial congestion window, segments.
    InitCwnd(u32),
    /// Minimum RTO, milliseconds.
    RtoMin(u32),
    /// 1 if every segment is acknowledged immediately.
    QuickAck(u32),
}

/// A netlink connection for the network namespace in which it was opened.
pub struct Netlink {
    socket: Socket,
}

impl Netlink {
    /// Opens a connection in the namespace of the calling thread.
    pub fn open() -> io::Result<Netlink> {
        Ok(Netlink { socket: Socket::open(SockProtocol::NetlinkRoute)? })
    }

    /// Sets attributes of the device with this index and brings it up.
    pub fn bring_up(&self, index: u32, attributes: &[LinkAttribute]) -> io::Result<()> {
        let up = (libc::IFF_UP as u32).to_ne_bytes();
        // struct ifinfomsg: family and type of the device, its index, flags, and the mask of changed flags.
        let mut body = [&[0; 4][..], &index.to_ne_bytes(), &up, &up].concat();
        for attribute in attributes {
            let (kind, value) = match *attribute {
                LinkAttribute::Mtu(value) => (libc::IFLA_MTU, value),
                LinkAttribute::TxQueueLen(value) => (libc::IFLA_TXQLEN, value),
                LinkAttribute::GsoMaxSegs(value) => (libc::IFLA_GSO_MAX_SEGS, value),
            };
            body.extend(self::attribute(kind, &value.to_ne_bytes()));
        }
        self.request(libc::RTM_SETLINK, 0, &body)
    }

    /// Removes the queueing discipline of a device. The default discipline depends on the machine, and one
    /// such as `fq` would pace packets.
    pub fn remove_queue(&self, index: u32) -> io::Result<()> {
        let head = traffic_message(index, 0, ROOT);
        let body = [head, attribute(libc::TCA_KIND, b"noqueue\0")].concat();
        self.request(libc::RTM_NEWQDISC, libc::NLM_F_CREATE | libc::NLM_F_REPLACE, &body)
    }

    /// Adds a queueing discipline to a device: `kind` is its name, and `options` are its encoded options. `parent` and
    /// `handle` are a class and the discipline, with the major number in the upper half; the parent [`ROOT`] is the device.
    pub fn add_discipline(
        &self,
        index: u32,
        parent: u32,
        handle: u32,
        kind: &str,
        options: Option<&[u8]>,
    ) -> io::Result<()> {
        let mut body = traffic_message(index, handle, parent);
        body.extend(attribute(libc::TCA_KIND, &[kind.as_bytes(), b"\0"].concat()));
        if let Some(options) = options {
            body.extend(attribute(libc::TCA_OPTIONS, options));
        }
        self.request(libc::RTM_NEWQDISC, libc::NLM_F_CREATE | libc::NLM_F_EXCL, &body)
    }

    /// Returns the figures of the queueing discipline with this parent: the attributes of the kernel's answer, as type and value.
    pub fn discipline(&self, index: u32, parent: u32) -> io::Result<Vec<(u16, Vec<u8>)>> {
        // struct tcmsg precedes the attributes.
        const HEAD: usize = HEADER + 20;
        let body = traffic_message(index, 0, parent);
        // The kernel answers such a request to the listeners of a group. The flag includes the requester.
        let answer = self.socket.ask(libc::RTM_GETQDISC, libc::NLM_F_ECHO, &body)?;
        let figures = attributes(answer.get(HEAD..).unwrap_or_default());
        Ok(figures.map(|(kind, value)| (kind, value.to_vec())).collect())
    }

    /// Adds a pair of Ethernet devices that are joined: `ours` in this namespace, and `theirs` in another.
    pub fn add_pair(&self, ours: &str, theirs: &str, namespace: BorrowedFd<'_>) -> io::Result<()> {
        const PEER: u16 = 1;
        let name = |name: &str| attribute(libc::IFLA_IFNAME, &[name.as_bytes(), b"\0"].concat());
        let place = (namespace.as_raw_fd() as u32).to_ne_bytes();
        // struct ifinfomsg precedes the attributes of each device.
        let peer = [&[0; 16][..], &name(theirs), &attribute(libc::IFLA_NET_NS_FD, &place)].concat();
        let data = attribute(libc::IFLA_INFO_DATA | NESTED, &attribute(PEER | NESTED, &peer));
        let info = [attribute(libc::IFLA_INFO_KIND, b"veth"), data].concat();
        let info = attribute(libc::IFLA_LINKINFO | NESTED, &info);
        let body = [&[0; 16][..], &name(ours), &info].concat();
        self.request(libc::RTM_NEWLINK, libc::NLM_F_CREATE | libc::NLM_F_EXCL, &body)
    }

    /// Gives a device an address with a prefix of 32 bits.
    pub fn add_address(&self, index: u32, address: Ipv4Addr) -> io::Result<()> {
        // struct ifaddrmsg: family, length of the prefix, flags, scope, index of the device.
        let head = [&[libc::AF_INET as u8, 32, 0, 0][..], &index.to_ne_bytes()].concat();
        let address = address.octets();
        let attributes = [libc::IFA_LOCAL, libc::IFA_ADDRESS].map(|kind| attribute(kind, &address));
        let body = [head, attributes.concat()].concat();
        self.request(libc::RTM_NEWADDR, libc::NLM_F_CREATE | libc::NLM_F_EXCL, &body)
    }

    /// Adds a default route through a device, with these metrics.
    pub fn add_default_route(&self, index: u32, metrics: &[RouteMetric]) -> io::Result<()> {
        let metric = |metric: &RouteMetric| {
            let (kind, value) = match *metric {
                RouteMetric::Lock(value) => (1, value),
                RouteMetric::InitCwnd(value) => (11, value),
                RouteMetric::RtoMin(value) => (13, value),
                RouteMetric::QuickAck(value) => (15, value),
            };
            attribute(kind, &value.to_ne_bytes())
        };
        let metrics: Vec<u8> = metrics.iter().flat_map(metric).collect();
        // struct rtmsg: family, lengths of the prefixes, type of service, table, origin of the route, scope,
        // type, flags.
        let head = [
            &[libc::AF_INET as u8, 0, 0, 0, libc::RT_TABLE_MAIN][..],
            &[libc::RTPROT_STATIC, libc::RT_SCOPE_LINK, libc::RTN_UNICAST, 0, 0, 0, 0],
        ];
        let to = attribute(libc::RTA_OIF, &index.to_ne_bytes());
        let body = [head.concat(), to, attribute(libc::RTA_METRICS | NESTED, &metrics)].concat();
        self.request(libc::RTM_NEWROUTE, libc::NLM_F_CREATE | libc::NLM_F_EXCL, &body)
    }

    /// Adds a route to one address, through a device.
    pub fn add_route(&self, index: u32, to: Ipv4Addr) -> io::Result<()> {
        // struct rtmsg, as in `add_default_route`, with a destination of 32 bits.
        let head = [
            &[libc::AF_INET as u8, 32, 0, 0, libc::RT_TABLE_MAIN][..],
            &[libc::RTPROT_STATIC, libc::RT_SCOPE_LINK, libc::RTN_UNICAST, 0, 0, 0, 0],
        ];
        let attributes = [
            attribute(libc::RTA_DST, &to.octets()),
            attribute(libc::RTA_OIF, &index.to_ne_bytes()),
        ];
        let body = [head.concat(), attributes.concat()].concat();
        self.request(libc::RTM_NEWROUTE, libc::NLM_F_CREATE | libc::NLM_F_EXCL, &body)
    }

    fn request(&self, kind: u16, flags: i32, body: &[u8]) -> io::Result<()> {
        self.socket.ask(kind, libc::NLM_F_ACK | flags, body).map(drop)
    }
}

/// A netlink socket, connected to the kernel.
pub(super) struct Socket(OwnedFd);

impl Socket {
    pub(super) fn open(protocol: SockProtocol) -> io::Result<Socket> {
        let descriptor =
            socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?;
        connect(descriptor.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
        Ok(Socket(descriptor))
    }

    /// Sends a request and waits for the kernel's answer. Returns an error if the answer contains one.
    pub(super) fn ask(&self, kind: u16, flags: i32, body: &[u8]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        bytes.extend(((HEADER + body.len()) as u32).to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(((libc::NLM_F_REQUEST | flags) as u16).to_ne_bytes());
        // Sequence number and sender's port, which the kernel fills in.
        bytes.extend([0; 8]);
        bytes.extend(body);
        send(self.0.as_raw_fd(), &bytes, MsgFlags::empty())?;
        let mut answer = vec![0; LONGEST_ANSWER];
        let length = recv(self.0.as_raw_fd(), &mut answer, MsgFlags::empty())?;
        answer.truncate(length);
        check(&answer)?;
        Ok(answer)
    }
}

/// Parent of a device's own queueing discipline.
pub const ROOT: u32 = u32::MAX;

/// struct tcmsg: family, index of the device, handle, parent, info.
fn traffic_message(index: u32, handle: u32, parent: u32) -> Vec<u8> {
    let numbers = [index, handle, parent, 0].map(u32::to_ne_bytes).concat();
    [&[0; 4][..], &numbers].concat()
}

/// Encodes an attribute, padded to a multiple of four bytes. Its length field excludes the padding.
pub fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let len = 4 + value.len();
    let mut bytes = Vec::with_capacity(len.next_multiple_of(4));
    bytes.extend((len as u16).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(len.next_multiple_of(4), 0);
    bytes
}

/// Iterates over a sequence of attributes.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let &[a, b, c, d, ..] = bytes else { return None };
        let len = usize::from(u16::from_ne_bytes([a, b]));
        let value = bytes.get(4..len)?;
        bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
        Some((u16::from_ne_bytes([c, d]) & !NESTED, value))
    })
}

fn check(answer: &[u8]) -> io::Result<()> {
    let word = |at: usize| answer.get(at..at + 2).map(|b| u16::from_ne_bytes([b[0], b[1]]));
    if word(4) != Some(ERROR) {
        return Ok(());
    }
    let code = answer.get(HEADER..HEADER + 4).and_then(|b| b.try_into().ok());
    match code.map_or(0, i32::from_ne_bytes) {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(-code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_with_any_padding() {
        let bytes = [attribute(7, b"abc"), attribute(1 | NESTED, &[]), attribute(2, &[5; 8])];
        let bytes = bytes.concat();
        let found: Vec<_> = attributes(&bytes).collect();
        assert_eq!(found, [(7, &b"abc"[..]), (1, &[]), (2, &[5; 8])]);
        assert_eq!(attributes(&bytes[..10]).count(), 1, "cut short");
        assert_eq!(attributes(&[0; 4]).count(), 0, "a zero length ends the sequence");
    }

    #[test]
    fn error_answer_becomes_an_error() {
        let answer =
            |code: i32| [&[0; 4][..], &ERROR.to_ne_bytes(), &[0; 10], &code.to_ne_bytes()].concat();
        assert!(check(&answer(0)).is_ok());
        let refused = check(&answer(-libc::EPERM)).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EPERM));
    }
}
