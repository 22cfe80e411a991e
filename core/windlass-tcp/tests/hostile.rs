//! Segments that no correct peer sends: no panic, no endless loop, and time advances.

use crate::board;
use proptest::prelude::*;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::{ALGORITHMS, AnyParams, Span, Time};
use windlass_tcp::stack::{EcnFeedback, LossDetection, PRESETS};
use windlass_tcp::{
    Codepoint, Endpoint, Flags, Options, Pacing, Profile, SackBlock, Segment, Seq, StackConfig,
    Timestamps,
};

const ISS: Seq = Seq(u32::MAX - 500);
const IRS: Seq = Seq(u32::MAX - 100);

#[derive(Clone, Debug)]
enum Action {
    Segment(Segment),
    Wait(u64),
    Offer(u64),
    Read(u64),
    Close,
    Abort,
}

/// Mostly near `base`, where the checks are sensitive.
fn seq(base: Seq) -> impl Strategy<Value = Seq> {
    prop_oneof![
        4 => prop_oneof![0u64..4, 0u64..20_000].prop_map(move |n| base.add(n)),
        1 => any::<u32>().prop_map(Seq),
    ]
}

fn flags() -> impl Strategy<Value = Flags> {
    let ack = Flags::ACK;
    prop_oneof![
        8 => Just(ack),
        2 => Just(ack.with(Flags::SYN)),
        1 => Just(ack.with(Flags::ECE)),
        1 => Just(Flags::SYN.with(Flags::ECE).with(Flags::CWR)),
        1 => (0u8..8).prop_map(move |ace| ack.with(Flags::of_ace(ace))),
        1 => (0u8..8).prop_map(|ace| Flags::SYN.with(Flags::of_ace(ace))),
        2 => Just(ack.with(Flags::FIN)),
        1 => Just(Flags::SYN),
        1 => (0u16..0x200).prop_map(Flags),
    ]
}

prop_compose! {
    fn options()(
        mss in any::<Option<u16>>(),
        window_scale in any::<Option<u8>>(),
        sack_permitted in any::<bool>(),
        timestamps in prop::option::of((0u32..9000, any::<u32>())),
        sack_count in 0u8..9,
        blocks in prop::array::uniform3((seq(ISS), prop_oneof![0u64..3000, 0u64..20_000])),
    ) -> Options {
        let timestamps = timestamps.map(|(value, echo)| Timestamps { value, echo });
        let sack = blocks.map(|(left, len)| SackBlock { left, right: left.add(len) });
        Options { mss, window_scale, sack_permitted, timestamps, sack_count, sack }
    }
}

prop_compose! {
    fn segment()(
        seq in seq(IRS),
        ack in seq(ISS),
        len in prop_oneof![3 => Just(0u32), 3 => 1u32..2000, 1 => 0u32..65_536],
        window in prop_oneof![Just(0u16), 0u16..10, any::<u16>()],
        flags in flags(),
        ecn in (0u8..4).prop_map(Codepoint::from_bits),
        options in prop_oneof![3 => Just(Options::default()), 1 => options()],
    ) -> Segment {
        Segment { seq, ack, len, window, flags, ecn, options }
    }
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        20 => segment().prop_map(Action::Segment),
        4 => prop_oneof![0u64..300, 0u64..100_000].prop_map(Action::Wait),
        3 => prop_oneof![0u64..5000, Just(u64::MAX)].prop_map(Action::Offer),
        3 => prop_oneof![0u64..5000, Just(u64::MAX)].prop_map(Action::Read),
        1 => Just(Action::Close),
        1 => prop::bool::weighted(0.1).prop_map(|b| if b { Action::Abort } else { Action::Close }),
    ]
}

/// An endpoint, and the actions that it must survive.
#[derive(Clone, Debug)]
pub(crate) struct Ordeal {
    p: Profile,
    listens: bool,
    /// True if a handshake completes first.
    greet: bool,
    actions: Vec<Action>,
}

prop_compose! {
    pub(crate) fn ordeal()(
        preset in 0..PRESETS.len(),
        receive_buffer in prop_oneof![1u64..10, 0u64..100_000],
        sack in any::<bool>(),
        timestamps in any::<bool>(),
        recovery in prop::option::of(prop::sample::select(LossRecovery::ALL.map(|s| s.1).to_vec())),
        pacing in prop::sample::select(Pacing::ALL.map(|p| p.1).to_vec()),
        switches in prop::array::uniform6(any::<bool>()),
        algorithm in prop::sample::select(ALGORITHMS.iter().map(|i| i.id).collect::<Vec<_>>()),
        listens in any::<bool>(),
        greet in any::<bool>(),
        actions in prop::collection::vec(action(), 0..200),
    ) -> Ordeal {
        let stack = StackConfig {
            tlp: switches[0], frto: switches[1], eifel: switches[2], dsack_undo: switches[3],
            ecn: if switches[4] { EcnFeedback::Accurate } else { switches[3].into() }, loss_detection: LossDetection::ALL[usize::from(switches[5])].1,
            receive_buffer, sack, timestamps, recovery, pacing, send_buffer: 1 << 20, ..PRESETS[preset].config
        };
        let p = Profile { stack, params: AnyParams::by_name(algorithm).unwrap(), mtu: 1500 };
        Ordeal { p, listens, greet, actions }
    }
}

impl Ordeal {
    /// Plays the actions, and checks the endpoint after each. The result is a line for each sent segment, and the endpoint
    /// at the end.
    pub(crate) fn play(self) -> (String, String) {
        let Ordeal { p, listens, greet, actions } = self;
        let mut e = Endpoint::new(&p, ISS);
        let (mut now, mut log) = (Time::from_millis(5), String::new());
        if listens {
            e.listen()
        } else {
            e.connect()
        }
        drain(&mut e, &p, now, &mut log);
        if greet {
            let options = Options { mss: Some(1460), sack_permitted: true, ..Options::default() };
            let hello =
                Segment { seq: IRS, ack: ISS.add(1), window: 9000, options, ..Segment::default() };
            let flags = if listens { Flags::SYN } else { Flags::SYN.with(Flags::ACK) };
            e.on_segment(&p, now, &Segment { flags, ..hello });
            drain(&mut e, &p, now, &mut log);
            let options = Options::default();
            let ack = Segment { seq: IRS.add(1), flags: Flags::ACK, options, ..hello };
            e.on_segment(&p, now, &ack);
        }
        for action in actions {
            match action {
                Action::Segment(s) => e.on_segment(&p, now, &s),
                Action::Wait(ms) => {
                    let until = now + Span::from_millis(ms);
                    while e.deadline() <= until {
                        now = now.max(e.deadline());
                        e.on_deadline(&p, now);
                        drain(&mut e, &p, now, &mut log);
                        assert!(e.deadline() > now, "a deadline does not advance");
                    }
                    now = until;
                }
                Action::Offer(n) => e.offer(n),
                Action::Read(n) => assert!(e.read(&p, now, n) <= n),
                Action::Close => e.close(),
                Action::Abort => e.abort(),
            }
            drain(&mut e, &p, now, &mut log);
            board::audit(&e);
            assert_eq!(e.poll_transmit(&p, now), None);
            assert!(e.control().cwnd >= u64::from(e.mss().min(p.mss())));
            assert!(e.advertised_window() <= p.stack.receive_buffer.max(1 << 16));
        }
        (log, format!("{e:?}"))
    }
}

/// Sends all segments.
fn drain(e: &mut Endpoint, p: &Profile, now: Time, log: &mut String) {
    let mut sent = 0;
    while let Some(s) = e.poll_transmit(p, now) {
        assert!(s.len <= p.mss() && s.options.wire_len() <= 40, "{s:?}");
        log.push_str(&format!("{now:?} {s:?}\n"));
        sent += 1;
        assert!(sent < 100_000, "an endless burst");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_000, failure_persistence: None, ..Default::default()
    })]

    // RFC 6675-4-1, 6675-4-3, 6675-5-9, 9937-6.2-3
    #[test]
    fn no_segment_breaks_an_endpoint(ordeal in ordeal()) {
        ordeal.play();
    }
}
