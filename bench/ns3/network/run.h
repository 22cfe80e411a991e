// A run: its flows and links with their counters, and the other settings of the task.
// SPDX-License-Identifier: MIT OR Apache-2.0 (this file; ns-3 itself is GPL-2.0-only)
#ifndef NETWORK_RUN_H
#define NETWORK_RUN_H

#include "ns3/core-module.h"
#include "ns3/network-module.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

namespace network
{

using namespace ns3;

const uint16_t FIRST_PORT = 5000;

struct Flow
{
    uint32_t from, to;
    std::string type;
    int64_t start;
    uint64_t bytes;
    // What came of it.
    uint64_t delivered = 0, sent = 0, answered = 0, data_segments = 0, data_bytes = 0, retransmits = 0, dropped = 0;
    uint64_t recoveries = 0, timeouts = 0, echoes = 0;
    SequenceNumber32 highest;
    int64_t completed = -1, srtt = -1, min_rtt = -1;
    uint32_t cwnd = 0;
};

// FqCoDel above a device's queue of so many packets.
struct Above
{
    uint32_t device = 0, flows = 0, quantum = 0;
    int64_t target = 0, interval = 0;
    bool ecn = false;
};

// One direction of a link.
struct Direction
{
    std::string limit;
    uint32_t mark = 0;
    Above above;
    std::vector<uint64_t> lost;
    Ptr<NetDevice> device;
    // What came of it.
    uint64_t handed = 0, delivered = 0, drops_queue = 0, drops_error = 0, marks = 0, bytes = 0, begun = 0, bits = 0;
    uint64_t drops_early = 0, max_waiting = 0;
    double area = 0; // packets times seconds
    Time since;
    uint32_t waits[2] = {0, 0}; // in the discipline, in the device

    bool HasDisc() const
    {
        return mark || above.device;
    }

    std::string DeviceLimit() const
    {
        return mark ? "1p" : above.device ? std::to_string(above.device) + "p" : limit;
    }

    void Waits(int place, uint32_t now)
    {
        Time passed = Simulator::Now() - since;
        uint64_t waiting = waits[0] + waits[1];
        if (passed.IsStrictlyPositive())
        {
            area += waiting * passed.GetSeconds();
            max_waiting = std::max(max_waiting, waiting);
        }
        since = Simulator::Now();
        waits[place] = now;
    }
};

struct Link
{
    uint32_t ends[2];
    uint64_t rate;
    int64_t delay;
    uint32_t mtu;
    Direction directions[2];
};

inline std::deque<Flow> g_flows;
inline std::deque<Link> g_links;
inline uint32_t g_nodes = 0, g_segment = 0;
inline int64_t g_duration = 0, g_interval = 0;
inline std::set<std::string> g_series;
inline std::string g_samples;

} // namespace network

#endif // NETWORK_RUN_H
