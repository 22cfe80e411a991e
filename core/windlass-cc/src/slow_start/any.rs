//! All slow starts by name. A new slow start needs one file and one line here.

use super::adaptive::Adaptive;
use super::careful_resume::CarefulResume;
use super::ccm_ss::CcmSs;
use super::hystart::HyStart;
use super::hystart_pp::HyStartPlusPlus;
use super::limited::Limited;
use super::packet_pair::PacketPair;
use super::quick_start::QuickStart;
use super::search::Search;
use super::standard::{Standard, StandardParams};
use super::vegas::VegasStart;
use super::{Described, Saved, SlowStart};
use crate::arithmetic::window::Window;
use crate::event::{Ack, Conn};
use crate::flavour::{Change, Departure, Flavour};
use crate::time::{Rate, Span};

macro_rules! slow_starts {
    ($($variant:ident: $state:ty;)*) => {
        crate::one_of! {
            /// Any slow start of this crate, chosen at run time.
            AnySlowStart, AnyParams, SLOW_STARTS: SlowStart, Described { $($variant: $state;)* }
        }

        impl AnyParams {
            /// Deviations of real stacks from the paper or RFC.
            pub fn departures(&self) -> &'static [Departure] {
                match self { $(AnyParams::$variant(_) => <$state as Described>::FLAVOURS,)* }
            }
        }

        impl SlowStart for AnySlowStart {
            type Params = AnyParams;
            crate::pass_on! {
                AnySlowStart, AnyParams, SlowStart, { $($variant: $state;)* };
                fn init(new, p, c: &Conn);
                fn observe(&mut self, p, c: &Conn, a: &Ack, w: &mut Window);
                fn grow(&mut self, p, c: &Conn, a: &Ack, credit: u64, w: &mut Window);
                fn threshold(&self, p, c: &Conn, w: &Window, ssthresh: u64) -> u64, or ssthresh;
                fn restart(&mut self, p, c: &Conn);
                fn approve(&mut self, p, c: &Conn, rate: Rate, w: &mut Window);
                fn on_trial(&self; c: &Conn) -> bool;
                fn ceiling(&self; c: &Conn) -> u64;
                fn pacing(&self; c: &Conn, w: &Window) -> Rate;
                fn capacity(&self;) -> u64;
                fn recovered(&mut self, p, c: &Conn, w: &mut Window);
            }
        }
    };
}

slow_starts! {
    Standard: Standard;
    Limited: Limited;
    HyStart: HyStart;
    HyStartPlusPlus: HyStartPlusPlus;
    Vegas: VegasStart;
    PacketPair: PacketPair;
    Adaptive: Adaptive;
    CcmSs: CcmSs;
    QuickStart: QuickStart;
    Search: Search;
    CarefulResume: CarefulResume;
}

impl AnyParams {
    /// Default parameters of the slow start with this identifier (any case).
    pub fn by_name(id: &str) -> Option<AnyParams> {
        AnyParams::defaults(id)
    }

    /// The parameters of an implementation, such as Linux.
    pub fn flavoured(mut self, flavour: Flavour) -> AnyParams {
        for departure in self.departures().iter().filter(|d| d.flavour == flavour) {
            if let Change::Param(name, value) = departure.change
                && let Some(place) = self.info().params.iter().position(|p| p.name == name)
            {
                self.set(place, value);
            }
        }
        self
    }

    /// Number of the rate that the slow start requests from the routers of the path (RFC 4782 section
    /// 3.1); `None` for slow starts without a request.
    pub fn rate_code(&self) -> Option<u8> {
        match self {
            AnyParams::QuickStart(p) => Some(p.rate_code.min(15) as u8),
            _ => None,
        }
    }

    /// Time for which the slow start may use a saved set; `None` for slow starts without one.
    pub fn lifetime(&self) -> Option<Span> {
        match self {
            AnyParams::CarefulResume(p) => Some(p.lifetime),
            _ => None,
        }
    }

    /// The same slow start with another saved set. Slow starts without one do not change.
    pub fn resuming(mut self, saved: Saved) -> AnyParams {
        if let AnyParams::CarefulResume(p) = &mut self {
            let rtt = if saved.rtt.is_known() { saved.rtt } else { Span::ZERO };
            (p.saved_cwnd, p.saved_rtt) = (saved.cwnd, rtt);
        }
        self
    }
}

impl Default for AnyParams {
    fn default() -> AnyParams {
        AnyParams::Standard(StandardParams::default())
    }
}
