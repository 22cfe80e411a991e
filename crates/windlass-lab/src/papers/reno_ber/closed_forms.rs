//! The paper's own arithmetic, computed again: what `model = "…"` in `claims.toml` refers to.

use crate::models::link::{ber_for_per, per_exact, per_linear};
use crate::models::reno_ber::{
    ETHERNET_BPS, FILE_BYTES, MSS, OVERHEAD, RTT_S, RWND, datagrams, download_time, grown,
    loss_cost, mean_throughput, packet_rate, payload_rate, percent_change, resend_time,
    rtts_to_reach, table9_per_rtt, window_after_acks,
};
use crate::models::tcp::window_bound;
use std::collections::BTreeMap;

/// What the paper prints for one of its five drop probabilities.
pub(crate) struct Printed {
    /// Drop probability as an experiment's label: `0.01%`.
    pub(crate) label: &'static str,
    /// The same in identifiers: `p0.01`.
    pub(crate) key: &'static str,
    /// The same as a number.
    pub(crate) p: f64,
    /// Label of Table 3's bit-error rate in the experiment `ber`.
    pub(crate) ber: &'static str,
    /// Table 4, seconds.
    pub(crate) response_s: f64,
    /// Table 5.
    pub(crate) retransmissions: f64,
    /// Table 6.
    pub(crate) frames: f64,
    /// Table 8, seconds.
    pub(crate) testbed_s: f64,
}

/// Tables 3 to 6 and 8 as printed.
#[rustfmt::skip]
pub(crate) const PRINTED: [Printed; 5] = [
    Printed { label: "0%", key: "p0", p: 0.0, ber: "0.0", response_s: 60.21, retransmissions: 0.0, frames: 6854.0, testbed_s: 50.25 },
    Printed { label: "0.01%", key: "p0.01", p: 1e-4, ber: "1e-8", response_s: 60.42, retransmissions: 1.0, frames: 6855.0, testbed_s: 50.25 },
    Printed { label: "0.1%", key: "p0.1", p: 1e-3, ber: "1e-7", response_s: 61.46, retransmissions: 7.0, frames: 6861.0, testbed_s: 51.97 },
    Printed { label: "1%", key: "p1", p: 1e-2, ber: "1e-6", response_s: 76.83, retransmissions: 62.0, frames: 6916.0, testbed_s: 75.84 },
    Printed { label: "10%", key: "p10", p: 0.1, ber: "1e-5", response_s: 1953.61, retransmissions: 1092.0, frames: 7946.0, testbed_s: 259.665 },
];

/// Table 9's first column as printed, bytes.
pub(crate) const TABLE9: [f64; 15] = [
    4380.0, 4867.0, 5305.0, 5707.0, 6080.0, 6431.0, 7762.0, 7077.0, 7379.0, 7667.0, 7945.0, 8214.0,
    8473.0, 8725.0, 8969.0,
];

/// Table 9's second column as printed, segments.
const TABLE9_SEGMENTS: [f64; 15] = [3., 3., 3., 3., 4., 4., 4., 4., 5., 5., 5., 5., 5., 5., 6.];

/// Acknowledgements of a lossless download: one for two segments.
const ACKS: u64 = 3425;
/// The initial threshold that `download.toml` sets, bytes (RB-25).
const INITIAL_SSTHRESH: f64 = 65_535.0;

/// Every closed form by name.
pub(crate) fn all() -> BTreeMap<String, f64> {
    let mut forms = BTreeMap::new();
    let mut put = |name: &str, value: f64| {
        forms.insert(name.to_owned(), value);
    };
    bit_errors(&mut put);
    printed_tables(&mut put);
    equations(&mut put);
    congestion_avoidance(&mut put);
    forms
}

fn bit_errors(put: &mut dyn FnMut(&str, f64)) {
    let mut deviation: f64 = 0.0;
    for decade in 1..=9 {
        let ber = 10f64.powi(-decade);
        for (bytes, factor) in [(1250.0, 1.0), (1500.0, 1.2)] {
            put(&format!("per.exact.{bytes}.1e-{decade}"), per_exact(ber, bytes));
            let printed = factor * 10f64.powi(4 - decade);
            deviation = deviation.max((per_linear(ber, bytes) / printed - 1.0).abs());
        }
    }
    put("table1.deviation", deviation);
    put("survive.1500.1e-4", 1.0 - per_exact(1e-4, 1500.0));
    put("factor.1250", per_linear(1.0, 1250.0));
    for row in &PRINTED[1..] {
        put(&format!("ber.1250.{}", row.key), ber_for_per(row.p, 1250.0));
    }
}

fn printed_tables(put: &mut dyn FnMut(&str, f64)) {
    let base = &PRINTED[0];
    for row in &PRINTED {
        let key = row.key;
        put(&format!("table4.difference.{key}"), row.response_s - base.response_s);
        put(&format!("table4.percent.{key}"), percent_change(row.response_s, base.response_s));
        put(&format!("table6.sum.{key}"), base.frames + row.retransmissions);
        let dropped = datagrams(FILE_BYTES, MSS) * row.p;
        put(&format!("table7.calculated.{key}"), dropped);
        if row.p > 0.0 {
            put(&format!("table7.percent.{key}"), percent_change(row.retransmissions, dropped));
        }
        put(&format!("table8.percent.{key}"), percent_change(row.testbed_s, base.testbed_s));
    }
    let (one, ten) = (&PRINTED[3], &PRINTED[4]);
    put("table4.ratio", ten.response_s / base.response_s);
    put("table6.retransmitted", ten.frames - base.frames);
    put("sec4.4.nine", one.testbed_s - (one.response_s - 10.0));
}

fn equations(put: &mut dyn FnMut(&str, f64)) {
    put("eq5", datagrams(FILE_BYTES, MSS));
    put("eq7", mean_throughput(FILE_BYTES, 10.0, 60.0));
    put("overhead", OVERHEAD);
    put("eq9", payload_rate(MSS, OVERHEAD, ETHERNET_BPS));
    put("eq11", window_bound(RWND, RTT_S));
    put("eq13", download_time(FILE_BYTES, window_bound(RWND, RTT_S)));
    let rate = packet_rate(PRINTED[0].frames, 60.24);
    put("eq14", rate);
    let resend = resend_time(PRINTED[0].frames * 0.01, rate);
    put("eq15", resend);
    put("sec5.sum", PRINTED[0].response_s + resend);
}

fn congestion_avoidance(put: &mut dyn FnMut(&str, f64)) {
    let windows = table9_per_rtt(3.0 * MSS, MSS, TABLE9.len() - 1);
    for (rtt, window) in windows.iter().enumerate() {
        put(&format!("table9.{rtt}"), *window);
    }
    let wrong = windows.iter().zip(TABLE9_SEGMENTS).filter(|(w, s)| (**w / MSS).floor() != *s);
    put("table9.segments", wrong.count() as f64);
    put("table9.rtts", rtts_to_reach(&windows, RWND).map_or(f64::NAN, |n| n as f64));
    put("eq17.step", grown(3.0 * MSS, MSS) - 3.0 * MSS);
    put("cwnd_peak", window_after_acks(2.0 * MSS, INITIAL_SSTHRESH, MSS, ACKS));
    // Section 5.1: 0.132977 s of a trace whose round trip is 0.042 s; 12 segments of 18.
    put("sec5.1.rtts", 0.132_977 / 0.042);
    let window = RWND / MSS;
    put("sec5.1.one-rtt", (3.0 * window - 12.0) / window);
    // Section 5.2: 3 + 15 + 9 round trips; the nine carry four and five segments in turn.
    let (rtts, sent) = (3.0 + 15.0 + 9.0, 12.0 + 15.0 * 3.0 + 5.0 * 5.0 + 4.0 * 4.0);
    put("sec5.2.segments", sent);
    put("sec5.2.full", rtts * 6.0);
    put("sec5.2.rtts-lost", (rtts * 6.0 - 98.0) / 6.0);
    let cost = loss_cost(rtts, 98.0, 6.0, RTT_S);
    put("sec5.2.cost", cost);
    put("sec5.2.total", 68.0 * cost);
}
