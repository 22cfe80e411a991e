//! Multipath TCP at the kernel: what its own connections cannot be asked, and how their ends are set up.

use windlass_sim::addresses::FlowAddresses;
use windlass_sim::config::{Config, FlowConfig, Multipath};

use super::error::Error;
use super::path_manager::Multihomed;

/// Paths of a connection at most: the kernel's path manager opens two subflows beside the first
/// (`subflows_max` in `net/mptcp/pm_netlink.c`).
const MOST_PATHS: usize = 3;

/// The configuration as a kernel takes it: a multipath flow has the stack of its first subflow, with
/// the buffers of the connection. `inside` are the hosts that stay in the simulation.
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

/// What a kernel's connection cannot be asked.
fn refused(multipath: &Multipath, stays: bool) -> Option<String> {
    let id = |path: usize| multipath.subflows[path].profile.params.info().id;
    if stays {
        return Some("both ends of a multipath flow are the kernel's, or neither".to_string());
    }
    if multipath.subflows.len() > MOST_PATHS {
        return Some(format!("a kernel opens at most {MOST_PATHS} subflows of a connection"));
    }
    if (1..multipath.subflows.len()).any(|path| id(path) != id(0)) {
        return Some("a kernel has one algorithm for all subflows of a connection".to_string());
    }
    let capable = multipath.config.peer_capable;
    (!capable).then(|| "a peer without Multipath TCP: leave `multipath` out instead".to_string())
}

/// What the host of a multipath flow has besides: the client an address for each further path.
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
