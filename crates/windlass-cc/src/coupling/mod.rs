//! Several paths, one connection: what the subflows of a multipath connection know of each other.
//!
//! No controller holds a pointer to a sibling. The host takes a snapshot of all paths ([`Group`](crate::Group))
//! and shows it to each controller ([`Controller::on_group`](crate::Controller::on_group)) after an
//! acknowledgement that moved a window, after a change of phase and when a path comes or goes; what
//! a controller wants its siblings to know beyond windows and round-trip times it
//! [discloses](crate::Controller::disclosed). So coupling is a function of a snapshot, and a
//! coupled algorithm on one path is a single-path algorithm.
//!
//! Decisions that belong to the connection rather than to a path, such as which algorithm runs on
//! which path, are a [`Coordinator`](crate::Coordinator)'s. It sees losses on all paths and tells each path its mode.

pub mod coordinator;
pub mod cycle;
pub mod detection;
pub mod members;
