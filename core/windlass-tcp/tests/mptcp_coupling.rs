//! Controllers that receive the state of the other paths.

use crate::multinet::{Net, Path, profile};
use windlass_cc::coupling::cycle::{CycleParams, MFAST, MVEGAS};
use windlass_cc::group::MAX_PATHS;
use windlass_cc::params::Ratio;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::{AnyParams, Setup, Span, mfvl};
use windlass_tcp::mptcp::{MultipathConfig, MultipathProfile};
use windlass_tcp::stack::RFC;
use windlass_tcp::{Profile, StackConfig};

fn connection(algorithm: &str, paths: usize) -> MultipathProfile {
    let stack = StackConfig { delayed_ack_segments: 1, ..RFC };
    let mut path = profile(algorithm, stack, 1500);
    // Congestion avoidance from the first window on.
    let common = path.params.common();
    path.params.set_common(&Setup { initial_ssthresh: 10_000, ..common });
    MultipathProfile::new(MultipathConfig::default(), vec![path; paths]).unwrap()
}

/// cwnds of both paths at two times, segments.
fn growth(algorithm: &str) -> f64 {
    let mut net = Net::transfer(connection(algorithm, 2), 1 << 40, vec![Path::clean(50); 2], 3);
    let windows = |net: &Net| {
        let window = |i| net.ends[0].c.subflow(i).control().cwnd as f64;
        (window(0) + window(1)) / 1_420.0
    };
    net.run_until(2_000);
    let before = windows(&net);
    net.run_until(12_000);
    windows(&net) - before
}

/// For two equal paths α is 1/2. Each acknowledged segment grows the cwnd of its path by a quarter of Reno's
/// growth. Both cwnds together grow by half a segment per RTT (RFC 6356 section 3).
#[test]
fn lia_on_two_equal_paths_grows_at_a_quarter_of_the_rate() {
    let (coupled, alone) = (growth("lia"), growth("reno"));
    // A hundred RTTs of 100 ms. The second path began later, and α = max w/Σ w is slightly above 1/2 while
    // its cwnd is smaller.
    assert!((49.0..=54.0).contains(&coupled), "{coupled} segments");
    assert!((180.0..=204.0).contains(&alone), "{alone} segments");
}

#[test]
fn mfvl_decides_at_its_deadlines_only_while_there_is_data() {
    let mut net = Net::transfer(connection("mfvl", 2), 3_000, vec![Path::clean(50); 2], 3);
    // The application continues after a long pause: the client stays open.
    net.ends[0].app.bytes = 6_000;
    net.ends[0].app.write = 3_000;
    net.ends[0].app.period = 90_000;
    net.run_until(170_000);
    let client = &net.ends[0].c;
    assert!(client.was_established() && !client.is_closed());
    assert!(client.deadline() > net.now + Span::from_secs(600), "no decision is due");
    // Endless data: the next decision is never later than a cycle of 50 s.
    let mut net = Net::transfer(connection("mfvl", 2), 1 << 40, vec![Path::clean(50); 2], 3);
    for second in [10, 60, 110] {
        net.run_until(1_000 * second);
        assert!(net.ends[0].c.deadline() <= net.now + Span::from_secs(50));
    }
}

/// MFVL compares the shares of retransmitted segments, and not their numbers. The slow path carries fewer segments.
#[test]
fn mfvl_runs_mfast_on_the_path_that_retransmits_the_smaller_share() {
    let never_coupled = Ratio::of(1_000, 1);
    let cycle = Span::from_secs(20);
    let own = mfvl::Params {
        cycle: CycleParams { cycle, delta: never_coupled, ..CycleParams::repaired() },
        ..mfvl::Params::default()
    };
    let stack = StackConfig { recovery: Some(LossRecovery::Sack), ..RFC };
    let path = Profile::new(stack, AnyParams::Mfvl(Setup { own, ..Setup::default() }), 1500);
    let p = MultipathProfile::new(MultipathConfig::default(), vec![path; 2]).unwrap();
    let (fast, slow) =
        (Path::rated(20, 10), Path { byte_ns: 40_000, queue: 5_000, ..Path::clean(200) });
    for (losses, fast_has_more, modes) in
        [([20, 10], true, [MVEGAS, MFAST]), ([10, 40], false, [MFAST, MVEGAS])]
    {
        let paths = vec![
            Path { loss: losses[0], ..fast.clone() },
            Path { loss: losses[1], ..slow.clone() },
        ];
        let mut net = Net::transfer(p.clone(), 1 << 40, paths, 3);
        net.run_until(20_100);
        let client = &net.ends[0].c;
        let [many, few] = [0, 1].map(|i| client.path_stats(i));
        assert!(many.data_segments > 10 * few.data_segments && few.retransmits > 0);
        assert!(many.retransmits > few.retransmits);
        let more = many.retransmits * few.data_segments > few.retransmits * many.data_segments;
        assert_eq!(more, fast_has_more, "the shares");
        assert_eq!([0, 1].map(|i| client.mode(i)), modes);
    }
}

#[test]
fn connection_works_with_the_maximum_number_of_paths() {
    let stack = StackConfig { delayed_ack_segments: 1, ..RFC };
    let paths: Vec<Profile> = vec![profile("lia", stack, 1500); MAX_PATHS];
    let p = MultipathProfile::new(MultipathConfig::default(), paths).unwrap();
    let mut net = Net::transfer(p, 4_000_000, vec![Path::rated(10, 2); MAX_PATHS], 3);
    net.run_to_close(100_000);
    assert_eq!(net.ends[1].read, 4_000_000);
    assert_eq!(net.ends[0].c.stats().joins, MAX_PATHS as u64 - 1);
    for path in 0..MAX_PATHS {
        assert!(net.ends[0].c.path_stats(path).data_bytes > 200_000);
    }
}
