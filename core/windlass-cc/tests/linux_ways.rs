//! Deviations of Linux from the texts, selected by a parameter.

use crate::common::chosen;
use crate::common::flow::Flow;
use windlass_cc::reno::Increase;
use windlass_cc::setup::{Counting, Credit};
use windlass_cc::{Ack, Setup, illinois, westwood};

const MSS: u64 = 1_000;
const MS: u64 = 1_000_000;

/// A flow in congestion avoidance that counts by bytes.
fn flow(id: &str, values: &[(&str, u64)], cwnd: u64) -> Flow {
    Flow::with(chosen(id, values), MSS as u32, cwnd, cwnd)
}

/// The flow, counting by segments.
fn whole(mut flow: Flow) -> Flow {
    flow.p.set_common(&Setup { counting: Counting::Segments, ..flow.p.common() });
    flow
}

/// The flow with this credit for the acknowledgement that ends recovery.
fn credited(mut flow: Flow, credit: Credit) -> Flow {
    flow.p.set_common(&Setup { credit, ..flow.p.common() });
    flow
}

/// A loss and its repair; returns the remaining share of the window.
fn lose(flow: &mut Flow) -> f64 {
    let before = flow.segments();
    flow.lose();
    flow.repair(0);
    flow.segments() / before
}

const PER_BYTE: (&str, u64) = ("increase", Increase::PerByte as u64);

/// Word of the parameter `variant` in several algorithms.
const LINUX: (&str, u64) = ("variant", illinois::Variant::Linux as u64);

/// A full window of acknowledgements of one segment each increases a window of whole segments by one.
/// The last of them does so, at any size. A window with a fraction takes longer, because the growth
/// itself divides.
#[test]
fn whole_segments_open_by_one_for_each_window() {
    for cwnd in [2, 3, 7, 10, 13, 100, 1_000] {
        let mut flow = whole(self::flow("newreno", &[PER_BYTE], cwnd));
        let mut plain = self::flow("newreno", &[PER_BYTE], cwnd);
        for n in 0..3 {
            (1..cwnd + n).for_each(|_| flow.ack(MS, 100 * MS, 1));
            assert_eq!(flow.segments() as u64, cwnd + n, "{cwnd}: one is missing");
            flow.ack(MS, 100 * MS, 1);
            assert_eq!(flow.segments() as u64, cwnd + n + 1, "{cwnd}: a window");
        }
        (0..3 * cwnd + 3).for_each(|_| plain.ack(MS, 100 * MS, 1));
        assert!(plain.segments() < (cwnd + 3) as f64, "{cwnd}: {}", plain.segments());
    }
}

#[test]
fn a_cut_leaves_whole_segments_rounded_as_the_kernel_computes_them() {
    fn kept(id: &str, cwnd: u64) -> u64 {
        let mut flow = whole(flow(id, &[], cwnd));
        flow.lose();
        assert_eq!(flow.cwnd() % MSS, 0);
        flow.cwnd() / MSS
    }
    // Multiplied: ⌊w/2⌋, ⌊0.7·w⌋. Exact values stay exact, although 0.7 is not a whole number of
    // 65536ths.
    assert_eq!(kept("newreno", 15), 7);
    assert_eq!(kept("cubic", 15), 10);
    assert_eq!(kept("cubic", 10), 7);
    assert_eq!(kept("dctcp", 15), 7);
    // Subtracted: w - ⌊w/2⌋; at least two.
    assert_eq!(kept("illinois", 15), 8);
    assert_eq!(kept("illinois", 2), 2);
}

/// RFC 5681 section 3.2 step 6 sets the window to the threshold.
#[test]
fn the_acknowledgement_that_ends_recovery_may_increase_the_window() {
    for (credit, expected) in [(Credit::Acked, 10.0), (Credit::Delivered, 10.3)] {
        let mut flow = credited(flow("newreno", &[PER_BYTE], 20), credit);
        flow.lose();
        // It covers the whole flight, of which three segments had not been reported.
        flow.c.una = flow.c.next_id.max(20 * MSS);
        flow.c.delivered += 3 * MSS;
        let ack = Ack { delivered: 3 * MSS, ..Ack::of(20 * MSS) };
        flow.ours.on_ack(&flow.p, &flow.c, &ack);
        flow.repair(0);
        assert!((flow.segments() - expected).abs() < 0.01, "{credit:?}: {}", flow.segments());
    }
}

#[test]
fn highspeed_may_count_acknowledgements_in_avoidance() {
    for (per_ack, expected) in [(false, 2.0), (true, 1.0)] {
        let mut flow = flow("highspeed", &[("per_ack", per_ack.into())], 20);
        flow.ack(MS, 100 * MS, 2);
        let gained = (flow.segments() - 20.0) * 20.0;
        assert!((gained - expected).abs() < 0.05, "{per_ack}: {gained}");
    }
}

#[test]
fn bic_may_multiply_by_the_segments_that_an_acknowledgement_covers() {
    let gained = |ack_ratio, covered: u64| {
        let mut flow = flow("bic", &[("ack_ratio", u64::from(ack_ratio))], 1_000);
        // The mean over about the last sixteen acknowledgements.
        (0..100).for_each(|_| flow.ack(MS, 100 * MS, covered));
        let before = flow.segments();
        (0..100).for_each(|_| flow.ack(MS, 100 * MS, covered));
        (flow.segments() - before) / before
    };
    // It begins at two; in sixteenths cut to whole numbers it hardly decreases from there.
    for (covered, expected) in [(1, 31.0 / 16.0), (2, 2.0), (4, 4.0)] {
        let (plain, multiplied) = (gained(false, covered), gained(true, covered));
        let ratio = multiplied / plain;
        assert!((ratio / expected - 1.0).abs() < 0.1, "{covered}: {ratio}");
    }
}

/// With a very slow clock only Reno's window counts. It grows from 14 segments by 3·0.3/1.7 per RTT,
/// and by one per RTT above the 20 segments before the cut.
#[test]
fn cubic_may_let_renos_window_grow_at_one_slope() {
    for (reno_beyond, expected) in
        [(true, 20.0 + (40.0 - 6.0 / 0.529)), (false, 14.0 + 0.529 * 40.0)]
    {
        let mut flow = flow("cubic", &[("reno_beyond", reno_beyond.into())], 20);
        lose(&mut flow);
        for _ in 0..40 {
            (0..flow.segments() as u64).for_each(|_| flow.ack(1, MS, 1));
        }
        let ours = flow.segments();
        assert!((ours - expected).abs() < 0.05 * expected, "{reno_beyond}: {ours} {expected}");
    }
}

#[test]
fn westwood_may_take_the_measured_window_when_the_loss_is_repaired() {
    for moment in [westwood::Moment::Loss, westwood::Moment::Repair] {
        let mut flow = flow("westwood", &[("moment", moment as u64)], 60);
        // A segment per millisecond, 40 in the minimum RTT; the rest of the window is queued.
        flow.ack(MS, 40 * MS, 1);
        (0..1_000).for_each(|_| flow.ack(MS, 60 * MS, 1));
        let window = flow.segments();
        flow.lose();
        let during = match moment {
            westwood::Moment::Loss => 40.0,
            westwood::Moment::Repair => window / 2.0,
        };
        assert!((flow.segments() - during).abs() < 1.5, "{moment:?}: {}", flow.segments());
        flow.repair(0);
        assert!((flow.segments() - 40.0).abs() < 1.5, "{moment:?}: {}", flow.segments());
    }
}

#[test]
fn htcp_as_in_linux_asks_for_two_steady_losses_and_then_grows_by_less() {
    let mut flow = flow("htcp", &[LINUX], 100);
    let mut kept = Vec::new();
    for _ in 0..4 {
        // A thousand segments per second at any window.
        (0..400).for_each(|_| flow.ack(MS, 100 * MS, 1));
        (0..10).for_each(|_| flow.ack(MS, 115 * MS, 1));
        kept.push(lose(&mut flow));
    }
    // No loss to compare with, then one steady loss, then two of them.
    for (kept, expected) in kept.iter().zip([0.5, 0.5, 0.8, 0.8]) {
        assert!((kept - expected).abs() < 0.02, "{kept} {expected}");
    }
    let before = flow.segments();
    // 2·(1 - 0.8) segments per window: three windows are counted before one segment is due, and the
    // next acknowledgement adds it.
    for opened in [0.0, 0.0, 0.0, 1.0] {
        flow.ack(MS, 100 * MS, before as u64);
        assert_eq!(flow.segments() - before, opened);
    }
}

/// With growth of ten segments per window, a flight acknowledged at once increases the window by ten.
/// The count beyond a whole number of windows is dropped.
#[test]
fn illinois_as_in_linux_counts_all_that_an_acknowledgement_covers() {
    let mut flow = whole(credited(flow("illinois", &[LINUX], 40), Credit::Delivered));
    flow.lose();
    let kept = flow.segments();
    flow.c.next_id = 40 * MSS;
    flow.c.una = 40 * MSS;
    let ack = Ack { delivered: MSS, ..Ack::of(40 * MSS) };
    flow.ours.on_ack(&flow.p, &flow.c, &ack);
    flow.repair(0);
    let opened = flow.segments() - kept;
    assert_eq!(opened, (40.0 * 10.0 / kept).floor(), "from {kept}");
}

/// The sample of the last acknowledgement decides; without a sample the path counts as congested.
#[test]
fn veno_as_in_linux_uses_the_last_sample() {
    for (last, expected) in [(Some(100), 0.8), (Some(150), 0.5), (None, 0.5)] {
        let mut flow = flow("veno", &[LINUX], 20);
        (0..4).for_each(|_| flow.ack(MS, 100 * MS, 1));
        match last {
            Some(ms) => flow.ack(MS, ms * MS, 1),
            None => {
                flow.c.una += MSS;
                flow.ours.on_ack(&flow.p, &flow.c, &Ack::of(MSS));
            }
        }
        let before = flow.segments();
        flow.lose();
        let kept = flow.segments() / before;
        assert!((kept - expected).abs() < 0.01, "{last:?}: {kept}");
    }
}

/// The cubic is six segments away, from 14 to the 20 before the cut. One RTT increases the window by at
/// most half, in whole segments.
#[test]
fn cubic_may_grow_to_its_target_in_whole_segments() {
    let mut flow = whole(flow("cubic", &[("reno_paced", 1), ("friendliness", 0)], 20));
    lose(&mut flow);
    assert_eq!(flow.segments(), 14.0);
    // K is 2.47 s: 100 ms ahead the cubic is 0.4·2.37³ = 5.3 below the 20, cut to five.
    flow.ack(1, 100 * MS, 14);
    assert_eq!(flow.segments().floor(), 15.0);
}

/// One RTT at twice the target reduces the window by a segment, each acknowledgement by a part of a
/// segment.
#[test]
fn a_window_of_whole_segments_closes_by_parts_of_one() {
    let mut flow = whole(flow("ledbat", &[], 40));
    flow.c.flight_size = 40 * MSS;
    (0..4).for_each(|_| flow.ack(MS, 20 * MS, 1));
    let before = flow.segments();
    (0..5 * 40).for_each(|_| flow.ack(MS, 220 * MS, 1));
    let closed = before - flow.segments();
    assert!((4.0..7.0).contains(&closed), "from {before} by {closed}");
}

/// The path has become longer during an idle time of ten seconds. Linux measures its base RTT again. With the
/// old base RTT, half of the window would count as queued.
#[test]
fn after_an_idle_time_the_delay_of_a_longer_path_does_not_count_as_queued() {
    let begun = |id, values: &[(&str, u64)], idle: bool| {
        let mut flow = whole(flow(id, values, 200));
        (0..1_000).for_each(|_| flow.ack(MS / 4, 50 * MS, 1));
        if idle {
            flow.idle(10_000 * MS, false);
        }
        let before = flow.segments();
        (0..2_000).for_each(|_| flow.ack(MS / 2, 100 * MS, 1));
        (before, flow)
    };
    for (id, way) in [("vegas", ("whole", 1)), ("yeah", ("forget_base", 1))] {
        let grown = |way: &[(&str, u64)], idle| {
            let (before, flow) = begun(id, way, idle);
            flow.segments() - before
        };
        assert!(grown(&[way], true) > 3.0, "{id}: {}", grown(&[way], true));
        assert!(grown(&[way], false) < -3.0, "{id}: {}", grown(&[way], false));
        assert!(grown(&[], true) < -3.0, "{id}: {}", grown(&[], true));
    }
    let kept = |idle| lose(&mut begun("veno", &[LINUX], idle).1);
    assert!((kept(true) - 0.8).abs() < 0.01 && (kept(false) - 0.5).abs() < 0.01);
}

#[test]
fn cubic_as_in_linux_does_not_grow_for_an_idle_time() {
    let mut busy = whole(flow("cubic", &[("reno_paced", 1)], 500));
    lose(&mut busy);
    (0..2_000).for_each(|_| busy.ack(MS / 4, 100 * MS, 1));
    let mut idle = whole(flow("cubic", &[("reno_paced", 1)], 500));
    (idle.ours, idle.c) = (busy.ours, busy.c);
    idle.idle(3_600_000 * MS, false);
    for flow in [&mut busy, &mut idle] {
        (0..500).for_each(|_| flow.ack(MS / 4, 100 * MS, 1));
    }
    assert_eq!(idle.segments(), busy.segments());
}

/// Rates are whole bytes per period of 4 ms. A sample takes more than 50 ms.
#[test]
fn westwood_as_in_linux_follows_the_rate_by_two_averages() {
    let values = [
        ("filter", westwood::Filter::Cascade as u64),
        ("clock", 4 * MS),
        ("min_interval", 50 * MS),
    ];
    for (after, acks) in [(20, 0.39), (2_000, 0.2)] {
        let mut flow = flow("westwood", &values, 100);
        // From one segment per millisecond to one in two.
        (0..1_000).for_each(|_| flow.ack(MS, 40 * MS, 1));
        (0..after).for_each(|_| flow.ack(2 * MS, 60 * MS, 1));
        flow.lose();
        let expected = acks * 100.0;
        assert!((flow.segments() - expected).abs() < 1.5, "{after}: {}", flow.segments());
    }
}
