//! Quick-Start (RFC 4782): a first window at the rate that every router of the path has approved.
//!
//! The host requests the rate and paces the data. This module converts the approved rate to a window
//! and removes its unused part. After a loss in this window it returns to the window without
//! Quick-Start.

use super::{Described, SlowStart};
use crate::arithmetic::math::{mul, mul_div};
use crate::arithmetic::window::{MAX_WINDOW, Window};
use crate::event::{Conn, Phase};
use crate::info::Info;
use crate::params::{ParamKind, Parameters};
use crate::time::Rate;

/// Nanoseconds in a second.
const NANOS: u64 = 1_000_000_000;

crate::parameters! {
    /// Parameters of Quick-Start.
    pub struct QuickStartParams {
        /// Number N of the requested rate, 40 kbit/s · 2^N: 11 is 81.92 Mbit/s, 15 is 1.31 Gbit/s.
        /// Routers may reduce it.
        rate_code: u64 = 15, ParamKind::Count { min: 1, max: 15 },
            "RFC 4782 section 3.1, table 1";
        /// Bytes of IP and TCP headers that count against the approved rate in each segment.
        header: u64 = 40, ParamKind::Bytes { min: 0, max: 120 }, "RFC 4782 section 4.4 (H)";
    }
}

/// State of the approved window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Trial {
    /// No approved window, or all of it has arrived or has had a response.
    None,
    /// It is being sent; no part of it is acknowledged.
    Sending,
    /// Its first acknowledgement has arrived; the rest may still be lost.
    Awaiting,
    /// A part of it was lost or marked; recovery continues.
    Failed,
}

/// Quick-Start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct QuickStart {
    /// The window without the approval, bytes.
    fallback: u64,
    /// Stream offset where the approved window begins.
    begin: u64,
    /// Stream offset where it ends, when known.
    end: u64,
    /// [`Conn::sent`] at its start.
    sent: u64,
    trial: Trial,
}

impl QuickStart {
    /// True if a loss or mark found now belongs to the approved window, whose segments RFC 4782 section
    /// 4.6 calls Quick-Start packets. The missing data begins at SND.UNA.
    fn is_hit(&self, c: &Conn) -> bool {
        match self.trial {
            Trial::None => false,
            Trial::Sending => true,
            Trial::Awaiting | Trial::Failed => c.una < self.end,
        }
    }

    /// Half of the data of the approved window that arrived, at least two segments. It is the maximum
    /// threshold after a loss in this window (RFC 4782 section 4.6; RFC 5681 equation 4).
    fn half(arrived: u64, c: &Conn) -> u64 {
        (arrived / 2).max(mul(2, u64::from(c.mss.max(1))))
    }
}

impl Described for QuickStart {
    const INFO: &'static Info = &Info {
        id: "quick-start",
        name: "Quick-Start",
        origin: "S. Floyd, M. Allman, A. Jain and P. Sarolahti, RFC 4782, 2007",
        citation: "rfc4782",
        description: "The SYN requests a rate from the routers of the path, in an IP option; links \
            with quick_start answer for their routers. If all of them approve, the first window is \
            the data that this rate carries in an RTT. It is sent evenly over the RTT, regardless \
            of the stack's pacing. With the first acknowledgement the window becomes the data \
            sent, and standard slow start follows. A loss or mark in this first window returns the \
            connection to its initial window. It is then in slow start up to half of the data of \
            the first window that arrived. If a router does not answer or refuses, it is standard \
            slow start. The end that opens the connection requests the rate, and only if it has \
            more to send than the initial window. Not included are requests on a SYN-ACK or in the \
            middle of a connection, and requests for the other direction. Routers that judge by \
            the report of the approved rate, middleboxes that drop packets with IP options, and \
            IPv6 are not included either.",
        params: QuickStartParams::TABLE,
        trace: &[],
    };
}

impl SlowStart for QuickStart {
    type Params = QuickStartParams;

    fn init(_p: &QuickStartParams, _c: &Conn) -> QuickStart {
        QuickStart { fallback: 0, begin: 0, end: 0, sent: 0, trial: Trial::None }
    }

    /// RFC 4782 section 4.4: sets the window to R·T/(MSS + H) whole segments, at most the threshold.
    fn approve(&mut self, p: &QuickStartParams, c: &Conn, rate: Rate, w: &mut Window) {
        if !c.srtt.is_known() {
            return;
        }
        let mss = u64::from(c.mss.max(1));
        let segments = mul_div(rate.0, c.srtt.0, NANOS) / mss.saturating_add(p.header).max(1);
        let bytes = mul(segments, mss).min(w.ssthresh()).min(MAX_WINDOW);
        if bytes <= w.cwnd() {
            return;
        }
        *self = QuickStart {
            fallback: w.cwnd(),
            begin: c.next_id,
            end: c.next_id,
            sent: c.sent,
            trial: Trial::Sending,
        };
        w.set(c, bytes);
    }

    fn observe(&mut self, _p: &QuickStartParams, c: &Conn, _a: &crate::Ack, w: &mut Window) {
        match self.trial {
            Trial::Sending => {
                // Section 4.4: the window is at most the data sent in it.
                self.end = c.next_id;
                let used = self.end.saturating_sub(self.begin);
                w.set(c, w.cwnd().min(used.max(self.fallback)));
                self.trial = Trial::Awaiting;
            }
            Trial::Awaiting | Trial::Failed if c.una >= self.end => self.trial = Trial::None,
            _ => {}
        }
    }

    #[inline]
    fn grow(
        &mut self,
        _p: &QuickStartParams,
        _c: &Conn,
        _a: &crate::Ack,
        credit: u64,
        w: &mut Window,
    ) {
        w.add(credit);
    }

    /// In fast recovery and after a mark this is the window without the approval, at which
    /// [`recovered`](SlowStart::recovered) resumes. After a timeout, slow start begins at once from one
    /// segment.
    fn threshold(&self, _p: &QuickStartParams, c: &Conn, _w: &Window, ssthresh: u64) -> u64 {
        if !self.is_hit(c) {
            return ssthresh;
        }
        if c.phase == Phase::Loss {
            let arrived = c.una.saturating_sub(self.begin);
            return ssthresh.min(QuickStart::half(arrived, c));
        }
        self.fallback
    }

    fn on_trial(&self, c: &Conn) -> bool {
        self.is_hit(c)
    }

    fn restart(&mut self, _p: &QuickStartParams, c: &Conn) {
        if !self.is_hit(c) || !matches!(c.phase, Phase::Recovery | Phase::Cwr) {
            self.trial = Trial::None;
            return;
        }
        if self.trial == Trial::Sending {
            self.end = c.next_id;
        }
        self.trial = Trial::Failed;
    }

    /// Sets the threshold. Retransmitted data counts as lost, and the rest of the approved window as
    /// arrived.
    fn recovered(&mut self, _p: &QuickStartParams, c: &Conn, w: &mut Window) {
        if self.trial != Trial::Failed {
            return;
        }
        let fresh = c.next_id.saturating_sub(self.begin);
        let again = c.sent.saturating_sub(self.sent).saturating_sub(fresh);
        let arrived = self.end.saturating_sub(self.begin).saturating_sub(again);
        w.set_ssthresh(QuickStart::half(arrived, c));
        self.trial = Trial::None;
    }
}
