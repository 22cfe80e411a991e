//! Check that this machine can exchange packets with its kernel, with the missing requirement if it cannot.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::error::Error;
use super::namespace::Namespace;
use super::tun::{Settings, Tun};

/// Checks the requirements of a run: privilege, network namespaces, TUN devices, `/proc`.
///
/// # Errors
///
/// Returns an error that names the missing requirement and its remedy.
pub fn check() -> Result<(), Error> {
    if !Path::new("/proc/thread-self/ns").exists() {
        return Err(missing(
            "/proc of a Linux kernel",
            "mount it, as in `mount -t proc proc /proc`",
        ));
    }
    let namespace = Namespace::new().map_err(|e| no_namespace(&e))?;
    check_tun()?;
    let settings = Settings { address: [10, 0, 0, 1].into(), mtu: 1500, metrics: Vec::new() };
    let tun = Tun::new(&namespace, &settings);
    tun.map(|_| ()).map_err(|e| {
        missing(
            "permission to set up a TUN device in a network namespace",
            format!("run it as root, outside a container that removes the privilege ({e})"),
        )
    })
}

fn no_namespace(e: &io::Error) -> Error {
    match e.kind() {
        ErrorKind::PermissionDenied => missing(
            "root's privileges (CAP_SYS_ADMIN and CAP_NET_ADMIN) for network namespaces",
            "run it with sudo, or use `--on linux-vt`, which needs no root",
        ),
        ErrorKind::InvalidInput => missing(
            "a kernel with network namespaces",
            "take one built with CONFIG_NET_NS, or use `--on linux-vt`",
        ),
        _ => missing("a network namespace", format!("the kernel refused it: {e}")),
    }
}

fn check_tun() -> Result<(), Error> {
    match OpenOptions::new().read(true).write(true).open("/dev/net/tun") {
        Ok(_) => Ok(()),
        Err(e) => Err(missing(
            "/dev/net/tun",
            match e.kind() {
                ErrorKind::NotFound => "load it with `modprobe tun`, or create the file with \
                     `mkdir -p /dev/net && mknod /dev/net/tun c 10 200`; a container needs \
                     `--device /dev/net/tun`"
                    .to_string(),
                ErrorKind::PermissionDenied => "run it as root".to_string(),
                _ => format!("opening it gave: {e}; `modprobe tun` may help"),
            },
        )),
    }
}

fn missing(what: impl Into<String>, remedy: impl Into<String>) -> Error {
    Error::Missing { what: what.into(), remedy: remedy.into() }
}
