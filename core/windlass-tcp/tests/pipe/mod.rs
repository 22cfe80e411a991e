//! Two endpoints and a network that delays, drops, duplicates and reorders segments according to a list. It is not the
//! simulator, because it checks both ends after each segment, and compares the short path with the full path.

use std::collections::BTreeMap;

use windlass_cc::{Span, Time};
use windlass_tcp::{Codepoint, Endpoint, Flags, Profile, Segment, Seq, State};

/// Fate of one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Deliver,
    Drop,
    /// Arrives marked, if it is ECN-capable.
    Mark,
    /// Arrives twice, the second time this number of milliseconds later.
    Duplicate(u64),
    /// Arrives this number of milliseconds late.
    Delay(u64),
}

/// Behaviour of the application on one side.
#[derive(Clone, Copy, Debug)]
pub struct App {
    /// Total number of bytes to send.
    pub bytes: u64,
    /// Maximum numbers of bytes that it offers and reads each time it acts.
    pub write: u64,
    pub read: u64,
    /// Milliseconds between available work and the action.
    pub period: u64,
    /// True if it closes only after the peer.
    pub closes_last: bool,
}

impl App {
    pub fn sends(bytes: u64) -> App {
        App { bytes, write: u64::MAX, read: u64::MAX, period: 0, closes_last: false }
    }

    pub fn receives() -> App {
        App { closes_last: true, ..App::sends(0) }
    }
}

pub struct End {
    pub p: Profile,
    pub e: Endpoint,
    app: App,
    iss: Seq,
    wake: Time,
    offered: u64,
    closed: bool,
    pub read: u64,
    /// The bytes of the peer's stream that the network has delivered, and the number of contiguous bytes from
    /// the start.
    arrived: Vec<bool>,
    prefix: usize,
}

pub struct Pipe {
    pub now: Time,
    pub ends: [End; 2],
    /// Segments in flight by arrival and order of sending, with their receiver.
    wire: BTreeMap<(Time, u64), (usize, Segment)>,
    fates: Vec<Fate>,
    pub sent: u64,
    /// Counts down over side 0's data segments. The segment at zero is lost.
    pub data_until_loss: Option<u64>,
    /// If set, each arriving segment also goes the full path on a copy of its endpoint, which must then be equal. The
    /// number of segments that the short path processed.
    pub predicted: Option<u64>,
    /// If set, a line for each sent segment: time, side, segment.
    pub log: Option<String>,
    delay: Span,
}

impl Pipe {
    /// Side 0 connects. Side 1 listens or, if `both_connect`, connects at the same time.
    pub fn new(
        sides: [(Profile, App, Seq); 2],
        start: Time,
        delay: Span,
        both_connect: bool,
        fates: Vec<Fate>,
    ) -> Pipe {
        let peer_bytes = [sides[1].1.bytes, sides[0].1.bytes];
        let mut ends = [0, 1].map(|i| {
            let (p, app, iss) = sides[i];
            let arrived = vec![false; peer_bytes[i].min(1 << 20) as usize];
            let e = Endpoint::new(&p, iss);
            End {
                p,
                e,
                app,
                iss,
                wake: Time::NEVER,
                offered: 0,
                closed: false,
                read: 0,
                arrived,
                prefix: 0,
            }
        });
        ends[0].e.connect();
        if both_connect {
            ends[1].e.connect()
        } else {
            ends[1].e.listen()
        }
        let mut pipe = Pipe {
            now: start,
            ends,
            wire: BTreeMap::new(),
            fates,
            sent: 0,
            data_until_loss: None,
            predicted: None,
            log: None,
            delay,
        };
        for i in 0..2 {
            pipe.ends[i].act(start);
            pipe.flush(i);
        }
        pipe
    }

    /// Runs until both sides are closed. Panics at any error.
    pub fn run_to_close(&mut self, most_events: u64) {
        for _ in 0..most_events {
            if self.ends.iter().all(|end| end.e.state() == State::Closed && end.wake.is_never()) {
                return;
            }
            self.step();
        }
        let states = self.ends.each_ref().map(|end| (end.e.state(), end.e.received()));
        panic!("not closed after {most_events} events: {states:?}");
    }

    /// Processes the next event: an arrival, a deadline, or an action of an application.
    pub fn step(&mut self) {
        let arrival = self.wire.first_key_value().map_or(Time::NEVER, |(k, _)| k.0);
        let due = |end: &End| end.e.deadline().min(end.wake);
        let next = due(&self.ends[0]).min(due(&self.ends[1])).min(arrival);
        assert!(!next.is_never(), "no further event");
        self.now = self.now.max(next);
        if arrival <= self.now {
            let (_, (to, s)) = self.wire.pop_first().unwrap();
            self.deliver(to, &s);
        }
        for i in 0..2 {
            let end = &mut self.ends[i];
            if end.e.deadline() <= self.now {
                end.e.on_deadline(&end.p, self.now);
            }
            end.act(self.now);
            self.flush(i);
            assert!(self.ends[i].e.deadline() > self.now, "a deadline does not advance");
            crate::board::audit(&self.ends[i].e);
        }
    }

    /// Compares header prediction with the full path on copies of an endpoint.
    fn compare_paths(&mut self, to: usize, s: &Segment) {
        let Some(predicted) = &mut self.predicted else { return };
        let End { p, e, .. } = &self.ends[to];
        let (mut short, mut full) = (e.clone(), e.clone());
        full.on_segment_in_full(p, self.now, s);
        if short.predict(p, self.now, s) {
            *predicted += 1;
            assert_eq!(format!("{short:?}"), format!("{full:?}"), "before: {e:?}, segment: {s:?}");
        } else {
            assert_eq!(format!("{short:?}"), format!("{e:?}"), "changed without a prediction");
        }
    }

    /// Compares the next segment of a burst with a segment that takes nothing over from the segment before.
    fn compare_bursts(&self, from: usize) {
        if self.predicted.is_some() {
            let End { p, e, .. } = &self.ends[from];
            let (mut short, mut full) = (e.clone(), e.clone());
            let segment = short.poll_transmit(p, self.now);
            assert_eq!(segment, full.poll_transmit_in_full(p, self.now), "before: {e:?}");
            // What the full path does not take over is not part of the result.
            let text = |e: &Endpoint| {
                let text = format!("{e:?}").replace("bursting: true", "bursting: false");
                text.replace("advertised: true", "advertised: false")
            };
            assert_eq!(text(&short), text(&full), "before: {e:?}");
        }
    }

    /// Checks that a drained endpoint has nothing to send, and that another call changes nothing.
    fn check_drained(&self, from: usize) {
        let End { p, e, .. } = &self.ends[from];
        if self.predicted.is_some() && e.is_drained() {
            let mut asked = e.clone();
            assert_eq!(asked.poll_transmit(p, self.now), None, "before: {e:?}");
            let text = format!("{e:?}").replace("drained: true", "drained: false");
            assert_eq!(format!("{asked:?}"), text);
        }
    }

    fn deliver(&mut self, to: usize, s: &Segment) {
        self.compare_paths(to, s);
        let from_iss = self.ends[1 - to].iss;
        let end = &mut self.ends[to];
        let first = s.seq.0.wrapping_sub(from_iss.0).wrapping_sub(1) as usize;
        if s.len > 0 && !end.arrived.is_empty() {
            end.arrived[first..first + s.len as usize].fill(true);
            while end.arrived.get(end.prefix) == Some(&true) {
                end.prefix += 1;
            }
            end.e.on_segment(&end.p, self.now, s);
            assert!(end.e.received() <= end.prefix as u64, "bytes that never arrived");
        } else {
            end.e.on_segment(&end.p, self.now, s);
        }
    }

    /// Puts the segments of one side on the wire.
    fn flush(&mut self, from: usize) {
        for turn in 0.. {
            assert!(turn < 1_000_000, "an endless burst");
            self.compare_bursts(from);
            let end = &mut self.ends[from];
            let Some(s) = end.e.poll_transmit(&end.p, self.now) else { return };
            end.check(&s);
            if let Some(log) = &mut self.log {
                log.push_str(&format!("{:?} {from} {s:?}\n", self.now));
            }
            self.check_drained(from);
            let mut fate = self.fates.get(self.sent as usize).copied().unwrap_or(Fate::Deliver);
            if from == 0 && s.len > 0 {
                if self.data_until_loss == Some(0) {
                    fate = Fate::Drop;
                }
                self.data_until_loss = self.data_until_loss.and_then(|n| n.checked_sub(1));
            }
            self.sent += 1;
            let at = self.now + self.delay;
            let marked = fate == Fate::Mark && s.ecn.is_capable();
            let s = if marked { Segment { ecn: Codepoint::Ce, ..s } } else { s };
            let mut put = |at, copy| {
                self.wire.insert((at, 2 * self.sent + copy), (1 - from, s));
            };
            match fate {
                Fate::Deliver | Fate::Mark => put(at, 0),
                Fate::Drop => {}
                Fate::Delay(ms) => put(at + Span::from_millis(ms), 0),
                Fate::Duplicate(ms) => {
                    put(at, 0);
                    put(at + Span::from_millis(ms), 1);
                }
            }
        }
    }
}

impl End {
    /// The application acts a period after work becomes available.
    fn act(&mut self, now: Time) {
        self.set_alarm(now);
        if now < self.wake {
            return;
        }
        self.wake = Time::NEVER;
        let more = self.app.write.min(self.app.bytes - self.offered);
        self.e.offer(more);
        self.offered += more;
        let n = self.e.read(&self.p, now, self.app.read);
        assert!(n <= self.app.read);
        self.read += n;
        if self.may_close() {
            self.closed = true;
            self.e.close();
        }
        self.set_alarm(now);
    }

    fn set_alarm(&mut self, now: Time) {
        // A server acts when a connection exists, not before.
        let waiting = self.e.state() == State::Listen || self.e.failure().is_some();
        let idle = self.offered == self.app.bytes && self.e.readable() == 0;
        let more = !idle || (self.may_close() && !self.closed);
        if self.wake.is_never() && more && !waiting {
            self.wake = now + Span::from_millis(self.app.period);
        }
    }

    fn may_close(&self) -> bool {
        self.offered == self.app.bytes && (!self.app.closes_last || self.e.at_end())
    }

    /// Checks that a segment has only permitted contents.
    fn check(&self, s: &Segment) {
        let at = u64::from(s.seq.0.wrapping_sub(self.iss.0));
        let end = at + u64::from(s.len);
        if s.flags.has(Flags::RST) || self.app.bytes > 1 << 20 {
            return;
        }
        assert!(end <= 1 + self.offered + 1, "beyond what was offered: {s:?}");
        assert!(s.len <= self.p.mss(), "too long: {s:?}");
        assert!(s.options.wire_len() <= 40, "options too long: {s:?}");
        if s.len > 0 {
            assert!(end <= 1 + self.offered, "not offered: {s:?}");
        }
        if s.flags.has(Flags::FIN) {
            assert_eq!(end, 1 + self.app.bytes, "a FIN not at the end: {s:?}");
        }
    }
}
