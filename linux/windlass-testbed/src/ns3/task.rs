//! The configuration as input of ns-3, with the unsupported settings and the differences of ns-3.

use std::fmt::Write as _;
use std::path::Path;

use windlass_cc::recovery::LossRecovery;
use windlass_cc::{AnyParams, Flavour, Span};
use windlass_sim::ConfigError;
use windlass_sim::both_ways::BothWays;
use windlass_sim::config::{Config, FlowConfig, LinkConfig, ReadPolicy, Traffic};
use windlass_sim::link::{Framing, QueueLimit};
use windlass_sim::loss::{LossModel, LossProcess};
use windlass_sim::queue::{Discipline, FqCoDel, Level};
use windlass_sim::random::{Purpose, Stream};
use windlass_sim::results::Series;
use windlass_tcp::StackConfig;
use windlass_tcp::stack::{PRESETS, Pacing};

use crate::live::settings::timeouts;

/// Windlass's identifier and ns-3's class. With the ns3 preset, Windlass's algorithm uses the `ns3`
/// parameters, as the class does.
const ALGORITHMS: [(&str, &str); 16] = [
    ("bbr", "TcpBbr"),
    ("bic", "TcpBic"),
    ("cubic", "TcpCubic"),
    ("dctcp", "TcpDctcp"),
    ("highspeed", "TcpHighSpeed"),
    ("htcp", "TcpHtcp"),
    ("hybla", "TcpHybla"),
    ("illinois", "TcpIllinois"),
    ("ledbat", "TcpLedbat"),
    ("newreno", "TcpNewReno"),
    ("reno", "TcpLinuxReno"),
    ("scalable", "TcpScalable"),
    ("vegas", "TcpVegas"),
    ("veno", "TcpVeno"),
    ("westwood", "TcpWestwoodPlus"),
    ("yeah", "TcpYeah"),
];
/// Class with all of Windlass's algorithms, which `integrations/ns3` adds.
const OURS: &str = "TcpWindlass";
/// Series that ns-3 can record.
const SERIES: [Series; 7] = [
    Series::Cwnd,
    Series::Ssthresh,
    Series::InFlight,
    Series::Srtt,
    Series::Rto,
    Series::Rwnd,
    Series::Delivered,
];
/// Bytes of the timestamp option, which ns-3's sockets do not include in the segment size.
const TIMESTAMPS: u32 = 12;
/// Minimum mark threshold in packets: a RED queue of ns-3 with a single threshold does not mark with fewer
/// waiting packets.
const LEAST_MARK: u64 = 3;
/// Bytes of the smallest frame: headers and PPP's two bytes.
const LEAST_FRAME: u64 = 42;
/// Maximum number of flows; each flow has its own port.
const MOST_FLOWS: usize = 60_000;

/// Windlass's algorithm in ns-3's sockets, instead of ns-3's own.
pub(super) struct Ours<'a> {
    pub(super) params: AnyParams,
    /// Folder for the recording of each connection: `NODE-NUMBER.jsonl`.
    pub(super) folder: &'a Path,
}

/// Writes the configuration in the input language of `network.cc`.
///
/// # Errors
///
/// Returns an error if the configuration has a setting that is unsupported on ns-3.
pub(super) fn write(config: &Config, ours: Option<&Ours>) -> Result<String, ConfigError> {
    check(config)?;
    let mut lines = format!(
        "duration {}\nseed {}\nnodes {}\n",
        config.duration.as_nanos(),
        config.seed,
        config.nodes.len()
    );
    if let Some(flow) = config.flows.first() {
        defaults(flow, &mut lines);
    }
    for (index, link) in config.links.iter().enumerate() {
        write_link(config, index, link, &mut lines)?;
    }
    if let Some((ours, flow)) = ours.zip(config.flows.first()) {
        write_ours(ours, flow, &mut lines);
    }
    for flow in &config.flows {
        let class = if ours.is_some() { OURS } else { class_of(flow)? };
        write_flow(flow, class, &mut lines)?;
    }
    let series: Vec<_> =
        config.record.series.iter().filter(|s| SERIES.contains(s)).map(|s| s.name()).collect();
    if !series.is_empty() {
        let _ =
            writeln!(lines, "sample {} {}", config.record.interval.as_nanos(), series.join(","));
    }
    Ok(lines)
}

/// Returns ns-3's deviations from the configuration, one sentence each.
pub(super) fn differences(config: &Config) -> Vec<String> {
    let mut notes = Vec::new();
    if config.links.iter().any(|link| link.framing != Framing::PPP) {
        notes.push(
            "framing: ns-3's links add PPP's 2 bytes per frame; framing = \"ppp\" adds them in the simulator too"
                .to_owned(),
        );
    }
    let bytes = |link: &LinkConfig| matches!(link.queue, QueueLimit::Bytes(_));
    if config.links.iter().any(bytes) {
        notes.push("queue: limits in bytes include PPP's 2 bytes per frame".to_owned());
    }
    for flow in &config.flows {
        notes.extend(
            of_flow(flow).into_iter().map(|note| format!("flow \"{}\": {note}", flow.name)),
        );
    }
    for series in config.record.series.iter().filter(|series| !SERIES.contains(series)) {
        notes.push(format!("series \"{}\": ns-3 does not provide it", series.name()));
    }
    notes
}

fn of_flow(flow: &FlowConfig) -> Vec<String> {
    let mut notes = Vec::new();
    let params = &flow.profile.params;
    let id = params.info().id;
    if let Some(theirs) = AnyParams::by_name(id).map(|usual| usual.flavoured(Flavour::Ns3)) {
        for (place, param) in params.info().params.iter().enumerate() {
            if params.get(place) != theirs.get(place) {
                notes.push(format!("{id} {}: ns-3's class has its own value", param.name));
            }
        }
    }
    if !like_ns3(&flow.profile.stack) {
        notes.push(
            "stack: it differs from the preset ns3 in settings that ns-3 does not have; use preset = \"ns3\"".to_owned(),
        );
    }
    notes
}

/// True if a stack differs from ns-3's stack only in the settings that [`defaults`] writes.
fn like_ns3(stack: &StackConfig) -> bool {
    let Some(preset) = PRESETS.iter().find(|preset| preset.flavour == Flavour::Ns3) else {
        return false;
    };
    let told = StackConfig {
        mss: stack.mss,
        receive_buffer: stack.receive_buffer,
        send_buffer: stack.send_buffer,
        sack: stack.sack,
        timestamps: stack.timestamps,
        window_scaling: stack.window_scaling,
        limited_transmit: stack.limited_transmit,
        initial_window: stack.initial_window,
        delayed_ack_segments: stack.delayed_ack_segments,
        delayed_ack_timeout: stack.delayed_ack_timeout,
        dupthresh: stack.dupthresh,
        // ns-3 lacks accurate ECN.
        ecn: stack.ecn.is_on().into(),
        recovery: stack.recovery,
        rto: stack.rto,
        pacing: stack.pacing,
        // Each of ns-3's algorithms has its own value.
        ack_limit: stack.ack_limit,
        ..preset.config
    };
    *stack == told
}

/// Writes the defaults of all sockets.
fn defaults(flow: &FlowConfig, lines: &mut String) {
    let stack = &flow.profile.stack;
    let mss = flow.profile.mss();
    let segment = if stack.timestamps { mss.saturating_sub(TIMESTAMPS).max(1) } else { mss };
    let _ = writeln!(lines, "segment {segment}");
    let mut default = |name: &str, value: &dyn std::fmt::Display| {
        let _ = writeln!(lines, "default {name} {value}");
    };
    let ns = |span: Span| format!("{}ns", span.as_nanos());
    let window = stack.initial_window.bytes(mss).div_ceil(mss.into()).max(1);
    let recovery = match stack.recovery {
        None | Some(LossRecovery::Prr) => "TcpPrrRecovery",
        Some(_) => "TcpClassicRecovery",
    };
    default("TcpL4Protocol::RecoveryType", &format!("ns3::{recovery}"));
    default("TcpSocketBase::Sack", &stack.sack);
    default("TcpSocketBase::Timestamp", &stack.timestamps);
    default("TcpSocketBase::WindowScaling", &stack.window_scaling);
    default("TcpSocketBase::LimitedTransmit", &stack.limited_transmit);
    default("TcpSocketBase::ReTxThreshold", &stack.dupthresh);
    default("TcpSocketBase::UseEcn", &if stack.ecn.is_on() { "On" } else { "Off" });
    default("TcpSocket::InitialCwnd", &window);
    default("TcpSocket::DelAckCount", &stack.delayed_ack_segments);
    default("TcpSocket::DelAckTimeout", &ns(stack.delayed_ack_timeout));
    default("TcpSocket::SndBufSize", &stack.send_buffer);
    default("TcpSocket::RcvBufSize", &stack.receive_buffer);
    if let Some(min) = timeouts(&stack.rto).min {
        default("TcpSocketBase::MinRto", &ns(min));
    }
    if stack.pacing == Pacing::Off {
        default("TcpSocketState::EnablePacing", &false);
    }
}

fn write_link(
    config: &Config,
    index: usize,
    link: &LinkConfig,
    lines: &mut String,
) -> Result<(), ConfigError> {
    let refuse = |problem: String| invalid("link", &link.name, problem);
    let limit = match link.queue {
        QueueLimit::Packets(n) => format!("{n}p"),
        QueueLimit::Bytes(n) => format!("{n}B"),
        QueueLimit::Unlimited => format!("{}p", u32::MAX),
    };
    let mtu = config.flows.first().map_or(1500, |flow| flow.profile.mtu);
    let [a, b] = link.ends;
    let (rate, delay) = (link.rate_bps, link.delay.as_nanos());
    let _ = writeln!(lines, "link {a} {b} {rate} {delay} {mtu} {limit} {limit}");
    if let Some((word, values)) = discipline(link).map_err(refuse)? {
        for direction in 0..2 {
            let _ = writeln!(lines, "{word} {index} {direction} {values}");
        }
    }
    for (direction, loss) in link.loss.iter().enumerate() {
        let Some(model) = loss else { continue };
        let lost = lost(config, index, direction, model).map_err(refuse)?;
        if !lost.is_empty() {
            let _ = writeln!(lines, "lose {index} {direction} {}", lost.join(","));
        }
    }
    Ok(())
}

/// Returns the keyword and the values of a queue that is not drop-tail. An error is a sentence.
fn discipline(link: &LinkConfig) -> Result<Option<(&'static str, String)>, String> {
    match (&link.discipline, link.queue) {
        (Discipline::DropTail, _) => Ok(None),
        (Discipline::Threshold(threshold), _) if threshold.probability > 0.0 => {
            Err("ns-3 marks above a threshold only, and not at random; remove `probability`"
                .to_owned())
        }
        (Discipline::Threshold(threshold), QueueLimit::Packets(limit)) => {
            marks_from(threshold.mark, limit).map(|mark| Some(("mark", mark.to_string())))
        }
        (Discipline::Device(device), QueueLimit::Packets(_)) => match device.discipline {
            Discipline::FqCoDel(fq) => Ok(Some(("above", above(device.packets, fq)))),
            _ => Err(KNOWN.to_owned()),
        },
        _ => Err(KNOWN.to_owned()),
    }
}

/// Description of the queues that are supported on ns-3.
const KNOWN: &str = "on ns-3 a queue drops its tail, marks by \"threshold\", or is \"fq-codel\" with a `device`, the last two with \
                     their limit in packets";

fn above(device: u64, fq: FqCoDel) -> String {
    let FqCoDel { flows, quantum, target, interval, ecn } = fq;
    let [target, interval] = [target, interval].map(Span::as_nanos);
    format!("{device} {flows} {quantum} {target} {interval} {}", u8::from(ecn))
}

/// Returns the number of waiting packets from which an arriving packet is marked. An error is a sentence.
fn marks_from(mark: Level, limit: u64) -> Result<u64, String> {
    match mark {
        // ns-3's marking queue holds one packet less than the link's queue, because the device holds one
        // packet.
        Level::Packets(mark) if mark + 1 >= LEAST_MARK && mark + 1 < limit => Ok(mark + 1),
        _ => Err(format!(
            "ns-3's RED marks at {LEAST_MARK} or more waiting packets, below the limit: mark must be in packets, \
             at least {}, and under {}",
            LEAST_MARK - 1,
            limit.saturating_sub(1)
        )),
    }
}

/// Returns the numbers of the frames that the loss model drops in a direction, drawn as in Windlass's
/// simulator. An error is a sentence.
fn lost(
    config: &Config,
    link: usize,
    direction: usize,
    model: &LossModel,
) -> Result<Vec<String>, String> {
    if let LossModel::Ber { .. } | LossModel::Custom(_) = model {
        return Err("ns-3 needs the numbers of the lost frames, and with this loss model they depend on their size; \
                    use a model without this dependence: drop, gilbert-elliott or list"
            .to_owned());
    }
    let entity = (2 * link + direction) as u64;
    let mut process = LossProcess::new(model, Stream::new(config.seed, entity, Purpose::Loss));
    let seconds = config.duration.as_nanos() as f64 / 1e9;
    let most = (config.links[link].rate_bps as f64 * seconds / (8 * LEAST_FRAME) as f64) as u64 + 1;
    Ok((1..=most).filter(|_| process.takes(0)).map(|number| number.to_string()).collect())
}

/// Writes the settings of Windlass's algorithm as attributes of the class: parameters that differ from their
/// defaults, and settings of the stack.
fn write_ours(ours: &Ours, flow: &FlowConfig, lines: &mut String) {
    let Ours { params, folder } = ours;
    let mut default = |name: &str, value: &dyn std::fmt::Display| {
        let _ = writeln!(lines, "default {OURS}::{name} {value}");
    };
    default("Algorithm", &params.info().id);
    default("Recording", &folder.join("").display());
    if params.requirements().slow_start.is_some() {
        default("SlowStart", &params.common().slow_start.info().id);
    }
    let usual = AnyParams::by_name(params.info().id).unwrap_or_default();
    let own = params.info().params.iter().enumerate();
    let own = own.filter(|(place, _)| params.get(*place) != usual.get(*place));
    let own = own.filter_map(|(place, param)| Some((param.name, params.get(place)?)));
    let stack = flow.profile.params.common();
    let stack = [
        ("ack_limit", stack.ack_limit.into()),
        ("counting", stack.counting as u64),
        ("credit", stack.credit as u64),
        ("mark_cut", stack.mark_cut as u64),
    ];
    let settings = own.chain(stack).map(|(name, value)| format!("{name}={value}"));
    default("Parameters", &settings.collect::<Vec<_>>().join(","));
}

/// Returns ns-3's class for a flow's algorithm.
fn class_of(flow: &FlowConfig) -> Result<&'static str, ConfigError> {
    let id = flow.profile.params.info().id;
    let class = ALGORITHMS.iter().find(|(known, _)| *known == id);
    class.map(|(_, class)| *class).ok_or_else(|| {
        let known: Vec<_> = ALGORITHMS.iter().map(|(id, _)| *id).collect();
        let problem =
            format!("ns-3 3.44 has no algorithm like `{id}`; it has {}", known.join(", "));
        invalid("flow", &flow.name, problem)
    })
}

fn write_flow(flow: &FlowConfig, class: &str, lines: &mut String) -> Result<(), ConfigError> {
    let Traffic::Bulk { bytes } = flow.traffic else {
        return Err(invalid(
            "flow",
            &flow.name,
            "on ns-3 flows must send in bulk, with or without a number of bytes".to_owned(),
        ));
    };
    let (start, bytes) = (flow.start.as_nanos(), bytes.unwrap_or(0));
    let _ = writeln!(lines, "flow {} {} {class} {start} {bytes}", flow.from, flow.to);
    Ok(())
}

/// Returns an error if ns-3 does not support a setting.
fn check(config: &Config) -> Result<(), ConfigError> {
    let record = &config.record;
    if !record.capture.is_empty() || record.bins != Span::ZERO || record.delays {
        let problem = "on ns-3 `record` supports only `series` and `interval`".to_owned();
        return Err(ConfigError::Invalid { of: "the run".to_owned(), problem });
    }
    if config.flows.len() > MOST_FLOWS {
        let problem = format!("on ns-3 a scenario may have at most {MOST_FLOWS} flows");
        return Err(ConfigError::Invalid { of: "the run".to_owned(), problem });
    }
    for link in &config.links {
        check_link(link)?;
    }
    for flow in &config.flows {
        check_flow(flow, config)?;
    }
    Ok(())
}

fn check_link(link: &LinkConfig) -> Result<(), ConfigError> {
    // When you add a field, decide here whether ns-3 supports it.
    let LinkConfig {
        name,
        ends: _,
        rate_bps: _,
        delay: _,
        queue: _,
        discipline: _,
        framing: _,
        loss: _,
        down,
        quick_start,
        back,
        course,
        // Refused for all backends before.
        radio: _,
    } = link;
    if !down.is_empty() {
        return Err(invalid("link", name, "on ns-3 links are always up".to_owned()));
    }
    if quick_start.is_some() {
        return Err(invalid("link", name, "ns-3 has no Quick-Start".to_owned()));
    }
    if course.iter().any(|course| course.bursts.is_some()) {
        let problem =
            "on ns-3 loss bursts are counted in packets: use `good_to_bad` and `bad_to_good`";
        return Err(invalid("link", name, problem.to_owned()));
    }
    if course.iter().any(|course| course.loss.is_some()) {
        return Err(invalid("link", name, "on ns-3 losses do not change over time".to_owned()));
    }
    if back.is_some() || *course != BothWays::default() {
        let problem =
            "on ns-3 links have a constant rate and constant delay, equal in both directions";
        return Err(invalid("link", name, problem.to_owned()));
    }
    Ok(())
}

fn check_flow(flow: &FlowConfig, config: &Config) -> Result<(), ConfigError> {
    let refuse = |problem: &str| Err(invalid("flow", &flow.name, problem.to_owned()));
    if flow.multipath.is_some() {
        return refuse("ns-3 does not have Multipath TCP");
    }
    if flow.read != ReadPolicy::Immediate {
        return refuse("on ns-3 the receiving application always reads at once");
    }
    let first = &config.flows[0].profile;
    let same_stack =
        |a: &StackConfig, b: &StackConfig| StackConfig { ack_limit: b.ack_limit, ..*a } == *b;
    if !same_stack(&flow.profile.stack, &first.stack) || flow.profile.mtu != first.mtu {
        return refuse("on ns-3 all flows must have the same stack and MTU");
    }
    // The accepting socket gets its algorithm from its node, and DCTCP's receivers answer marks in their own
    // way.
    let is_dctcp = |flow: &FlowConfig| flow.profile.params.info().id == "dctcp";
    let beside =
        config.flows.iter().any(|other| other.to == flow.to && is_dctcp(other) != is_dctcp(flow));
    if beside {
        return refuse("on ns-3 a receiver of a dctcp flow can receive only dctcp flows");
    }
    Ok(())
}

fn invalid(kind: &str, name: &str, problem: String) -> ConfigError {
    ConfigError::Invalid { of: format!("{kind} \"{name}\""), problem }
}
