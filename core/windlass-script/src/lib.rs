//! The language of packet scripts: arriving segments and expected departures, with times.
//!
//! A script is the peer of one connection and the application of its other end. This crate parses scripts and
//! plays them on any [`Stack`]. [`VirtualTime`] is Windlass's [`Endpoint`](windlass_tcp::Endpoint), for which
//! the script is also the clock. `windlass-interop` plays the scripts of `conformance/scripts` on kernels too.
//! `docs/src/guides/packet-scripts.md` describes the language.
//!
//! ```
//! use windlass_script::{Script, VirtualTime, World, play};
//!
//! let text = "
//!     title  A passive open answers with its own SYN
//!     source RFC 9293 section 3.5
//!     set    timestamps = off, sack = off, window_scaling = off
//!
//!     listen
//!     +0ms   < S 0 win 30000 <mss 1000>
//!            > S. 0 ack 1 <mss 1460>
//!     +20ms  < . 1 ack 1
//!            = state ESTABLISHED
//! ";
//! let script = Script::parse(text, "open.script").unwrap();
//! play(&script, World::Sim, &mut VirtualTime::new(&script.settings)).unwrap();
//! ```

mod ast;
mod error;
mod files;
mod ladder;
mod matching;
mod parse;
mod peer;
mod player;
mod settings;
mod stack;
mod virtual_time;
mod write;

pub use ast::*;
pub use error::{Problem, ScriptError};
pub use files::{EXTENSION, FileError, load};
pub use ladder::milliseconds;
pub use parse::{ON_OFF, words};
pub use peer::{CLOCK_AT_BEGIN, PEER_ISS, Peer, pattern};
pub use player::{Exchange, Mismatch, play, play_lines};
pub use settings::Settings;
pub use stack::{Departure, Seen, Stack, Tolerance};
pub use virtual_time::{ENDPOINT_ISS, VirtualTime};
