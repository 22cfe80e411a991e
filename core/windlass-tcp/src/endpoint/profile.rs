//! Configuration of an endpoint.

use windlass_cc::setup::{Counting, MarkCut};
use windlass_cc::{AnyParams, Setup};

use crate::stack::StackConfig;

/// Configuration of an endpoint. One value serves any number of endpoints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Behaviour of the stack.
    pub stack: StackConfig,
    /// The congestion-control algorithm with its parameters. A connection takes initial window and recovery
    /// from the stack when it begins. [`new`](Profile::new) takes the other values from the stack.
    pub params: AnyParams,
    /// Largest IP packet that the path carries, bytes.
    pub mtu: u32,
}

impl Profile {
    /// A profile whose parameters contain the stack's rules for each acknowledgement, such as the maximum
    /// number of segments that count.
    ///
    /// An L4S algorithm keeps fractions of a segment and cuts at once in every stack. In Linux, `tcp_prague` replaces
    /// the kernel's reduction and growth (`cong_control`).
    pub fn new(mut stack: StackConfig, mut params: AnyParams, mtu: u32) -> Profile {
        if params.requirements().l4s {
            (stack.window_counting, stack.mark_cut) = (Counting::Bytes, MarkCut::AtOnce);
        }
        params.set_common(&Setup {
            ack_limit: stack.ack_limit,
            counting: stack.window_counting,
            credit: stack.growth_credit,
            mark_cut: stack.mark_cut,
            ..params.common()
        });
        let mut profile = Profile { stack, params, mtu };
        profile.pace_jumps();
        profile
    }

    /// The algorithm's parameters with the stack's values.
    pub(super) fn params_for(&self, mss: u32) -> AnyParams {
        let mut params = self.params;
        params.set_common(&Setup {
            initial_window: self.stack.initial_window.bytes(mss),
            recovery: self.stack.recovery,
            ack_limit: self.stack.ack_limit,
            counting: self.stack.window_counting,
            credit: self.stack.growth_credit,
            mark_cut: self.stack.mark_cut,
            ..params.common()
        });
        params
    }

    /// Largest payload of a segment without options, bytes.
    // RFC 9293-3.7.1-MUST-67
    pub fn mss(&self) -> u32 {
        let path =
            self.mtu.saturating_sub(crate::segment::IPV4_HEADER + crate::segment::TCP_HEADER);
        self.stack.mss.unwrap_or(path).min(path).max(1)
    }
}
