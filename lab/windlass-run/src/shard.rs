//! Shards: parts of the runs of a sweep or a reproduction, for several processes.

use std::fmt;
use std::str::FromStr;

/// Shard `index` of `of` shards of the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the shard, from 1.
    pub index: u32,
    /// Number of shards.
    pub of: u32,
}

impl Shard {
    /// The items of a shard, such as runs; all of them without a shard.
    pub fn part<T>(shard: Option<Shard>, mut all: Vec<T>) -> Vec<T> {
        let mut place = 0..;
        let has = |shard: Shard, i: u32| i % shard.of == shard.index - 1;
        all.retain(|_| place.next().is_some_and(|i| shard.is_none_or(|shard| has(shard, i))));
        all
    }
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
        let all = Vec::from_iter(0..20);
        let parts = (1..=3).map(|index| Shard::part(Some(Shard { index, of: 3 }), all.clone()));
        let mut together: Vec<i32> = parts.flatten().collect();
        together.sort_unstable();
        assert_eq!((together, Shard::part(None, all.clone())), (all.clone(), all));
    }
}
