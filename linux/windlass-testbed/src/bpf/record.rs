//! Events as the shim in the kernel records them (`struct record` in `tests/small-targets/bpf/shim.c`).

use serde::{Deserialize, Serialize};
use windlass_cc::group::{Group, MAX_PATHS, PathView};
use windlass_cc::{Ack, Conn, Control, Event, Loss, Phase, Rate, Span, Undo};
use windlass_conform::bytes;

/// Kind of a recorded event.
// As `Event` itself.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// Start of the connection.
    Begin,
    /// Event that the algorithm received.
    Event(Event),
}

impl What {
    /// Word for a table.
    pub fn name(&self) -> &'static str {
        match self {
            What::Begin => "begin",
            What::Event(Event::Ack(_)) => "ack",
            What::Event(Event::Phase { .. }) => "phase",
            What::Event(Event::Loss(_)) => "loss",
            What::Event(Event::Undo(_)) => "undo",
            What::Event(Event::IdleRestart { .. }) => "idle",
            What::Event(Event::Mss(_)) => "mss",
            What::Event(Event::Group(_)) => "group",
            What::Event(Event::CrossLayer(_)) => "cross-layer",
        }
    }
}

/// One event of one connection: the facts that the algorithm received, and its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// Random number of the connection, drawn at its start.
    pub id: u64,
    /// Position among the connection's events, from 1. Events that did not fit into the ring are missing.
    pub number: u64,
    /// Kind of the event.
    pub what: What,
    /// State of the connection at the event.
    pub conn: Conn,
    /// Answer in the kernel.
    pub control: Control,
}

/// Words of a record, and of each path in the group that an event of a multipath connection ends with.
const WORDS: usize = 36;
const PATH: usize = 6;
const WITH_GROUP: usize = WORDS + PATH * MAX_PATHS + 1;

impl Record {
    /// Decodes a record, or returns nothing if the bytes are not a valid record.
    pub fn read(bytes: &[u8]) -> Option<Record> {
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|w| u64::from_ne_bytes(w.try_into().expect("eight")))
            .collect();
        let [id, number, gap, kind, rest @ ..] = words.as_slice() else { return None };
        let (kind, argument) = halves(*kind);
        if bytes.len() != 8 * if kind == GROUP { WITH_GROUP } else { WORDS } {
            return None;
        }
        let (conn, rest) = rest.split_at(12);
        let (ack, rest) = rest.split_at(13);
        let (loss, rest) = rest.split_at(4);
        let (control, group) = rest.split_at(3);
        let what = match kind {
            0 => What::Begin,
            1 => What::Event(Event::Ack(read_ack(ack))),
            2 => What::Event(Event::Phase {
                from: phase(argument & 0xff)?,
                to: phase(argument >> 8)?,
            }),
            3 => What::Event(Event::Loss(Loss {
                bytes: loss[0],
                tx_in_flight: loss[1],
                lost_since_sent: loss[2],
                app_limited: flag(loss[3]),
            })),
            4 => What::Event(Event::Undo(match argument {
                0 => Undo::Dsack,
                1 => Undo::Eifel,
                _ => Undo::Frto,
            })),
            5 => What::Event(Event::IdleRestart { gap: Span(*gap), reset: argument != 0 }),
            6 => What::Event(Event::Mss(argument)),
            GROUP => What::Event(Event::Group(read_group(group)?)),
            _ => return None,
        };
        let control = Control { cwnd: control[0], ssthresh: control[1], pacing: Rate(control[2]) };
        Some(Record { id: *id, number: *number, what, conn: read_conn(conn)?, control })
    }
}

/// Number of the event kind that is longer than the others.
const GROUP: u32 = 7;

/// Returns the two 32-bit values of a word.
fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// Reads a `_Bool` at the beginning of a word and ignores the padding after it.
fn flag(word: u64) -> bool {
    word & 0xff != 0
}

fn phase(number: u32) -> Option<Phase> {
    [Phase::Open, Phase::Recovery, Phase::Loss, Phase::Cwr].into_iter().nth(number as usize)
}

/// The first values of a slice, which has as many.
fn first<const N: usize>(w: &[u64]) -> [u64; N] {
    std::array::from_fn(|at| w[at])
}

fn read_conn(w: &[u64]) -> Option<Conn> {
    let ((mss, flags), (entropy, last)) = (halves(w[10]), halves(w[11]));
    let mut values = [0; 14];
    values[..10].copy_from_slice(&w[..10]);
    values[10..].copy_from_slice(&[mss, flags, entropy, 0].map(u64::from));
    Some(Conn { phase: phase(last & 0xff)?, ..bytes::connection(&values) })
}

fn read_ack(w: &[u64]) -> Ack {
    let rate = bytes::rate(first(&w[6..]), flag(w[11]));
    Ack { rate, ..bytes::ack(first(w), flag(w[12])) }
}

fn read_group(words: &[u64]) -> Option<Group> {
    let (paths, last) = words.split_at(PATH * MAX_PATHS);
    let [count, own, mode, ..] = last[0].to_ne_bytes();
    let paths = paths.chunks_exact(PATH).take(usize::from(count)).map(read_path);
    let paths = paths.collect::<Option<Vec<PathView>>>()?;
    (own < count).then(|| Group::new(paths).seen_from(own.into(), mode))
}

fn read_path(w: &[u64]) -> Option<PathView> {
    let (mss, last) = halves(w[5]);
    let view = bytes::path(first(w), phase(last & 0xff)?);
    Some(PathView { mss, ..view })
}

/// A change of a connection's window, for a comparison of backends.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Moment {
    /// Nanoseconds since the connection was established.
    pub time: u64,
    /// Bytes acknowledged so far.
    pub una: u64,
    /// Congestion window after the change, in whole segments.
    pub window: u64,
    /// Word for the event.
    pub what: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An acknowledgement in the layout of the kernel's compiler.
    fn acknowledgement() -> Vec<u64> {
        let mut words = vec![7, 3, 0, 1];
        words.extend([1_000, 2_896, 4_344, 1_449, 5_793, 1, 0, 7_240, 40, 30]);
        words.extend([1448 | 1 << 32, 99]);
        words.extend([1_448, 1_448, 0, 0, 4_344, 41, 2_896, 80, 1, 0, 4_344, 1, 0xff00]);
        words.extend([0, 0, 0, 0]);
        words.extend([14_480, 1 << 40, 0]);
        words
    }

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|w| w.to_ne_bytes()).collect()
    }

    #[test]
    fn acknowledgement_is_read_field_by_field_without_padding() {
        let record = Record::read(&bytes(&acknowledgement())).expect("a record");
        assert_eq!((record.id, record.number), (7, 3));
        assert_eq!((record.conn.mss, record.conn.flags, record.conn.entropy), (1448, 1, 99));
        assert_eq!(record.conn.min_rtt, Span(30));
        let What::Event(Event::Ack(ack)) = record.what else { panic!("{:?}", record.what) };
        assert_eq!((ack.acked, ack.rtt, ack.duplicate), (1_448, Span(41), false));
        assert_eq!((ack.rate.interval, ack.rate.app_limited), (Span(80), true));
        assert_eq!(record.control.cwnd, 14_480);
    }

    #[test]
    fn group_is_read_with_all_its_paths() {
        let mut words = acknowledgement();
        words[3] = 7;
        words.extend([20_000, 9_000, 41, 30, 5, 1448 | 1 << 32]);
        words.extend([30_000, 8_000, 51, 40, 6, 1448]);
        words.extend([0; 36]);
        words.push(2 | 1 << 8);
        let record = Record::read(&bytes(&words)).expect("a record");
        let What::Event(Event::Group(group)) = record.what else { panic!("{:?}", record.what) };
        let [first, second] = group.paths() else { panic!("{group:?}") };
        assert_eq!((first.cwnd, first.srtt, first.phase), (20_000, Span(41), Phase::Recovery));
        assert_eq!((second.ssthresh, second.disclosed, second.mss), (8_000, 6, 1448));
        assert_eq!(group.own(), second);
        *words.last_mut().expect("some") = 2 | 2 << 8;
        assert_eq!(Record::read(&bytes(&words)), None, "its own path is not in the group");
    }

    #[test]
    fn invalid_records_are_refused() {
        let words = acknowledgement();
        assert_eq!(Record::read(&bytes(&words[..35])), None, "too short");
        let unknown = [&words[..3], &[9], &words[4..]].concat();
        assert_eq!(Record::read(&bytes(&unknown)), None, "no such event");
    }
}
