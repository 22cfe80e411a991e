//! Numbers that look drawn and follow from words alone, the same on every machine.

use sha2::{Digest, Sha256};

/// A number from 0 up to 1, 1 left out, that belongs to these words.
pub(crate) fn fraction(words: &str) -> f64 {
    let digest = Sha256::digest(words);
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&digest[..8]);
    // 53 bits make a fraction exactly.
    (u64::from_le_bytes(bytes) >> 11) as f64 / (1_u64 << 53) as f64
}

/// One number after another.
pub(crate) struct Dice {
    seed: u64,
    drawn: u64,
}

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice { seed, drawn: 0 }
    }

    /// From 0 up to 1, 1 left out.
    pub fn next(&mut self) -> f64 {
        self.drawn += 1;
        fraction(&format!("{} {}", self.seed, self.drawn))
    }

    /// One of the numbers from `low` to `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        let n = high.saturating_sub(low) + 1;
        low + ((self.next() * n as f64) as u64).min(n - 1)
    }
}
