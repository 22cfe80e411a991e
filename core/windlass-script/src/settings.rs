//! Settings of both stacks, applied before the start of a script.

use windlass_cc::{AnyParams, Flavour};
use windlass_tcp::stack::EcnFeedback;
use windlass_tcp::{InitialWindow, Preset, Profile, StackConfig};

/// Settings of a script. The kernel gets all of them, and keeps its own value for other settings. A script
/// that passes on both stacks therefore shows that these values agree.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// Implementation of the algorithms: the preset's.
    pub flavour: Flavour,
    /// Behaviour of Windlass's endpoint: the preset's values with the changes of the script.
    pub stack: StackConfig,
    /// Congestion control, without the preset's changes.
    pub algorithm: AnyParams,
    /// Largest IP packet of the path, bytes.
    pub mtu: u32,
    /// True if the script sets the receive buffer. Otherwise the kernel keeps its own.
    pub sets_receive_buffer: bool,
}

impl Settings {
    /// Returns the `linux` preset with Reno and 1500-byte packets.
    pub fn new() -> Settings {
        let preset = Preset::by_name("linux").expect("the preset linux is always there");
        let algorithm = AnyParams::by_name("reno").expect("Reno is always there");
        Settings {
            flavour: preset.flavour,
            stack: preset.config,
            algorithm,
            mtu: 1500,
            sets_receive_buffer: false,
        }
    }

    /// Returns the configuration of the [`Endpoint`](windlass_tcp::Endpoint), as in a scenario with this
    /// preset and algorithm.
    pub fn profile(&self) -> Profile {
        let ack_limit = self.algorithm.ack_limit(self.flavour).unwrap_or(self.stack.ack_limit);
        // A kernel does not tune a buffer that was set explicitly.
        let receive_autotuning = self.stack.receive_autotuning && !self.sets_receive_buffer;
        // A script's write is accepted as a whole.
        let initial_send_buffer = self.stack.send_buffer;
        let stack =
            StackConfig { ack_limit, receive_autotuning, initial_send_buffer, ..self.stack };
        Profile::new(stack, self.algorithm.flavoured(self.flavour), self.mtu)
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings::new()
    }
}

/// Type of a setting's value.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// A word for the feedback of ECN.
    Ecn,
    /// `on` or `off`.
    Switch(fn(&mut StackConfig, bool)),
    /// A number within bounds.
    Count(u64, u64, fn(&mut Settings, u64)),
    /// The name of a preset.
    Stack,
    /// `dupthresh` or `rack`.
    LossDetection,
    /// The name of an algorithm.
    Algorithm,
}

/// Every setting. A setting that scenarios also have uses the name of the scenario key. The kernel supports
/// all settings here.
pub(super) const SETTINGS: [(&str, Kind); 21] = [
    ("stack", Kind::Stack),
    ("algorithm", Kind::Algorithm),
    ("mtu", Kind::Count(68, 65_535, |s, n| s.mtu = n as u32)),
    ("mss", Kind::Count(88, 65_495, |s, n| s.stack.mss = Some(n as u32))),
    ("receive_buffer", Kind::Count(1_152, 1 << 30, set_receive_buffer)),
    ("initial_window", Kind::Count(1, 1_000, |s, n| s.stack.initial_window = segments(n))),
    ("window_scaling", Kind::Switch(|s, on| s.window_scaling = on)),
    ("timestamps", Kind::Switch(|s, on| s.timestamps = on)),
    ("sack", Kind::Switch(|s, on| s.sack = on)),
    ("dsack", Kind::Switch(|s, on| s.dsack = on)),
    ("ecn", Kind::Ecn),
    ("nagle", Kind::Switch(|s, on| s.nagle = on)),
    ("quick_acks", Kind::Switch(|s, on| s.quick_acks = on)),
    ("dupthresh", Kind::Count(1, 127, |s, n| s.stack.dupthresh = n as u32)),
    ("loss_detection", Kind::LossDetection),
    ("tlp", Kind::Switch(|s, on| s.tlp = on)),
    ("frto", Kind::Switch(|s, on| s.frto = on)),
    ("idle_restart", Kind::Switch(|s, on| s.idle_restart = on)),
    ("max_syn_retries", Kind::Count(1, 127, |s, n| s.stack.max_syn_retries = n as u32)),
    ("syn_linear_timeouts", Kind::Count(0, 255, |s, n| s.stack.syn_linear_timeouts = n as u32)),
    ("max_data_retries", Kind::Count(1, 255, |s, n| s.stack.max_data_retries = n as u32)),
];

/// The values of `ecn`.
pub(super) const FEEDBACK: [(&str, EcnFeedback); 4] = [
    ("off", EcnFeedback::Off),
    ("on", EcnFeedback::Classic),
    ("accurate", EcnFeedback::Accurate),
    ("accurate-counter", EcnFeedback::AccurateCounter),
];

fn segments(n: u64) -> InitialWindow {
    InitialWindow::Segments(n as u32)
}

fn set_receive_buffer(settings: &mut Settings, bytes: u64) {
    settings.stack.receive_buffer = bytes;
    settings.sets_receive_buffer = true;
}

/// Applies a preset's values. This precedes the script's changes.
pub(super) fn take_preset(settings: &mut Settings, preset: &Preset) {
    settings.flavour = preset.flavour;
    settings.stack = preset.config;
}
