//! The totals of the scoreboard, computed again from its records, and the results of its searches, computed
//! from all records.

use windlass_tcp::Endpoint;
use windlass_tcp::scoreboard::{Record, Scoreboard};

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
    audit_searches(board);
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

/// Checks the results of the searches that begin at a remembered place.
fn audit_searches(board: &Scoreboard) {
    let place = |wanted: &dyn Fn(&Record) -> bool| board.records().position(wanted);
    let waits = |r: &Record| r.lost && !r.resent && !r.sacked;
    assert_eq!(board.clone().next_pending(), place(&waits), "next lost segment");
    let highest = board.records().rfind(|r| r.sacked).map(Record::end);
    let una = board.records().next().map_or(u64::MAX, |r| r.start);
    match highest {
        Some(end) => assert_eq!(board.high_sacked(), end),
        None => assert!(board.high_sacked() <= una),
    }
    let above = |r: &Record| r.end() > board.high_rxt() && r.start < board.high_sacked();
    let rule_3 = place(&|r| above(r) && !r.sacked && !r.resent);
    assert_eq!(board.next_by_rule_3(), rule_3, "rule 3 of NextSeg");
    let in_network = board.records().filter(|r| r.resent && !r.sacked).map(|r| r.last_sent);
    assert_eq!(board.oldest_retransmission(), in_network.min(), "oldest retransmission");
}
