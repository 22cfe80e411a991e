//! System calls without a safe form in a library. This module contains all `unsafe` code of the live testbed.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::mem::size_of_val;
use std::os::fd::{AsFd, AsRawFd};

nix::ioctl_write_int!(
    /// Attaches the opened `/dev/net/tun` to a device.
    tunsetiff, b'T', 202
);

/// Turns an opened `/dev/net/tun` into a layer-3 device named `name`. Without packet information and offload
/// headers, reads and writes are plain IP packets.
pub fn attach_tun(file: &File, name: &str) -> io::Result<()> {
    // SAFETY: ifreq is plain old data, for which all zeros is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one ifreq at the given address, which is the address of `request`.
    unsafe { tunsetiff(file.as_raw_fd(), (&raw mut request) as libc::c_ulong) }?;
    Ok(())
}

/// Returns the kernel's `struct tcp_info` of a socket, as many bytes as this kernel has, at most 512.
pub fn tcp_info(socket: &impl AsFd) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0_u8; 512];
    let mut len = bytes.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `len` bytes at the address of `bytes`, which has that size, and
    // writes the length to `len`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            bytes.as_mut_ptr().cast(),
            &raw mut len,
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    bytes.truncate(len as usize);
    Ok(bytes)
}

/// Limits the send rate of a socket, bytes per second (`SO_MAX_PACING_RATE`).
pub fn set_max_pacing_rate(socket: &impl AsFd, rate: u64) -> io::Result<()> {
    // SAFETY: the kernel reads the eight bytes of `rate`; the call states this size.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw const rate).cast(),
            size_of_val(&rate) as libc::socklen_t,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Makes the wake-ups of the calling thread precise. The timer slack becomes one nanosecond instead of 50
/// microseconds. The thread also gets this real-time priority (1 to 99), if that is allowed.
pub fn be_punctual(priority: i32) {
    // SAFETY: PR_SET_TIMERSLACK takes a number and no address. A failure only makes wake-ups less precise.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0_u64, 0_u64, 0_u64) };
    let wanted = libc::sched_param { sched_priority: priority };
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: sched_setscheduler reads one sched_param at the given address; thread 0 is the calling thread.
    // A failure only makes wake-ups less precise.
    unsafe { libc::sched_setscheduler(0, policy, &raw const wanted) };
}

/// Removes the calling thread's real-time priority.
pub fn be_ordinary() {
    let none = libc::sched_param { sched_priority: 0 };
    // SAFETY: sched_setscheduler reads one sched_param at the given address; thread 0 is the calling thread.
    // A failure has no effect.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const none) };
}
