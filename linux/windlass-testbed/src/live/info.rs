//! `tcp_info`, the kernel's data of a connection. The fields are the fields of `struct tcp_info` in
//! `linux/tcp.h`. New kernels only append fields to it.

use std::io;
use std::os::fd::AsFd;

use super::sys;

/// The kernel's value for "no limit" of a threshold (`TCP_INFINITE_SSTHRESH`).
const INFINITE: u32 = 0x7fff_ffff;
/// `TCP_CLOSE`: the connection has ended, although TIME-WAIT may still keep its addresses.
const CLOSED: u8 = 7;

/// State of a connection as this end sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Info {
    /// True if the connection is over.
    pub closed: bool,
    /// Retransmission timeout, microseconds.
    pub rto_us: u32,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Segments in flight: sent, neither acknowledged nor considered lost, retransmissions included.
    pub in_flight: u32,
    /// Smoothed RTT, microseconds; zero before the first sample.
    pub srtt_us: u32,
    /// Slow-start threshold, segments; `None` for no limit.
    pub ssthresh: Option<u32>,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Segments retransmitted, SYN and FIN included.
    pub retransmissions: u32,
    /// Pacing rate, bytes per second, which the kernel applies if pacing is on; `u64::MAX` for no limit.
    pub pacing_rate: u64,
    /// Minimum RTT, microseconds; `None` before the first sample.
    pub min_rtt_us: Option<u32>,
    /// Segments that the peer has reported as marked.
    pub delivered_ce: u32,
    /// Bytes that the peer has reported as received with ECT(1), ECT(0) and CE (accurate ECN); zero before Linux 7.0.
    pub delivered_bytes: [u32; 3],
}

impl Info {
    /// Reads the state of a TCP socket.
    ///
    /// # Errors
    ///
    /// Returns an error if the socket is not a TCP socket.
    pub fn of(socket: &impl AsFd) -> io::Result<Info> {
        Ok(Info::parse(&sys::tcp_info(socket)?))
    }

    /// Parses the structure. Fields that a kernel does not have are zero.
    fn parse(bytes: &[u8]) -> Info {
        let u32_at = |at: usize| {
            let field = bytes.get(at..at + 4).and_then(|b| b.try_into().ok());
            field.map_or(0, u32::from_ne_bytes)
        };
        let u64_at = |at: usize| {
            let field = bytes.get(at..at + 8).and_then(|b| b.try_into().ok());
            field.map_or(0, u64::from_ne_bytes)
        };
        let (unacked, sacked, lost, retransmitted) =
            (u32_at(24), u32_at(28), u32_at(32), u32_at(36));
        Info {
            closed: bytes.first() == Some(&CLOSED),
            rto_us: u32_at(8),
            mss: u32_at(16),
            in_flight: (unacked + retransmitted).saturating_sub(sacked + lost),
            srtt_us: u32_at(68),
            ssthresh: Some(u32_at(76)).filter(|s| *s < INFINITE),
            cwnd: u32_at(80),
            retransmissions: u32_at(100),
            pacing_rate: u64_at(104),
            min_rtt_us: Some(u32_at(148)).filter(|us| *us != 0 && *us != u32::MAX),
            delivered_ce: u32_at(196),
            delivered_bytes: [252, 256, 260].map(u32_at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_socket_has_the_initial_window_and_no_threshold() {
        let socket =
            socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        let info = Info::of(&socket).unwrap();
        assert_eq!((info.cwnd, info.ssthresh, info.closed), (10, None, true));
        assert_eq!((info.srtt_us, info.min_rtt_us, info.rto_us), (0, None, 1_000_000));
    }
}
