//! What the loader writes into an object: its options, and the algorithm's parameters as they are in memory.
#![allow(unsafe_code)]

use std::mem::{MaybeUninit, size_of};

use windlass_cc::registry::fixed;
use windlass_cc::{AnyParams, Controller};

/// Words that the object has for parameters.
const PARAMS: usize = 64;
/// Words that it has for the state of a connection.
const STATE: usize = 128;

/// `struct options` of the shim.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Options {
    /// Whether each event is recorded: 1 or 0.
    pub recording: u32,
    /// Whether the kernel's `cong_control` has two arguments, as before Linux 6.10: 1 or 0.
    pub two_arguments: u16,
    /// Whether the algorithm takes samples of the delivery rate: 1 or 0. The least RTT that it knows counts the SYN's then:
    /// Linux tells its own algorithms of data alone, and those with samples read what TCP has (`LeastRtt::Data` in the
    /// simulator).
    pub rate_samples: u16,
    params: MaybeUninit<[u64; PARAMS]>,
}

impl Options {
    /// Nothing recorded, on a kernel of this release.
    pub fn new(params: &AnyParams, release: (u32, u32)) -> Options {
        let mut options = Options {
            recording: 0,
            two_arguments: u16::from(release < (6, 10)),
            rate_samples: u16::from(params.requirements().rate_samples),
            params: MaybeUninit::zeroed(),
        };
        options.write(params);
        options
    }
}

macro_rules! fixed_types {
    ($($name:ident),*) => {
        impl Options {
            /// The parameters of the type with the standard slow start built in.
            fn write(&mut self, params: &AnyParams) {
                match params {
                    $(AnyParams::$name(setup) => {
                        type Fixed = <fixed::$name as Controller>::Params;
                        const { assert!(size_of::<Fixed>() <= 8 * PARAMS && align_of::<Fixed>() <= 8) };
                        const { assert!(size_of::<fixed::$name>() <= 8 * STATE) };
                        let fixed: Fixed = setup.with(setup.own, Default::default());
                        // SAFETY: there is room for it, aligned, as has just been asserted.
                        unsafe { self.params.as_mut_ptr().cast::<Fixed>().write(fixed) };
                    })*
                }
            }
        }

        /// The word in the names of the algorithm's entry points.
        pub fn entry(params: &AnyParams) -> &'static str {
            match params { $(AnyParams::$name(_) => stringify!($name),)* }
        }
    };
}

windlass_cc::each_algorithm!(fixed_types);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithms_parameters_have_room_and_a_name() {
        for info in windlass_cc::ALGORITHMS {
            let params = AnyParams::by_name(info.id).expect(info.id);
            let options = Options::new(&params, (6, 18));
            assert_eq!((options.recording, options.two_arguments), (0, 0), "{}", info.id);
            assert!(!entry(&params).is_empty());
        }
        assert_eq!(Options::new(&AnyParams::default(), (6, 1)).two_arguments, 1);
    }

    #[test]
    fn rates_and_the_syns_round_trip_are_shown_to_those_only_that_take_samples() {
        let counts = |id| Options::new(&AnyParams::by_name(id).expect(id), (6, 18)).rate_samples;
        assert_eq!(["vegas", "copa", "bbr", "bbr3"].map(counts), [0, 0, 1, 1]);
    }
}
