//! The papers that Windlass reproduces.
