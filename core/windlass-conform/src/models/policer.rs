//! Detection of policers in Linux's BBR version 1: two intervals with the same rate. Each interval
//! has at least four rounds, begins and ends with a loss, and loses a fifth of the delivered data.

use windlass_cc::Conn;

/// Losses per byte delivered (Linux: 50/256).
const LOSS: f64 = 50.0 / 256.0;
/// Rounds for which the policer's rate is used.
const HOLD: u32 = 48;

/// State of the detection of a policer.
pub struct Policer {
    /// Clock, bytes delivered and lost at the beginning of the interval.
    begin: (f64, f64, f64),
    /// Rounds of the interval, or rounds with the policer's rate.
    rounds: u32,
    sampling: bool,
    /// The rate of the previous interval.
    before: Option<f64>,
    /// The policer's rate.
    rate: Option<f64>,
}

fn counts(c: &Conn) -> (f64, f64, f64) {
    (c.now.0 as f64 * 1e-9, c.delivered as f64, c.lost as f64)
}

impl Policer {
    /// No policer is known.
    pub fn new(c: &Conn) -> Policer {
        Policer { begin: counts(c), rounds: 0, sampling: false, before: None, rate: None }
    }

    /// The policer's rate, bytes per second.
    pub fn rate(&self) -> Option<f64> {
        self.rate
    }

    /// Takes an acknowledgement or a timeout; `cycling` is true in ProbeBW. Returns true if the
    /// policer's rate has been used long enough, so that the cycle begins again.
    pub fn take(
        &mut self,
        c: &Conn,
        lost: bool,
        limited: bool,
        round: bool,
        cycling: bool,
    ) -> bool {
        if self.rate.is_none() {
            self.sample(c, lost, limited, round);
            return false;
        }
        self.rounds += u32::from(cycling && round);
        let over = cycling && round && self.rounds >= HOLD;
        if over {
            *self = Policer::new(c);
        }
        over
    }

    fn sample(&mut self, c: &Conn, lost: bool, limited: bool, round: bool) {
        if !self.sampling {
            if !lost {
                return;
            }
            (self.begin, self.rounds, self.sampling) = (counts(c), 0, true);
        }
        if limited {
            *self = Policer::new(c);
            return;
        }
        self.rounds += u32::from(round);
        if self.rounds > 16 {
            *self = Policer::new(c);
        } else if self.rounds >= 4 && lost {
            self.end_interval(c);
        }
    }

    fn end_interval(&mut self, c: &Conn) {
        let (since, now) = (self.begin, counts(c));
        let (time, delivered, lost) = (now.0 - since.0, now.1 - since.1, now.2 - since.2);
        if delivered == 0.0 || lost < LOSS * delivered || time < 1e-3 {
            return;
        }
        let rate = delivered / time;
        let same = |before: &f64| {
            let difference = (rate - before).abs();
            difference <= before / 8.0 || difference <= 500.0
        };
        match self.before.filter(same) {
            Some(before) => {
                self.rate = Some((rate + before) / 2.0);
                self.rounds = 0;
            }
            None => {
                self.before = Some(rate);
                (self.begin, self.rounds) = (now, 0);
            }
        }
    }
}
