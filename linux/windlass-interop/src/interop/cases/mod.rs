//! The cases, which are in `conformance/peers`. A guest in virtual time has no files, so they are part of the program.

mod measures;
mod read;

use super::plan::Case;

/// Names and contents of the files, in the order of the list.
const FILES: [(&str, &str); 7] = [
    ("handshake.cases", include_str!("../../../../../conformance/peers/handshake.cases")),
    ("options.cases", include_str!("../../../../../conformance/peers/options.cases")),
    ("losses.cases", include_str!("../../../../../conformance/peers/losses.cases")),
    ("random.cases", include_str!("../../../../../conformance/peers/random.cases")),
    ("windows.cases", include_str!("../../../../../conformance/peers/windows.cases")),
    ("closing.cases", include_str!("../../../../../conformance/peers/closing.cases")),
    ("multipath.cases", include_str!("../../../../../conformance/peers/multipath.cases")),
];

/// Returns all cases.
pub fn cases() -> Vec<Case> {
    let of_file = |(name, text)| read::read(text, name).unwrap_or_else(|e| panic!("{e}"));
    FILES.into_iter().flat_map(of_file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn case_names_are_unique_and_their_algorithms_exist() {
        let cases = cases();
        let names: HashSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), cases.len());
        for end in cases.iter().flat_map(|case| &case.plan.ends) {
            let known = windlass_cc::AnyParams::by_name(end.algorithm);
            assert!(known.is_some() && windlass_testbed::live::algorithm(end.algorithm).is_some());
        }
    }
}
