//! TCP endpoints without input or output.
//!
//! An [`Endpoint`] is one end of a connection as a plain value. It has no access to a clock, a socket or a
//! simulator. Its owner passes each segment with its arrival time, takes the segments that the endpoint
//! sends, and calls it at its next deadline. The same code runs in a simulation and behind a real packet
//! interface.
//!
//! # Driving an endpoint
//!
//! After each call that may change the endpoint, call [`Endpoint::poll_transmit`] until it returns `None`,
//! and then read [`Endpoint::deadline`]:
//!
//! | event | call |
//! | --- | --- |
//! | the application opens, writes, reads, closes | [`Endpoint::connect`], [`Endpoint::listen`], [`Endpoint::offer`], [`Endpoint::read`], [`Endpoint::close`], [`Endpoint::close_both`], [`Endpoint::abort`] |
//! | a segment arrived | [`Endpoint::on_segment`] |
//! | the deadline is reached | [`Endpoint::on_deadline`] |
//!
//! ```
//! use windlass_cc::{AnyParams, Time};
//! use windlass_tcp::{Endpoint, Preset, Profile, Seq, State};
//!
//! let stack = Preset::by_name("rfc").unwrap().config;
//! let p = Profile::new(stack, AnyParams::by_name("reno").unwrap(), 1500);
//! let mut client = Endpoint::new(&p, Seq(1));
//! let mut server = Endpoint::new(&p, Seq(2));
//! server.listen();
//! client.connect();
//! client.offer(5_000);
//!
//! // A network without delay: each segment arrives at once.
//! let now = Time::from_millis(1);
//! loop {
//!     let mut quiet = true;
//!     while let Some(segment) = client.poll_transmit(&p, now) {
//!         server.on_segment(&p, now, &segment);
//!         quiet = false;
//!     }
//!     while let Some(segment) = server.poll_transmit(&p, now) {
//!         client.on_segment(&p, now, &segment);
//!         quiet = false;
//!     }
//!     if quiet {
//!         break;
//!     }
//! }
//! assert_eq!(client.state(), State::Established);
//! assert_eq!(server.readable(), 5_000);
//! ```
//!
//! # Modules
//!
//! * [`stack`] has the behaviour as data: each choice of an operating system or of a paper's simulator, with
//!   named presets. A [`Profile`] adds the algorithm and the path's MTU.
//! * [`segment`] and [`seq`] describe a segment as a value, without its payload. Offsets of 64 bits identify
//!   the bytes of a stream. The owner of the bytes looks them up by offset.
//! * [`accurate_option`] has the option of accurate ECN.
//! * [`wire`] encodes segments as packets and decodes packets.
//! * [`scoreboard`] records each segment that was sent and is not yet acknowledged. All kinds of loss
//!   recovery use it, with and without SACK.
//! * [`endpoint`] implements RFC 9293 with the recovery of RFC 5681, 6582, 3042, 6675, 9937 and 8985. It
//!   detects unnecessary reductions (RFC 5682, 3522 and 3708) and handles ECN marks (RFC 3168 and 8257). It
//!   has the stack's retransmission timer and the options of RFC 7323, 2018 and 2883. The endpoint decides
//!   when losses are detected and which data are retransmitted. `windlass-cc` decides the size of cwnd.
//! * [`decision`] is an optional record of an endpoint's decisions and their causes.
//! * [`mptcp`] implements RFC 8684: a connection over several endpoints, driven like a single endpoint.
//! * [`ring`] grows the rings of segments in flight.
//! * [`fitness`] ranks users by their attributes: subflows at a sender, or flows at a radio station.
//! * [`quick_start`] has the header options of RFC 4782.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod accurate_option;
pub mod decision;
pub mod endpoint;
pub mod fitness;
pub mod mptcp;
pub mod quick_start;
pub mod reassembly;
pub mod ring;
pub mod scoreboard;
pub mod segment;
pub mod seq;
pub mod stack;
pub mod wire;

pub use decision::{Cause, Decision, Journal, LossRule, LostSegment};
pub use endpoint::{CongestionControl, Endpoint, Failure, Profile, State, Stats};
pub use scoreboard::Scoreboard;
pub use segment::{Codepoint, Flags, Options, SackBlock, Segment, Timestamps};
pub use seq::Seq;
pub use stack::{InitialWindow, Pacing, Preset, StackConfig};
