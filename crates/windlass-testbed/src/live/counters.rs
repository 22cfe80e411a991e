//! A namespace's SNMP counters: what the kernel counts and `tcp_info` does not say.

use std::fs;
use std::io;

/// Counters of one end of a flow, which has its namespace to itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Expiries of the retransmission timer, SYN included (`TCPTimeouts`).
    pub timeouts: u64,
    /// Entries into fast recovery (`TCPRenoRecovery` and `TCPSackRecovery`).
    pub recoveries: u64,
    /// SYN and SYN-ACK segments retransmitted (`TCPSynRetrans`).
    pub syn_retransmissions: u64,
}

impl Counters {
    /// Those of the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// Without `/proc`.
    pub fn read() -> io::Result<Counters> {
        Ok(Counters::parse(&fs::read_to_string("/proc/thread-self/net/netstat")?))
    }

    /// The file has pairs of lines, one of names and one of values, both after `TcpExt:`.
    fn parse(netstat: &str) -> Counters {
        let mut lines = netstat.lines().filter_map(|l| l.strip_prefix("TcpExt:"));
        let names = lines.next().unwrap_or_default().split_whitespace();
        let values = lines.next().unwrap_or_default().split_whitespace();
        let pairs: Vec<(&str, &str)> = names.zip(values).collect();
        let value = |name: &str| {
            let pair = pairs.iter().find(|(n, _)| *n == name);
            pair.and_then(|(_, v)| v.parse().ok()).unwrap_or(0)
        };
        Counters {
            timeouts: value("TCPTimeouts"),
            recoveries: value("TCPRenoRecovery") + value("TCPSackRecovery"),
            syn_retransmissions: value("TCPSynRetrans"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_found_by_name() {
        let netstat = "TcpExt: A TCPRenoRecovery TCPSackRecovery TCPTimeouts TCPSynRetrans\n\
            TcpExt: 9 2 3 4 1\nIpExt: InNoRoutes\nIpExt: 0\n";
        let counters = Counters::parse(netstat);
        assert_eq!(counters, Counters { timeouts: 4, recoveries: 5, syn_retransmissions: 1 });
    }

    #[test]
    fn this_kernel_has_every_counter() {
        let netstat = fs::read_to_string("/proc/thread-self/net/netstat").unwrap();
        for name in ["TCPTimeouts", "TCPRenoRecovery", "TCPSackRecovery", "TCPSynRetrans"] {
            assert!(netstat.contains(name), "{name}");
        }
    }
}
