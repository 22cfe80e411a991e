//! A transfer of a megabyte from a device to a peer, both with smoltcp, over a lossy link in virtual time. Only the
//! device's cost is measured, not the cost of the link and of the peer.
#![no_std]
#![no_main]

mod link;
mod qemu;

use core::fmt::Write;
use core::mem::size_of;
use core::ptr::addr_of_mut;

use link::{Link, Port};
use qemu::{Meter, Output, exit};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet, SocketStorage};
use smoltcp::socket::tcp::{Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, Ipv4Address};

#[unsafe(link_section = ".reset")]
#[used]
static RESET: unsafe extern "C" fn() -> ! = reset;

/// Bytes of the transfer.
const BYTES: usize = 1_000_000;
/// Runs, and losses in percent.
const SEEDS: u32 = 9;
const LOSS: u32 = 1;
/// Bytes of the device's send buffer and of the peer's receive buffer, and bytes of the buffers in the other
/// direction.
const SEND: usize = 16_384;
const RECEIVE: usize = 1_024;
const PORT: u16 = 4_000;
/// Maximum time of an upload, microseconds.
const PATIENCE: u64 = 4_000_000_000;

static mut UP: Link = Link::new();
static mut DOWN: Link = Link::new();
static mut NEAR: Port = Port::new();
static mut FAR: Port = Port::new();
static mut DEVICE_BUFFERS: ([u8; RECEIVE], [u8; SEND]) = ([0; RECEIVE], [0; SEND]);
static mut PEER_BUFFERS: ([u8; SEND], [u8; RECEIVE]) = ([0; SEND], [0; RECEIVE]);

const DEVICE: Ipv4Address = Ipv4Address::new(10, 0, 0, 1);
const PEER: Ipv4Address = Ipv4Address::new(10, 0, 0, 2);

/// One end: an interface and a socket.
struct End<'a> {
    interface: Interface,
    sockets: SocketSet<'a>,
    socket: SocketHandle,
    moved: usize,
}

impl<'a> End<'a> {
    fn new(
        storage: &'a mut [SocketStorage<'a>],
        buffers: (&'a mut [u8], &'a mut [u8]),
        address: Ipv4Address,
        seed: u32,
        port: &mut Port,
    ) -> End<'a> {
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = u64::from(seed);
        let mut interface = Interface::new(config, port, Instant::ZERO);
        interface.update_ip_addrs(|all| {
            let _ = all.push(IpCidr::new(IpAddress::Ipv4(address), 0));
        });
        let mut sockets = SocketSet::new(storage);
        let socket = Socket::new(SocketBuffer::new(buffers.0), SocketBuffer::new(buffers.1));
        let socket = sockets.add(socket);
        End { interface, sockets, socket, moved: 0 }
    }

    fn socket(&mut self) -> &mut Socket<'a> {
        self.sockets.get_mut(self.socket)
    }

    /// Writes data while the buffer has space, and lets the stack do its due work.
    fn send(&mut self, now: Instant, port: &mut Port) {
        self.interface.poll(now, port, &mut self.sockets);
        let left = BYTES - self.moved;
        let socket = self.socket();
        let mut wrote = 0;
        while wrote < left && socket.can_send() {
            let sent = socket.send(|room| {
                let len = room.len().min(left - wrote);
                room[..len].fill(0x55);
                (len, len)
            });
            wrote += sent.unwrap_or(0);
        }
        self.moved += wrote;
        if wrote > 0 {
            self.interface.poll(now, port, &mut self.sockets);
        }
    }

    /// Reads all available data.
    fn receive(&mut self, now: Instant, port: &mut Port) {
        self.interface.poll(now, port, &mut self.sockets);
        let socket = self.socket();
        let mut read = 0;
        while socket.can_recv() {
            read += socket.recv(|came| (came.len(), came.len())).unwrap_or(0);
        }
        self.moved += read;
        if read > 0 {
            self.interface.poll(now, port, &mut self.sockets);
        }
    }

    fn next(&mut self, now: Instant) -> u64 {
        let at = self.interface.poll_at(now, &self.sockets);
        at.map_or(u64::MAX, |at| at.total_micros() as u64)
    }
}

fn upload(seed: u32) {
    let (up, down) = unsafe { (&mut *addr_of_mut!(UP), &mut *addr_of_mut!(DOWN)) };
    up.reset(seed, LOSS);
    down.reset(seed + 1_000, LOSS);
    let (own, other) =
        unsafe { (&mut *addr_of_mut!(DEVICE_BUFFERS), &mut *addr_of_mut!(PEER_BUFFERS)) };
    let (near, far) = unsafe { (&mut *addr_of_mut!(NEAR), &mut *addr_of_mut!(FAR)) };
    (*near, *far) = (Port::new(), Port::new());
    let (mut storage, mut others) = ([SocketStorage::EMPTY; 1], [SocketStorage::EMPTY; 1]);
    let mut device = End::new(&mut storage, (&mut own.0, &mut own.1), DEVICE, seed, near);
    let mut peer = End::new(&mut others, (&mut other.0, &mut other.1), PEER, seed + 1, far);
    let End { interface, sockets, socket, .. } = &mut device;
    let socket = sockets.get_mut::<Socket>(*socket);
    let opened = socket.connect(interface.context(), (PEER, PORT), 5_000);
    if peer.socket().listen(PORT).is_err() || opened.is_err() {
        exit(false);
    }
    let mut meter = Meter::new();
    let mut now: u64 = 0;
    while peer.moved < BYTES {
        let at = Instant::from_micros(now as i64);
        up.give(now, &mut far.heard);
        down.give(now, &mut near.heard);
        if !near.heard.is_empty() || device.next(at) <= now {
            meter.measure(|| device.send(at, near));
            up.take(now, &mut near.said);
        }
        if !far.heard.is_empty() || peer.next(at) <= now {
            peer.receive(at, far);
            down.take(now, &mut far.said);
        }
        let next = [device.next(at), peer.next(at), up.next(), down.next()];
        let next = next.into_iter().min().unwrap_or(u64::MAX);
        if next == u64::MAX || now > PATIENCE {
            let _ = writeln!(Output, "stalled after {} bytes", peer.moved);
            exit(false);
        }
        now = now.max(next);
    }
    let Meter { instructions, stack, .. } = meter;
    let socket = size_of::<Socket<'_>>();
    let _ = writeln!(
        Output,
        "{seed} {instructions} {stack} {socket} {now} {} {} {}",
        up.sent, up.bytes, down.bytes
    );
}

unsafe extern "C" fn reset() -> ! {
    for seed in 1..=SEEDS {
        upload(seed);
    }
    exit(true)
}
