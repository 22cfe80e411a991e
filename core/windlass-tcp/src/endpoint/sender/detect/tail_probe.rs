//! The tail loss probe (RFC 8985 section 7).

use windlass_cc::{Flavour, Phase, Span, Time};

use super::rack::TIMER_SLACK;
use crate::decision::Cause;
use crate::endpoint::sender::Sender;
use crate::endpoint::sender::summary::AckSummary;
use crate::endpoint::{Endpoint, Profile};
use crate::segment::Segment;

/// Section 7.2: maximum delay of a peer's acknowledgement of a single segment.
const MAX_ACK_DELAY: Span = Span::from_millis(200);
/// Section 7.2: time of a probe before the first RTT sample.
const PROBE_WITHOUT_RTT: Span = Span::from_secs(1);

impl Sender {
    /// Section 7.4: returns true if the probe has repaired a loss that was not detected otherwise. Such a
    /// loss requires a reduction of cwnd.
    // RFC 8985-7.4.2-1
    pub(in crate::endpoint) fn judge_probe(&mut self, a: &AckSummary) -> bool {
        let Some((end, again)) = self.rack.probe.filter(|probe| a.ack >= probe.0) else {
            return false;
        };
        if !again || a.dsack.is_some_and(|d| d.1 == end) {
            self.rack.probe = None;
        } else if a.ack > end {
            self.rack.probe = None;
            return true;
        } else if a.bare && a.acked == 0 && a.delivered == 0 && a.dsack.is_none() {
            self.rack.probe = None; // original and probe arrived
        }
        false
    }
}

impl Endpoint {
    /// True if the probe's timer is set, and one more segment in the same burst does not change its time. The time
    /// depends on the number of segments only for a single segment.
    #[inline]
    pub(in crate::endpoint) fn probe_stays_armed(&self) -> bool {
        !self.send.rack.probe_deadline.is_never() && self.send.scoreboard.len() > 2
    }

    /// Section 7.2: sets the probe's timer to two RTTs after the last segment, or to the retransmission
    /// timeout if that is earlier. `advanced` is true if the retransmission timer has just restarted.
    // RFC 8985-7.2-4
    pub(in crate::endpoint) fn arm_probe(&mut self, p: &Profile, now: Time, advanced: bool) {
        self.send.rack.probe_deadline = Time::NEVER;
        let linux = p.stack.rules == Flavour::Linux;
        // RFC 8985-7.2-2
        let clear = match self.send.phase {
            Phase::Open => self.send.scoreboard.sacked() == 0,
            Phase::Cwr => linux || self.send.scoreboard.sacked() == 0,
            Phase::Recovery | Phase::Loss => false,
        };
        let may = p.stack.tlp
            && clear
            // Section 7.3: Linux sets the timer also while a probe is in flight, and then sends none.
            // RFC 8985-7.3-1
            && (linux || self.send.rack.probe.is_none())
            // Section 7.3: Linux has no such condition.
            // RFC 8985-7.3-2
            && (linux || self.send.rack.sampled)
            && !self.send.scoreboard.is_empty()
            && !self.timers.rto.is_never();
        // RFC 8985-7.3-3
        if !may {
            return;
        }
        let srtt = self.srtt();
        let lone = self.send.scoreboard.len() == 1;
        let after = match srtt.is_known() {
            // RFC 8985-7.2-3
            false => PROBE_WITHOUT_RTT,
            true if lone => srtt + srtt + MAX_ACK_DELAY,
            // `tcp_schedule_loss_probe`
            true if linux => srtt + srtt + TIMER_SLACK,
            true => srtt + srtt,
        };
        if !linux {
            self.send.rack.probe_deadline = (now + after.max(Span(1))).min(self.timers.rto);
            return;
        }
        // All share one timer: a probe replaces the timer for late segments, and a timeout that would be earlier.
        self.send.rack.deadline = Time::NEVER;
        // A timeout that is overdue is no limit.
        let limit = if advanced { self.rto(p) } else { self.rto_of_head(p, now) };
        let limited = limit != Span::ZERO && limit <= after;
        let after = if limited { limit } else { after };
        self.send.rack.probe_deadline = Endpoint::expiry(p, now, after);
        if limited {
            self.timers.rto = self.timers.rto.max(self.send.rack.probe_deadline);
        }
    }

    /// Section 7.3: processes the probe's timer. The retransmission timer restarts.
    // RFC 8985-7.3-7
    pub(in crate::endpoint) fn on_probe_timeout(&mut self, p: &Profile, now: Time) {
        self.send.rack.probe_deadline = Time::NEVER;
        if self.send.rack.probes() {
            return self.arm_rto_of_head(p, now);
        }
        self.send.rack.probe_now = true;
        self.note(p, now, Cause::ProbeTimer, self.send.phase, self.send.flight_size());
        self.arm_rto(p, now);
    }

    /// The probe: new data if there are any and the peer's window allows them, otherwise the last segment.
    // RFC 8985-7.3-6
    #[cold]
    pub(in crate::endpoint) fn poll_tail_probe(
        &mut self,
        p: &Profile,
        now: Time,
    ) -> Option<Segment> {
        if !std::mem::take(&mut self.send.rack.probe_now) || self.send.scoreboard.is_empty() {
            return None;
        }
        let buffered = self.buffered(p);
        let available = buffered.saturating_sub(self.send.nxt);
        let offered = (self.send.una + self.send.wnd).saturating_sub(self.send.nxt);
        let whole = available.min(self.payload_limit());
        // Linux cuts no segment for a probe (`tcp_snd_wnd_test`).
        let len = match offered >= whole || p.stack.rules != Flavour::Linux {
            true => whole.min(offered),
            false => 0,
        };
        let fin = len == available && offered > len && self.awaits_fin(buffered);
        // RFC 8985-7.3-4
        let fresh = len > 0 || fin;
        let segment = if fresh {
            self.send(p, now, len, fin)
        } else {
            // RFC 8985-7.3-5
            let last = self.send.scoreboard.len() - 1;
            // `tcp_send_loss_probe`: Linux does not count the copy as in flight.
            self.repeat(p, now, last, p.stack.rules != Flavour::Linux)?
        };
        self.send.rack.probe = Some((self.send.max, !fresh));
        self.send.rack.sampled = false;
        self.send.rack.probe_deadline = Time::NEVER;
        Some(segment)
    }

    /// Reduces cwnd for a loss that a probe has repaired, as for any other loss.
    // RFC 8985-7.4.2-2
    pub(in crate::endpoint) fn answer_repaired_loss(&mut self, p: &Profile, now: Time) {
        if self.send.phase != Phase::Open {
            return;
        }
        self.send.spurious.forget();
        let flight = self.send.flight_size();
        self.set_phase(p, now, Phase::Recovery, flight, Cause::RepairedByProbe);
        self.set_phase(p, now, Phase::Open, flight, Cause::RecoveryEnds);
    }
}
