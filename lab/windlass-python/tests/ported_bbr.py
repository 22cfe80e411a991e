"""BBR, version 1, as a class in Python, with the integer arithmetic of the algorithm in Rust: every packet is the same."""

from __future__ import annotations

import windlass as wl

NEVER = (1 << 64) - 1
MAX_WINDOW = 1 << 40
ONE = 65536
S = 1_000_000_000
PHASES, PROBE, YIELD = 8, 0, 1


def times(ratio, value):
    return ratio * value >> 16


class WindowedMax:
    """The maximum of a sliding window, by three samples (Kathleen Nichols)."""

    def __init__(self):
        self.samples = [(0, 0)] * 3

    def get(self):
        return self.samples[0][1]

    def update(self, window, at, value):
        new, (best, second, third) = (at, value), self.samples
        if value >= best[1] or at - third[0] > window:
            self.samples = [new] * 3
            return
        if value >= second[1]:
            second = third = new
        elif value >= third[1]:
            third = new
        if at - best[0] > window:
            best, second, third = second, third, new
            if at - best[0] > window:
                best, second, third = second, third, new
        elif second[0] == best[0] and at - best[0] > window // 4:
            second = third = new
        elif third[0] == second[0] and at - best[0] > window // 2:
            third = new
        self.samples = [best, second, third]


class Rounds:
    """Rounds, counted by delivery."""

    def __init__(self, delivered):
        self.end, self.count, self.started = delivered, 0, False

    def on_ack(self, prior_delivered, delivered):
        self.started = prior_delivered >= self.end
        if self.started:
            self.end = delivered
            self.count += 1
        return self.started


class Aggregation:
    """Acknowledged bytes in excess of the bytes that the bandwidth explains."""

    def __init__(self, conn):
        self.epoch, self.acked, self.current, self.previous, self.rounds = conn.now_ns, 0, 0, 0, 0

    def restart(self, conn):
        self.epoch, self.acked = conn.now_ns, 0

    def on_round(self, window):
        self.rounds = min(self.rounds + 1, 255)
        if self.rounds >= window:
            self.rounds, self.previous, self.current = 0, self.current, 0

    def on_acked(self, conn, bw, delivered, limit):
        expected = bw * (conn.now_ns - self.epoch) // S
        if self.acked <= expected or self.acked + delivered >= 1 << 30:
            self.restart(conn)
            expected = 0
        self.acked += delivered
        self.current = max(self.current, min(max(self.acked - expected, 0), limit))


class Policer:
    """Detects token-bucket policers."""

    def __init__(self, conn, bw=0, sampling=False):
        self.bw, self.begin, self.delivered, self.lost = bw, conn.now_ns, conn.delivered, conn.lost
        self.rounds, self.sampling, self.in_use = 0, sampling, False

    def rate(self):
        return self.bw if self.in_use else None

    def sample(self, p, conn, lossy, limited, started):
        """The policer after an acknowledgement."""
        now = self
        if not now.sampling:
            if not lossy:
                return now
            now = Policer(conn, now.bw, True)
        if limited:
            return Policer(conn)
        now.rounds = min(now.rounds + started, 255)
        if now.rounds < p["policer_rounds"]:
            return now
        if now.rounds > 4 * p["policer_rounds"]:
            return Policer(conn)
        return now.end_interval(p, conn) if lossy else now

    def end_interval(self, p, conn):
        lost, delivered = max(conn.lost - self.lost, 0), max(conn.delivered - self.delivered, 0)
        time = conn.now_ns - self.begin
        if delivered == 0 or lost * ONE < delivered * p["policer_loss"] or time < 1_000_000:
            return self
        bw = delivered * S // time
        difference = abs(bw - self.bw)
        if self.bw > 0 and (difference <= times(p["policer_spread"], self.bw) or difference <= p["policer_difference"]):
            self.bw, self.in_use, self.rounds = bw // 2 + self.bw // 2, True, 0
            return self
        return Policer(conn, bw, self.sampling)


class Bbr(wl.Controller):
    like = "bbr"

    def __init__(self, params, setup, conn):
        self.setup = setup
        self.p = {key: round(value * ONE) if isinstance(value, float) else value for key, value in params.items()}
        self.max_bw, self.rounds, self.aggregation, self.policer = WindowedMax(), Rounds(conn.delivered), Aggregation(conn), Policer(conn)
        self.window = min(max(setup.initial_window, conn.mss), MAX_WINDOW)
        self.prior_cwnd, self.rate_ = 0, 0
        self.min_rtt, self.min_rtt_stamp = conn.min_rtt_ns if conn.min_rtt_ns is not None else NEVER, conn.now_ns
        self.probe_rtt_done, self.limited_from, self.limited_until = NEVER, NEVER, 0
        self.cycle_stamp, self.full_bw = conn.now_ns, 0
        self.pacing_gain = self.cwnd_gain = self.p["startup_gain"]
        self.origin, self.delivered, self.mode, self.cycle = conn.delivered, 0, "startup", 0
        self.full_bw_rounds, self.full_bw_reached, self.conserving, self.idle_restart = 0, False, False, False
        self.probe_rtt_round_done = False
        self.init_pacing(conn)
        self.answer(conn)

    def answer(self, conn):
        self.cwnd = min(max(self.window, conn.mss), MAX_WINDOW)
        self.ssthresh, self.pacing = MAX_WINDOW, self.rate_

    # Events

    def on_ack(self, conn, ack):
        p, rate = self.p, ack.rate
        self.delivered = ack.newly_delivered
        self.update_bandwidth(conn, ack, rate)
        if p["extra_acked_time"] > 0 and ack.newly_delivered > 0 and rate is not None:
            if self.rounds.started:
                self.aggregation.on_round(p["extra_acked_rounds"])
            self.aggregation.on_acked(conn, self.bandwidth(), ack.newly_delivered, self.window)
        if self.mode == "probe-bw" and self.phase_is_over(conn, ack):
            self.cycle, self.cycle_stamp = (self.cycle + 1) % PHASES, conn.now_ns
        self.check_full_pipe(rate)
        self.check_drain(conn)
        self.update_min_rtt(conn, ack, rate)
        self.update_gains()
        self.set_pacing(conn, self.pacing_gain)
        self.set_cwnd(conn, ack)
        self.answer(conn)

    def on_phase(self, conn, before, after):
        if after == "loss":
            if before != "loss":
                self.save_cwnd(before)
            self.window = min(conn.in_flight + conn.mss, MAX_WINDOW)
            self.full_bw = 0
            self.sample_policer(conn, True, False, True)
        elif before in ("open", "cwr") and after == "recovery":
            self.save_cwnd(before)
            self.conserving = True
            self.rounds.end = conn.delivered
            self.window = min(conn.in_flight + max(self.delivered, conn.mss), MAX_WINDOW)
        elif before in ("recovery", "loss") and after in ("open", "cwr"):
            self.conserving = False
            self.window = max(self.window, self.prior_cwnd)
            if self.full_bw_reached:
                self.window = max(min(self.window, self.target_cwnd(conn)), self.min_cwnd(conn))
            self.bound(conn)
        self.answer(conn)

    def on_undo(self, conn, why):
        self.full_bw, self.full_bw_rounds, self.policer = 0, 0, Policer(conn)

    def on_idle(self, conn, gap_ns, reset):
        self.idle_restart = True
        self.aggregation.restart(conn)
        if self.mode == "probe-bw":
            self.set_pacing(conn, ONE)
        elif self.mode == "probe-rtt":
            self.check_probe_rtt_done(conn)
        self.answer(conn)

    # The model

    def bandwidth(self):
        rate = self.policer.rate()
        return self.max_bw.get() if rate is None else rate

    def is_limited(self, rate):
        return rate is not None and (rate.app_limited or self.limited_from <= rate.prior_delivered <= self.limited_until)

    def update_bandwidth(self, conn, ack, rate):
        if rate is None:
            self.rounds.started = False
            return
        if self.rounds.on_ack(rate.prior_delivered, conn.delivered):
            self.conserving = False
        self.sample_policer(conn, ack.newly_lost > 0, self.is_limited(rate), self.rounds.started)
        bw = rate.delivered * S // rate.interval_ns
        if not self.is_limited(rate) or bw >= self.max_bw.get():
            self.max_bw.update(self.p["bw_window"], self.rounds.count, bw)

    def sample_policer(self, conn, lossy, limited, started):
        if not self.p["policer"]:
            return
        if self.policer.rate() is None:
            self.policer = self.policer.sample(self.p, conn, lossy, limited, started)
        elif self.mode == "probe-bw" and started:
            self.policer.rounds = min(self.policer.rounds + 1, 255)
            if self.policer.rounds >= self.p["policer_hold"]:
                self.policer = Policer(conn)
                self.enter_probe_bw(conn)

    def check_full_pipe(self, rate):
        if self.full_bw_reached or not self.rounds.started or self.is_limited(rate):
            return
        if self.max_bw.get() >= times(self.p["full_bw_growth"], self.full_bw):
            self.full_bw, self.full_bw_rounds = self.max_bw.get(), 0
            return
        self.full_bw_rounds += 1
        self.full_bw_reached = self.full_bw_rounds >= self.p["full_bw_rounds"]

    def check_drain(self, conn):
        if self.mode == "startup" and self.full_bw_reached:
            self.mode = "drain"
        if self.mode == "drain" and conn.in_flight <= self.target_flight(conn, ONE):
            self.enter_probe_bw(conn)

    def enter_probe_bw(self, conn):
        self.mode = "probe-bw"
        self.cycle = (PHASES - (conn.entropy * (PHASES - 1) >> 32)) % PHASES
        self.cycle_stamp = conn.now_ns

    def phase_is_over(self, conn, ack):
        full_length = conn.now_ns - self.cycle_stamp > self.min_rtt
        flight = ack.prior_in_flight
        if self.pacing_gain > ONE:
            flight += self.quantum(conn) if self.p["count_departing"] else 0
            return full_length and (ack.newly_lost > 0 or flight >= self.target_flight(conn, self.pacing_gain))
        if self.pacing_gain < ONE:
            return full_length or flight <= self.target_flight(conn, ONE)
        return full_length

    def update_gains(self):
        p = self.p
        if self.mode == "startup":
            self.pacing_gain = self.cwnd_gain = p["startup_gain"]
        elif self.mode == "drain":
            self.pacing_gain, self.cwnd_gain = p["drain_gain"], p["startup_gain"]
        elif self.mode == "probe-rtt":
            self.pacing_gain = self.cwnd_gain = ONE
        else:
            phase = {PROBE: p["probe_gain"], YIELD: p["yield_gain"]}.get(self.cycle, ONE)
            self.pacing_gain, self.cwnd_gain = ONE if self.policer.rate() is not None else phase, p["cwnd_gain"]

    # The round-trip time

    def update_min_rtt(self, conn, ack, rate):
        expired = conn.now_ns - self.min_rtt_stamp > self.p["min_rtt_window"]
        if ack.rtt_ns is not None and (ack.rtt_ns < self.min_rtt or expired):
            self.min_rtt, self.min_rtt_stamp = ack.rtt_ns, conn.now_ns
        if expired and not self.idle_restart and self.mode != "probe-rtt":
            self.mode = "probe-rtt"
            self.save_cwnd(conn.phase)
            self.probe_rtt_done, self.limited_from = NEVER, conn.delivered
        if self.mode == "probe-rtt":
            self.hold_probe_rtt(conn)
        if rate is not None and rate.delivered > 0:
            self.idle_restart = False

    def hold_probe_rtt(self, conn):
        self.limited_until = conn.delivered + conn.in_flight
        if self.probe_rtt_done == NEVER:
            if conn.in_flight <= self.min_cwnd(conn):
                self.probe_rtt_done, self.probe_rtt_round_done = conn.now_ns + self.p["probe_rtt_time"], False
                self.rounds.end = conn.delivered
            return
        if self.rounds.started:
            self.probe_rtt_round_done = True
        if self.probe_rtt_round_done:
            self.check_probe_rtt_done(conn)

    def check_probe_rtt_done(self, conn):
        if self.probe_rtt_done != NEVER and conn.now_ns > self.probe_rtt_done:
            self.min_rtt_stamp = conn.now_ns
            self.window = max(self.window, self.prior_cwnd)
            if self.full_bw_reached:
                self.enter_probe_bw(conn)
            else:
                self.mode = "startup"

    # The window and the rate

    def paced(self, bw, gain):
        return max(times(ONE - self.p["pacing_margin"], times(gain, bw)), 1)

    def init_pacing(self, conn):
        self.has_seen_rtt = conn.srtt_ns is not None
        rtt = max(conn.srtt_ns, 1) if self.has_seen_rtt else 1_000_000
        self.rate_ = self.paced(self.window * S // rtt, self.p["startup_gain"])

    def set_pacing(self, conn, gain):
        if not self.has_seen_rtt and conn.srtt_ns is not None:
            self.init_pacing(conn)
        rate = self.paced(self.bandwidth(), gain)
        if self.full_bw_reached or rate > self.rate_:
            self.rate_ = rate

    def min_cwnd(self, conn):
        return self.p["min_cwnd"] * conn.mss

    def quantum(self, conn):
        least = conn.mss if self.rate_ < 150_000 else 2 * conn.mss
        gathered = min(self.rate_ * self.p["quantum_time"] // S, 65_536)
        return max(gathered - gathered % conn.mss, least)

    def bdp(self, bw, gain):
        return None if self.min_rtt == NEVER else times(gain, bw * self.min_rtt // S) + 1

    def with_budget(self, conn, flight):
        pair = 2 * conn.mss
        even = -(-(min(flight, MAX_WINDOW) + 3 * self.quantum(conn)) // pair) * pair
        return even + pair if self.mode == "probe-bw" and self.cycle == PROBE else even

    def target_flight(self, conn, gain):
        bdp = self.bdp(self.max_bw.get(), gain)
        return self.with_budget(conn, self.window if bdp is None else bdp)

    def target_cwnd(self, conn):
        bdp = self.bdp(self.bandwidth(), self.cwnd_gain)
        allowance = 0
        if self.full_bw_reached:
            most = max(self.aggregation.current, self.aggregation.previous)
            allowance = min(most, self.bandwidth() * self.p["extra_acked_time"] // S)
        return self.with_budget(conn, (self.setup.initial_window if bdp is None else bdp) + allowance)

    def set_cwnd(self, conn, ack):
        delivered = min(ack.newly_delivered, MAX_WINDOW)
        if delivered > 0:
            if conn.phase in ("recovery", "loss"):
                self.window = max(self.window - ack.newly_lost, conn.mss)
            if self.conserving:
                self.window = min(max(self.window, conn.in_flight + delivered), MAX_WINDOW)
            else:
                target = self.target_cwnd(conn)
                if self.full_bw_reached:
                    self.window = min(self.window + delivered, target)
                elif self.window < target or conn.delivered - self.origin < self.setup.initial_window:
                    self.window += delivered
                self.window = max(self.window, self.min_cwnd(conn))
        self.bound(conn)

    def bound(self, conn):
        self.window = min(self.window, MAX_WINDOW)
        if self.mode == "probe-rtt":
            self.window = min(self.window, self.min_cwnd(conn))

    def save_cwnd(self, phase):
        cut = phase in ("recovery", "loss") or self.mode == "probe-rtt"
        self.prior_cwnd = max(self.prior_cwnd, self.window) if cut else self.window
