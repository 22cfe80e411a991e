// A dumbbell of N bulk TCP flows in ns-3, measured in packet-hops per CPU-second.
// SPDX-License-Identifier: MIT OR Apache-2.0 (this file; ns-3 itself is GPL-2.0-only)
//
//   s1 ─┐                      ┌─ d1
//   ... ├─ r1 ── bottleneck ── r2 ─ ...
//   sN ─┘                      └─ dN
//
// One JSON line comes out, with the keys of `bench/speed --json`. The frames put on links are counted by
// trace callbacks, which cost time: a counting run (--count=1) and a timed run are therefore two runs,
// and ns-3's determinism makes them the same simulation.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-helper.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace ns3;

namespace
{

struct Options
{
    std::string name = "dumbbell";
    uint32_t flows = 4;
    double duration = 10;             // simulated seconds
    double stagger = 0.01;            // seconds between the starts of two neighbouring flows
    uint32_t mss = 1448;              // payload bytes; ns-3 adds 12 bytes of timestamps outside
    uint32_t mtu = 1500;              // at least mss + 52, otherwise every segment is two IP fragments
    uint32_t buffer = 4u << 20;       // socket buffers, bytes
    std::string access = "100Mbps";
    std::string accessDelay = "5ms";
    std::string accessQueue = "100p";
    uint32_t bottleneckMbpsPerFlow = 10;
    std::string bottleneckDelay = "30ms";
    uint32_t queuePacketsPerFlow = 67; // 1 BDP: 10 Mbps x 80 ms / 1500 B
    std::string routing = "global";
    std::string algorithm = "newreno"; // without SACK; or "cubic", with it
    bool count = false;
};

Options
ParseOptions(int argc, char** argv)
{
    Options o;
    CommandLine cmd(__FILE__);
    cmd.AddValue("name", "name in the output line", o.name);
    cmd.AddValue("flows", "number of sender-receiver pairs", o.flows);
    cmd.AddValue("duration", "simulated seconds", o.duration);
    cmd.AddValue("stagger", "seconds between two starts", o.stagger);
    cmd.AddValue("mss", "payload bytes of a segment", o.mss);
    cmd.AddValue("mtu", "bytes of an IP packet, at least mss + 52", o.mtu);
    cmd.AddValue("buffer", "send and receive buffer, bytes", o.buffer);
    cmd.AddValue("routing", "global, static or nix", o.routing);
    cmd.AddValue("algorithm", "newreno, without SACK, or cubic, with SACK and PRR", o.algorithm);
    cmd.AddValue("count", "count frames (slower; for untimed runs)", o.count);
    cmd.Parse(argc, argv);
    if (o.flows == 0 || o.duration <= 0 || o.mtu < o.mss + 52)
    {
        throw std::invalid_argument("flows and duration must be positive, and mtu at least mss + 52");
    }
    if (o.routing != "global" && o.routing != "static" && o.routing != "nix")
    {
        throw std::invalid_argument("routing must be global, static or nix, not " + o.routing);
    }
    if (o.algorithm != "newreno" && o.algorithm != "cubic")
    {
        throw std::invalid_argument("algorithm must be newreno or cubic, not " + o.algorithm);
    }
    return o;
}

// What `algorithm = "newreno"` over the `rfc` stack without SACK means, and `cubic` over the `linux` stack, in ns-3's names.
void
SetTcpDefaults(const Options& o)
{
    bool cubic = o.algorithm == "cubic";
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(cubic ? "ns3::TcpCubic" : "ns3::TcpNewReno"));
    // RFC 6582's window during recovery; ns-3's own default is PRR.
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       StringValue(cubic ? "ns3::TcpPrrRecovery" : "ns3::TcpClassicRecovery"));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(cubic));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(cubic ? MilliSeconds(200) : Seconds(1)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(o.mss));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(o.buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(o.buffer));
}

struct Network
{
    NodeContainer senders, receivers, routers;
    NetDeviceContainer devices;
    std::vector<Ipv4Address> receiverAddress;
};

PointToPointHelper
Link(const Options& o, const std::string& rate, const std::string& delay, const std::string& queue)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("Mtu", UintegerValue(o.mtu));
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(queue)));
    return link;
}

void
InstallStacks(const Options& o)
{
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    Ipv4StaticRoutingHelper staticRouting;
    Ipv4NixVectorHelper nix;
    if (o.routing == "static")
    {
        stack.SetRoutingHelper(staticRouting);
    }
    else if (o.routing == "nix")
    {
        stack.SetRoutingHelper(nix);
    }
    stack.InstallAll();
}

// Every link is a /30, whose connected route its two ends know; a default route does the rest.
void
RouteByDefault(Ptr<Node> node, const Ipv4InterfaceContainer& link, uint32_t own)
{
    Ipv4StaticRoutingHelper helper;
    helper.GetStaticRouting(node->GetObject<Ipv4>())
        ->SetDefaultRoute(link.GetAddress(1 - own), link.Get(own).second);
}

Network
BuildNetwork(const Options& o)
{
    Network net;
    net.senders.Create(o.flows);
    net.receivers.Create(o.flows);
    net.routers.Create(2);
    InstallStacks(o);

    auto access = Link(o, o.access, o.accessDelay, o.accessQueue);
    auto bottleneck = Link(o,
                           std::to_string(uint64_t(o.bottleneckMbpsPerFlow) * o.flows) + "Mbps",
                           o.bottleneckDelay,
                           std::to_string(uint64_t(o.queuePacketsPerFlow) * o.flows) + "p");
    Ipv4AddressHelper ip("10.0.0.0", "255.255.255.252");
    auto connect = [&](PointToPointHelper& link, Ptr<Node> a, Ptr<Node> b) {
        NetDeviceContainer ends = link.Install(a, b);
        net.devices.Add(ends);
        Ipv4InterfaceContainer addresses = ip.Assign(ends);
        ip.NewNetwork();
        return addresses;
    };
    bool byDefault = o.routing == "static";
    auto middle = connect(bottleneck, net.routers.Get(0), net.routers.Get(1));
    if (byDefault)
    {
        RouteByDefault(net.routers.Get(0), middle, 0);
        RouteByDefault(net.routers.Get(1), middle, 1);
    }
    for (uint32_t i = 0; i < o.flows; ++i)
    {
        auto left = connect(access, net.senders.Get(i), net.routers.Get(0));
        auto right = connect(access, net.receivers.Get(i), net.routers.Get(1));
        net.receiverAddress.push_back(right.GetAddress(0));
        if (byDefault)
        {
            RouteByDefault(net.senders.Get(i), left, 0);
            RouteByDefault(net.receivers.Get(i), right, 0);
        }
    }
    if (o.routing == "global")
    {
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    }
    return net;
}

// Assigning addresses installs an FqCoDel discipline on every device. Without it the drop-tail queue of the
// device is the only queue, as in the scenario.
void
RemoveQueueDisciplines(const NetDeviceContainer& devices)
{
    TrafficControlHelper control;
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        control.Uninstall(devices.Get(i));
    }
}

ApplicationContainer
InstallFlows(const Options& o, const Network& net)
{
    const uint16_t port = 5000;
    ApplicationContainer sinks;
    for (uint32_t i = 0; i < o.flows; ++i)
    {
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(net.receiverAddress[i], port));
        bulk.SetAttribute("MaxBytes", UintegerValue(0)); // endless
        bulk.SetAttribute("SendSize", UintegerValue(o.mss));
        bulk.Install(net.senders.Get(i)).Start(Seconds(o.stagger * i));
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(net.receivers.Get(i)));
    }
    return sinks;
}

uint64_t g_packetHops = 0;

void
CountFrame(Ptr<const Packet>)
{
    ++g_packetHops;
}

double
UserCpuSeconds()
{
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_utime.tv_usec * 1e-6;
}

long
PeakMemoryKiB()
{
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

int
Run(const Options& o)
{
    SetTcpDefaults(o);
    Network net = BuildNetwork(o);
    RemoveQueueDisciplines(net.devices);
    ApplicationContainer sinks = InstallFlows(o, net);
    for (uint32_t i = 0; o.count && i < net.devices.GetN(); ++i)
    {
        net.devices.Get(i)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&CountFrame));
    }

    Simulator::Stop(Seconds(o.duration));
    double before = UserCpuSeconds();
    Simulator::Run();
    double cpu = UserCpuSeconds() - before;

    uint64_t bytes = 0;
    for (uint32_t i = 0; i < sinks.GetN(); ++i)
    {
        bytes += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
    }
    std::printf("{\"name\":\"%s\",\"packet_hops\":%" PRIu64 ",\"cpu_s\":%.6f,"
                "\"goodput_bps\":%.0f,\"events\":%" PRIu64 ",\"peak_memory_kib\":%ld}\n",
                o.name.c_str(),
                g_packetHops,
                cpu,
                bytes * 8.0 / o.duration,
                uint64_t(Simulator::GetEventCount()),
                PeakMemoryKiB());
    Simulator::Destroy();
    return 0;
}

} // namespace

int
main(int argc, char** argv)
{
    try
    {
        return Run(ParseOptions(argc, argv));
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "dumbbell: %s\n", error.what());
        return 2;
    }
}
