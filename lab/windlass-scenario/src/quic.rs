//! The limits of flows whose ends are connections of a QUIC library.

use crate::fields::Fields;
use crate::library::Library;
use crate::model::{FlowSpec, Read, Traffic};
use crate::problem::Problem;
use crate::stack;

/// The smallest IP packet size that a path must allow: a datagram of 1200 bytes (RFC 9000 section 14) with its headers.
const MIN_MTU: u32 = 1228;

impl FlowSpec {
    /// The reason why a flow with a library cannot run over a path with this MTU, and the key that causes it.
    pub fn unfit_for_library(&self, mtu: u32) -> Option<(&'static str, String)> {
        let library = self.library.as_ref()?;
        let unfit = self.controller.as_ref().and_then(|params| library.unfit(params));
        if let Some(reason) = unfit {
            return Some(("algorithm", reason));
        }
        if !matches!(self.traffic, Traffic::Bulk { .. }) {
            let reason =
                "a flow of quinn has traffic of the kind `bulk`, with `bytes` or without end";
            return Some(("traffic", reason.to_owned()));
        }
        if self.multipath.is_some() {
            return Some(("multipath", "is for TCP; quinn has one path".to_owned()));
        }
        if self.read != Read::Immediate {
            return Some((
                "read",
                "is for TCP; the application of a QUIC flow reads immediately".to_owned(),
            ));
        }
        let reason = || {
            format!(
                "QUIC needs packets of {MIN_MTU} bytes (RFC 9000 section 14), and the path's MTU is {mtu} bytes"
            )
        };
        (mtu < MIN_MTU).then(|| ("algorithm", reason()))
    }
}

/// Refuses the keys of a flow that do not suit a library.
pub(crate) fn refused(library: &Library, fields: &Fields) -> Result<(), Problem> {
    let of_tcp = ["stack", "home", "connect", "reconnect", "dialogue"];
    if let Some(field) = of_tcp.iter().find_map(|key| fields.field(key)) {
        return Err(
            field.error("is for TCP, and the flow is a QUIC connection of quinn; leave this out")
        );
    }
    let of_algorithms = ["params", "slow_start", stack::FLAVOUR];
    match of_algorithms.iter().find_map(|key| fields.field(key)) {
        Some(field) if library.own.is_some() => Err(field.error(
            "is for Windlass's algorithms, and the controller is quinn's own; leave this out",
        )),
        _ => Ok(()),
    }
}

/// The problem of an unfit flow, at the key that causes it.
pub(crate) fn problem(fields: &Fields, (key, reason): (&str, String)) -> Problem {
    Problem::new(fields.place_of(key), format!("`{key}`: {reason}"))
}
