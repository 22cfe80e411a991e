//! The packet interface of `windlass audit`: one line of JSON each way, then requests and answers.
//! docs/src/guides/audit.md describes it.

use std::io::{self, BufRead, BufWriter, Read, Write, stdin, stdout};
use std::net::SocketAddrV4;

use serde::{Deserialize, Serialize};

/// As a deadline: the end only waits.
pub const NEVER: u64 = u64::MAX;

/// The task.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Sender,
    Receiver,
}

/// The first line from the laboratory. Not every stack uses every key.
#[derive(Clone, Deserialize)]
#[allow(dead_code)]
pub struct Setting {
    pub version: u32,
    pub role: Role,
    pub local: SocketAddrV4,
    pub remote: SocketAddrV4,
    pub mtu: u32,
    pub seed: u64,
    /// Writes of the application: nanoseconds, and bytes.
    pub writes: Vec<(u64, u64)>,
}

/// The first line to the laboratory.
#[derive(Serialize)]
pub struct Greeting {
    pub name: &'static str,
    pub version: String,
    pub algorithm: String,
    /// `udp`: payloads of datagrams; `ip`: whole IPv4 packets.
    pub carries: &'static str,
}

/// A stack with its application.
pub trait End {
    /// A packet has arrived.
    fn receive(&mut self, now: u64, ecn: u8, packet: &[u8]);
    /// The next packet that leaves now, with its ECN field.
    fn transmit(&mut self, now: u64) -> Option<(u8, Vec<u8>)>;
    /// Time of the next call without an arrival.
    fn deadline(&mut self, now: u64) -> u64;
}

/// Opens a stack with a congestion control.
pub type Open = fn(&Setting, &str) -> Result<(Greeting, Box<dyn End>), String>;

/// Data that the application has to write by now.
pub struct Writes {
    left: Vec<(u64, u64)>,
    due: u64,
}

impl Writes {
    pub fn new(setting: &Setting) -> Writes {
        let mut left = setting.writes.clone();
        left.reverse();
        Writes { left, due: 0 }
    }

    /// Time of the first write.
    pub fn start(&self) -> u64 {
        self.left.last().map_or(NEVER, |(at, _)| *at)
    }

    /// Time of the next write after `now`.
    pub fn next(&self, now: u64) -> u64 {
        let after = self.left.iter().rev().map(|(at, _)| *at).find(|at| *at > now);
        after.unwrap_or(NEVER)
    }

    /// Number of bytes to write now.
    pub fn due(&mut self, now: u64) -> u64 {
        while self.start() <= now {
            self.due += self.left.pop().map_or(0, |(_, bytes)| bytes);
        }
        self.due
    }

    /// The stack has taken this number of bytes.
    pub fn took(&mut self, bytes: u64) {
        self.due -= bytes;
    }
}

/// Tells the laboratory why there is no stack.
pub fn refuse(why: &str) -> io::Result<()> {
    writeln!(stdout(), "{}", serde_json::json!({ "error": why }))
}

/// Serves until the end of standard input.
pub fn serve(open: Open, algorithm: &str) -> io::Result<()> {
    let mut input = stdin().lock();
    let mut line = String::new();
    input.read_line(&mut line)?;
    let setting: Setting = serde_json::from_str(&line)?;
    if setting.version != 1 {
        return refuse("only version 1 of the interface is known");
    }
    let (greeting, mut end) = match open(&setting, algorithm) {
        Ok(opened) => opened,
        Err(why) => return refuse(&why),
    };
    let mut output = BufWriter::new(stdout().lock());
    writeln!(output, "{}", serde_json::to_string(&greeting)?)?;
    output.flush()?;
    loop {
        let mut head = [0; 12];
        match input.read_exact(&mut head) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        let now = u64::from_le_bytes(head[..8].try_into().expect("eight bytes"));
        let count = u32::from_le_bytes(head[8..].try_into().expect("four bytes"));
        for _ in 0..count {
            let mut head = [0; 5];
            input.read_exact(&mut head)?;
            let len = u32::from_le_bytes(head[1..].try_into().expect("four bytes"));
            let mut packet = vec![0; len as usize];
            input.read_exact(&mut packet)?;
            end.receive(now, head[0], &packet);
        }
        let mut packets = Vec::new();
        while let Some(packet) = end.transmit(now) {
            packets.push(packet);
        }
        output.write_all(&end.deadline(now).to_le_bytes())?;
        output.write_all(&(packets.len() as u32).to_le_bytes())?;
        for (ecn, packet) in &packets {
            output.write_all(&[*ecn])?;
            output.write_all(&(packet.len() as u32).to_le_bytes())?;
            output.write_all(packet)?;
        }
        output.flush()?;
    }
}
