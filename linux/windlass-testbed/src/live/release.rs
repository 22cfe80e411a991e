//! Release of the running kernel.

use std::fs;

/// Returns the kernel's release, as `uname -r` prints it.
pub fn kernel() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    release.trim().to_string()
}
