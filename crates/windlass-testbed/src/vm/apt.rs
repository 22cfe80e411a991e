//! Finding and downloading a kernel's package with apt, which verifies the archive's signatures. Root is not
//! needed.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Error, Series};

/// Returns the newest package of a series in apt's lists: `linux-image-6.12.94+deb13-cloud-amd64`. The cloud
/// variant has all drivers of a virtual machine built in.
pub(super) fn newest(series: Series) -> Result<Option<String>, Error> {
    let pattern = format!(r"^linux-image-{}[.-].*-cloud-amd64$", series.name().replace('.', r"\."));
    let listed = call(Command::new("apt-cache").args(["search", "--names-only", &pattern]))?;
    let names = listed.lines().filter_map(|line| line.split_whitespace().next());
    Ok(names.max_by_key(|name| numbers(name)).map(str::to_string))
}

/// Downloads a package into a folder. Returns the file.
pub(super) fn download(package: &str, folder: &Path) -> Result<PathBuf, Error> {
    call(Command::new("apt-get").args(["-qq", "download", package]).current_dir(folder))?;
    let files = std::fs::read_dir(folder).map_err(Error::file("cannot read", folder))?;
    let mut files = files.flatten().map(|entry| entry.path());
    files.find(|path| path.extension().is_some_and(|e| e == "deb")).ok_or_else(|| Error::Command {
        command: format!("apt-get download {package}"),
        said: "it did not write a package".to_string(),
    })
}

/// True if apt is installed.
pub(super) fn present() -> bool {
    ["apt-cache", "apt-get"]
        .iter()
        .all(|name| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success()))
}

/// Returns the numbers in a name, which are the keys for comparing versions.
fn numbers(name: &str) -> Vec<u64> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

fn call(command: &mut Command) -> Result<String, Error> {
    let name = format!("{command:?}").replace('"', "");
    let failed = |said: String| Error::Command { command: name.clone(), said };
    let output = command.env("LC_ALL", "C").output().map_err(|e| failed(e.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(failed(said.trim().lines().last().unwrap_or("no message").to_string()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_package_has_the_larger_numbers_not_the_later_letters() {
        let order = |a, b| numbers(a) < numbers(b);
        assert!(order(
            "linux-image-6.12.9+deb13-cloud-amd64",
            "linux-image-6.12.38+deb13-cloud-amd64"
        ));
        assert!(order("linux-image-6.1.0-9-cloud-amd64", "linux-image-6.1.0-56-cloud-amd64"));
    }
}
