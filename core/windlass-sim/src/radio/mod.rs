//! A radio channel that stations share. The stations use IEEE 802.11's distributed coordination function
//! (DCF), or the unslotted CSMA-CA of IEEE 802.15.4 with 6LoWPAN above it.
//!
//! * [`config`] and [`phy`] define a radio: its physical layer, its stations and their positions. [`check`]
//!   finds configurations that cannot be simulated.
//! * [`propagation`] and [`modulation`] compute the received power and the bit-error rate.
//! * [`channel`] lists the receivers of each station and carries frames.
//! * [`station`] has a queue, a back-off and a view of the channel. [`energy`] measures its energy.
//! * [`mac`] has the parts that both protocols share, in two halves: `exchange` for the transmitter,
//!   `reception` for the receiver. It also has the parts that only DCF uses. `csma` has the channel access of
//!   IEEE 802.15.4 and [`lowpan`] its frames.
//! * [`sleep`] describes sleeping stations, and `indirect` implements them.
//! * `rates` lists the rates of frames, and [`rate_adaptation`] chooses among them.
//! * [`aggregation`] limits the packets of one frame, `block_ack` records their state, and `aggregate` sends
//!   and receives such frames.
//! * [`beacons`] describes the beacons of an access point, and `announce` sends them.
//! * [`scheduling`] chooses the packet that a station transmits next.
//! * `network` connects radios to the [`crate::Simulation`]. A hop of a route may be a hop between two
//!   stations. A node with a station may also have links and other stations.
//!
//! The channel itself has no access point. Any two stations in range may exchange frames, and the routes
//! decide which stations do.

mod access;
mod aggregate;
pub mod aggregation;
mod announce;
pub mod beacons;
mod block_ack;
pub mod channel;
pub mod check;
pub mod config;
mod csma;
pub mod energy;
mod exchange;
mod indirect;
pub mod lowpan;
pub mod mac;
pub mod modulation;
pub(crate) mod network;
pub mod phy;
pub mod propagation;
pub mod queued;
pub mod rate_adaptation;
pub(crate) mod rates;
mod reception;
pub mod results;
pub mod scheduling;
pub mod service;
pub mod sleep;
pub mod station;

pub use aggregation::Aggregation;
pub use beacons::Beacons;
pub use config::{
    FrameErrors, Hops, LateCapture, PathLoss, Position, RadioConfig, Retries, RtsThreshold,
    StationConfig,
};
pub use energy::Consumption;
pub use lowpan::{Framing, Lowpan};
pub use mac::{Outcome, Radio};
pub use phy::{Phy, Rate};
pub use queued::{BROADCAST, Queued};
pub use rate_adaptation::Minstrel;
pub use scheduling::Scheduling;
