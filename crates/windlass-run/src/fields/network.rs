//! Fields of links, of Wi-Fi cells, of routing in them and of their stations.

use super::field::Better::{Less, More};
use super::field::fields;
use super::need::Need::{Battery, Power, Routing};

fields! {
    /// One direction of a link.
    LINK, |row, link|
    text link: "Link direction: name:from>to" = link.name.as_str();
    integer sent: "Packets handed to the link";
    integer delivered: "Packets that came out at the far end", better(More);
    integer drops: "Packets dropped, for any reason", better(Less);
    integer drops_queue: "Of drops: by the queue", better(Less);
    integer drops_early: "Of drops_queue: there was room", better(Less);
    integer drops_error: "Of drops: lost to the error model", better(Less);
    integer drops_thinned: "Of drops: acknowledgements thinned out";
    integer marks: "Packets that the queue marked (ECN)";
    integer inside: "Packets queued or on the wire at the end";
    integer bytes: "IP bytes handed to the link and not dropped by the queue";
    real utilisation: "Fraction of the run during which it transmitted", share(), better(More);
    real mean_queue_packets: "Mean packets waiting", better(Less);
    real mean_queue_delay_ms: "Mean wait of the packets whose transmission began within the run", better(Less);
    integer max_queue_packets: "Most packets that waited at once", better(Less);
    real_or_null drop_fraction: "drops over sent", share(), better(Less), metric_only() = share(link.drops, link.sent);
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fields! {
    /// A Wi-Fi cell.
    CELL, |row, cell|
    text cell: "Name of the Wi-Fi cell" = cell.name.as_str();
    real busy: "Fraction of the run during which a station transmitted", share();
    real airtime: "Time on the air of all frames over the length of the run";
}

fields! {
    /// A Wi-Fi cell whose packets find their own way.
    ROUTING, |row, routing|
    text cell: "Name of the Wi-Fi cell" = row.cell()?.name.as_str();
    integer rreq_originated: "Route requests originated (RREQ), repetitions included", needs(Routing);
    integer rreq_forwarded: "Route requests passed on", needs(Routing);
    integer rrep_originated: "Route replies originated (RREP), gratuitous ones included", needs(Routing);
    integer rrep_gratuitous: "Of these: told the destination of the way back", needs(Routing);
    integer rrep_forwarded: "Route replies passed on", needs(Routing);
    integer rerr_sent: "Route errors sent (RERR)", needs(Routing);
    integer rerr_withheld: "Route errors not sent because of the rate limit", needs(Routing);
    integer hello_sent: "HELLO messages sent", needs(Routing);
    integer control_packets: "Messages of all kinds handed to stations for transmission; each is a packet there too", better(Less), needs(Routing);
    integer control_bytes: "Their IP bytes", better(Less), needs(Routing);
    integer control_drops_queue: "Of the messages: dropped because a station's queue was full", better(Less), needs(Routing);
    integer control_drops_retry: "Of the messages: given up at the retry limit", better(Less), needs(Routing);
    integer control_drops_off: "Of the messages: lost in stations that went off", better(Less), needs(Routing);
    integer discoveries: "Searches for a route", needs(Routing);
    integer discoveries_succeeded: "Of these: found one", better(More), needs(Routing);
    integer discoveries_failed: "Of these: found none, and their packets were dropped", better(Less), needs(Routing);
    real mean_discovery_ms: "Mean time from the first packet without a route to the route, of searches that found one, milliseconds", better(Less), needs(Routing);
    integer link_breaks: "Neighbours that were lost while routes led through them", better(Less), needs(Routing);
    integer buffered: "Data packets that waited for a route", better(Less), needs(Routing);
    integer buffered_at_end: "Data packets that were waiting at the end", better(Less), needs(Routing);
    integer drops_buffer_full: "Data packets dropped for want of room to wait", better(Less), needs(Routing);
    integer drops_buffer_time: "Data packets dropped because they had waited too long", better(Less), needs(Routing);
    integer drops_no_route: "Data packets dropped because a search found no route", better(Less), needs(Routing);
    integer drops_off: "Data packets that waited for a route at a station that went off", better(Less), needs(Routing);
    integer drops_on_way: "Data packets dropped on their way, at a station whose route was gone", better(Less), needs(Routing);
    integer drops_ttl: "Data packets dropped after 64 hops", better(Less), needs(Routing);
    integer crossed: "Data packets that crossed the radio", better(More), needs(Routing);
    real mean_hops: "Mean hops of the data packets that crossed the cell", needs(Routing) = routing.mean_hops();
    real_or_null control_share: "control_packets over all packets that stations were handed", share(), better(Less), needs(Routing), metric_only() = {
        let offered: u64 = row.cell()?.stations.iter().map(|s| s.offered).sum();
        share(routing.control_packets, offered)
    };
}

fields! {
    /// A station of a Wi-Fi cell.
    STATION, |row, station|
    text cell: "Name of the Wi-Fi cell" = row.cell()?.name.as_str();
    text station: "Name of the station's node" = station.name.as_str();
    integer offered: "Packets handed to it for transmission";
    integer delivered: "Packets that their receiver took, each once", better(More);
    integer drops_queue: "Packets that found its queue full", better(Less);
    integer drops_retry: "Packets given up at the retry limit", better(Less);
    integer drops_off: "Packets lost with its battery, or handed to it later", better(Less);
    integer inside: "Packets held at the end";
    integer unconfirmed: "Of delivered: given up all the same", better(Less);
    integer transmissions: "Data frames transmitted, retransmissions included";
    integer retransmissions: "Data frames transmitted again", better(Less);
    integer rts_sent: "RTS frames transmitted";
    integer polls: "Data requests transmitted by a station that sleeps, repetitions included (802.15.4)";
    integer access_failures: "Attempts given up, the channel being found busy each time (802.15.4)", better(Less);
    integer beacons: "Beacons transmitted";
    integer beacons_heard: "Beacons of its access point that it received";
    integer aggregates: "Aggregates of several data frames transmitted (A-MPDU)";
    integer aggregated: "Data frames transmitted in these";
    real_or_null mean_rate_mbps: "Mean rate of the data frames transmitted to single stations; null where rates are not adapted", better(More);
    integer failures: "Attempts without a CTS or an acknowledgement", better(Less);
    integer collisions_seen: "Frames arriving here that others destroyed", better(Less);
    integer frame_errors: "Frames arriving here that the error model took", better(Less);
    integer duplicates: "Frames for it that it had taken before", better(Less);
    integer broadcasts_received: "Broadcast packets of others that it received";
    integer bytes: "IP bytes delivered", better(More);
    real airtime_s: "Time on the air of its frames of every kind", better(Less);
    real transmit_s: "Time for which its radio transmitted", better(Less);
    real receive_s: "Time for which frames for it or for all arrived", better(Less);
    real listen_s: "Time for which the channel was busy with others' frames";
    real idle_s: "Time for which nothing was on the air";
    real sleep_s: "Time for which it slept (802.15.4)";
    real off_s: "Time after its battery ran out", better(Less);
    real_or_null energy_j: "Energy that its radio spent; null if not known", better(Less), needs(Power);
    real_or_null battery_left_j: "What its battery held at the end; null for the mains", better(More), needs(Battery);
    real_or_null died_s: "When its battery ran out; null if it did not", better(More), or_never();
    real mean_queue_packets: "Mean packets held, the one being tried included", better(Less);
    real mean_queue_delay_ms: "Mean wait until a packet was the first", better(Less);
    real mean_service_ms: "Mean time from then to its acknowledgement or end", better(Less);
    integer max_queue_packets: "Most packets held at once", better(Less);
}
