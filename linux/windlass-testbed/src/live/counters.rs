//! A namespace's SNMP counters, with the kernel's data that `tcp_info` does not contain.

use std::fs;
use std::io;

use super::tun;

/// Counters of one end of a flow, which has its own namespace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Expiries of the retransmission timer, SYN included (`TCPTimeouts`).
    pub timeouts: u64,
    /// Entries into fast recovery (`TCPRenoRecovery` and `TCPSackRecovery`).
    pub recoveries: u64,
    /// SYN and SYN-ACK segments retransmitted (`TCPSynRetrans`).
    pub syn_retransmissions: u64,
    /// Packets lost because the device's queue was full.
    pub lost_at_device: u64,
    /// Datagrams lost because their socket's buffer was full (`RcvbufErrors`).
    pub lost_at_socket: u64,
}

impl Counters {
    /// Reads the counters of the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// Returns an error without `/proc`.
    pub fn read() -> io::Result<Counters> {
        let file = |name: &str| fs::read_to_string(format!("/proc/thread-self/net/{name}"));
        Ok(Counters::parse(&file("netstat")?, &file("snmp")?, &file("dev")?))
    }

    fn parse(netstat: &str, snmp: &str, dev: &str) -> Counters {
        let tcp = |name| named(netstat, "TcpExt:", name);
        Counters {
            timeouts: tcp("TCPTimeouts"),
            recoveries: tcp("TCPRenoRecovery") + tcp("TCPSackRecovery"),
            syn_retransmissions: tcp("TCPSynRetrans"),
            lost_at_device: dropped_by(dev, tun::NAME),
            lost_at_socket: named(snmp, "Udp:", "RcvbufErrors"),
        }
    }
}

/// Returns a counter in a file of line pairs (names, then values), where both lines start with the name of
/// the group. Returns zero if the counter is missing.
fn named(file: &str, group: &str, name: &str) -> u64 {
    let mut lines = file.lines().filter_map(|l| l.strip_prefix(group));
    let names = lines.next().unwrap_or_default().split_whitespace();
    let values = lines.next().unwrap_or_default().split_whitespace();
    let pair = names.zip(values).find(|(n, _)| *n == name);
    pair.and_then(|(_, v)| v.parse().ok()).unwrap_or(0)
}

/// Returns the outgoing packets that a device has dropped: the 12th number of its line in `/proc/net/dev`.
fn dropped_by(dev: &str, device: &str) -> u64 {
    let of_device = |line: &str| {
        let (name, figures) = line.split_once(':')?;
        (name.trim() == device).then(|| figures.split_whitespace().nth(11)?.parse().ok())?
    };
    dev.lines().find_map(of_device).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_name() {
        let netstat = "TcpExt: A TCPRenoRecovery TCPSackRecovery TCPTimeouts TCPSynRetrans\n\
            TcpExt: 9 2 3 4 1\nIpExt: InNoRoutes\nIpExt: 0\n";
        let snmp = "Udp: InErrors RcvbufErrors\nUdp: 1 7\nUdpLite: RcvbufErrors\nUdpLite: 8\n";
        let dev = "Inter-|\n face |bytes\n  lo: 1 1 1 1 1 1 1 1 1 1 1 5 1 1 1 1\n\
            tun0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n";
        let counters = Counters::parse(netstat, snmp, dev);
        let expected = Counters {
            timeouts: 4,
            recoveries: 5,
            syn_retransmissions: 1,
            lost_at_device: 12,
            lost_at_socket: 7,
        };
        assert_eq!(counters, expected);
    }

    #[test]
    fn this_kernel_has_every_counter() {
        let netstat = fs::read_to_string("/proc/thread-self/net/netstat").unwrap();
        for name in ["TCPTimeouts", "TCPRenoRecovery", "TCPSackRecovery", "TCPSynRetrans"] {
            assert!(netstat.contains(name), "{name}");
        }
        let snmp = fs::read_to_string("/proc/thread-self/net/snmp").unwrap();
        assert!(snmp.contains("RcvbufErrors"));
    }
}
