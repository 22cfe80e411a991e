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
    /// Keys of our stack, as a scenario spells them.
    pub stack: &'static str,
    /// Why, naming the place in the kernel's source.
    pub why: &'static str,
}

/// Those that are left at our defaults.
const fn alike(id: &'static str) -> Algorithm {
    Algorithm { id, params: "", slow_start: "", stack: "", why: "" }
}

/// Every algorithm, in the order of the tables.
pub const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        params: r#"increase = "per-byte""#,
        why: "`tcp_cong_avoid_ai` counts every acknowledged segment; RFC 5681 counts \
              acknowledgements",
        ..alike("reno")
    },
    Algorithm {
        params: "reno_beyond = false, reno_paced = true",
        why: "`bictcp_update` has one slope for Reno's window, where RFC 9438 section 4.3 has Reno's \
              own beyond the window before the cut, and lets `tcp_cong_avoid_ai` make up what lacks",
        ..alike("cubic")
    },
    alike("bbr"),
    Algorithm {
        params: "ack_ratio = true",
        why: "`bictcp_update` divides by the segments that an acknowledgement covers, and \
              `tcp_cong_avoid_ai` counts them too: with delayed acknowledgements growth is nearly \
              twice that of the paper",
        ..alike("bic")
    },
    Algorithm {
        params: r#"filter = "cascade", min_interval = "50ms", moment = "repair""#,
        why: "`westwood_do_filter` averages twice; `TCP_WESTWOOD_RTT_MIN` is 50 ms; the window is set \
              at `CA_EVENT_COMPLETE_CWR`",
        ..alike("westwood")
    },
    Algorithm {
        params: r#"rtt_scaling = true, variant = "linux""#,
        why: "`use_rtt_scaling` is on by default; `measure_achieved_throughput` and \
              `htcp_beta_update` smooth and wait for a second steady loss, `htcp_param_update` lets \
              the longest round trip fade, `htcp_state` counts from the end of recovery, \
              `htcp_cong_avoid` looks at the growth when the window opens, and all of them count \
              segments and ticks of 4 ms",
        ..alike("htcp")
    },
    Algorithm {
        params: "per_ack = true",
        slow_start: r#""standard""#,
        why: "`hstcp_cong_avoid` adds once an acknowledgement, and in slow start calls `tcp_slow_start`; RFC 3649 recommends limited slow start",
        ..alike("highspeed")
    },
    Algorithm {
        stack: "ack_limit = 1",
        why: "`hybla_cong_avoid` adds once an acknowledgement, in slow start too; `hybla_init` begins \
              with a window of rho segments",
        ..alike("hybla")
    },
    Algorithm {
        params: r#"alpha = "2pkt", beta = "4pkt", estimate = "least", reduction = "half""#,
        slow_start: r#"{ name = "vegas", variant = "linux" }"#,
        why: "`alpha`, `beta` and the least of a round's samples in `tcp_vegas.c`; \
              `tcp_reno_ssthresh` halves; slow start grows in every round",
        ..alike("vegas")
    },
    Algorithm {
        params: r#"variant = "linux""#,
        why: "`tcp_veno_cong_avoid` forgets the least round trip at every acknowledgement, and keeps \
              the number of samples",
        ..alike("veno")
    },
    Algorithm {
        params: r#"legacy_window = "100pkt", legacy_cut = 0.125"#,
        why: "`TCP_SCALABLE_AI_CNT` is 100, below which the window grows as Reno's; \
              `TCP_SCALABLE_MD_SCALE` cuts an eighth at any window",
        ..alike("scalable")
    },
    alike("yeah"),
    Algorithm {
        params: r#"variant = "linux""#,
        why: "`tcp_illinois_acked` counts all that an acknowledgement covers, \
              `tcp_illinois_cong_avoid` forgets what is more than a window, and `alpha` counts the \
              rounds without a queue with gaps",
        ..alike("illinois")
    },
    alike("dctcp"),
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
