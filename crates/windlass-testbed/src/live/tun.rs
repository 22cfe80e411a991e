//! TUN devices: a network namespace's way out, whose other end is a descriptor here.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::net::if_::if_nametoindex;

use super::error::Error;
use super::namespace::Namespace;
use super::netlink::{LinkAttribute, Netlink, RouteMetric};

/// Name of the device, in a namespace of its own.
pub(crate) const NAME: &str = "tun0";
/// Packets that may wait to be read. A TUN device gives no back-pressure: what does not fit is lost
/// beside the link model.
const QUEUE: u32 = 10_000;

/// What a TUN device is to be.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The namespace's address.
    pub address: Ipv4Addr,
    /// Largest IP packet, bytes: 68 to 65535.
    pub mtu: u32,
    /// Metrics of the default route, which leads here.
    pub metrics: Vec<RouteMetric>,
}

/// A layer-3 TUN device, the only way out of its namespace. It is gone when this is dropped.
#[derive(Debug)]
pub struct Tun {
    file: File,
}

impl Tun {
    /// Makes the device in a namespace, gives it address and default route, and turns off what would
    /// send by itself (IPv6) or in pieces larger than a packet (segmentation offload).
    ///
    /// # Errors
    ///
    /// When the kernel refuses a step, which the error names.
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
        super::sys::attach_tun(&file, NAME).map_err(Error::on("making a TUN device"))?;
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
        netlink.remove_queue(tun).map_err(Error::on("taking the queue of a TUN device away"))?;
        netlink
            .add_address(tun, settings.address)
            .map_err(Error::on("giving a TUN device its address"))?;
        netlink
            .add_default_route(tun, &settings.metrics)
            .map_err(Error::on("adding a default route"))?;
        Ok(Tun { file })
    }

    /// Reads the next IP packet that the namespace sends; its length, or `None` if none waits.
    ///
    /// # Errors
    ///
    /// When the device fails. A packet longer than `buffer` is cut short.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match (&self.file).read(buffer) {
            Ok(n) => Ok(Some(n)),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Ok(None)
            }
            Err(e) => Err(e),
        }
    }

    /// Hands the namespace an IP packet. When this returns, its TCP has processed it.
    ///
    /// # Errors
    ///
    /// When the kernel does not take it, as with one that is no IP packet.
    pub fn write(&self, packet: &[u8]) -> io::Result<()> {
        (&self.file).write(packet).map(|_| ())
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// In the calling thread's namespace, where the kernel has IPv6.
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
