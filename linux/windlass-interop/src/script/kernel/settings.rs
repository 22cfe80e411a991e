//! Conversion of a script's settings to the kernel's settings of a flow of the live testbed.

use windlass_cc::Time;
use windlass_scenario::ReceiveWindow;
use windlass_sim::config::{FlowConfig, ReadPolicy, Traffic};

use windlass_script::Settings;
use windlass_testbed::live::Error;
use windlass_testbed::live::algorithm::of_flow;
use windlass_testbed::live::settings::{Settings as Told, Sysctl, buffer};

/// Name of the connection in errors.
pub(super) const NAME: &str = "script";

/// Returns the settings for the kernel, and the kernel's name of the algorithm.
///
/// # Errors
///
/// Returns an error if no kernel has such an algorithm.
pub(super) fn told(settings: &Settings) -> Result<(Told, &'static str), Error> {
    let flow = FlowConfig {
        name: NAME.into(),
        from: 0,
        to: 1,
        profile: settings.profile().into(),
        traffic: Traffic::Bulk { bytes: None },
        read: ReadPolicy::Immediate,
        start: Time::ZERO,
        multipath: None,
        pauses: Vec::new(),
    };
    let mut told = Told::new(&flow, ReceiveWindow::Pinned);
    // The kernel normally enlarges the send buffer as data are acknowledged. Here it has its full size from
    // the start, so that each write is accepted as a whole.
    let stack = &settings.stack;
    told.sysctls.push(Sysctl::new("tcp_wmem", buffer(stack.send_buffer, stack.send_buffer)));
    // The kernel's own receive buffer, also for a window without scaling.
    let receive = buffer(stack.receive_buffer, stack.initial_receive_buffer);
    told.sysctls.push(Sysctl::new("tcp_rmem", receive));
    // A script for accurate ECN is not played with other feedback.
    told.sysctls.iter_mut().for_each(|sysctl| sysctl.otherwise = None);
    if settings.sets_receive_buffer {
        told.receive_buffer = Some(settings.stack.receive_buffer as usize);
    }
    Ok((told, of_flow(&flow)?))
}
