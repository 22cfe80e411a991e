//! The clock of the process. quiche reads the time of the system by itself, through the C library, whose function this
//! program replaces: it returns the time of the last request of the laboratory.

use std::sync::atomic::{AtomicU64, Ordering};

/// Nanoseconds since the start of the run.
static NOW: AtomicU64 = AtomicU64::new(0);
/// Seconds of the calendar and of the monotonic clock at the start of the run. No value is special.
const START: i64 = 1_700_000_000;
const SECOND: u64 = 1_000_000_000;

/// Sets the time.
pub fn set(now: u64) {
    NOW.store(now, Ordering::Relaxed);
}

/// # Safety
///
/// `to` points to a `timespec`, as for the function of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(_: libc::clockid_t, to: *mut libc::timespec) -> libc::c_int {
    let now = NOW.load(Ordering::Relaxed);
    let time =
        libc::timespec { tv_sec: START + (now / SECOND) as i64, tv_nsec: (now % SECOND) as i64 };
    // SAFETY: the caller's promise.
    unsafe { to.write(time) };
    0
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    #[test]
    fn instants_follow_the_set_time() {
        let before = Instant::now();
        super::set(3_000_000_000);
        assert_eq!(Instant::now() - before, Duration::from_secs(3));
    }
}
