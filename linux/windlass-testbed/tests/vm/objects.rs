//! Compiled algorithms for a guest to load.

use std::path::Path;
use std::sync::OnceLock;

use windlass_cc::{AnyParams, Setup};
use windlass_testbed::bpf::{self, object};

/// Files for a guest, by name, or the reason why they could not be built.
pub type Files = Result<Vec<(String, Vec<u8>)>, String>;

/// Returns the objects of two algorithms, built once.
pub fn objects() -> Files {
    static BUILT: OnceLock<Files> = OnceLock::new();
    let build = || {
        let params = ["reno", "balia"].map(|id| standard(AnyParams::by_name(id).expect("there")));
        object::build(&object::checkout(Path::new(env!("CARGO_MANIFEST_DIR")))?, &params)?;
        object::for_guest(params.into_iter(), object::Whose::Ours)
    };
    BUILT.get_or_init(|| build().map_err(|e: bpf::Error| e.to_string())).clone()
}

/// Returns the parameters with the slow start that is built into objects.
pub fn standard(mut params: AnyParams) -> AnyParams {
    let slow_start = windlass_cc::slow_start::AnyParams::default();
    params.set_common(&Setup { slow_start, ..params.common() });
    params
}
