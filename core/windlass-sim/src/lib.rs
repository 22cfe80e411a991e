//! A deterministic discrete-event network for [`windlass_tcp`] endpoints.
//!
//! # The parts
//!
//! * [`Config`] describes the simulation: nodes, links, radios, flows, traffic, seed. It contains
//!   no names to resolve and no units to parse. The crate `windlass-scenario` reads scenario files.
//! * [`Simulation`] is the event loop. Its [`event_queue`] orders events by (time, insertion
//!   number). A link direction ([`link`]) and a host ([`host`]) have one pending event each. A link
//!   with a queue discipline ([`queue`]) has another pending event for the ends of transmissions.
//! * A [`radio`] is a channel that stations with positions share under IEEE 802.11's DCF.
//! * A host is a `windlass_tcp` endpoint with an application ([`app`]), an end of a [`multipath`]
//!   connection, or an end of a datagram flow. Packets follow static [`routing`].
//! * Random values come from [`random`] streams keyed by (seed, entity, purpose). A change of the
//!   algorithm therefore does not change other random values.
//! * [`Simulation::finish`] checks packet conservation (sent = delivered + dropped + inside, on
//!   each link, at each station and in total) and returns a [`RunResult`].
//! * An end of a flow may be [`external`]: a kernel's, or any program that sends and receives
//!   packets. Its owner controls the time and carries packets in and out.
//!
//! Two runs of one configuration give the same bytes, on any machine and with any number of
//! threads. The crate reads no clock, no environment variable and no memory address.
//!
//! # Example
//!
//! ```
//! use windlass_cc::{AnyParams, Span, Time};
//! use windlass_sim::config::{Config, FlowConfig, LinkConfig, ReadPolicy, Record, Traffic};
//! use windlass_sim::link::{Framing, QueueLimit};
//! use windlass_sim::queue::Discipline;
//! use windlass_sim::Simulation;
//! use windlass_tcp::{Profile, stack};
//!
//! let link = LinkConfig {
//!     name: "wire".into(),
//!     ends: [0, 1],
//!     rate_bps: 10_000_000,
//!     delay: Span::from_millis(20),
//!     queue: QueueLimit::Packets(100),
//!     discipline: Discipline::DropTail,
//!     framing: Framing::ETHERNET,
//!     loss: Default::default(),
//!     down: vec![],
//!     quick_start: None,
//!     back: None,
//!     radio: None,
//!     course: Default::default(),
//! };
//! let profile = Profile::new(stack::RFC, AnyParams::by_name("newreno").unwrap(), 1500);
//! let flow = FlowConfig {
//!     name: "transfer".into(),
//!     from: 0,
//!     to: 1,
//!     profile: profile.into(),
//!     traffic: Traffic::Bulk { bytes: Some(1_000_000) },
//!     read: ReadPolicy::Immediate,
//!     start: Time::ZERO,
//!     multipath: None,
//!     pauses: Vec::new(),
//! };
//! let mut simulation = Simulation::new(Config {
//!     nodes: vec!["a".into(), "b".into()],
//!     links: vec![link],
//!     radios: vec![],
//!     flows: vec![flow],
//!     duration: Time::from_secs(60),
//!     seed: 1,
//!     record: Record::default(),
//! })
//! .unwrap();
//! simulation.run();
//! let result = simulation.finish().unwrap();
//! assert_eq!(result.flows[0].delivered_bytes, 1_000_000);
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod addresses;
mod age;
pub mod app;
mod aqm;
pub mod arrivals;
pub mod both_ways;
mod check;
pub mod coap;
pub mod config;
mod conservation;
mod core;
pub mod course;
mod cross_layer;
mod delays;
pub mod dtls;
pub mod event_queue;
pub mod evidence;
pub mod extension;
pub mod external;
mod flow_results;
pub mod host;
pub mod latency;
mod limits;
mod line;
pub mod link;
pub mod link_radio;
pub mod loss;
pub mod media;
pub mod multipath;
pub mod packet;
mod packet_log;
pub mod quantiles;
pub mod queue;
pub mod quick_start;
pub mod radio;
pub mod random;
pub mod recorder;
pub mod results;
mod route;
pub mod routing;
mod schedule;
pub mod session;
mod setup;
pub mod simulation;
mod timeline;
mod totals;
pub mod traffic;
mod utilisation;
mod view;

pub use config::{Config, ConfigError};
pub use conservation::ConservationError;
pub use evidence::{Backlog, Decided, Decisions, Fate, Incident, RadioStates};
pub use packet::PathPacket;
pub use results::{
    FlowResult, FlowTimeline, LinkResult, MultipathResult, PacketEvent, PacketFate, RadioResult,
    RadioUse, RunResult, Sample, Series, StationResult, SubflowResult, Timeline,
};
pub use simulation::Simulation;
