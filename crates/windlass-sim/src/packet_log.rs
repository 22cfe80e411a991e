//! The log of what becomes of packets on links that are captured.

use windlass_cc::Time;

use crate::config::Config;
use crate::course::Course;
use crate::results::PacketEvent;

/// Absent when no link is captured.
#[derive(Clone, Debug)]
pub(crate) struct PacketLog {
    captured: Vec<bool>,
    /// Link directions that a line follows.
    lines: Vec<bool>,
    /// Where the log is restricted to some spans of time.
    within: Vec<[Time; 2]>,
    /// Not yet in order: a transmission is logged when it is decided.
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
        let courses = config.links.iter().flat_map(|link| &link.course);
        let lines = courses.map(Course::has_line).collect();
        Some(PacketLog { captured, lines, within, packets: Vec::new() })
    }

    /// Whether a line follows this link direction.
    pub(crate) fn has_line(&self, link: u32) -> bool {
        self.lines[link as usize]
    }

    /// Whether packets of this link direction are logged at this moment.
    pub(crate) fn captures(&self, link: u32, time: Time) -> bool {
        let mut spans = self.within.iter();
        let now = self.within.is_empty() || spans.any(|[from, to]| (*from..=*to).contains(&time));
        self.captured[link as usize] && now
    }
}
