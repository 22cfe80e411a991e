//! What is written down of CoCoA3+ before anything judges it: the claims can be read, name metrics
//! that exist, and cite notes that exist.

use windlass_lab::claims::{self, Metric, Quantity};

const CLAIMS: &str = include_str!("../../../papers/cocoa3plus/claims.toml");
const NOTES: &str = include_str!("../../../papers/cocoa3plus/fidelity.md");

#[test]
fn claims_can_be_read_and_name_metrics_that_exist() {
    let claims = claims::parse(CLAIMS, "papers/cocoa3plus/claims.toml");
    let claims = claims.unwrap_or_else(|e| panic!("{e}"));
    let mut metrics = 0;
    for claim in &claims {
        for quantity in claim.quantities() {
            let Quantity::Metric(at) = quantity else { continue };
            Metric::parse(&at.path).unwrap_or_else(|e| panic!("{}: {e}", claim.id));
            metrics += 1;
        }
    }
    assert!(claims.len() == 70 && metrics > 100, "{} claims, {metrics} metrics", claims.len());
}

#[test]
fn notes_are_numbered_throughout_and_cited_ones_exist() {
    let exists = |id: &str| NOTES.contains(&format!("\n## C3-{id}: "));
    assert!((1..=32).all(|id| exists(&id.to_string())));
    let number = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>();
    for id in CLAIMS.split("C3-").skip(1).map(number) {
        assert!(exists(&id), "C3-{id} is not explained");
    }
}
