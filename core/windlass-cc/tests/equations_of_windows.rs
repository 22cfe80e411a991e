//! The algorithms with a cwnd compared with the models of `windlass-conform`, the equations of RFCs and
//! papers in floating point, with random parameters and random histories.

use crate::common::flow::{Agreement, Dice, Flow, Path, Tolerance};
use windlass_cc::{AnyParams, Conn, ParamKind};
use windlass_conform::models::chosen::chosen;

/// True if a model has these parameters.
fn modelled(p: &AnyParams) -> bool {
    chosen(p, &Conn::new(1_000), 0.0, 0.0).is_some()
}

/// The algorithm with each parameter at its default, or between an eighth and twice of it, or with
/// another choice, until a model has these parameters.
fn any_params(id: &str, dice: &mut Dice) -> AnyParams {
    let mut p = AnyParams::by_name(id).expect("a registered algorithm");
    for (place, param) in p.info().params.iter().enumerate() {
        let raw = p.get(place).expect("a place of the table");
        let other = match param.kind {
            ParamKind::Flag => dice.roll(0, 2),
            ParamKind::Choice(words) => dice.roll(0, words.len() as u64),
            ParamKind::Time { .. } if raw == 0 => dice.roll(0, 100_000_000),
            _ => dice.roll(raw / 8 + 1, raw * 2 + 3),
        };
        if dice.roll(0, 2) == 0 {
            p.set(place, other); // rejected outside its range
        }
    }
    if modelled(&p) { p } else { any_params(id, dice) }
}

/// The difference between an algorithm and its models.
struct Limits {
    tolerance: Tolerance,
    /// Number of steps in which an algorithm rounds further than the models, and decides otherwise than
    /// all of them.
    rare: usize,
    /// Minimum median number of steps before rounding decides, large enough to reveal a drift.
    unbroken: usize,
}

/// Runs the algorithm and its models over scripts of acknowledgements with varying RTTs, losses,
/// timeouts, echoes, spurious losses and pauses. The paths have 1 ms to 600 ms and initial windows of 2
/// to 5000 segments, with 1,200,000 steps in total. One flow in three has the default parameters. A flow
/// begins again where rounding decides.
fn follows(id: &str, limits: &Limits) {
    let tolerance = limits.tolerance;
    let (mut runs, mut odd) = (Vec::new(), Vec::new());
    for seed in 1..=600 {
        let mut dice = Dice::new(seed);
        let mss = [536, 1_460, 8_960][dice.roll(0, 3) as usize];
        let base = [1_000_000, 20_000_000, 100_000_000, 600_000_000][dice.roll(0, 4) as usize];
        let cwnd = [2, 10, 40, 300, 5_000][dice.roll(0, 5) as usize];
        let ssthresh = if dice.roll(0, 3) == 0 { cwnd * 4 } else { cwnd };
        let p = match seed % 3 {
            0 => AnyParams::by_name(id).expect("a registered algorithm"),
            _ => any_params(id, &mut dice),
        };
        let begin = || Flow::with(p, mss, cwnd, ssthresh).surrounded(tolerance);
        let (mut flow, mut steps) = (begin(), 0);
        let mut path = Path::new(dice, base, seed % 2 == 0);
        for _ in 0..2_000 {
            steps += 1;
            let step = path.step(flow.segments());
            flow.step(step);
            let agreement = flow.agreement(tolerance);
            if agreement == Agreement::None {
                odd.push(format!("seed {seed}, step {steps}, {step:?}: {flow:?}"));
            }
            if agreement != Agreement::Clear {
                runs.push(std::mem::take(&mut steps));
                flow = begin();
            }
        }
        runs.push(steps);
    }
    let examples: Vec<_> = odd.iter().take(3).collect();
    assert!(odd.len() <= limits.rare, "{id}: {} differences: {examples:#?}", odd.len());
    runs.sort_unstable();
    let median = runs[runs.len() / 2];
    assert!(median >= limits.unbroken, "{id}: rounding decides after {median} steps");
}

macro_rules! follow {
    ($($name:ident: $id:literal, $bytes:literal, $share:literal, $rare:literal, $unbroken:literal;)*) => {
        $(#[test]
        fn $name() {
            let tolerance = Tolerance($bytes, $share);
            follows($id, &Limits { tolerance, rare: $rare, unbroken: $unbroken });
        })*
    };
}

// FAST and MFast may double cwnd at an update, and the models' deviations from each other with it.
follow! {
    bic_follows_its_equations: "bic", 4.0, 1e-4, 0, 1_500;
    highspeed_follows_rfc_3649: "highspeed", 16.0, 3e-4, 0, 1_500;
    scalable_follows_its_equations: "scalable", 8.0, 1e-5, 0, 1_500;
    htcp_follows_its_equations: "htcp", 16.0, 5e-4, 0, 1_500;
    tcp_modified_follows_its_equations: "tcp-modified", 16.0, 5e-4, 0, 800;
    hybla_follows_its_equations: "hybla", 2.0, 1e-4, 0, 1_500;
    illinois_follows_its_equations: "illinois", 16.0, 2e-4, 0, 1_500;
    westwood_follows_its_equations: "westwood", 8.0, 2e-5, 0, 1_000;
    veno_follows_its_equations: "veno", 8.0, 2e-5, 0, 1_500;
    vegas_follows_its_equations: "vegas", 8.0, 2e-5, 3, 1_500;
    fast_follows_its_equation: "fast", 4.0, 1e-4, 0, 250;
    mvegas_follows_its_equations: "mvegas", 8.0, 2e-5, 1, 1_500;
    mfast_follows_its_equation: "mfast", 6.0, 1e-4, 2, 250;
    yeah_follows_its_equations: "yeah", 8.0, 2e-5, 0, 1_500;
    compound_follows_its_equations: "compound", 8.0, 1e-4, 0, 1_200;
    dctcp_follows_rfc_8257: "dctcp", 4.0, 2e-5, 0, 1_500;
    ledbat_follows_its_equations: "ledbat", 8.0, 1e-4, 0, 250;
}

/// W_max has a resolution of 1/64 segment, which one byte decides in many cuts.
// RFC 9438-4.2-2, 9438-4.3-2, 9438-4.3-3, 9438-4.4-1, 9438-4.5-1, 9438-4.6-1, 9438-4.7-2
#[test]
fn cubic_follows_rfc_9438() {
    follows("cubic", &Limits { tolerance: Tolerance(16.0, 1e-4), rare: 2, unbroken: 200 });
}
