//! Results of radios: totals of channels, of stations, and of the stations at a flow's nodes.

use serde::{Deserialize, Serialize};

use crate::routing::aodv::RoutingResult;

/// Use of the Wi-Fi stations of a flow's two nodes during the run. All stations of the node in all cells are
/// included, and their traffic of other flows too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RadioUse {
    /// Time for which stations of the sending node transmitted, or received frames for them, seconds.
    pub sender_s: f64,
    /// Time for which stations of the receiving node transmitted, or received frames for them, seconds.
    pub receiver_s: f64,
    /// Energy of the radios of the sending node, joules; `None` if the scenario does not specify their power.
    pub sender_j: Option<f64>,
    /// Energy of the radios of the receiving node, joules; `None` if the scenario does not specify their
    /// power.
    pub receiver_j: Option<f64>,
}

/// Totals of a radio channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RadioResult {
    /// Name from the scenario.
    pub name: String,
    /// Fraction of the run during which at least one station transmitted.
    pub busy: f64,
    /// Total airtime of all frames over the length of the run. It exceeds `busy` if stations transmit at the
    /// same time, because they collide or are out of range of each other.
    pub airtime: f64,
    /// One entry per station, in the scenario's order.
    pub stations: Vec<StationResult>,
    /// True for the radio of a link, whose only station is the device.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub link: bool,
    /// Results of routing, if the radio uses AODV.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<RoutingResult>,
}

/// True if a total is 0. Totals that only some radios have are not written if they are 0, so that stored
/// results of the other radios do not change.
pub(crate) fn is_zero(total: &u64) -> bool {
    *total == 0
}

fn is_zero_s(time: &f64) -> bool {
    *time == 0.0
}

/// Totals of a station of a radio. They count the packets that the station had to transmit, unless stated
/// otherwise.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct StationResult {
    /// Name of its node.
    pub name: String,
    /// Packets handed to it for transmission.
    pub offered: u64,
    /// Packets that their receiver received, each counted once, and transmitted broadcasts.
    pub delivered: u64,
    /// Packets dropped because the queue was full.
    pub drops_queue: u64,
    /// Packets given up at the retry limit that their receiver had not received.
    pub drops_retry: u64,
    /// Packets lost when the station's battery became empty or it was switched off, or handed to it afterwards.
    #[serde(default)]
    pub drops_off: u64,
    /// Packets in the queue or in transmission at the end of the run that their receiver has not received.
    pub inside: u64,
    /// Part of `delivered` that the station gave up, because every acknowledgement was lost.
    pub unconfirmed: u64,
    /// Transmitted data frames, with retransmissions.
    pub transmissions: u64,
    /// Retransmitted data frames.
    pub retransmissions: u64,
    /// Transmitted RTS frames.
    pub rts_sent: u64,
    /// Attempts given up because every assessment found the channel busy (IEEE 802.15.4).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub access_failures: u64,
    /// Failed attempts: no CTS or no acknowledgement arrived.
    pub failures: u64,
    /// Frames that arrived at this station, for any receiver, and that collided with other frames.
    pub collisions_seen: u64,
    /// Frames that arrived at this station, for any receiver, and that the error model destroyed.
    pub frame_errors: u64,
    /// Frames for this station that it had received before, because their acknowledgement was lost.
    pub duplicates: u64,
    /// Broadcast packets received from other stations.
    pub broadcasts_received: u64,
    /// IP bytes of the packets in `delivered`.
    pub bytes: u64,
    /// Airtime of all its frames, seconds.
    pub airtime_s: f64,
    /// Data requests transmitted by a sleeping station, with retransmissions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub polls: u64,
    /// Transmitted beacons.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beacons: u64,
    /// Received beacons of its access point.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beacons_heard: u64,
    /// Transmitted aggregates of several data frames (A-MPDU).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub aggregates: u64,
    /// Data frames transmitted in aggregates.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub aggregated: u64,
    /// Mean rate of its data frames to single stations, Mbit/s; `None` without rate adaptation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_rate_mbps: Option<f64>,
    /// Time for which its radio transmitted, seconds; equal to `airtime_s`. The sum of this and the next five
    /// times is the length of the run.
    #[serde(default)]
    pub transmit_s: f64,
    /// Time for which frames for it or for all stations arrived, with or without errors, seconds.
    #[serde(default)]
    pub receive_s: f64,
    /// Time for which the channel was busy with other signals, seconds.
    #[serde(default)]
    pub listen_s: f64,
    /// Time for which it sensed no signal, seconds.
    #[serde(default)]
    pub idle_s: f64,
    /// Time for which it set up connections, seconds; part of `listen_s`. Only for radios of links.
    #[serde(default, skip_serializing_if = "is_zero_s")]
    pub connect_s: f64,
    /// Connections begun. Only for cellular radios of links.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub connections: u64,
    /// Energy that its radio would have spent without packets, joules. Only for radios of links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_j: Option<f64>,
    /// Time for which it slept, seconds.
    #[serde(default, skip_serializing_if = "is_zero_s")]
    pub sleep_s: f64,
    /// Time after its battery became empty or it was switched off, seconds.
    #[serde(default)]
    pub off_s: f64,
    /// Energy of its radio, joules; `None` if the scenario does not specify its power.
    #[serde(default)]
    pub energy_j: Option<f64>,
    /// Energy left in its battery at the end, joules; `None` for mains power.
    #[serde(default)]
    pub battery_left_j: Option<f64>,
    /// Time at which its battery became empty or it was switched off, seconds; `None` if this did not happen.
    #[serde(default)]
    pub died_s: Option<f64>,
    /// Mean number of packets held over time, with the packet in transmission.
    pub mean_queue_packets: f64,
    /// Mean wait of a packet until it was the first of the queue, milliseconds.
    pub mean_queue_delay_ms: f64,
    /// Mean time of a packet from the head of the queue until it is acknowledged or given up, milliseconds.
    pub mean_service_ms: f64,
    /// Maximum number of packets held at once.
    pub max_queue_packets: u64,
}
