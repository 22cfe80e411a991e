//! The cases.

mod closing;
mod handshake;
mod losses;
mod multipath;
mod options;
mod random;
mod windows;

use super::plan::Case;

/// All cases, in the order in which they are listed.
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
    fn cases_have_names_of_their_own_and_algorithms_that_exist() {
        let cases = cases();
        let names: HashSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names.len(), cases.len());
        for end in cases.iter().flat_map(|case| &case.plan.ends) {
            let known = windlass_cc::AnyParams::by_name(end.algorithm);
            assert!(known.is_some() && windlass_testbed::live::algorithm(end.algorithm).is_some());
        }
    }
}
