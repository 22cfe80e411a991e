//! Each algorithm alone on a bottleneck of 10 Mbit/s and 40 ms with a queue of one bandwidth-delay
//! product, 33 packets: how busy the link is, how much waits, how sends are spaced.

use crate::common::bottleneck::{bottleneck, settled};
use windlass_cc::{ALGORITHMS, Time};
use windlass_sim::PacketFate;

/// What is to be expected of an algorithm from 10 s to 60 s, and why.
struct Expected {
    ids: &'static [&'static str],
    /// Bounds of the share of time for which the link is busy.
    utilisation: (f64, f64),
    /// Bounds of the mean number of packets waiting.
    queue: (f64, f64),
}

const fn expect(ids: &'static [&'static str], utilisation: f64, queue: (f64, f64)) -> Expected {
    Expected { ids, utilisation: (utilisation, 1.0), queue }
}

/// Of one whose rules leave the link idle so much of the time: if it did better, they would not be its rules.
const fn idling(
    ids: &'static [&'static str],
    utilisation: (f64, f64),
    queue: (f64, f64),
) -> Expected {
    Expected { ids, utilisation, queue }
}

/// A window that falls from W = 2·33 packets, where the queue overflows, to β·W leaves between
/// β·66 − 33 and 33 packets waiting; growth in a straight line has their mean in the middle, a
/// little above it as round trips with a longer queue last longer. Bounds are a sixth to either side of
/// what comes out, which the derivations explain. They hold cuts and thresholds; how fast a window grows
/// between two cuts hardly moves the mean queue and is held elsewhere (`controllers_response.rs`).
const EXPECTED: &[Expected] = &[
    // After each loss the window grows from one segment: the link idles for a few round trips.
    expect(&["tahoe"], 0.90, (14.0, 19.0)),
    // β = 1/2: from 0 to 33. H-TCP's β, HighSpeed's at 66 segments (0.49) and Westwood's
    // (a bandwidth-delay product) come to the same; so does DCTCP without ECN, LEDBAT, whose target
    // of 100 ms the queue of 40 ms cannot reach, and YeAH, whose queue would be 80 packets.
    expect(&["reno", "newreno", "cocoa3plus", "westwood"], 0.99, (16.0, 20.5)),
    expect(&["dctcp", "ledbat", "yeah"], 0.99, (16.0, 20.5)),
    expect(&["highspeed", "hybla"], 0.99, (16.0, 20.5)),
    // Coupled growth without a sibling is Reno's.
    expect(&["lia", "olia", "balia", "emreno-approx"], 0.99, (16.0, 20.5)),
    // Its cut leaves a share between 1/2 and 0.9 that it averages with what the last cut left of the
    // window: alone any share stays, and slow start's overshoot, a large window before a small one,
    // begins with more than the half.
    expect(&["d-lia"], 0.99, (23.0, 30.0)),
    // Vegas with both thresholds at ten packets, were it not for the rule that halves the window when
    // the queueing delay is twice the least seen since: without a queue what bursts wait for each other
    // is enough, so that it hardly ever reaches a queue, and the link idles. (With `drain = false` nine
    // packets wait and the link is busy.)
    idling(&["wvegas"], (0.3, 0.4), (0.1, 0.6)),
    // Its growth is slow at first and then fast: the time is spent below the middle.
    expect(&["htcp"], 0.99, (10.0, 15.0)),
    // Its RTTmin is that since the last loss. A queue that a loss leaves standing raises it, and with
    // it β = 1.1·RTTmin/RTTmax, until a loss takes nothing or opens the window: the queue stays full,
    // retransmissions are lost too, and the link idles while timeouts are waited for.
    idling(&["tcp-modified"], (0.62, 0.78), (16.0, 21.5)),
    // β = 1/2 at a full queue, but growth that slows down as the queue fills.
    expect(&["veno", "illinois", "compound"], 0.99, (17.0, 24.5)),
    // β = 0.7: from 13 to 33, concave.
    expect(&["cubic"], 0.99, (22.0, 27.0)),
    // β = 0.8, concave, and 7/8.
    expect(&["bic", "scalable"], 0.99, (25.5, 31.0)),
    // One to three packets more than the base round trip holds. That is measured on the SYN, so
    // that most of the time on the wire of a full packet counts as a packet queued.
    expect(&["vegas"], 0.97, (0.2, 1.0)),
    // Two to six packets, in the same way: MFVL alone is MVegas.
    expect(&["mvegas", "mfvl"], 0.97, (2.5, 5.5)),
    // sigma·(C·base + alpha) = (33 + 100)/2 packets in flight, of which 33 wait: just too many, so that
    // it halves from a full queue now and then.
    expect(&["mfast"], 0.97, (20.0, 27.0)),
    // Its alpha exceeds the queue, which stays full between losses.
    expect(&["fast", "mpfast-approx"], 0.99, (14.5, 19.0)),
    // Up and down by some 1/δ to 5/δ packets every few round trips, δ = 1/2 (Copa, section 2.1).
    expect(&["copa"], 0.97, (1.5, 4.0)),
    // 200 ms of each 10 s go to measuring the round trip with four packets; a quarter of the
    // bandwidth-delay product waits during one phase of eight. BC-CPS on one path is BBR.
    expect(&["bbr", "bc-cps"], 0.96, (5.0, 8.5)),
    // 200 ms of each 5 s with half the product in flight, and 15 % of headroom after losses.
    expect(&["bbr3"], 0.90, (2.5, 5.5)),
];

#[test]
fn every_algorithm_fills_the_link_and_keeps_the_queue_that_its_rules_imply() {
    for info in ALGORITHMS {
        let expected = EXPECTED.iter().find(|e| e.ids.contains(&info.id));
        let Expected { utilisation: (idle, busy), queue: (min, max), .. } =
            expected.unwrap_or_else(|| panic!("nothing is said of {}", info.id));
        let s = settled(bottleneck(&[(info.id, 40)], 1), 10, 60);
        let got = format!("{}: busy {:.4}, {:.1} packets", info.id, s.utilisation, s.queue);
        assert!((*idle..=*busy + 1e-9).contains(&s.utilisation), "{got}"); // sums of fractions
        assert!((*min..=*max).contains(&s.queue), "{got}");
    }
    for id in EXPECTED.iter().flat_map(|e| e.ids) {
        assert!(ALGORITHMS.iter().any(|info| info.id == *id), "{id} does not exist");
    }
}

/// Times from one data segment to the next on the sender's own link of 1 Gbit/s, ms, ascending.
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
    // The bottleneck takes a packet of 1500 bytes in 1.2 ms. BBR goes up to 5/4 of that rate for
    // payload, Copa to twice the window per round trip, which at this queue is nearly twice.
    for (id, shortest) in [("bbr", 1.2 / 1.25), ("bbr3", 1.2 / 1.25), ("copa", 1.2 / 2.0 * 0.8)] {
        let gaps = gaps(id);
        let (early, middle) = (quantile(&gaps, 0.02), quantile(&gaps, 0.5));
        assert!(early >= 0.98 * shortest, "{id}: {early} ms");
        assert!((0.6..1.4).contains(&middle), "{id}: {middle} ms");
    }
    // Two segments for each delayed acknowledgement: half of the gaps are a packet at 1 Gbit/s.
    for id in ["newreno", "cubic"] {
        let gaps = gaps(id);
        let early = quantile(&gaps, 0.4);
        assert!((early - 0.012).abs() < 1e-6, "{id}: {early} ms");
    }
}
