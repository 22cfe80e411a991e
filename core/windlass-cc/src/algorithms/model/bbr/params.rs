//! Parameters of BBRv1.

use crate::params::{ParamKind, Ratio};
use crate::time::Span;

const GAIN: ParamKind = ParamKind::Ratio { min: Ratio::of(1, 10), max: Ratio::of(10, 1) };

crate::parameters! {
    /// Parameters of BBRv1.
    pub struct Params {
        /// Pacing and window gain of Startup; 2/ln 2 is the minimum that doubles the rate each
        /// round.
        startup_gain: Ratio = Ratio::of(2_885, 1_000), GAIN,
            "Cardwell et al. 2016 (2/ln 2); Linux bbr_high_gain";
        /// Pacing gain of Drain.
        drain_gain: Ratio = Ratio::of(1_000, 2_885), GAIN,
            "Cardwell et al. 2016 (ln 2 / 2); Linux bbr_drain_gain";
        /// Window gain of ProbeBW.
        cwnd_gain: Ratio = Ratio::of(2, 1), GAIN, "Cardwell et al. 2016; Linux bbr_cwnd_gain";
        /// Pacing gain of the phase of ProbeBW that probes for more bandwidth.
        probe_gain: Ratio = Ratio::of(5, 4), GAIN, "Cardwell et al. 2016; Linux bbr_pacing_gain";
        /// Pacing gain of the phase after the probe, which drains the probe's queue.
        yield_gain: Ratio = Ratio::of(3, 4), GAIN, "Cardwell et al. 2016; Linux bbr_pacing_gain";
        /// Growth of the bandwidth per round that continues Startup.
        full_bw_growth: Ratio = Ratio::of(5, 4), GAIN,
            "Cardwell et al. 2016; Linux bbr_full_bw_thresh";
        /// Consecutive rounds without such growth after which the path counts as full.
        full_bw_rounds: u64 = 3, ParamKind::Count { min: 1, max: 100 },
            "Cardwell et al. 2016; Linux bbr_full_bw_cnt";
        /// Window of the bandwidth filter, rounds.
        bw_window: u64 = 10, ParamKind::Count { min: 2, max: 1_000 },
            "Cardwell et al. 2016; Linux bbr_bw_rtts";
        /// Age of the RTT estimate that starts ProbeRTT.
        min_rtt_window: Span = Span::from_secs(10),
            ParamKind::Time { min: Span::from_millis(1), max: Span::from_secs(86_400) },
            "Cardwell et al. 2016; Linux bbr_min_rtt_win_sec";
        /// Minimum time of the small flight in ProbeRTT.
        probe_rtt_time: Span = Span::from_millis(200),
            ParamKind::Time { min: Span::ZERO, max: Span::from_secs(60) },
            "Cardwell et al. 2016; Linux bbr_probe_rtt_mode_ms";
        /// Smallest window, and the flight of ProbeRTT.
        min_cwnd: u64 = 4, ParamKind::Segments { min: 1, max: 1_000 },
            "Cardwell et al. 2016; Linux bbr_cwnd_min_target";
        /// Fraction by which pacing is below the estimated bandwidth; 0 in the paper.
        pacing_margin: Ratio = Ratio::of(1, 100),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::of(1, 2) },
            "Linux bbr_pacing_margin_percent";
        /// Duration at the pacing rate of an aggregate of the sending host. The window includes
        /// three aggregates; each has at least one segment below 1.2 Mbit/s, and otherwise two.
        quantum_time: Span = Span::from_millis(1),
            ParamKind::Time { min: Span::ZERO, max: Span::from_secs(1) },
            "draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.2; Linux bbr_tso_segs_goal";
        /// Count an aggregate that is about to leave as in flight at the check of the flight in the
        /// probing phase, which then ends earlier by the aggregate. Linux uses the earliest
        /// departure time. It also subtracts the deliveries of the path until then, which are less
        /// than a segment or two and are omitted here.
        count_departing: bool = false, ParamKind::Flag,
            "Linux bbr_packets_in_net_at_edt (true)";
        /// Maximum growth of the window for aggregated acknowledgements, as a time at the estimated
        /// bandwidth; 0 turns this off, as in the paper.
        extra_acked_time: Span = Span::from_millis(100),
            ParamKind::Time { min: Span::ZERO, max: Span::from_secs(60) },
            "Linux bbr_extra_acked_max_us";
        /// Half the window of the filter of aggregated acknowledgements, rounds.
        extra_acked_rounds: u64 = 5, ParamKind::Count { min: 1, max: 31 },
            "Linux bbr_extra_acked_win_rtts";
        /// Detect token-bucket policers; the paper does not.
        policer: bool = true, ParamKind::Flag, "Linux bbr_lt_bw_sampling";
        /// Minimum rounds of a policer's sampling interval; the maximum is four times this number.
        policer_rounds: u64 = 4, ParamKind::Count { min: 1, max: 31 },
            "Linux bbr_lt_intvl_min_rtts";
        /// Loss per delivered byte above which an interval may have been policed.
        policer_loss: Ratio = Ratio::of(50, 256),
            ParamKind::Ratio { min: Ratio(1), max: Ratio::ONE },
            "Linux bbr_lt_loss_thresh";
        /// Maximum relative difference of two intervals' rates for one policer.
        policer_spread: Ratio = Ratio::of(1, 8),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::ONE },
            "Linux bbr_lt_bw_ratio";
        /// Maximum difference of two intervals' rates for one slow policer, bytes per second.
        policer_difference: u64 = 500, ParamKind::Count { min: 0, max: 1 << 40 },
            "Linux bbr_lt_bw_diff (4 kbit/s)";
        /// Rounds for which the rate of a policer is used.
        policer_hold: u64 = 48, ParamKind::Count { min: 1, max: 250 },
            "Linux bbr_lt_bw_max_rtts";
    }
}

/// Phases of ProbeBW's cycle: one probes, one yields, six cruise.
pub(super) const PHASES: u8 = 8;
/// The phase that probes.
pub(super) const PROBE: u8 = 0;
const YIELD: u8 = 1;

impl Params {
    /// Pacing gain of a phase.
    pub(super) fn phase_gain(&self, phase: u8) -> Ratio {
        match phase {
            PROBE => self.probe_gain,
            YIELD => self.yield_gain,
            _ => Ratio::ONE,
        }
    }
}
