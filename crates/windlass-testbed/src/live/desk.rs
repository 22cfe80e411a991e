//! The desk at which the applications of all ends sit: one thread that waits for their sockets and
//! their clocks, and keeps notes of the connections' state.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use windlass_cc::{Span, Time};
use windlass_sim::config::Config;
use windlass_sim::results::{Sample, Series};

use super::app::App;
use super::clock::Clock;
use super::info::Info;
use super::series::Recorder;

/// What `tcp_info` tells of a sender.
const OF_SENDER: [Series; 6] =
    [Series::Cwnd, Series::Ssthresh, Series::InFlight, Series::Srtt, Series::Rto, Series::Pacing];
/// Time between two looks at `tcp_info` where the scenario asks for every change.
const USUAL_INTERVAL: Span = Span::from_millis(10);
/// Least time between two looks: each takes the lock of its socket.
const LEAST_INTERVAL: Span = Span::from_millis(1);

/// The applications, and what is known of their flows.
#[derive(Debug)]
pub(crate) struct Desk {
    pub apps: Vec<App>,
    clock: Clock,
    end: Time,
    recorder: Recorder,
    flows: Vec<Observed>,
    interval: Span,
    /// When to look at `tcp_info` next.
    look: Time,
}

/// What the state of a connection is to be read with.
#[derive(Clone, Copy, Debug)]
struct Observed {
    initial_ssthresh: u64,
    /// Whether the kernel's pacing rate is in force.
    paced: bool,
}

impl Desk {
    /// A desk for these applications; `paced` says of each flow whether its sender is.
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

    /// Lets the applications act until `network` is hung up at its other end, which is the end of the
    /// run. Hangs up in turn when all have finished.
    pub fn run(&mut self, network: UnixStream) -> io::Result<()> {
        let mut told = false;
        loop {
            if !told && self.are_finished() {
                told = true;
                network.shutdown(std::net::Shutdown::Write)?;
            }
            let (over, ready) = self.wait(&network)?;
            self.act(&ready);
            if over {
                break;
            }
        }
        // What has arrived by the end counts, read or not.
        self.act(&vec![true; self.apps.len()]);
        Ok(())
    }

    /// What was recorded.
    pub fn into_parts(self) -> (Vec<App>, Vec<Sample>) {
        (self.apps, self.recorder.into_samples())
    }

    /// A flow that has failed leaves its peer waiting for ever.
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

    /// Waits for the next thing to do: whether the run is over, and which sockets are ready.
    fn wait(&self, network: &UnixStream) -> io::Result<(bool, Vec<bool>)> {
        let due = self.apps.iter().map(App::deadline).min().unwrap_or(Time::NEVER).min(self.look);
        let mut fds = vec![PollFd::new(network.as_fd(), PollFlags::POLLIN)];
        let mut waiting = Vec::with_capacity(self.apps.len());
        for (i, app) in self.apps.iter().enumerate() {
            let (socket, events) = app.waits_for();
            if !events.is_empty() {
                fds.push(PollFd::new(socket.as_fd(), events));
                waiting.push(i);
            }
        }
        let ns = self.clock.until(due).0;
        let timeout = TimeSpec::new((ns / 1_000_000_000) as i64, (ns % 1_000_000_000) as i64);
        match ppoll(&mut fds, (!due.is_never()).then_some(timeout), None) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(e) => return Err(e.into()),
        }
        let mut ready = vec![false; self.apps.len()];
        for (i, fd) in waiting.iter().zip(&fds[1..]) {
            ready[*i] = fd.any().unwrap_or(false);
        }
        Ok((fds[0].any().unwrap_or(false), ready))
    }

    /// Lets every application act that has something to do.
    fn act(&mut self, ready: &[bool]) {
        // What a late wake-up has read was there by the end of the run.
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

    /// Notes the state of every sender's connection.
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

/// The value of a series in its unit, if there is one yet.
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
