//! IEEE 802.15.4's access parameters, and the frames that 6LoWPAN makes of a packet.
//!
//! A packet that does not fit into one frame of 127 bytes goes in fragments (RFC 4944 section 5.3), each
//! with an access to the channel, an acknowledgement and retries of its own. The loss of one is the
//! loss of the packet: what follows it is not sent. Headers of IP are compressed (RFC 6282), those of UDP if that
//! is asked for (section 4.3); those of TCP go as they are.

use windlass_cc::Span;

use crate::radio::phy::{Format, Phy};

/// Longest frame, bytes from MAC header to check sequence (aMaxPHYPacketSize).
pub const MAX_FRAME_BYTES: u32 = 127;
/// Bytes of an acknowledgement: frame control, sequence number and check sequence.
pub const ACK_BYTES: u32 = 5;
/// Largest packet: a fragment header counts 11 bits, and IPv6's header is 20 bytes longer than the IPv4
/// header that sizes in this crate include.
pub const MAX_IP_BYTES: u32 = 2047 - (IPV6_HEADER - IPV4_HEADER);
/// Most attempts to find the channel idle, and most retries (macMaxCSMABackoffs ranges to 5, macMaxFrameRetries
/// to 7; stacks go beyond).
pub const MAX_TRIES: u32 = 255;
/// Longest delay of a retry, and longest preparation of a frame.
pub const MAX_DELAY: Span = Span::from_secs(10);

const IPV4_HEADER: u32 = 20;
const IPV6_HEADER: u32 = 40;
/// UDP's header, and what it can be compressed to (RFC 6282 section 4.3.3): its byte of encoding, both ports in 4
/// bytes, 3, or 1, and the checksum in 2 or none.
pub const UDP_HEADER: u32 = 8;
const UDP_FORMS: [u32; 6] = [2, 4, 5, 6, 7, UDP_HEADER];
/// The least compressed IP header that names the next one: what encodes it, and that name.
const NAMES_NEXT: u32 = 3;
/// Fragment headers: of the first, and of the others.
const FRAG1: u32 = 4;
const FRAGN: u32 = 5;
/// Symbols of a clear-channel assessment, and of the waits around frames (IEEE 802.15.4-2015 sections
/// 10.2.7, 8.4.2 and 11.1.3).
const CCA_SYMBOLS: u64 = 8;
const LIFS_SYMBOLS: u64 = 40;
const SIFS_SYMBOLS: u64 = 12;
/// The longest frame after which the short space is enough (aMaxSIFSFrameSize).
const MAX_SIFS_FRAME: u32 = 18;

/// What IEEE 802.15.4 has in place of DCF: unslotted CSMA-CA, acknowledgements and retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lowpan {
    /// How often a busy channel is assessed again before the attempt fails (macMaxCSMABackoffs).
    pub max_backoffs: u32,
    /// How often a frame is tried again (macMaxFrameRetries).
    pub max_retries: u32,
    /// Whether an attempt that found the channel busy counts as one of these, and is repeated, as
    /// stacks do it. By the standard it ends the frame.
    pub retry_busy: bool,
    /// Before a retry a station waits for a random time up to this. The standard has none; TCPlp
    /// introduces it so that two stations that do not hear each other do not collide again and again.
    pub retry_delay: Span,
    /// What a station needs to prepare a frame, for example to load it into its radio, before it contends.
    pub prepare: Span,
    /// Bytes of the MAC header with addresses and security, and of check sequences.
    pub mac_header: u32,
    /// Bytes of the compressed IP header, in place of the 20 bytes that a packet's size includes.
    pub ip_header: u32,
    /// Bytes of the header of UDP: 8 as it is, fewer compressed, one of 7, 6, 5, 4 and 2. That of IP then need not name UDP,
    /// and is a byte shorter.
    pub udp_header: u32,
}

impl Default for Lowpan {
    /// The standard's defaults, and short addresses without security.
    fn default() -> Lowpan {
        Lowpan {
            max_backoffs: 4,
            max_retries: 3,
            retry_busy: false,
            retry_delay: Span::ZERO,
            prepare: Span::ZERO,
            mac_header: Framing::SHORT.mac,
            ip_header: Framing::SHORT.ip,
            udp_header: UDP_HEADER,
        }
    }
}

/// Bytes that frames have beside the packet's own; see [`Lowpan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// [`Lowpan::mac_header`].
    pub mac: u32,
    /// [`Lowpan::ip_header`].
    pub ip: u32,
    /// [`Lowpan::saved`].
    pub saved: u32,
}

impl Framing {
    /// Short addresses (2 bytes) and one PAN: frame control 2, sequence number 1, PAN 2, addresses 4, check
    /// sequence 2. IP: dispatch 2, next header 1, and both interface identifiers in 2 bytes each, their
    /// prefixes from a context.
    pub const SHORT: Framing = Framing { mac: 11, ip: 7, saved: 0 };
    /// Extended addresses (8 bytes): as [`Framing::SHORT`] with 12 bytes more in either header.
    pub const EXTENDED: Framing = Framing { mac: 23, ip: 19, saved: 0 };

    /// Packet bytes of the first and of a later fragment: multiples of 8. What is compressed counts as it was, and
    /// goes in the first (RFC 6282 section 2).
    fn shares(self) -> [u32; 2] {
        let room = MAX_FRAME_BYTES.saturating_sub(self.mac);
        let first = (room + self.saved).saturating_sub(FRAG1 + self.ip);
        [first, room.saturating_sub(FRAGN)].map(|n| n / 8 * 8)
    }

    /// In how many frames an IP packet goes.
    pub fn parts(self, ip_bytes: u32) -> u32 {
        let rest = ip_bytes.saturating_sub(IPV4_HEADER);
        if self.mac + self.ip + rest <= MAX_FRAME_BYTES + self.saved {
            return 1;
        }
        let [first, later] = self.shares();
        1 + rest.saturating_sub(first).div_ceil(later.max(1))
    }

    /// Bytes from MAC header to check sequence of a packet's frame, by its place from 0.
    pub fn bytes(self, ip_bytes: u32, part: u32) -> u32 {
        let rest = ip_bytes.saturating_sub(IPV4_HEADER);
        let ([first, later], parts) = (self.shares(), self.parts(ip_bytes));
        match part {
            0 if parts == 1 => self.mac + self.ip + rest - self.saved,
            0 => self.mac + FRAG1 + self.ip + first - self.saved,
            _ => self.mac + FRAGN + later.min(rest - first - (part - 1) * later),
        }
    }

    /// The largest IP packet that goes in so many frames.
    pub fn most_in(self, parts: u32) -> u32 {
        let [first, later] = self.shares();
        match parts {
            0 | 1 => {
                IPV4_HEADER + (MAX_FRAME_BYTES + self.saved).saturating_sub(self.mac + self.ip)
            }
            _ => IPV4_HEADER + first + (parts - 1) * later,
        }
    }
}

impl Lowpan {
    /// How its frames are filled, with packets of TCP.
    pub fn framing(&self) -> Framing {
        self.framing_of(0)
    }

    /// The same with packets of which [so many bytes](Lowpan::saved) are spared.
    pub fn framing_of(&self, saved: u8) -> Framing {
        Framing { mac: self.mac_header, ip: self.ip_header, saved: saved.into() }
    }

    /// Bytes by which the headers of a datagram are shorter than those of a segment, that of TCP itself apart. Ports that
    /// are fixed, as AODV's, do not shorten.
    pub fn saved(&self, fixed_ports: bool) -> u8 {
        let least = if fixed_ports { UDP_HEADER - 1 } else { 0 };
        match UDP_HEADER - self.udp_header.max(least) {
            0 => 0,
            spared => spared as u8 + u8::from(self.ip_header >= NAMES_NEXT),
        }
    }

    /// Mean time that the back-offs of a packet take if nobody else is there.
    pub fn mean_back_off(&self, phy: &Phy, ip_bytes: u32) -> Span {
        let parts = u64::from(self.framing().parts(ip_bytes));
        Span(parts * phy.slot.0 * u64::from(phy.cw_min) / 2)
    }

    /// Whether this can be simulated.
    ///
    /// # Errors
    ///
    /// What is wrong and what would be right, as a sentence.
    pub fn check(&self) -> Result<(), String> {
        for (what, n) in
            [("macMaxCSMABackoffs", self.max_backoffs), ("macMaxFrameRetries", self.max_retries)]
        {
            if n > MAX_TRIES {
                return Err(format!("{what} must be at most {MAX_TRIES}, not {n}"));
            }
        }
        if self.retry_delay > MAX_DELAY || self.prepare > MAX_DELAY {
            return Err(
                "retries and the preparation of a frame may be delayed by 10 s at most".into()
            );
        }
        if !UDP_FORMS.contains(&self.udp_header) {
            return Err(format!(
                "UDP's header has 8 bytes, or 7, 6, 5, 4 or 2 compressed, not {}",
                self.udp_header
            ));
        }
        let least = Framing::SHORT.mac - 6; // without addresses
        let framing = self.framing();
        if framing.mac < least || framing.ip < 2 || framing.shares().contains(&0) {
            return Err(format!(
                "headers must leave room for 8 bytes in a fragment: a frame holds {MAX_FRAME_BYTES} bytes, and \
                 the MAC header of {} and the compressed IP header of {} leave too few, or are themselves \
                 shorter than {least} and 2 bytes",
                framing.mac, framing.ip
            ));
        }
        Ok(())
    }

    /// Time of a packet on an idle channel without back-offs, from the end of the space before it to the end of
    /// that after its last acknowledgement.
    pub fn exchange(&self, phy: &Phy, ip_bytes: u32) -> Span {
        let time = |part| {
            let bytes = self.framing().bytes(ip_bytes, part);
            let [frame, ack] = [bytes, ACK_BYTES].map(|b| phy.airtime(b, phy.rates[0]));
            let around =
                Lowpan::assessment(phy) + phy.turnaround + phy.sifs + Lowpan::space(phy, bytes);
            self.prepare + around + frame + ack
        };
        (0..self.framing().parts(ip_bytes)).fold(Span::ZERO, |sum, part| sum + time(part))
    }

    /// The same to the arrival of its last part.
    pub fn crossing(&self, phy: &Phy, ip_bytes: u32) -> Span {
        let framing = self.framing();
        let last = framing.bytes(ip_bytes, framing.parts(ip_bytes) - 1);
        let after = phy.sifs + phy.airtime(ACK_BYTES, phy.rates[0]) + Lowpan::space(phy, last);
        Span(self.exchange(phy, ip_bytes).0 - after.0)
    }

    /// macAckWaitDuration: a back-off period, the turnaround, and the longest start of an answer.
    pub(super) fn ack_wait(phy: &Phy) -> Span {
        phy.slot + phy.turnaround + symbols(phy, 10 + 12)
    }

    /// Time of the longest frame on the air (phyMaxFrameDuration).
    pub(super) fn longest_frame(phy: &Phy) -> Span {
        phy.airtime(MAX_FRAME_BYTES, phy.rates[0])
    }

    /// For how long a device waits for a frame that its parent has announced: macMaxFrameTotalWaitTime (IEEE
    /// 802.15.4-2015 section 8.4.2), back-offs at their longest and the longest frame; and what the parent needs to
    /// prepare it.
    pub fn frame_wait(&self, phy: &Phy) -> Span {
        let longest = |n: u32| ((u64::from(phy.cw_min) + 1) << n.min(16)).min(phy.cw_max.into());
        let slots: u64 = (0..self.max_backoffs).map(longest).sum();
        self.prepare + Span(slots * phy.slot.0) + Lowpan::longest_frame(phy)
    }

    /// Time of a clear-channel assessment.
    pub fn assessment(phy: &Phy) -> Span {
        symbols(phy, CCA_SYMBOLS)
    }

    /// The space that a station leaves after a frame of so many bytes, or after its acknowledgement.
    pub fn space(phy: &Phy, bytes: u32) -> Span {
        symbols(phy, if bytes > MAX_SIFS_FRAME { LIFS_SYMBOLS } else { SIFS_SYMBOLS })
    }
}

fn symbols(phy: &Phy, n: u64) -> Span {
    match phy.format {
        Format::Oqpsk { symbol } => Span(n * symbol.0),
        _ => Span::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_are_full_and_carry_the_packet_once() {
        for framing in [Framing::SHORT, Framing::EXTENDED] {
            for ip_bytes in IPV4_HEADER + 8..=MAX_IP_BYTES {
                let parts = framing.parts(ip_bytes);
                let sizes: Vec<u32> = (0..parts).map(|p| framing.bytes(ip_bytes, p)).collect();
                assert!(sizes.iter().all(|b| *b <= MAX_FRAME_BYTES), "{ip_bytes}: {sizes:?}");
                let fragmented = if parts > 1 { FRAG1 + FRAGN * (parts - 1) } else { 0 };
                let headers = parts * framing.mac + framing.ip + fragmented;
                assert_eq!(
                    sizes.iter().sum::<u32>(),
                    headers + ip_bytes - IPV4_HEADER,
                    "{ip_bytes}"
                );
                // All but the last could not hold another 8 bytes.
                let full = &sizes[..sizes.len() - 1];
                assert!(full.iter().all(|b| b + 8 > MAX_FRAME_BYTES), "{ip_bytes}: {sizes:?}");
            }
        }
    }

    #[test]
    fn the_largest_packet_of_so_many_frames_is_the_largest() {
        for framing in [Framing::SHORT, Framing::EXTENDED] {
            for parts in 1..=10 {
                let most = framing.most_in(parts);
                assert_eq!([framing.parts(most), framing.parts(most + 1)], [parts, parts + 1]);
            }
        }
    }

    #[test]
    fn sizes_are_those_of_the_rfcs() {
        // 11 bytes of MAC, 7 of IP: 109 bytes of TCP in one frame.
        assert_eq!(Framing::SHORT.most_in(1), 20 + 109);
        // First fragment: 127 - 11 - 4 - 7 = 105, thirteen eights; the others 127 - 11 - 5 = 111, as many.
        assert_eq!(Framing::SHORT.bytes(500, 0), 11 + 4 + 7 + 104);
        assert_eq!(Framing::SHORT.bytes(500, 1), 11 + 5 + 104);
        assert_eq!(Framing::SHORT.bytes(500, 4), 11 + 5 + 480 - 4 * 104);
        assert_eq!(Framing::SHORT.parts(500), 5);
        assert_eq!(Lowpan::ack_wait(&Phy::OQPSK_2450), Span::from_micros(54 * 16));
    }
}
