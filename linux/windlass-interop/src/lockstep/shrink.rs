//! Smaller cases with the same first difference.

use super::case::{Case, Deed, Options, Receiver};

/// Looks for a smaller case that still differs in the same way, as `same` decides. `same` is called at
/// most `tries` times.
pub fn shrink(case: &Case, tries: u32, same: &mut dyn FnMut(&Case) -> bool) -> Case {
    let mut best = case.clone();
    let mut left = tries;
    loop {
        let mut found = false;
        let mut number = 0;
        // After a success the list is made from the smaller case, and the search resumes at the same place.
        while let Some(candidate) = candidates(&best).into_iter().nth(number) {
            if left == 0 {
                return best;
            }
            left -= 1;
            if same(&candidate) {
                (best, found) = (candidate, true);
            } else {
                number += 1;
            }
        }
        if !found {
            return best;
        }
    }
}

/// Cases that are simpler than this one in one respect, the greatest steps first. Each is simpler, so
/// that shrinking ends.
fn candidates(case: &Case) -> Vec<Case> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut Case)| {
        let mut candidate = case.clone();
        change(&mut candidate);
        if candidate != *case {
            all.push(candidate);
        }
    };
    add(&|c| c.fates.clear());
    add(&|c| c.ack_fates.clear());
    add(&|c| c.acts.truncate(c.acts.len() / 2));
    add(&|c| c.sends.truncate(c.sends.len() / 2));
    add(&|c| c.fin = None);
    add(&|c| c.answers.clear());
    add(&|c| c.options = Options::plain());
    add(&|c| c.receiver = plain_receiver());
    for change in [
        |c: &mut Case| c.lost_syns = 0,
        |c: &mut Case| c.active = false,
        |c: &mut Case| c.spacing = 0,
        |c: &mut Case| c.rtt = 100,
        |c: &mut Case| c.reads_at_once = true,
    ] {
        add(&change);
    }
    plainer_options(&mut add);
    plainer_receiver(&mut add);
    for i in (0..case.acts.len()).rev() {
        add(&|c| {
            let gone = c.acts.remove(i);
            if let Some(next) = c.acts.get_mut(i) {
                next.after += gone.after;
            }
        });
    }
    for i in (0..case.sends.len()).rev() {
        add(&|c| remove_send(c, i));
    }
    for i in (0..case.answers.len()).rev() {
        add(&|c| {
            c.answers.remove(i);
        });
    }
    for i in (0..case.fates.len()).rev() {
        add(&|c| {
            c.fates.remove(i);
        });
    }
    for i in (0..case.ack_fates.len()).rev() {
        add(&|c| {
            c.ack_fates.remove(i);
        });
    }
    smaller_numbers(case, &mut add);
    all
}

fn plain_receiver() -> Receiver {
    Receiver { every: 1, delay: 40, window: 64_512, dsack: true, stalls: Vec::new() }
}

/// Takes a change that makes a case simpler.
type Adder<'a> = dyn FnMut(&dyn Fn(&mut Case)) + 'a;

fn plainer_options(add: &mut Adder<'_>) {
    let plain = Options::plain();
    add(&|c| c.options.algorithm.clone_from(&plain.algorithm));
    add(&|c| c.options.timestamps = plain.timestamps);
    add(&|c| c.options.ecn = plain.ecn);
    add(&|c| c.options.sack = plain.sack);
    add(&|c| c.options.nagle = plain.nagle);
    add(&|c| c.options.window_scaling = plain.window_scaling);
    add(&|c| c.options.initial_window = plain.initial_window);
    add(&|c| c.options.mss = plain.mss);
}

fn plainer_receiver(add: &mut Adder<'_>) {
    let plain = plain_receiver();
    add(&|c| c.receiver.stalls.clear());
    add(&|c| c.receiver.window = plain.window);
    add(&|c| c.receiver.dsack = plain.dsack);
    add(&|c| c.receiver.delay = plain.delay);
    add(&|c| c.receiver.every = plain.every);
}

/// Takes a segment out of the peer's data, and the gap that this leaves.
fn remove_send(case: &mut Case, i: usize) {
    let gone = case.sends.remove(i);
    if let Some(next) = case.sends.get_mut(i) {
        next.after += gone.after;
    }
    if case.sends.iter().any(|send| send.at == gone.at) {
        return;
    }
    for send in case.sends.iter_mut().filter(|send| send.at > gone.at) {
        send.at -= gone.len;
    }
    for answer in case.answers.iter_mut().filter(|answer| answer.0 > gone.at) {
        answer.0 = answer.0.saturating_sub(gone.len);
    }
}

fn smaller_numbers(case: &Case, add: &mut Adder<'_>) {
    let mss = u32::from(case.options.mss);
    for i in 0..case.acts.len() {
        if let Deed::Write(bytes) = case.acts[i].deed {
            for fewer in [bytes / 2, bytes / mss * mss, bytes / 100 * 100] {
                if (1..bytes).contains(&fewer) {
                    add(&|c| c.acts[i].deed = Deed::Write(fewer));
                }
            }
        }
        for sooner in [0, case.acts[i].after / 100 * 100] {
            add(&|c| c.acts[i].after = sooner.min(c.acts[i].after));
        }
    }
    for i in 0..case.sends.len() {
        add(&|c| c.sends[i].marked = false);
        add(&|c| c.sends[i].after = 0);
    }
    for i in 0..case.answers.len() {
        let fewer = case.answers[i].1 / 100 * 100;
        if fewer > 0 {
            add(&|c| c.answers[i].1 = fewer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shrink_removes_all_that_the_difference_does_not_need() {
        for seed in 1..60 {
            let case = Case::draw(seed);
            let writes = |c: &Case| c.acts.iter().any(|act| matches!(act.deed, Deed::Write(_)));
            if !writes(&case) {
                continue;
            }
            let small = shrink(&case, 10_000, &mut |c| writes(c));
            assert_eq!(small.acts.len(), 1, "seed {seed}");
            assert!(small.fates.is_empty() && small.sends.is_empty() && small.fin.is_none());
            assert_eq!((small.options, small.rtt), (Options::plain(), 100));
        }
    }

    #[test]
    fn shrink_ends_after_the_given_number_of_tries() {
        let mut asked = 0;
        let case = Case::draw(3);
        let same = shrink(&case, 7, &mut |_| {
            asked += 1;
            false
        });
        assert_eq!((asked, same), (7, case));
    }
}
