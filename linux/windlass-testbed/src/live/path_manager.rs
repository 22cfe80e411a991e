//! The kernel's path manager of Multipath TCP, by generic netlink. It determines which addresses open
//! subflows.
//!
//! The numbers and layouts are defined in `linux/genetlink.h` and `linux/mptcp_pm.h`.

use std::fs;
use std::io::{self, ErrorKind};
use std::net::Ipv4Addr;

use nix::net::if_::if_nametoindex;
use nix::sys::socket::SockProtocol;

use super::error::Error;
use super::netlink::{HEADER, NESTED, Netlink, Socket, attribute, attributes};
use super::tun;

/// Length of the header that generic netlink adds to a message's header.
const GENERIC_HEADER: usize = 4;

/// The family that describes all other families, with its command and attributes.
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
/// Flag: the address opens a subflow of each connection in which this end is the client.
const SUBFLOW: u32 = 1 << 1;

/// Additional settings of an end with Multipath TCP.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Multihomed {
    /// Additional addresses; each opens a subflow.
    pub addresses: Vec<Ipv4Addr>,
    /// True if the end requires checksums.
    pub checksums: bool,
}

impl Multihomed {
    /// Configures the calling thread's namespace, which already has its device.
    pub fn set_up(&self) -> Result<(), Error> {
        fs::write("/proc/sys/net/mptcp/checksum_enabled", if self.checksums { "1" } else { "0" })
            .map_err(Error::on("setting net.mptcp.checksum_enabled"))?;
        if self.addresses.is_empty() {
            return Ok(());
        }
        let netlink = Netlink::open().map_err(Error::on("opening a netlink socket"))?;
        let device =
            if_nametoindex(tun::NAME).map_err(|e| Error::on("finding a device")(e.into()))?;
        let paths = PathManager::open().map_err(Error::on("looking up the MPTCP path manager"))?;
        for address in &self.addresses {
            netlink
                .add_address(device, *address)
                .map_err(Error::on("adding an address to a TUN device"))?;
            paths.add_subflow(*address).map_err(Error::on("announcing an MPTCP endpoint"))?;
        }
        Ok(())
    }
}

/// A connection to the path manager of the network namespace in which it was opened.
pub(crate) struct PathManager {
    socket: Socket,
    family: u16,
}

impl PathManager {
    /// Opens a connection in the namespace of the calling thread. Fails on a kernel without Multipath TCP.
    pub fn open() -> io::Result<PathManager> {
        let socket = Socket::open(SockProtocol::NetlinkGeneric)?;
        let name = attribute(FAMILY_NAME, b"mptcp_pm\0");
        let answer = socket.ask(CONTROL, 0, &of_command(GET_FAMILY, &name))?;
        let family = attributes(answer.get(HEADER + GENERIC_HEADER..).unwrap_or_default())
            .find(|(kind, _)| *kind == FAMILY_ID)
            .and_then(|(_, value)| value.try_into().ok())
            .ok_or_else(|| {
                io::Error::new(ErrorKind::InvalidData, "the answer has no number of the family")
            })?;
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

/// Encodes the header of generic netlink (command and version), followed by the attributes.
fn of_command(command: u8, attributes: &[u8]) -> Vec<u8> {
    [&[command, 1, 0, 0], attributes].concat()
}
