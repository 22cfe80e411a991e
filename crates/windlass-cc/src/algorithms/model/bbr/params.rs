//! Parameters of BBRv1.

use crate::params::{ParamKind, Ratio};
use crate::time::Span;

const GAIN: ParamKind = ParamKind::Ratio { min: Ratio::of(1, 10), max: Ratio::of(10, 1) };

crate::parameters! {
    /// Parameters of BBRv1.
    pub struct Params {
        /// Pacing and window gain of Startup; 2/ln 2 is the least that doubles the rate each round.
        startup_gain: Ratio = Ratio::of(2_885, 1_000), GAIN,
            "Cardwell et al. 2016 (2/ln 2); Linux bbr_high_gain";
        /// Pacing gain of Drain.
        drain_gain: Ratio = Ratio::of(1_000, 2_885), GAIN,
            "Cardwell et al. 2016 (ln 2 / 2); Linux bbr_drain_gain";
        /// Window gain of ProbeBW.
        cwnd_gain: Ratio = Ratio::of(2, 1), GAIN, "Cardwell et al. 2016; Linux bbr_cwnd_gain";
        /// Pacing gain of the phase of ProbeBW that looks for more bandwidth.
        probe_gain: Ratio = Ratio::of(5, 4), GAIN, "Cardwell et al. 2016; Linux bbr_pacing_gain";
        /// Pacing gain of the phase after it, which drains what it queued.
        yield_gain: Ratio = Ratio::of(3, 4), GAIN, "Cardwell et al. 2016; Linux bbr_pacing_gain";
        /// Growth of the bandwidth in a round that keeps Startup going.
        full_bw_growth: Ratio = Ratio::of(5, 4), GAIN,
            "Cardwell et al. 2016; Linux bbr_full_bw_thresh";
        /// Rounds in a row without such growth after which the pipe is deemed full.
        full_bw_rounds: u64 = 3, ParamKind::Count { min: 1, max: 100 },
            "Cardwell et al. 2016; Linux bbr_full_bw_cnt";
        /// Window of the bandwidth filter, rounds.
        bw_window: u64 = 10, ParamKind::Count { min: 2, max: 1_000 },
            "Cardwell et al. 2016; Linux bbr_bw_rtts";
        /// Age of the round-trip estimate that brings on ProbeRTT.
        min_rtt_window: Span = Span::from_secs(10),
            ParamKind::Time { min: Span::from_millis(1), max: Span::from_secs(86_400) },
            "Cardwell et al. 2016; Linux bbr_min_rtt_win_sec";
        /// Shortest time that ProbeRTT holds the small flight.
        probe_rtt_time: Span = Span::from_millis(200),
            ParamKind::Time { min: Span::ZERO, max: Span::from_secs(60) },
            "Cardwell et al. 2016; Linux bbr_probe_rtt_mode_ms";
        /// Smallest window, and the flight of ProbeRTT.
        min_cwnd: u64 = 4, ParamKind::Segments { min: 1, max: 1_000 },
            "Cardwell et al. 2016; Linux bbr_cwnd_min_target";
        /// Fraction by which pacing stays below the estimated bandwidth; 0 in the paper.
        pacing_margin: Ratio = Ratio::of(1, 100),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::of(1, 2) },
            "Linux bbr_pacing_margin_percent";
        /// Time at the pacing rate that an aggregate of the sending host holds; the window has room
        /// for three aggregates, each of at least one segment below 1.2 Mbit/s and else two.
        quantum_time: Span = Span::from_millis(1),
            ParamKind::Time { min: Span::ZERO, max: Span::from_secs(1) },
            "draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.2; Linux bbr_tso_segs_goal";
        /// Count an aggregate about to leave as in flight when the probing phase looks at the flight,
        /// which then ends as much sooner. Linux looks at the earliest departure time, and takes off
        /// too what the path delivers until then, less than a segment or two here and left out.
        count_departing: bool = false, ParamKind::Flag,
            "Linux bbr_packets_in_net_at_edt (true)";
        /// Longest time at the estimated bandwidth that the window grows for aggregated
        /// acknowledgements; 0 turns this off, as in the paper.
        extra_acked_time: Span = Span::from_millis(100),
            ParamKind::Time { min: Span::ZERO, max: Span::from_secs(60) },
            "Linux bbr_extra_acked_max_us";
        /// Half of the window of the filter of aggregated acknowledgements, rounds.
        extra_acked_rounds: u64 = 5, ParamKind::Count { min: 1, max: 31 },
            "Linux bbr_extra_acked_win_rtts";
        /// Look for token-bucket policers; the paper does not.
        policer: bool = true, ParamKind::Flag, "Linux bbr_lt_bw_sampling";
        /// Rounds of a policer's sampling interval; at most four times as many.
        policer_rounds: u64 = 4, ParamKind::Count { min: 1, max: 31 },
            "Linux bbr_lt_intvl_min_rtts";
        /// Loss per byte delivered above which an interval may have been policed.
        policer_loss: Ratio = Ratio::of(50, 256),
            ParamKind::Ratio { min: Ratio(1), max: Ratio::ONE },
            "Linux bbr_lt_loss_thresh";
        /// Relative difference of two intervals' rates up to which they are one policer's.
        policer_spread: Ratio = Ratio::of(1, 8),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::ONE },
            "Linux bbr_lt_bw_ratio";
        /// The same in bytes per second, for slow policers.
        policer_difference: u64 = 500, ParamKind::Count { min: 0, max: 1 << 40 },
            "Linux bbr_lt_bw_diff (4 kbit/s)";
        /// Rounds for which a policer's rate is kept to.
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
