//! Names from and to C.

use core::ffi::{CStr, c_char};

use windlass_cc::ALGORITHMS;

use crate::Status;
use crate::memory::{reach, write};

/// Number of algorithms.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_algorithm_count() -> usize {
    ALGORITHMS.len()
}

/// Writes the name of the algorithm at an index, from 0, with a zero at its end.
///
/// # Safety
///
/// `room` bytes can be written to `to`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_algorithm_name(
    place: usize,
    to: *mut c_char,
    room: usize,
) -> Status {
    match ALGORITHMS.get(place) {
        Some(info) => unsafe { copy(["", info.id], to, room) }.into(),
        None => Status::OutOfRange,
    }
}

/// A sentence about a status. It lives as long as the program.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_status_text(status: i32) -> *const c_char {
    const TEXTS: [&CStr; 11] = [
        c"done",
        c"a pointer is null",
        c"a pointer is not aligned as its type wants",
        c"the memory was not made by windlass_params_init or windlass_init",
        c"the state is of another algorithm than the parameters",
        c"the algorithm is unknown",
        c"the algorithm has no parameter of this name",
        c"the word is unknown here",
        c"the number is outside its range",
        c"the memory for the output is too small",
        c"a field has a value that its type does not have",
    ];
    let place = status.unsigned_abs() as usize;
    let known = if status <= 0 { TEXTS.get(place) } else { None };
    known.copied().unwrap_or(c"not a status of this library").as_ptr()
}

/// A word from C; `None` if it is not text.
///
/// # Safety
///
/// The pointer is null or to bytes that end with a zero.
pub unsafe fn word<'a>(text: *const c_char) -> Result<Option<&'a str>, Status> {
    reach(text)?;
    Ok(unsafe { CStr::from_ptr(text) }.to_str().ok())
}

/// Writes the two parts of a name, and a zero.
///
/// # Safety
///
/// `room` bytes can be written to `to`, unless it is null.
pub unsafe fn copy(parts: [&str; 2], to: *mut c_char, room: usize) -> Result<(), Status> {
    reach(to)?;
    if parts.iter().map(|part| part.len()).sum::<usize>() >= room {
        return Err(Status::TooSmall);
    }
    let bytes = parts.iter().flat_map(|part| part.bytes()).chain([0]);
    for (place, byte) in bytes.enumerate() {
        unsafe { to.add(place).write(byte as c_char) };
    }
    Ok(())
}

/// Sizes in bytes of the state and of the parameters of an algorithm, by the word in the names of its entry points,
/// such as `Reno`.
///
/// # Safety
///
/// The name ends with a zero; a number can be written to each of the other two.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_entry_sizes(
    name: *const c_char,
    state: *mut usize,
    params: *mut usize,
) -> Status {
    let ask = || {
        let name = unsafe { word(name)? };
        let place = cc_object::NAMES.iter().position(|known| Some(*known) == name);
        let entry = place.and_then(|at| cc_object::ENTRIES.get(at));
        let entry = entry.ok_or(Status::UnknownAlgorithm)?;
        reach(state)?;
        unsafe {
            write(params, entry.params_bytes)?;
            write(state, entry.state_bytes)
        }
    };
    ask().into()
}
