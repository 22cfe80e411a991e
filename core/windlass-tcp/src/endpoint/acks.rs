//! Times at which a receiver acknowledges, by RFC 1122's rule or by Linux's rule. Linux derives the delay of
//! acknowledgements from the arriving data, and ends a delay early if the sender may be waiting.

use windlass_cc::{Span, Time};

use super::{Endpoint, Profile, State};
use crate::segment::{DEFAULT_MSS, Flags, Segment};

/// `TCP_MAX_QUICKACKS`: acknowledgements of single segments at the beginning of a connection, or after
/// duplicate data.
const MANY_QUICK: u32 = 16;
/// `TCP_MIN_MSS`, bytes: minimum of the first estimate of the peer's segment size; the maximum is
/// [`DEFAULT_MSS`].
const LEAST_MSS: u32 = 88;
/// The maximum delay: the minimum retransmission timeout minus a tick of 4 ms (`tcp_delack_max`).
const LONGEST_DELAY: Span = Span::from_millis(196);

/// State of Linux's delayed acknowledgements (`icsk_ack`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Acks {
    /// Remaining number of segments to acknowledge at once (`quick`).
    quick: u32,
    /// Estimate of the peer's segment size, bytes (`rcv_mss`); zero before the first data.
    segment: u32,
    /// Length of the last shorter segment, bytes (`last_seg_size`).
    shorter: u32,
    /// Delay of an acknowledgement (`ato`), at least
    /// [`StackConfig::delayed_ack_timeout`](crate::StackConfig::delayed_ack_timeout); zero before the first
    /// data.
    delay: Span,
    /// Arrival time of the last data (`lrcvtime`).
    last_data: Time,
    /// True if the application responds to the received data, so that its data can carry the acknowledgement
    /// (`pingpong`).
    dialogue: bool,
    /// True if an acknowledgement is due (`ICSK_ACK_SCHED`).
    due: bool,
    /// Number of arrivals of pushed data or of a short segment: 0, 1, or 2 for more than one.
    pushed: u8,
}

impl Acks {
    /// Estimate of the peer's segment size, bytes.
    pub(super) fn segment(&self) -> u64 {
        u64::from(self.segment)
    }

    /// True if segments are acknowledged at once.
    pub(super) fn are_quick(&self) -> bool {
        self.quick > 0
    }

    /// Ends the acknowledgement of each segment at once.
    pub(super) fn end_quick(&mut self) {
        self.quick = 0;
    }

    /// Schedules up to `most` immediate acknowledgements (`tcp_enter_quickack_mode`).
    pub(super) fn hasten(&mut self, p: &Profile, most: u32) {
        self.quick = self.quick.max(most);
        self.dialogue = false;
        self.delay = p.stack.delayed_ack_timeout;
    }

    /// Data are sent. They are a response if data have arrived recently (`tcp_event_data_sent`).
    pub(super) fn note_sent(&mut self, now: Time) {
        self.dialogue |= now.since(self.last_data) < self.delay;
    }

    /// The receive window grows fast, and the sender must be notified at once (`tcp_grow_window`).
    pub(super) fn hasten_once(&mut self) {
        self.quick |= 1;
    }

    /// Estimates the peer's segment size from the length of a segment, or detects that the peer's application
    /// had no more data (`tcp_measure_rcv_mss`).
    fn measure_segment(&mut self, s: &Segment, options: u32, mss: u32) {
        let before = std::mem::take(&mut self.shorter);
        let pushed = s.flags.has(Flags::PSH);
        if s.len >= self.segment {
            self.segment = s.len.min(mss);
            self.pushed |= u8::from(pushed);
            return;
        }
        // A segment without PSH counts as full, unless it is very small. Options that only some segments have
        // do not count.
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

    /// The usual case of [`measure_gap`](Acks::measure_gap), which needs neither timeout nor window. Returns false, and
    /// changes nothing, in all other cases.
    #[inline]
    fn measure_short_gap(&mut self, now: Time, least: Span) -> bool {
        let short = self.delay != Span::ZERO && now.since(self.last_data).0 <= least.0 / 2;
        if short {
            self.delay = Span(self.delay.0 / 2 + least.0 / 2);
            self.last_data = now;
        }
        short
    }

    /// Derives the delay from the time between segments (`tcp_event_data_recv`).
    fn measure_gap(&mut self, now: Time, least: Span, rto: Span, most_quick: u32) {
        let gap = now.since(self.last_data);
        if self.delay == Span::ZERO {
            self.quick = self.quick.max(most_quick);
            self.delay = least;
        } else if gap < self.delay {
            self.delay = Span(self.delay.0 / 2 + gap.0).min(rto).min(LONGEST_DELAY);
        } else if gap > rto {
            self.quick = self.quick.max(most_quick);
        }
        self.last_data = now;
    }
}

impl Endpoint {
    /// Processes new data that arrive in order.
    pub(super) fn on_fresh_data(&mut self, p: &Profile, now: Time, s: &Segment) {
        self.recv.unacked_segments += 1;
        if !p.stack.quick_acks {
            return;
        }
        let options = if self.agreed.timestamps { 12 } else { 0 };
        // `advmss`: the MSS that this end has announced.
        let mss = p.mss().saturating_sub(options);
        let acks = &mut self.recv.acks;
        acks.due = true;
        if acks.segment == 0 {
            acks.segment = mss.min(self.agreed.mss).clamp(LEAST_MSS, DEFAULT_MSS);
        }
        acks.measure_segment(s, options, mss);
        let least = p.stack.delayed_ack_timeout;
        if !acks.measure_short_gap(now, least) {
            let (rto, most_quick) = (self.rto(p), self.most_quick());
            self.recv.acks.measure_gap(now, least, rto, most_quick);
        }
    }

    /// Duplicate or unexpected data arrived (`tcp_enter_quickack_mode`).
    pub(super) fn acknowledge_quickly(&mut self, p: &Profile) {
        if p.stack.quick_acks {
            let most = self.most_quick();
            self.recv.acks.hasten(p, most);
            self.recv.acks.due = true;
        }
    }

    /// Half the window in segments, within bounds (`tcp_incr_quickack`).
    fn most_quick(&self) -> u32 {
        let window = self.recv.adv.saturating_sub(self.recv.last_ack_sent);
        let segment = u64::from(self.recv.acks.segment.max(1));
        (window / (2 * segment)).clamp(2, u64::from(MANY_QUICK)) as u32
    }

    /// Processes an arriving FIN (`tcp_fin`). If both sides have closed, it is acknowledged at once, in Linux before any
    /// data; the result is then true. Otherwise the application's own FIN carries the acknowledgement if it is sent soon.
    pub(super) fn on_fin(&mut self, p: &Profile, now: Time) -> bool {
        if !p.stack.quick_acks {
            self.recv.ack_now = true;
        } else if self.state == State::Established {
            self.recv.acks.due = true;
            self.recv.acks.dialogue = true;
        } else {
            self.recv.flushed = Some(self.acknowledgement(p, now));
            return true;
        }
        false
    }

    /// Decides between an immediate and a delayed acknowledgement after a segment's data are processed.
    /// `beyond` is true if the data arrived beyond a hole.
    // RFC 5681-4.2-1, 9293-3.8.6.3-SHLD-18
    pub(super) fn acknowledge_data(&mut self, p: &Profile, now: Time, beyond: bool) {
        if p.stack.quick_acks {
            self.recv.acks.due = true;
            return self.acknowledge_as_linux(p, now);
        }
        // RFC 5681-3.2-1, 5681-4.2-4
        if beyond {
            self.report_hole(p, now);
        // RFC 5681-4.2-2, 9293-3.8.6.3-SHLD-19
        } else if self.recv.unacked_segments >= p.stack.delayed_ack_segments {
            self.recv.ack_now = true;
        } else if self.timers.delack.is_never() && !self.recv.ack_now {
            self.timers.delack = now + p.stack.delayed_ack_timeout;
        }
    }

    /// Decides again about a pending acknowledgement, after a segment without data that Linux processes on its slow path.
    /// `plain` is true if the segment changed no window and reported no blocks.
    #[inline]
    pub(super) fn reconsider_ack(&mut self, p: &Profile, now: Time, plain: bool) {
        let slow = !plain || self.state != State::Established;
        if slow && p.stack.quick_acks && self.recv.acks.due {
            self.acknowledge_as_linux(p, now);
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

    /// True if more than a full segment is not acknowledged yet.
    fn owes_segments(&self, p: &Profile) -> bool {
        let most = u64::from(self.recv.acks.segment)
            * u64::from(p.stack.delayed_ack_segments.saturating_sub(1));
        self.recv.nxt - self.recv.last_ack_sent > most
    }

    /// True if the acknowledgement would offer at least as much window as the last acknowledgement. Otherwise
    /// the application's next read triggers an acknowledgement.
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
        let ends_soon = match p.stack.wheel_tick.0 {
            _ if self.timers.delack.is_never() => false,
            0 => self.timers.delack <= now + Span(delay.0 / 4),
            // In ticks; the timer expires one tick later.
            tick => self.timers.delack.0 / tick <= now.0 / tick + delay.0 / tick / 4 + 1,
        };
        if ends_soon {
            self.recv.ack_now = true;
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

    /// An acknowledgement is sent, alone or with data (`tcp_event_ack_sent`).
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

    /// The application has read data. RFC 1122 section 4.2.3.3 requires a window update if the window has
    /// grown by one segment or by half the buffer. As in BSD the step here is two segments, so that updates do
    /// not double the number of acknowledgements. Linux announces a window that is at least twice the last
    /// announced window. It also acknowledges pushed data when all data are read, unless the application is
    /// about to respond (`__tcp_cleanup_rbuf`).
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

    /// True if the application's reads have made the window at least twice as large as announced.
    fn window_doubles(&self, p: &Profile) -> bool {
        let known = self.recv.adv.saturating_sub(self.recv.nxt);
        // The first comparison is cheap, and mostly false.
        2 * known <= self.offered(p) && (2 * known).max(1) <= self.receive_room(p)
    }
}
