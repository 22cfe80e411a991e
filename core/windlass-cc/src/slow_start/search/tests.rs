use super::*;

const RTT: Span = Span::from_millis(100);
const BIN: Span = Span::from_millis(35);

/// A sender whose bytes the test counts, in slow start.
struct Bench {
    p: SearchParams,
    c: Conn,
    w: Window,
    search: Search,
}

impl Bench {
    fn new(variant: SearchVariant) -> Bench {
        let c = Conn { now: Time::from_secs(1), ..Conn::new(1_000) };
        let p = SearchParams { variant, ..Default::default() };
        let w = Window::new(&c, 10_000, 1 << 40);
        let mut bench = Bench { p, c, w, search: Search::init(&p, &c) };
        bench.step(Span::ZERO, RTT, 1_000, 1_000);
        bench
    }

    /// Sends and acknowledges bytes after a time, with this RTT.
    fn step(&mut self, after: Span, rtt: Span, sent: u64, delivered: u64) {
        self.c.now += after;
        self.c.sent += sent;
        self.c.delivered += delivered;
        let a = Ack { rtt, ..Ack::of(delivered) };
        self.search.observe(&self.p, &self.c, &a, &mut self.w);
    }

    fn left(&self) -> bool {
        !self.w.in_slow_start()
    }

    /// Doubles the bytes in each RTT until the bins cover the comparison; returns the next bytes.
    fn double(&mut self) -> u64 {
        let mut bytes = 10_000;
        while self.search.index < 12 {
            self.step(RTT, RTT, bytes, bytes);
            bytes *= 2;
        }
        assert!(!self.left(), "no exit while the path delivers what was sent");
        bytes
    }
}

const PAST: Span = Span(BIN.0 + 1);

#[test]
fn a_first_rtt_of_100_ms_makes_bins_of_35_ms_and_a_look_back_of_2_bins_and_85_parts() {
    let mut bench = Bench::new(SearchVariant::Draft09);
    assert_eq!(bench.search.bin, BIN.0);
    assert_eq!(bench.search.bins(RTT.0), (2, 85));
    bench.step(Span::from_millis(200), Span::from_millis(200), 1_000, 1_000);
    assert_eq!(bench.search.bin, BIN.0, "only the first RTT counts");
    assert_eq!(bench.search.index, 5);
}

#[test]
fn a_bin_ends_after_its_end_and_skipped_bins_take_the_value_before_them() {
    let mut bench = Bench::new(SearchVariant::Draft09);
    bench.step(BIN, RTT, 1_000, 1_000);
    assert_eq!(bench.search.index, 0, "at its end the bin has not passed");
    bench.step(Span(BIN.0 + 1), RTT, 1_000, 1_000);
    assert_eq!(bench.search.index, 2);
    let bins = [0, 1, 2].map(|n| at(&bench.search.recent, n));
    assert_eq!(bins, [1_000, 1_000, 3_000]);
}

#[test]
fn twenty_bins_of_1000_bytes_give_a_window_of_10000_bytes_sent_and_delivered() {
    for variant in [SearchVariant::Draft09, SearchVariant::Netdev] {
        let mut bench = Bench::new(variant);
        for _ in 0..20 {
            bench.w.set_ssthresh(1 << 40); // this variant would leave
            bench.step(PAST, RTT, 1_000, 1_000);
        }
        let (back, part) = bench.search.bins(RTT.0);
        assert_eq!(bench.search.earlier(back, part), 10_000, "{variant:?}");
        assert_eq!(bench.search.delivered(W), 10_000, "{variant:?}");
    }
}

#[test]
fn more_skipped_bins_than_a_window_restart_the_measurement() {
    let mut bench = Bench::new(SearchVariant::Draft09);
    bench.step(Span(10 * BIN.0), RTT, 1_000, 1_000);
    assert_eq!(bench.search.index, 10, "a whole window may pass");
    for (passed, rtt) in [(11, 200), (15, 200)] {
        let bin = bench.search.bin;
        let late = Span(bench.search.bin_end.since(bench.c.now).0 + (passed - 1) * bin + 1);
        let mut other = bench.search;
        let c = Conn { now: bench.c.now + late, ..bench.c };
        let allowed = SearchParams { missed_bins: passed, ..bench.p };
        assert!(other.advance(&allowed, &c), "{passed} bins");
        bench.step(late, RTT, 1_000, 1_000);
        assert_eq!(bench.search, Search::EMPTY, "{passed} bins");
        bench.step(Span::ZERO, Span::from_millis(rtt), 1_000, 1_000);
        assert_eq!(bench.search.bin, 2 * BIN.0, "the next RTT sample sets the bins");
    }
}

#[test]
fn netdev_restarts_the_measurement_after_two_skipped_bins() {
    for (bins, index) in [(2, 2), (3, 0)] {
        let mut bench = Bench::new(SearchVariant::Netdev);
        bench.step(Span(bins * BIN.0 + 1), RTT, 1_000, 1_000);
        assert_eq!(bench.search.index, index);
    }
}

#[test]
fn one_slow_rtt_does_not_end_slow_start_and_two_do() {
    let mut bench = Bench::new(SearchVariant::Draft09);
    let mut bytes = bench.double();
    for _ in 0..10 {
        bench.step(RTT, RTT, bytes, bytes);
        bytes *= 2;
    }
    bench.step(RTT, RTT, bytes, bytes / 4);
    assert!(!bench.left());
    bytes += bytes / 4;
    bench.step(RTT, RTT, bytes, bytes / 4);
    assert!(bench.left());
    assert_eq!(bench.w.ssthresh(), 10_000, "the window stays");
}

#[test]
fn netdev_ends_slow_start_when_the_delivered_bytes_no_longer_double() {
    let mut bench = Bench::new(SearchVariant::Netdev);
    // The bytes of a bin double in three bins, a little more than an RTT.
    let delivered = |n: u32| 1_000u64 << n.div_ceil(3).min(8);
    for n in 0..24 {
        bench.step(PAST, RTT, delivered(n), delivered(n));
        assert!(!bench.left(), "bin {n}");
    }
    let left = (24..40).find(|n| {
        bench.step(PAST, RTT, 2 * delivered(*n), delivered(*n));
        bench.left()
    });
    // Of the last ten bins most have the full rate.
    assert!(matches!(left, Some(25..33)), "{left:?}");
}

#[test]
fn an_rtt_of_fifteen_bins_allows_no_comparison() {
    for (rtt_ms, leaves) in [(525, false), (524, true)] {
        let mut bench = Bench::new(SearchVariant::Draft09);
        for _ in 0..40 {
            bench.step(PAST, RTT, 1_000, 1_000);
        }
        // All of a window is missing.
        for _ in 0..W {
            bench.step(PAST, Span::NONE, 1_000, 0);
        }
        bench.step(PAST, Span::from_millis(rtt_ms), 0, 0);
        assert_eq!(bench.left(), leaves, "{rtt_ms} ms");
    }
}

#[test]
fn without_sent_bytes_slow_start_continues() {
    let mut bench = Bench::new(SearchVariant::Draft09);
    for _ in 0..30 {
        bench.step(PAST, RTT, 0, 0);
    }
    assert!(!bench.left());
}

#[test]
fn exit_delivered_sets_the_window_to_the_data_of_the_last_first_rtt() {
    let mut bench = Bench::new(SearchVariant::Draft09);
    bench.p.exit = SearchExit::Delivered;
    bench.w.set(&bench.c, 1_000_000);
    for _ in 0..20 {
        bench.step(PAST, RTT, 1_000, 1_000);
    }
    for _ in 0..20 {
        bench.step(PAST, RTT, 10_000, 2_000);
    }
    assert!(bench.left());
    // 3.5 first RTTs are 10 bins, so that one RTT is 3 bins.
    assert_eq!((bench.w.cwnd(), bench.w.ssthresh()), (6_000, 6_000));
}

#[test]
fn counts_beyond_32_bits_are_scaled() {
    let mut bench = Bench::new(SearchVariant::Draft09);
    for _ in 0..20 {
        bench.step(PAST, RTT, 1 << 40, 1 << 40);
    }
    assert!(bench.search.shift > 0 && !bench.left());
    let window = bench.search.delivered(W) << bench.search.shift;
    assert!(window.abs_diff(10 << 40) < 1 << 20, "{window}");
    bench.step(PAST, RTT, 1 << 63, 1 << 63);
    assert_eq!(bench.search.shift, 32, "all of a bin's bits may go at once");
}
