//! Values that the two ends of a multipath connection derive from their keys (RFC 8684 sections 3.1, 3.2 and
//! 3.4.1). The hash is SHA-256, the algorithm of flag H and the only algorithm of version 1.
//!
//! Keys and nonces are numbers here. The hashes use them in the byte order of the wire: most significant
//! octet first.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// The token with which MP_JOIN identifies the connection of this key's owner: the most significant 32 bits
/// of the key's SHA-256 (section 3.2).
// RFC 8684-3.1-13
pub fn token(key: u64) -> u32 {
    let hash = hash(key);
    u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
}

/// The initial data sequence number of this key's owner: the least significant 64 bits of the key's SHA-256
/// (section 3.1). MP_CAPABLE occupies this number, like a SYN. The first octet of the stream therefore has
/// the next number.
// RFC 8684-3.1-14
pub fn initial_data_seq(key: u64) -> u64 {
    last_eight(&hash(key))
}

/// The 64 bits with which the host that received an MP_JOIN on a SYN proves in its SYN-ACK that it has both
/// keys: the leftmost bits of the HMAC (section 3.2). `own` has this host's key and nonce, and `peer` has the
/// key and nonce of the host that sent the SYN.
pub fn join_syn_ack_hmac(own: Credentials, peer: Credentials) -> u64 {
    first_eight(&join_hmac(own, peer))
}

/// The 160 bits with which the host that began the join proves in the third segment that it has both keys:
/// the leftmost bits of the HMAC (section 3.2). `own` has the key and nonce of the host that sent the SYN.
pub fn join_ack_hmac(own: Credentials, peer: Credentials) -> [u8; 20] {
    let full = join_hmac(own, peer);
    let mut out = [0; 20];
    out.copy_from_slice(&full[..20]);
    out
}

/// The 64 bits that authenticate an ADD_ADDR without port of the host `own_key` to `peer_key`: the rightmost
/// bits of the HMAC over identifier, IPv4 address and a port of zero (section 3.4.1).
pub fn address_hmac(own_key: u64, peer_key: u64, address: u8, ip: [u8; 4]) -> u64 {
    let [a, b, c, d] = ip;
    last_eight(&hmac(own_key, peer_key, &[address, a, b, c, d, 0, 0]))
}

/// Key and nonce of one end for the proof of an MP_JOIN.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Credentials {
    /// Its key, exchanged by MP_CAPABLE.
    pub key: u64,
    /// The random number that it sent in this join.
    pub nonce: u32,
}

/// The sender's key and nonce are first, so that neither end can respond with the value that the other sent.
fn join_hmac(own: Credentials, peer: Credentials) -> [u8; 32] {
    let nonces = (u64::from(own.nonce) << 32 | u64::from(peer.nonce)).to_be_bytes();
    hmac(own.key, peer.key, &nonces)
}

fn hmac(own_key: u64, peer_key: u64, message: &[u8]) -> [u8; 32] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&own_key.to_be_bytes());
    key[8..].copy_from_slice(&peer_key.to_be_bytes());
    let mac = Hmac::<Sha256>::new_from_slice(&key).expect("HMAC takes keys of any length");
    mac.chain_update(message).finalize().into_bytes().into()
}

fn hash(key: u64) -> [u8; 32] {
    // RFC 8684-3.1-15
    Sha256::digest(key.to_be_bytes()).into()
}

fn first_eight(hash: &[u8; 32]) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *hash;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

fn last_eight(hash: &[u8; 32]) -> u64 {
    let [.., a, b, c, d, e, f, g, h] = *hash;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Credentials = Credentials { key: 0x0123_4567_89ab_cdef, nonce: 0x1122_3344 };
    const B: Credentials = Credentials { key: 0xfedc_ba98_7654_3210, nonce: 0x99aa_bbcc };

    // The expected values below were computed with the `hashlib` and `hmac` of Python 3.11.

    // RFC 8684-3.1-13, 8684-3.1-14, 8684-3.1-15
    #[test]
    fn token_and_initial_number_are_the_two_ends_of_the_keys_sha_256() {
        // 55c53f5d490297900cefa825d0c8e8e9532ee8a118abe7d8570762cd38be9818
        assert_eq!(token(A.key), 0x55c5_3f5d);
        assert_eq!(initial_data_seq(A.key), 0x5707_62cd_38be_9818);
        // af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc
        assert_eq!(token(0), 0xaf55_70f5);
        assert_eq!(initial_data_seq(0), 0xe5b2_328d_e0e8_3dfc);
    }

    /// The test vectors of the Linux kernel's MPTCP HMAC; its keys and nonces are ASCII.
    #[test]
    fn the_join_hmac_gives_the_public_test_vectors_of_linux() {
        for (keys, nonces, expected) in [
            (
                b"0b0b0b0b0b0b0b0b",
                b"48692054",
                "8385e24fb4235ac37556b6b886db106284a1da671699f46db1f235ec622dcafa",
            ),
            (
                b"aaaaaaaaaaaaaaaa",
                b"dddddddd",
                "2c5e219164ff1dca1c4a92318d847bb6b9d44492984e1eb71aff9022f71046e9",
            ),
            (
                b"0102030405060708",
                b"cdcdcdcd",
                "e73b9ba9969969cefb04aa0d6df18ec2fcc075b6f23b4d8c4da736a5dbbc6e7d",
            ),
        ] {
            let end = |i: usize| Credentials {
                key: u64::from_be_bytes(keys[8 * i..][..8].try_into().unwrap()),
                nonce: u32::from_be_bytes(nonces[4 * i..][..4].try_into().unwrap()),
            };
            let hex: String =
                join_hmac(end(0), end(1)).iter().map(|b| format!("{b:02x}")).collect();
            assert_eq!(hex, expected);
        }
    }

    #[test]
    fn the_two_proofs_of_a_join_differ_and_are_cut_at_the_left() {
        // Key-B | Key-A over R-B | R-A: 56d9b71dbe2894c8ec49cbfa1e623f7fe05d5818a2bf12...
        assert_eq!(join_syn_ack_hmac(B, A), 0x56d9_b71d_be28_94c8);
        // Key-A | Key-B over R-A | R-B: eb278ca248039cfcab7dd07c863ef62b35eab1f2daac56...
        let expected = [
            0xeb, 0x27, 0x8c, 0xa2, 0x48, 0x03, 0x9c, 0xfc, 0xab, 0x7d, 0xd0, 0x7c, 0x86, 0x3e,
            0xf6, 0x2b, 0x35, 0xea, 0xb1, 0xf2,
        ];
        assert_eq!(join_ack_hmac(A, B), expected);
    }

    #[test]
    fn an_announced_address_is_vouched_for_by_the_rightmost_bits() {
        // Over 07 0a000002 0000: 4087f680...f0274ee9e341a4f4a
        assert_eq!(address_hmac(A.key, B.key, 7, [10, 0, 0, 2]), 0x0274_ee9e_341a_4f4a);
    }
}
