//! Radios of links: times of frames to the nanosecond, and energy by hand from the times of states.

use proptest::prelude::*;
use windlass_cc::{Span, Time};
use windlass_sim::config::{Config, FlowConfig, LinkConfig, Traffic};
use windlass_sim::link::QueueLimit;
use windlass_sim::link_radio::{Access, Cellular, ClassA, LinkRadio, Power, Release, presets};
use windlass_sim::{PacketFate, RunResult, StationResult};

use crate::common::{cbr, flow, link, network, rfc, run};

const MS: fn(u64) -> Span = Span::from_millis;
const AT: fn(u64) -> Time = Time::from_millis;
/// Device and network.
const UP: [usize; 2] = [0, 1];
const DOWN: [usize; 2] = [1, 0];
/// A datagram of 97 bytes is 125 bytes of IP packet, which take 10 ms at 100 kbit/s.
const PAYLOAD: u64 = 97;
const FRAME: Span = Span::from_millis(10);
const DELAY: Span = Span::from_millis(50);

/// Timers that are easy to add.
const TIMERS: Cellular = Cellular {
    promotion: Span::from_millis(1_000),
    scheduling_request: Span::from_millis(40),
    inactivity: Span::from_millis(5_000),
    release: Release::Inactivity,
    drx_after: Span::ZERO,
    drx_cycle: Span::ZERO,
    drx_on: Span::ZERO,
    paging_cycle: Span::from_millis(2_560),
    paging_on: Span::from_millis(20),
    edrx_cycle: Span::ZERO,
    edrx_window: Span::ZERO,
    psm_active: Span::from_millis(8_000),
    psm_period: Span::from_millis(60_000),
};

const POWER: Power = Power {
    transmit_uw: 800_000,
    receive_uw: 200_000,
    connect_uw: 500_000,
    listen_uw: 150_000,
    idle_uw: 3_000,
    sleep_uw: 10,
};

fn radio_link(access: Access) -> LinkConfig {
    let radio = LinkRadio {
        device: 0,
        access,
        power: POWER,
        battery_uj: Some(10_000_000),
        off: Vec::new(),
    };
    LinkConfig { radio: Some(Box::new(radio)), ..link([0, 1], 100_000, 50) }
}

/// One datagram of this payload at this time.
fn datagram(ends: [usize; 2], at: Time, payload: u64) -> FlowConfig {
    let cbr = cbr(payload, 1_000_000, at + Span(1));
    FlowConfig { start: at, ..flow(ends, rfc("reno"), Traffic::CbrUdp(cbr)) }
}

/// A run of datagrams over the link: (ends, ms), until this time.
fn result(link: LinkConfig, datagrams: &[([usize; 2], u64)], end: Time) -> RunResult {
    let flows = datagrams.iter().map(|(ends, at)| datagram(*ends, AT(*at), PAYLOAD)).collect();
    let mut config = network(vec![link], flows, end);
    config.record.capture = vec![0];
    run(config)
}

/// Start of each frame in the order of the flows.
fn starts(result: &RunResult) -> Vec<Option<Time>> {
    let sent = |flow: usize| {
        let mut packets = result.packets.iter().filter(|p| p.fate == PacketFate::Sent);
        packets.find(|p| p.flow as usize == flow).map(|p| p.time)
    };
    (0..result.flows.len()).map(sent).collect()
}

fn cellular(timers: Cellular, datagrams: &[([usize; 2], u64)], end_ms: u64) -> RunResult {
    result(radio_link(Access::Cellular(timers)), datagrams, AT(end_ms))
}

fn times(timers: Cellular, datagrams: &[([usize; 2], u64)]) -> Vec<Option<u64>> {
    let starts = starts(&cellular(timers, datagrams, 200_000));
    starts.into_iter().map(|at| at.map(|at| at.0 / 1_000_000)).collect()
}

fn device(result: &RunResult) -> &StationResult {
    &result.radios[0].stations[0]
}

#[test]
fn the_promotion_delays_the_first_message_and_not_the_next_within_the_inactivity_timer() {
    let timers = Cellular { scheduling_request: Span::ZERO, ..TIMERS };
    // The first frame ends at 11.01 s, so the connection ends at 16.01 s.
    let found = times(timers, &[(UP, 10_000), (UP, 16_009), (UP, 21_018), (UP, 26_030)]);
    assert_eq!(found, [Some(11_000), Some(16_009), Some(21_018), Some(27_030)]);
    let result = cellular(timers, &[(UP, 10_000)], 200_000);
    let delivered = result.packets.iter().find(|p| p.fate == PacketFate::Delivered).unwrap();
    assert_eq!(delivered.time, AT(10_000) + timers.promotion + FRAME + DELAY);
}

#[test]
fn a_scheduling_request_delays_a_message_of_a_connection_but_not_the_packets_behind_it() {
    let found = times(TIMERS, &[(UP, 10_000), (UP, 12_000), (UP, 12_045), (UP, 13_000)]);
    assert_eq!(found, [Some(11_000), Some(12_040), Some(12_050), Some(13_040)]);
}

#[test]
fn release_assistance_ends_the_connection_with_the_last_frame() {
    let assisted = Cellular { release: Release::AfterUplink, ..TIMERS };
    // The packet of 11.005 s arrives while the first is on the air, and keeps the connection.
    let found = times(assisted, &[(UP, 10_000), (UP, 11_005), (UP, 12_000)]);
    assert_eq!(found, [Some(11_000), Some(11_010), Some(13_000)]);
    let downlink = Cellular { release: Release::AfterDownlink, ..TIMERS };
    let found = times(downlink, &[(UP, 10_000), (DOWN, 12_000), (UP, 13_000)]);
    assert_eq!(found, [Some(11_000), Some(12_000), Some(14_000)]);
}

#[test]
fn a_downlink_packet_waits_for_the_receiver_in_a_connection() {
    let drx = Cellular { drx_after: MS(100), drx_cycle: MS(320), drx_on: MS(10), ..TIMERS };
    // The frame ends at 11.01 s, the receiver is on until 11.11 s, and then from 11.43 s on.
    for (at, starts) in [(11_050, 11_050), (11_110, 11_110), (11_111, 11_430), (11_435, 11_435)] {
        assert_eq!(times(drx, &[(UP, 10_000), (DOWN, at)])[1], Some(starts), "{at}");
    }
    assert_eq!(times(drx, &[(UP, 10_000), (DOWN, 11_441)])[1], Some(11_750));
    // An uplink packet does not wait for the receiver.
    assert_eq!(times(drx, &[(UP, 10_000), (UP, 11_500)])[1], Some(11_540));
}

#[test]
fn a_downlink_packet_without_a_connection_waits_for_the_next_paging_occasion() {
    // The connection ends at 16.01 s. Occasions follow at 18.57, 21.13 and 23.69 s, sleep at 24.01 s.
    for (at, starts) in [(17_000, 19_570), (18_570, 19_570), (18_571, 22_130), (23_690, 24_690)] {
        assert_eq!(times(TIMERS, &[(UP, 10_000), (DOWN, at)])[1], Some(starts), "{at}");
    }
}

#[test]
fn extended_drx_pages_in_the_window_of_each_cycle_only() {
    let edrx = Cellular {
        psm_period: Span::ZERO,
        edrx_cycle: MS(20_480),
        edrx_window: MS(5_120),
        ..TIMERS
    };
    // A run begins without a connection. Windows begin at 20.48 s and 40.96 s.
    for (at, starts) in
        [(1_000, 21_480), (20_481, 24_040), (23_041, 41_960), (40_961, 44_520), (80_000, 82_920)]
    {
        assert_eq!(times(edrx, &[(DOWN, at)])[0], Some(starts), "{at}");
    }
}

#[test]
fn a_downlink_packet_for_a_sleeping_device_waits_for_its_next_wake() {
    // It sleeps from 24.01 s on and updates at 76.01 s, 60 s after the end of its connection.
    assert_eq!(times(TIMERS, &[(UP, 10_000), (DOWN, 30_000)])[1], Some(77_010));
    // An uplink packet wakes it earlier. The ways take turns.
    let found = times(TIMERS, &[(UP, 10_000), (DOWN, 30_000), (UP, 40_000)]);
    assert_eq!(found[1..], [Some(41_000), Some(41_010)]);
    // Nobody wakes it within the run.
    let result = cellular(TIMERS, &[(DOWN, 1_000)], 59_000);
    assert_eq!((starts(&result)[0], result.links[1].inside), (None, 1));
}

#[test]
fn a_radio_sends_or_receives() {
    let found = times(TIMERS, &[(UP, 10_000), (DOWN, 11_005)]);
    assert_eq!(found, [Some(11_000), Some(11_010)]);
}

#[test]
fn the_queue_has_its_limit_while_the_device_connects() {
    let mut link = radio_link(Access::Cellular(TIMERS));
    link.queue = QueueLimit::Packets(2);
    let result =
        result(link, &[(UP, 10_000), (UP, 10_001), (UP, 10_002), (UP, 10_003)], AT(30_000));
    assert_eq!((result.links[0].delivered, result.links[0].drops_queue), (2, 2));
    assert_eq!(result.links[0].max_queue_packets, 2);
}

/// Energy of a run with one uplink and one downlink datagram, by hand.
#[test]
fn the_energy_is_the_sum_of_states_times_powers_to_the_nanojoule() {
    let drx = Cellular { drx_after: MS(100), drx_cycle: MS(320), drx_on: MS(10), ..TIMERS };
    let result = cellular(drx, &[(UP, 10_000), (DOWN, 12_000)], 100_000);
    assert_eq!(starts(&result), [Some(AT(11_000)), Some(AT(12_070))]);
    // Connected from 11 s to 17.08 s, 5 s after the downlink frame of 12.07 s to 12.08 s.
    // After each frame, 100 ms of listening and then 10 ms at each multiple of 320 ms: 11.43 and
    // 11.75 s, and 12.5 to 16.98 s (15 times).
    let (transmit, receive, connect) = (10, 10, 1_000 + 1_000);
    let connected = 100 + 2 * 10 + 100 + 15 * 10;
    let between = 6_080 - transmit - receive - connected;
    // Idle until 25.08 s with occasions at 19.64, 22.2 and 24.76 s. It updates at 77.08 s, is idle
    // again from 78.08 s to 86.08 s with three occasions, and sleeps to the end.
    let paged = 3 * 20 + 3 * 20;
    let idle = between + 2 * 8_000 - paged;
    let sleep = 10_000 + (77_080 - 25_080) + (100_000 - 86_080);
    let listen = connected + paged;
    let d = device(&result);
    let s = |ms: i64| ms as f64 / 1e3;
    assert_eq!((d.transmit_s, d.receive_s, d.connect_s), (s(transmit), s(receive), s(connect)));
    assert_eq!((d.listen_s, d.idle_s, d.sleep_s), (s(listen + connect), s(idle), s(sleep)));
    assert_eq!(d.connections, 2);
    let nj = 800_000 * transmit
        + 200_000 * receive
        + 500_000 * connect
        + 150_000 * listen
        + 3_000 * idle
        + 10 * sleep;
    let spent = d.energy_j.unwrap();
    assert!((spent - nj as f64 / 1e9).abs() < 1e-10, "{spent} {nj}");
    assert!((d.battery_left_j.unwrap() - (10.0 - spent)).abs() < 1e-10);
    // Without packets: asleep for 60 s, an update, 8 s with three occasions, and asleep again.
    let nj = 10 * (60_000 + 31_000) + 500_000 * 1_000 + 150_000 * 60 + 3_000 * 7_940;
    assert!((d.rest_j.unwrap() - nj as f64 / 1e9).abs() < 1e-10, "{:?} {nj}", d.rest_j);
    let radio = result.flows[0].radio.unwrap();
    assert_eq!((radio.sender_j, radio.sender_s), (d.energy_j, 0.02));
    assert_eq!((radio.receiver_j, result.flows[1].radio.unwrap().receiver_j), (None, d.energy_j));
}

#[test]
fn presets_cost_their_states_times_powers() {
    for name in presets::CELLULAR {
        let preset = presets::by_name(name).unwrap();
        let Access::Cellular(timers) = preset.radio.access else { panic!("{name}") };
        let (power, rate) = (preset.radio.power, preset.rates_bps[0]);
        let assisted = Cellular { release: Release::AfterUplink, ..timers };
        let radio = LinkRadio { access: Access::Cellular(assisted), ..preset.radio };
        let link = LinkConfig { radio: Some(Box::new(radio)), ..link([0, 1], rate, 50) };
        let end = Time::from_secs(3_600);
        let result = result(link, &[(UP, 10_000)], end);
        let frame = (8 * 125 * 1_000_000_000_u64).div_ceil(rate);
        let sleep = end.0 - timers.promotion.0 - frame;
        let fj = u128::from(power.connect_uw) * u128::from(timers.promotion.0)
            + u128::from(power.transmit_uw) * u128::from(frame)
            + u128::from(power.sleep_uw) * u128::from(sleep);
        let spent = device(&result).energy_j.unwrap();
        assert!((spent - fj as f64 / 1e15).abs() < 1e-9, "{name}: {spent} {fj}");
    }
}

/// A class A device without header compression, so that a datagram of 10 bytes has 51 bytes.
fn class_a() -> ClassA {
    let Access::ClassA(class_a) = presets::by_name("lorawan-sf7").unwrap().radio.access else {
        panic!("another kind")
    };
    ClassA { compressed: 0, ..class_a }
}

fn lora(config: ClassA, datagrams: &[([usize; 2], u64)], end_ms: u64) -> RunResult {
    let flows = datagrams.iter().map(|(ends, at)| datagram(*ends, AT(*at), 10)).collect();
    let mut config = network(vec![radio_link(Access::ClassA(config))], flows, AT(end_ms));
    config.record.capture = vec![0];
    run(config)
}

/// Airtime of 38 bytes and LoRaWAN's 13 bytes with SF7.
const AIR: Span = Span(102_656_000);
/// Airtime of this frame with SF12.
const AIR_12: Span = Span(2_465_792_000);

#[test]
fn the_duty_cycle_delays_the_next_uplink_frame_by_the_exact_time() {
    let result = lora(class_a(), &[(UP, 1_000), (UP, 2_000), (UP, 30_000)], 100_000);
    // A frame of T allows the next one T / 1 % after its start.
    let second = AT(1_000) + Span(100 * AIR.0);
    assert_eq!(second, Time(11_265_600_000));
    assert_eq!(starts(&result), [Some(AT(1_000)), Some(second), Some(AT(30_000))]);
    let arrival = result.packets.iter().find(|p| p.fate == PacketFate::Delivered).unwrap();
    assert_eq!(arrival.time, AT(1_000) + AIR + DELAY);
    // Header compression shortens the frame.
    assert_eq!(ClassA { compressed: 28, ..class_a() }.airtime(38), Span(61_696_000));
}

#[test]
fn a_device_without_duty_cycle_still_waits_for_its_receive_windows() {
    let free = ClassA { duty_cycle: 1_000_000, ..class_a() };
    let result = lora(free, &[(UP, 1_000), (UP, 1_001)], 100_000);
    // The second window begins 2 s after the frame, and lasts 8 symbols of SF12.
    let closed = AT(1_000) + AIR + Span::from_secs(2) + Span(8 * 32_768_000);
    assert_eq!(starts(&result)[1], Some(closed));
}

#[test]
fn a_downlink_packet_is_sent_in_a_receive_window_only() {
    let sent = AT(10_000) + AIR;
    let [first, second] = [1, 2].map(|s| sent + Span::from_secs(s));
    for (at, window) in [(1_000, first), (11_102, first), (11_103, second), (12_102, second)] {
        let result = lora(class_a(), &[(UP, 10_000), (DOWN, at)], 100_000);
        assert_eq!(starts(&result)[1], Some(window), "{at}");
        let air = if window == first { AIR } else { AIR_12 };
        let arrived = result.packets.iter().filter(|p| p.fate == PacketFate::Delivered);
        assert_eq!(arrived.map(|p| p.time).max(), Some(window + air + DELAY), "{at}");
    }
    // Too late for both windows, and no further uplink frame.
    let result = lora(class_a(), &[(UP, 10_000), (DOWN, 12_103)], 100_000);
    assert_eq!((starts(&result)[1], result.links[1].inside), (None, 1));
    // One downlink frame per uplink frame. The gateway has a duty cycle too.
    let result =
        lora(class_a(), &[(UP, 10_000), (DOWN, 9_000), (DOWN, 9_001), (UP, 20_500)], 60_000);
    let next = AT(20_500) + AIR + Span::from_secs(1);
    assert_eq!(starts(&result)[1..3], [Some(first), Some(next)]);
}

#[test]
fn the_energy_of_a_class_a_device_has_its_frames_and_its_windows() {
    let result = lora(class_a(), &[(UP, 10_000)], 100_000);
    let d = device(&result);
    let windows = 8 * (1_024_000 + 32_768_000);
    assert_eq!((d.transmit_s, d.receive_s), (AIR.0 as f64 / 1e9, 0.0));
    assert_eq!((d.listen_s, d.connect_s, d.connections), (windows as f64 / 1e9, 0.0, 0));
    let sleep = 100_000_000_000 - AIR.0 - windows;
    let fj = 800_000 * AIR.0 + 150_000 * windows + 10 * sleep;
    assert!((d.energy_j.unwrap() - fj as f64 / 1e15).abs() < 1e-10);
    // A frame in the first window replaces both windows.
    let result = lora(class_a(), &[(UP, 10_000), (DOWN, 1_000)], 100_000);
    assert_eq!((device(&result).receive_s, device(&result).listen_s), (AIR.0 as f64 / 1e9, 0.0));
}

#[test]
fn a_radio_without_states_changes_no_arrival() {
    // Without delays, a radio that is always connected is a half-duplex link.
    let plain = Cellular { promotion: Span::ZERO, scheduling_request: Span::ZERO, ..TIMERS };
    let ups: Vec<_> = (0..50).map(|i| (UP, 10_000 + 3 * i)).collect();
    let with = result(radio_link(Access::Cellular(plain)), &ups, AT(60_000));
    let without = result(link([0, 1], 100_000, 50), &ups, AT(60_000));
    // Events at the same time may have another order.
    let events = |result: &RunResult| {
        let key = |p: &windlass_sim::PacketEvent| (p.time, p.flow, p.fate == PacketFate::Sent);
        let mut events: Vec<_> = result.packets.iter().map(key).collect();
        events.sort_unstable();
        events
    };
    assert_eq!((events(&with).len(), events(&with)), (100, events(&without)));
    assert_eq!((&with.links[0], without.radios.len()), (&without.links[0], 0));
}

#[test]
fn invalid_radios_are_refused_with_their_key() {
    let a = class_a();
    let access = [
        Access::Cellular(Cellular { inactivity: Span::ZERO, ..TIMERS }),
        Access::Cellular(Cellular { drx_cycle: MS(320), drx_on: MS(321), ..TIMERS }),
        Access::Cellular(Cellular { drx_cycle: MS(5_001), ..TIMERS }),
        Access::Cellular(Cellular { paging_cycle: Span::ZERO, ..TIMERS }),
        Access::Cellular(Cellular { paging_on: MS(2_561), ..TIMERS }),
        Access::Cellular(Cellular { edrx_cycle: MS(20_480), edrx_window: MS(1), ..TIMERS }),
        Access::Cellular(Cellular { edrx_cycle: MS(60_001), edrx_window: MS(2_560), ..TIMERS }),
        Access::Cellular(Cellular { psm_active: MS(60_000), ..TIMERS }),
        Access::ClassA(ClassA { spreading_factor: 6, ..a }),
        Access::ClassA(ClassA { duty_cycle: 0, ..a }),
        Access::ClassA(ClassA { rx2_delay: MS(1_008), ..a }),
    ];
    let keys = [
        "inactivity",
        "drx_on",
        "drx_cycle",
        "paging_cycle",
        "paging_on",
        "edrx_window",
        "edrx_cycle",
        "psm_active",
        "spreading_factor",
        "duty_cycle",
        "rx2_delay",
    ];
    for (access, key) in access.into_iter().zip(keys) {
        let config = network(vec![radio_link(access)], Vec::new(), AT(1_000));
        let error = windlass_sim::Simulation::new(config).unwrap_err().to_string();
        assert!(error.contains(&format!("radio.{key}: ")), "{key}: {error}");
    }
}

fn timers() -> impl Strategy<Value = Access> {
    let ms = |most: u64| (0..=most).prop_map(MS);
    let release = prop::sample::select(Release::ALL.map(|(_, release)| release).to_vec());
    let delays = (ms(2_000), ms(100), ms(3_000), release);
    let cellular = (delays, ms(500), ms(300), prop::bool::ANY, prop::bool::ANY).prop_map(
        |((promotion, request, inactivity, release), drx_after, active, edrx, psm)| {
            let inactivity = inactivity + MS(1_000);
            Access::Cellular(Cellular {
                promotion,
                scheduling_request: request,
                inactivity,
                release,
                drx_after,
                drx_cycle: if edrx { MS(320) } else { Span::ZERO },
                drx_on: MS(10),
                edrx_cycle: if edrx { MS(10_240) } else { Span::ZERO },
                edrx_window: if edrx { MS(2_560) } else { Span::ZERO },
                // The active time has a paging window.
                psm_active: Span(10 * active.0).max(if edrx { MS(10_240) } else { Span::ZERO }),
                psm_period: if psm { MS(20_000) } else { Span::ZERO },
                ..TIMERS
            })
        },
    );
    let lora = (7..=12u32, 1_000..=1_000_000u32).prop_map(|(spreading_factor, duty_cycle)| {
        Access::ClassA(ClassA { spreading_factor, duty_cycle, ..class_a() })
    });
    prop_oneof![3 => cellular, 1 => lora]
}

fn mixed(radio: Access, device: usize, queue: u64, loss: f64) -> Config {
    let mut link = radio_link(radio);
    link.queue = QueueLimit::Packets(queue);
    link.loss = [Some(windlass_sim::loss::LossModel::Drop { probability: loss }), None].into();
    if let Some(radio) = &mut link.radio {
        radio.device = device;
    }
    let bulk = Traffic::Bulk { bytes: Some(20_000) };
    let datagrams = Traffic::CbrUdp(cbr(100, 700_000, AT(90_000)));
    let wire = crate::common::link([1, 2], 1_000_000, 5);
    let flows = vec![flow([2, 0], rfc("cubic"), bulk), flow([0, 2], rfc("reno"), datagrams)];
    network(vec![link, wire], flows, AT(100_000))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// The run checks that every packet is accounted for, and every nanosecond is in one state.
    #[test]
    fn packets_and_time_are_conserved(
        access in timers(), end in 0..2usize, queue in 0..20u64, loss in 0.0..0.3f64,
    ) {
        let first = run(mixed(access.clone(), end, queue, loss));
        prop_assert_eq!(&first, &run(mixed(access, end, queue, loss)));
        let d = device(&first);
        let sum = d.transmit_s + d.receive_s + d.listen_s + d.idle_s + d.sleep_s;
        prop_assert!((sum - 100.0).abs() < 1e-6, "{}", sum);
    }
}

/// A cellular link whose device has no power from 20 s to 30 s.
fn cut() -> LinkConfig {
    let mut link = radio_link(Access::Cellular(TIMERS));
    link.radio.as_mut().unwrap().off = vec![[AT(20_000), AT(30_000)]];
    link
}

#[test]
fn a_power_cut_ends_the_connection_and_the_device_registers_afterwards() {
    // The frame of 19 s begins its connection at 20 s, when the power goes.
    let datagrams = [(UP, 10_000), (UP, 19_000), (DOWN, 25_000), (UP, 32_000)];
    let found = result(cut(), &datagrams, AT(60_000));
    let starts: Vec<_> =
        starts(&found).into_iter().map(|at| at.map(|at| at.0 / 1_000_000)).collect();
    // Registration lasts for the promotion delay, and its connection serves the waiting packet.
    assert_eq!(starts, [Some(11_000), None, Some(31_000), Some(32_040)]);
    let station = device(&found);
    assert_eq!((station.off_s, station.connections, station.drops_queue), (10.0, 3, 1));
    let states =
        [station.transmit_s, station.receive_s, station.listen_s, station.idle_s, station.sleep_s];
    assert!((states.iter().sum::<f64>() - 50.0).abs() < 1e-9, "{states:?}");
}

#[test]
fn a_device_without_power_spends_no_energy() {
    let lasting = |from_ms| {
        let mut link = radio_link(Access::Cellular(TIMERS));
        link.radio.as_mut().unwrap().off = vec![[AT(from_ms), AT(90_000)]];
        let found = result(link, &[(UP, 1_000)], AT(50_000));
        (device(&found).energy_j, device(&found).off_s)
    };
    let ((early, off), (late, off_late)) = (lasting(30_000), lasting(40_000));
    assert_eq!((off, off_late), (20.0, 10.0));
    // The device sleeps from 15.01 s on, so ten seconds more cost ten times 10 uW.
    assert!((late.unwrap() - early.unwrap() - 100e-6).abs() < 1e-12);
}

#[test]
fn a_power_cut_of_a_class_a_device_loses_its_queue_and_keeps_its_duty_cycle() {
    let mut link = radio_link(Access::ClassA(class_a()));
    let usual = result(link.clone(), &[(UP, 1_000), (UP, 1_001)], AT(400_000));
    let second = starts(&usual)[1].expect("the duty cycle allows it");
    link.radio.as_mut().unwrap().off = vec![[AT(3_000), AT(4_000)]];
    let found = result(link, &[(UP, 1_000), (UP, 1_001), (UP, 5_000)], AT(400_000));
    assert_eq!(starts(&found)[1..], [None, Some(second)]);
}
