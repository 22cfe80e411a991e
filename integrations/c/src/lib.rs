//! Every algorithm of `windlass-cc` behind one C boundary. cbindgen generates `include/windlass.h` from this crate.
//!
//! The caller owns all memory. It requests the sizes, makes a set of parameters by the name of an algorithm, and makes
//! a state for each connection. All functions check their arguments and return a [`Status`]; a call that returns an
//! error changes nothing. Firmware that runs one algorithm uses the entry points of that algorithm instead. They check
//! nothing, and only the called entry points are linked (`WINDLASS_ENTRY_POINTS` in the header).
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

/// Version of this boundary. It increases with every change that breaks older callers.
pub const WINDLASS_ABI_VERSION: u32 = 1;
/// A length of time that is not known, such as a round-trip time before the first sample.
pub const WINDLASS_UNKNOWN: u64 = u64::MAX;
/// A bit of `windlass_conn.flags`: cwnd stopped the sender recently. A host that cannot detect this always sets the
/// bit.
pub const WINDLASS_CWND_LIMITED: u32 = 1;
/// A bit of `windlass_conn.flags`: the application had no more data to send recently.
pub const WINDLASS_APP_LIMITED: u32 = 2;
/// A bit of `windlass_conn.flags`: the peer's receive window stopped the sender recently.
pub const WINDLASS_RWND_LIMITED: u32 = 4;
/// Maximum number of paths of a connection.
pub const WINDLASS_MAX_PATHS: usize = 8;

/// Result of a call. A call with another result than `WINDLASS_STATUS_OK` has changed nothing.
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
    /// The state belongs to another algorithm than the parameters.
    WrongAlgorithm = -4,
    /// The algorithm is unknown.
    UnknownAlgorithm = -5,
    /// The algorithm has no parameter of this name.
    UnknownParameter = -6,
    /// The slow start, stack or word is unknown, or the algorithm's slow start cannot be chosen.
    UnknownWord = -7,
    /// A number is outside its range.
    OutOfRange = -8,
    /// The memory for the output is too small.
    TooSmall = -9,
    /// A field has a value that its type does not have: a phase above the last, or a `bool` that is neither 0 nor 1.
    BadValue = -10,
}

/// The status of a result.
impl From<Result<(), Status>> for Status {
    fn from(done: Result<(), Status>) -> Status {
        done.err().unwrap_or(Status::Ok)
    }
}

/// The version of the linked library. Compare it with `WINDLASS_ABI_VERSION`.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_abi_version() -> u32 {
    WINDLASS_ABI_VERSION
}
