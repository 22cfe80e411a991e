//! Assignment of disjoint paths ([`DisjointPath`]) to pairs of flows, and to the two subflows of a connection
//! that crosses a radio.

use super::Direction;
use super::aodv::DisjointPath;
use crate::config::{Config, Multipath};
use crate::radio::Hops;
use crate::route::RadioHop;

/// Disjoint paths of the packets with one sender and one receiver, each with its radio. On every other radio,
/// they use the shared routes.
pub(crate) type DisjointPaths = Vec<(u32, u32)>;

/// The disjoint paths of a flow with a single connection.
pub(crate) fn of_flow(config: &Config, flow: usize) -> DisjointPaths {
    let of_radio = |(radio, r): (u32, &crate::radio::RadioConfig)| match &r.hops {
        Hops::Aodv(aodv) => Some((radio, aodv.path_of(flow)?)),
        _ => None,
    };
    (0..).zip(&config.radios).filter_map(of_radio).collect()
}

/// Disjoint paths of each subflow of a flow; `ways` has the route of each subflow. `hop` returns the radio
/// hop of a direction, or `None` for a link.
///
/// # Errors
///
/// Describes the fault in a sentence.
pub(crate) fn of_subflows(
    config: &Config,
    flow: usize,
    ways: &[Vec<Direction>],
    hop: impl Fn(Direction) -> Option<RadioHop>,
) -> Result<Vec<DisjointPaths>, String> {
    let mut disjoint_paths = vec![DisjointPaths::new(); ways.len()];
    let Some(multipath) = config.flows[flow].multipath.as_ref().filter(|m| m.disjoint) else {
        return Ok(disjoint_paths);
    };
    let crossings: Vec<(usize, RadioHop)> = (0..)
        .zip(ways)
        .flat_map(|(subflow, way)| way.iter().map(move |direction| (subflow, *direction)))
        .filter_map(|(subflow, direction)| Some((subflow, hop(direction)?)))
        .collect();
    let mut any = false;
    for (radio, r) in (0..).zip(&config.radios) {
        let Hops::Aodv(aodv) = &r.hops else { continue };
        let here: Vec<_> = crossings.iter().filter(|(_, hop)| hop.radio == radio).collect();
        if here.is_empty() {
            continue;
        }
        let (first, second) = pair(&here, multipath, &r.name)?;
        let group = aodv.disjoint.len() + connections_before(config, flow);
        for (member, subflow) in (0..).zip([first, second]) {
            disjoint_paths[subflow].push((radio, DisjointPath::number(group as u32, member)));
        }
        any = true;
    }
    match any {
        true => Ok(disjoint_paths),
        false => {
            Err("its subflows are to take disjoint routes, but none of them crosses a radio whose \
                      stations route by AODV"
                .to_string())
        }
    }
}

/// Returns the two subflows that cross a radio.
fn pair(
    here: &[&(usize, RadioHop)],
    multipath: &Multipath,
    radio: &str,
) -> Result<(usize, usize), String> {
    if let Some(pair) = here.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let name = &multipath.subflows[pair[0].0].name;
        return Err(format!(
            "subflow \"{name}\" crosses radio \"{radio}\" twice; on a disjoint route it does so once"
        ));
    }
    let &[(first, a), (second, b)] = here else {
        let n = here.len();
        return Err(format!(
            "disjoint routes over radio \"{radio}\" are for two subflows, and {n} cross it"
        ));
    };
    if [a.from, a.to] != [b.from, b.to] {
        return Err(format!(
            "two subflows on disjoint routes over radio \"{radio}\" must enter and leave it at the \
             same stations"
        ));
    }
    Ok((*first, *second))
}

/// Number of connections with disjoint routes among the flows before this one.
fn connections_before(config: &Config, flow: usize) -> usize {
    let before = config.flows[..flow].iter().filter_map(|f| f.multipath.as_ref());
    before.filter(|m| m.disjoint).count()
}
