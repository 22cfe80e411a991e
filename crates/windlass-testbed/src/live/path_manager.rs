//! The kernel's path manager of Multipath TCP, by generic netlink: which addresses open subflows.
//!
//! Numbers and layouts are those of `linux/genetlink.h` and `linux/mptcp_pm.h`.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::Ipv4Addr;

use netlink_sys::protocols::NETLINK_GENERIC;
use netlink_sys::{Socket, SocketAddr};
use nix::net::if_::if_nametoindex;

use super::error::Error;
use super::netlink::Netlink;
use super::tun;

/// Length of a netlink header, and of what generic netlink adds to it.
const HEADER: usize = 16;
const GENERIC_HEADER: usize = 4;
/// Type of an answer that is an error number or, with 0, an acknowledgement.
const ERROR: u16 = 2;
const REQUEST: u16 = 1;
const ACK: u16 = 4;
const NESTED: u16 = 1 << 15;

/// The family that knows all others, and its command and attributes.
const CONTROL: u16 = 0x10;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;

/// Commands and attributes of the path manager.
const ADD_ADDRESS: u8 = 1;
const ADDRESS: u16 = 1;
const ADDRESS_FAMILY: u16 = 1;
const ADDRESS_V4: u16 = 3;
const ADDRESS_FLAGS: u16 = 6;
/// Flag: opens a subflow of each connection of which this end is the client.
const SUBFLOW: u32 = 1 << 1;

/// What an end of Multipath TCP has besides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Multihomed {
    /// Further addresses, from each of which it opens a subflow.
    pub addresses: Vec<Ipv4Addr>,
    /// Whether it wants checksums.
    pub checksums: bool,
}

impl Multihomed {
    /// Sets a namespace up that has its device.
    pub fn set_up(&self) -> Result<(), Error> {
        fs::write("/proc/sys/net/mptcp/checksum_enabled", if self.checksums { "1" } else { "0" })
            .map_err(Error::on("setting net.mptcp.checksum_enabled"))?;
        if self.addresses.is_empty() {
            return Ok(());
        }
        let netlink = Netlink::open().map_err(Error::on("opening a netlink socket"))?;
        let device =
            if_nametoindex(tun::NAME).map_err(|e| Error::on("finding a device")(e.into()))?;
        let paths = PathManager::open().map_err(Error::on("asking for the MPTCP path manager"))?;
        for address in &self.addresses {
            netlink
                .add_address(device, *address)
                .map_err(Error::on("giving a TUN device another address"))?;
            paths.add_subflow(*address).map_err(Error::on("announcing an MPTCP endpoint"))?;
        }
        Ok(())
    }
}

/// A conversation about the network namespace in which it was opened.
pub(crate) struct PathManager {
    socket: Socket,
    family: u16,
}

impl PathManager {
    /// Opens one in the namespace of the calling thread. A kernel without Multipath TCP has none.
    pub fn open() -> io::Result<PathManager> {
        let mut socket = Socket::new(NETLINK_GENERIC)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        let name = attribute(FAMILY_NAME, b"mptcp_pm\0");
        socket.send(&request(CONTROL, GET_FAMILY, 0, &name), 0)?;
        let (answer, _) = socket.recv_from_full()?;
        check(&answer)?;
        let family = attributes(answer.get(HEADER + GENERIC_HEADER..).unwrap_or_default())
            .find(|(kind, _)| *kind == FAMILY_ID)
            .and_then(|(_, value)| value.try_into().ok())
            .ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "the family has no number"))?;
        Ok(PathManager { socket, family: u16::from_ne_bytes(family) })
    }

    /// Lets every connection open a subflow from this address.
    pub fn add_subflow(&self, address: Ipv4Addr) -> io::Result<()> {
        let inside = [
            attribute(ADDRESS_FAMILY, &(libc::AF_INET as u16).to_ne_bytes()),
            attribute(ADDRESS_V4, &address.octets()),
            attribute(ADDRESS_FLAGS, &SUBFLOW.to_ne_bytes()),
        ];
        let body = attribute(ADDRESS | NESTED, &inside.concat());
        self.socket.send(&request(self.family, ADD_ADDRESS, ACK, &body), 0)?;
        let (answer, _) = self.socket.recv_from_full()?;
        check(&answer)
    }
}

fn request(family: u16, command: u8, flags: u16, body: &[u8]) -> Vec<u8> {
    let len = (HEADER + GENERIC_HEADER + body.len()) as u32;
    let mut bytes = Vec::with_capacity(len as usize);
    bytes.extend(len.to_ne_bytes());
    bytes.extend(family.to_ne_bytes());
    bytes.extend((REQUEST | flags).to_ne_bytes());
    // Number of the request, and of the asker, which the kernel enters.
    bytes.extend([0; 8]);
    bytes.extend([command, 1, 0, 0]);
    bytes.extend(body);
    bytes
}

/// An attribute, padded to a multiple of four; its length does not count the padding.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let len = 4 + value.len();
    let mut bytes = Vec::with_capacity(len.next_multiple_of(4));
    bytes.extend((len as u16).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(len.next_multiple_of(4), 0);
    bytes
}

fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let &[a, b, c, d, ..] = bytes else { return None };
        let len = usize::from(u16::from_ne_bytes([a, b]));
        let value = bytes.get(4..len)?;
        bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or_default();
        Some((u16::from_ne_bytes([c, d]) & !NESTED, value))
    })
}

/// An answer that is an error becomes one.
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
    fn attributes_are_found_whatever_their_padding() {
        let bytes = [attribute(7, b"abc"), attribute(1 | NESTED, &[]), attribute(2, &[5; 8])];
        let bytes = bytes.concat();
        let found: Vec<_> = attributes(&bytes).collect();
        assert_eq!(found, [(7, &b"abc"[..]), (1, &[]), (2, &[5; 8])]);
        assert_eq!(attributes(&bytes[..10]).count(), 1, "cut short");
        assert_eq!(attributes(&[0; 4]).count(), 0, "a length of nothing ends it");
    }
}
