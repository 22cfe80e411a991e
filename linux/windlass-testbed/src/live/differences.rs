//! The parts of a scenario that a kernel cannot reproduce.

use std::fs;

use windlass_cc::recovery::LossRecovery;
use windlass_cc::rto::AnyParams as Rto;
use windlass_cc::{AnyParams, Ecn, Flavour, Span};
use windlass_sim::config::{Config, FlowConfig, Multipath, ReadPolicy, Traffic};
use windlass_sim::results::Series;
use windlass_tcp::segment::{IPV4_HEADER, TCP_HEADER};
use windlass_tcp::stack::{InitialWindow, LossDetection, WindowValidation};
use windlass_tcp::{Pacing, StackConfig};

use super::lateness::readable;
use super::multipath;
use super::settings::{GREATEST_MSS, INITIAL_TIMEOUT, LEAST_MSS, timeouts};

/// Series without samples on a kernel: single RTT samples, and the latency of messages.
const UNSEEN: [Series; 2] = [Series::Rtt, Series::Latency];

/// Returns notes, one per line, on the kernel's deviations from the configuration. A reader needs them to
/// compare a run on the kernel with a run in the simulator. A scenario of the `linux` preset without special
/// settings has few notes.
pub fn differences(config: &Config, ours: &[usize], named: &[(usize, String)]) -> Vec<String> {
    let mut notes = Vec::new();
    // An invalid multipath flow is refused when it is run.
    let config = &multipath::at_kernel(config, &[]).unwrap_or_else(|_| config.clone());
    for (place, flow) in config.flows.iter().enumerate() {
        if matches!(flow.traffic, Traffic::CbrUdp(_)) {
            continue;
        }
        let mut of_flow = Vec::new();
        if let Some(multipath) = &flow.multipath {
            connection(multipath, &mut of_flow);
        }
        if ours.contains(&place) {
            tenant(flow, &mut of_flow);
        } else if !named.iter().any(|(named, _)| *named == place) {
            algorithm(flow, &mut of_flow);
        }
        sending(flow, &mut of_flow);
        receiving(flow, &mut of_flow);
        recovery(flow, &mut of_flow);
        timers(&flow.profile.stack, &mut of_flow);
        retries(&flow.profile.stack, &mut of_flow);
        notes.extend(of_flow.into_iter().map(|note| format!("flow \"{}\": {note}", flow.name)));
    }
    let states = |s: &Series| matches!(s, Series::State(_) | Series::States);
    if config.record.series.iter().any(states) {
        notes
            .push("series \"state\": the kernel does not expose an algorithm's inner state".into());
    }
    for series in config.record.series.iter().filter(|s| UNSEEN.contains(s)) {
        notes.push(format!("series \"{}\": a kernel has no samples of it", series.name()));
    }
    notes
}

/// Notes on the connection level above the subflows.
fn connection(multipath: &Multipath, notes: &mut Vec<String>) {
    let config = &multipath.config;
    if config.penalise || config.opportunistic {
        notes.push("penalise, opportunistic: the kernel does not support them".into());
    }
    notes.push("scheduler: the kernel has its own".into());
}

/// Notes on one of Windlass's algorithms in the kernel, which deviates only where the kernel limits it.
fn tenant(flow: &FlowConfig, notes: &mut Vec<String>) {
    if flow.profile.params.requirements().ecn == Ecn::Exact {
        notes.push(
            "marks: a kernel echoes marks exactly only for its own DCTCP; here an echo lasts until it is answered".into(),
        );
    }
    if flow.profile.stack.pacing == Pacing::Always {
        notes.push(
            "pacing always: in the kernel only an algorithm that requests pacing is paced".into(),
        );
    }
}

/// Notes on the kernel's own algorithm, which has its own parameters. A module's parameters apply to the
/// whole machine.
fn algorithm(flow: &FlowConfig, notes: &mut Vec<String>) {
    let params = &flow.profile.params;
    let id = params.info().id;
    let Some(usual) = AnyParams::by_name(id) else { return };
    for (place, param) in params.info().params.iter().enumerate() {
        if params.get(place) != usual.get(place) {
            notes.push(format!("{id} {}: the kernel's algorithm has its own value", param.name));
        }
    }
    if params.common().initial_ssthresh != usual.common().initial_ssthresh {
        notes.push("initial_ssthresh: the kernel begins without a threshold".into());
    }
    slow_start(id, params.common().slow_start.info().id, notes);
    if id == "dctcp" && !flow.profile.stack.ecn.is_on() {
        notes.push("ecn off: the kernel's DCTCP negotiates it anyway".into());
    }
}

fn slow_start(algorithm: &str, ours: &str, notes: &mut Vec<String>) {
    let kernels = match algorithm {
        // BBR has its own start on both backends.
        "bbr" => return,
        "cubic" if cubic_has_hystart() => "hystart",
        "vegas" => "vegas",
        _ => "standard",
    };
    if ours != kernels {
        let switch = match algorithm {
            "cubic" => {
                "; /sys/module/tcp_cubic/parameters/hystart sets it for the whole \
                 machine and is not changed"
            }
            _ => "",
        };
        notes.push(format!(
            "slow_start \"{ours}\": the kernel's {algorithm} has \"{kernels}\"{switch}"
        ));
    }
}

/// Returns the module's parameter, or true (the default) if it cannot be read.
fn cubic_has_hystart() -> bool {
    let value = fs::read_to_string("/sys/module/tcp_cubic/parameters/hystart");
    value.map_or(true, |v| v.trim() != "0")
}

fn sending(flow: &FlowConfig, notes: &mut Vec<String>) {
    let (stack, mss) = (&flow.profile.stack, flow.profile.mss());
    let path = flow.profile.mtu.saturating_sub(IPV4_HEADER + TCP_HEADER);
    if mss < path && !(LEAST_MSS..=GREATEST_MSS).contains(&mss) {
        notes.push(format!(
            "mss {mss}: the kernel accepts {LEAST_MSS} to {GREATEST_MSS}, and uses the MTU here"
        ));
    }
    if let InitialWindow::Bytes(bytes) = stack.initial_window
        && bytes % u64::from(mss) != 0
    {
        notes.push(format!(
            "initial_window {bytes} bytes: the kernel counts in segments and uses {}",
            bytes.div_ceil(mss.into())
        ));
    }
    if stack.ack_limit != u32::MAX {
        notes.push(format!(
            "ack_limit {}: the kernel counts every segment that an acknowledgement covers",
            stack.ack_limit
        ));
    }
    if stack.flight_limit != u32::MAX {
        notes.push(format!(
            "flight_limit {}: the kernel has only cwnd and the receive window as limits",
            stack.flight_limit
        ));
    }
    if stack.window_validation != WindowValidation::Used {
        let own = match stack.window_validation {
            WindowValidation::RateLimited => "rate-limited",
            WindowValidation::Ns3 => "ns3",
            _ => "off",
        };
        notes.push(format!(
            "window_validation {own}: the kernel's window grows only while it limits the sender"
        ));
    }
    if stack.pacing == Pacing::Off && flow.profile.params.info().id == "bbr" {
        notes.push("pacing off: the kernel's BBR paces anyway".into());
    }
    if stack.pacing == Pacing::Always && stack.pacing_burst != 10 {
        notes.push(format!(
            "pacing_burst {}: the kernel sends 10 segments before it paces",
            stack.pacing_burst
        ));
    }
    if stack.rules != Flavour::Linux {
        notes.push(format!(
            "send_buffer {} bytes: the kernel includes its own overhead in the buffer and grows it up to this size",
            stack.send_buffer
        ));
    }
}

fn receiving(flow: &FlowConfig, notes: &mut Vec<String>) {
    let stack = &flow.profile.stack;
    let bytes = stack.receive_buffer;
    if stack.window_scaling && stack.receive_autotuning {
        return; // the simulator's rules are the kernel's
    }
    notes.push(if stack.window_scaling {
        format!(
            "receive_buffer {bytes} bytes: the kernel grows its window by itself, and includes its own \
             overhead in the buffer, so that the window reaches about half of it"
        )
    } else if flow.read == ReadPolicy::Immediate {
        format!(
            "receive_buffer {bytes} bytes: the emulator lowers the windows that the kernel advertises \
             to it; the kernel's own buffer is larger"
        )
    } else {
        format!(
            "receive_buffer {bytes} bytes: the kernel includes its own overhead in it, so that a slow \
             reader closes the window at a different fill level"
        )
    });
    match stack.delayed_ack_segments {
        0 | 1 => {}
        2 if stack.quick_acks => {}
        segments => {
            notes.push(
                "delayed_ack_segments: the kernel acknowledges every segment at the beginning of a \
                 connection (quick acknowledgements)"
                    .into(),
            );
            if segments > 2 {
                notes.push(format!(
                    "delayed_ack_segments {segments}: the kernel acknowledges at least every second segment"
                ));
            }
            notes.push(format!(
                "delayed_ack_timeout {}: the kernel chooses 40 to 200 ms itself",
                readable(stack.delayed_ack_timeout)
            ));
        }
    }
}

fn recovery(flow: &FlowConfig, notes: &mut Vec<String>) {
    let stack = &flow.profile.stack;
    if stack.ecn.is_accurate() {
        notes.push("ecn \"accurate\": a kernel before 7.0 has the feedback of RFC 3168".into());
    }
    if !stack.fast_retransmit {
        notes.push("fast_retransmit off: always on in the kernel".into());
    }
    if !stack.limited_transmit {
        notes.push("limited_transmit off: always on in the kernel".into());
    }
    if stack.sack && stack.loss_detection == LossDetection::DupThresh {
        notes.push(
            "loss_detection \"dupthresh\": kernels from 6.17 on detect losses by time (RACK) if the peer \
             has SACK"
                .into(),
        );
    }
    if !(stack.eifel && stack.dsack_undo) {
        notes.push(
            "eifel or dsack_undo off: the kernel undoes spurious reductions if timestamps or \
             D-SACK reveal them"
                .into(),
        );
    }
    let kernels = if stack.sack {
        [LossRecovery::Prr, LossRecovery::Sack]
    } else {
        [LossRecovery::Prr, LossRecovery::NewReno]
    };
    let style = stack.recovery.unwrap_or(flow.profile.params.requirements().recovery);
    if !kernels.contains(&style) {
        let name = LossRecovery::ALL.iter().find(|(_, s)| *s == style).map_or("", |(name, _)| name);
        notes.push(format!(
            "recovery \"{name}\": the kernel recovers as NewReno does, or with SACK by a scoreboard, \
             in both cases with proportional rate reduction"
        ));
    }
    if !stack.karn {
        notes.push("karn off: the kernel takes no sample from a retransmitted segment".into());
    }
}

fn timers(stack: &StackConfig, notes: &mut Vec<String>) {
    let timeouts = timeouts(&stack.rto);
    if !matches!(stack.rto, Rto::Linux(_)) {
        let id = stack.rto.info().id;
        notes.push(match timeouts.min {
            Some(min) => format!(
                "rto \"{id}\": the kernel's timer adds at least {} to the smoothed RTT; this \
                 timer keeps the sum above that value",
                readable(min)
            ),
            None => format!("rto \"{id}\": the kernel has its own timer"),
        });
    }
    if timeouts.initial != INITIAL_TIMEOUT {
        notes.push(format!(
            "rto initial {}: the kernel begins with {}",
            readable(timeouts.initial),
            readable(INITIAL_TIMEOUT)
        ));
    }
    if timeouts.backoff != 2 {
        notes.push(format!("rto backoff {}: the kernel doubles", timeouts.backoff));
    }
    if timeouts.max != Span::from_secs(120) {
        notes.push(format!(
            "rto max {}: kernels before 6.15 have 120 s, later kernels accept 1 to 120 s",
            readable(timeouts.max)
        ));
    }
    if stack.timer_tick != Span::ZERO {
        notes.push(format!(
            "timer_tick {}: the kernel's timers use the tick of its clock, 1 to 10 ms",
            readable(stack.timer_tick)
        ));
    }
}

fn retries(stack: &StackConfig, notes: &mut Vec<String>) {
    if !(1..=127).contains(&stack.max_syn_retries) {
        notes.push(format!(
            "max_syn_retries {}: the kernel accepts 1 to 127",
            stack.max_syn_retries
        ));
    }
    if stack.max_data_retries > 255 {
        notes.push(format!(
            "max_data_retries {}: the kernel accepts at most 255",
            stack.max_data_retries
        ));
    }
    if stack.persist_timeout != Span::ZERO {
        notes.push(format!(
            "persist_timeout {}: the kernel probes a closed window after its retransmission timeout",
            readable(stack.persist_timeout)
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_cc::Time;
    use windlass_sim::config::Record;
    use windlass_tcp::Profile;
    use windlass_tcp::stack::{LINUX, NS2, RIVERBED};

    fn notes(stack: StackConfig, algorithm: &str) -> Vec<String> {
        let flow = FlowConfig {
            name: "a".into(),
            from: 0,
            to: 1,
            profile: Profile::new(stack, AnyParams::by_name(algorithm).unwrap(), 1500).into(),
            traffic: Traffic::Bulk { bytes: None },
            read: ReadPolicy::Immediate,
            start: Time::ZERO,
            multipath: None,
            pauses: Vec::new(),
        };
        differences(
            &Config {
                nodes: vec!["a".into(), "b".into()],
                links: Vec::new(),
                radios: Vec::new(),
                flows: vec![flow],
                duration: Time::from_secs(1),
                seed: 1,
                record: Record::default(),
            },
            &[],
            &[],
        )
    }

    fn mentions(notes: &[String], what: &str) -> bool {
        notes.iter().any(|note| note.contains(what))
    }

    #[test]
    fn nothing_differs_for_the_linux_preset() {
        assert_eq!(notes(LINUX, "bbr"), [""; 0]);
    }

    #[test]
    fn unsupported_settings_of_other_stacks_are_listed() {
        let riverbed = notes(RIVERBED, "reno");
        for what in [
            "ack_limit 1",
            "limited_transmit",
            "recovery \"reno\"",
            "timer_tick 500 ms",
            "rto initial 3",
            "rto max 64",
            "lowers the windows",
        ] {
            assert!(mentions(&riverbed, what), "{what}: {riverbed:#?}");
        }
        let ns2 = notes(NS2, "newreno");
        for what in ["flight_limit 20", "max_syn_retries 1000", "max_data_retries 1000"] {
            assert!(mentions(&ns2, what), "{what}: {ns2:#?}");
        }
        assert!(!mentions(&ns2, "delayed_ack"), "one acknowledgement per segment is not delayed");
    }

    #[test]
    fn a_different_start_of_the_kernels_algorithm_is_listed() {
        assert!(mentions(&notes(LINUX, "dctcp"), "DCTCP negotiates it"));
        let accurate = StackConfig { ecn: windlass_tcp::stack::EcnFeedback::Accurate, ..LINUX };
        assert!(mentions(&notes(accurate, "reno"), "ecn \"accurate\""));
        assert!(mentions(&notes(LINUX, "highspeed"), "slow_start \"limited\""));
        assert!(!mentions(&notes(LINUX, "vegas"), "slow_start"));
    }
}
