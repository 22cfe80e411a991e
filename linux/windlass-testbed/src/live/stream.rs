//! One side of a TCP connection as an application uses it: bytes without meaning, offered and read by count.

use std::io::{self, ErrorKind};
use std::mem::MaybeUninit;
use std::net::Shutdown;

use nix::poll::PollFlags;
use socket2::{Protocol, SockAddr, Socket};
use windlass_cc::{Span, Time};
use windlass_sim::config::ReadPolicy;

use super::info::Info;

/// Maximum number of bytes per write or read.
const CHUNK: usize = 256 << 10;
static ZEROS: [u8; CHUNK] = [0; CHUNK];
/// Time between checks whether a connection with both sides closed is over. The kernel does not report this
/// event.
const LINGER: Span = Span::from_millis(5);

/// A socket that listens or connects, and then the connection.
#[derive(Debug)]
pub(crate) struct Stream {
    socket: Socket,
    /// Listener of a multipath connection.
    listener: Option<Socket>,
    state: State,
    /// Bytes that the application has offered and the kernel has not yet accepted.
    backlog: u64,
    /// True if the application will offer no more bytes.
    closing: bool,
    /// True if the kernel has been notified of the close.
    shut: bool,
    reader: Reader,
    /// Time of the next check whether a closed connection is over.
    linger: Time,
    /// Bytes read.
    pub delivered: u64,
    /// True if the peer has closed and everything before that has been read.
    pub at_end: bool,
    /// Reason why the connection failed.
    pub failure: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Not yet connecting.
    Idle,
    Listening,
    Connecting,
    Connected,
    /// Both sides are closed and everything is acknowledged, or the connection has failed.
    Over,
}

/// Read times of the application.
#[derive(Clone, Copy, Debug)]
struct Reader {
    policy: ReadPolicy,
    /// Time of the next read, or [`Time::NEVER`] if arriving data triggers the read.
    due: Time,
    /// Bytes per read at a limited rate.
    portion: u64,
}

impl Stream {
    /// Creates a stream on a socket that listens or will connect. `portion` is the maximum number of bytes
    /// per read at a limited rate.
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

    /// Returns the socket.
    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Starts to open the connection. Later calls have no effect.
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

    /// Closes the sending side after the offered bytes.
    pub fn close(&mut self) {
        self.closing = true;
    }

    /// True if the connection has been open.
    pub fn was_open(&self) -> bool {
        matches!(self.state, State::Connected | State::Over)
    }

    /// True if the stream will not change any more.
    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// True if the stream still waits for its peer.
    pub fn is_listening(&self) -> bool {
        self.state == State::Listening
    }

    /// Time of the next call of [`act`](Stream::act) if the socket has no event.
    pub fn deadline(&self) -> Time {
        match self.state {
            State::Connected if self.at_end => self.linger,
            State::Connected => self.reader.due,
            _ => Time::NEVER,
        }
    }

    /// Returns the socket's events to wait for.
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

    /// Does all reads, writes and connection steps that are possible now. `ready` is true if the socket has
    /// an event that the stream waits for.
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

    /// Passes the offered bytes to the kernel. Call this after the application has acted.
    pub fn send(&mut self, now: Time) {
        if self.state != State::Connected {
            return;
        }
        while self.backlog > 0 {
            let n = self.backlog.min(CHUNK as u64);
            // More bytes follow immediately, so that the end of a chunk does not cut a segment short.
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
                // The listener has accepted its only connection and is dropped, except for a multipath
                // connection, whose further subflows arrive at the listener.
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
            // A check before the connection is established finds no peer.
            Ok(None) if self.socket.peer_addr().is_err() => {}
            Ok(None) => self.state = State::Connected,
            Ok(Some(e)) | Err(e) => self.fail(&e),
        }
    }

    /// Reads like [`windlass_sim::app`]: immediately, some time after the first byte, or in portions.
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
                // The end of the stream is noticed with the last byte, not one pause later.
                self.has_data();
                if n > 0 && !self.at_end {
                    let pause = (n * 1_000_000_000).div_ceil(bytes_per_s.max(1));
                    self.reader.due = now + Span(pause);
                }
            }
        }
    }

    /// True if a byte waits to be read. Also detects the peer's end of the stream.
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

    /// Reads and discards up to `most` bytes. Returns zero if no bytes wait.
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

/// Describes the failure of a connection, in the words of [`windlass_tcp::Failure`] if they exist.
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
