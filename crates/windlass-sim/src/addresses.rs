//! Addresses and ports of flows: in captures, and where the ends are real ones.

use std::net::{Ipv4Addr, SocketAddrV4};

use windlass_tcp::wire::Addresses;

/// First of the ports that applications take from (RFC 6335 section 6: 49152 to 65535).
const FIRST_PORT: u16 = 49_152;
const PORTS: u32 = 16_384;
/// Host numbers used of each group of 256 addresses: not 0 and 255, which can mean all of them.
const HOSTS: u32 = 254;
/// The ends of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlowAddresses {
    /// The end at the flow's `from` node.
    pub from: SocketAddrV4,
    /// The end at the flow's `to` node.
    pub to: SocketAddrV4,
}

impl FlowAddresses {
    /// Addresses of the flow with this index between the nodes with these indices. Flows have
    /// distinct pairs of ports, below 2²⁸ of them.
    pub fn new(flow: u32, from_node: u32, to_node: u32) -> FlowAddresses {
        let port = |n: u32| FIRST_PORT + (n % PORTS) as u16;
        FlowAddresses {
            from: SocketAddrV4::new(node_address(from_node), port(flow)),
            to: SocketAddrV4::new(node_address(to_node), port(flow / PORTS)),
        }
    }

    /// Source and destination of a packet that goes from `from` to `to` (`forward`) or back.
    pub fn addresses(self, forward: bool) -> Addresses {
        let addresses = Addresses { source: self.from, destination: self.to };
        if forward { addresses } else { addresses.reversed() }
    }
}

/// The address of the node with this index: 10.0.0.1, 10.0.0.2 and so on. Distinct for the
/// first 16 646 144 nodes.
pub fn node_address(node: u32) -> Ipv4Addr {
    let [_, b, c, _] = ((node / HOSTS) << 8).to_be_bytes();
    Ipv4Addr::new(10, b, c, (node % HOSTS) as u8 + 1)
}
