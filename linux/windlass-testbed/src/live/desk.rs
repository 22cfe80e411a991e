//! The thread that runs the applications of all ends. It waits for their sockets and their clocks, and
//! records the connections' state.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use nix::poll::{PollFd, PollFlags};
use windlass_cc::{Span, Time};
use windlass_sim::config::Config;
use windlass_sim::results::{Sample, Series};

use super::app::App;
use super::clock::Clock;
use super::info::Info;
use super::series::Recorder;
use super::vigil::Vigil;

/// Series that `tcp_info` provides for a sender.
const OF_SENDER: [Series; 6] =
    [Series::Cwnd, Series::Ssthresh, Series::InFlight, Series::Srtt, Series::Rto, Series::Pacing];
/// Time between two reads of `tcp_info` if the scenario records every change.
const USUAL_INTERVAL: Span = Span::from_millis(10);
/// Minimum time between two reads. Each read takes the lock of its socket.
const LEAST_INTERVAL: Span = Span::from_millis(1);

/// The applications, and the data needed to observe their flows.
#[derive(Debug)]
pub(crate) struct Desk {
    pub apps: Vec<App>,
    clock: Clock,
    end: Time,
    recorder: Recorder,
    flows: Vec<Observed>,
    interval: Span,
    /// Time of the next read of `tcp_info`.
    look: Time,
}

/// Data needed to interpret the state of a connection.
#[derive(Clone, Copy, Debug)]
struct Observed {
    initial_ssthresh: u64,
    /// True if the kernel's pacing rate is in force.
    paced: bool,
}

impl Desk {
    /// Creates the value for these applications. `paced` is true for each flow whose sender is paced.
    pub fn new(config: &Config, apps: Vec<App>, paced: &[bool], clock: Clock) -> Desk {
        let recorder = Recorder::new(config);
        let asked = config.record.interval;
        let interval = if asked == Span::ZERO { USUAL_INTERVAL } else { asked.max(LEAST_INTERVAL) };
        let flows = config.flows.iter().zip(paced).map(|(flow, &paced)| Observed {
            initial_ssthresh: flow.profile.params.common().initial_ssthresh,
            paced,
        });
        let look = if recorder.wants_any(&OF_SENDER) { Time::ZERO } else { Time::NEVER };
        let flows = flows.collect();
        Desk { apps, clock, end: config.duration, recorder, flows, interval, look }
    }

    /// Lets the applications act until `network` is closed at its other end, which is the end of the run.
    /// Closes its own end when all applications have finished.
    pub fn run(&mut self, mut vigil: Vigil, network: UnixStream) -> io::Result<()> {
        let mut told = false;
        loop {
            if !told && self.are_finished() {
                told = true;
                network.shutdown(std::net::Shutdown::Write)?;
            }
            let (over, ready) = self.wait(&mut vigil, &network)?;
            self.act(&ready);
            if over {
                break;
            }
        }
        // Bytes that have arrived by the end count, even if the application has not read them.
        self.act(&vec![true; self.apps.len()]);
        Ok(())
    }

    /// Returns the applications and the recorded samples.
    pub fn into_parts(self) -> (Vec<App>, Vec<Sample>) {
        (self.apps, self.recorder.into_samples())
    }

    /// A failed flow leaves its peer waiting for ever, so one failed end counts as finished.
    fn are_finished(&self) -> bool {
        let failed = |host: u32| {
            let peer = self.apps.iter().find(|a| a.host == host ^ 1).and_then(App::stream);
            peer.is_some_and(|app| app.stream.failure.is_some())
        };
        self.apps.iter().all(|app| {
            let waits = app.stream().is_some_and(|a| a.stream.is_listening());
            app.is_finished() || (waits && failed(app.host))
        })
    }

    /// Waits for the next event. Returns whether the run is over, and which sockets are ready.
    fn wait(&self, vigil: &mut Vigil, network: &UnixStream) -> io::Result<(bool, Vec<bool>)> {
        let first = self.apps.iter().map(App::deadline).min().unwrap_or(Time::NEVER);
        // Actions that are due after the end are never done.
        let due = Some(first.min(self.look)).filter(|due| *due <= self.end);
        let mut fds = vec![PollFd::new(network.as_fd(), PollFlags::POLLIN)];
        let mut waiting = Vec::with_capacity(self.apps.len());
        for (i, app) in self.apps.iter().enumerate() {
            let (socket, events) = app.waits_for();
            if !events.is_empty() {
                fds.push(PollFd::new(socket.as_fd(), events));
                waiting.push(i);
            }
        }
        let limit = due.map(|due| self.clock.until(due));
        vigil.wait(&mut fds, limit)?;
        let mut ready = vec![false; self.apps.len()];
        for (i, fd) in waiting.iter().zip(&fds[1..]) {
            ready[*i] = fd.any().unwrap_or(false);
        }
        Ok((fds[0].any().unwrap_or(false), ready))
    }

    /// Lets every application act that has a ready socket or a due action.
    fn act(&mut self, ready: &[bool]) {
        // Bytes read after a late wake-up had arrived by the end of the run.
        let now = self.clock.now().min(self.end);
        for (app, &ready) in self.apps.iter_mut().zip(ready) {
            if ready || app.deadline() <= now {
                app.act(now, ready);
                if !app.host.is_multiple_of(2) {
                    self.recorder.note(now, app.host / 2, Series::Delivered, app.delivered());
                }
            }
        }
        if now >= self.look {
            self.look(now);
        }
    }

    /// Records the state of every sender's connection.
    fn look(&mut self, now: Time) {
        self.look = if now < self.end { now + self.interval } else { Time::NEVER };
        for app in self.apps.iter().filter(|a| a.host.is_multiple_of(2)) {
            let flow = app.host / 2;
            let Some(app) = app.stream().filter(|a| a.stream.was_open()) else { continue };
            let Ok(info) = Info::of(app.stream.socket()) else { continue };
            for series in OF_SENDER {
                if let Some(value) = value(series, &info, self.flows[flow as usize]) {
                    self.recorder.note(now, flow, series, value);
                }
            }
        }
    }
}

/// Returns the value of a series in its unit, if it exists already.
fn value(series: Series, info: &Info, flow: Observed) -> Option<u64> {
    let bytes = |segments: u32| u64::from(segments) * u64::from(info.mss);
    match series {
        Series::Cwnd => Some(bytes(info.cwnd)),
        Series::Ssthresh => Some(info.ssthresh.map_or(flow.initial_ssthresh, bytes)),
        Series::InFlight => Some(bytes(info.in_flight)),
        Series::Srtt => Some(u64::from(info.srtt_us) * 1_000).filter(|ns| *ns > 0),
        Series::Rto => Some(u64::from(info.rto_us) * 1_000),
        Series::Pacing if flow.paced && info.pacing_rate < u64::MAX => {
            Some(info.pacing_rate.saturating_mul(8))
        }
        Series::Pacing => Some(0),
        _ => None,
    }
}
