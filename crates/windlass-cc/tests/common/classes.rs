//! Which properties hold of which algorithms, and why not of all.

use windlass_cc::{ALGORITHMS, AnyParams};

/// Algorithms whose window an acknowledgement of new data may shrink outside recovery: they answer
/// delay, a rate or marks as soon as they measure them, or (OLIA) give window to a sibling path.
const SHRINK_ON_ACK: &[&str] = &[
    "vegas",
    "fast",
    "yeah",
    "compound",
    "ledbat",
    "dctcp",
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

/// Algorithms that grow like Reno at most: a segment's worth for an acknowledgement that counts for
/// one. The others grow faster by design (a long path's compensation, a polynomial in time, a
/// fraction of the window), or step by measured rates; LIA may without its cap.
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

/// Algorithms that a timeout leaves two segments (Mudassir and Baig 2021, section 3.1.3).
const TWO_AFTER_TIMEOUT: &[&str] = &["mvegas", "mfvl"];

/// Algorithms that hold the window small to see the round-trip time, and give it back when an idle
/// time has shown it (draft-ietf-ccwg-bbr-06 section 5.4.1; Linux's BBR does the same).
const RESTORE_WHEN_IDLE: &[&str] = &["bbr", "bbr3", "bc-cps"];

fn ids(keep: impl Fn(&'static str) -> bool) -> Vec<&'static str> {
    ALGORITHMS.iter().map(|info| info.id).filter(|id| keep(id)).collect()
}

fn windowed(id: &str) -> bool {
    AnyParams::by_name(id).is_some_and(|p| p.requirements().slow_start.is_some())
}

/// Slow start, growth and cuts in the frame that all loss-based algorithms share. The others (BBR
/// and its kin) compute the window from a model of the path: it follows the estimate whether or
/// not the window limits the sender, and a timeout or an idle time does not reset it.
pub fn framed() -> Vec<&'static str> {
    ids(windowed)
}

/// Of [`framed`], those whose window falls only with a phase, an idle time or a segment size.
pub fn shrinking_by_phase_only() -> Vec<&'static str> {
    ids(|id| windowed(id) && !SHRINK_ON_ACK.contains(&id))
}

/// Of [`framed`], those that a timeout leaves one segment (RFC 5681 section 3.1).
pub fn one_after_timeout() -> Vec<&'static str> {
    ids(|id| windowed(id) && !TWO_AFTER_TIMEOUT.contains(&id))
}

/// All but [`RESTORE_WHEN_IDLE`].
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

/// Every identifier that a class names.
pub fn named() -> Vec<&'static str> {
    [SHRINK_ON_ACK, AS_RENO_AT_MOST, HALVE_THE_FLIGHT, TWO_AFTER_TIMEOUT].concat()
}
