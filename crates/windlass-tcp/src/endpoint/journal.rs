//! The endpoint's record of what it decides, where one is kept.

use windlass_cc::{Phase, Time};

use crate::decision::{Cause, Journal, LossRule, LostSegment, Moment};
use crate::scoreboard::Record;
use crate::seq::Seq;

use super::{Endpoint, Profile};

impl Endpoint {
    /// From now on what is decided is noted with its cause. The connection is the same as without.
    pub fn keep_journal(&mut self) {
        self.journal.get_or_insert_with(|| Box::new(Journal::new(self.control)));
    }

    /// What has been decided, if that is kept.
    pub fn journal(&self) -> Option<&Journal> {
        self.journal.as_deref()
    }

    /// Takes the place of another endpoint, and goes on with its journal.
    pub(crate) fn go_on_with(&mut self, before: Endpoint) {
        self.journal = before.journal;
    }

    /// Something was decided in this phase, with this number of bytes in flight.
    #[inline(always)] // mostly the one test
    pub(super) fn note(&mut self, p: &Profile, now: Time, why: Cause, from: Phase, flight: u64) {
        if self.journal.is_some() {
            self.write_journal(p, now, why, from, flight);
        }
    }

    #[cold]
    #[inline(never)]
    fn write_journal(&mut self, p: &Profile, now: Time, cause: Cause, from: Phase, flight: u64) {
        let Some(mut journal) = self.journal.take() else { return };
        let moment = Moment {
            now,
            cause,
            phases: [from, self.send.phase],
            control: self.control,
            flight_size: flight,
            mss: self.agreed.mss,
            srtt: self.srtt(),
            rto: self.rto(p),
        };
        journal.note(moment, || {
            let mut inner = Vec::new();
            self.cc.trace(&mut |field, value| inner.push((field.name, field.unit, value)));
            inner
        });
        self.journal = Some(journal);
    }
}

/// A transmission of a segment, by when it was made and which it was, that is deemed lost.
pub(super) fn lost_segment(
    now: Time,
    iss: Seq,
    record: &Record,
    (sent, transmission): (Time, u32),
    rule: LossRule,
) -> LostSegment {
    let (start, len) = (record.start, record.len);
    LostSegment { time: now, start, len, seq: iss.add(start), sent, transmission, rule }
}
