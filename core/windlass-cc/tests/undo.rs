//! The undo of a reduction for every algorithm with a window: the restored and the unchanged values.

use crate::common::begins_at;
use crate::common::hand::{Hand, MS_40, MS_60, MSS};
use windlass_cc::{ALGORITHMS, Ack, AnyParams, Control, Phase, Setup, Span, Undo};

/// Algorithms with a congestion avoidance and a slow start.
fn with_a_window() -> impl Iterator<Item = &'static str> {
    let framed = |id: &&str| AnyParams::by_name(id).unwrap().requirements().slow_start.is_some();
    ALGORITHMS.iter().map(|info| info.id).filter(framed)
}

/// A connection that has lost once and grown again for some rounds, at varying delays.
fn under_way(id: &str) -> Hand {
    let mut h = Hand::new(begins_at(id, 40 * MSS, 30 * MSS));
    grow(&mut h);
    h.phase(Phase::Open, Phase::Recovery);
    h.phase(Phase::Recovery, Phase::Open);
    grow(&mut h);
    h
}

fn grow(h: &mut Hand) {
    for rtt in [MS_40, MS_60, MS_40, MS_60, MS_40] {
        h.round(rtt);
    }
}

fn undo(h: &mut Hand, why: Undo) {
    let (p, c) = (h.p, h.c);
    h.state.on_undo(&p, &c, why);
}

/// The future windows of a flow, and its inner state. A threshold matters only above the window.
fn future(h: &mut Hand) -> (Vec<u64>, Vec<u64>) {
    let (mut windows, mut fields) = (vec![h.cwnd(), h.ssthresh().max(h.cwnd())], Vec::new());
    h.state.trace(&mut |_, value| fields.push(value));
    for _ in 0..200 {
        h.ack(Span::from_millis(1), MS_40, Ack::of(MSS));
        windows.push(h.cwnd());
    }
    (windows, fields)
}

#[test]
fn a_recovery_that_timed_out_is_undone_like_the_timeout_alone() {
    for id in with_a_window() {
        let mut once = under_way(id);
        let mut twice = under_way(id);
        let before = once.cwnd();
        once.phase(Phase::Open, Phase::Loss);
        twice.phase(Phase::Open, Phase::Recovery);
        twice.phase(Phase::Recovery, Phase::Loss);
        assert!(twice.ssthresh() <= before, "{id}");
        for h in [&mut once, &mut twice] {
            undo(h, Undo::Frto);
            h.phase(Phase::Loss, Phase::Open);
            assert_eq!(h.cwnd(), before, "{id}");
        }
        assert_eq!(future(&mut once), future(&mut twice), "{id}");
    }
}

#[test]
fn the_answer_to_a_mark_is_not_taken_back_by_late_evidence_on_an_earlier_loss() {
    for id in with_a_window() {
        let mut h = under_way(id);
        h.phase(Phase::Open, Phase::Recovery);
        h.phase(Phase::Recovery, Phase::Open);
        h.round(MS_40);
        h.phase(Phase::Open, Phase::Cwr);
        let mut heedless = Hand { p: h.p, state: h.state, c: h.c };
        undo(&mut h, Undo::Dsack);
        for h in [&mut h, &mut heedless] {
            h.phase(Phase::Cwr, Phase::Open);
        }
        assert_eq!(future(&mut h), future(&mut heedless), "{id}");
    }
}

#[test]
fn undoing_a_loss_in_the_rtt_of_a_mark_keeps_the_response_to_the_mark() {
    for (id, to) in with_a_window().flat_map(|id| [(id, Phase::Recovery), (id, Phase::Loss)]) {
        let mut h = under_way(id);
        h.phase(Phase::Open, Phase::Cwr);
        let mut marked = Hand { p: h.p, state: h.state, c: h.c };
        let Control { cwnd, ssthresh, .. } = h.state.control(&h.p, &h.c);
        h.phase(Phase::Cwr, to);
        undo(&mut h, Undo::Dsack);
        assert_eq!((h.cwnd(), h.ssthresh()), (cwnd, ssthresh), "{id} {to:?}");
        h.phase(to, Phase::Open);
        marked.phase(Phase::Cwr, Phase::Open);
        assert_eq!((h.cwnd(), h.ssthresh()), (cwnd, ssthresh), "{id} {to:?}");
        if to == Phase::Recovery {
            assert_eq!(future(&mut h), future(&mut marked), "{id}");
        }
    }
}

#[test]
fn a_reduction_is_taken_back_once() {
    for id in with_a_window() {
        let mut h = under_way(id);
        h.phase(Phase::Open, Phase::Recovery);
        undo(&mut h, Undo::Eifel);
        h.phase(Phase::Recovery, Phase::Open);
        h.phase(Phase::Open, Phase::Cwr);
        h.phase(Phase::Cwr, Phase::Open);
        let before = h.cwnd();
        undo(&mut h, Undo::Dsack);
        assert_eq!(h.cwnd(), before, "{id}");
    }
}

/// In RFC 5681 section 3.2, each duplicate adds one segment (step 4), and the end of recovery removes
/// all of them. An undo skips this removal.
#[test]
fn undoing_a_recovery_removes_the_inflation_by_duplicates() {
    for id in ["reno", "newreno"] {
        let mut h = under_way(id);
        let before = h.cwnd();
        h.phase(Phase::Open, Phase::Recovery);
        for _ in 0..before / MSS {
            h.ack(Span(1), Span::NONE, Ack { duplicate: true, ..Ack::default() });
        }
        assert!(h.cwnd() > before, "{id}");
        undo(&mut h, Undo::Eifel);
        h.phase(Phase::Recovery, Phase::Open);
        assert_eq!(h.cwnd(), before, "{id}");
    }
}

/// RFC 3465 section 2.3: L is one segment in the slow start that follows a timeout.
#[test]
fn slow_start_after_a_timeout_counts_one_segment_per_acknowledgement() {
    let opened = |ack_limit: u32| {
        let mut p = begins_at("newreno", 60 * MSS, 1_000 * MSS);
        p.set_common(&Setup { ack_limit, ..p.common() });
        let mut h = Hand::new(p);
        let by = |h: &mut Hand| {
            let before = h.cwnd();
            h.ack(MS_40, MS_40, Ack::of(4 * MSS));
            (h.cwnd() - before) / MSS
        };
        let first = by(&mut h);
        h.phase(Phase::Open, Phase::Loss);
        let repairing = by(&mut h);
        h.phase(Phase::Loss, Phase::Open);
        let after = by(&mut h);
        // Congestion avoidance, and instead a slow start after an idle time.
        while h.cwnd() < h.ssthresh() {
            h.ack(MS_40, MS_40, Ack::of(MSS));
        }
        h.ack(MS_40, MS_40, Ack::of(MSS));
        let (p, c) = (h.p, h.c);
        let small = Setup { initial_window: 2 * MSS, ..p.common() };
        h.p.set_common(&small);
        h.state.on_idle_restart(&h.p, &c, Span::from_secs(10), true);
        [first, repairing, after, by(&mut h)]
    };
    assert_eq!(opened(1), [1, 1, 1, 1]);
    assert_eq!(opened(2), [2, 1, 1, 2]);
    // Linux's tcp_slow_start counts all acknowledged data, after a timeout too.
    assert_eq!(opened(u32::MAX), [4, 4, 4, 4]);
}
