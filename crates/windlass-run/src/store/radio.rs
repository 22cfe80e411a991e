//! Tables of Wi-Fi cells, of their stations, and of how packets find their way in them.

use windlass_sim::routing::aodv::RoutingResult;
use windlass_sim::{RadioResult, StationResult};

use super::table::{Columns, Table};
use crate::RunRecord;

/// One row a run and Wi-Fi cell.
pub fn cells(records: &[RunRecord]) -> Table {
    let rows: Vec<(&RunRecord, &RadioResult)> =
        records.iter().flat_map(|run| run.radios.iter().map(move |cell| (run, cell))).collect();
    Columns::of_run(&rows, |(run, _)| run)
        .text("cell", "Name of the Wi-Fi cell", |(_, c)| &c.name)
        .real("busy", "Fraction of the run during which a station transmitted", |r| r.1.busy)
        .real("airtime", "Time on the air of all frames over the length of the run", |r| {
            r.1.airtime
        })
        .table("cells")
}

/// What came of routing in a cell of a run.
type RoutingRow<'a> = (&'a RunRecord, &'a RadioResult, &'a RoutingResult);

/// One row a run and Wi-Fi cell whose packets find their own way.
pub fn routing(records: &[RunRecord]) -> Table {
    let rows: Vec<RoutingRow<'_>> = records
        .iter()
        .flat_map(|run| run.radios.iter().map(move |cell| (run, cell)))
        .filter_map(|(run, cell)| Some((run, cell, cell.routing.as_ref()?)))
        .collect();
    let columns = Columns::of_run(&rows, |(run, _, _)| run).text(
        "cell",
        "Name of the Wi-Fi cell",
        |(_, c, _)| &c.name,
    );
    routing_totals(columns)
        .real("mean_hops", "Mean hops of the data packets that crossed the cell", |r| {
            r.2.mean_hops()
        })
        .table("routing")
}

fn routing_totals<'a>(columns: Columns<'a, RoutingRow<'a>>) -> Columns<'a, RoutingRow<'a>> {
    columns
        .integer("rreq_originated", "Route requests originated (RREQ), repetitions included", |r| r.2.rreq_originated)
        .integer("rreq_forwarded", "Route requests passed on", |r| r.2.rreq_forwarded)
        .integer("rrep_originated", "Route replies originated (RREP), gratuitous ones included", |r| r.2.rrep_originated)
        .integer("rrep_gratuitous", "Of these: told the destination of the way back", |r| r.2.rrep_gratuitous)
        .integer("rrep_forwarded", "Route replies passed on", |r| r.2.rrep_forwarded)
        .integer("rerr_sent", "Route errors sent (RERR)", |r| r.2.rerr_sent)
        .integer("rerr_withheld", "Route errors not sent because of the rate limit", |r| r.2.rerr_withheld)
        .integer("hello_sent", "HELLO messages sent", |r| r.2.hello_sent)
        .integer("control_packets", "Messages of all kinds handed to stations for transmission; each is a packet there too", |r| r.2.control_packets)
        .integer("control_bytes", "Their IP bytes", |r| r.2.control_bytes)
        .integer("control_drops_queue", "Of the messages: dropped because a station's queue was full", |r| r.2.control_drops_queue)
        .integer("control_drops_retry", "Of the messages: given up at the retry limit", |r| r.2.control_drops_retry)
        .integer("control_drops_off", "Of the messages: lost in stations that went off", |r| r.2.control_drops_off)
        .integer("discoveries", "Searches for a route", |r| r.2.discoveries)
        .integer("discoveries_succeeded", "Of these: found one", |r| r.2.discoveries_succeeded)
        .integer("discoveries_failed", "Of these: found none, and their packets were dropped", |r| r.2.discoveries_failed)
        .real("mean_discovery_ms", "Mean time from the first packet without a route to the route, of searches that found one, milliseconds", |r| r.2.mean_discovery_ms)
        .integer("link_breaks", "Neighbours that were lost while routes led through them", |r| r.2.link_breaks)
        .integer("buffered", "Data packets that waited for a route", |r| r.2.buffered)
        .integer("buffered_at_end", "Data packets that were waiting at the end", |r| r.2.buffered_at_end)
        .integer("drops_buffer_full", "Data packets dropped for want of room to wait", |r| r.2.drops_buffer_full)
        .integer("drops_buffer_time", "Data packets dropped because they had waited too long", |r| r.2.drops_buffer_time)
        .integer("drops_no_route", "Data packets dropped because a search found no route", |r| r.2.drops_no_route)
        .integer("drops_off", "Data packets that waited for a route at a station that went off", |r| r.2.drops_off)
        .integer("drops_on_way", "Data packets dropped on their way, at a station whose route was gone", |r| r.2.drops_on_way)
        .integer("drops_ttl", "Data packets dropped after 64 hops", |r| r.2.drops_ttl)
        .integer("crossed", "Data packets that crossed the radio", |r| r.2.crossed)
}

/// A station of a run, and the cell that it is of.
type StationRow<'a> = (&'a RunRecord, &'a RadioResult, &'a StationResult);

/// One row a run and station of a Wi-Fi cell.
pub fn stations(records: &[RunRecord]) -> Table {
    let rows: Vec<StationRow<'_>> = records
        .iter()
        .flat_map(|run| run.radios.iter().map(move |cell| (run, cell)))
        .flat_map(|(run, cell)| cell.stations.iter().map(move |station| (run, cell, station)))
        .collect();
    let columns = Columns::of_run(&rows, |(run, _, _)| run)
        .text("cell", "Name of the Wi-Fi cell", |(_, c, _)| &c.name)
        .text("station", "Name of the station's node", |(_, _, s)| &s.name);
    let columns = station_frames(station_packets(columns))
        .integer("bytes", "IP bytes delivered", |r| r.2.bytes)
        .real("airtime_s", "Time on the air of its frames of every kind", |r| r.2.airtime_s);
    station_energy(columns)
        .real("mean_queue_packets", "Mean packets held, the one being tried included", |r| {
            r.2.mean_queue_packets
        })
        .real("mean_queue_delay_ms", "Mean wait until a packet was the first", |r| {
            r.2.mean_queue_delay_ms
        })
        .real("mean_service_ms", "Mean time from then to its acknowledgement or end", |r| {
            r.2.mean_service_ms
        })
        .integer("max_queue_packets", "Most packets held at once", |r| r.2.max_queue_packets)
        .table("stations")
}

type StationColumns<'a> = Columns<'a, StationRow<'a>>;

fn station_packets(columns: StationColumns<'_>) -> StationColumns<'_> {
    columns
        .integer("offered", "Packets handed to it for transmission", |r| r.2.offered)
        .integer("delivered", "Packets that their receiver took, each once", |r| r.2.delivered)
        .integer("drops_queue", "Packets that found its queue full", |r| r.2.drops_queue)
        .integer("drops_retry", "Packets given up at the retry limit", |r| r.2.drops_retry)
        .integer("drops_off", "Packets lost with its battery, or handed to it later", |r| {
            r.2.drops_off
        })
        .integer("inside", "Packets held at the end", |r| r.2.inside)
        .integer("unconfirmed", "Of delivered: given up all the same", |r| r.2.unconfirmed)
}

fn station_energy(columns: StationColumns<'_>) -> StationColumns<'_> {
    columns
        .real("transmit_s", "Time for which its radio transmitted", |r| r.2.transmit_s)
        .real("receive_s", "Time for which frames for it or for all arrived", |r| r.2.receive_s)
        .real("listen_s", "Time for which the channel was busy with others' frames", |r| {
            r.2.listen_s
        })
        .real("idle_s", "Time for which nothing was on the air", |r| r.2.idle_s)
        .real("off_s", "Time after its battery ran out", |r| r.2.off_s)
        .real_or_null("energy_j", "Energy that its radio spent; null if not known", |r| {
            r.2.energy_j
        })
        .real_or_null(
            "battery_left_j",
            "What its battery held at the end; null for the mains",
            |r| r.2.battery_left_j,
        )
        .real_or_null("died_s", "When its battery ran out; null if it did not", |r| r.2.died_s)
}

fn station_frames(columns: StationColumns<'_>) -> StationColumns<'_> {
    columns
        .integer("transmissions", "Data frames transmitted, retransmissions included", |r| {
            r.2.transmissions
        })
        .integer("retransmissions", "Data frames transmitted again", |r| r.2.retransmissions)
        .integer("rts_sent", "RTS frames transmitted", |r| r.2.rts_sent)
        .integer("failures", "Attempts without a CTS or an acknowledgement", |r| r.2.failures)
        .integer("collisions_seen", "Frames arriving here that others destroyed", |r| {
            r.2.collisions_seen
        })
        .integer("frame_errors", "Frames arriving here that the error model took", |r| {
            r.2.frame_errors
        })
        .integer("duplicates", "Frames for it that it had taken before", |r| r.2.duplicates)
        .integer("broadcasts_received", "Broadcast packets of others that it received", |r| {
            r.2.broadcasts_received
        })
}
