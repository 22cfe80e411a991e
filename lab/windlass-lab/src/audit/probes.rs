//! The networks in which a stack is observed.

use std::fmt::Write as _;

/// Payload bytes of an endless transfer: more than any probe can carry.
const ENDLESS: u64 = 1 << 33;
const MS: u64 = 1_000_000;

/// The writes of the sending application.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Writes {
    /// As fast as the connection allows.
    Bulk,
    /// This number of bytes, at multiples of this time.
    Every {
        /// Milliseconds between two writes, and before the first.
        ms: u64,
        /// Bytes of a write.
        bytes: u64,
    },
    /// This number of bytes each 100 ms, and from this time on as fast as the connection allows.
    ThinThenBulk {
        /// Bytes of a small write.
        bytes: u64,
        /// Milliseconds until the change.
        until_ms: u64,
    },
}

/// A second flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rival {
    /// None.
    None,
    /// Another instance of the audited stack.
    Copy,
    /// Windlass's CUBIC with Linux's settings.
    Cubic,
}

/// A network with one bottleneck, and the traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Name.
    pub id: &'static str,
    /// Description, for reports.
    pub about: &'static str,
    /// Duration, seconds.
    pub seconds: u64,
    /// Rate of the link, or its steps as a list in TOML.
    pub rate: &'static str,
    /// One-way delay of the link, milliseconds.
    pub delay_ms: u64,
    /// Queue of the link.
    pub queue: &'static str,
    /// Packets of the sender that are lost: their numbers from 1, in the order of sending.
    pub lost: &'static [usize],
    /// Further keys of the link: its losses over time.
    pub trouble: &'static str,
    /// Places of the sender's packets, from 1, that the network marks if they are ECN-capable.
    pub marks: &'static [usize],
    /// Writes of the sender.
    pub writes: Writes,
    /// Second flow.
    pub rival: Rival,
    /// Keys of `[stack]` for a TCP receiver. A receiver over UDP has no such keys.
    pub receiver: &'static str,
}

const CLEAN: Probe = Probe {
    id: "",
    about: "",
    seconds: 0,
    rate: "100Mbps",
    delay_ms: 50,
    queue: "4000pkt",
    lost: &[],
    trouble: "",
    marks: &[],
    writes: Writes::Bulk,
    rival: Rival::None,
    receiver: "",
};

/// The probes, in the order of the report.
pub const PROBES: [Probe; 15] = [
    Probe { id: "start", about: "bulk data, no losses", seconds: 2, ..CLEAN },
    Probe {
        id: "first-lost",
        about: "the first packet of the connection is lost",
        seconds: 5,
        lost: &[1],
        ..CLEAN
    },
    Probe {
        id: "one-loss",
        about: "packet 200 is lost, and nothing else",
        seconds: 16,
        lost: &[200],
        ..CLEAN
    },
    Probe {
        id: "one-loss-short",
        about: "packet 200 is lost, with an RTT of 20 ms",
        seconds: 5,
        rate: "1Gbps",
        delay_ms: 10,
        lost: &[200],
        ..CLEAN
    },
    Probe {
        id: "every-ack",
        about: "packet 200 is lost, and the receiver acknowledges every packet",
        seconds: 10,
        lost: &[200],
        receiver: "delayed_ack_segments = 1",
        ..CLEAN
    },
    Probe {
        id: "two-losses",
        about: "packets 200 and 1500 are lost, in different round trips",
        seconds: 6,
        lost: &[200, 1500],
        ..CLEAN
    },
    Probe {
        id: "burst-loss",
        about: "packets 200, 208, 216, 224 and 232 are lost in one round trip",
        seconds: 4,
        lost: &[200, 208, 216, 224, 232],
        ..CLEAN
    },
    Probe {
        id: "marks",
        about: "packets 200, 208, 216, 224 and 232 are marked (ECN-CE) in one round trip",
        seconds: 4,
        marks: &[200, 208, 216, 224, 232],
        ..CLEAN
    },
    Probe {
        id: "outage",
        about: "packet 200 is lost, and from 3 s to 15 s every packet",
        seconds: 30,
        lost: &[200],
        trouble: r#"loss = { model = "steps", steps = [["0s", "0%"], ["3s", "100%"], ["15s", "0%"]] }"#,
        ..CLEAN
    },
    Probe {
        id: "held",
        about: "packet 200 is lost; from 3 s to 4.5 s the link holds all packets, and loses none",
        seconds: 7,
        lost: &[200],
        rate: r#"[["0s", "100Mbps"], ["3s", "0bps"], ["4.5s", "100Mbps"]]"#,
        ..CLEAN
    },
    Probe {
        id: "heavy-loss",
        about: "30 % of the packets are lost from 2 s to 12 s, and none later",
        seconds: 50,
        rate: "10Mbps",
        delay_ms: 20,
        trouble: r#"loss = { model = "steps", steps = [["0s", "0%"], ["2s", "30%"], ["12s", "0%"]] }"#,
        queue: "200pkt",
        ..CLEAN
    },
    Probe {
        id: "idle",
        about: "500 kB at 8 s and 500 kB at 16 s, idle between",
        seconds: 20,
        writes: Writes::Every { ms: 8_000, bytes: 500_000 },
        ..CLEAN
    },
    Probe {
        id: "thin",
        about: "3 kB each 100 ms for 20 s, then bulk data",
        seconds: 22,
        writes: Writes::ThinThenBulk { bytes: 3_000, until_ms: 20_000 },
        ..CLEAN
    },
    Probe {
        id: "copies",
        about: "two flows of the stack through 5 Mbit/s, the second from 5 s on",
        seconds: 65,
        rate: "5Mbps",
        delay_ms: 20,
        queue: "20pkt",
        rival: Rival::Copy,
        ..CLEAN
    },
    Probe {
        id: "with-cubic",
        about: "with a flow of Windlass's CUBIC (Linux settings) through 5 Mbit/s, from 5 s on",
        seconds: 65,
        rate: "5Mbps",
        delay_ms: 20,
        queue: "20pkt",
        rival: Rival::Cubic,
        ..CLEAN
    },
];

/// The probe with this name.
pub fn probe(id: &str) -> Option<&'static Probe> {
    PROBES.iter().find(|probe| probe.id == id)
}

impl Probe {
    /// The scenario of the probe, with the algorithm of the audited flow and its copy, and the keys of
    /// `[stack]`.
    pub fn scenario(&self, algorithm: &str, stack: &str) -> String {
        let lost = match self.lost {
            [] => String::new(),
            lost => format!("loss = {{ model = \"list\", packets = {lost:?} }}"),
        };
        let rate = match self.rate.starts_with('[') {
            true => self.rate.to_owned(),
            false => format!("\"{}\"", self.rate),
        };
        let mut text = format!(
            "duration = \"{}s\"\n\n[stack]\n{stack}\n{}\n\n[[link]]\nname = \"access\"\nbetween = [\"sender\", \"router\"]\n\
             rate = \"100Gbps\"\ndelay = \"0s\"\nqueue = \"100000pkt\"\n{lost}\n\n[[link]]\nname = \"path\"\nbetween = [\"router\", \"receiver\"]\n\
             rate = {rate}\ndelay = \"{}ms\"\nqueue = \"{}\"\n{}\n\n[record]\ncapture = [\"access\", \"path\"]\n",
            self.seconds, self.receiver, self.delay_ms, self.queue, self.trouble
        );
        let mut flow = |name: &str, algorithm: &str, more: &str| {
            let _ = write!(
                text,
                "\n[[flow]]\nname = \"{name}\"\nfrom = \"sender\"\nto = \"receiver\"\nalgorithm = \"{algorithm}\"\n{more}\n"
            );
        };
        flow("audited", algorithm, &self.traffic());
        match self.rival {
            Rival::None => {}
            Rival::Copy => flow("copy", algorithm, "start = \"5s\""),
            Rival::Cubic => {
                flow("cubic", "cubic", "start = \"5s\"\nstack = { preset = \"linux\" }")
            }
        }
        text
    }

    fn traffic(&self) -> String {
        match self.writes {
            Writes::Every { ms, bytes } => format!(
                "traffic = {{ kind = \"messages\", every = \"{ms}ms\", size = \"{bytes}B\", gaps = \"constant\" }}"
            ),
            Writes::Bulk | Writes::ThinThenBulk { .. } => {
                "traffic = { kind = \"bulk\" }".to_owned()
            }
        }
    }

    /// The writes of an external sender that starts at `start`: nanoseconds, and bytes.
    pub fn writes(&self, start: u64) -> Vec<(u64, u64)> {
        let until = self.seconds * 1_000;
        match self.writes {
            Writes::Bulk => vec![(start, ENDLESS)],
            Writes::Every { ms, bytes } => {
                (1..=(until - 1) / ms).map(|n| (start + n * ms * MS, bytes)).collect()
            }
            Writes::ThinThenBulk { bytes, until_ms } => (0..until_ms / 100)
                .map(|n| (start + n * 100 * MS, bytes))
                .chain([(start + until_ms * MS, ENDLESS)])
                .collect(),
        }
    }

    /// True if Windlass's own endpoints and kernels can run the probe.
    pub fn suits_backends(&self) -> bool {
        !matches!(self.writes, Writes::ThinThenBulk { .. }) && self.marks.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn every_probe_is_a_valid_scenario() {
        for probe in &PROBES {
            let text = probe.scenario("cubic", "preset = \"linux\"");
            let scenario = Scenario::from_str(&text, probe.id).unwrap_or_else(|e| panic!("{e}"));
            let flows = if probe.rival == Rival::None { 1 } else { 2 };
            assert_eq!(scenario.flows.len(), flows, "{}", probe.id);
        }
    }

    #[test]
    fn idle_probe_has_two_writes() {
        assert_eq!(
            probe("idle").unwrap().writes(0),
            [(8_000 * MS, 500_000), (16_000 * MS, 500_000)]
        );
    }

    #[test]
    fn thin_writes_end_with_bulk_data() {
        let writes = probe("thin").unwrap().writes(0);
        assert_eq!(writes[1], (100 * MS, 3_000));
        assert_eq!(writes.last(), Some(&(20_000 * MS, ENDLESS)));
    }
}
