//! The text of a replay check: names, figures and differences.

use windlass_testbed::bpf::object;
use windlass_testbed::twin::{Figures, Twin, Twins};

/// True if the algorithm runs over two paths of a connection.
pub fn is_coupled(twins: &Twins) -> bool {
    object::COUPLED.contains(&twins.algorithm)
}

/// Each run with the name of its network; a network that a host recorded more than once has a number.
pub fn numbered(twins: &Twins) -> impl Iterator<Item = (&Twin, String)> {
    twins.twins.iter().enumerate().map(|(at, twin)| {
        let before = twins.twins[..at].iter().filter(|other| other.network == twin.network);
        let name = match before.count() {
            0 => twin.network.clone(),
            n => format!("{}-{}", twin.network, n + 1),
        };
        (twin, name)
    })
}

/// Names of a flow's three figures.
pub fn figures(twins: &Twins) -> [&'static str; 3] {
    let losses = if twins.counted { "retransmitted" } else { "segments lost" };
    let rtt = if twins.recorded { "round trip (ms)" } else { "srtt (ms)" };
    ["goodput (kbps)", losses, rtt]
}

/// The first window that only one of host and simulator had.
pub fn parting(twin: &Twin) -> String {
    // A connection of several paths has no single sequence of windows.
    let compared = twin.simulated.is_some() && twin.replayed.paths <= 1;
    let Some(p) = &twin.parting else {
        return if compared { "nowhere" } else { "" }.to_owned();
    };
    let own = p.simulated.map_or_else(|| "no change".to_owned(), |w| w.to_string());
    let at = p.host.time as f64 / 1e9;
    format!("{at:.3} s, {}: {} for {own}", p.host.what, p.host.window)
}

/// The host's name in a sentence.
pub fn host(twins: &Twins) -> String {
    let host = &twins.host;
    if twins.recorded { host.clone() } else { format!("Linux {host}") }
}

/// A flow's figures as text; empty if the simulator does not have the network.
pub fn cells(figures: Option<&Figures>) -> [String; 3] {
    let Some(Figures { goodput_bps, again, rtt_ms }) = figures else { return Default::default() };
    let rtt = rtt_ms.map_or_else(String::new, |ms| format!("{ms:.1}"));
    [format!("{:.0}", goodput_bps / 1e3), again.to_string(), rtt]
}

pub fn fact(twin: &Twin) -> String {
    twin.fact.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)
}

/// `all`, or the number of unequal answers.
pub fn answers(twin: &Twin) -> String {
    match (twin.replayed.events, twin.replayed.different + twin.replayed.missed) {
        (0, _) => "no events".to_owned(),
        (_, 0) => "all".to_owned(),
        (_, n) => format!("all but {n}"),
    }
}

#[cfg(test)]
pub mod tests {
    use windlass_testbed::bpf::replay::Replayed;

    use super::*;

    /// A run with equal figures in host and simulator.
    fn crossed(network: &str) -> Twin {
        let figures = Figures { goodput_bps: 1e6, again: 0, rtt_ms: None };
        Twin {
            network: network.to_owned(),
            replayed: Replayed { events: 10, ..Replayed::default() },
            host: figures,
            simulated: Some(figures),
            parting: None,
            heard: Vec::new(),
            fact: None,
        }
    }

    /// The runs of a host over these networks; the host is a kernel or a recorded host.
    pub fn run(algorithm: &'static str, host: &str, networks: &[&str]) -> Twins {
        let twins = networks.iter().map(|network| crossed(network)).collect();
        let recorded = !host.starts_with("6.");
        Twins { algorithm, host: host.to_owned(), recorded, counted: !recorded, twins }
    }
}
