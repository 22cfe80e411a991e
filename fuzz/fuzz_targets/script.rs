//! Any text as a packet script: it is refused with an error that can be shown at its place, or it is
//! read and can be played against our endpoint, whatever it says.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_interop::script::{Script, VirtualTime, World, play};

fuzz_target!(|text: &str| {
    match Script::parse(text, "fuzzed.script") {
        Err(error) => {
            let shown = error.to_string();
            assert!(shown.starts_with("fuzzed.script:") && !shown.is_empty());
            assert!(error.line >= 1 && error.column >= 1);
            assert!(text.get(error.span.clone()).is_some(), "{:?} in {text:?}", error.span);
        }
        Ok(script) => {
            let mut endpoint = VirtualTime::new(&script.settings);
            let _ = play(&script, World::Sim, &mut endpoint);
        }
    }
});
