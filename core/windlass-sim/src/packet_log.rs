//! Log of the events of packets on captured links.

use windlass_cc::Time;

use crate::config::{Config, LinkConfig};
use crate::results::PacketEvent;

/// The log. A core has no log if no link is captured.
#[derive(Clone, Debug)]
pub(crate) struct PacketLog {
    captured: Vec<bool>,
    /// True for link directions with a delay line.
    lines: Vec<bool>,
    /// Periods to which the log is restricted; empty without a restriction.
    within: Vec<[Time; 2]>,
    /// Events, not in order of time, because a transmission is logged before it starts.
    pub(crate) packets: Vec<PacketEvent>,
}

impl PacketLog {
    pub(crate) fn new(config: &Config) -> Option<PacketLog> {
        if config.record.capture.is_empty() {
            return None;
        }
        let mut captured = vec![false; 2 * config.links.len()];
        for &link in &config.record.capture {
            captured[2 * link..2 * link + 2].fill(true);
        }
        let within = config.record.capture_within.clone();
        let both = |link: &LinkConfig| [0, 1].map(|direction| link.course[direction].has_line());
        let lines = config.links.iter().flat_map(both).collect();
        Some(PacketLog { captured, lines, within, packets: Vec::new() })
    }

    /// True if this link direction has a delay line.
    pub(crate) fn has_line(&self, link: u32) -> bool {
        self.lines[link as usize]
    }

    /// True if packets of this link direction are logged at this time.
    pub(crate) fn captures(&self, link: u32, time: Time) -> bool {
        let mut spans = self.within.iter();
        let now = self.within.is_empty() || spans.any(|[from, to]| (*from..=*to).contains(&time));
        self.captured[link as usize] && now
    }
}
