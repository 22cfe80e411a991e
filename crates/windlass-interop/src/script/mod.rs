//! Scripted packet tests: arriving segments and expected departures, with times.
//!
//! A script is the peer of one connection and the application of its other end. It is compared with
//! Windlass's [`Endpoint`](windlass_tcp::Endpoint) in virtual time, where the script is also the clock, and
//! with this machine's kernel through a TUN device. The same script passes on both stacks. If a stack is
//! known to differ, the script states the difference with its reason, and this is checked too.
//! `docs/src/guides/packet-scripts.md` describes the language.
//!
//! ```
//! use windlass_interop::script::{Script, World, run};
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
//! run(&script, World::Sim).unwrap();
//! ```

mod ast;
mod error;
mod files;
mod kernel;
mod ladder;
mod matching;
mod parse;
mod peer;
mod player;
mod run;
mod settings;
mod stack;
mod virtual_time;
mod write;

pub(crate) use ast::name_of;
pub use ast::*;
pub use error::ScriptError;
pub use files::{EXTENSION, FileError, load};
pub use kernel::Kernel;
pub(crate) use ladder::milliseconds;
pub(crate) use peer::Peer;
pub use peer::{CLOCK_AT_BEGIN, PEER_ISS};
pub use player::{Mismatch, play};
pub use run::{Trouble, available, run, run_all};
pub use settings::Settings;
pub use stack::{Departure, Seen, Stack, Tolerance};
pub use virtual_time::{ENDPOINT_ISS, VirtualTime};
