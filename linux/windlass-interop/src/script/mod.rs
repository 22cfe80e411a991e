//! Packet scripts on Windlass's endpoint and on kernels.
//!
//! `windlass-script` has the language and plays it on the endpoint. Here a script is compared with this machine's
//! kernel as well, through a TUN device. The same script passes on both stacks. If a stack is known to differ, the
//! script states the difference with its reason, and this is checked too.

mod kernel;
mod run;

pub use kernel::Kernel;
pub use run::{Trouble, available, run, run_all};
pub use windlass_script::*;
