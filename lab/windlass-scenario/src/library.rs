//! Flows whose two ends are connections of a QUIC library: their names, and the host that has the library.
//!
//! The program of the integration is the host of its process. Other programs have no host, and refuse such names.

use std::fmt;
use std::sync::OnceLock;

use windlass_cc::{AnyParams, Ecn};
use windlass_sim::config::FlowConfig;
use windlass_sim::external::PacketEnd;

use crate::fields::Field;
use crate::problem::Problem;
use crate::tree::{Node, Value};

/// The prefix of the name of a controller in quinn.
pub(crate) const QUINN: &str = "quinn:";

/// `quinn:NAME`, with the library's version if necessary.
pub(crate) const LIBRARY_NAME: &str = "^quinn:[a-z0-9+-]+(@[0-9.]+)?$";

/// The prefix of the library's own controllers.
const OWN: &str = "own-";

/// The remedy without a host.
const NO_HOST: &str = "runs in the QUIC library quinn, and this program has no quinn; build `windlass-quic` in \
                       integrations/quic (`cargo build --release --features command`) and use it in place of `windlass`";

/// The QUIC library at both ends of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// The library's own controller, such as `own-cubic`; `None` for the flow's algorithm.
    pub own: Option<&'static str>,
    /// Version of the library, which determines the results.
    pub version: String,
}

/// The two ends of a flow, at its `from` and its `to`.
pub type LibraryEnds = [Box<dyn PacketEnd + Send>; 2];

/// A program that has the library.
pub trait LibraryHost: Send + Sync {
    /// The version of the library.
    fn version(&self) -> &str;

    /// The names of the library's own controllers, each with the prefix `own-`.
    fn own(&self) -> &'static [&'static str];

    /// The ends of a new connection with the library's own controller, or with the algorithm of the flow. The place of
    /// the flow gives its addresses, and the seed determines its random values.
    fn ends(&self, own: Option<&str>, place: u32, flow: &FlowConfig, seed: u64) -> LibraryEnds;
}

static HOST: OnceLock<Box<dyn LibraryHost>> = OnceLock::new();

/// Makes `host` the host of this process, unless the process has a host already.
pub fn host_library(host: Box<dyn LibraryHost>) {
    let _ = HOST.set(host);
}

/// The host of this process.
pub fn library_host() -> Option<&'static dyn LibraryHost> {
    HOST.get().map(|host| &**host)
}

impl Library {
    /// Splits the name of a controller in a library into the library and the remaining text: the name of an algorithm
    /// with its parameters. The remaining text is empty for the library's own controllers. Other names give `None`.
    pub(crate) fn split(text: &str) -> Result<Option<(Library, String)>, String> {
        let Some(rest) = text.trim().strip_prefix(QUINN) else { return Ok(None) };
        let host = library_host().ok_or_else(|| format!("`{text}` {NO_HOST}"))?;
        let (name, settings) = rest.split_at(rest.find(':').unwrap_or(rest.len()));
        let (name, version) = name.split_once('@').unwrap_or((name, host.version()));
        if version != host.version() {
            return Err(format!(
                "`{text}`: this program has quinn {}; leave `@{version}` out",
                host.version()
            ));
        }
        let version = version.to_owned();
        if !name.starts_with(OWN) {
            return Ok(Some((Library { own: None, version }, format!("{name}{settings}"))));
        }
        let own = host.own().iter().copied().find(|known| *known == name).ok_or_else(|| {
            let known = host.own().join("`, `");
            format!("`{text}`: quinn has no such controller here; expected `{known}`, or an algorithm without `{OWN}`")
        })?;
        if !settings.is_empty() {
            return Err(format!(
                "`{text}`: a controller of quinn has no parameters here; leave `{settings}` out"
            ));
        }
        Ok(Some((Library { own: Some(own), version }, String::new())))
    }

    /// Reads the `algorithm` of a flow: the library, and the name of the algorithm.
    pub(crate) fn read(field: &Field) -> Result<Option<(Library, Node)>, Problem> {
        let place = &field.node.place;
        let split = Library::split(field.string()?).map_err(|e| Problem::new(place, e))?;
        let node = |name| Node { place: place.clone(), value: Value::Text(name) };
        Ok(split.map(|(library, name)| (library, node(name))))
    }

    /// Name in tables: `quinn:cubic`, `quinn:own-cubic`. The controller is the flow's algorithm.
    pub(crate) fn label(&self, controller: Option<AnyParams>) -> String {
        let name = self.own.or(controller.map(|params| params.info().id));
        format!("{QUINN}{}", name.unwrap_or_default())
    }

    /// The reason why the library cannot run an algorithm.
    pub(crate) fn unfit(&self, params: &AnyParams) -> Option<String> {
        let wants = params.requirements();
        let reason = if self.own.is_some() {
            return None;
        } else if wants.cross_layer {
            "needs reports of the layers below, which quinn does not pass on"
        } else if wants.ecn == Ecn::Exact {
            "needs the exact number of marked bytes, which quinn does not report"
        } else if params.common().slow_start.info().id == "quick-start" {
            "asks routers for a rate by an option of TCP; choose another `slow_start`"
        } else {
            return None;
        };
        Some(format!("`{}` {reason}", params.info().id))
    }
}

impl fmt::Display for Library {
    /// The suffix of a name that determines the results.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.version)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Candidate, Scenario};

    #[test]
    fn a_program_without_quinn_refuses_the_name_with_its_place_and_a_remedy() {
        let text = "duration = '1s'\n[[link]]\nbetween = ['a', 'b']\nrate = '1Mbps'\n[[flow]]\n\
            from = 'a'\nto = 'b'\nalgorithm = 'quinn:cubic'";
        let remedy = "this program has no quinn; build `windlass-quic` in integrations/quic";
        let wrong = Scenario::from_str(text, "s.toml").unwrap_err().to_string();
        assert!(wrong.starts_with("s.toml:8:13: `quinn:cubic`"), "{wrong}");
        assert!(wrong.contains(remedy), "{wrong}");
        let wrong = Candidate::parse("quinn:own-cubic").unwrap_err().to_string();
        assert!(wrong.contains(remedy), "{wrong}");
    }
}
