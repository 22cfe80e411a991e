//! Putting an algorithm into this kernel.

use std::fs;
use std::path::Path;

use windlass_cc::{AnyParams, Setup};
use windlass_tcp::Profile;

use super::options::Options;
use super::{Attached, Error, libbpf, object};

/// What the kernel says of its own types.
const BTF: &str = "/sys/kernel/btf/vmlinux";
/// The type in there without which it takes no congestion control from BPF.
const STRUCT_OPS: &[u8] = b"\0bpf_struct_ops_tcp_congestion_ops\0";
/// Bytes of the ring of events while they are recorded: some 50,000 events, which a reader that comes every few
/// milliseconds never fills.
const RING: u32 = 1 << 24;
/// The least that a ring can be.
const NO_RING: u32 = 4096;

/// The release of a kernel, as far as its interface goes by it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Release(pub u32, pub u32);

impl Release {
    /// The first that takes congestion controls by a link, so that they end with their process.
    pub const LINKS: Release = Release(6, 4);

    /// That of the kernel that this process is on.
    pub fn running() -> Release {
        Release::parse(&crate::live::kernel()).unwrap_or(Release(0, 0))
    }

    fn parse(text: &str) -> Option<Release> {
        let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse);
        Some(Release(numbers.next()?.ok()?, numbers.next()?.ok()?))
    }
}

/// Whether the kernel that this process is on takes algorithms.
///
/// # Errors
///
/// What is missing, and what would help.
pub fn check() -> Result<(), Error> {
    libbpf::check()?;
    let types = fs::read(BTF).unwrap_or_default();
    let offered = types.windows(STRUCT_OPS.len()).any(|w| w == STRUCT_OPS);
    if offered { Ok(()) } else { Err(Error::NoStructOps { release: crate::live::kernel() }) }
}

/// The algorithm's parameters with what the stack decides, as an endpoint with this profile has them.
pub fn params_of(profile: &Profile) -> AnyParams {
    let (mut params, stack) = (profile.params, &profile.stack);
    params.set_common(&Setup {
        initial_window: stack.initial_window.bytes(profile.mss()),
        recovery: stack.recovery,
        ..params.common()
    });
    params
}

/// An algorithm with its parameters, for a kernel.
#[derive(Clone, Debug)]
pub struct Algorithm {
    /// The parameters, with what the stack decides.
    pub params: AnyParams,
    /// The name by which sockets choose it.
    pub name: String,
    /// Whether each event is recorded.
    pub recording: bool,
}

impl Algorithm {
    /// Puts it into the kernel that this process is on.
    ///
    /// # Errors
    ///
    /// The algorithm cannot be a kernel's, has not been built, or is refused.
    pub fn load(&self, objects: &Path) -> Result<Attached, Error> {
        object::check(&self.params)?;
        check()?;
        let object = object::named(object::read(objects, &self.params)?, &self.name)?;
        let release = Release::running();
        let mut options = Options::new(&self.params, (release.0, release.1));
        options.recording = u32::from(self.recording);
        let ring = if self.recording { RING } else { NO_RING };
        libbpf::attach(&object, &options, ring, release >= Release::LINKS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_by_number() {
        let release = |text| Release::parse(text).expect("a release");
        assert!(release("6.12.117+deb12-cloud-amd64") > Release::LINKS);
        assert!(release("6.1.0-56-cloud-amd64") < Release::LINKS);
        assert_eq!(Release::parse("none"), None);
    }
}
