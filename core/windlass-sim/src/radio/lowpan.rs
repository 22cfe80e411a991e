//! Access parameters of IEEE 802.15.4, and the frames of a packet under 6LoWPAN.
//!
//! A packet that does not fit into one frame of 127 bytes is sent in fragments (RFC 4944 section 5.3). Each
//! fragment has its own channel access, acknowledgement and retries. If one fragment is lost, the packet is
//! lost, and the later fragments are not sent. IP headers are compressed (RFC 6282). UDP headers are
//! compressed if the configuration requests it (section 4.3). TCP headers are not compressed.

use windlass_cc::Span;

use crate::radio::phy::{Format, Phy};

/// Maximum size of a frame, bytes from MAC header to check sequence (aMaxPHYPacketSize).
pub const MAX_FRAME_BYTES: u32 = 127;
/// Size of an acknowledgement in bytes: frame control, sequence number and check sequence.
pub const ACK_BYTES: u32 = 5;
/// Maximum size of a packet. A fragment header has 11 bits for the size, and IPv6's header is 20 bytes longer
/// than the IPv4 header that packet sizes in this crate include.
pub const MAX_IP_BYTES: u32 = 2047 - (IPV6_HEADER - IPV4_HEADER);
/// Upper bound of the back-offs and of the retries of a frame. In the standard, macMaxCSMABackoffs is at most
/// 5 and macMaxFrameRetries at most 7, but stacks use higher values.
pub const MAX_TRIES: u32 = 255;
/// Upper bound of the delay of a retry, and of the preparation time of a frame.
pub const MAX_DELAY: Span = Span::from_secs(10);

const IPV4_HEADER: u32 = 20;
const IPV6_HEADER: u32 = 40;
/// UDP's header, and its possible sizes after compression (RFC 6282 section 4.3.3): a byte of encoding, both
/// ports in 4, 3 or 1 bytes, and the checksum in 2 or 0 bytes.
pub const UDP_HEADER: u32 = 8;
const UDP_FORMS: [u32; 6] = [2, 4, 5, 6, 7, UDP_HEADER];
/// Minimum size of a compressed IP header with a next-header field: 2 bytes of encoding and 1 byte for the
/// field.
const NAMES_NEXT: u32 = 3;
/// Size of the fragment header of the first fragment, and of the others.
const FRAG1: u32 = 4;
const FRAGN: u32 = 5;
/// Symbols of a clear-channel assessment, and of the spaces after long and short frames (IEEE 802.15.4-2015
/// sections 10.2.7, 8.4.2 and 11.1.3).
const CCA_SYMBOLS: u64 = 8;
const LIFS_SYMBOLS: u64 = 40;
const SIFS_SYMBOLS: u64 = 12;
/// Size of the longest frame that needs only the short space (aMaxSIFSFrameSize).
const MAX_SIFS_FRAME: u32 = 18;

/// Parameters of IEEE 802.15.4 that replace those of DCF: unslotted CSMA-CA, acknowledgements and retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lowpan {
    /// Number of further back-offs after a busy channel before the attempt fails (macMaxCSMABackoffs).
    pub max_backoffs: u32,
    /// Number of retries of a frame (macMaxFrameRetries).
    pub max_retries: u32,
    /// True if an attempt that found the channel busy counts as a failed attempt and is repeated, as in many
    /// stacks. False if it ends the frame, as in the standard.
    pub retry_busy: bool,
    /// Upper bound of the random delay before a retry. The standard has no such delay. TCPlp introduces it so
    /// that two stations that do not sense each other do not collide repeatedly.
    pub retry_delay: Span,
    /// Time that a station needs to prepare a frame before it contends, for example to load it into its
    /// radio.
    pub prepare: Span,
    /// Size of the MAC header with addresses, security and check sequences, bytes.
    pub mac_header: u32,
    /// Size of the compressed IP header, bytes. It replaces the 20 bytes of IP header that packet sizes
    /// include.
    pub ip_header: u32,
    /// Size of the UDP header, bytes: 8 uncompressed, or 7, 6, 5, 4 or 2 compressed. With a compressed UDP
    /// header, the IP header needs no next-header field and is one byte shorter.
    pub udp_header: u32,
}

impl Default for Lowpan {
    /// The standard's defaults, with short addresses and without security.
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

/// Sizes of the headers of a frame, bytes; see [`Lowpan`].
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
    /// Short addresses (2 bytes) and one PAN. MAC header: frame control 2, sequence number 1, PAN 2,
    /// addresses 4, check sequence 2. IP header: dispatch 2, next header 1, and both interface identifiers in
    /// 2 bytes each, with prefixes from a context.
    pub const SHORT: Framing = Framing { mac: 11, ip: 7, saved: 0 };
    /// Extended addresses (8 bytes): like [`Framing::SHORT`] with 12 more bytes in each header.
    pub const EXTENDED: Framing = Framing { mac: 23, ip: 19, saved: 0 };

    /// Packet bytes of the first fragment and of a later fragment, both multiples of 8. Compressed headers
    /// are counted at their uncompressed size and are sent in the first fragment (RFC 6282 section 2).
    fn shares(self) -> [u32; 2] {
        let room = MAX_FRAME_BYTES.saturating_sub(self.mac);
        let first = (room + self.saved).saturating_sub(FRAG1 + self.ip);
        [first, room.saturating_sub(FRAGN)].map(|n| n / 8 * 8)
    }

    /// Number of frames of an IP packet.
    pub fn parts(self, ip_bytes: u32) -> u32 {
        let rest = ip_bytes.saturating_sub(IPV4_HEADER);
        if self.mac + self.ip + rest <= MAX_FRAME_BYTES + self.saved {
            return 1;
        }
        let [first, later] = self.shares();
        1 + rest.saturating_sub(first).div_ceil(later.max(1))
    }

    /// Size of the frame with this part of a packet (from 0), in bytes from MAC header to check sequence.
    pub fn bytes(self, ip_bytes: u32, part: u32) -> u32 {
        let rest = ip_bytes.saturating_sub(IPV4_HEADER);
        let ([first, later], parts) = (self.shares(), self.parts(ip_bytes));
        match part {
            0 if parts == 1 => self.mac + self.ip + rest - self.saved,
            0 => self.mac + FRAG1 + self.ip + first - self.saved,
            _ => self.mac + FRAGN + later.min(rest - first - (part - 1) * later),
        }
    }

    /// Size of the largest IP packet that fits into this number of frames.
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
    /// Header sizes of frames that carry TCP packets.
    pub fn framing(&self) -> Framing {
        self.framing_of(0)
    }

    /// Header sizes of frames whose packets are shortened by `saved` bytes (see [`Lowpan::saved`]).
    pub fn framing_of(&self, saved: u8) -> Framing {
        Framing { mac: self.mac_header, ip: self.ip_header, saved: saved.into() }
    }

    /// Number of bytes by which header compression shortens a UDP datagram: the compressed part of the UDP header,
    /// and the next-header field of the IP header. Fixed ports, such as AODV's, are not compressed.
    pub fn saved(&self, fixed_ports: bool) -> u8 {
        let least = if fixed_ports { UDP_HEADER - 1 } else { 0 };
        match UDP_HEADER - self.udp_header.max(least) {
            0 => 0,
            spared => spared as u8 + u8::from(self.ip_header >= NAMES_NEXT),
        }
    }

    /// Mean total back-off time of a packet on an idle channel.
    pub fn mean_back_off(&self, phy: &Phy, ip_bytes: u32) -> Span {
        let parts = u64::from(self.framing().parts(ip_bytes));
        Span(parts * phy.slot.0 * u64::from(phy.cw_min) / 2)
    }

    /// Checks that these parameters can be simulated.
    ///
    /// # Errors
    ///
    /// Describes the fault and the valid values, in a sentence.
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
                "retries and the preparation of a frame may be delayed by at most 10 s".into()
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

    /// Time of a packet on an idle channel without back-offs. It begins after the space before the packet,
    /// and ends after the space that follows the last acknowledgement.
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

    /// Like [`Lowpan::exchange`], but ends with the arrival of the last part.
    pub fn crossing(&self, phy: &Phy, ip_bytes: u32) -> Span {
        let framing = self.framing();
        let last = framing.bytes(ip_bytes, framing.parts(ip_bytes) - 1);
        let after = phy.sifs + phy.airtime(ACK_BYTES, phy.rates[0]) + Lowpan::space(phy, last);
        Span(self.exchange(phy, ip_bytes).0 - after.0)
    }

    /// macAckWaitDuration: a back-off period, the turnaround, and the maximum time until an answer is
    /// detected.
    pub(super) fn ack_wait(phy: &Phy) -> Span {
        phy.slot + phy.turnaround + symbols(phy, 10 + 12)
    }

    /// Airtime of a frame of maximum size (phyMaxFrameDuration).
    pub(super) fn longest_frame(phy: &Phy) -> Span {
        phy.airtime(MAX_FRAME_BYTES, phy.rates[0])
    }

    /// Time for which a device waits for a frame that its parent has announced. It is
    /// macMaxFrameTotalWaitTime (IEEE 802.15.4-2015 section 8.4.2), with maximum back-offs and a frame of
    /// maximum size, plus the preparation time of the parent.
    pub fn frame_wait(&self, phy: &Phy) -> Span {
        let longest = |n: u32| ((u64::from(phy.cw_min) + 1) << n.min(16)).min(phy.cw_max.into());
        let slots: u64 = (0..self.max_backoffs).map(longest).sum();
        self.prepare + Span(slots * phy.slot.0) + Lowpan::longest_frame(phy)
    }

    /// Duration of a clear-channel assessment.
    pub fn assessment(phy: &Phy) -> Span {
        symbols(phy, CCA_SYMBOLS)
    }

    /// Space after a frame of `bytes` bytes, or after its acknowledgement.
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
                // All fragments except the last have no room for another 8 bytes.
                let full = &sizes[..sizes.len() - 1];
                assert!(full.iter().all(|b| b + 8 > MAX_FRAME_BYTES), "{ip_bytes}: {sizes:?}");
            }
        }
    }

    #[test]
    fn the_largest_packet_fills_its_frames() {
        for framing in [Framing::SHORT, Framing::EXTENDED] {
            for parts in 1..=10 {
                let most = framing.most_in(parts);
                assert_eq!([framing.parts(most), framing.parts(most + 1)], [parts, parts + 1]);
            }
        }
    }

    #[test]
    fn frame_sizes_follow_the_rfcs() {
        // MAC header 11, IP header 7: 109 bytes of TCP in one frame.
        assert_eq!(Framing::SHORT.most_in(1), 20 + 109);
        // First fragment: 127 - 11 - 4 - 7 = 105, rounded down to 104. Others: 127 - 11 - 5 = 111, also
        // rounded down to 104.
        assert_eq!(Framing::SHORT.bytes(500, 0), 11 + 4 + 7 + 104);
        assert_eq!(Framing::SHORT.bytes(500, 1), 11 + 5 + 104);
        assert_eq!(Framing::SHORT.bytes(500, 4), 11 + 5 + 480 - 4 * 104);
        assert_eq!(Framing::SHORT.parts(500), 5);
        assert_eq!(Lowpan::ack_wait(&Phy::OQPSK_2450), Span::from_micros(54 * 16));
    }
}
