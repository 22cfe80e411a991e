// The counters of links and flows, and the samples of the series: functions that ns-3's trace sources call.
// SPDX-License-Identifier: MIT OR Apache-2.0 (this file; ns-3 itself is GPL-2.0-only)
#ifndef NETWORK_PROBES_H
#define NETWORK_PROBES_H

#include "run.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

namespace network
{

using namespace ns3;

const uint32_t PPP = 2;

// The flow whose data a segment carries; null for an answer.
inline Flow*
FlowOfData(const TcpHeader& header)
{
    uint16_t port = header.GetDestinationPort();
    return port >= FIRST_PORT && size_t(port - FIRST_PORT) < g_flows.size() ? &g_flows.at(port - FIRST_PORT) : nullptr;
}

// A packet that is lost: from the device's queue and the wire with PPP's header, from a discipline without IP's.
inline void
CountLoss(Ptr<const Packet> packet, bool framed)
{
    Ptr<Packet> copy = packet->Copy();
    if (framed)
    {
        PppHeader ppp;
        copy->RemoveHeader(ppp);
        Ipv4Header ip;
        copy->RemoveHeader(ip);
    }
    TcpHeader tcp;
    copy->PeekHeader(tcp);
    if (Flow* flow = FlowOfData(tcp))
    {
        ++flow->dropped;
    }
}

inline void
DeviceLength(Direction* of, uint32_t, uint32_t now)
{
    of->Waits(1, now);
}

inline void
DiscLength(Direction* of, uint32_t, uint32_t now)
{
    of->Waits(0, now);
}

inline void
Handed(Direction* of, Ptr<const Packet>)
{
    ++of->handed;
}

inline void
DiscHanded(Direction* of, Ptr<const QueueDiscItem> item)
{
    ++of->handed;
    of->bytes += item->GetSize();
}

inline void
Enqueued(Direction* of, Ptr<const Packet> packet)
{
    of->bytes += packet->GetSize() - PPP;
}

inline void
QueueDrop(Direction* of, Ptr<const Packet> packet)
{
    ++of->drops_queue;
    CountLoss(packet, true);
}

inline void
DiscDrop(Direction* of, Ptr<const QueueDiscItem> item)
{
    ++of->handed;
    ++of->drops_queue;
    CountLoss(item->GetPacket(), false);
}

inline void
DiscDropLater(Direction* of, Ptr<const QueueDiscItem> item, const char* reason)
{
    ++of->drops_queue;
    of->drops_early += std::string(reason) != FqCoDelQueueDisc::OVERLIMIT_DROP;
    of->bytes -= item->GetSize();
    CountLoss(item->GetPacket(), false);
}

inline void
DiscMark(Direction* of, Ptr<const QueueDiscItem>, const char*)
{
    ++of->marks;
}

inline void
Begun(Direction* of, Ptr<const Packet> packet)
{
    ++of->begun;
    of->bits += 8 * packet->GetSize();
}

inline void
Arrived(Direction* of, Ptr<const Packet>)
{
    ++of->delivered;
}

inline void
WireDrop(Direction* of, Ptr<const Packet> packet)
{
    ++of->drops_error;
    CountLoss(packet, true);
}

inline void
Sent(const Ipv4Header& ip, Ptr<const Packet> packet, uint32_t)
{
    if (ip.GetProtocol() != TcpL4Protocol::PROT_NUMBER)
    {
        return;
    }
    Ptr<Packet> copy = packet->Copy();
    TcpHeader tcp;
    copy->RemoveHeader(tcp);
    Flow* flow = FlowOfData(tcp);
    if (!flow)
    {
        ++g_flows.at(tcp.GetSourcePort() - FIRST_PORT).answered;
        return;
    }
    ++flow->sent;
    if (uint32_t payload = copy->GetSize())
    {
        ++flow->data_segments;
        flow->data_bytes += payload;
        SequenceNumber32 end = tcp.GetSequenceNumber() + payload;
        flow->retransmits += flow->data_segments > 1 && tcp.GetSequenceNumber() < flow->highest;
        flow->highest = flow->data_segments > 1 ? std::max(flow->highest, end) : end;
    }
}

inline std::map<std::pair<size_t, std::string>, int64_t> g_sampled;

inline void
Sample(size_t flow, const char* name, uint64_t value)
{
    if (!g_series.count(name))
    {
        return;
    }
    int64_t now = Simulator::Now().GetNanoSeconds();
    auto [last, first] = g_sampled.try_emplace({flow, name}, now);
    if (!first && now - last->second < g_interval)
    {
        return;
    }
    last->second = now;
    char line[128];
    std::snprintf(line, sizeof line, "%s[%" PRId64 ",%zu,\"%s\",%" PRIu64 "]", g_samples.empty() ? "" : ",", now, flow,
                  name, value);
    g_samples += line;
}

inline void
Received(size_t flow, Ptr<const Packet> packet, const Address&)
{
    Flow& f = g_flows.at(flow);
    f.delivered += packet->GetSize();
    Sample(flow, "delivered_bytes", f.delivered);
    if (f.bytes && f.delivered >= f.bytes && f.completed < 0)
    {
        f.completed = Simulator::Now().GetNanoSeconds();
    }
}

inline void
Window(size_t flow, uint32_t, uint32_t now)
{
    g_flows.at(flow).cwnd = now;
    Sample(flow, "cwnd_bytes", now);
}

inline void
Number(std::pair<size_t, const char*> of, uint32_t, uint32_t now)
{
    Sample(of.first, of.second, now);
}

inline void
SmoothedRtt(size_t flow, Time, Time now)
{
    g_flows.at(flow).srtt = now.GetNanoSeconds();
    Sample(flow, "srtt_ns", now.GetNanoSeconds());
}

inline void
LastRtt(size_t flow, Time, Time now)
{
    int64_t& least = g_flows.at(flow).min_rtt;
    least = least < 0 ? now.GetNanoSeconds() : std::min(least, now.GetNanoSeconds());
}

inline void
Rto(size_t flow, Time, Time now)
{
    Sample(flow, "rto_ns", now.GetNanoSeconds());
}

inline void
CongestionState(size_t flow, TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
{
    Flow& f = g_flows.at(flow);
    f.recoveries += now == TcpSocketState::CA_RECOVERY;
    f.timeouts += now == TcpSocketState::CA_LOSS;
    f.echoes += now == TcpSocketState::CA_CWR;
}

} // namespace network

#endif // NETWORK_PROBES_H
