// Prints the result, one JSON object.
// SPDX-License-Identifier: MIT OR Apache-2.0 (this file; ns-3 itself is GPL-2.0-only)
#ifndef NETWORK_PRINT_H
#define NETWORK_PRINT_H

#include "run.h"

#include "ns3/core-module.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace network
{

using namespace ns3;

inline void
PrintFlow(const Flow& f)
{
    std::printf("{\"delivered_bytes\":%" PRIu64 ",\"packets_sent\":%" PRIu64 ",\"peer_packets_sent\":%" PRIu64
                ",\"data_segments\":%" PRIu64 ",\"data_bytes\":%" PRIu64 ",\"retransmits\":%" PRIu64
                ",\"dropped\":%" PRIu64 ",\"fast_retransmits\":%" PRIu64 ",\"rto_count\":%" PRIu64
                ",\"cwnd_bytes\":%" PRIu32 ",\"completed_ns\":%" PRId64 ",\"srtt_ns\":%" PRId64
                ",\"min_rtt_ns\":%" PRId64 "}",
                f.delivered, f.sent, f.answered, f.data_segments, f.data_bytes, f.retransmits, f.dropped, f.recoveries,
                f.timeouts, f.cwnd, f.completed, f.srtt, f.min_rtt);
}

inline void
PrintDirection(const Link& link, Direction& of)
{
    of.Waits(1, of.waits[1]);
    double seconds = g_duration / 1e9;
    std::printf("{\"sent\":%" PRIu64 ",\"delivered\":%" PRIu64 ",\"drops_queue\":%" PRIu64 ",\"drops_early\":%" PRIu64
                ",\"drops_error\":%" PRIu64 ",\"marks\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"begun\":%" PRIu64 ",\"utilisation\":%.9f"
                ",\"mean_queue_packets\":%.9f,\"max_queue_packets\":%" PRIu64 "}",
                of.handed, of.delivered, of.drops_queue, of.drops_early, of.drops_error, of.marks, of.bytes, of.begun,
                std::min(1.0, double(of.bits) / link.rate / seconds), of.area / seconds, of.max_waiting);
}

inline void
Print()
{
    std::printf("{\"events\":%" PRIu64 ",\"flows\":[", uint64_t(Simulator::GetEventCount()));
    for (size_t i = 0; i < g_flows.size(); ++i)
    {
        std::printf("%s", i ? "," : "");
        PrintFlow(g_flows[i]);
    }
    std::printf("],\"links\":[");
    for (size_t i = 0; i < 2 * g_links.size(); ++i)
    {
        std::printf("%s", i ? "," : "");
        PrintDirection(g_links[i / 2], g_links[i / 2].directions[i % 2]);
    }
    std::printf("],\"samples\":[%s]}\n", g_samples.c_str());
}

} // namespace network

#endif // NETWORK_PRINT_H
