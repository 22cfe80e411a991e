//! Handshakes of DTLS 1.3 before CoAP requests, compared with closed forms.

use windlass_cc::Time;
use windlass_sim::RunResult;
use windlass_sim::config::{Coap, Config, Traffic};
use windlass_sim::dtls::Dtls;
use windlass_sim::results::{CoapResult, PacketFate};

use crate::coap::coap;
use crate::common::{drops, flow, link, listed, network, rfc, run};

const FLIGHTS: [u32; 3] = [185, 454, 255];
const RECORD: u32 = 12;

fn dtls(early: bool, each: bool) -> Dtls {
    Dtls { flights: FLIGHTS, record: RECORD, early, each }
}

/// Two requests of 100 bytes, due after 20 and 40 s, with responses of 50 bytes: 1 Mbit/s, 20 ms each way.
fn over(security: Dtls) -> Config {
    let coap = Coap { security: Some(security), ..coap(20, 41) };
    let flows = vec![flow([0, 1], rfc("reno"), Traffic::Coap(coap))];
    let mut config = network(vec![link([0, 1], 1_000_000, 20)], flows, Time::from_secs(200));
    config.record.capture = vec![0];
    config
}

fn only(result: &RunResult) -> CoapResult {
    *result.flows[0].coap.as_deref().expect("a flow of CoAP")
}

/// Sizes of the packets that the client sent, bytes, with their times, seconds.
fn sent(result: &RunResult) -> Vec<(f64, u32)> {
    let sent = result.packets.iter().filter(|p| p.fate == PacketFate::Sent && p.forward);
    sent.map(|p| (p.time.0 as f64 / 1e9, p.ip_len)).collect()
}

/// Propagation and transmission of a packet of this size, milliseconds.
fn way(ip_bytes: u32) -> f64 {
    20.0 + f64::from(8 * ip_bytes) / 1e3
}

fn near(ours: f64, expected: f64) {
    assert!((ours - expected).abs() < 1e-6, "{ours} is not {expected}");
}

const REQUEST: u32 = 145 + RECORD;
const RESPONSE: u32 = 87 + RECORD;

#[test]
fn the_first_request_waits_for_two_flights_and_the_second_for_none() {
    let result = run(over(dtls(false, false)));
    let coap = only(&result);
    assert_eq!((coap.begun, coap.completed, coap.handshakes, coap.handshake_bytes), (2, 2, 1, 440));
    let sizes: Vec<u32> = sent(&result).into_iter().map(|(_, size)| size).collect();
    assert_eq!(sizes, [185 + 28, 255 + 28, REQUEST, REQUEST]);
    let exchange = way(REQUEST) + way(RESPONSE);
    near(coap.p50_ms.unwrap(), exchange);
    // The request follows the third flight on the link.
    let third = f64::from(8 * (255 + 28)) / 1e3;
    near(coap.max_ms.unwrap(), way(185 + 28) + way(454 + 28) + third + exchange);
    let flow = &result.flows[0];
    assert_eq!((flow.packets_sent, flow.data_segments, flow.delivered_bytes), (4, 2, 200));
    // The second flight, the acknowledgement of the third flight, and two responses.
    assert_eq!(flow.peer_packets_sent, 4);
}

#[test]
fn a_handshake_for_each_request_repeats_its_bytes_and_early_data_save_the_wait() {
    let each = only(&run(over(dtls(false, true))));
    assert_eq!((each.completed, each.handshakes, each.handshake_bytes), (2, 2, 880));
    near(each.p50_ms.unwrap(), each.max_ms.unwrap());
    let early = only(&run(over(dtls(true, true))));
    let first = f64::from(8 * (185 + 28)) / 1e3;
    // The second flight precedes the response on the way back.
    let second = f64::from(8 * (454 + 28)) / 1e3;
    let request = f64::from(8 * REQUEST) / 1e3;
    let behind = (second - request).max(0.0);
    near(early.max_ms.unwrap(), first + way(REQUEST) + behind + way(RESPONSE));
    assert_eq!((early.completed, early.given_up), (2, 0));
}

#[test]
fn a_lost_flight_is_repeated_by_the_clients_timer_after_1_2_and_4_s() {
    let mut config = over(dtls(false, false));
    config.links[0].loss[0] = listed(&[1, 2, 3]);
    let result = run(config);
    let times: Vec<f64> = sent(&result).into_iter().take(4).map(|(time, _)| time).collect();
    for (time, expected) in times.into_iter().zip([20.0, 21.0, 23.0, 27.0]) {
        near(time, expected);
    }
    assert_eq!((only(&result).completed, only(&result).handshakes), (2, 1));
}

/// Without the third flight the server has no keys: it drops the request, whose timer repeats it.
#[test]
fn a_request_before_its_keys_is_dropped_and_repeated() {
    let mut config = over(dtls(false, false));
    config.links[0].loss[0] = listed(&[2]);
    let result = run(config);
    let sizes: Vec<u32> = sent(&result).into_iter().map(|(_, size)| size).collect();
    assert_eq!(sizes, [213, 283, REQUEST, 283, REQUEST, REQUEST]);
    let coap = only(&result);
    assert_eq!((coap.completed, coap.duplicates, result.flows[0].retransmits), (2, 0, 1));
}

#[test]
fn with_losses_every_request_ends_and_a_dead_server_stops_nothing() {
    for (early, each) in [(false, false), (false, true), (true, true)] {
        let mut config = over(dtls(early, each));
        config.links[0].loss = [drops(0.3), drops(0.3)].into();
        config.duration = Time::from_secs(2_000);
        let coap = only(&run(config));
        assert_eq!(coap.completed + coap.given_up, 2, "{early} {each}");
    }
    let mut config = over(dtls(false, false));
    config.links[0].loss[0] = drops(1.0);
    let result = run(config);
    // 1, 2, 4 … 32 s; a minute after the last flight the handshake and its request are given up. The second
    // request, due at 40 s, begins the next handshake.
    let times: Vec<f64> = sent(&result).into_iter().map(|(time, _)| time).collect();
    let once = [0.0, 1.0, 3.0, 7.0, 15.0, 31.0, 63.0];
    let expected = [20.0, 143.0].iter().flat_map(|from| once.iter().map(move |after| from + after));
    assert!(times.len() > 7);
    times.into_iter().zip(expected).for_each(|(time, expected)| near(time, expected));
    let coap = only(&result);
    assert_eq!((coap.begun, coap.given_up, result.flows[0].data_segments), (1, 1, 0));
}

/// Its third flight is repeated until the server acknowledges it.
#[test]
fn a_request_without_a_response_completes_its_handshake() {
    for early in [false, true] {
        let mut config = over(dtls(early, true));
        let Traffic::Coap(coap) = &mut config.flows[0].traffic else { panic!("CoAP") };
        coap.confirmable = false;
        config.links[0].loss[0] = listed(&[2]);
        let result = run(config);
        let sizes: Vec<u32> = sent(&result).into_iter().map(|(_, size)| size).collect();
        let (first, third) = (185 + 28, 255 + 28);
        let expected = match early {
            false => [first, third, REQUEST, third, first, third, REQUEST],
            true => [first, REQUEST, third, first, REQUEST, third, 0],
        };
        assert_eq!(sizes, expected.into_iter().filter(|size| *size > 0).collect::<Vec<_>>());
    }
}
