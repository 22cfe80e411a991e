//! Long-term sampling (Linux). A token-bucket policer passes bursts and then drops data above its rate.
//! The maximum filter would take the burst rate for the bandwidth. Two consecutive intervals with heavy
//! loss and the same rate reveal a policer.

use super::Params;
use crate::arithmetic::math::mul;
use crate::event::Conn;
use crate::params::RATIO_BITS;
use crate::time::{Rate, Span, Time};

/// Sampling state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub(super) struct Policer {
    /// Rate of the last interval with heavy loss, zero before the first; when in use, the policer's
    /// rate.
    bw: Rate,
    /// Start of the interval: its time and counts.
    begin: Time,
    delivered: u64,
    lost: u64,
    /// Rounds of the interval, or of the use of the rate.
    rounds: u8,
    sampling: bool,
    in_use: bool,
}

impl Policer {
    pub(super) const fn new(c: &Conn) -> Policer {
        Policer {
            bw: Rate(0),
            begin: c.now,
            delivered: c.delivered,
            lost: c.lost,
            rounds: 0,
            sampling: false,
            in_use: false,
        }
    }

    /// The rate of the detected policer.
    pub(super) fn rate(&self) -> Option<Rate> {
        self.in_use.then_some(self.bw)
    }

    fn begin_interval(&mut self, c: &Conn) {
        *self = Policer { bw: self.bw, sampling: self.sampling, ..Policer::new(c) };
    }

    /// Counts a round in which the policer's rate is used. Returns true if it was the last.
    pub(super) fn expires(&mut self, p: &Params) -> bool {
        self.rounds = self.rounds.saturating_add(1);
        u64::from(self.rounds) >= p.policer_hold
    }

    /// Takes an acknowledgement while no policer is detected; `lossy` with new losses, `limited` by the
    /// application.
    pub(super) fn sample(&mut self, p: &Params, c: &Conn, lossy: bool, limited: bool, round: bool) {
        // The bucket's tokens must be used up before the rate is the policer's.
        if !self.sampling {
            if !lossy {
                return;
            }
            self.begin_interval(c);
            self.sampling = true;
        }
        if limited {
            *self = Policer::new(c);
            return;
        }
        self.rounds = self.rounds.saturating_add(u8::from(round));
        let rounds = u64::from(self.rounds);
        if rounds < p.policer_rounds {
            return;
        }
        if rounds > mul(4, p.policer_rounds) {
            *self = Policer::new(c);
        } else if lossy {
            // The interval also ends with a loss, at which the tokens are used up again.
            self.end_interval(p, c);
        }
    }

    fn end_interval(&mut self, p: &Params, c: &Conn) {
        let lost = c.lost.saturating_sub(self.lost);
        let delivered = c.delivered.saturating_sub(self.delivered);
        let time = c.now.since(self.begin);
        let heavy = mul(lost, 1 << RATIO_BITS) >= mul(delivered, p.policer_loss.0);
        if delivered == 0 || !heavy || time < Span::from_millis(1) {
            return;
        }
        let bw = Rate::of(delivered, time);
        let difference = bw.0.abs_diff(self.bw.0);
        let same =
            difference <= p.policer_spread.times(self.bw.0) || difference <= p.policer_difference;
        if self.bw.0 > 0 && same {
            self.bw = Rate(bw.0 / 2 + self.bw.0 / 2);
            self.in_use = true;
            self.rounds = 0;
        } else {
            self.bw = bw;
            self.begin_interval(c);
        }
    }
}
