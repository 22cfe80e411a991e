//! A script's settings as the kernel's: sysctls and routes of the namespace.

use std::fs;
use std::path::Path;

use netlink_packet_route::route::RouteMetric;
use windlass_tcp::stack::LossDetection;

use crate::live::Error;
use crate::script::settings::Settings;

/// Metrics of the route to the peer.
pub(super) fn route_metrics(_: &Settings) -> Vec<RouteMetric> {
    Vec::new()
}

/// Sets the sysctls of the calling thread's namespace, where everything else keeps the kernel's
/// default. What the host has set for itself is set back to that first.
pub(super) fn tell(settings: &Settings) -> Result<(), Error> {
    let stack = &settings.stack;
    let switch = |on: bool, value: &str| if on { value.to_owned() } else { "0".to_owned() };
    let rack = stack.loss_detection == LossDetection::Rack;
    let values = [
        // Documentation/networking/ip-sysctl.rst names the values.
        ("tcp_sack", switch(stack.sack, "1")),
        ("tcp_dsack", switch(stack.dsack, "1")),
        ("tcp_timestamps", switch(stack.timestamps, "1")),
        ("tcp_window_scaling", switch(stack.window_scaling, "1")),
        ("tcp_ecn", switch(stack.ecn, "1")),
        ("tcp_recovery", switch(rack, "1")),
        ("tcp_early_retrans", switch(stack.tlp, "3")),
        ("tcp_frto", switch(stack.frto, "2")),
        ("tcp_slow_start_after_idle", switch(stack.idle_restart, "1")),
        ("tcp_reordering", stack.dupthresh.to_string()),
        ("tcp_syn_retries", stack.max_syn_retries.to_string()),
        ("tcp_no_metrics_save", "1".to_owned()),
        ("tcp_rmem", "4096 131072 6291456".to_owned()),
        // A script's writes are taken whole.
        ("tcp_wmem", "4096 4194304 4194304".to_owned()),
    ];
    for (name, value) in values {
        let path = Path::new("/proc/sys/net/ipv4").join(name);
        fs::write(&path, &value)
            .map_err(Error::on(format!("setting net.ipv4.{name} to {value}")))?;
    }
    Ok(())
}
