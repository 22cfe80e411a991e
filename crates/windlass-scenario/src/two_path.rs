//! The topology with two paths between one client and one server.

use windlass_cc::Span;
use windlass_sim::link::Framing;

use super::error::Problem;
use super::fields::{Field, Fields};
use super::model::DirectionSpec;
use super::network::{Line, Network, line};
use super::queue::Queue;
use super::schema::TOPOLOGY;
use crate::units::QueueLimit;

/// What joins the paths to their ends unless the file says otherwise: no bottleneck.
const ACCESS_BPS: u64 = 1_000_000_000;
const ACCESS_QUEUE: u64 = 1_000;

impl Network {
    /// For each path `i`: client > `ai` > `bi` > server, the bottleneck being the link `path-i`
    /// between `ai` and `bi`. With a `shared` link both lead over `m`, from where that link goes on
    /// to the server.
    pub(super) fn add_two_paths(&mut self, field: &Field) -> Result<(), Problem> {
        let what = "`[topology]` of the kind `two-path`";
        let fields = Fields::open(field.node, what, &TOPOLOGY.names("two-path"))?;
        let example =
            "[{ rate = \"3Mbps\", delay = \"20ms\" }, { rate = \"1Mbps\", delay = \"40ms\" }]";
        let paths = fields.req("paths", example, two_lines)?;
        let access = fields.or("access", line, Line::access())?;
        let shared = fields.opt("shared", line)?;
        let place = fields.place();
        let join = if shared.is_some() { "m" } else { "server" };
        for (i, path) in (1..).zip(paths) {
            let (a, b) = (format!("a{i}"), format!("b{i}"));
            self.push(format!("access-a{i}"), ("client", &a), access.clone(), place)?;
            self.push(format!("path-{i}"), (&a, &b), path, place)?;
            self.push(format!("access-b{i}"), (&b, join), access.clone(), place)?;
        }
        match shared {
            Some(shared) => self.push("shared".to_owned(), (join, "server"), shared, place),
            None => Ok(()),
        }
    }
}

impl Line {
    /// What takes whatever a sender hands it at once.
    fn access() -> Line {
        Line {
            forward: DirectionSpec {
                rate_bps: ACCESS_BPS,
                delay: Span::ZERO,
                queue: QueueLimit::Packets(ACCESS_QUEUE),
                discipline: Queue::DEFAULT.discipline,
            },
            back: None,
            course: Default::default(),
            mtu: super::network::DEFAULT_MTU,
            framing: Framing::NONE,
            bdp_rtt: None,
            loss: [None, None],
            down: Vec::new(),
            quick_start: None,
        }
    }
}

fn two_lines(field: &Field) -> Result<[Line; 2], Problem> {
    let items = field.array()?;
    let [first, second] = items.as_slice() else {
        let n = items.len();
        return Err(field.error(format!("there are two paths, each a table, not {n}")));
    };
    Ok([line(first)?, line(second)?])
}
