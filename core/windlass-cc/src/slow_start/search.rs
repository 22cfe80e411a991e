//! SEARCH: slow start ends when the delivered data no longer follow the data sent one RTT before.

use super::{Described, SlowStart};
use crate::arithmetic::math::{div, divisor, mul, mul_div};
use crate::arithmetic::window::Window;
use crate::event::{Ack, Conn};
use crate::info::Info;
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::{Span, Time};

crate::choice! {
    /// Published version of SEARCH: its comparison and the defaults of `thresh` and `missed_bins`.
    pub enum SearchVariant {
        /// Draft-09, as in neqo: the bytes sent one RTT before with the bytes delivered now.
        Draft09 = "draft-09",
        /// The older comparison, as in the patch for Linux of January 2025: twice the bytes delivered
        /// one RTT before with the bytes delivered now.
        Netdev = "netdev",
    }
}

crate::choice! {
    /// Window at the end of slow start.
    pub enum SearchExit {
        /// The window stays and becomes the threshold.
        Keep = "keep",
        /// The data delivered in the last bins that cover the first RTT, which is a window without a
        /// queue. The draft drains to it gradually; here it is set at once.
        Delivered = "delivered",
    }
}

/// Bins of a window, W.
const W: u64 = 10;
/// Bins beyond a window, so that the window one RTT before can be found.
const EXTRA: u64 = 15;
/// Stored bins of the delivered bytes: the range from `index - W` to `index`.
const RECENT: usize = W as usize + 1;
/// Stored bins of the bytes one RTT before.
const EARLIER: usize = RECENT + EXTRA as usize;
/// Parts of a bin in an interpolation.
const PARTS: u64 = 100;

crate::parameters! {
    /// Parameters of SEARCH.
    pub struct SearchParams {
        /// Published version: its comparison and the defaults of thresh and missed_bins.
        variant: SearchVariant = SearchVariant::Draft09, SearchVariant::KIND,
            "draft-chung-ccwg-search-09; patch for Linux of January 2025";
        /// Length of the window in first RTTs; it has ten bins.
        window: Ratio = Ratio::of(7, 2),
            ParamKind::Ratio { min: Ratio::ONE, max: Ratio(16 * Ratio::ONE.0) },
            "draft-chung-ccwg-search-09, WINDOW_SIZE";
        /// Share of the expected bytes that may be missing. Zero takes the variant's: 0.26 in
        /// draft-09, 0.35 in netdev.
        thresh: Ratio = Ratio(0), ParamKind::Ratio { min: Ratio(0), max: Ratio::ONE },
            "draft-chung-ccwg-search-09, THRESH; patch for Linux, search_thresh";
        /// Bins that one acknowledgement may pass; more restart the measurement. Zero takes
        /// the variant's: 10 in draft-09 (as in neqo; the draft makes it optional), 2 in netdev.
        missed_bins: u64 = 0, ParamKind::Count { min: 0, max: 1_000 },
            "neqo cc/search.rs; patch for Linux, search_missed_bins_threshold";
        /// Window at the end of slow start.
        exit: SearchExit = SearchExit::Keep, SearchExit::KIND,
            "neqo and the patch for Linux keep the window; draft-chung-ccwg-search-09 drains it";
    }
}

impl SearchParams {
    /// Share of the expected bytes that may be missing.
    fn thresh(&self) -> Ratio {
        match (self.thresh, self.variant) {
            (Ratio(0), SearchVariant::Draft09) => Ratio::of(26, 100),
            (Ratio(0), SearchVariant::Netdev) => Ratio::of(35, 100),
            (given, _) => given,
        }
    }

    fn missed_bins(&self) -> u64 {
        match (self.missed_bins, self.variant) {
            (0, SearchVariant::Draft09) => W,
            (0, SearchVariant::Netdev) => 2,
            (given, _) => given,
        }
    }

    /// True if the bins cover the window that ends `back` bins before `index`.
    fn covers(&self, index: u64, back: u64) -> bool {
        match self.variant {
            SearchVariant::Draft09 => back < EXTRA && index > W + back,
            // The patch stores one window and the extra bins, and reads a bin before the window.
            SearchVariant::Netdev => back < EXTRA - 1 && index >= W + back,
        }
    }
}

/// SEARCH. Bins are cumulative byte counts, divided by 2^`shift` so that they fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Search {
    /// End of the present bin.
    bin_end: Time,
    /// Length of a bin, nanoseconds; zero before the first RTT sample.
    bin: u64,
    /// Delivered bytes at the beginning of the measurement.
    delivered_before: u64,
    /// Bytes sent at the beginning of the measurement; in variant netdev the delivered bytes.
    earlier_before: u64,
    /// Number of the present bin.
    index: u64,
    /// Delivered bytes at the end of each bin.
    recent: [u32; RECENT],
    /// Bytes sent, or delivered, at the end of each bin.
    earlier: [u32; EARLIER],
    /// Bits by which the bins are shifted.
    shift: u32,
}

impl Search {
    const EMPTY: Search = Search {
        bin_end: Time::ZERO,
        bin: 0,
        delivered_before: 0,
        earlier_before: 0,
        index: 0,
        recent: [0; RECENT],
        earlier: [0; EARLIER],
        shift: 0,
    };

    /// The count of the comparison one RTT before.
    fn earlier_count(p: &SearchParams, c: &Conn) -> u64 {
        match p.variant {
            SearchVariant::Draft09 => c.sent,
            SearchVariant::Netdev => c.delivered,
        }
    }

    /// Begins the measurement with the first RTT.
    fn begin(&mut self, p: &SearchParams, c: &Conn, a: &Ack) {
        let bin = p.window.times(a.rtt.0) / W;
        if !a.rtt.is_known() || bin == 0 {
            return;
        }
        let earlier_before = match p.variant {
            SearchVariant::Draft09 => c.sent,
            SearchVariant::Netdev => c.delivered.wrapping_sub(a.delivered),
        };
        *self = Search {
            bin_end: c.now + Span(bin),
            bin,
            delivered_before: c.delivered.wrapping_sub(a.delivered),
            earlier_before,
            ..Search::EMPTY
        };
        self.store(p, c);
    }

    /// Stores the counts of the present bin.
    fn store(&mut self, p: &SearchParams, c: &Conn) {
        let delivered = c.delivered.wrapping_sub(self.delivered_before);
        let earlier = Search::earlier_count(p, c).wrapping_sub(self.earlier_before);
        let bits = u64::BITS - (delivered.max(earlier) >> self.shift).leading_zeros();
        let more = bits.saturating_sub(u32::BITS);
        if more > 0 {
            self.shift += more;
            for bin in self.recent.iter_mut().chain(&mut self.earlier) {
                *bin = bin.checked_shr(more).unwrap_or(0);
            }
        }
        set(&mut self.recent, self.index, (delivered >> self.shift) as u32);
        set(&mut self.earlier, self.index, (earlier >> self.shift) as u32);
    }

    /// Advances to the bin of the present time. Returns false if too many bins passed.
    fn advance(&mut self, p: &SearchParams, c: &Conn) -> bool {
        let passed = div(c.now.since(self.bin_end).0, divisor(self.bin)).saturating_add(1);
        if passed > p.missed_bins() {
            *self = Search::EMPTY;
            return false;
        }
        let (recent, earlier) = (at(&self.recent, self.index), at(&self.earlier, self.index));
        for skipped in 1..passed {
            set(&mut self.recent, self.index + skipped, recent);
            set(&mut self.earlier, self.index + skipped, earlier);
        }
        self.index += passed;
        self.bin_end += Span(mul(passed, self.bin));
        self.store(p, c);
        true
    }

    /// Bins that a time covers: whole bins, and the remaining parts of a bin.
    fn bins(&self, time: u64) -> (u64, u64) {
        let bin = divisor(self.bin);
        let rest = time % bin;
        (time / bin, mul_div(rest, PARTS, self.bin).min(PARTS - 1))
    }

    /// Bytes delivered in the last `bins` bins, at most a window.
    fn delivered(&self, bins: u64) -> u64 {
        let before = at(&self.recent, self.index.saturating_sub(bins.min(W)));
        u64::from(at(&self.recent, self.index).saturating_sub(before))
    }

    /// Bytes of the window that ended `back` bins and `part` hundredths of a bin before. The index is
    /// reduced, not increased as in draft-09: its authors have agreed that this is a mistake.
    fn earlier(&self, back: u64, part: u64) -> u64 {
        // A whole ring more, so that no index is negative. The place before the first bin is empty.
        let end = self.index.saturating_sub(back) + EARLIER as u64;
        let window =
            |end: u64| u64::from(at(&self.earlier, end).saturating_sub(at(&self.earlier, end - W)));
        (window(end - 1) * part + window(end) * (PARTS - part)) / PARTS
    }

    /// True if too large a share of the expected bytes was not delivered.
    fn is_full(&self, p: &SearchParams, rtt: Span) -> bool {
        if !rtt.is_known() {
            return false;
        }
        let (back, part) = self.bins(rtt.0);
        if !p.covers(self.index, back) {
            return false;
        }
        let earlier = self.earlier(back, part);
        let expected = match p.variant {
            SearchVariant::Draft09 => earlier,
            SearchVariant::Netdev => 2 * earlier,
        };
        let missing = expected.saturating_sub(self.delivered(W));
        missing > 0 && mul_div(missing, Ratio::ONE.0, expected) >= p.thresh().0
    }

    /// Ends slow start.
    fn leave(&self, p: &SearchParams, c: &Conn, w: &mut Window) {
        if p.exit == SearchExit::Delivered {
            let first_rtt = mul(W, Ratio::ONE.0).div_ceil(p.window.0.max(1));
            let target = self.delivered(first_rtt) << self.shift;
            w.shrink(c, target.max(mul(2, u64::from(c.mss))));
        }
        w.set_ssthresh(w.cwnd());
    }
}

/// The value of the bin with this number.
fn at(bins: &[u32], index: u64) -> u32 {
    bins.get((index % bins.len() as u64) as usize).copied().unwrap_or(0)
}

/// Sets the value of the bin with this number.
fn set(bins: &mut [u32], index: u64, value: u32) {
    let place = (index % bins.len() as u64) as usize;
    if let Some(bin) = bins.get_mut(place) {
        *bin = value;
    }
}

impl Described for Search {
    const INFO: &'static Info = &Info {
        id: "search",
        name: "SEARCH",
        origin: "J. Chung, M. Kachooei, F. Li and M. Claypool, SEARCH - a New Slow Start Algorithm for \
            TCP and QUIC, draft-chung-ccwg-search-09, March 2026",
        citation: "chung2026search",
        description: "A window of 3.5 first RTTs has ten bins with the bytes sent and delivered. At \
            the end of a bin, the bytes sent in the window one RTT before are the bytes expected \
            in the window that ends now. Slow start ends when 26 % of them are missing. Variant \
            netdev expects twice the bytes delivered one RTT before, and 65 % of them. The window \
            one RTT before is interpolated between two bins, backwards as in neqo; draft-09 \
            interpolates forwards, which its authors call a mistake. An RTT sample of 15 bins or \
            more, which is 5.25 first RTTs, allows no comparison. The measurement restarts if an \
            acknowledgement passes too many bins, and after a loss or an idle time. The window \
            is kept, as in neqo, or set to the data delivered in the last first RTT. The draft \
            drains to it gradually, and it stores bins of 16 bits instead of 32.",
        params: SearchParams::TABLE,
        trace: &[],
    };
}

impl SlowStart for Search {
    type Params = SearchParams;

    fn init(_p: &SearchParams, _c: &Conn) -> Search {
        Search::EMPTY
    }

    fn observe(&mut self, p: &SearchParams, c: &Conn, a: &Ack, w: &mut Window) {
        if !w.in_slow_start() {
            return;
        }
        if self.bin == 0 {
            self.begin(p, c, a);
            return;
        }
        let rtt = if a.rtt.is_known() { a.rtt } else { c.srtt };
        if c.now > self.bin_end && self.advance(p, c) && self.is_full(p, rtt) {
            self.leave(p, c, w);
        }
    }

    #[inline]
    fn grow(&mut self, _p: &SearchParams, _c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        w.add(credit);
    }

    fn restart(&mut self, _p: &SearchParams, _c: &Conn) {
        *self = Search::EMPTY;
    }
}

#[cfg(test)]
mod tests;
