//! Coupling of several paths: the information that the subflows of a multipath connection share.
//!
//! No controller holds a pointer to a sibling. The host takes a snapshot of all paths
//! ([`Group`](crate::Group)) and passes it to each controller
//! ([`Controller::on_group`](crate::Controller::on_group)). It does so after an acknowledgement that
//! moved a window, after a change of phase, and when a path is added or removed. A controller
//! [discloses](crate::Controller::disclosed) to its siblings one further value besides window and RTT.
//! So coupling is a function of a snapshot, and a coupled algorithm on one path is a single-path
//! algorithm.
//!
//! A [`Coordinator`](crate::Coordinator) takes decisions for the connection, such as the algorithm of
//! each path. It receives the losses of all paths and sets the mode of each path.

pub mod coordinator;
pub mod cycle;
pub mod detection;
pub mod members;
