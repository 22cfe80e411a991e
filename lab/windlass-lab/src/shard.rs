//! Shards: parts of the runs of a sweep or a reproduction, for several processes.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use crate::run::keep::Folder;
use crate::run::store::{Batch, Notice, StoreError};
use crate::run::{Runner, Task};

/// Shard `index` of `of` shards of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the shard, from 1.
    pub index: u32,
    /// Number of shards.
    pub of: u32,
}

impl Shard {
    /// True if run `i`, from 0, belongs to this shard.
    pub(crate) fn has(self, i: usize) -> bool {
        i % self.of as usize == (self.index - 1) as usize
    }
}

/// Opens a folder for the runs of a list of tasks, or for a shard of them.
///
/// # Errors
///
/// The folder cannot be created or written.
pub fn open_folder(
    dir: &Path,
    tasks: Vec<Task>,
    shard: Option<Shard>,
    runner: &Runner,
) -> Result<Folder, StoreError> {
    match shard {
        None => Folder::open(dir, tasks, runner),
        Some(shard) => Folder::share(dir, tasks, |i| shard.has(i), runner),
    }
}

/// Opens a folder of runs: alone without a shard, or shared with the processes of the other shards.
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
            format!(
                "invalid shard `{text}`; expected INDEX/COUNT with an index from 1, such as `3/8`"
            )
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
    fn shards_parse_their_own_text_and_each_run_has_one_shard() {
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
