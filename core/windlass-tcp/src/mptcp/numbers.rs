//! Completion of data sequence numbers that were sent with 32 of their 64 bits (RFC 8684 section 3.3.1).

use super::codec::Signal;
use super::keys;
use super::option::MpOption;

/// Positions of a connection's two streams, learnt from its options. They are sufficient to complete numbers
/// of which only the lower half was sent. One instance per connection processes the packets of all subflows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Numbers {
    /// Data sequence number after all data sent so far.
    own: u64,
    /// Data sequence number after all data that the peer has sent so far.
    peer: u64,
}

impl Numbers {
    /// Notes an option that was sent.
    pub fn sent(&mut self, option: &MpOption) {
        learn(option, &mut self.own, &mut self.peer);
    }

    /// Notes a received option, and returns it with all bits of its numbers.
    // RFC 8684-3.3.1-8
    pub fn complete(&mut self, signal: &Signal) -> MpOption {
        let mut option = signal.option;
        if let MpOption::Dss(dss) = &mut option {
            if let Some(ack) = dss.data_ack.as_mut().filter(|_| signal.short_ack) {
                *ack = nearest(*ack as u32, self.own);
            }
            if let Some(mapping) = dss.mapping.as_mut().filter(|_| signal.short_seq) {
                mapping.data_seq = nearest(mapping.data_seq as u32, self.peer);
            }
        }
        learn(&option, &mut self.peer, &mut self.own);
        option
    }
}

/// Updates the positions of the streams of an option's sender and receiver.
fn learn(option: &MpOption, sender: &mut u64, receiver: &mut u64) {
    if let MpOption::Capable { sender_key, receiver_key, .. } = option {
        // Handshakes may be repeated; the streams have hardly advanced by then.
        for (key, at) in [(sender_key, &mut *sender), (receiver_key, &mut *receiver)] {
            let first = key.map(|key| keys::initial_data_seq(key).wrapping_add(1));
            *at = first.unwrap_or(*at);
        }
    }
    if let Some(mapping) = option.mapping() {
        advance(sender, mapping.data_seq.wrapping_add(mapping.len.into()));
    }
}

fn advance(at: &mut u64, to: u64) {
    if to.wrapping_sub(*at) as i64 > 0 {
        *at = to;
    }
}

/// The number with this lower half that is nearest to `near`.
// RFC 8684-3.3.1-10
fn nearest(low: u32, near: u64) -> u64 {
    let ahead = low.wrapping_sub(near as u32) as i32;
    near.wrapping_add_signed(ahead.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 8684-3.3.1-10
    #[test]
    fn the_nearest_number_is_found_on_both_sides_of_a_wrap() {
        let near = 0x0000_0007_ffff_fff0;
        assert_eq!(nearest(0xffff_fff8, near), near + 8);
        assert_eq!(nearest(0x0000_0004, near), near + 20);
        assert_eq!(nearest(0xffff_ffe0, near), near - 16);
        assert_eq!(nearest(0xffff_fffe, 3), u64::MAX - 1, "the 64 bits wrap too");
    }
}
