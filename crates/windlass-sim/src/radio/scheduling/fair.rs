//! Proportional fairness: equations 2 and 3 of Parween and Hussain's *Cross-Layer based TCP
//! Performance Enhancement in IoT Networks*, which are the usual rule.

/// Throughput averages of users that share a server slot by slot.
///
/// In each slot the user is served for which `SR / ((W - 1)·T + given)` is largest: its rate of
/// service over `W - 1` times its average throughput and what it was given in this slot already.
/// With equal and constant rates this is a round robin.
#[derive(Clone, Debug)]
pub struct ProportionalFair {
    window: f64,
    averages: Vec<f64>,
}

impl ProportionalFair {
    /// No users yet; averages are over a window of so many slots, at least two.
    pub fn new(window: u32) -> ProportionalFair {
        ProportionalFair { window: f64::from(window.max(2)), averages: Vec::new() }
    }

    /// Adds a user that was never served and returns its number.
    pub fn add(&mut self) -> usize {
        self.averages.push(0.0);
        self.averages.len() - 1
    }

    /// Average throughput of a user, in the unit of the rates that [`end_slot`](Self::end_slot) was
    /// told.
    pub fn average(&self, user: usize) -> f64 {
        self.averages.get(user).copied().unwrap_or(0.0)
    }

    /// What equation 2 takes the largest of, for a user that could be served at `rate` and has got
    /// `given` in this slot already. Infinite for a user that never got anything; `rate` is above
    /// zero.
    pub fn priority(&self, user: usize, rate: f64, given: f64) -> f64 {
        rate / ((self.window - 1.0) * self.average(user) + given)
    }

    /// A slot is over in which `served` had a throughput (equation 3). The averages of all others
    /// fade.
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

    /// Serves `slots` slots at constant rates; who was served.
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
    fn two_slots_by_hand() {
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
        // 8/(3 · 1.5) = 2/(3 · 0.375) only once B has faded: 16/9 against 4/3.
        assert_eq!(fair.priority(a, 8.0, 0.0), 8.0 / 4.5);
        assert_eq!(fair.priority(b, 2.0, 0.0), 2.0 / 1.5);
        // What A got in this slot counts against it: 8/(4.5 + 8) < 4/3.
        assert!(fair.priority(a, 8.0, 8.0) < fair.priority(b, 2.0, 0.0));
        fair.end_slot(a, 8.0);
        assert_eq!((fair.average(a), fair.average(b)), (3.125, 0.375));
        // 8/9.375 against 2/1.125: B.
        assert!(fair.priority(b, 2.0, 0.0) > fair.priority(a, 8.0, 0.0));
    }

    #[test]
    fn users_of_constant_rates_get_equal_numbers_of_slots_whatever_their_rates() {
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

    /// The rule's purpose: whose rate varies is served while it is high.
    #[test]
    fn a_user_whose_rate_comes_and_goes_is_served_when_it_is_high() {
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
