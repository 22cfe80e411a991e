//! Addresses and ports of flows, in captures and for real end points.

use std::net::{Ipv4Addr, SocketAddrV4};

use windlass_tcp::wire::Addresses;

use crate::config::FlowConfig;

/// First dynamic port, for applications (RFC 6335 section 6: 49152 to 65535).
const FIRST_PORT: u16 = 49_152;
const PORTS: u32 = 16_384;
/// Host numbers per group of 256 addresses. 0 and 255 are left out, because they can mean all
/// hosts.
const HOSTS: u32 = 254;
/// Ports of a subflow's later attempts: neither system ports (below 1024) nor dynamic ports.
const LATER_PORTS: (u16, u32) = (1_024, 48_128);
/// Distance between the ports of two successive attempts. The first 256 flows have 188 ports each.
const ATTEMPTS: u32 = 256;

/// The ends of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowAddresses {
    /// The end at the flow's `from` node.
    pub from: SocketAddrV4,
    /// The end at the flow's `to` node.
    pub to: SocketAddrV4,
    /// True if `to` opens the connection and is its client.
    pub to_opens: bool,
}

impl FlowAddresses {
    /// Addresses of the flow with this index, between the nodes with these indices. Up to 2²⁸ flows
    /// have distinct pairs of ports.
    pub fn new(flow: u32, from_node: u32, to_node: u32) -> FlowAddresses {
        let port = |n: u32| FIRST_PORT + (n % PORTS) as u16;
        FlowAddresses {
            from: SocketAddrV4::new(node_address(from_node), port(flow)),
            to: SocketAddrV4::new(node_address(to_node), port(flow / PORTS)),
            to_opens: false,
        }
    }

    /// Addresses of the flow with this index in a network.
    pub fn of_flow(index: u32, flow: &FlowConfig) -> FlowAddresses {
        let addresses = FlowAddresses::new(index, flow.from as u32, flow.to as u32);
        if flow.traffic.to_opens() { addresses.opened_by_to() } else { addresses }
    }

    /// Returns the addresses for a flow whose `to` opens the connection.
    pub fn opened_by_to(self) -> FlowAddresses {
        FlowAddresses { to_opens: true, ..self }
    }

    /// Addresses of a subflow of a multipath flow. The client has an address per path and a port
    /// per attempt. The server has one address and one port, so that neither side has to announce
    /// addresses.
    pub fn subflow(self, path: u8, attempt: u16) -> FlowAddresses {
        let n = u32::from(self.from.port() - FIRST_PORT);
        let mut new = self;
        let client = if self.to_opens { &mut new.to } else { &mut new.from };
        client.set_ip(path_address(*client.ip(), path));
        if let Some(later) = u32::from(attempt).checked_sub(1) {
            let (first, ports) = LATER_PORTS;
            client.set_port(first + ((n + later * ATTEMPTS) % ports) as u16);
        }
        new
    }

    /// The client's address on a path of a multipath flow.
    pub fn client(self, path: u8) -> Ipv4Addr {
        let ends = self.subflow(path, 0);
        *if self.to_opens { ends.to } else { ends.from }.ip()
    }

    /// Source and destination of a packet that goes from `from` to `to` (`forward`) or back.
    pub fn addresses(self, forward: bool) -> Addresses {
        let addresses = Addresses { source: self.from, destination: self.to };
        if forward { addresses } else { addresses.reversed() }
    }
}

/// Address of a node on one of its paths: its own on the first path, and 172.16.0.1, 172.17.0.1 and
/// so on for 10.0.0.1. The addresses are distinct for 17 paths and the first 65 024 nodes.
fn path_address(own: Ipv4Addr, path: u8) -> Ipv4Addr {
    let [_, _, c, d] = own.octets();
    match path.checked_sub(1) {
        None => own,
        Some(k) => Ipv4Addr::new(172, 16 + k % 16, c, d),
    }
}

/// Address of the node with this index: 10.0.0.1, 10.0.0.2 and so on. The addresses are distinct
/// for the first 16 646 144 nodes.
pub fn node_address(node: u32) -> Ipv4Addr {
    let [_, b, c, _] = ((node / HOSTS) << 8).to_be_bytes();
    Ipv4Addr::new(10, b, c, (node % HOSTS) as u8 + 1)
}
