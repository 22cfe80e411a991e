//! A radio channel that stations share: under IEEE 802.11's distributed coordination function (DCF), or
//! under the unslotted CSMA-CA of IEEE 802.15.4 with 6LoWPAN above it.
//!
//! * [`config`] and [`phy`] say what a radio is: its physical layer, its stations and where they
//!   stand; [`check`] what can be simulated.
//! * [`propagation`] and [`modulation`] say what arrives where, and how many bits are wrong.
//! * [`channel`] knows who hears whom and carries frames; [`station`] has a queue, a back-off and a
//!   view of the channel, and [`energy`] says what that costs; [`mac`] is what any protocol between them
//!   is made of, in two halves: `exchange` for who transmits, `reception` for who listens. What is DCF's
//!   alone stands there; `csma` has what IEEE 802.15.4 does in its place, [`lowpan`] its frames; [`sleep`] says
//!   what its stations do that sleep, and `indirect` does it.
//! * `rates` knows which rates frames go at; [`rate_adaptation`] chooses among them, [`aggregation`] says what
//!   goes into one frame, `block_ack` what became of it, and `aggregate` does it; [`beacons`] are what `announce` sends.
//! * [`scheduling`] says whose packet a station transmits next.
//! * `network` joins radios to the [`crate::Simulation`]: a hop of a route may be one between two
//!   stations, and a node with a station may have links and other stations too.
//!
//! There is no access point in it. Whoever is in range of each other may talk, and routes decide
//! who does.

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
