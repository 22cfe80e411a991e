//! What tests do without on a machine that lacks it: `check` says that it was skipped.

use windlass_stacks::lwip;

/// Whether lwIP can be had; if not, it is said, and a failure where nothing may be skipped.
#[allow(dead_code)]
pub fn lwip_or_skip() -> bool {
    let definitions: Vec<String> = lwip::LARGE.iter().map(ToString::to_string).collect();
    match lwip::library(&definitions) {
        Ok(_) => true,
        Err(why) => skipped(&why),
    }
}

/// Says that something was not tested.
pub fn skipped(why: &str) -> bool {
    assert!(std::env::var_os("WINDLASS_NO_SKIPS").is_none(), "{why}");
    assert!(!why.contains("lwip/build fails"), "{why}");
    eprintln!("\n*** SKIPPED: {why} ***\n");
    false
}
