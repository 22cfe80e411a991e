//! Algorithms that are classes in Python: their names, and the host that has them.
//!
//! The Python package is the host of this process. Other programs have no host, and refuse such names.

use std::fmt;
use std::sync::{Arc, OnceLock};

use windlass_cc::recovery::LossRecovery;
use windlass_cc::{AnyParams, Flavour};
use windlass_tcp::CongestionControl;

use crate::fields::Field;
use crate::problem::Problem;

/// The prefix of the name of a class.
pub(crate) const PYTHON: &str = "python:";

/// `python:MODULE:CLASS`, with `/ALGORITHM` and `@VERSION` if necessary.
pub(crate) const CLASS_NAME: &str =
    "^python:[^\\s,=:/@]+:[^\\s,=:/@]+(/[a-z0-9+-]+)?(@[0-9a-f]{8})?$";

/// Algorithm whose services a class gets if neither the class nor its name has another.
const USUAL: &str = "newreno";

/// A class that is an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// Its place: `MODULE:CLASS`.
    pub name: String,
    /// The algorithm whose parameters and services, such as delivery-rate samples, the stack gives to the class.
    pub like: &'static str,
    /// Identifies the source of the class, eight hexadecimal digits.
    pub version: String,
    /// Loss recovery that the class declares. The setting of the stack has precedence, as for each algorithm.
    pub recovery: Option<LossRecovery>,
}

/// Properties that a class declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// See [`Class::like`].
    pub like: Option<String>,
    /// See [`Class::recovery`], in the words of a scenario.
    pub recovery: Option<String>,
    /// See [`Class::version`].
    pub version: String,
}

/// The reason why a class failed during a run; empty if it did not fail.
pub type Fault = Arc<OnceLock<String>>;

/// A program that has classes.
pub trait ClassHost: Send + Sync {
    /// The declaration of the class `MODULE:CLASS`, in this version if the version is known.
    ///
    /// # Errors
    ///
    /// The class does not exist, or is not an algorithm. The error is a sentence.
    fn declaration(&self, name: &str, version: Option<&str>) -> Result<Declaration, String>;

    /// A new connection's algorithm. If it fails, it sets `fault` and keeps its last answer.
    ///
    /// # Errors
    ///
    /// As [`ClassHost::declaration`].
    fn controller(&self, class: &Class, fault: Fault)
    -> Result<Box<dyn CongestionControl>, String>;

    /// Calls `run`, which runs a simulation with classes.
    fn hold(&self, run: &mut (dyn FnMut() + Send));
}

static HOST: OnceLock<Box<dyn ClassHost>> = OnceLock::new();

/// Makes `host` the host of this process, unless the process has a host already.
pub fn host_classes(host: Box<dyn ClassHost>) {
    // The second module of a process that imports the package twice has the same classes.
    let _ = HOST.set(host);
}

/// The host of this process.
pub fn class_host() -> Option<&'static dyn ClassHost> {
    HOST.get().map(|host| &**host)
}

/// The name of a class in Python without its module, services and version. Other texts are their own labels.
pub fn class_label(text: &str) -> &str {
    let Some((_, class)) = text.strip_prefix(PYTHON).and_then(|rest| rest.split_once(':')) else {
        return text;
    };
    let name = class.split(['/', '@']).next().unwrap_or(class);
    name.rsplit('.').next().unwrap_or(name)
}

impl Class {
    /// Name in tables and figures: the last part of the name.
    pub fn label(&self) -> &str {
        self.name.rsplit([':', '.']).next().unwrap_or(&self.name)
    }

    /// The parameters of [`Class::like`] in an implementation, which the class receives.
    pub(crate) fn params(&self, flavour: Flavour) -> AnyParams {
        AnyParams::by_name(self.like).unwrap_or_default().flavoured(flavour)
    }

    /// Reads a name; `None` for any other algorithm. The host completes it.
    pub(crate) fn parse(text: &str) -> Result<Option<Class>, String> {
        let Some(rest) = text.trim().strip_prefix(PYTHON) else { return Ok(None) };
        let (rest, version) = match rest.split_once('@') {
            Some((rest, version)) => (rest, Some(version)),
            None => (rest, None),
        };
        let (name, like) = match rest.split_once('/') {
            Some((name, like)) => (name, Some(like)),
            None => (rest, None),
        };
        let whole = |part: &str| !part.is_empty() && !part.contains([',', '=', ':', ' ']);
        if !name.split_once(':').is_some_and(|(module, class)| whole(module) && whole(class)) {
            return Err(format!(
                "`{text}`: a class in Python has a module and a name, such as `python:mine:Scalable`, and no parameters"
            ));
        }
        let host = class_host().ok_or_else(|| {
            format!("`{text}` is a class in Python, and this program has no Python; use the command of the Python package")
        })?;
        let declared = host.declaration(name, version).map_err(|e| format!("`{text}`: {e}"))?;
        let like = like.or(declared.like.as_deref()).unwrap_or(USUAL);
        let params = AnyParams::by_name(like)
            .ok_or_else(|| format!("`{text}`: algorithm `{like}` not found"))?;
        let recovery = declared.recovery.as_deref().map(|word| {
            let found = LossRecovery::ALL.iter().find(|(known, _)| *known == word);
            found.map(|(_, recovery)| *recovery).ok_or_else(|| {
                let known: Vec<&str> = LossRecovery::ALL.iter().map(|(word, _)| *word).collect();
                format!(
                    "`{text}`: it declares the recovery `{word}`; expected one of {}",
                    known.join(", ")
                )
            })
        });
        Ok(Some(Class {
            name: name.to_owned(),
            like: params.info().id,
            version: declared.version,
            recovery: recovery.transpose()?,
        }))
    }

    /// Reads the `algorithm` of a flow.
    pub(crate) fn read(field: &Field) -> Result<Option<Class>, Problem> {
        Class::parse(field.string()?).map_err(|e| Problem::new(&field.node.place, e))
    }
}

impl fmt::Display for Class {
    /// The whole name, which determines the algorithm.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PYTHON}{}/{}@{}", self.name, self.like, self.version)
    }
}

/// Refuses the keys of a flow that do not suit a class. A run refuses a class on several paths.
pub(crate) fn refused(fields: &crate::fields::Fields) -> Result<(), Problem> {
    match fields.field("home") {
        Some(field) => Err(field
            .error("is for algorithms of a kernel, and the flow's algorithm is a class in Python")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Candidate, Scenario};

    /// A program with the class `lab:Mine`.
    struct Host;

    impl ClassHost for Host {
        fn declaration(&self, name: &str, version: Option<&str>) -> Result<Declaration, String> {
            let recovery = match name {
                "lab:Mine" => "newreno",
                "lab:Odd" => "none",
                _ => return Err(format!("`{name}` not found")),
            };
            let version = version.unwrap_or("12345678").to_owned();
            Ok(Declaration { like: Some("bbr".into()), recovery: Some(recovery.into()), version })
        }

        fn controller(&self, _: &Class, _: Fault) -> Result<Box<dyn CongestionControl>, String> {
            Err("not here".to_owned())
        }

        fn hold(&self, run: &mut (dyn FnMut() + Send)) {
            run();
        }
    }

    const TEXT: &str = "duration = '1s'\n[[link]]\nbetween = ['a', 'b']\nrate = '1Mbps'\n[[flow]]\n\
        from = 'a'\nto = 'b'\nalgorithm = 'python:lab:Mine'";

    fn read(text: &str) -> Result<Scenario, crate::ScenarioError> {
        host_classes(Box::new(Host));
        Scenario::from_str(text, "s.toml")
    }

    #[test]
    fn a_class_is_kept_with_its_services_and_version_in_text_and_hash() {
        let scenario = read(TEXT).unwrap();
        let flow = &scenario.flows[0];
        assert_eq!(flow.algorithm(), "Mine");
        assert_eq!(flow.controller.unwrap().info().id, "bbr");
        let text = scenario.resolved_toml();
        assert!(text.contains("algorithm = \"python:lab:Mine/bbr@12345678\""), "{text}");
        assert_eq!(read(&text).unwrap(), scenario);
        let other = read(&TEXT.replace("Mine", "Mine/bbr@87654321")).unwrap();
        assert_ne!(other.hash(), scenario.hash());
        assert_eq!(Candidate::parse("python:lab:Mine").unwrap().class, flow.class);
    }

    #[test]
    fn the_declared_recovery_is_the_flows_unless_the_stack_sets_another() {
        let recovery = |text: &str| {
            let scenario = read(text).unwrap();
            let config = crate::compile::compile(&scenario, 1).unwrap();
            config.flows[0].profile.stack.recovery
        };
        assert_eq!(recovery(TEXT), Some(LossRecovery::NewReno));
        let stack = TEXT.replace("[[link]]", "[stack]\nrecovery = 'sack'\n[[link]]");
        assert_eq!(recovery(&stack), Some(LossRecovery::Sack));
    }

    #[test]
    fn a_name_that_is_not_valid_is_refused_with_its_place() {
        for (name, says) in [
            ("python:Mine", "has a module and a name, such as `python:mine:Scalable`"),
            ("python:lab:Mine:a=1", "and no parameters"),
            ("python:lab:Other", "s.toml:8:13: `python:lab:Other`: `lab:Other` not found"),
            ("python:lab:Mine/nothing", "algorithm `nothing` not found"),
            ("python:lab:Odd", "it declares the recovery `none`; expected one of tahoe, reno"),
        ] {
            let wrong = read(&TEXT.replace("python:lab:Mine", name)).unwrap_err().to_string();
            assert!(wrong.contains(says), "{wrong}");
        }
        let wrong = read(&format!("{TEXT}\nhome = 'bpf'")).unwrap_err().to_string();
        assert!(wrong.contains("is for algorithms of a kernel"), "{wrong}");
    }
}
