//! What a device has room for.

use crate::Error;
use crate::scenario::Candidate;

/// The page on cost, whose table is counted by `tests/small-targets/cost`.
const COST: &str = include_str!("../../../../docs/src/inside/cost.md");

/// Room for congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Memory for the state of one connection, bytes.
    pub memory: Option<u64>,
    /// Flash for its code on a Cortex-M0, bytes.
    pub flash: Option<u64>,
}

/// What an algorithm takes, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cost {
    memory: u64,
    flash: u64,
}

impl Cost {
    /// As the page has it: name, state, instructions on a host, flash.
    fn of(id: &str) -> Option<Cost> {
        let begins = format!("| `{id}` |");
        let row = COST.lines().find(|line| line.starts_with(&begins))?;
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let number = |i: usize| cells.get(i)?.split(' ').next()?.parse().ok();
        Some(Cost { memory: number(2)?, flash: number(4)? })
    }
}

impl Device {
    /// Why it has no room for an algorithm, if it has none.
    pub(super) fn lacks(&self, id: &str) -> Option<String> {
        let Some(cost) = Cost::of(id) else {
            let asked = self.memory.is_some() || self.flash.is_some();
            return asked.then(|| "has no counted cost".to_owned());
        };
        let more = |takes: u64, has: Option<u64>| has.filter(|has| takes > *has);
        if let Some(has) = more(cost.memory, self.memory) {
            return Some(format!("keeps {} bytes a connection, and there are {has}", cost.memory));
        }
        let has = more(cost.flash, self.flash)?;
        Some(format!("has {} bytes of code, and there are {has}", cost.flash))
    }

    /// Why none of these fits, by the ones that take least.
    pub(super) fn least(&self, left_out: &[(String, String)]) -> String {
        let costs = || left_out.iter().filter_map(|(id, _)| Some((Cost::of(id)?, id)));
        let mut parts = Vec::new();
        if let Some((has, (cost, id))) =
            self.memory.zip(costs().min_by_key(|(cost, _)| cost.memory))
        {
            parts.push(format!(
                "{id} keeps the least, {} bytes a connection, and there are {has}",
                cost.memory
            ));
        }
        if let Some((has, (cost, id))) = self.flash.zip(costs().min_by_key(|(cost, _)| cost.flash))
        {
            parts.push(format!(
                "{id} has the least code, {} bytes, and there are {has}",
                cost.flash
            ));
        }
        parts.join("; ")
    }

    /// That it has room for these, which were asked for by name.
    ///
    /// # Errors
    ///
    /// The first that does not fit.
    pub fn check(&self, algorithms: &[String]) -> Result<(), Error> {
        for label in algorithms {
            let candidate = Candidate::parse(label)?;
            // Of what a kernel alone has nothing was counted, and no row bears such a name.
            let id = candidate.kernel.as_deref().map_or(candidate.controller.info().id, |_| label);
            if let Some(why) = self.lacks(id) {
                return Err(Error::Input(format!("{label} {why}")));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::candidates;
    use crate::scenario::Scenario;

    #[test]
    fn every_algorithm_has_a_cost() {
        for info in windlass_cc::ALGORITHMS {
            let cost = Cost::of(info.id);
            assert!(
                cost.is_some_and(|c| c.memory >= 40 && c.flash > 1000),
                "{}: {cost:?}",
                info.id
            );
        }
    }

    #[test]
    fn a_device_without_room_is_told_what_would_be_enough() {
        let scenario = Scenario::from_str(
            "duration = '1s'\n[[link]]\nbetween = ['a', 'b']\nrate = '1Mbps'\n[[flow]]\nfrom = 'a'\nto = 'b'\nalgorithm = 'reno'",
            "s.toml",
        );
        let scenario = scenario.expect("a scenario");
        let refused = |memory, flash| {
            let none = candidates(&scenario, &Device { memory, flash }).expect_err("no room");
            none.to_string()
        };
        assert!(refused(Some(0), None).ends_with(
            "no algorithm fits: scalable keeps the least, 48 bytes a connection, and there are 0"
        ));
        assert!(refused(None, Some(1)).contains("has the least code, "));
        assert!(candidates(&scenario, &Device { memory: Some(48), flash: None }).is_ok());
    }

    #[test]
    fn a_small_device_has_room_for_reno_and_none_for_bbr() {
        let small = Device { memory: Some(104), flash: Some(6000) };
        assert_eq!(small.lacks("reno"), None);
        assert!(small.lacks("bbr").is_some_and(|why| why.contains("264 bytes a connection")));
        let code = Cost::of("cubic").expect("it is counted").flash;
        let told = format!("{code} bytes of code");
        assert!(small.lacks("cubic").is_some_and(|why| why.contains(&told)));
        assert_eq!(Device::default().lacks("bbr3"), None);
        let error = small.check(&["reno".to_owned(), "bbr".to_owned()]).expect_err("no room");
        assert!(error.to_string().starts_with("bbr keeps"), "{error}");
        let error = small.check(&["linux:nv".to_owned()]).expect_err("nobody counted it");
        assert!(error.to_string().starts_with("linux:nv has no counted cost"), "{error}");
        assert!(Device::default().check(&["linux:nv".to_owned()]).is_ok());
    }
}
