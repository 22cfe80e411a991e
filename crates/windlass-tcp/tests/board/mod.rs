//! The totals of the scoreboard, computed again from its records, and the results of its searches, computed
//! from all records.

use windlass_tcp::Endpoint;
use windlass_tcp::scoreboard::Record;

/// Checks that the totals of an endpoint's scoreboard are the sums over its records.
pub fn audit(e: &Endpoint) {
    let board = e.scoreboard();
    let (mut sacked, mut in_flight, mut pending) = (0, 0, 0);
    let mut next = None;
    for (place, r) in board.records().enumerate() {
        // The samples of the delivery rate, stored separately, must match their records.
        assert!(board.sample(place).is_none_or(|sample| sample.sent_time <= r.last_sent), "{r:?}");
        assert!(r.len > 0 && next.is_none_or(|at| at == r.start), "a gap: {r:?}");
        next = Some(r.end());
        let len = board.volume(r.len);
        // RFC 6675 section 4, SetPipe.
        if r.sacked {
            sacked += len;
            assert!(!r.resent && !r.lost, "{r:?}");
            continue;
        }
        in_flight += if r.lost { 0 } else { len };
        in_flight += if r.resent { len } else { 0 };
        pending += if r.lost && !r.resent { len } else { 0 };
    }
    let duplicates = board.sacked().checked_sub(sacked).expect("delivered bytes");
    assert_eq!(board.pipe(), in_flight.saturating_sub(duplicates), "pipe");
    assert_eq!(board.pending(), pending, "pending");
    let sent: Vec<_> = board.records().map(|r| (r.last_sent, r.end())).collect();
    for newest in sent.iter().max().into_iter().chain(sent.get(sent.len() / 2)) {
        let waits = |r: &Record| !r.sacked && (!r.lost || r.resent);
        let overtaken = board
            .records()
            .filter(|r| waits(r) && (r.last_sent, r.end()) < *newest)
            .filter(|r| r.resent && r.lost || r.start >= board.examined_to())
            .map(|r| r.start);
        let mut found = Vec::new();
        let latest = board.clone().find_overtaken(*newest, Some(newest.0), &mut found);
        assert_eq!((found, latest), (overtaken.collect(), None), "sent before {newest:?}");
    }
}
