//! Short hashes.

use sha2::{Digest, Sha256};

/// The first 16 hexadecimal digits of a text's SHA-256.
pub(crate) fn digits(text: &[u8]) -> String {
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
