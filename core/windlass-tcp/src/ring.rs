//! Growth of the rings that hold one entry per segment in flight.

use std::collections::VecDeque;

/// Entries of a ring after its first entry.
const FIRST: usize = 2;

/// Appends an entry. A full ring grows by a quarter, so that at most a fifth of it is unused at its largest
/// length. `VecDeque::push_back` doubles it: with thousands of flows, the unused halves are most of the memory.
#[inline]
pub fn push<T>(ring: &mut VecDeque<T>, entry: T) {
    if ring.len() == ring.capacity() {
        reserve(ring);
    }
    ring.push_back(entry);
}

/// Makes room for a quarter more entries.
#[cold]
pub fn reserve<T>(ring: &mut VecDeque<T>) {
    ring.reserve_exact((ring.len() / 4).max(FIRST));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_grows_by_a_quarter() {
        let mut ring = VecDeque::new();
        for n in 0..1000 {
            push(&mut ring, n);
            assert!(
                ring.capacity() <= (ring.len() + ring.len() / 4).max(ring.len() + FIRST),
                "{n}"
            );
        }
        assert!(ring.into_iter().eq(0..1000));
    }
}
