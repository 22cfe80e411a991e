//! The Cat and Mouse Based Optimizer and the timeout that it finds, compared with floating point.

use proptest::prelude::*;
use windlass_cc::rto::cmbo::{Found, Objective, Order, Search, TICK_BITS, minimise};
use windlass_conform::models::cat_and_mouse::{CatAndMouse, timeout_cost};

/// Fractional bits of a coordinate of the sphere.
const BITS: u32 = 20;
const ONE: f64 = (1 << BITS) as f64;

fn square(places: &[i64; 2], centre: i64) -> u64 {
    places.iter().map(|x| (x - centre).unsigned_abs().pow(2)).sum()
}

/// The reference test: the sphere in two dimensions between ±100, 20 members.
fn sphere(order: Order, iterations: u32, seed: u32, centre: i64) -> Found<2> {
    let bound = 100 << BITS;
    let search = Search { agents: 20, iterations, order, lower: [-bound; 2], upper: [bound; 2] };
    minimise(&search, seed, |x| square(x, centre << BITS))
}

fn model(order: Order, seed: u32) -> CatAndMouse<2> {
    CatAndMouse::new(20, (-100.0, 100.0), order == Order::Cmbo, seed, sphere_of_reals)
}

fn sphere_of_reals(x: &[f64; 2]) -> f64 {
    x[0] * x[0] + x[1] * x[1]
}

fn value(found: &Found<2>) -> f64 {
    found.best().value as f64 / (ONE * ONE)
}

#[test]
fn on_the_sphere_the_best_never_gets_worse_and_follows_the_model() {
    for order in [Order::Cmbo, Order::Paper] {
        for seed in 0..20 {
            let mut model = model(order, seed);
            let mut last = f64::INFINITY;
            for iterations in 0..=100 {
                let ours = value(&sphere(order, iterations, seed, 0));
                let theirs = model.best().1;
                assert!(ours <= last, "{order:?} {seed} {iterations}: {ours} after {last}");
                // While values are large compared with the last bit of a coordinate, the searches take
                // the same path.
                if theirs > 1e-4 {
                    let error = (ours - theirs).abs() / theirs;
                    assert!(error < 1e-2, "{order:?} {seed} {iterations}: {ours} for {theirs}");
                }
                last = ours;
                model.iterate(sphere_of_reals);
            }
            assert!(last < 1e-9, "{order:?} {seed}: {last}");
        }
    }
}

/// The jumps with I = 2 lead towards the origin. In 20 iterations, a minimum away from the origin
/// is therefore found less precisely.
#[test]
fn a_minimum_away_from_the_origin_is_found_less_exactly() {
    let mean = |centre| -> f64 {
        let all = (0..20).map(|seed| value(&sphere(Order::Cmbo, 20, seed, centre)).log10());
        all.map(|log| log.max(-12.0)).sum::<f64>() / 20.0
    };
    let (origin, elsewhere) = (mean(0), mean(37));
    assert!(elsewhere > origin + 2.0, "10^{origin} and 10^{elsewhere}");
}

#[test]
fn the_same_seed_gives_the_same_search_and_bounds_hold() {
    let search = Search { agents: 7, iterations: 9, order: Order::Cmbo, lower: [3], upper: [900] };
    // The minimum is outside, so the result is on the bound.
    let run = |seed| minimise(&search, seed, |[x]| x.unsigned_abs());
    assert_eq!(run(5), run(5));
    assert_eq!(run(5).best().place, [3]);
    let wild = Search { agents: 500, lower: [i64::MIN], upper: [i64::MAX], ..search };
    minimise(&wild, 1, |[x]| x.unsigned_abs());
    let crossed = Search { agents: 0, lower: [9], upper: [-9], ..search };
    assert_eq!(minimise(&crossed, 1, |[x]| x.unsigned_abs()).best().place, [9]);
}

fn seconds(ticks: u32) -> f64 {
    (u64::from(ticks) << TICK_BITS) as f64 * 1e-9
}

prop_compose! {
    /// RTTs in ticks, the cost of a spurious timeout in ticks, and the share of losses.
    fn path()(
        samples in prop::collection::vec(1_000u32..50_000_000, 1..=64),
        spurious in 0u64..200_000_000,
        loss in 0u64..=65_536,
    ) -> (Vec<u32>, u64, u64) {
        (samples, spurious, loss)
    }
}

proptest! {
    #[test]
    fn the_objective_follows_its_model((samples, spurious, loss) in path(), x in 0u32..60_000_000) {
        let rtts: Vec<f64> = samples.iter().map(|s| seconds(*s)).collect();
        let cost = timeout_cost(&rtts, seconds(1) * spurious as f64, loss as f64 / 65_536.0, seconds(x));
        let ours = Objective::new(&samples, spurious, loss).at(x) as f64;
        let ours = ours / 65_536.0 / samples.len() as f64 * seconds(1);
        prop_assert!((ours - cost).abs() <= 1e-12 + cost * 1e-9, "{ours} {cost}");
    }

    /// Compares with every sample, with every neighbour of a sample, and with the lower bound.
    #[test]
    fn the_exact_minimiser_finds_the_least((samples, spurious, loss) in path(), lower in 0u32..60_000_000) {
        let objective = Objective::new(&samples, spurious, loss);
        let found = objective.cheapest(lower);
        prop_assert!(found >= lower);
        let candidates = samples.iter().flat_map(|s| [s - 1, *s, s + 1]).chain([lower, lower + 1]);
        for x in candidates.filter(|x| *x >= lower) {
            prop_assert!(objective.at(found) <= objective.at(x), "{found} {x}");
        }
    }

    #[test]
    fn the_optimizer_is_never_better_than_the_exact_minimiser(
        (samples, spurious, loss) in path(), seed: u32, iterations in 0u32..30,
    ) {
        let objective = Objective::new(&samples, spurious, loss);
        let (least, most) = objective.range();
        let search = Search {
            agents: 20, iterations, order: Order::Cmbo, lower: [least.into()], upper: [most.into()],
        };
        let found = minimise(&search, seed, |[x]| objective.at(*x as u32));
        prop_assert!(found.best().value >= objective.at(objective.cheapest(least)));
        prop_assert_eq!(found.best().value, objective.at(found.best().place[0] as u32));
    }
}
