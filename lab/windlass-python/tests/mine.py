"""Classes that other processes import."""

import windlass as wl


class Scalable(wl.WindowController):
    """Grows by a hundredth of the acknowledged bytes, and keeps seven eighths at a loss."""

    recovery = "newreno"

    def increase(self, conn, ack, credit):
        return 0.01 * credit

    def threshold(self, conn, cause):
        return max(int(0.875 * conn.flight_size), 2 * conn.mss)
