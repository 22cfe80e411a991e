//! TCP endpoints without input or output.
//!
//! An [`Endpoint`] is one end of a connection as a plain value. It never sees a clock, a socket or a
//! simulator: the owner hands it segments with the time at which they arrive, takes the segments
//! that it wants to send, and calls it when its next deadline has come. The same code runs in a
//! simulation and behind a real packet interface.
//!
//! # Driving an endpoint
//!
//! After anything that may have changed it, poll [`Endpoint::poll_transmit`] until it is silent and
//! look at [`Endpoint::deadline`]:
//!
//! | what happened | call |
//! | --- | --- |
//! | the application opens, writes, reads, closes | [`Endpoint::connect`], [`Endpoint::listen`], [`Endpoint::offer`], [`Endpoint::read`], [`Endpoint::close`], [`Endpoint::close_both`], [`Endpoint::abort`] |
//! | a segment arrived | [`Endpoint::on_segment`] |
//! | the deadline has come | [`Endpoint::on_deadline`] |
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
//! // A network of no length: what one side sends, the other has.
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
//! # What is where
//!
//! * [`stack`] is behaviour as data: every choice that an operating system or a paper's simulator
//!   makes, with named presets. A [`Profile`] adds the algorithm and the path's MTU.
//! * [`segment`] and [`seq`] are a segment as a value, without its payload: a stream is known by its
//!   offsets, 64 bits wide inside, and whoever owns the bytes looks them up there.
//! * [`wire`] turns segments into packets and back.
//! * [`scoreboard`] is what was sent and is not yet acknowledged, segment by segment: one for every
//!   kind of loss recovery, with SACK or without.
//! * [`endpoint`] is RFC 9293 with the recovery of RFC 5681, 6582, 3042, 6675, 9937 and 8985, the
//!   detection of unfounded reductions of RFC 5682, 3522 and 3708, the marks of RFC 3168 and 8257,
//!   a timer of the stack's choice and the options of RFC 7323, 2018 and 2883. When losses are found
//!   and what is retransmitted is decided here; how large the window is, in `windlass-cc`.
//! * [`decision`] is the record of what an endpoint decides, and why, where one is kept.
//! * [`mptcp`] is RFC 8684: a connection over several endpoints, driven as one of them is.
//! * [`fitness`] orders users by what is known of them: subflows at a sender, flows at a station of a radio.
//! * [`quick_start`] is what RFC 4782 puts into headers.
#![forbid(unsafe_code)]

pub mod decision;
pub mod endpoint;
pub mod fitness;
pub mod mptcp;
pub mod quick_start;
pub mod reassembly;
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
