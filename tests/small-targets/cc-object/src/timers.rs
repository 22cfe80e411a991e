//! C entry points to the retransmission timers, chosen at run time by the parameters, and the samples with which
//! their cost is counted.

use core::mem::MaybeUninit;

use windlass_cc::rto::cmbo::{Draws, Solver};
use windlass_cc::rto::{
    AnyParams, AnyRto, Cmbo, Cocoa, Fasor, Icc, Linux, Peakhopper, Rfc6298, RttSample, Uip,
};
use windlass_cc::{Span, Time};

use crate::connection::{Meter, Stage};

/// Samples of one life.
pub const SAMPLES: u32 = 600;
/// Samples in a round trip.
const ROUND: u64 = 10;

/// A timer whose cost is counted.
pub struct Life {
    /// Name in the table.
    pub id: &'static str,
    /// Identifier of the timer.
    timer: &'static str,
    /// Every sample ends a round trip.
    short_rounds: bool,
    /// CoCoA3+'s timer with the exact minimiser.
    exact: bool,
    /// Bytes of state of one connection.
    pub state_bytes: usize,
}

const fn life(id: &'static str, state_bytes: usize) -> Life {
    Life { id, timer: id, short_rounds: false, exact: false, state_bytes }
}

const CMBO: Life = life("cmbo", size_of::<Cmbo>());

/// The timers, CoCoA3+'s three times: as it runs, and with a search at every sample.
pub static LIVES: &[Life] = &[
    life("rfc6298", size_of::<Rfc6298>()),
    life("linux", size_of::<Linux>()),
    life("cocoa", size_of::<Cocoa>()),
    life("cocoa+", size_of::<Cocoa>()),
    life("fasor", size_of::<Fasor>()),
    life("peakhopper", size_of::<Peakhopper>()),
    life("uip", size_of::<Uip>()),
    life("icc", size_of::<Icc>()),
    CMBO,
    Life { id: "cmbo-search", short_rounds: true, ..CMBO },
    Life { id: "cmbo-exact", short_rounds: true, exact: true, ..CMBO },
];

impl Life {
    /// Shows the timer round-trip times between 50 and 150 ms, a segment in fifty sent again.
    pub fn run(&self, meter: &mut impl Meter) {
        let Some(mut params) = AnyParams::by_name(self.timer) else { return };
        if let AnyParams::Cmbo(p) = &mut params {
            p.solver = if self.exact { Solver::Exact } else { Solver::Cmbo };
        }
        let mut state = MaybeUninit::<AnyRto>::uninit();
        unsafe { windlass_rto_init(state.as_mut_ptr(), &params) };
        let mut draws = Draws::new(1);
        for n in 1..=u64::from(SAMPLES) {
            let una = 1000 * n;
            let sample = RttSample {
                rtt: Span(50_000_000 + u64::from(draws.next() % 100_000_000)),
                retransmits: 0,
                now: Time(10_000_000 * n),
                una,
                next_id: if self.short_rounds { una } else { una + 1000 * ROUND },
                sent: n,
                resent: n / 50,
            };
            meter.start();
            unsafe { windlass_rto_on_sample(state.as_mut_ptr(), &params, &sample) };
            meter.stop(Stage::Avoidance);
        }
    }
}

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
