//! Scripted packet tests: segments in, segments expected out, with times.
