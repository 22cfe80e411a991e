//! Every algorithm by name. Adding one is one file and one line here.

use crate::controller::{Ack, Conn, Control, Controller, Event, Phase};
use crate::info::{Info, TraceField};
use crate::reno::{self, NEWRENO_INFO, RENO_INFO, TAHOE_INFO};
use crate::time::Span;

macro_rules! algorithms {
    ($($variant:ident: $state:ty, $info:ident;)*) => {
        /// Any algorithm of this crate, chosen at run time without a heap or a virtual table.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum AnyController {
            $(
                #[doc = concat!("See [`", stringify!($info), "`].")]
                $variant($state),
            )*
        }

        /// Descriptions of all algorithms, in the order in which they are listed.
        pub static ALGORITHMS: &[&Info] = &[$(&$info),*];

        impl AnyController {
            /// State of a new connection under the algorithm with this identifier (any case).
            pub fn by_name(name: &str, p: &reno::Params, c: &Conn) -> Option<AnyController> {
                $(if name.eq_ignore_ascii_case($info.id) {
                    return Some(AnyController::$variant(<$state>::init(p, c)));
                })*
                None
            }

            /// Description of the algorithm.
            pub fn info(&self) -> &'static Info {
                match self { $(AnyController::$variant(_) => &$info,)* }
            }

            /// See [`Controller::on_ack`].
            #[inline]
            pub fn on_ack(&mut self, p: &reno::Params, c: &Conn, a: &Ack) {
                match self { $(AnyController::$variant(s) => s.on_ack(p, c, a),)* }
            }

            /// See [`Controller::on_phase`].
            pub fn on_phase(&mut self, p: &reno::Params, c: &Conn, from: Phase, to: Phase) {
                match self { $(AnyController::$variant(s) => s.on_phase(p, c, from, to),)* }
            }

            /// See [`Controller::on_idle_restart`].
            pub fn on_idle_restart(&mut self, p: &reno::Params, c: &Conn, gap: Span) {
                match self { $(AnyController::$variant(s) => s.on_idle_restart(p, c, gap),)* }
            }

            /// See [`Controller::on_mss`].
            pub fn on_mss(&mut self, p: &reno::Params, c: &Conn, old: u32) {
                match self { $(AnyController::$variant(s) => s.on_mss(p, c, old),)* }
            }

            /// See [`Controller::apply`].
            pub fn apply(&mut self, p: &reno::Params, c: &Conn, e: &Event) {
                match self { $(AnyController::$variant(s) => s.apply(p, c, e),)* }
            }

            /// See [`Controller::control`].
            #[inline]
            pub fn control(&self, p: &reno::Params, c: &Conn) -> Control {
                match self { $(AnyController::$variant(s) => s.control(p, c),)* }
            }

            /// See [`Controller::trace`].
            pub fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
                match self { $(AnyController::$variant(s) => s.trace(sink),)* }
            }
        }
    };
}

algorithms! {
    Tahoe: reno::Tahoe, TAHOE_INFO;
    Reno: reno::Reno, RENO_INFO;
    NewReno: reno::NewReno, NEWRENO_INFO;
}
