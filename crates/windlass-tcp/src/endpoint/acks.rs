//! When a receiver acknowledges: by RFC 1122's rule, or by Linux's, which delays acknowledgements by what arrives and
//! ends each delay early where somebody may be waiting for it.

use windlass_cc::{Span, Time};

use super::{Endpoint, Profile, State};
use crate::segment::{DEFAULT_MSS, Flags, Segment};

/// `TCP_MAX_QUICKACKS`: acknowledgements of single segments when a connection begins, or after data
/// that came twice.
const MANY_QUICK: u32 = 16;
/// `TCP_MIN_MSS`, bytes: the first guess of the peer's segments is this at least, and [`DEFAULT_MSS`] at most.
const LEAST_MSS: u32 = 88;
/// The longest delay: the least retransmission timeout less a tick of 4 ms (`tcp_delack_max`).
const LONGEST_DELAY: Span = Span::from_millis(196);

/// How Linux's receiver stands with its acknowledgements (`icsk_ack`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Acks {
    /// Segments still to be acknowledged at once (`quick`).
    quick: u32,
    /// The peer's segment size as it seems, bytes (`rcv_mss`); zero before the first data.
    segment: u32,
    /// Length of the last segment that was shorter, bytes (`last_seg_size`).
    shorter: u32,
    /// How long an acknowledgement may wait (`ato`), [`StackConfig::delayed_ack_timeout`](crate::StackConfig::delayed_ack_timeout) or more; zero
    /// before the first data.
    delay: Span,
    /// When data came last (`lrcvtime`).
    last_data: Time,
    /// The application answers what comes, so that an acknowledgement may go with its data (`pingpong`).
    dialogue: bool,
    /// An acknowledgement is due (`ICSK_ACK_SCHED`).
    due: bool,
    /// Data have come that the sender pushed, or in a short segment, once or more than once.
    pushed: u8,
}

impl Acks {
    /// So many acknowledgements go at once, at most (`tcp_enter_quickack_mode`).
    pub(super) fn hasten(&mut self, p: &Profile, most: u32) {
        self.quick = self.quick.max(most);
        self.dialogue = false;
        self.delay = p.stack.delayed_ack_timeout;
    }

    /// Data leave: an answer, if something has come just now (`tcp_event_data_sent`).
    pub(super) fn note_sent(&mut self, now: Time) {
        self.dialogue |= now.since(self.last_data) < self.delay;
    }

    /// The window opens fast, of which the sender is to know at once (`tcp_grow_window`).
    pub(super) fn hasten_once(&mut self) {
        self.quick |= 1;
    }

    /// The length of a segment tells the peer's segment size, or that its application had no more
    /// (`tcp_measure_rcv_mss`).
    fn measure_segment(&mut self, s: &Segment, options: u32, mss: u32) {
        let before = std::mem::take(&mut self.shorter);
        let pushed = s.flags.has(Flags::PSH);
        if s.len >= self.segment {
            self.segment = s.len.min(mss);
            self.pushed |= u8::from(pushed);
            return;
        }
        // Without PSH a segment is a full one, unless it is very small. The options that only some segments have do not
        // count.
        let whole = s.len + s.options.wire_len();
        if whole >= DEFAULT_MSS || whole >= LEAST_MSS && !pushed {
            self.shorter = whole.saturating_sub(options);
            if self.shorter == before {
                self.segment = self.shorter;
                return;
            }
        }
        self.pushed = if self.pushed > 0 { 2 } else { 1 };
    }

    /// The time between segments sets the delay (`tcp_event_data_recv`).
    fn measure_gap(&mut self, now: Time, least: Span, rto: Span, most_quick: u32) {
        let gap = now.since(self.last_data);
        if self.delay == Span::ZERO {
            self.quick = self.quick.max(most_quick);
            self.delay = least;
        } else if gap.0 <= least.0 / 2 {
            self.delay = Span(self.delay.0 / 2 + least.0 / 2);
        } else if gap < self.delay {
            self.delay = Span(self.delay.0 / 2 + gap.0).min(rto).min(LONGEST_DELAY);
        } else if gap > rto {
            self.quick = self.quick.max(most_quick);
        }
        self.last_data = now;
    }
}

impl Endpoint {
    /// Data that had not come before arrive in order.
    pub(super) fn on_fresh_data(&mut self, p: &Profile, now: Time, s: &Segment) {
        self.recv.unacked_segments += 1;
        if !p.stack.quick_acks {
            return;
        }
        let options = if self.agreed.timestamps { 12 } else { 0 };
        // `advmss`: what this end has announced.
        let (rto, mss) = (self.rto(p), p.mss().saturating_sub(options));
        let acks = &mut self.recv.acks;
        acks.due = true;
        if acks.segment == 0 {
            acks.segment = mss.min(self.agreed.mss).clamp(LEAST_MSS, DEFAULT_MSS);
        }
        acks.measure_segment(s, options, mss);
        let most_quick = self.most_quick();
        self.recv.acks.measure_gap(now, p.stack.delayed_ack_timeout, rto, most_quick);
    }

    /// Data came that had come before, or that nobody wants (`tcp_enter_quickack_mode`).
    pub(super) fn acknowledge_quickly(&mut self, p: &Profile) {
        if p.stack.quick_acks {
            let most = self.most_quick();
            self.recv.acks.hasten(p, most);
            self.recv.acks.due = true;
        }
    }

    /// Half the window in segments, within bounds (`tcp_incr_quickack`).
    fn most_quick(&self) -> u32 {
        let window = self.recv.adv.saturating_sub(self.recv.nxt);
        let segment = u64::from(self.recv.acks.segment.max(1));
        (window / (2 * segment)).clamp(2, u64::from(MANY_QUICK)) as u32
    }

    /// A FIN arrives: where both sides are done it is acknowledged at once, and otherwise with the application's own FIN if
    /// that comes soon (`tcp_fin`).
    pub(super) fn on_fin(&mut self, p: &Profile) {
        if !p.stack.quick_acks || self.state != State::Established {
            self.recv.ack_now = true;
            return;
        }
        self.recv.acks.due = true;
        self.recv.acks.dialogue = true;
    }

    /// All of a segment's data are dealt with: the acknowledgement goes now or later. `beyond` says that they came beyond a
    /// hole.
    pub(super) fn acknowledge_data(&mut self, p: &Profile, now: Time, beyond: bool) {
        if p.stack.quick_acks {
            self.recv.acks.due = true;
            return self.acknowledge_as_linux(p, now);
        }
        if beyond {
            self.report_hole(p, now);
        } else if self.recv.unacked_segments >= p.stack.delayed_ack_segments {
            self.recv.ack_now = true;
        } else if self.timers.delack.is_never() && !self.recv.ack_now {
            self.timers.delack = now + p.stack.delayed_ack_timeout;
        }
    }

    /// `__tcp_ack_snd_check`.
    fn acknowledge_as_linux(&mut self, p: &Profile, now: Time) {
        let acks = &self.recv.acks;
        let each = p.stack.delayed_ack_segments <= 1 || acks.quick > 0 && !acks.dialogue;
        if self.recv.ack_now || each || self.owes_segments(p) && self.window_keeps_up(p) {
            self.recv.ack_now = true;
        } else if self.recv.ranges.is_empty() {
            self.delay_ack(p, now);
        } else {
            self.report_hole(p, now);
        }
    }

    /// Whether more than a full segment is not acknowledged yet.
    fn owes_segments(&self, p: &Profile) -> bool {
        let most = u64::from(self.recv.acks.segment)
            * u64::from(p.stack.delayed_ack_segments.saturating_sub(1));
        self.recv.nxt - self.recv.last_ack_sent > most
    }

    /// Whether the acknowledgement would offer as much room as the last one did; otherwise the application's reading brings
    /// one.
    fn window_keeps_up(&self, p: &Profile) -> bool {
        let offered = self.recv.adv.saturating_sub(self.recv.last_ack_sent);
        self.layer.on || self.recv.nxt == self.recv.read || self.receive_room(p) >= offered
    }

    /// `tcp_send_delayed_ack`.
    fn delay_ack(&mut self, p: &Profile, now: Time) {
        let (srtt, least) = (self.srtt(), p.stack.delayed_ack_timeout);
        let mut delay = self.recv.acks.delay;
        if delay > least {
            delay = delay.min(if srtt.is_known() { srtt.max(least) } else { LONGEST_DELAY });
        }
        let at = Endpoint::expiry(p, now, delay);
        if self.timers.delack <= now + Span(delay.0 / 4) {
            self.recv.ack_now = true; // the wait is about to end anyhow
        } else {
            self.timers.delack = self.timers.delack.min(at);
        }
    }

    /// An acknowledgement has waited for its full delay (`tcp_delack_timer_handler`).
    pub(super) fn note_ack_delayed(&mut self, p: &Profile) {
        let rto = self.rto(p);
        let acks = &mut self.recv.acks;
        if !acks.due {
            return;
        }
        if std::mem::take(&mut acks.dialogue) {
            acks.delay = p.stack.delayed_ack_timeout;
        } else {
            acks.delay = (acks.delay + acks.delay).min(rto).min(LONGEST_DELAY);
        }
    }

    /// An acknowledgement goes out, by itself or with data (`tcp_event_ack_sent`).
    #[inline]
    pub(super) fn note_ack_sent(&mut self, p: &Profile) {
        self.timers.report = Time::NEVER;
        self.recv.autotune.forget_reports();
        if !p.stack.quick_acks {
            return;
        }
        let acks = &mut self.recv.acks;
        if acks.due && acks.quick > 0 {
            acks.quick -= 1;
            if acks.quick == 0 {
                acks.delay = p.stack.delayed_ack_timeout;
            }
        }
        (acks.due, acks.pushed) = (false, 0);
    }

    /// The application read. RFC 1122 section 4.2.3.3 requires an acknowledgement once the window has opened by a segment or
    /// half the buffer. As in BSD it is two segments, so that an update does not double every acknowledgement. Linux
    /// announces a window that is twice as large as the sender knows. It also acknowledges pushed data once all are read,
    /// unless the application is about to answer (`__tcp_cleanup_rbuf`).
    pub(super) fn after_read(&mut self, p: &Profile) {
        if self.recv.fin_received() && !(p.stack.quick_acks && self.recv.acks.due) {
            return;
        }
        if !p.stack.quick_acks {
            let opened = self.window_edge(p).saturating_sub(self.recv.adv);
            let step = (2 * u64::from(self.agreed.mss)).min(p.stack.receive_buffer / 2).max(1);
            self.recv.ack_now |= opened >= step;
            return;
        }
        let acks = &self.recv.acks;
        let nobody_answers = acks.pushed > 1 || acks.pushed > 0 && !acks.dialogue;
        let all_read = self.recv.read == self.recv.data_received() && self.recv.ranges.is_empty();
        let due = acks.due && (self.owes_segments(p) || nobody_answers && all_read);
        self.recv.ack_now |= due || !self.recv.fin_received() && self.window_doubles(p);
    }

    /// Whether the application's reading has made the window at least twice as large as the sender knows.
    fn window_doubles(&self, p: &Profile) -> bool {
        let known = self.recv.adv.saturating_sub(self.recv.nxt);
        let room = self.receive_room(p);
        2 * known <= self.recv.autotune.clamp(p) && room > 0 && room >= 2 * known
    }
}
