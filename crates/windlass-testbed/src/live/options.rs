//! How a configuration is run.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

use windlass_cc::Span;
use windlass_scenario::ReceiveWindow;

use super::lateness::Bound;

/// How a configuration is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Runs to make at most until one is not too late; at least 1.
    pub attempts: u32,
    /// Lateness past which a run is invalid; `None` where it cannot be, as in virtual time.
    pub bound: Option<Bound>,
    /// How long before something is due the emulator stops sleeping and watches the clock: the wake-ups
    /// of a live machine are late by as much.
    pub spin: Span,
    /// Hosts that stay endpoints of [`windlass_tcp`] inside the simulation: `2i` for the end of flow
    /// `i` that sends the data, `2i + 1` for the other.
    pub inside: Vec<u32>,
    /// Whether flows of datagrams are [traced](super::Trace), which needs eight bytes of payload.
    pub trace: bool,
    /// What holds receive windows to their size.
    pub receive_window: ReceiveWindow,
    /// Flows whose algorithm is ours, in the kernel, by their place.
    pub ours: Vec<usize>,
    /// Flows whose algorithm is given by the kernel's name of it, by their place.
    pub named: Vec<(usize, String)>,
    /// The folder with the objects of these algorithms.
    pub objects: PathBuf,
    /// What is kept of these algorithms.
    pub watch: Watch,
}

/// What is kept of our algorithms in a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Watch {
    /// Nothing.
    #[default]
    Nothing,
    /// Each event is recorded and replayed.
    Replay,
    /// The kernel counts how long their programs run.
    Count,
}

impl Default for Options {
    /// Three attempts, the default bound, 80 microseconds of watching the clock, all ends the kernel's,
    /// no traces.
    fn default() -> Options {
        Options {
            attempts: 3,
            bound: Some(Bound::default()),
            spin: Span::from_micros(80),
            inside: Vec::new(),
            trace: false,
            receive_window: ReceiveWindow::default(),
            ours: Vec::new(),
            named: Vec::new(),
            objects: PathBuf::new(),
            watch: Watch::Nothing,
        }
    }
}

impl Options {
    /// The kernel's name of a flow's algorithm where it is given by that.
    pub(crate) fn name_of(&self, flow: usize) -> Option<&str> {
        self.named.iter().find(|(place, _)| *place == flow).map(|(_, name)| name.as_str())
    }

    /// In a guest whose clock counts instructions nothing is late, and watching the clock would cost
    /// time.
    pub fn in_virtual_time() -> Options {
        Options { attempts: 1, bound: None, spin: Span::ZERO, ..Options::default() }
    }
}
