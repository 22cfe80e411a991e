//! What radios come to: totals of channels, of stations, and of the stations of a flow's nodes.

use serde::{Deserialize, Serialize};

use crate::routing::aodv::RoutingResult;

/// What the Wi-Fi stations of a flow's two nodes did during the run: all of a node's, in all cells,
/// and for whatever flow.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RadioUse {
    /// Time for which stations of the node that sends the data transmitted or received what was for
    /// them, seconds.
    pub sender_s: f64,
    /// The same of the node that receives the data.
    pub receiver_s: f64,
    /// Energy that the radios of the node that sends the data spent, joules; `None` if the scenario
    /// does not say what they draw.
    pub sender_j: Option<f64>,
    /// The same of the node that receives the data.
    pub receiver_j: Option<f64>,
}

/// Totals of a radio channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RadioResult {
    /// Name from the scenario.
    pub name: String,
    /// Fraction of the run during which at least one station transmitted.
    pub busy: f64,
    /// Time on the air of all frames together, over the length of the run. More than `busy` where
    /// stations transmit at the same time, colliding or out of earshot of each other.
    pub airtime: f64,
    /// One entry a station, in the scenario's order.
    pub stations: Vec<StationResult>,
    /// What came of routing, where packets find their own way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<RoutingResult>,
}

/// A total that only some radios have is not written where it is 0: what is stored of the others stays.
pub(crate) fn is_zero(total: &u64) -> bool {
    *total == 0
}

fn is_zero_s(time: &f64) -> bool {
    *time == 0.0
}

/// Totals of a station of a radio: of the packets that it was given to transmit, unless the text
/// says otherwise.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct StationResult {
    /// Name of its node.
    pub name: String,
    /// Packets handed to it for transmission.
    pub offered: u64,
    /// Packets that their receiver took, each once; broadcasts that have been transmitted.
    pub delivered: u64,
    /// Packets dropped because the queue was full.
    pub drops_queue: u64,
    /// Packets given up at the retry limit that their receiver had not taken.
    pub drops_retry: u64,
    /// Packets lost with the station's battery, or handed to it afterwards.
    #[serde(default)]
    pub drops_off: u64,
    /// Packets waiting or being tried at the end that their receiver has not taken.
    pub inside: u64,
    /// Of `delivered`: given up all the same, every acknowledgement having been lost.
    pub unconfirmed: u64,
    /// Data frames transmitted, retransmissions included.
    pub transmissions: u64,
    /// Data frames transmitted again.
    pub retransmissions: u64,
    /// RTS frames transmitted.
    pub rts_sent: u64,
    /// Attempts given up because every assessment found the channel busy (IEEE 802.15.4).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub access_failures: u64,
    /// Attempts that failed: no CTS or no acknowledgement came.
    pub failures: u64,
    /// Frames that arrived at this station, for whomever, and that others on the air destroyed.
    pub collisions_seen: u64,
    /// Frames that arrived at this station, for whomever, and that the error model took.
    pub frame_errors: u64,
    /// Frames for this station that it had taken before: their acknowledgement was lost.
    pub duplicates: u64,
    /// Broadcast packets of others that it received.
    pub broadcasts_received: u64,
    /// IP bytes delivered, as `delivered`.
    pub bytes: u64,
    /// Time on the air of its frames of every kind, seconds.
    pub airtime_s: f64,
    /// Data requests transmitted by a station that sleeps, repetitions included.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub polls: u64,
    /// Beacons transmitted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beacons: u64,
    /// Beacons of its access point that it received.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beacons_heard: u64,
    /// Aggregates of several data frames transmitted (A-MPDU).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub aggregates: u64,
    /// Data frames transmitted in these.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub aggregated: u64,
    /// Mean rate of the data frames that it transmitted to single stations, Mbit/s; `None` where rates are not adapted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_rate_mbps: Option<f64>,
    /// Time for which its radio transmitted, seconds: as `airtime_s`. This and the next five add up
    /// to the length of the run.
    #[serde(default)]
    pub transmit_s: f64,
    /// Time for which frames arrived that were for it or for all, whole or not, seconds.
    #[serde(default)]
    pub receive_s: f64,
    /// Time for which the channel was busy with something else, seconds.
    #[serde(default)]
    pub listen_s: f64,
    /// Time for which nothing was on the air, seconds.
    #[serde(default)]
    pub idle_s: f64,
    /// Time for which it slept, seconds.
    #[serde(default, skip_serializing_if = "is_zero_s")]
    pub sleep_s: f64,
    /// Time after its battery ran out, seconds.
    #[serde(default)]
    pub off_s: f64,
    /// Energy that its radio spent, joules; `None` if the scenario does not say what it draws.
    #[serde(default)]
    pub energy_j: Option<f64>,
    /// What its battery held at the end, joules; `None` for the mains.
    #[serde(default)]
    pub battery_left_j: Option<f64>,
    /// When its battery ran out, seconds; `None` if it did not.
    #[serde(default)]
    pub died_s: Option<f64>,
    /// Mean packets held, the one being tried included, over time.
    pub mean_queue_packets: f64,
    /// Mean wait of a packet until it was the first of the queue, milliseconds.
    pub mean_queue_delay_ms: f64,
    /// Mean time from then to its acknowledgement or end, milliseconds.
    pub mean_service_ms: f64,
    /// Most packets held at once.
    pub max_queue_packets: u64,
}
