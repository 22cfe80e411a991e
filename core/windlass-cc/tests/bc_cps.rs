//! BC-CPS: BBR on one path, and a part of its rate on several paths.

use windlass_cc::bbr::Bbr;
use windlass_cc::bc_cps::BcCps;
use windlass_cc::{Ack, Conn, Controller, Group, PathView, RateSample, Ratio, Setup, Span, Time};

const MSS: u64 = 1000;

/// A path of 100 ms that delivers at most `rate` bytes per second.
struct Path {
    c: Conn,
    rate: u64,
}

impl Path {
    fn new(rate: u64) -> Path {
        let mut c = Conn::new(MSS as u32);
        (c.srtt, c.min_rtt) = (Span::from_millis(100), Span::from_millis(100));
        Path { c, rate }
    }

    /// The next 10 ms: an acknowledgement with a sample of the delivered part of `sent` bytes per
    /// second.
    fn ack(&mut self, sent: u64) -> Ack {
        let rate = sent.min(self.rate);
        let bytes = rate / 100;
        let c = &mut self.c;
        c.now += Span::from_millis(10);
        let prior_delivered = c.delivered.saturating_sub(rate / 10);
        c.delivered += bytes;
        (c.una, c.sent) = (c.delivered, c.delivered + rate / 10);
        c.next_id = c.sent;
        (c.in_flight, c.flight_size) = (rate / 10, rate / 10);
        let interval = Span::from_millis(100);
        let rate =
            RateSample { delivered: rate / 10, interval, prior_delivered, ..RateSample::NONE };
        Ack { rtt: Span::from_millis(100), rate, prior_in_flight: c.in_flight, ..Ack::of(bytes) }
    }
}

fn group(rates: &[u64], own: usize) -> Group {
    let view = |rate: &u64| PathView { disclosed: *rate, ..PathView::EMPTY };
    Group::new(rates.iter().map(view)).seen_from(own, 0)
}

#[test]
fn alone_it_is_bbr() {
    let p = Setup::default();
    let mut path = Path::new(500_000);
    let (mut bbr, mut ours) = (Bbr::init(&p, &path.c), BcCps::init(&p, &path.c));
    for _ in 0..2_000 {
        let ack = path.ack(bbr.control(&p, &path.c).pacing.0);
        bbr.on_ack(&p, &path.c, &ack);
        ours.on_ack(&p, &path.c, &ack);
        ours.on_group(&p, &path.c, &group(&[ours.disclosed()], 0));
        assert_eq!(ours.control(&p, &path.c), bbr.control(&p, &path.c));
    }
    assert!(bbr.bandwidth().0 > 490_000);
}

#[test]
fn the_share_is_the_best_estimate_among_the_sum() {
    let p = Setup::default();
    let c = Path::new(1).c;
    let mut ours = BcCps::init(&p, &c);
    let mut share = |rates: &[u64]| {
        ours.on_group(&p, &c, &group(rates, 0));
        ours.share()
    };
    assert_eq!(share(&[30_000, 10_000]), Ratio::of(3, 4));
    assert_eq!(share(&[7, 7, 7, 7]), Ratio::of(1, 4));
    assert_eq!(share(&[0, 0]), Ratio::ONE, "before there is an estimate");
    assert_eq!(share(&[0, 12]), Ratio::ONE);
    assert_eq!(share(&[u64::MAX; 8]), Ratio::of(1, 8));
    assert_eq!(share(&[]), Ratio::ONE);
}

/// Two equal paths: each paces at half of its estimate except while probing, and the estimates remain.
#[test]
fn a_group_paces_slower_and_keeps_its_bandwidth_estimate() {
    let p = Setup::default();
    let mut path = Path::new(500_000);
    let mut ours = BcCps::init(&p, &path.c);
    let (mut slow, mut probing) = (0, 0);
    for n in 0..6_000 {
        let control = ours.control(&p, &path.c);
        let ack = path.ack(control.pacing.0);
        ours.on_ack(&p, &path.c, &ack);
        let x = ours.disclosed();
        ours.on_group(&p, &path.c, &group(&[x, x], 0));
        if path.c.now > Time::from_secs(5) && n % 10 == 0 {
            assert!(x > 480_000, "{x} after {}", path.c.now);
            if ours.bbr().is_probing() {
                probing += 1;
            } else {
                slow += 1;
                assert!(ours.control(&p, &path.c).pacing.0 <= 255_000);
            }
        }
    }
    assert!(slow > 3 * probing && probing > 0, "{slow} {probing}");
}
