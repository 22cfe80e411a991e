//! Proportional rate reduction compared with a second implementation of RFC 9937 section 6.

use proptest::prelude::*;
use windlass_cc::loss_based::LossBased;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::reno::{Reno, RenoAvoidance};
use windlass_cc::slow_start::Standard;
use windlass_cc::{Ack, AnyController, AnyParams, Conn, Phase, Setup, Undo};

const MSS: u64 = 1000;

/// RFC 9937's variables and its rule for an acknowledgement.
#[derive(Default, Debug)]
struct Model {
    recover_fs: f64,
    prr_delivered: f64,
    prr_out: f64,
    ssthresh: f64,
}

impl Model {
    /// Without delivered data a timer has detected a loss: the same rule applies, and one segment is
    /// sent if no acknowledgement is outstanding.
    fn ack(&mut self, delivered: f64, lost: f64, in_flight: f64, safe: bool) -> Option<f64> {
        if delivered == 0.0 && lost == 0.0 {
            return None;
        }
        self.prr_delivered += delivered;
        let mut sndcnt = if in_flight > self.ssthresh {
            (self.prr_delivered * self.ssthresh / self.recover_fs).ceil() - self.prr_out
        } else {
            let limit = (self.prr_delivered - self.prr_out).max(delivered);
            let limit = if safe { limit + MSS as f64 } else { limit };
            (self.ssthresh - in_flight).min(limit)
        };
        sndcnt = sndcnt.max(0.0);
        if (self.prr_out == 0.0 || in_flight == 0.0) && sndcnt == 0.0 {
            sndcnt = MSS as f64;
        }
        Some(in_flight + sndcnt)
    }
}

/// A step of a recovery on a path with the given losses: one acknowledgement.
#[derive(Clone, Copy, Debug)]
struct Step {
    delivered: u64,
    lost: u64,
    advances: bool,
}

fn step() -> impl Strategy<Value = Step> {
    (prop_oneof![Just(0u64), Just(1000), 1..3000u64], 0..2u64, any::<bool>())
        .prop_map(|(delivered, lost, advances)| Step { delivered, lost: lost * MSS, advances })
}

proptest! {
    // RFC 9937-6.1-1, 9937-6.1-2, 9937-6.1-3, 9937-6.2-4, 9937-6.2-5, 9937-6.2-6, 9937-6.2-7
    // RFC 9937-6.2-8, 9937-6.3-1
    #[test]
    fn the_window_in_recovery_follows_rfc_9937(
        flight in 4..200u64,
        origin in any::<u64>(),
        steps in prop::collection::vec(step(), 1..100),
    ) {
        let flight = flight * MSS;
        let mut p = AnyParams::by_name("reno").unwrap();
        p.set_common(&Setup {
            recovery: Some(LossRecovery::Prr), initial_window: flight, ..p.common()
        });
        // Volumes may have any origin.
        let origin = origin >> 1;
        let mut c = Conn { delivered: origin, sent: origin / 2 + flight, ..Conn::new(MSS as u32) };
        let mut state = AnyController::init(&p, &c);
        // Two duplicates, then the duplicate that proves a loss.
        let mut in_flight = flight;
        for lost in [0, 0, MSS] {
            let prior_in_flight = in_flight;
            in_flight -= MSS + lost;
            c.delivered += MSS;
            (c.in_flight, c.flight_size) = (in_flight, flight);
            let a = Ack { delivered: MSS, lost, prior_in_flight, duplicate: true, ..Ack::default() };
            state.on_ack(&p, &c, &a);
        }
        c.phase = Phase::Recovery;
        state.on_phase(&p, &c, Phase::Open, Phase::Recovery);
        let mut model = Model {
            recover_fs: (flight - 2 * MSS) as f64,
            ssthresh: (flight / 2).max(2 * MSS) as f64,
            ..Model::default()
        };
        let first = model.ack(MSS as f64, MSS as f64, in_flight as f64, false).unwrap();
        let mut expected = first;
        prop_assert_eq!(state.control(&p, &c).cwnd as f64, first.max(MSS as f64));
        for s in steps {
            // The sender fills the window.
            let room = (state.control(&p, &c).cwnd).saturating_sub(in_flight) / MSS * MSS;
            (in_flight, c.sent) = (in_flight + room, c.sent + room);
            model.prr_out += room as f64;
            let delivered = s.delivered.min(in_flight);
            let lost = s.lost.min(in_flight - delivered);
            let prior_in_flight = in_flight;
            in_flight -= delivered + lost;
            c.in_flight = in_flight;
            c.delivered += delivered;
            let acked = if s.advances { delivered } else { 0 };
            let a = Ack {
                acked, delivered, lost, prior_in_flight, duplicate: acked == 0, ..Ack::default()
            };
            state.on_ack(&p, &c, &a);
            let safe = acked > 0 && lost == 0;
            let (news, gone, left) = (delivered as f64, lost as f64, in_flight as f64);
            if let Some(cwnd) = model.ack(news, gone, left, safe) {
                expected = cwnd;
            }
            prop_assert_eq!(state.control(&p, &c).cwnd as f64, expected.max(MSS as f64), "{:?}", model);
        }
        c.phase = Phase::Open;
        state.on_phase(&p, &c, Phase::Recovery, Phase::Open);
        prop_assert_eq!(state.control(&p, &c).cwnd as f64, model.ssthresh);
    }
}

#[test]
fn the_end_of_an_undone_recovery_leaves_the_window_that_was_restored() {
    for style in LossRecovery::ALL.map(|s| s.1) {
        let mut p = AnyParams::by_name("reno").unwrap();
        p.set_common(&Setup { recovery: Some(style), initial_window: 20_000, ..p.common() });
        let mut c = Conn { in_flight: 16_000, flight_size: 20_000, ..Conn::new(1000) };
        let mut state = AnyController::init(&p, &c);
        let before = state.control(&p, &c);
        c.phase = Phase::Recovery;
        state.on_phase(&p, &c, Phase::Open, Phase::Recovery);
        assert!(state.control(&p, &c).ssthresh < before.ssthresh);
        state.on_undo(&p, &c, Undo::Dsack);
        c.phase = Phase::Open;
        state.on_phase(&p, &c, Phase::Recovery, Phase::Open);
        assert_eq!(state.control(&p, &c), before, "{style:?}");
    }
}

#[test]
fn the_frame_leaves_56_of_104_bytes_for_the_algorithm() {
    // Reno's growth has one counter of eight bytes.
    assert_eq!(size_of::<LossBased<RenoAvoidance<Reno>, Standard>>(), 48 + 8);
}
