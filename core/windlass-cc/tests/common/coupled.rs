//! A connection with several paths, driven by a test.

use windlass_cc::{Ack, AnyController, AnyParams, Conn, Group, PathView, Phase, Span};

use super::avoidance;

/// Payload of every segment.
pub const MSS: u64 = 1_000;

/// One path: its controller and the state of its host.
pub struct Path {
    pub p: AnyParams,
    pub state: AnyController,
    pub c: Conn,
}

impl Path {
    pub fn cwnd(&self) -> u64 {
        self.state.control(&self.p, &self.c).cwnd
    }

    /// Window in segments with a fraction, in the resolution of whole bytes.
    pub fn window(&self) -> f64 {
        self.cwnd() as f64 / MSS as f64
    }

    pub fn view(&self) -> PathView {
        let now = self.state.control(&self.p, &self.c);
        PathView {
            cwnd: now.cwnd,
            ssthresh: now.ssthresh,
            srtt: self.c.srtt,
            min_rtt: self.c.min_rtt,
            disclosed: self.state.disclosed(),
            mss: self.c.mss,
            phase: self.c.phase,
        }
    }
}

/// All paths of a connection.
pub struct Paths(pub Vec<Path>);

impl Paths {
    /// Paths in congestion avoidance with these windows in segments and RTTs in milliseconds, after a
    /// first exchange of the group.
    pub fn new(id: &str, paths: &[(u64, u64)]) -> Paths {
        Paths::with(paths.iter().map(|(window, rtt)| (avoidance(id, window * MSS), *rtt)))
    }

    /// Paths with these parameters and RTTs in milliseconds.
    pub fn with(paths: impl IntoIterator<Item = (AnyParams, u64)>) -> Paths {
        let begin = |(p, rtt): (AnyParams, u64)| {
            let rtt = Span::from_millis(rtt);
            let c = Conn { srtt: rtt, min_rtt: rtt, ..Conn::new(MSS as u32) };
            Path { p, state: AnyController::init(&p, &c), c }
        };
        let mut paths = Paths(paths.into_iter().map(begin).collect());
        paths.tell();
        paths
    }

    pub fn group(&self) -> Group {
        Group::new(self.0.iter().map(Path::view))
    }

    /// Passes the group to every path.
    pub fn tell(&mut self) {
        let group = self.group();
        for (place, path) in self.0.iter_mut().enumerate() {
            path.state.on_group(&path.p, &path.c, &group.seen_from(place, 0));
        }
    }

    /// Acknowledges a segment on a path.
    pub fn ack(&mut self, place: usize) {
        self.ack_of(place, MSS);
    }

    /// Acknowledges `bytes` bytes of the path at this index.
    pub fn ack_of(&mut self, place: usize, bytes: u64) {
        let path = &mut self.0[place];
        path.c.next_id = path.c.next_id.max(path.c.una + path.cwnd().max(bytes));
        path.c.una += bytes;
        let ack = Ack { rtt: path.c.srtt, ..Ack::of(bytes) };
        path.state.on_ack(&path.p, &path.c, &ack);
        self.tell();
    }

    /// Loses a segment on a path with a full window in flight, and repairs it at once.
    pub fn lose(&mut self, place: usize) {
        self.enter(place, Phase::Recovery);
        self.enter(place, Phase::Open);
    }

    /// Changes the phase of the host's recovery.
    pub fn enter(&mut self, place: usize, to: Phase) {
        let path = &mut self.0[place];
        let from = std::mem::replace(&mut path.c.phase, to);
        path.c.flight_size = path.cwnd();
        path.c.in_flight = path.c.flight_size;
        path.state.on_phase(&path.p, &path.c, from, to);
        self.tell();
    }

    /// Growth of a path in segments for an acknowledgement of one segment, with all windows restored.
    /// It is the mean over enough segments for whole bytes to show it.
    pub fn increase(&self, place: usize) -> f64 {
        // The window's fraction is not visible, so one acknowledgement covers a thousand segments.
        let path = &self.0[place];
        let mut state = path.state;
        let mut p = path.p;
        p.set_common(&windlass_cc::Setup { ack_limit: u32::MAX, ..p.common() });
        let c = Conn { una: path.c.una + 1_000 * MSS, ..path.c };
        let before = state.control(&p, &c).cwnd;
        state.on_ack(&p, &c, &Ack::of(1_000 * MSS));
        (state.control(&p, &c).cwnd as f64 - before as f64) / (1_000 * MSS) as f64
    }
}
