//! Parts of the work of a sweep or a reproduction, for several processes.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::run::store::{Batch, Notice, StoreError};

/// A part of the runs: one of `of`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 1.
    pub index: u32,
    /// How many there are.
    pub of: u32,
}

impl Shard {
    /// Whether the `i`-th piece of work, from 0, is this shard's.
    pub(crate) fn has(self, i: usize) -> bool {
        i % self.of as usize == (self.index - 1) as usize
    }
}

/// Opens a folder of runs to make all of them, or a part beside others who make theirs.
pub(crate) fn batch(
    dir: impl AsRef<Path>,
    shard: Option<Shard>,
) -> Result<(Batch, Vec<Notice>), StoreError> {
    if shard.is_some() { Batch::share(dir) } else { Batch::open(dir) }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let read = || {
            let (index, of) = text.split_once('/')?;
            let shard = Shard { index: index.parse().ok()?, of: of.parse().ok()? };
            (1..=shard.of).contains(&shard.index).then_some(shard)
        };
        read().ok_or_else(|| {
            format!("`{text}` is no shard; write which and of how many, from 1: `3/8`")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(text: &str) -> Shard {
        text.parse().unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn shards_are_read_as_they_are_written_and_share_the_work_out() {
        assert_eq!(shard("3/8").to_string(), "3/8");
        for text in ["0/8", "9/8", "3", "3/0", "a/b", "-1/2", ""] {
            assert!(text.parse::<Shard>().unwrap_err().contains("`3/8`"), "{text}");
        }
        for i in 0..20 {
            let takers = (1..=3).filter(|k| Shard { index: *k, of: 3 }.has(i)).count();
            assert_eq!(takers, 1);
        }
    }
}
