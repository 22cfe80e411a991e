//! Pseudorandom numbers from a hash of a text. They are equal on every machine.

use sha2::{Digest, Sha256};

/// Hash of a text as a number in [0, 1).
pub(crate) fn fraction(words: &str) -> f64 {
    let digest = Sha256::digest(words);
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[..8]);
    // An `f64` holds a fraction of 53 bits exactly.
    (u64::from_le_bytes(bytes) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A sequence of pseudorandom numbers.
pub(crate) struct Dice {
    seed: u64,
    drawn: u64,
}

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice { seed, drawn: 0 }
    }

    /// The next number, in [0, 1).
    pub fn next(&mut self) -> f64 {
        self.drawn += 1;
        fraction(&format!("{} {}", self.seed, self.drawn))
    }

    /// The next integer from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        let n = high.saturating_sub(low) + 1;
        low + ((self.next() * n as f64) as u64).min(n - 1)
    }
}
