//! Media flows with NADA (RFC 8698) on links whose equilibrium is known.

use crate::common::{flow, link, listed, network, rfc, run};
use windlass_cc::{Span, Time};
use windlass_sim::Series;
use windlass_sim::config::{Config, LinkConfig, Media, Record, Traffic};
use windlass_sim::link::QueueLimit;
use windlass_sim::media::nada;
use windlass_sim::queue::{CoDel, Discipline};

/// 972 bytes of payload are 1000 on the wire.
const PAYLOAD: f64 = 972.0 / 1000.0;
const END: Time = Time::from_secs(120);

fn media() -> Media {
    Media { packet: 972, rates_bps: [nada::RMIN, nada::RMAX], ecn: false, stop: END }
}

/// A media flow, and `bulk` flows of CUBIC, over one link.
fn over(link: LinkConfig, media: Media, bulk: usize) -> Config {
    let beside = flow(link.ends, rfc("cubic"), Traffic::Bulk { bytes: None });
    let mut flows = vec![flow(link.ends, rfc("reno"), Traffic::Media(media))];
    flows.extend(std::iter::repeat_n(beside, bulk));
    let mut config = network(vec![link], flows, END);
    config.record = Record { delays: true, ..Record::default() };
    config
}

/// Section 4.3: in equilibrium the rate is the bottleneck's, and the queuing delay XREF · RMAX / R. A delay is the
/// propagation, the transmission of a packet (8 ms at 1 Mbit/s), and the wait.
#[test]
fn one_flow_fills_its_bottleneck_with_the_delay_of_the_law() {
    for rate_bps in [600_000, 1_000_000, 1_200_000] {
        let result = run(over(link([0, 1], rate_bps, 20), media(), 0)).flows.remove(0);
        let capacity = PAYLOAD * rate_bps as f64;
        assert!((0.93..1.0).contains(&(result.goodput_bps / capacity)), "{result:?}");
        let wait = 10.0 * nada::RMAX as f64 / capacity;
        let median = result.transit.unwrap().p50_ms.unwrap();
        let expected = 20.0 + 8e6 / rate_bps as f64 + wait;
        assert!((median - expected).abs() < 3.0, "{rate_bps}: {median} ms, not {expected} ms");
        assert_eq!((result.loss_rate, result.retransmits, &*result.algorithm), (0.0, 0, "none"));
    }
}

/// Equation (3): with an RTT of 40 ms a report can raise the rate to 1 + 50 / 260 times the rate that arrived.
#[test]
fn ramp_up_reaches_the_maximum_rate_of_an_idle_path_within_seconds() {
    let mut config = over(link([0, 1], 100_000_000, 20), media(), 0);
    config.record.series = vec![Series::Pacing];
    let result = run(config);
    let rates: Vec<(Time, u64)> = result.samples.iter().map(|s| (s.time, s.value)).collect();
    assert_eq!(rates[0].1, nada::RMIN);
    let reached = rates.iter().find(|(_, rate)| *rate == nada::RMAX).expect("the maximum").0;
    assert!((Time::from_secs(2)..Time::from_secs(15)).contains(&reached), "{reached}");
    assert!(rates.windows(2).all(|w| w[1].1 as f64 <= w[0].1 as f64 * 1.3), "{rates:?}");
    // A report every 100 ms, from the first packet on.
    assert!((1_195..=1_200).contains(&result.flows[0].peer_packets_sent), "{result:?}");
}

#[test]
fn one_lost_packet_ends_the_ramp_up_of_half_a_second() {
    let pacing = |lost: &[u64]| {
        let mut config = over(link([0, 1], 100_000_000, 20), media(), 0);
        config.links[0].loss[0] = listed(lost);
        config.record.series = vec![Series::Pacing];
        let samples = run(config).samples;
        let at = |ms| samples.iter().rfind(|s| s.time < Time::from_millis(ms)).unwrap().value;
        [at(2_000), at(2_600)]
    };
    let [before, with] = pacing(&[45]);
    let [_, without] = pacing(&[]);
    assert!(with < without, "{before}, then {with} and not {without}");
}

/// A flow of CUBIC fills the queue. The warping of equation (1) keeps the media flow above its minimum rate.
#[test]
fn a_full_long_queue_leaves_media_more_than_its_minimum_rate() {
    let bottleneck = LinkConfig { queue: QueueLimit::Packets(150), ..link([0, 1], 10_000_000, 20) };
    let result = run(over(bottleneck, media(), 1)).flows.remove(0);
    assert!(result.goodput_bps > 1.3 * nada::RMIN as f64, "{result:?}");
    assert!(result.transit.unwrap().p95_ms.unwrap() > 100.0);
}

/// A queue that marks ECN-capable packets drops the others.
#[test]
fn a_queue_that_marks_drops_no_ecn_capable_media() {
    let run = |ecn| {
        let codel = CoDel { ecn: true, ..CoDel::DEFAULT };
        let discipline = Discipline::CoDel(codel);
        let bottleneck = LinkConfig { discipline, ..link([0, 1], 5_000_000, 20) };
        run(over(bottleneck, Media { ecn, ..media() }, 2))
    };
    let [plain, capable] = [run(false), run(true)];
    assert!(plain.flows[0].loss_rate > 0.0);
    assert_eq!(capable.flows[0].loss_rate, 0.0);
    assert!(capable.links[0].marks > plain.links[0].marks);
}

#[test]
fn a_stopped_flow_sends_nothing_more_and_its_receiver_falls_silent() {
    let stop = Time::from_secs(10);
    let mut config = over(link([0, 1], 1_000_000, 20), Media { stop, ..media() }, 0);
    config.flows[0].start = Time::from_secs(4);
    let result = run(config);
    assert!((6.0..6.2).contains(&result.flows[0].active_s), "{result:?}");
    assert!((58..=66).contains(&result.flows[0].peer_packets_sent), "{result:?}");
    assert_eq!(result.end, stop + Span::from_secs(110));
}
