//! Properties of both directions of a link that few links have.

use std::ops::{Index, IndexMut};

/// A property with a usual value.
pub trait Usual: Clone + PartialEq + 'static {
    /// The value of most links.
    const USUAL: &Self;
}

impl<T: Clone + PartialEq + 'static> Usual for Option<T> {
    const USUAL: &Option<T> = &None;
}

/// A property of both directions of a link. If both are usual, nothing is stored, because a network may have
/// millions of such links.
#[derive(Clone, Debug)]
pub struct BothWays<T>(Option<Box<[T; 2]>>);

impl<T> Default for BothWays<T> {
    fn default() -> BothWays<T> {
        BothWays(None)
    }
}

impl<T: Usual> BothWays<T> {
    /// The forward and the backward direction.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..2).map(|direction| &self[direction])
    }

    /// The forward and the backward direction.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.stored().iter_mut()
    }

    fn stored(&mut self) -> &mut [T; 2] {
        let usual = || Box::new([T::USUAL.clone(), T::USUAL.clone()]);
        self.0.get_or_insert_with(usual)
    }
}

impl<T: Usual> PartialEq for BothWays<T> {
    fn eq(&self, other: &BothWays<T>) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<T: Usual> From<[T; 2]> for BothWays<T> {
    fn from(both: [T; 2]) -> BothWays<T> {
        let usual = both.iter().all(|one| one == T::USUAL);
        BothWays((!usual).then(|| Box::new(both)))
    }
}

impl<T: Usual> Index<usize> for BothWays<T> {
    type Output = T;

    fn index(&self, direction: usize) -> &T {
        self.0.as_ref().map_or(T::USUAL, |both| &both[direction])
    }
}

impl<T: Usual> IndexMut<usize> for BothWays<T> {
    fn index_mut(&mut self, direction: usize) -> &mut T {
        &mut self.stored()[direction]
    }
}
