//! Mapping of Windlass's algorithms to the kernel's, by name.

use std::fs;

use windlass_sim::config::{Config, FlowConfig, Traffic};

use super::error::Error;
use super::options::Options;

/// Identifiers of the algorithms that Linux also has, each with the kernel's name. NewReno and Reno are one
/// algorithm in Linux: SACK determines its recovery.
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

/// Returns the kernel's name of the algorithm with this identifier, or `None` if Linux has never had the
/// algorithm.
pub fn algorithm(id: &str) -> Option<&'static str> {
    COUNTERPARTS.iter().find(|(ours, _)| *ours == id).map(|(_, theirs)| *theirs)
}

/// Returns the kernel's name of the algorithm of a TCP flow.
pub fn of_flow(flow: &FlowConfig) -> Result<&'static str, Error> {
    let id = flow.profile.params.info().id;
    algorithm(id).ok_or_else(|| Error::NoCounterpart {
        flow: flow.name.clone(),
        algorithm: id.to_string(),
        known: COUNTERPARTS.map(|(ours, _)| ours).join(", "),
    })
}

/// Returns the list of algorithms that the kernel offers, by the kernel's names.
pub(crate) fn offered() -> String {
    let listed = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    listed.map(|l| l.split_whitespace().collect::<Vec<_>>().join(", ")).unwrap_or_default()
}

/// Checks that Linux has an algorithm for each end that runs in a kernel. An algorithm that the scenario
/// gives by the kernel's name is not checked.
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
    fn every_counterpart_is_a_windlass_algorithm() {
        for (ours, _) in COUNTERPARTS {
            assert!(windlass_cc::AnyParams::by_name(ours).is_some(), "{ours}");
        }
    }
}
