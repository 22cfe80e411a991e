//! The log of what becomes of packets on links that are captured.

use crate::config::Config;
use crate::results::PacketEvent;

/// Absent when no link is captured.
#[derive(Clone, Debug)]
pub(crate) struct PacketLog {
    captured: Vec<bool>,
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
        Some(PacketLog { captured, packets: Vec::new() })
    }

    /// Whether packets of this link direction are logged.
    pub(crate) fn captures(&self, link: u32) -> bool {
        self.captured[link as usize]
    }
}
