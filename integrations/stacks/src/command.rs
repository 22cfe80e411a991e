//! `windlass-stacks run`: a scenario with shared libraries as ends.

use std::fmt::Write;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use windlass_run::capture::{CaptureOptions, CapturedFlow, write_pcapng};
use windlass_scenario::Scenario;
use windlass_scenario::compile::compile;
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::external::{self, PacketEnd};
use windlass_sim::{Config, RunResult};

use crate::app::{App, Role};
use crate::c_end::{CEnd, CTcp, Setting};

/// Usage of the command.
pub const USAGE: &str = "\
windlass-stacks run SCENARIO --end FLOW.from=LIBRARY[,OPTIONS] [--end ...] [--seed N] [--capture FILE]

Run a scenario of Windlass's simulator with shared libraries (include/windlass_end.h) at ends of its flows.
  --end FLOW.from=LIBRARY   Use the library as the sender of the flow's data (FLOW.to= as the receiver).
        ,OPTIONS            Give the library these options.
        ,send=BYTES         Add an application that sends this number of bytes.
        ,receive            Add an application that reads. The library needs the second half of the header.
  --seed N                  Use this seed instead of the scenario's.
  --capture FILE            Write the packets of every link as pcapng.";

/// An end in a library.
#[derive(Debug, PartialEq)]
struct Plug {
    flow: String,
    sends: bool,
    library: PathBuf,
    options: String,
    role: Option<Role>,
}

/// The parsed command line.
#[derive(Debug, PartialEq)]
pub struct Arguments {
    scenario: PathBuf,
    plugs: Vec<Plug>,
    seed: Option<u64>,
    capture: Option<PathBuf>,
}

impl Arguments {
    /// Reads the arguments after `run`.
    ///
    /// # Errors
    ///
    /// The error, in one sentence.
    pub fn read(words: impl IntoIterator<Item = String>) -> Result<Arguments, String> {
        let mut words = words.into_iter();
        let (mut scenario, mut plugs, mut seed, mut capture) = (None, Vec::new(), None, None);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--end" => plugs.push(plug(&value()?)?),
                "--seed" => {
                    let text = value()?;
                    let n = text
                        .parse()
                        .map_err(|_| format!("--seed {text}: expected a whole number"))?;
                    seed = Some(n);
                }
                "--capture" => capture = Some(value()?.into()),
                _ if word.starts_with('-') || scenario.is_some() => {
                    return Err(format!("`{word}` is not known\n\n{USAGE}"));
                }
                _ => scenario = Some(word.into()),
            }
        }
        let scenario = scenario.ok_or(format!("SCENARIO is missing\n\n{USAGE}"))?;
        if plugs.is_empty() {
            return Err(format!("--end is missing\n\n{USAGE}"));
        }
        Ok(Arguments { scenario, plugs, seed, capture })
    }
}

fn plug(text: &str) -> Result<Plug, String> {
    let wrong = || format!("--end {text}: expected FLOW.from=LIBRARY or FLOW.to=LIBRARY");
    let (place, what) = text.split_once('=').ok_or_else(wrong)?;
    let (flow, end) = place.rsplit_once('.').ok_or_else(wrong)?;
    let sends = match end {
        "from" => true,
        "to" => false,
        _ => return Err(wrong()),
    };
    let mut parts = what.split(',');
    let library = parts.next().unwrap_or_default().into();
    let (mut role, mut options) = (None, Vec::new());
    for part in parts {
        match part.split_once('=') {
            Some(("send", n)) => {
                let bytes =
                    n.parse().map_err(|_| format!("send={n}: expected a number of bytes"))?;
                role = Some(Role::Sends(bytes));
            }
            _ if part == "receive" => role = Some(Role::Receives),
            _ => options.push(part),
        }
    }
    Ok(Plug { flow: flow.to_owned(), sends, library, options: options.join(" "), role })
}

/// Runs the scenario, and returns its results as text.
///
/// # Errors
///
/// The error of the scenario, of a library or of the run.
pub fn run(arguments: &Arguments) -> Result<String, String> {
    let mut scenario = Scenario::from_file(&arguments.scenario).map_err(|e| e.to_string())?;
    if arguments.capture.is_some() {
        scenario.record.capture = (0..scenario.links.len()).collect();
    }
    let config =
        compile(&scenario, arguments.seed.unwrap_or(scenario.seed)).map_err(|e| e.to_string())?;
    let mut ends = Vec::new();
    for plug in &arguments.plugs {
        ends.push(opened(plug, &scenario, &config)?);
    }
    let mut ends: Vec<(u32, &mut dyn PacketEnd)> =
        ends.iter_mut().map(|(host, end)| (*host, &mut **end as &mut dyn PacketEnd)).collect();
    let result = external::run(&config, &mut ends).map_err(|e| e.to_string())?;
    if let Some(path) = &arguments.capture {
        keep(path, &config, &result).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(told(&result))
}

fn opened(
    plug: &Plug,
    scenario: &Scenario,
    config: &Config,
) -> Result<(u32, Box<dyn PacketEnd>), String> {
    let names = || scenario.flows.iter().map(|f| format!("`{}`", f.name)).collect::<Vec<_>>();
    let index = scenario.flows.iter().position(|f| f.name == plug.flow).ok_or_else(|| {
        format!("--end: flow `{}` not found; flows: {}", plug.flow, names().join(", "))
    })?;
    let flow = &config.flows[index];
    let setting = Setting {
        ends: FlowAddresses::of_flow(index as u32, flow).addresses(plug.sends),
        mtu: flow.profile.mtu,
        sends: plug.sends,
        start: flow.start,
        seed: config.seed,
        options: plug.options.clone(),
    };
    let end: Box<dyn PacketEnd> = match plug.role {
        None => Box::new(CEnd::open(&plug.library, &setting)?),
        Some(role) => Box::new(App::new(CTcp::open(&plug.library, &setting)?, role, flow.start)),
    };
    Ok((2 * index as u32 + u32::from(!plug.sends), end))
}

fn keep(path: &Path, config: &Config, result: &RunResult) -> std::io::Result<()> {
    let links: Vec<&str> = result.links.iter().map(|l| l.name.as_str()).collect();
    let flows = (0..).zip(&config.flows);
    let flows: Vec<CapturedFlow> =
        flows.map(|(i, f)| FlowAddresses::of_flow(i, f).into()).collect();
    let out = BufWriter::new(File::create(path)?);
    write_pcapng(out, &links, &flows, &result.packets, CaptureOptions::default())?;
    Ok(())
}

/// Results of flows and links, one line each.
fn told(result: &RunResult) -> String {
    let mut out = String::new();
    for flow in &result.flows {
        let done = flow.completion_s.map_or(String::new(), |s| format!(", done after {s:.3} s"));
        let _ = writeln!(
            out,
            "{}: {} B delivered, {:.1} kbit/s{done}; {} packets sent, {} by the other end, {:.1} % of the first dropped",
            flow.name,
            flow.delivered_bytes,
            flow.goodput_bps / 1e3,
            flow.packets_sent,
            flow.peer_packets_sent,
            flow.loss_rate * 100.0,
        );
    }
    for link in &result.links {
        let _ = writeln!(
            out,
            "{}: {} packets, {} dropped, {:.1} % of the time in use",
            link.name,
            link.sent,
            link.drops,
            link.utilisation * 100.0,
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Arguments, String> {
        Arguments::read(text.split(' ').map(str::to_owned))
    }

    #[test]
    fn an_end_is_a_flow_a_side_a_library_and_options() {
        let arguments =
            read("s.toml --end a.b.from=./x.so,fast,send=5000,window=3 --seed 4").unwrap();
        let plug = Plug {
            flow: "a.b".to_owned(),
            sends: true,
            library: "./x.so".into(),
            options: "fast window=3".to_owned(),
            role: Some(Role::Sends(5000)),
        };
        assert_eq!((arguments.plugs, arguments.seed), (vec![plug], Some(4)));
    }

    #[test]
    fn errors_name_the_fault() {
        for (text, wanted) in [
            ("s.toml", "--end is missing"),
            ("--end a.from=x.so", "SCENARIO is missing"),
            ("s.toml --end a=x.so", "expected FLOW.from=LIBRARY"),
            ("s.toml --end a.middle=x.so", "expected FLOW.from=LIBRARY"),
            ("s.toml --end a.from=x.so,send=much", "send=much: expected a number of bytes"),
            ("s.toml --end a.from=x.so --seed x", "--seed x: expected a whole number"),
            ("s.toml --end a.from=x.so --faster", "`--faster` is not known"),
            ("s.toml --end", "--end needs a value"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.contains(wanted), "{text}: {said}");
        }
    }
}
