//! All timers by name. A new timer needs one file and one line here.

use super::cmbo::Cmbo;
use super::coap::Coap;
use super::cocoa::{Cocoa, CocoaPlus};
use super::fasor::Fasor;
use super::icc::Icc;
use super::linux::Linux;
use super::peakhopper::Peakhopper;
use super::rfc6298::{Rfc6298, Rfc6298Params};
use super::uip::Uip;
use super::{RtoEstimator, RttSample};
use crate::time::{Span, Time};

macro_rules! timers {
    ($($variant:ident: $state:ty;)*) => {
        crate::one_of! {
            /// Any timer of this crate, chosen at run time.
            AnyRto, AnyParams, TIMERS: RtoEstimator, RtoEstimator { $($variant: $state;)* }
        }

        impl AnyParams {
            /// See [`RtoEstimator::max`].
            pub fn max(&self) -> Span {
                match self { $(AnyParams::$variant(p) => <$state as RtoEstimator>::max(p),)* }
            }

            /// See [`RtoEstimator::wants_ambiguous`].
            pub fn wants_ambiguous(&self) -> bool {
                match self { $(AnyParams::$variant(p) => <$state>::wants_ambiguous(p),)* }
            }
        }

        impl AnyRto {
            crate::pass_on! {
                AnyRto, AnyParams, RtoEstimator, { $($variant: $state;)* };
                pub fn init(new, p);
                pub fn on_sample(&mut self, p, sample: &RttSample);
                pub fn on_progress(&mut self, p);
                pub fn on_timeout(&mut self, p);
                pub fn after_lost_syn(&mut self, p);
                /// With the parameters of another timer, their maximum timeout.
                pub fn arm(&mut self, p, now: Time, entropy: u32) -> Span, or p.max();
                /// With the parameters of another timer, their maximum timeout.
                pub fn rto(&self, p) -> Span, or p.max();
                #[inline]
                pub fn srtt(&self;) -> Span;
                pub fn rttvar(&self;) -> Span;
            }
        }
    };
}

timers! {
    Rfc6298: Rfc6298;
    Linux: Linux;
    Cocoa: Cocoa;
    CocoaPlus: CocoaPlus;
    Coap: Coap;
    Fasor: Fasor;
    Peakhopper: Peakhopper;
    Uip: Uip;
    Icc: Icc;
    Cmbo: Cmbo;
}

impl AnyParams {
    /// Default parameters of the timer with this identifier (any case).
    pub fn by_name(id: &str) -> Option<AnyParams> {
        AnyParams::defaults(id)
    }
}

impl Default for AnyParams {
    fn default() -> AnyParams {
        AnyParams::Rfc6298(Rfc6298Params::default())
    }
}
