//! Proportional fairness: equations 2 and 3 of Parween and Hussain's *Cross-Layer based TCP Performance
//! Enhancement in IoT Networks*, which are the usual rule.

/// Throughput averages of users that share a server slot by slot.
///
/// Each slot serves the user with the largest `SR / ((W - 1)·T + given)`. `SR` is the user's rate of service,
/// `T` its average throughput, and `given` its service in this slot so far. With equal and constant rates,
/// this is round robin.
#[derive(Clone, Debug)]
pub struct ProportionalFair {
    window: f64,
    averages: Vec<f64>,
}

impl ProportionalFair {
    /// Returns a scheduler without users. Averages are over a window of `window` slots, at least two.
    pub fn new(window: u32) -> ProportionalFair {
        ProportionalFair { window: f64::from(window.max(2)), averages: Vec::new() }
    }

    /// Adds a user that has not been served, and returns its number.
    pub fn add(&mut self) -> usize {
        self.averages.push(0.0);
        self.averages.len() - 1
    }

    /// Average throughput of a user, in the unit of the rates given to [`end_slot`](Self::end_slot).
    pub fn average(&self, user: usize) -> f64 {
        self.averages.get(user).copied().unwrap_or(0.0)
    }

    /// Value that equation 2 maximises, for a user that could be served at `rate` and has received `given` in
    /// this slot. Infinite for a user that has never been served; `rate` is above zero.
    pub fn priority(&self, user: usize, rate: f64, given: f64) -> f64 {
        rate / ((self.window - 1.0) * self.average(user) + given)
    }

    /// Ends a slot in which `served` had this throughput (equation 3). The averages of all other users
    /// decrease.
    pub fn end_slot(&mut self, served: usize, throughput: f64) {
        let share = 1.0 / self.window;
        for (user, average) in self.averages.iter_mut().enumerate() {
            let got = if user == served { throughput } else { 0.0 };
            *average = (1.0 - share) * *average + share * got;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Serves `slots` slots at constant rates. Returns the users that were served.
    fn served(window: u32, rates: &[f64], slots: usize) -> Vec<usize> {
        let mut fair = ProportionalFair::new(window);
        rates.iter().for_each(|_| {
            fair.add();
        });
        let mut slot = || {
            let priority = |user: usize| fair.priority(user, rates[user], 0.0);
            let best =
                (0..rates.len()).fold(0, |a, b| if priority(b) > priority(a) { b } else { a });
            fair.end_slot(best, rates[best]);
            best
        };
        (0..slots).map(|_| slot()).collect()
    }

    #[test]
    fn priorities_and_averages_match_a_calculation_by_hand() {
        // W = 4; A can be served at 8, B at 2.
        let mut fair = ProportionalFair::new(4);
        let (a, b) = (fair.add(), fair.add());
        assert_eq!(fair.priority(a, 8.0, 0.0), f64::INFINITY);
        fair.end_slot(a, 8.0);
        assert_eq!((fair.average(a), fair.average(b)), (2.0, 0.0));
        assert_eq!(fair.priority(a, 8.0, 0.0), 8.0 / 6.0);
        assert_eq!(fair.priority(b, 2.0, 0.0), f64::INFINITY);
        fair.end_slot(b, 2.0);
        assert_eq!((fair.average(a), fair.average(b)), (1.5, 0.5));
        // 8/(3 · 1.5) = 2/(3 · 0.375) only after B's average has decreased: 16/9 and 4/3.
        assert_eq!(fair.priority(a, 8.0, 0.0), 8.0 / 4.5);
        assert_eq!(fair.priority(b, 2.0, 0.0), 2.0 / 1.5);
        // A's service in this slot reduces its priority: 8/(4.5 + 8) < 4/3.
        assert!(fair.priority(a, 8.0, 8.0) < fair.priority(b, 2.0, 0.0));
        fair.end_slot(a, 8.0);
        assert_eq!((fair.average(a), fair.average(b)), (3.125, 0.375));
        // 8/9.375 is less than 2/1.125, so B is served.
        assert!(fair.priority(b, 2.0, 0.0) > fair.priority(a, 8.0, 0.0));
    }

    #[test]
    fn users_of_constant_rates_get_equal_numbers_of_slots() {
        for (window, rates) in [
            (256, vec![1.0, 7.0]),
            (16, vec![3.0, 1.0]),
            (256, vec![5.0, 5.0]),
            (256, vec![9.0, 4.0, 1.0]),
        ] {
            let slots = 30_000;
            let all = served(window, &rates, slots);
            for user in 0..rates.len() {
                let n = all.iter().filter(|u| **u == user).count();
                let fair = slots / rates.len();
                assert!(n.abs_diff(fair) <= fair / 100, "{window} {rates:?}: {n} of {slots}");
            }
        }
    }

    #[test]
    fn with_equal_rates_users_take_turns() {
        assert_eq!(served(256, &[2.0; 3], 9), [0, 1, 2, 0, 1, 2, 0, 1, 2]);
    }

    /// Purpose of the rule: a user with a varying rate is served while its rate is high.
    #[test]
    fn a_user_with_varying_rate_is_served_while_it_is_high() {
        let mut fair = ProportionalFair::new(256);
        let (steady, varying) = (fair.add(), fair.add());
        let (mut high, mut low) = (0, 0);
        for slot in 0..20_000 {
            let rate = if slot % 10 < 5 { 9.0 } else { 1.0 };
            let wins = fair.priority(varying, rate, 0.0) > fair.priority(steady, 5.0, 0.0);
            if wins {
                fair.end_slot(varying, rate);
                if rate > 5.0 { high += 1 } else { low += 1 }
            } else {
                fair.end_slot(steady, 5.0);
            }
        }
        assert!(high > 9_000 && low < 100, "{high} {low}");
    }
}
