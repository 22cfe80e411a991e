//! The algorithms that Linux and Windlass both have, and what is asked of ours to be as the
//! kernel's.

/// An algorithm of both worlds.
#[derive(Debug, PartialEq, Eq)]
pub struct Algorithm {
    /// Identifier here, and the kernel's name for it.
    pub id: &'static str,
    /// Our parameters where the kernel's are not our defaults, as a scenario spells them.
    pub params: &'static str,
    /// Our slow start where the kernel's is not the one that the algorithm wants here.
    pub slow_start: &'static str,
    /// Why, naming the place in the kernel's source.
    pub why: &'static str,
}

/// Those that are left at our defaults.
const fn alike(id: &'static str) -> Algorithm {
    Algorithm { id, params: "", slow_start: "", why: "" }
}

/// Every algorithm, in the order of the tables.
pub const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        params: r#"increase = "per-byte""#,
        why: "`tcp_cong_avoid_ai` counts every acknowledged segment; RFC 5681 counts \
              acknowledgements",
        ..alike("reno")
    },
    alike("cubic"),
    alike("bbr"),
    alike("bic"),
    Algorithm {
        params: r#"filter = "cascade", min_interval = "50ms""#,
        why: "`westwood_do_filter` averages twice; `TCP_WESTWOOD_RTT_MIN` is 50 ms",
        ..alike("westwood")
    },
    Algorithm {
        params: "rtt_scaling = true",
        why: "`use_rtt_scaling` is on by default in `tcp_htcp.c`",
        ..alike("htcp")
    },
    Algorithm {
        slow_start: r#""standard""#,
        why: "`hstcp_cong_avoid` calls `tcp_slow_start`; RFC 3649 recommends limited slow start",
        ..alike("highspeed")
    },
    alike("hybla"),
    Algorithm {
        params: r#"alpha = "2pkt", beta = "4pkt", estimate = "least", reduction = "half""#,
        slow_start: r#"{ name = "vegas", variant = "linux" }"#,
        why: "`alpha`, `beta` and the least of a round's samples in `tcp_vegas.c`; \
              `tcp_reno_ssthresh` halves; slow start grows in every round",
        ..alike("vegas")
    },
    alike("veno"),
    Algorithm {
        params: r#"legacy_window = "100pkt", legacy_cut = 0.125"#,
        why: "`TCP_SCALABLE_AI_CNT` is 100, below which the window grows as Reno's; \
              `TCP_SCALABLE_MD_SCALE` cuts an eighth at any window",
        ..alike("scalable")
    },
    alike("yeah"),
    alike("illinois"),
    alike("dctcp"),
];

/// The algorithm with this identifier, in any case.
pub fn by_id(id: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|a| a.id.eq_ignore_ascii_case(id))
}
