//! The sending half: processing of acknowledgements ([`ack`]), loss detection ([`detect`]) and repair
//! ([`repair`]), undo of reductions ([`undo`]), transmission ([`transmit`]) and its times ([`pacing`],
//! [`timing`]).

mod ack;
mod buffer;
mod deliver;
mod detect;
mod pacing;
mod repair;
mod rto;
mod summary;
mod timing;
mod transmit;
mod undo;
mod usage;

use windlass_cc::pacer::Pacer;
use windlass_cc::rate::RateSampler;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::{Phase, Span, Time};

use super::profile::Profile;
use crate::scoreboard::Scoreboard;
use crate::seq::Seq;

use buffer::SendBuffer;
use detect::Rack;
use rto::Timer;
use summary::AckSummary;
use timing::Timed;
use undo::SpuriousDetector;
use usage::Usage;

pub(super) use buffer::most_sent;
pub(super) use timing::mix;

/// The sending half of an endpoint.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    /// This end's initial sequence number.
    pub(super) iss: Seq,
    /// Everything below this offset is acknowledged (SND.UNA).
    pub(super) una: u64,
    /// The next byte of new data (SND.NXT).
    pub(super) nxt: u64,
    /// One past the highest byte ever sent; one byte above `nxt` after a probe of a closed window.
    pub(super) max: u64,
    /// Peer's window in bytes, after scaling (SND.WND).
    // RFC 9293-3.1-REC-1
    pub(super) wnd: u64,
    /// The largest window that the peer has announced.
    pub(super) max_wnd: u64,
    /// Offset of the segment that last updated the window (RFC 9293's SND.WL1). SND.WL2 is not needed: it
    /// would be at most `una`, and older acknowledgements are ignored before the comparison.
    pub(super) wl1: u64,
    /// Negotiated loss recovery.
    pub(super) recovery: LossRecovery,
    /// True if recovery uses the peer's SACK reports.
    pub(super) selective: bool,
    /// True if the controller uses delivery-rate samples.
    pub(super) samples: bool,
    pub(super) phase: Phase,
    pub(super) scoreboard: Scoreboard,
    pub(super) sampler: RateSampler,
    pub(super) rack: Rack,
    /// Buffer for the segments that RACK finds, kept between acknowledgements.
    pub(super) late: Vec<u64>,
    pub(super) spurious: SpuriousDetector,
    pub(super) usage: Usage,
    pub(super) pacer: Pacer,
    pub(super) rto: Timer,
    pub(super) timed: Timed,
    pub(super) min_rtt: Span,
    /// The minimum RTT that the controller receives.
    pub(super) shown_rtt: Span,
    /// The last RTT sample of data without a retransmission.
    pub(super) last_rtt: Span,
    /// Number of these samples.
    pub(super) rtt_samples: u32,
    pub(super) last_sent: Time,
    /// Time of the last burst that the application wrote while nothing was in flight. Its segments have
    /// different sending times, because the kernel sends them while the application writes.
    pub(super) written_at: Time,
    /// Recovery ends when everything below this offset is acknowledged.
    pub(super) recover: u64,
    pub(super) dup_acks: u32,
    /// Payload of a full segment: the MSS, or less if the peer's window limits it.
    pub(super) segment: u32,
    pub(super) buffer: SendBuffer,
    /// Volume sent, retransmissions included.
    pub(super) sent: u64,
    /// Segments retransmitted.
    pub(super) resent: u32,
    /// End of the last segment that was shorter than a full segment (`snd_sml`).
    pub(super) small: u64,
    /// `nxt` at the first duplicate acknowledgement. Segments that limited transmit sent after it do not
    /// count as flight (RFC 5681 section 3.2 step 2).
    pub(super) first_dup_nxt: u64,
    /// Number of partial acknowledgements of this recovery.
    pub(super) partial_acks: u32,
    /// True if the rescue retransmission of this recovery was sent.
    pub(super) rescued: bool,
    /// True if the first lost segment is sent regardless of the windows.
    pub(super) retransmit_first: bool,
    /// Consecutive retransmissions and probes without an acknowledgement.
    pub(super) retries: u32,
    /// Due time of the first of these retransmissions.
    pub(super) retries_since: Time,
    /// True if a closed window must be probed now.
    pub(super) probe_now: bool,
    /// Number of doublings of the time to the next probe.
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
            rto: Timer::init(&p.stack.rto),
            timed: Timed::NONE,
            min_rtt: Span::NONE,
            shown_rtt: Span::NONE,
            last_rtt: Span::NONE,
            rtt_samples: 0,
            last_sent: Time::ZERO,
            written_at: Time::NEVER,
            recover: 0,
            dup_acks: 0,
            segment: p.mss(),
            buffer: SendBuffer::new(p.stack.send_buffer),
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

    /// Bytes in the network, like [`Endpoint::in_flight`](super::Endpoint::in_flight).
    #[inline]
    pub(super) fn in_flight(&self) -> u64 {
        self.scoreboard.pipe()
    }

    /// Volume sent and not cumulatively acknowledged (RFC 5681's FlightSize). After going back, the volume
    /// sent since then.
    pub(super) fn flight_size(&self) -> u64 {
        match self.inflates() {
            true => self.in_flight(),
            false => self.scoreboard.outstanding(),
        }
    }

    /// True if cwnd is inflated by the data that duplicates represent, which stay in the flight (RFC 5681
    /// section 3.2 step 4). These recoveries do not use SACK.
    pub(super) fn inflates(&self) -> bool {
        matches!(self.recovery, LossRecovery::Tahoe | LossRecovery::Reno | LossRecovery::NewReno)
    }

    /// True if a duplicate removes an unknown segment from the flight: proportional rate reduction without
    /// SACK.
    fn counts_duplicates(&self) -> bool {
        !self.selective && !self.inflates()
    }

    /// True in a recovery whose data are all acknowledged.
    fn has_recovered(&self) -> bool {
        self.phase == Phase::Recovery && self.una >= self.recover
    }

    /// True if a recovery without SACK waits only for an acknowledgement above its data
    /// (`tcp_is_non_sack_preventing_reopen`).
    pub(super) fn holds_recovery(&self) -> bool {
        self.counts_duplicates() && self.has_recovered()
    }

    /// True if fast recovery ends at the first acknowledgement of new data (RFC 5681).
    fn ends_at_first_ack(&self) -> bool {
        self.recovery == LossRecovery::Reno
    }

    /// True if an acknowledgement of new data restarts the retransmission timer. In NewReno's recovery only
    /// the first partial acknowledgement does (RFC 6582 section 3.2 step 3).
    // RFC 6298-5.3-1
    pub(super) fn restarts_timer(&self) -> bool {
        !(self.recovery == LossRecovery::NewReno
            && self.phase == Phase::Recovery
            && self.partial_acks > 1)
    }

    /// True if delivered data had been sent before the last transmission of the first missing segment. Then
    /// this transmission cannot have been acknowledged yet (`tcp_clean_rtx_queue`).
    fn predates_head(&self, a: &AckSummary) -> bool {
        let head = self.scoreboard.get(0).map(|r| r.last_sent);
        a.reported.zip(head).is_some_and(|((first, _), head)| first < head)
    }
}
