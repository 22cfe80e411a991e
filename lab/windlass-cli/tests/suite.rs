//! The tests of the command: one program, since each takes a second to link.

mod bad_input;
mod book;
mod captures;
mod compare;
mod contract;
mod qlog;
mod repeatability;
mod schema;
mod support;
mod sweep;
mod sweep_kill;
mod terminal;
