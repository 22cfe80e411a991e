//! A handshake and packet protection for simulations: nothing is encrypted and nothing is random, so that a run can be
//! repeated. The messages and packets have the sizes of TLS 1.3 with one small certificate.

use std::any::Any;
use std::sync::Arc;

use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey,
    HmacKey, KeyPair, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{
    ConnectError, ConnectionId, ConnectionIdGenerator, Side, TransportError, TransportErrorCode,
};

/// Bytes of the messages of the handshake: ClientHello, ServerHello, the server's messages from EncryptedExtensions to
/// Finished, and the client's Finished.
const CLIENT_HELLO: usize = 300;
const SERVER_HELLO: usize = 90;
const SERVER_FLIGHT: usize = 1_000;
const CLIENT_FINISHED: usize = 36;
/// Bytes of the length before a message and before its transport parameters.
const LENGTH: usize = 2;
/// Bytes that authenticate a packet, as in AES-GCM.
const TAG: usize = 16;

/// The configuration of both ends, and all of their keys.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

fn keys() -> Keys {
    let packet = || Box::new(Plain) as Box<dyn PacketKey>;
    let header = || Box::new(Plain) as Box<dyn HeaderKey>;
    Keys {
        header: KeyPair { local: header(), remote: header() },
        packet: KeyPair { local: packet(), remote: packet() },
    }
}

/// The handshake of one end.
struct Handshake {
    side: Side,
    /// The own transport parameters, encoded.
    own: Vec<u8>,
    /// The transport parameters of the peer, encoded.
    peer: Option<Vec<u8>>,
    /// The received part of the next message.
    partial: Vec<u8>,
    /// Messages received, and messages written.
    received: u32,
    written: u32,
}

impl Handshake {
    fn begin(side: Side, params: &TransportParameters) -> Box<Handshake> {
        let mut own = Vec::new();
        params.write(&mut own);
        let (peer, partial) = (None, Vec::new());
        Box::new(Handshake { side, own, peer, partial, received: 0, written: 0 })
    }

    /// Appends a message of this size, or larger if it has to contain the parameters.
    fn message(&mut self, out: &mut Vec<u8>, size: usize, params: bool) {
        let params: &[u8] = if params { &self.own } else { &[] };
        let size = size.max(2 * LENGTH + params.len());
        let end = out.len() + size;
        for length in [size, params.len()] {
            out.extend((length as u16).to_be_bytes());
        }
        out.extend(params);
        out.resize(end, 0);
        self.written += 1;
    }

    /// Takes the next complete message, without its length.
    fn next(&mut self) -> Option<Vec<u8>> {
        let size = length(&self.partial)?;
        let rest = (self.partial.len() >= size).then(|| self.partial.split_off(size))?;
        let whole = std::mem::replace(&mut self.partial, rest);
        Some(whole[LENGTH..].to_vec())
    }
}

fn length(bytes: &[u8]) -> Option<usize> {
    Some(usize::from(u16::from_be_bytes(bytes.get(..LENGTH)?.try_into().ok()?)))
}

impl Session for Handshake {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    /// The client receives two messages, and the server receives two.
    fn is_handshaking(&self) -> bool {
        self.received < 2
    }

    fn read_handshake(&mut self, bytes: &[u8]) -> Result<bool, TransportError> {
        self.partial.extend(bytes);
        while let Some(message) = self.next() {
            self.received += 1;
            let params = length(&message).unwrap_or(0);
            let params = message.get(LENGTH..LENGTH + params).unwrap_or_default();
            if !params.is_empty() {
                self.peer = Some(params.to_vec());
            }
        }
        Ok(false)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        let read = |bytes: &Vec<u8>| TransportParameters::read(self.side, &mut bytes.as_slice());
        let wrong = |e: quinn_proto::transport_parameters::Error| TransportError {
            code: TransportErrorCode::TRANSPORT_PARAMETER_ERROR,
            frame: None,
            reason: e.to_string(),
        };
        self.peer.as_ref().map(read).transpose().map_err(wrong)
    }

    fn write_handshake(&mut self, out: &mut Vec<u8>) -> Option<Keys> {
        match (self.side, self.received, self.written) {
            (Side::Client, 0, 0) => {
                self.message(out, CLIENT_HELLO, true);
                return None;
            }
            // The client answers the ServerHello with nothing but its next keys.
            (Side::Client, 1.., 1) => self.written += 1,
            (Side::Client, 2.., 2) => self.message(out, CLIENT_FINISHED, false),
            (Side::Server, 1.., 0) => self.message(out, SERVER_HELLO, false),
            (Side::Server, 1.., 1) => self.message(out, SERVER_FLIGHT, true),
            _ => return None,
        }
        Some(keys())
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(keys().packet)
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        false
    }

    fn export_keying_material(
        &self,
        _: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

impl ClientConfig for Plain {
    fn start_session(
        self: Arc<Self>,
        _: u32,
        _: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Handshake::begin(Side::Client, params))
    }
}

impl ServerConfig for Plain {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(self: Arc<Self>, _: u32, params: &TransportParameters) -> Box<dyn Session> {
        Handshake::begin(Side::Server, params)
    }
}

impl PacketKey for Plain {
    /// The tag stays zero.
    fn encrypt(&self, _: u64, _: &mut [u8], _: usize) {}

    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        payload.truncate(payload.len().checked_sub(TAG).ok_or(CryptoError)?);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for Plain {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        TAG
    }
}

/// Tokens of stateless resets. They are not zero, so that they differ from the end of a packet.
impl HmacKey for Plain {
    fn sign(&self, data: &[u8], out: &mut [u8]) {
        let repeated = data.iter().chain(std::iter::repeat(&0));
        out.iter_mut().zip(repeated).for_each(|(out, byte)| *out = !byte);
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, _: &[u8], _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
}

/// Nothing asks for tokens.
impl HandshakeTokenKey for Plain {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Plain)
    }
}

impl AeadKey for Plain {
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        Err(CryptoError)
    }

    fn open<'a>(&self, _: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Err(CryptoError)
    }
}

/// Connection identifiers that count from a first identifier. They have quinn's usual length.
#[derive(Clone, Copy, Debug)]
pub struct Counter(pub u64);

impl ConnectionIdGenerator for Counter {
    fn generate_cid(&mut self) -> ConnectionId {
        self.0 = self.0.wrapping_add(1);
        ConnectionId::new(&self.0.to_be_bytes())
    }

    fn cid_len(&self) -> usize {
        size_of::<u64>()
    }

    fn cid_lifetime(&self) -> Option<std::time::Duration> {
        None
    }
}
