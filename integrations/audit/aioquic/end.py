"""aioquic as a sender, behind the packet interface of `windlass audit`: `end.py ALGORITHM`.

aioquic takes the time as an argument, so that it runs in virtual time. docs/src/guides/audit.md describes the interface.
"""

import json
import os
import ssl
import struct
import sys

import aioquic
from aioquic.quic import logger
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import ConnectionTerminated, HandshakeCompleted
from aioquic.quic.logger import QuicLogger

NEVER = 2**64 - 1
# Flow-control windows and idle timeout, which never limit.
WINDOW = 2**29
IDLE = 600.0
# Data that the library holds at a time; it has no limit of its own.
BUFFERED = 4 << 20
# Time after which the file WINDLASS_QLOG is written, nanoseconds.
RECORDED = 6_000_000_000


class Clock:
    """The clock of recordings, which the library does not take as an argument."""

    now = 0.0

    def time(self):
        return self.now


CLOCK = Clock()
logger.time = CLOCK


class End:
    """One connection with its application."""

    def __init__(self, setting, algorithm, log):
        configuration = QuicConfiguration(is_client=True, alpn_protocols=["windlass-audit"])
        configuration.verify_mode = ssl.CERT_NONE
        configuration.server_name = "localhost"
        configuration.idle_timeout = IDLE
        configuration.max_data = configuration.max_stream_data = WINDOW
        configuration.quic_logger = log
        if hasattr(configuration, "congestion_control_algorithm"):
            configuration.congestion_control_algorithm = algorithm
        elif algorithm != "reno":
            raise ValueError("this version has reno only")
        self.connection = QuicConnection(configuration=configuration)
        self.remote = tuple(setting["remote"].rsplit(":", 1))
        self.remote = (self.remote[0], int(self.remote[1]))
        self.writes = setting["writes"]
        self.stream = None
        self.begun = self.ready = False
        self.due = 0

    def step(self, now_ns, packets):
        """Processes arrivals and timers. Returns the packets that leave."""
        now = now_ns / 1e9
        CLOCK.now = now
        if not self.begun and self.writes and now_ns >= self.writes[0][0]:
            self.begun = True
            self.connection.connect(self.remote, now=now)
        if not self.begun:
            return []
        for data in packets:
            self.connection.receive_datagram(data, self.remote, now=now)
        timer = self.connection.get_timer()
        if timer is not None and timer <= now:
            self.connection.handle_timer(now=now)
        self.events()
        self.write(now_ns)
        return [data for data, _ in self.connection.datagrams_to_send(now=now)]

    def events(self):
        while (event := self.connection.next_event()) is not None:
            if isinstance(event, HandshakeCompleted):
                self.ready = True
            if isinstance(event, ConnectionTerminated):
                print(f"aioquic: {event.reason_phrase}", file=sys.stderr)

    def write(self, now_ns):
        if not self.ready:
            return
        if self.stream is None:
            self.stream = self.connection.get_next_available_stream_id(is_unidirectional=True)
        while self.writes and self.writes[0][0] <= now_ns:
            self.due += self.writes.pop(0)[1]
        held = self.held()
        if self.due and held < BUFFERED // 2:
            length = min(self.due, BUFFERED - held)
            self.connection.send_stream_data(self.stream, bytes(length))
            self.due -= length

    def held(self):
        stream = self.connection._streams.get(self.stream)
        return 0 if stream is None else len(stream.sender._buffer)

    def deadline(self, now_ns):
        timer = self.connection.get_timer() if self.begun else None
        # Rounded up: a timer that is due must not be missed by a fraction of a nanosecond.
        times = [] if timer is None else [max(int(timer * 1e9) + 1, 0)]
        times += [at for at, _ in self.writes[:1] if at > now_ns]
        return min(times, default=NEVER)


def read(stream, length):
    data = stream.read(length)
    return data if len(data) == length else None


def main():
    algorithm = sys.argv[1] if len(sys.argv) > 1 else "reno"
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    setting = json.loads(stdin.readline())
    log = QuicLogger() if os.environ.get("WINDLASS_QLOG") else None
    greeting = {"name": "aioquic", "version": aioquic.__version__, "algorithm": algorithm, "carries": "udp"}
    try:
        if setting["role"] != "sender":
            raise ValueError("aioquic is a sender only; use another library as the peer")
        end = End(setting, algorithm, log)
    except ValueError as e:
        greeting = {"error": str(e)}
    stdout.write(json.dumps(greeting).encode() + b"\n")
    stdout.flush()
    while "error" not in greeting and (head := read(stdin, 12)) is not None:
        now, count = struct.unpack("<QI", head)
        packets = []
        for _ in range(count):
            _, length = struct.unpack("<BI", read(stdin, 5))
            packets.append(read(stdin, length))
        leaving = end.step(now, packets)
        answer = [struct.pack("<QI", end.deadline(now), len(leaving))]
        for data in leaving:
            answer += [struct.pack("<BI", 0, len(data)), data]
        stdout.write(b"".join(answer))
        stdout.flush()
        # The laboratory ends the program with the run, so that the recording ends before it.
        if log and now > RECORDED:
            with open(os.environ["WINDLASS_QLOG"], "w") as file:
                json.dump(log.to_dict(), file)
            log = None


if __name__ == "__main__":
    main()
