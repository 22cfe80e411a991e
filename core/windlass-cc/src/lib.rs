//! Congestion control as pure, integer state machines.
//!
//! This crate does not depend on sockets, clocks, packets on a wire or simulators. It answers one
//! question: *after an event on a connection, how much data may its sender have in flight?* It is
//! `no_std`, allocates no memory, and uses no floating point and no `unsafe`. Therefore the simulated
//! code can also run in a kernel data path or on a Cortex-M0.
//!
//! # The shape
//!
//! A [`Controller`] is a fold: `state' = f(parameters, connection, event)`.
//!
//! * **Parameters** are plain values that many connections share ([`Setup`], which holds the
//!   algorithm's own, such as [`reno::Params`]; [`AnyParams`] for an algorithm chosen by name).
//! * **The connection** is described by [`Conn`]: the host's state *after* it has processed the event
//!   (time, bytes in flight, smoothed RTT, recovery phase). Time is an input; a controller never reads
//!   a clock.
//! * **Events** are small structs: an acknowledgement ([`Ack`]), a change of recovery phase
//!   ([`Phase`]), an idle restart. [`Event`] contains them as data, for recording and replay.
//! * **The answer** is [`Control`]: `cwnd`, `ssthresh` and an optional pacing rate.
//!   [`Controller::control`] returns it without side effects.
//!
//! The parts of an algorithm are separate, so that they can be combined: congestion avoidance
//! ([`congestion_avoidance::CongestionAvoidance`]), slow start ([`slow_start`]), the window during loss
//! recovery ([`recovery::LossRecovery`]), and the retransmission timer ([`rto::RtoEstimator`]).
//!
//! # Numbers
//!
//! Volumes are bytes in `u64`. Times are nanoseconds in the newtypes [`Time`] and [`Span`]. Windows
//! have 16 fractional bits, so that `mss²/cwnd` per acknowledgement is not rounded to zero for windows
//! below 18 GB. Every operation saturates or is bounded by construction. The property tests cover the
//! whole input range.
//!
//! # Example
//!
//! ```
//! use windlass_cc::{Ack, AnyController, AnyParams, Conn, Setup, Span, Time};
//!
//! let mut params = AnyParams::by_name("reno").unwrap();
//! params.set_common(&Setup { initial_window: 2 * 1460, ..params.common() });
//! let mut conn = Conn::new(1460);
//! let mut reno = AnyController::init(&params, &conn);
//! assert_eq!(reno.control(&params, &conn).cwnd, 2920);
//!
//! // One acknowledgement of one segment in slow start adds one segment.
//! conn.now = Time::from_millis(40);
//! let ack = Ack { rtt: Span::from_millis(40), ..Ack::of(1460) };
//! reno.on_ack(&params, &conn, &ack);
//! assert_eq!(reno.control(&params, &conn).cwnd, 4380);
//! ```
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod algorithms;
pub mod arithmetic;
pub mod congestion_avoidance;
pub mod controller;
pub mod coupling;
pub mod cross_layer;
mod dispatch;
pub mod event;
pub mod flavour;
pub mod group;
pub mod info;
pub mod loss_based;
pub mod pacer;
pub mod params;
pub mod prr;
pub mod rate;
pub mod recovery;
pub mod registry;
pub mod rto;
pub mod setup;
pub mod slow_start;
pub mod time;

pub use algorithms::delay::{compound, fast, illinois, ledbat, mfast, mvegas, vegas, veno, yeah};
pub use algorithms::loss::{
    bic, cocoa3plus, cubic, dctcp, highspeed, htcp, hybla, prague, reno, scalable, tcp_modified,
    westwood,
};
pub use algorithms::model::{bbr, bbr3, copa};
pub use algorithms::multipath::{balia, bc_cps, dlia, emreno, lia, mfvl, mpfast, olia, wvegas};
pub use arithmetic::{filter, math, round, window};

pub use controller::{Controller, Event};
pub use coupling::coordinator::Coordinator;
pub use cross_layer::CrossLayer;
pub use event::{Ack, Conn, Control, Loss, Phase, RateSample, Undo, flags};
pub use flavour::{Change, Departure, Flavour};
pub use group::{Group, PathEvent, PathView};
pub use info::{Ecn, Info, Requirements, TraceField};
pub use pacer::Pacer;
pub use params::{Param, ParamKind, Parameters, Ratio};
pub use rate::{RateSampler, SentRecord};
pub use registry::{ALGORITHMS, AnyController, AnyParams, Setup};
pub use rto::{AnyRto, RtoEstimator, RttSample};
pub use time::{Rate, Span, Time};
