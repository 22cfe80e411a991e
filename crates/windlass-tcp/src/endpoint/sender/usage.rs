//! Use of cwnd: the condition of RFC 7661 for its growth.

use windlass_cc::{Flavour, flags};

use crate::endpoint::{Endpoint, Profile};

/// Use of cwnd within the last window of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(in crate::endpoint) struct Usage {
    /// Stream offset whose acknowledgement ends the current window.
    end: u64,
    /// Largest flight in this window, bytes.
    most: u64,
    /// True if cwnd was full at any time in this window.
    full: bool,
    /// True if the receive window stopped the sender last.
    receiver: bool,
    /// SND.NXT when the sender stopped last.
    seen: u64,
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

    /// The limit of the sender in the last window, for the controller. In slow start half a window suffices,
    /// because cwnd doubles before the flight can.
    // RFC 9438-4.6-3
    pub(super) fn usage_limits(&self, p: &Profile) -> u32 {
        let cwnd = self.control.cwnd;
        let slow_start = cwnd < self.control.ssthresh && cwnd < 2 * self.send.usage.most;
        if !p.stack.window_validation || self.send.usage.full || slow_start {
            flags::CWND_LIMITED
        } else if self.send.usage.receiver {
            flags::RWND_LIMITED
        } else {
            flags::APP_LIMITED
        }
    }
}
