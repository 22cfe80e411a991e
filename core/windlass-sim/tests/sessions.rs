//! Successive connections: dialogues, waits between attempts, power cuts, and the accounts of
//! messages and bytes.

use std::sync::Arc;

use proptest::prelude::*;
use windlass_cc::{Span, Time};
use windlass_sim::arrivals::{Arrivals, Draw, Law};
use windlass_sim::config::{Config, Record};
use windlass_sim::results::ConnectionsResult;
use windlass_sim::session::{
    Connect, Dialogue, Exchanges, Reconnect, Sessions, Side, Spread, Step, What,
};
use windlass_sim::{FlowResult, PacketEvent, PacketFate, RunResult};
use windlass_tcp::segment::Flags;

use crate::common::{Traffic, drops, flow, link, network, rfc, run};

const SECOND: u64 = 1_000_000_000;

fn step(by: Side, bytes: u64) -> Step {
    Step { by, bytes, message: false, record: 0, think: Span::ZERO }
}

fn message() -> Dialogue {
    Dialogue::new(vec![Step { message: true, ..step(Side::Opener, 0) }])
}

/// A full handshake of TLS 1.3, whose ticket the client does not await.
fn tls() -> Dialogue {
    use Side::{Listener, Opener};
    let steps =
        vec![step(Opener, 517), step(Listener, 1226), step(Opener, 80), step(Listener, 255)];
    Dialogue { steps, release: 3 }
}

fn waits(jitter: Spread) -> Reconnect {
    Reconnect {
        after: Span::from_secs(1),
        most: Span::from_secs(8),
        backoff: 2_000,
        jitter,
        reset: Span::ZERO,
        attempts: u32::MAX,
        timeout: Some(Span::from_secs(2)),
        spread: Span::ZERO,
        queue: 1_000,
        resend: true,
        stored: false,
    }
}

/// Messages of `bytes` each `every_s` seconds, with a deadline of ten seconds, until `stop_s`.
fn arrivals(every_s: u64, bytes: u64, stop_s: u64) -> Arrivals {
    Arrivals {
        gaps: Draw::constant(every_s * SECOND),
        sizes: Draw::constant(bytes),
        phases: None,
        stop: Time::from_secs(stop_s),
        deadline: Some(Span::from_secs(10)),
        seed: 1,
    }
}

fn plan(connect: Connect) -> Sessions {
    Sessions {
        exchanges: Exchanges::Messages(arrivals(30, 400, 1_000)),
        connect,
        opening: Vec::new(),
        exchange: message(),
        reconnect: None,
        cuts: [Vec::new(), Vec::new()],
    }
}

/// One flow from node 0 to node 1, 50 ms apart at 1 Gbit/s.
fn config(plan: Sessions, seconds: u64) -> Config {
    let flow = flow([0, 1], rfc("newreno"), Traffic::Sessions(Arc::new(plan)));
    let config =
        network(vec![link([0, 1], 1_000_000_000, 50)], vec![flow], Time::from_secs(seconds));
    Config { record: Record { capture: vec![0], ..Record::default() }, ..config }
}

fn only(result: &RunResult) -> (&FlowResult, &ConnectionsResult) {
    let flow = &result.flows[0];
    (flow, flow.connections.as_deref().expect("a flow with successive connections"))
}

fn sent(result: &RunResult, flag: Flags) -> Vec<&PacketEvent> {
    let is = |p: &&PacketEvent| {
        p.fate == PacketFate::Sent && p.segment.is_some_and(|s| s.flags.has(flag))
    };
    result.packets.iter().filter(is).collect()
}

/// Times of the first SYN of each connection, seconds.
fn attempts(result: &RunResult) -> Vec<f64> {
    let mut seen = Vec::new();
    let mut times = Vec::new();
    for packet in sent(result, Flags::SYN).into_iter().filter(|p| p.forward) {
        let port = packet.path.expect("a port").attempt;
        if !seen.contains(&port) {
            seen.push(port);
            times.push(packet.time.0 as f64 / 1e9);
        }
    }
    times
}

/// SYN and SYN-ACK, the two flights of TLS that the client awaits, and the way of the message: two
/// and a half round trips of 100 ms.
#[test]
fn a_message_on_its_own_connection_takes_the_round_trips_of_tcp_and_tls() {
    let latency = |opening: Vec<Dialogue>| {
        let result = run(config(Sessions { opening, ..plan(Connect::PerMessage) }, 100));
        let (flow, connections) = only(&result);
        assert_eq!((connections.opened, connections.ready, connections.failed), (3, 3, 0));
        let messages = flow.messages.as_deref().expect("messages");
        assert_eq!((messages.sent, messages.arrived), (3, 3));
        messages.max_ms.expect("all arrived")
    };
    let near = |measured: f64, ms: f64| assert!((ms..ms + 0.1).contains(&measured), "{measured}");
    near(latency(Vec::new()), 150.0);
    near(latency(vec![tls()]), 250.0);
    let connect = Dialogue::new(vec![step(Side::Opener, 37), step(Side::Listener, 4)]);
    near(latency(vec![tls(), connect]), 350.0);
    let slow = Step { think: Span::from_millis(20), ..step(Side::Listener, 4) };
    near(latency(vec![Dialogue::new(vec![step(Side::Opener, 37), slow])]), 270.0);
}

#[test]
fn all_bytes_of_the_handshakes_are_counted_and_sent() {
    let result = run(config(Sessions { opening: vec![tls()], ..plan(Connect::PerMessage) }, 100));
    let (flow, connections) = only(&result);
    assert_eq!(connections.opening_bytes, 3 * (517 + 1226 + 80 + 255));
    assert_eq!(flow.delivered_bytes, 3 * 400);
    let payload: u64 = (result.packets.iter())
        .filter(|p| p.fate == PacketFate::Delivered)
        .filter_map(|p| Some(u64::from(p.segment?.len)))
        .sum();
    assert_eq!(payload, connections.opening_bytes + flow.delivered_bytes);
}

/// On a connection that stays, messages arrive when those of the kind `messages` do.
#[test]
fn one_connection_without_dialogues_equals_plain_messages() {
    let gaps = Draw { law: Law::Exponential, shape: 0, mean: SECOND / 20, most: 1 << 50 };
    let sizes = Draw { law: Law::Pareto, shape: 1_500, mean: 3_000, most: 300_000 };
    let arrivals = Arrivals { gaps, sizes, ..arrivals(1, 1, 40) };
    let of = |traffic| {
        let flow = flow([0, 1], rfc("newreno"), traffic);
        let mut link = link([0, 1], 2_000_000, 30);
        link.loss[0] = drops(0.01);
        run(network(vec![link], vec![flow], Time::from_secs(60))).flows.remove(0)
    };
    let exchanges = Exchanges::Messages(arrivals);
    let again = of(Traffic::Sessions(Arc::new(Sessions { exchanges, ..plan(Connect::Once) })));
    let plain = of(Traffic::Messages(arrivals));
    assert_eq!(again.messages, plain.messages);
    assert_eq!(again.delivered_bytes, plain.delivered_bytes);
    assert_eq!(again.retransmits, plain.retransmits);
}

/// The peer has no power: each attempt ends after 2 s, and the waits are 1, 2, 4, 8, 8 s.
#[test]
fn attempts_follow_the_back_off_exactly() {
    let cuts = [Vec::new(), vec![[Time::ZERO, Time::from_secs(1_000)]]];
    let unanswered = |reconnect| {
        run(config(
            Sessions { reconnect: Some(reconnect), cuts: cuts.clone(), ..plan(Connect::Once) },
            40,
        ))
    };
    let result = unanswered(waits(Spread::None));
    assert_eq!(attempts(&result), [0.0, 3.0, 7.0, 13.0, 23.0, 33.0]);
    let (flow, connections) = only(&result);
    assert_eq!((connections.opened, connections.ready, connections.time_limit), (6, 0, 6));
    assert_eq!((connections.unfinished, connections.p50_ms), (1, None));
    let first = connections.first_loss.as_deref().expect("a loss");
    assert_eq!(first, "at 2.000 s, noticed by `n0`: the connection was not ready within `timeout`");
    assert_eq!(flow.failure, None);

    let result = unanswered(Reconnect { attempts: 2, ..waits(Spread::None) });
    assert_eq!(attempts(&result), [0.0, 3.0, 7.0]);
    let failure = only(&result).0.failure.clone().expect("it gave up");
    assert!(failure.starts_with("`n0` had no connection any more: at 9.000 s"), "{failure}");
}

/// The peer acknowledges the first step of the handshake, and loses its power before it answers.
/// TCP alone would wait for the answer for ever.
#[test]
fn a_handshake_without_an_answer_blocks_the_messages_only_until_the_time_limit() {
    let slow = Dialogue::new(vec![
        step(Side::Opener, 517),
        Step { think: Span::from_secs(1), ..step(Side::Listener, 1226) },
    ]);
    // A kept connection begins at once, and a message's connection with the first message.
    let of = |connect, reconnect, at_s: u64| {
        let cut = [Time::from_millis(at_s * 1_000 + 600), Time::from_secs(at_s + 2)];
        let (opening, cuts) = (vec![slow.clone()], [Vec::new(), vec![cut]]);
        let result = run(config(Sessions { opening, reconnect, cuts, ..plan(connect) }, 130));
        let arrived = result.flows[0].messages.as_ref().expect("messages").arrived;
        (arrived, attempts(&result)[..].get(1).copied())
    };
    let rule = |timeout| Some(Reconnect { timeout, ..waits(Spread::None) });
    let limit = Some(Span::from_secs(40));
    // The reset before the SYN, of 52 bytes, occupies the link for 416 ns.
    assert_eq!(of(Connect::PerMessage, None, 30), (4, Some(90.000000416)));
    assert_eq!(of(Connect::PerMessage, rule(limit), 30), (4, Some(71.0)));
    assert_eq!(of(Connect::Once, rule(limit), 0), (4, Some(41.0)));
    assert_eq!(of(Connect::PerMessage, rule(None), 30), (0, None));
}

/// The peer acknowledges the first message and loses its power before it answers.
#[test]
fn a_message_without_an_answer_ends_its_connection_after_the_time_limit() {
    let mut answered = message();
    answered.steps.push(Step { think: Span::from_secs(1), ..step(Side::Listener, 4) });
    answered.release = 2;
    let of = |connect, timeout| {
        let cut = [Time::from_millis(30_600), Time::from_secs(32)];
        let cuts = [Vec::new(), vec![cut]];
        let rule = Reconnect { timeout, ..waits(Spread::None) };
        let exchange = answered.clone();
        let plan = Sessions { exchange, reconnect: Some(rule), cuts, ..plan(connect) };
        let result = run(config(plan, 130));
        let opened = only(&result).1.opened;
        (result.flows[0].messages.as_ref().expect("messages").arrived, opened)
    };
    let limit = Some(Span::from_secs(10));
    // The message without an answer is sent again.
    assert_eq!(of(Connect::PerMessage, limit), (4, 5));
    assert_eq!(of(Connect::Once, limit), (4, 2));
    assert_eq!(of(Connect::PerMessage, None), (1, 1), "the client waits for ever");
}

/// A flow of 66,000 connections, more than there are ports.
#[test]
fn connections_beyond_the_range_of_ports_deliver_their_messages() {
    let mut plan = plan(Connect::PerMessage);
    plan.exchanges = Exchanges::Messages(arrivals(1, 400, 66_000));
    let mut config = config(plan, 66_001);
    config.record.capture.clear();
    let result = run(config);
    let messages = result.flows[0].messages.as_ref().expect("messages");
    assert_eq!((messages.arrived, messages.undelivered), (messages.sent, 0));
    assert!(messages.sent > 65_900);
}

#[test]
fn full_jitter_draws_the_waits_from_the_seed() {
    let cuts = [Vec::new(), vec![[Time::ZERO, Time::from_secs(1_000)]]];
    let of = |seed| {
        let reconnect = Some(waits(Spread::Full));
        let plan = Sessions { reconnect, cuts: cuts.clone(), ..plan(Connect::Once) };
        attempts(&run(Config { seed, ..config(plan, 60) }))
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
    for (gap, most) in of(1).windows(2).zip([1.0, 2.0, 4.0, 8.0]) {
        let wait = gap[1] - gap[0] - 2.0;
        assert!((0.0..=most).contains(&wait), "{wait} of {most}");
    }
}

/// The device reboots while it waits for nothing. The server keeps the old connection, because it
/// has nothing to send.
#[test]
fn a_reboot_leaves_the_idle_peer_half_open() {
    let cuts = [vec![[Time::from_secs(40), Time::from_secs(50)]], Vec::new()];
    let reconnect = Some(Reconnect { spread: Span::from_secs(5), ..waits(Spread::None) });
    let result = run(config(Sessions { reconnect, cuts, ..plan(Connect::Once) }, 100));
    let (flow, connections) = only(&result);
    assert_eq!((connections.power_cuts, connections.failed), (1, 1));
    assert_eq!((connections.opened, connections.ready, connections.half_open), (2, 2, 1));
    assert_eq!(sent(&result, Flags::RST).len() + sent(&result, Flags::FIN).len(), 0);
    // From the end of the cut: a wait of up to 5 s, and a round trip.
    let ms = connections.max_ms.expect("connected again");
    assert!((100.0..5_101.0).contains(&ms), "{ms}");
    assert_eq!(flow.messages.as_deref().map(|m| (m.sent, m.arrived)), Some((3, 3)));
}

/// The record of decisions, and the measured delays, of the same reboot.
#[test]
fn the_records_of_a_flow_cover_each_of_its_connections() {
    let cuts = [vec![[Time::from_secs(40), Time::from_secs(50)]], Vec::new()];
    let reconnect = Some(waits(Spread::None));
    let mut config = config(Sessions { reconnect, cuts, ..plan(Connect::Once) }, 100);
    config.record = Record { decisions: true, delays: true, ..Record::default() };
    let result = run(config);
    let decisions = result.decisions.as_ref().expect("recorded");
    let events: Vec<_> = decisions.sessions[&0]
        .iter()
        .map(|note| (note.time.0 / 1_000_000, note.connection, note.what))
        .collect();
    let written = |message, range| What::Written { message, range };
    let arrived = |message| What::Arrived { message };
    let expected = [
        (0, 0, What::Begun),
        (100, 0, What::Ready),
        (30_000, 0, written(0, [0, 400])),
        (30_050, 0, arrived(0)),
        (40_000, 0, What::Lost("the node lost its power")),
        (50_000, 1, What::Begun),
        (50_100, 1, What::Ready),
        (60_000, 1, written(1, [0, 400])),
        (60_050, 1, arrived(1)),
        (90_000, 1, written(2, [400, 800])),
        (90_050, 1, arrived(2)),
    ];
    assert_eq!(events, expected);
    assert_eq!(decisions.senders.iter().map(|s| s.flow).collect::<Vec<_>>(), [0, 0]);
    let flow = &result.flows[0];
    let (transit, rtt) = (flow.transit.as_ref().unwrap(), flow.rtt.as_ref().unwrap());
    assert_eq!(transit.packets, 3);
    assert!((50.0..50.1).contains(&transit.min_ms) && (50.0..50.1).contains(&transit.max_ms));
    // The acknowledgement of the second message of a connection is delayed by 200 ms.
    assert_eq!(rtt.samples, 3);
    assert!((100.0..100.1).contains(&rtt.p50_ms) && (300.0..300.1).contains(&rtt.max_ms));
}

/// The device reboots while the server sends. The server's next retransmission meets a node that
/// does not know the connection, and its reset ends it.
#[test]
fn a_rebooted_end_resets_the_old_connection_of_the_peer() {
    // `to` asks; a response of 1 MB takes about half a second.
    let exchanges =
        Exchanges::Requests { response: 1_000_000, requests: 3, think: Span::from_secs(20) };
    let answer = Step { message: true, ..step(Side::Listener, 0) };
    let exchange = Dialogue::new(vec![step(Side::Opener, 100), answer]);
    let cut = Time::from_millis(300);
    let cuts = [Vec::new(), vec![[cut, Time::from_millis(1_000)]]];
    let reconnect = Some(Reconnect { stored: true, ..waits(Spread::None) });
    let plan = Sessions { exchanges, exchange, cuts, reconnect, ..plan(Connect::Once) };
    let result = run(config(plan, 100));
    let (flow, connections) = only(&result);
    let resets: Vec<_> = sent(&result, Flags::RST);
    assert!(!resets.is_empty() && resets.iter().all(|p| !p.forward));
    assert!(resets.iter().all(|p| p.path.is_some_and(|path| path.attempt == 0)));
    assert_eq!((connections.half_open, connections.power_cuts, connections.failed), (0, 1, 1));
    assert_eq!((connections.resent, flow.delivered_bytes), (1, 3_000_000));
    assert_eq!(flow.responses_s.len(), 3);
    assert!(flow.completion_s.is_some(), "{flow:?}");
}

/// The server reboots without a word. The device notices at its next message, by a reset.
#[test]
fn a_message_to_a_rebooted_server_is_reset_and_sent_again_or_lost() {
    let cuts = [Vec::new(), vec![[Time::from_secs(40), Time::from_secs(45)]]];
    let of = |resend| {
        let reconnect = Some(Reconnect { resend, ..waits(Spread::None) });
        let result =
            run(config(Sessions { reconnect, cuts: cuts.clone(), ..plan(Connect::Once) }, 200));
        let (flow, connections) = only(&result);
        let messages = *flow.messages.as_deref().expect("messages");
        // One loss: the server's power cut, which came before the device's reset.
        assert_eq!((connections.failed, connections.power_cuts), (1, 1));
        assert_eq!(connections.failed_at_sender, 0);
        // A round trip, 1 s, a round trip, and half a round trip.
        let reconnection = connections.max_ms.expect("connected again");
        assert!((1_100.0..1_100.1).contains(&reconnection), "{reconnection}");
        (messages.arrived, messages.undelivered, connections.resent, connections.lost)
    };
    assert_eq!(of(true), (6, 0, 1, 0));
    assert_eq!(of(false), (5, 1, 0, 1));
}

/// Messages that fall due without a connection wait up to the limit; the others are lost.
#[test]
fn messages_beyond_the_queue_are_lost() {
    let cuts = [Vec::new(), vec![[Time::ZERO, Time::from_secs(400)]]];
    let of = |queue| {
        let reconnect = Some(Reconnect { queue, ..waits(Spread::None) });
        let result =
            run(config(Sessions { reconnect, cuts: cuts.clone(), ..plan(Connect::Once) }, 1_000));
        let (flow, connections) = only(&result);
        let messages = *flow.messages.as_deref().expect("messages");
        assert_eq!(messages.sent, messages.arrived + connections.dropped);
        assert_eq!(messages.undelivered, connections.dropped);
        connections.dropped
    };
    // Thirteen are due before the server has power: at 30, 60 … 390 s.
    assert_eq!([of(1_000), of(5), of(0)], [0, 8, 13]);
}

fn any_step(by: Side) -> impl Strategy<Value = Step> {
    (1u64..4_000, 0u64..300)
        .prop_map(move |(bytes, think)| Step { think: Span::from_millis(think), ..step(by, bytes) })
}

fn any_dialogue() -> impl Strategy<Value = Dialogue> {
    let side = prop_oneof![Just(Side::Opener), Just(Side::Listener)];
    let more = prop::collection::vec(side.prop_flat_map(any_step), 0..5);
    (any_step(Side::Opener), more).prop_flat_map(|(first, more)| {
        let steps = [vec![first], more].concat();
        (1..=steps.len()).prop_map(move |release| Dialogue { steps: steps.clone(), release })
    })
}

prop_compose! {
    fn any_plan()(
        opening in prop::collection::vec(any_dialogue(), 0..3),
        answers in any::<bool>(),
        per_message in any::<bool>(),
        jitter in prop_oneof![Just(Spread::None), Just(Spread::Full), Just(Spread::Decorrelated)],
        (resend, stored) in any::<(bool, bool)>(),
        reconnects in any::<bool>(),
        queue in 0u32..20,
        every in 1u64..20,
        cut in prop::collection::vec((0u64..2, 10u64..90, 1u64..30), 0..3),
    ) -> Sessions {
        let mut exchange = message();
        if answers {
            exchange.steps.push(step(Side::Listener, 4));
            exchange.release = 2;
        }
        let mut cuts = [Vec::new(), Vec::new()];
        for (end, from, length) in cut {
            let cut = [Time::from_secs(from), Time::from_secs(from + length)];
            if cuts[end as usize].is_empty() {
                cuts[end as usize].push(cut);
            }
        }
        // The longest opening without losses takes about three seconds.
        let timeout = Some(Span::from_secs(10));
        let reconnect = Reconnect { resend, stored, queue, timeout, ..waits(jitter) };
        Sessions {
            exchanges: Exchanges::Messages(arrivals(every, 700, 100)),
            connect: if per_message { Connect::PerMessage } else { Connect::Once },
            opening,
            exchange,
            reconnect: reconnects.then_some(reconnect),
            cuts,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// With losses and power cuts: each message arrives once, and bytes of the application are the
    /// bytes of these messages. Without losses and cuts, all arrive and no connection is lost.
    #[test]
    fn messages_and_bytes_are_conserved(plan in any_plan(), seed in 0u64..1_000, loss in 0u32..3) {
        let calm = loss == 0 && plan.cuts.iter().all(Vec::is_empty);
        let kept = plan.reconnect.is_some_and(|r| r.resend && r.stored && r.queue > 15);
        let mut config = Config { seed, ..config(plan, 400) };
        config.links[0].rate_bps = 1_000_000;
        config.links[0].loss = [drops(0.05 * f64::from(loss)), drops(0.05 * f64::from(loss))].into();
        let result = run(config);
        let (flow, connections) = only(&result);
        let messages = flow.messages.as_deref().expect("messages");
        prop_assert_eq!(flow.delivered_bytes, 700 * messages.arrived);
        prop_assert!(messages.arrived <= messages.sent);
        prop_assert!(connections.ready <= connections.opened);
        prop_assert!(connections.failed + connections.unclosed <= connections.opened);
        if calm {
            prop_assert_eq!(connections.failed, 0);
            prop_assert_eq!(connections.unfinished, 0);
            prop_assert_eq!(messages.arrived + connections.dropped, messages.sent);
            prop_assert_eq!(connections.duplicates + connections.lost, 0);
        }
        if kept {
            let missing = messages.sent - messages.arrived;
            prop_assert!(missing <= connections.dropped, "{connections:?} {messages:?}");
        }
    }
}
