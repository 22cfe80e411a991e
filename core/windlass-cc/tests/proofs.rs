//! Arithmetic checked for all arguments of a finite domain, or at all boundaries of an infinite one. The page
//! "Robustness" of the book lists these tests.

use windlass_cc::math::{cbrt, div, divisor, excess, mul, mul_div, mul_shift, sqrt};
use windlass_cc::prr::Prr;
use windlass_cc::rto::{AnyParams, TIMERS};
use windlass_cc::setup::Counting;
use windlass_cc::{Ack, AnyRto, Conn, Rate, RttSample, Span, Time};

/// Numbers next to every power of two.
fn boundaries() -> Vec<u64> {
    let around = |bits: u32| [-1, 0, 1].map(|more| (1u64 << bits).wrapping_add_signed(more));
    let mut all: Vec<u64> = (0..64).flat_map(around).collect();
    all.extend([u64::MAX - 1, u64::MAX]);
    all.sort_unstable();
    all.dedup();
    all
}

fn cut(x: u128) -> u64 {
    u64::try_from(x).unwrap_or(u64::MAX)
}

#[test]
fn cube_roots_are_exact_at_every_cube_and_next_to_it() {
    // All cubes below 2^64. Between two cubes a root that never falls has one value.
    for root in 1..=2_642_245_u64 {
        let cube = root * root * root;
        assert_eq!((cbrt(cube - 1), cbrt(cube)), (root - 1, root));
    }
    assert_eq!(cbrt(u64::MAX), 2_642_245);
}

#[test]
fn roots_are_exact_and_never_fall_for_every_number_below_four_million() {
    let (mut square, mut cube) = (0, 0);
    for x in 0..4_000_000_u64 {
        square += u64::from((square + 1) * (square + 1) == x);
        cube += u64::from((cube + 1) * (cube + 1) * (cube + 1) == x);
        assert_eq!((sqrt(x), cbrt(x)), (square, cube));
    }
}

#[test]
fn divisions_are_exact_at_all_pairs_of_boundaries_and_all_small_pairs() {
    let check = |n: u64, d: u64| {
        assert_eq!(div(n, divisor(d)), n.checked_div(d).unwrap_or(n), "{n} / {d}");
        if (n | d) >> 63 == 0 {
            assert_eq!(excess(n, d), n.saturating_sub(d), "{n} - {d}");
        }
    };
    let all = boundaries();
    all.iter().for_each(|n| all.iter().for_each(|d| check(*n, *d)));
    (0..1_500).for_each(|n| (0..1_500).for_each(|d| check(n, d)));
}

#[test]
fn products_and_shifts_are_exact_at_all_pairs_of_boundaries() {
    let all = boundaries();
    for a in &all {
        for b in &all {
            let product = u128::from(*a) * u128::from(*b);
            assert_eq!(mul(*a, *b), cut(product), "{a} · {b}");
            for bits in 1..32 {
                assert_eq!(mul_shift(*a, *b, bits), cut(product >> bits), "{a} · {b} >> {bits}");
            }
        }
    }
}

#[test]
fn scaled_quotients_are_exact_for_all_small_triples() {
    for (a, b) in (0..160_u64).flat_map(|a| (0..160_u64).map(move |b| (a, b))) {
        (1..160).for_each(|d| assert_eq!(mul_div(a, b, d), a * b / d, "{a} · {b} / {d}"));
    }
}

#[test]
fn rates_and_volumes_are_exact_at_all_pairs_of_boundaries() {
    const NANOS: u128 = 1_000_000_000;
    let mut all = boundaries();
    all.extend([999_999_999, 1_000_000_000, 1_000_000_001]);
    for (bytes, time) in all.iter().flat_map(|a| all.iter().map(move |b| (*a, *b))) {
        let rate = (u128::from(bytes) * NANOS).checked_div(u128::from(time)).map_or(u64::MAX, cut);
        assert_eq!(Rate::of(bytes, Span(time)).0, rate, "{bytes} in {time} ns");
        let volume = cut(u128::from(bytes) * u128::from(time) / NANOS);
        assert_eq!(Rate(bytes).volume(Span(time)), volume, "{bytes}/s for {time} ns");
        // A rate that was cut never gives more bytes than it was made of.
        if time > 0 && rate < u64::MAX {
            assert!(Rate(rate).volume(Span(time)) <= bytes, "{bytes} in {time} ns");
        }
    }
}

const MSS: u64 = 3;

/// A state of a recovery: bytes outstanding at its start, delivered and sent since, in flight, and `ssthresh`.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    recover_fs: u64,
    delivered: u64,
    sent: u64,
    in_flight: u64,
    ssthresh: u64,
}

impl Recovery {
    /// Bytes that PRR allows after an acknowledgement.
    fn allowed(self, ack: &Ack) -> u64 {
        // Close below 2^32, where the counters of a recovery start again.
        let origin = u64::from(u32::MAX) - 4;
        let start = Conn { delivered: origin, sent: origin - 1, ..Conn::new(MSS as u32) };
        let mut prr = Prr::new(&start);
        prr.observe(&start, &Ack { prior_in_flight: self.recover_fs, ..Ack::default() });
        let now = Conn {
            delivered: origin + self.delivered,
            sent: origin - 1 + self.sent,
            in_flight: self.in_flight,
            ..start
        };
        let window = prr.ack(&now, ack, 0, self.ssthresh, Counting::Bytes);
        window.checked_sub(self.in_flight).expect("a window that is not below the flight")
    }

    /// The bounds of RFC 9937 section 6.2.
    fn check(self, ack: &Ack) {
        let allowed = self.allowed(ack);
        let must_send = self.sent == 0 || self.in_flight == 0;
        if must_send && allowed == MSS {
            return;
        }
        let bound = if self.in_flight > self.ssthresh {
            let share = (self.delivered * self.ssthresh).div_ceil(self.recover_fs.max(1));
            share.saturating_sub(self.sent)
        } else {
            let safe = if ack.acked > 0 && ack.lost == 0 { MSS } else { 0 };
            let news = self.delivered.saturating_sub(self.sent).max(ack.delivered) + safe;
            news.min(self.ssthresh - self.in_flight)
        };
        assert!(allowed <= bound, "{allowed} of {bound}: {self:?} {ack:?}");
        assert!(!must_send || allowed > 0, "nothing may be sent: {self:?} {ack:?}");
    }
}

#[test]
fn prr_stays_within_its_bounds_in_every_state_of_a_small_recovery() {
    const MOST: u64 = 7;
    let counts = || 0..=MOST;
    let mut states = 0_u64;
    for recover_fs in counts() {
        for (delivered, sent) in counts().flat_map(|d| counts().map(move |s| (d, s))) {
            for (in_flight, ssthresh) in counts().flat_map(|f| counts().map(move |s| (f, s))) {
                let state = Recovery { recover_fs, delivered, sent, in_flight, ssthresh };
                for (news, lost) in (0..=delivered).flat_map(|n| [(n, 0), (n, MSS)]) {
                    for acked in [0, news] {
                        let ack = Ack { acked, delivered: news, lost, ..Ack::default() };
                        if news + lost > 0 {
                            state.check(&ack);
                            states += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(states > 500_000, "{states}");
}

/// A timer after samples of these round trips, by a segment that was sent `resent` more times.
fn timer_after(p: &AnyParams, rtts: &[u64], retransmits: u32) -> AnyRto {
    let mut timer = AnyRto::init(p);
    let mut now = 0_u64;
    for rtt in rtts {
        now = now.saturating_add(*rtt);
        timer.on_sample(
            p,
            &RttSample {
                rtt: Span(*rtt),
                retransmits,
                now: Time(now),
                una: 1_000,
                next_id: 2_000,
                sent: 2_000,
                resent: u64::from(retransmits) * 1_000,
            },
        );
    }
    timer
}

#[test]
fn every_timer_stays_within_its_maximum_for_a_grid_of_samples_and_seventy_expiries() {
    let rtts: Vec<u64> = (0..20).map(|power| 10_u64.pow(power)).chain([0, u64::MAX]).collect();
    for info in TIMERS {
        let p = AnyParams::by_name(info.id).expect("a registered timer");
        let may_fall = ["uip", "fasor"].contains(&info.id);
        for (first, second) in rtts.iter().flat_map(|a| rtts.iter().map(move |b| (*a, *b))) {
            for retransmits in [0, 1] {
                let mut timer = timer_after(&p, &[first, second], retransmits);
                for expiry in 0..70 {
                    let before = timer.rto(&p);
                    assert!(before <= p.max(), "{}: {before:?} after {first}, {second}", info.id);
                    timer.on_timeout(&p);
                    assert!(may_fall || timer.rto(&p) >= before, "{} at {expiry}", info.id);
                }
            }
        }
    }
}
