//! The options of Multipath TCP (RFC 8684 section 3) as plain values; a segment carries at most one.

/// A Multipath TCP option, version 1 of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MpOption {
    /// MP_CAPABLE (section 3.1): the first subflow's handshake. The SYN has no key, the SYN-ACK has the
    /// sender's key, and the third segment has both keys. The first data also have a mapping's length.
    Capable {
        /// Key of the option's sender.
        sender_key: Option<u64>,
        /// Key of the option's receiver, echoed.
        receiver_key: Option<u64>,
        /// Data-level length of the payload in this segment, which begins the stream.
        data_len: Option<u16>,
    },
    /// MP_JOIN on a SYN (section 3.2): another subflow of the connection with this token.
    JoinSyn {
        /// True if the subflow is a backup: used only if no other path works.
        backup: bool,
        /// Identifier of the sender's address.
        address: u8,
        /// Upper 32 bits of the SHA-256 of the receiver's key.
        token: u32,
        /// The sender's random number.
        nonce: u32,
    },
    /// MP_JOIN on a SYN-ACK.
    JoinSynAck {
        /// True if the subflow is a backup: used only if no other path works.
        backup: bool,
        /// Identifier of the sender's address.
        address: u8,
        /// Leftmost 64 bits of the HMAC over both nonces.
        hmac: u64,
        /// The sender's random number.
        nonce: u32,
    },
    /// MP_JOIN on the third segment.
    JoinAck {
        /// Leftmost 160 bits of the HMAC over both nonces.
        hmac: [u8; 20],
    },
    /// DSS (section 3.3).
    Dss(Dss),
    /// ADD_ADDR (section 3.4.1), without port.
    AddAddress {
        /// Identifier of the address.
        address: u8,
        /// True if the option acknowledges the other end's option.
        echo: bool,
        /// The IPv4 address.
        ip: [u8; 4],
        /// Rightmost 64 bits of the HMAC over the option; not in an echo.
        hmac: Option<u64>,
    },
    /// REMOVE_ADDR (section 3.4.2) of one address.
    RemoveAddress {
        /// Its identifier.
        address: u8,
    },
    /// MP_PRIO (section 3.3.8).
    Priority {
        /// True if the subflow becomes a backup.
        backup: bool,
    },
    /// MP_FAIL (section 3.7).
    Fail {
        /// Data sequence number up to which the data are valid.
        data_seq: u64,
    },
    /// MP_FASTCLOSE (section 3.5).
    FastClose {
        /// Key of the receiver.
        key: u64,
    },
    /// MP_TCPRST (section 3.6), on a reset.
    Reset {
        /// True if the subflow may be tried again.
        transient: bool,
        /// Reason code.
        reason: u8,
    },
}

/// A data sequence signal: the received part of the connection's stream, and the position of the payload in
/// the stream.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Dss {
    /// Next data sequence number that the sender of the option expects.
    pub data_ack: Option<u64>,
    /// Position of the payload.
    pub mapping: Option<Mapping>,
    /// True if the mapping's last octet is the end of the stream. This octet is not in the payload.
    pub data_fin: bool,
}

/// A contiguous range of the subflow's bytes and its position in the connection's stream.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Mapping {
    /// Data sequence number of the first octet.
    // RFC 8684-3.3.1-7
    pub data_seq: u64,
    /// Offset of the first octet from the subflow's initial sequence number; 0 for a DATA_FIN
    /// without payload.
    pub subflow_offset: u32,
    /// Number of octets; a DATA_FIN counts as one.
    pub len: u16,
}
