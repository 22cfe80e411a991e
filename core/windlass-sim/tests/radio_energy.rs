//! States and energy of a radio, and the end of its battery, to the nanosecond. The expected values are
//! calculated by hand.

use crate::common::radio::{Driver, line, over, us};
use crate::common::{cbr, run};
use windlass_cc::{Span, Time};
use windlass_sim::radio::energy::State;
use windlass_sim::radio::{Consumption, Outcome, Phy, RadioConfig};

const START: Time = Time::from_secs(1);
const END: Time = Time::from_secs(2);
/// 30 m at the speed of light.
const AIR: Span = Span(100);
/// 1500 bytes and 36 of framing at 11 Mbit/s after a long preamble, and its acknowledgement.
const DATA: Span = Span(1_310_000);
const ACK: Span = Span(248_000);

/// Stations 30 m apart on a line, all in range of each other, with WaveLAN cards.
fn cards(n: i64) -> RadioConfig {
    let places: Vec<i64> = (0..n).map(|i| 30 * i).collect();
    let mut radio = line(Phy::B_LONG, 250, &places);
    radio.consumption = Some(Consumption::WAVELAN_11);
    radio
}

/// Nanoseconds in each state: transmit, receive, listen, idle, off.
fn times(d: &Driver, station: usize, now: Time) -> [u64; 5] {
    let meter = &d.radio.stations()[station].meter;
    [State::Transmit, State::Receive, State::Listen, State::Idle, State::Off]
        .map(|state| meter.time_ns_by(state, now))
}

#[test]
fn the_time_and_energy_of_an_exchange_follow_its_frames() {
    let mut d = Driver::new(&cards(3), 1);
    d.send(START, 0, 1, 1500);
    d.run_until(END);
    let busy = DATA.0 + ACK.0;
    let idle = END.0 - busy;
    assert_eq!(times(&d, 0, END), [DATA.0, ACK.0, 0, idle, 0]);
    assert_eq!(times(&d, 1, END), [ACK.0, DATA.0, 0, idle, 0]);
    assert_eq!(times(&d, 2, END), [0, 0, busy, idle, 0]);
    // 284, 190 and 156 mA at 4.74 V.
    let joules = |tx: u64, rx: u64| {
        4.74e-3 * (284.0 * tx as f64 + 190.0 * rx as f64 + 156.0 * idle as f64) / 1e9
    };
    for (station, expected) in
        [joules(DATA.0, ACK.0), joules(ACK.0, DATA.0), joules(0, busy)].into_iter().enumerate()
    {
        let spent = d.radio.stations()[station].meter.spent_j_by(END).unwrap();
        assert!((spent - expected).abs() < 1e-12, "{station}: {spent} {expected}");
    }
}

#[test]
fn a_broadcast_is_received_by_all_and_a_collision_is_listened_to_by_third_parties() {
    let mut d = Driver::new(&cards(3), 1);
    d.broadcast(START, 0, 1500);
    d.run_until(END);
    let [_, receive, listen, ..] = times(&d, 2, END);
    assert!(receive > DATA.0 && listen == 0, "{receive} {listen}"); // takes longer, at 1 Mbit/s
    let mut d = Driver::new(&cards(3), 1);
    d.send(START, 0, 1, 1500);
    d.send(START, 1, 0, 1500);
    d.run_until(START + us(1000));
    let [_, receive, listen, ..] = times(&d, 2, START + us(1000));
    assert_eq!((receive, listen), (0, us(1000).0 - AIR.0));
}

#[test]
fn an_idle_station_is_off_exactly_when_its_battery_is_empty() {
    let mut radio = cards(2);
    radio.stations[0].battery_uj = Some(1_000_000);
    let mut d = Driver::new(&radio, 1);
    d.run_until(END);
    let station = &d.radio.stations()[0];
    // One joule at 739.44 mW.
    let dies = Time(1_000_000_000_000_000_u64.div_ceil(739_440));
    assert_eq!(station.off_since, Some(dies));
    assert_eq!(times(&d, 0, END), [0, 0, 0, dies.0, END.0 - dies.0]);
    assert_eq!(station.meter.left_j_by(END), Some(0.0));
    assert!((station.meter.spent_j_by(END).unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(times(&d, 1, END), [0, 0, 0, END.0, 0]);
}

/// A battery that becomes empty in the middle of a frame.
#[test]
fn a_frame_cut_by_an_empty_battery_is_not_received() {
    let mut radio = cards(3);
    let c = Consumption::WAVELAN_11;
    let fj = u128::from(c.idle_uw) * u128::from(START.0)
        + u128::from(c.transmit_uw) * u128::from(DATA.0 / 2);
    radio.stations[0].battery_uj = Some((fj / 1_000_000_000) as u64);
    let mut d = Driver::new(&radio, 1);
    let (first, second) = (d.send(START, 0, 1, 1500), d.send(START, 0, 1, 1500));
    d.run_until(END);
    let off = d.radio.stations()[0].off_since.expect("dead");
    assert!(off > START && off < START + DATA, "{off:?}");
    assert!(d.delivered(first).is_empty() && d.delivered(second).is_empty());
    let lost = d.log.iter().filter(|(at, o)| *at == off && matches!(o, Outcome::Lost { .. }));
    assert_eq!(lost.count(), 2);
    let [transmit, receive, listen, idle, dead] = times(&d, 0, END);
    assert_eq!((transmit, receive, listen), (off.0 - START.0, 0, 0));
    assert_eq!((idle, dead), (START.0, END.0 - off.0));
    let s = &d.radio.stations()[0];
    assert_eq!(s.counters.airtime_ns, transmit);
    assert!(s.conserves_packets() && s.counters.drops_off == 2);
    // The station accepts no more packets and sends no answers.
    assert_eq!(d.try_send(END, 0, 1, 1500), None);
    let to_the_dead = d.send(END, 2, 0, 1500);
    d.finish();
    assert!(d.delivered(to_the_dead).is_empty());
    let sender = &d.radio.stations()[2].counters;
    assert_eq!((sender.transmissions, sender.drops_retry), (7, 1));
    assert_eq!(d.radio.stations()[0].counters.offered, 3);
}

#[test]
fn a_station_switched_off_is_silent_and_the_others_continue() {
    let mut d = Driver::new(&cards(3), 1);
    d.send(START, 0, 1, 1500);
    d.run_until(START + us(500));
    d.radio.switch_off(1, START + us(500)); // during a reception
    d.run_until(END);
    let id = d.send(END, 0, 2, 1500);
    d.finish();
    assert_eq!(d.delivered(id).len(), 1);
    assert_eq!(d.radio.stations()[0].counters.drops_retry, 1);
    assert_eq!(times(&d, 1, END)[1], us(500).0 - AIR.0);
}

#[test]
fn a_station_switched_off_keeps_its_charge() {
    let mut radio = cards(2);
    radio.stations[0].battery_uj = Some(10_000_000);
    radio.off = vec![(0, START)];
    let mut d = Driver::new(&radio, 1);
    d.finish();
    let station = &d.radio.stations()[0];
    assert_eq!(station.off_since, Some(START));
    // One second at 739.44 mW.
    let left = station.meter.left_j_by(END).expect("a battery");
    assert!((left - (10.0 - 0.73944)).abs() < 1e-9, "{left}");
}

/// A small device that sends a packet of 1000 bytes every 10 ms.
#[test]
fn results_have_energy_time_of_death_and_radio_use_of_flows() {
    let mut radio = cards(2);
    radio.consumption = Some(Consumption::ESP32_C3);
    radio.stations[0].battery_uj = Some(500_000);
    let packets = cbr(972, 10_000, END);
    let r = run(over(radio, &[([0, 1], packets)], END));
    let [sender, receiver] = [&r.radios[0].stations[0], &r.radios[0].stations[1]];
    let died = sender.died_s.expect("half a joule lasts 1.8 s at 277 mW, less as it transmits");
    assert!((sender.energy_j.unwrap() - 0.5).abs() < 1e-9 && sender.battery_left_j == Some(0.0));
    assert!((sender.transmit_s + sender.receive_s + sender.idle_s - died).abs() < 1e-9);
    assert_eq!((receiver.died_s, receiver.off_s, receiver.battery_left_j), (None, 0.0, None));
    let used = r.flows[0].radio.unwrap();
    assert_eq!(used.sender_j, sender.energy_j);
    assert_eq!(used.receiver_j, receiver.energy_j);
    assert_eq!(used.sender_s, sender.transmit_s + sender.receive_s);
}

#[test]
fn batteries_need_a_consumption_and_energy() {
    let nodes = ["a".to_string(), "b".to_string()];
    let mut radio = cards(2);
    radio.stations[1].battery_uj = Some(0);
    let error = radio.check(&nodes).unwrap_err();
    assert!(error.contains("battery of station \"b\" must hold between 1 uJ"), "{error}");
    radio.stations[1].battery_uj = Some(1);
    radio.consumption = None;
    let error = radio.check(&nodes).unwrap_err();
    assert!(error.contains("the power that its radio draws is not known"), "{error}");
}
