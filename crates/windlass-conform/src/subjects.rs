//! Which algorithms have vectors, on what path, by which model.

use windlass_cc::recovery::Style;
use windlass_cc::{AnyParams, Conn};

use super::cases::Case;
use super::models::Model;
use super::models::frame::{Frame, Law, Windows};
use super::models::reno::Reno;

/// What a model begins with.
pub struct Start {
    /// The new connection.
    pub conn: Conn,
    /// Bytes.
    pub initial_window: f64,
    /// Bytes.
    pub initial_ssthresh: f64,
    /// Loss recovery.
    pub style: Style,
    /// Segments that one acknowledgement counts for at most.
    pub ack_limit: u32,
}

/// An algorithm with vectors.
pub struct Subject {
    /// Its identifier.
    pub id: &'static str,
    /// Where the model's equations stand.
    pub source: &'static str,
    /// Factor on the cases' windows and counts: some laws show only at large windows.
    pub scale: u32,
    /// Round-trip time of the empty path, milliseconds.
    pub rtt_ms: u64,
    /// Time of one segment at the bottleneck, microseconds.
    pub segment_us: u64,
    /// Makes the model.
    pub model: fn(&Start) -> Box<dyn Model>,
    /// Cases that say nothing about it, with the reason.
    pub left_out: &'static [(&'static str, &'static str)],
}

impl Subject {
    /// Why a case is left out.
    pub fn beside(&self, case: &Case) -> Option<&'static str> {
        let own = self.left_out.iter().find(|(id, _)| *id == case.id).map(|(_, why)| *why);
        own.or_else(|| AnyParams::by_name(self.id).and_then(|p| (case.beside)(&p.wants())))
    }
}

fn frame<L: Law + 'static>(law: L, s: &Start) -> Box<dyn Model> {
    let windows = Windows { cwnd: s.initial_window, ssthresh: s.initial_ssthresh };
    Box::new(Frame::new(law, windows, s.style, s.ack_limit))
}

const BASE: Subject = Subject {
    id: "",
    source: "",
    scale: 1,
    rtt_ms: 40,
    segment_us: 2_000,
    model: |s| frame(Reno, s),
    left_out: &[],
};

/// The algorithms with vectors.
pub const SUBJECTS: &[Subject] = &[
    Subject { id: "tahoe", source: "Jacobson 1988; RFC 5681 sections 3.1 and 4.1", ..BASE },
    Subject { id: "reno", source: "RFC 5681 sections 3.1, 3.2 and 4.1", ..BASE },
    Subject {
        id: "newreno",
        source: "RFC 5681 sections 3.1 and 4.1, RFC 6582 section 3.2",
        ..BASE
    },
];

/// The one with this identifier.
pub fn subject(id: &str) -> Option<&'static Subject> {
    SUBJECTS.iter().find(|subject| subject.id == id)
}
