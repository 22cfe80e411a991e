//! Replaying what the kernel recorded on the native core: the proof that both are one algorithm.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use windlass_cc::{AnyController, AnyParams, Conn, Control};

use super::record::{Moment, Record, What};
use crate::twin::facts::Heard;

/// What came of replaying the connections of one flow.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Replayed {
    /// Events with an answer that was compared.
    pub events: u64,
    /// Those whose answers differ.
    pub different: u64,
    /// Events that the ring had no room for; after one, nothing of the connection can be compared.
    pub missed: u64,
    /// The first difference, in words.
    pub first: Option<String>,
    /// Largest payload of a segment, bytes.
    pub mss: u32,
    /// The windows of the connection with most events: one for each change by whole segments.
    pub course: Vec<Moment>,
    /// What that connection heard.
    pub heard: Vec<Heard>,
}

impl Replayed {
    /// Whether every event was recorded, and every answer the same.
    pub fn is_equal(&self) -> bool {
        self.events > 0 && self.different == 0 && self.missed == 0
    }
}

/// A connection as it is replayed.
struct Connection {
    controller: AnyController,
    number: u64,
    first: Conn,
    whole: bool,
    events: u64,
    course: Vec<Moment>,
    heard: Vec<Heard>,
}

/// Feeds records to native controllers with these parameters and compares the answers, bit for bit.
pub fn replay(params: &AnyParams, records: &[Record]) -> Replayed {
    let mut replayed = Replayed::default();
    let mut connections: BTreeMap<u64, Connection> = BTreeMap::new();
    for record in records {
        let connection = match record.what {
            What::Begin => {
                let controller = AnyController::init(params, &record.conn);
                let begun = Connection {
                    controller,
                    number: record.number,
                    first: record.conn,
                    whole: true,
                    events: 0,
                    course: Vec::new(),
                    heard: Vec::new(),
                };
                connections.insert(record.id, begun);
                connections.get_mut(&record.id)
            }
            What::Event(event) => {
                let mut connection = connections.get_mut(&record.id);
                if let Some(c) = &mut connection {
                    let skipped = record.number.saturating_sub(c.number + 1);
                    replayed.missed += skipped;
                    c.whole &= skipped == 0;
                    c.number = record.number;
                    c.controller.apply(params, &record.conn, &event);
                }
                connection
            }
        };
        let Some(connection) = connection else {
            replayed.missed += 1;
            continue;
        };
        if connection.whole {
            let native = connection.controller.control(params, &record.conn);
            replayed.compare(record, native);
        }
        connection.events += 1;
        let heard = Heard::of(record.what, &record.conn, record.control, &connection.first);
        connection.heard.extend(heard);
        replayed.mss = record.conn.mss;
        let window = record.control.cwnd / u64::from(record.conn.mss.max(1));
        if connection.course.last().is_none_or(|last| last.window != window) {
            let time = record.conn.now.since(connection.first.now).0;
            let what = record.what.name().to_owned();
            connection.course.push(Moment { time, una: record.conn.una, window, what });
        }
    }
    if let Some(longest) = connections.into_values().max_by_key(|c| c.events) {
        (replayed.course, replayed.heard) = (longest.course, longest.heard);
    }
    replayed
}

impl Replayed {
    fn compare(&mut self, record: &Record, native: Control) {
        self.events += 1;
        if native == record.control {
            return;
        }
        self.different += 1;
        self.first.get_or_insert_with(|| {
            format!(
                "event {} ({}): the kernel answered {}, the native core {}; facts: {:?} {:?}",
                record.number,
                record.what.name(),
                told(record.control),
                told(native),
                record.what,
                record.conn,
            )
        });
    }
}

fn told(c: Control) -> String {
    format!("cwnd {}, ssthresh {}, pacing {} B/s", c.cwnd, c.ssthresh, c.pacing.0)
}

#[cfg(test)]
mod tests {
    use windlass_cc::{Ack, Event, Phase, Time};

    use super::*;

    /// A life as a kernel that runs these parameters would record it.
    fn life(params: &AnyParams) -> Vec<Record> {
        let mut conn = Conn { now: Time(1_000), ..Conn::new(1448) };
        let mut controller = AnyController::init(params, &conn);
        let mut records = Vec::new();
        let mut note = |what, conn: Conn, controller: &AnyController| {
            let number = records.len() as u64 + 1;
            let control = controller.control(params, &conn);
            records.push(Record { id: 5, number, what, conn, control });
        };
        note(What::Begin, conn, &controller);
        let phase = |from, to| Event::Phase { from, to };
        let ack = Event::Ack(Ack::of(1448));
        let lose = [phase(Phase::Open, Phase::Recovery), phase(Phase::Recovery, Phase::Open)];
        for event in [ack; 40].into_iter().chain(lose).chain([ack; 400]) {
            conn.now = Time(conn.now.0 + 1_000_000);
            conn.una += 1448;
            conn.flight_size = 20 * 1448;
            if let Event::Phase { to, .. } = event {
                conn.phase = to;
            }
            controller.apply(params, &conn, &event);
            note(What::Event(event), conn, &controller);
        }
        records
    }

    fn cubic() -> AnyParams {
        AnyParams::by_name("cubic").expect("there")
    }

    #[test]
    fn the_same_algorithm_answers_every_event_the_same() {
        let records = life(&cubic());
        let replayed = replay(&cubic(), &records);
        assert!(replayed.is_equal(), "{replayed:?}");
        assert_eq!(replayed.events, records.len() as u64);
        assert_eq!(replayed.course[0].window, 10, "it begins with the initial window");
        assert!(replayed.course.len() < records.len(), "only changes are kept");
    }

    #[test]
    fn a_wrong_constant_is_found_and_the_first_event_named() {
        let mut wrong = cubic();
        let place = wrong.info().params.iter().position(|p| p.name == "keep").expect("keep");
        assert!(wrong.set(place, windlass_cc::Ratio::of(8, 10).0));
        let replayed = replay(&cubic(), &life(&wrong));
        assert!(!replayed.is_equal());
        let first = replayed.first.expect("a difference");
        assert!(first.starts_with("event 42 (phase)"), "the cut is where it shows: {first}");
    }

    #[test]
    fn an_event_that_is_missing_is_no_proof() {
        let mut records = life(&cubic());
        records.remove(10);
        let replayed = replay(&cubic(), &records);
        assert!(!replayed.is_equal());
        assert_eq!((replayed.missed, replayed.different, replayed.events), (1, 0, 10));
    }
}
