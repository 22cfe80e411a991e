//! A run of twins in words.

use windlass_testbed::bpf::object;
use windlass_testbed::twin::{Figures, Twin, Twins};

/// Whether what was run is shown over two paths of a connection.
pub fn is_coupled(twins: &Twins) -> bool {
    object::COUPLED.contains(&twins.algorithm)
}

/// Each with the name of its network, which has a number where a host has recorded it more than once.
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

/// What the three figures of a flow are.
pub fn figures(twins: &Twins) -> [&'static str; 3] {
    let again = if twins.counted { "sent again" } else { "segments lost" };
    let rtt = if twins.recorded { "round trip (ms)" } else { "srtt (ms)" };
    ["goodput (kbps)", again, rtt]
}

/// Where the windows of the two worlds part.
pub fn parting(twin: &Twin) -> String {
    // A connection of several paths has no one course.
    let compared = twin.simulated.is_some() && twin.replayed.paths <= 1;
    let Some(p) = &twin.parting else {
        return if compared { "nowhere" } else { "" }.to_owned();
    };
    let own = p.simulated.map_or_else(|| "no change".to_owned(), |w| w.to_string());
    let at = p.host.time as f64 / 1e9;
    format!("{at:.3} s, {}: {} for {own}", p.host.what, p.host.window)
}

/// The host, as a sentence names it.
pub fn host(twins: &Twins) -> String {
    let host = &twins.host;
    if twins.recorded { host.clone() } else { format!("Linux {host}") }
}

/// A flow's figures in words; nothing where the simulator does not know the network.
pub fn cells(figures: Option<&Figures>) -> [String; 3] {
    let Some(Figures { goodput_bps, again, rtt_ms }) = figures else { return Default::default() };
    let rtt = rtt_ms.map_or_else(String::new, |ms| format!("{ms:.1}"));
    [format!("{:.0}", goodput_bps / 1e3), again.to_string(), rtt]
}

pub fn fact(twin: &Twin) -> String {
    twin.fact.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string)
}

pub fn answers(twin: &Twin) -> String {
    equal(twin.replayed.events, twin.replayed.different + twin.replayed.missed)
}

/// All, or how many are not.
pub fn equal(events: u64, not: u64) -> String {
    match (events, not) {
        (0, _) => "no events".to_owned(),
        (_, 0) => "all".to_owned(),
        (_, n) => format!("all but {n}"),
    }
}

/// How much more a host has than the simulator, per cent.
pub fn gain(host: f64, simulated: f64) -> f64 {
    if simulated > 0.0 { 100.0 * (host / simulated - 1.0) } else { f64::NAN }
}

#[cfg(test)]
pub mod tests {
    use windlass_testbed::bpf::replay::Replayed;

    use super::*;

    /// A crossing whose host got as much as the simulator.
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

    /// What a host came to over these networks: a kernel, or who has recorded it.
    pub fn run(algorithm: &'static str, host: &str, networks: &[&str]) -> Twins {
        let twins = networks.iter().map(|network| crossed(network)).collect();
        let recorded = !host.starts_with("6.");
        Twins { algorithm, host: host.to_owned(), recorded, counted: !recorded, twins }
    }
}
