//! The events of a connection, and the algorithm's answer.

use windlass_cc::group::PathView;
use windlass_cc::{
    Ack, AnyController, AnyParams, Conn, Control, CrossLayer, Event, Group, Loss, Phase, Span, Undo,
};

use crate::memory::{FlowState, ParamSet, changed, reach, shared, write};
use crate::{Status, WINDLASS_MAX_PATHS};

/// The two handles of a call and the connection's values.
type Call<'a> = (&'a mut FlowState, &'a AnyParams, &'a Conn);

pub(crate) unsafe fn call<'a>(
    state: *mut FlowState,
    params: *const ParamSet,
    conn: *const Conn,
) -> Result<Call<'a>, Status> {
    let (state, params) = unsafe { (changed(state)?, shared(params)?) };
    if !core::ptr::eq(state.body.info(), params.body.info()) {
        return Err(Status::WrongAlgorithm);
    }
    Ok((state, &params.body, unsafe { shared(conn)? }))
}

/// Gives an event to the algorithm and to the recorder.
unsafe fn tell(
    state: *mut FlowState,
    params: *const ParamSet,
    conn: *const Conn,
    event: &Event,
) -> Result<(), Status> {
    let (state, params, conn) = unsafe { call(state, params, conn)? };
    state.body.apply(params, conn, event);
    #[cfg(any(unix, windows))]
    crate::recording::note(state, params, conn, event);
    Ok(())
}

fn phase(number: u32) -> Result<Phase, Status> {
    match number {
        0 => Ok(Phase::Open),
        1 => Ok(Phase::Recovery),
        2 => Ok(Phase::Loss),
        3 => Ok(Phase::Cwr),
        _ => Err(Status::BadValue),
    }
}

/// Bytes that `windlass_init` writes.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_state_size() -> usize {
    size_of::<FlowState>()
}

/// Sets the values of a connection with this segment size (bytes). Other values are unknown.
///
/// # Safety
///
/// A `windlass_conn` can be written to `to`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_conn_init(to: *mut Conn, mss: u32) -> Status {
    if mss == 0 {
        return Status::OutOfRange;
    }
    unsafe { write(to, Conn::new(mss)) }.into()
}

/// Sets an acknowledgement of `bytes` bytes in order, without samples.
///
/// # Safety
///
/// A `windlass_ack` can be written to `to`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_ack_init(to: *mut Ack, bytes: u64) -> Status {
    unsafe { write(to, Ack::of(bytes)) }.into()
}

/// Makes the state of a new connection in `room` bytes of the caller's memory.
///
/// # Safety
///
/// `room` bytes can be written to `to`; `params` was made by `windlass_params_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_init(
    to: *mut FlowState,
    room: usize,
    params: *const ParamSet,
    conn: *const Conn,
) -> Status {
    let init = || {
        reach(to)?;
        if room < size_of::<FlowState>() {
            return Err(Status::TooSmall);
        }
        let (params, conn) = unsafe { (&shared(params)?.body, shared(conn)?) };
        unsafe { write(to, FlowState::new(AnyController::init(params, conn))) }
    };
    init().into()
}

/// Returns the algorithm's present answer for the connection. Changes nothing.
///
/// # Safety
///
/// The handles were made by `windlass_init` and `windlass_params_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_control(
    state: *const FlowState,
    params: *const ParamSet,
    conn: *const Conn,
    to: *mut Control,
) -> Status {
    let ask = || {
        let (state, params) = unsafe { (shared(state)?, shared(params)?) };
        if !core::ptr::eq(state.body.info(), params.body.info()) {
            return Err(Status::WrongAlgorithm);
        }
        let answer = state.body.control(&params.body, unsafe { shared(conn)? });
        unsafe { write(to, answer) }
    };
    ask().into()
}

/// An acknowledgement arrived, including duplicates, in the phase `conn->phase`.
///
/// For one incoming segment the order is: `windlass_on_loss` for each segment considered lost, `windlass_on_undo`,
/// `windlass_on_ack`, `windlass_on_phase` if it changes the phase, then `windlass_control`.
///
/// # Safety
///
/// The handles were made by `windlass_init` and `windlass_params_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_ack(
    state: *mut FlowState,
    params: *const ParamSet,
    conn: *const Conn,
    ack: *const Ack,
) -> Status {
    let tell = || unsafe { tell(state, params, conn, &Event::Ack(*shared(ack)?)) };
    tell().into()
}

/// The host's loss recovery moved from one `windlass_phase` to another. `conn->phase` is the new phase, and
/// `conn->flight_size` is still the flight when the loss was found. From `WINDLASS_PHASE_LOSS` to itself is a repeated
/// timeout.
///
/// # Safety
///
/// The handles were made by `windlass_init` and `windlass_params_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_phase(
    state: *mut FlowState,
    params: *const ParamSet,
    conn: *const Conn,
    from: u32,
    to: u32,
) -> Status {
    let tell = || {
        let event = Event::Phase { from: phase(from)?, to: phase(to)? };
        unsafe { tell(state, params, conn, &event) }
    };
    tell().into()
}

/// A segment is considered lost.
///
/// # Safety
///
/// The handles were made by `windlass_init` and `windlass_params_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_loss(
    state: *mut FlowState,
    params: *const ParamSet,
    conn: *const Conn,
    loss: *const Loss,
) -> Status {
    let tell = || unsafe { tell(state, params, conn, &Event::Loss(*shared(loss)?)) };
    tell().into()
}

/// The loss or timeout for which cwnd was last reduced was spurious, according to duplicate SACKs (0, RFC 3708),
/// timestamps (1, RFC 3522) or F-RTO (2, RFC 5682).
///
/// # Safety
///
/// The handles were made by `windlass_init` and `windlass_params_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_undo(
    state: *mut FlowState,
    params: *const ParamSet,
    conn: *const Conn,
    why: u32,
) -> Status {
    let tell = || {
        let why = match why {
            0 => Undo::Dsack,
            1 => Undo::Eifel,
            2 => Undo::Frto,
            _ => return Err(Status::BadValue),
        };
        unsafe { tell(state, params, conn, &Event::Undo(why)) }
    };
    tell().into()
}

/// The first transmission after `gap` nanoseconds without data to send or in flight. With `reset` cwnd is reduced to
/// the restart window (RFC 5681 section 4.1).
///
/// # Safety
///
/// The handles were made by `windlass_init` and `windlass_params_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_idle_restart(
    state: *mut FlowState,
    params: *const ParamSet,
    conn: *const Conn,
    gap: u64,
    reset: u32,
) -> Status {
    let event = Event::IdleRestart { gap: Span(gap), reset: reset != 0 };
    unsafe { tell(state, params, conn, &event) }.into()
}

/// The segment size changed from `old` bytes to `conn->mss`.
///
/// # Safety
///
/// The handles were made by `windlass_init` and `windlass_params_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_mss(
    state: *mut FlowState,
    params: *const ParamSet,
    conn: *const Conn,
    old: u32,
) -> Status {
    unsafe { tell(state, params, conn, &Event::Mss(old)) }.into()
}

/// All paths of a connection and the index of this path, before each acknowledgement. Algorithms that couple paths
/// need this call, also for a single path.
///
/// # Safety
///
/// The handles were made by `windlass_init` and `windlass_params_init`; `count` paths can be read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_group(
    state: *mut FlowState,
    params: *const ParamSet,
    conn: *const Conn,
    paths: *const PathView,
    count: usize,
    own: usize,
) -> Status {
    let tell = || {
        if own >= count || count > WINDLASS_MAX_PATHS {
            return Err(Status::OutOfRange);
        }
        reach(paths)?;
        for place in 0..count {
            unsafe { shared(paths.add(place))? };
        }
        let paths = unsafe { core::slice::from_raw_parts(paths, count) };
        let group = Group::new(paths.iter().copied()).seen_from(own, 0);
        unsafe { tell(state, params, conn, &Event::Group(group)) }
    };
    tell().into()
}

/// The value for the `windlass_path.disclosed` of the path's siblings.
///
/// # Safety
///
/// The state was made by `windlass_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_disclosed(state: *const FlowState, to: *mut u64) -> Status {
    let ask = || unsafe { write(to, shared(state)?.body.disclosed()) };
    ask().into()
}

/// Data of the node's lower layers, before the acknowledgement that carries it.
///
/// # Safety
///
/// The handles were made by `windlass_init` and `windlass_params_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_on_cross_layer(
    state: *mut FlowState,
    params: *const ParamSet,
    conn: *const Conn,
    layers: *const CrossLayer,
) -> Status {
    let tell = || unsafe { tell(state, params, conn, &Event::CrossLayer(*shared(layers)?)) };
    tell().into()
}
