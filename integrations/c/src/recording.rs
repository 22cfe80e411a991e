//! The events of a connection's algorithm and its answers, as lines for a listener.

use core::ffi::{c_char, c_void};

use windlass_cc::{AnyParams, Conn, Event};
use windlass_conform::recording;

use crate::Status;
use crate::events::call;
use crate::memory::{FlowState, ParamSet};
use crate::names::word;

/// Receives a line of a recording: `bytes` bytes, of which the last ends the line. No zero follows. `context` is the
/// argument of `windlass_record`.
pub type Listener =
    Option<unsafe extern "C" fn(context: *mut c_void, line: *const c_char, bytes: usize)>;

/// The listener of a state, with its context.
#[derive(Clone, Copy)]
pub struct Recorder {
    listener: Listener,
    context: *mut c_void,
}

impl Recorder {
    pub(crate) const NONE: Recorder = Recorder { listener: None, context: core::ptr::null_mut() };

    fn take(&self, line: impl FnOnce() -> String) {
        if let Some(listener) = self.listener {
            let line = line() + "\n";
            unsafe { listener(self.context, line.as_ptr().cast(), line.len()) };
        }
    }
}

/// Gives every later event of the state to `listener`, with the connection's values and the answer, as a line of JSON.
/// The first line has the parameters. Call this right after `windlass_init`, with the same values. The lines are a
/// recording that `windlass replay --recorded` replays. `about` names the host there, and `name` the connection's path.
/// Without a listener (null) the recording ends. Lines take memory of the heap during the call. Libraries for firmware
/// lack this function.
///
/// # Safety
///
/// The handles were made by `windlass_init` and `windlass_params_init`. `name` and `about` end with a zero. `listener`
/// can be called with `context` as long as the state receives events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_record(
    state: *mut FlowState,
    params: *const ParamSet,
    conn: *const Conn,
    name: *const c_char,
    about: *const c_char,
    listener: Listener,
    context: *mut c_void,
) -> Status {
    let begin = || {
        let words = unsafe { (word(name)?, word(about)?) };
        let (Some(name), Some(about)) = words else { return Err(Status::UnknownWord) };
        let (state, params, conn) = unsafe { call(state, params, conn)? };
        state.recorder = Recorder { listener, context };
        let answer = state.body.control(params, conn);
        state.recorder.take(|| recording::header(params, name, about, conn, answer));
        Ok(())
    };
    begin().into()
}

/// Gives an event to the listener.
pub(crate) fn note(state: &FlowState, params: &AnyParams, conn: &Conn, event: &Event) {
    state.recorder.take(|| recording::line(event, conn, state.body.control(params, conn)));
}
