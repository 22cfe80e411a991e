//! The sending half: an acknowledgement's way ([`ack`]), what is lost ([`detect`]) and how it is repaired
//! ([`repair`]), reductions taken back ([`undo`]), what leaves ([`transmit`]) and when ([`pacing`],
//! [`timing`]).

mod ack;
mod deliver;
mod detect;
mod pacing;
mod repair;
mod timing;
mod transmit;
mod undo;
mod usage;

pub(super) use detect::Rack;
pub(super) use timing::{Timed, mix};
pub(super) use undo::SpuriousDetector;
pub(super) use usage::Usage;
