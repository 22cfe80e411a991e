//! Limit of the processor time of a thread that must wake up on time.
//!
//! If a real-time thread never sleeps, the kernel stops it for 50 ms in each second (`sched_rt_runtime_us`,
//! or from Linux 6.12 on the deadline server). A thread therefore polls the clock only while it also sleeps.
//! A thread with too much work to sleep gives up its priority.

use std::io;
use std::time::Duration;

use nix::poll::{PollFd, ppoll};
use nix::sys::time::TimeSpec;
use windlass_cc::{Span, Time};

use super::clock::Clock;
use super::sys;

/// Window over which the sleep is counted.
const WINDOW: Span = Span::from_millis(100);
/// Inverse of the minimum share of sleep for polling: with less than 1/5 of the time asleep, the thread does
/// not poll the clock.
const ENOUGH: u64 = 5;
/// Inverse of the minimum share of sleep for real-time priority: below 1/10 of a whole window, the thread
/// gives up its priority. This is twice the share that the kernel requires.
const TOO_LITTLE: u64 = 10;

/// Counts a thread's own sleep.
#[derive(Debug)]
pub(crate) struct Vigil {
    clock: Clock,
    since: Time,
    slept: u64,
    ordinary: bool,
}

impl Vigil {
    /// Creates a counter for the calling thread and gives the thread this real-time priority.
    pub fn new(clock: Clock, priority: i32) -> Vigil {
        sys::be_punctual(priority);
        Vigil { clock, since: clock.now(), slept: 0, ordinary: false }
    }

    /// Returns the time before a due event at which to stop sleeping: `wish`, or zero if the thread has slept
    /// too little.
    pub fn spin(&self, wish: Span) -> Span {
        let elapsed = self.clock.now().since(self.since).0;
        if self.slept * ENOUGH >= elapsed { wish } else { Span::ZERO }
    }

    /// Waits for descriptors, for at most `limit` (without a limit, for ever). Returns how much the thread
    /// overslept, if no descriptor woke it before the limit.
    pub fn wait(
        &mut self,
        fds: &mut [PollFd<'_>],
        limit: Option<Span>,
    ) -> io::Result<Option<Span>> {
        let begun = self.clock.now();
        let timeout = limit.map(|l| TimeSpec::from_duration(Duration::from_nanos(l.0)));
        let woken = match ppoll(fds, timeout, None) {
            Ok(n) => n > 0,
            Err(nix::errno::Errno::EINTR) => true,
            Err(e) => return Err(e.into()),
        };
        let now = self.clock.now();
        let asleep = now.since(begun);
        if limit != Some(Span::ZERO) {
            self.slept += asleep.0;
        }
        self.turn_window(now);
        Ok(limit.filter(|_| !woken).map(|limit| Span(asleep.0.saturating_sub(limit.0))))
    }

    fn turn_window(&mut self, now: Time) {
        let elapsed = now.since(self.since);
        if elapsed < WINDOW {
            return;
        }
        if !self.ordinary && self.slept * TOO_LITTLE < elapsed.0 {
            self.ordinary = true;
            sys::be_ordinary();
        }
        (self.since, self.slept) = (now, 0);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use windlass_skip::skip;

    use super::*;

    /// Returns the scheduling policy of the calling thread, the 41st field of its `stat` (proc(5)).
    fn policy() -> i32 {
        let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
        let after_name = stat.rsplit_once(')').unwrap().1;
        after_name.split_whitespace().nth(38).unwrap().parse().unwrap()
    }

    /// Returns the policies of a thread before and after half a second of waits of this length.
    fn around_waits_of(limit: Span) -> [i32; 2] {
        let thread = thread::spawn(move || {
            let clock = Clock::starting_in(Duration::ZERO);
            let mut vigil = Vigil::new(clock, 1);
            let first = policy();
            while clock.now() < Time::from_millis(500) {
                vigil.wait(&mut [], Some(limit)).unwrap();
            }
            [first, policy()]
        });
        thread.join().unwrap()
    }

    #[test]
    fn thread_without_sleep_loses_its_priority() {
        let [_, last] = around_waits_of(Span::ZERO);
        assert_eq!(last, libc::SCHED_OTHER);
    }

    #[test]
    fn sleeping_thread_keeps_its_priority() {
        let [first, last] = around_waits_of(Span::from_millis(1));
        if first == libc::SCHED_OTHER {
            skip("no real-time priority on this machine");
        }
        assert_eq!(last, first);
    }

    #[test]
    fn clock_is_polled_only_after_enough_sleep() {
        let wish = Span::from_micros(80);
        let clock = Clock::starting_in(Duration::ZERO);
        let mut vigil = Vigil { clock, since: Time::ZERO, slept: 0, ordinary: false };
        thread::sleep(Duration::from_millis(10));
        assert_eq!(vigil.spin(wish), Span::ZERO);
        // A window may turn in between, in which case the first wish is refused.
        let mut after_a_sleep = || {
            vigil.wait(&mut [], Some(Span::from_millis(20))).unwrap();
            vigil.spin(wish)
        };
        assert!((0..10).any(|_| after_a_sleep() == wish));
    }
}
