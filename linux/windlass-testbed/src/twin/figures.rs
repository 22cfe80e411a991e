//! Summary of a flow in a host or in the simulator.

use windlass_sim::FlowResult;

use super::facts::{DELIVERED, Heard, LOST, SAMPLE};

/// Summary of a flow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Figures {
    /// Goodput, bits per second.
    pub goodput_bps: f64,
    /// Retransmitted segments; in a recording without a count, segments considered lost.
    pub again: u64,
    /// RTT, milliseconds: SRTT at the end, or the mean of the samples in a recording.
    pub rtt_ms: Option<f64>,
}

impl From<&FlowResult> for Figures {
    fn from(flow: &FlowResult) -> Figures {
        Figures { goodput_bps: flow.goodput_bps, again: flow.retransmits, rtt_ms: flow.srtt_ms }
    }
}

impl Figures {
    /// Computes the summary from the facts that the algorithm received, from the first event to the last;
    /// `mss` is the segment size.
    pub(super) fn of(heard: &[Heard], mss: u32) -> Figures {
        let last = heard.last();
        let at_end = |place: usize| last.map_or(0, |heard| heard.facts[place]);
        let seconds = last.map_or(0.0, |heard| heard.time as f64 / 1e9);
        let samples = heard.iter().map(|heard| heard.facts[SAMPLE]).filter(|rtt| *rtt != u64::MAX);
        let (count, sum) = samples.fold((0_u64, 0.0), |(n, sum), rtt| (n + 1, sum + rtt as f64));
        Figures {
            goodput_bps: if seconds > 0.0 { 8.0 * at_end(DELIVERED) as f64 / seconds } else { 0.0 },
            again: at_end(LOST) / u64::from(mss.max(1)),
            rtt_ms: (count > 0).then(|| sum / count as f64 / 1e6),
        }
    }
}
