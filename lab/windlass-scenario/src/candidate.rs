//! An algorithm as a command line names it. It replaces a flow's algorithm.

use windlass_cc::{AnyParams, Flavour, rto};

use crate::class::Class;
use crate::error::ScenarioError;
use crate::fields::Field;
use crate::library::{Library, QUINN};
use crate::params;
use crate::problem::{Place, Problem};
use crate::tree::{Entry, Node, Table, Value, parse_value};
use crate::{FlowSpec, Scenario};

/// An algorithm with its parameters and its slow start.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The text as typed: `cubic`, `newreno:increase=per-byte`.
    pub label: String,
    /// The parameters from the text, with defaults of the paper or RFC. For a kernel's algorithm, a substitute.
    pub controller: AnyParams,
    /// The kernel's name of the algorithm, if the text gives this name: `linux:nv`.
    pub kernel: Option<String>,
    /// The class in Python, if the text names one. The label is then the last part of its name.
    pub class: Option<Class>,
    /// The QUIC library that runs the algorithm, if the text names one.
    pub library: Option<Library>,
    /// The retransmission timer of a candidate for CoAP flows, which have no congestion control.
    pub timer: Option<rto::AnyParams>,
    /// The whole scenario of a candidate that is another setting, such as another initial timeout.
    pub setting: Option<Box<Scenario>>,
}

/// Key that names the slow start instead of a parameter.
const SLOW_START: &str = "slow_start";

impl Candidate {
    /// Reads `NAME`, or `NAME:KEY=VALUE:KEY=VALUE...`. A key is a key of a flow's `params`, or `slow_start` with
    /// the name of a slow start as value. Keys that are left out have their defaults. `linux:NAME` is the
    /// kernel's algorithm of this name, `python:MODULE:CLASS` a class in Python, and `quinn:NAME...` an algorithm in a
    /// QUIC library.
    ///
    /// ```
    /// use windlass_scenario::Candidate;
    /// let own = Candidate::parse("reno:slow_start=hystart")?;
    /// assert_eq!(own.controller.info().id, "reno");
    /// let error = Candidate::parse("cubik").unwrap_err();
    /// assert!(error.to_string().ends_with("unknown value `cubik`; did you mean `cubic`?"));
    /// # Ok::<(), windlass_scenario::ScenarioError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The first error in the text, with the admissible values.
    pub fn parse(text: &str) -> Result<Candidate, ScenarioError> {
        let label = text.trim();
        let wrong = |problem| ScenarioError::in_argument("--algorithms", label, problem);
        let kernel = params::by_kernel(label)
            .map_err(|message| wrong(Problem::new(&place(0, label), message)))?;
        let class = Class::parse(label)
            .map_err(|message| wrong(Problem::new(&place(0, label), message)))?;
        let library = Library::split(label)
            .map_err(|message| wrong(Problem::new(&place(0, label), message)))?;
        let controller = match (&kernel, &class, &library) {
            (Some(_), ..) => AnyParams::default(),
            (None, Some(class), _) => class.params(Flavour::Rfc),
            (None, None, Some((_, name))) if name.is_empty() => AnyParams::default(),
            (None, None, Some((library, name))) => {
                let params = read(name, Flavour::Rfc)
                    .map_err(|e| ScenarioError::in_argument("--algorithms", name, e))?;
                let unfit = library.unfit(&params).map(|e| Problem::new(&place(0, label), e));
                unfit.map_or(Ok(params), |problem| Err(wrong(problem)))?
            }
            (None, None, None) => read(label, Flavour::Rfc).map_err(wrong)?,
        };
        let label = class.as_ref().map_or(label, Class::label).to_owned();
        let library = library.map(|(library, _)| library);
        Ok(Candidate { label, controller, kernel, class, library, timer: None, setting: None })
    }

    /// Reads the retransmission timer of a flow of CoAP in the same form: `cocoa`, `coap:initial=15s`.
    ///
    /// ```
    /// use windlass_scenario::Candidate;
    /// assert!(Candidate::timer("coap:initial=15s")?.timer.is_some());
    /// # Ok::<(), windlass_scenario::ScenarioError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The first error in the text, with the admissible values.
    pub fn timer(text: &str) -> Result<Candidate, ScenarioError> {
        let label = text.trim();
        let wrong = |problem| ScenarioError::in_argument("--algorithms", label, problem);
        let timer = read_timer(label).map_err(wrong)?;
        let controller = AnyParams::default();
        Ok(Candidate {
            label: label.to_owned(),
            controller,
            kernel: None,
            class: None,
            library: None,
            timer: Some(timer),
            setting: None,
        })
    }

    /// A setting of the scenario, with the algorithms that the scenario names.
    pub fn setting(label: String, scenario: Scenario) -> Candidate {
        let setting = Some(Box::new(scenario));
        Candidate {
            label,
            controller: AnyParams::default(),
            kernel: None,
            class: None,
            library: None,
            timer: None,
            setting,
        }
    }

    /// The text that a scenario has as its `algorithm`, with parameters after colons.
    pub fn text(&self) -> String {
        self.class.as_ref().map_or_else(|| self.label.clone(), Class::to_string)
    }

    /// Gives a flow this algorithm.
    pub fn give(&self, flow: &mut FlowSpec) {
        flow.set_controller(self.on(flow.flavour));
        flow.kernel.clone_from(&self.kernel);
        flow.class.clone_from(&self.class);
        flow.library.clone_from(&self.library);
    }

    /// The parameters from the text, with the defaults of a stack of this implementation.
    pub fn on(&self, flavour: Flavour) -> AnyParams {
        if let Some(class) = &self.class {
            return class.params(flavour);
        }
        if self.kernel.is_some() {
            return self.controller;
        }
        // This text was read without an error before.
        let split = Library::split(&self.label).ok().flatten();
        let name = split.map_or_else(|| self.label.clone(), |(_, name)| name);
        read(&name, flavour).unwrap_or(self.controller)
    }
}

fn read(text: &str, flavour: Flavour) -> Result<AnyParams, Problem> {
    let mut parts = parts(text);
    let (start, name) = parts.next().unwrap_or((0, ""));
    let name = text_node(start, name);
    let field = Field { key: "algorithm", node: &name };
    let Some(mut controller) = params::algorithm(&field, flavour)? else {
        return Err(field.error("`none` is for datagrams, which have nothing to compare"));
    };
    let mut settings = settings(parts)?;
    let slow_start = settings.0.iter().position(|e| e.key == SLOW_START);
    let slow_start = slow_start.map(|at| settings.0.remove(at));
    let node = Node { place: place(0, text), value: Value::Table(settings) };
    params::read(&Field { key: "params", node: &node }, &mut controller)?;
    if let Some(entry) = slow_start {
        let field = Field { key: SLOW_START, node: &entry.node };
        params::read_slow_start(&field, flavour, &mut controller)?;
    }
    Ok(controller)
}

fn read_timer(label: &str) -> Result<rto::AnyParams, Problem> {
    let mut parts = parts(label);
    let (start, name) = parts.next().unwrap_or((0, ""));
    let mut table = settings(parts)?;
    let node = text_node(start, name);
    table.set(Entry { key: "algorithm".to_owned(), key_place: place(start, name), node });
    let node = Node { place: place(0, label), value: Value::Table(table) };
    let mut timer = rto::AnyParams::Coap(Default::default());
    params::read_timer(&Field { key: "rto", node: &node }, &mut timer)?;
    Ok(timer)
}

/// The parameters after a name.
fn settings<'a>(parts: impl Iterator<Item = (usize, &'a str)>) -> Result<Table, Problem> {
    let mut settings = Table::default();
    for (start, part) in parts {
        let Some((key, value)) = part.split_once('=') else {
            let place = place(start, part);
            let message = format!("`{part}`: a parameter is written KEY=VALUE, such as `beta=0.7`");
            return Err(Problem::new(&place, message));
        };
        if settings.get(key).is_some() {
            return Err(Problem::new(&place(start, key), format!("`{key}` occurs twice")));
        }
        let node = value_node(start + key.len() + 1, value)?;
        let entry = Entry { key: key.to_owned(), key_place: place(start, key), node };
        settings.set(entry);
    }
    Ok(settings)
}

/// Splits an override of an `algorithm` with parameters into one override per parameter. Returns any other
/// override unchanged.
pub(super) fn overrides(key: &str, value: &str) -> Vec<(String, String)> {
    let own = |key: String, value: &str| (key, value.to_owned());
    let whole = || vec![own(key.to_owned(), value)];
    let Some(table) = key.strip_suffix("algorithm") else { return whole() };
    let value = value.trim();
    let prefix = if value.starts_with(QUINN) { QUINN } else { "" };
    let mut parts = value[prefix.len()..].split(':');
    let name = format!("{prefix}{}", parts.next().unwrap_or_default());
    let settings: Option<Vec<(&str, &str)>> = parts.map(|part| part.split_once('=')).collect();
    let Some(settings) = settings.filter(|_| table.is_empty() || table.ends_with('.')) else {
        return whole();
    };
    let key_of = |setting: &str| match setting {
        SLOW_START => format!("{table}{SLOW_START}"),
        parameter => format!("{table}params.{parameter}"),
    };
    let settings = settings.into_iter().map(|(setting, value)| own(key_of(setting), value));
    [own(key.to_owned(), &name)].into_iter().chain(settings).collect()
}

/// The parts of the text between colons, each with the byte at which it begins.
fn parts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split(':').map(move |part| {
        let here = start;
        start += part.len() + 1;
        (here, part)
    })
}

fn place(start: usize, text: &str) -> Place {
    Place { source: 1, span: start..start + text.len() }
}

fn text_node(start: usize, text: &str) -> Node {
    Node { place: place(start, text), value: Value::Text(text.to_owned()) }
}

/// Reads a number or truth value in TOML syntax. Anything else is text without quotes.
fn value_node(start: usize, text: &str) -> Result<Node, Problem> {
    match parse_value(text, 1, start) {
        Ok(node) => Ok(node),
        Err(error) if text.starts_with(['"', '\'']) => Err(error),
        Err(_) => Ok(text_node(start, text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Candidate::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn parameters_and_slow_start_equal_a_scenarios() {
        let text = "duration = '1s'\n[[link]]\nbetween = ['a', 'b']\nrate = '1Mbps'\n[[flow]]\n\
            from = 'a'\nto = 'b'\nalgorithm = 'newreno'\nparams = { increase = 'per-byte' }\n\
            slow_start = 'hystart'";
        let scenario = crate::Scenario::from_str(text, "s.toml").unwrap();
        let candidate = Candidate::parse(" newreno:increase=per-byte:slow_start=hystart ").unwrap();
        assert_eq!(Some(candidate.controller), scenario.flows[0].controller);
        assert_eq!(candidate.label, "newreno:increase=per-byte:slow_start=hystart");
    }

    #[test]
    fn an_override_may_give_an_algorithm_with_its_parameters() {
        let text = "duration = '1s'\n[[link]]\nbetween = ['a', 'b']\nrate = '1Mbps'\n[[flow]]\n\
            from = 'a'\nto = 'b'\nalgorithm = 'reno'";
        let with = |value: &str| {
            let set = [("flow.0.algorithm".to_owned(), value.to_owned())];
            crate::Scenario::with_overrides(text, "s.toml", &set)
        };
        for label in ["cubic", "newreno:increase=per-byte:slow_start=hystart"] {
            let candidate = Candidate::parse(label).unwrap();
            assert_eq!(with(label).unwrap().flows[0].controller, Some(candidate.controller));
        }
        let wrong = with("newreno:increas=per-byte").unwrap_err().to_string();
        assert!(wrong.contains("did you mean `increase`?"), "{wrong}");
        let wrong = with("newreno:increase").unwrap_err().to_string();
        assert!(wrong.contains("unknown value `newreno:increase`"), "{wrong}");
    }

    #[test]
    fn a_kernels_algorithm_is_kept_by_its_name_and_belongs_to_no_other_hash() {
        let text = "duration = '1s'\n[[link]]\nbetween = ['a', 'b']\nrate = '1Mbps'\n[[flow]]\n\
            from = 'a'\nto = 'b'\nalgorithm = 'linux:nv'";
        let scenario = crate::Scenario::from_str(text, "s.toml").unwrap();
        assert_eq!(scenario.flows[0].algorithm(), "linux:nv");
        let read = crate::Scenario::from_str(&scenario.resolved_toml(), "s.toml").unwrap();
        assert_eq!(read.flows[0].kernel.as_deref(), Some("nv"));
        assert_eq!(Candidate::parse("linux:nv").unwrap().kernel, read.flows[0].kernel);
        let lp = crate::Scenario::from_str(&text.replace("nv", "lp"), "s.toml").unwrap();
        assert_ne!(scenario.hash_without_parameters(), lp.hash_without_parameters());
        let set = format!("{text}\nparams = {{ alpha = 2 }}");
        let wrong = crate::Scenario::from_str(&set, "s.toml").unwrap_err().to_string();
        assert!(wrong.contains("has no parameters here; leave this out"), "{wrong}");
    }

    #[test]
    fn errors_name_the_fault_and_the_admissible_values() {
        for (text, expected) in [
            (
                "cubik",
                "--algorithms cubik: `algorithm`: unknown value `cubik`; did you mean `cubic`?",
            ),
            ("", "unknown value ``; `algorithm` is one of"),
            ("none", "`none` is for datagrams"),
            ("linux:", "`linux:`: a kernel's algorithm has a name of 1 to 15 letters"),
            ("linux:nv:alpha=2", "and no parameters, such as `linux:nv`"),
            ("newreno:increase", "`increase`: a parameter is written KEY=VALUE"),
            ("newreno:increas=per-byte", "did you mean `increase`?"),
            ("newreno:increase=per-bite", "did you mean `per-byte`?"),
            ("newreno:increase=per-byte:increase=per-byte", "`increase` occurs twice"),
            ("reno:slow_start=histart", "did you mean `hystart`?"),
        ] {
            let message = error(text);
            assert!(message.contains(expected), "{message} lacks {expected}");
        }
    }
}
