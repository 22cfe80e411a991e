//! Any history to any algorithm with any parameters: no panic, the window in its range, answers that
//! do not depend on being asked, on replay or on where clocks and counts begin.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_conform::bytes::{check, decode};

fuzz_target!(|bytes: &[u8]| {
    let history = decode(bytes);
    if let Err(e) = check(&history) {
        panic!("{}: {e}", history.params.info().id);
    }
});
