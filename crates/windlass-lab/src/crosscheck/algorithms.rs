//! The algorithms that Linux and Windlass both have. What makes ours the kernel's stands in the
//! algorithms themselves, as a flavour that the stack preset brings.

/// An algorithm of both worlds.
#[derive(Debug, PartialEq, Eq)]
pub struct Algorithm {
    /// Identifier here, and the kernel's name for it.
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

/// The algorithm with this identifier, in any case.
pub fn by_id(id: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|a| a.id.eq_ignore_ascii_case(id))
}

/// What this machine's kernel offers, by its own names, which are the identifiers here; nothing where
/// that cannot be read.
pub(super) fn of_this_kernel() -> Vec<String> {
    let listed = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    listed.unwrap_or_default().split_whitespace().map(str::to_string).collect()
}
