//! Behaviour of an endpoint: each choice of a paper's simulator or of an operating system.

mod presets;

use windlass_cc::recovery::LossRecovery;
use windlass_cc::setup::{Counting, Credit, MarkCut};
use windlass_cc::{AnyParams, Flavour, Span, rto};

pub use presets::{LINUX, NS2, NS3, PRESETS, RFC, RIVERBED, UIP};

/// Initial congestion window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitialWindow {
    /// This number of full segments.
    Segments(u32),
    /// This number of bytes.
    Bytes(u64),
    /// RFC 5681 section 3.1: 2, 3 or 4 segments by segment size.
    Rfc5681,
    /// RFC 6928: `min(10·MSS, max(2·MSS, 14600))`.
    Rfc6928,
}

impl InitialWindow {
    /// The window in bytes for this segment size.
    pub fn bytes(self, mss: u32) -> u64 {
        let mss = u64::from(mss);
        match self {
            InitialWindow::Segments(n) => u64::from(n) * mss,
            InitialWindow::Bytes(n) => n,
            // RFC 5681-3.1-2
            InitialWindow::Rfc5681 if mss > 2190 => 2 * mss,
            InitialWindow::Rfc5681 if mss > 1095 => 3 * mss,
            InitialWindow::Rfc5681 => 4 * mss,
            InitialWindow::Rfc6928 => (10 * mss).min((2 * mss).max(14_600)),
        }
    }
}

/// Feedback of ECN marks that an endpoint offers and accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EcnFeedback {
    /// None: ECN is neither offered nor accepted.
    #[default]
    Off,
    /// RFC 3168: one echo per RTT. Algorithms that need exact marks get the echo of RFC 8257.
    Classic,
    /// Accurate ECN (RFC 9768): a counter of marked packets in each segment, and counters of bytes in an option. With a
    /// peer that supports RFC 3168 only, the feedback is classic.
    Accurate,
    /// Accurate ECN without the option, which its senders may omit.
    AccurateCounter,
}

impl EcnFeedback {
    /// True if ECN is offered and accepted.
    pub const fn is_on(self) -> bool {
        !matches!(self, EcnFeedback::Off)
    }

    /// True if accurate ECN is offered and accepted.
    pub const fn is_accurate(self) -> bool {
        matches!(self, EcnFeedback::Accurate | EcnFeedback::AccurateCounter)
    }
}

impl From<bool> for EcnFeedback {
    /// Classic or no feedback.
    fn from(on: bool) -> EcnFeedback {
        if on { EcnFeedback::Classic } else { EcnFeedback::Off }
    }
}

/// Condition for the growth of cwnd while the sender does not fill it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WindowValidation {
    /// None: cwnd grows at each acknowledgement.
    #[default]
    Off,
    /// Cwnd grows while it limited the sender within the last window of data (RFC 7661). In slow start it
    /// grows up to twice the largest flight of that window, as in Linux.
    Used,
    /// Cwnd grows up to twice the largest flight since its last reduction in slow start, and up to a
    /// segment more than this flight in congestion avoidance (draft-ietf-ccwg-ratelimited-increase-11).
    /// The flight counts as the initial window at first. One acknowledgement may exceed the limit by its
    /// own growth.
    RateLimited,
    /// As in ns-3, whose classes decide: CUBIC's cwnd, and Reno's in congestion avoidance, grow only if the
    /// last segment left less than a segment of cwnd free. Any other cwnd always grows.
    Ns3,
}

impl From<bool> for WindowValidation {
    /// Validation within the last window, or none.
    fn from(on: bool) -> WindowValidation {
        if on { WindowValidation::Used } else { WindowValidation::Off }
    }
}

/// Condition for pacing: spreading the segments over the RTT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pacing {
    /// Never. All data that the windows allow are sent at once, regardless of the algorithm's rate.
    Off,
    /// At the algorithm's pacing rate, if the algorithm sets one.
    Algorithm,
    /// Also if the algorithm sets no rate. The rate is twice cwnd per RTT while cwnd is below half of
    /// ssthresh, and 1.2 times cwnd per RTT otherwise, as in Linux's `sch_fq`.
    Always,
}

impl Pacing {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, Pacing); 3] =
        [("off", Pacing::Off), ("algorithm", Pacing::Algorithm), ("always", Pacing::Always)];
}

/// The method that detects losses before the retransmission timer expires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossDetection {
    /// By counting the data that arrived after the missing segment (RFC 5681, RFC 6675).
    DupThresh,
    /// By time (RFC 8985) if recovery uses the peer's SACK reports, otherwise by counting. As in Linux, a
    /// loss beyond the end point of a recovery starts another recovery (`tcp_time_to_recover`). The
    /// retransmission timer restarts when the first segment is retransmitted, and while data sent before that
    /// are reported (`tcp_clean_rtx_queue`).
    Rack,
}

impl LossDetection {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, LossDetection); 2] =
        [("dupthresh", LossDetection::DupThresh), ("rack", LossDetection::Rack)];
}

/// RTT samples that count for the algorithm's minimum RTT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeastRtt {
    /// All samples, including the sample of the SYN. A slow link carries a SYN faster than a full segment.
    Any,
    /// Samples of data, as in Linux for every algorithm that receives them (`pkts_acked`). Algorithms that
    /// use delivery-rate samples receive all RTT samples there, too (`tcp_min_rtt`). If only retransmissions
    /// are acknowledged, the sample is the RTT by timestamps, in milliseconds (`tcp_ack_update_rtt`).
    Data,
}

impl LeastRtt {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, LeastRtt); 2] =
        [("any", LeastRtt::Any), ("data", LeastRtt::Data)];
}

/// False reports of a receiver that wants more than its share (Savage and others, CCR 29(5), 1999; RFC 3540).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lies {
    /// No false reports.
    None,
    /// The receiver acknowledges missing data below data that have arrived. The stream has holes that count
    /// as read.
    HidesLosses,
    /// The receiver echoes no marks.
    HidesMarks,
    /// The receiver acknowledges a quarter of a segment at a time.
    SplitsAcks,
}

impl Lies {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, Lies); 4] = [
        ("none", Lies::None),
        ("hides-losses", Lies::HidesLosses),
        ("hides-marks", Lies::HidesMarks),
        ("splits-acks", Lies::SplitsAcks),
    ];
}

/// The quantity from which a loss or a mark computes the reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossCut {
    /// Data in flight (RFC 5681 equation 4).
    Flight,
    /// The whole segments of cwnd, as in Linux. This value is larger than the flight if the acknowledgement
    /// that reports the loss also covers new data, or if cwnd was not fully used.
    Window,
}

impl LossCut {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, LossCut); 2] =
        [("flight", LossCut::Flight), ("window", LossCut::Window)];
}

/// Behaviour of an endpoint. One value serves any number of connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StackConfig {
    /// MSS to announce and use, bytes: payload and TCP options of a segment (RFC 6691); `None` is the path's
    /// MTU minus 40.
    pub mss: Option<u32>,
    /// Receive buffer, bytes, at least 1. With autotuning it is memory, as in Linux: a segment of 1448 bytes
    /// takes 2304.
    pub receive_buffer: u64,
    /// Offer half of [`initial_receive_buffer`](Self::initial_receive_buffer) at first, and more as data
    /// arrive and are read, up to the receive buffer: Linux's `tcp_moderate_rcvbuf`. Without autotuning the
    /// whole buffer is offered at once.
    pub receive_autotuning: bool,
    /// Initial buffer of autotuning, bytes, the kernel's bookkeeping included: `tcp_rmem[1]`.
    pub initial_receive_buffer: u64,
    /// Acknowledge as Linux does. At the beginning of a connection, after duplicate data, and while
    /// autotuning grows the receive window, each segment is acknowledged separately. Later the
    /// acknowledgement depends on bytes instead of segments, and the time between segments determines the
    /// delay. Pushed data are acknowledged when they are read. In a dialogue the response carries the
    /// acknowledgement. [`delayed_ack_timeout`](Self::delayed_ack_timeout) is the minimum delay then.
    pub quick_acks: bool,
    /// Report the first three segments beyond a hole at once, and later segments together after the smaller
    /// of one millisecond and a twentieth of an RTT: Linux's compressed acknowledgements
    /// (`tcp_comp_sack_delay_ns`). Only with SACK.
    pub sack_compression: bool,
    /// Send buffer, bytes: the application may write this amount beyond the acknowledged data. By Linux's
    /// [`rules`](Self::rules) it is memory: a segment of 1448 bytes takes 2344, segments that SACK reports share
    /// memory, and a full buffer takes no data until a third of it is free.
    pub send_buffer: u64,
    /// Initial send buffer by Linux's rules, bytes, at least room for twice the initial window: `tcp_wmem[1]`. It grows
    /// with cwnd up to the send buffer. By other rules the whole send buffer is available at once.
    pub initial_send_buffer: u64,
    /// Offer window scaling (RFC 7323).
    pub window_scaling: bool,
    /// Offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Offer SACK and report received ranges (RFC 2018).
    pub sack: bool,
    /// Report duplicate data in the first SACK block (RFC 2883).
    pub dsack: bool,
    /// Initial congestion window.
    pub initial_window: InitialWindow,
    /// Maximum number of segments by which one acknowledgement grows cwnd: 1 in RFC 5681, 2 in RFC 3465,
    /// [`u32::MAX`] for all segments that it covers.
    pub ack_limit: u32,
    /// Unit of cwnd in algorithms that have slow start and congestion avoidance.
    pub window_counting: Counting,
    /// The part of an acknowledgement that grows the cwnd of these algorithms.
    pub growth_credit: Credit,
    /// Nagle's algorithm (RFC 1122 section 4.2.3.4).
    // RFC 9293-3.7.4-MUST-17
    pub nagle: bool,
    /// Full segments per delayed acknowledgement; 1 turns delaying off (RFC 1122: 2).
    pub delayed_ack_segments: u32,
    /// Maximum delay of an acknowledgement (RFC 1122: below 500 ms).
    pub delayed_ack_timeout: Span,
    /// False reports of the endpoint as a receiver.
    pub lies: Lies,
    /// Retransmit on duplicate acknowledgements.
    pub fast_retransmit: bool,
    /// Number of duplicate acknowledgements that signal a loss (RFC 5681: 3), at least 1.
    pub dupthresh: u32,
    /// Rules in details, where the standards leave a choice or the kernel differs:
    ///
    /// * Nagle's algorithm (RFC 1122 section 4.2.3.4, or only behind another small segment),
    /// * the form of window probes and the time of a tail loss probe,
    /// * duplicates and timers in recovery,
    /// * the failure of a connection, and the rate of responses to unacceptable segments.
    ///
    /// [`Flavour::Ns3`] is equal to [`Flavour::Rfc`] here.
    pub rules: Flavour,
    /// Method of loss detection before the timer expires.
    pub loss_detection: LossDetection,
    /// Probe for a lost tail before the timer expires (RFC 8985 section 7), if recovery uses the peer's SACK
    /// reports.
    pub tlp: bool,
    /// Detect a spurious timeout by the data that are acknowledged after it (RFC 5682), unless recovery is
    /// Tahoe's, Reno's or NewReno's.
    pub frto: bool,
    /// Detect a spurious retransmission by the timestamp of its acknowledgement (RFC 3522), with the
    /// exceptions of [`frto`](Self::frto).
    pub eifel: bool,
    /// Undo a reduction when the peer has reported each retransmission as a duplicate (RFC 3708), if recovery
    /// uses the peer's SACK reports.
    pub dsack_undo: bool,
    /// Offer and accept explicit congestion notification.
    pub ecn: EcnFeedback,
    /// Loss recovery; `None` is the algorithm's own recovery.
    pub recovery: Option<LossRecovery>,
    /// The quantity from which a loss or a mark computes the reduction.
    pub loss_cut: LossCut,
    /// Duration of the reduction for a mark.
    pub mark_cut: MarkCut,
    /// Maximum number of segments in flight: 1 for a stop-and-wait sender, NS-2's `window_`; [`u32::MAX`] for
    /// no limit besides the windows.
    pub flight_limit: u32,
    /// Spread segments over the RTT.
    pub pacing: Pacing,
    /// Number of segments that a new connection sends before pacing begins.
    pub pacing_burst: u32,
    /// Send new data on the first duplicate acknowledgements (RFC 3042).
    pub limited_transmit: bool,
    /// Condition for the growth of cwnd while the sender does not fill it.
    pub window_validation: WindowValidation,
    /// Reduce cwnd to the restart window after an idle time of one RTO (RFC 5681 section 4.1).
    pub idle_restart: bool,
    /// Take no RTT sample from a retransmitted segment (Karn). Otherwise the sample starts at the first
    /// transmission.
    pub karn: bool,
    /// RTT samples that count for the algorithm's minimum RTT.
    pub least_rtt: LeastRtt,
    /// Retransmission timer.
    pub rto: rto::AnyParams,
    /// The retransmission and probe timers expire at multiples of this period, as in stacks with a slow
    /// timer; zero means exact timers. Delayed acknowledgements have a separate timer, as in BSD, and are not
    /// affected.
    pub timer_tick: Span,
    /// Tick of a timer wheel as in Linux, for all timers except pacing and compressed acknowledgements. An
    /// expiry is rounded up to whole ticks, above 63 ticks to a multiple of 8, above 504 ticks to a multiple
    /// of 64, plus one tick (`calc_wheel_index`). Zero means exact timers.
    pub wheel_tick: Span,
    /// First interval between zero-window probes; zero means the retransmission timeout (RFC 9293 section
    /// 3.8.6.1).
    pub persist_timeout: Span,
    /// Retransmissions of a SYN before the attempt fails (RFC 1122 section 4.2.3.5).
    pub max_syn_retries: u32,
    /// Additional retransmissions of a SYN at the first timeout without backoff (`tcp_syn_linear_timeouts`,
    /// Linux 6.5 and later).
    pub syn_linear_timeouts: u32,
    /// Retransmissions of a SYN, or of a SYN-ACK, that do not reduce the initial window: none in RFC 5681,
    /// one in Linux (`tcp_init_transfer`).
    pub spared_syns: u32,
    /// Consecutive retransmissions of the same data, or unanswered probes, before the connection fails (RFC
    /// 1122's R2). By Linux's rules the limit is a time: the duration of this number of retransmissions from
    /// a timeout of 200 ms (`tcp_retries2`).
    // RFC 9293-3.8.3-MUST-21
    pub max_data_retries: u32,
    /// Time in TIME-WAIT (RFC 9293: twice the maximum segment lifetime).
    pub time_wait: Span,
}

/// A named set of values.
#[derive(Debug)]
pub struct Preset {
    /// Name in scenarios.
    pub name: &'static str,
    /// Source of the values.
    pub origin: &'static str,
    /// Short description.
    pub description: &'static str,
    /// Implementation of the algorithms that the preset uses.
    pub flavour: Flavour,
    /// The values.
    pub config: StackConfig,
}

impl Preset {
    /// The preset with this name, regardless of case.
    pub fn by_name(name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|p| p.name.eq_ignore_ascii_case(name))
    }

    /// The stack, and the algorithm with this identifier (regardless of case) in the stack's implementation.
    pub fn with(&self, algorithm: &str) -> Option<(StackConfig, AnyParams)> {
        let params = AnyParams::by_name(algorithm)?.flavoured(self.flavour);
        let ack_limit = params.ack_limit(self.flavour).unwrap_or(self.config.ack_limit);
        Some((StackConfig { ack_limit, ..self.config }, params))
    }
}
