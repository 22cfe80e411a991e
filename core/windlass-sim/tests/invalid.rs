//! Configurations that cannot be simulated are refused with an error message.

use crate::common::radio::line;
use crate::common::{Traffic, cbr, drops, flow, link, listed, network, rfc};
use windlass_cc::{Span, Time};
use windlass_sim::arrivals::{Arrivals, Draw};
use windlass_sim::config::{Coap, Config, Media, ReadPolicy};
use windlass_sim::link::QueueLimit;
use windlass_sim::loss::LossModel;
use windlass_sim::queue::{CoDel, Device, Discipline, DualPi2, FqCoDel, Level, Pie, Red};
use windlass_sim::radio::{FrameErrors, Hops, PathLoss, Phy, Position, RadioConfig};
use windlass_sim::{ConfigError, Simulation};

fn valid() -> Config {
    let bulk = Traffic::Bulk { bytes: None };
    network(vec![link([0, 1], 1000, 1)], vec![flow([0, 1], rfc("reno"), bulk)], Time::from_secs(1))
}

/// Error message for the changed configuration.
fn refusal(change: impl FnOnce(&mut Config)) -> String {
    let mut config = valid();
    change(&mut config);
    match Simulation::new(config) {
        Ok(_) => panic!("accepted"),
        Err(e) => e.to_string(),
    }
}

#[test]
fn the_unchanged_configuration_is_accepted() {
    assert!(Simulation::new(valid()).is_ok());
}

#[test]
fn unknown_nodes_and_links_are_named() {
    assert_eq!(
        refusal(|c| c.links[0].ends[1] = 2),
        "link \"0-1\": node 2 does not exist; there are 2"
    );
    assert_eq!(refusal(|c| c.flows[0].to = 9), "flow \"0>1\": node 9 does not exist; there are 2");
    assert_eq!(
        refusal(|c| c.record.capture = vec![1]),
        "the run: captured link 1 does not exist; there are 1"
    );
}

#[test]
fn a_flow_needs_a_route_between_two_nodes() {
    let error = |change: fn(&mut Config)| {
        let mut config = valid();
        change(&mut config);
        Simulation::new(config).err()
    };
    let none = Some(ConfigError::NoRoute { flow: "0>1".into() });
    assert_eq!(error(|c| c.links.clear()), none);
    assert_eq!(error(|c| c.flows[0].to = 0), none);
}

#[test]
fn probabilities_lie_between_zero_and_one() {
    for p in [1.2, -0.1, f64::NAN] {
        let message = refusal(|c| c.links[0].loss[1] = drops(p));
        assert_eq!(
            message,
            format!("link \"0-1\": a loss probability must be between 0 and 1, not {p}")
        );
    }
    let state = LossModel::GilbertElliott {
        good_to_bad: 0.1,
        bad_to_good: 0.1,
        loss_good: 0.0,
        loss_bad: 2.0,
    };
    assert!(refusal(|c| c.links[0].loss[0] = Some(state)).ends_with("not 2"));
    for list in [[0, 1], [3, 3], [4, 2]] {
        assert!(refusal(|c| c.links[0].loss[0] = listed(&list)).contains("ascend"));
    }
}

#[test]
fn disciplines_have_bounds() {
    let level = Level::Packets;
    let red = Red {
        min_threshold: level(5),
        max_threshold: level(15),
        weight: 0.002,
        max_probability: 0.1,
        gentle: true,
        ecn: false,
        adaptive: false,
        mean_packet: 500,
    };
    let codel = CoDel::DEFAULT;
    for (discipline, problem) in [
        (Discipline::Red(Red { max_threshold: level(4), ..red }), "less than the lower"),
        (Discipline::Red(Red { max_threshold: Level::Bytes(15), ..red }), "both be in packets"),
        (Discipline::Red(Red { weight: 0.0, ..red }), "more than 0"),
        (Discipline::Red(Red { max_probability: f64::NAN, ..red }), "between 0 and 1"),
        (Discipline::Red(Red { mean_packet: 0, ..red }), "at least 1 byte"),
        (Discipline::CoDel(CoDel { interval: Span::ZERO, ..codel }), "at least 1 ns"),
        (Discipline::CoDel(CoDel { interval: Span::NONE, ..codel }), "too long"),
        (Discipline::FqCoDel(FqCoDel { flows: 0, ..FqCoDel::DEFAULT }), "1 to 65536"),
        (Discipline::FqCoDel(FqCoDel { quantum: 0, ..FqCoDel::DEFAULT }), "at least 1 byte"),
        (Discipline::FqCoDel(FqCoDel { interval: Span::ZERO, ..FqCoDel::DEFAULT }), "1 ns"),
        (
            Discipline::Device(Box::new(Device { discipline: Discipline::DropTail, packets: 0 })),
            "1 to 1000000 packets, not 0",
        ),
        (Discipline::Pie(Pie { update: Span::ZERO, ..Pie::DEFAULT }), "at least 1 ns"),
        (Discipline::Pie(Pie { alpha: -1.0, ..Pie::DEFAULT }), "from 0 to 1000"),
        (Discipline::DualPi2(DualPi2 { update: Span::ZERO, ..DualPi2::LINUX }), "at least 1 ns"),
        (Discipline::DualPi2(DualPi2 { beta: f64::NAN, ..DualPi2::LINUX }), "from 0 to 1000"),
        (Discipline::DualPi2(DualPi2 { coupling: 0.5, ..DualPi2::LINUX }), "from 1 to 100"),
        (Discipline::DualPi2(DualPi2 { classic_share: 2.0, ..DualPi2::LINUX }), "between 0 and 1"),
        (
            Discipline::DualPi2(DualPi2 { ramp_end: Span::ZERO, ..DualPi2::LINUX }),
            "must not exceed its end",
        ),
        (Discipline::Pie(Pie { mark_limit: 2.0, ..Pie::DEFAULT }), "between 0 and 1"),
    ] {
        let message = refusal(|c| c.links[0].discipline = discipline);
        assert!(message.starts_with("link \"0-1\": ") && message.contains(problem), "{message}");
    }
}

#[test]
fn rates_sizes_and_times_have_bounds() {
    assert!(refusal(|c| c.links[0].rate_bps = 0).contains("at least 1 bit/s"));
    assert!(refusal(|c| c.links[0].delay = Span::NONE).contains("at most 73 years"));
    assert!(refusal(|c| c.duration = Time::NEVER).contains("finite"));
    assert!(refusal(|c| c.flows[0].read = ReadPolicy::Rate(0)).contains("at least 1 byte/s"));
    let end = Time::from_secs(1);
    for (source, word) in [
        (Traffic::CbrUdp(cbr(65_508, 1, end)), "65507"),
        (Traffic::CbrUdp(cbr(0, 1, end)), "between 1"),
        (Traffic::CbrTcp(cbr(0, 1, end)), "between 1"),
        (Traffic::CbrTcp(cbr(1, 0, end)), "nanosecond"),
        (media(0, [1, 1]), "between 1"),
        (media(65_508, [1, 1]), "65507"),
        (media(1, [0, 1]), "at least 1 bit/s"),
        (media(1, [2, 1]), "at most the maximum"),
        (coap(|c| c.nstart = 0), "at least 1 exchange"),
        (coap(|c| c.token = 9), "at most 8 bytes"),
        (coap(|c| c.requests.sizes = Draw::constant(65_507)), "65507"),
        (coap(|c| c.response = 65_500), "65507"),
        (coap(|c| c.requests.sizes = Draw::constant(0)), "at least 1"),
        (
            Traffic::RequestResponse { request: 1, response: 1, requests: 0, think: Span::ZERO },
            "at least 1",
        ),
    ] {
        let message = refusal(|c| c.flows[0].traffic = source);
        assert!(message.contains(word), "{message}");
    }
}

fn media(packet: u32, rates_bps: [u64; 2]) -> Traffic {
    Traffic::Media(Media { packet, rates_bps, ecn: false, stop: Time::from_secs(1) })
}

/// A CoAP flow with a change.
fn coap(change: impl FnOnce(&mut Coap)) -> Traffic {
    let mut coap = Coap {
        requests: Arrivals {
            gaps: Draw::constant(1_000_000),
            sizes: Draw::constant(1),
            phases: None,
            stop: Time::from_secs(1),
            deadline: None,
            seed: 1,
        },
        response: 1,
        token: 4,
        options: 0,
        confirmable: true,
        nstart: 1,
        max_retransmit: 4,
        timer: Default::default(),
        security: None,
    };
    change(&mut coap);
    Traffic::Coap(coap)
}

/// Error message for a changed radio of three stations, without the radio's name.
fn radio_refusal(change: impl FnOnce(&mut RadioConfig)) -> String {
    let message = refusal(|c| {
        let mut radio = line(Phy::G, 250, &[0, 100, 200]);
        c.nodes = ["ap", "near", "far", "spare"].map(String::from).to_vec();
        radio.hops = Hops::Star { centre: 0 };
        change(&mut radio);
        c.radios.push(radio);
    });
    message.strip_prefix("radio \"air\": ").expect("the radio is named").to_string()
}

#[test]
fn a_radio_needs_existing_stations_one_per_node() {
    assert_eq!(
        radio_refusal(|r| r.stations.clear()),
        "it has no station; a radio needs between 2 and 2000"
    );
    assert!(radio_refusal(|r| r.stations.truncate(1)).starts_with("it has 1 station(s)"));
    assert_eq!(radio_refusal(|r| r.stations[2].node = 7), "node 7 does not exist; there are 4");
    assert_eq!(
        radio_refusal(|r| r.stations[2].node = 1),
        "node \"near\" has two stations; it may have one"
    );
    for queue in [QueueLimit::Packets(0), QueueLimit::Bytes(0)] {
        assert!(radio_refusal(|r| r.stations[1].queue = queue).contains("at least one packet"));
    }
}

#[test]
fn a_station_out_of_range_is_named_with_its_distance() {
    assert_eq!(
        radio_refusal(|r| r.stations[2].position = Position::metres(0, 312)),
        "station \"far\" is out of range of \"ap\": they are 312 m apart, and frames are received \
         up to 250 m"
    );
    let message = radio_refusal(|r| {
        r.path_loss = PathLoss::LogDistance { exponent: 3.0, reference_loss_db: 40.0 };
    });
    // 16 - 40 - 60 dBm at 100 m.
    assert_eq!(
        message,
        "station \"near\" is out of range of \"ap\": they are 100 m apart, frames arrive at -84.0 \
         dBm, and at least -82.0 dBm are needed"
    );
    let message = radio_refusal(|r| {
        r.path_loss = PathLoss::Disc { receive_mm: 2_000_000, sense_mm: 2_000_000 };
        r.stations[1].position = Position::metres(1500, 0);
    });
    assert!(message.contains("1500 m") && message.contains("slot of 9 µs"), "{message}");
    assert!(radio_refusal(|r| r.hops = Hops::Star { centre: 3 }).contains("station 3 does not"));
    assert!(radio_refusal(|r| r.hops = Hops::Pairs(vec![[0, 9]])).contains("station 9 does not"));
    assert!(radio_refusal(|r| r.hops = Hops::Pairs(vec![[1, 1]])).contains("to itself"));
    let far = Position { x_mm: i64::MIN, y_mm: 0 };
    assert!(radio_refusal(|r| r.stations[0].position = far).contains("1000 km"));
}

#[test]
fn an_unknown_rate_is_refused_with_the_rates_of_the_phy() {
    assert_eq!(
        radio_refusal(|r| r.data_rate_bps = 11_000_000),
        "802.11g has no data rate of 11 Mbit/s; its rates are 6, 9, 12, 18, 24, 36, 48, 54 Mbit/s"
    );
    assert!(radio_refusal(|r| r.control_rate_bps = 0).contains("control rate of 0"));
    assert!(radio_refusal(|r| r.broadcast_rate_bps = 1).contains("broadcast rate of 0.000001"));
}

#[test]
fn numbers_of_a_radio_have_bounds() {
    for (change, word) in [
        ((|r| r.retries.short = 0) as fn(&mut RadioConfig), "short retry limit"),
        (|r| r.retries.long = 256, "long retry limit"),
        (|r| r.tx_power_dbm = f64::NAN, "transmit power"),
        (|r| r.sensitivity_dbm = f64::INFINITY, "sensitivity"),
        (|r| r.capture_db = Some(-1.0), "capture"),
        (|r| r.phy.cw_min = 2047, "contention window"),
        (|r| r.phy.cw_max = 1 << 20, "contention window"),
        (|r| r.phy.turnaround = r.phy.slot, "turnaround"),
        (|r| r.phy.sifs = Span::NONE, "at most a second"),
        (|r| r.phy.rates = &[], "no data rate"),
        (|r| r.path_loss = PathLoss::Disc { receive_mm: 2, sense_mm: 1 }, "at least the reception"),
        (
            |r| r.path_loss = PathLoss::LogDistance { exponent: 0.0, reference_loss_db: 1.0 },
            "exponent",
        ),
        (
            |r| r.path_loss = PathLoss::LogDistance { exponent: 3.0, reference_loss_db: -1.0 },
            "loss at 1 m",
        ),
        (|r| r.errors = FrameErrors::Snr, "not a disc"),
        (|r| r.errors = FrameErrors::Model(drops(2.0).unwrap()), "between 0 and 1"),
    ] {
        let message = radio_refusal(change);
        assert!(message.contains(word), "{word}: {message}");
    }
}

#[test]
fn invalid_courses_are_refused() {
    use windlass_sim::course::{Distribution, Jitter, RateCourse};
    let by = Span::from_millis(1_000_000);
    let jitter = Jitter { distribution: Distribution::Uniform, by, overtaking: false };
    assert!(refusal(|c| c.links[0].course[1].jitter = Some(jitter)).contains("larger than"));
    let steps = |steps| Some(RateCourse::Steps(steps));
    let late = steps(vec![(Time::from_secs(1), 1000)]);
    assert!(refusal(|c| c.links[0].course[0].rate = late).contains("ascend from zero"));
    let none = steps(vec![(Time::ZERO, 1000), (Time::from_secs(1), 0)]);
    assert!(refusal(|c| c.links[0].course[0].rate = none).contains("last rate must be at least"));
    let repeat = |rate, seconds| {
        let steps = vec![(Time::ZERO, 0), (Time::from_secs(1), rate)];
        Some(RateCourse::Repeat { steps, period: Span::from_secs(seconds) })
    };
    let (dead, short) = (repeat(0, 2), repeat(1000, 1));
    assert!(refusal(|c| c.links[0].course[0].rate = dead).contains("one of the rates"));
    assert!(
        refusal(|c| c.links[0].course[0].rate = short)
            .contains("longer than the time of the last rate")
    );
}
