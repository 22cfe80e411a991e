//! Coupled growth: LIA (RFC 6356), OLIA (Khalili et al. 2013), BALIA (Peng et al. 2016), D-LIA
//! (Lubna, Mahmud, Cho 2020), wVegas (Cao, Xu, Fu 2012), and the approximations of MPFast and
//! emReno. Windows are in segments of the algorithm's path, times in seconds.

use windlass_cc::{Ack, Conn, Group, PathView, Phase};

use super::delay::Fast;
use super::frame::{Cause, Law, Windows, kept, per_round};
use super::rounds::{Rounds, base, queued};

/// A path: cwnd in segments of the algorithm's path, RTT, and the disclosed value.
#[derive(Clone, Copy)]
struct Seen {
    w: f64,
    r: f64,
    /// cwnd in whole segments of this path.
    whole: f64,
    disclosed: f64,
    own: bool,
}

impl Seen {
    fn x(&self) -> f64 {
        self.w / self.r
    }
}

/// The paths with a known RTT; `None` for a single path.
fn seen(c: &Conn, g: &Group, w: &Windows) -> Option<Vec<Seen>> {
    let look = |(place, path): (usize, &PathView)| {
        let own = place == g.place();
        let (cwnd, ssthresh) =
            if own { (w.cwnd, w.ssthresh) } else { (path.cwnd as f64, path.ssthresh as f64) };
        // RFC 6356 section 3: the window before duplicates inflated it
        let bytes = if path.phase == Phase::Recovery { ssthresh } else { cwnd };
        path.srtt.is_known().then(|| Seen {
            w: bytes / f64::from(c.mss),
            r: path.srtt.0 as f64 * 1e-9,
            whole: (bytes / f64::from(path.mss)).floor(),
            disclosed: path.disclosed as f64,
            own,
        })
    };
    let paths: Vec<Seen> = g.paths().iter().enumerate().filter_map(look).collect();
    (paths.len() >= 2 && paths.iter().any(|path| path.own)).then_some(paths)
}

fn rates(paths: &[Seen]) -> f64 {
    paths.iter().map(Seen::x).sum()
}

fn largest(paths: &[Seen], of: impl Fn(&Seen) -> f64) -> f64 {
    paths.iter().map(of).fold(0.0, f64::max)
}

fn own(paths: &[Seen]) -> Seen {
    paths.iter().copied().find(|path| path.own).expect("`seen` has looked for it")
}

/// Bytes of growth per acknowledgement, from the segments of growth per acknowledged segment.
fn bytes(c: &Conn, credit: f64, segments: f64) -> f64 {
    segments * credit.max(f64::from(c.mss))
}

/// RFC 6356 section 3, with the price of emReno.
#[derive(Default)]
pub struct Lia {
    /// alpha/cwnd_total for windows in segments.
    linked: Option<f64>,
    /// Share of the increase that is withheld.
    price: f64,
}

impl Lia {
    /// LIA with this price.
    pub fn priced(price: f64) -> Lia {
        Lia { price, ..Lia::default() }
    }
}

impl Law for Lia {
    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        let reno = 1.0 / w.segments(c);
        let segments = self.linked.unwrap_or(reno).min(reno);
        bytes(c, credit, segments) * (1.0 - self.price)
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, _cause: Cause) -> f64 {
        kept(c, 0.5)
    }

    fn regroup(&mut self, c: &Conn, g: &Group, w: &Windows) {
        self.linked = seen(c, g, w).map(|paths| {
            // equation 2
            let total: f64 = paths.iter().map(|path| path.w).sum();
            let best = largest(&paths, |path| path.w / (path.r * path.r));
            let alpha = total * best / rates(&paths).powi(2);
            alpha / total
        });
    }
}

/// draft-khalili-mptcp-congestion-control-05 section 3.
#[derive(Default)]
pub struct Olia {
    linked: Option<f64>,
    /// Segments of growth per acknowledged segment are this value over cwnd.
    epsilon: f64,
    /// Bytes acknowledged since the last loss, between the two losses before it, and before those.
    stretches: [f64; 3],
    /// True if the last loss has moved the stretches.
    moved: bool,
}

impl Law for Olia {
    fn observe(&mut self, _c: &Conn, a: &Ack, _w: &mut Windows) {
        self.stretches[0] += a.acked as f64;
    }

    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        let reno = 1.0 / w.segments(c);
        let linked = self.linked.unwrap_or(reno).min(reno);
        let segments = linked + self.epsilon * reno;
        let after = w.cwnd + bytes(c, credit, segments);
        if segments < 0.0 {
            w.ssthresh = w.ssthresh.min(after);
        }
        after.max(f64::from(c.mss)) - w.cwnd
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, _cause: Cause) -> f64 {
        self.moved = self.stretches[0] > 0.0;
        if self.moved {
            let [since, between, _] = self.stretches;
            self.stretches = [0.0, since, between];
        }
        let least = if self.linked.is_some() { 1.0 } else { 2.0 };
        (c.flight_size as f64 / 2.0).max(least * f64::from(c.mss))
    }

    fn undo(&mut self, _c: &Conn, _w: &Windows) {
        if self.moved {
            let [since, between, before] = self.stretches;
            self.stretches = [since + between, before, before];
            self.moved = false;
        }
    }

    fn regroup(&mut self, c: &Conn, g: &Group, w: &Windows) {
        (self.linked, self.epsilon) = (None, 0.0);
        let Some(mut paths) = seen(c, g, w) else { return };
        for path in paths.iter_mut().filter(|path| path.own) {
            path.disclosed = self.disclosed();
        }
        let me = own(&paths);
        self.linked = Some(me.w / (me.r * me.r) / rates(&paths).powi(2));
        let quality = |path: &Seen| path.disclosed / (path.r * path.r);
        let (finest, most) = (largest(&paths, quality), largest(&paths, |path| path.whole));
        let is_best = |path: &Seen| quality(path) >= finest * (1.0 - 1e-9);
        let is_largest = |path: &Seen| path.whole == most;
        let rising = paths.iter().filter(|path| is_best(path) && !is_largest(path)).count();
        let giving = paths.iter().filter(|path| is_largest(path)).count();
        let n = paths.len() as f64;
        if rising > 0 && is_best(&me) && !is_largest(&me) {
            self.epsilon = 1.0 / (n * rising as f64);
        } else if rising > 0 && is_largest(&me) {
            self.epsilon = -1.0 / (n * giving as f64);
        }
    }

    fn disclosed(&self) -> f64 {
        self.stretches[0].max(self.stretches[1])
    }
}

/// draft-walid-mptcp-congestion-control-04 section 3.
#[derive(Default)]
pub struct Balia {
    /// Segments of growth per acknowledged segment, and the largest rate over this path's rate.
    linked: Option<(f64, f64)>,
}

impl Law for Balia {
    fn increase(&mut self, c: &Conn, _a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        // Never more than Reno, because an undone timeout raises cwnd above the value in the group.
        let reno = 1.0 / w.segments(c);
        bytes(c, credit, self.linked.map_or(reno, |(segments, _)| segments.min(reno)))
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, _cause: Cause) -> f64 {
        let Some((_, a)) = self.linked else { return kept(c, 0.5) };
        (c.flight_size as f64 * (1.0 - a.min(1.5) / 2.0)).max(f64::from(c.mss))
    }

    fn regroup(&mut self, c: &Conn, g: &Group, w: &Windows) {
        self.linked = seen(c, g, w).map(|paths| {
            let me = own(&paths);
            let a = largest(&paths, Seen::x) / me.x();
            let segments = me.x() / (me.r * rates(&paths).powi(2));
            (segments * ((1.0 + a) / 2.0) * ((4.0 + a) / 5.0), a)
        });
    }

    /// The ratio of rates truncated to a 65536th, times the flight.
    fn tolerance(&self, w: &Windows) -> f64 {
        4.0 + w.cwnd / 16_384.0
    }
}

/// The authors' published code, with fractions.
pub struct DLia {
    lia: Lia,
    /// cwnd after the last reduction in bytes, and the share that was kept.
    last: (f64, f64),
    before: (f64, f64),
}

impl DLia {
    /// A new connection.
    pub fn new(c: &Conn) -> DLia {
        let last = (2.0 * f64::from(c.mss), 0.5);
        DLia { lia: Lia::default(), last, before: last }
    }
}

impl Law for DLia {
    fn increase(&mut self, c: &Conn, a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        self.lia.increase(c, a, credit, w)
    }

    fn ssthresh(&mut self, c: &Conn, w: &Windows, _cause: Cause) -> f64 {
        self.before = self.last;
        let gamma = (self.last.0 / w.cwnd).min(1.0);
        let beta = (0.25 * gamma + 0.75 * self.last.1).clamp(0.5, 0.9);
        let left = kept(c, beta);
        self.last = (left, beta);
        left
    }

    fn undo(&mut self, _c: &Conn, _w: &Windows) {
        self.last = self.before;
    }

    fn resize(&mut self, _c: &Conn, factor: f64) {
        self.last.0 *= factor;
        self.before.0 *= factor;
    }

    fn regroup(&mut self, c: &Conn, g: &Group, w: &Windows) {
        self.lia.regroup(c, g, w);
    }

    /// The shares to a 65536th, times the flight.
    fn tolerance(&self, w: &Windows) -> f64 {
        4.0 + w.cwnd / 8_192.0
    }
}

/// wVegas: total_alpha 10, initial_alpha 2.
pub struct WVegas {
    rounds: Rounds,
    /// Segments of growth per round: one, zero, or Reno's growth before the first estimate.
    opening: Option<f64>,
    alpha: f64,
    /// Rate in bytes per second; zero before the first estimate.
    rate: f64,
    others: f64,
    least_delay: Option<f64>,
}

impl WVegas {
    /// A new connection.
    pub fn new(c: &Conn) -> WVegas {
        WVegas {
            rounds: Rounds::new(c),
            opening: None,
            alpha: 2.0,
            rate: 0.0,
            others: 0.0,
            least_delay: None,
        }
    }
}

impl Law for WVegas {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        let Some(ended) = self.rounds.take(c, a) else { return };
        if ended.samples < 3 {
            self.opening = None;
            return;
        }
        if !matches!(c.phase, Phase::Open | Phase::Loss) || w.cwnd < w.ssthresh {
            return;
        }
        let mss = f64::from(c.mss);
        let diff = queued(w.segments(c), base(c), ended.mean).floor();
        if diff >= self.alpha {
            self.rate = w.cwnd / ended.mean;
            self.alpha = (10.0 * self.rate / (self.rate + self.others)).floor().max(2.0);
        }
        self.opening = Some(if diff < self.alpha { 1.0 } else { 0.0 });
        if diff > self.alpha {
            w.shrink(c, (w.cwnd - mss).max(2.0 * mss));
        }
        let delay = ended.mean - base(c);
        if delay < 1e-6 {
            self.least_delay = None;
            return;
        }
        let least = self.least_delay.map_or(delay, |least| least.min(delay));
        self.least_delay = Some(least);
        if delay >= 2.0 * least {
            w.shrink(c, (w.cwnd * base(c) / (2.0 * ended.mean)).max(2.0 * mss));
            self.least_delay = None;
        }
    }

    fn increase(&mut self, c: &Conn, a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        let acked = a.acked as f64;
        match self.opening {
            Some(segments) => segments * f64::from(c.mss) * acked.min(w.cwnd) / w.cwnd,
            None => per_round(c, credit, w, 1.0),
        }
    }

    fn ssthresh(&mut self, c: &Conn, _w: &Windows, _cause: Cause) -> f64 {
        kept(c, 0.5)
    }

    fn restart(&mut self, c: &Conn, _w: &Windows) {
        *self = WVegas { others: self.others, ..WVegas::new(c) };
    }

    fn regroup(&mut self, _c: &Conn, g: &Group, _w: &Windows) {
        let siblings = g.paths().iter().enumerate().filter(|(place, _)| *place != g.place());
        let known = siblings.filter(|(_, path)| path.srtt.is_known());
        self.others = known.map(|(_, path)| path.disclosed as f64).sum();
    }

    fn disclosed(&self) -> f64 {
        self.rate
    }
}

/// FAST with alpha = 100·x/Σx in whole segments.
pub struct MpFast(Fast);

impl MpFast {
    /// A new connection.
    pub fn new(c: &Conn) -> MpFast {
        MpFast(Fast::new(c))
    }
}

impl Law for MpFast {
    fn observe(&mut self, c: &Conn, a: &Ack, w: &mut Windows) {
        self.0.observe(c, a, w);
    }

    fn increase(&mut self, c: &Conn, a: &Ack, credit: f64, w: &mut Windows) -> f64 {
        self.0.increase(c, a, credit, w)
    }

    fn ssthresh(&mut self, c: &Conn, w: &Windows, cause: Cause) -> f64 {
        self.0.ssthresh(c, w, cause)
    }

    fn restart(&mut self, c: &Conn, w: &Windows) {
        self.0.restart(c, w);
    }

    fn undo(&mut self, c: &Conn, w: &Windows) {
        self.0.undo(c, w);
    }

    fn idle(&mut self, c: &Conn, gap: f64) {
        self.0.idle(c, gap);
    }

    fn resize(&mut self, c: &Conn, factor: f64) {
        self.0.resize(c, factor);
    }

    fn regroup(&mut self, c: &Conn, g: &Group, w: &Windows) {
        let share = seen(c, g, w).map_or(1.0, |paths| own(&paths).x() / rates(&paths));
        self.0.alpha = (100.0 * share).round().max(1.0);
    }

    fn tolerance(&self, w: &Windows) -> f64 {
        self.0.tolerance(w)
    }
}
