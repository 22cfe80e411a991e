//! Header prediction (Jacobson 1990): a short path for the two most frequent segments of a connection. These are the
//! next data in order at an end that only receives, and an acknowledgement of whole segments while no loss, reordering
//! or probe is open. The results equal those of the full path in every field of the endpoint.

use windlass_cc::{Ack, Flavour, Phase, Span, Time};

use super::{Endpoint, Profile, State};
use crate::scoreboard::Gone;
use crate::segment::{Flags, Segment};
use crate::stack::Lies;

impl Endpoint {
    /// Processes a segment by the short path. Returns false, and changes nothing, if the segment needs the
    /// [full path](Endpoint::on_segment_in_full). Only for tests; call [`on_segment`](Endpoint::on_segment).
    #[doc(hidden)]
    #[inline(always)] // called in one place
    pub fn predict(&mut self, p: &Profile, now: Time, s: &Segment) -> bool {
        let open = matches!(self.state, State::Established | State::FinWait1 | State::FinWait2);
        let expected = open
            && !self.ecn.is_agreed()
            && s.options.sack_count == 0
            && s.flags.0 & !Flags::PSH.0 == Flags::ACK.0
            && s.seq == self.recv.irs.add(self.recv.nxt)
            && self.has_fresh_timestamp(s)
            && !self.layer.on
            && self.recv.fin_at.is_none();
        expected
            && match s.len {
                0 => self.predict_acknowledgement(p, now, s),
                _ => self.predict_data(p, now, s),
            }
    }

    /// True if the timestamp of a segment is not older than the last, or if timestamps are not in use.
    #[inline(always)]
    fn has_fresh_timestamp(&self, s: &Segment) -> bool {
        match s.options.timestamps {
            _ if !self.agreed.timestamps => true,
            Some(t) => t.value.wrapping_sub(self.recv.ts_recent) as i32 >= 0,
            None => false,
        }
    }

    /// Stores the timestamp of a segment that begins at RCV.NXT, if the next acknowledgement must echo it (RFC 7323
    /// section 4.3).
    #[inline(always)]
    fn take_fresh_timestamp(&mut self, now: Time, s: &Segment) {
        if let Some(t) = s.options.timestamps
            && self.agreed.timestamps
            && self.recv.nxt <= self.recv.last_ack_sent
        {
            self.recv.ts_recent = t.value;
            self.recv.ts_recent_at = now;
        }
    }

    /// The next data, while this end has no data in flight and no gap exists.
    #[inline(always)]
    fn predict_data(&mut self, p: &Profile, now: Time, s: &Segment) -> bool {
        let end = self.recv.nxt + u64::from(s.len);
        let expected = self.send.una == self.send.max
            && s.ack == self.send.iss.add(self.send.una)
            && !self.send.rack.probes()
            && end <= self.recv.adv
            && self.recv.ranges.is_empty()
            && !self.stream.shut_read
            && p.stack.lies == Lies::None;
        if !expected {
            return false;
        }
        self.recv.advertised = false;
        let window = u64::from(s.window) << self.agreed.snd_scale;
        self.update_window(p, self.recv.nxt, self.send.una, window);
        self.send.retries = 0;
        self.take_fresh_timestamp(now, s);
        self.follow_stream(p, now, s);
        self.recv.nxt = end;
        self.on_fresh_data(p, now, s);
        self.grow_window(p, s);
        self.acknowledge_data(p, now, false);
        true
    }

    /// An acknowledgement of whole segments that were sent once.
    #[inline(always)]
    fn predict_acknowledgement(&mut self, p: &Profile, now: Time, s: &Segment) -> bool {
        let acked = s.ack.0.wrapping_sub(self.send.iss.add(self.send.una).0);
        let ack = self.send.una + u64::from(acked);
        // The acknowledgement of a FIN changes the state.
        if acked == 0 || ack > self.send.max.min(self.stream.end) || !self.send.is_smooth() {
            return false;
        }
        let prior_in_flight = self.send.in_flight();
        let Some(gone) = self.send.scoreboard.acknowledge_whole(ack) else { return false };
        let before = self.send.wnd;
        let window = u64::from(s.window) << self.agreed.snd_scale;
        self.update_window(p, self.recv.nxt, ack, window);
        self.take_fresh_timestamp(now, s);

        let lost = self.send.sampler.lost();
        self.send.sampler.on_delivered(now, gone.volume, ack, gone.sample.as_ref());
        if self.send.selective {
            self.send.scoreboard.remember_blocks(Default::default());
            self.send.rack.on_delivered_in_order(now, &gone.last);
        }
        self.send.una = ack;
        self.send.retries = 0;
        self.send.dup_acks = 0;
        let rtt = self.measure_whole(p, now, ack, &gone, s);
        self.stop_probing();
        self.send.rto.on_progress(&p.stack.rto);
        self.find_losses(p, now, true);
        let event = Ack {
            acked: gone.volume,
            delivered: gone.volume,
            lost: self.send.sampler.lost() - lost,
            prior_in_flight,
            rtt,
            ..Ack::default()
        };
        self.tell_of_acknowledgement(p, now, event);
        if self.send.scoreboard.pending() > 0 {
            self.enter_recovery(p, now);
        }
        let restarts = self.send.restarts_timer();
        self.rearm(p, now, true, restarts);
        self.reconsider_ack(p, now, before == self.send.wnd);
        true
    }

    /// The RTT sample of these records, like [`measure`](Endpoint::measure), and the end of a possible undo.
    #[inline(always)]
    fn measure_whole(
        &mut self,
        p: &Profile,
        now: Time,
        ack: u64,
        gone: &Gone,
        s: &Segment,
    ) -> Span {
        if self.send.inflates() {
            return self.one_round_trip(p, now, ack, self.echo_of(s));
        }
        self.send.spurious.note_plain_acknowledgement(p.stack.rules == Flavour::Linux);
        self.feed_timer(p, now, ack, now.since(gone.first_sent), 0);
        let least = now.since(gone.last.first_sent);
        self.note_least_rtt(least);
        least
    }
}

impl super::Sender {
    /// True if an acknowledgement of whole segments has only its usual effects: nothing is lost, reordered or probed.
    #[inline(always)]
    fn is_smooth(&self) -> bool {
        self.phase == Phase::Open
            && self.nxt == self.max
            && self.scoreboard.is_clean()
            && (!self.selective || self.rack.is_smooth(self.una))
    }
}
