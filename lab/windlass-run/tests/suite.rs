//! The tests of runs and their stores: one program, since each takes a second to link.

mod capture_measured;
mod capture_multipath;
mod capture_pcapng;
mod results;
mod runner;
mod store_export;
mod store_journal;
mod store_kill;
mod store_support;
