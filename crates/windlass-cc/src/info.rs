//! What an algorithm, a slow start or a timer says of itself: printed by the command line and the
//! generated documentation.

use crate::params::Param;
use crate::recovery::LossRecovery;

/// Description of an algorithm, a slow start or a timer.
#[derive(Debug)]
pub struct Info {
    /// Identifier as a user types it, lower case.
    pub id: &'static str,
    /// Name as a paper prints it.
    pub name: &'static str,
    /// Where it comes from: RFC with section, or paper.
    pub origin: &'static str,
    /// BibTeX key of the origin.
    pub citation: &'static str,
    /// One paragraph: what it does, and where it departs from its origin.
    pub description: &'static str,
    /// Parameters, in the order in which they are shown.
    pub params: &'static [Param],
    /// Fields of its inner state that tracing shows, in order; window, threshold and pacing rate
    /// are everybody's and not listed.
    pub trace: &'static [TraceField],
}

/// One named integer of an algorithm's inner state.
#[derive(Debug)]
pub struct TraceField {
    /// Column name, with the unit at its end where there is one.
    pub name: &'static str,
    /// Unit of the integer.
    pub unit: &'static str,
}

/// What an algorithm wants of the host that runs it, unless the stack says otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Requirements {
    /// Loss recovery.
    pub recovery: LossRecovery,
    /// Identifier of the slow start, `None` for an algorithm that starts in its own way and cannot
    /// be combined.
    pub slow_start: Option<&'static str>,
    /// Delivery-rate samples in [`Ack::rate`](crate::Ack::rate).
    pub rate_samples: bool,
    /// Explicit congestion notification.
    pub ecn: Ecn,
    /// What the node's lower layers know
    /// ([`Controller::on_cross_layer`](crate::Controller::on_cross_layer)).
    pub cross_layer: bool,
}

impl Requirements {
    /// What a loss-based algorithm of today wants: proportional rate reduction, standard slow
    /// start, classic ECN where the stack has it.
    pub const LOSS_BASED: Requirements = Requirements {
        recovery: LossRecovery::Prr,
        slow_start: Some("standard"),
        rate_samples: false,
        ecn: Ecn::Classic,
        cross_layer: false,
    };
}

/// How an algorithm hears of marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ecn {
    /// Not at all: its packets are not ECN-capable.
    None,
    /// As [`Phase::Cwr`](crate::Phase::Cwr), once a round trip (RFC 3168).
    Classic,
    /// As [`Ack::ce`](crate::Ack::ce), byte for byte: the receiver echoes each change of mark at
    /// once (RFC 8257 section 3.2).
    Exact,
}

/// Hands values to a trace, each with the field at its place.
pub(crate) fn show(
    fields: &'static [TraceField],
    values: &[u64],
    sink: &mut dyn FnMut(&'static TraceField, u64),
) {
    for (field, value) in fields.iter().zip(values) {
        sink(field, *value);
    }
}
