//! Messages about a missing QEMU or kernel.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::{env, fs};

/// Runs in other processes, because they need different environments.
pub fn missing_requirements_are_reported() {
    let nothing = tempfile::tempdir().expect("a folder");
    let said = |program: &str| {
        let mut other = Command::new(env::current_exe().expect("this program"));
        other.args(["check", "6.12"]).env("WINDLASS_QEMU", program).env("PATH", nothing.path());
        other.env("WINDLASS_CACHE", nothing.path()).env_remove("WINDLASS_KERNEL_DEB");
        let output = other.output().expect("this program again");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let without_qemu = said("no-such-qemu");
    assert!(without_qemu.contains("`no-such-qemu`"), "{without_qemu}");
    assert!(without_qemu.contains("apt-get install qemu-system-x86"), "{without_qemu}");
    let script = nothing.path().join("qemu");
    for (version, words) in [("6.2.0", "too old"), ("9.0.2", "WINDLASS_KERNEL_DEB")] {
        fs::write(&script, format!("#!/bin/sh\necho QEMU emulator version {version}\n")).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let text = said(script.to_str().expect("a path"));
        assert!(text.contains(words), "{version}: {text}");
    }
}
