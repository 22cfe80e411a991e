//! A saturated cell compared with Bianchi's model.

use windlass_cc::{AnyParams, Span, Time};
use windlass_sim::Simulation;
use windlass_sim::config::{Cbr, Config, FlowConfig, ReadPolicy, Record, Traffic};
use windlass_sim::link::QueueLimit;
use windlass_sim::radio::mac::{CONTROL_BYTES, DATA_OVERHEAD, RTS_BYTES};
use windlass_sim::radio::{Hops, Phy, Position, RadioConfig, RtsThreshold, StationConfig};
use windlass_stats::models::dcf::{Access, Saturation};
use windlass_tcp::{Profile, stack};

/// Size of the datagrams' IP packets, bytes.
const PACKET: u32 = 1500;

/// `n` stations on a circle of 10 m around an access point, to which they send.
fn cell(phy: Phy, n: usize, rts: RtsThreshold, seconds: u64) -> Config {
    let mut radio = RadioConfig::new("cell", phy);
    radio.rts = rts;
    radio.hops = Hops::Star { centre: 0 };
    let station = |node, x_mm, y_mm| StationConfig {
        node,
        position: Position { x_mm, y_mm },
        queue: QueueLimit::Packets(20),
        battery_uj: None,
        sleep: None,
    };
    radio.stations.push(station(0, 0, 0));
    let profile = Profile::new(stack::RFC, AnyParams::by_name("reno").unwrap(), 1500);
    let mut flows = Vec::new();
    for i in 0..n {
        let angle = i as f64 / n as f64 * std::f64::consts::TAU;
        let [x, y] = [libm::cos(angle), libm::sin(angle)].map(|c| (c * 10_000.0) as i64);
        radio.stations.push(station(i + 1, x, y));
        // More than the station's share, so that its queue is never empty.
        let interval = Span::from_micros(150 + 100 * n as u64);
        flows.push(FlowConfig {
            name: format!("f{i}"),
            from: i + 1,
            to: 0,
            profile: profile.into(),
            traffic: Traffic::CbrUdp(Cbr {
                packet: u64::from(PACKET) - 28,
                interval,
                spread: Span::ZERO,
                stop: Time::from_secs(seconds),
                deadline: None,
            }),
            read: ReadPolicy::Immediate,
            start: Time(1000 * i as u64),
            multipath: None,
            pauses: Vec::new(),
        });
    }
    Config {
        nodes: (0..=n).map(|i| format!("n{i}")).collect(),
        links: Vec::new(),
        radios: vec![radio],
        flows,
        duration: Time::from_secs(seconds),
        seed: 1,
        record: Record::default(),
    }
}

/// The model of the same cell, with times in seconds.
fn model(radio: &RadioConfig, n: u32, refined: bool) -> Saturation {
    let phy = &radio.phy;
    let seconds = |span: Span| span.0 as f64 / 1e9;
    let [data, control] =
        [radio.data_rate_bps, radio.control_rate_bps].map(|r| phy.rate(r).unwrap());
    let frame = seconds(phy.airtime(PACKET + DATA_OVERHEAD, data));
    let answer = seconds(phy.airtime(CONTROL_BYTES, control));
    let rts = seconds(phy.airtime(RTS_BYTES, control));
    let (sifs, difs) = (seconds(phy.sifs), seconds(phy.difs()));
    let lowest = phy.rate(phy.lowest_mandatory()).unwrap();
    let eifs = sifs + seconds(phy.airtime(CONTROL_BYTES, lowest)) + difs;
    let space = if radio.eifs { eifs } else { difs };
    let exchange = frame + sifs + answer + difs;
    let by_rts = radio.rts != RtsThreshold::Never;
    let access = Access {
        cw_min: phy.cw_min,
        cw_max: phy.cw_max,
        attempts: Some(radio.retries.short),
        slot: seconds(phy.slot),
        success: if by_rts { rts + sifs + answer + sifs + exchange } else { exchange },
        collision: if by_rts { rts } else { frame } + space,
        refined,
    };
    access.saturation(n)
}

/// Packets per second that the cell delivers.
fn measured(config: Config) -> f64 {
    let seconds = config.duration.0 as f64 / 1e9;
    let mut simulation = Simulation::new(config).expect("valid");
    simulation.run();
    let result = simulation.finish().expect("packets conserved");
    let stations = &result.radios[0].stations;
    assert!(stations[1..].iter().all(|s| s.drops_queue > 0), "a station is not saturated");
    let delivered: u64 = stations.iter().map(|s| s.delivered).sum();
    delivered as f64 / seconds
}

/// Compares a cell with the model for 2 ... `most` stations. The difference must be below `tolerance`, in %.
fn compare(phy: Phy, rts: RtsThreshold, eifs: bool, most: usize, tolerance: f64) {
    // About 5000 packets per run: the standard error of the throughput is below 0.5 %.
    let seconds = if phy.cw_min == 31 { 10 } else { 3 };
    for n in [2, 5, 10, 20, 50].into_iter().filter(|n| *n <= most) {
        let mut config = cell(phy, n, rts, seconds);
        config.radios[0].eifs = eifs;
        let [plain, refined] =
            [false, true].map(|r| model(&config.radios[0], n as u32, r).successes);
        let got = measured(config);
        let off = |model: f64| 100.0 * (got / model - 1.0);
        println!(
            "{} rts {rts:?} eifs {eifs} n {n}: {got:.1}/s, Bianchi {plain:.1} ({:+.2} %), refined \
             {refined:.1} ({:+.2} %)",
            phy.name,
            off(plain),
            off(refined)
        );
        assert!(off(plain).abs() < tolerance, "n {n}: {got} and {plain}");
    }
}

/// The model has neither EIFS nor acknowledgement timeouts: after a collision and a DIFS, all stations
/// contend. Retry limits follow the standard in the model and in the simulation.
#[test]
fn saturation_throughput_of_b_follows_bianchi() {
    compare(Phy::B_LONG, RtsThreshold::Never, false, 50, 3.0);
    compare(Phy::B_LONG, RtsThreshold::Always, false, 50, 3.0);
}

#[test]
fn saturation_throughput_of_g_follows_bianchi() {
    compare(Phy::G, RtsThreshold::Never, false, 50, 3.0);
    compare(Phy::G, RtsThreshold::Always, false, 50, 3.0);
}

/// With EIFS, collisions last longer in the model too. In the simulation, the colliding stations return after
/// their timeout, earlier than the others, and contend with fewer stations for some slots. This causes fewer
/// collisions than in the model. The effect is visible with many collisions and short frames (802.11g, 50
/// stations: 5 % more throughput).
#[test]
fn saturation_throughput_with_eifs_follows_bianchi_with_longer_collisions() {
    compare(Phy::B_LONG, RtsThreshold::Never, true, 50, 3.0);
    compare(Phy::B_LONG, RtsThreshold::Always, true, 50, 3.0);
    compare(Phy::G, RtsThreshold::Never, true, 20, 3.5);
    compare(Phy::G, RtsThreshold::Always, true, 50, 3.0);
}
