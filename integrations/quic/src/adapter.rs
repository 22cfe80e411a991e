//! The common part of all libraries' controllers.

use std::collections::VecDeque;
use std::time::Instant;

use windlass_cc::group::{PathEvent, PathView};
use windlass_cc::{
    Ack, AnyController, AnyParams, Conn, Control, Event, Phase, RateSampler, SentRecord, Span,
    Time, Undo, flags,
};

use crate::paths::{Place, Shared};
use crate::recorder::Recorder;

/// The minimum window, packets (RFC 9002 section 7.2).
const LEAST_PACKETS: u64 = 2;
/// Age at which an unacknowledged packet is removed. Such packets carry only acknowledgements, and are never
/// acknowledged.
const FORGOTTEN: Span = Span::from_secs(30);

/// One path's algorithm with the values that it needs. Packets are identified by their sending times, because some
/// libraries do not give their numbers.
#[derive(Clone, Debug)]
pub struct Adapter {
    params: AnyParams,
    state: AnyController,
    conn: Conn,
    sampler: RateSampler,
    epoch: Instant,
    sent: VecDeque<Sent>,
    batch: Batch,
    /// Beginning of the last recovery. Packets sent before it belong to the same loss, also after the recovery (RFC
    /// 9002 section 7.3.2).
    recovery: Option<Time>,
    entropy: u32,
    place: Place,
    recorder: Option<Recorder>,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    record: SentRecord,
    end: u64,
}

/// The packets of one acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    bytes: u64,
    lost: u64,
    newest: Option<Time>,
}

/// Packets that are considered lost, or marked.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// Sending time of the newest of the packets.
    pub sent: Instant,
    /// Bytes lost; zero for marks.
    pub lost: u64,
    /// True if the loss lasted so long that it counts as a timeout (RFC 9002 section 7.6).
    pub persistent: bool,
}

impl Adapter {
    /// A path of a connection that began at `epoch`, with this payload size of a datagram. It sees the paths that share
    /// `shared`.
    pub fn new(
        params: AnyParams,
        epoch: Instant,
        now: Instant,
        mtu: u16,
        shared: &Shared,
    ) -> Adapter {
        let now = since(epoch, now);
        let conn = Conn { now, ..Conn::new(mtu.into()) };
        let state = AnyController::init(&params, &conn);
        Adapter {
            place: shared.join(view(&state, &params, &conn)),
            state,
            params,
            conn,
            sampler: RateSampler::new(now),
            epoch,
            sent: VecDeque::new(),
            batch: Batch::default(),
            recovery: None,
            entropy: 1,
            recorder: None,
        }
    }

    fn time(&self, at: Instant) -> Time {
        since(self.epoch, at)
    }

    /// A packet was sent.
    pub fn on_sent(&mut self, now: Instant, bytes: u64) {
        let now = self.time(now);
        // QUIC removes packets that it considers lost, so the outstanding data equals the data in flight.
        let in_flight = self.conn.in_flight;
        let record = self.sampler.on_sent(now, in_flight, in_flight, bytes);
        self.conn.in_flight += bytes;
        self.conn.sent += bytes;
        self.conn.next_id += bytes;
        self.sent.push_back(Sent { record, end: self.conn.next_id });
        self.place.report(now, PathEvent::Sent(1));
        while self.sent.front().is_some_and(|old| now.since(old.record.sent_time) > FORGOTTEN) {
            self.sent.pop_front();
        }
    }

    fn record(&self, sent: Time) -> Option<Sent> {
        let after = self.sent.partition_point(|packet| packet.record.sent_time <= sent);
        self.sent.get(after.checked_sub(1)?).copied()
    }

    /// A packet was acknowledged; [`on_end_acks`](Self::on_end_acks) follows.
    pub fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64) {
        let (now, sent) = (self.time(now), self.time(sent));
        let known = self.record(sent);
        let end = known.map_or(0, |packet| packet.end);
        self.sampler.on_delivered(now, bytes, end, known.as_ref().map(|packet| &packet.record));
        self.batch.bytes += bytes;
        self.batch.newest = self.batch.newest.max(Some(sent));
    }

    /// All packets of an acknowledgement have been reported. `in_flight` bytes are in flight now.
    pub fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool) {
        let Batch { bytes, lost, newest } = std::mem::take(&mut self.batch);
        let Some(newest) = newest else { return };
        let prior_in_flight = self.conn.in_flight;
        let rtt = self.time(now).since(newest);
        self.measure(rtt);
        self.account(now, in_flight);
        self.conn.flags = if app_limited { flags::APP_LIMITED } else { flags::CWND_LIMITED };
        let rate = self.sampler.sample(self.conn.min_rtt);
        let ack = Ack { delivered: bytes, lost, prior_in_flight, rtt, rate, ..Ack::of(bytes) };
        self.tell_path();
        self.tell(Event::Ack(ack));
        if app_limited && in_flight < self.window() {
            self.sampler.on_app_limited(in_flight);
        }
        if self.recovery.is_some_and(|began| newest > began) {
            self.end_recovery();
        }
    }

    /// Packets are considered lost, or were marked.
    pub fn on_congestion(&mut self, now: Instant, what: Congestion) {
        let sent = self.time(what.sent);
        if what.lost > 0 {
            let left = self.conn.in_flight.saturating_sub(what.lost);
            let packets = what.lost.div_ceil(self.conn.mss.into());
            self.place.report(self.time(now), PathEvent::Retransmitted(packets as u32));
            if let Some(packet) = self.record(sent) {
                let loss = self.sampler.on_lost(&packet.record, what.lost);
                self.batch.lost += what.lost;
                self.account(now, left);
                // FlightSize of RFC 5681 is all data sent from the missing packet on, acknowledged or not.
                self.conn.flight_size = self.conn.next_id - packet.end + what.lost;
                self.tell(Event::Loss(loss));
            }
        } else {
            self.account(now, self.conn.in_flight);
        }
        let same = self.recovery.is_some_and(|began| sent <= began);
        if same && what.lost > 0 && self.conn.phase == Phase::Recovery {
            self.tell_lost(what.lost);
        }
        if !same {
            self.end_recovery();
            self.recovery = Some(self.conn.now);
            self.turn(if what.lost > 0 { Phase::Recovery } else { Phase::Cwr });
        }
        if what.persistent {
            self.turn(Phase::Loss);
        }
    }

    /// All packets that were considered lost have arrived.
    pub fn on_spurious(&mut self) {
        self.tell(Event::Undo(Undo::Dsack));
        self.end_recovery();
    }

    /// Bytes left the flight without an acknowledgement and without a loss.
    pub fn on_discarded(&mut self, bytes: u64) {
        self.conn.in_flight = self.conn.in_flight.saturating_sub(bytes);
    }

    /// The size of datagrams has changed.
    pub fn on_mtu(&mut self, mtu: u16) {
        let old = std::mem::replace(&mut self.conn.mss, mtu.into());
        if old != self.conn.mss {
            self.tell(Event::Mss(old));
        }
    }

    /// Maximum number of bytes in flight, at least two packets (RFC 9002 section 7.2).
    pub fn window(&self) -> u64 {
        self.control().cwnd.max(LEAST_PACKETS * u64::from(self.conn.mss))
    }

    /// Bytes that are in flight.
    pub fn in_flight(&self) -> u64 {
        self.conn.in_flight
    }

    /// True if another full packet may be sent.
    pub fn has_room(&self) -> bool {
        self.in_flight() + u64::from(self.conn.mss) <= self.window()
    }

    /// The algorithm's answer.
    pub fn control(&self) -> Control {
        self.state.control(&self.params, &self.conn)
    }

    /// Records all later events and answers of the algorithm.
    pub fn recorded_by(&mut self, recorder: Recorder) {
        recorder.begin(&self.params, &self.conn, self.control());
        self.recorder = Some(recorder);
    }

    fn tell(&mut self, event: Event) {
        self.state.apply(&self.params, &self.conn, &event);
        if let Some(recorder) = &self.recorder {
            recorder.note(&event, &self.conn, self.control());
        }
    }

    /// Reports losses that a library reports after the acknowledgement that showed them. A TCP processes both at once.
    /// The algorithm computed the window of this recovery with the lost packets in flight, and must compute it without
    /// them. Otherwise new packets would replace them.
    fn tell_lost(&mut self, bytes: u64) {
        self.conn.flight_size = self.conn.in_flight;
        let prior_in_flight = self.conn.in_flight + bytes;
        let lost = std::mem::take(&mut self.batch.lost);
        self.tell(Event::Ack(Ack { lost, prior_in_flight, ..Ack::default() }));
    }

    fn end_recovery(&mut self) {
        if self.conn.phase != Phase::Open {
            self.turn(Phase::Open);
        }
    }

    /// RFC 6298's smoothing. A sample includes the receiver's delay.
    fn measure(&mut self, rtt: Span) {
        let conn = &mut self.conn;
        conn.srtt = match conn.srtt.is_known() {
            true => Span(conn.srtt.0 - conn.srtt.0 / 8 + rtt.0 / 8),
            false => rtt,
        };
        conn.min_rtt = conn.min_rtt.min(rtt);
    }

    /// Updates the connection's values. QUIC retransmits data under new packet numbers, so the data that is not in
    /// flight is complete.
    fn account(&mut self, now: Instant, in_flight: u64) {
        self.conn.now = self.time(now);
        let conn = &mut self.conn;
        conn.in_flight = in_flight;
        conn.flight_size = in_flight;
        conn.delivered = self.sampler.delivered();
        conn.lost = self.sampler.lost();
        conn.una = conn.una.max(conn.next_id.saturating_sub(in_flight));
        // Marsaglia's xorshift.
        self.entropy ^= self.entropy << 13;
        self.entropy ^= self.entropy >> 17;
        self.entropy ^= self.entropy << 5;
        conn.entropy = self.entropy;
    }

    /// Shows the path to its siblings, and the siblings to the algorithm.
    fn tell_path(&mut self) {
        let view = view(&self.state, &self.params, &self.conn);
        let group = self.place.show(self.conn.now, view);
        self.tell(Event::Group(group));
    }

    fn turn(&mut self, to: Phase) {
        let from = std::mem::replace(&mut self.conn.phase, to);
        self.tell(Event::Phase { from, to });
        match to {
            Phase::Recovery => self.place.report(self.conn.now, PathEvent::FastRetransmit),
            Phase::Loss => self.place.report(self.conn.now, PathEvent::Timeout),
            Phase::Open | Phase::Cwr => {}
        }
    }
}

fn since(epoch: Instant, at: Instant) -> Time {
    let passed = at.saturating_duration_since(epoch).as_nanos();
    Time(u64::try_from(passed).unwrap_or(u64::MAX - 1))
}

/// The view of a path for its siblings.
fn view(state: &AnyController, params: &AnyParams, conn: &Conn) -> PathView {
    let Control { cwnd, ssthresh, .. } = state.control(params, conn);
    let Conn { srtt, min_rtt, mss, phase, .. } = *conn;
    PathView { cwnd, ssthresh, srtt, min_rtt, disclosed: state.disclosed(), mss, phase }
}
