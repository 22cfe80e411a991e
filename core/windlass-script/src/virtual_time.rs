//! Windlass's endpoint as the stack under test. The script is the peer and the clock.

use std::collections::VecDeque;

use windlass_cc::{Span, Time};
use windlass_tcp::{Codepoint, Endpoint, Failure, Profile, Segment, Seq};

use super::ast::{Action, Check, ErrorKind, INFINITE};
use super::settings::Settings;
use super::stack::{Departure, Seen, Stack, Tolerance};

/// Initial sequence number of the endpoint. Its stream passes 2³² after two thousand bytes.
pub const ENDPOINT_ISS: Seq = Seq(0u32.wrapping_sub(2_000));
/// More segments than any script causes at once. An endpoint that exceeds this number would not stop.
const TOO_MANY: usize = 100_000;

type Reading = fn(&Endpoint) -> u64;

/// Values that only the endpoint shows, with their names in scripts. Kernels count their windows in segments.
pub(crate) const OWN: [(&str, Reading); 15] = [
    ("cwnd_bytes", |e| e.control().cwnd),
    ("ssthresh_bytes", |e| e.control().ssthresh),
    ("in_flight_bytes", |e| e.in_flight()),
    ("sacked_bytes", |e| e.scoreboard().sacked()),
    ("lost_bytes", |e| e.scoreboard().pending()),
    ("received_bytes", |e| e.received()),
    ("acknowledged_bytes", |e| e.acknowledged()),
    ("retransmissions", |e| e.stats().retransmits),
    ("fast_retransmissions", |e| e.stats().fast_retransmits),
    ("duplicate_acks", |e| e.stats().dup_acks),
    ("timeouts", |e| e.stats().rto_count),
    ("ecn_reductions", |e| e.stats().ecn_reductions),
    ("undone_reductions", |e| e.stats().undone),
    ("window_probes", |e| e.stats().window_probes),
    ("timer_ms", |e| e.deadline().0 / 1_000_000),
];

/// An endpoint in virtual time.
#[derive(Debug)]
pub struct VirtualTime {
    /// Configuration of the endpoint.
    pub profile: Profile,
    /// The endpoint. A test may use it between two parts of a script.
    pub endpoint: Endpoint,
    now: Time,
    /// Departures that have not been returned yet.
    out: VecDeque<Departure>,
}

impl VirtualTime {
    /// Creates a closed endpoint at time zero.
    pub fn new(settings: &Settings) -> VirtualTime {
        VirtualTime::with_profile(settings.profile())
    }

    /// Creates a closed endpoint with this configuration at time zero.
    pub fn with_profile(profile: Profile) -> VirtualTime {
        let endpoint = Endpoint::new(&profile, ENDPOINT_ISS);
        VirtualTime { profile, endpoint, now: Time::ZERO, out: VecDeque::new() }
    }

    /// Returns the expiry of the endpoint's next timer; [`Time::NEVER`] if no timer runs.
    pub fn deadline(&self) -> Time {
        self.endpoint.deadline()
    }

    /// Moves the time forward, but not to a timer's expiry.
    pub fn catch_up(&mut self, now: Time) {
        if now < self.endpoint.deadline() {
            self.now = self.now.max(now);
        }
    }

    /// Collects the segments that the endpoint has to send.
    fn poll(&mut self) -> Result<(), String> {
        while let Some(segment) = self.endpoint.poll_transmit(&self.profile, self.now) {
            self.out.push_back(Departure { at: self.now, segment, intact: true });
            if self.out.len() > TOO_MANY {
                return Err(format!("the endpoint sent {TOO_MANY} segments at once"));
            }
        }
        Ok(())
    }

    fn segments(&self, bytes: u64) -> u64 {
        bytes / u64::from(self.endpoint.mss())
    }

    fn error(&self) -> ErrorKind {
        match self.endpoint.failure() {
            None | Some(Failure::Aborted) => ErrorKind::None,
            Some(
                Failure::ConnectTimeout
                | Failure::DataTimeout
                | Failure::FinTimeout
                | Failure::ProbeTimeout,
            ) => ErrorKind::TimedOut,
            Some(Failure::Reset) if self.endpoint.was_established() => ErrorKind::Reset,
            Some(Failure::Reset) => ErrorKind::Refused,
        }
    }
}

fn known(span: Span) -> Result<Seen, String> {
    let known = span.is_known().then_some(Seen::Number(span.0));
    known.ok_or_else(|| "no RTT sample yet".to_owned())
}

impl Stack for VirtualTime {
    fn now(&self) -> Time {
        self.now
    }

    fn tolerance(&self, _: Span) -> Tolerance {
        Tolerance { early: Span::ZERO, late: Span::ZERO }
    }

    fn act(&mut self, action: Action) -> Result<(), String> {
        match action {
            Action::Listen => self.endpoint.listen(),
            Action::Connect => self.endpoint.connect(),
            Action::Write(bytes) => self.endpoint.offer(bytes.into()),
            Action::Read(bytes) => {
                let readable = self.endpoint.readable();
                if readable < bytes.into() {
                    return Err(format!("{readable} bytes are readable, not {bytes}"));
                }
                self.endpoint.read(&self.profile, self.now, bytes.into());
            }
            Action::Shutdown => self.endpoint.close(),
            Action::Close => self.endpoint.close_both(),
            Action::Abort => self.endpoint.abort(),
        }
        self.poll()
    }

    fn deliver(&mut self, segment: &Segment) -> Result<(), String> {
        self.endpoint.on_segment(&self.profile, self.now, segment);
        self.poll()
    }

    fn next(&mut self, until: Time) -> Result<Option<Departure>, String> {
        while self.out.is_empty() && self.endpoint.deadline() <= until {
            let due = self.endpoint.deadline();
            self.now = self.now.max(due);
            self.endpoint.on_deadline(&self.profile, self.now);
            self.poll()?;
            if self.endpoint.deadline() <= due && self.out.is_empty() {
                return Err(format!("the endpoint's deadline stays at {due}"));
            }
        }
        if self.out.is_empty() {
            self.now = self.now.max(until);
        }
        Ok(self.out.pop_front())
    }

    fn look(&mut self, at: &Check) -> Result<Seen, String> {
        let e = &self.endpoint;
        Ok(match at {
            Check::State(_) => Seen::State(e.state()),
            Check::Cwnd(_) => Seen::Number(self.segments(e.control().cwnd)),
            Check::Ssthresh(_) if e.control().ssthresh >= windlass_cc::window::MAX_WINDOW => {
                Seen::Number(INFINITE)
            }
            Check::Ssthresh(_) => Seen::Number(self.segments(e.control().ssthresh)),
            Check::DeliveredCe(_) => Seen::Number(e.reported_marks().map_or(0, |marks| marks.0)),
            Check::DeliveredBytes(field, _) => {
                let [e1, ce, e0] = e.reported_marks().map_or([0; 3], |marks| marks.1);
                let bytes = match field {
                    Codepoint::NotEct => 0,
                    Codepoint::Ect1 => e1,
                    Codepoint::Ce => ce,
                    Codepoint::Ect0 => e0,
                };
                Seen::Number(bytes.into())
            }
            Check::Phase(_) => Seen::Phase(e.phase()),
            Check::Own(name, _) => {
                let own = OWN.iter().find(|own| own.0 == *name);
                own.map(|own| Seen::Number(own.1(e))).ok_or("no such value")?
            }
            Check::Srtt(_) => known(e.srtt())?,
            Check::Rto(_) => Seen::Number(e.rto(&self.profile).0),
            Check::Readable(_) => Seen::Number(e.readable()),
            Check::Eof(_) => Seen::Answer(e.at_end()),
            Check::Error(_) => Seen::Error(self.error()),
        })
    }
}
