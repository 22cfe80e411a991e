//! Device traffic over successive connections: dialogues, reconnection after a loss, and power
//! cuts of the ends.
//!
//! One end, the *opener*, connects and begins each dialogue; the other end, the *listener*,
//! answers. Each end owns its connections (`connections.rs`). The opener's supervisor
//! (`opener.rs`) decides when it connects, and keeps the messages. Each connection has a number, which its packets carry
//! as a port. A packet of a dead connection therefore never reaches a later connection: its end
//! answers with a reset.
//!
//! The simulation carries no bytes. An end that writes hands the other end a list of the written
//! parts with their offsets, as the contents of the stream.

mod backoff;
mod connections;
mod contents;
mod end;
mod log;
mod loss;
mod opener;
pub(crate) mod plan;
mod result;

pub(crate) use end::SessionEnd;
pub use log::{Note, What};
pub use loss::Cause;
pub use plan::{Connect, Dialogue, Exchanges, Reconnect, Sessions, Side, Spread, Step};
pub use result::ConnectionsResult;
pub(crate) use result::{completed, failure, of_both, together};
