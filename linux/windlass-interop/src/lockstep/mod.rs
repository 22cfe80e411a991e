//! Random exchanges with a kernel and Windlass's endpoint at once, compared packet by packet.
//!
//! A [`Case`] is drawn from a seed. It has the settings, the application's plan, and a peer that reacts
//! to the stack by fixed rules. [`compare`] plays it against a kernel and the endpoint, and ends with the
//! first segment that differs. The exchange up to there is a packet script.

mod case;
mod compare;
mod draw;
mod exchange;
mod finding;
mod receive;
mod remote;
mod report;
mod run;
mod shrink;
mod timing;

pub use case::{Act, Case, Deed, Fate, Options, Receiver, Send};
pub use compare::{Clock, compare};
pub use finding::{Finding, Kind, Outcome, State};
pub use report::Report;
pub use run::{Played, Task, run};
pub use shrink::shrink;
