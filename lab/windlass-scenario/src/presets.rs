//! Published byte counts of dialogues and published rules of reconnection, as data.

use windlass_cc::Span;
use windlass_sim::session::{Reconnect, Side, Spread};

use crate::units::Duration;

use Side::{Listener, Opener};

/// A dialogue with a name.
#[derive(Debug, PartialEq)]
pub struct DialoguePreset {
    /// Name in scenarios.
    pub name: &'static str,
    /// Position.
    pub part: Part,
    /// The writes: the end, and its bytes without the message.
    pub steps: &'static [(Side, u64)],
    /// Number of steps after which the end that connects continues.
    pub release: usize,
    /// Step with the message, for a dialogue of a message.
    pub message: Option<usize>,
    /// Bytes that the dialogue's security layer adds to each later record; 0 without such a layer.
    pub record: u32,
    /// Source of the numbers.
    pub source: &'static str,
}

/// Position of a dialogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// At the beginning of a connection.
    Connection,
    /// Around each message.
    Message,
}

const OPENSSL: &str = "OpenSSL 3.0.19, ECDSA P-256, a certificate of 443 B, AES-256-GCM: bytes handed to TCP, records included; measured";
const COMPARISON: &str = "draft-ietf-iotops-security-protocol-comparison, AES-CCM with 8-byte tags";
const MQTT: &str =
    "MQTT 3.1.1 sections 3.1 to 3.9: a client id of 23 characters, a topic of 20 characters";

const fn opening(
    name: &'static str,
    steps: &'static [(Side, u64)],
    release: usize,
    record: u32,
    source: &'static str,
) -> DialoguePreset {
    DialoguePreset { name, part: Part::Connection, steps, release, message: None, record, source }
}

const fn exchange(
    name: &'static str,
    steps: &'static [(Side, u64)],
    source: &'static str,
) -> DialoguePreset {
    let (part, release, message) = (Part::Message, steps.len(), Some(0));
    DialoguePreset { name, part, steps, release, message, record: 0, source }
}

/// The dialogues with a name. The client does not await the tickets of TLS.
pub const DIALOGUES: [DialoguePreset; 13] = [
    opening(
        "tls-1.3",
        &[(Opener, 517), (Listener, 1226), (Opener, 80), (Listener, 255)],
        3,
        22,
        OPENSSL,
    ),
    opening(
        "tls-1.3-mutual",
        &[(Opener, 517), (Listener, 1292), (Opener, 886), (Listener, 559)],
        3,
        22,
        OPENSSL,
    ),
    opening(
        "tls-1.3-resumed",
        &[(Opener, 535), (Listener, 274), (Opener, 80), (Listener, 255)],
        3,
        22,
        OPENSSL,
    ),
    opening(
        "tls-1.3-0rtt",
        &[(Opener, 539), (Listener, 274), (Opener, 106), (Listener, 255)],
        1,
        22,
        "`tls-1.3-resumed`, plus the extension `early_data` (4 B) and EndOfEarlyData (26 B), RFC 8446 sections 4.2.10 and 4.5; computed",
    ),
    opening("tls-1.3-rpk", &[(Opener, 162), (Listener, 394), (Opener, 233)], 3, 14, COMPARISON),
    opening(
        "tls-1.3-psk-ecdhe",
        &[(Opener, 196), (Listener, 190), (Opener, 50)],
        3,
        14,
        COMPARISON,
    ),
    opening("tls-1.3-psk", &[(Opener, 113), (Listener, 117), (Opener, 50)], 3, 14, COMPARISON),
    opening("mqtt-connect", &[(Opener, 37), (Listener, 4)], 2, 0, MQTT),
    opening(
        "mqtt-connect-password",
        &[(Opener, 89), (Listener, 4)],
        2,
        0,
        "MQTT 3.1.1 section 3.1: as `mqtt-connect`, with a user name of 16 and a password of 32 characters",
    ),
    opening("mqtt-subscribe", &[(Opener, 27), (Listener, 5)], 2, 0, MQTT),
    exchange("mqtt-publish-qos0", &[(Opener, 25)], MQTT),
    exchange("mqtt-publish-qos1", &[(Opener, 27), (Listener, 4)], MQTT),
    exchange(
        "coap-tcp",
        &[(Opener, 16), (Listener, 6)],
        "RFC 8323 section 3.2: length, code, a token of 4 B and 8 B of options before the payload, and an answer without payload. Computed",
    ),
];

/// A handshake of DTLS with a name.
#[derive(Debug, PartialEq, Eq)]
pub struct DtlsPreset {
    /// Name in scenarios.
    pub name: &'static str,
    /// UDP payload of the three flights, bytes.
    pub flights: [u32; 3],
    /// Bytes that a record adds to a message.
    pub record: u32,
    /// True if requests follow the first flight at once.
    pub early: bool,
    /// Source of the numbers.
    pub source: &'static str,
}

/// The handshakes of DTLS with a name. A connection ID of 1 byte needs 1 byte in each record.
pub const DTLS: [DtlsPreset; 5] = [
    DtlsPreset {
        name: "dtls-1.3-rpk",
        flights: [179, 447, 254],
        record: 11,
        early: false,
        source: "raw public keys of both ends; draft-ietf-iotops-security-protocol-comparison, AES-CCM with 8-byte tags",
    },
    DtlsPreset {
        name: "dtls-1.3-rpk-cid",
        flights: [185, 454, 255],
        record: 12,
        early: false,
        source: "raw public keys of both ends and a connection ID, as in that draft",
    },
    DtlsPreset {
        name: "dtls-1.3-psk-ecdhe-cid",
        flights: [219, 226, 56],
        record: 12,
        early: false,
        source: "pre-shared key with a key exchange, also the size of a resumption; the same draft",
    },
    DtlsPreset {
        name: "dtls-1.3-psk-cid",
        flights: [136, 153, 56],
        record: 12,
        early: false,
        source: "pre-shared key alone; the same draft",
    },
    DtlsPreset {
        name: "dtls-1.3-0rtt-cid",
        flights: [223, 230, 56],
        record: 12,
        early: true,
        source: "computed from `dtls-1.3-psk-ecdhe-cid`, with the extension `early_data` in two flights (RFC 8446 section 4.2.10) and without EndOfEarlyData (RFC 9147 section 5.6)",
    },
];

/// A Markdown table of the handshakes of DTLS with a name.
pub fn dtls_table() -> String {
    let row = |preset: &DtlsPreset| {
        let DtlsPreset { name, flights: [a, b, c], record, source, .. } = preset;
        format!("| `{name}` | → {a}, ← {b}, → {c} | {record} | {source} |\n")
    };
    let rows: String = DTLS.iter().map(row).collect();
    format!(
        "| name | flights (bytes) | added to each message | source |\n| --- | --- | ---: | --- |\n{rows}"
    )
}

/// A rule of reconnection with a name.
#[derive(Debug, PartialEq)]
pub struct ReconnectPreset {
    /// Name in scenarios.
    pub name: &'static str,
    /// The rule.
    pub rule: Reconnect,
    /// Source of the numbers.
    pub source: &'static str,
}

/// The rule without a preset.
pub const RECONNECT: Reconnect = Reconnect {
    after: Span::from_secs(1),
    most: Span::from_secs(120),
    backoff: 2_000,
    jitter: Spread::Full,
    reset: Span::ZERO,
    attempts: u32::MAX,
    timeout: Some(Reconnect::TIME_LIMIT),
    spread: Span::ZERO,
    queue: 1_000,
    resend: true,
    stored: false,
};

const fn rule(after_ms: u64, most_ms: u64, jitter: Spread) -> Reconnect {
    let (after, most) = (Span::from_millis(after_ms), Span::from_millis(most_ms));
    Reconnect { after, most, jitter, ..RECONNECT }
}

/// The rules with a name.
pub const RECONNECTS: [ReconnectPreset; 5] = [
    ReconnectPreset {
        name: "aws-c-mqtt",
        rule: Reconnect { reset: Span::from_secs(30), ..rule(1_000, 120_000, Spread::Full) },
        source: "aws-c-mqtt, `source/v5/mqtt5_client.c` and the defaults of its options",
    },
    ReconnectPreset {
        name: "aws-embedded-c",
        rule: Reconnect { attempts: 5, ..rule(500, 5_000, Spread::Full) },
        source: "AWS IoT Device SDK for Embedded C: `backoffAlgorithm` with the values of its MQTT demonstrations",
    },
    ReconnectPreset {
        name: "aws-ios",
        rule: rule(1_000, 128_000, Spread::None),
        source: "AWS SDK for iOS, `AWSIoTMQTTClient`",
    },
    ReconnectPreset {
        name: "paho",
        rule: rule(1_000, 120_000, Spread::None),
        source: "Eclipse Paho for Python 2, `reconnect_delay_set`",
    },
    ReconnectPreset {
        name: "azure-iot-operations",
        rule: rule(128, 60_000, Spread::Below(100_000)),
        source: "Azure IoT Operations SDKs, exponential retry policy with jitter of at most 10 %",
    },
];

/// A Markdown table of the dialogues with a name.
pub fn dialogue_table() -> String {
    let row = |preset: &DialoguePreset| {
        let step = |(i, (by, bytes)): (usize, &(Side, u64))| {
            let message = if preset.message == Some(i) { " + message" } else { "" };
            let arrow = if *by == Opener { "→" } else { "←" };
            let aside = if i >= preset.release { " (not awaited)" } else { "" };
            format!("{arrow} {bytes}{message}{aside}")
        };
        let steps: Vec<String> = preset.steps.iter().enumerate().map(step).collect();
        let part = if preset.part == Part::Message { "`message`" } else { "`connection`" };
        let (name, steps) = (preset.name, steps.join(", "));
        format!("| `{name}` | {part} | {steps} | {} | {} |\n", preset.record, preset.source)
    };
    let rows: String = DIALOGUES.iter().map(row).collect();
    format!(
        "| name | part | bytes | added to each later record | source |\n| --- | --- | --- | ---: | --- |\n{rows}"
    )
}

/// A Markdown table of the rules of reconnection with a name.
pub fn reconnect_table() -> String {
    let row = |preset: &ReconnectPreset| {
        let Reconnect { after, most, backoff, jitter, reset, attempts, .. } = preset.rule;
        let jitter = match jitter {
            Spread::None => "none".to_owned(),
            Spread::Full => "full".to_owned(),
            Spread::Equal => "equal".to_owned(),
            Spread::Decorrelated => "decorrelated".to_owned(),
            Spread::Below(share) => format!("{} %", f64::from(share) / 1e4),
        };
        let attempts = if attempts == u32::MAX { "no limit".into() } else { attempts.to_string() };
        let [after, most, reset] = [after, most, reset].map(|time| Duration(time).to_string());
        let (name, backoff) = (preset.name, f64::from(backoff) / 1e3);
        format!(
            "| `{name}` | {after} | {most} | {backoff} | {jitter} | {reset} | {attempts} | {} |\n",
            preset.source
        )
    };
    let rows: String = RECONNECTS.iter().map(row).collect();
    let head = "| name | `after` | `most` | `backoff` | `jitter` | `reset` | `attempts` | source |";
    format!("{head}\n| --- | --- | --- | ---: | --- | --- | --- | --- |\n{rows}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_the_handshakes_are_the_published_sums() {
        let sum = |name: &str| {
            let found = DIALOGUES.iter().find(|preset| preset.name == name).expect(name);
            found.steps.iter().map(|(_, bytes)| bytes).sum::<u64>()
        };
        let all = [
            "tls-1.3",
            "tls-1.3-mutual",
            "tls-1.3-resumed",
            "tls-1.3-rpk",
            "tls-1.3-psk-ecdhe",
            "tls-1.3-psk",
        ];
        assert_eq!(all.map(sum), [2078, 3254, 1144, 789, 436, 280]);
    }
}
