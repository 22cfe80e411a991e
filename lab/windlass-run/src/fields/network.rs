//! Fields of links, of Wi-Fi cells, of their routing and of their stations.

use super::field::Better::{Less, More};
use super::field::fields;
use super::need::Need::{Battery, Power, Routing};
use super::run::{battery_life_s, excess_j};

fields! {
    /// One direction of a link.
    LINK, |row, link|
    text link: "Link direction: name:from>to" = link.name.as_str();
    integer sent: "Packets handed to the link";
    integer delivered: "Packets delivered at the far end of the link", better(More);
    integer drops: "Packets dropped, for any reason", better(Less);
    integer drops_queue: "Packets dropped by the queue; part of drops", better(Less);
    integer drops_early: "Packets that the queue dropped although it had room; part of drops_queue", better(Less);
    integer drops_error: "Packets lost to the error model; part of drops", better(Less);
    integer drops_thinned: "ACKs that the link thinned out; part of drops";
    integer marks: "Packets that the queue marked (ECN)";
    integer inside: "Packets queued or on the wire at the end";
    integer bytes: "IP bytes handed to the link and not dropped by the queue";
    real utilisation: "Fraction of the run during which the link transmitted", share(), better(More);
    real mean_queue_packets: "Mean number of waiting packets", better(Less);
    real mean_queue_delay_ms: "Mean wait of the packets whose transmission began within the run", better(Less);
    integer max_queue_packets: "Maximum number of waiting packets", better(Less);
    real_or_null drop_fraction: "drops over sent", share_of("sent"), better(Less), metric_only() = share(link.drops, link.sent);
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fields! {
    /// A Wi-Fi cell, or a link with a radio.
    CELL, |row, cell|
    text cell: "Name of the Wi-Fi cell, or of the link with a radio" = cell.name.as_str();
    real busy: "Fraction of the run during which a station transmitted", share();
    real airtime: "Time on the air of all frames over the length of the run";
}

fields! {
    /// A Wi-Fi cell with a routing protocol.
    ROUTING, |row, routing|
    text cell: "Name of the Wi-Fi cell" = row.cell()?.name.as_str();
    integer rreq_originated: "Route requests originated (RREQ), repetitions included", needs(Routing);
    integer rreq_forwarded: "Route requests passed on", needs(Routing);
    integer rrep_originated: "Route replies originated (RREP), gratuitous ones included", needs(Routing);
    integer rrep_gratuitous: "Gratuitous replies, which give the destination the way back; part of rrep_originated", needs(Routing);
    integer rrep_forwarded: "Route replies passed on", needs(Routing);
    integer rerr_sent: "Route errors sent (RERR)", needs(Routing);
    integer rerr_withheld: "Route errors not sent because of the rate limit", needs(Routing);
    integer hello_sent: "HELLO messages sent", needs(Routing);
    integer control_packets: "Routing messages handed to stations for transmission; each also counts as a packet of its station", better(Less), needs(Routing);
    integer control_bytes: "IP bytes of the routing messages in control_packets", better(Less), needs(Routing);
    integer control_drops_queue: "Routing messages dropped because a station's queue was full", better(Less), needs(Routing);
    integer control_drops_retry: "Routing messages given up at the retry limit", better(Less), needs(Routing);
    integer control_drops_off: "Routing messages lost in stations that went off", better(Less), needs(Routing);
    integer discoveries: "Searches for a route", needs(Routing);
    integer discoveries_succeeded: "Searches that found a route", better(More), needs(Routing);
    integer discoveries_failed: "Searches that found no route, so that their packets were dropped", better(Less), needs(Routing);
    real mean_discovery_ms: "Mean time from the first packet without a route to the route, for successful searches", better(Less), needs(Routing);
    integer link_breaks: "Neighbours that were lost while routes led through them", better(Less), needs(Routing);
    integer buffered: "Data packets that waited for a route", better(Less), needs(Routing);
    integer buffered_at_end: "Data packets that were waiting at the end", better(Less), needs(Routing);
    integer drops_buffer_full: "Data packets dropped because the buffer for packets without a route was full", better(Less), needs(Routing);
    integer drops_buffer_time: "Data packets dropped because they waited too long for a route", better(Less), needs(Routing);
    integer drops_no_route: "Data packets dropped because a search found no route", better(Less), needs(Routing);
    integer drops_off: "Data packets that waited for a route at a station that went off", better(Less), needs(Routing);
    integer drops_on_way: "Data packets dropped on their way, at a station whose route was gone", better(Less), needs(Routing);
    integer drops_ttl: "Data packets dropped after 64 hops", better(Less), needs(Routing);
    integer crossed: "Data packets that crossed the radio", better(More), needs(Routing);
    real mean_hops: "Mean hops of the data packets that crossed the cell", needs(Routing) = routing.mean_hops();
    real_or_null control_share: "control_packets over all packets handed to stations", share(), better(Less), needs(Routing), metric_only() = {
        let offered: u64 = row.cell()?.stations.iter().map(|s| s.offered).sum();
        share(routing.control_packets, offered)
    };
}

fields! {
    /// A station of a Wi-Fi cell, or the device of a link with a radio. A device's packets are those of its uplink.
    STATION, |row, station|
    text cell: "Name of the Wi-Fi cell, or of the link with a radio" = row.cell()?.name.as_str();
    text station: "Name of the station's node" = station.name.as_str();
    integer offered: "Packets handed to the station for transmission";
    integer delivered: "Packets accepted by their receiver, each counted once", better(More);
    integer drops_queue: "Packets dropped because the station's queue was full", better(Less);
    integer drops_retry: "Packets given up at the retry limit", better(Less);
    integer drops_off: "Packets lost when the station went off, or handed to it later", better(Less);
    integer inside: "Packets held at the end";
    integer unconfirmed: "Packets delivered but given up by the sender; part of delivered", better(Less);
    integer transmissions: "Data frames transmitted, retransmissions included";
    integer retransmissions: "Data frames transmitted again", better(Less);
    integer rts_sent: "RTS frames transmitted";
    integer polls: "Data requests transmitted by a station that sleeps, repetitions included (802.15.4)";
    integer access_failures: "Attempts given up because the channel was busy at each assessment (802.15.4)", better(Less);
    integer beacons: "Beacons transmitted";
    integer beacons_heard: "Beacons received from its access point";
    integer aggregates: "Aggregates of several data frames transmitted (A-MPDU)";
    integer aggregated: "Data frames transmitted in aggregates";
    real_or_null mean_rate_mbps: "Mean rate of the data frames transmitted to single stations; null without rate adaptation", better(More);
    integer failures: "Attempts without a CTS or an acknowledgement", better(Less);
    integer collisions_seen: "Arriving frames destroyed by other frames", better(Less);
    integer frame_errors: "Arriving frames lost to the error model", better(Less);
    integer duplicates: "Duplicate frames addressed to the station", better(Less);
    integer broadcasts_received: "Broadcast packets received from other stations";
    integer bytes: "IP bytes delivered", better(More);
    real airtime_s: "Time on the air of all frames of the station", better(Less);
    real transmit_s: "Time during which the radio transmitted", better(Less);
    real receive_s: "Time during which frames for the station or for all arrived", better(Less);
    real listen_s: "Time during which the channel was busy with frames of other stations";
    real idle_s: "Time during which nothing was on the air";
    real sleep_s: "Time during which the station slept (802.15.4)";
    real off_s: "Time after the station went off", better(Less);
    real_or_null energy_j: "Energy that the station's radio spent; null without `consumption`", better(Less), needs(Power);
    real_or_null battery_left_j: "Energy left in the station's battery at the end; null without a battery", better(More), needs(Battery);
    real_or_null died_s: "Time at which the station went off; null if it did not", better(More), or_never();
    real connect_s: "Time during which the radio of a link set up connections; part of listen_s", better(Less), metric_only();
    integer connections: "Connections that the cellular radio of a link set up", better(Less), metric_only();
    real_or_null rest_j: "Energy that the radio of a link would have spent without packets", metric_only();
    real_or_null energy_excess_j: "energy_j minus rest_j", better(Less), needs(Power), metric_only() = excess_j(station);
    real_or_null battery_life_s: "Battery life at the mean power of the run", better(More), needs(Battery), metric_only() = battery_life_s(station, row.run()?.end_s);
    real mean_queue_packets: "Mean number of packets in the station, including the packet in transmission", better(Less);
    real mean_queue_delay_ms: "Mean wait until a packet reached the head of the queue", better(Less);
    real mean_service_ms: "Mean time of a packet at the head of the queue, until it is acknowledged or dropped", better(Less);
    integer max_queue_packets: "Maximum number of packets in the station", better(Less);
}
