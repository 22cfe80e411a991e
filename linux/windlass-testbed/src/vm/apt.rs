//! Finding and downloading a kernel's package with apt, which verifies the archive's signatures. Root is not
//! needed.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Error, Series, cache};

/// Package lists of apt.
pub(super) struct Lists {
    /// Configuration file of separate lists; `None` for the lists of this machine.
    config: Option<PathBuf>,
}

/// Archive of Debian's packages.
const ARCHIVE: &str = "http://deb.debian.org/debian";
/// Keys of the archive, of Debian's package `debian-archive-keyring`.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Returns the suite of Debian for a series that a machine's own lists usually do not have.
fn suite(series: Series) -> Option<&'static str> {
    match series {
        Series::V7_3 => Some("trixie-backports"),
        Series::V6_12 | Series::V6_1 => None,
    }
}

impl Lists {
    /// The lists of this machine.
    pub(super) const MACHINE: Lists = Lists { config: None };

    /// True if there can be separate lists for a series.
    pub(super) fn can_be_separate(series: Series) -> bool {
        suite(series).is_some() && Path::new(KEYS).is_file()
    }

    /// Downloads separate lists with the suite of a series into a folder, without a change of the machine's lists.
    /// `None` if the series has no suite, or if Debian's keys are missing.
    pub(super) fn separate(series: Series, folder: &Path) -> Result<Option<Lists>, Error> {
        let Some(suite) = suite(series).filter(|_| Lists::can_be_separate(series)) else {
            return Ok(None);
        };
        for place in ["lists/partial", "cache/archives/partial"] {
            cache::make(&folder.join(place))?;
        }
        let sources = folder.join("sources.list");
        let line = format!("deb [arch=amd64 signed-by={KEYS}] {ARCHIVE} {suite} main\n");
        cache::write(&sources, line.as_bytes())?;
        let config = folder.join("apt.conf");
        let place = folder.display();
        let text = format!(
            "Dir::Etc::sourcelist \"{}\";\nDir::Etc::sourceparts \"-\";\nDir::State::lists \"{place}/lists\";\n\
             Dir::Cache \"{place}/cache\";\nAcquire::Languages \"none\";\n\
             APT::Update::Post-Invoke-Success \"\";\n",
            sources.display()
        );
        cache::write(&config, text.as_bytes())?;
        let lists = Lists { config: Some(config) };
        lists.call("apt-get", &["-qq", "update"], folder)?;
        Ok(Some(lists))
    }

    /// Returns the packages of the newest kernel of a series, which are none if the lists do not have the series. The
    /// cloud variant has all drivers of a virtual machine built in.
    pub(super) fn newest(&self, series: Series) -> Result<Vec<String>, Error> {
        let series = series.name().replace('.', r"\.");
        let pattern = format!(r"^linux-(image|binary|modules)-{series}[.-].*-cloud-amd64$");
        let listed =
            self.call("apt-cache", &["search", "--names-only", &pattern], Path::new("/"))?;
        Ok(choose(listed.lines().filter_map(|line| line.split_whitespace().next())))
    }

    /// Downloads packages into a folder. Returns the files.
    pub(super) fn download(
        &self,
        packages: &[String],
        folder: &Path,
    ) -> Result<Vec<PathBuf>, Error> {
        let names = packages.iter().map(String::as_str);
        let args: Vec<&str> = ["-qq", "download"].into_iter().chain(names).collect();
        self.call("apt-get", &args, folder)?;
        let files = std::fs::read_dir(folder).map_err(Error::file("cannot read", folder))?;
        let files = files.flatten().map(|entry| entry.path());
        let mut files: Vec<_> =
            files.filter(|path| path.extension().is_some_and(|e| e == "deb")).collect();
        files.sort();
        if files.len() == packages.len() {
            return Ok(files);
        }
        Err(Error::Command {
            command: format!("apt-get download {}", packages.join(" ")),
            said: format!("it wrote {} packages instead of {}", files.len(), packages.len()),
        })
    }

    fn call(&self, program: &str, args: &[&str], folder: &Path) -> Result<String, Error> {
        let mut command = Command::new(program);
        command.args(args).current_dir(folder).env("LC_ALL", "C");
        command.envs(self.config.as_ref().map(|config| ("APT_CONFIG", config)));
        let failed = |said: String| Error::Command {
            command: format!("{program} {}", args.join(" ")),
            said,
        };
        let output = command.output().map_err(|e| failed(e.to_string()))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(failed(said.trim().lines().last().unwrap_or("no message").to_string()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Returns the packages of the newest kernel among these names. Until Linux 6.18 one package has the kernel and its
/// modules. Later releases have a package for each.
fn choose<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names: Vec<&str> = names.collect();
    let releases = names.iter().filter_map(|name| release_of(name));
    let Some(newest) = releases.max_by_key(|release| numbers(release)) else { return Vec::new() };
    let have = |kind: &str| {
        let name = format!("linux-{kind}-{newest}");
        names.contains(&name.as_str()).then_some(name)
    };
    match (have("binary"), have("modules"), have("image")) {
        (Some(binary), Some(modules), _) => vec![binary, modules],
        (Some(binary), None, Some(image)) => vec![binary, image],
        (_, _, image) => image.into_iter().collect(),
    }
}

/// Returns the kernel's release in the name of one of its packages.
pub(super) fn release_of(package: &str) -> Option<&str> {
    let kinds = ["linux-image-", "linux-binary-", "linux-modules-"];
    kinds.iter().find_map(|kind| package.strip_prefix(kind))
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

    #[test]
    fn kernel_in_one_package_is_one_package_and_a_split_kernel_is_two() {
        let of = |kind: &str, version: &str| format!("linux-{kind}-{version}-cloud-amd64");
        let old = of("image", "6.12.38+deb13");
        assert_eq!(choose([old.as_str()].into_iter()), std::slice::from_ref(&old));
        let names: Vec<String> = ["7.3.4+deb13", "7.3.12+deb13"]
            .iter()
            .flat_map(|version| ["image", "binary", "modules"].map(|kind| of(kind, version)))
            .collect();
        let expected = [of("binary", "7.3.12+deb13"), of("modules", "7.3.12+deb13")];
        assert_eq!(choose(names.iter().map(String::as_str)), expected);
        assert!(choose(std::iter::empty()).is_empty());
    }
}
