//! The kernel's end: a socket in its own network namespace.

use std::io::{self, ErrorKind, Read};
use std::net::{Shutdown, SocketAddrV4};
use std::time::Duration;

use nix::poll::PollFlags;
use nix::sys::socket::{setsockopt, sockopt};
use socket2::Socket;
use windlass_cc::{Span, Time};
use windlass_scenario::ReceiveWindow;
use windlass_sim::config::FlowConfig;
use windlass_tcp::Seq;
use windlass_tcp::wire;

use super::host::{Host, Standing};
use windlass_testbed::live::Error;
use windlass_testbed::live::algorithm;
use windlass_testbed::live::info::Info;
use windlass_testbed::live::namespace::Namespace;
use windlass_testbed::live::path_manager::Multihomed;
use windlass_testbed::live::settings::Settings;
use windlass_testbed::live::socket::{Purpose, Wanted};
use windlass_testbed::live::tun::{self, Tun};

/// Maximum number of bytes per write or read.
const CHUNK: usize = 64 << 10;
/// Time between checks whether a connection with both sides closed is over. The kernel does not report this
/// event.
const LINGER: Span = Span::from_millis(5);

/// A kernel with one connection at a time.
pub(super) struct Kernel {
    namespace: Namespace,
    tun: Tun,
    flow: FlowConfig,
    settings: Settings,
    /// Local and remote address of the connection.
    ends: (SocketAddrV4, SocketAddrV4),
    multipath: bool,
    listener: Option<Socket>,
    socket: Option<Socket>,
    connecting: bool,
    /// Bytes offered, and bytes that the kernel has accepted.
    offered: u64,
    taken: u64,
    closing: bool,
    shut: bool,
    reading: bool,
    linger: Time,
    standing: Standing,
    buffer: Vec<u8>,
}

impl Kernel {
    /// Creates a namespace with everything except a socket.
    pub fn new(
        flow: FlowConfig,
        ends: (SocketAddrV4, SocketAddrV4),
        multipath: Option<Multihomed>,
    ) -> Result<Kernel, Error> {
        let settings = Settings::new(&flow, ReceiveWindow::Buffer);
        let namespace = Namespace::new().map_err(Error::on("making a network namespace"))?;
        namespace.enter(|| settings.apply_sysctls())?;
        let device = tun::Settings {
            address: *ends.0.ip(),
            mtu: settings.mtu,
            metrics: settings.metrics.clone(),
        };
        let tun = Tun::new(&namespace, &device)?;
        if let Some(multihomed) = &multipath {
            namespace.enter(|| multihomed.set_up())?;
        }
        Ok(Kernel {
            multipath: multipath.is_some(),
            namespace,
            tun,
            flow,
            settings,
            ends,
            listener: None,
            socket: None,
            connecting: false,
            offered: 0,
            taken: 0,
            closing: false,
            shut: false,
            reading: true,
            linger: Time::NEVER,
            standing: Standing::default(),
            buffer: vec![0; CHUNK],
        })
    }

    /// Returns the device of the namespace.
    pub fn tun(&self) -> &Tun {
        &self.tun
    }

    /// Returns the socket and the events to wait for.
    pub fn waits_for(&self) -> Option<(&Socket, PollFlags)> {
        let Some(socket) = &self.socket else {
            return self.listener.as_ref().map(|l| (l, PollFlags::POLLIN));
        };
        let mut events = PollFlags::empty();
        if !self.ended() {
            events.set(PollFlags::POLLOUT, self.connecting || self.taken < self.offered);
            events
                .set(PollFlags::POLLIN, !self.connecting && self.reading && !self.standing.at_end);
        }
        (!events.is_empty()).then_some((socket, events))
    }

    /// Time of the next call of [`act`](Kernel::act) if the socket has no event.
    pub fn deadline(&self) -> Time {
        if self.ended() { Time::NEVER } else { self.linger }
    }

    /// Does all steps that are possible now.
    pub fn act(&mut self, now: Time) -> Result<(), Error> {
        self.accept()?;
        if self.ended() {
            return Ok(());
        }
        let done = self.connected().and_then(|()| self.read()).and_then(|()| self.write());
        if let Err(e) = done {
            self.fail(&e);
        }
        self.linger(now);
        Ok(())
    }

    fn ended(&self) -> bool {
        self.standing.over || self.standing.reset || self.standing.failed.is_some()
    }

    fn open_socket(&self, purpose: Purpose) -> Result<Socket, Error> {
        let wanted = Wanted {
            flow: &self.flow.name,
            purpose,
            algorithm: Some(algorithm::of_flow(&self.flow)?),
            settings: &self.settings,
            ends: self.ends,
            multipath: self.multipath,
        };
        self.namespace.enter(|| wanted.open())
    }

    fn begin(&mut self, socket: Socket) {
        self.socket = Some(socket);
        (self.offered, self.taken, self.closing, self.shut) = (0, 0, false, false);
        self.linger = Time::NEVER;
        let Standing { opened, wrong_at, .. } = self.standing;
        self.standing = Standing { opened, wrong_at, ..Standing::default() };
    }

    /// A listener accepts the next connection when the previous connection is over.
    fn accept(&mut self) -> Result<(), Error> {
        let Some(listener) =
            self.listener.as_ref().filter(|_| self.socket.is_none() || self.ended())
        else {
            return Ok(());
        };
        match listener.accept() {
            Ok((socket, _)) => {
                socket.set_nonblocking(true).map_err(Error::on("accepting a connection"))?;
                self.begin(socket);
                self.standing.opened += 1;
                Ok(())
            }
            Err(e) if is_momentary(&e) => Ok(()),
            Err(e) => Err(Error::on("accepting a connection")(e)),
        }
    }

    fn connected(&mut self) -> io::Result<()> {
        let Some(socket) = self.socket.as_ref().filter(|_| self.connecting) else { return Ok(()) };
        if let Some(e) = socket.take_error()? {
            return Err(e);
        }
        if socket.peer_addr().is_ok() {
            self.connecting = false;
            self.standing.opened += 1;
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<()> {
        let Some(socket) = self.socket.as_mut().filter(|_| !self.connecting) else { return Ok(()) };
        while self.reading && !self.standing.at_end {
            let n = match socket.read(&mut self.buffer) {
                Ok(n) => n,
                Err(e) if is_momentary(&e) => break,
                Err(e) => return Err(e),
            };
            self.standing.at_end = n == 0;
            let mut wanted = vec![0; n];
            wire::fill_pattern(Seq(self.standing.received as u32), &mut wanted);
            if let Some(i) = wanted.iter().zip(&self.buffer).position(|(a, b)| a != b) {
                self.standing.wrong_at.get_or_insert(self.standing.received + i as u64);
            }
            self.standing.received += n as u64;
        }
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        let Some(socket) = self.socket.as_ref().filter(|_| !self.connecting) else { return Ok(()) };
        while self.taken < self.offered {
            let left = self.offered - self.taken;
            let chunk = &mut self.buffer[..left.min(CHUNK as u64) as usize];
            wire::fill_pattern(Seq(self.taken as u32), chunk);
            // More bytes follow immediately, so that the end of a chunk does not cut a segment short.
            let more = if left > CHUNK as u64 { libc::MSG_MORE } else { 0 };
            match socket.send_with_flags(chunk, libc::MSG_NOSIGNAL | more) {
                Ok(n) => self.taken += n as u64,
                Err(e) if is_momentary(&e) => return Ok(()),
                Err(e) => return Err(e),
            }
        }
        if self.closing && !self.shut {
            self.shut = true;
            socket.shutdown(Shutdown::Write)?;
        }
        Ok(())
    }

    /// After both sides have closed, only the connection's state shows whether everything is acknowledged.
    fn linger(&mut self, now: Time) {
        let Some(socket) = self.socket.as_ref().filter(|_| self.shut && self.standing.at_end)
        else {
            return;
        };
        self.standing.over |= Info::of(socket).map_or(true, |info| info.closed);
        self.linger = now + LINGER;
    }

    fn fail(&mut self, e: &io::Error) {
        match e.kind() {
            ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused | ErrorKind::BrokenPipe => {
                self.standing.reset = true
            }
            ErrorKind::TimedOut => self.standing.failed = Some("the kernel gave up waiting"),
            _ => self.standing.failed = Some("the kernel ended the connection"),
        }
    }
}

impl Host for Kernel {
    fn listen(&mut self) -> Result<(), Error> {
        self.listener = Some(self.open_socket(Purpose::Listen)?);
        Ok(())
    }

    fn connect(&mut self) -> Result<(), Error> {
        self.socket = None;
        let socket = self.open_socket(Purpose::Connect)?;
        match socket.connect(&self.ends.1.into()) {
            Err(e) if e.raw_os_error() != Some(libc::EINPROGRESS) => {
                return Err(Error::on("connecting a socket")(e));
            }
            _ => self.begin(socket),
        }
        self.connecting = true;
        Ok(())
    }

    fn offer(&mut self, bytes: u64) {
        self.offered += bytes;
    }

    fn close(&mut self) {
        self.closing = true;
    }

    fn abort(&mut self) -> Result<(), Error> {
        if let Some(socket) = self.socket.take() {
            // With a linger time of zero the kernel resets instead of closing (tcp(7)).
            let _ = socket.set_linger(Some(Duration::ZERO));
        }
        self.standing.over = true;
        Ok(())
    }

    fn vanish(&mut self) -> Result<(), Error> {
        if let Some(socket) = self.socket.take() {
            // A socket in repair mode is closed without sending a packet.
            setsockopt(&socket, sockopt::TcpRepair, &1)
                .map_err(|e| Error::on("making the kernel forget a connection")(e.into()))?;
        }
        self.standing.over = true;
        Ok(())
    }

    fn set_reading(&mut self, on: bool) {
        self.reading = on;
    }

    fn standing(&self) -> Standing {
        self.standing
    }
}

fn is_momentary(e: &io::Error) -> bool {
    matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
