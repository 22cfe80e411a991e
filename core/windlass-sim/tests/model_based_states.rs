//! States of BBR, BBRv3 and Copa after each event on a path with one bottleneck, compared with the equations of
//! Cardwell et al. 2016, draft-ietf-ccwg-bbr-06 and the paper on Copa (NSDI 2018). Each segment has its own
//! acknowledgement.

use std::collections::BTreeMap;

use crate::common::bottleneck::settled;
use crate::common::{Traffic, flow, link, network, rfc, run};
use windlass_cc::bbr::Mode;
use windlass_cc::bbr3::State;
use windlass_cc::{AnyParams, Ratio, Time};
use windlass_sim::arrivals::{Arrivals, Draw};
use windlass_sim::config::Config;
use windlass_sim::link::QueueLimit;
use windlass_sim::{RunResult, Series};

/// Payload of a full segment with timestamps, and its size on the link.
const MSS: f64 = 1448.0;
const PACKET: f64 = 1500.0;

const BW: Series = Series::State("bw_bytes_per_s");
const MIN_RTT: Series = Series::State("min_rtt_ns");
const ROUND: Series = Series::State("round");
/// State of BBR and of BBRv3.
const MODE: Series = Series::State("mode");
const STATE: Series = Series::State("state");
const LONG_TERM: Series = Series::State("inflight_longterm_bytes");
const COMPETITIVE: Series = Series::State("competitive");

/// A path of a rate in Mbit/s and a base RTT in ms.
#[derive(Clone, Copy)]
struct Path(u64, u64);

/// A bandwidth-delay product of 67 packets.
const PATH: Path = Path(20, 40);

impl Path {
    /// Rate of payload, bytes per second.
    fn rate(self) -> f64 {
        self.0 as f64 * 125_000.0 * MSS / PACKET
    }

    /// Bandwidth-delay product, bytes of payload.
    fn bdp(self) -> f64 {
        self.rate() * self.1 as f64 / 1e3
    }

    /// One flow on this path, with this limit of packets in the queue.
    fn alone(self, params: AnyParams, queue: u64, seconds: u64) -> Config {
        let mut path = link([0, 1], self.0 * 1_000_000, self.1 / 2);
        path.queue = QueueLimit::Packets(queue);
        let mut profile = rfc("newreno");
        profile.params = params;
        profile.stack.delayed_ack_segments = 1;
        let flow = flow([0, 1], profile, Traffic::Bulk { bytes: None });
        network(vec![path], vec![flow], Time::from_secs(seconds))
    }
}

fn named(id: &str) -> AnyParams {
    AnyParams::by_name(id).expect("known")
}

fn with(id: &str, name: &str, raw: u64) -> AnyParams {
    let mut params = named(id);
    let place = params.info().params.iter().position(|p| p.name == name).expect("a parameter");
    assert!(params.set(place, raw));
    params
}

/// Runs, and calls `look` with the time in seconds and the values of the first flow after each event that changed
/// one of them.
fn watched<const N: usize>(
    mut config: Config,
    series: [Series; N],
    mut look: impl FnMut(f64, [u64; N]),
) -> RunResult {
    config.record.series = series.to_vec();
    let result = run(config);
    let mut values = [0; N];
    let of_flow = |s: &&windlass_sim::Sample| s.flow == 0;
    let samples: Vec<_> = result.samples.iter().filter(of_flow).collect();
    for event in samples.chunk_by(|a, b| a.time == b.time) {
        for sample in event {
            let place = series.iter().position(|s| *s == sample.series).expect("asked for");
            values[place] = sample.value;
        }
        look(event[0].time.0 as f64 / 1e9, values);
    }
    result
}

/// Begins and ends of the times for which a condition holds, and the value at each end.
#[derive(Default)]
struct Visits {
    begins: Vec<f64>,
    ends: Vec<(f64, u64)>,
}

impl Visits {
    fn note(&mut self, inside: bool, at: f64, value: u64) {
        if inside && self.begins.len() == self.ends.len() {
            self.begins.push(at);
        } else if !inside && self.begins.len() > self.ends.len() {
            self.ends.push((at, value));
        }
    }

    /// Lengths of the visits.
    fn lengths(&self) -> impl Iterator<Item = f64> {
        self.begins.iter().zip(&self.ends).map(|(begin, (end, _))| end - begin)
    }
}

#[test]
fn the_estimates_converge_to_the_path_within_five_percent() {
    for id in ["bbr", "bbr3"] {
        for path in [Path(2, 20), Path(20, 40), Path(100, 10), Path(10, 200)] {
            let mut last = [0; 3];
            let config = path.alone(named(id), 4_000, 10);
            let result = watched(config, [BW, MIN_RTT, Series::Delivered], |at, values| {
                if at < 8.0 {
                    last = values;
                }
            });
            let [bw, min_rtt, delivered] = last.map(|value| value as f64);
            let name = format!("{id}, {} Mbit/s", path.0);
            assert!((bw / path.rate() - 1.0).abs() < 0.05, "{name}: {bw}");
            // The SYN measures it, with the transmission of a small packet.
            let base = path.1 as f64 * 1e6;
            assert!((1.0..1.05).contains(&(min_rtt / base)), "{name}: {min_rtt}");
            let goodput = (result.flows[0].delivered_bytes as f64 - delivered) / 2.0;
            assert!(goodput > 0.9 * path.rate(), "{name}: {goodput}");
        }
    }
}

/// Startup of BBR and BBRv3: rounds after the last sample that increased the estimate by a quarter relative to the
/// full rate, and bytes in flight when the queue is drained.
fn startup<const N: usize>(
    id: &str,
    [bw, state]: [Series; 2],
    drain: u64,
    drained: [u64; N],
) -> (u64, u64, RunResult) {
    let (mut full, mut left, mut at_end) = (None, None, None);
    let result = watched(PATH.alone(named(id), 1_000, 3), [bw, state, ROUND, Series::InFlight], {
        |_, [bw, state, round, in_flight]| {
            if full.is_none() && bw as f64 > PATH.rate() / 1.25 {
                full = Some(round);
            }
            if left.is_none() && state == drain {
                left = Some(round);
            }
            if at_end.is_none() && drained.contains(&state) {
                at_end = Some(in_flight);
            }
        }
    });
    (left.expect("drains") - full.expect("fills"), at_end.expect("drained"), result)
}

#[test]
fn startup_ends_after_three_rounds_without_growth_and_drain_empties_the_queue() {
    let bbr = startup("bbr", [BW, MODE], Mode::Drain as u64, [Mode::ProbeBw as u64]);
    // DOWN ends with the same acknowledgement if there is nothing to drain.
    let after = [State::Down as u64, State::Cruise as u64];
    let bw = Series::State("max_bw_bytes_per_s");
    let bbr3 = startup("bbr3", [bw, STATE], State::Drain as u64, after);
    for (id, (rounds, in_flight, result)) in [("bbr", bbr), ("bbr3", bbr3)] {
        assert!((3..=4).contains(&rounds), "{id}: {rounds} rounds");
        // A window of two BDP and more fills a queue of nearly one BDP.
        let queue = result.links[0].max_queue_packets as f64 * MSS;
        assert!(queue > 0.9 * PATH.bdp(), "{id}: Startup fills a queue: {queue}");
        // One BDP and the budget.
        assert!((in_flight as f64) < PATH.bdp() + 13.0 * MSS, "{id}: {in_flight}");
    }
}

#[test]
fn bbr_paces_by_its_gain_cycle() {
    let (mut spent, mut last, mut before) = (BTreeMap::<u64, f64>::new(), 3.0, None);
    let series = [MODE, BW, Series::Pacing];
    watched(PATH.alone(named("bbr"), 1_000, 8), series, |at, [mode, bw, pacing]| {
        if at > 3.0 {
            if let Some(percent) = before {
                *spent.entry(percent).or_default() += at - last;
            }
            last = at;
        }
        let percent = (pacing as f64 / 8.0 / bw as f64 * 100.0).round() as u64;
        before = (mode == Mode::ProbeBw as u64).then_some(percent);
    });
    // 99 % of 1.25, 0.75 and 1.
    let share = |percent: u64| {
        let near: f64 = spent.range(percent - 1..=percent + 1).map(|(_, time)| time).sum();
        near / spent.values().sum::<f64>()
    };
    assert!((0.08..0.20).contains(&share(124)), "{spent:?}");
    assert!((0.04..0.15).contains(&share(74)), "{spent:?}");
    assert!(share(99) > 0.65, "{spent:?}");
    assert!(share(124) + share(74) + share(99) > 0.99, "{spent:?}");
}

#[test]
fn only_the_probing_phase_of_bbr_leaves_a_standing_queue() {
    let (mut least, mut most) = (u64::MAX, 0);
    watched(PATH.alone(named("bbr"), 1_000, 8), [Series::InFlight], |at, [in_flight]| {
        if at > 4.0 {
            (least, most) = (least.min(in_flight), most.max(in_flight));
        }
    });
    // The phase with the low gain ends with one BDP and three quanta of two segments in flight.
    assert!(least as f64 <= PATH.bdp() + 6.0 * MSS, "{least}");
    // A phase at 1.25 for an RTT queues a quarter of the BDP, and the budget of pairs.
    assert!((most as f64) < 1.25 * PATH.bdp() + 20.0 * MSS, "{most}");
}

#[test]
fn bbr_measures_the_rtt_every_ten_seconds_with_four_segments_for_200_ms() {
    let mut visits = Visits::default();
    watched(PATH.alone(named("bbr"), 1_000, 45), [MODE, Series::Cwnd], |at, [mode, cwnd]| {
        let inside = mode == Mode::ProbeRtt as u64;
        assert!(!inside || cwnd as f64 == 4.0 * MSS, "{cwnd}");
        visits.note(inside, at, cwnd);
    });
    assert!(visits.begins.len() >= 3, "{:?}", visits.begins);
    // 200 ms, and the RTTs to reduce the flight to four segments and to complete a round.
    assert!(visits.lengths().all(|time| (0.2..0.4).contains(&time)));
    for pair in visits.begins.windows(2) {
        // Ten seconds after the last update of the estimate, in ProbeRTT itself or at its end.
        assert!((10.0..10.7).contains(&(pair[1] - pair[0])), "{:?}", visits.begins);
    }
    assert!(
        visits.ends.iter().all(|(_, cwnd)| *cwnd as f64 > 1.5 * PATH.bdp()),
        "{:?}",
        visits.ends
    );
}

#[test]
fn bbr3_measures_the_rtt_every_five_seconds_with_half_the_product_for_200_ms() {
    let mut visits = Visits::default();
    let series = [STATE, Series::Cwnd, BW, MIN_RTT];
    watched(PATH.alone(named("bbr3"), 1_000, 30), series, |at, [state, cwnd, bw, min_rtt]| {
        let inside = state == State::ProbeRtt as u64;
        let bdp = bw as f64 * min_rtt as f64 * 1e-9;
        assert!(!inside || (cwnd as f64 - 0.5 * bdp).abs() < 2.0, "{cwnd} {bdp}");
        visits.note(inside, at, state);
    });
    assert!(visits.begins.len() >= 4, "{:?}", visits.begins);
    assert!(visits.lengths().all(|time| (0.2..0.4).contains(&time)));
    for ((end, state), next) in visits.ends.iter().zip(&visits.begins[1..]) {
        assert_eq!(*state, State::Cruise as u64, "the queue is empty already");
        assert!((5.0..5.1).contains(&(next - end)), "{:?}", visits.begins);
    }
}

#[test]
fn the_phases_of_bbr3_follow_each_other_with_their_gains() {
    use State::{Cruise, Down, ProbeRtt, Refill, Up};
    let [down, cruise, refill, up, probe_rtt] =
        [Down, Cruise, Refill, Up, ProbeRtt].map(|state| state as u64);
    let (mut last, mut steps, mut ups) = (None, BTreeMap::new(), vec![]);
    let series = [STATE, BW, Series::Pacing];
    watched(PATH.alone(named("bbr3"), 1_000, 42), series, |at, [state, bw, pacing]| {
        if at < 2.0 {
            return;
        }
        if let Some(last) = last.filter(|last| *last != state) {
            *steps.entry((last, state)).or_insert(0) += 1;
            if state == up {
                ups.push(at);
            }
        }
        last = Some(state);
        let gain = match state {
            _ if state == down => 0.9,
            _ if state == up => 1.25,
            _ => 1.0,
        };
        let (expected, pacing) = (0.99 * gain * bw as f64, pacing as f64 / 8.0);
        assert!((pacing / expected - 1.0).abs() < 1e-3, "state {state}: {pacing} {expected}");
    });
    let allowed = [(down, cruise), (down, refill), (cruise, refill), (refill, up), (up, down)];
    for (step, count) in &steps {
        let probe = step.0 == probe_rtt || step.1 == probe_rtt;
        assert!(probe || allowed.contains(step), "{step:?} {count} times");
    }
    assert!(steps[&(refill, up)] >= 6 && steps[&(up, down)] >= 6, "{steps:?}");
    // Two to three seconds or 63 rounds of 40 ms between DOWN and REFILL, with the rounds of UP, and with ProbeRTT,
    // which restarts the wait.
    for pair in ups.windows(2) {
        assert!((2.0..8.5).contains(&(pair[1] - pair[0])), "{ups:?}");
    }
}

/// Room for a tenth of the BDP: Startup loses much more than 2 % long before a plateau.
#[test]
fn heavy_loss_ends_startup_of_bbr3_and_bounds_the_flight() {
    let mut bound = None;
    watched(PATH.alone(named("bbr3"), 7, 3), [STATE, LONG_TERM], |_, [state, long_term]| {
        if bound.is_none() && state != State::Startup as u64 {
            bound = Some(long_term);
        }
    });
    let bound = bound.expect("left Startup") as f64;
    // At least half of the estimated BDP, at most the bytes that one RTT delivered with a full queue.
    assert!(bound > 0.5 * PATH.bdp() && bound < 1.2 * (PATH.bdp() + 7.0 * MSS), "{bound}");
}

#[test]
fn two_percent_of_loss_in_a_probe_of_bbr3_bounds_the_flight() {
    let queue = 17.0;
    let (mut most, mut unbounded) = (0, false);
    let series = [LONG_TERM, Series::InFlight];
    watched(PATH.alone(named("bbr3"), queue as u64, 30), series, |at, [long_term, in_flight]| {
        if at > 10.0 {
            most = most.max(in_flight);
            unbounded |= long_term == u64::MAX;
        }
    });
    // At most the capacity of the path, and the RTT until a loss is known.
    assert!(!unbounded && (most as f64) < 1.5 * (PATH.bdp() + queue * MSS), "{most}");
}

/// A message of 4 s at the path's rate, and the next after 25 s.
#[test]
fn after_a_silence_bbr_paces_by_the_estimated_rate_and_does_not_measure_the_rtt() {
    let mut config = PATH.alone(named("bbr"), 1_000, 52);
    config.flows[0].traffic = Traffic::Messages(Arrivals {
        gaps: Draw::constant(25_000_000_000),
        sizes: Draw::constant(9_000_000),
        phases: None,
        stop: Time::from_secs(52),
        deadline: None,
        seed: 1,
    });
    let (mut again, mut restart) = (false, None);
    let series = [MODE, BW, Series::Pacing, Series::Cwnd, Series::InFlight];
    watched(config, series, |at, [mode, bw, pacing, cwnd, in_flight]| {
        if at > 40.0 && in_flight > 0 {
            restart = restart.or(Some((at, bw, pacing, cwnd)));
            again |= mode == Mode::ProbeRtt as u64;
        }
    });
    let (at, bw, pacing, cwnd) = restart.expect("the second message");
    assert!((pacing as f64 / 8.0 / (0.99 * bw as f64) - 1.0).abs() < 1e-4, "at {at}: {pacing}");
    assert!(bw as f64 > 0.95 * PATH.rate() && cwnd as f64 > 1.5 * PATH.bdp(), "{bw} {cwnd}");
    assert!(!again, "the silence has emptied the queue");
}

#[test]
fn the_gain_of_startup_follows_its_parameter() {
    let params = with("bbr", "startup_gain", Ratio::of(5, 2).0);
    let gain = Series::State("pacing_gain");
    watched(PATH.alone(params, 1_000, 1), [MODE, gain], |at, [mode, gain]| {
        assert!(at > 0.1 || mode != Mode::Startup as u64 || gain == Ratio::of(5, 2).0, "{gain}");
    });
}

/// Section 3: "between 0 and 2.5/δ packets", so 1.25/δ on average; and the packet in service.
#[test]
fn the_queue_of_copa_swings_between_nothing_and_two_and_a_half_over_delta_packets() {
    for packets in [2u64, 5, 10, 20] {
        let mut params = with("copa", "mode_switching", 0);
        let table = params.info().params;
        let place = table.iter().position(|p| p.name == "inverse_delta").expect("a parameter");
        assert!(params.set(place, packets << 16));
        let settled = settled(PATH.alone(params, 1_000, 25), 5, 25);
        let (wanted, mean) = (packets as f64, settled.queue);
        assert!(mean > wanted && mean < 1.1 * 1.25 * wanted + 1.5, "{packets}: {mean}");
        assert!(settled.goodput[0] / 8.0 > 0.98 * PATH.rate(), "{packets}: {:?}", settled.goodput);
        let mut most = 0;
        watched(PATH.alone(params, 1_000, 25), [Series::InFlight], |at, [in_flight]| {
            most = if at > 5.0 { most.max(in_flight) } else { 0 };
        });
        let queued = (most as f64 - PATH.bdp()) / MSS;
        assert!(queued <= 2.5 * wanted + 3.0, "{packets}: {queued}");
    }
}

/// The paper's detector requires a queue below a tenth of its range. With five whole packets this is an empty queue.
/// With the default δ this sometimes takes longer than five RTTs. Slow start has left a queue.
#[test]
fn copa_alone_hardly_ever_takes_itself_for_competing() {
    for (packets, most) in [(2u64, 0.1), (10, 0.0)] {
        let params = with("copa", "inverse_delta", packets << 16);
        let (mut last, mut before, mut competing) = (0.0, 0, 0.0);
        watched(PATH.alone(params, 1_000, 62), [COMPETITIVE, Series::Cwnd], |at, [mode, _]| {
            if last >= 2.0 {
                competing += before as f64 * (at - last);
            }
            (last, before) = (at, mode);
        });
        assert!(competing / 60.0 <= most, "{packets}: {competing}");
    }
}

#[test]
fn copa_competes_with_a_flow_that_fills_the_queue_and_yields_again_after_it() {
    let share = |switching: u64| {
        let mut config = PATH.alone(with("copa", "mode_switching", switching), 67, 70);
        let mut other = config.flows[0].clone();
        other.profile_mut().params = named("newreno");
        other.name = "other".to_owned();
        other.start = Time::from_secs(3);
        // At half the rate until 60 s.
        other.traffic = Traffic::Bulk { bytes: Some((57.0 * PATH.rate() / 2.0) as u64) };
        config.flows.push(other);
        let (mut seen, mut end) = (vec![], [0; 2]);
        let series = [COMPETITIVE, Series::State("inverse_delta"), Series::Delivered];
        let result = watched(config, series, |at, [competitive, inverse_delta, delivered]| {
            seen.push((at, delivered, competitive));
            end = [competitive, inverse_delta];
        });
        assert_eq!(end, [0, 2 << 16], "δ is the default again");
        let stop = 3.0 + result.flows[1].completion_s.expect("ends");
        seen.retain(|(at, ..)| (20.0..stop).contains(at));
        let [(from, before, _), (to, after, competed)] = [seen[0], seen[seen.len() - 1]];
        ((after - before) as f64 / (to - from) / PATH.rate(), competed)
    };
    let (alone, _) = share(0);
    assert!(alone < 0.15, "a delay-based flow starves: {alone}");
    let (competing, competed) = share(1);
    assert_eq!(competed, 1);
    assert!((0.35..0.65).contains(&competing), "{competing}");
}

/// From 10 segments after the handshake, doubling each RTT; the queue first appears at the BDP of 67 packets.
#[test]
fn slow_start_of_copa_doubles_until_the_rate_exceeds_the_target() {
    let mut windows = vec![];
    let series = [Series::State("slow_start"), Series::Cwnd];
    watched(PATH.alone(named("copa"), 1_000, 1), series, |at, [slow_start, cwnd]| {
        if slow_start == 1 {
            windows.push((at, cwnd as f64));
        }
    });
    let ((_, first), (end, last)) = (windows[0], windows[windows.len() - 1]);
    let doublings = (last / first).log2();
    assert!((1.0..=4.5).contains(&doublings), "{doublings}");
    assert!(((end - 0.04) / 0.0406 - doublings).abs() < 1.5, "{end}: {doublings}");
}
