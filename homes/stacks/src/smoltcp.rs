//! smoltcp as an end of a flow.

use std::cell::Cell;
use std::collections::VecDeque;

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpCidr};
use windlass_cc::Time;
use windlass_sim::external::PacketEnd;
use windlass_tcp::Seq;
use windlass_tcp::wire::{Addresses, fill_pattern};

/// What smoltcp is told; the rest is its own.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Congestion control: its default is none.
    pub control: CongestionControl,
    /// Largest IP packet, bytes.
    pub mtu: usize,
    /// Room for what has come and was not read, and for what was written and is not acknowledged, bytes each.
    pub buffers: [usize; 2],
    /// Whether small segments wait for acknowledgements (RFC 896).
    pub nagle: bool,
    /// Whether timestamps are offered.
    pub timestamps: bool,
    /// What its initial sequence numbers are drawn from.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            control: CongestionControl::None,
            mtu: 1500,
            buffers: [65_535; 2],
            nagle: true,
            timestamps: false,
            seed: 1,
        }
    }
}

thread_local! {
    /// The time of the stack that is being polled, milliseconds: smoltcp takes its timestamps from a plain function.
    static CLOCK: Cell<u32> = const { Cell::new(0) };
}

/// An interface with one socket, without an application.
pub struct Stack {
    interface: Interface,
    device: Wire,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
    ends: Addresses,
}

impl Stack {
    /// A stack whose packets go from `ends.source` to `ends.destination`.
    pub fn new(options: &Options, ends: Addresses) -> Stack {
        let mut device = Wire { mtu: options.mtu, ..Wire::default() };
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = options.seed;
        let mut interface = Interface::new(config, &mut device, Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            // Everybody is on the link: there is no route to set.
            addresses.push(IpCidr::new((*ends.source.ip()).into(), 0)).expect("room for one");
        });
        let [receive, send] = options.buffers;
        let mut socket =
            Socket::new(SocketBuffer::new(vec![0; receive]), SocketBuffer::new(vec![0; send]));
        socket.set_congestion_control(options.control);
        socket.set_nagle_enabled(options.nagle);
        if options.timestamps {
            socket.set_tsval_generator(Some(|| CLOCK.get()));
        }
        let mut sockets = SocketSet::new(Vec::new());
        let handle = sockets.add(socket);
        Stack { interface, device, sockets, handle, ends }
    }

    /// The socket.
    pub fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.handle)
    }

    /// Begins to open the connection.
    pub fn connect(&mut self) -> Result<(), String> {
        let Addresses { source, destination } = self.ends;
        let socket = self.sockets.get_mut::<Socket>(self.handle);
        let to = (*destination.ip(), destination.port());
        socket.connect(self.interface.context(), to, source.port()).map_err(|e| e.to_string())
    }

    /// Waits for the peer to open the connection.
    pub fn listen(&mut self) -> Result<(), String> {
        let port = self.ends.source.port();
        self.socket().listen(port).map_err(|e| e.to_string())
    }

    /// A packet has come.
    pub fn receive(&mut self, packet: &[u8]) {
        self.device.received.push_back(packet.to_vec());
    }

    /// Does what is due.
    pub fn poll(&mut self, now: Time) {
        CLOCK.set((now.0 / 1_000_000) as u32 + 1);
        self.interface.poll(instant(now), &mut self.device, &mut self.sockets);
    }

    /// The next packet that it sends.
    pub fn sent(&mut self) -> Option<Vec<u8>> {
        self.device.sent.pop_front()
    }

    /// When it is to be polled next.
    pub fn deadline(&mut self, now: Time) -> Time {
        let at = self.interface.poll_at(instant(now), &self.sockets);
        at.map_or(Time::NEVER, |at| Time(at.total_micros().max(0) as u64 * 1_000))
    }
}

/// smoltcp counts microseconds.
fn instant(now: Time) -> Instant {
    Instant::from_micros((now.0 / 1_000) as i64)
}

/// What the application of an end does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It connects, sends so many bytes of the test pattern, and closes.
    Sends(u64),
    /// It listens, reads everything at once, and closes after the peer.
    Receives,
}

/// smoltcp and its application.
pub struct Smoltcp {
    stack: Stack,
    role: Role,
    start: Time,
    begun: bool,
    /// Bytes handed to the stack, or taken from it.
    pub moved: u64,
    /// When the last of those that were taken came.
    pub last: Time,
}

impl Smoltcp {
    /// An end that begins at `start`.
    pub fn new(options: &Options, ends: Addresses, role: Role, start: Time) -> Smoltcp {
        let stack = Stack::new(options, ends);
        Smoltcp { stack, role, start, begun: false, moved: 0, last: Time::ZERO }
    }

    fn act(&mut self, now: Time) {
        if !self.begun && (self.role == Role::Receives || self.start <= now) {
            self.begun = true;
            let opened = match self.role {
                Role::Sends(_) => self.stack.connect(),
                Role::Receives => self.stack.listen(),
            };
            opened.expect("the socket is new");
        }
        let moved = self.moved;
        let socket = self.stack.socket();
        match self.role {
            Role::Sends(bytes) => {
                while self.moved < bytes && socket.can_send() {
                    let left = (bytes - self.moved) as usize;
                    let at = Seq(self.moved as u32);
                    let sent = socket.send(|room| {
                        let len = room.len().min(left);
                        fill_pattern(at, &mut room[..len]);
                        (len, len)
                    });
                    self.moved += sent.unwrap_or(0) as u64;
                }
                if self.moved == bytes && moved < bytes {
                    socket.close();
                }
            }
            Role::Receives => {
                while socket.can_recv() {
                    self.moved += socket.recv(|came| (came.len(), came.len())).unwrap_or(0) as u64;
                }
                if self.moved > 0 && !socket.may_recv() {
                    socket.close();
                }
                if self.moved > moved {
                    self.last = now;
                }
            }
        }
    }
}

impl PacketEnd for Smoltcp {
    fn receive(&mut self, now: Time, packet: &[u8]) {
        self.stack.receive(packet);
        self.stack.poll(now);
    }

    fn transmit(&mut self, now: Time) -> Option<Vec<u8>> {
        if let Some(packet) = self.stack.sent() {
            return Some(packet);
        }
        self.act(now);
        self.stack.poll(now);
        self.stack.sent()
    }

    fn deadline(&mut self, now: Time) -> Time {
        if !self.begun {
            return self.start.max(now);
        }
        self.stack.deadline(now)
    }
}

/// Where its packets go and come from.
#[derive(Default)]
struct Wire {
    mtu: usize,
    received: VecDeque<Vec<u8>>,
    sent: VecDeque<Vec<u8>>,
}

impl Device for Wire {
    type RxToken<'a> = Received;
    type TxToken<'a> = Room<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received, Room<'_>)> {
        let packet = self.received.pop_front()?;
        Some((Received(packet), Room(&mut self.sent)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Room<'_>> {
        Some(Room(&mut self.sent))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut all = DeviceCapabilities::default();
        all.medium = Medium::Ip;
        all.max_transmission_unit = self.mtu;
        all
    }
}

struct Received(Vec<u8>);

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

struct Room<'a>(&'a mut VecDeque<Vec<u8>>);

impl TxToken for Room<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut packet = vec![0; len];
        let result = f(&mut packet);
        self.0.push_back(packet);
        result
    }
}
