// A scenario of Windlass in ns-3: nodes, point-to-point links, and TCP flows that send in bulk.
// SPDX-License-Identifier: MIT OR Apache-2.0 (this file; ns-3 itself is GPL-2.0-only)
//
// Standard input says what to simulate, in the lines of network/read.h, and standard output has the result as one JSON
// object. The links' fields are those of Windlass's own results, counted at the same places.
#include "network/flows.h"
#include "network/links.h"
#include "network/print.h"
#include "network/probes.h"
#include "network/read.h"
#include "network/run.h"

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"

#include <cstdio>
#include <iostream>
#include <map>
#include <string>
#include <sys/resource.h>

using namespace network;
using namespace ns3;

namespace
{

// ns-3's list of segments is searched from one end, so that a large window with many losses takes hours.
const rlim_t LONGEST_CPU_S = 3600;

void
Simulate()
{
    NodeContainer nodes;
    nodes.Create(g_nodes);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.SetRoutingHelper(Ipv4NixVectorHelper());
    stack.Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    for (Link& link : g_links)
    {
        BuildLink(link, nodes, addresses);
    }
    for (uint32_t i = 0; i < g_nodes; ++i)
    {
        nodes.Get(i)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext("SendOutgoing", MakeCallback(&Sent));
    }
    std::map<uint32_t, std::string> types;
    for (size_t i = 0; i < g_flows.size(); ++i)
    {
        InstallFlow(i, nodes, types);
    }
    Simulator::Stop(NanoSeconds(g_duration));
    Simulator::Run();
    Print();
    Simulator::Destroy();
}

} // namespace

int
main()
{
    rlimit limit{};
    getrlimit(RLIMIT_CPU, &limit);
    if (limit.rlim_cur > LONGEST_CPU_S)
    {
        limit.rlim_cur = LONGEST_CPU_S;
        setrlimit(RLIMIT_CPU, &limit);
    }
    try
    {
        Read(std::cin);
        Simulate();
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
    return 0;
}
