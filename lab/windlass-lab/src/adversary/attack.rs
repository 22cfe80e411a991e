//! Attacks on a path, and their scenarios.

use serde::Serialize;

use crate::scenario::{Scenario, ScenarioError};

/// The path without an attack.
const PATH: &str = include_str!("path.toml");
/// Rate of the bottleneck in `path.toml`, kbit/s.
pub(super) const RATE_KBPS: u64 = 10_000;
/// Duration of a run, ms.
pub(super) const LENGTH_MS: u64 = 20_000;
/// Delay of the subject's own link, microseconds.
pub(super) const ACCESS_US: u64 = 1000;
/// Payload rate of a burst, as a multiple of the bottleneck's rate.
const BURST: u64 = 2;

/// Periodic bursts of datagrams at twice the bottleneck's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bursts {
    /// Start of the first burst, ms.
    pub first_ms: u64,
    /// Time between the starts of two bursts, ms.
    pub period_ms: u64,
    /// Length of a burst, ms.
    pub length_ms: u64,
}

/// Acknowledgements that the bottleneck holds back and releases together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Acks {
    /// Number of acknowledgements that releases them.
    pub count: u64,
    /// Maximum time that acknowledgements are held, ms.
    pub within_ms: u64,
    /// True if only the newest acknowledgement is released, and the others are dropped.
    pub thin: bool,
}

/// An attack on the path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attack {
    /// Numbers of the packets that the bottleneck drops, ascending.
    pub losses: Vec<u64>,
    /// Bursts of other traffic.
    pub bursts: Option<Bursts>,
    /// Start and end of each outage of the bottleneck, ms, ascending.
    pub outages_ms: Vec<[u64; 2]>,
    /// Steps of the bottleneck's rate: time in ms and rate in kbit/s, ascending. Before the first step the
    /// rate is the full rate.
    pub rates: Vec<[u64; 2]>,
    /// Steps of the additional delay of the subject's packets: time in ms and delay in microseconds, ascending.
    pub delays: Vec<[u64; 2]>,
    /// Holding of acknowledgements.
    pub acks: Option<Acks>,
    /// The bottleneck's queue, packets.
    pub queue: u64,
    /// Start of the second flow, ms.
    pub second_ms: u64,
    /// End of the attack, ms. The queue and the holding of acknowledgements remain until the end of the run.
    pub until_ms: u64,
}

impl Bursts {
    /// Start and end of each burst, ms.
    fn on(&self, until_ms: u64) -> Vec<[u64; 2]> {
        let begins = (0..).map(|i| self.first_ms + i * self.period_ms);
        let begins = begins.take_while(|begin| begin + self.length_ms < until_ms);
        begins.map(|begin| [begin, begin + self.length_ms]).collect()
    }
}

impl Attack {
    /// No attack, with a queue of this size.
    pub(super) fn none(queue: u64, until_ms: u64) -> Attack {
        Attack {
            losses: Vec::new(),
            bursts: None,
            outages_ms: Vec::new(),
            rates: Vec::new(),
            delays: Vec::new(),
            acks: None,
            queue,
            second_ms: 0,
            until_ms,
        }
    }

    /// The scenario of the attack on an algorithm, with an optional second flow of the algorithm `second`.
    ///
    /// # Errors
    ///
    /// An algorithm is unknown.
    pub(super) fn scenario(
        &self,
        algorithm: &str,
        second: Option<&str>,
    ) -> Result<Scenario, ScenarioError> {
        let mut text = PATH.to_owned();
        let mut set = vec![
            ("flow.subject.algorithm".to_owned(), algorithm.to_owned()),
            ("link.bottleneck.queue".to_owned(), format!("{}pkt", self.queue)),
        ];
        let mut put = |key: &str, value: String| set.push((key.to_owned(), value));
        if let Some(second) = second {
            text += "\n[[link]]\nname = \"beside\"\nbetween = [\"other\", \"router\"]\nrate = \"1Gbps\"\ndelay = \"1ms\"\nqueue = \"10000pkt\"\n\
                     [[flow]]\nname = \"second\"\nfrom = \"other\"\nto = \"client\"\nalgorithm = \"cubic\"\n";
            put("flow.second.algorithm", second.to_owned());
            put("flow.second.start", format!("{}ms", self.second_ms));
        }
        if let Some(on) = self.bursts.map(|b| b.on(self.until_ms)).filter(|on| !on.is_empty()) {
            let rate = BURST * RATE_KBPS;
            text += &format!(
                "\n[[flow]]\nname = \"burst\"\nfrom = \"router\"\nto = \"client\"\nalgorithm = \"none\"\n\
                 traffic = {{ kind = \"cbr\", transport = \"udp\", rate = \"{rate}kbps\", packet = \"1000B\", on = {} }}\n",
                intervals(&on)
            );
        }
        if !self.losses.is_empty() {
            let loss = format!("{{ model = \"list\", packets = {:?} }}", self.losses);
            put("link.bottleneck.loss", loss);
        }
        if !self.outages_ms.is_empty() {
            put("link.bottleneck.down", intervals(&self.outages_ms));
        }
        if !self.rates.is_empty() {
            put("link.bottleneck.rate", steps(RATE_KBPS, &self.rates, self.until_ms, "kbps"));
        }
        if !self.delays.is_empty() {
            let all: Vec<[u64; 2]> = self.delays.iter().map(|[t, d]| [*t, ACCESS_US + d]).collect();
            put("link.access.delay", steps(ACCESS_US, &all, self.until_ms, "us"));
        }
        if let Some(Acks { count, within_ms, thin }) = self.acks {
            let rule = if thin { "thin" } else { "gather" };
            let acks =
                format!("{{ rule = \"{rule}\", count = {count}, within = \"{within_ms}ms\" }}");
            put("link.bottleneck.acks", acks);
        }
        Scenario::with_overrides(&text, "adversary", &set)
    }

    /// Capacity of the bottleneck from a time to the end of the run, without outages and bursts, bits.
    pub(super) fn available_bits(&self, from_ms: u64) -> f64 {
        let mut taken = self.outages_ms.clone();
        taken.extend(self.bursts.iter().flat_map(|b| b.on(self.until_ms)));
        let free = |t: &u64| !taken.iter().any(|[a, b]| (*a..*b).contains(t));
        let rates = || self.rates.iter().rev();
        let rate = |t: u64| rates().find(|[at, _]| *at <= t && t < self.until_ms);
        let rates = (from_ms..LENGTH_MS).filter(free).map(|t| rate(t).map_or(RATE_KBPS, |r| r[1]));
        // 1 kbit/s is 1 bit per millisecond.
        rates.sum::<u64>() as f64
    }

    /// Description in words.
    pub fn words(&self) -> String {
        let mut parts = vec![format!("a queue of {} packets", self.queue)];
        match self.losses.as_slice() {
            [] => {}
            [one] => parts.push(format!("packet {one} lost")),
            all => parts.push(format!("{} packets lost, the first number {}", all.len(), all[0])),
        }
        if let Some(b) = self.bursts {
            let (length, period) = (b.length_ms, b.period_ms);
            parts.push(format!("bursts of {length} ms every {period} ms from {} ms", b.first_ms));
        }
        for [a, b] in &self.outages_ms {
            parts.push(format!("down from {a} to {b} ms"));
        }
        for [t, kbps] in &self.rates {
            parts.push(format!("{kbps} kbit/s from {t} ms"));
        }
        for [t, us] in &self.delays {
            parts.push(format!("{} ms more delay from {t} ms", *us as f64 / 1e3));
        }
        if let Some(Acks { count, within_ms, thin }) = self.acks {
            let how = if thin { "thinned" } else { "held back" };
            parts.push(format!("acknowledgements {how} until {count} or {within_ms} ms"));
        }
        if self.second_ms > 0 {
            parts.push(format!("the second flow from {} ms", self.second_ms));
        }
        parts.join(", ")
    }
}

/// Intervals in ms, in the syntax of a scenario.
fn intervals(all: &[[u64; 2]]) -> String {
    let each: Vec<String> = all.iter().map(|[a, b]| format!("[\"{a}ms\", \"{b}ms\"]")).collect();
    format!("[{}]", each.join(", "))
}

/// Steps of a value at times in ms, in the syntax of a scenario. The value is `usual` before the first step
/// and after the end of the attack.
fn steps(usual: u64, all: &[[u64; 2]], until_ms: u64, unit: &str) -> String {
    let first = all.first().filter(|[t, _]| *t > 0).map(|_| [0, usual]);
    let last = (until_ms < LENGTH_MS).then_some([until_ms, usual]);
    let each: Vec<String> = first
        .iter()
        .chain(all)
        .chain(&last)
        .map(|[t, value]| format!("[\"{t}ms\", \"{value}{unit}\"]"))
        .collect();
    format!("[{}]", each.join(", "))
}
