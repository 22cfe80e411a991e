//! TUN devices. A device is the exit of a network namespace; its other end is a descriptor of this process.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::net::if_::if_nametoindex;

use super::error::Error;
use super::namespace::Namespace;
use super::netlink::{LinkAttribute, Netlink, RouteMetric};

/// Name of the device. Each device has its own namespace.
pub(crate) const NAME: &str = "tun0";
/// Packets that may wait to be read. A TUN device gives no back-pressure: excess packets are lost outside the
/// link model.
const QUEUE: u32 = 10_000;

/// Settings of a TUN device.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Address of the namespace.
    pub address: Ipv4Addr,
    /// Largest IP packet, bytes: 68 to 65535.
    pub mtu: u32,
    /// Metrics of the default route, which uses this device.
    pub metrics: Vec<RouteMetric>,
}

/// A layer-3 TUN device, the only exit of its namespace. Dropping this removes the device.
#[derive(Debug)]
pub struct Tun {
    file: File,
}

impl Tun {
    /// Creates the device in a namespace and gives it an address and the default route. Disables IPv6, which
    /// would send packets by itself, and segmentation offload, which would send pieces larger than a packet.
    ///
    /// # Errors
    ///
    /// Returns an error that names the step that the kernel refused.
    pub fn new(namespace: &Namespace, settings: &Settings) -> Result<Tun, Error> {
        namespace.enter(|| Tun::open_here(settings))
    }

    fn open_here(settings: &Settings) -> Result<Tun, Error> {
        disable_ipv6().map_err(Error::on("turning IPv6 off"))?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")
            .map_err(Error::on("opening /dev/net/tun"))?;
        super::sys::attach_tun(&file, NAME).map_err(Error::on("creating a TUN device"))?;
        let netlink = Netlink::open().map_err(Error::on("opening a netlink socket"))?;
        let index =
            |name| if_nametoindex(name).map_err(|e| Error::on("finding a device")(e.into()));
        let lo = index("lo")?;
        netlink.bring_up(lo, &[]).map_err(Error::on("bringing the loopback device up"))?;
        let tun = index(NAME)?;
        let attributes = [
            LinkAttribute::Mtu(settings.mtu),
            LinkAttribute::TxQueueLen(QUEUE),
            LinkAttribute::GsoMaxSegs(1),
        ];
        let up = Error::on(format!("bringing a TUN device of MTU {} up", settings.mtu));
        netlink.bring_up(tun, &attributes).map_err(up)?;
        netlink.remove_queue(tun).map_err(Error::on("removing the queue of a TUN device"))?;
        netlink
            .add_address(tun, settings.address)
            .map_err(Error::on("setting the address of a TUN device"))?;
        netlink
            .add_default_route(tun, &settings.metrics)
            .map_err(Error::on("adding a default route"))?;
        Ok(Tun { file })
    }

    /// Reads the next IP packet that the namespace sends. Returns its length, or `None` if no packet waits.
    ///
    /// # Errors
    ///
    /// Returns an error if the device fails. A packet longer than `buffer` is truncated.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.file).read(buffer) {
            Ok(n) => Ok(Some(n)),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    /// Passes an IP packet to the namespace. When this returns, the namespace's TCP has processed the packet.
    ///
    /// # Errors
    ///
    /// Returns an error if the kernel does not accept the packet, for example a malformed IP packet.
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        (&self.file).write(packet).map(|_| ())
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Disables IPv6 in the calling thread's namespace, if the kernel has IPv6.
fn disable_ipv6() -> io::Result<()> {
    for scope in ["all", "default"] {
        let path = format!("/proc/sys/net/ipv6/conf/{scope}/disable_ipv6");
        match fs::write(&path, "1") {
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            other => other?,
        }
    }
    Ok(())
}
