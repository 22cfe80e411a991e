//! Sends segments if the window allows it, at the pacing rate, while the application has data.

use windlass_cc::{Span, Time, flags};

use super::{Host, Record, Segment, Sender};

/// The next segment to send.
enum Next {
    /// A retransmission of the lost segment at this index.
    Again(usize),
    /// A new segment.
    New,
}

impl<S: Sender> Host<S> {
    /// Sends the segments that leave before an acknowledgement of `of` segments arrives. Without
    /// pacing these are all segments that the window allows, at once.
    pub(super) fn send(&mut self, of: u32) {
        self.account();
        if self.is_held() {
            return;
        }
        while let Some(next) = self.next() {
            if let Some(rate) = self.sender.pacing(&self.c) {
                let leaves = self.release.max(self.c.now);
                if leaves >= self.ack_time(of) {
                    break;
                }
                self.c.now = leaves;
                self.release = leaves + pacing_delay(u64::from(self.c.mss), rate);
            }
            match next {
                Next::Again(place) => self.resend(place),
                Next::New => self.send_new(u64::from(self.c.mss)),
            }
            self.account();
        }
        self.tell_limits();
    }

    /// True on the first duplicates, because without limited transmit no segment is sent then.
    fn is_held(&self) -> bool {
        self.c.phase == windlass_cc::Phase::Open && self.flight.iter().any(|s| s.delivered)
    }

    fn next(&self) -> Option<Next> {
        if self.is_window_full() {
            return None;
        }
        if let Some(at) = self.flight.iter().position(|s| s.lost && !s.resent && !s.delivered) {
            return Some(Next::Again(at));
        }
        (!self.is_application_limited()).then_some(Next::New)
    }

    fn is_window_full(&self) -> bool {
        self.c.in_flight + u64::from(self.c.mss) > self.sender.cwnd(&self.c)
    }

    fn is_application_limited(&self) -> bool {
        self.app_limit.is_some_and(|limit| self.flight.len() >= limit as usize)
    }

    /// Sets the limits of the sender. A limit by the window is remembered as long as the
    /// outstanding data at that time, because pacing may stop the sender more often.
    fn tell_limits(&mut self) {
        let window = self.is_window_full();
        if window {
            self.window_full_until = self.c.next_id;
        }
        self.c.flags = if window {
            flags::CWND_LIMITED
        } else if self.is_application_limited() {
            self.app_limited_until = Some(self.c.delivered + self.pipe());
            flags::APP_LIMITED
        } else if self.c.una <= self.window_full_until {
            flags::CWND_LIMITED
        } else {
            0
        };
    }

    fn send_new(&mut self, len: u64) {
        let record = self.record(len);
        self.since_drop += 1;
        let dropped = self.drop_every.is_some_and(|every| self.since_drop.is_multiple_of(every));
        let arrives = if dropped { self.never(len) } else { self.transmit(len) };
        let (start, sent) = (self.c.next_id, self.c.now);
        self.c.next_id += len;
        self.flight.push_back(Segment {
            start,
            len,
            sent,
            arrives,
            original: Time::NEVER,
            delivered: false,
            lost: false,
            resent: false,
            marked: false,
            record,
        });
    }

    pub(super) fn resend(&mut self, at: usize) {
        let Some(len) = self.flight.get(at).map(|s| s.len) else { return };
        let record = self.record(len);
        let arrives = self.transmit(len);
        let now = self.c.now;
        if let Some(segment) = self.flight.get_mut(at) {
            if !segment.resent {
                segment.original = segment.arrives;
            }
            (segment.arrives, segment.sent, segment.record) = (arrives, now, record);
            segment.resent = true;
        }
    }

    fn transmit(&mut self, len: u64) -> Time {
        self.c.sent += len;
        self.link_free = self.link_free.max(self.c.now) + self.setting.segment_time;
        self.link_free + self.setting.rtt
    }

    /// The segment is dropped before the bottleneck.
    fn never(&mut self, len: u64) -> Time {
        self.c.sent += len;
        Time::NEVER
    }

    fn record(&mut self, len: u64) -> Record {
        if self.pipe() == 0 {
            (self.first_sent, self.delivered_at) = (self.c.now, self.c.now);
        }
        Record {
            delivered: self.c.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            lost: self.c.lost,
            in_flight: self.pipe() + len,
            app_limited: self.app_limited_until.is_some(),
        }
    }
}

fn pacing_delay(len: u64, rate: f64) -> Span {
    Span((len as f64 / rate * 1e9).round() as u64)
}
