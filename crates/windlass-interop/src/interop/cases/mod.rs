//! The cases.

mod closing;
mod handshake;
mod losses;
mod multipath;
mod options;
mod random;
mod windows;

use super::plan::Case;

/// Returns all cases, in the order of the list.
pub fn cases() -> Vec<Case> {
    [
        handshake::cases(),
        options::cases(),
        losses::cases(),
        random::cases(),
        windows::cases(),
        closing::cases(),
        multipath::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
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
