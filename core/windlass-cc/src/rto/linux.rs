//! Linux's timer.

use super::smoothed::MAX_SAMPLE;
use super::{AFTER_LOST_SYN, FACTOR, POSITIVE_TIME, RtoEstimator, RttSample, TIME};
use crate::arithmetic::math::mul;
use crate::info::Info;
use crate::params::Parameters;
use crate::time::Span;

crate::parameters! {
    /// Parameters of Linux's timer.
    pub struct LinuxParams {
        /// Timeout before the first sample.
        initial: Span = Span::from_secs(1), POSITIVE_TIME, "Linux TCP_TIMEOUT_INIT";
        /// Minimum variance term; the timeout always exceeds the smoothed RTT by at least this
        /// time.
        min: Span = Span::from_millis(200), TIME, "Linux TCP_RTO_MIN";
        /// Maximum timeout, including back-off.
        max: Span = Span::from_secs(120), POSITIVE_TIME, "Linux TCP_RTO_MAX";
        /// Factor by which each expiry multiplies the timeout; 1 turns back-off off.
        backoff: u64 = 2, FACTOR, "RFC 6298 rule 5.5; Linux tcp_retransmit_timer";
    }
}

/// Linux's timer, nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Linux {
    /// Eight times the smoothed RTT; [`u64::MAX`] before the first sample.
    srtt8: u64,
    /// Four times the mean deviation.
    mdev4: u64,
    /// Maximum `mdev4` of the round, at least the minimum variance term.
    mdev_max: u64,
    /// The variance term.
    rttvar: u64,
    /// Stream offset; the round ends when data beyond it is acknowledged.
    round_end: u64,
    /// Timeout with back-off.
    rto: u64,
}

impl Linux {
    fn begin(&mut self, p: &LinuxParams, s: &RttSample, r: u64) {
        self.srtt8 = r << 3;
        self.mdev4 = r << 1;
        self.rttvar = self.mdev4.max(p.min.0);
        self.mdev_max = self.rttvar;
        self.round_end = s.next_id;
    }

    /// The deviation follows an error with a gain of 1/4. The gain is 1/32 if the sample is below the
    /// SRTT by more than the deviation, because a sudden drop must not make the timer longer.
    fn deviate(&mut self, r: u64) {
        let srtt = self.srtt8 >> 3;
        let error = srtt.abs_diff(r);
        let mean = self.mdev4 >> 2;
        self.srtt8 = self.srtt8 - srtt + r;
        if error <= mean {
            self.mdev4 = self.mdev4 - mean + error;
        } else if r < srtt {
            self.mdev4 += (error - mean) >> 3;
        } else {
            self.mdev4 += error - mean;
        }
    }

    fn follow(&mut self, p: &LinuxParams, s: &RttSample, r: u64) {
        self.deviate(r);
        if self.mdev4 > self.mdev_max {
            self.mdev_max = self.mdev4;
            self.rttvar = self.rttvar.max(self.mdev_max);
        }
        if s.una > self.round_end {
            self.rttvar -= self.rttvar.saturating_sub(self.mdev_max) >> 2;
            self.round_end = s.next_id;
            self.mdev_max = p.min.0;
        }
    }
}

impl RtoEstimator for Linux {
    type Params = LinuxParams;

    const INFO: &'static Info = &Info {
        id: "linux",
        name: "Linux",
        origin: "Linux, tcp_rtt_estimator and tcp_set_rto in net/ipv4/tcp_input.c; P. Sarolahti and \
            A. Kuznetsov, Congestion Control in Linux TCP, USENIX 2002",
        citation: "sarolahti2002linux",
        description: "Smoothed RTT plus a variance term. The term rises at once to the largest \
            deviation of the RTT, and falls by a quarter of the difference per RTT. It is never \
            below 200 ms, so that the timeout always exceeds the smoothed RTT by at least this \
            time. A sample far below the average hardly counts as deviation. Differences from \
            Linux: nanoseconds instead of microseconds, and no rounding up to the kernel's tick.",
        params: LinuxParams::TABLE,
        trace: &[],
    };

    fn init(p: &LinuxParams) -> Linux {
        Linux {
            srtt8: u64::MAX,
            mdev4: 0,
            mdev_max: 0,
            rttvar: 0,
            round_end: 0,
            rto: p.initial.0.min(p.max.0),
        }
    }

    fn on_sample(&mut self, p: &LinuxParams, s: &RttSample) {
        if !s.rtt.is_known() {
            return;
        }
        let r = s.rtt.0.min(MAX_SAMPLE);
        if self.srtt8 == u64::MAX {
            self.begin(p, s, r);
        } else {
            self.follow(p, s, r);
        }
        self.rto = (self.srtt8 >> 3).saturating_add(self.rttvar).min(p.max.0);
    }

    fn on_timeout(&mut self, p: &LinuxParams) {
        self.rto = mul(self.rto, p.backoff.max(1)).min(p.max.0);
    }

    fn after_lost_syn(&mut self, p: &LinuxParams) {
        if p.initial < AFTER_LOST_SYN && self.srtt8 == u64::MAX {
            self.rto = AFTER_LOST_SYN.0.min(p.max.0);
        }
    }

    fn rto(&self, _p: &LinuxParams) -> Span {
        Span(self.rto)
    }

    fn srtt(&self) -> Span {
        if self.srtt8 == u64::MAX { Span::NONE } else { Span(self.srtt8 >> 3) }
    }

    fn rttvar(&self) -> Span {
        Span(self.rttvar >> 2)
    }

    fn max(p: &LinuxParams) -> Span {
        p.max
    }
}
