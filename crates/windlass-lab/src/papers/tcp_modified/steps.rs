//! Arithmetic on the paper's steps that needs no run.

use std::collections::BTreeMap;

/// Beta of a loss: second case, step 5.
fn beta(max_over_min_rtt: f64) -> f64 {
    1.1 / max_over_min_rtt
}

/// What step 6 of the first case multiplies alpha by.
fn alpha_factor(beta: f64) -> f64 {
    2.0 * (1.0 - beta)
}

/// Closed forms by the names that claims use: the factor on alpha at two ratios of RTTmax to RTTmin.
pub(super) fn models() -> BTreeMap<String, f64> {
    let named = |ratio: f64| (format!("alpha.factor.rtt{ratio:.2}"), alpha_factor(beta(ratio)));
    [1.25, 2.0].map(named).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1.1/1.25 = 0.88, 2·0.12 = 0.24; 1.1/2 = 0.55, 2·0.45 = 0.9.
    #[test]
    fn the_factor_on_alpha_grows_with_delay() {
        let models = models();
        assert!((models["alpha.factor.rtt1.25"] - 0.24).abs() < 1e-12);
        assert!((models["alpha.factor.rtt2.00"] - 0.9).abs() < 1e-12);
    }
}
