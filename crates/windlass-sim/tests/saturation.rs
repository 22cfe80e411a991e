//! A saturated cell against Bianchi's model.

// The closed form is the laboratory's, which this crate cannot depend on.
#[path = "../../windlass-lab/src/models/dcf.rs"]
mod dcf;

use dcf::{Access, Saturation};
use windlass_cc::{AnyParams, Span, Time};
use windlass_sim::Simulation;
use windlass_sim::config::{Cbr, Config, FlowConfig, ReadPolicy, Record, Traffic};
use windlass_sim::link::QueueLimit;
use windlass_sim::radio::mac::{CONTROL_BYTES, DATA_OVERHEAD, RTS_BYTES};
use windlass_sim::radio::{Hops, Phy, Position, RadioConfig, RtsThreshold, StationConfig};
use windlass_tcp::{Profile, stack};

/// IP packet of the datagrams, bytes.
const PACKET: u32 = 1500;

/// `n` stations on a circle of 10 m around an access point to which they send.
fn cell(phy: Phy, n: usize, rts: RtsThreshold, seconds: u64) -> Config {
    let mut radio = RadioConfig::new("cell", phy);
    radio.rts = rts;
    radio.hops = Hops::Star { centre: 0 };
    let station = |node, x_mm, y_mm| StationConfig {
        node,
        position: Position { x_mm, y_mm },
        queue: QueueLimit::Packets(20),
    };
    radio.stations.push(station(0, 0, 0));
    let profile = Profile::new(stack::RFC, AnyParams::by_name("reno").unwrap(), 1500);
    let mut flows = Vec::new();
    for i in 0..n {
        let angle = i as f64 / n as f64 * std::f64::consts::TAU;
        let [x, y] = [libm::cos(angle), libm::sin(angle)].map(|c| (c * 10_000.0) as i64);
        radio.stations.push(station(i + 1, x, y));
        // More than the station's share, so that its queue never runs dry.
        let interval = Span::from_micros(150 + 100 * n as u64);
        flows.push(FlowConfig {
            name: format!("f{i}"),
            from: i + 1,
            to: 0,
            profile,
            traffic: Traffic::CbrUdp(Cbr {
                packet: u64::from(PACKET) - 28,
                interval,
                stop: Time::from_secs(seconds),
            }),
            read: ReadPolicy::Immediate,
            start: Time(1000 * i as u64),
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

/// The model of the same cell, times in seconds.
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

#[test]
fn explore() {
    for phy in [Phy::B_LONG, Phy::G] {
        for rts in [RtsThreshold::Never, RtsThreshold::Always] {
            for eifs in [false, true] {
                for n in [1, 2, 5, 10, 20, 50] {
                    let seconds = 20;
                    let mut config = cell(phy, n, rts, seconds);
                    config.radios[0].eifs = eifs;
                    let plain = model(&config.radios[0], n as u32, false);
                    let refined = model(&config.radios[0], n as u32, true);
                    let mut s = Simulation::new(config).unwrap();
                    s.run();
                    let r = s.finish().unwrap();
                    let delivered: u64 = r.radios[0].stations.iter().map(|s| s.delivered).sum();
                    let tx: u64 =
                        r.radios[0].stations.iter().map(|s| s.transmissions.max(s.rts_sent)).sum();
                    let fail: u64 = r.radios[0].stations.iter().map(|s| s.failures).sum();
                    let got = delivered as f64 / seconds as f64;
                    println!(
                        "{} {rts:?} eifs {eifs} n {n}: got {got:.1} plain {:.1} ({:+.2}%) refined {:.1} ({:+.2}%) p {:.4} plain {:.4} refined {:.4} events {}",
                        phy.name,
                        plain.successes,
                        100.0 * (got / plain.successes - 1.0),
                        refined.successes,
                        100.0 * (got / refined.successes - 1.0),
                        fail as f64 / tx as f64,
                        plain.collision_probability,
                        refined.collision_probability,
                        r.events
                    );
                }
            }
        }
    }
}
