//! Descriptions of algorithms, slow starts and timers, which the command line and the generated
//! documentation print.

use crate::params::Param;
use crate::recovery::LossRecovery;

/// Description of an algorithm, a slow start or a timer.
#[derive(Debug)]
pub struct Info {
    /// Identifier that a user types, lower case.
    pub id: &'static str,
    /// Name in papers.
    pub name: &'static str,
    /// Origin: RFC with section, or paper.
    pub origin: &'static str,
    /// BibTeX key of the origin.
    pub citation: &'static str,
    /// One paragraph: the operation, and the deviations from the origin.
    pub description: &'static str,
    /// Parameters, in the order of display.
    pub params: &'static [Param],
    /// Fields of the inner state in a trace, in order. Window, threshold and pacing rate belong to all
    /// algorithms and are not listed.
    pub trace: &'static [TraceField],
}

/// One named integer of an algorithm's inner state.
#[derive(Debug)]
pub struct TraceField {
    /// Column name, with the unit at its end if it has a unit.
    pub name: &'static str,
    /// Unit of the integer.
    pub unit: &'static str,
}

/// Requirements of an algorithm on its host, unless the stack sets another value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Requirements {
    /// Loss recovery.
    pub recovery: LossRecovery,
    /// Identifier of the slow start, `None` for an algorithm with its own start-up that cannot be
    /// combined.
    pub slow_start: Option<&'static str>,
    /// Delivery-rate samples in [`Ack::rate`](crate::Ack::rate).
    pub rate_samples: bool,
    /// Explicit congestion notification.
    pub ecn: Ecn,
    /// True if its packets carry ECT(1), the identifier of L4S (RFC 9331), and not ECT(0).
    pub l4s: bool,
    /// Reports of the node's lower layers
    /// ([`Controller::on_cross_layer`](crate::Controller::on_cross_layer)).
    pub cross_layer: bool,
}

impl Requirements {
    /// Requirements of a present loss-based algorithm: proportional rate reduction, standard slow
    /// start, and classic ECN if the stack supports it.
    pub const LOSS_BASED: Requirements = Requirements {
        recovery: LossRecovery::Prr,
        slow_start: Some("standard"),
        rate_samples: false,
        ecn: Ecn::Classic,
        l4s: false,
        cross_layer: false,
    };
}

/// Signal by which an algorithm receives marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ecn {
    /// None: its packets are not ECN-capable.
    None,
    /// [`Phase::Cwr`](crate::Phase::Cwr), once per RTT (RFC 3168).
    Classic,
    /// [`Ack::ce`](crate::Ack::ce), the exact number of marked bytes: the receiver echoes each change
    /// of the mark at once (RFC 8257 section 3.2).
    Exact,
}

/// Passes values to a trace, each with the field at its index.
pub(crate) fn show(
    fields: &'static [TraceField],
    values: &[u64],
    sink: &mut dyn FnMut(&'static TraceField, u64),
) {
    for (field, value) in fields.iter().zip(values) {
        sink(field, *value);
    }
}
