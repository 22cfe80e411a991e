//! The algorithms of `windlass-cc` as congestion controllers of quinn, noq and s2n-quic.
//!
//! A [`Factory`] is the `congestion_controller_factory` of the transport configuration of quinn and noq. With the
//! feature `s2n` it is also the argument of s2n-quic's `with_congestion_controller`. [`adapter::Adapter`] computes the
//! values that an algorithm needs and a QUIC library does not have: delivery-rate samples, volumes, and the phase of
//! recovery.
//!
//! With the feature `command`, [`flows`] makes connections of quinn flows of scenarios, and the program `windlass-quic`
//! runs them.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod adapter;
#[cfg(feature = "command")]
pub mod ends;
#[cfg(feature = "command")]
pub mod flows;
mod noq;
pub mod paths;
#[cfg(feature = "command")]
pub mod plain;
mod quinn;
pub mod recorder;
#[cfg(feature = "s2n")]
pub mod s2n;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use windlass_cc::recovery::LossRecovery;
use windlass_cc::{AnyParams, Setup};

pub use adapter::Adapter;
pub use paths::Shared;
pub use recorder::Recorder;

/// Packets of the initial window (RFC 9002 section 7.2).
const INITIAL_PACKETS: u64 = 10;

/// Makes controllers of one algorithm.
#[derive(Clone, Debug)]
pub struct Factory {
    params: AnyParams,
    /// Data that the paths of the one connection share, and the beginning of its first path.
    connection: Option<Arc<OnceLock<(Shared, Instant)>>>,
    /// The recorder, until a controller takes it.
    recorder: Arc<Mutex<Option<Recorder>>>,
}

impl Factory {
    /// The algorithm of this name with its defaults; `None` if the name is unknown.
    pub fn by_name(algorithm: &str) -> Option<Factory> {
        AnyParams::by_name(algorithm).map(Factory::new)
    }

    /// An algorithm with its parameters. QUIC's values are set here: cwnd grows by all acknowledged bytes. Losses are
    /// found by packet number, which requires proportional rate reduction.
    pub fn new(mut params: AnyParams) -> Factory {
        params.set_common(&Setup {
            ack_limit: u32::MAX,
            recovery: Some(LossRecovery::Prr),
            ..params.common()
        });
        Factory { params, connection: None, recorder: Arc::default() }
    }

    /// A factory for one end of one connection only. Each of its paths has a controller, and the controllers see each
    /// other, as algorithms that couple paths require.
    pub fn of_one_connection(self) -> Factory {
        Factory { connection: Some(Arc::default()), ..self }
    }

    /// Records the first controller of the factory.
    pub fn recorded(self, recorder: Recorder) -> Factory {
        Factory { recorder: Arc::new(Mutex::new(Some(recorder))), ..self }
    }

    fn adapter(&self, now: Instant, mtu: u16) -> Adapter {
        let mut adapter = self.unrecorded(now, mtu);
        let recorder = self.recorder.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(recorder) = recorder {
            adapter.recorded_by(recorder);
        }
        adapter
    }

    fn unrecorded(&self, now: Instant, mtu: u16) -> Adapter {
        let mut params = self.params;
        let initial_window = INITIAL_PACKETS * u64::from(mtu);
        params.set_common(&Setup { initial_window, ..params.common() });
        let begin = || (Shared::new(&params), now);
        match &self.connection {
            Some(connection) => {
                let (shared, epoch) = connection.get_or_init(begin);
                Adapter::new(params, *epoch, now, mtu, shared)
            }
            None => Adapter::new(params, now, now, mtu, &begin().0),
        }
    }
}
