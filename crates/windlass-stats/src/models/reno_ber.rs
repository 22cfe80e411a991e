//! The arithmetic of the paper Reno-BER (Sarkar, Ammann and Zabir, Electronics 11:2254, 2022):
//! its equations 5 to 15, its Table 9, and what follows from its premises. Equations 1 to 4 are in
//! [`super::link`].

/// Bytes of the downloaded file.
pub const FILE_BYTES: f64 = 10_000_000.0;
/// Maximum segment size, bytes (section 4.1).
pub const MSS: f64 = 1460.0;
/// Receive buffer, bytes (Table 2).
pub const RWND: f64 = 8760.0;
/// Round-trip time, seconds (section 4.3.3).
pub const RTT_S: f64 = 0.04;
/// 10 Mbit/s in bytes per second (equation 9).
pub const ETHERNET_BPS: f64 = 1_250_000.0;
/// Preamble 8, header 14 and check sequence 4, inter-packet gap 12 (RB-20), and 40 of IP and TCP.
pub const OVERHEAD: f64 = 8.0 + 18.0 + 12.0 + 20.0 + 20.0;

/// Equation 5: segments that a file needs, not rounded.
pub fn datagrams(file_bytes: f64, mss: f64) -> f64 {
    file_bytes / mss
}

/// Equations 6 and 7: mean throughput between two moments, bytes per second.
pub fn mean_throughput(file_bytes: f64, from_s: f64, to_s: f64) -> f64 {
    file_bytes / (to_s - from_s)
}

/// Equations 8 and 9: payload rate of a saturated medium, in the unit of `medium_rate`.
pub fn payload_rate(mss: f64, overhead: f64, medium_rate: f64) -> f64 {
    mss / (mss + overhead) * medium_rate
}

/// Equations 12 and 13: time to move a file at a rate, seconds.
pub fn download_time(file_bytes: f64, bytes_per_s: f64) -> f64 {
    file_bytes / bytes_per_s
}

/// Equation 14: mean packet rate of a transfer, packets per second.
pub fn packet_rate(packets: f64, time_s: f64) -> f64 {
    packets / time_s
}

/// Equation 15: time that `packets` more take at a rate, seconds.
pub fn resend_time(packets: f64, packets_per_s: f64) -> f64 {
    packets / packets_per_s
}

/// Equation 17: the window after one acknowledgement in congestion avoidance, bytes.
pub fn grown(cwnd: f64, mss: f64) -> f64 {
    cwnd + mss * mss / cwnd
}

/// Table 9 as the paper computes it: equation 17 applied once per round trip. Element `k` is the
/// window after `k` round trips, bytes.
pub fn table9_per_rtt(start: f64, mss: f64, rtts: usize) -> Vec<f64> {
    std::iter::successors(Some(start), |&w| Some(grown(w, mss))).take(rtts + 1).collect()
}

/// Table 9 as RFC 5681 means equation 17: applied once per acknowledgement, of which a window of
/// whole segments yields one for every `b` segments (RB-12). Bytes.
pub fn table9_per_ack(start: f64, mss: f64, rtts: usize, b: f64) -> Vec<f64> {
    let mut windows = vec![start];
    let (mut w, mut owed) = (start, 0.0);
    for _ in 0..rtts {
        // A segment left over waits for the next round's first one before it is acknowledged.
        owed += (w / mss).floor();
        while owed >= b {
            w = grown(w, mss);
            owed -= b;
        }
        windows.push(w);
    }
    windows
}

/// First index at which a sequence of windows reaches `target`.
pub fn rtts_to_reach(windows: &[f64], target: f64) -> Option<usize> {
    windows.iter().position(|&w| w >= target)
}

/// Congestion window after `acks` acknowledgements without a loss and without window validation:
/// one segment each in slow start up to `ssthresh`, then equation 17. Bytes (RB-16, RB-25).
pub fn window_after_acks(initial: f64, ssthresh: f64, mss: f64, acks: u64) -> f64 {
    (0..acks).fold(initial, |w, _| if w < ssthresh { w + mss } else { grown(w, mss) })
}

/// Section 5.2: what one loss costs, seconds, when recovery takes `rtts` round trips and moves
/// `sent` segments where full windows of `window` would have gone.
pub fn loss_cost(rtts: f64, sent: f64, window: f64, rtt_s: f64) -> f64 {
    (rtts * window - sent) / window * rtt_s
}

/// `(value − base)/base` in per cent.
pub fn percent_change(value: f64, base: f64) -> f64 {
    (value - base) / base * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not within {tolerance} of {b}");
    }

    #[test]
    fn equations_give_the_printed_values() {
        near(datagrams(FILE_BYTES, MSS), 6849.32, 0.005);
        near(mean_throughput(FILE_BYTES, 10.0, 60.0), 200_000.0, 1e-9);
        near(payload_rate(MSS, OVERHEAD, ETHERNET_BPS), 1_186_605.98, 0.005);
        near(download_time(FILE_BYTES, super::super::tcp::window_bound(RWND, RTT_S)), 45.66, 0.005);
        near(packet_rate(6854.0, 60.24), 113.778, 5e-4);
        near(resend_time(68.54, 113.778), 0.602, 5e-4);
    }

    #[test]
    fn per_rtt_growth_gives_table_9_but_for_the_misprint_in_row_6() {
        let printed = [
            4380.0, 4867.0, 5305.0, 5707.0, 6080.0, 6431.0, 7762.0, 7077.0, 7379.0, 7667.0, 7945.0,
            8214.0, 8473.0, 8725.0, 8969.0,
        ];
        let ours = table9_per_rtt(3.0 * MSS, MSS, 14);
        for (k, (&w, &p)) in ours.iter().zip(&printed).enumerate() {
            if k == 6 {
                near(w, 6762.0, 0.5);
            } else {
                near(w, p, 0.55);
            }
        }
        assert_eq!(rtts_to_reach(&ours, RWND), Some(14));
    }

    #[test]
    fn per_ack_growth_reaches_the_window_in_a_few_round_trips() {
        let every = table9_per_ack(3.0 * MSS, MSS, 20, 1.0);
        assert_eq!(rtts_to_reach(&every, RWND), Some(4), "{every:?}");
        let delayed = table9_per_ack(3.0 * MSS, MSS, 20, 2.0);
        assert_eq!(rtts_to_reach(&delayed, RWND), Some(8), "{delayed:?}");
    }

    #[test]
    fn a_threshold_of_65535_bytes_explains_the_largest_window_of_figure_2() {
        near(window_after_acks(2.0 * MSS, 65_535.0, MSS, 3425), 136_800.0, 500.0);
    }

    #[test]
    fn loss_cost_is_the_missing_segments_at_full_rate() {
        near(loss_cost(27.0, 98.0, 6.0, 0.04), 0.4267, 5e-5);
    }
}
