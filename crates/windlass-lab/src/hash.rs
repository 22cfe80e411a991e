//! Short hashes.

use sha2::{Digest, Sha256};

/// Sixteen hexadecimal digits of a text (SHA-256, its beginning).
pub(crate) fn digits(text: &[u8]) -> String {
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
