//! Radio cells of Wi-Fi and of 802.15.4: their keys, their reader and their writer.

mod air;
mod cell;
mod grid;
mod lowpan;
mod routing;
mod scheduling;
mod sleep;
mod used;
mod write;

pub(super) use air::AIR;
pub(super) use cell::{CELL, read, read_senders};
pub(super) use grid::{CHAIN, GRID, read_chain, read_grid};
pub(super) use routing::find_disjoint;
pub(super) use sleep::check_ends;
pub(super) use write::written;
