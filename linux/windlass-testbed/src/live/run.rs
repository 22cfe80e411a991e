//! A run from set-up to result.

use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use windlass_cc::Span;
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::config::{Config, FlowConfig, Traffic};
use windlass_sim::results::RunResult;
use windlass_tcp::Pacing;

use super::app::{self, App};
use super::clock::Clock;
use super::counters::Counters;
use super::desk::Desk;
use super::emulator::{Emulator, Port, Stopped};
use super::error::Error;
use super::info::Info;
use super::lateness::Lateness;
use super::namespace::Namespace;
use super::options::Options;
use super::release::kernel;
use super::settings::{self, Settings};
use super::socket::{self, Purpose, Wanted};
use super::tenants::{self, Tenant};
use super::totals::{self, End};
use super::trace::Trace;
use super::tun::{self, Tun};
use super::vigil::Vigil;
use super::{algorithm, check, multipath};
use crate::bpf::replay::Replayed;

/// Time from the start of the threads to time zero, so that both are waiting by then.
const LEAD: Duration = Duration::from_millis(10);

/// Real-time priorities. Neither the network nor the applications may wait for other programs: the kernel may
/// hold back an acknowledgement until the application has read. Applications finish quickly, so they have
/// precedence while the network polls the clock.
const NETWORK_PRIORITY: i32 = 1;
const APPLICATION_PRIORITY: i32 = 2;

/// Result of a valid run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Result in the simulator's form. For flows with both ends in the kernel it contains everything except
    /// the inner state of the algorithm ([`Series::State`](windlass_sim::Series::State)).
    pub result: RunResult,
    /// Lateness of the deliveries to the kernel.
    pub lateness: Lateness,
    /// The kernel's release, as `uname -r` prints it.
    pub kernel: String,
    /// Number of runs, including this run.
    pub attempts: u32,
    /// One trace per flow, if [`Options::trace`] is set. The trace of a TCP flow is empty.
    pub traces: Vec<Trace>,
    /// Replay of each of [`Options::ours`], if [`Options::watch`] is set.
    pub replayed: Vec<Replayed>,
}

/// Runs a configuration in real time on this machine's kernel.
///
/// # Errors
///
/// Returns an error if the configuration has a radio, if the machine does not meet a requirement, if the
/// kernel has no counterpart of an algorithm, or if every attempt was too late.
pub fn run(config: &Config, options: &Options) -> Result<Outcome, Error> {
    if let Some(radio) = config.radios.first() {
        return Err(Error::Radio { radio: radio.name.clone() });
    }
    let config = &multipath::at_kernel(config, &options.inside)?;
    algorithm::check(config, options)?;
    config.flows.iter().try_for_each(settings::check)?;
    check::check()?;
    allow_descriptors();
    let mut attempts = 0;
    loop {
        attempts += 1;
        let outcome = Outcome { attempts, ..attempt(config, options)? };
        match options.bound.filter(|bound| !bound.admits(&outcome.lateness)) {
            None => return Ok(outcome),
            Some(bound) if attempts >= options.attempts => {
                return Err(Error::Late { attempts, lateness: outcome.lateness, bound });
            }
            Some(_) => {}
        }
    }
}

/// Raises the limit of open files. Each host takes three descriptors, which may exceed the default limit. If
/// the limit cannot be raised, a later error names the object that could not be opened.
fn allow_descriptors() {
    if let Ok((_, most)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, most, most);
    }
}

/// The parts of a host in the kernel.
struct Site {
    namespace: Namespace,
    port: Port,
    app: App,
}

/// One run, valid or invalid.
fn attempt(config: &Config, options: &Options) -> Result<Outcome, Error> {
    let hosts = (0..2 * config.flows.len() as u32).filter(|host| !options.inside.contains(host));
    let tenants = tenants::load(config, options)?;
    let sites = hosts
        .map(|host| Site::new(config, host, options, &tenants))
        .collect::<Result<Vec<Site>, Error>>()?;
    let (mut namespaces, mut ports, mut apps) = (Vec::new(), Vec::new(), Vec::new());
    for site in sites {
        namespaces.push(site.namespace);
        ports.push(site.port);
        apps.push(site.app);
    }
    let clock = Clock::starting_in(LEAD);
    if options.trace {
        apps.iter_mut().try_for_each(|app| app.trace(clock))?;
    }
    let paced: Vec<bool> = config.flows.iter().map(is_paced).collect();
    let mut desk = Desk::new(config, apps, &paced, clock);
    let emulator = Emulator::new(config, &ports, clock)?;
    let stopped = together(emulator, &mut desk, clock, options.spin)?;
    let (apps, mut samples) = desk.into_parts();
    let ends = namespaces
        .iter()
        .zip(apps)
        .map(|(namespace, app)| end(namespace, app))
        .collect::<Result<Vec<End>, Error>>()?;
    let Stopped { simulation, mut lateness, wiretap } = stopped;
    lateness.lost +=
        ends.iter().map(|e| e.counters.lost_at_device + e.counters.lost_at_socket).sum::<u64>();
    let mut result = simulation.finish()?;
    totals::complete(&mut result, config, &ends, &wiretap);
    samples.append(&mut wiretap.into_samples());
    samples.append(&mut result.samples);
    samples.sort_by_key(|sample| sample.time);
    result.samples = samples;
    let replayed = tenants.into_iter().map(Tenant::leave).collect::<Result<_, Error>>()?;
    let traces = if options.trace { traces(config, &ends) } else { Vec::new() };
    Ok(Outcome { result, lateness, kernel: kernel(), attempts: 1, traces, replayed })
}

/// Returns the trace of each flow.
fn traces(config: &Config, ends: &[End]) -> Vec<Trace> {
    let mut traces = vec![Trace::default(); config.flows.len()];
    for end in ends {
        end.app.add_to(&mut traces[end.app.host as usize / 2]);
    }
    traces
}

/// Runs network and applications concurrently. A closed socket notifies each of the other's end.
fn together(
    emulator: Emulator<'_>,
    desk: &mut Desk,
    clock: Clock,
    spin: Span,
) -> Result<Stopped, Error> {
    let (network, applications) =
        UnixStream::pair().map_err(Error::on("joining network and applications"))?;
    thread::scope(|scope| {
        let carrying = scope.spawn(move || {
            let vigil = Vigil::new(clock, NETWORK_PRIORITY);
            clock.wait_for_start();
            emulator.run(vigil, &network, spin)
        });
        let acting = scope.spawn(move || {
            let vigil = Vigil::new(clock, APPLICATION_PRIORITY);
            clock.wait_for_start();
            desk.run(vigil, applications).map_err(Error::on("waiting for sockets"))
        });
        let stopped = carrying.join().unwrap_or(Err(Error::Defect("emulator")));
        acting.join().unwrap_or(Err(Error::Defect("applications")))?;
        stopped
    })
}

impl Site {
    /// Sets up the namespace, device and socket of a host.
    fn new(
        config: &Config,
        host: u32,
        options: &Options,
        tenants: &[Tenant],
    ) -> Result<Site, Error> {
        let index = host / 2;
        let flow = &config.flows[index as usize];
        let settings = Settings::new(flow, options.receive_window);
        let ends = socket::ends(&FlowAddresses::of_flow(index, flow), host);
        let namespace = Namespace::new().map_err(Error::on("making a network namespace"))?;
        namespace.enter(|| settings.apply_sysctls())?;
        let device = tun::Settings {
            address: *ends.0.ip(),
            mtu: settings.mtu,
            metrics: settings.metrics.clone(),
        };
        let tun = Tun::new(&namespace, &device)?;
        let multihomed = multipath::of_host(flow, host);
        if let Some(multihomed) = &multihomed {
            namespace.enter(|| multihomed.set_up())?;
        }
        let purpose = app::purpose(flow, host);
        let algorithm = match purpose {
            Purpose::Datagrams => None,
            Purpose::Connect | Purpose::Listen => {
                let tenant = tenants.iter().find(|tenant| tenant.flow == index as usize);
                let told = tenant.map(|t| t.name.as_str()).or(options.name_of(index as usize));
                Some(told.map_or_else(|| algorithm::of_flow(flow), Ok)?)
            }
        };
        let wanted = Wanted {
            flow: &flow.name,
            purpose,
            algorithm,
            settings: &settings,
            ends,
            multipath: multihomed.is_some(),
        };
        let socket = namespace.enter(|| wanted.open())?;
        let app = App::new(flow, host, socket, ends.1, config.seed);
        Ok(Site { namespace, port: Port { host, tun, pin: settings.pin }, app })
    }
}

/// True if the kernel paces the flow: BBR requests pacing, other algorithms are paced only if the stack
/// paces.
fn is_paced(flow: &FlowConfig) -> bool {
    !matches!(flow.traffic, Traffic::CbrUdp(_))
        && (flow.profile.stack.pacing == Pacing::Always || flow.profile.params.info().id == "bbr")
}

/// Reads the final state of a host after the run.
fn end(namespace: &Namespace, app: App) -> Result<End, Error> {
    let counters =
        namespace.enter(|| Counters::read().map_err(Error::on("reading the kernel's counters")))?;
    let stream = app.stream().filter(|a| a.stream.was_open());
    let info = stream.map(|a| Info::of(a.stream.socket())).transpose();
    let info = info.map_err(Error::on("reading tcp_info"))?;
    Ok(End { app, info, counters })
}
