//! Use of cwnd: the conditions for its growth (RFC 7661; draft-ietf-ccwg-ratelimited-increase-11).

use windlass_cc::{Flavour, flags};

use crate::endpoint::{Endpoint, Profile};
use crate::stack::WindowValidation;

/// Use of cwnd within the last window of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::endpoint) struct Usage {
    /// Stream offset whose acknowledgement ends the current window.
    end: u64,
    /// Largest flight in this window, bytes.
    most: u64,
    /// True if cwnd was full at any time in this window.
    pub(super) full: bool,
    /// True if the receive window stopped the sender last.
    receiver: bool,
    /// SND.NXT when the sender stopped last.
    seen: u64,
    /// Largest flight since the last reduction of cwnd (maxFS), bytes.
    since_cut: u64,
    /// True if the last segment left less than a segment of cwnd free.
    filled: bool,
    /// Cwnd at the last look, bytes; zero before the first.
    cwnd: u64,
}

impl Usage {
    /// Updates the largest flight since the last reduction of cwnd. It begins with the initial window.
    fn follow(&mut self, cwnd: u64, flight: u64) {
        if cwnd < self.cwnd {
            self.since_cut = 0;
        } else if self.cwnd == 0 {
            self.since_cut = cwnd;
        }
        self.cwnd = cwnd;
        self.since_cut = self.since_cut.max(flight);
    }
}

impl Endpoint {
    /// Notes the limit that stopped the sender, with this number of bytes left to send. The result of a
    /// window is the limit at its largest flight (RFC 7661 section 4.3, as in Linux).
    pub(super) fn note_usage(&mut self, p: &Profile, available: u64) {
        let available = self.layer.backlog(available);
        let (cwnd, mss) = (self.control.cwnd, u64::from(self.agreed.mss));
        let in_flight = self.send.in_flight();
        let full = in_flight + mss > cwnd;
        let used = self.send.flight_size();
        let usage = &mut self.send.usage;
        if p.stack.window_validation == WindowValidation::RateLimited {
            usage.follow(cwnd, used);
        }
        let sent = self.send.nxt > std::mem::replace(&mut usage.seen, self.send.nxt);
        // Linux checks this when it sends, and when cwnd holds data back (`tcp_write_xmit`).
        let looks = p.stack.rules != Flavour::Linux || sent || available > 0 && full;
        if looks && (self.send.una >= usage.end || full || (!usage.full && used > usage.most)) {
            let receiver = used + mss > self.send.wnd;
            *usage = Usage { end: self.send.nxt, most: used, full, receiver, ..*usage };
        }
        // Only delivery-rate samples contain this information.
        if self.send.samples
            && available < mss
            && in_flight < cwnd
            && self.send.scoreboard.pending() == 0
        {
            self.send.sampler.on_app_limited(in_flight);
        }
    }

    /// Notes after a transmission whether it filled cwnd (ns-3's `m_isCwndLimited`).
    pub(super) fn note_filled(&mut self, p: &Profile) {
        if p.stack.window_validation != WindowValidation::Ns3 {
            return;
        }
        let left = self.control.cwnd.saturating_sub(self.send.in_flight());
        self.send.usage.filled = left < u64::from(self.agreed.mss);
    }

    /// The limit of the sender in the last window, for the controller.
    // RFC 9438-4.6-3
    pub(super) fn usage_limits(&self, p: &Profile) -> u32 {
        if self.may_grow(p) {
            flags::CWND_LIMITED
        } else if self.send.usage.receiver {
            flags::RWND_LIMITED
        } else {
            flags::APP_LIMITED
        }
    }

    /// True if the use of cwnd allows its growth. In slow start half a window suffices, because cwnd doubles
    /// before the flight can.
    fn may_grow(&self, p: &Profile) -> bool {
        let (cwnd, usage) = (self.control.cwnd, &self.send.usage);
        let slow_start = cwnd < self.control.ssthresh;
        match p.stack.window_validation {
            WindowValidation::Off => true,
            WindowValidation::Ns3 => {
                usage.filled || p.params.grows_unfilled(Flavour::Ns3, slow_start)
            }
            WindowValidation::Used => usage.full || slow_start && cwnd < 2 * usage.most,
            WindowValidation::RateLimited if slow_start => cwnd < 2 * usage.since_cut,
            WindowValidation::RateLimited => cwnd < usage.since_cut + u64::from(self.agreed.mss),
        }
    }
}
