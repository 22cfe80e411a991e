//! Classes of algorithms, by the properties that hold for them, with the reasons of the exceptions.

use windlass_cc::{ALGORITHMS, AnyParams};

/// Algorithms whose window an acknowledgement of new data may reduce outside recovery. They respond to
/// delay, a rate or marks at the measurement, or (OLIA) move window to a sibling path.
const SHRINK_ON_ACK: &[&str] = &[
    "vegas",
    "fast",
    "yeah",
    "compound",
    "ledbat",
    "dctcp",
    "prague",
    "bbr",
    "bbr3",
    "copa",
    "olia",
    "wvegas",
    "mpfast-approx",
    "mvegas",
    "mfast",
    "mfvl",
    "bc-cps",
];

/// Algorithms with at most Reno's growth: one segment for an acknowledgement that counts one segment.
/// The others grow faster by design (compensation of a long path, a polynomial in time, a fraction of
/// the window), or step by measured rates. LIA may grow faster without its cap.
const AS_RENO_AT_MOST: &[&str] = &[
    "tahoe",
    "reno",
    "newreno",
    "westwood",
    "veno",
    "balia",
    "d-lia",
    "emreno-approx",
    "cocoa3plus",
];

/// Algorithms whose threshold is half the flight (RFC 5681 equation 4).
const HALVE_THE_FLIGHT: &[&str] = &["tahoe", "reno", "newreno", "lia", "wvegas", "emreno-approx"];

/// Algorithms with a window of two segments after a timeout (Mudassir and Baig 2021, section 3.1.3).
const TWO_AFTER_TIMEOUT: &[&str] = &["mvegas", "mfvl"];

/// Algorithms that keep the window small to measure the RTT, and restore it when an idle time has shown
/// the RTT (draft-ietf-ccwg-bbr-06 section 5.4.1; Linux's BBR does the same).
const RESTORE_WHEN_IDLE: &[&str] = &["bbr", "bbr3", "bc-cps"];

fn ids(keep: impl Fn(&'static str) -> bool) -> Vec<&'static str> {
    ALGORITHMS.iter().map(|info| info.id).filter(|id| keep(id)).collect()
}

fn windowed(id: &str) -> bool {
    AnyParams::by_name(id).is_some_and(|p| p.requirements().slow_start.is_some())
}

/// Algorithms in the common frame of slow start, congestion avoidance and cuts. The others (BBR and
/// related algorithms) compute the window from a model of the path. Their window follows the estimate
/// even if it does not limit the sender. A timeout or an idle time does not reset it.
pub fn framed() -> Vec<&'static str> {
    ids(windowed)
}

/// Algorithms of [`framed`] whose window decreases only with a phase, an idle time or a new segment
/// size.
pub fn shrinking_by_phase_only() -> Vec<&'static str> {
    ids(|id| windowed(id) && !SHRINK_ON_ACK.contains(&id))
}

/// Algorithms of [`framed`] with a window of one segment after a timeout (RFC 5681 section 3.1).
pub fn one_after_timeout() -> Vec<&'static str> {
    ids(|id| windowed(id) && !TWO_AFTER_TIMEOUT.contains(&id))
}

/// All algorithms except [`RESTORE_WHEN_IDLE`].
pub fn closing_when_idle() -> Vec<&'static str> {
    ids(|id| !RESTORE_WHEN_IDLE.contains(&id))
}

/// See [`AS_RENO_AT_MOST`].
pub fn growing_as_reno_at_most() -> Vec<&'static str> {
    ids(|id| AS_RENO_AT_MOST.contains(&id))
}

/// See [`HALVE_THE_FLIGHT`].
pub fn halving_the_flight() -> Vec<&'static str> {
    ids(|id| HALVE_THE_FLIGHT.contains(&id))
}

/// Every identifier in a class.
pub fn named() -> Vec<&'static str> {
    [SHRINK_ON_ACK, AS_RENO_AT_MOST, HALVE_THE_FLIGHT, TWO_AFTER_TIMEOUT].concat()
}
