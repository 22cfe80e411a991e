//! Where a paper or RFC and a real stack differ in an algorithm: the differences stand beside the
//! algorithm's parameters, and the host's stack chooses.

crate::choice! {
    /// Whose version of an algorithm.
    pub enum Flavour {
        /// The paper's or RFC's, which the defaults of the parameters are.
        Rfc = "rfc",
        /// The kernel's.
        Linux = "linux",
        /// ns-3's.
        Ns3 = "ns3",
    }
}

/// One difference of a flavour from the paper or RFC.
#[derive(Debug)]
pub struct Departure {
    /// Whose it is.
    pub flavour: Flavour,
    /// What differs.
    pub change: Change,
    /// Why, naming the place in the stack's source.
    pub why: &'static str,
}

/// What a flavour changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// A parameter of this name, to a value as its [`ParamKind`](crate::ParamKind) keeps it.
    Param(&'static str, u64),
    /// The slow start, by its identifier. It has flavours of its own.
    SlowStart(&'static str),
    /// How many segments an acknowledgement counts for at most
    /// ([`Setup::ack_limit`](crate::Setup::ack_limit)), whatever the stack has.
    AckLimit(u32),
}

impl Departure {
    /// A parameter of the kernel's.
    pub const fn linux(name: &'static str, value: u64, why: &'static str) -> Departure {
        Departure { flavour: Flavour::Linux, change: Change::Param(name, value), why }
    }

    /// A parameter of ns-3's.
    pub const fn ns3(name: &'static str, value: u64, why: &'static str) -> Departure {
        Departure { flavour: Flavour::Ns3, change: Change::Param(name, value), why }
    }

    /// ns-3 counts an acknowledgement as one segment here, whatever it acknowledges.
    pub const fn ns3_per_ack(why: &'static str) -> Departure {
        Departure { flavour: Flavour::Ns3, change: Change::AckLimit(1), why }
    }
}

/// The segments that an acknowledgement counts for at most, where a flavour says so.
pub fn ack_limit(departures: &[Departure], flavour: Flavour) -> Option<u32> {
    departures.iter().filter(|d| d.flavour == flavour).find_map(|d| match d.change {
        Change::AckLimit(segments) => Some(segments),
        _ => None,
    })
}
