//! Reads connections from qlog files: one JSON document, or JSON text sequences (RFC 7464).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// An event that concerns the window, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Time since the first event, seconds.
    pub at: f64,
    /// Number of the event in its trace, from 1.
    pub number: usize,
    /// Content.
    pub kind: Kind,
}

/// Content of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A packet was sent.
    Sent {
        /// Number space and packet number.
        packet: Name,
        /// Size, bytes.
        bytes: u64,
        /// True if only acknowledgements and padding are in it.
        only_acks: bool,
    },
    /// Packets were acknowledged for the first time.
    Acked {
        /// Their bytes.
        bytes: u64,
    },
    /// A packet was declared lost.
    Lost {
        /// Number space and packet number.
        packet: Name,
    },
    /// The peer reported ECN-CE marks.
    Marked,
    /// The library undid a reduction, or found a loss spurious.
    Spurious,
    /// The recorded values of the congestion controller.
    Metrics {
        /// Congestion window, bytes.
        window: Option<u64>,
        /// Bytes in flight.
        in_flight: Option<u64>,
        /// Smoothed RTT, seconds.
        rtt: Option<f64>,
    },
}

/// Number space and packet number.
pub type Name = (Space, u64);

/// Packet number space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// Initial packets.
    Initial,
    /// Handshake packets.
    Handshake,
    /// Packets with application data.
    Data,
}

/// A recorded connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Title or place of the recording.
    pub title: String,
    /// Events.
    pub events: Vec<Event>,
    /// Size of the largest packet, bytes.
    pub largest: u64,
}

/// Reads a file's text.
///
/// # Errors
///
/// The text is neither a JSON document with `traces` nor a sequence of JSON records.
pub fn read(text: &str) -> Result<Vec<Trace>, String> {
    if let Ok(document) = serde_json::from_str::<Value>(text)
        && let Some(traces) = document["traces"].as_array()
    {
        return Ok(traces.iter().map(|trace| of_array(&document, trace)).collect());
    }
    let mut reader: Option<Reader> = None;
    let records = text.split(['\u{1e}', '\n']).map(str::trim).filter(|record| !record.is_empty());
    for (line, record) in records.enumerate() {
        let value: Value =
            serde_json::from_str(record).map_err(|e| format!("record {}: {e}", line + 1))?;
        match &mut reader {
            None => {
                let head = &value["trace"];
                let title = text_of(head, "title").or(text_of(&value, "title"));
                reader = Some(Reader::new(title, &head["common_fields"]));
            }
            Some(reader) => reader.event(&value),
        }
    }
    let trace = reader.ok_or("the file is empty")?.trace;
    if trace.events.is_empty() {
        return Err("no event concerns packets or the congestion window".to_owned());
    }
    Ok(vec![trace])
}

fn of_array(document: &Value, trace: &Value) -> Trace {
    let title = text_of(trace, "title").or(text_of(document, "title"));
    let mut reader = Reader::new(title, &trace["common_fields"]);
    for event in trace["events"].as_array().into_iter().flatten() {
        reader.event(event);
    }
    reader.trace
}

fn text_of<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value[key].as_str()
}

struct Reader {
    trace: Trace,
    /// True if each time is relative to the previous event.
    delta: bool,
    first: Option<f64>,
    last: f64,
    number: usize,
    /// Packets that are neither acknowledged nor lost.
    open: BTreeMap<Name, u64>,
    lost: BTreeSet<Name>,
    marks: u64,
}

impl Reader {
    fn new(title: Option<&str>, common: &Value) -> Reader {
        let title = title.unwrap_or_default().to_owned();
        Reader {
            trace: Trace { title, ..Trace::default() },
            delta: text_of(common, "time_format") == Some("delta"),
            first: None,
            last: 0.0,
            number: 0,
            open: BTreeMap::new(),
            lost: BTreeSet::new(),
            marks: 0,
        }
    }

    fn event(&mut self, value: &Value) {
        let (Some(name), Some(time)) = (text_of(value, "name"), value["time"].as_f64()) else {
            return;
        };
        self.number += 1;
        let time = if self.delta { self.last + time } else { time };
        self.last = time;
        let at = (time - *self.first.get_or_insert(time)) / 1e3;
        let data = &value["data"];
        // Old schemas have `recovery:` and `transport:`, and new ones `quic:`.
        match name.rsplit(':').next().unwrap_or_default() {
            "packet_sent" => self.sent(at, data),
            "packet_received" => self.received(at, data),
            "packet_lost" => self.is_lost(at, data),
            "metrics_updated" | "recovery_metrics_updated" => self.metrics(at, data),
            "spurious_loss" | "spurious_congestion_event" => self.push(at, Kind::Spurious),
            _ => {}
        }
    }

    fn push(&mut self, at: f64, kind: Kind) {
        self.trace.events.push(Event { at, number: self.number, kind });
    }

    fn sent(&mut self, at: f64, data: &Value) {
        let Some(packet) = name(data) else { return };
        let bytes = data["raw"]["length"]
            .as_u64()
            .or(data["header"]["packet_size"].as_u64())
            .unwrap_or_default();
        let frames = data["frames"].as_array();
        let quiet = |f: &Value| matches!(text_of(f, "frame_type"), Some("ack" | "padding"));
        let only_acks = frames.is_some_and(|all| !all.is_empty() && all.iter().all(quiet));
        self.trace.largest = self.trace.largest.max(bytes);
        if !only_acks {
            self.open.insert(packet, bytes);
        }
        self.push(at, Kind::Sent { packet, bytes, only_acks });
    }

    fn received(&mut self, at: f64, data: &Value) {
        let Some((space, _)) = name(data) else { return };
        let mut acked = 0;
        let frames = data["frames"].as_array().into_iter().flatten();
        for frame in frames.filter(|f| text_of(f, "frame_type") == Some("ack")) {
            for range in frame["acked_ranges"].as_array().into_iter().flatten() {
                let ends: Vec<u64> =
                    range.as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
                let (Some(from), Some(to)) = (ends.first(), ends.last()) else { continue };
                let inside = self.open.range((space, *from)..=(space, *to));
                let names: Vec<Name> = inside.map(|(name, _)| *name).collect();
                acked += names.iter().filter_map(|name| self.open.remove(name)).sum::<u64>();
            }
            let marks = frame["ce"].as_u64().unwrap_or(self.marks);
            if marks > self.marks {
                self.marks = marks;
                self.push(at, Kind::Marked);
            }
        }
        if acked > 0 {
            self.push(at, Kind::Acked { bytes: acked });
        }
    }

    fn is_lost(&mut self, at: f64, data: &Value) {
        let Some(packet) = name(data) else { return };
        self.lost.insert(packet);
        self.push(at, Kind::Lost { packet });
    }

    fn metrics(&mut self, at: f64, data: &Value) {
        let number = |keys: &[&str]| keys.iter().find_map(|key| data[*key].as_f64());
        let window = number(&["congestion_window", "cwnd"]).map(|bytes| bytes as u64);
        let in_flight = number(&["bytes_in_flight"]).map(|bytes| bytes as u64);
        let rtt = number(&["smoothed_rtt"]).map(|ms| ms / 1e3);
        if window.is_some() || in_flight.is_some() || rtt.is_some() {
            self.push(at, Kind::Metrics { window, in_flight, rtt });
        }
    }
}

/// Number space and number of an event's packet, in the forms of several schemas.
fn name(data: &Value) -> Option<Name> {
    let header = &data["header"];
    let number = header["packet_number"].as_u64().or(data["packet_number"].as_u64())?;
    let kind = [&header["packet_type"], &data["packet_type"], &data["type"]];
    let kind = kind.into_iter().find_map(Value::as_str).unwrap_or("1RTT");
    let space = match kind.to_ascii_lowercase().as_str() {
        "initial" => Space::Initial,
        "handshake" => Space::Handshake,
        _ => Space::Data,
    };
    Some((space, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledged_bytes_count_once() {
        let text = r#"{"traces":[{"events":[
            {"time":10.0,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":0},"raw":{"length":1200},"frames":[{"frame_type":"stream"}]}},
            {"time":11.0,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":1},"raw":{"length":1000},"frames":[{"frame_type":"stream"}]}},
            {"time":50.0,"name":"transport:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":0},"frames":[{"frame_type":"ack","acked_ranges":[[0,0]]}]}},
            {"time":60.0,"name":"transport:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":1},"frames":[{"frame_type":"ack","acked_ranges":[[0,1]]}]}}
        ]}]}"#;
        let traces = read(text).unwrap();
        let acked: Vec<(f64, u64)> = traces[0]
            .events
            .iter()
            .filter_map(|e| match e.kind {
                Kind::Acked { bytes } => Some((e.at, bytes)),
                _ => None,
            })
            .collect();
        assert_eq!(acked, [(0.04, 1200), (0.05, 1000)]);
        assert_eq!(traces[0].largest, 1200);
    }

    #[test]
    fn sequence_of_records_has_the_metrics_of_a_new_schema() {
        let text = "\u{1e}{\"file_schema\":\"x\",\"trace\":{\"title\":\"t\"}}\n\
            \u{1e}{\"time\":5.0,\"name\":\"quic:recovery_metrics_updated\",\"data\":{\"congestion_window\":12000}}\n";
        let traces = read(text).unwrap();
        assert_eq!(traces[0].title, "t");
        assert!(matches!(traces[0].events[0].kind, Kind::Metrics { window: Some(12_000), .. }));
    }

    #[test]
    fn text_that_is_no_qlog_is_an_error() {
        assert!(read("hello").unwrap_err().contains("record 1"));
        assert!(read("{\"a\":1}").unwrap_err().contains("no event"));
    }
}
