//! Options and algorithm parameters that the loader writes into an object, in their layout in memory.
#![allow(unsafe_code)]

use std::mem::{MaybeUninit, size_of};

use windlass_cc::registry::fixed;
use windlass_cc::{AnyParams, Controller};

/// Words in the object for the parameters.
const PARAMS: usize = 64;
/// Words in the object for the state of a connection.
const STATE: usize = 128;

/// `struct options` of the shim.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Options {
    /// 1 if each event is recorded, else 0.
    pub recording: u32,
    /// 1 if the kernel's `cong_control` has two arguments (before Linux 6.10), else 0.
    pub two_arguments: u16,
    /// 1 if the algorithm takes samples of the delivery rate, else 0. With samples, its minimum RTT includes
    /// the SYN's RTT, because such algorithms read TCP's value. Linux passes only RTTs of data to its other
    /// algorithms (`LeastRtt::Data` in the simulator).
    pub rate_samples: u16,
    params: MaybeUninit<[u64; PARAMS]>,
}

impl Options {
    /// Options without recording, for a kernel of this release.
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
            /// Writes the parameters of the type that has the standard slow start built in.
            fn write(&mut self, params: &AnyParams) {
                match params {
                    $(AnyParams::$name(setup) => {
                        type Fixed = <fixed::$name as Controller>::Params;
                        const { assert!(size_of::<Fixed>() <= 8 * PARAMS && align_of::<Fixed>() <= 8) };
                        const { assert!(size_of::<fixed::$name>() <= 8 * STATE) };
                        let fixed: Fixed = setup.with(setup.own, Default::default());
                        // SAFETY: the buffer is large enough and aligned, as asserted above.
                        unsafe { self.params.as_mut_ptr().cast::<Fixed>().write(fixed) };
                    })*
                }
            }
        }

        /// Returns the word in the names of the algorithm's entry points.
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
    fn parameters_of_every_algorithm_fit_and_have_an_entry() {
        for info in windlass_cc::ALGORITHMS {
            let params = AnyParams::by_name(info.id).expect(info.id);
            let options = Options::new(&params, (6, 18));
            assert_eq!((options.recording, options.two_arguments), (0, 0), "{}", info.id);
            assert!(!entry(&params).is_empty());
        }
        assert_eq!(Options::new(&AnyParams::default(), (6, 1)).two_arguments, 1);
    }

    #[test]
    fn rate_samples_and_the_rtt_of_the_syn_are_only_for_algorithms_that_take_samples() {
        let counts = |id| Options::new(&AnyParams::by_name(id).expect(id), (6, 18)).rate_samples;
        assert_eq!(["vegas", "copa", "bbr", "bbr3"].map(counts), [0, 0, 1, 1]);
    }
}
