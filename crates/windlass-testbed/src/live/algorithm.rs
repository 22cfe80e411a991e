//! Windlass's algorithms and the kernel's, by name.

use std::fs;

use windlass_sim::config::{Config, FlowConfig, Traffic};

use super::error::Error;
use super::options::Options;

/// Identifiers of algorithms that Linux has too, each with the kernel's name. NewReno and Reno are one
/// there: which recovery it gets depends on SACK.
pub const COUNTERPARTS: [(&str, &str); 15] = [
    ("reno", "reno"),
    ("newreno", "reno"),
    ("cubic", "cubic"),
    ("bbr", "bbr"),
    ("bic", "bic"),
    ("westwood", "westwood"),
    ("htcp", "htcp"),
    ("highspeed", "highspeed"),
    ("hybla", "hybla"),
    ("vegas", "vegas"),
    ("veno", "veno"),
    ("scalable", "scalable"),
    ("yeah", "yeah"),
    ("illinois", "illinois"),
    ("dctcp", "dctcp"),
];

/// The kernel's name of the algorithm with this identifier, `None` if Linux has never had it.
pub fn algorithm(id: &str) -> Option<&'static str> {
    COUNTERPARTS.iter().find(|(ours, _)| *ours == id).map(|(_, theirs)| *theirs)
}

/// The kernel's name of the algorithm of a flow over TCP.
pub fn of_flow(flow: &FlowConfig) -> Result<&'static str, Error> {
    let id = flow.profile.params.info().id;
    algorithm(id).ok_or_else(|| Error::NoCounterpart {
        flow: flow.name.clone(),
        algorithm: id.to_string(),
        known: COUNTERPARTS.map(|(ours, _)| ours).join(", "),
    })
}

/// What the kernel offers, in its own words.
pub(crate) fn offered() -> String {
    let listed = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    listed.map(|l| l.split_whitespace().collect::<Vec<_>>().join(", ")).unwrap_or_default()
}

/// Whether Linux has an algorithm for each end that is to be a kernel's. What it has of a name is its business.
pub(crate) fn check(config: &Config, options: &Options) -> Result<(), Error> {
    let inside = |host| options.inside.contains(&host);
    for (i, flow) in (0..).zip(&config.flows) {
        let kernels = !(inside(2 * i) && inside(2 * i + 1));
        let known = options.ours.contains(&(i as usize)) || options.name_of(i as usize).is_some();
        if kernels && !known && !matches!(flow.traffic, Traffic::CbrUdp(_)) {
            of_flow(flow)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counterpart_is_an_algorithm_of_ours() {
        for (ours, _) in COUNTERPARTS {
            assert!(windlass_cc::AnyParams::by_name(ours).is_some(), "{ours}");
        }
    }
}
