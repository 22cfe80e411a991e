//! The transfer of Reno-BER compared with closed forms: the window bound, PFTK, binomial counts, Mathis.

use crate::common::pftk::Path;
use crate::common::{
    DOWNLOAD, MSS, Traffic, download, drops, exact_riverbed, flow, link, mean_and_error, network,
    rfc, run,
};
use windlass_cc::Time;
use windlass_sim::RunResult;
use windlass_tcp::stack::{RIVERBED, StackConfig};

/// Segments of the download.
const SEGMENTS: f64 = DOWNLOAD as f64 / MSS as f64;

/// Time of a pair of full segments and the acknowledgement of both:
///
/// * two frames of 1538 bytes with preamble and gap on the first link, and the second frame on the second
///   link (each 1.2304 ms at 10 Mbit/s),
/// * an acknowledgement of 84 bytes (the frame is padded to 64) on both links (each 0.0672 ms),
/// * and 40 ms of propagation.
const PAIR_RTT: f64 = 3.0 * 1.2304e-3 + 2.0 * 0.0672e-3 + 0.040;

const SEEDS: u64 = 40;

fn downloads(stack: StackConfig, p: f64) -> Vec<RunResult> {
    let one = |seed| {
        let mut config = download(stack, DOWNLOAD, drops(p));
        config.seed = seed;
        run(config)
    };
    (1..=SEEDS).map(one).collect()
}

/// Mean over the runs and its standard error.
fn mean(runs: &[RunResult], value: impl Fn(&RunResult) -> f64) -> (f64, f64) {
    mean_and_error(&runs.iter().map(value).collect::<Vec<_>>())
}

fn seconds(r: &RunResult) -> f64 {
    r.flows[0].completion_s.expect("every download ends")
}

#[test]
fn without_loss_the_download_takes_the_window_bound_and_the_start_up() {
    // Six segments, or three pairs, per RTT: 6849.3 segments take 1141.6 RTTs of 43.8 ms, 50.02 s. The
    // handshake adds one RTT of 40.3 ms. Slow start sends 2, 3, 4 and 5 segments instead of 6: 10 segments
    // fewer, 1.7 RTTs. (Reno-BER's own bound, equations 12 and 13, omits the transmission time of frames:
    // 45.66 s. Its testbed took 50.25 s.)
    let expected = (SEGMENTS / 6.0 + 10.0 / 6.0) * PAIR_RTT + 0.0403;
    let r = run(download(RIVERBED, DOWNLOAD, None));
    let got = seconds(&r);
    assert!((got / expected - 1.0).abs() < 0.01, "{got} s, expected {expected} s");
    let f = &r.flows[0];
    assert_eq!((f.delivered_bytes, f.data_segments, f.retransmits), (DOWNLOAD, 6850, 0));
    assert_eq!((f.rto_count, f.loss_rate), (0, 0.0));
    // SYN and the last ACK; the last segment carries the FIN.
    assert_eq!(f.packets_sent, f.data_segments + 2);
}

/// Simulated mean time over the time by the full model, and the time by the model without timeouts over the
/// full model's.
fn against_pftk(p: f64) -> (f64, f64) {
    let path = Path { rtt: PAIR_RTT, t0: 1.0, b: 2.0, window: 6.0 };
    let model = SEGMENTS / path.throughput(p);
    let ours = mean(&downloads(exact_riverbed(), p), seconds).0;
    (ours / model, SEGMENTS / path.send_rate_without_timeouts(p) / model)
}

// PFTK assumes that after a lost segment, the rest of the round is lost too. For a window of six, half of all
// losses (Q = 0.52) then end in a timeout. In the simulation, losses are independent. A single loss causes
// five duplicates. A timeout occurs only after a second loss nearby, or if the window is below four segments.
//
// Up to 1 %, the simulated time is therefore between the model without timeouts and the full model. The
// difference from the full model is the cost of the model's additional timeouts: p·Q seconds per segment. For
// the whole transfer of 50 s, this is 36 s at 1 %, 3.6 s at 0.1 % and 0.4 s at 0.01 %.

#[test]
fn at_1e_4_the_download_is_within_one_percent_of_pftk() {
    let (ours, without_timeouts) = against_pftk(1e-4);
    assert!(ours > without_timeouts.min(0.99) && ours < 1.002, "{ours}");
}

#[test]
fn at_1e_3_the_download_is_within_the_cost_of_timeouts_of_pftk() {
    let (ours, without_timeouts) = against_pftk(1e-3);
    assert!(ours > without_timeouts.max(0.93) && ours < 1.0, "{ours} of {without_timeouts}..1");
}

#[test]
fn at_1e_2_the_download_is_between_pftk_with_and_without_timeouts() {
    let (ours, without_timeouts) = against_pftk(1e-2);
    assert!(without_timeouts < 0.65, "the interval is too wide: {without_timeouts}");
    assert!(ours > without_timeouts && ours > 0.75 && ours < 0.95, "{ours}");
}

#[test]
fn at_1e_1_the_download_takes_up_to_half_longer_than_pftk() {
    // Nearly every loss causes a timeout now, so that the model's Q does not matter. The model omits four
    // things: slow start after each timeout, delayed acknowledgements of single segments (0.2 s), segments
    // that go-back-N sends twice, and Karn's rule. Under Karn's rule, a doubled timer remains doubled until a
    // segment arrives at its first transmission. Each of these adds time, in total less than half.
    let (ours, _) = against_pftk(1e-1);
    assert!(ours > 1.0 && ours < 1.5, "{ours}");
}

#[test]
fn half_second_timers_cost_time_only_with_timeouts() {
    // A timer of at least 1 s that expires at multiples of 0.5 s fires after 1 to 1.5 s.
    let ratio = |p| {
        let coarse = mean(&downloads(RIVERBED, p), seconds).0;
        coarse / mean(&downloads(exact_riverbed(), p), seconds).0
    };
    let rare = ratio(1e-4);
    assert!((rare - 1.0).abs() < 0.005, "{rare}");
    let many = ratio(1e-1);
    assert!(many > 1.05 && many < 1.5, "{many}");
}

#[test]
fn retransmissions_follow_the_binomial_count_up_to_one_percent() {
    // Each of n segments is sent until it arrives: n·p/(1−p) retransmissions per download, with a variance of
    // n·p/(1−p)². Go-back-N after a timeout may retransmit one or two segments that had arrived. At 1 % and
    // 11 timeouts per download, this is within the noise.
    for p in [1e-4, 1e-3, 1e-2] {
        let runs = downloads(exact_riverbed(), p);
        let expected = SEGMENTS * p / (1.0 - p);
        let sigma = (SEGMENTS * p / (1.0 - p).powi(2) / SEEDS as f64).sqrt();
        let (got, _) = mean(&runs, |r| r.flows[0].retransmits as f64);
        assert!((got - expected).abs() < 4.0 * sigma, "p = {p}: {got}, expected {expected}");
        let (lost, _) = mean(&runs, |r| r.links[2].drops_error as f64);
        assert!((lost - expected).abs() < 4.0 * sigma, "p = {p}: {lost} lost");
    }
}

#[test]
fn at_ten_percent_go_back_n_retransmits_more_than_was_lost() {
    let runs = downloads(exact_riverbed(), 1e-1);
    let (lost, _) = mean(&runs, |r| r.links[2].drops_error as f64);
    let (again, error) = mean(&runs, |r| r.flows[0].retransmits as f64);
    let expected = SEGMENTS * 0.1 / 0.9; // 761 (RB-15)
    assert!(again > lost && again > expected - 4.0 * error, "{again} for {lost} lost");
    // With a window of six, at most four segments that had arrived are retransmitted.
    let (timeouts, _) = mean(&runs, |r| r.flows[0].rto_count as f64);
    assert!(again < lost + 4.0 * timeouts, "{again} for {lost} lost and {timeouts} timeouts");
}

#[test]
fn without_window_limit_the_rate_follows_the_square_root_law() {
    // Mathis et al. 1997: rate = MSS/RTT · √(3/(2·b·p)), with b = 2 a constant of 0.866, for periodic losses.
    // With random losses at the same rate, the window sometimes grows for a long time, which raises the mean
    // by up to 15 % (Ott's constant √(π/2)·1.05 instead of √(3/2), b = 1). At 1 %, the window is 8.7 segments
    // and timeouts reduce the rate. PFTK gives this reduction for Reno. It is smaller for NewReno, which
    // repairs several losses in a window without a timeout.
    let reno = Path { rtt: 0.04, t0: 1.0, b: 2.0, window: 1e9 }.throughput(1e-2);
    let least = reno * 0.04 * 1e-2f64.sqrt() / 0.75f64.sqrt();
    for (p, least) in [(1e-3, 0.95), (3e-3, 0.95), (1e-2, least)] {
        let constant = |seed| {
            let mut wire = link([0, 1], 1_000_000_000, 20);
            wire.loss[0] = drops(p);
            let bulk = flow([0, 1], rfc("newreno"), Traffic::Bulk { bytes: None });
            let mut config = network(vec![wire], vec![bulk], Time::from_secs(600));
            config.seed = seed;
            run(config).flows[0].goodput_bps / 8.0 / 1448.0 * 0.040 * p.sqrt()
        };
        let (got, _) = mean_and_error(&(1..=10).map(constant).collect::<Vec<_>>());
        let relative = got / 0.75f64.sqrt();
        assert!(relative > least && relative < 1.15, "p = {p}: {relative} of the constant");
    }
}

#[test]
fn the_model_gives_the_published_test_vector() {
    // RTT 40 ms, T0 1 s, b 2, W 6: download times of 46.1, 49.7, 86.5 and 601 s by the send rate, and 89.0
    // and 711 s by the throughput form at 1 % and 10 %.
    let path = Path { rtt: 0.04, t0: 1.0, b: 2.0, window: 6.0 };
    for (p, expected) in [(1e-4, 46.1), (1e-3, 49.7), (1e-2, 86.5), (1e-1, 601.0)] {
        let got = SEGMENTS / path.send_rate(p);
        assert!((got / expected - 1.0).abs() < 2e-3, "p = {p}: {got}");
    }
    for (p, expected) in [(1e-2, 89.0), (1e-1, 711.0)] {
        let got = SEGMENTS / path.throughput(p);
        assert!((got / expected - 1.0).abs() < 2e-3, "p = {p}: {got}");
    }
}
