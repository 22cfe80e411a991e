//! Multipath TCP on the kernel: settings that the kernel does not support, and the set-up of the ends.

use windlass_sim::addresses::FlowAddresses;
use windlass_sim::config::{Config, FlowConfig, Multipath};

use super::error::Error;
use super::path_manager::Multihomed;

/// Maximum number of paths of a connection: the kernel's path manager opens two subflows in addition to the
/// first (`subflows_max` in `net/mptcp/pm_netlink.c`).
const MOST_PATHS: usize = 3;

/// Converts the configuration for a kernel: a multipath flow gets the stack of its first subflow, with the
/// buffers of the connection. `inside` lists the hosts that stay in the simulation.
pub(super) fn at_kernel(config: &Config, inside: &[u32]) -> Result<Config, Error> {
    let mut config = config.clone();
    for (i, flow) in (0..).zip(&mut config.flows) {
        let Some(multipath) = &flow.multipath else { continue };
        let stays = inside.contains(&(2 * i)) || inside.contains(&(2 * i + 1));
        if let Some(problem) = refused(multipath, stays) {
            return Err(Error::Unsupported { of: format!("flow \"{}\"", flow.name), problem });
        }
        let mut profile = multipath.subflows[0].profile;
        profile.stack.receive_buffer = multipath.config.receive_buffer;
        profile.stack.send_buffer = multipath.config.send_buffer;
        flow.profile = profile.into();
    }
    Ok(config)
}

/// Returns the reason why a kernel does not support a multipath flow, if any.
fn refused(multipath: &Multipath, stays: bool) -> Option<String> {
    let id = |path: usize| multipath.subflows[path].profile.params.info().id;
    if stays {
        return Some(
            "both ends of a multipath flow must run on the kernel, or neither".to_string(),
        );
    }
    if multipath.subflows.len() > MOST_PATHS {
        return Some(format!("a kernel opens at most {MOST_PATHS} subflows of a connection"));
    }
    if (1..multipath.subflows.len()).any(|path| id(path) != id(0)) {
        return Some("a kernel has one algorithm for all subflows of a connection".to_string());
    }
    let capable = multipath.config.peer_capable;
    (!capable).then(|| "peer without Multipath TCP: remove `multipath` instead".to_string())
}

/// Returns the additional set-up of a multipath flow's host: the client has one address for each further
/// path.
pub(super) fn of_host(flow: &FlowConfig, host: u32) -> Option<Multihomed> {
    let multipath = flow.multipath.as_ref()?;
    let addresses = FlowAddresses::of_flow(host / 2, flow);
    let client = addresses.to_opens != host.is_multiple_of(2);
    let paths = if client { multipath.subflows.len() } else { 1 };
    Some(Multihomed {
        addresses: (1..paths as u8).map(|path| addresses.client(path)).collect(),
        checksums: multipath.config.checksum,
    })
}
