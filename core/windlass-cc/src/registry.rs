//! All algorithms by name. A new algorithm needs one file and one line here.

use crate::algorithms::{delay, loss, model, multipath};
use crate::coupling::coordinator::Coordinator;
use crate::coupling::cycle::Cycle;
use crate::loss_based::LossBased;
use crate::setup;
use crate::slow_start::{self, AnySlowStart};
use crate::time::Time;

/// [`setup::Setup`] with the slow start chosen at run time, the usual form in hosts.
pub type Setup<P, S = slow_start::AnyParams> = setup::Setup<P, S>;

/// The part of a setup that holds the slow start chosen by name. It is empty for an algorithm with its
/// own start-up.
#[doc(hidden)]
pub trait ChosenStart: Copy {
    /// The chosen slow start.
    fn named(self) -> slow_start::AnyParams;
    /// Converts the chosen slow start to the stored part.
    fn of(chosen: slow_start::AnyParams) -> Self;
}

impl ChosenStart for slow_start::AnyParams {
    fn named(self) -> slow_start::AnyParams {
        self
    }
    fn of(chosen: slow_start::AnyParams) -> slow_start::AnyParams {
        chosen
    }
}

impl ChosenStart for () {
    fn named(self) -> slow_start::AnyParams {
        slow_start::AnyParams::default()
    }
    fn of(_chosen: slow_start::AnyParams) {}
}

/// Declares `AnyController`, `AnyParams`, `ALGORITHMS` and `STATE_BYTES` for a list of algorithms: this
/// crate's list here, and other lists in other crates. `docs/src/guides/new-algorithm.md` explains the
/// use.
#[macro_export]
macro_rules! algorithms {
    ($($variant:ident: $state:ty;)*) => {
        $crate::one_of! {
            /// Any algorithm of this crate, chosen at run time.
            AnyController, AnyParams, ALGORITHMS: $crate::Controller, $crate::Controller {
                $($variant: $state;)*
            }
        }

        /// Bytes of state of each algorithm with the slow start chosen at run time, in the order
        /// of [`ALGORITHMS`].
        pub static STATE_BYTES: &[usize] = &[$(core::mem::size_of::<$state>()),*];

        impl AnyParams {
            /// Default parameters of the algorithm with this identifier (any case), with the slow start
            /// that it requires.
            pub fn by_name(id: &str) -> Option<AnyParams> {
                let mut params = AnyParams::defaults(id)?;
                let wanted = params.requirements().slow_start;
                if let Some(slow_start) = wanted.and_then($crate::slow_start::AnyParams::by_name) {
                    params.set_common(&$crate::Setup { slow_start, ..params.common() });
                }
                Some(params)
            }

            /// Requirements of the algorithm on its host.
            pub fn requirements(&self) -> $crate::Requirements {
                match self { $(AnyParams::$variant(_) => <$state as $crate::Controller>::REQUIREMENTS,)* }
            }

            /// Deviations of real stacks from the paper or RFC.
            pub fn departures(&self) -> &'static [$crate::Departure] {
                match self { $(AnyParams::$variant(_) => <$state as $crate::Controller>::FLAVOURS,)* }
            }

            /// The parameters of an implementation, such as Linux, and of its slow start. The number of
            /// segments that an acknowledgement counts is a setting of the stack
            /// ([`ack_limit`](Self::ack_limit)).
            pub fn flavoured(mut self, flavour: $crate::Flavour) -> AnyParams {
                let mut common = self.common();
                for departure in self.departures().iter().filter(|d| d.flavour == flavour) {
                    match departure.change {
                        $crate::Change::Param(name, value) => {
                            let place = self.info().params.iter().position(|p| p.name == name);
                            self.set(place.unwrap_or(usize::MAX), value);
                        }
                        $crate::Change::SlowStart(id) => {
                            let named = $crate::slow_start::AnyParams::by_name(id);
                            common.slow_start = named.unwrap_or(common.slow_start);
                        }
                        $crate::Change::AckLimit(_) | $crate::Change::Filled { .. } => {}
                    }
                }
                common.slow_start = common.slow_start.flavoured(flavour);
                self.set_common(&common);
                self
            }

            /// Maximum number of segments that an acknowledgement counts, if the implementation has its
            /// own rule for the algorithm.
            pub fn ack_limit(&self, flavour: $crate::Flavour) -> Option<u32> {
                $crate::flavour::ack_limit(self.departures(), flavour)
            }

            /// True if cwnd grows by this implementation although the last segment did not fill it.
            pub fn grows_unfilled(&self, flavour: $crate::Flavour, slow_start: bool) -> bool {
                let condition = $crate::flavour::filled(self.departures(), flavour);
                condition.is_none_or(|in_slow_start| slow_start && !in_slow_start)
            }

            /// The settings common to all algorithms. For an algorithm with its own start-up the slow
            /// start is the standard slow start, which does not run.
            pub fn common(&self) -> $crate::Setup<()> {
                use $crate::registry::ChosenStart;
                match self { $(AnyParams::$variant(p) => p.with((), p.slow_start.named()),)* }
            }

            /// Sets the settings common to all algorithms.
            pub fn set_common(&mut self, common: &$crate::Setup<()>) {
                use $crate::registry::ChosenStart;
                match self {
                    $(AnyParams::$variant(p) => {
                        *p = common.with(p.own, ChosenStart::of(common.slow_start))
                    })*
                }
            }
        }

        impl AnyController {
            $crate::pass_on! {
                AnyController, AnyParams, $crate::Controller, { $($variant: $state;)* };
                pub fn init(new, p, c: &$crate::Conn);
                /// With parameters of another algorithm, no data may be sent.
                pub fn control(&self, p, c: &$crate::Conn) -> $crate::Control,
                    or $crate::Control { cwnd: 0, ssthresh: 0, pacing: $crate::Rate(0) };
                pub fn trace(&self; sink: &mut dyn FnMut(&'static $crate::TraceField, u64));
                pub fn on_ack(&mut self, p, c: &$crate::Conn, a: &$crate::Ack);
                pub fn on_phase(&mut self, p, c: &$crate::Conn, from: $crate::Phase, to: $crate::Phase);
                pub fn on_loss(&mut self, p, c: &$crate::Conn, l: &$crate::Loss);
                pub fn on_undo(&mut self, p, c: &$crate::Conn, why: $crate::Undo);
                pub fn on_idle_restart(&mut self, p, c: &$crate::Conn, gap: $crate::Span, reset: bool);
                pub fn on_mss(&mut self, p, c: &$crate::Conn, old: u32);
                pub fn on_group(&mut self, p, c: &$crate::Conn, g: &$crate::Group);
                pub fn disclosed(&self;) -> u64;
                pub fn capacity(&self;) -> u64;
                pub fn on_cross_layer(&mut self, p, c: &$crate::Conn, l: &$crate::CrossLayer);
                pub fn apply(&mut self, p, c: &$crate::Conn, e: &$crate::Event);
            }

            /// Description of the algorithm.
            pub fn info(&self) -> &'static $crate::Info {
                match self { $(AnyController::$variant(_) => <$state as $crate::Controller>::INFO,)* }
            }
        }
    };
}

/// Declarations for this crate's list only. `$d` is a dollar sign, for the macro that is created
/// inside.
macro_rules! fixed_types {
    ($d:tt $($variant:ident: $state:ty;)*) => {
        // In this module `Windowed` is a type with the standard slow start. It uses associated types,
        // because a plain alias would hide the growth of the same name.
        mod built_in {
            use crate::algorithms::{delay, loss, model, multipath};
            use crate::loss_based::LossBased;
            use crate::slow_start;
            type Windowed<G> = LossBased<G, slow_start::Standard>;
            pub trait Types {
                $(type $variant;)*
            }
            pub struct BuiltIn;
            impl Types for BuiltIn {
                $(type $variant = $state;)*
            }
        }

        /// Each algorithm as a separate type, with the standard slow start built in, for targets
        /// without a choice at run time. [`each_algorithm`](crate::each_algorithm) lists the names.
        pub mod fixed {
            use crate::registry::built_in::{BuiltIn, Types};
            $(
                #[doc = concat!("`", stringify!($state), "` with the standard slow start.")]
                pub type $variant = <BuiltIn as Types>::$variant;
            )*

            /// Bytes of state of each type, in the order of [`ALGORITHMS`](super::ALGORITHMS).
            pub static STATE_BYTES: &[usize] = &[$(core::mem::size_of::<$variant>()),*];
        }

        /// Calls a macro with the names of the types in [`registry::fixed`](crate::registry::fixed):
        /// `each_algorithm!(callback)` is `callback! { Tahoe, Reno, ... }`.
        #[macro_export]
        macro_rules! each_algorithm {
            ($d callback:ident) => { $d callback! { $($variant),* } };
        }
    };
}

macro_rules! built_in {
    ($d:tt $($list:tt)*) => {
        algorithms! { $($list)* }
        fixed_types! { $d $($list)* }
    };
}

impl AnyParams {
    /// The coordinator of a connection that runs this algorithm and begins at `now`.
    pub fn coordinator(&self, now: Time) -> Coordinator {
        match self {
            AnyParams::Mfvl(setup) => Coordinator::Mfvl(Cycle::new(&setup.own.cycle, now)),
            _ => Coordinator::None,
        }
    }
}

impl Default for AnyParams {
    /// Reno, the reference for all other algorithms.
    fn default() -> AnyParams {
        AnyParams::Reno(Setup::default())
    }
}

/// Congestion avoidance with the slow start that the parameters name.
type Windowed<G> = LossBased<G, AnySlowStart>;

built_in! { $
    Tahoe: Windowed<loss::reno::RenoAvoidance<loss::reno::Tahoe>>;
    Reno: Windowed<loss::reno::RenoAvoidance<loss::reno::Reno>>;
    NewReno: Windowed<loss::reno::RenoAvoidance<loss::reno::NewReno>>;
    Bic: Windowed<loss::bic::Bic>;
    Cubic: Windowed<loss::cubic::Cubic>;
    HighSpeed: Windowed<loss::highspeed::HighSpeed>;
    Scalable: Windowed<loss::scalable::Scalable>;
    Htcp: Windowed<loss::htcp::Htcp>;
    TcpModified: Windowed<loss::tcp_modified::TcpModified>;
    Hybla: Windowed<loss::hybla::Hybla>;
    Illinois: Windowed<delay::illinois::Illinois>;
    Westwood: Windowed<loss::westwood::Westwood>;
    Veno: Windowed<delay::veno::Veno>;
    Vegas: Windowed<delay::vegas::Vegas>;
    Fast: Windowed<delay::fast::Fast>;
    MVegas: Windowed<delay::mvegas::MVegas>;
    MFast: Windowed<delay::mfast::MFast>;
    Yeah: Windowed<delay::yeah::Yeah>;
    Compound: Windowed<delay::compound::Compound>;
    Ledbat: Windowed<delay::ledbat::Ledbat>;
    Dctcp: Windowed<loss::dctcp::Dctcp>;
    Prague: Windowed<loss::prague::Prague>;
    Bbr: model::bbr::Bbr;
    Bbr3: model::bbr3::Bbr3;
    Copa: model::copa::Copa;
    Lia: Windowed<multipath::lia::Lia>;
    Olia: Windowed<multipath::olia::Olia>;
    Balia: Windowed<multipath::balia::Balia>;
    DLia: Windowed<multipath::dlia::DLia>;
    WVegas: Windowed<multipath::wvegas::WVegas>;
    MpFast: Windowed<multipath::mpfast::MpFast>;
    EmReno: Windowed<multipath::emreno::EmReno>;
    Mfvl: Windowed<multipath::mfvl::Mfvl>;
    Cocoa3Plus: Windowed<loss::cocoa3plus::Cocoa3Plus>;
    BcCps: multipath::bc_cps::BcCps;
}
