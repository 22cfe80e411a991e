// Builds the flows: a bulk sender and a receiver each, connected to the counters.
// SPDX-License-Identifier: MIT OR Apache-2.0 (this file; ns-3 itself is GPL-2.0-only)
#ifndef NETWORK_FLOWS_H
#define NETWORK_FLOWS_H

#include "probes.h"
#include "run.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <map>
#include <string>
#include <utility>

namespace network
{

using namespace ns3;

// A node has one algorithm for all its sockets, so that a second one is given to the socket itself. It has sent its SYN
// then, and nothing else.
inline void
WatchSocket(Ptr<BulkSendApplication> app, size_t i, bool own)
{
    Ptr<TcpSocketBase> socket = DynamicCast<TcpSocketBase>(app->GetSocket());
    if (own)
    {
        ObjectFactory factory("ns3::" + g_flows.at(i).type);
        socket->SetCongestionControlAlgorithm(factory.Create<TcpCongestionOps>());
    }
    socket->TraceConnectWithoutContext("CongState", MakeBoundCallback(&CongestionState, i));
    socket->TraceConnectWithoutContext("CongestionWindow", MakeBoundCallback(&Window, i));
    socket->TraceConnectWithoutContext("RTT", MakeBoundCallback(&SmoothedRtt, i));
    socket->TraceConnectWithoutContext("LastRTT", MakeBoundCallback(&LastRtt, i));
    socket->TraceConnectWithoutContext("RTO", MakeBoundCallback(&Rto, i));
    auto number = [&](const char* source, const char* name) {
        socket->TraceConnectWithoutContext(source, MakeBoundCallback(&Number, std::pair<size_t, const char*>(i, name)));
    };
    number("SlowStartThreshold", "ssthresh_bytes");
    number("BytesInFlight", "in_flight_bytes");
    number("AdvWND", "rwnd_bytes");
}

inline void
InstallFlow(size_t i, const NodeContainer& nodes, std::map<uint32_t, std::string>& types)
{
    Flow& flow = g_flows.at(i);
    for (uint32_t node : {flow.from, flow.to})
    {
        if (types.emplace(node, flow.type).second)
        {
            nodes.Get(node)->GetObject<TcpL4Protocol>()->SetAttribute(
                "SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + flow.type)));
        }
    }
    uint16_t port = FIRST_PORT + i;
    Ipv4Address receiver = nodes.Get(flow.to)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(receiver, port));
    bulk.SetAttribute("MaxBytes", UintegerValue(flow.bytes));
    bulk.SetAttribute("SendSize", UintegerValue(g_segment));
    ApplicationContainer source = bulk.Install(nodes.Get(flow.from));
    source.Start(NanoSeconds(flow.start));
    Simulator::Schedule(NanoSeconds(flow.start + 1),
                        &WatchSocket,
                        DynamicCast<BulkSendApplication>(source.Get(0)),
                        i,
                        types[flow.from] != flow.type);
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    sink.Install(nodes.Get(flow.to)).Get(0)->TraceConnectWithoutContext("Rx", MakeBoundCallback(&Received, i));
}

} // namespace network

#endif // NETWORK_FLOWS_H
