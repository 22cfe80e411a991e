//! In random radios, packets are conserved, and no packet is delivered twice or out of order.

use std::collections::HashMap;

use crate::common::radio::{Driver, line};
use crate::common::{cbr, flow, network, rfc, run_by_way_of};
use proptest::prelude::*;
use windlass_cc::{Span, Time};
use windlass_sim::config::{Config, Traffic};
use windlass_sim::link::QueueLimit;
use windlass_sim::loss::{BerFormula, LossModel};
use windlass_sim::radio::energy::State;
use windlass_sim::radio::sleep::Polling;
use windlass_sim::radio::{
    Aggregation, BROADCAST, Consumption, FrameErrors, Hops, LateCapture, Lowpan, Minstrel, Outcome,
    PathLoss, Phy, Position, RadioConfig, Retries, RtsThreshold, StationConfig,
};
use windlass_sim::{RunResult, Simulation};

fn errors() -> impl Strategy<Value = FrameErrors> {
    prop_oneof![
        2 => Just(FrameErrors::None),
        2 => (0.0..0.6f64).prop_map(|p| FrameErrors::Model(LossModel::Drop { probability: p })),
        1 => (0.0..1e-3f64).prop_map(|rate| {
            FrameErrors::Model(LossModel::Ber { rate, formula: BerFormula::Exact })
        }),
        1 => (0.0..0.2f64, 0.0..1.0f64).prop_map(|(good_to_bad, bad_to_good)| {
            FrameErrors::Model(LossModel::GilbertElliott {
                good_to_bad, bad_to_good, loss_good: 0.01, loss_bad: 0.9,
            })
        }),
        1 => Just(FrameErrors::Snr),
    ]
}

fn path_losses() -> impl Strategy<Value = PathLoss> {
    prop_oneof![
        Just(PathLoss::Friis),
        (2.0..5.0f64)
            .prop_map(|exponent| PathLoss::LogDistance { exponent, reference_loss_db: 40.0 }),
        (1u64..200_000, 0u64..200_000).prop_map(|(receive_mm, more)| {
            PathLoss::Disc { receive_mm, sense_mm: receive_mm + more }
        }),
    ]
}

fn stations() -> impl Strategy<Value = Vec<StationConfig>> {
    let queue = prop_oneof![
        (1u64..10).prop_map(QueueLimit::Packets),
        (1u64..10_000).prop_map(QueueLimit::Bytes),
        Just(QueueLimit::Unlimited),
    ];
    let one = (-100_000i64..100_000, -100_000i64..100_000, queue);
    // From a battery that is empty after one or two frames to one that outlasts the run.
    let battery = prop::option::weighted(0.3, 1_000u64..500_000);
    prop::collection::vec((one, battery), 2..7).prop_map(|all| {
        let numbered = all.into_iter().enumerate();
        let stations = numbered.map(|(node, ((x_mm, y_mm, queue), battery_uj))| StationConfig {
            node,
            position: Position { x_mm, y_mm },
            queue,
            battery_uj,
            sleep: None,
        });
        stations.collect()
    })
}

/// Small radios in which some stations do not sense each other.
fn radios() -> impl Strategy<Value = RadioConfig> {
    let rts = prop_oneof![
        Just(RtsThreshold::Never),
        Just(RtsThreshold::Always),
        (0u32..1500).prop_map(RtsThreshold::Above),
    ];
    let rates = any::<[prop::sample::Index; 3]>();
    let powers = (-90.0..-60.0f64, -90.0..-60.0f64, prop::option::of(0.0..20.0f64));
    let switches = (any::<bool>(), 1u32..8, 1u32..5, any::<[bool; 3]>(), 1u32..65);
    let phy = 0..Phy::ALL.len();
    (phy, stations(), path_losses(), errors(), rts, rates, powers, switches).prop_map(
        |(phy, stations, path_loss, errors, rts, rates, powers, switches)| {
            let (eifs, short, long, [adapts, aggregates, late], frames) = switches;
            let phy = Phy::ALL[phy].1;
            let mut radio = RadioConfig::new("air", phy);
            let [data, control, broadcast] = rates.map(|i| i.get(phy.rates).bps);
            radio.data_rate_bps = data;
            radio.control_rate_bps = control;
            radio.broadcast_rate_bps = broadcast;
            (radio.carrier_sense_dbm, radio.sensitivity_dbm, radio.capture_db) = powers;
            (radio.stations, radio.rts, radio.eifs) = (stations, rts, eifs);
            radio.consumption = Some(Consumption::WAVELAN_11);
            radio.path_loss = path_loss;
            radio.retries = Retries { short, long };
            radio.late_capture = LateCapture::ALL[usize::from(late)].1;
            if adapts && !phy.is_lowpan() {
                radio.rate_adaptation = Some(Minstrel::default());
                radio.data_rate_bps = phy.rates.last().map_or(data, |fastest| fastest.bps);
            }
            if aggregates && phy.is_ht() {
                radio.aggregation =
                    Some(Aggregation { max_frames: frames, ..Aggregation::default() });
            }
            let disc = matches!(path_loss, PathLoss::Disc { .. });
            radio.errors =
                if disc && errors == FrameErrors::Snr { FrameErrors::None } else { errors };
            radio
        },
    )
}

/// A parent and its children, most of which sleep.
fn families() -> impl Strategy<Value = RadioConfig> {
    let polling = (50u64..3_000, prop::option::of(1u64..50)).prop_map(|(ms, fast)| Polling {
        poll_interval: Span::from_millis(ms),
        fast_poll: fast.map(Span::from_millis),
    });
    let battery = prop::option::weighted(0.2, 1_000u64..500_000);
    let child = (prop::option::weighted(0.8, polling), battery);
    let lowpan = (any::<bool>(), 0u64..50, 0u64..5, 0.0..0.4f64);
    (prop::collection::vec(child, 1..6), lowpan).prop_map(|(children, lowpan)| {
        let (retry_busy, delay, prepare, probability) = lowpan;
        let mut radio = line(Phy::OQPSK_2450, 500, &vec![100; children.len() + 1]);
        radio.stations[0].position.x_mm = 0;
        for (station, (sleep, battery_uj)) in radio.stations[1..].iter_mut().zip(children) {
            (station.sleep, station.battery_uj) = (sleep, battery_uj);
        }
        radio.hops = Hops::Star { centre: 0 };
        radio.consumption = Some(Consumption::CC2420);
        radio.errors = FrameErrors::Model(LossModel::Drop { probability });
        let [retry_delay, prepare] = [delay, prepare].map(Span::from_millis);
        radio.lowpan = Some(Lowpan { retry_busy, retry_delay, prepare, ..Lowpan::default() });
        radio
    })
}

/// Packets: time since the previous packet (µs), sender, receiver (equal to the sender for a broadcast),
/// size.
fn packets() -> impl Strategy<Value = Vec<(u64, usize, usize, u32)>> {
    prop::collection::vec((0u64..3000, 0usize..7, 0usize..7, 1u32..2300), 1..120)
}

/// Receivers of the packets, and packets that were given up.
#[derive(Default)]
struct Ends {
    taken: HashMap<u32, u32>,
    given_up: HashMap<u32, bool>,
    heard: HashMap<(u32, u32), u32>,
    /// Last packet from one station to another.
    last: HashMap<(u32, u32), u32>,
}

fn gather(d: &Driver) -> Result<Ends, TestCaseError> {
    let mut e = Ends::default();
    for (_, outcome) in &d.log {
        match *outcome {
            Outcome::Delivered { from, to, handle } => {
                prop_assert!(e.taken.insert(handle.id, to).is_none(), "{} twice", handle.id);
                let before = e.last.insert((from, to), handle.id);
                prop_assert!(before < Some(handle.id), "{} out of order", handle.id);
            }
            Outcome::GaveUp { handle, taken, .. } => {
                prop_assert!(e.given_up.insert(handle.id, taken).is_none());
                prop_assert!(
                    taken || !e.taken.contains_key(&handle.id),
                    "given up, although received"
                );
            }
            Outcome::Heard { from, at, handle } => {
                prop_assert!(e.heard.insert((handle.id, at), from).is_none(), "received twice");
            }
            Outcome::Lost { handle, .. } => {
                prop_assert!(!e.taken.contains_key(&handle.id), "lost, although received");
                prop_assert!(e.given_up.insert(handle.id, false).is_none());
            }
            Outcome::Broadcast { .. } => {}
        }
    }
    Ok(e)
}

fn check(r: &RunResult) -> Result<(), TestCaseError> {
    for radio in &r.radios {
        prop_assert!((0.0..=1.0).contains(&radio.busy), "{:?}", radio);
        prop_assert!(radio.busy <= radio.airtime + 1e-9, "{:?}", radio);
        for s in &radio.stations {
            let ends = s.delivered + s.drops_queue + s.drops_retry + s.drops_off + s.inside;
            prop_assert_eq!(s.offered, ends, "{:?}", s);
            prop_assert!(s.unconfirmed <= s.delivered, "{:?}", s);
            prop_assert!(s.retransmissions <= s.transmissions, "{:?}", s);
            prop_assert!(s.mean_queue_packets <= s.max_queue_packets as f64, "{:?}", s);
            let end_s = r.end.0 as f64 / 1e9;
            prop_assert!(s.airtime_s <= end_s, "{:?}", s);
            prop_assert_eq!(s.airtime_s, s.transmit_s, "{:?}", s);
            let times = s.transmit_s + s.receive_s + s.listen_s + s.idle_s + s.sleep_s + s.off_s;
            prop_assert!((times - end_s).abs() < 1e-9, "{:?}", s);
            prop_assert_eq!(s.died_s.map(|at| end_s - at).unwrap_or(0.0) > 0.0, s.off_s > 0.0);
        }
    }
    Ok(())
}

/// A network over the radio, with datagrams and a transfer between all nodes that have a route.
fn routed(mut radio: RadioConfig, seed: u64, rate_us: u64) -> Config {
    let n = radio.stations.len();
    radio.hops = Hops::InRange;
    let end = Time::from_millis(500);
    let mut config = network(Vec::new(), Vec::new(), end);
    config.nodes = (0..n).map(|i| format!("n{i}")).collect();
    config.radios = vec![radio];
    config.seed = seed;
    for i in 0..n {
        let udp = Traffic::CbrUdp(cbr(700, rate_us, end));
        let mut with = config.clone();
        with.flows.push(flow([i, (i + 1) % n], rfc("newreno"), udp));
        let tcp = Traffic::Bulk { bytes: None };
        with.flows.push(flow([(i + 2) % n, i], rfc("cubic"), tcp));
        if Simulation::new(with.clone()).is_ok() {
            config = with;
        }
    }
    config
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_received_once_and_in_order_or_given_up(
        radio in radios(),
        packets in packets(),
        seed in any::<u64>(),
    ) {
        let n = radio.stations.len();
        let mut d = Driver::new(&RadioConfig { hops: Hops::Pairs(vec![]), ..radio.clone() }, seed);
        let (mut now, mut accepted) = (Time::ZERO, Vec::new());
        for (wait, from, to, size) in packets {
            now += Span::from_micros(wait);
            let (from, to) = ((from % n) as u32, (to % n) as u32);
            let to = if from == to { BROADCAST } else { to };
            if let Some(id) = d.try_send(now, from, to, size) {
                accepted.push((id, from, to));
            }
            for s in d.radio.stations() {
                prop_assert!(s.conserves_packets(), "{:?}", s.counters);
            }
        }
        d.finish();
        let ends = gather(&d)?;
        for (id, from, to) in accepted {
            if to == BROADCAST {
                continue;
            }
            prop_assert!(ends.taken.contains_key(&id) || ends.given_up.contains_key(&id));
            let [a, b] = [from, to].map(|s| radio.stations[s as usize].position);
            if !radio.reach(a, b).receivable {
                prop_assert_eq!(ends.given_up.get(&id), Some(&false), "received out of range");
            }
        }
        for ((_, at), from) in ends.heard {
            let [a, b] = [from, at].map(|s| radio.stations[s as usize].position);
            prop_assert!(radio.reach(a, b).receivable, "received out of range");
        }
        for s in d.radio.stations() {
            prop_assert!(s.conserves_packets() && s.inside() == 0 && s.queue.is_empty());
            prop_assert!(s.signals == 0 && s.energy == 0.0 && s.transmitting_until.is_none());
        }
    }

    #[test]
    fn packets_kept_for_sleepers_are_received_once_and_in_order(
        radio in families(),
        packets in packets(),
        off in prop::option::weighted(0.2, 0u64..20_000),
        seed in any::<u64>(),
    ) {
        let n = radio.stations.len();
        let mut radio = radio;
        radio.off.extend(off.map(|ms| ((ms % n as u64) as usize, Time::from_millis(ms))));
        let mut d = Driver::new(&radio, seed);
        let mut now = Time::ZERO;
        for (wait, child, up, size) in packets {
            now += Span::from_micros(20 * wait);
            let child = 1 + (child % (n - 1)) as u32;
            let (from, to) = if up % 3 == 0 { (child, 0) } else { (0, child) };
            d.try_send(now, from, to, size.clamp(48, 2027));
            for s in d.radio.stations() {
                prop_assert!(s.conserves_packets(), "{:?}", s.counters);
            }
        }
        let end = now + Span::from_secs(30);
        d.run_until(end);
        gather(&d)?;
        for s in d.radio.stations() {
            prop_assert!(s.conserves_packets(), "{:?}", s.counters);
            let states = [
                State::Transmit,
                State::Receive,
                State::Listen,
                State::Idle,
                State::Sleep,
                State::Off,
            ];
            let all: u64 = states.iter().map(|state| s.meter.time_ns_by(*state, end)).sum();
            prop_assert_eq!(all, end.0);
        }
    }

    #[test]
    fn packets_are_conserved_in_routed_networks_at_any_stop_time(
        radio in radios(),
        seed in any::<u64>(),
        rate_us in 300u64..20_000,
        stop_at in 0.0..1.0f64,
    ) {
        let config = routed(radio, seed, rate_us);
        run_by_way_of(stop_at, &config, check)?;
    }
}
