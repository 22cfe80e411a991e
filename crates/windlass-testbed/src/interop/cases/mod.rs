//! The cases.

mod handshake;

use super::plan::Case;

/// All cases, in the order in which they are listed.
pub fn cases() -> Vec<Case> {
    handshake::cases()
}
