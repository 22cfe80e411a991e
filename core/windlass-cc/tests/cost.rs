//! Maximum state of a connection. Counted instructions and flash are in docs/src/inside/cost.md, which
//! `tests/small-targets/cost` writes.

use windlass_cc::Controller;
use windlass_cc::registry::fixed;

/// Private state of an algorithm in the Linux kernel, bytes per connection (`ICSK_CA_PRIV_SIZE`).
const KERNEL_BYTES: usize = 104;

/// Algorithms with a model of the path, ten minutes of delays as in RFC 6817, or reports of lower
/// layers. The kernel's limit does not apply to them.
const WITH_HISTORY: [&str; 6] = ["bbr", "bbr3", "copa", "ledbat", "cocoa3plus", "bc-cps"];

/// Identifier and bytes of state with the standard slow start.
fn states() -> Vec<(&'static str, usize)> {
    macro_rules! collect {
        ($($name:ident),*) => {
            vec![$((<fixed::$name as Controller>::INFO.id, size_of::<fixed::$name>())),*]
        };
    }
    windlass_cc::each_algorithm!(collect)
}

#[test]
fn the_state_of_a_classical_algorithm_fits_the_linux_kernels_room() {
    let beyond: Vec<_> = states()
        .into_iter()
        .filter(|(id, bytes)| !WITH_HISTORY.contains(id) && *bytes > KERNEL_BYTES)
        .collect();
    assert!(beyond.is_empty(), "beyond {KERNEL_BYTES} bytes: {beyond:?}");
}
