// Reads the task.
// SPDX-License-Identifier: MIT OR Apache-2.0 (this file; ns-3 itself is GPL-2.0-only)
//
// A task has these lines:
//
//   duration NS            seed N             default Class::Attribute VALUE
//   segment PAYLOAD_BYTES
//   nodes N                link A B BITS_PER_S DELAY_NS MTU LIMIT_FORWARD LIMIT_BACKWARD      LIMIT: 100p, 15000B
//   mark LINK DIRECTION PACKETS               what finds so many waiting is marked, where it can be
//   above LINK DIRECTION DEVICE FLOWS QUANTUM TARGET_NS INTERVAL_NS ECN       FqCoDel with the link's limit, above a device
//                                             that holds DEVICE packets
//   lose LINK DIRECTION N,N,...               numbers of the frames lost on the wire, from 1 on
//   flow FROM TO TYPE START_NS BYTES          0 bytes: endless
//   sample INTERVAL_NS NAME,NAME,...          series of every flow
#ifndef NETWORK_READ_H
#define NETWORK_READ_H

#include "run.h"

#include "ns3/core-module.h"

#include <istream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace network
{

using namespace ns3;

inline std::vector<std::string>
Parts(const std::string& list)
{
    std::vector<std::string> parts;
    std::istringstream in(list);
    for (std::string part; std::getline(in, part, ',');)
    {
        parts.push_back(part);
    }
    return parts;
}

inline Direction&
DirectionAt(size_t link, size_t direction)
{
    return g_links.at(link).directions[direction ? 1 : 0];
}

inline void
Read(std::istream& in)
{
    for (std::string line; std::getline(in, line);)
    {
        std::istringstream words(line);
        std::string what;
        words >> what;
        words.exceptions(std::ios::failbit);
        if (what == "duration")
        {
            words >> g_duration;
        }
        else if (what == "segment")
        {
            words >> g_segment;
            Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(g_segment));
        }
        else if (what == "seed")
        {
            uint64_t seed;
            words >> seed;
            RngSeedManager::SetRun(seed);
        }
        else if (what == "default")
        {
            std::string name, value;
            words >> name >> value;
            Config::SetDefault("ns3::" + name, StringValue(value));
        }
        else if (what == "nodes")
        {
            words >> g_nodes;
        }
        else if (what == "link")
        {
            Link link{};
            words >> link.ends[0] >> link.ends[1] >> link.rate >> link.delay >> link.mtu;
            words >> link.directions[0].limit >> link.directions[1].limit;
            g_links.push_back(link);
        }
        else if (what == "above")
        {
            size_t link, direction;
            words >> link >> direction;
            Above& above = DirectionAt(link, direction).above;
            words >> above.device >> above.flows >> above.quantum >> above.target >> above.interval >> above.ecn;
        }
        else if (what == "mark" || what == "lose")
        {
            size_t link, direction;
            std::string value;
            words >> link >> direction >> value;
            Direction& of = DirectionAt(link, direction);
            if (what == "mark")
            {
                of.mark = std::stoul(value);
                continue;
            }
            for (const std::string& number : Parts(value))
            {
                of.lost.push_back(std::stoull(number));
            }
        }
        else if (what == "flow")
        {
            Flow flow{};
            words >> flow.from >> flow.to >> flow.type >> flow.start >> flow.bytes;
            g_flows.push_back(flow);
        }
        else if (what == "sample")
        {
            std::string names;
            words >> g_interval >> names;
            for (const std::string& name : Parts(names))
            {
                g_series.insert(name);
            }
        }
        else if (!what.empty())
        {
            throw std::invalid_argument("unknown line: " + line);
        }
    }
}

} // namespace network

#endif // NETWORK_READ_H
