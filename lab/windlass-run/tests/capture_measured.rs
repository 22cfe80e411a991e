//! Delays and reordering of a link, measured in a capture file.
//!
//! The path has two links, and the first link has the behaviour. The file records a packet when it enters a link. The
//! entry into the second link is therefore the exit from the first. Sequence numbers identify segments.

use std::collections::BTreeMap;

use windlass_run::capture::{CaptureOptions, CapturedFlow, write_pcapng};
use windlass_run::simulate;
use windlass_scenario::Scenario;
use windlass_sim::addresses::FlowAddresses;
use windlass_tcp::wire;

use crate::capture_pcapng::read;

const RATE_BPS: f64 = 10e6;
const DELAY_S: f64 = 0.04;

/// Sends a message per interval over a link with this behaviour. Returns its segments as (sequence number, size, time
/// in seconds) at the entry of each of the two links, in the order of the file.
fn captured(behaviour: &str, every: &str, duration: &str) -> [Vec<(u32, f64, f64)>; 2] {
    let text = format!(
        r#"
duration = "{duration}"
[stack]
preset = "rfc"
dupthresh = 100
nagle = false
[record]
capture = ["first", "second"]
[[link]]
name = "first"
between = ["sensor", "relay"]
rate = "10Mbps"
delay = "40ms"
{behaviour}
back = {{ jitter = "0s", reorder = {{ share = "0%" }} }}
[[link]]
name = "second"
between = ["relay", "server"]
rate = "1Gbps"
delay = "1ms"
[[flow]]
name = "data"
from = "sensor"
to = "server"
algorithm = "newreno"
traffic = {{ kind = "messages", every = "{every}", gaps = "constant", size = "100B", deadline = "10s" }}
"#
    );
    let scenario = Scenario::from_str(&text, "test").unwrap_or_else(|e| panic!("{e}"));
    let result = simulate(&scenario, 1).expect("a run");
    let links: Vec<&str> = result.links.iter().map(|l| l.name.as_str()).collect();
    let flows: [CapturedFlow; 1] = [FlowAddresses::new(0, 0, 2).into()];
    let mut file = Vec::new();
    write_pcapng(&mut file, &links, &flows, &result.packets, CaptureOptions::default())
        .expect("a file");

    let (interfaces, packets) = read(&file);
    ["first:sensor>relay", "second:relay>server"].map(|name| {
        let segments = packets.iter().filter(|p| interfaces[p.interface as usize] == name);
        let segments = segments.filter_map(|p| {
            let parsed = wire::parse(&p.data).expect("a segment");
            let (seq, len) = (parsed.segment.seq.0, parsed.payload.len());
            (len > 0).then_some((seq, f64::from(p.original), p.time_ns as f64 / 1e9))
        });
        segments.collect()
    })
}

/// Additional delay of each segment over the link's delay, in the order of sending, seconds.
fn variations(behaviour: &str) -> Vec<f64> {
    // No packet catches up with another.
    let [sent, come] = captured(behaviour, "120ms", "400s");
    let arrivals: BTreeMap<u32, f64> = come.iter().map(|(seq, _, at)| (*seq, *at)).collect();
    assert_eq!(arrivals.len(), come.len(), "nothing was sent twice");
    let took = sent.iter().filter_map(|(seq, bytes, at)| {
        Some(arrivals.get(seq)? - at - bytes * 8.0 / RATE_BPS - DELAY_S)
    });
    took.collect()
}

/// The largest distance between the distribution of a sample and a function (Kolmogorov-Smirnov), relative to the
/// distance that one in a thousand samples of that distribution exceeds.
fn distance(mut sample: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let steps = sample.iter().enumerate();
    let farthest = steps.fold(0.0, |most: f64, (i, x)| {
        let (below, above) = (i as f64 / n, (i + 1) as f64 / n);
        most.max((cdf(*x) - below).abs()).max((above - cdf(*x)).abs())
    });
    farthest / (1.95 / n.sqrt())
}

fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / sample.len() as f64
}

#[test]
fn measured_jitter_has_the_configured_distribution() {
    let uniform = |x: f64| ((x + 0.01) / 0.02).clamp(0.0, 1.0);
    let exponential = |x: f64| 1.0 - (-x.max(0.0) / 0.01).exp();
    let even = variations("jitter = \"10ms\"");
    assert!(even.len() > 3_000, "{}", even.len());
    let longer = variations("jitter = { distribution = \"exponential\", by = \"10ms\" }");
    println!(
        "uniform {:.2}, exponential {:.2}",
        distance(even.clone(), uniform),
        distance(longer.clone(), exponential)
    );
    assert!(distance(even.clone(), uniform) < 1.0);
    assert!(distance(longer.clone(), exponential) < 1.0);
    // The test distinguishes the distributions.
    assert!(distance(even, exponential) > 1.0 && distance(longer, uniform) > 1.0);

    let normal = variations("jitter = { distribution = \"normal\", by = \"5ms\" }");
    let spread = mean(&normal.iter().map(|x| x * x).collect::<Vec<_>>()).sqrt();
    // Cut at three deviations, a normal distribution has 0.9866 of its deviation.
    println!("normal: mean {:.2e} s, deviation {spread:.5} s", mean(&normal));
    assert!(mean(&normal).abs() < 3.0 * 0.005 / (normal.len() as f64).sqrt());
    assert!((spread / (0.9866 * 0.005) - 1.0).abs() < 0.04, "{spread}");
    assert!(normal.iter().all(|x| x.abs() < 0.015 + 1e-6));

    let constant = variations("");
    assert!(constant.iter().all(|x| x.abs() < 1e-8), "to the nanosecond");
}

/// The reordering extents (RFC 4737 section 4.2.2) of the overtaken segments, in the order of arrival: the distance to
/// the earliest arrival of a segment that was sent later.
fn extents(come: &[(u32, f64, f64)]) -> Vec<usize> {
    let numbers: Vec<u32> = come.iter().map(|(seq, ..)| *seq).collect();
    let late = numbers.iter().enumerate().filter_map(|(i, seq)| {
        // At most 100 places back; a larger distance would be another defect.
        let first = (i.saturating_sub(100)..i).find(|j| numbers[*j] > *seq)?;
        Some(i - first)
    });
    late.collect()
}

#[test]
fn measured_reordering_has_the_configured_share_and_extent() {
    for packets in [1, 4] {
        let behaviour =
            format!("reorder = {{ share = \"5%\", packets = {packets}, within = \"1s\" }}");
        let [sent, come] = captured(&behaviour, "10ms", "100s");
        assert!(extents(&sent).is_empty(), "nothing is overtaken where it enters");
        let extents = extents(&come);
        let n = come.len() as f64;
        let (share, deviation) = (extents.len() as f64 / n, (0.05 * 0.95 / n).sqrt());
        let exact = extents.iter().filter(|e| **e == packets).count() as f64 / extents.len() as f64;
        println!("{packets}: {share:.4} of {n} overtaken, {exact:.3} of them by as many");
        assert!(n > 9_000.0 && (share - 0.05).abs() < 4.0 * deviation, "{share}");
        // Other extents are from segments that are held back at the same time.
        assert!(exact > 0.75, "{exact}");
        assert!(extents.iter().all(|e| (packets..=2 * packets + 2).contains(e)), "{extents:?}");
    }
}
