//! Undo of the response to a spurious loss (draft-ietf-ccwg-bbr-06 section 5.5.11).

use super::Bbr3;
use super::state::{Saved, State};
use crate::event::{Conn, Phase};

impl Bbr3 {
    /// `SaveCwnd`: saves the window, without the reduction of recovery or ProbeRTT.
    pub(super) fn save_cwnd(&mut self, phase: Phase) {
        let cut = matches!(phase, Phase::Recovery | Phase::Loss) || self.state == State::ProbeRtt;
        self.prior_cwnd = if cut { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// `SaveStateUponLoss`, at the first loss of a recovery.
    pub(super) fn save_once(&mut self) {
        if !self.saved.current {
            self.saved = Saved {
                bw_shortterm: self.bw_shortterm,
                inflight_shortterm: self.inflight_shortterm,
                inflight_longterm: self.inflight_longterm,
                probing: None,
                current: true,
            };
        }
    }

    /// Ends a recovery: the next loss saves the state again. The saved values remain for a late undo.
    pub(super) fn recovery_is_over(&mut self) {
        self.saved.current = false;
    }

    /// `HandleSpuriousLossDetection`.
    pub(super) fn restore(&mut self, c: &Conn) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.loss_in_round = false;
        self.reset_full_bw(0);
        self.bw_shortterm = self.bw_shortterm.max(self.saved.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.saved.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.saved.inflight_longterm);
        let holding = self.state == State::ProbeRtt;
        match self.saved.probing.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if !holding {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if self.state != State::Up && !holding => self.start_refill(c),
            _ => {}
        }
    }
}
