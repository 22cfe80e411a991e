//! Standard slow start.

use super::{Described, SlowStart};
use crate::arithmetic::window::Window;
use crate::event::{Ack, Conn};
use crate::info::Info;
use crate::params::Parameters;

crate::parameters! {
    /// Standard slow start has no parameters.
    pub struct StandardParams {}
}

/// RFC 5681 equation 2: the window grows by the counted bytes of each acknowledgement, so that it
/// doubles in each RTT.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Standard;

impl Described for Standard {
    const INFO: &'static Info = &Info {
        id: "standard",
        name: "Standard slow start",
        origin: "RFC 5681, TCP Congestion Control, section 3.1",
        citation: "rfc5681",
        description: "Each acknowledgement increases the window by the acknowledged bytes, at most \
            one segment (or the stack's limit for appropriate byte counting, RFC 3465). Slow start \
            ends at ssthresh or at a loss, and overshoots the path by up to a window.",
        params: StandardParams::TABLE,
        trace: &[],
    };
}

impl SlowStart for Standard {
    type Params = StandardParams;

    fn init(_p: &StandardParams, _c: &Conn) -> Standard {
        Standard
    }

    // RFC 5681-3.1-8
    #[inline]
    fn grow(&mut self, _p: &StandardParams, _c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        w.add(credit);
    }
}
