"""CUBIC (RFC 9438) as a class in Python, with the integer arithmetic of the algorithm in Rust: every packet is the same."""

from __future__ import annotations

import windlass as wl

FRACTION = 16
"""Fractional bits of a window in bytes, and of a ratio."""
SEGMENT = 6
"""Fractional bits of a window in segments."""
TICK = 10
"""A tick is 2^10 ns."""
UNIT = 332_307_203
"""(2^30 / 10^9)^3 with 28 fractional bits."""
U32 = (1 << 32) - 1
MAX_WINDOW_Q = 1 << 56
LINUX_TICK = 4_000_000
"""A tick of Linux with HZ = 250, nanoseconds."""
K_UNITS = 1_953_125
"""2^-10 s in ticks, with 11 fractional bits."""


def cbrt(x: int) -> int:
    root = round(x ** (1 / 3))
    while root**3 > x:
        root -= 1
    while (root + 1) ** 3 <= x:
        root += 1
    return root


class Cubic(wl.WindowController):
    like = "cubic"

    def __init__(self, params, setup, conn):
        ratio = {key: round(params[key] * 65536) for key in ("c", "keep", "keep_ecn")}
        self.c, self.keep, self.keep_ecn = ratio["c"], ratio["keep"], ratio["keep_ecn"]
        self.curve = (min(self.c, 100 << 16) * UNIT) >> 16
        self.alpha = self._alpha()
        self.clock, self.epoch = "unset", 0
        self.w_est = self.k = self.w_max = self.cwnd_prior = 0
        self.at = self.held = self.acks = self.per = self.counted = 0
        self.prior = (0, "unset", 0, 0, 0, 0)
        super().__init__(params, setup, conn)

    def _alpha(self):
        cut, kept = 65536 - self.keep, 65536 + self.keep
        first, rest = divmod((3 * cut) << 8, kept)
        return (first << 8) + (rest << 8) // kept

    def segments(self, conn, bytes_q):
        half = 1 << (FRACTION - SEGMENT - 1)
        return min((bytes_q // max(conn.mss, 1) + half) >> (FRACTION - SEGMENT), U32)

    def elapsed(self, conn):
        if self.clock == "unset":
            return 0
        return self.epoch if self.clock == "stopped" else max(conn.now_ns - self.epoch, 0)

    def time_to(self, distance):
        cube = ((distance << 12) << 28) // max(self.curve, 1)
        lacking = 14
        while lacking > 0 and cube >> 61 == 0:
            cube <<= 3
            lacking -= 1
        root = cbrt(cube)
        return U32 if root > U32 >> lacking else root << lacking

    def segments_after(self, elapsed):
        t = min(elapsed >> TICK, U32)
        d = abs(t - self.k)
        cube = (((d * d) >> 20) * d) >> 20
        distance = ((cube * self.curve) >> (19 + 28 - FRACTION)) >> 1
        top = self.w_max << (FRACTION - SEGMENT)
        return max(top - distance, 0) if t < self.k else top + distance

    def w_cubic(self, conn, elapsed):
        return min(self.segments_after(elapsed) * conn.mss, MAX_WINDOW_Q)

    def on_ack(self, conn, ack):
        if self.params["reno_paced"]:
            pass
        elif self.cwnd < self.ssthresh:
            self.clock = "unset"
        elif self.clock == "running" and "cwnd" not in conn.limited_by:
            self.epoch, self.clock = self.elapsed(conn), "stopped"
        super().on_ack(conn, ack)

    def start_clock(self, conn, cwnd_q):
        if self.clock == "stopped":
            self.epoch = conn.now_ns - self.epoch
        elif self.clock == "unset":
            cwnd = self.segments(conn, cwnd_q)
            self.epoch, self.w_est = conn.now_ns, cwnd_q
            self.k = self.time_to(max(self.w_max - cwnd, 0))
            self.w_max = max(self.w_max, cwnd)
        self.clock = "running"

    def grow_w_est(self, conn, acked, cwnd):
        reached = self.params["reno_beyond"] and self.w_est >= self._least(conn)
        alpha = 65536 if reached else self.alpha
        self.w_est = min(self.w_est + alpha * conn.mss * min(acked, cwnd) // cwnd, MAX_WINDOW_Q)

    def _least(self, conn):
        half = 1 << (FRACTION - SEGMENT - 1)
        return max((self.cwnd_prior << (FRACTION - SEGMENT)) - half, 0) * max(conn.mss, 1)

    def increase(self, conn, ack, credit):
        cwnd, cwnd_q = int(self.cwnd), int(self.cwnd_exact * 65536)
        if self.params["reno_paced"]:
            return self.grow_as_linux(conn, credit, cwnd)
        self.start_clock(conn, cwnd_q)
        self.grow_w_est(conn, ack.acked, cwnd)
        elapsed, counted = self.elapsed(conn), max(credit, conn.mss)
        if self.params["friendliness"] and self.w_cubic(conn, elapsed) < self.w_est:
            return min(max(self.w_est - cwnd_q, 0), counted << FRACTION) / 65536
        ahead = self.w_cubic(conn, elapsed + (conn.srtt_ns or 0))
        gap = min(max(ahead - cwnd_q, 0), cwnd_q // 2)
        return (gap * counted // cwnd) / 65536

    def grow_as_linux(self, conn, credit, cwnd):
        mss, now = max(conn.mss, 1), conn.now_ns // LINUX_TICK
        window, segment = max(cwnd // mss, 1), mss << FRACTION
        acked = max(credit // mss, 1)
        self.acks += acked
        if window != self.held or now - self.at > 7:
            if self.clock != "running" or now > self.at:
                self.held, self.at = window, now
                if self.clock != "running":
                    self.begin_as_linux(now, window, segment)
                    self.acks = acked
                self.per = self.per_growth(conn, now, window)
            self.follow_reno(window, segment)
        per = max(self.per, 2)
        grown = 0
        if self.counted >= per:
            self.counted, grown = 0, 1
        self.counted += acked
        grown += self.counted // per
        self.counted %= per
        return grown * mss

    def begin_as_linux(self, now, window, segment):
        top = self.w_max >> SEGMENT
        scale = max((min(self.c, 100 << 16) << 10) >> 16, 1)
        root = cbrt((1 << 40) // scale * min(max(top - window, 0), 1 << 23))
        self.clock, self.epoch, self.w_est = "running", now * LINUX_TICK, window * segment
        self.k, self.w_max = root * K_UNITS >> 11, max(top, window) << SEGMENT

    def per_growth(self, conn, now, window):
        ahead = now - self.epoch // LINUX_TICK + -(-(conn.min_rtt_ns or 0) // LINUX_TICK)
        t, k = (ahead << 10) // 250, ((self.k << 11) + K_UNITS - 1) // K_UNITS
        scale = max((min(self.c, 100 << 16) << 10) >> 16, 1)
        away = min(abs(t - k), 1 << 21) ** 3 * scale >> 40
        top = self.w_max >> SEGMENT
        target = max(top - away, 0) if t < k else top + away
        per = window // (target - window) if target > window else 100 * window
        return min(per, 20 if self.cwnd_prior == 0 else 65535)

    def follow_reno(self, window, segment):
        if not self.params["friendliness"]:
            return
        eighths = 8 * (65536 + self.keep) // 3 // max(65536 - self.keep, 1)
        per = max(window * eighths >> 3, 1)
        grown = max(self.acks - 1, 0) // per
        self.acks -= grown * per
        self.w_est += grown * segment
        beyond = self.w_est // segment - window
        if beyond > 0:
            self.per = min(self.per, window // beyond)

    def threshold(self, conn, cause):
        self.prior = (self.epoch, self.clock, self.k, self.w_max, self.cwnd_prior, self.segments(conn, self.w_est))
        keep = self.keep_ecn if cause == "mark" else self.keep
        cwnd = self.segments(conn, int(self.cwnd_exact * 65536))
        if cause == "timeout":
            self.w_max = 0
        elif cwnd < self.w_max and self.params["fast_convergence"]:
            self.w_max = min(((65536 + keep) * cwnd >> 16) // 2, U32)
        else:
            self.w_max = cwnd
        self.cwnd_prior = cwnd
        if self.params["reno_paced"]:
            self.clock, self.counted = "unset", 0
            if cause == "timeout":
                self.cwnd_prior = self.at = self.held = self.acks = self.per = 0
        return max(keep * conn.flight_size >> 16, 2 * conn.mss)

    def begin_epoch(self, conn):
        if not self.params["reno_paced"]:
            self.clock = "unset"

    def undone(self, conn):
        cwnd_q = int(self.cwnd_exact * 65536)
        if self.params["reno_paced"] or self.segments(conn, cwnd_q) > self.cwnd_prior:
            return
        self.epoch, self.clock, self.k, self.w_max, self.cwnd_prior, w_est = self.prior
        self.w_est = min((w_est << (FRACTION - SEGMENT)) * conn.mss, MAX_WINDOW_Q, cwnd_q)

    def on_idle(self, conn, gap_ns, reset):
        super().on_idle(conn, gap_ns, reset)
        if self.clock != "running":
            return
        if self.params["reno_paced"]:
            now, idle = conn.now_ns // LINUX_TICK, conn.now_ns // LINUX_TICK - (conn.now_ns - gap_ns) // LINUX_TICK
            self.epoch = (now - max(now - self.epoch // LINUX_TICK - idle, 0)) * LINUX_TICK
        else:
            self.epoch += gap_ns

    def on_mss(self, conn, old_mss):
        super().on_mss(conn, old_mss)
        self.w_est = min(self.w_est * conn.mss // max(old_mss, 1), MAX_WINDOW_Q)
