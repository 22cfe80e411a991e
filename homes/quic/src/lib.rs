//! The algorithms of `windlass-cc` as congestion controllers of quinn and noq.
//!
//! A [`Factory`] is the `congestion_controller_factory` of either library's transport configuration. [`adapter::Adapter`] keeps the facts
//! that an algorithm wants and a QUIC library does not have: delivery-rate samples, volumes, the phase of recovery.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod adapter;
mod noq;
mod quinn;

use windlass_cc::recovery::LossRecovery;
use windlass_cc::{AnyParams, Setup};

pub use adapter::Adapter;

/// Packets of the initial window (RFC 9002 section 7.2).
const INITIAL_PACKETS: u64 = 10;

/// Makes controllers of one algorithm.
#[derive(Clone, Debug)]
pub struct Factory {
    params: AnyParams,
}

impl Factory {
    /// The algorithm of this name with its defaults, if there is one.
    pub fn by_name(algorithm: &str) -> Option<Factory> {
        AnyParams::by_name(algorithm).map(Factory::new)
    }

    /// An algorithm with its parameters. What QUIC decides is set here: all that an acknowledgement covers opens the
    /// window, and losses are found by packet number, hence proportional rate reduction.
    pub fn new(mut params: AnyParams) -> Factory {
        params.set_common(&Setup {
            ack_limit: u32::MAX,
            recovery: Some(LossRecovery::Prr),
            ..params.common()
        });
        Factory { params }
    }

    fn adapter(&self, now: std::time::Instant, mtu: u16) -> Adapter {
        let mut params = self.params;
        let initial_window = INITIAL_PACKETS * u64::from(mtu);
        params.set_common(&Setup { initial_window, ..params.common() });
        Adapter::new(params, now, mtu)
    }
}
