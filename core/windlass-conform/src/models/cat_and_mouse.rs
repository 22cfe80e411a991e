//! The Cat and Mouse Based Optimizer in floating point, after Dehghani, Hubálovský and Trojovský
//! (Sensors 21:5214, 2021), equations 4 to 11, and the cost of a timeout that CoCoA3+ minimises.

/// Uniform random numbers in [0, 1): 32 bits of MurmurHash3's finaliser over a Weyl sequence.
/// Implementations must share this generator so that their searches are comparable. A real number
/// has the upper 20 bits, which a fixed-point implementation can use.
struct Random(u32);

impl Random {
    fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(2_654_435_769);
        let mut h = self.0;
        h = (h ^ (h >> 16)).wrapping_mul(2_246_822_507);
        h = (h ^ (h >> 13)).wrapping_mul(3_266_489_909);
        h ^ (h >> 16)
    }

    fn real(&mut self) -> f64 {
        f64::from(self.bits() / 4096) / f64::from(1 << 20)
    }

    fn index(&mut self, n: usize) -> usize {
        (f64::from(self.bits()) / 4_294_967_296.0 * n as f64) as usize
    }

    /// `round(1 + rand)`.
    fn once_or_twice(&mut self) -> f64 {
        (1.0 + f64::from(self.bits()) / 4_294_967_296.0).round()
    }
}

/// A search for the minimum of a function of `M` numbers.
pub struct CatAndMouse<const M: usize> {
    /// Members with their values. After a sort the best member is first.
    members: Vec<([f64; M], f64)>,
    bounds: (f64, f64),
    cats_first: bool,
    random: Random,
}

impl<const M: usize> CatAndMouse<M> {
    /// Draws the given number of members between the bounds (equations 1 and 2).
    pub fn new(
        n: usize,
        bounds: (f64, f64),
        cats_first: bool,
        seed: u32,
        f: impl Fn(&[f64; M]) -> f64,
    ) -> CatAndMouse<M> {
        let mut random = Random(seed);
        let (lower, upper) = bounds;
        let mut member = || {
            let x: [f64; M] = std::array::from_fn(|_| lower + (upper - lower) * random.real());
            (x, f(&x))
        };
        let members = (0..n).map(|_| member()).collect();
        CatAndMouse { members, bounds, cats_first, random }
    }

    /// One iteration: sort, then every cat and every mouse may jump (equations 3 to 11).
    pub fn iterate(&mut self, f: impl Fn(&[f64; M]) -> f64) {
        self.members.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (n, mice) = (self.members.len(), self.members.len() / 2);
        let groups = [mice..n, 0..mice];
        let turns = if self.cats_first { groups } else { [0..mice, mice..n] };
        for i in turns.into_iter().flatten() {
            let cat = i >= mice;
            let (aim, there) = self.members[self.random.index(if cat { mice } else { n })];
            let times = self.random.once_or_twice();
            let (from, here) = self.members[i];
            let towards = if cat || here > there { 1.0 } else { -1.0 };
            let towards = if !cat && here == there { 0.0 } else { towards };
            let mut x = from;
            for d in 0..M {
                let jump = self.random.real() * (aim[d] - times * from[d]) * towards;
                x[d] = (from[d] + jump).clamp(self.bounds.0, self.bounds.1);
            }
            let value = f(&x);
            if value < here {
                self.members[i] = (x, value);
            }
        }
    }

    /// The best member and its value.
    pub fn best(&self) -> ([f64; M], f64) {
        *self.members.iter().min_by(|a, b| a.1.total_cmp(&b.1)).expect("a population")
    }
}

/// `P(RTT > x) · spurious + loss · E[(x - RTT)+]`, seconds, for these RTTs.
pub fn timeout_cost(rtts: &[f64], spurious: f64, loss: f64, x: f64) -> f64 {
    let late = rtts.iter().filter(|r| **r > x).count() as f64;
    let wait: f64 = rtts.iter().map(|r| (x - r).max(0.0)).sum();
    (late * spurious + loss * wait) / rtts.len() as f64
}
