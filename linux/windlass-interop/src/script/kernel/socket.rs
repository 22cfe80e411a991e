//! The application of the kernel's end: its sockets, and the values that they show.

use std::fs::File;
use std::io::{self, ErrorKind as Io, Read, Seek, SeekFrom};
use std::mem::MaybeUninit;
use std::net::{Shutdown, SocketAddrV4};
use std::time::Duration;

use socket2::Socket;
use windlass_tcp::{Codepoint, State};

use windlass_script::{Check, ErrorKind, INFINITE, Seen, pattern};
use windlass_testbed::live::Error;
use windlass_testbed::live::info::Info;
use windlass_testbed::live::sys::tcp_info;

/// `tcpi_state` of a connection that is established.
const ESTABLISHED: u8 = 1;
/// States by their numbers in /proc/net/tcp and `tcpi_state`.
const STATES: [(u8, State); 12] = [
    (0x01, State::Established),
    (0x02, State::SynSent),
    (0x03, State::SynReceived),
    (0x04, State::FinWait1),
    (0x05, State::FinWait2),
    (0x06, State::TimeWait),
    (0x07, State::Closed),
    (0x08, State::CloseWait),
    (0x09, State::LastAck),
    (0x0a, State::Listen),
    (0x0b, State::Closing),
    (0x0c, State::SynReceived),
];
/// Maximum number of bytes to peek at when readable bytes are counted.
const MOST_READABLE: usize = 1 << 22;

/// Sockets of one end of a connection.
#[derive(Debug)]
pub(super) struct Application {
    peer: SocketAddrV4,
    listener: Option<Socket>,
    connection: Option<Socket>,
    /// Socket for the first action.
    fresh: Option<Socket>,
    /// The namespace's table of connections.
    table: File,
    /// True until the connection is set to delay its acknowledgements from the start.
    slow_acks: bool,
    written: u32,
    read: u32,
    /// First error of the socket. The kernel reports an error only once.
    error: ErrorKind,
}

impl Application {
    /// Creates an application with a bound and configured socket, in the calling thread's namespace.
    pub(super) fn new(
        fresh: Socket,
        peer: SocketAddrV4,
        slow_acks: bool,
    ) -> Result<Application, Error> {
        let table = File::open("/proc/thread-self/net/tcp")
            .map_err(Error::on("opening the table of TCP connections"))?;
        Ok(Application {
            peer,
            listener: None,
            connection: None,
            fresh: Some(fresh),
            table,
            slow_acks,
            written: 0,
            read: 0,
            error: ErrorKind::None,
        })
    }

    pub(super) fn listen(&mut self) -> io::Result<()> {
        let socket = self.take_fresh()?;
        socket.listen(1)?;
        self.listener = Some(socket);
        Ok(())
    }

    pub(super) fn connect(&mut self) -> io::Result<()> {
        let socket = self.take_fresh()?;
        let begun = socket.connect(&self.peer.into());
        self.connection = Some(socket);
        match begun {
            Err(e) if e.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
            other => other,
        }
    }

    fn take_fresh(&mut self) -> io::Result<Socket> {
        self.fresh.take().ok_or_else(|| io::Error::other("a script opens one connection"))
    }

    /// Accepts a connection, if the delivered segment has opened one.
    pub(super) fn after_delivery(&mut self) -> io::Result<()> {
        if let Some(listener) = &self.listener {
            match listener.accept() {
                Ok((socket, _)) => {
                    socket.set_nonblocking(true)?;
                    self.connection = Some(socket);
                    // A script has only one connection.
                    self.listener = None;
                }
                Err(e) if e.kind() == Io::WouldBlock => {}
                Err(e) => return Err(e),
            }
        }
        self.delay_acknowledgements()
    }

    /// Ends the quick acknowledgements of a new connection (`TCP_QUICKACK`), if the script turns them off.
    fn delay_acknowledgements(&mut self) -> io::Result<()> {
        let Some(socket) = self.connection.as_ref().filter(|_| self.slow_acks) else {
            return Ok(());
        };
        if tcp_info(socket)?.first() == Some(&ESTABLISHED) {
            socket.set_tcp_quickack(false)?;
            self.slow_acks = false;
        }
        Ok(())
    }

    fn connection(&self) -> Result<&Socket, String> {
        self.connection.as_ref().ok_or_else(|| "no connection is open".to_owned())
    }

    pub(super) fn write(&mut self, len: usize) -> Result<(), String> {
        let mut bytes = vec![0; len];
        // The SYN is byte 0 of the stream.
        pattern(self.written.wrapping_add(1), &mut bytes);
        let taken = self.connection()?.send(&bytes);
        match taken {
            Ok(n) if n == len => {
                self.written = self.written.wrapping_add(len as u32);
                Ok(())
            }
            Ok(n) => Err(format!("the kernel accepts only {n} bytes, not {len}")),
            Err(e) => Err(format!("the kernel refuses to take data: {}", self.latch(e))),
        }
    }

    pub(super) fn read(&mut self, len: usize) -> Result<(), String> {
        let mut bytes = vec![0; len];
        let mut socket = self.connection()?;
        let mut got = 0;
        while got < len {
            match socket.read(&mut bytes[got..]) {
                Ok(0) => break,
                Ok(n) => got += n,
                Err(e) if e.kind() == Io::WouldBlock => break,
                Err(e) => {
                    return Err(format!("the kernel refuses to give data: {}", self.latch(e)));
                }
            }
        }
        if got < len {
            return Err(format!("{got} bytes are readable, not {len}"));
        }
        let mut expected = vec![0; len];
        pattern(self.read.wrapping_add(1), &mut expected);
        self.read = self.read.wrapping_add(len as u32);
        if bytes == expected {
            Ok(())
        } else {
            Err("the data read differ from the data sent".to_owned())
        }
    }

    pub(super) fn shutdown(&mut self) -> io::Result<()> {
        match &self.connection {
            Some(socket) => socket.shutdown(Shutdown::Write),
            None => Err(io::Error::from(Io::NotConnected)),
        }
    }

    pub(super) fn close(&mut self) -> io::Result<()> {
        (self.listener, self.connection) = (None, None);
        Ok(())
    }

    pub(super) fn abort(&mut self) -> io::Result<()> {
        if let Some(socket) = &self.connection {
            // Closing with a linger time of zero sends a reset (socket(7), SO_LINGER).
            socket.set_linger(Some(Duration::ZERO))?;
        }
        self.close()
    }

    /// Stores an error, which the kernel reports only once.
    fn latch(&mut self, e: io::Error) -> io::Error {
        if self.error == ErrorKind::None {
            self.error = match e.raw_os_error() {
                Some(libc::ECONNREFUSED) => ErrorKind::Refused,
                Some(libc::ECONNRESET | libc::EPIPE) => ErrorKind::Reset,
                Some(libc::ETIMEDOUT) => ErrorKind::TimedOut,
                _ => ErrorKind::None,
            };
        }
        e
    }

    pub(super) fn look(&mut self, at: &Check) -> Result<Seen, String> {
        Ok(match at {
            Check::State(_) => Seen::State(self.state()?),
            Check::Cwnd(_) => Seen::Number(self.info()?.cwnd.into()),
            Check::Ssthresh(_) => Seen::Number(self.info()?.ssthresh.map_or(INFINITE, u64::from)),
            Check::DeliveredCe(_) => Seen::Number(self.info()?.delivered_ce.into()),
            Check::DeliveredBytes(field, _) => {
                let [e1, e0, ce] = self.info()?.delivered_bytes;
                let bytes = match field {
                    Codepoint::NotEct => 0,
                    Codepoint::Ect1 => e1,
                    Codepoint::Ect0 => e0,
                    Codepoint::Ce => ce,
                };
                Seen::Number(bytes.into())
            }
            Check::Srtt(_) => Seen::Number(u64::from(self.info()?.srtt_us) * 1_000),
            Check::Rto(_) => Seen::Number(u64::from(self.info()?.rto_us) * 1_000),
            Check::Readable(_) => Seen::Number(self.peek()?.unwrap_or(0) as u64),
            Check::Eof(_) => Seen::Answer(self.peek()? == Some(0)),
            Check::Error(_) => Seen::Error(self.error()?),
            Check::Phase(_) => return Err("no kernel shows its phase here".to_owned()),
            Check::Own(name, _) => return Err(format!("only sim shows {name}")),
        })
    }

    fn info(&self) -> Result<Info, String> {
        Info::of(self.connection()?).map_err(|e| format!("TCP_INFO: {e}"))
    }

    /// Returns the number of readable bytes, 0 at the end of the stream, and `None` if no data have arrived
    /// yet.
    fn peek(&mut self) -> Result<Option<usize>, String> {
        let mut buffer = vec![MaybeUninit::uninit(); MOST_READABLE];
        let peeked = self.connection()?.peek(&mut buffer);
        match peeked {
            Ok(n) => Ok(Some(n)),
            Err(e) if e.kind() == Io::WouldBlock => Ok(None),
            Err(e) => {
                self.latch(e);
                Ok(None)
            }
        }
    }

    fn error(&mut self) -> Result<ErrorKind, String> {
        let latest = match &self.connection {
            Some(socket) => socket.take_error().map_err(|e| format!("SO_ERROR: {e}"))?,
            None => None,
        };
        if let Some(e) = latest {
            self.latch(e);
        }
        Ok(self.error)
    }

    /// Returns the connection's state from the namespace's table, which contains it even after the
    /// application has closed. Returns the listener's state if there is no connection yet.
    fn state(&mut self) -> Result<State, String> {
        let mut text = String::new();
        let read = self.table.seek(SeekFrom::Start(0));
        read.and_then(|_| self.table.read_to_string(&mut text))
            .map_err(|e| format!("cannot read the table of TCP connections: {e}"))?;
        let mut found = State::Closed;
        for (connected, number) in text.lines().skip(1).filter_map(row) {
            let state = STATES.iter().find(|state| state.0 == number).map(|state| state.1);
            let state = state.ok_or_else(|| format!("no state has the number {number}"))?;
            if connected {
                return Ok(state);
            }
            found = state;
        }
        Ok(found)
    }
}

/// Parses a row of /proc/net/tcp. Returns the state, and true if the row has a remote port.
fn row(line: &str) -> Option<(bool, u8)> {
    let mut words = line.split_whitespace().skip(2);
    let remote = words.next()?;
    let state = u8::from_str_radix(words.next()?, 16).ok()?;
    Some((!remote.ends_with(":0000"), state))
}
