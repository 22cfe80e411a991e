//! Histories as bytes, and the properties of all histories.

use std::path::Path;

use proptest::prelude::*;
use windlass_conform::bytes::{check, decode, encode};
use windlass_conform::check::history;
use windlass_conform::vectors;

#[test]
fn every_vector_reads_back_from_its_bytes_and_keeps_the_invariants() {
    let mut count = 0;
    for file in vectors() {
        let history = history(Path::new(&file.path), &file.text).unwrap();
        assert!(history.steps.len() > 20, "{}", file.path);
        assert_eq!(decode(&encode(&history)), history, "{}", file.path);
        check(&history).unwrap_or_else(|e| panic!("{}: {e}", file.path));
        count += 1;
    }
    assert!(count > 100);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_bytes_are_a_history_that_keeps_the_invariants(
        bytes in prop::collection::vec(any::<u8>(), 0..4_000),
    ) {
        let history = decode(&bytes);
        prop_assert_eq!(check(&history), Ok(()));
        prop_assert_eq!(decode(&encode(&history)), history);
    }
}
