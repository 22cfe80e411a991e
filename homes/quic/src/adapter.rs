//! What all libraries' controllers are made of.

use std::collections::VecDeque;
use std::time::Instant;

use windlass_cc::group::{PathEvent, PathView};
use windlass_cc::{
    Ack, AnyController, AnyParams, Conn, Control, Event, Phase, RateSampler, SentRecord, Span,
    Time, Undo, flags,
};

use crate::paths::{Place, Shared};
use crate::recorder::Recorder;

/// The least window (RFC 9002 section 7.2).
const LEAST_PACKETS: u64 = 2;
/// What was sent so long ago and not acknowledged never will be: packets that carry acknowledgements only.
const FORGOTTEN: Span = Span::from_secs(30);

/// One path's algorithm with the facts that it wants. Packets are known by the time at which they were sent, since not
/// every library tells their numbers.
#[derive(Clone, Debug)]
pub struct Adapter {
    params: AnyParams,
    state: AnyController,
    conn: Conn,
    sampler: RateSampler,
    epoch: Instant,
    sent: VecDeque<Sent>,
    batch: Batch,
    /// When the last recovery began: packets sent before it are of the same loss, also once it is over (RFC 9002 section 7.3.2).
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

/// What one acknowledgement covers.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    bytes: u64,
    lost: u64,
    newest: Option<Time>,
}

/// What was deemed lost or marked.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// When the newest of the packets was sent.
    pub sent: Instant,
    /// Bytes lost; none for marks.
    pub lost: u64,
    /// All was lost for so long that it counts as a timeout (RFC 9002 section 7.6).
    pub persistent: bool,
}

impl Adapter {
    /// A path of a connection that began at `epoch`, with this size of a datagram's payload. It sees the paths that
    /// share `shared`.
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

    /// A packet left.
    pub fn on_sent(&mut self, now: Instant, bytes: u64) {
        let now = self.time(now);
        // What a QUIC deems lost it has done with: outstanding is what is in flight.
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

    /// All packets of an acknowledgement have been told; so many bytes are in flight now.
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

    /// Packets were deemed lost, or marked.
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
                // FlightSize of RFC 5681 is all that was sent from what is missing on, acknowledged or not.
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

    /// All that was deemed lost arrived after all.
    pub fn on_spurious(&mut self) {
        self.tell(Event::Undo(Undo::Dsack));
        self.end_recovery();
    }

    /// Bytes are no longer in flight, which were neither acknowledged nor lost.
    pub fn on_discarded(&mut self, bytes: u64) {
        self.conn.in_flight = self.conn.in_flight.saturating_sub(bytes);
    }

    /// Datagrams have another size.
    pub fn on_mtu(&mut self, mtu: u16) {
        let old = std::mem::replace(&mut self.conn.mss, mtu.into());
        if old != self.conn.mss {
            self.tell(Event::Mss(old));
        }
    }

    /// Bytes that may be in flight, never less than two packets (RFC 9002 section 7.2).
    pub fn window(&self) -> u64 {
        self.control().cwnd.max(LEAST_PACKETS * u64::from(self.conn.mss))
    }

    /// Bytes that are in flight.
    pub fn in_flight(&self) -> u64 {
        self.conn.in_flight
    }

    /// Whether a whole packet more may be sent.
    pub fn has_room(&self) -> bool {
        self.in_flight() + u64::from(self.conn.mss) <= self.window()
    }

    /// The algorithm's answer.
    pub fn control(&self) -> Control {
        self.state.control(&self.params, &self.conn)
    }

    /// From now on all that the algorithm hears and answers is written down.
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

    /// A library tells losses after the acknowledgement that showed them, where a TCP deals with both at once: the window of
    /// this recovery was answered with the lost packets in flight, and is to be answered without them, or new ones would take
    /// their place.
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

    /// RFC 6298's smoothing; a sample has the receiver's delay in it.
    fn measure(&mut self, rtt: Span) {
        let conn = &mut self.conn;
        conn.srtt = match conn.srtt.is_known() {
            true => Span(conn.srtt.0 - conn.srtt.0 / 8 + rtt.0 / 8),
            false => rtt,
        };
        conn.min_rtt = conn.min_rtt.min(rtt);
    }

    /// Brings the facts up to date. Nothing is sent again under its old number, so that all that is not in flight is
    /// done with.
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

/// A path as its siblings see it.
fn view(state: &AnyController, params: &AnyParams, conn: &Conn) -> PathView {
    let Control { cwnd, ssthresh, .. } = state.control(params, conn);
    let Conn { srtt, min_rtt, mss, phase, .. } = *conn;
    PathView { cwnd, ssthresh, srtt, min_rtt, disclosed: state.disclosed(), mss, phase }
}
