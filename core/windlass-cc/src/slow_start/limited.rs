//! Limited slow start.

use super::{Described, SlowStart};
use crate::arithmetic::math::mul;
use crate::arithmetic::window::{FRACTION_BITS, Window};
use crate::event::{Ack, Conn};
use crate::info::Info;
use crate::params::{ParamKind, Parameters};

crate::parameters! {
    /// Parameters of limited slow start.
    pub struct LimitedParams {
        /// Window beyond which growth is limited to half of this per round trip.
        max_ssthresh: u64 = 100, ParamKind::Segments { min: 2, max: 1 << 30 },
            "RFC 3742 section 2, max_ssthresh";
    }
}

/// RFC 3742.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limited;

impl Described for Limited {
    const INFO: &'static Info = &Info {
        id: "limited",
        name: "Limited slow start",
        origin: "RFC 3742, Limited Slow-Start for TCP with Large Congestion Windows",
        citation: "rfc3742",
        description: "Standard slow start up to a window of max_ssthresh. Beyond it, each \
            acknowledgement increases the window by 1/K of a segment, so that the window grows by \
            at most max_ssthresh/2 per RTT. K is the window in units of max_ssthresh/2, cut to a \
            whole number. One deviation: the RFC cuts the addition to whole bytes, which stops \
            growth if K exceeds the segment size. Here the fraction is kept.",
        params: LimitedParams::TABLE,
        trace: &[],
    };
}

impl SlowStart for Limited {
    type Params = LimitedParams;

    fn init(_p: &LimitedParams, _c: &Conn) -> Limited {
        Limited
    }

    fn grow(&mut self, p: &LimitedParams, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        let max_ssthresh = mul(p.max_ssthresh, u64::from(c.mss));
        if w.cwnd() <= max_ssthresh {
            w.add(credit);
            return;
        }
        // `credit` is at most the maximum window, so that the shift does not overflow.
        let k = mul(w.cwnd(), 2) / max_ssthresh.max(1);
        w.add_q((credit << FRACTION_BITS) / k.max(1));
    }
}
