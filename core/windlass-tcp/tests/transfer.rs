//! For any behaviour of the network and of the two stacks, every byte arrives once and in order, and both
//! sides close.

use crate::pipe::{App, Fate, Pipe};
use proptest::prelude::*;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::rto::{self, Rfc6298Params};
use windlass_cc::{ALGORITHMS, AnyParams, Flavour, Span, Time};
use windlass_tcp::stack::{EcnFeedback, LossDetection, PRESETS, WindowValidation};
use windlass_tcp::{InitialWindow, Pacing, Profile, Seq, StackConfig};

pub(crate) fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        5 => Just(Fate::Deliver),
        2 => Just(Fate::Drop),
        1 => Just(Fate::Mark),
        1 => (0u64..3000).prop_map(Fate::Duplicate),
        2 => prop_oneof![0u64..30, 0u64..5000].prop_map(Fate::Delay),
    ]
}

pub(crate) fn mostly_delivered() -> impl Strategy<Value = Fate> {
    prop_oneof![12 => Just(Fate::Deliver), 1 => fate()]
}

pub(crate) fn millis(range: std::ops::Range<u64>) -> impl Strategy<Value = Span> {
    range.prop_map(Span::from_millis)
}

fn buffer() -> impl Strategy<Value = u64> {
    prop_oneof![1u64..10, 100u64..10_000, 60_000u64..70_000, Just(8_760), Just(3 << 20)]
}

prop_compose! {
    fn rto()(
        initial in millis(1..3000), min in millis(0..1000), granularity in millis(0..500),
        backoff in 1u64..4, k in 1u64..6,
    ) -> rto::AnyParams {
        let changed = Rfc6298Params { initial, min, granularity, backoff, k, ..Default::default() };
        rto::AnyParams::Rfc6298(changed)
    }
}

/// The standard timer with any values, or any other timer with its own values.
fn any_timer() -> impl Strategy<Value = rto::AnyParams> {
    let named = prop::sample::select(rto::TIMERS)
        .prop_map(|info| rto::AnyParams::by_name(info.id).expect("a registered timer"));
    prop_oneof![rto(), named]
}

prop_compose! {
    fn options()(
        base in 0..PRESETS.len(),
        mss in prop_oneof![
            Just(None), (1u32..4).prop_map(Some), (1u32..200).prop_map(Some), Just(Some(1460))
        ],
        receive_buffer in buffer(),
        send_buffer in buffer(),
        switches in prop::array::uniform8(any::<bool>()),
        window_validation in prop::sample::select(vec![
            WindowValidation::Off, WindowValidation::Used, WindowValidation::RateLimited,
        ]),
        initial_window in prop_oneof![
            (0u32..12).prop_map(InitialWindow::Segments),
            (0u64..20_000).prop_map(InitialWindow::Bytes),
            Just(InitialWindow::Rfc5681),
        ],
    ) -> StackConfig {
        let base = PRESETS[base].config;
        // With autotuning it is memory, which must suffice for a segment.
        let receive_buffer = receive_buffer.max(if base.receive_autotuning { 5_000 } else { 1 });
        let [window_scaling, timestamps, sack, nagle, fast_retransmit, limited_transmit,
            idle_restart, karn] = switches;
        StackConfig {
            mss, receive_buffer, send_buffer, window_scaling, timestamps, sack, nagle,
            fast_retransmit, limited_transmit, window_validation, idle_restart, karn,
            initial_window, ..base
        }
    }
}

prop_compose! {
    fn overridden()(
        options in options(),
        rto in any_timer(),
        delayed_ack_segments in 0u32..5,
        delayed_ack_timeout in millis(0..500),
        dupthresh in 1u32..6,
        recovery in prop_oneof![
            Just(None), Just(Some(LossRecovery::Tahoe)), Just(Some(LossRecovery::Reno)),
            Just(Some(LossRecovery::NewReno)), Just(Some(LossRecovery::Sack)), Just(Some(LossRecovery::Prr)),
        ],
        pacing in prop::sample::select(Pacing::ALL.map(|p| p.1).to_vec()),
        pacing_burst in 0u32..12,
        flight_limit in prop_oneof![3 => Just(u32::MAX), 1 => 1u32..8],
        dsack in any::<bool>(),
        more in prop::array::uniform5(any::<bool>()),
        ecn in prop::sample::select(
            vec![EcnFeedback::Off, EcnFeedback::Classic, EcnFeedback::Accurate, EcnFeedback::AccurateCounter],
        ),
        rules in prop::sample::select(vec![Flavour::Rfc, Flavour::Linux]),
        timer_tick in prop_oneof![Just(Span::ZERO), millis(1..600)],
        persist_timeout in millis(1..3000),
    ) -> StackConfig {
        StackConfig {
            tlp: more[0], frto: more[1], eifel: more[2], dsack_undo: more[3], ecn, rules,
            loss_detection: LossDetection::ALL[usize::from(more[4])].1,
            pacing, pacing_burst, flight_limit, dsack, rto, delayed_ack_segments, delayed_ack_timeout, dupthresh, recovery, timer_tick,
            persist_timeout, ..options
        }
    }
}

prop_compose! {
    fn profile()(
        stack in prop_oneof![
            1 => (0..PRESETS.len()).prop_map(|i| PRESETS[i].config),
            4 => overridden(),
        ],
        algorithm in prop::sample::select(ALGORITHMS.iter().map(|i| i.id).collect::<Vec<_>>()),
        increase in 0..3u64,
        mtu in prop_oneof![Just(1500u32), Just(576), 60u32..1500, Just(65_535)],
    ) -> Profile {
        // The network drops at most a few hundred segments, possibly the same segment each time. The last
        // side to close must find the other in TIME-WAIT, even after a long backoff.
        let stack = StackConfig {
            max_syn_retries: 1000, max_data_retries: 1000, time_wait: Span::from_secs(100_000),
            ..stack
        };
        let mut params = AnyParams::by_name(algorithm).unwrap();
        if params.info().params.first().is_some_and(|param| param.name == "increase") {
            params.set(0, increase);
        }
        Profile { stack, params, mtu }
    }
}

prop_compose! {
    /// An application that sends less than `most` bytes.
    pub(crate) fn app(most: u64)(
        bytes in prop_oneof![Just(0u64), 1u64..50, 0..most],
        write in prop_oneof![1u64..2000, Just(u64::MAX)],
        read in prop_oneof![1u64..2000, Just(u64::MAX)],
        period in prop_oneof![Just(0u64), 1u64..20, 1u64..400],
        closes_last in any::<bool>(),
    ) -> App {
        // With small steps over a long stream, nothing else would be tested.
        let least = bytes / 50 + 1;
        App { bytes, write: write.max(least), read: read.max(least), period, closes_last }
    }
}

pub(crate) fn side() -> impl Strategy<Value = (Profile, App, Seq)> {
    // Half of the streams wrap.
    let iss = prop_oneof![any::<u32>(), (u32::MAX - 20_000)..=u32::MAX].prop_map(Seq);
    (profile(), app(30_000), iss)
}

pub(crate) fn start() -> impl Strategy<Value = Time> {
    prop_oneof![Just(Time::ZERO), (0u64..1 << 62).prop_map(Time)]
}

/// Shortens the streams of the two sides, so that a transfer needs a limited number of segments.
pub(crate) fn shortened(mut sides: [(Profile, App, Seq); 2]) -> [(Profile, App, Seq); 2] {
    if sides[0].1.closes_last && sides[1].1.closes_last {
        sides[0].1.closes_last = false; // one side must close first
    }
    // Streams of single bytes are kept short.
    for i in 0..2 {
        let smallest = [sides[0].0, sides[1].0]
            .iter()
            .map(|p| u64::from(p.mss()).min(p.stack.receive_buffer).min(p.stack.send_buffer))
            .min()
            .unwrap();
        sides[i].1.bytes = sides[i].1.bytes.min(smallest.saturating_mul(300)).min(30_000);
    }
    sides
}

pub(crate) fn transfer(
    sides: [(Profile, App, Seq); 2],
    at: Time,
    delay: Span,
    both_connect: bool,
    fates: Vec<Fate>,
    predicted: Option<u64>,
) -> Option<u64> {
    let sides = shortened(sides);
    let mut pipe = Pipe::new(sides, at, delay, both_connect, fates);
    pipe.predicted = predicted;
    pipe.run_to_close(300_000);
    for i in 0..2 {
        let (end, offered) = (&pipe.ends[i], sides[1 - i].1.bytes);
        assert_eq!(end.e.failure(), None);
        assert_eq!((end.e.received(), end.read), (offered, offered));
        assert!(pipe.ends[1 - i].e.all_acknowledged());
        assert!(end.e.deadline().is_never(), "a timer outlives the connection");
    }
    pipe.predicted
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 5_000, failure_persistence: None, max_shrink_iters: 20_000, ..Default::default()
    })]

    #[test]
    fn every_byte_arrives_once_and_both_sides_close(
        a in side(), b in side(), at in start(), delay in millis(0..300),
        both_connect in any::<bool>(),
        fates in prop_oneof![
            prop::collection::vec(fate(), 0..120),
            prop::collection::vec(mostly_delivered(), 0..600),
        ],
    ) {
        transfer([a, b], at, delay, both_connect, fates, None);
    }
}

/// By the rules of Linux a connection fails after a time without acknowledgements. The time once began at zero if a window
/// probe came before the first timeout, so that a late connection failed at once.
#[test]
fn a_timeout_after_a_window_probe_does_not_end_the_connection() {
    use Fate::{Delay, Deliver, Drop, Duplicate, Mark};
    let side = |preset: &str, mtu: u32, app: App| {
        let stack = PRESETS.iter().find(|p| p.name == preset).expect("a preset").config;
        let stack = StackConfig {
            max_syn_retries: 1000,
            max_data_retries: 1000,
            time_wait: Span::from_secs(100_000),
            ..stack
        };
        let params = AnyParams::by_name("tahoe").expect("Tahoe");
        (Profile { stack, params, mtu }, app, Seq(0))
    };
    let a = App { bytes: 0, write: 1, read: 147, period: 176, closes_last: false };
    let b = App { bytes: 11_554, write: 232, read: 232, period: 0, closes_last: false };
    let mut fates = vec![
        Duplicate(1004),
        Delay(0),
        Delay(3080),
        Drop,
        Mark,
        Drop,
        Deliver,
        Deliver,
        Drop,
        Deliver,
        Mark,
    ];
    fates.extend([Deliver; 9]);
    fates.push(Mark);
    fates.extend([Deliver; 6]);
    fates.push(Drop);
    let sides = [side("riverbed", 1500, a), side("linux", 65_535, b)];
    transfer(sides, Time(747_015_267_892_000_001), Span::from_millis(79), true, fates, None);
}
