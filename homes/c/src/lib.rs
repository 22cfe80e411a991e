//! Every algorithm of `windlass-cc` behind one C boundary. `include/windlass.h` is made of this crate by cbindgen.
//!
//! The caller owns all memory: it asks for the sizes, makes a set of parameters by the name of an algorithm, and a
//! state for each connection. All functions check what they are given and answer with a [`Status`]; what they refuse
//! changes nothing. Firmware that runs one algorithm takes the entry points of that algorithm instead, which check
//! nothing and of which only those that are called are linked (`WINDLASS_ENTRY_POINTS` in the header).
#![cfg_attr(not(any(unix, windows)), no_std)]

mod events;
mod memory;
mod names;
mod params;
#[cfg(any(unix, windows))]
mod recording;

pub use events::*;
pub use memory::{FlowState, ParamSet};
pub use names::*;
pub use params::*;
#[cfg(any(unix, windows))]
pub use recording::{Listener, windlass_record};

/// The single algorithms' entry points, so that they are in the library.
pub use cc_object;

/// Version of this boundary: raised by whatever makes a caller of the older one wrong.
pub const WINDLASS_ABI_VERSION: u32 = 1;
/// A length of time that is not known, such as a round-trip time before the first sample.
pub const WINDLASS_UNKNOWN: u64 = u64::MAX;
/// A bit of `windlass_conn.flags`: the window stopped the sender lately. A host that does not find out always sets it.
pub const WINDLASS_CWND_LIMITED: u32 = 1;
/// A bit of `windlass_conn.flags`: the application had nothing more to send lately.
pub const WINDLASS_APP_LIMITED: u32 = 2;
/// A bit of `windlass_conn.flags`: the peer's receive window stopped the sender lately.
pub const WINDLASS_RWND_LIMITED: u32 = 4;
/// Most paths that a connection may have.
pub const WINDLASS_MAX_PATHS: usize = 8;

/// How a call went. What is not `WINDLASS_STATUS_OK` has changed nothing.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// A pointer is null.
    NullPointer = -1,
    /// A pointer is not aligned to `windlass_alignment()`, or to its type.
    Misaligned = -2,
    /// The memory was not made by `windlass_params_init` or `windlass_init`.
    BadHandle = -3,
    /// The state is of another algorithm than the parameters.
    WrongAlgorithm = -4,
    /// There is no algorithm of this name.
    UnknownAlgorithm = -5,
    /// The algorithm has no parameter of this name.
    UnknownParameter = -6,
    /// There is no such slow start, stack or word, or the algorithm's slow start cannot be chosen.
    UnknownWord = -7,
    /// A number is not among those that are admitted.
    OutOfRange = -8,
    /// The room for what is to be written is too small.
    TooSmall = -9,
    /// A field holds what its type does not have: a phase beyond the last, a `bool` that is neither 0 nor 1.
    BadValue = -10,
}

/// Nothing, or why not, as C hears it.
impl From<Result<(), Status>> for Status {
    fn from(done: Result<(), Status>) -> Status {
        done.err().unwrap_or(Status::Ok)
    }
}

/// The version of the library that is linked; to be compared with `WINDLASS_ABI_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_abi_version() -> u32 {
    WINDLASS_ABI_VERSION
}
