//! Replaying the kernel's recorded events on the native core, which proves that both are one algorithm.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use windlass_cc::{AnyController, AnyParams, Conn, Control, Event, Group, PathView};

use super::record::{Moment, Record, What};
use crate::twin::facts::Heard;

/// Result of replaying the connections of one flow.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Replayed {
    /// Events with an answer that was compared.
    pub events: u64,
    /// Events whose answers differ.
    pub different: u64,
    /// Events that did not fit into the ring. After a missed event, the rest of the connection cannot be
    /// compared.
    pub missed: u64,
    /// Description of the first difference.
    pub first: Option<String>,
    /// Maximum number of paths of a connection that the algorithm saw at once; 0 without coupling.
    pub paths: usize,
    /// Largest payload of a segment, bytes.
    pub mss: u32,
    /// Windows of the connection with the most events: one entry per change in whole segments.
    pub course: Vec<Moment>,
    /// Name, number of executions and nanoseconds of each of the kernel's programs, if the kernel counted
    /// them.
    pub ran: Vec<(String, u64, u64)>,
    /// Facts that this connection received.
    pub heard: Vec<Heard>,
}

impl Replayed {
    /// True if every event was recorded and every answer is equal.
    pub fn is_equal(&self) -> bool {
        self.events > 0 && self.different == 0 && self.missed == 0
    }
}

/// A connection during its replay.
struct Connection {
    controller: AnyController,
    number: u64,
    first: Conn,
    whole: bool,
    events: u64,
    /// State of a path that its sibling paths see, according to the native core's answers.
    shown: PathView,
    course: Vec<Moment>,
    heard: Vec<Heard>,
}

/// Feeds records to native controllers with these parameters, and compares the answers bit for bit. If paths
/// see each other through a map of their answers (`shared`, as in a kernel), the state that a path publishes
/// is compared too.
pub fn replay(params: &AnyParams, records: &[Record], shared: bool) -> Replayed {
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
                    shown: PathView::EMPTY,
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
            replayed.compare(record, native, shared.then_some(&connection.shown));
            connection.show(record, native);
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

impl Connection {
    /// Updates the published state. The kernel publishes a path's state at the end of an acknowledgement;
    /// losses and segment sizes come before one.
    fn show(&mut self, record: &Record, native: Control) {
        if matches!(record.what, What::Event(Event::Loss(_) | Event::Mss(_))) {
            return;
        }
        let conn = &record.conn;
        self.shown = PathView {
            cwnd: native.cwnd,
            ssthresh: native.ssthresh,
            srtt: conn.srtt,
            min_rtt: conn.min_rtt,
            disclosed: self.controller.disclosed(),
            mss: conn.mss,
            phase: conn.phase,
        };
    }
}

impl Replayed {
    /// Compares the answers, and the state that a path of a group published.
    fn compare(&mut self, record: &Record, native: Control, shown: Option<&PathView>) {
        self.events += 1;
        let group = match &record.what {
            What::Event(Event::Group(group)) => Some(group),
            _ => None,
        };
        self.paths = self.paths.max(group.map_or(0, |group| group.paths().len()));
        let showed = group.map(Group::own).zip(shown).filter(|(own, shown)| own != shown);
        let [hosts, natives] = match showed {
            Some((own, shown)) => [format!("showed {own:?}"), format!("{shown:?}")],
            None if native != record.control => {
                [format!("answered {}", told(record.control)), told(native)]
            }
            None => return,
        };
        self.different += 1;
        self.first.get_or_insert_with(|| {
            let (number, name) = (record.number, record.what.name());
            let facts = format!("facts: {:?} {:?}", record.what, record.conn);
            format!("event {number} ({name}): the host {hosts}, the native core {natives}; {facts}")
        });
    }
}

fn told(c: Control) -> String {
    format!("cwnd {}, ssthresh {}, pacing {} B/s", c.cwnd, c.ssthresh, c.pacing.0)
}

#[cfg(test)]
mod tests {
    use windlass_cc::{Ack, Event, Phase, Span, Time};

    use super::*;

    /// Records of a connection in a kernel with these parameters, alone or with a sibling path that has this
    /// window.
    fn life_beside(params: &AnyParams, sibling: Option<u64>) -> Vec<Record> {
        let rtt = Span::from_millis(40);
        let mut conn = Conn { now: Time(1_000), srtt: rtt, min_rtt: rtt, ..Conn::new(1448) };
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
        let view = |conn: &Conn, Control { cwnd, ssthresh, .. }, disclosed| PathView {
            cwnd,
            ssthresh,
            srtt: conn.srtt,
            min_rtt: conn.min_rtt,
            disclosed,
            mss: 1448,
            phase: conn.phase,
        };
        let lose = [phase(Phase::Open, Phase::Recovery), phase(Phase::Recovery, Phase::Open)];
        for event in [ack; 40].into_iter().chain(lose).chain([ack; 400]) {
            let own = view(&conn, controller.control(params, &conn), controller.disclosed());
            conn.now = Time(conn.now.0 + 1_000_000);
            conn.una += 1448;
            conn.flight_size = 20 * 1448;
            if let Event::Phase { to, .. } = event {
                conn.phase = to;
            }
            if let (Event::Ack(_), Some(cwnd)) = (event, sibling) {
                let group = Group::new([PathView { cwnd, ..own }, own]).seen_from(1, 0);
                controller.apply(params, &conn, &Event::Group(group));
                note(What::Event(Event::Group(group)), conn, &controller);
            }
            controller.apply(params, &conn, &event);
            note(What::Event(event), conn, &controller);
        }
        records
    }

    fn life(params: &AnyParams) -> Vec<Record> {
        life_beside(params, None)
    }

    fn cubic() -> AnyParams {
        AnyParams::by_name("cubic").expect("there")
    }

    #[test]
    fn same_algorithm_gives_equal_answers_to_all_events() {
        let records = life(&cubic());
        let replayed = replay(&cubic(), &records, true);
        assert!(replayed.is_equal(), "{replayed:?}");
        assert_eq!(replayed.events, records.len() as u64);
        assert_eq!(replayed.course[0].window, 10, "it begins with the initial window");
        assert!(replayed.course.len() < records.len(), "only changes are kept");
    }

    #[test]
    fn wrong_constant_is_found_and_the_first_event_is_named() {
        let mut wrong = cubic();
        let place = wrong.info().params.iter().position(|p| p.name == "keep").expect("keep");
        assert!(wrong.set(place, windlass_cc::Ratio::of(8, 10).0));
        let replayed = replay(&cubic(), &life(&wrong), true);
        assert!(!replayed.is_equal());
        let first = replayed.first.expect("a difference");
        assert!(first.starts_with("event 42 (phase)"), "it shows at the window reduction: {first}");
    }

    #[test]
    fn replay_compares_the_seen_and_the_published_state_of_coupled_paths() {
        let lia = AnyParams::by_name("lia").expect("there");
        let records = life_beside(&lia, Some(30 * 1448));
        let replayed = replay(&lia, &records, true);
        assert!(replayed.is_equal() && replayed.paths == 2, "{:?}", replayed.first);
        // In congestion avoidance, where a sibling has an effect.
        let changed = |place: usize, change: fn(&mut PathView)| {
            let mut records = records.clone();
            let seen = records.iter_mut().skip(400).find_map(|record| match &mut record.what {
                What::Event(Event::Group(group)) => Some(group),
                _ => None,
            });
            let seen = seen.expect("a group");
            let mut paths = [seen.paths()[0], seen.paths()[1]];
            change(&mut paths[place]);
            *seen = Group::new(paths).seen_from(1, 0);
            replay(&lia, &records, true).first.expect("a difference")
        };
        let saw = changed(0, |sibling| sibling.cwnd *= 100);
        assert!(saw.contains("the host answered"), "different window of the sibling: {saw}");
        let showed = changed(1, |own| own.cwnd += 1);
        assert!(
            showed.contains("the host showed"),
            "published window differs from the answer: {showed}"
        );
    }

    #[test]
    fn missing_event_prevents_equality() {
        let mut records = life(&cubic());
        records.remove(10);
        let replayed = replay(&cubic(), &records, true);
        assert!(!replayed.is_equal());
        assert_eq!((replayed.missed, replayed.different, replayed.events), (1, 0, 10));
    }
}
