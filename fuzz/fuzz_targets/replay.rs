//! Any text as a recording for `windlass replay`: it is refused with an error that names its line, or it is read, written and read
//! again, and can be replayed.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use windlass_conform::check::{CheckError, check_text};
use windlass_conform::recording;

fuzz_target!(|text: &str| {
    let path = Path::new("fuzzed.jsonl");
    let recording = match recording::read(path, text) {
        Ok(recording) => recording,
        Err(error) => {
            if let CheckError::Format { line, .. } = &error {
                assert!(*line >= 1 && *line <= text.lines().count().max(1));
            }
            assert!(error.to_string().contains("fuzzed.jsonl"), "{error}");
            return;
        }
    };
    check_text(path, text).expect("a recording that can be read can be replayed");
    let (conn, answer) = recording.first;
    let mut again =
        recording::header(&recording.params, &recording.case, &recording.about, &conn, answer);
    for (event, conn, answer) in &recording.events {
        again.push('\n');
        again.push_str(&recording::line(event, conn, *answer));
    }
    assert_eq!(recording::read(path, &again).expect("a written recording can be read"), recording);
});
