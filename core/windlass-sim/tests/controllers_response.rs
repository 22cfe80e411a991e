//! Random loss: NewReno compared with Mathis and PFTK, CUBIC compared with its response function and with its
//! equations computed round by round.

use crate::common::bottleneck::SEGMENT;
use crate::common::pftk::Path;
use crate::common::{Traffic, drops, flow, link, mean_and_error, network, rfc, run};
use windlass_cc::Time;

const RTT: f64 = 0.1;
const SEEDS: u64 = 3;

/// Mean cwnd in segments, from the goodput of a flow that only losses limit.
fn window(algorithm: &'static str, p: f64) -> f64 {
    let seconds = (0.06 / p).clamp(150.0, 600.0) as u64;
    let one = |seed| {
        let mut wire = link([0, 1], 1_000_000_000, 50);
        wire.loss[0] = drops(p);
        let mut profile = rfc(algorithm);
        (profile.stack.receive_buffer, profile.stack.send_buffer) = (64 << 20, 64 << 20);
        let bulk = flow([0, 1], profile, Traffic::Bulk { bytes: None });
        let mut config = network(vec![wire], vec![bulk], Time::from_secs(seconds));
        config.seed = seed;
        run(config).flows[0].goodput_bps / 8.0 / SEGMENT * RTT
    };
    mean_and_error(&(1..=SEEDS).map(one).collect::<Vec<_>>()).0
}

#[test]
fn newreno_follows_the_square_root_law_and_pftk() {
    // Mathis et al. 1997 with b = 2 segments per acknowledgement: √(3/(2·b·p)), up to 15 % more for random
    // than for periodic losses. Timeouts reduce it, but not below PFTK's rate for Reno.
    for p in [1e-4, 1e-3, 1e-2, 3e-2] {
        let got = window("newreno", p);
        let mathis = (3.0 / (4.0 * p)).sqrt();
        let pftk = Path { rtt: RTT, t0: 1.0, b: 2.0, window: 1e9 }.throughput(p) * RTT;
        assert!(got > 0.95 * pftk.min(mathis), "p = {p}: {got}, PFTK {pftk}");
        assert!(got < 1.15 * mathis, "p = {p}: {got}, Mathis {mathis}");
    }
}

/// Mean cwnd of RFC 9438 section 5.1, equation 6, with C = 0.4 and β = 0.7. If the Reno-friendly window is
/// larger, it is used instead (section 4.3, with one segment per RTT).
fn response(p: f64) -> f64 {
    let cubic: f64 = (0.4 * 3.7 / (4.0 * 0.3) * (RTT / p).powi(3)).powf(0.25);
    cubic.max((1.5 / p).sqrt())
}

/// RFC 9438 in real numbers and whole rounds. Each segment is lost with probability `p`. All losses of a
/// round cause one reduction, and their repair takes a round without growth.
fn rounds(p: f64) -> f64 {
    const C: f64 = 0.4;
    const BETA: f64 = 0.7;
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut draw = || {
        // xorshift64*; its upper 53 bits are a number below 1.
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1u64 << 53) as f64
    };
    let (mut w, mut w_max, mut prior, mut w_est) = (10.0f64, 10.0f64, 10.0f64, 10.0f64);
    let (mut t, mut k) = (0.0f64, 0.0f64);
    let (mut sent, mut n) = (0.0, 0u32);
    while n < 400_000 {
        n += 1;
        sent += w;
        if draw() < 1.0 - (1.0 - p).powf(w) {
            w_max = if w < w_max { w * (1.0 + BETA) / 2.0 } else { w };
            prior = w;
            w = (BETA * w).max(2.0);
            k = ((w_max - w).max(0.0) / C).cbrt();
            (t, w_est) = (0.0, w);
            sent += w; // the round of the repair
            n += 1;
        }
        t += RTT;
        let alpha = if w_est < prior { 3.0 * (1.0 - BETA) / (1.0 + BETA) } else { 1.0 };
        w_est += alpha;
        let target = C * (t - k).powi(3) + w_max;
        w = if target < w_est { w_est } else { target.clamp(w, 1.5 * w) };
    }
    sent / f64::from(n)
}

#[test]
fn cubic_follows_its_equations_under_random_loss() {
    // The model omits the growth within a round, the partial rounds around a repair, and timeouts. A timeout
    // takes 1 s, or ten RTTs. Timeouts matter if cwnd is only a few segments.
    for (p, least, most) in
        [(1e-4, 0.9, 1.12), (1e-3, 0.9, 1.12), (1e-2, 0.85, 1.05), (3e-2, 0.65, 1.0)]
    {
        let (got, model) = (window("cubic", p), rounds(p));
        assert!((least..most).contains(&(got / model)), "p = {p}: {got}, by rounds {model}");
    }
}

#[test]
fn cubic_follows_its_response_function() {
    // The function assumes losses at equal distances. With random losses at the same rate, cwnd sometimes
    // grows for a long time, which raises its mean by a fourth. At 3 %, timeouts reduce it.
    for (p, least, most) in
        [(1e-4, 1.0, 1.3), (1e-3, 1.0, 1.3), (1e-2, 0.9, 1.2), (3e-2, 0.75, 1.0)]
    {
        let (got, expected) = (window("cubic", p), response(p));
        assert!((least..most).contains(&(got / expected)), "p = {p}: {got}, {expected} expected");
    }
    // The model by rounds, which has no timeouts, is as close to the function.
    for p in [1e-4, 1e-3, 1e-2, 3e-2] {
        let ratio = rounds(p) / response(p);
        assert!((1.0..1.3).contains(&ratio), "p = {p}: {ratio}");
    }
}
