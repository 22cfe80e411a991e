//! Memory and flash of a device, and the algorithms that fit.

use crate::Error;
use crate::scenario::Candidate;

/// The page on cost. `tests/small-targets/cost` measures its table.
const COST: &str = include_str!("../../../../docs/src/inside/cost.md");

/// Memory and flash that a device has for congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// Memory for the state of one connection, bytes.
    pub memory: Option<u64>,
    /// Flash for the code on a Cortex-M0, bytes.
    pub flash: Option<u64>,
}

/// Memory and flash that an algorithm needs, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cost {
    memory: u64,
    flash: u64,
}

impl Cost {
    /// The cost from the page's table, whose columns are name, state, instructions on a host, and flash.
    fn of(id: &str) -> Option<Cost> {
        let begins = format!("| `{id}` |");
        let row = COST.lines().find(|line| line.starts_with(&begins))?;
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let number = |i: usize| cells.get(i)?.split(' ').next()?.parse().ok();
        Some(Cost { memory: number(2)?, flash: number(4)? })
    }
}

impl Device {
    /// The reason why an algorithm does not fit. `None` if it fits.
    pub(super) fn lacks(&self, id: &str) -> Option<String> {
        let Some(cost) = Cost::of(id) else {
            let asked = self.memory.is_some() || self.flash.is_some();
            return asked.then(|| "has no measured cost".to_owned());
        };
        let more = |takes: u64, has: Option<u64>| has.filter(|has| takes > *has);
        if let Some(has) = more(cost.memory, self.memory) {
            return Some(format!("needs {} bytes per connection; the limit is {has}", cost.memory));
        }
        let has = more(cost.flash, self.flash)?;
        Some(format!("needs {} bytes of flash; the limit is {has}", cost.flash))
    }

    /// The smallest requirements of algorithms that do not fit, with the limits.
    pub(super) fn least(&self, left_out: &[(String, String)]) -> String {
        let costs = || left_out.iter().filter_map(|(id, _)| Some((Cost::of(id)?, id)));
        let mut parts = Vec::new();
        if let Some((has, (cost, id))) =
            self.memory.zip(costs().min_by_key(|(cost, _)| cost.memory))
        {
            parts.push(format!(
                "{id} has the smallest state with {} bytes per connection; the limit is {has}",
                cost.memory
            ));
        }
        if let Some((has, (cost, id))) = self.flash.zip(costs().min_by_key(|(cost, _)| cost.flash))
        {
            parts.push(format!(
                "{id} has the smallest code with {} bytes of flash; the limit is {has}",
                cost.flash
            ));
        }
        parts.join("; ")
    }

    /// Checks that the named algorithms fit.
    ///
    /// # Errors
    ///
    /// The first algorithm that does not fit.
    pub fn check(&self, algorithms: &[String]) -> Result<(), Error> {
        for label in algorithms {
            let candidate = Candidate::parse(label)?;
            // The table has no row for an algorithm that only a kernel has, so that its label is not found.
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
    fn the_error_for_a_small_device_gives_the_smallest_requirement() {
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
            "no algorithm fits: scalable has the smallest state with 48 bytes per connection; the limit is 0"
        ));
        assert!(refused(None, Some(1)).contains("has the smallest code with "));
        assert!(candidates(&scenario, &Device { memory: Some(48), flash: None }).is_ok());
    }

    #[test]
    fn reno_fits_on_a_small_device_and_bbr_does_not() {
        let small = Device { memory: Some(104), flash: Some(6000) };
        assert_eq!(small.lacks("reno"), None);
        assert!(small.lacks("bbr").is_some_and(|why| why.contains("264 bytes per connection")));
        let code = Cost::of("cubic").expect("it is counted").flash;
        let told = format!("{code} bytes of flash");
        assert!(small.lacks("cubic").is_some_and(|why| why.contains(&told)));
        assert_eq!(Device::default().lacks("bbr3"), None);
        let error = small.check(&["reno".to_owned(), "bbr".to_owned()]).expect_err("no room");
        assert!(error.to_string().starts_with("bbr needs"), "{error}");
        let error = small.check(&["linux:nv".to_owned()]).expect_err("not in the table");
        assert!(error.to_string().starts_with("linux:nv has no measured cost"), "{error}");
        assert!(Device::default().check(&["linux:nv".to_owned()]).is_ok());
    }
}
