//! Running a job: QEMU's command line, its process, and the answer.

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

/// The job of a guest.
#[derive(Clone, Debug)]
pub struct Job {
    /// Arguments of the guest's program; see [`guest_main`](super::guest_main).
    pub args: Vec<String>,
    /// Files in the working folder of the guest's program: name, which may have folders, and contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// Time limit of the guest, in this machine's time.
    pub timeout: Duration,
    /// Memory of the guest, MiB.
    pub memory_mib: u32,
    /// True if the guest's kernel accepts BPF programs, which makes its boot longer.
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

/// Result of a job.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Output of the guest's program.
    pub output: Vec<u8>,
    /// Text that the guest's kernel and program have printed; only about the last MiB of a longer text.
    pub console: String,
    /// Duration from the start of the guest's kernel clock to the job, in the guest's time.
    pub boot: Duration,
    /// Duration of the job in the guest's time. It is equal in every run of the same job.
    pub virtual_time: Duration,
    /// Duration of the whole run on this machine.
    pub host_time: Duration,
}

/// Oldest QEMU on which the guest has been tested.
const OLDEST_QEMU: (u32, u32) = (7, 2);

/// Arguments of every guest. `docs/src/inside/testbed.md` explains each choice.
///
/// `rr=record` is not used for a recording: it makes QEMU's main loop wait while the processor is working.
/// Without it, the loop sometimes sees a processor that has halted but not yet accounted for its last
/// instructions. The clock then jumps too far. This happens about once in 100,000 naps of the guest.
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

/// Additional initcalls that a guest without BPF programs skips at boot.
const WITHOUT_PROGRAMS: &str = "bpf_tcp_ca_kfunc_init,bpf_dummy_struct_ops_init";

/// Checks that [`run`] can work for a series on this machine. Downloads nothing.
///
/// # Errors
///
/// Returns an error that names the first missing requirement and its remedy.
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

/// Returns QEMU's version, as `7.2.22`. QEMU's processor determines the guest's time.
///
/// # Errors
///
/// Returns an error if QEMU is missing.
pub fn qemu_version() -> Result<String, Error> {
    let said = said()?;
    let version = said.split_once("version ").map_or("", |(_, rest)| rest);
    Ok(version.split_whitespace().next().unwrap_or("of no version").to_owned())
}

/// Returns the version text that QEMU prints.
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

/// Boots a kernel with this program as its process 1, runs the job, and returns its answer. Several guests
/// may run at once. The guest ends with the thread that called this.
///
/// # Errors
///
/// Returns an error if QEMU cannot be run, if the guest ends early or too late, or if its program reports a
/// failure.
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
            _ => Error::Qemu(format!("cannot start {}: {e}", program())),
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

/// Returns QEMU's name or path.
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
    // Without ioeventfd the device works within the guest's instruction. Its timing is then independent of
    // the host's scheduler.
    command.args(["-device", "virtio-serial-pci,ioeventfd=off"]);
    command.args(["-device", "virtserialport,chardev=port,nr=1,name=windlass"]);
    command.arg("-kernel").arg(&kernel.vmlinux);
    command.args(["-initrd", &inherited(initrd), "-append", &append]);
    command
}

/// Reads the console until QEMU has ended, or kills QEMU at the time limit.
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

/// Returns the end of a pipe's output until the pipe closes: at least the last MiB, if there is that much
/// output.
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

/// Creates a file without a name, which always disappears with this process.
fn memory_file(name: &std::ffi::CStr) -> Result<File, Error> {
    let fd = memfd_create(name, MFdFlags::MFD_CLOEXEC)
        .map_err(|e| Error::Image(format!("cannot create a memory file: {e}")))?;
    Ok(File::from(fd))
}

fn contents(file: &mut File) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))
        .and_then(|_| file.read_to_end(&mut bytes))
        .map_err(|e| Error::Qemu(format!("cannot read its output: {e}")))?;
    Ok(bytes)
}

/// Parses the version in `QEMU emulator version 7.2.22 (…)`.
fn version(said: &str) -> Option<(u32, u32)> {
    let mut numbers = said.split_once("version ")?.1.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qemu_versions_are_compared_by_number() {
        let said =
            |v: &str| version(&format!("QEMU emulator version {v} (Debian 1:7.2)\nCopyright"));
        assert_eq!(said("7.2.22"), Some((7, 2)));
        assert!(said("10.0.2") > said("9.1.0"));
        assert_eq!(version("not QEMU"), None);
    }
}
