//! The kernel's path manager of Multipath TCP, by generic netlink: which addresses open subflows.
//!
//! Numbers and layouts are those of `linux/genetlink.h` and `linux/mptcp_pm.h`.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::Ipv4Addr;

use nix::net::if_::if_nametoindex;
use nix::sys::socket::SockProtocol;

use super::error::Error;
use super::netlink::{HEADER, NESTED, Netlink, Socket, attribute, attributes};
use super::tun;

/// Length of what generic netlink adds to a message's header.
const GENERIC_HEADER: usize = 4;

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
        let socket = Socket::open(SockProtocol::NetlinkGeneric)?;
        let name = attribute(FAMILY_NAME, b"mptcp_pm\0");
        let answer = socket.ask(CONTROL, 0, &of_command(GET_FAMILY, &name))?;
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
        self.socket.ask(self.family, libc::NLM_F_ACK, &of_command(ADD_ADDRESS, &body)).map(drop)
    }
}

/// What generic netlink puts before the attributes: the command, and its version.
fn of_command(command: u8, attributes: &[u8]) -> Vec<u8> {
    [&[command, 1, 0, 0], attributes].concat()
}
