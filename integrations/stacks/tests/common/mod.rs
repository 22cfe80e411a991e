//! Checks for optional programs. `check` reports skipped tests.

use windlass_stacks::lwip;

/// True if lwIP is available. Otherwise the test is reported as skipped, or fails if tests may not
/// be skipped.
#[allow(dead_code)]
pub fn lwip_or_skip() -> bool {
    let definitions: Vec<String> = lwip::LARGE.iter().map(ToString::to_string).collect();
    match lwip::library(&definitions) {
        Ok(_) => true,
        Err(why) => skipped(&why),
    }
}

/// Reports a skipped test.
pub fn skipped(why: &str) -> bool {
    assert!(std::env::var_os("WINDLASS_NO_SKIPS").is_none(), "{why}");
    assert!(!why.contains("lwip/build fails"), "{why}");
    eprintln!("\n*** SKIPPED: {why} ***\n");
    false
}
