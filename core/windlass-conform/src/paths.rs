//! Sibling paths and lower layers in a vector.

use serde::{Deserialize, Serialize};
use windlass_cc::group::MAX_PATHS;
use windlass_cc::{CrossLayer, Group, PathView, Rate, Span};

use super::words::{PHASES, known, meaning, word};

/// One path of the connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields of `PathView`")]
pub struct PathLine {
    pub cwnd: u64,
    pub ssthresh: u64,
    /// Unknown if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub srtt_ns: Option<u64>,
    /// Unknown if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rtt_ns: Option<u64>,
    pub disclosed: u64,
    pub mss: u32,
    pub phase: String,
}

impl PathLine {
    /// The line of one path.
    pub fn of(path: &PathView) -> PathLine {
        PathLine {
            cwnd: path.cwnd,
            ssthresh: path.ssthresh,
            srtt_ns: known(path.srtt),
            min_rtt_ns: known(path.min_rtt),
            disclosed: path.disclosed,
            mss: path.mss,
            phase: word(&PHASES, path.phase),
        }
    }

    fn view(&self) -> Result<PathView, String> {
        Ok(PathView {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
            srtt: self.srtt_ns.map_or(Span::NONE, Span),
            min_rtt: self.min_rtt_ns.map_or(Span::NONE, Span),
            disclosed: self.disclosed,
            mss: self.mss,
            phase: meaning(&PHASES, "phase", &self.phase)?,
        })
    }
}

/// The group of these paths, for the path at index `own`.
pub(crate) fn group(paths: &[PathLine], own: usize, mode: u8) -> Result<Group, String> {
    if paths.is_empty() || paths.len() > MAX_PATHS {
        let count = paths.len();
        return Err(format!("`paths` lists {count}; a connection has 1 to {MAX_PATHS}"));
    }
    if own >= paths.len() {
        let last = paths.len() - 1;
        return Err(format!("`own` is {own}; it must be a place in `paths`, 0 to {last}"));
    }
    let views: Result<Vec<PathView>, String> = paths.iter().map(PathLine::view).collect();
    Ok(Group::new(views?).seen_from(own, mode))
}

/// Data of the node's lower layers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the fields of `CrossLayer`")]
pub struct BelowLine {
    pub queue_len: u32,
    pub queue_limit: u32,
    pub hops: u32,
    pub failure_share: u32,
    pub battery: u32,
    pub service_rate: u64,
    pub service_time_ns: u64,
    /// Unknown if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_rtt_ns: Option<u64>,
}

impl BelowLine {
    /// The line of a snapshot.
    pub fn of(l: &CrossLayer) -> BelowLine {
        BelowLine {
            queue_len: l.queue_len,
            queue_limit: l.queue_limit,
            hops: l.hops,
            failure_share: l.failure_share,
            battery: l.battery,
            service_rate: l.service_rate.0,
            service_time_ns: l.service_time.0,
            base_rtt_ns: known(l.base_rtt),
        }
    }

    pub(crate) fn snapshot(&self) -> CrossLayer {
        CrossLayer {
            queue_len: self.queue_len,
            queue_limit: self.queue_limit,
            hops: self.hops,
            failure_share: self.failure_share,
            battery: self.battery,
            service_rate: Rate(self.service_rate),
            service_time: Span(self.service_time_ns),
            base_rtt: self.base_rtt_ns.map_or(Span::NONE, Span),
        }
    }
}
