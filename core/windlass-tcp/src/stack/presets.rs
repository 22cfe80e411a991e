//! Named stacks.

use windlass_cc::recovery::LossRecovery;
use windlass_cc::rto::{self, LinuxParams, Rfc6298Params, UipParams};
use windlass_cc::setup::{Counting, Credit, MarkCut};
use windlass_cc::{Flavour, Ratio, Span};

use super::{
    EcnFeedback, InitialWindow, LeastRtt, Lies, LossCut, LossDetection, Pacing, Preset,
    StackConfig, WindowValidation,
};

/// Every preset.
pub static PRESETS: &[Preset] = &[
    Preset {
        name: "rfc",
        origin: "RFC 9293, 5681, 6298, 6928, 3042, 7323, 7661",
        description: "The behaviour that the standards require of an endpoint, without SACK recovery.",
        flavour: Flavour::Rfc,
        config: RFC,
    },
    Preset {
        name: "riverbed",
        origin: "Reno-BER Table 2: Riverbed Modeler 16.0.A defaults",
        description: "The endpoint of the paper on TCP Reno at high bit-error rates: an 8760-byte \
            receive buffer, half-second timers, no window validation.",
        flavour: Flavour::Rfc,
        config: RIVERBED,
    },
    Preset {
        name: "linux",
        origin: "Linux 6.x, net/ipv4 and Documentation/networking/ip-sysctl.rst, sysctls at their defaults",
        description: "SACK recovery with proportional rate reduction, RACK-TLP, F-RTO and both undos, \
            a minimum timeout of 200 ms above the smoothed RTT. cwnd is counted in whole segments. \
            The receive window grows with the received data, and its overhead is not counted. The \
            send buffer has the maximum size of autotuning.",
        flavour: Flavour::Linux,
        config: LINUX,
    },
    Preset {
        name: "ns3",
        origin: "ns-3 (3.41 and later), attribute defaults of TcpSocket, TcpSocketBase and RttEstimator",
        description: "SACK recovery with proportional rate reduction, 536-byte segments, buffers of \
            128 KiB, no Nagle, a minimum timeout of 1 s; window validation by CUBIC and Reno only, \
            and no restart after idle times. Without SACK it follows RFC 6582.",
        flavour: Flavour::Ns3,
        config: NS3,
    },
    Preset {
        name: "ns2",
        origin: "NS-2.35, tcl/lib/ns-default.tcl, Agent/TCP and Agent/TCPSink",
        description: "One-way agents: 1000-byte packets, an initial window of two packets, a window \
            of 20 packets, an acknowledgement per packet, a 10 ms clock, no Nagle. NS-2 has no real \
            handshake and no receive window; Windlass has a handshake and a receive window.",
        flavour: Flavour::Rfc,
        config: NS2,
    },
    Preset {
        name: "uip",
        origin: "uIP 1.0, uip.c and uipopt.h",
        description: "One segment in flight regardless of the windows, so that congestion control has \
            no effect; no options, almost no reordering buffer, an immediate acknowledgement per \
            segment, a timer of half-second ticks that backs off from a constant.",
        flavour: Flavour::Rfc,
        config: UIP,
    },
];

/// The current standards.
pub const RFC: StackConfig = StackConfig {
    mss: None,
    receive_buffer: 4 << 20,
    receive_autotuning: false,
    initial_receive_buffer: 131_072,
    quick_acks: false,
    sack_compression: false,
    send_buffer: 4 << 20,
    initial_send_buffer: 16_384,
    window_scaling: true,
    timestamps: true,
    sack: true,
    dsack: true,
    initial_window: InitialWindow::Rfc6928,
    ack_limit: 1,
    window_counting: Counting::Bytes,
    growth_credit: Credit::Acked,
    nagle: true,
    delayed_ack_segments: 2,
    // RFC 5681-4.2-3, 9293-3.8.6.3-MUST-40
    delayed_ack_timeout: Span::from_millis(200),
    lies: Lies::None,
    fast_retransmit: true,
    dupthresh: 3,
    rules: Flavour::Rfc,
    loss_detection: LossDetection::DupThresh,
    tlp: false,
    frto: false,
    eifel: false,
    dsack_undo: false,
    ecn: EcnFeedback::Off,
    recovery: None,
    loss_cut: LossCut::Flight,
    mark_cut: MarkCut::AtOnce,
    flight_limit: u32::MAX,
    pacing: Pacing::Algorithm,
    pacing_burst: 0,
    limited_transmit: true,
    window_validation: WindowValidation::Used,
    idle_restart: true,
    karn: true,
    least_rtt: LeastRtt::Any,
    // RFC 6298-1-1
    rto: rto::AnyParams::Rfc6298(Rfc6298Params {
        initial: Span::from_secs(1),
        min: Span::from_secs(1),
        max: Span::from_secs(60),
        granularity: Span::from_millis(1),
        alpha: Ratio::of(1, 8),
        beta: Ratio::of(1, 4),
        k: 4,
        backoff: 2,
    }),
    timer_tick: Span::ZERO,
    wheel_tick: Span::ZERO,
    persist_timeout: Span::ZERO,
    max_syn_retries: 6,
    syn_linear_timeouts: 0,
    spared_syns: 0,
    // RFC 9293-3.8.3-SHLD-11
    max_data_retries: 15,
    time_wait: Span::from_secs(60),
};

/// Table 2 of Reno-BER. The table does not give the retry limits; it only has "attempts-based".
pub const RIVERBED: StackConfig = StackConfig {
    mss: None,
    receive_buffer: 8_760,
    receive_autotuning: false,
    initial_receive_buffer: 131_072,
    quick_acks: false,
    sack_compression: false,
    send_buffer: 4 << 20,
    initial_send_buffer: 16_384,
    window_scaling: false,
    timestamps: false,
    sack: false,
    dsack: false,
    initial_window: InitialWindow::Segments(2),
    ack_limit: 1,
    window_counting: Counting::Bytes,
    growth_credit: Credit::Acked,
    nagle: false,
    delayed_ack_segments: 2,
    delayed_ack_timeout: Span::from_millis(200),
    lies: Lies::None,
    fast_retransmit: true,
    dupthresh: 3,
    rules: Flavour::Rfc,
    loss_detection: LossDetection::DupThresh,
    tlp: false,
    frto: false,
    eifel: false,
    dsack_undo: false,
    ecn: EcnFeedback::Off,
    recovery: Some(LossRecovery::Reno),
    loss_cut: LossCut::Flight,
    mark_cut: MarkCut::AtOnce,
    flight_limit: u32::MAX,
    pacing: Pacing::Algorithm,
    pacing_burst: 0,
    limited_transmit: false,
    window_validation: WindowValidation::Off,
    idle_restart: false,
    karn: true,
    least_rtt: LeastRtt::Any,
    rto: rto::AnyParams::Rfc6298(Rfc6298Params {
        initial: Span::from_secs(3),
        min: Span::from_secs(1),
        max: Span::from_secs(64),
        granularity: Span::from_millis(500),
        alpha: Ratio::of(1, 8),
        beta: Ratio::of(1, 4),
        k: 4,
        backoff: 2,
    }),
    timer_tick: Span::from_millis(500),
    wheel_tick: Span::ZERO,
    persist_timeout: Span::from_secs(1),
    max_syn_retries: 6,
    syn_linear_timeouts: 0,
    spared_syns: 0,
    max_data_retries: 15,
    time_wait: Span::from_secs(60),
};

/// Linux at its defaults. Sources by file: `tcp.h` for `TCP_INIT_CWND`, `TCP_RTO_MIN`,
/// `TCP_DELACK_MIN`, `TCP_TIMEWAIT_LEN`; `ip-sysctl.rst` for the sysctls.
pub const LINUX: StackConfig = StackConfig {
    // tcp_rmem[2] and tcp_wmem[2]; initial_send_buffer is tcp_wmem[1].
    receive_buffer: 6 << 20,
    // tcp_rcv_space_adjust and tcp_grow_window; tcp_incr_quickack and tcp_enter_quickack_mode.
    receive_autotuning: true,
    // tcp_rmem[1].
    initial_receive_buffer: 131_072,
    quick_acks: true,
    // tcp_comp_sack_delay_ns.
    sack_compression: true,
    send_buffer: 4 << 20,
    initial_send_buffer: 16_384,
    // TCP_INIT_CWND.
    initial_window: InitialWindow::Segments(10),
    // tcp_slow_start counts every segment that is acknowledged.
    ack_limit: u32::MAX,
    // tcp_cong_avoid_ai, tcp_cong_control.
    window_counting: Counting::Segments,
    growth_credit: Credit::Delivered,
    // TCP_DELACK_MIN and TCP_ATO_MIN.
    delayed_ack_timeout: Span::from_millis(40),
    lies: Lies::None,
    rules: Flavour::Linux,
    // tcp_recovery = 1, tcp_early_retrans = 3, tcp_frto = 2.
    loss_detection: LossDetection::Rack,
    tlp: true,
    frto: true,
    // tcp_try_undo_recovery and tcp_try_undo_dsack.
    eifel: true,
    dsack_undo: true,
    // tcp_ecn = 2: only if the peer requests ECN. A peer with the same value never does.
    ecn: EcnFeedback::Off,
    // RFC 8985-9.3-2
    recovery: Some(LossRecovery::Prr),
    // tcp_reno_ssthresh and all other algorithms reduce snd_cwnd.
    loss_cut: LossCut::Window,
    // tcp_enter_cwr, tcp_cwnd_reduction.
    mark_cut: MarkCut::Proportional,
    // tcp_update_skb_after_send paces from the tenth segment.
    pacing_burst: 9,
    // tcp_clean_rtx_queue calls pkts_acked, tcp_synack_rtt_meas does not.
    least_rtt: LeastRtt::Data,
    rto: rto::AnyParams::Linux(LinuxParams {
        initial: Span::from_secs(1),
        min: Span::from_millis(200),
        max: Span::from_secs(120),
        backoff: 2,
    }),
    // HZ = 250, the value of most distributions.
    wheel_tick: Span::from_millis(4),
    // tcp_syn_retries, tcp_syn_linear_timeouts, tcp_retries2 and TCP_TIMEWAIT_LEN.
    max_syn_retries: 6,
    syn_linear_timeouts: 4,
    spared_syns: 1,
    max_data_retries: 15,
    time_wait: Span::from_secs(60),
    ..RFC
};

/// ns-3's attribute defaults. The comments name the attributes.
pub const NS3: StackConfig = StackConfig {
    // SegmentSize, RcvBufSize, SndBufSize.
    mss: Some(536),
    receive_buffer: 131_072,
    send_buffer: 131_072,
    // The receiver does not report duplicates.
    dsack: false,
    // InitialCwnd; 1 before release 3.36.
    initial_window: InitialWindow::Segments(10),
    // Window growth counts every segment that is acknowledged.
    ack_limit: u32::MAX,
    // TcpNoDelay.
    nagle: false,
    // DelAckCount, DelAckTimeout.
    delayed_ack_segments: 2,
    delayed_ack_timeout: Span::from_millis(200),
    lies: Lies::None,
    // ReTxThreshold, LimitedTransmit.
    dupthresh: 3,
    limited_transmit: true,
    // RecoveryType: TcpPrrRecovery.
    recovery: Some(LossRecovery::Prr),
    // TcpSocketState::m_isCwndLimited.
    window_validation: WindowValidation::Ns3,
    idle_restart: false,
    // ConnTimeout, MinRto, ClockGranularity, RttMeanDeviation's Alpha and Beta.
    rto: rto::AnyParams::Rfc6298(Rfc6298Params {
        initial: Span::from_secs(3),
        min: Span::from_secs(1),
        max: Span::from_secs(60),
        granularity: Span::from_millis(1),
        alpha: Ratio::of(1, 8),
        beta: Ratio::of(1, 4),
        k: 4,
        backoff: 2,
    }),
    // PersistTimeout.
    persist_timeout: Span::from_secs(6),
    // ConnCount, DataRetries.
    max_syn_retries: 6,
    spared_syns: 0,
    max_data_retries: 6,
    // Twice MaxSegLifetime.
    time_wait: Span::from_secs(240),
    ..RFC
};

/// NS-2's `Agent/TCP` and `Agent/TCPSink`. The comments name the variables.
pub const NS2: StackConfig = StackConfig {
    // packetSize_; window_ is the sender's limit, and the sink has no limit.
    mss: Some(1_000),
    loss_cut: LossCut::Flight,
    flight_limit: 20,
    window_scaling: true,
    // timestamps_; Agent/TCPSink has no SACK, but Agent/TCPSink/Sack1 has SACK.
    timestamps: false,
    sack: false,
    dsack: false,
    // windowInit_.
    initial_window: InitialWindow::Segments(2),
    nagle: false,
    // Agent/TCPSink; Agent/TCPSink/DelAck would wait 100 ms for a second packet.
    delayed_ack_segments: 1,
    delayed_ack_timeout: Span::from_millis(100),
    lies: Lies::None,
    // numdupacks_, singledup_.
    dupthresh: 3,
    limited_transmit: true,
    // control_increase_ and similar variables are off; slow_start_restart_.
    window_validation: WindowValidation::Off,
    idle_restart: true,
    // rtxcur_init_, minrto_, maxrto_, tcpTick_.
    rto: rto::AnyParams::Rfc6298(Rfc6298Params {
        initial: Span::from_secs(3),
        min: Span::from_millis(200),
        max: Span::from_secs(60),
        granularity: Span::from_millis(10),
        alpha: Ratio::of(1, 8),
        beta: Ratio::of(1, 4),
        k: 4,
        backoff: 2,
    }),
    // NS-2 never gives up.
    max_syn_retries: 1_000,
    spared_syns: 0,
    max_data_retries: 1_000,
    ..RFC
};

/// uIP's defaults. The comments name the macros.
pub const UIP: StackConfig = StackConfig {
    // UIP_RECEIVE_WINDOW is UIP_TCP_MSS, because the buffer holds one packet.
    receive_buffer: 1_460,
    send_buffer: 1_460,
    loss_cut: LossCut::Flight,
    flight_limit: 1,
    window_scaling: false,
    timestamps: false,
    sack: false,
    dsack: false,
    initial_window: InitialWindow::Segments(1),
    nagle: false,
    delayed_ack_segments: 1,
    delayed_ack_timeout: Span::ZERO,
    lies: Lies::None,
    // "uip_process: UIP_ACKDATA" does not detect duplicates.
    fast_retransmit: false,
    limited_transmit: false,
    recovery: Some(LossRecovery::Tahoe),
    pacing: Pacing::Off,
    window_validation: WindowValidation::Off,
    idle_restart: false,
    // UIP_RTO, backoff of at most four doublings.
    rto: rto::AnyParams::Uip(UipParams {
        tick: Span::from_millis(500),
        constant: 3,
        deviation: 16,
        doublings: 4,
    }),
    timer_tick: Span::from_millis(500),
    // UIP_MAXSYNRTX counts the first SYN, too; UIP_MAXRTX, UIP_TIME_WAIT_TIMEOUT ticks.
    max_syn_retries: 4,
    spared_syns: 0,
    max_data_retries: 8,
    time_wait: Span::from_secs(60),
    ..RFC
};
