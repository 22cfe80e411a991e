//! Tests of the models of losses.

use super::*;
use crate::random::Purpose;

fn losses(model: LossModel, frames: u64, bytes: u32) -> Vec<u64> {
    let mut p = LossProcess::new(&model, Stream::new(7, 1, Purpose::Loss));
    (1..=frames).filter(|_| p.takes(bytes)).collect()
}

#[test]
fn listed_frames_and_no_others_are_lost() {
    assert_eq!(losses(LossModel::List { packets: vec![2, 5] }, 10, 100), [2, 5]);
}

#[test]
fn drop_rate_is_the_probability_within_four_sigma() {
    let n = 100_000.0;
    let got = losses(LossModel::Drop { probability: 0.1 }, n as u64, 100).len() as f64;
    assert!((got - n * 0.1).abs() < 4.0 * (n * 0.09f64).sqrt(), "{got}");
}

#[test]
fn bit_errors_lose_frames_by_their_size() {
    let n = 100_000.0f64;
    for (bytes, per) in [(1250u32, 0.095_162_6), (64, 0.005_106_9)] {
        let model = LossModel::Ber { rate: 1e-5, formula: BerFormula::Exact };
        let got = losses(model, n as u64, bytes).len() as f64;
        assert!((got - n * per).abs() < 4.0 * (n * per).sqrt(), "{bytes}: {got}");
    }
}

#[test]
fn a_copy_caches_loss_probabilities_like_the_original() {
    let (rate, formula, chances) = (1e-5, BerFormula::Exact, Vec::new());
    let mut original =
        BitErrors { rate, formula, chances, stream: Stream::new(7, 1, Purpose::Loss) };
    original.takes(1500);
    let mut copy = original.clone();
    for process in [&mut original, &mut copy] {
        (64..164).for_each(|bytes| _ = process.takes(bytes));
        let sizes: Vec<u32> = process.chances.iter().map(|c| c.0).collect();
        assert_eq!((sizes[0], sizes[1], sizes.len()), (1500, 64, 16));
    }
}

#[test]
fn the_linear_formula_is_capped_at_certainty() {
    assert_eq!(frame_error_rate(1e-3, 12_000, BerFormula::Linear), 1.0);
    assert!((frame_error_rate(1e-6, 12_000, BerFormula::Linear) - 0.012).abs() < 1e-15);
    assert!((frame_error_rate(1e-4, 12_000, BerFormula::Exact) - 0.698_824).abs() < 1e-5);
}

const BURSTS: Bursts = Bursts {
    mean_good: Span::from_millis(900),
    mean_bad: Span::from_millis(100),
    loss_good: 0.0,
    loss_bad: 1.0,
};

fn lost_at(bursts: &Bursts, gap_ms: u64, frames: u64) -> Vec<Time> {
    let mut process = BurstProcess::new(bursts, 7, 1);
    let at = |i: u64| Time::from_millis(i * gap_ms);
    (0..frames).map(at).filter(|t| process.takes(*t, *t)).collect()
}

#[test]
fn bursts_in_time_have_their_share_and_length_at_any_frame_gap() {
    for (gap_ms, frames) in [(1, 2_000_000), (10, 400_000), (60_000, 200_000)] {
        let lost = lost_at(&BURSTS, gap_ms, frames);
        let share = lost.len() as f64 / frames as f64;
        assert!((share - 0.1).abs() < 0.01, "{gap_ms} ms: {share}");
        if gap_ms == 1 {
            let follows = |w: &[Time]| w[1].since(w[0]) == Span::from_millis(1);
            let bursts = 1 + lost.windows(2).filter(|w| !follows(w)).count();
            let mean = lost.len() as f64 / bursts as f64;
            assert!((mean - 100.0).abs() < 7.0, "mean burst {mean} ms");
        }
        if gap_ms == 60_000 {
            // Frames a minute apart are lost one by one.
            let pairs = lost.windows(2).filter(|w| w[1].since(w[0]).0 == 60_000_000_000).count();
            assert!((pairs as f64 / lost.len() as f64 - 0.1).abs() < 0.01, "{pairs}");
        }
    }
}

#[test]
fn bursts_in_time_do_not_depend_on_the_number_of_frames() {
    let [few, many] = [(30, 1_000), (10, 3_000)].map(|(gap, n)| lost_at(&BURSTS, gap, n));
    assert!(!few.is_empty() && few.iter().all(|t| many.contains(t)));
    let mut process = BurstProcess::new(&BURSTS, 7, 1);
    let begins = many[0];
    let (before, after) = (begins.0 - 20_000_000, begins.0 + 1_000_000);
    assert!(
        process.takes(Time(before), Time(after)),
        "a frame in transmission at the start of a burst is lost"
    );
}

#[test]
fn loss_steps_hold_from_their_times_on_and_repeat() {
    let at = Time::from_millis;
    let steps = LossSteps { steps: vec![(at(0), 0.0), (at(10), 1.0), (at(30), 0.0)], period: None };
    let mut process = StepProcess::new(&steps, 7, 1);
    let lost: Vec<u64> = (0..100).filter(|ms| process.takes(at(*ms))).collect();
    assert_eq!(lost, (10..30).collect::<Vec<u64>>());
    let repeated = LossSteps { period: Some(Span::from_millis(40)), ..steps };
    let mut process = StepProcess::new(&repeated, 7, 1);
    let lost = (0..4000).filter(|ms| process.takes(at(*ms))).count();
    assert!(lost == 2_000 && process.takes(at(4_010)) && !process.takes(at(4_030)));
    let half = LossSteps { steps: vec![(at(0), 0.3)], period: None };
    let mut process = StepProcess::new(&half, 7, 1);
    let share = (0..100_000).filter(|ms| process.takes(at(*ms))).count() as f64 / 1e5;
    assert!((share - 0.3).abs() < 4.0 * (0.21f64 / 1e5).sqrt(), "{share}");
}

#[test]
fn gilbert_elliott_has_its_mean_loss_and_its_mean_burst() {
    let n = 200_000u64;
    let model = LossModel::GilbertElliott {
        good_to_bad: 0.01,
        bad_to_good: 0.25,
        loss_good: 0.0,
        loss_bad: 1.0,
    };
    let lost = losses(model, n, 100);
    let expected = 0.01 / 0.26; // stationary share of the bad state
    let share = lost.len() as f64 / n as f64;
    assert!((share - expected).abs() < 0.003, "{share}");
    let bursts = 1 + lost.windows(2).filter(|w| w[1] != w[0] + 1).count();
    let mean = lost.len() as f64 / bursts as f64;
    assert!((mean - 4.0).abs() < 0.25, "mean burst {mean}, expected 1/0.25");
}
