//! How an endpoint behaves: every choice that a paper's simulator or an operating system makes.

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
            InitialWindow::Rfc5681 if mss > 2190 => 2 * mss,
            InitialWindow::Rfc5681 if mss > 1095 => 3 * mss,
            InitialWindow::Rfc5681 => 4 * mss,
            InitialWindow::Rfc6928 => (10 * mss).min((2 * mss).max(14_600)),
        }
    }
}

/// When the endpoint spreads what it sends over the round trip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pacing {
    /// Never: what the windows allow goes at once, whatever the algorithm asks for.
    Off,
    /// At the rate that the algorithm asks for, if it asks for one.
    Algorithm,
    /// Also where it does not: at twice the window per round trip in slow start, while the window
    /// is below half the threshold, and at 1.2 times it otherwise, as Linux's `sch_fq` does.
    Always,
}

impl Pacing {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, Pacing); 3] =
        [("off", Pacing::Off), ("algorithm", Pacing::Algorithm), ("always", Pacing::Always)];
}

/// How losses are found before the retransmission timer expires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossDetection {
    /// By counting what arrived after the missing segment (RFC 5681, RFC 6675).
    DupThresh,
    /// By time (RFC 8985), where recovery goes by what the peer reports with SACK; elsewhere by
    /// counting. As in Linux, what was lost beyond the point where recovery ends begins another
    /// (`tcp_time_to_recover`), and the retransmission timer starts again when the first segment goes
    /// again and while data from before that is reported (`tcp_clean_rtx_queue`).
    Rack,
}

impl LossDetection {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, LossDetection); 2] =
        [("dupthresh", LossDetection::DupThresh), ("rack", LossDetection::Rack)];
}

/// Which round trips count for the least one that an algorithm knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeastRtt {
    /// All, that of the SYN too, which a slow link carries sooner than a full segment.
    Any,
    /// Those of data, as in Linux for every algorithm that is told of them (`pkts_acked`); who takes
    /// samples of the delivery rate knows all of them there too (`tcp_min_rtt`). Where nothing but retransmissions is
    /// acknowledged, that is the round trip by timestamps, in milliseconds (`tcp_ack_update_rtt`).
    Data,
}

impl LeastRtt {
    /// Every value with its name in scenarios.
    pub const ALL: [(&'static str, LeastRtt); 2] =
        [("any", LeastRtt::Any), ("data", LeastRtt::Data)];
}

/// What a receiver states that is not so, to be sent more than its share (Savage and others, CCR 29(5), 1999; RFC 3540).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lies {
    /// Nothing.
    None,
    /// What is missing below something that has arrived is acknowledged as if it had arrived too. The stream has holes that
    /// count as read.
    HidesLosses,
    /// No mark is echoed.
    HidesMarks,
    /// A quarter of a segment is acknowledged at a time.
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

/// What a loss or a mark cuts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossCut {
    /// What is in flight (RFC 5681 equation 4).
    Flight,
    /// The whole segments of the congestion window, as Linux does: it is the larger where a loss is
    /// told by an acknowledgement that also covers new data, or where the window was not all used.
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
    /// MSS to announce and keep, bytes: payload and TCP options of a segment (RFC 6691); `None`
    /// takes the path's MTU less 40.
    pub mss: Option<u32>,
    /// Receive buffer, bytes, at least 1.
    pub receive_buffer: u64,
    /// Offer half of [`initial_receive_buffer`](Self::initial_receive_buffer) at first, and more as data arrive and
    /// are read, up to the receive buffer: Linux's `tcp_moderate_rcvbuf`. Otherwise the whole buffer is offered at once.
    pub receive_autotuning: bool,
    /// Buffer that autotuning begins with, bytes, the kernel's bookkeeping included: `tcp_rmem[1]`.
    pub initial_receive_buffer: u64,
    /// Acknowledge as Linux does. Each segment is acknowledged by itself at the beginning of a connection, after duplicate
    /// data, and while autotuning opens the receive window. Later the bytes count and not the segments, and the time between
    /// segments sets the delay. Pushed data are acknowledged once they are read; in a dialogue the acknowledgement goes with
    /// the answer. [`delayed_ack_timeout`](Self::delayed_ack_timeout) is the minimum delay then.
    pub quick_acks: bool,
    /// Report the first three segments beyond a hole at once, and those after them together, after a
    /// millisecond or a twentieth of a round trip: Linux's compressed acknowledgements
    /// (`tcp_comp_sack_delay_ns`). Only with SACK.
    pub sack_compression: bool,
    /// Send buffer, bytes: data that the application may hand over before it is acknowledged.
    pub send_buffer: u64,
    /// Offer window scaling (RFC 7323).
    pub window_scaling: bool,
    /// Offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Offer SACK and report received ranges (RFC 2018).
    pub sack: bool,
    /// Report data that arrive twice in a first SACK block (RFC 2883).
    pub dsack: bool,
    /// Initial congestion window.
    pub initial_window: InitialWindow,
    /// Most segments that one acknowledgement counts for when the window opens: 1 in RFC 5681, 2 in
    /// RFC 3465, [`u32::MAX`] for every one it covers.
    pub ack_limit: u32,
    /// In what the window is kept by algorithms that have slow start and congestion avoidance.
    pub window_counting: Counting,
    /// What of an acknowledgement opens their window.
    pub growth_credit: Credit,
    /// Nagle's algorithm (RFC 1122 section 4.2.3.4).
    pub nagle: bool,
    /// Acknowledge at least every this number of full segments; 1 turns delaying off (RFC 1122: 2).
    pub delayed_ack_segments: u32,
    /// Longest delay of an acknowledgement (RFC 1122: below 500 ms).
    pub delayed_ack_timeout: Span,
    /// What it says as a receiver that is not so.
    pub lies: Lies,
    /// Retransmit on duplicate acknowledgements at all.
    pub fast_retransmit: bool,
    /// Duplicate acknowledgements that signal a loss (RFC 5681: 3), at least 1.
    pub dupthresh: u32,
    /// Rules in small matters, if the standards leave a choice or the kernel differs: Nagle's algorithm (RFC 1122 section
    /// 4.2.3.4, or only behind another small segment), the form of window probes, the time of a tail loss probe, and
    /// duplicates and timers in recovery. They also decide when a connection is given up, and how often an unacceptable
    /// segment is answered. [`Flavour::Ns3`] is the same as [`Flavour::Rfc`].
    pub rules: Flavour,
    /// How losses are found before the timer expires.
    pub loss_detection: LossDetection,
    /// Probe for a lost tail before the timer expires (RFC 8985 section 7), where recovery goes by
    /// what the peer reports with SACK.
    pub tlp: bool,
    /// Tell a spurious timeout by what is acknowledged after it (RFC 5682), unless recovery is Tahoe's,
    /// Reno's or NewReno's.
    pub frto: bool,
    /// Tell a spurious retransmission by the timestamp of its acknowledgement (RFC 3522), with the same
    /// exceptions.
    pub eifel: bool,
    /// Take a reduction back once the peer has reported each retransmission to be a duplicate (RFC
    /// 3708), where recovery goes by what the peer reports with SACK.
    pub dsack_undo: bool,
    /// Offer and accept explicit congestion notification (RFC 3168). Algorithms that want exact
    /// marks get the echo of RFC 8257.
    pub ecn: bool,
    /// Loss recovery; `None` takes the one that belongs to the algorithm.
    pub recovery: Option<LossRecovery>,
    /// What a loss or a mark cuts.
    pub loss_cut: LossCut,
    /// How long a mark's cut takes.
    pub mark_cut: MarkCut,
    /// Most segments in flight, [`u32::MAX`] for no other limit than the windows: one for a sender
    /// that stops and waits, NS-2's `window_`.
    pub flight_limit: u32,
    /// Spread what is sent over the round trip.
    pub pacing: Pacing,
    /// Segments that a new connection sends before pacing begins.
    pub pacing_burst: u32,
    /// Send new data on the first duplicate acknowledgements (RFC 3042).
    pub limited_transmit: bool,
    /// Let the window grow only while it is what limits the sender (RFC 7661).
    pub window_validation: bool,
    /// Fall back to the restart window after an idle time of one RTO (RFC 5681 section 4.1).
    pub idle_restart: bool,
    /// Take no RTT sample from a retransmitted segment (Karn). Otherwise the time runs from the
    /// first transmission.
    pub karn: bool,
    /// Which round trips count for the least one that the algorithm knows.
    pub least_rtt: LeastRtt,
    /// Retransmission timer.
    pub rto: rto::AnyParams,
    /// The retransmission and probe timers expire at multiples of this period, as in stacks with a
    /// slow timer; zero means exact timers. Delayed acknowledgements have a timer of their own, as
    /// in BSD, and are not moved.
    pub timer_tick: Span,
    /// Tick of a timer wheel as in Linux, for all timers except pacing and compressed acknowledgements. An expiry is rounded
    /// up to whole ticks, beyond 63 of them to eight, beyond 504 to 64, and one more (`calc_wheel_index`). Zero means exact.
    pub wheel_tick: Span,
    /// First interval between zero-window probes; zero is the retransmission timeout (RFC 9293 section 3.8.6.1).
    pub persist_timeout: Span,
    /// Retransmissions of a SYN before the attempt fails (RFC 1122 section 4.2.3.5).
    pub max_syn_retries: u32,
    /// Retransmissions of a SYN, beyond these, at the first timeout without back-off (`tcp_syn_linear_timeouts`, Linux 6.5
    /// and later).
    pub syn_linear_timeouts: u32,
    /// Retransmissions of a SYN, or of its answer, that leave the first window whole: none in RFC 5681, one in Linux
    /// (`tcp_init_transfer`).
    pub spared_syns: u32,
    /// Retransmissions of the same data, or unanswered probes in a row, before the connection fails
    /// (RFC 1122's R2). By Linux's rules retransmissions end after the time that so many take which begin at 200 ms
    /// (`tcp_retries2`).
    pub max_data_retries: u32,
    /// Time in TIME-WAIT (RFC 9293: twice the maximum segment lifetime).
    pub time_wait: Span,
}

/// A named set of values.
#[derive(Debug)]
pub struct Preset {
    /// Name in scenarios.
    pub name: &'static str,
    /// Where the values come from.
    pub origin: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Whose version of an algorithm runs on it.
    pub flavour: Flavour,
    /// The values.
    pub config: StackConfig,
}

impl Preset {
    /// The preset with this name, in any case.
    pub fn by_name(name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|p| p.name.eq_ignore_ascii_case(name))
    }

    /// The stack and the algorithm of this identifier (any case) as the stack has it.
    pub fn with(&self, algorithm: &str) -> Option<(StackConfig, AnyParams)> {
        let params = AnyParams::by_name(algorithm)?.flavoured(self.flavour);
        let ack_limit = params.ack_limit(self.flavour).unwrap_or(self.config.ack_limit);
        Some((StackConfig { ack_limit, ..self.config }, params))
    }
}
