//! Namespaces and TUN devices: a device passes exactly the packets of its namespace.

use std::net::{Ipv4Addr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use windlass_skip::skip;
use windlass_testbed::live::Error;
use windlass_testbed::live::namespace::Namespace;
use windlass_testbed::live::tun::{Settings, Tun};

const HERE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const THERE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

/// Returns a namespace with its device. Returns `None` and prints a message if this machine does not support
/// them.
fn device() -> Option<(Namespace, Tun)> {
    let namespace = match Namespace::new() {
        Ok(namespace) => namespace,
        Err(e) => {
            skip(format_args!("no network namespace on this machine ({e})"));
            return None;
        }
    };
    let settings = Settings { address: HERE, mtu: 1500, metrics: Vec::new() };
    match Tun::new(&namespace, &settings) {
        Ok(tun) => Some((namespace, tun)),
        Err(e) => {
            skip(format_args!("no TUN device on this machine ({e})"));
            None
        }
    }
}

/// Waits for the next packet and returns it.
fn next_packet(tun: &Tun) -> Vec<u8> {
    let mut buffer = [0; 2048];
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(10) {
        if let Some(n) = tun.read(&mut buffer).unwrap() {
            return buffer[..n].to_vec();
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("no packet arrived");
}

#[test]
fn datagram_sent_inside_leaves_as_one_packet() {
    let Some((namespace, tun)) = device() else { return };
    let socket = namespace
        .enter(|| UdpSocket::bind((HERE, 4000)).map_err(Error::on("binding a socket")))
        .unwrap();
    // The socket belongs to the namespace, regardless of the thread that uses it.
    socket.send_to(b"hello", (THERE, 5000)).unwrap();
    let packet = next_packet(&tun);
    assert_eq!(packet.len(), 20 + 8 + 5);
    assert_eq!((&packet[12..16], &packet[16..20]), (&HERE.octets()[..], &THERE.octets()[..]));
    assert_eq!(&packet[28..], b"hello");
    let mut buffer = [0; 2048];
    assert_eq!(tun.read(&mut buffer).unwrap(), None, "the namespace sends without a request");
}

#[test]
fn written_packet_reaches_the_socket_inside() {
    let Some((namespace, tun)) = device() else { return };
    let open = || {
        let socket = UdpSocket::bind((HERE, 4000)).map_err(Error::on("binding a socket"))?;
        socket.connect((THERE, 5000)).map_err(Error::on("connecting a socket"))?;
        Ok(socket)
    };
    let socket = namespace.enter(open).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    socket.send(b"hello").unwrap();
    let mut packet = next_packet(&tun);
    // Answer: addresses and ports are exchanged, which does not change the checksums.
    let (source, destination) = (packet[12..16].to_vec(), packet[16..20].to_vec());
    packet[12..16].copy_from_slice(&destination);
    packet[16..20].copy_from_slice(&source);
    let (from, to) = (packet[20..22].to_vec(), packet[22..24].to_vec());
    packet[20..22].copy_from_slice(&to);
    packet[22..24].copy_from_slice(&from);
    tun.write(&packet).unwrap();
    let mut buffer = [0; 16];
    assert_eq!(socket.recv(&mut buffer).unwrap(), 5);
    assert_eq!(&buffer[..5], b"hello");
}

#[test]
fn equal_addresses_in_two_namespaces_are_independent() {
    let (Some((a, tun_a)), Some((_b, tun_b))) = (device(), device()) else { return };
    let socket =
        a.enter(|| UdpSocket::bind((HERE, 4000)).map_err(Error::on("binding a socket"))).unwrap();
    socket.send_to(b"one", (THERE, 5000)).unwrap();
    next_packet(&tun_a);
    assert_eq!(tun_b.read(&mut [0; 2048]).unwrap(), None);
}
