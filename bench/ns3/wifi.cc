// A Wi-Fi cell in ns-3: one access point, stations around it and a wired server, for holding Windlass's radio
// against ns-3's.
// SPDX-License-Identifier: MIT OR Apache-2.0 (this file; ns-3 itself is GPL-2.0-only)
//
//   station 1..N  ))) access point ── fast wire ── server
//
// Each line of standard input is one run, words of the form key=value; each line of standard output is its
// result as JSON. Every run is a process of its own, so that an assert of ns-3 costs one run and nothing is
// left over from the run before.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/neighbor-cache-helper.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
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
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace ns3;

namespace
{

using Words = std::map<std::string, std::string>;

// The wire behind the access point must never be what limits.
const char* const WIRE_RATE = "1Gbps";
const char* const WIRE_DELAY = "1ms";
// Association is over by then; traffic begins at `start`.
const double ASSOCIATION_S = 0.5;

struct Run
{
    std::string key;       // comes back in the result
    std::string standard;  // b, g or n
    std::string rate;      // ns-3's name of the mode of data frames
    std::string control;   // and of RTS frames
    std::string direction; // up, down or both
    std::string traffic;   // tcp or udp
    uint32_t stations;
    uint32_t queue;        // packets in the transmit queue of each radio, the one in transmission included
    uint32_t payload;      // bytes a segment or a datagram
    uint32_t buffer;       // TCP's socket buffers, bytes
    double radius;         // m, of the circle of stations
    double offered;        // bit/s of payload of each datagram source
    double start;          // s, of the first flow
    double stagger;        // s, between the starts of two flows
    double duration;       // s
    bool rts;
    bool shortPreamble;
    bool detection;        // ns-3's preamble detection: a preamble needs 4 dB over what else is on the air
    uint64_t seed;
    // Of Wi-Fi as it is used; what is not said is as above.
    bool minstrel = false; // rates are adapted, instead of `rate`
    uint32_t aggregate = 0; // most bytes of an A-MPDU
    bool noisy = false;     // every frame arrives `snr` dB above the noise
    double snr = 0;

    explicit Run(const Words& words)
    {
        auto word = [&](const char* name) {
            auto found = words.find(name);
            if (found == words.end())
            {
                throw std::invalid_argument(std::string("missing word ") + name);
            }
            return found->second;
        };
        key = word("key");
        standard = word("standard");
        rate = word("rate");
        control = word("control");
        direction = word("direction");
        traffic = word("traffic");
        stations = std::stoul(word("stations"));
        queue = std::stoul(word("queue"));
        payload = std::stoul(word("payload"));
        buffer = std::stoul(word("buffer"));
        radius = std::stod(word("radius"));
        offered = std::stod(word("offered"));
        start = std::stod(word("start"));
        stagger = std::stod(word("stagger"));
        duration = std::stod(word("duration"));
        rts = word("rts") == "1";
        shortPreamble = word("short_preamble") == "1";
        detection = word("detection") == "1";
        seed = std::stoull(word("seed"));
        if (words.count("minstrel"))
        {
            minstrel = word("minstrel") == "1";
            aggregate = std::stoul(word("aggregate"));
            noisy = word("snr") != "none";
            snr = noisy ? std::stod(word("snr")) : 0;
        }
    }
};

struct Counts
{
    uint64_t attempts = 0;  // data frames put on the air
    uint64_t unanswered = 0; // CTS and ACK that did not come
    uint64_t given_up = 0;  // frames dropped at the retry limit
    uint64_t full = 0;      // packets that found a transmit queue full
    std::map<uint64_t, uint64_t> modes; // frames by rate, bit/s
};

Counts g_counts;

void
FrameBegins(Ptr<const Packet> packet, uint16_t, WifiTxVector vector, MpduInfo, uint16_t)
{
    WifiMacHeader header;
    packet->PeekHeader(header);
    if (Simulator::Now().GetSeconds() > ASSOCIATION_S)
    {
        g_counts.attempts += header.IsData();
        ++g_counts.modes[vector.GetMode().GetDataRate(vector)];
    }
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
    g_counts.full += reason == WIFI_MAC_DROP_FAILED_ENQUEUE;
}

void
PacketDropped(Ptr<const Packet>)
{
    ++g_counts.full;
}

void
SetDefaults(const Run& run)
{
    RngSeedManager::SetRun(run.seed);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    // As the preset `ns3` of Windlass.
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(run.payload));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(run.buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(run.buffer));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize",
                       QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, run.queue)));
    // By default a frame that has waited half a second is dropped.
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(3600)));
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(run.rts ? 0 : 4692480));
    // One beacon, by which the stations find the access point, and none while traffic flows.
    Config::SetDefault("ns3::ApWifiMac::BeaconInterval", TimeValue(MicroSeconds(1024 * 60000)));
    Config::SetDefault("ns3::ApWifiMac::EnableBeaconJitter", BooleanValue(false));
    Config::SetDefault("ns3::WifiPhy::ShortPlcpPreambleSupported", BooleanValue(run.shortPreamble));
}

NetDeviceContainer
BuildRadio(const Run& run, const NodeContainer& stations, Ptr<Node> accessPoint)
{
    YansWifiChannelHelper channel;
    if (run.noisy)
    {
        // Thermal noise of 290 K in 20 MHz and the noise figure of 7 dB.
        channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
        channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(run.snr - 93.965));
    }
    else
    {
        channel = YansWifiChannelHelper::Default();
    }
    YansWifiPhyHelper phy;
    if (run.noisy)
    {
        phy.SetErrorRateModel("ns3::NistErrorRateModel");
    }
    if (run.standard == "n")
    {
        phy.Set("ChannelSettings", StringValue("{0, 20, BAND_2_4GHZ, 0}"));
    }
    phy.SetChannel(channel.Create());
    if (!run.detection)
    {
        phy.DisablePreambleDetectionModel();
    }
    WifiHelper wifi;
    wifi.SetStandard(run.standard == "b"   ? WIFI_STANDARD_80211b
                     : run.standard == "n" ? WIFI_STANDARD_80211n
                                           : WIFI_STANDARD_80211g);
    if (run.minstrel)
    {
        wifi.SetRemoteStationManager(run.standard == "n" ? "ns3::MinstrelHtWifiManager" : "ns3::MinstrelWifiManager");
    }
    else
    {
        wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                     "DataMode", StringValue(run.rate),
                                     "ControlMode", StringValue(run.control));
    }
    WifiMacHelper mac;
    UintegerValue aggregate(run.aggregate);
    mac.SetType("ns3::ApWifiMac", "Ssid", SsidValue(Ssid("cell")), "BE_MaxAmpduSize", aggregate);
    NetDeviceContainer devices = wifi.Install(phy, mac, accessPoint);
    mac.SetType("ns3::StaWifiMac", "Ssid", SsidValue(Ssid("cell")), "BE_MaxAmpduSize", aggregate);
    devices.Add(wifi.Install(phy, mac, stations));

    MobilityHelper mobility;
    Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
    places->Add(Vector(0, 0, 0));
    for (uint32_t i = 0; i < run.stations; ++i)
    {
        double angle = 2 * M_PI * i / run.stations;
        places->Add(Vector(run.radius * std::cos(angle), run.radius * std::sin(angle), 0));
    }
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(accessPoint);
    mobility.Install(stations);
    return devices;
}

void
Watch(const NetDeviceContainer& radios)
{
    for (uint32_t i = 0; i < radios.GetN(); ++i)
    {
        Ptr<WifiNetDevice> device = DynamicCast<WifiNetDevice>(radios.Get(i));
        device->GetPhy()->TraceConnectWithoutContext("MonitorSnifferTx", MakeCallback(&FrameBegins));
        device->GetMac()->TraceConnectWithoutContext("MpduResponseTimeout", MakeCallback(&NoAnswer));
        device->GetMac()->TraceConnectWithoutContext("DroppedMpdu", MakeCallback(&FrameDropped));
        device->GetNode()->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext(
            "TcDrop",
            MakeCallback(&PacketDropped));
    }
}

// One flow, and the application that receives it.
void
AddFlow(const Run& run, Ptr<Node> from, Ptr<Node> to, Ipv4Address at, ApplicationContainer& sinks)
{
    uint32_t number = sinks.GetN();
    InetSocketAddress address(at, 5000 + number);
    bool tcp = run.traffic == "tcp";
    const char* factory = tcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
    ApplicationContainer source;
    if (tcp)
    {
        BulkSendHelper bulk(factory, address);
        bulk.SetAttribute("MaxBytes", UintegerValue(0)); // endless
        bulk.SetAttribute("SendSize", UintegerValue(run.payload));
        source = bulk.Install(from);
    }
    else
    {
        OnOffHelper constant(factory, address);
        constant.SetConstantRate(DataRate(uint64_t(run.offered)), run.payload);
        source = constant.Install(from);
    }
    source.Start(Seconds(run.start + run.stagger * number));
    PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), 5000 + number));
    sinks.Add(sink.Install(to));
}

ApplicationContainer
Build(const Run& run)
{
    NodeContainer stations(run.stations);
    NodeContainer wired(2); // access point and server
    NetDeviceContainer radios = BuildRadio(run, stations, wired.Get(0));
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(wired);
    stack.Install(stations);
    PointToPointHelper wire;
    wire.SetDeviceAttribute("DataRate", StringValue(WIRE_RATE));
    wire.SetChannelAttribute("Delay", StringValue(WIRE_DELAY));
    wire.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
    NetDeviceContainer ends = wire.Install(wired);
    Ipv4AddressHelper ip("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer air = ip.Assign(radios);
    ip.SetBase("10.1.0.0", "255.255.255.0");
    Ipv4InterfaceContainer far = ip.Assign(ends);
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    NeighborCacheHelper().PopulateNeighborCache(); // no ARP
    // Assigning addresses gives every device a queue discipline (FqCoDel).
    TrafficControlHelper control;
    control.Uninstall(ends);
    control.Uninstall(radios);
    Watch(radios);

    ApplicationContainer sinks;
    for (uint32_t i = 0; i < run.stations; ++i)
    {
        if (run.direction != "down")
        {
            AddFlow(run, stations.Get(i), wired.Get(1), far.GetAddress(1), sinks);
        }
        if (run.direction != "up")
        {
            AddFlow(run, wired.Get(1), stations.Get(i), air.GetAddress(1 + i), sinks);
        }
    }
    return sinks;
}

void
Print(const Run& run, const ApplicationContainer& sinks)
{
    std::printf("{\"key\":\"%s\",\"goodput_bps\":[", run.key.c_str());
    for (uint32_t i = 0; i < sinks.GetN(); ++i)
    {
        double seconds = run.duration - run.start - run.stagger * i;
        std::printf("%s%.0f", i ? "," : "", DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx() * 8.0 / seconds);
    }
    std::printf("],\"frames_by_mbps\":{");
    const char* comma = "";
    for (const auto& [rate, frames] : g_counts.modes)
    {
        std::printf("%s\"%g\":%" PRIu64, comma, rate / 1e6, frames);
        comma = ",";
    }
    std::printf("},\"attempts\":%" PRIu64 ",\"unanswered\":%" PRIu64 ",\"retry_drops\":%" PRIu64
                ",\"queue_drops\":%" PRIu64 "}\n",
                g_counts.attempts,
                g_counts.unanswered,
                g_counts.given_up,
                g_counts.full);
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
Simulate(const std::string& line)
{
    try
    {
        Run run(Parse(line));
        SetDefaults(run);
        ApplicationContainer sinks = Build(run);
        Simulator::Stop(Seconds(run.duration));
        Simulator::Run();
        Print(run, sinks);
        std::fflush(stdout);
        return 0;
    }
    catch (const std::exception& error)
    {
        std::fprintf(stderr, "wifi: %s\n", error.what());
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
            std::perror("wifi: fork");
            return 1;
        }
        if (child == 0)
        {
            _exit(Simulate(line));
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
