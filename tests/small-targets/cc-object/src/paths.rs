//! Entry points to the decisions of a connection with several paths. Not for BPF, whose stack cannot hold a
//! coordinator; what siblings know of each other is each algorithm's `_on_group`.

use windlass_cc::{AnyParams, Coordinator, PathEvent, Time};

/// The event of a number; any other number is segments sent for the first time.
fn event(number: u32, segments: u32) -> PathEvent {
    match number {
        0 => PathEvent::FastRetransmit,
        1 => PathEvent::Timeout,
        2 => PathEvent::Retransmitted(segments),
        _ => PathEvent::Sent(segments),
    }
}

/// See [`AnyParams::coordinator`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_any_coordinator_new(
    to: *mut Coordinator,
    p: *const AnyParams,
    now: u64,
) {
    unsafe { to.write((*p).coordinator(Time(now))) }
}

/// See [`Coordinator::on_event`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_any_coordinator_on_event(
    s: *mut Coordinator,
    now: u64,
    place: usize,
    number: u32,
    segments: u32,
) {
    unsafe { (*s).on_event(Time(now), place, event(number, segments)) }
}

/// See [`Coordinator::advance`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_any_coordinator_advance(s: *mut Coordinator, now: u64) -> bool {
    unsafe { (*s).advance(Time(now)) }
}

/// See [`Coordinator::mode`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_any_coordinator_mode(s: *const Coordinator, place: usize) -> u8 {
    unsafe { (*s).mode(place) }
}
