//! Packet conservation: sent = delivered + dropped + still inside. It is checked per link, per
//! station, per path and for the whole network.

use crate::host::Kind;
use crate::link::Link;
use crate::multipath::{MultipathEnd, PathEnd};
use crate::view::View;

/// Packets are unaccounted for. This is a defect of the simulator or of an extension, never of a
/// scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConservationError {
    /// Name of the account, and its values.
    pub account: String,
}

impl std::fmt::Display for ConservationError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "packets are unaccounted for ({}): this is a defect of Windlass", self.account)
    }
}

impl std::error::Error for ConservationError {}

/// Checks all accounts of a run.
pub(crate) fn check(run: View) -> Result<(), ConservationError> {
    let open = open_link(run)
        .or_else(|| run.radios.open_account(run.config, run.now()))
        .or_else(|| open_network(run))
        .or_else(|| open_multipath(run));
    open.map_or(Ok(()), |account| Err(ConservationError { account }))
}

fn open_link(run: View) -> Option<String> {
    for (i, link) in run.core.links.iter().enumerate() {
        if !link.conserves_packets() {
            return Some(format!("link {}: {:?}", run.direction_name(i), link.counters));
        }
    }
    if let Some(gate) = run.gates.iter().find(|gate| !gate.counts_all_time(run.now())) {
        let name = run.direction_name(gate.queues()[0].link as usize);
        return Some(format!("times of the radio of {name}: {gate:?}"));
    }
    let queue = run.all_queues().find(|queue| {
        let link = &run.core.links[queue.link as usize];
        !queue.conserves_packets(link)
    })?;
    let name = run.direction_name(queue.link as usize);
    let taken = run.core.links[queue.link as usize].counters.offered;
    let waiting = queue.queue.len();
    Some(format!("queue of {name}: {:?}, {taken} taken, {waiting} waiting", queue.counters))
}

/// Checks the totals of the network. The packets in links, queues and stations are all packets in
/// the buffer. The packets dropped there are the drops counted for hosts. Sent packets are
/// received, dropped or inside.
fn open_network(run: View) -> Option<String> {
    let counts = &run.core.counts;
    let waiting: u64 = run.all_queues().map(|m| m.queue.len()).sum();
    let in_links = run.core.links.iter().map(Link::inside).sum::<u64>();
    let in_lines: u64 = run.lines.iter().map(|line| line.inside).sum();
    let inside = waiting + in_links + in_lines + run.radios.inside();
    let dropped: u64 = counts.dropped.iter().sum();
    let all = run.core.packets.len();
    if inside != all {
        return Some(format!("{inside} in links and stations, {all} in the buffer"));
    }
    let by_link = |l: &Link| l.counters.dropped_queue + l.counters.dropped_error;
    let by_queues: u64 = run.all_queues().map(|m| m.counters.dropped).sum();
    let by_links = run.core.links.iter().map(by_link).sum::<u64>();
    let by_lines: u64 = run.lines.iter().map(|line| line.thinned).sum();
    let taken = by_queues + by_links + by_lines + run.radios.dropped();
    if taken != dropped {
        return Some(format!("{taken} dropped by links and stations, {dropped} counted for hosts"));
    }
    let (sent, received) = (counts.sent, counts.received);
    (sent != received + dropped + inside)
        .then(|| format!("{sent} sent, {received} received, {dropped} dropped, {inside} inside"))
}

/// Returns the first unbalanced account of a multipath flow. On each path, the packets sent at one
/// end are received at the other end, dropped, or inside. In the stream, the bytes that the
/// application has read or can read are the bytes received in order. At most these bytes are
/// acknowledged.
fn open_multipath(run: View) -> Option<String> {
    let end = |host: usize| match &run.core.hosts[host].kind {
        Kind::Multipath(end) => Some(&**end),
        _ => None,
    };
    let mut inside = 0;
    for (i, flow) in run.config.flows.iter().enumerate() {
        let (Some(tx), Some(rx)) = (end(2 * i), end(2 * i + 1)) else { continue };
        let name = &flow.name;
        for [from, to] in [[tx, rx], [rx, tx]] {
            for (path, (a, b)) in from.paths.iter().zip(&to.paths).enumerate() {
                match inside_path(run, a, b) {
                    Some(packets) => inside += packets,
                    None => return Some(format!("path {path} of flow {name}: {a:?}, {b:?}")),
                }
            }
            if let Some(account) = open_stream(from, to) {
                return Some(format!("stream of flow {name}: {account}"));
            }
        }
    }
    let all = run.core.packets.len();
    let only = (0..run.config.flows.len()).all(|i| end(2 * i).is_some());
    let wrong = if only { inside != all } else { inside > all };
    wrong.then(|| format!("{inside} packets inside on paths, {all} in all"))
}

/// Packets in transit from one end of a path to the other; `None` if more packets left than
/// entered.
fn inside_path(run: View, from: &PathEnd, to: &PathEnd) -> Option<u64> {
    from.sent.checked_sub(to.received + run.core.counts.dropped[from.port as usize])
}

/// Compares the bytes received at one end with the bytes read there and with the bytes acknowledged
/// at the other.
fn open_stream(from: &MultipathEnd, to: &MultipathEnd) -> Option<String> {
    let (sender, receiver) = (&from.connection, &to.connection);
    let read_or_waiting = to.app.delivered + receiver.readable();
    let acknowledged = sender.acknowledged();
    (read_or_waiting != receiver.received() || acknowledged > receiver.received()).then(|| {
        format!(
            "{} received in order, {read_or_waiting} read or readable, {acknowledged} acknowledged",
            receiver.received()
        )
    })
}
