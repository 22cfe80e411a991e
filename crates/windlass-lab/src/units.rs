//! Quantities with units, as people type them.
