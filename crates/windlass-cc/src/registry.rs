//! Every algorithm by name. Adding one is one file and one line here.

use crate::controller::{Ack, Conn, Control, Controller, Event, Loss, Phase, Undo};
use crate::info::{Info, TraceField, Wants};
use crate::loss_based::LossBased;
use crate::params::Parameters;
use crate::reno::{self, RenoGrowth};
use crate::setup::Setup;
use crate::slow_start::{self, AnySlowStart};
use crate::time::Span;

// `$d` is a dollar sign, for the macro that is made within.
macro_rules! algorithms {
    ($d:tt $($variant:ident: $state:ty;)*) => {
        /// Any algorithm of this crate, chosen at run time without a heap or a virtual table.
        ///
        /// Its methods take the parameters with which it was made; those of another algorithm
        /// change nothing.
        // Boxing what is large needs an allocator.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum AnyController {
            $(
                #[doc = concat!("`", stringify!($state), "`.")]
                $variant($state),
            )*
        }

        /// Parameters of any algorithm; which one they are of decides which one runs.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum AnyParams {
            $(
                #[doc = concat!("Of `", stringify!($state), "`.")]
                $variant(<$state as Controller>::Params),
            )*
        }

        /// Descriptions of all algorithms, in the order in which they are listed.
        pub static ALGORITHMS: &[&Info] = &[$(<$state as Controller>::INFO),*];

        /// Bytes of state of each algorithm with the slow start chosen at run time, in the order
        /// of [`ALGORITHMS`].
        pub static STATE_BYTES: &[usize] = &[$(core::mem::size_of::<$state>()),*];

        // A type here is read where `Windowed` has the standard slow start. Associated types, since
        // a plain alias would hide the growth of the same name.
        mod built_in {
            use super::*;
            type Windowed<G> = LossBased<G, slow_start::Standard>;
            pub trait Types {
                $(type $variant;)*
            }
            pub struct BuiltIn;
            impl Types for BuiltIn {
                $(type $variant = $state;)*
            }
        }

        /// Each algorithm as a type of its own, with the standard slow start built in: what a
        /// target runs that has no choice to make. [`each_algorithm`](crate::each_algorithm) lists
        /// the names.
        pub mod fixed {
            use super::built_in::{BuiltIn, Types};
            $(
                #[doc = concat!("`", stringify!($state), "` with the standard slow start.")]
                pub type $variant = <BuiltIn as Types>::$variant;
            )*
        }

        /// Calls a macro with the names of the types in [`registry::fixed`](crate::registry::fixed):
        /// `each_algorithm!(callback)` is `callback! { Tahoe, Reno, ... }`.
        #[macro_export]
        macro_rules! each_algorithm {
            ($d callback:ident) => { $d callback! { $($variant),* } };
        }

        impl AnyParams {
            /// The defaults of the algorithm with this identifier (any case), with the slow start
            /// that it wants.
            pub fn by_name(id: &str) -> Option<AnyParams> {
                $(if id.eq_ignore_ascii_case(<$state as Controller>::INFO.id) {
                    let mut setup = <$state as Controller>::Params::default();
                    if let Some(slow_start) = <$state as Controller>::WANTS.slow_start
                        .and_then(slow_start::AnyParams::by_name)
                    {
                        setup.slow_start = slow_start;
                    }
                    return Some(AnyParams::$variant(setup));
                })*
                None
            }

            /// Description of the algorithm.
            pub fn info(&self) -> &'static Info {
                match self { $(AnyParams::$variant(_) => <$state as Controller>::INFO,)* }
            }

            /// What the algorithm wants of its host.
            pub fn wants(&self) -> Wants {
                match self { $(AnyParams::$variant(_) => <$state as Controller>::WANTS,)* }
            }

            /// The value at a place of the description's table of parameters.
            pub fn get(&self, place: usize) -> Option<u64> {
                match self { $(AnyParams::$variant(p) => p.own.get(place),)* }
            }

            /// Sets the value at a place of the description's table; false when there is no such
            /// place or the value is not admissible.
            pub fn set(&mut self, place: usize, raw: u64) -> bool {
                match self { $(AnyParams::$variant(p) => p.own.set(place, raw),)* }
            }

            /// What is common to all algorithms.
            pub fn common(&self) -> Setup<()> {
                match self { $(AnyParams::$variant(p) => p.map(()),)* }
            }

            /// Sets what is common to all algorithms.
            pub fn set_common(&mut self, common: &Setup<()>) {
                match self { $(AnyParams::$variant(p) => *p = common.map(p.own),)* }
            }
        }

        impl AnyController {
            /// State of a new connection.
            pub fn init(p: &AnyParams, c: &Conn) -> AnyController {
                match p {
                    $(AnyParams::$variant(p) => {
                        AnyController::$variant(<$state as Controller>::init(p, c))
                    })*
                }
            }

            /// Description of the algorithm.
            pub fn info(&self) -> &'static Info {
                match self { $(AnyController::$variant(_) => <$state as Controller>::INFO,)* }
            }

            /// What the algorithm wants of its host.
            pub fn wants(&self) -> Wants {
                match self { $(AnyController::$variant(_) => <$state as Controller>::WANTS,)* }
            }

            /// See [`Controller::control`]. Parameters of another algorithm leave nothing to send.
            #[inline]
            pub fn control(&self, p: &AnyParams, c: &Conn) -> Control {
                match (self, p) {
                    $((AnyController::$variant(s), AnyParams::$variant(p)) => s.control(p, c),)*
                    _ => Control { cwnd: 0, ssthresh: 0, pacing: crate::time::Rate(0) },
                }
            }

            /// See [`Controller::trace`].
            pub fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
                match self { $(AnyController::$variant(s) => s.trace(sink),)* }
            }

            /// See [`Controller::on_ack`].
            pub fn on_ack(&mut self, p: &AnyParams, c: &Conn, a: &Ack) {
                match (self, p) {
                    $((AnyController::$variant(s), AnyParams::$variant(p)) => s.on_ack(p, c, a),)*
                    _ => {}
                }
            }

            /// See [`Controller::on_phase`].
            pub fn on_phase(&mut self, p: &AnyParams, c: &Conn, from: Phase, to: Phase) {
                match (self, p) {
                    $((AnyController::$variant(s), AnyParams::$variant(p)) => s.on_phase(p, c, from, to),)*
                    _ => {}
                }
            }

            /// See [`Controller::on_loss`].
            pub fn on_loss(&mut self, p: &AnyParams, c: &Conn, l: &Loss) {
                match (self, p) {
                    $((AnyController::$variant(s), AnyParams::$variant(p)) => s.on_loss(p, c, l),)*
                    _ => {}
                }
            }

            /// See [`Controller::on_undo`].
            pub fn on_undo(&mut self, p: &AnyParams, c: &Conn, why: Undo) {
                match (self, p) {
                    $((AnyController::$variant(s), AnyParams::$variant(p)) => s.on_undo(p, c, why),)*
                    _ => {}
                }
            }

            /// See [`Controller::on_idle_restart`].
            pub fn on_idle_restart(&mut self, p: &AnyParams, c: &Conn, gap: Span, reset: bool) {
                match (self, p) {
                    $((AnyController::$variant(s), AnyParams::$variant(p)) => s.on_idle_restart(p, c, gap, reset),)*
                    _ => {}
                }
            }

            /// See [`Controller::on_mss`].
            pub fn on_mss(&mut self, p: &AnyParams, c: &Conn, old: u32) {
                match (self, p) {
                    $((AnyController::$variant(s), AnyParams::$variant(p)) => s.on_mss(p, c, old),)*
                    _ => {}
                }
            }

            /// See [`Controller::apply`].
            pub fn apply(&mut self, p: &AnyParams, c: &Conn, e: &Event) {
                match (self, p) {
                    $((AnyController::$variant(s), AnyParams::$variant(p)) => s.apply(p, c, e),)*
                    _ => {}
                }
            }
        }
    };
}

impl Default for AnyParams {
    /// Reno, the algorithm that all others are measured by.
    fn default() -> AnyParams {
        AnyParams::Reno(Setup::default())
    }
}

/// A growth with whatever slow start the parameters name.
type Windowed<G> = LossBased<G, AnySlowStart>;

algorithms! { $
    Tahoe: Windowed<RenoGrowth<reno::Tahoe>>;
    Reno: Windowed<RenoGrowth<reno::Reno>>;
    NewReno: Windowed<RenoGrowth<reno::NewReno>>;
    Bic: Windowed<crate::bic::Bic>;
    Cubic: Windowed<crate::cubic::Cubic>;
    HighSpeed: Windowed<crate::highspeed::HighSpeed>;
    Scalable: Windowed<crate::scalable::Scalable>;
    Htcp: Windowed<crate::htcp::Htcp>;
    Hybla: Windowed<crate::hybla::Hybla>;
    Illinois: Windowed<crate::illinois::Illinois>;
    Westwood: Windowed<crate::westwood::Westwood>;
    Veno: Windowed<crate::veno::Veno>;
    Vegas: Windowed<crate::vegas::Vegas>;
    Fast: Windowed<crate::fast::Fast>;
    Yeah: Windowed<crate::yeah::Yeah>;
    Compound: Windowed<crate::compound::Compound>;
    Ledbat: Windowed<crate::ledbat::Ledbat>;
    Dctcp: Windowed<crate::dctcp::Dctcp>;
    Bbr: crate::bbr::Bbr;
    Bbr3: crate::bbr3::Bbr3;
    Copa: crate::copa::Copa;
}
