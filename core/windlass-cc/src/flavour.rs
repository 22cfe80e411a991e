//! Deviations of real stacks from the paper or RFC of an algorithm. They are listed with the
//! algorithm's parameters, and the host's stack selects one.

crate::choice! {
    /// Implementation of an algorithm.
    pub enum Flavour {
        /// The paper or RFC, which gives the defaults of the parameters.
        Rfc = "rfc",
        /// The Linux kernel.
        Linux = "linux",
        /// ns-3.
        Ns3 = "ns3",
    }
}

/// One deviation of an implementation from the paper or RFC.
#[derive(Debug)]
pub struct Departure {
    /// The implementation that deviates.
    pub flavour: Flavour,
    /// The deviation.
    pub change: Change,
    /// Reason, with the place in the stack's source.
    pub why: &'static str,
}

/// Setting that a deviation changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// The parameter of this name, to a value in the representation of its
    /// [`ParamKind`](crate::ParamKind).
    Param(&'static str, u64),
    /// The slow start, by its identifier. A slow start has its own deviations.
    SlowStart(&'static str),
    /// Maximum number of segments that an acknowledgement counts
    /// ([`Setup::ack_limit`](crate::Setup::ack_limit)), instead of the stack's limit.
    AckLimit(u32),
    /// Growth of cwnd only if the last segment left less than a segment of it free: in congestion
    /// avoidance, and if `in_slow_start` also in slow start. The host measures this.
    Filled {
        /// True if slow start has the condition too.
        in_slow_start: bool,
    },
}

impl Departure {
    /// Deviation of a parameter in the kernel.
    pub const fn linux(name: &'static str, value: u64, why: &'static str) -> Departure {
        Departure { flavour: Flavour::Linux, change: Change::Param(name, value), why }
    }

    /// Deviation of a parameter in ns-3.
    pub const fn ns3(name: &'static str, value: u64, why: &'static str) -> Departure {
        Departure { flavour: Flavour::Ns3, change: Change::Param(name, value), why }
    }

    /// Deviation of ns-3, which counts each acknowledgement as one segment, regardless of the
    /// acknowledged data.
    pub const fn ns3_per_ack(why: &'static str) -> Departure {
        Departure { flavour: Flavour::Ns3, change: Change::AckLimit(1), why }
    }

    /// Deviation of ns-3, whose algorithms decide separately about the growth of an unfilled cwnd.
    pub const fn ns3_filled(in_slow_start: bool, why: &'static str) -> Departure {
        Departure { flavour: Flavour::Ns3, change: Change::Filled { in_slow_start }, why }
    }
}

/// Maximum number of segments that an acknowledgement counts, if the implementation sets a limit.
pub fn ack_limit(departures: &[Departure], flavour: Flavour) -> Option<u32> {
    departures.iter().filter(|d| d.flavour == flavour).find_map(|d| match d.change {
        Change::AckLimit(segments) => Some(segments),
        _ => None,
    })
}

/// The condition of [`Change::Filled`], if the implementation has it: true if slow start has it too.
pub fn filled(departures: &[Departure], flavour: Flavour) -> Option<bool> {
    departures.iter().filter(|d| d.flavour == flavour).find_map(|d| match d.change {
        Change::Filled { in_slow_start } => Some(in_slow_start),
        _ => None,
    })
}
