//! The optional record of an endpoint's decisions.

use windlass_cc::{Phase, Time};

use crate::decision::{Cause, Journal, LossRule, LostSegment, Moment};
use crate::scoreboard::Record;
use crate::seq::Seq;

use super::{Endpoint, Profile};

impl Endpoint {
    /// Starts the record of decisions and their causes. The record does not change the connection.
    pub fn keep_journal(&mut self) {
        self.journal.get_or_insert_with(|| Box::new(Journal::new(self.control)));
    }

    /// The record of decisions, if the endpoint keeps one.
    pub fn journal(&self) -> Option<&Journal> {
        self.journal.as_deref()
    }

    /// Continues the journal of the endpoint that this endpoint replaces.
    pub(crate) fn go_on_with(&mut self, before: Endpoint) {
        self.journal = before.journal;
    }

    /// Notes a decision in this phase, with this number of bytes in flight.
    #[inline(always)] // usually only this test runs
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

/// The record of a lost transmission. `sent` is its time, and `transmission` its number.
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
