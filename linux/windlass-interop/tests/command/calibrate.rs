//! `windlass-dev calibrate`, as a user calls it.

use super::{call, done};
use windlass_skip::skip;
use windlass_testbed::vm;

#[test]
fn the_simulator_has_no_kernel_to_calibrate() {
    let said = call(&["calibrate", "--on", "sim"]);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    assert!(said.err.contains("linux-vt=6.12"), "{}", said.err);
}

#[test]
fn links_in_virtual_time_deliver_the_requested_values_repeatably() {
    let available = vm::Series::ALL.into_iter().find(|series| vm::check(*series).is_ok());
    let Some(series) = available else {
        let why = vm::check(vm::Series::V6_12).expect_err("nothing to run on");
        skip(why);
        return;
    };
    let world = format!("linux-vt={series}");
    let call = || done(&["calibrate", "--quick", "--json", "--on", &world]).out;
    let first = call();
    let document: serde_json::Value = serde_json::from_str(&first).expect("a document");
    assert_eq!((&document["ok"], &document["quick"]), (&true.into(), &true.into()), "{first}");
    let rows = document["points"].as_array().expect("points").iter();
    let rows: Vec<_> = rows.flat_map(|p| p["rows"].as_array().expect("rows")).collect();
    assert!(rows.len() > 40, "{first}");
    let lost = rows.iter().filter(|row| row["quantity"] == "lost");
    assert!(lost.clone().any(|row| row["delivered"].as_f64() > Some(0.0)), "nothing was lost");
    assert_eq!(first, call());
}
