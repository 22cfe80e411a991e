//! C entry points to the retransmission timers, chosen at run time by the parameters.

use windlass_cc::Time;
use windlass_cc::rto::{AnyParams, AnyRto, RttSample};

/// Writes the state of a new connection.
#[unsafe(no_mangle)]
unsafe extern "C" fn windlass_rto_init(s: *mut AnyRto, p: *const AnyParams) {
    unsafe { s.write(AnyRto::init(&*p)) }
}

/// A round-trip sample.
#[unsafe(no_mangle)]
unsafe extern "C" fn windlass_rto_on_sample(
    s: *mut AnyRto,
    p: *const AnyParams,
    sample: *const RttSample,
) {
    unsafe { (*s).on_sample(&*p, &*sample) }
}

/// New data was acknowledged.
#[unsafe(no_mangle)]
unsafe extern "C" fn windlass_rto_on_progress(s: *mut AnyRto, p: *const AnyParams) {
    unsafe { (*s).on_progress(&*p) }
}

/// The timer expired.
#[unsafe(no_mangle)]
unsafe extern "C" fn windlass_rto_on_timeout(s: *mut AnyRto, p: *const AnyParams) {
    unsafe { (*s).on_timeout(&*p) }
}

/// The timeout to set the timer to, nanoseconds.
#[unsafe(no_mangle)]
unsafe extern "C" fn windlass_rto_arm(
    s: *mut AnyRto,
    p: *const AnyParams,
    now: u64,
    entropy: u32,
) -> u64 {
    unsafe { (*s).arm(&*p, Time(now), entropy).0 }
}
