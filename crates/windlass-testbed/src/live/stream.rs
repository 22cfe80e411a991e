//! One side of a TCP connection as an application drives it: bytes without meaning, offered and read
//! by number.

use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::net::Shutdown;

use nix::poll::PollFlags;
use socket2::{Protocol, SockAddr, Socket};
use windlass_cc::{Span, Time};
use windlass_sim::config::ReadPolicy;

use super::info::Info;

/// Bytes written or read at a time at most.
const CHUNK: usize = 256 << 10;
static ZEROS: [u8; CHUNK] = [0; CHUNK];
/// How often a connection whose both sides are closed is asked whether it is over: nothing tells.
const LINGER: Span = Span::from_millis(5);

/// A socket that becomes a connection, and is one.
#[derive(Debug)]
pub(crate) struct Stream {
    socket: Socket,
    /// Where a multipath connection came from.
    listener: Option<Socket>,
    state: State,
    /// Bytes that the application has offered and the kernel not yet taken.
    backlog: u64,
    /// No more will be offered.
    closing: bool,
    /// And the kernel knows.
    shut: bool,
    reader: Reader,
    /// When to ask whether a closed connection is over.
    linger: Time,
    /// Bytes read.
    pub delivered: u64,
    /// The peer has closed, and everything before that has been read.
    pub at_end: bool,
    /// Why the connection failed.
    pub failure: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Not yet asked to connect.
    Idle,
    Listening,
    Connecting,
    Connected,
    /// Both sides are closed and all is acknowledged, or it has failed.
    Over,
}

/// When the application reads.
#[derive(Clone, Copy, Debug)]
struct Reader {
    policy: ReadPolicy,
    /// The next read, [`Time::NEVER`] to be woken by data.
    due: Time,
    /// Bytes of a read at a limited rate.
    portion: u64,
}

impl Stream {
    /// A socket that listens or is going to connect; `portion` is the most that a read at a limited
    /// rate takes, bytes.
    pub fn new(socket: Socket, listening: bool, policy: ReadPolicy, portion: u64) -> Stream {
        Stream {
            socket,
            listener: None,
            state: if listening { State::Listening } else { State::Idle },
            backlog: 0,
            closing: false,
            shut: false,
            reader: Reader { policy, due: Time::NEVER, portion },
            linger: Time::NEVER,
            delivered: 0,
            at_end: false,
            failure: None,
        }
    }

    /// The socket.
    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Begins to open the connection; does nothing from the second time on.
    pub fn connect(&mut self, remote: &SockAddr) {
        if self.state == State::Idle {
            self.state = State::Connecting;
            match self.socket.connect(remote) {
                Err(e) if e.raw_os_error() != Some(libc::EINPROGRESS) => self.fail(&e),
                _ => {}
            }
        }
    }

    /// Offers bytes to send.
    pub fn offer(&mut self, bytes: u64) {
        self.backlog = self.backlog.saturating_add(bytes);
    }

    /// No more will be offered.
    pub fn close(&mut self) {
        self.closing = true;
    }

    /// Whether the connection has been open.
    pub fn was_open(&self) -> bool {
        matches!(self.state, State::Connected | State::Over)
    }

    /// Whether nothing more will happen.
    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// Whether it still awaits its peer.
    pub fn is_listening(&self) -> bool {
        self.state == State::Listening
    }

    /// When [`act`](Stream::act) is to be called next, whatever the socket says.
    pub fn deadline(&self) -> Time {
        match self.state {
            State::Connected if self.at_end => self.linger,
            State::Connected => self.reader.due,
            _ => Time::NEVER,
        }
    }

    /// What of the socket is to be waited for.
    pub fn events(&self) -> PollFlags {
        let mut events = PollFlags::empty();
        match self.state {
            State::Listening => events |= PollFlags::POLLIN,
            State::Connecting => events |= PollFlags::POLLOUT,
            State::Connected => {
                events.set(PollFlags::POLLIN, !self.at_end && self.reader.due.is_never());
                events.set(PollFlags::POLLOUT, self.backlog > 0);
            }
            State::Idle | State::Over => {}
        }
        events
    }

    /// Does what can be done now. `ready`: the socket has something of what was waited for.
    pub fn act(&mut self, now: Time, ready: bool) {
        match self.state {
            State::Listening if ready => self.accept(),
            State::Connecting if ready => self.connected(),
            _ => {}
        }
        if self.state == State::Connected {
            self.receive(now, ready);
        }
    }

    /// Hands the kernel what has been offered. To be called after the application has acted.
    pub fn send(&mut self, now: Time) {
        if self.state != State::Connected {
            return;
        }
        while self.backlog > 0 {
            let n = self.backlog.min(CHUNK as u64);
            // More follows at once: a full segment is not cut short for the end of a chunk.
            let more = if self.backlog > n { libc::MSG_MORE } else { 0 };
            match self.socket.send_with_flags(&ZEROS[..n as usize], libc::MSG_NOSIGNAL | more) {
                Ok(taken) => self.backlog -= taken as u64,
                Err(e) if is_momentary(&e) => return,
                Err(e) => return self.fail(&e),
            }
        }
        if self.closing && !self.shut {
            self.shut = true;
            if let Err(e) = self.socket.shutdown(Shutdown::Write) {
                return self.fail(&e);
            }
        }
        if self.shut && self.at_end {
            self.linger = now + LINGER;
            if Info::of(&self.socket).map_or(true, |info| info.closed) {
                self.state = State::Over;
            }
        }
    }

    fn accept(&mut self) {
        match self.socket.accept() {
            Ok((socket, _)) => {
                // The listener has had the one connection that it is for, and is dropped; but further
                // subflows of a multipath connection come to it.
                let listener = std::mem::replace(&mut self.socket, socket);
                let multipath = listener.protocol().is_ok_and(|p| p == Some(Protocol::MPTCP));
                self.listener = multipath.then_some(listener);
                self.state = State::Connected;
                if let Err(e) = self.socket.set_nonblocking(true) {
                    self.fail(&e);
                }
            }
            Err(e) if is_momentary(&e) => {}
            Err(e) => self.fail(&e),
        }
    }

    fn connected(&mut self) {
        match self.socket.take_error() {
            // Whoever asks too early is told that there is no peer yet.
            Ok(None) if self.socket.peer_addr().is_err() => {}
            Ok(None) => self.state = State::Connected,
            Ok(Some(e)) | Err(e) => self.fail(&e),
        }
    }

    /// As [`windlass_sim::app`] reads: at once, some time after the first byte, or in portions.
    fn receive(&mut self, now: Time, ready: bool) {
        let due = self.reader.due;
        let waited = !due.is_never() && now >= due;
        if self.at_end || !(waited || (ready && due.is_never())) {
            return;
        }
        self.reader.due = Time::NEVER;
        match self.reader.policy {
            ReadPolicy::Immediate => while self.read(CHUNK) > 0 {},
            ReadPolicy::Delayed(_) if waited => while self.read(CHUNK) > 0 {},
            ReadPolicy::Delayed(after) => {
                if self.has_data() {
                    self.reader.due = now + after;
                }
            }
            ReadPolicy::Rate(bytes_per_s) => {
                let n = self.read(self.reader.portion as usize);
                // The end of the stream is noticed with the last byte, not a pause later.
                self.has_data();
                if n > 0 && !self.at_end {
                    let pause = (n * 1_000_000_000).div_ceil(bytes_per_s.max(1));
                    self.reader.due = now + Span(pause);
                }
            }
        }
    }

    /// Whether a byte waits. The peer's end is noticed at once.
    fn has_data(&mut self) -> bool {
        let mut byte = [MaybeUninit::uninit()];
        match self.socket.recv_with_flags(&mut byte, libc::MSG_PEEK) {
            Ok(0) => {
                self.at_end = true;
                false
            }
            Ok(_) => true,
            Err(e) => {
                self.unless_momentary(&e);
                false
            }
        }
    }

    /// Reads up to `most` bytes and discards them; zero if there are none.
    fn read(&mut self, most: usize) -> u64 {
        let mut room = [MaybeUninit::<u8>::uninit(); CHUNK];
        let room = &mut room[..most.min(CHUNK)];
        // With MSG_TRUNC a TCP socket discards what it would have copied (tcp(7)).
        match self.socket.recv_with_flags(room, libc::MSG_TRUNC) {
            Ok(0) => self.at_end = true,
            Ok(n) => {
                self.delivered += n as u64;
                return n as u64;
            }
            Err(e) => self.unless_momentary(&e),
        }
        0
    }

    fn unless_momentary(&mut self, e: &io::Error) {
        if !is_momentary(e) {
            self.fail(e);
        }
    }

    fn fail(&mut self, e: &io::Error) {
        let was_open = self.was_open();
        self.failure.get_or_insert_with(|| describe(e, was_open));
        self.state = State::Over;
    }
}

fn is_momentary(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Why a connection failed, in the words of [`windlass_tcp::Failure`] where it has some.
fn describe(e: &io::Error, was_open: bool) -> String {
    use windlass_tcp::Failure;
    let failure = match e.kind() {
        ErrorKind::TimedOut if was_open => Failure::DataTimeout,
        ErrorKind::TimedOut => Failure::ConnectTimeout,
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionRefused => {
            Failure::Reset
        }
        _ => return format!("the kernel ended the connection: {e}"),
    };
    failure.describe().to_string()
}
