//! The algorithms that Linux and Windlass both have. Their Linux parameters are part of the algorithms' code, and
//! the stack preset `linux` selects them.

/// An algorithm of Linux and Windlass.
#[derive(Debug, PartialEq, Eq)]
pub struct Algorithm {
    /// Identifier, which is also the kernel's name.
    pub id: &'static str,
}

/// Every algorithm, in the order of the tables.
pub const ALGORITHMS: &[Algorithm] = &[
    Algorithm { id: "reno" },
    Algorithm { id: "cubic" },
    Algorithm { id: "bbr" },
    Algorithm { id: "bic" },
    Algorithm { id: "westwood" },
    Algorithm { id: "htcp" },
    Algorithm { id: "highspeed" },
    Algorithm { id: "hybla" },
    Algorithm { id: "vegas" },
    Algorithm { id: "veno" },
    Algorithm { id: "scalable" },
    Algorithm { id: "yeah" },
    Algorithm { id: "illinois" },
    Algorithm { id: "dctcp" },
];

/// The algorithm with this identifier. Upper and lower case are equal.
pub fn by_id(id: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|a| a.id.eq_ignore_ascii_case(id))
}

/// The algorithms of this machine's kernel. The kernel's names are the identifiers. Empty if the list is not
/// readable.
pub(super) fn of_this_kernel() -> Vec<String> {
    let listed = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    listed.unwrap_or_default().split_whitespace().map(str::to_string).collect()
}
