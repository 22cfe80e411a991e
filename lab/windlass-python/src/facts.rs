//! Data of events, as classes of Python. An attribute that does not exist raises `AttributeError`.

use pyo3::prelude::*;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::setup::{Counting, Credit, MarkCut};
use windlass_cc::{Phase, Span, Undo};
use windlass_conform::words::{LIMITS, PHASES, UNDOS};

/// The word for a value.
pub fn word<T: PartialEq + Copy>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, v)| *v == value).map_or("", |(word, _)| *word)
}

/// The word for a phase of loss recovery.
pub fn phase(phase: Phase) -> &'static str {
    word(&PHASES, phase)
}

/// The word for the evidence of an undo.
pub fn undo(why: Undo) -> &'static str {
    word(&UNDOS, why)
}

fn known(span: Span) -> Option<u64> {
    span.is_known().then_some(span.0)
}

/// Declares a class with read-only attributes and their representation.
macro_rules! facts {
    ($(#[doc = $doc:expr])+ $name:ident($inner:ty): $(
        $(#[doc = $field_doc:expr])+ $field:ident: $type:ty = $get:expr;
    )*) => {
        $(#[doc = $doc])+
        #[pyclass(frozen, module = "windlass")]
        pub struct $name(pub $inner);

        #[pymethods]
        impl $name {
            $(
                $(#[doc = $field_doc])+
                #[getter]
                fn $field(&self) -> $type {
                    let get: fn(&$inner) -> $type = $get;
                    get(&self.0)
                }
            )*

            fn __repr__(&self) -> String {
                let fields = [$(format!("{}={:?}", stringify!($field), self.$field())),*];
                format!("{}({})", stringify!($name), fields.join(", "))
            }
        }
    };
}

facts! {
    /// State of a connection after an event.
    Conn(windlass_cc::Conn):
    /// Time of the event, ns.
    now_ns: u64 = |c| c.now.0;
    /// Estimate of the bytes in the network.
    in_flight: u64 = |c| c.in_flight;
    /// Bytes sent and not cumulatively acknowledged.
    flight_size: u64 = |c| c.flight_size;
    /// Stream offset below which everything is acknowledged.
    una: u64 = |c| c.una;
    /// Stream offset of the next byte that is sent for the first time.
    next_id: u64 = |c| c.next_id;
    /// Bytes delivered so far.
    delivered: u64 = |c| c.delivered;
    /// Bytes deemed lost so far.
    lost: u64 = |c| c.lost;
    /// Bytes sent so far, with retransmissions.
    sent: u64 = |c| c.sent;
    /// Smoothed RTT, ns; `None` before the first sample.
    srtt_ns: Option<u64> = |c| known(c.srtt);
    /// Minimum RTT, ns; `None` before the first sample.
    min_rtt_ns: Option<u64> = |c| known(c.min_rtt);
    /// Maximum payload of a segment, bytes.
    mss: u32 = |c| c.mss;
    /// The limits of the sender: `cwnd`, `app` or `rwnd`.
    limited_by: Vec<&'static str> = |c| {
        LIMITS.iter().filter(|(_, bit)| c.flags & bit != 0).map(|(name, _)| *name).collect()
    };
    /// A random number of the flow's own stream.
    entropy: u32 = |c| c.entropy;
    /// Phase of loss recovery: `open`, `recovery`, `loss` or `cwr`.
    phase: &'static str = |c| phase(c.phase);
}

facts! {
    /// An acknowledgement.
    Ack(windlass_cc::Ack):
    /// Bytes newly acknowledged cumulatively; 0 for a duplicate.
    acked: u64 = |a| a.acked;
    /// Bytes newly delivered, cumulatively or selectively.
    newly_delivered: u64 = |a| a.delivered;
    /// Bytes deemed lost because of this acknowledgement.
    newly_lost: u64 = |a| a.lost;
    /// Newly delivered bytes that the receiver reports as marked.
    ce: u64 = |a| a.ce;
    /// Bytes in flight before the acknowledgement.
    prior_in_flight: u64 = |a| a.prior_in_flight;
    /// RTT sample, ns; `None` without a sample.
    rtt_ns: Option<u64> = |a| known(a.rtt);
    /// Delivery-rate sample, if the named algorithm requires samples.
    rate: Option<RateSample> = |a| a.rate.is_valid().then_some(RateSample(a.rate));
    /// True for a duplicate acknowledgement (RFC 5681 section 2).
    duplicate: bool = |a| a.duplicate;
}

facts! {
    /// A delivery-rate sample.
    RateSample(windlass_cc::RateSample):
    /// Bytes delivered in the interval.
    delivered: u64 = |r| r.delivered;
    /// The longer of the send interval and the acknowledgement interval, ns.
    interval_ns: Option<u64> = |r| known(r.interval);
    /// `conn.delivered` when the packet was sent.
    prior_delivered: u64 = |r| r.prior_delivered;
    /// Bytes deemed lost since the packet was sent.
    lost: u64 = |r| r.lost;
    /// Bytes in flight just after the packet was sent.
    tx_in_flight: u64 = |r| r.tx_in_flight;
    /// True if the application did not fill the window at some time in the interval.
    app_limited: bool = |r| r.app_limited;
}

impl std::fmt::Debug for RateSample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.__repr__())
    }
}

facts! {
    /// A segment deemed lost.
    Loss(windlass_cc::Loss):
    /// Payload of the segment.
    bytes: u64 = |l| l.bytes;
    /// Bytes in flight just after the segment was sent.
    tx_in_flight: u64 = |l| l.tx_in_flight;
    /// Bytes deemed lost since the segment was sent, including it.
    lost_since_sent: u64 = |l| l.lost_since_sent;
    /// True if the segment was sent while the application limited the sender.
    app_limited: bool = |l| l.app_limited;
}

facts! {
    /// Settings of the stack for a connection.
    Setup(windlass_cc::Setup<()>):
    /// Initial congestion window, bytes.
    initial_window: u64 = |s| s.initial_window;
    /// Initial slow-start threshold, bytes.
    initial_ssthresh: u64 = |s| s.initial_ssthresh;
    /// Loss recovery: `tahoe`, `reno`, `newreno`, `sack` or `prr`.
    recovery: &'static str =
        |s| word(&LossRecovery::ALL, s.recovery.unwrap_or(LossRecovery::Prr));
    /// Maximum number of segments that one acknowledgement counts.
    ack_limit: u32 = |s| s.ack_limit;
    /// Unit of the window: `bytes` or `segments`.
    counting: &'static str = |s| word(&Counting::ALL, s.counting);
    /// The bytes that increase the window: `acked` or `delivered`.
    credit: &'static str = |s| word(&Credit::ALL, s.credit);
    /// Duration of a cut for a mark: `at-once` or `proportional`.
    mark_cut: &'static str = |s| word(&MarkCut::ALL, s.mark_cut);
    /// Name of the slow start.
    slow_start: &'static str = |s| s.slow_start.info().id;
}
