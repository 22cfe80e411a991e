//! A stack under test as a program that exchanges packets over its standard input and output.
//!
//! The program reads one line of JSON, the [`Setting`], and answers with one line, the [`Greeting`].
//! Then each request has the time and the packets that arrived. Each answer has the time of the next
//! request without an arrival, and the packets that leave now. Numbers are
//! little-endian:
//!
//! * request: `u64` time in nanoseconds, `u32` number of packets, packets;
//! * answer: `u64` deadline in nanoseconds (all ones if there is no deadline), `u32` number of packets, packets;
//! * packet: `u8` ECN field, `u32` length, bytes.
//!
//! The end of standard input ends the program.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::net::SocketAddrV4;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use windlass_cc::Time;
use windlass_sim::external::PacketEnd;
use windlass_tcp::wire::{self, Addresses};

/// Version of the interface.
pub const VERSION: u32 = 1;
/// Time that a program may take for an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// Largest number of packets in an answer, and largest packet; more is an error of the program.
const MANY: u32 = 1 << 20;
const LARGE: u32 = 65_535;
/// Packets of a program in a run; more is a flood, whose record would need gigabytes. A probe's link carries fewer.
const FLOOD: usize = 450_000;
/// Bytes of the headers of IPv4 and UDP.
const HEADERS: usize = 28;

/// The task of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It opens the connection and sends data.
    Sender,
    /// It waits for the connection and reads all data.
    Receiver,
}

/// The first line that a program reads.
#[derive(Clone, Debug, Serialize)]
pub struct Setting {
    /// Version of the interface.
    pub version: u32,
    /// Task.
    pub role: Role,
    /// Address and port of the program.
    pub local: SocketAddrV4,
    /// Address and port of the other end.
    pub remote: SocketAddrV4,
    /// Largest IP packet of the path, bytes.
    pub mtu: u32,
    /// Seed of its random numbers.
    pub seed: u64,
    /// Writes of the sender's application: time in nanoseconds, and number of bytes.
    pub writes: Vec<(u64, u64)>,
}

/// The first line that a program writes.
#[derive(Clone, Debug, Deserialize)]
pub struct Greeting {
    /// Name of the stack.
    #[serde(default)]
    pub name: String,
    /// Its version.
    #[serde(default)]
    pub version: String,
    /// Its congestion control.
    #[serde(default)]
    pub algorithm: String,
    /// Kind of its packets.
    #[serde(default)]
    pub carries: Carries,
    /// The reason why the setting is impossible.
    #[serde(default)]
    pub error: Option<String>,
}

/// Kind of a program's packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Carries {
    /// Payloads of UDP datagrams between the two addresses.
    #[default]
    Udp,
    /// Whole IPv4 packets with TCP segments.
    Ip,
}

/// A running program as the end of a flow.
pub struct Process {
    command: String,
    child: Child,
    input: BufWriter<ChildStdin>,
    answers: Receiver<io::Result<Answer>>,
    /// Its first line.
    pub greeting: Greeting,
    ends: Addresses,
    arrived: Vec<(u8, Vec<u8>)>,
    leaving: VecDeque<Vec<u8>>,
    sent: usize,
    deadline: Time,
    /// The reason why it no longer takes part.
    pub failure: Option<String>,
}

struct Answer {
    deadline: u64,
    packets: Vec<(u8, Vec<u8>)>,
}

impl Process {
    /// Starts the program. The command is split at spaces.
    ///
    /// # Errors
    ///
    /// The program does not start, or refuses the setting.
    pub fn start(command: &str, setting: &Setting) -> Result<Process, String> {
        let mut words = command.split_whitespace();
        let program = words.next().ok_or("the command of the stack is empty")?;
        let mut child = Command::new(program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("`{command}` does not start: {e}"))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else {
            return Err(format!("`{command}` has no standard input or output"));
        };
        let mut input = BufWriter::new(input);
        let line = serde_json::to_string(setting).map_err(|e| e.to_string())?;
        let told = writeln!(input, "{line}").and_then(|()| input.flush());
        let (greetings, first) = mpsc::channel();
        let (sender, answers) = mpsc::channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = String::new();
            let read = output.read_line(&mut line);
            if greetings.send(read.map(|_| line)).is_err() {
                return;
            }
            loop {
                let answer = answer(&mut output);
                let over = answer.is_err();
                if sender.send(answer).is_err() || over {
                    return;
                }
            }
        });
        let greeting = told
            .map_err(|e| format!("it ended before it read its setting: {e}"))
            .and_then(|()| first.recv_timeout(PATIENCE).map_err(|_| silent()))
            .and_then(|line| line.map_err(|e| e.to_string()))
            .and_then(|line| greeting(&line));
        let greeting = match greeting {
            Ok(greeting) => greeting,
            Err(why) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("`{command}`: {why}"));
            }
        };
        let ends = Addresses { source: setting.local, destination: setting.remote };
        Ok(Process {
            command: command.to_owned(),
            child,
            input,
            answers,
            greeting,
            ends,
            arrived: Vec::new(),
            leaving: VecDeque::new(),
            sent: 0,
            deadline: Time::ZERO,
            failure: None,
        })
    }

    fn exchange(&mut self, now: Time) -> Result<(), String> {
        let packets = std::mem::take(&mut self.arrived);
        request(&mut self.input, now, &packets).map_err(|e| format!("it ended: {e}"))?;
        let answer = match self.answers.recv_timeout(PATIENCE) {
            Ok(answer) => {
                answer.map_err(|e| format!("it ended, or sent an invalid answer: {e}"))?
            }
            Err(RecvTimeoutError::Timeout) => return Err(silent()),
            Err(RecvTimeoutError::Disconnected) => return Err("it ended".to_owned()),
        };
        self.deadline = Time(answer.deadline);
        for (ecn, bytes) in answer.packets {
            self.leaving.push_back(self.wrapped(ecn, bytes)?);
        }
        Ok(())
    }

    fn fail(&mut self, now: Time, why: &str) {
        self.failure = Some(format!("`{}` at {now}: {why}", self.command));
        self.deadline = Time::NEVER;
        self.leaving.clear();
    }

    fn wrapped(&self, ecn: u8, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
        if self.greeting.carries == Carries::Ip {
            return Ok(bytes);
        }
        let mut packet = Vec::with_capacity(bytes.len() + HEADERS);
        wire::emit_datagram(
            bytes.len() as u32,
            &self.ends,
            |to| to.copy_from_slice(&bytes),
            &mut packet,
        )
        .map_err(|e| e.to_string())?;
        windlass_sim::external::packet::set_ecn(&mut packet, ecn);
        Ok(packet)
    }
}

impl PacketEnd for Process {
    fn receive(&mut self, _: Time, packet: &[u8]) {
        let ecn = packet.get(1).copied().unwrap_or_default() & 3;
        let bytes = match self.greeting.carries {
            Carries::Ip => packet,
            Carries::Udp => packet.get(HEADERS..).unwrap_or_default(),
        };
        self.arrived.push((ecn, bytes.to_vec()));
    }

    fn transmit(&mut self, now: Time) -> Option<Vec<u8>> {
        let due = !self.arrived.is_empty() || now >= self.deadline;
        if self.leaving.is_empty()
            && due
            && self.failure.is_none()
            && let Err(why) = self.exchange(now)
        {
            self.fail(now, &why);
        }
        if self.sent > FLOOD && self.failure.is_none() {
            self.fail(now, &format!("it has sent {FLOOD} packets, more than the link can carry"));
        }
        let packet = self.leaving.pop_front();
        self.sent += usize::from(packet.is_some());
        packet
    }

    fn deadline(&mut self, _: Time) -> Time {
        self.deadline
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The program may wait for its input for ever.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn silent() -> String {
    format!("no answer within {} s", PATIENCE.as_secs())
}

fn greeting(line: &str) -> Result<Greeting, String> {
    if line.trim().is_empty() {
        return Err("it ended before its first line".to_owned());
    }
    let greeting: Greeting =
        serde_json::from_str(line).map_err(|e| format!("its first line is invalid: {e}"))?;
    match &greeting.error {
        Some(why) => Err(why.clone()),
        None => Ok(greeting),
    }
}

fn request(out: &mut impl Write, now: Time, packets: &[(u8, Vec<u8>)]) -> io::Result<()> {
    out.write_all(&now.0.to_le_bytes())?;
    out.write_all(&(packets.len() as u32).to_le_bytes())?;
    for (ecn, bytes) in packets {
        out.write_all(&[*ecn])?;
        out.write_all(&(bytes.len() as u32).to_le_bytes())?;
        out.write_all(bytes)?;
    }
    out.flush()
}

fn answer(from: &mut impl Read) -> io::Result<Answer> {
    let deadline = u64::from_le_bytes(bytes(from)?);
    let count = below(u32::from_le_bytes(bytes(from)?), MANY, "packets")?;
    let mut packets = Vec::new();
    for _ in 0..count {
        let [ecn] = bytes(from)?;
        let len = below(u32::from_le_bytes(bytes(from)?), LARGE, "bytes per packet")?;
        let mut packet = vec![0; len as usize];
        from.read_exact(&mut packet)?;
        packets.push((ecn, packet));
    }
    Ok(Answer { deadline, packets })
}

fn bytes<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn below(n: u32, most: u32, of: &str) -> io::Result<u32> {
    if n > most {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("{n} {of}, at most {most}"),
        ));
    }
    Ok(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_is_deadline_count_and_packets() {
        let mut text = 7u64.to_le_bytes().to_vec();
        text.extend(2u32.to_le_bytes());
        for packet in [&b"abc"[..], &b""[..]] {
            text.push(2);
            text.extend((packet.len() as u32).to_le_bytes());
            text.extend(packet);
        }
        let answer = answer(&mut &text[..]).unwrap();
        assert_eq!(answer.deadline, 7);
        assert_eq!(answer.packets, [(2, b"abc".to_vec()), (2, Vec::new())]);
    }

    #[test]
    fn answer_with_an_impossible_length_is_an_error() {
        let mut text = 0u64.to_le_bytes().to_vec();
        text.extend(1u32.to_le_bytes());
        text.push(0);
        text.extend(70_000u32.to_le_bytes());
        assert!(answer(&mut &text[..]).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn program_that_ends_at_once_is_an_error_with_its_command() {
        let end = SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 1);
        let setting = Setting {
            version: 1,
            role: Role::Sender,
            local: end,
            remote: end,
            mtu: 1500,
            seed: 1,
            writes: Vec::new(),
        };
        let error = Process::start("false", &setting).err().unwrap_or_default();
        assert!(error.starts_with("`false`: it ended before"), "{error}");
    }

    #[test]
    fn refusal_is_the_reason_of_the_program() {
        assert_eq!(greeting(r#"{"error":"no cubic"}"#).unwrap_err(), "no cubic");
        assert!(greeting("hello").unwrap_err().contains("first line is invalid"));
    }
}
