//! `windlass-audit-quiche ALGORITHM`: quiche as a sender, behind the packet interface of `windlass audit`.

mod clock;
#[path = "../../rust/src/protocol.rs"]
mod protocol;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use protocol::{End, Greeting, NEVER, Role, Setting, Writes, serve};

/// Flow-control windows, which never limit: bytes.
const WINDOW: u64 = 1 << 29;
/// The first stream of a client in one direction.
const STREAM: u64 = 2;
/// Payload of a full datagram: quiche does not search for the path's MTU by default.
const DATAGRAM: usize = 1_350;

struct Stack {
    setting: Setting,
    config: quiche::Config,
    connection: Option<quiche::Connection>,
    epoch: Instant,
    writes: Writes,
    /// A packet that the library made, and the time at which it wants it to be sent.
    paced: Option<(u64, Vec<u8>)>,
}

fn open(setting: &Setting, algorithm: &str) -> Result<(Greeting, Box<dyn End>), String> {
    if setting.role == Role::Receiver {
        return Err("quiche is a sender only; use another library as the peer".to_owned());
    }
    let text = |e: quiche::Error| e.to_string();
    let mut config = quiche::Config::new(quiche::PROTOCOL_VERSION).map_err(text)?;
    config.set_application_protos(&[b"windlass-audit"]).map_err(text)?;
    config.verify_peer(false);
    config.set_cc_algorithm_name(algorithm).map_err(|_| "the algorithms are cubic and reno")?;
    config.set_max_send_udp_payload_size(DATAGRAM);
    config.set_initial_max_data(WINDOW);
    config.set_initial_max_streams_uni(10);
    let stack = Stack {
        setting: setting.clone(),
        config,
        connection: None,
        epoch: Instant::now(),
        writes: Writes::new(setting),
        paced: None,
    };
    let greeting = Greeting {
        name: "quiche",
        version: env!("VERSIONS_quiche").to_owned(),
        algorithm: algorithm.to_owned(),
        carries: "udp",
    };
    Ok((greeting, Box::new(stack)))
}

impl Stack {
    fn nanoseconds(&self, at: Instant) -> u64 {
        at.saturating_duration_since(self.epoch).as_nanos() as u64
    }

    fn work(&mut self, now: u64) {
        if self.connection.is_none() && now >= self.writes.start() {
            let id = quiche::ConnectionId::from_ref(&[7; 16]);
            let [local, remote] = [self.setting.local, self.setting.remote].map(SocketAddr::V4);
            let connected =
                quiche::connect(Some("localhost"), &id, local, remote, &mut self.config);
            self.connection = Some(connected.expect("a valid configuration"));
        }
        let Some(connection) = &mut self.connection else { return };
        if connection.timeout() == Some(Duration::ZERO) {
            connection.on_timeout();
        }
        if !connection.is_established() {
            return;
        }
        let chunk = [7; 1 << 14];
        loop {
            let due = self.writes.due(now).min(chunk.len() as u64) as usize;
            let took = match due {
                0 => 0,
                due => connection.stream_send(STREAM, &chunk[..due], false).unwrap_or(0),
            };
            self.writes.took(took as u64);
            if took < due || due == 0 {
                return;
            }
        }
    }
}

impl End for Stack {
    fn receive(&mut self, now: u64, _: u8, packet: &[u8]) {
        clock::set(now);
        let Some(connection) = &mut self.connection else { return };
        let [to, from] = [self.setting.local, self.setting.remote].map(SocketAddr::V4);
        let mut packet = packet.to_vec();
        if let Err(e) = connection.recv(&mut packet, quiche::RecvInfo { from, to }) {
            eprintln!("quiche: {e}");
        }
    }

    fn transmit(&mut self, now: u64) -> Option<(u8, Vec<u8>)> {
        clock::set(now);
        if self.paced.is_none() {
            self.work(now);
            let mut packet = vec![0; DATAGRAM];
            let (len, info) = self.connection.as_mut()?.send(&mut packet).ok()?;
            packet.truncate(len);
            self.paced = Some((self.nanoseconds(info.at), packet));
        }
        let due = self.paced.take_if(|(at, _)| *at <= now);
        due.map(|(_, packet)| (0, packet))
    }

    fn deadline(&mut self, now: u64) -> u64 {
        let paced = self.paced.as_ref().map_or(NEVER, |(at, _)| *at);
        let timeout = self.connection.as_ref().and_then(quiche::Connection::timeout);
        let timeout = timeout.map_or(NEVER, |wait| now + wait.as_nanos() as u64);
        paced.min(timeout).min(self.writes.next(now))
    }
}

fn main() -> ExitCode {
    let algorithm = std::env::args().nth(1).unwrap_or_default();
    match serve(open, &algorithm) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("windlass-audit-quiche: {e}");
            ExitCode::FAILURE
        }
    }
}
