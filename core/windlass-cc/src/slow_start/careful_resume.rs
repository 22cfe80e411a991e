//! Careful Resume (RFC 9959): slow start jumps to half of a window that an earlier connection used.
//!
//! The host keeps the saved set, its remote endpoint and its age, and paces the jump. This module has
//! the phases of one connection, and measures the window that the next connection may use.

use super::{Described, SlowStart};
use crate::arithmetic::math::{mul, mul_div};
use crate::arithmetic::window::{MAX_WINDOW, Window};
use crate::event::{Ack, Conn, Phase};
use crate::info::Info;
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::{Rate, Span, Time};

/// Nanoseconds in a second.
const NANOS: u64 = 1_000_000_000;
/// Multiple of the saved RTT above which the path is another one (RFC 9959 section 4.2.1).
const LARGEST_RTT: u64 = 10;
/// Multiple of the initial window below which a window is not saved (RFC 9959 section 3.1).
const LEAST_SAVED: u64 = 4;
/// Longest time of a parameter.
const LONGEST: Span = Span::from_secs(30 * 86_400);

crate::parameters! {
    /// Parameters of Careful Resume.
    pub struct CarefulResumeParams {
        /// Window that an earlier connection used, payload. Zero: the first connection of a flow has
        /// no saved set. Later connections of the flow take over the set of the one before.
        saved_cwnd: u64 = 0, ParamKind::Bytes { min: 0, max: MAX_WINDOW },
            "RFC 9959 section 3.1, saved_cwnd";
        /// Minimum RTT of that connection. Zero: the RTT is not compared.
        saved_rtt: Span = Span::ZERO,
            ParamKind::Time { min: Span::ZERO, max: Span::from_secs(100) },
            "RFC 9959 section 3.1, saved_rtt";
        /// Time for which a set may be used. The set of these parameters is saved at the start of the
        /// run.
        lifetime: Span = Span::from_secs(3_600), ParamKind::Time { min: Span::ZERO, max: LONGEST },
            "RFC 9959 section 4.2.2, Lifetime (minutes to hours)";
        /// Largest window of the jump, payload.
        max_jump: u64 = MAX_WINDOW, ParamKind::Bytes { min: 1, max: MAX_WINDOW },
            "RFC 9959 section 3.3, max_jump";
        /// Share of the validated data that is the threshold after a failed jump.
        beta: Ratio = Ratio::of(1, 2), ParamKind::Ratio { min: Ratio::of(1, 2), max: Ratio::ONE },
            "RFC 9959 section 3.5, Beta";
    }
}

/// Phase of Careful Resume (RFC 9959 section 3).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Stage {
    /// Standard slow start until the initial data is acknowledged.
    Reconnaissance,
    /// The window has jumped, and the new data is being sent.
    Unvalidated,
    /// The data of the jump awaits acknowledgement.
    Validating,
    /// A part of it was lost or marked; recovery continues.
    SafeRetreat,
    /// Standard slow start.
    Normal,
}

/// Careful Resume.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct CarefulResume {
    /// Window of the jump, bytes.
    jump: u64,
    /// Minimum RTT with the saved window; zero if it is not compared.
    saved_rtt: Span,
    /// Initial window, bytes; zero before the first acknowledgement.
    initial: u64,
    /// Stream offset where the initial data ends.
    initial_end: u64,
    /// Stream offset where the unvalidated data begins.
    first: u64,
    /// Stream offset where it ends, when known.
    last: u64,
    /// Bytes in flight at the jump.
    flight: u64,
    /// Maximum window in Safe Retreat, bytes.
    retreat: u64,
    /// [`Conn::sent`] at the jump.
    sent: u64,
    /// Time of the jump.
    jumped: Time,
    /// Stream offset whose acknowledgement ends the present round.
    round_end: u64,
    /// [`Conn::delivered`] at its start.
    round_delivered: u64,
    /// Most bytes delivered in a round since the last loss.
    most: u64,
    stage: Stage,
}

impl CarefulResume {
    /// PipeSize, bytes: the flight at the jump and the acknowledged data of the jump.
    fn pipe(&self, c: &Conn) -> u64 {
        self.flight.saturating_add(c.una.saturating_sub(self.first)).min(MAX_WINDOW)
    }

    /// Window after a loss found now: half of the validated data, at least two segments.
    fn half(&self, c: &Conn) -> u64 {
        (self.pipe(c) / 2).max(mul(2, c.mss.max(1).into()))
    }

    /// True if the RTT may belong to the path of the saved set.
    fn is_same_path(&self, c: &Conn) -> bool {
        let (rtt, saved) = (c.min_rtt.0, self.saved_rtt.0);
        saved == 0 || rtt > saved / 2 && rtt <= mul(saved, LARGEST_RTT)
    }

    /// Jumps when the initial data is acknowledged and the window limits the sender.
    fn explore(&mut self, c: &Conn, w: &mut Window) {
        if c.una < self.initial_end || !c.cwnd_limited() {
            return;
        }
        let jump = self.jump.min(w.ssthresh());
        if jump <= w.cwnd() || !c.min_rtt.is_known() || !self.is_same_path(c) {
            self.stage = Stage::Normal;
            return;
        }
        (self.first, self.last) = (c.next_id, c.next_id);
        (self.flight, self.sent, self.jumped) = (c.flight_size, c.sent, c.now);
        self.stage = Stage::Unvalidated;
        w.set(c, jump);
    }

    /// Ends the jump: at the first acknowledgement of its data, when all of it is sent, or after an
    /// RTT.
    fn end_jump(&mut self, c: &Conn, a: &Ack, w: &mut Window) {
        let full = c.flight_size.saturating_add(a.acked).saturating_add(c.mss.into()) > w.cwnd();
        if c.una <= self.first && !full && c.now.since(self.jumped) <= c.srtt {
            return;
        }
        self.last = c.next_id;
        let pipe = self.pipe(c);
        if c.flight_size < self.initial || c.flight_size <= pipe {
            w.set(c, pipe.max(self.initial));
            self.stage = Stage::Normal;
        } else {
            w.set(c, c.flight_size);
            self.stage = Stage::Validating;
        }
    }

    /// Measures the bytes delivered in a round.
    fn measure(&mut self, c: &Conn) {
        if c.una < self.round_end {
            return;
        }
        let bytes = c.delivered.saturating_sub(self.round_delivered);
        if self.round_end > 0 {
            self.most = self.most.max(bytes.min(MAX_WINDOW));
        }
        (self.round_end, self.round_delivered) = (c.next_id, c.delivered);
    }

    /// True if a loss or mark found now ends the jump.
    fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Unvalidated | Stage::Validating)
    }
}

/// True in a phase that repairs a loss or answers a mark without a timeout.
fn is_repaired(phase: Phase) -> bool {
    matches!(phase, Phase::Recovery | Phase::Cwr)
}

impl Described for CarefulResume {
    const INFO: &'static Info = &Info {
        id: "careful-resume",
        name: "Careful Resume",
        origin: "N. Kuhn, E. Stephan, G. Fairhurst, R. Secchi and C. Huitema, RFC 9959, 2026",
        citation: "rfc9959",
        description: "Standard slow start jumps to half of the window that an earlier connection \
            used, as soon as the initial data is acknowledged without a loss and the window limits \
            the sender. The minimum RTT must be more than half and at most ten times the saved \
            RTT. The data of the jump is sent evenly over an RTT, regardless of the stack's \
            pacing. The window then becomes the data in flight, or the validated data if no more \
            is in flight. A loss or mark before all data of the jump is acknowledged reduces the \
            window to half of the validated data. It does not grow until recovery ends, and the \
            threshold is then beta times the validated data: the flight at the jump and the data \
            of the jump that arrived. The example of the draft leaves out the flight at the jump, \
            against its own rule. A timeout ends Careful Resume. The saved set is the most data \
            acknowledged in an RTT since the last loss, if it is at least four initial windows, \
            and the minimum RTT. Each end of a flow gives its set to the next connection of the \
            flow, which uses it once. The text followed is draft-24, the last before the RFC.",
        params: CarefulResumeParams::TABLE,
        trace: &[],
    };
}

impl SlowStart for CarefulResume {
    type Params = CarefulResumeParams;

    fn init(p: &CarefulResumeParams, _c: &Conn) -> CarefulResume {
        let stage = if p.saved_cwnd > 0 { Stage::Reconnaissance } else { Stage::Normal };
        CarefulResume {
            jump: (p.saved_cwnd / 2).min(p.max_jump),
            saved_rtt: p.saved_rtt,
            initial: 0,
            initial_end: 0,
            first: 0,
            last: 0,
            flight: 0,
            retreat: 0,
            sent: 0,
            jumped: Time::ZERO,
            round_end: 0,
            round_delivered: 0,
            most: 0,
            stage,
        }
    }

    fn observe(&mut self, _p: &CarefulResumeParams, c: &Conn, a: &Ack, w: &mut Window) {
        if self.initial == 0 {
            (self.initial, self.initial_end) = (w.cwnd(), c.next_id);
            self.round_delivered = c.delivered.saturating_sub(a.delivered);
            self.round_end = c.next_id;
        }
        self.measure(c);
        match self.stage {
            Stage::Reconnaissance if w.in_slow_start() => self.explore(c, w),
            Stage::Unvalidated => self.end_jump(c, a, w),
            Stage::Validating if c.una >= self.last => self.stage = Stage::Normal,
            // An undo has ended recovery without a call.
            Stage::Reconnaissance | Stage::SafeRetreat => self.stage = Stage::Normal,
            Stage::Validating | Stage::Normal => {}
        }
    }

    #[inline]
    fn grow(&mut self, _p: &CarefulResumeParams, _c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        if self.stage != Stage::Unvalidated {
            w.add(credit);
        }
    }

    fn threshold(&self, _p: &CarefulResumeParams, c: &Conn, _w: &Window, ssthresh: u64) -> u64 {
        if !self.is_open() || c.phase == Phase::Loss {
            return ssthresh;
        }
        ssthresh.min(self.half(c))
    }

    fn on_trial(&self, _c: &Conn) -> bool {
        self.is_open()
    }

    fn ceiling(&self, c: &Conn) -> u64 {
        match self.stage {
            Stage::SafeRetreat => self.retreat,
            Stage::Unvalidated | Stage::Validating if is_repaired(c.phase) => self.half(c),
            _ => u64::MAX,
        }
    }

    /// The window of the jump in an RTT.
    fn pacing(&self, c: &Conn, w: &Window) -> Rate {
        if self.stage != Stage::Unvalidated || !c.srtt.is_known() {
            return Rate(0);
        }
        Rate(mul_div(w.cwnd(), NANOS, c.srtt.0).max(1))
    }

    fn capacity(&self) -> u64 {
        if self.most < mul(self.initial, LEAST_SAVED) { 0 } else { self.most }
    }

    fn restart(&mut self, _p: &CarefulResumeParams, c: &Conn) {
        let lost = c.phase != Phase::Open;
        if lost {
            (self.most, self.round_end) = (0, 0);
        }
        if self.is_open() && is_repaired(c.phase) {
            (self.last, self.retreat) = (c.next_id, self.half(c));
            self.stage = Stage::SafeRetreat;
        } else if lost || self.stage != Stage::Reconnaissance {
            self.stage = Stage::Normal;
        }
    }

    /// Sets the threshold. Retransmitted data counts as lost, and the rest of the unvalidated data as
    /// arrived.
    fn recovered(&mut self, p: &CarefulResumeParams, c: &Conn, w: &mut Window) {
        if self.stage != Stage::SafeRetreat {
            return;
        }
        let fresh = c.next_id.saturating_sub(self.first);
        let again = c.sent.saturating_sub(self.sent).saturating_sub(fresh);
        let arrived = self.last.saturating_sub(self.first).saturating_sub(again);
        w.set_ssthresh(p.beta.times(self.flight.saturating_add(arrived)));
        self.stage = Stage::Normal;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1_000;
    const RTT: Span = Span::from_millis(100);

    /// A sender with an initial window of 10 segments and a saved window of 300.
    struct Bench {
        p: CarefulResumeParams,
        c: Conn,
        w: Window,
        cr: CarefulResume,
    }

    impl Bench {
        fn new() -> Bench {
            let c = Conn { srtt: RTT, min_rtt: RTT, ..Conn::new(MSS as u32) };
            let p =
                CarefulResumeParams { saved_cwnd: 300 * MSS, saved_rtt: RTT, ..Default::default() };
            let w = Window::new(&c, 10 * MSS, MAX_WINDOW);
            Bench { p, c, w, cr: CarefulResume::init(&p, &c) }
        }

        fn send(&mut self, segments: u64) {
            self.c.next_id += segments * MSS;
            self.c.sent += segments * MSS;
            self.c.flight_size += segments * MSS;
        }

        fn ack(&mut self, segments: u64) {
            let bytes = segments * MSS;
            self.c.una += bytes;
            self.c.delivered += bytes;
            self.c.flight_size -= bytes;
            self.c.now += Span::from_millis(1);
            let a = Ack { rtt: RTT, ..Ack::of(bytes) };
            self.cr.observe(&self.p, &self.c, &a, &mut self.w);
            if self.w.in_slow_start() {
                self.cr.grow(&self.p, &self.c, &a, bytes, &mut self.w);
            }
        }

        fn cwnd(&self) -> u64 {
            self.w.cwnd() / MSS
        }

        fn pipe(&self) -> u64 {
            self.cr.pipe(&self.c) / MSS
        }

        /// The jump with 29 segments in flight, and the 121 segments after it.
        fn jumped(mut self) -> Bench {
            self.send(10);
            self.ack(9);
            // The tenth acknowledgement arrives with 29 segments in flight.
            self.send(29);
            self.ack(1);
            assert_eq!((self.c.flight_size / MSS, self.cwnd(), self.pipe()), (29, 150, 29));
            self.send(121);
            self
        }

        /// A change of phase, and the reduction by the frame.
        fn lose(&mut self, phase: Phase) {
            self.c.phase = phase;
            let ssthresh = self.w.cwnd() / 2;
            let ssthresh = self.cr.threshold(&self.p, &self.c, &self.w, ssthresh);
            self.w.set_ssthresh(ssthresh);
            let cwnd = ssthresh.min(self.cr.ceiling(&self.c));
            self.w.set(&self.c, cwnd);
            self.cr.restart(&self.p, &self.c);
        }
    }

    #[test]
    fn the_window_jumps_to_half_of_the_saved_window_and_is_paced_over_an_rtt() {
        let bench = Bench::new().jumped();
        assert_eq!(bench.cr.pacing(&bench.c, &bench.w), Rate(150 * MSS * 10));
        assert_eq!((bench.c.next_id - bench.cr.first) / MSS, 121, "unvalidated");
    }

    #[test]
    fn data_validated_without_a_loss_ends_the_jump_at_the_window_in_flight() {
        let mut bench = Bench::new().jumped();
        bench.ack(29);
        assert_eq!((bench.cr.stage, bench.cwnd(), bench.pipe()), (Stage::Validating, 150, 29));
        bench.ack(121);
        assert_eq!((bench.cr.stage, bench.pipe()), (Stage::Normal, 150));
        assert_eq!(bench.cwnd(), 271, "the flight of 121, and slow start since");
    }

    #[test]
    fn the_loss_of_packet_64_leaves_31_segments_and_half_of_the_arrived_data_as_threshold() {
        let mut bench = Bench::new().jumped();
        for _ in 0..29 + 34 {
            bench.ack(1);
        }
        assert_eq!(bench.pipe(), 63);
        bench.lose(Phase::Recovery);
        assert_eq!((bench.cwnd(), bench.cr.ceiling(&bench.c) / MSS), (31, 31));
        bench.c.sent += MSS; // the retransmission
        let rest = bench.c.flight_size;
        (bench.c.una, bench.c.flight_size) = (bench.c.una + rest, 0);
        bench.c.phase = Phase::Open;
        bench.cr.recovered(&bench.p, &bench.c, &mut bench.w);
        // 29 in flight at the jump, and 120 of 121 after it: 34 + 86.
        assert_eq!(bench.w.ssthresh(), 149 * MSS / 2);
        assert_eq!((bench.cr.stage, bench.cwnd()), (Stage::Normal, 31));
    }

    #[test]
    fn a_mark_also_ends_the_jump_and_a_timeout_ends_it_without_a_ceiling() {
        let mut bench = Bench::new().jumped();
        bench.ack(5);
        bench.lose(Phase::Cwr);
        assert_eq!((bench.cr.stage, bench.cwnd()), (Stage::SafeRetreat, 14), "half of 29");
        let mut bench = Bench::new().jumped();
        bench.lose(Phase::Loss);
        assert_eq!((bench.cr.stage, bench.w.ssthresh() / MSS), (Stage::Normal, 75));
    }

    #[test]
    fn a_sender_with_little_data_falls_back_to_the_validated_data() {
        let mut bench = Bench::new();
        bench.send(10);
        bench.ack(9);
        bench.send(29);
        bench.ack(1);
        bench.send(20);
        bench.ack(29);
        assert_eq!((bench.cr.stage, bench.cwnd()), (Stage::Unvalidated, 150));
        bench.ack(1);
        assert_eq!((bench.cr.stage, bench.cwnd()), (Stage::Normal, 31), "30, and growth");
    }

    #[test]
    fn an_rtt_of_another_path_a_limited_sender_and_a_small_window_prevent_the_jump() {
        let tries = |change: fn(&mut Bench)| {
            let mut bench = Bench::new();
            change(&mut bench);
            bench.cr = CarefulResume::init(&bench.p, &bench.c);
            bench.send(10);
            bench.ack(10);
            (bench.cr.stage, bench.cwnd())
        };
        assert_eq!(tries(|_| {}), (Stage::Unvalidated, 150));
        assert_eq!(tries(|b| b.c.min_rtt = Span(RTT.0 / 2)), (Stage::Normal, 20));
        assert_eq!(tries(|b| b.c.min_rtt = Span(RTT.0 / 2 + 1)), (Stage::Unvalidated, 150));
        assert_eq!(tries(|b| b.c.min_rtt = Span(RTT.0 * 10 + 1)), (Stage::Normal, 20));
        assert_eq!(tries(|b| b.p.saved_cwnd = 20 * MSS), (Stage::Normal, 20));
        assert_eq!(tries(|b| b.p.max_jump = 50 * MSS), (Stage::Unvalidated, 50));
        assert_eq!(tries(|b| b.p.saved_cwnd = 0), (Stage::Normal, 20));
        assert_eq!(tries(|b| b.c.flags = 0), (Stage::Reconnaissance, 20));
        assert_eq!(tries(|b| b.c.phase = Phase::Open).0, Stage::Unvalidated);
    }

    #[test]
    fn a_loss_of_initial_data_prevents_the_jump() {
        let mut bench = Bench::new();
        bench.send(10);
        bench.ack(5);
        bench.lose(Phase::Recovery);
        bench.c.phase = Phase::Open;
        bench.ack(5);
        assert_eq!(bench.cr.stage, Stage::Normal);
    }

    #[test]
    fn the_most_data_of_a_round_is_saved_from_four_initial_windows_on() {
        let mut bench = Bench::new();
        bench.cr.stage = Stage::Normal;
        let saved = [10, 20, 39, 40, 60, 50].map(|segments| {
            bench.send(segments);
            bench.ack(segments);
            bench.cr.capacity() / MSS
        });
        assert_eq!(saved, [0, 0, 0, 40, 60, 60]);
        bench.lose(Phase::Recovery);
        assert_eq!(bench.cr.capacity(), 0, "a loss makes the measurement invalid");
    }
}
