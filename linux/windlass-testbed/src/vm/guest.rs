//! The guest's side: process 1 configures the kernel, does the job, sends the answer and powers off.

use std::fs;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process;
use std::thread;
use std::time::Duration;

use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use nix::sys::resource::{Resource, setrlimit};
use nix::time::{ClockId, clock_gettime};

use super::frame::Frame;
use super::image;
use crate::live::netlink::Netlink;

/// Device of the port in the guest: the first port of the only virtio-serial device.
const PORT: &str = "/dev/vport0p1";

/// Runs a job in the guest. A program that [`run`](super::run)s jobs must call this first in `main`.
///
/// In an ordinary process it returns immediately. In the guest it never returns: `serve` does the job, given
/// its [arguments](super::Job::args), in a folder that contains its [files](super::Job::files). The returned
/// bytes are the [answer](super::Answer::output). If `serve` returns a message or panics, the caller of `run`
/// gets it as an error.
pub fn guest_main(serve: impl Fn(&[String]) -> Result<Vec<u8>, String>) {
    if process::id() != 1 || !Path::new(image::ARGS).exists() {
        return;
    }
    let mut begun = Duration::ZERO;
    let outcome = set_up().and_then(|args| {
        begun = now();
        catch_unwind(AssertUnwindSafe(|| serve(&args))).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            Err(format!("the program panicked: {}", text.unwrap_or("no message")))
        })
    });
    let frame = Frame { outcome, begun, ended: now() };
    if let Err(e) = send(&frame.encode()) {
        eprintln!("cannot send the answer to {PORT}: {e}");
    }
    // This returns only on failure; the kernel then panics as process 1 ends, and QEMU stops too.
    let _ = reboot(RebootMode::RB_POWER_OFF);
    process::exit(1);
}

/// Prepares the guest for a job. Returns the job's arguments.
fn set_up() -> Result<Vec<String>, String> {
    for (kind, place) in [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")] {
        mount(Some(kind), place, Some(kind), MsFlags::empty(), None::<&str>)
            .map_err(|e| format!("cannot mount {place}: {e}"))?;
    }
    load_modules().map_err(|e| format!("cannot load the kernel's modules: {e}"))?;
    await_port()?;
    // The loopback device is the first of every network namespace.
    Netlink::open()
        .and_then(|netlink| netlink.bring_up(1, &[]))
        .map_err(|e| format!("cannot bring up the loopback device: {e}"))?;
    choose_algorithms().map_err(|e| format!("cannot set the congestion control: {e}"))?;
    // A run holds a namespace, a device and sockets for each end of a flow.
    setrlimit(Resource::RLIMIT_NOFILE, 1 << 16, 1 << 16)
        .map_err(|e| format!("cannot allow more open files: {e}"))?;
    std::env::set_current_dir(image::JOB).map_err(|e| format!("cannot enter the job: {e}"))?;
    let args = fs::read(image::ARGS).map_err(|e| format!("cannot read the job: {e}"))?;
    serde_json::from_slice(&args).map_err(|e| format!("cannot read the job: {e}"))
}

fn load_modules() -> io::Result<()> {
    let mut paths: Vec<_> =
        fs::read_dir(image::MODULES)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    paths.sort();
    for path in paths {
        let file = fs::File::open(&path)?;
        nix::kmod::finit_module(&file, c"", nix::kmod::ModuleInitFlags::empty())
            .map_err(|e| io::Error::other(format!("{}: {e}", path.display())))?;
    }
    Ok(())
}

/// Waits for the port. It appears when the driver and the device have negotiated, which takes milliseconds.
fn await_port() -> Result<(), String> {
    for _ in 0..1000 {
        if Path::new(PORT).exists() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(1));
    }
    Err(format!("the port {PORT} does not appear"))
}

/// Makes Reno the default and allows every algorithm. New namespaces inherit the default.
fn choose_algorithms() -> io::Result<()> {
    let setting = |name: &str| format!("/proc/sys/net/ipv4/tcp_{name}congestion_control");
    let available = fs::read_to_string(setting("available_"))?;
    fs::write(setting("allowed_"), available.trim_end())?;
    fs::write(setting(""), "reno")
}

/// Returns the time since the start of the kernel's clock.
fn now() -> Duration {
    clock_gettime(ClockId::CLOCK_BOOTTIME).map(Duration::from).unwrap_or_default()
}

fn send(bytes: &[u8]) -> io::Result<()> {
    let mut port = fs::OpenOptions::new().write(true).open(PORT)?;
    port.write_all(bytes)?;
    port.flush()
}
