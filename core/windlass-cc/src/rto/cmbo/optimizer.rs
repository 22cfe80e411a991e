//! The Cat and Mouse Based Optimizer (Dehghani, Hubálovský and Trojovský, Sensors 21:5214, 2021) in
//! integers.
//!
//! A population is sorted by the objective. Its better half are mice, the others cats. A cat jumps
//! towards a random mouse, `c' = c + r·(m - I·c)`. A mouse jumps towards a haven, the position of a
//! random member of the population, or away from it if the haven is worse: `m' = m + r·(h -
//! I·m)·sign(F_m - F_h)`. `I` is 1 or 2 for each jump, and `r` is uniform in [0, 1) for each
//! coordinate. A jump that does not reduce the value is rejected.
//!
//! With `I` = 2 a jump leads from `c` towards `m - c`. The origin of the coordinates is special: minima
//! near it are found more easily than others.

/// Maximum number of members of a population.
pub const MAX_AGENTS: usize = 20;
/// Maximum magnitude of a coordinate: three times this value, times a random number, fits 64 bits.
pub const LIMIT: i64 = 1 << 40;
/// Bits of a random number between 0 and 1.
const UNIFORM_BITS: u32 = 20;

crate::choice! {
    /// Group that moves first in an iteration: the cats, as in the published optimizer, or the
    /// mice, as in the paper's list of stages.
    pub enum Order {
        /// Cats, as in the published optimizer.
        Cmbo = "cmbo",
        /// Mice, as in the list of stages of CoCoA3+: first the "missing acknowledgements", which are
        /// the better half, then the "retransmitted packets" (C3-13).
        Paper = "paper",
    }
}

/// Settings of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Search<const M: usize> {
    /// Members of the population, 2 to [`MAX_AGENTS`]; other values count as the nearest of these.
    pub agents: usize,
    /// Iterations, in each of which every member may jump once.
    pub iterations: u32,
    /// Group that moves first in an iteration: the cats, as in the published optimizer, or the
    /// mice, as in the paper's list of stages.
    pub order: Order,
    /// Minimum coordinates, at least `-LIMIT`.
    pub lower: [i64; M],
    /// Maximum coordinates, at most [`LIMIT`]; a maximum below its minimum counts as the minimum.
    pub upper: [i64; M],
}

/// A member of the population.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Agent<const M: usize> {
    /// Position of the member.
    pub place: [i64; M],
    /// Value of the objective at this position.
    pub value: u64,
}

impl<const M: usize> Agent<M> {
    const NOWHERE: Agent<M> = Agent { place: [0; M], value: u64::MAX };
}

/// Result of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found<const M: usize> {
    /// The best mouse after the last iteration.
    pub mouse: Agent<M>,
    /// The best cat after the last iteration.
    pub cat: Agent<M>,
}

impl<const M: usize> Found<M> {
    /// The best member: a mouse, unless a cat has just jumped to a better position.
    pub fn best(&self) -> &Agent<M> {
        if self.cat.value < self.mouse.value { &self.cat } else { &self.mouse }
    }
}

/// Random numbers: a Weyl sequence through the finaliser of MurmurHash3 (Appleby 2011), which needs
/// only 32-bit arithmetic. Every seed is valid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Draws(u32);

impl Draws {
    /// The sequence of a seed.
    pub const fn new(seed: u32) -> Draws {
        Draws(seed)
    }

    /// The next number.
    pub const fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9);
        let z = (self.0 ^ (self.0 >> 16)).wrapping_mul(0x85eb_ca6b);
        let z = (z ^ (z >> 13)).wrapping_mul(0xc2b2_ae35);
        z ^ (z >> 16)
    }

    /// Uniform in [0, 1), with [`UNIFORM_BITS`] fractional bits.
    const fn uniform(&mut self) -> u64 {
        (self.next() >> (32 - UNIFORM_BITS)) as u64
    }

    /// One of 0 … `n - 1`.
    const fn below(&mut self, n: usize) -> usize {
        ((self.next() as u64 * n as u64) >> 32) as usize
    }

    /// True if `I = round(1 + rand)` is 2.
    const fn doubles(&mut self) -> bool {
        self.next() >> 31 == 1
    }
}

/// Searches the minimum of `objective` between the bounds, with at most `agents · (iterations + 1)`
/// evaluations and `agents · (M + iterations · (M + 2))` random numbers.
///
/// The same seed gives the same search. The first iterations of a longer search are equal to a shorter
/// search.
pub fn minimise<const M: usize>(
    search: &Search<M>,
    seed: u32,
    objective: impl Fn(&[i64; M]) -> u64,
) -> Found<M> {
    let n = search.agents.clamp(2, MAX_AGENTS);
    let mut agents = [Agent::NOWHERE; MAX_AGENTS];
    let mut draws = Draws::new(seed);
    for agent in agents.iter_mut().take(n) {
        *agent = scattered(search, &mut draws);
        agent.value = objective(&agent.place);
    }
    let half = n / 2;
    let mut iteration = 0;
    while iteration < search.iterations {
        sort(&mut agents, n);
        // Both groups jump once per iteration; the order decides only which group begins.
        let mut turn = 0;
        while turn < n {
            let at = match search.order {
                Order::Paper => turn,
                Order::Cmbo if turn < n - half => half + turn,
                Order::Cmbo => turn - (n - half),
            };
            jump(search, &mut draws, &mut agents, at, half, n, &objective);
            turn += 1;
        }
        iteration += 1;
    }
    if iteration == 0 {
        sort(&mut agents, n);
    }
    Found { mouse: best(&agents, 0, half), cat: best(&agents, half, n) }
}

/// A random position between the bounds.
fn scattered<const M: usize>(search: &Search<M>, draws: &mut Draws) -> Agent<M> {
    let mut agent = Agent::NOWHERE;
    let bounds = search.lower.iter().zip(&search.upper);
    for (x, (lower, upper)) in agent.place.iter_mut().zip(bounds) {
        let (lower, upper) = within(*lower, *upper);
        let along = (lower.abs_diff(upper) * draws.uniform()) >> UNIFORM_BITS;
        *x = lower + along as i64;
    }
    agent
}

/// Bounds in ascending order within the range of the arithmetic. (`clamp` can panic, and the compiler
/// for BPF does not see that it cannot here.)
#[allow(clippy::manual_clamp)]
fn within(lower: i64, upper: i64) -> (i64, i64) {
    let lower = lower.max(-LIMIT).min(LIMIT);
    (lower, upper.min(LIMIT).max(lower))
}

/// Moves a member to its jump's end if that improves its value.
#[inline(always)]
fn jump<const M: usize>(
    search: &Search<M>,
    draws: &mut Draws,
    agents: &mut [Agent<M>; MAX_AGENTS],
    at: usize,
    half: usize,
    n: usize,
    objective: &impl Fn(&[i64; M]) -> u64,
) {
    let is_cat = at >= half;
    let aim = draws.below(if is_cat { half } else { n });
    let doubles = draws.doubles();
    let (Some(aim), Some(jumper)) = (agents.get(aim).copied(), agents.get_mut(at)) else { return };
    // sign(F_m - F_h); a cat always jumps towards its mouse.
    let sign = if is_cat || jumper.value > aim.value {
        1
    } else if jumper.value < aim.value {
        -1
    } else {
        0
    };
    let mut place = jumper.place;
    let bounds = search.lower.iter().zip(&search.upper);
    for ((x, to), (lower, upper)) in place.iter_mut().zip(&aim.place).zip(bounds) {
        let way = to - if doubles { 2 * *x } else { *x };
        let length = ((way.unsigned_abs() * draws.uniform()) >> UNIFORM_BITS) as i64;
        let (lower, upper) = within(*lower, *upper);
        *x = (*x + way.signum() * sign * length).min(upper).max(lower);
    }
    let value = objective(&place);
    if value < jumper.value {
        *jumper = Agent { place, value };
    }
}

/// Sorts the first `n` members, the best first; equal members keep their order. After the first call
/// they are nearly sorted, and insertion takes little more than `n` comparisons.
fn sort<const M: usize>(agents: &mut [Agent<M>; MAX_AGENTS], n: usize) {
    let mut i = 1;
    while i < n {
        let mut j = i;
        while j > 0 {
            let Some([left, right]) = agents.get_mut(j - 1..=j) else { break };
            if left.value <= right.value {
                break;
            }
            core::mem::swap(left, right);
            j -= 1;
        }
        i += 1;
    }
}

/// The first of the best members from `from` to before `to`.
fn best<const M: usize>(agents: &[Agent<M>; MAX_AGENTS], from: usize, to: usize) -> Agent<M> {
    let mut best = Agent::NOWHERE;
    for agent in agents.iter().take(to).skip(from) {
        if agent.value < best.value {
            best = *agent;
        }
    }
    best
}
