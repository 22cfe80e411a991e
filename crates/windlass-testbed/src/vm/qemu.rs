//! Running a job: QEMU's command line, its life, and the answer.

use std::env;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::memfd::{MFdFlags, memfd_create};

use super::frame::Frame;
use super::{Error, Kernel, Series, child, image, kernel};

/// What the guest is to do.
#[derive(Clone, Debug)]
pub struct Job {
    /// What the guest's program is called with; see [`guest_main`](super::guest_main).
    pub args: Vec<String>,
    /// Files that the guest's program finds in the folder it runs in: name, which may have folders, and
    /// contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// How long the guest may take, in this machine's time.
    pub timeout: Duration,
    /// The guest's memory, MiB.
    pub memory_mib: u32,
    /// Whether the guest's kernel is to take BPF programs, which makes its boot longer.
    pub programs: bool,
}

impl Default for Job {
    /// No arguments, no files, ten minutes, 1 GiB.
    fn default() -> Job {
        Job {
            args: Vec::new(),
            files: Vec::new(),
            timeout: Duration::from_secs(600),
            memory_mib: 1024,
            programs: false,
        }
    }
}

/// What has come of a job.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What the guest's program has returned.
    pub output: Vec<u8>,
    /// What the guest's kernel and program have printed, the last MiB of it if it is much.
    pub console: String,
    /// How long the guest took from the start of its kernel's clock to the job, in its own time.
    pub boot: Duration,
    /// How long the job took in the guest's own time. The same at every run of the same job.
    pub virtual_time: Duration,
    /// How long all of it took on this machine.
    pub host_time: Duration,
}

/// The oldest QEMU that the guest has been tried on.
const OLDEST_QEMU: (u32, u32) = (7, 2);

/// What is the same for every guest. `docs/src/inside/testbed.md` explains each choice.
///
/// `rr=record` is not for the record: it makes QEMU's main loop wait while the processor is at work.
/// Without it the loop now and then sees a processor that has halted but not yet accounted for its last
/// instructions, and lets the clock jump too far: about once in 100,000 naps of the guest.
const MACHINE: &str = "-accel tcg -smp 1 -cpu Nehalem \
    -icount shift=0,sleep=off,rr=record,rrfile=/dev/null \
    -rtc base=2026-01-01T00:00:00,clock=vm -seed 1 \
    -nodefaults -no-user-config -nic none -display none -monitor none -no-reboot";

/// The kernel's command line.
const KERNEL: &str = "console=ttyS0 quiet panic=-1 oops=panic transparent_hugepage=never \
    tsc=reliable tsc_early_khz=1000000 nolapic_timer no_timer_check \
    random.trust_cpu=off random.trust_bootloader=off nokaslr norandmaps \
    mitigations=off cryptomgr.notests initcall_blacklist=jent_mod_init,\
load_system_certificate_list,init_acpi_pm_clocksource,hpet_late_init,init_kprobe_trace";

/// What more is left out of the boot of a guest without BPF programs.
const WITHOUT_PROGRAMS: &str = "bpf_tcp_ca_kfunc_init,bpf_dummy_struct_ops_init";

/// Says whether [`run`] can work for a series here, and if not, what is missing and what helps. Fetches
/// nothing.
///
/// # Errors
///
/// The first thing that is missing.
pub fn check(series: Series) -> Result<(), Error> {
    if !cfg!(target_arch = "x86_64") {
        return Err(Error::Architecture(env::consts::ARCH));
    }
    let said = said()?;
    match version(&said) {
        Some(found) if found >= OLDEST_QEMU => kernel::obtainable(series),
        _ => Err(Error::OldQemu {
            found: said.lines().next().unwrap_or("of no version").to_string(),
            needed: format!("{}.{}", OLDEST_QEMU.0, OLDEST_QEMU.1),
        }),
    }
}

/// QEMU's version, as `7.2.22`: its processor keeps the guest's time.
///
/// # Errors
///
/// There is no QEMU.
pub fn qemu_version() -> Result<String, Error> {
    let said = said()?;
    let version = said.split_once("version ").map_or("", |(_, rest)| rest);
    Ok(version.split_whitespace().next().unwrap_or("of no version").to_owned())
}

/// What QEMU says of its version.
fn said() -> Result<String, Error> {
    static SAID: OnceLock<String> = OnceLock::new();
    if let Some(said) = SAID.get() {
        return Ok(said.clone());
    }
    let program = program();
    let output = Command::new(&program).arg("--version").output();
    let output = output.map_err(|_| Error::NoQemu(program))?;
    Ok(SAID.get_or_init(|| String::from_utf8_lossy(&output.stdout).into_owned()).clone())
}

/// Boots a kernel with this program as its process 1, lets it do the job, and takes its answer. Several
/// may run at once. The guest ends with the thread that called this.
///
/// # Errors
///
/// If QEMU cannot be run, the guest goes down or is not done in time, or its program says that it failed.
pub fn run(kernel: &Kernel, job: &Job) -> Result<Answer, Error> {
    let started = Instant::now();
    let [mut initrd, mut port, mut complaints] =
        [memory_file(c"initrd")?, memory_file(c"port")?, memory_file(c"stderr")?];
    let of_image = |e: std::io::Error| Error::Image(e.to_string());
    initrd.write_all(&image::base(kernel)?).map_err(of_image)?;
    initrd.write_all(&image::job(&job.args, &job.files)?).map_err(of_image)?;
    let (initrd, complaints_fd) = (OwnedFd::from(initrd), complaints.try_clone());
    let port_fd = OwnedFd::from(port.try_clone().map_err(of_image)?);
    let mut command = command(kernel, job, &initrd, &port_fd);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(Stdio::from(complaints_fd.map_err(of_image)?));
    let mut qemu =
        child::spawn(&mut command, &[&initrd, &port_fd]).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => Error::NoQemu(program()),
            _ => Error::Qemu(format!("{} cannot be started: {e}", program())),
        })?;
    let console = console(&mut qemu, job.timeout)?;
    let status = qemu.wait().map_err(|e| Error::Qemu(e.to_string()))?;
    if !status.success() {
        let said = contents(&mut complaints)?;
        let said = String::from_utf8_lossy(&said);
        return Err(Error::Qemu(format!("{} ({status})", said.trim().replace('\n', "; "))));
    }
    let frame = match Frame::decode(&contents(&mut port)?) {
        Ok(frame) => frame,
        Err(what) => return Err(Error::NoAnswer { what, console }),
    };
    match frame.outcome {
        Err(message) => Err(Error::Guest { message, console }),
        Ok(output) => Ok(Answer {
            output,
            console,
            boot: frame.begun,
            virtual_time: frame.ended.saturating_sub(frame.begun),
            host_time: started.elapsed(),
        }),
    }
}

/// QEMU's name or path.
fn program() -> String {
    let given = env::var("WINDLASS_QEMU").ok().filter(|path| !path.is_empty());
    given.unwrap_or_else(|| "qemu-system-x86_64".to_string())
}

fn command(kernel: &Kernel, job: &Job, initrd: &OwnedFd, port: &OwnedFd) -> Command {
    let inherited = |fd: &OwnedFd| format!("/proc/self/fd/{}", fd.as_raw_fd());
    let left_out = if job.programs { String::new() } else { format!(",{WITHOUT_PROGRAMS}") };
    let append = format!("{KERNEL}{left_out} LD_LIBRARY_PATH={}", image::LIBRARIES);
    let mut command = Command::new(program());
    command.args(MACHINE.split_whitespace());
    command.args(["-m", &job.memory_mib.to_string(), "-serial", "stdio"]);
    command.args(["-chardev", &format!("file,id=port,path={}", inherited(port))]);
    // Without ioeventfd the device does its work within the guest's instruction, not whenever the
    // host's scheduler lets another thread do it.
    command.args(["-device", "virtio-serial-pci,ioeventfd=off"]);
    command.args(["-device", "virtserialport,chardev=port,nr=1,name=windlass"]);
    command.arg("-kernel").arg(&kernel.vmlinux);
    command.args(["-initrd", &inherited(initrd), "-append", &append]);
    command
}

/// Reads the console until QEMU has gone, or kills QEMU when its time is up.
fn console(qemu: &mut Child, timeout: Duration) -> Result<String, Error> {
    let mut pipe = qemu.stdout.take().expect("its standard output is a pipe");
    let (done, waiting) = mpsc::channel();
    let reader = thread::spawn(move || {
        let bytes = last_of(&mut pipe);
        let _ = done.send(());
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let late = waiting.recv_timeout(timeout).is_err();
    if late {
        let _ = qemu.kill();
        let _ = qemu.wait();
    }
    let console = reader.join().unwrap_or_default();
    match late {
        true => Err(Error::Timeout { after: timeout, console }),
        false => Ok(console),
    }
}

/// The last of what a pipe brings until it closes: a MiB at least, if it brings as much.
fn last_of(pipe: &mut impl Read) -> Vec<u8> {
    const KEPT: usize = 1 << 20;
    let (mut kept, mut part) = (Vec::new(), vec![0; 1 << 16]);
    while let Ok(count @ 1..) = pipe.read(&mut part) {
        kept.extend(&part[..count]);
        if kept.len() > 2 * KEPT {
            kept.drain(..kept.len() - KEPT);
        }
    }
    kept
}

/// A file without a name: nothing stays behind however this process ends.
fn memory_file(name: &std::ffi::CStr) -> Result<File, Error> {
    let fd = memfd_create(name, MFdFlags::MFD_CLOEXEC)
        .map_err(|e| Error::Image(format!("no memory file: {e}")))?;
    Ok(File::from(fd))
}

fn contents(file: &mut File) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))
        .and_then(|_| file.read_to_end(&mut bytes))
        .map_err(|e| Error::Qemu(format!("what it has written cannot be read: {e}")))?;
    Ok(bytes)
}

/// The version in `QEMU emulator version 7.2.22 (…)`.
fn version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.split_once("version ")?.1.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_qemu_are_read_and_compared_by_number() {
        let said =
            |v: &str| version(&format!("QEMU emulator version {v} (Debian 1:7.2)\nCopyright"));
        assert_eq!(said("7.2.22"), Some((7, 2)));
        assert!(said("10.0.2") > said("9.1.0"));
        assert_eq!(version("not QEMU"), None);
    }
}
