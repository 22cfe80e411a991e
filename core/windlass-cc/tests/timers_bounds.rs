//! Bounds of every retransmission timer for any input.

use proptest::prelude::*;
use windlass_cc::rto::{AnyParams, TIMERS};
use windlass_cc::{AnyRto, RttSample, Span, Time};

// All of them

fn any_timer() -> impl Strategy<Value = AnyParams> {
    let changes = prop::collection::vec(prop::option::of(any_number()), 12);
    (prop::sample::select(TIMERS), changes).prop_map(|(info, changes)| {
        let mut p = AnyParams::by_name(info.id).expect("a registered timer");
        for (place, raw) in changes.into_iter().enumerate() {
            if let Some(raw) = raw {
                p.set(place, raw); // rejected outside its range
            }
        }
        p
    })
}

fn any_number() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..300, 0u64..200_000, 0u64..(1 << 42), Just(u64::MAX), any::<u64>()]
}

#[derive(Clone, Debug)]
enum Step {
    Sample(RttSample),
    Timeout,
    Progress,
    LostSyn,
    Arm(Time, u32),
}

fn any_step() -> impl Strategy<Value = Step> {
    let sample = (any_number(), any::<u32>(), any_number(), any_number(), any_number());
    let counts = (any_number(), any_number());
    prop_oneof![
        4 => (sample, counts).prop_map(|((rtt, retransmits, now, una, next_id), (sent, resent))| {
            let (rtt, now) = (Span(rtt), Time(now));
            Step::Sample(RttSample { rtt, retransmits, now, una, next_id, sent, resent })
        }),
        3 => Just(Step::Timeout),
        1 => Just(Step::Progress),
        1 => Just(Step::LostSyn),
        2 => (any_number(), any::<u32>()).prop_map(|(now, entropy)| Step::Arm(Time(now), entropy)),
    ]
}

fn take(timer: &mut AnyRto, p: &AnyParams, step: &Step) {
    match step {
        Step::Sample(s) => timer.on_sample(p, s),
        Step::Timeout => timer.on_timeout(p),
        Step::Progress => timer.on_progress(p),
        Step::LostSyn => timer.after_lost_syn(p),
        Step::Arm(now, entropy) => {
            timer.arm(p, *now, *entropy);
        }
    }
}

proptest! {
    #[test]
    fn no_input_makes_any_timer_panic_or_pass_its_maximum(
        p in any_timer(), steps in prop::collection::vec(any_step(), 0..60),
    ) {
        let mut timer = AnyRto::init(&p);
        for step in steps {
            take(&mut timer, &p, &step);
            prop_assert!(timer.rto(&p) <= p.max(), "{timer:?}");
            if let Step::Arm(now, entropy) = step {
                // Spread at most fourfold, and never below the timeout.
                let armed = timer.arm(&p, now, entropy);
                prop_assert!(armed >= timer.rto(&p), "{timer:?}");
                prop_assert!(armed.0 / 4 <= timer.rto(&p).0, "{timer:?}");
            }
        }
    }

    #[test]
    fn an_expiry_shortens_only_the_timers_of_uip_and_fasor(
        p in any_timer(), steps in prop::collection::vec(any_step(), 0..30), expiries in 1..20usize,
    ) {
        prop_assume!(!["uip", "fasor"].contains(&p.info().id));
        let mut timer = AnyRto::init(&p);
        for step in steps {
            take(&mut timer, &p, &step);
        }
        for _ in 0..expiries {
            let before = timer.rto(&p);
            timer.on_timeout(&p);
            prop_assert!(timer.rto(&p) >= before);
        }
    }

    #[test]
    fn the_origin_of_time_and_of_the_stream_does_not_matter_to_any_timer(
        p in any_timer(), steps in prop::collection::vec(any_step(), 0..60),
        time in 0..(1u64 << 40), offset in 0..(1u64 << 40),
    ) {
        const ROOM: u64 = 1 << 62;
        let mut here = AnyRto::init(&p);
        let mut there = here;
        for step in steps {
            let step = match step {
                Step::Sample(s) => Step::Sample(RttSample {
                    now: Time(s.now.0 % ROOM), una: s.una % ROOM, next_id: s.next_id % ROOM, ..s
                }),
                Step::Arm(now, entropy) => Step::Arm(Time(now.0 % ROOM), entropy),
                other => other,
            };
            let moved = match &step {
                Step::Sample(s) => Step::Sample(RttSample {
                    now: Time(s.now.0 + time),
                    una: s.una + offset,
                    next_id: s.next_id + offset,
                    ..*s
                }),
                Step::Arm(now, entropy) => Step::Arm(Time(now.0 + time), *entropy),
                other => other.clone(),
            };
            take(&mut here, &p, &step);
            take(&mut there, &p, &moved);
            prop_assert_eq!(here.rto(&p), there.rto(&p));
        }
    }
}

#[test]
fn timers_are_found_in_upper_or_lower_case_and_their_defaults_are_admissible() {
    for info in TIMERS {
        let p = AnyParams::by_name(&info.id.to_uppercase()).expect("registered");
        assert_eq!(p.info().id, info.id);
        for (place, param) in info.params.iter().enumerate() {
            assert!(param.kind.admits(p.get(place).unwrap()), "{}: {}", info.id, param.name);
        }
    }
    assert!(AnyParams::by_name("cocoa++").is_none());
}

#[test]
fn only_the_kinds_of_cocoa_fasor_and_icc_want_samples_of_retransmitted_segments() {
    let wanting: Vec<_> = TIMERS
        .iter()
        .map(|info| info.id)
        .filter(|id| AnyParams::by_name(id).unwrap().wants_ambiguous())
        .collect();
    assert_eq!(wanting, ["cocoa", "cocoa+", "fasor", "icc"]);
}
