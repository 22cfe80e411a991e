//! Extension parts that other crates define: their place in a configuration, and copies of the
//! parts in a simulation.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A part of another crate, as a configuration holds it. Two of them are equal if they are the same
/// object.
pub struct Custom<T: ?Sized>(Arc<T>);

impl<T: ?Sized> Custom<T> {
    /// Wraps this part.
    pub fn new(part: Arc<T>) -> Custom<T> {
        Custom(part)
    }
}

impl<T: ?Sized> Clone for Custom<T> {
    fn clone(&self) -> Custom<T> {
        Custom(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> Deref for Custom<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> PartialEq for Custom<T> {
    fn eq(&self, other: &Custom<T>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T: ?Sized> Eq for Custom<T> {}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Custom<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Implements `Clone` for boxes of a trait's objects, if the implementing types are `Clone`.
macro_rules! cloneable {
    ($(#[$doc:meta])* $boxed:ident, $of:ident) => {
        $(#[$doc])*
        pub trait $boxed {
            /// A copy in a box.
            fn boxed(&self) -> Box<dyn $of>;
        }

        impl<T: $of + Clone + 'static> $boxed for T {
            fn boxed(&self) -> Box<dyn $of> {
                Box::new(self.clone())
            }
        }

        impl Clone for Box<dyn $of> {
            fn clone(&self) -> Box<dyn $of> {
                (**self).boxed()
            }
        }
    };
}

pub(crate) use cloneable;
