//! The algorithms with vectors, with their paths and their models.

use windlass_cc::recovery::LossRecovery;
use windlass_cc::{AnyParams, Conn, Flavour, Ratio};

use super::cases::pairs::{self, PairCase};
use super::cases::{CASES, Case, Opening, bbr, bbr3, copa};
use super::models::Model;
use super::models::bbr::Bbr;
use super::models::bbr3::Bbr3;
use super::models::cocoa3plus::Cocoa3Plus;
use super::models::copa::Copa;
use super::models::coupled::{self, Balia, DLia, Lia, MpFast, Olia};
use super::models::cubic::Cubic;
use super::models::delay::{Fast, Vegas, Veno, Yeah};
use super::models::frame::{Frame, Law, Windows};
use super::models::highspeed::{Bic, HighSpeed, Scalable, WholeBic};
use super::models::measured::{Compound, Dctcp, Ledbat, Westwood};
use super::models::mfvl::{MFast, MVegas, Mfvl};
use super::models::reno::Reno;
use super::models::tcp_modified::TcpModified;
use super::models::time_based::{Htcp, Hybla, Illinois};

/// The initial state of a model.
pub struct Start {
    /// The new connection.
    pub conn: Conn,
    /// Bytes.
    pub initial_window: f64,
    /// Bytes.
    pub initial_ssthresh: f64,
    /// Loss recovery.
    pub style: LossRecovery,
    /// Maximum number of segments that one acknowledgement counts for.
    pub ack_limit: u32,
    /// The slow start.
    pub opening: Opening,
}

/// An algorithm with vectors.
pub struct Subject {
    /// Its identifier.
    pub id: &'static str,
    /// The implementation: RFC, Linux or ns-3.
    pub flavour: Flavour,
    /// Source of the model's equations.
    pub source: &'static str,
    /// Factor on the cases' windows and, up to 3, on their counts, because some algorithms differ
    /// only at large windows.
    pub scale: u32,
    /// RTT of the empty path, milliseconds.
    pub rtt_ms: u64,
    /// Time of one segment at the bottleneck, microseconds.
    pub segment_us: u64,
    /// Makes the model.
    pub model: fn(&Start) -> Box<dyn Model>,
    /// Its separate cases, which replace the common cases.
    pub own: Option<&'static [Case]>,
    /// Its cases with two paths.
    pub pairs: &'static [PairCase],
    /// Parameters that differ from their defaults, in the unit of their kind.
    pub params: &'static [(&'static str, u64)],
}

impl Subject {
    /// The folder of its vectors, which is also its name in tables: `bic`, `bic-linux`.
    pub fn folder(&self) -> String {
        match self.flavour {
            Flavour::Rfc => self.id.to_owned(),
            other => format!("{}-{}", self.id, Flavour::WORDS[other as usize]),
        }
    }

    /// The cases of the algorithm.
    pub fn cases(&self) -> impl Iterator<Item = &'static Case> {
        let common = self.own.is_none();
        self.own.unwrap_or(CASES).iter().filter(move |case| !common || self.beside(case).is_none())
    }

    /// The reason for leaving out a common case.
    pub fn beside(&self, case: &Case) -> Option<&'static str> {
        (case.beside)(&AnyParams::by_name(self.id)?.requirements())
    }
}

fn frame<L: Law + 'static>(law: L, s: &Start) -> Box<dyn Model> {
    let windows = Windows { cwnd: s.initial_window, ssthresh: s.initial_ssthresh };
    Box::new(Frame::new(law, windows, s.style, s.ack_limit).opening(s.opening))
}

const BASE: Subject = Subject {
    id: "",
    flavour: Flavour::Rfc,
    source: "",
    scale: 1,
    rtt_ms: 40,
    segment_us: 2_000,
    model: |s| frame(Reno, s),
    own: None,
    pairs: &[],
    params: &[],
};

/// A subject that couples two paths.
const COUPLED: Subject = Subject { own: Some(&[]), pairs: pairs::CASES, ..BASE };

/// The algorithms with vectors.
pub const SUBJECTS: &[Subject] = &[
    Subject { id: "tahoe", source: "Jacobson 1988; RFC 5681 sections 3.1 and 4.1", ..BASE },
    Subject { id: "reno", source: "RFC 5681 sections 3.1, 3.2 and 4.1", ..BASE },
    Subject {
        id: "newreno",
        source: "RFC 5681 sections 3.1 and 4.1, RFC 6582 section 3.2",
        ..BASE
    },
    Subject {
        id: "bic",
        source: "Xu, Harfoush, Rhee 2004, with the constants of Linux",
        scale: 2,
        model: |s| frame(Bic::default(), s),
        ..BASE
    },
    Subject {
        id: "bic",
        flavour: Flavour::Linux,
        source: "Linux 6.12, net/ipv4/tcp_bic.c",
        scale: 2,
        model: |s| frame(WholeBic::default(), s),
        ..BASE
    },
    Subject {
        id: "cubic",
        source: "RFC 9438 section 4",
        rtt_ms: 400, // long enough for the cubic to leave Reno behind within a case
        model: |s| frame(Cubic::default(), s),
        ..BASE
    },
    Subject {
        id: "highspeed",
        source: "RFC 3649 section 5",
        scale: 4,
        model: |s| frame(HighSpeed::default(), s),
        ..BASE
    },
    Subject {
        id: "scalable",
        source: "Kelly 2003, section 3",
        scale: 2,
        model: |s| frame(Scalable::default(), s),
        ..BASE
    },
    Subject {
        id: "htcp",
        source: "draft-leith-tcp-htcp-06 section 3",
        // Growth differs from Reno's only after a second, and the cut fits the queue only if the
        // throughput stays: a slow bottleneck that cwnd just fills.
        rtt_ms: 200,
        segment_us: 20_000,
        model: |s| frame(Htcp::new(&s.conn), s),
        ..BASE
    },
    Subject {
        id: "tcp-modified",
        source: "Hasan and Alisa 2023, section 3",
        scale: 3, // windows above the floor of 25 segments
        rtt_ms: 200,
        segment_us: 20_000, // as for H-TCP
        model: |s| frame(TcpModified::new(&s.conn), s),
        ..BASE
    },
    Subject {
        id: "hybla",
        source: "Caini and Firrincieli 2004, section 3",
        model: |s| frame(Hybla::default(), s),
        ..BASE
    },
    Subject {
        id: "illinois",
        source: "Liu, Basar, Srikant 2008, with the constants of Linux",
        scale: 2,
        model: |s| frame(Illinois::new(&s.conn), s),
        ..BASE
    },
    Subject {
        id: "westwood",
        source: "Grieco and Mascolo 2004",
        model: |s| frame(Westwood::new(&s.conn), s),
        ..BASE
    },
    Subject {
        id: "veno",
        source: "Fu and Liew 2003",
        segment_us: 4_000,
        model: |s| frame(Veno::new(&s.conn), s),
        ..BASE
    },
    Subject {
        id: "vegas",
        source: "Brakmo and Peterson 1995; NS-2 for the cut",
        segment_us: 4_000,
        model: |s| frame(Vegas::new(&s.conn), s),
        ..BASE
    },
    Subject {
        id: "fast",
        source: "Jin, Wei, Low 2004",
        model: |s| frame(Fast::new(&s.conn), s),
        ..BASE
    },
    Subject {
        id: "mvegas",
        source: "Mudassir and Baig 2021, section 3.1",
        segment_us: 7_000, // so that more than six segments are queued at times
        model: |s| frame(MVegas::new(&s.conn), s),
        ..BASE
    },
    Subject {
        id: "mfast",
        source: "Mudassir and Baig 2021, section 3.2; the NS-2 module",
        model: |s| frame(MFast::new(&s.conn), s),
        ..BASE
    },
    Subject {
        id: "yeah",
        source: "Baiocchi, Castellani, Vacirca 2007, with the constants of Linux",
        scale: 9, // more than 80 segments queued
        model: |s| frame(Yeah::new(&s.conn), s),
        ..BASE
    },
    Subject {
        id: "compound",
        source: "draft-sridharan-tcpm-ctcp-02",
        scale: 4,
        segment_us: 2_100, // with 2 ms a backlog is gamma to a part in 100,000
        model: |s| frame(Compound::new(&s.conn), s),
        ..BASE
    },
    Subject {
        id: "ledbat",
        source: "RFC 6817 section 2.4.2",
        segment_us: 10_000, // so that a window passes TARGET
        model: |s| frame(Ledbat::new(&s.conn), s),
        ..BASE
    },
    Subject {
        id: "dctcp",
        source: "RFC 8257 section 3.3",
        model: |s| frame(Dctcp::new(&s.conn), s),
        ..BASE
    },
    Subject {
        id: "bbr",
        source: "draft-cardwell-iccrg-bbr-congestion-control-00 section 4; Linux for its additions",
        rtt_ms: 40,
        segment_us: 4_300,
        model: |s| Box::new(Bbr::new(s.initial_window, &s.conn)),
        own: Some(bbr::CASES),
        ..BASE
    },
    Subject {
        id: "bbr3",
        source: "draft-ietf-ccwg-bbr-06 section 5",
        rtt_ms: 40,
        segment_us: 4_300,
        model: |s| Box::new(Bbr3::new(s.initial_window, s.style, &s.conn)),
        own: Some(bbr3::CASES),
        ..BASE
    },
    Subject {
        id: "copa",
        source: "Arun and Balakrishnan 2018, section 2",
        rtt_ms: 40,
        segment_us: 5_100,
        model: |s| Box::new(Copa::new(s.initial_window, &s.conn)),
        own: Some(copa::CASES),
        ..BASE
    },
    Subject {
        id: "lia",
        source: "RFC 6356 section 3",
        model: |s| frame(Lia::default(), s),
        ..COUPLED
    },
    Subject {
        id: "olia",
        source: "draft-khalili-mptcp-congestion-control-05 section 3",
        model: |s| frame(Olia::default(), s),
        ..COUPLED
    },
    Subject {
        id: "balia",
        source: "draft-walid-mptcp-congestion-control-04 section 3",
        model: |s| frame(Balia::default(), s),
        ..COUPLED
    },
    Subject {
        id: "d-lia",
        source: "Lubna, Mahmud, Cho 2020, the authors' published code",
        model: |s| frame(DLia::new(&s.conn), s),
        ..COUPLED
    },
    Subject {
        id: "wvegas",
        source: "Cao, Xu, Fu 2012, with the constants of out-of-tree Linux",
        model: |s| frame(coupled::WVegas::new(&s.conn), s),
        ..COUPLED
    },
    Subject {
        id: "mpfast-approx",
        source: "this project's approximation, see algorithms.md",
        model: |s| frame(MpFast::new(&s.conn), s),
        ..COUPLED
    },
    Subject {
        id: "emreno-approx",
        source: "this project's approximation, see algorithms.md",
        params: &[("price", Ratio::of(1, 4).0)],
        model: |s| frame(Lia::priced(0.25), s),
        ..COUPLED
    },
    Subject {
        id: "mfvl",
        source: "Mudassir and Baig 2021, section 3",
        model: |s| frame(Mfvl::new(&s.conn), s),
        pairs: pairs::MFVL_CASES,
        ..COUPLED
    },
    Subject {
        id: "cocoa3plus",
        source: "Parween and Hussain, section IV.B",
        segment_us: 2_100, // with 2 ms a round trip is a quarter longer than another to the nanosecond
        params: &[("hold", 1)],
        model: |s| frame(Cocoa3Plus::new(&s.conn), s),
        ..BASE
    },
    Subject {
        id: "bc-cps",
        source: "Wei et al. 2021: BBR on a connection's only path",
        rtt_ms: 40,
        segment_us: 4_300,
        model: |s| Box::new(Bbr::new(s.initial_window, &s.conn)),
        own: Some(bbr::CASES),
        ..BASE
    },
];

/// The subjects with this identifier, one per implementation that has a model. The paper's is the
/// first.
pub fn subjects(id: &str) -> impl Iterator<Item = &'static Subject> {
    SUBJECTS.iter().filter(move |subject| subject.id == id)
}
