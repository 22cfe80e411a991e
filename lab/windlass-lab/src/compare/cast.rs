//! The assignment of algorithms to flows.

use super::Question;
use crate::compile::fix_queues;
use crate::scenario::{Candidate, FlowSpec, Scenario, Traffic};

/// Indices of the compared flows in the scenario, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flows(Vec<usize>);

/// The reason why flows cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlowsError {
    /// The flow does not exist.
    #[error("the scenario has no flow `{name}`{near}; its flows are {known}")]
    Unknown {
        /// The requested name.
        name: String,
        /// A suggestion, or nothing.
        near: String,
        /// Names of all flows.
        known: String,
    },
    /// The flow has no congestion control.
    #[error("flow `{name}` sends datagrams, which have no congestion control to change")]
    Datagrams {
        /// The flow.
        name: String,
    },
    /// The flow was named twice.
    #[error("flow `{name}` is named twice")]
    Twice {
        /// The flow.
        name: String,
    },
    /// The scenario has only datagrams without acknowledgements.
    #[error(
        "the scenario has no TCP flow and no confirmable CoAP flow, so there is no congestion control and no timer to compare"
    )]
    NothingToCompare,
    /// Flows of both kinds were named.
    #[error("`{tcp}` is a TCP flow and `{coap}` a CoAP flow; name either TCP or CoAP flows")]
    Mixed {
        /// The first TCP flow.
        tcp: String,
        /// The first CoAP flow.
        coap: String,
    },
}

impl Flows {
    /// The flows with these names, in the order of the scenario. Without names: all TCP flows or, if the scenario
    /// has no TCP flow, all flows of confirmable CoAP, whose timers are compared.
    ///
    /// # Errors
    ///
    /// A flow does not exist, is named twice, or has neither congestion control nor a timer.
    pub fn of(scenario: &Scenario, names: &[String]) -> Result<Flows, FlowsError> {
        let mut chosen = Vec::new();
        for name in names {
            let at = find(scenario, name)?;
            if !is_tcp(&scenario.flows[at]) && !has_timer(&scenario.flows[at]) {
                return Err(FlowsError::Datagrams { name: name.clone() });
            }
            if chosen.contains(&at) {
                return Err(FlowsError::Twice { name: name.clone() });
            }
            chosen.push(at);
        }
        for kind in [is_tcp, has_timer] {
            if chosen.is_empty() {
                let is_meant = |i: &usize| kind(&scenario.flows[*i]);
                chosen = (0..scenario.flows.len()).filter(is_meant).collect();
            }
        }
        chosen.sort_unstable();
        let first = |kind: fn(&FlowSpec) -> bool| {
            chosen.iter().map(|i| &scenario.flows[*i]).find(|f| kind(f)).map(|f| f.name.clone())
        };
        match (first(is_tcp), first(has_timer)) {
            (None, None) => Err(FlowsError::NothingToCompare),
            (Some(tcp), Some(coap)) => Err(FlowsError::Mixed { tcp, coap }),
            _ => Ok(Flows(chosen)),
        }
    }

    /// All flows, for a comparison of settings.
    pub(super) fn every(scenario: &Scenario) -> Flows {
        Flows((0..scenario.flows.len()).collect())
    }

    /// True if all compared flows are CoAP flows, whose timers are compared instead of congestion control.
    pub fn have_timers(&self, scenario: &Scenario) -> bool {
        self.0.iter().all(|i| has_timer(&scenario.flows[*i]))
    }

    /// Their names.
    pub fn names(&self, scenario: &Scenario) -> Vec<String> {
        self.0.iter().map(|i| scenario.flows[*i].name.clone()).collect()
    }

    /// Their indices.
    pub(crate) fn indices(&self) -> &[usize] {
        &self.0
    }

    /// True if a mixture needs a copy of the flow, because only one flow is compared.
    pub(super) fn is_single(&self) -> bool {
        self.0.len() == 1
    }
}

fn is_tcp(flow: &FlowSpec) -> bool {
    flow.controller.is_some()
}

/// True if the flow sends confirmable CoAP requests. Other requests are not retransmitted and have no timer.
fn has_timer(flow: &FlowSpec) -> bool {
    matches!(flow.traffic, Traffic::Coap(coap) if coap.confirmable)
}

fn find(scenario: &Scenario, name: &str) -> Result<usize, FlowsError> {
    scenario.flows.iter().position(|f| f.name == name).ok_or_else(|| {
        let known: Vec<&str> = scenario.flows.iter().map(|f| f.name.as_str()).collect();
        FlowsError::Unknown {
            name: name.to_owned(),
            near: crate::scenario::did_you_mean(name, &known),
            known: crate::scenario::listed(&known),
        }
    })
}

/// Half of the compared flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first, third, fifth, ... of them.
    Odd,
    /// The second, fourth, ... of them.
    Even,
}

impl Side {
    const BOTH: [Side; 2] = [Side::Odd, Side::Even];

    /// The side of a compared flow by its position among them, from zero.
    pub(super) fn of(place: usize) -> Side {
        Side::BOTH[place % 2]
    }
}

/// The algorithms of the compared flows, by their position among the candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cast {
    /// All run this algorithm.
    All(usize),
    /// The odd flows run the first of these algorithms, the even flows the second.
    Mix(usize, usize),
    /// One side runs this algorithm, and the other side is absent.
    Alone(Side, usize),
}

/// Every assignment that a comparison of N algorithms needs, the assignments of the ranking first.
pub(super) fn all(candidates: usize, flows: &Flows, harm: bool) -> Vec<Cast> {
    let mut casts: Vec<Cast> = (0..candidates).map(Cast::All).collect();
    if !harm {
        return casts;
    }
    for a in 0..candidates {
        casts.extend((0..candidates).map(|b| Cast::with(flows, a, b)));
        casts.extend(Side::BOTH.map(|side| Cast::alone(flows, side, a)));
    }
    let mut seen = Vec::new();
    casts.retain(|cast| {
        let new = !seen.contains(cast);
        seen.push(*cast);
        new
    });
    casts
}

impl Cast {
    /// The odd flows run `odd`, the even flows `even`.
    pub(super) fn with(flows: &Flows, odd: usize, even: usize) -> Cast {
        // With two flows or more, an algorithm mixed with itself runs on all of them.
        if odd == even && !flows.is_single() { Cast::All(odd) } else { Cast::Mix(odd, even) }
    }

    /// One side runs `a` alone.
    pub(super) fn alone(flows: &Flows, side: Side, a: usize) -> Cast {
        // A single flow without its copy is the unchanged scenario. Its copy alone would behave in the same way.
        if flows.is_single() { Cast::All(a) } else { Cast::Alone(side, a) }
    }

    /// Identifier.
    pub(super) fn id(self, candidates: &[Candidate]) -> String {
        let label = |a: usize| candidates[a].label.as_str();
        match self {
            Cast::All(a) => format!("all={}", label(a)),
            Cast::Mix(odd, even) => format!("odd={},even={}", label(odd), label(even)),
            Cast::Alone(Side::Odd, a) => format!("odd={},even=none", label(a)),
            Cast::Alone(Side::Even, a) => format!("odd=none,even={}", label(a)),
        }
    }

    /// The algorithm of this side; `None` if the side is absent.
    fn candidate(self, side: Side) -> Option<usize> {
        match (self, side) {
            (Cast::All(a), _) => Some(a),
            (Cast::Mix(odd, _), Side::Odd) => Some(odd),
            (Cast::Mix(_, even), Side::Even) => Some(even),
            (Cast::Alone(there, a), side) => (there == side).then_some(a),
        }
    }

    /// The scenario with this assignment.
    pub(super) fn scenario(self, question: &Question) -> Scenario {
        let setting = match self {
            Cast::All(a) => question.candidates[a].setting.as_deref(),
            _ => None,
        };
        let mut scenario = setting.unwrap_or(&question.scenario).clone();
        // Hundreds of runs only need totals, so that recording is off.
        scenario.record = Default::default();
        if setting.is_some() {
            return scenario;
        }
        let mut flows = question.flows.indices().to_vec();
        if let (Cast::Mix(..), [only]) = (self, &flows[..]) {
            scenario.flows.push(twin(&scenario, *only));
            flows.push(scenario.flows.len() - 1);
        }
        if matches!(self, Cast::Alone(..)) {
            fix_queues(&mut scenario);
        }
        let mut absent = Vec::new();
        for (place, flow) in flows.into_iter().enumerate() {
            match self.candidate(Side::of(place)) {
                Some(a) => {
                    let flow = &mut scenario.flows[flow];
                    let candidate = &question.candidates[a];
                    if let (Some(timer), Traffic::Coap(coap)) = (candidate.timer, &mut flow.traffic)
                    {
                        coap.timer = timer;
                        continue;
                    }
                    candidate.give(flow);
                }
                None => absent.push(flow),
            }
        }
        let mut index = 0..;
        scenario.flows.retain(|_| index.next().is_none_or(|i| !absent.contains(&i)));
        scenario
    }
}

/// A copy of this flow, with its own name.
fn twin(scenario: &Scenario, flow: usize) -> FlowSpec {
    let mut twin = scenario.flows[flow].clone();
    twin.name = twin_name(scenario, &twin.name);
    twin
}

/// A name for the copy that no flow has.
pub(super) fn twin_name(scenario: &Scenario, name: &str) -> String {
    let mut twin = format!("{name}-twin");
    while scenario.flows.iter().any(|f| f.name == twin) {
        twin.push_str("-twin");
    }
    twin
}
