//! The scoreboard compared with a plain list of segments, for random reports and acknowledgements.

use windlass_cc::Time;
use windlass_cc::rate::SentRecord;
use windlass_tcp::Scoreboard;
use windlass_tcp::scoreboard::Record;

const SEGMENT: u32 = 1_000;

fn sent(at: u64) -> SentRecord {
    SentRecord {
        sent_time: Time(at),
        first_sent_time: Time::ZERO,
        delivered_time: Time::ZERO,
        delivered: 0,
        lost: 0,
        tx_in_flight: 0,
        app_limited: false,
    }
}

/// A segment of the list.
#[derive(Clone, Copy, Debug, Default)]
struct Plain {
    start: u64,
    end: u64,
    sacked: bool,
    lost: bool,
    resent: bool,
}

struct Pair {
    board: Scoreboard,
    list: Vec<Plain>,
    unit: u32,
    random: u64,
    clock: u64,
}

impl Pair {
    /// Thirty segments in flight.
    fn new(unit: u32, seed: u64) -> Pair {
        let board = Scoreboard::new(false, unit);
        let mut pair = Pair { board, list: Vec::new(), unit, random: seed, clock: 0 };
        for n in 0..30 {
            let start = 1 + 1_000 * n;
            pair.clock += 1;
            pair.board.push(start, SEGMENT, sent(pair.clock), false);
            pair.list.push(Plain { start, end: start + 1_000, ..Plain::default() });
        }
        pair
    }

    fn below(&mut self, n: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) % n
    }

    /// Reports a range that may begin or end within a segment.
    fn sack(&mut self) {
        let left = 1 + 500 * self.below(62);
        let right = left + 500 * (1 + self.below(8));
        self.board.sack(left, right, |_, _| {});
        let inside = |s: &&mut Plain| left <= s.start && s.end <= right && !s.sacked;
        for s in self.list.iter_mut().filter(inside) {
            *s = Plain { sacked: true, lost: false, resent: false, ..*s };
        }
    }

    fn acknowledge(&mut self) {
        let first = self.list.first().map_or(1, |s| s.start);
        let una = first + 500 * self.below(5);
        let (before, volume) = (self.outstanding(), self.board.volume_below(una));
        self.board.acknowledge(una, |_, _, _, _| {});
        self.list.retain(|s| s.end > una);
        if let Some(first) = self.list.first_mut() {
            first.start = first.start.max(una);
        }
        assert_eq!(before - self.outstanding(), volume);
    }

    /// RFC 6675 section 4, IsLost: three ranges or more than two segments above.
    fn find_lost(&mut self) {
        let range = self.board.lost_by_count(3, SEGMENT);
        for place in range {
            self.board.lose_original(place);
        }
        for place in 0..self.list.len() {
            let above = &self.list[place + 1..];
            let bytes: u64 = above.iter().filter(|s| s.sacked).map(|s| s.end - s.start).sum();
            let begins = |i: &usize| above[*i].sacked && (*i == 0 || !above[i - 1].sacked);
            let ranges = (0..above.len()).filter(begins).count();
            let s = &mut self.list[place];
            s.lost |= !s.sacked && (ranges >= 3 || bytes > 2_000);
        }
    }

    fn resend(&mut self) {
        let Some(place) = self.board.next_pending() else { return };
        self.clock += 1;
        let at = sent(self.clock);
        self.board.resend(place, SEGMENT, true, |_, _| at).expect("a record");
        self.list[place].resent = true;
    }

    fn volume(&self, s: &Plain) -> u64 {
        if self.unit == 0 { s.end - s.start } else { u64::from(self.unit) }
    }

    fn sum(&self, copies: impl Fn(&Plain) -> u64) -> u64 {
        self.list.iter().map(|s| self.volume(s) * copies(s)).sum()
    }

    fn outstanding(&self) -> u64 {
        self.sum(|_| 1)
    }

    fn compare(&self) {
        let (board, list) = (&self.board, &self.list);
        let same = |(r, s): (&Record, &Plain)| {
            (r.start, r.end(), r.sacked, r.lost, r.resent)
                == (s.start, s.end, s.sacked, s.lost, s.resent)
        };
        assert!(board.len() == list.len() && board.records().zip(list).all(same), "{list:?}");
        let pending = |s: &Plain| s.lost && !s.resent && !s.sacked;
        let copies = |s: &Plain| u64::from(!s.sacked && !s.lost) + u64::from(s.resent && !s.sacked);
        assert_eq!(board.pipe(), self.sum(copies));
        assert_eq!(board.sacked(), self.sum(|s| u64::from(s.sacked)));
        assert_eq!(board.pending(), self.sum(|s| u64::from(pending(s))));
        assert_eq!(board.outstanding(), self.outstanding());
        assert_eq!(board.clone().next_pending(), list.iter().position(pending));
        assert_eq!(board.last_missing(), list.iter().rposition(|s| !s.sacked));
        assert_eq!(board.misses_lost(), list.iter().any(|s| s.lost && !s.sacked));
        let resent = list.iter().filter(|s| s.resent && !s.sacked).count();
        assert_eq!(board.retransmissions() as usize, resent);
        assert_eq!(board.is_empty(), list.is_empty());
        for offset in (0..31_000).step_by(500) {
            assert_eq!(board.place_of(offset), list.partition_point(|s| s.end <= offset));
        }
    }
}

// RFC 6675-4-1, 6675-4-2, 6675-4-3
#[test]
fn scoreboard_agrees_with_a_list_of_segments() {
    for seed in 1..=150 {
        for unit in [0, 1_448] {
            let mut pair = Pair::new(unit, seed);
            for _ in 0..60 {
                match pair.below(10) {
                    0..4 => pair.sack(),
                    4..6 => pair.find_lost(),
                    6..9 => pair.resend(),
                    _ => pair.acknowledge(),
                }
                pair.compare();
            }
        }
    }
}

/// Times and ends give the order of sending, so that two transmissions of a segment never have both in common.
#[test]
fn retransmission_in_the_instant_of_the_original_is_recorded_later() {
    let mut board = Scoreboard::new(false, SEGMENT);
    board.push(1, SEGMENT, sent(7), false);
    board.push(1_001, SEGMENT, sent(7), false);
    assert_eq!(board.records().map(|r| r.last_sent.0).collect::<Vec<_>>(), [7, 7]);
    let again = board.resend(1, SEGMENT, true, |_, _| sent(7)).expect("a record");
    assert_eq!(again.last_sent, Time(8));
    let later = board.resend(0, SEGMENT, true, |_, _| sent(7)).expect("a record");
    assert_eq!(later.last_sent, Time(9));
}
