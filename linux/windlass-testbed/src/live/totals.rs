//! Conversion of the data of the kernel and the applications to the simulator's result.

use windlass_cc::Time;
use windlass_sim::config::{Config, FlowConfig, Traffic};
use windlass_sim::results::{FlowResult, RunResult};

use super::app::App;
use super::counters::Counters;
use super::info::Info;
use super::wiretap::Wiretap;

/// The end of a flow in the kernel, after the run.
#[derive(Debug)]
pub(crate) struct End {
    pub app: App,
    /// State of the connection, if the end has one.
    pub info: Option<Info>,
    /// Counters of the namespace.
    pub counters: Counters,
}

/// Adds the data that the network does not have to a result.
pub(crate) fn complete(result: &mut RunResult, config: &Config, ends: &[End], wiretap: &Wiretap) {
    for end in ends {
        let i = end.app.host as usize / 2;
        let (flow, total) = (&config.flows[i], &mut result.flows[i]);
        if end.app.host.is_multiple_of(2) {
            add_sender(total, end);
        } else {
            add_receiver(total, flow, result.end, end);
        }
        if let Some(app) = end.app.stream() {
            total.failure = total.failure.take().or_else(|| app.stream.failure.clone());
        }
    }
    for (i, total) in result.flows.iter_mut().enumerate() {
        add_paths(total, config.track(i), wiretap);
    }
}

/// Adds the data of a multipath flow's paths. Packets show the acknowledged bytes and the retransmissions of
/// each path; `tcp_info` only describes the first subflow.
fn add_paths(total: &mut FlowResult, track: usize, wiretap: &Wiretap) {
    let Some(multipath) = &mut total.multipath else { return };
    let watched = |path: usize| wiretap.track(track + path);
    let paths = 0..multipath.subflows.len();
    let all: u64 = paths.clone().map(|path| watched(path).acknowledged).sum();
    let per = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    for (path, subflow) in multipath.subflows.iter_mut().enumerate() {
        subflow.delivered_bytes = watched(path).acknowledged;
        subflow.goodput_bps = per(8.0 * subflow.delivered_bytes as f64, total.active_s);
        subflow.share = per(subflow.delivered_bytes as f64, all as f64);
        subflow.retransmits = watched(path).retransmits;
    }
    multipath.joins = (1..paths.end).filter(|path| watched(*path).acknowledged > 0).count() as u64;
    total.retransmits = paths.map(|path| watched(path).retransmits).sum();
    (total.srtt_ms, total.cwnd_bytes) = (None, 0);
}

fn add_sender(total: &mut FlowResult, end: &End) {
    let Some(info) = &end.info else { return };
    let counters = &end.counters;
    let retransmissions = u64::from(info.retransmissions);
    total.retransmits = retransmissions.saturating_sub(counters.syn_retransmissions);
    total.fast_retransmits = counters.recoveries;
    total.rto_count += counters.timeouts;
    total.srtt_ms = (info.srtt_us > 0).then(|| f64::from(info.srtt_us) / 1e3);
    total.min_rtt_ms = info.min_rtt_us.map(|us| f64::from(us) / 1e3);
    total.cwnd_bytes = u64::from(info.cwnd) * u64::from(info.mss);
}

fn add_receiver(total: &mut FlowResult, flow: &FlowConfig, run_end: Time, end: &End) {
    let mut ended = None;
    if let Some(app) = end.app.stream() {
        let endless = matches!(flow.traffic, Traffic::Bulk { bytes: None });
        ended = app.completed.filter(|_| !endless);
        total.completion_s = ended.map(|t| seconds(flow.start, t));
        total.responses_s = app.responses_s.clone();
        total.messages = app.messages.as_ref().map(|m| Box::new(m.result(run_end)));
        // The receiver sends the requests here, so that its attempts and requests count too.
        if matches!(flow.traffic, Traffic::RequestResponse { .. }) {
            total.rto_count += end.counters.timeouts;
        }
    }
    if let (Some(sink), Traffic::CbrUdp(cbr)) = (end.app.sink(), &flow.traffic) {
        ended = Some(cbr.stop.max(sink.last).min(run_end));
    }
    total.delivered_bytes = end.app.delivered();
    let ended = ended.unwrap_or(run_end);
    let paused = flow.paused_until(ended);
    total.set_active(seconds(flow.start, ended) - paused.0 as f64 / 1e9);
}

fn seconds(start: Time, end: Time) -> f64 {
    end.since(start).0 as f64 / 1e9
}
