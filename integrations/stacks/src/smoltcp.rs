//! smoltcp as a connection.

use std::cell::Cell;
use std::collections::VecDeque;

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State as Theirs};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpCidr};
use windlass_cc::{Span, Time};
use windlass_interop::script::Settings;
use windlass_sim::external::PacketEnd;
use windlass_tcp::State;
use windlass_tcp::wire::Addresses;

use crate::connection::Connection;
use crate::scripted::addresses;

/// The options of smoltcp that are set. Others have their defaults.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Congestion control. smoltcp uses no algorithm by default.
    pub control: CongestionControl,
    /// Largest IP packet, bytes.
    pub mtu: usize,
    /// Sizes of the receive and the send buffer, bytes.
    pub buffers: [usize; 2],
    /// True if small segments wait for acknowledgements (RFC 896).
    pub nagle: bool,
    /// True if timestamps are offered.
    pub timestamps: bool,
    /// Seed of its initial sequence numbers.
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
    /// The time of the stack that is polled, milliseconds. smoltcp takes its timestamps from a plain function.
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
            // All addresses are on the link, so no route is needed.
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

    fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.handle)
    }

    /// Does the due work.
    fn poll(&mut self, now: Time) {
        CLOCK.set((now.0 / 1_000_000) as u32 + 1);
        self.interface.poll(instant(now), &mut self.device, &mut self.sockets);
    }
}

impl PacketEnd for Stack {
    fn receive(&mut self, now: Time, packet: &[u8]) {
        self.device.received.push_back(packet.to_vec());
        self.poll(now);
    }

    fn transmit(&mut self, now: Time) -> Option<Vec<u8>> {
        if self.device.sent.is_empty() {
            self.poll(now);
        }
        self.device.sent.pop_front()
    }

    fn deadline(&mut self, now: Time) -> Time {
        let at = self.interface.poll_at(instant(now), &self.sockets);
        at.map_or(Time::NEVER, |at| Time(at.total_micros().max(0) as u64 * 1_000))
    }
}

impl Connection for Stack {
    fn tick(&self) -> Span {
        Span::from_micros(1)
    }

    fn connect(&mut self, _: Time) -> Result<(), String> {
        let Addresses { source, destination } = self.ends;
        let socket = self.sockets.get_mut::<Socket>(self.handle);
        let to = (*destination.ip(), destination.port());
        socket.connect(self.interface.context(), to, source.port()).map_err(|e| e.to_string())
    }

    fn listen(&mut self, _: Time) -> Result<(), String> {
        let port = self.ends.source.port();
        self.socket().listen(port).map_err(|e| e.to_string())
    }

    fn write(&mut self, _: Time, bytes: &[u8]) -> usize {
        self.socket().send_slice(bytes).unwrap_or(0)
    }

    fn read(&mut self, _: Time, room: &mut [u8]) -> usize {
        self.socket().recv_slice(room).unwrap_or(0)
    }

    fn shutdown(&mut self, _: Time) {
        self.socket().close();
    }

    fn close(&mut self, _: Time) {
        self.socket().close();
    }

    fn abort(&mut self, _: Time) {
        self.socket().abort();
    }

    fn state(&mut self) -> State {
        ours(self.socket().state())
    }

    fn readable(&mut self) -> usize {
        self.socket().recv_queue()
    }

    fn at_end(&mut self) -> bool {
        let socket = self.socket();
        !socket.may_recv() && socket.recv_queue() == 0
    }
}

fn ours(state: Theirs) -> State {
    match state {
        Theirs::Closed => State::Closed,
        Theirs::Listen => State::Listen,
        Theirs::SynSent => State::SynSent,
        Theirs::SynReceived => State::SynReceived,
        Theirs::Established => State::Established,
        Theirs::FinWait1 => State::FinWait1,
        Theirs::FinWait2 => State::FinWait2,
        Theirs::CloseWait => State::CloseWait,
        Theirs::Closing => State::Closing,
        Theirs::LastAck => State::LastAck,
        Theirs::TimeWait => State::TimeWait,
    }
}

/// The largest receive buffer for which smoltcp's window scale is 7, as the scripts expect; bytes.
const SHIFT_OF_7: usize = (1 << 23) - 1;

/// A connection with the script's settings that smoltcp supports.
pub fn scripted(settings: &Settings, control: CongestionControl) -> Stack {
    let mut options = Options {
        control,
        mtu: settings.mtu as usize,
        nagle: settings.stack.nagle,
        timestamps: settings.stack.timestamps,
        ..Options::default()
    };
    options.buffers[0] = match settings.stack {
        stack if settings.sets_receive_buffer => stack.receive_buffer as usize,
        stack if stack.window_scaling => SHIFT_OF_7,
        _ => options.buffers[0],
    };
    Stack::new(&options, addresses())
}

/// Converts a time to smoltcp's microseconds.
fn instant(now: Time) -> Instant {
    Instant::from_micros((now.0 / 1_000) as i64)
}

include!("smoltcp_wire.rs");
