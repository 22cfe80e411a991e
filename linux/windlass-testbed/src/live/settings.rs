//! A stack's configuration in the kernel's terms: sysctls of a namespace, metrics of its route, and options
//! of its sockets.

use std::fs;
use std::io::{self, ErrorKind};

use windlass_cc::Span;
use windlass_cc::rto::AnyParams as Rto;
use windlass_sim::config::{FlowConfig, MAX_DATAGRAM, ReadPolicy, Traffic, UDP_HEADERS};
use windlass_tcp::stack::{EcnFeedback, Lies, LossDetection};
use windlass_tcp::wire::MAX_IP_LEN;
use windlass_tcp::{Pacing, Profile};

use windlass_scenario::ReceiveWindow;

use super::error::Error;
use super::netlink::RouteMetric;

/// Minimum MTU of an IPv4 device (RFC 791).
const LEAST_MTU: u32 = 68;
/// Minimum value of `TCP_MAXSEG`, Linux's `TCP_MIN_MSS`.
pub(crate) const LEAST_MSS: u32 = 88;
/// Maximum value of `TCP_MAXSEG`, Linux's `MAX_TCP_WINDOW`.
pub(crate) const GREATEST_MSS: u32 = 32_767;
/// Largest window without scaling (RFC 9293).
const LARGEST_FIELD: u64 = 65_535;
/// Size of the kernel's buffer if the emulator limits the window. The buffer must not limit the window,
/// because the kernel includes its overhead and reduces the advertised window under loss.
const AMPLE_BUFFER: u64 = 4 << 20;
/// Lock bit of the route's minimum RTO. The minimum applies only if this bit is set.
const RTO_MIN_LOCKED: u32 = 1 << 13;

/// A sysctl below `/proc/sys/net/ipv4/`, with the value to write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sysctl {
    /// Name.
    pub name: &'static str,
    /// Value.
    pub value: String,
    /// True if the sysctl is newer than the oldest supported kernel (5.10). A kernel without it is accepted.
    pub recent: bool,
    /// Value for a kernel that refuses `value`. A kernel may know a sysctl without knowing all of its values.
    pub otherwise: Option<&'static str>,
}

impl Sysctl {
    /// A sysctl that every supported kernel has, with a value that it accepts.
    pub fn new(name: &'static str, value: String) -> Sysctl {
        Sysctl { name, value, recent: false, otherwise: None }
    }

    /// Writes the sysctl in the calling thread's namespace.
    fn apply(&self) -> io::Result<()> {
        match (write(self.name, &self.value), self.otherwise) {
            (Err(e), _) if self.recent && e.kind() == ErrorKind::NotFound => Ok(()),
            (Err(e), Some(value)) if e.kind() == ErrorKind::InvalidInput => write(self.name, value),
            (other, _) => other,
        }
    }
}

/// All settings of the kernel for one end of a flow, except the algorithm.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Sysctls of the namespace, in the order in which they are set.
    pub sysctls: Vec<Sysctl>,
    /// Metrics of the route.
    pub metrics: Vec<RouteMetric>,
    /// MTU of the device, bytes.
    pub mtu: u32,
    /// `TCP_MAXSEG`, or `None` outside the kernel's range, in which case the device's MTU determines the MSS.
    pub mss: Option<u32>,
    /// `TCP_NODELAY`.
    pub no_delay: bool,
    /// `SO_RCVBUF`, `None` for the kernel's own choice.
    pub receive_buffer: Option<usize>,
    /// True if the kernel paces regardless of the algorithm.
    pub paced: bool,
    /// Maximum window field that the end may send.
    pub pin: Option<u16>,
}

impl Settings {
    /// Returns the settings of an end of this flow.
    pub fn new(flow: &FlowConfig, window: ReceiveWindow) -> Settings {
        let (profile, stack) = (&flow.profile, &flow.profile.stack);
        let pinned = unscaled(flow) && window == ReceiveWindow::Pinned;
        let mss = profile.mss();
        Settings {
            sysctls: sysctls(flow, window),
            metrics: metrics(profile),
            mtu: mtu(flow),
            mss: (LEAST_MSS..=GREATEST_MSS).contains(&mss).then_some(mss),
            no_delay: !stack.nagle,
            receive_buffer: (pinned && flow.read != ReadPolicy::Immediate)
                .then_some(stack.receive_buffer.min(LARGEST_FIELD) as usize),
            paced: stack.pacing == Pacing::Always,
            pin: pinned.then_some(stack.receive_buffer.min(LARGEST_FIELD) as u16),
        }
    }

    /// Writes the sysctls in the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// Returns an error if the kernel has no sysctl of that name or refuses the value.
    pub fn apply_sysctls(&self) -> Result<(), Error> {
        for sysctl in &self.sysctls {
            let (name, value) = (sysctl.name, &sysctl.value);
            match sysctl.apply() {
                Err(e) if e.kind() == ErrorKind::InvalidInput && name == "tcp_ecn" => {
                    return Err(Error::NoAccurateEcn { name, value: value.clone() });
                }
                other => other.map_err(Error::on(format!("setting net.ipv4.{name} to {value}")))?,
            }
        }
        Ok(())
    }
}

fn write(name: &str, value: &str) -> io::Result<()> {
    fs::write(format!("/proc/sys/net/ipv4/{name}"), value)
}

/// True if the windows of this flow are limited to the receive buffer.
fn unscaled(flow: &FlowConfig) -> bool {
    !flow.profile.stack.window_scaling && !matches!(flow.traffic, Traffic::CbrUdp(_))
}

/// Returns the path's MTU, or the size that the datagrams need if that is greater. Datagrams are never
/// fragmented.
fn mtu(flow: &FlowConfig) -> u32 {
    let needed = match flow.traffic {
        Traffic::CbrUdp(cbr) => cbr.packet.saturating_add(UDP_HEADERS.into()),
        _ => 0,
    };
    flow.profile.mtu.max(needed.min(MAX_IP_LEN.into()) as u32).clamp(LEAST_MTU, MAX_IP_LEN)
}

fn sysctls(flow: &FlowConfig, window: ReceiveWindow) -> Vec<Sysctl> {
    let stack = &flow.profile.stack;
    let flag = |on: bool| u32::from(on).to_string();
    let old = Sysctl::new;
    let recent = |name, value: String| Sysctl { recent: true, ..Sysctl::new(name, value) };
    let mut all = vec![
        // This must be first: a socket created under another default may keep its pacing.
        old("tcp_congestion_control", "reno".into()),
        old("tcp_no_metrics_save", flag(true)),
        old("tcp_window_scaling", flag(stack.window_scaling)),
        old("tcp_timestamps", flag(stack.timestamps)),
        old("tcp_sack", flag(stack.sack)),
        old("tcp_dsack", flag(stack.dsack)),
        ecn(stack.ecn),
        recent(ECN_OPTION, if stack.ecn == EcnFeedback::Accurate { "2" } else { "0" }.into()),
        old("tcp_recovery", flag(stack.loss_detection == LossDetection::Rack)),
        old("tcp_early_retrans", if stack.tlp { "3" } else { "0" }.into()),
        old("tcp_frto", if stack.frto { "2" } else { "0" }.into()),
        old("tcp_slow_start_after_idle", flag(stack.idle_restart)),
        old("tcp_reordering", stack.dupthresh.to_string()),
        old("tcp_syn_retries", stack.max_syn_retries.clamp(1, 127).to_string()),
        old("tcp_synack_retries", stack.max_syn_retries.min(255).to_string()),
        old("tcp_retries2", stack.max_data_retries.min(255).to_string()),
        recent("tcp_syn_linear_timeouts", stack.syn_linear_timeouts.min(255).to_string()),
        recent("tcp_rto_max_ms", longest_timeout(&stack.rto).to_string()),
    ];
    all.push(old("tcp_wmem", buffer(stack.send_buffer, stack.initial_send_buffer)));
    let twice = stack.receive_buffer.saturating_mul(2);
    let receive = match window {
        _ if !unscaled(flow) => buffer(stack.receive_buffer, 131_072),
        ReceiveWindow::Pinned => buffer(AMPLE_BUFFER, AMPLE_BUFFER),
        ReceiveWindow::Buffer => buffer(twice, twice),
    };
    all.push(old("tcp_rmem", receive));
    all
}

/// Number of `tcp_ecn` that offers and accepts accurate ECN. A kernel before 7.0 refuses it, even if it has the sysctls
/// of the option, and then offers and accepts RFC 3168.
pub const ACCURATE_ECN: &str = "3";
/// Sysctl of accurate ECN's option: 0 without it, 2 as often as RFC 9768 requires.
const ECN_OPTION: &str = "tcp_ecn_option";

fn ecn(feedback: EcnFeedback) -> Sysctl {
    let plain = |value: &str| Sysctl::new("tcp_ecn", value.into());
    match feedback {
        EcnFeedback::Off => plain("0"),
        EcnFeedback::Classic => plain("1"),
        EcnFeedback::Accurate | EcnFeedback::AccurateCounter => {
            Sysctl { otherwise: Some("1"), ..plain(ACCURATE_ECN) }
        }
    }
}

/// Formats `tcp_rmem` or `tcp_wmem`: minimum, initial and maximum size.
pub fn buffer(greatest: u64, initial: u64) -> String {
    let greatest = greatest.clamp(1, i32::MAX as u64);
    format!("{} {} {greatest}", greatest.min(4_096), greatest.min(initial))
}

/// Returns the maximum RTO in milliseconds, within the range of `tcp_rto_max_ms`.
fn longest_timeout(rto: &Rto) -> u64 {
    (timeouts(rto).max.0 / 1_000_000).clamp(1_000, 120_000)
}

/// Properties that a retransmission timer shares with the kernel's timer.
pub(crate) struct Timeouts {
    /// RTO before the first sample.
    pub initial: Span,
    /// Minimum RTO, if the timer has one.
    pub min: Option<Span>,
    /// Maximum RTO.
    pub max: Span,
    /// Back-off factor.
    pub backoff: u64,
}

/// Returns the values of a timer.
pub(crate) fn timeouts(rto: &Rto) -> Timeouts {
    match rto {
        Rto::Linux(p) => {
            Timeouts { initial: p.initial, min: Some(p.min), max: p.max, backoff: p.backoff }
        }
        Rto::Rfc6298(p) => {
            Timeouts { initial: p.initial, min: Some(p.min), max: p.max, backoff: p.backoff }
        }
        _ => {
            Timeouts { initial: INITIAL_TIMEOUT, min: None, max: Span::from_secs(120), backoff: 2 }
        }
    }
}

/// The kernel's RTO before the first sample (RFC 6298).
pub(crate) const INITIAL_TIMEOUT: Span = Span::from_secs(1);

fn metrics(profile: &Profile) -> Vec<RouteMetric> {
    let stack = &profile.stack;
    let mss = profile.mss();
    let window = stack.initial_window.bytes(mss).div_ceil(mss.into()).max(1);
    let mut metrics = vec![RouteMetric::InitCwnd(window.min(u32::MAX.into()) as u32)];
    if let Some(min) = timeouts(&stack.rto).min {
        metrics.push(RouteMetric::Lock(RTO_MIN_LOCKED));
        metrics.push(RouteMetric::RtoMin((min.0 / 1_000_000).clamp(1, 60_000) as u32));
    }
    if stack.delayed_ack_segments <= 1 {
        metrics.push(RouteMetric::QuickAck(1));
    }
    metrics
}

/// Returns an error if the flow has a setting that a kernel does not support at all.
pub(crate) fn check(flow: &FlowConfig) -> Result<(), Error> {
    let refuse = |problem: String| {
        Err(Error::Unsupported { of: format!("flow \"{}\"", flow.name), problem })
    };
    if matches!(flow.traffic, Traffic::Custom(_)) {
        return refuse("applications of other crates run only in the simulator".to_string());
    }
    if matches!(flow.traffic, Traffic::Sessions(_)) {
        return refuse(
            "`connect`, `reconnect`, `dialogue` and reboots run only in the simulator".to_string(),
        );
    }
    if matches!(flow.traffic, Traffic::Coap(_)) {
        return refuse("CoAP runs only in the simulator".to_string());
    }
    if matches!(flow.traffic, Traffic::Media(_)) {
        return refuse("media with NADA runs only in the simulator".to_string());
    }
    if let Traffic::CbrUdp(cbr) = flow.traffic
        && cbr.packet > MAX_DATAGRAM.into()
    {
        return refuse(format!(
            "a datagram over IPv4 has at most {MAX_DATAGRAM} bytes, not {}",
            cbr.packet
        ));
    }
    if flow.profile.stack.lies != Lies::None {
        return refuse("misbehaving receivers (`lies`) run only in the simulator".to_string());
    }
    if flow.profile.mtu > MAX_IP_LEN {
        return refuse(format!("an IPv4 packet has at most {MAX_IP_LEN} bytes: lower the MTU"));
    }
    if flow.profile.mtu < LEAST_MTU {
        return refuse(format!("an IPv4 device has an MTU of at least {LEAST_MTU} bytes"));
    }
    Ok(())
}
