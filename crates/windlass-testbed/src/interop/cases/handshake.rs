//! Opening connections.

use super::super::Side;
use super::super::faults::Which;
use super::super::plan::{Case, Plan};

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case::new("transfer", "one end opens, sends 100 kB and closes; every byte arrives", Plan::transfer(100_000)),
        Case::new(
            "lost-syn",
            "the SYN is sent again after the initial timeout (RFC 6298 section 2)",
            Plan::transfer(20_000).lose(Side::Sender, Which::Syn(1, 1)),
        ),
    ]
}
