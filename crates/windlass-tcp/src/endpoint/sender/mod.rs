//! The sending half: an acknowledgement's way ([`ack`]), what is lost ([`detect`]) and how it is repaired
//! ([`repair`]), reductions taken back ([`undo`]), what leaves ([`transmit`]) and when ([`pacing`],
//! [`timing`]).

mod ack;
mod deliver;
mod detect;
mod pacing;
mod repair;
mod summary;
mod timing;
mod transmit;
mod undo;
mod usage;

use windlass_cc::pacer::Pacer;
use windlass_cc::rate::RateSampler;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::{AnyRto, Phase, Span, Time};

use super::profile::Profile;
use crate::scoreboard::Scoreboard;
use crate::seq::Seq;

use detect::Rack;
use summary::AckSummary;
use timing::Timed;
use undo::SpuriousDetector;
use usage::Usage;

pub(super) use timing::mix;

/// The sending half of an endpoint.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    /// Its own initial sequence number.
    pub(super) iss: Seq,
    /// Everything below is acknowledged (SND.UNA).
    pub(super) una: u64,
    /// The next byte of new data (SND.NXT).
    pub(super) nxt: u64,
    /// One past the highest byte ever sent: beyond `nxt` by a byte that probes a closed window.
    pub(super) max: u64,
    /// Peer's window in bytes, after scaling (SND.WND).
    pub(super) wnd: u64,
    /// The largest that it has told.
    pub(super) max_wnd: u64,
    /// Offset of the segment that last updated the window (RFC 9293's SND.WL1). SND.WL2 would be
    /// `una` or less, and no older acknowledgement gets as far as being compared.
    pub(super) wl1: u64,
    /// Loss recovery as negotiated.
    pub(super) recovery: LossRecovery,
    /// Recovery goes by what the peer reports with SACK.
    pub(super) selective: bool,
    /// The controller wants samples of the delivery rate.
    pub(super) samples: bool,
    pub(super) phase: Phase,
    pub(super) scoreboard: Scoreboard,
    pub(super) sampler: RateSampler,
    pub(super) rack: Rack,
    /// Room for what RACK finds, kept from one acknowledgement to the next.
    pub(super) late: Vec<u64>,
    pub(super) spurious: SpuriousDetector,
    pub(super) usage: Usage,
    pub(super) pacer: Pacer,
    pub(super) rto: AnyRto,
    pub(super) timed: Timed,
    pub(super) min_rtt: Span,
    /// The least RTT as the controller is to see it.
    pub(super) shown_rtt: Span,
    /// The last round trip that data made, without a retransmission.
    pub(super) last_rtt: Span,
    pub(super) last_sent: Time,
    /// Recovery ends when everything below this is acknowledged.
    pub(super) recover: u64,
    pub(super) dup_acks: u32,
    /// Payload of a full segment: the MSS, or what of it the peer's window leaves.
    pub(super) segment: u32,
    /// Volume sent, retransmissions included.
    pub(super) sent: u64,
    /// Segments retransmitted.
    pub(super) resent: u32,
    /// End of the last segment that was sent shorter than a full one (`snd_sml`).
    pub(super) small: u64,
    /// `nxt` when the first duplicate acknowledgement came: what limited transmit sent after it does
    /// not count as flight (RFC 5681 section 3.2 step 2).
    pub(super) first_dup_nxt: u64,
    /// Partial acknowledgements of this recovery.
    pub(super) partial_acks: u32,
    /// The rescue retransmission of this recovery is spent.
    pub(super) rescued: bool,
    /// The first segment that is lost goes whatever the windows say.
    pub(super) retransmit_first: bool,
    /// Retransmissions and probes in a row that nothing has answered.
    pub(super) retries: u32,
    /// When the first of these was due.
    pub(super) retries_since: Time,
    /// A closed window is to be probed now.
    pub(super) probe_now: bool,
    /// Doublings of the time to the next probe.
    pub(super) persist_shift: u32,
}

impl Sender {
    pub(super) fn new(p: &Profile, iss: Seq) -> Sender {
        Sender {
            iss,
            una: 0,
            nxt: 0,
            max: 0,
            wnd: 0,
            max_wnd: 0,
            wl1: 0,
            recovery: LossRecovery::Reno,
            selective: false,
            samples: false,
            phase: Phase::Open,
            scoreboard: Scoreboard::default(),
            sampler: RateSampler::new(Time::ZERO),
            rack: Rack::default(),
            late: Vec::new(),
            spurious: SpuriousDetector::default(),
            usage: Usage::default(),
            pacer: Pacer::new(&p.pacer_params()),
            rto: AnyRto::init(&p.stack.rto),
            timed: Timed::NONE,
            min_rtt: Span::NONE,
            shown_rtt: Span::NONE,
            last_rtt: Span::NONE,
            last_sent: Time::ZERO,
            recover: 0,
            dup_acks: 0,
            segment: p.mss(),
            sent: 0,
            resent: 0,
            small: 0,
            first_dup_nxt: 0,
            partial_acks: 0,
            rescued: false,
            retransmit_first: false,
            retries: 0,
            retries_since: Time::ZERO,
            probe_now: false,
            persist_shift: 0,
        }
    }

    /// Bytes in the network, as [`Endpoint::in_flight`](super::Endpoint::in_flight).
    #[inline]
    pub(super) fn in_flight(&self) -> u64 {
        self.scoreboard.pipe()
    }

    /// Volume sent and not cumulatively acknowledged (RFC 5681's FlightSize); of a sender that has gone
    /// back, what it has sent since.
    pub(super) fn flight_size(&self) -> u64 {
        match self.inflates() {
            true => self.in_flight(),
            false => self.scoreboard.outstanding(),
        }
    }

    /// Whether the window grows by what duplicates stand for, which stays in the flight (RFC 5681
    /// section 3.2 step 4). These make nothing of SACK.
    pub(super) fn inflates(&self) -> bool {
        matches!(self.recovery, LossRecovery::Tahoe | LossRecovery::Reno | LossRecovery::NewReno)
    }

    /// Whether a duplicate takes a segment out of the flight that nobody can name: proportional rate
    /// reduction without SACK.
    fn counts_duplicates(&self) -> bool {
        !self.selective && !self.inflates()
    }

    /// Whether fast recovery is over at the first acknowledgement of new data (RFC 5681).
    fn ends_at_first_ack(&self) -> bool {
        self.recovery == LossRecovery::Reno
    }

    /// Whether new data acknowledged set the retransmission timer again: in NewReno's recovery only the
    /// first partial acknowledgement does (RFC 6582 section 3.2 step 3).
    fn restarts_timer(&self) -> bool {
        !(self.recovery == LossRecovery::NewReno
            && self.phase == Phase::Recovery
            && self.partial_acks > 1)
    }

    /// Whether what was delivered had been sent before the first segment that is missing was last
    /// sent: then nothing can have been heard of that yet (`tcp_clean_rtx_queue`).
    fn predates_head(&self, a: &AckSummary) -> bool {
        let head = self.scoreboard.get(0).map(|r| r.last_sent);
        a.reported.zip(head).is_some_and(|((first, _), head)| first < head)
    }
}
