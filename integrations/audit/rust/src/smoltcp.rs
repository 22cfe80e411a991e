//! Versions of smoltcp, as senders. Windlass's endpoint receives.

macro_rules! version {
    ($module:ident, $smoltcp:ident, $minor:literal) => {
        pub mod $module {
            use std::collections::VecDeque;

            use $smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
            use $smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
            use $smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
            use $smoltcp::time::Instant;
            use $smoltcp::wire::{HardwareAddress, IpCidr};

            use crate::protocol::{End, Greeting, NEVER, Role, Setting, Writes};

            /// Sizes of the receive and the send buffer; the latter never limits. Bytes.
            const BUFFERS: [usize; 2] = [65_535, 4 << 20];

            struct Stack {
                setting: Setting,
                interface: Interface,
                wire: Wire,
                sockets: SocketSet<'static>,
                handle: SocketHandle,
                writes: Writes,
                connected: bool,
            }

            pub fn open(
                setting: &Setting,
                algorithm: &str,
            ) -> Result<(Greeting, Box<dyn End>), String> {
                let control = match algorithm {
                    "reno" => CongestionControl::Reno,
                    "cubic" => CongestionControl::Cubic,
                    _ => return Err("the algorithms are reno and cubic".to_owned()),
                };
                if setting.role == Role::Receiver {
                    return Err("a TCP stack is a sender".to_owned());
                }
                let mut wire = Wire { mtu: setting.mtu as usize, ..Wire::default() };
                let mut config = Config::new(HardwareAddress::Ip);
                config.random_seed = setting.seed;
                let mut interface = Interface::new(config, &mut wire, Instant::ZERO);
                interface.update_ip_addrs(|addresses| {
                    // All addresses are on the link, so no route is needed.
                    addresses.push(IpCidr::new((*setting.local.ip()).into(), 0)).expect("room");
                });
                let [receive, send] = BUFFERS.map(|bytes| SocketBuffer::new(vec![0; bytes]));
                let mut socket = Socket::new(receive, send);
                socket.set_congestion_control(control);
                let mut sockets = SocketSet::new(Vec::new());
                let handle = sockets.add(socket);
                let greeting = Greeting {
                    name: "smoltcp",
                    version: env!("VERSIONS_smoltcp")
                        .split(' ')
                        .find(|version| version.starts_with($minor))
                        .unwrap_or($minor)
                        .to_owned(),
                    algorithm: algorithm.to_owned(),
                    carries: "ip",
                };
                let writes = Writes::new(setting);
                let setting = setting.clone();
                let connected = false;
                let stack = Stack { setting, interface, wire, sockets, handle, writes, connected };
                Ok((greeting, Box::new(stack)))
            }

            impl Stack {
                fn work(&mut self, now: u64) {
                    let socket = self.sockets.get_mut::<Socket>(self.handle);
                    if !self.connected && now >= self.writes.start() {
                        let to = (*self.setting.remote.ip(), self.setting.remote.port());
                        let from = self.setting.local.port();
                        socket.connect(self.interface.context(), to, from).expect("a new socket");
                        self.connected = true;
                    }
                    let chunk = [7; 1 << 14];
                    while socket.can_send() {
                        let due = self.writes.due(now).min(chunk.len() as u64) as usize;
                        let took = socket.send_slice(&chunk[..due]).unwrap_or(0);
                        if took == 0 {
                            break;
                        }
                        self.writes.took(took as u64);
                    }
                    self.interface.poll(instant(now), &mut self.wire, &mut self.sockets);
                }
            }

            fn instant(now: u64) -> Instant {
                Instant::from_micros((now / 1_000) as i64)
            }

            impl End for Stack {
                fn receive(&mut self, now: u64, _: u8, packet: &[u8]) {
                    self.wire.received.push_back(packet.to_vec());
                    self.work(now);
                }

                fn transmit(&mut self, now: u64) -> Option<(u8, Vec<u8>)> {
                    if self.wire.sent.is_empty() {
                        self.work(now);
                    }
                    self.wire.sent.pop_front().map(|packet| (packet[1] & 3, packet))
                }

                fn deadline(&mut self, now: u64) -> u64 {
                    let at = self.interface.poll_at(instant(now), &self.sockets);
                    let at = at.map_or(NEVER, |at| at.total_micros().max(0) as u64 * 1_000);
                    at.min(self.writes.next(now))
                }
            }

            include!("../../../stacks/src/smoltcp_wire.rs");
        }
    };
}

version!(v12, smoltcp_0_12, "0.12");
version!(v13, smoltcp_0_13, "0.13");
version!(v14, smoltcp_0_14, "0.14");
