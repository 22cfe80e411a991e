//! The saved set of Careful Resume (RFC 9959): its age at the beginning of a connection, and the set of
//! the next connection.

use windlass_cc::slow_start::Saved;
use windlass_cc::{Setup, Span, Time};

use super::{Endpoint, Profile};

/// No saved set.
const NONE: Saved = Saved { cwnd: 0, rtt: Span::NONE };

impl Profile {
    /// True if the slow start of this profile can use a saved set.
    pub fn resumes(&self) -> bool {
        self.params.requirements().slow_start.is_some()
            && self.params.common().slow_start.lifetime().is_some()
    }
}

impl Endpoint {
    /// Gives the connection a set that an earlier connection saved at this time, instead of the set of
    /// the profile. `None` is no set. The connection uses it only if its slow start does.
    pub fn resume(&mut self, saved: Option<(Saved, Time)>) {
        self.saved = Some(Box::new(saved.unwrap_or((NONE, Time::ZERO))));
    }

    /// The set of this connection, for the next connection to the same remote endpoint.
    pub fn saved(&self) -> Option<Saved> {
        let cwnd = self.cc.capacity();
        (cwnd > 0 && self.min_rtt().is_known()).then(|| Saved { cwnd, rtt: self.min_rtt() })
    }

    /// Completes the handshake: the controller's parameters receive the saved set, unless it is too old.
    /// The set of the profile is saved at the start of the clock.
    pub(super) fn take_saved(&mut self, now: Time, common: &mut Setup<()>) {
        let Some(lifetime) = common.slow_start.lifetime() else { return };
        let mut at = Time::ZERO;
        if let Some(given) = self.saved.take() {
            common.slow_start = common.slow_start.resuming(given.0);
            at = given.1;
        }
        if now.since(at) > lifetime {
            common.slow_start = common.slow_start.resuming(NONE);
        }
    }
}
