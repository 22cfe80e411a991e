//! Options of a run.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

use windlass_cc::Span;
use windlass_scenario::ReceiveWindow;

use super::lateness::Bound;

/// Options of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Maximum number of runs until one is not too late; at least 1.
    pub attempts: u32,
    /// Lateness above which a run is invalid; `None` if it cannot be late, as in virtual time.
    pub bound: Option<Bound>,
    /// Time before a due event at which the emulator stops sleeping and polls the clock. Wake-ups on a live
    /// machine are late by about this time.
    pub spin: Span,
    /// Hosts that stay endpoints of [`windlass_tcp`] inside the simulation: `2i` for the end of flow `i` that
    /// sends the data, `2i + 1` for the other end.
    pub inside: Vec<u32>,
    /// True if datagram flows are [traced](super::Trace), which needs eight bytes of payload.
    pub trace: bool,
    /// Method that limits receive windows to their configured size.
    pub receive_window: ReceiveWindow,
    /// Positions of the flows that use Windlass's algorithm in the kernel.
    pub ours: Vec<usize>,
    /// Positions of the flows whose algorithm is given by the kernel's name, with this name.
    pub named: Vec<(usize, String)>,
    /// Folder with the objects of Windlass's algorithms.
    pub objects: PathBuf,
    /// Data to keep of Windlass's algorithms.
    pub watch: Watch,
}

/// Data to keep of Windlass's algorithms in a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Watch {
    /// No data.
    #[default]
    Nothing,
    /// Each event is recorded and replayed.
    Replay,
    /// The kernel counts the run time of the algorithms' programs.
    Count,
}

impl Default for Options {
    /// Three attempts, the default bound, 80 microseconds of polling the clock, all ends in the kernel, no
    /// traces.
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
    /// Returns the kernel's name of a flow's algorithm, if the scenario gives it.
    pub(crate) fn name_of(&self, flow: usize) -> Option<&str> {
        self.named.iter().find(|(place, _)| *place == flow).map(|(_, name)| name.as_str())
    }

    /// Options for a guest whose clock counts instructions. Nothing is late there, and polling the clock
    /// would take time.
    pub fn in_virtual_time() -> Options {
        Options { attempts: 1, bound: None, spin: Span::ZERO, ..Options::default() }
    }
}
