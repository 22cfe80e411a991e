//! Parameters of BBRv3.

use crate::params::{ParamKind, Ratio};
use crate::recovery::LossRecovery;
use crate::setup::Setup;
use crate::time::Span;

const GAIN: ParamKind = ParamKind::Ratio { min: Ratio::of(1, 10), max: Ratio::of(10, 1) };
const FRACTION: ParamKind = ParamKind::Ratio { min: Ratio(0), max: Ratio::of(99, 100) };
const TIME: ParamKind = ParamKind::Time { min: Span::from_millis(1), max: Span::from_secs(86_400) };

crate::parameters! {
    /// Parameters of BBRv3. The sections refer to draft-ietf-ccwg-bbr-06.
    pub struct Params {
        /// Pacing gain of Startup.
        startup_pacing_gain: Ratio = Ratio::of(277, 100), GAIN,
            "draft-ietf-ccwg-bbr-06 sections 2.4 and 5.3.1.1 (BBR.StartupPacingGain)";
        /// Pacing gain of Drain.
        drain_pacing_gain: Ratio = Ratio::of(1, 2), GAIN,
            "draft-ietf-ccwg-bbr-06 section 5.3.2 (BBR.DrainPacingGain)";
        /// Pacing gain of ProbeBW_DOWN.
        down_pacing_gain: Ratio = Ratio::of(9, 10), GAIN,
            "draft-ietf-ccwg-bbr-06 section 5.3.3.1";
        /// Pacing gain of ProbeBW_UP.
        up_pacing_gain: Ratio = Ratio::of(5, 4), GAIN,
            "draft-ietf-ccwg-bbr-06 section 5.3.3.5";
        /// Window gain of all states except ProbeBW_UP and ProbeRTT.
        cwnd_gain: Ratio = Ratio::of(2, 1), GAIN,
            "draft-ietf-ccwg-bbr-06 section 5.6.1 (BBR.DefaultCwndGain)";
        /// Window gain of ProbeBW_UP.
        up_cwnd_gain: Ratio = Ratio::of(9, 4), GAIN, "draft-ietf-ccwg-bbr-06 section 5.3.3.5";
        /// Window gain of ProbeRTT.
        probe_rtt_cwnd_gain: Ratio = Ratio::of(1, 2), GAIN,
            "draft-ietf-ccwg-bbr-06 section 5.3.4.1 (BBR.ProbeRTTCwndGain)";
        /// Loss rate over an RTT above which loss is too high.
        loss_threshold: Ratio = Ratio::of(2, 100), FRACTION,
            "draft-ietf-ccwg-bbr-06 section 5.3.3.7 (BBR.LossThresh)";
        /// Fraction of a bound that is kept at a loss.
        beta: Ratio = Ratio::of(7, 10), FRACTION,
            "draft-ietf-ccwg-bbr-06 section 5.5.10.2 (BBR.Beta)";
        /// Fraction of the long-term bound that is left to other flows while cruising.
        headroom: Ratio = Ratio::of(15, 100), FRACTION,
            "draft-ietf-ccwg-bbr-06 section 5.3.3.9 (BBR.Headroom)";
        /// Smallest window.
        min_cwnd: u64 = 4, ParamKind::Segments { min: 1, max: 1_000 },
            "draft-ietf-ccwg-bbr-06 section 5.6.4.3 (BBR.MinPipeCwnd)";
        /// Growth of the delivery rate per round that continues a search.
        full_bw_growth: Ratio = Ratio::of(5, 4), GAIN,
            "draft-ietf-ccwg-bbr-06 section 5.3.1.2";
        /// Consecutive rounds without such growth after which the path counts as full.
        full_bw_rounds: u64 = 3, ParamKind::Count { min: 1, max: 100 },
            "draft-ietf-ccwg-bbr-06 section 5.3.1.2";
        /// Acknowledgements with losses in a round that end Startup, together with a loss rate that
        /// is too high.
        full_loss_count: u64 = 6, ParamKind::Count { min: 1, max: 250 },
            "draft-ietf-ccwg-bbr-06 section 5.3.1.3 (BBRStartupFullLossCnt); Linux v3";
        /// Minimum time between two probes for bandwidth.
        probe_wait: Span = Span::from_secs(2), TIME,
            "draft-ietf-ccwg-bbr-06 section 5.3.3.8.2 (T_bbr)";
        /// Maximum random time added to `probe_wait`.
        probe_wait_spread: Span = Span::from_secs(1), TIME,
            "draft-ietf-ccwg-bbr-06 section 5.3.3.8.2 (T_bbr)";
        /// Maximum rounds between two probes, so that Reno flows can coexist.
        reno_rounds: u64 = 63, ParamKind::Count { min: 1, max: 10_000 },
            "draft-ietf-ccwg-bbr-06 section 5.3.3.8.3";
        /// Window of the filter of the round-trip time.
        min_rtt_window: Span = Span::from_secs(10), TIME,
            "draft-ietf-ccwg-bbr-06 section 5.5.7.2 (BBR.MinRTTFilterLen)";
        /// Time without a lower RTT that starts ProbeRTT.
        probe_rtt_interval: Span = Span::from_secs(5), TIME,
            "draft-ietf-ccwg-bbr-06 section 5.3.4.1 (BBR.ProbeRTTInterval)";
        /// Minimum time of the small flight in ProbeRTT.
        probe_rtt_time: Span = Span::from_millis(200),
            ParamKind::Time { min: Span::ZERO, max: Span::from_secs(60) },
            "draft-ietf-ccwg-bbr-06 section 5.3.4.1 (BBR.ProbeRTTDuration)";
        /// Window of the filter of aggregated acknowledgements, rounds; in Startup it is one round.
        extra_acked_rounds: u64 = 10, ParamKind::Count { min: 1, max: 1_000 },
            "draft-ietf-ccwg-bbr-06 section 5.5.9 (BBR.ExtraAckedFilterLen)";
        /// Count aggregated acknowledgements from zero after idle time, as Linux's BBR and Google's
        /// BBRv3 do. If false, only the count's beginning moves, as the draft says; the window of a
        /// sender of messages then grows without end.
        restart_aggregation: bool = true, ParamKind::Flag,
            "Linux CA_EVENT_TX_START (true); draft-ietf-ccwg-bbr-06 section 5.4.1 (false)";
        /// Fraction by which pacing is below the estimated bandwidth.
        pacing_margin: Ratio = Ratio::of(1, 100),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::of(1, 2) },
            "draft-ietf-ccwg-bbr-06 section 5.6.2 (BBR.PacingMarginPercent)";
        /// Duration at the pacing rate of an aggregate of the sending host; the window is at least
        /// three aggregates.
        quantum_time: Span = Span::from_millis(1),
            ParamKind::Time { min: Span::ZERO, max: Span::from_secs(1) },
            "draft-ietf-ccwg-bbr-06 section 5.6.3 (C.send_quantum)";
    }
}

/// True if the stack's recovery works without SACK, so that it detects at most one loss per round.
pub(super) fn is_blind(p: &Setup<Params>) -> bool {
    matches!(p.recovery, Some(LossRecovery::Tahoe | LossRecovery::Reno | LossRecovery::NewReno))
}

/// Section 5.5.10.2: true if the lost bytes exceed [`Params::loss_threshold`] of the flight. Without
/// SACK, any loss is too high.
pub(super) fn is_too_high(p: &Setup<Params>, lost: u64, tx_in_flight: u64) -> bool {
    lost > p.own.loss_threshold.times(tx_in_flight) || (lost > 0 && is_blind(p))
}
