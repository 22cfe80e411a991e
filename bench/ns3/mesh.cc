// Stations on a grid that find their routes by AODV, in ns-3, for holding Windlass's multi-hop radio against ns-3's.
// SPDX-License-Identifier: MIT OR Apache-2.0 (this file; ns-3 itself is GPL-2.0-only)
//
// Each line of standard input is one run, words of the form key=value; each line of standard output is its
// result as JSON. Every run is a process of its own.
#include "ns3/aodv-module.h"
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/neighbor-cache-helper.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace ns3;

namespace
{

// A frame that another overlaps is lost, as on Windlass's disc. By ns-3's own model many survive some symbols of
// overlap at half a decibel: acknowledgements, and data that meet an acknowledgement.
class OverlapDestroys : public ErrorRateModel
{
  public:
    static TypeId
    GetTypeId()
    {
        static TypeId id =
            TypeId("OverlapDestroys").SetParent<ErrorRateModel>().AddConstructor<OverlapDestroys>();
        return id;
    }

  private:
    double
    DoGetChunkSuccessRate(WifiMode, const WifiTxVector&, double snr, uint64_t, uint8_t, WifiPpduField, uint16_t)
        const override
    {
        return snr > LEAST_SNR ? 1 : 0;
    }

    static constexpr double LEAST_SNR = 2;
};

NS_OBJECT_ENSURE_REGISTERED(OverlapDestroys);

using Words = std::map<std::string, std::string>;

const uint16_t AODV_PORT = 654;
const uint16_t FIRST_PORT = 5000;
const uint8_t TTL = 64;
// What arrives from within the range, and from within the carrier-sense range only: so near that a frame of either
// kind destroys another, as on Windlass's disc. What comes from farther is nothing.
const double SENT_DBM = 20;
const double RECEIVED_DBM = -50;
const double SENSED_DBM = -50.5;
const double BETWEEN_DBM = -50.25;

struct Counts
{
    uint64_t rreq = 0, rrep = 0, rerr = 0, hello = 0, other = 0;
    uint64_t control_bytes = 0;
    uint64_t delivered = 0, hops = 0;
    uint64_t frames = 0; // data frames put on the air, each packet once
    uint64_t most_hops = 0;
    uint64_t unanswered = 0; // acknowledgements that did not come
    uint64_t given_up = 0;   // packets dropped at the retry limit
};

Counts g_counts;

double
Number(const Words& words, const char* name)
{
    auto found = words.find(name);
    if (found == words.end())
    {
        throw std::invalid_argument(std::string("missing word ") + name);
    }
    return std::stod(found->second);
}

void
Sent(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    Ptr<Packet> copy = packet->Copy();
    Ipv4Header ip;
    copy->RemoveHeader(ip);
    if (ip.GetProtocol() != UdpL4Protocol::PROT_NUMBER)
    {
        return;
    }
    UdpHeader udp;
    copy->RemoveHeader(udp);
    if (udp.GetDestinationPort() != AODV_PORT)
    {
        return;
    }
    g_counts.control_bytes += packet->GetSize();
    aodv::TypeHeader type;
    copy->RemoveHeader(type);
    switch (type.Get())
    {
    case aodv::AODVTYPE_RREQ:
        ++g_counts.rreq;
        break;
    case aodv::AODVTYPE_RREP:
        // HELLO messages are replies to everybody.
        ++(ip.GetDestination().IsBroadcast() || ip.GetDestination().IsSubnetDirectedBroadcast(Ipv4Mask("255.0.0.0"))
               ? g_counts.hello
               : g_counts.rrep);
        break;
    case aodv::AODVTYPE_RERR:
        ++g_counts.rerr;
        break;
    default:
        ++g_counts.other;
    }
}

void
Arrived(const Ipv4Header& ip, Ptr<const Packet> packet, uint32_t)
{
    if (ip.GetProtocol() != UdpL4Protocol::PROT_NUMBER)
    {
        return;
    }
    UdpHeader udp;
    packet->PeekHeader(udp);
    if (udp.GetDestinationPort() >= FIRST_PORT)
    {
        uint64_t hops = 1 + TTL - ip.GetTtl();
        ++g_counts.delivered;
        g_counts.hops += hops;
        g_counts.most_hops = std::max(g_counts.most_hops, hops);
    }
}

void
FrameBegins(Ptr<const Packet> packet, uint16_t, WifiTxVector, MpduInfo, uint16_t)
{
    WifiMacHeader header;
    packet->PeekHeader(header);
    g_counts.frames += header.IsData() && !header.IsRetry();
}

void
NoAnswer(uint8_t, Ptr<const WifiMpdu>, const WifiTxVector&)
{
    ++g_counts.unanswered;
}

void
FrameDropped(WifiMacDropReason reason, Ptr<const WifiMpdu>)
{
    g_counts.given_up += reason == WIFI_MAC_DROP_REACHED_RETRY_LIMIT;
}

void
SetDefaults(const Words& words)
{
    RngSeedManager::SetRun(uint64_t(Number(words, "seed")));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize",
                       QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, uint32_t(Number(words, "queue")))));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(3600)));
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(4692480));
    Config::SetDefault("ns3::WifiRemoteStationManager::NonUnicastMode", StringValue(words.at("rate")));
    Config::SetDefault("ns3::WifiPhy::TxPowerStart", DoubleValue(SENT_DBM));
    Config::SetDefault("ns3::WifiPhy::TxPowerEnd", DoubleValue(SENT_DBM));
    Config::SetDefault("ns3::WifiPhy::RxSensitivity", DoubleValue(-80));
    Config::SetDefault("ns3::WifiPhy::CcaEdThreshold", DoubleValue(-60));
    Config::SetDefault("ns3::ThresholdPreambleDetectionModel::MinimumRssi", DoubleValue(BETWEEN_DBM));
    Config::SetDefault("ns3::ThresholdPreambleDetectionModel::Threshold", DoubleValue(4));
    TypeId::LookupByName("ns3::aodv::RoutingProtocol");
    if (words.count("hello") && words.at("hello") == "0")
    {
        Config::SetDefault("ns3::aodv::RoutingProtocol::EnableHello", BooleanValue(false));
    }
}

NetDeviceContainer
BuildRadio(const Words& words, const NodeContainer& stations)
{
    double spacing = Number(words, "spacing");
    double range = Number(words, "range");
    double sense = Number(words, "sense");
    MobilityHelper mobility;
    mobility.SetPositionAllocator("ns3::GridPositionAllocator",
                                  "DeltaX", DoubleValue(spacing),
                                  "DeltaY", DoubleValue(spacing),
                                  "GridWidth", UintegerValue(uint32_t(Number(words, "columns"))));
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(stations);

    Ptr<MatrixPropagationLossModel> loss = CreateObject<MatrixPropagationLossModel>();
    loss->SetDefaultLoss(200);
    for (uint32_t i = 0; i < stations.GetN(); ++i)
    {
        for (uint32_t j = i + 1; j < stations.GetN(); ++j)
        {
            Ptr<MobilityModel> a = stations.Get(i)->GetObject<MobilityModel>();
            Ptr<MobilityModel> b = stations.Get(j)->GetObject<MobilityModel>();
            double distance = a->GetDistanceFrom(b);
            if (distance <= sense)
            {
                loss->SetLoss(a, b, SENT_DBM - (distance <= range ? RECEIVED_DBM : SENSED_DBM));
            }
        }
    }
    Ptr<YansWifiChannel> channel = CreateObject<YansWifiChannel>();
    channel->SetPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    YansWifiPhyHelper phy;
    phy.SetChannel(channel);
    if (Number(words, "survive") == 0)
    {
        phy.SetErrorRateModel("OverlapDestroys");
    }
    WifiHelper wifi;
    wifi.SetStandard(words.at("standard") == "b" ? WIFI_STANDARD_80211b : WIFI_STANDARD_80211g);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue(words.at("rate")),
                                 "ControlMode", StringValue(words.at("rate")));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac");
    NetDeviceContainer devices = wifi.Install(phy, mac, stations);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        // In ad-hoc mode ns-3 keeps the long slot of stations with 802.11b.
        DynamicCast<WifiNetDevice>(devices.Get(i))->GetPhy()->SetSlot(MicroSeconds(9));
    }
    return devices;
}

// Flows are written from-to, stations counted from 1, with commas between.
std::vector<std::pair<uint32_t, uint32_t>>
Flows(const Words& words)
{
    std::vector<std::pair<uint32_t, uint32_t>> flows;
    std::istringstream in(words.at("flows"));
    for (std::string flow; std::getline(in, flow, ',');)
    {
        size_t dash = flow.find('-');
        flows.emplace_back(std::stoul(flow.substr(0, dash)) - 1, std::stoul(flow.substr(dash + 1)) - 1);
    }
    return flows;
}

double
UserSeconds()
{
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_utime.tv_usec / 1e6;
}

void
Watch(const NodeContainer& stations, const NetDeviceContainer& devices)
{
    for (uint32_t i = 0; i < stations.GetN(); ++i)
    {
        Ptr<Ipv4L3Protocol> ip = stations.Get(i)->GetObject<Ipv4L3Protocol>();
        ip->TraceConnectWithoutContext("Tx", MakeCallback(&Sent));
        ip->TraceConnectWithoutContext("LocalDeliver", MakeCallback(&Arrived));
        Ptr<WifiNetDevice> device = DynamicCast<WifiNetDevice>(devices.Get(i));
        device->GetPhy()->TraceConnectWithoutContext("MonitorSnifferTx", MakeCallback(&FrameBegins));
        device->GetMac()->TraceConnectWithoutContext("MpduResponseTimeout", MakeCallback(&NoAnswer));
        device->GetMac()->TraceConnectWithoutContext("DroppedMpdu", MakeCallback(&FrameDropped));
    }
}

int
Simulate(const Words& words)
{
    SetDefaults(words);
    NodeContainer stations(uint32_t(Number(words, "rows") * Number(words, "columns")));
    NetDeviceContainer devices = BuildRadio(words, stations);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    AodvHelper aodv;
    stack.SetRoutingHelper(aodv);
    stack.Install(stations);
    aodv.AssignStreams(stations, 1000);
    Ipv4AddressHelper ip("10.0.0.0", "255.0.0.0");
    Ipv4InterfaceContainer addresses = ip.Assign(devices);
    if (words.count("arp") && words.at("arp") == "0")
    {
        // Entries made in advance are neither alive nor permanent to AODV, which then does not recognise whose
        // packets the MAC gave up: with them there is no feedback.
        NeighborCacheHelper().PopulateNeighborCache();
    }
    TrafficControlHelper control;
    control.Uninstall(devices);
    bool counts = words.at("counts") == "1";
    if (counts)
    {
        Watch(stations, devices);
    }

    double duration = Number(words, "duration");
    double start = Number(words, "start");
    double stagger = Number(words, "stagger");
    ApplicationContainer sinks;
    for (auto [from, to] : Flows(words))
    {
        uint16_t port = FIRST_PORT + sinks.GetN();
        OnOffHelper constant("ns3::UdpSocketFactory", InetSocketAddress(addresses.GetAddress(to), port));
        constant.SetConstantRate(DataRate(uint64_t(Number(words, "offered"))), uint32_t(Number(words, "payload")));
        ApplicationContainer source = constant.Install(stations.Get(from));
        source.Start(Seconds(start + stagger * sinks.GetN()));
        source.Stop(Seconds(Number(words, "stop")));
        PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(stations.Get(to)));
    }
    Simulator::Stop(Seconds(duration));
    double before = UserSeconds();
    Simulator::Run();
    double cpu = UserSeconds() - before;
    std::printf("{\"key\":\"%s\",\"received_bytes\":[", words.at("key").c_str());
    for (uint32_t i = 0; i < sinks.GetN(); ++i)
    {
        std::printf("%s%" PRIu64, i ? "," : "", DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx());
    }
    const Counts& c = g_counts;
    std::printf("],\"cpu_s\":%.3f,\"slot_us\":%.0f,\"rreq\":%" PRIu64 ",\"rrep\":%" PRIu64 ",\"rerr\":%" PRIu64
                ",\"hello\":%" PRIu64 ",\"other\":%" PRIu64 ",\"control_bytes\":%" PRIu64 ",\"delivered\":%" PRIu64
                ",\"hops\":%" PRIu64 ",\"most_hops\":%" PRIu64 ",\"frames\":%" PRIu64
                ",\"unanswered\":%" PRIu64 ",\"given_up\":%" PRIu64 "}\n",
                cpu,
                DynamicCast<WifiNetDevice>(devices.Get(0))->GetPhy()->GetSlot().GetMicroSeconds() * 1.0,
                c.rreq, c.rrep, c.rerr, c.hello, c.other, c.control_bytes, c.delivered, c.hops, c.most_hops, c.frames, c.unanswered, c.given_up);
    std::fflush(stdout);
    return 0;
}

Words
Parse(const std::string& line)
{
    Words words;
    std::istringstream in(line);
    for (std::string word; in >> word;)
    {
        size_t equals = word.find('=');
        if (equals == std::string::npos)
        {
            throw std::invalid_argument("not key=value: " + word);
        }
        words[word.substr(0, equals)] = word.substr(equals + 1);
    }
    return words;
}

int
Attempt(const std::string& line)
{
    try
    {
        return Simulate(Parse(line));
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "mesh: %s\n", error.what());
        return 2;
    }
}

} // namespace

int
main()
{
    for (std::string line; std::getline(std::cin, line);)
    {
        if (line.empty())
        {
            continue;
        }
        pid_t child = fork();
        if (child < 0)
        {
            std::perror("mesh: fork");
            return 1;
        }
        if (child == 0)
        {
            _exit(Attempt(line));
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0)
        {
            std::printf("{\"key\":\"%s\",\"failed\":%d}\n", Parse(line)["key"].c_str(), status);
        }
        std::fflush(stdout);
    }
    return 0;
}
