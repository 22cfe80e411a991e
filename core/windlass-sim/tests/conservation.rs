//! Packets are conserved and no value exceeds its bound, in random scenarios with random end times.

use crate::common::{self, Traffic, cbr, flow, link, network, profile, run_by_way_of};
use proptest::prelude::*;
use proptest::sample::select;
use windlass_cc::{Span, Time, rto};
use windlass_sim::arrivals::{ArrivalProcess, Arrivals, Draw, Law};
use windlass_sim::config::{Coap, Config, FlowConfig, LinkConfig, Media, ReadPolicy};
use windlass_sim::course::{AckRule, AckShaping, Course, Distribution, Jitter, Reorder};
use windlass_sim::dtls::Dtls;
use windlass_sim::link::{Framing, QueueLimit};
use windlass_sim::loss::{BerFormula, Bursts, LossModel};
use windlass_sim::queue::{
    CoDel, Device, Discipline, DualPi2, FqCoDel, Level, Pie, Policer, Red, Scheduler, Threshold,
};
use windlass_sim::{RunResult, Series};
use windlass_tcp::stack::{RFC, RIVERBED, StackConfig};

fn losses() -> impl Strategy<Value = Option<LossModel>> {
    let share = || prop_oneof![Just(0.0), 0.0..0.3f64, Just(1.0)];
    prop_oneof![
        3 => Just(None),
        1 => share().prop_map(common::drops),
        1 => (0.0..1e-4f64, any::<bool>()).prop_map(|(rate, exact)| {
            let formula = if exact { BerFormula::Exact } else { BerFormula::Linear };
            Some(LossModel::Ber { rate, formula })
        }),
        1 => (0.0..0.1f64, 0.0..1.0f64, 0.0..0.01f64, share()).prop_map(
            |(good_to_bad, bad_to_good, loss_good, loss_bad)| {
                Some(LossModel::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad })
            },
        ),
        1 => prop::collection::btree_set(1u64..200, 0..20)
            .prop_map(|s| common::listed(&s.into_iter().collect::<Vec<_>>())),
    ]
}

fn queues() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        (0u64..60).prop_map(QueueLimit::Packets),
        (0u64..60_000).prop_map(QueueLimit::Bytes),
        Just(QueueLimit::Unlimited),
    ]
}

fn disciplines() -> impl Strategy<Value = Discipline> {
    let span = || (1u64..300_000_000).prop_map(Span);
    let level =
        || prop_oneof![(0u64..40).prop_map(Level::Packets), (0u64..40_000).prop_map(Level::Bytes)];
    let device = prop_oneof![3 => Just(None), 1 => (1u64..80).prop_map(Some)];
    let red = (level(), 0u64..60, 1e-4..1.0f64, 0.0..=1.0f64, any::<[bool; 3]>(), 1u32..2000);
    let above = prop_oneof![
        5 => Just(Discipline::DropTail),
        1 => select(Discipline::DEFAULTS.to_vec()),
        1 => red.prop_map(|(min, more, weight, max_probability, switches, mean_packet)| {
            let max_threshold = match min {
                Level::Packets(n) => Level::Packets(n + more),
                Level::Bytes(n) => Level::Bytes(n + 1000 * more),
            };
            let [gentle, ecn, adaptive] = switches;
            Discipline::Red(Red {
                min_threshold: min,
                max_threshold,
                weight,
                max_probability,
                gentle,
                ecn,
                adaptive,
                mean_packet,
            })
        }),
        1 => (span(), span(), any::<bool>())
            .prop_map(|(target, interval, ecn)| Discipline::CoDel(CoDel { target, interval, ecn })),
        1 => (1u32..50, 1u32..5000, span(), span(), any::<bool>()).prop_map(
            |(flows, quantum, target, interval, ecn)| {
                Discipline::FqCoDel(FqCoDel { flows, quantum, target, interval, ecn })
            }
        ),
        1 => (span(), span(), 0.0..10.0f64, 0.0..10.0f64, any::<bool>()).prop_map(
            |(target, update, alpha, beta, ecn)| {
                Discipline::Pie(Pie { target, update, alpha, beta, ecn, ..Pie::DEFAULT })
            }
        ),
        1 => (span(), span(), 0.0..10.0f64, 0.0..10.0f64, any::<[bool; 3]>(), 1u64..60_000).prop_map(
            |(target, update, alpha, beta, [linux, shifted, drop_on_overload], memory)| {
                let of = if linux { DualPi2::LINUX } else { DualPi2::RFC9332 };
                let scheduler =
                    if shifted { Scheduler::TimeShifted } else { Scheduler::Weighted };
                Discipline::DualPi2(DualPi2 {
                    target, update, alpha, beta, drop_on_overload, scheduler, memory, ..of
                })
            }
        ),
        1 => (level(), 0.0f64..=1.0).prop_map(|(mark, probability)| {
            Discipline::Threshold(Threshold { mark, probability })
        }),
        1 => (1_000u64..10_000_000, 1u64..100_000)
            .prop_map(|(rate, burst)| Discipline::Policer(Policer { rate, burst })),
    ];
    (above, device).prop_map(|(discipline, device)| match device {
        Some(packets) => Discipline::Device(Box::new(Device { discipline, packets })),
        None => discipline,
    })
}

/// Schedules that vary delays, reorder packets and hold acknowledgements; most of them have no effect.
fn courses() -> impl Strategy<Value = Course> {
    let time = || (1u64..200_000_000).prop_map(Span);
    let jitter = (time(), any::<bool>()).prop_map(|(by, overtaking)| {
        Some(Jitter { distribution: Distribution::Exponential, by, overtaking })
    });
    let reorder = (0.0..=1.0f64, 1u32..8, time())
        .prop_map(|(share, packets, within)| Some(Reorder { share, packets, within }));
    let acks = (any::<bool>(), 2u32..9, time()).prop_map(|(thin, count, within)| {
        let rule = if thin { AckRule::Thin } else { AckRule::Gather };
        Some(AckShaping { rule, count, within })
    });
    let delays = (0u64..2_000_000_000, time())
        .prop_map(|(from, delay)| vec![(Time::ZERO + Span(from), delay)]);
    let mean = || (1..500u64).prop_map(Span::from_millis);
    let bursts = (mean(), mean(), 0.0..0.1f64, 0.0..1.0f64).prop_map(|(good, bad, low, high)| {
        Some(Bursts { mean_good: good, mean_bad: bad, loss_good: low, loss_bad: high })
    });
    (
        prop_oneof![2 => Just(None), 1 => jitter],
        prop_oneof![3 => Just(None), 1 => reorder],
        prop_oneof![3 => Just(None), 1 => acks],
        prop_oneof![3 => Just(Vec::new()), 1 => delays],
        prop_oneof![3 => Just(None), 1 => bursts],
    )
        .prop_map(|(jitter, reorder, acks, delays, bursts)| Course {
            delays_repeat: None,
            loss: None,
            rate: None,
            delays,
            jitter,
            reorder,
            acks,
            bursts,
        })
}

/// A link without its end nodes.
fn links() -> impl Strategy<Value = LinkConfig> {
    let framing = prop_oneof![Just(Framing::ETHERNET), Just(Framing::PPP), Just(Framing::NONE)];
    let queue = (queues(), disciplines());
    let course = prop_oneof![
        2 => Just([Course::default(), Course::default()]),
        1 => [courses(), courses()],
    ];
    let losses = [losses(), losses()];
    (10_000u64..100_000_000, 0u64..200_000_000, queue, framing, losses, course).prop_map(
        |(rate, delay, (queue, discipline), framing, loss, course)| LinkConfig {
            delay: Span(delay),
            queue,
            discipline,
            framing,
            loss: loss.into(),
            course: course.into(),
            ..link([0, 0], rate, 0)
        },
    )
}

/// Links that form a chain, a star, or a dumbbell (two stars with a link between).
fn topologies() -> impl Strategy<Value = Vec<LinkConfig>> {
    (prop::collection::vec(links(), 1..8), 0..3).prop_map(|(mut links, shape)| {
        for (i, l) in links.iter_mut().enumerate() {
            l.ends = match shape {
                0 => [i, i + 1],
                1 => [i + 1, 0],
                _ if i == 0 => [0, 1],
                _ => [i % 2, i + 1],
            };
            l.name = format!("{}-{}", l.ends[0], l.ends[1]);
        }
        links
    })
}

fn traffic() -> impl Strategy<Value = Traffic> {
    let packets = || (1u64..3000, 50u64..200_000, 0u64..20_000);
    let source =
        |(packet, interval_us, stop_ms)| cbr(packet, interval_us, Time::from_millis(stop_ms));
    prop_oneof![
        Just(Traffic::Bulk { bytes: None }),
        (0u64..2_000_000).prop_map(|n| Traffic::Bulk { bytes: Some(n) }),
        (1u64..5000, 1u64..100_000, 1u32..20, 0u64..1_000_000_000).prop_map(
            |(request, response, requests, think)| Traffic::RequestResponse {
                request,
                response,
                requests,
                think: Span(think),
            }
        ),
        packets().prop_map(move |p| Traffic::CbrTcp(source(p))),
        (packets(), any::<u64>()).prop_map(|((bytes, gap_us, stop_ms), seed)| {
            Traffic::Messages(Arrivals {
                gaps: Draw { law: Law::Exponential, shape: 0, mean: 1000 * gap_us, most: 1 << 61 },
                sizes: Draw { law: Law::Pareto, shape: 1500, mean: bytes, most: 100 * bytes },
                phases: None,
                stop: Time::from_millis(stop_ms),
                deadline: Some(Span(100_000_000)),
                seed,
            })
        }),
        packets().prop_map(move |p| Traffic::CbrUdp(source(p))),
        (packets(), 1u64..100, any::<bool>()).prop_map(|((bytes, gap_us, stop_ms), ratio, ecn)| {
            let most = (8_000_000 * bytes / gap_us).max(1);
            let rates_bps = [(most / ratio).max(1), most];
            let stop = Time::from_millis(stop_ms);
            Traffic::Media(Media { packet: bytes as u32, rates_bps, ecn, stop })
        }),
        (packets(), any::<u64>(), 1u32..4, any::<bool>()).prop_map(
            |((bytes, gap_us, stop_ms), seed, nstart, confirmable)| {
                let requests = Arrivals {
                    gaps: Draw {
                        law: Law::Exponential,
                        most: 1 << 61,
                        ..Draw::constant(1000 * gap_us)
                    },
                    sizes: Draw::constant(bytes),
                    phases: None,
                    stop: Time::from_millis(stop_ms),
                    deadline: Some(Span(100_000_000)),
                    seed,
                };
                let timer = rto::AnyParams::by_name("cocoa+").expect("a timer");
                let (response, token, options, max_retransmit) = (bytes as u32 / 2, 4, 8, 4);
                let flights = [bytes as u32, 454, 56];
                let (early, each) = (bytes % 2 == 0, bytes % 3 == 0 && nstart == 1);
                let security = (bytes % 5 < 3).then_some(Dtls { flights, record: 12, early, each });
                Traffic::Coap(Coap {
                    requests,
                    response,
                    token,
                    options,
                    confirmable,
                    nstart,
                    max_retransmit,
                    timer,
                    security,
                })
            }
        ),
    ]
}

fn stacks() -> impl Strategy<Value = StackConfig> {
    (any::<bool>(), 1u64..100_000, any::<[bool; 4]>()).prop_map(|(rfc, buffer, switches)| {
        let mut stack = if rfc { RFC } else { RIVERBED };
        if switches[0] {
            stack.receive_buffer = buffer;
        }
        stack.nagle = switches[1];
        stack.sack = switches[2];
        stack.limited_transmit = switches[3];
        stack
    })
}

fn reads() -> impl Strategy<Value = ReadPolicy> {
    prop_oneof![
        2 => Just(ReadPolicy::Immediate),
        1 => (0u64..100).prop_map(|ms| ReadPolicy::Delayed(Span::from_millis(ms))),
        1 => (1_000u64..1_000_000).prop_map(ReadPolicy::Rate),
    ]
}

fn flows() -> impl Strategy<Value = FlowConfig> {
    let algorithm = prop_oneof![Just("tahoe"), Just("reno"), Just("newreno")];
    (stacks(), algorithm, traffic(), reads(), 0u64..3_000, 100u32..9000).prop_map(
        |(stack, algorithm, traffic, read, start_ms, mtu)| {
            let mut f = flow([0, 0], profile(stack, algorithm), traffic);
            f.profile_mut().mtu = mtu;
            f.read = read;
            f.start = Time::from_millis(start_ms);
            f
        },
    )
}

fn scenarios() -> impl Strategy<Value = Config> {
    let ends = (any::<prop::sample::Index>(), any::<prop::sample::Index>());
    let flows = prop::collection::vec((flows(), ends), 1..6);
    (topologies(), flows, 1u64..30_000, any::<u64>(), any::<bool>()).prop_map(
        |(links, flows, ms, seed, record)| {
            let nodes = links.len() + 1;
            let placed = flows.into_iter().map(|(mut f, (a, b))| {
                f.from = a.index(nodes);
                f.to = (f.from + 1 + b.index(nodes - 1)) % nodes;
                f
            });
            let placed = placed.collect();
            let mut config = network(links, placed, Time::from_millis(ms));
            config.seed = seed;
            if record {
                config.record.series = Series::known().into_iter().map(|(_, s)| s).collect();
                config.record.capture = (0..config.links.len()).collect();
            }
            config
        },
    )
}

fn check(config: &Config, r: &RunResult) -> Result<(), TestCaseError> {
    for l in &r.links {
        prop_assert_eq!(l.sent, l.delivered + l.drops + l.inside);
        prop_assert_eq!(l.drops, l.drops_queue + l.drops_error + l.drops_thinned);
        prop_assert!(l.drops_early <= l.drops_queue && l.marks <= l.sent, "{:?}", l);
        prop_assert!((0.0..=1.0).contains(&l.utilisation), "{:?}", l);
        prop_assert!(l.mean_queue_packets <= l.max_queue_packets as f64 + 1e-9, "{:?}", l);
    }
    for (i, l) in config.links.iter().enumerate() {
        for r in &r.links[2 * i..2 * i + 2] {
            if let QueueLimit::Packets(n) = l.queue {
                prop_assert!(r.max_queue_packets <= n + l.discipline.device_packets());
            }
        }
    }
    let fastest = config.links.iter().map(|l| l.rate_bps).max().expect("a link") as f64;
    for (c, f) in config.flows.iter().zip(&r.flows) {
        prop_assert!((0.0..=1.0).contains(&f.loss_rate), "{:?}", f);
        prop_assert!(f.goodput_bps <= fastest * (1.0 + 1e-9), "{:?}", f);
        prop_assert!(f.retransmits <= f.data_segments, "{:?}", f);
        match c.traffic {
            Traffic::Bulk { bytes: Some(n) } => {
                prop_assert!(f.delivered_bytes <= n);
                prop_assert!(f.completion_s.is_none() || f.delivered_bytes == n, "{:?}", f);
            }
            Traffic::Bulk { bytes: None } => prop_assert_eq!(f.completion_s, None),
            Traffic::Messages(arrivals) => {
                let mut process = ArrivalProcess::new(arrivals, c.start);
                let mut most = 0;
                while let Some((_, bytes)) = process.next().filter(|(due, _)| *due <= r.end) {
                    most += bytes;
                    process.advance();
                }
                prop_assert!(f.delivered_bytes <= most, "{:?}", f);
            }
            Traffic::Coap(coap) => {
                let messages = f.messages.as_deref().expect("messages have a deadline");
                prop_assert!(messages.arrived <= messages.sent, "{:?}", f);
                prop_assert_eq!(f.delivered_bytes, messages.arrived * coap.requests.sizes.mean);
                let done = f.coap.as_deref().copied().unwrap_or_default();
                prop_assert!(done.completed <= messages.arrived, "{:?}", f);
                let open = done.begun - done.completed - done.given_up;
                prop_assert!(open <= u64::from(coap.nstart), "{:?}", f);
            }
            Traffic::Media(media) => {
                let seconds = media.stop.min(r.end).since(c.start).0 as f64 / 1e9;
                let most =
                    seconds * media.rates_bps[1] as f64 / 8.0 + 2.0 * f64::from(media.packet);
                prop_assert!(f.delivered_bytes as f64 <= most, "{:?}", f);
            }
            Traffic::Custom(_) | Traffic::Sessions(_) => {
                unreachable!("the strategy has no such traffic")
            }
            Traffic::RequestResponse { response, requests, .. } => {
                prop_assert!(f.delivered_bytes <= response * u64::from(requests));
                let answered = f.responses_s.len() as u64;
                prop_assert!(f.delivered_bytes / response == answered, "{:?}", f);
                prop_assert_eq!(f.completion_s.is_some(), answered == u64::from(requests));
            }
            Traffic::CbrTcp(cbr) | Traffic::CbrUdp(cbr) => {
                let time = cbr.stop.min(r.end).since(c.start).0;
                let most = time.div_ceil(cbr.interval.0).max(1) + 1;
                prop_assert!(f.delivered_bytes <= most * cbr.packet, "{:?}", f);
            }
        }
    }
    prop_assert!(r.packets.iter().all(|p| p.time <= r.end));
    prop_assert!(r.samples.windows(2).all(|w| w[0].time <= w[1].time));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_conserved_and_bounds_hold_in_random_scenarios(
        config in scenarios(),
        stop_at in 0.0..1.2f64,
    ) {
        run_by_way_of(stop_at, &config, |r| check(&config, r))?;
    }
}
