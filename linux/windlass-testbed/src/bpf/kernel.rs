//! Loading an algorithm into the running kernel.

use std::fs;
use std::path::Path;

use windlass_cc::{AnyParams, Setup};
use windlass_tcp::Profile;

use super::options::Options;
use super::{Attached, Error, libbpf, object};

/// File with the kernel's own types (BTF).
const BTF: &str = "/sys/kernel/btf/vmlinux";
/// Name of a type that the BTF contains if the kernel accepts congestion control from BPF.
const STRUCT_OPS: &[u8] = b"\0bpf_struct_ops_tcp_congestion_ops\0";
/// Bytes of the event ring while events are recorded. It holds about 50,000 events. A reader that empties it
/// every few milliseconds never finds it full.
const RING: u32 = 1 << 24;
/// Minimum size of a ring in bytes, used if nothing is recorded.
const NO_RING: u32 = 4096;

/// Major and minor number of a kernel's release, which determine its interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Release(pub u32, pub u32);

impl Release {
    /// First release that registers congestion controls by a link, so that they end with their process.
    pub const LINKS: Release = Release(6, 4);

    /// Release of the running kernel.
    pub fn running() -> Release {
        Release::parse(&crate::live::release::kernel()).unwrap_or(Release(0, 0))
    }

    fn parse(text: &str) -> Option<Release> {
        let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse);
        Some(Release(numbers.next()?.ok()?, numbers.next()?.ok()?))
    }
}

/// Checks that the running kernel accepts algorithms.
///
/// # Errors
///
/// Returns an error that names the missing requirement and its remedy.
pub fn check() -> Result<(), Error> {
    libbpf::check()?;
    let types = fs::read(BTF).unwrap_or_default();
    let offered = types.windows(STRUCT_OPS.len()).any(|w| w == STRUCT_OPS);
    if offered {
        Ok(())
    } else {
        Err(Error::NoStructOps { release: crate::live::release::kernel() })
    }
}

/// Returns the algorithm's parameters for an endpoint with this profile, including the settings of the stack.
pub fn params_of(profile: &Profile) -> AnyParams {
    let (mut params, stack) = (profile.params, &profile.stack);
    params.set_common(&Setup {
        initial_window: stack.initial_window.bytes(profile.mss()),
        recovery: stack.recovery,
        ..params.common()
    });
    params
}

/// An algorithm with its parameters, ready to load into a kernel.
#[derive(Clone, Debug)]
pub struct Algorithm {
    /// Parameters, including the settings of the stack.
    pub params: AnyParams,
    /// Name by which sockets choose the algorithm.
    pub name: String,
    /// True if each event is recorded.
    pub recording: bool,
}

impl Algorithm {
    /// Loads the algorithm into the running kernel.
    ///
    /// # Errors
    ///
    /// Returns an error if the algorithm cannot run in a kernel, has not been built, or is rejected.
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
