//! Effect of one loss on a connection with a cwnd of six segments: Reno-BER Table 9 (RB-12).

use crate::pipe::{App, Pipe};
use windlass_cc::reno::{Increase, Params};
use windlass_cc::{AnyParams, Phase, Setup, Span, Time};
use windlass_tcp::{Preset, Profile, Seq, StackConfig};

const MSS: u64 = 1460;

/// cwnd in bytes at the end of each RTT after a single loss, until six segments.
fn windows_after_one_loss(increase: Increase, delayed_ack_segments: u32) -> Vec<u64> {
    let riverbed = Preset::by_name("riverbed").unwrap().config;
    let stack = StackConfig { delayed_ack_segments, ..riverbed };
    let params = AnyParams::Reno(Setup { own: Params { increase }, ..Default::default() });
    let p = Profile { stack, params, mtu: 1500 };
    let app = App { bytes: 0, write: 0, read: u64::MAX, period: 0, closes_last: true };
    let sender = App { bytes: 1 << 40, write: 1 << 40, ..app };
    let sides = [(p, sender, Seq(1)), (p, app, Seq(2))];
    let mut pipe = Pipe::new(sides, Time::ZERO, Span::from_millis(20), false, Vec::new());
    pipe.data_until_loss = Some(100);

    while pipe.ends[0].e.phase() != Phase::Recovery {
        assert!(pipe.sent < 1000, "the loss is never detected");
        pipe.step();
    }
    while pipe.ends[0].e.phase() == Phase::Recovery {
        pipe.step();
    }
    let sender = |pipe: &Pipe| {
        let e = &pipe.ends[0].e;
        (e.control().cwnd, e.acknowledged(), e.acknowledged() + e.in_flight())
    };
    assert_eq!(pipe.ends[0].e.stats().rto_count, 0);
    let (cwnd, _, mut round_end) = sender(&pipe);
    let mut windows = vec![cwnd];
    while *windows.last().unwrap() < 6 * MSS {
        pipe.step();
        let (cwnd, acknowledged, next) = sender(&pipe);
        if acknowledged >= round_end {
            windows.push(cwnd);
            round_end = next;
        }
    }
    assert_eq!(pipe.ends[0].e.stats().retransmits, 1);
    windows
}

#[test]
fn growth_once_per_round_trip_gives_table_9() {
    // The table as printed, except for its seventh value: 6762, printed 7762 (RB-11).
    let table =
        [4380, 4867, 5305, 5707, 6080, 6431, 6762, 7077, 7379, 7667, 7945, 8214, 8473, 8725, 8969];
    let windows = windows_after_one_loss(Increase::PerRtt, 1);
    assert_eq!(windows.len(), table.len(), "{windows:?}");
    for (ours, theirs) in windows.iter().zip(table) {
        assert!(ours.abs_diff(theirs) <= 1, "{windows:?}"); // the table has rounded values
    }
}

/// Each acknowledgement adds mss²/cwnd, and a round has as many acknowledgements as cwnd has whole segments:
/// 3, 3, 4 and 5. RB-12 instead counts a whole segment per round and three rounds.
#[test]
fn growth_per_acknowledgement_regains_six_segments_in_four_round_trips() {
    let windows = windows_after_one_loss(Increase::PerAck, 1);
    assert_eq!(windows.len() - 1, 4, "{windows:?}");
    for (round, acks) in [3.0, 3.0, 4.0, 5.0].into_iter().enumerate() {
        let [before, after] = [windows[round], windows[round + 1]].map(|w| w as f64);
        let per_ack = (after - before) / acks;
        let mss = MSS as f64;
        assert!(per_ack <= mss * mss / before && per_ack >= mss * mss / after, "{windows:?}");
    }
}

/// If every second segment is acknowledged, the growth takes longer, but less than twice as long: the
/// acknowledgement of an odd segment arrives with the first of the next round.
#[test]
fn delayed_acknowledgements_slow_the_growth() {
    let windows = windows_after_one_loss(Increase::PerAck, 2);
    assert_eq!(windows.len() - 1, 6, "{windows:?}");
}
