//! Each algorithm alone on a bottleneck of 10 Mbit/s and 40 ms, with a queue of one bandwidth-delay product
//! (33 packets): utilisation, queue length and spacing of the segments.

use crate::common::bottleneck::{bottleneck, settled};
use windlass_cc::{ALGORITHMS, Time};
use windlass_sim::PacketFate;

/// Expected values of an algorithm from 10 s to 60 s, with the reason in a comment.
struct Expected {
    ids: &'static [&'static str],
    /// Bounds of the share of time for which the link is busy.
    utilisation: (f64, f64),
    /// Bounds of the mean queue length, packets.
    queue: (f64, f64),
}

const fn expect(ids: &'static [&'static str], utilisation: f64, queue: (f64, f64)) -> Expected {
    Expected { ids, utilisation: (utilisation, 1.0), queue }
}

/// Expected values of an algorithm whose rules leave the link idle for a part of the time. A higher
/// utilisation would mean that it does not follow its rules.
const fn idling(
    ids: &'static [&'static str],
    utilisation: (f64, f64),
    queue: (f64, f64),
) -> Expected {
    Expected { ids, utilisation, queue }
}

/// Derivation: cwnd is reduced from W = 2·33 packets, where the queue overflows, to β·W. The queue is then
/// between β·66 − 33 and 33 packets. With linear growth, its mean is in the middle, or a little above it,
/// because an RTT with a longer queue lasts longer.
///
/// The bounds are a sixth below and above the simulated values, which the derivations explain. They check
/// reductions and thresholds. The growth of cwnd between two reductions has little effect on the mean queue;
/// `controllers_response.rs` checks it.
const EXPECTED: &[Expected] = &[
    // After each loss, cwnd grows from one segment, so that the link is idle for a few RTTs.
    expect(&["tahoe"], 0.90, (14.0, 19.0)),
    // β = 1/2: from 0 to 33 packets. The result is equal for H-TCP's β, HighSpeed's β at 66 segments (0.49)
    // and Westwood's bandwidth-delay product. It is also equal for DCTCP and Prague without ECN, for LEDBAT, because the
    // queue of 40 ms cannot reach its target of 100 ms, and for YeAH, whose queue would be 80 packets.
    expect(&["reno", "newreno", "cocoa3plus", "westwood"], 0.99, (16.0, 20.5)),
    expect(&["dctcp", "prague", "ledbat", "yeah"], 0.99, (16.0, 20.5)),
    expect(&["highspeed", "hybla"], 0.99, (16.0, 20.5)),
    // Without a sibling, coupled growth is Reno's growth.
    expect(&["lia", "olia", "balia", "emreno-approx"], 0.99, (16.0, 20.5)),
    // A reduction leaves a share between 1/2 and 0.9, averaged with the share that the last reduction left.
    // Without competition, any share is stable. It begins above one half, because slow start overshoots: a
    // large window precedes a small one.
    expect(&["d-lia"], 0.99, (23.0, 30.0)),
    // Vegas with both thresholds at ten packets, plus a rule that halves cwnd if the queueing delay is twice
    // the minimum since. Without a queue, the waits within bursts are enough for this rule. Therefore there
    // is rarely a queue, and the link is idle. (With `drain = false`, nine packets wait and the link is
    // busy.)
    idling(&["wvegas"], (0.3, 0.4), (0.1, 0.6)),
    // Growth is slow at first and then fast, so that the queue is below the middle for most of the time.
    expect(&["htcp"], 0.99, (10.0, 15.0)),
    // RTTmin is the minimum since the last loss. A queue that remains after a loss raises it, and with it β =
    // 1.1·RTTmin/RTTmax, until a loss does not reduce cwnd or even increases it. The queue stays full,
    // retransmissions are lost too, and the link is idle during the timeouts.
    idling(&["tcp-modified"], (0.62, 0.78), (16.0, 21.5)),
    // β = 1/2 at a full queue, with growth that becomes slower as the queue fills.
    expect(&["veno", "illinois", "compound"], 0.99, (17.0, 24.5)),
    // β = 0.7: from 13 to 33 packets, concave.
    expect(&["cubic"], 0.99, (22.0, 27.0)),
    // β = 0.8, concave, and 7/8.
    expect(&["bic", "scalable"], 0.99, (25.5, 31.0)),
    // One to three packets more than a path without a queue holds. The base RTT is measured on the SYN, so
    // that most of the transmission time of a full packet counts as a queued packet.
    expect(&["vegas"], 0.97, (0.2, 1.0)),
    // Two to six packets, in the same way. MFVL on one path is MVegas.
    expect(&["mvegas", "mfvl"], 0.97, (2.5, 5.5)),
    // sigma·(C·base + alpha) = (33 + 100)/2 packets in flight, of which 33 wait. This is slightly too many,
    // so that it sometimes halves from a full queue.
    expect(&["mfast"], 0.97, (20.0, 27.0)),
    // Its alpha exceeds the queue, which stays full between losses.
    expect(&["fast", "mpfast-approx"], 0.99, (14.5, 19.0)),
    // Oscillates by about 1/δ to 5/δ packets every few RTTs, δ = 1/2 (Copa, section 2.1).
    expect(&["copa"], 0.97, (1.5, 4.0)),
    // During 200 ms of each 10 s, four packets are in flight to measure the RTT. In one of eight phases, a
    // quarter of the bandwidth-delay product waits. BC-CPS on one path is BBR.
    expect(&["bbr", "bc-cps"], 0.96, (5.0, 8.5)),
    // During 200 ms of each 5 s, half the bandwidth-delay product is in flight. After losses there is 15 % of
    // headroom.
    expect(&["bbr3"], 0.90, (2.5, 5.5)),
];

#[test]
fn every_algorithm_has_the_utilisation_and_queue_of_its_rules() {
    for info in ALGORITHMS {
        let expected = EXPECTED.iter().find(|e| e.ids.contains(&info.id));
        let Expected { utilisation: (idle, busy), queue: (min, max), .. } =
            expected.unwrap_or_else(|| panic!("no expected values for {}", info.id));
        let s = settled(bottleneck(&[(info.id, 40)], 1), 10, 60);
        let got = format!("{}: busy {:.4}, {:.1} packets", info.id, s.utilisation, s.queue);
        assert!((*idle..=*busy + 1e-9).contains(&s.utilisation), "{got}"); // sum of fractions
        assert!((*min..=*max).contains(&s.queue), "{got}");
    }
    for id in EXPECTED.iter().flat_map(|e| e.ids) {
        assert!(ALGORITHMS.iter().any(|info| info.id == *id), "algorithm {id} not found");
    }
}

/// Times between consecutive data segments on the sender's own link of 1 Gbit/s, ms, ascending.
fn gaps(algorithm: &'static str) -> Vec<f64> {
    let mut config = bottleneck(&[(algorithm, 40)], 1);
    config.record.capture = vec![1];
    let s = settled(config, 5, 20);
    let data = s.run.packets.iter().filter(|p| {
        let settled = p.time >= Time::from_secs(5);
        p.link == 2 && p.fate == PacketFate::Sent && p.ip_len == 1500 && settled
    });
    let times: Vec<u64> = data.map(|p| p.time.0).collect();
    assert!(times.len() > 10_000, "{algorithm} sent {} segments", times.len());
    let mut gaps: Vec<f64> = times.windows(2).map(|w| (w[1] - w[0]) as f64 / 1e6).collect();
    gaps.sort_by(f64::total_cmp);
    gaps
}

#[test]
fn paced_segments_leave_one_by_one_at_the_rate_and_others_in_pairs() {
    let quantile = |gaps: &[f64], q: f64| gaps[(q * (gaps.len() - 1) as f64) as usize];
    // The bottleneck transmits a packet of 1500 bytes in 1.2 ms. BBR paces at up to 5/4 of this rate in
    // payload. Copa paces at twice cwnd per RTT, which with this queue is nearly twice the rate.
    for (id, shortest) in [("bbr", 1.2 / 1.25), ("bbr3", 1.2 / 1.25), ("copa", 1.2 / 2.0 * 0.8)] {
        let gaps = gaps(id);
        let (early, middle) = (quantile(&gaps, 0.02), quantile(&gaps, 0.5));
        assert!(early >= 0.98 * shortest, "{id}: {early} ms");
        assert!((0.6..1.4).contains(&middle), "{id}: {middle} ms");
    }
    // Two segments per delayed acknowledgement: half of the gaps are a packet time at 1 Gbit/s.
    for id in ["newreno", "cubic"] {
        let gaps = gaps(id);
        let early = quantile(&gaps, 0.4);
        assert!((early - 0.012).abs() < 1e-6, "{id}: {early} ms");
    }
}
