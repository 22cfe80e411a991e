//! What a connection's algorithm is told and answers, as lines for whoever listens.

use core::ffi::{c_char, c_void};

use windlass_cc::{AnyParams, Conn, Event};
use windlass_conform::recording;

use crate::Status;
use crate::events::call;
use crate::memory::{FlowState, ParamSet};
use crate::names::word;

/// Takes a line of a recording: so many bytes, the last of which ends the line; no zero follows. `context` is what
/// `windlass_record` was given.
pub type Listener =
    Option<unsafe extern "C" fn(context: *mut c_void, line: *const c_char, bytes: usize)>;

/// Who listens to a state, and with what in hand.
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

/// Hands every event that the state is told from now on to `listener`, with the facts and the answer, as a line of
/// JSON; the first line tells the parameters. To be called right after `windlass_init`, with the same facts. The lines are
/// a recording that `windlass twin --recorded` replays; `about` names the host there, and `name` what the connection
/// crosses. Without a listener (null) the recording ends. Lines take memory of the heap while they are handed over.
/// Libraries for firmware lack this function.
///
/// # Safety
///
/// The handles were made by `windlass_init` and `windlass_params_init`; `name` and `about` end with a zero; `listener` can
/// be called with `context` as long as the state is told anything.
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

/// Tells whoever listens.
pub(crate) fn note(state: &FlowState, params: &AnyParams, conn: &Conn, event: &Event) {
    state.recorder.take(|| recording::line(event, conn, state.body.control(params, conn)));
}
