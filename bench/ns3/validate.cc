// Bulk TCP flows over one bottleneck in ns-3, for holding Windlass's algorithms against ns-3's.
// SPDX-License-Identifier: MIT OR Apache-2.0 (this file; ns-3 itself is GPL-2.0-only)
//
//   s ── bottleneck ── d       data from s to d, a drop-tail (or marking) queue at s, losses on the wire
//
// Each line of standard input is one run, words of the form key=value; each line of standard output is its
// result as JSON. Every run is a process of its own, so that an assert of ns-3 costs one run and nothing is
// left over from the run before.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/error-model.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cinttypes>
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

const rlim_t LONGEST_CPU_S = 300;

using Words = std::map<std::string, std::string>;

std::vector<double>
Numbers(const std::string& list)
{
    std::vector<double> numbers;
    std::istringstream in(list);
    for (std::string number; std::getline(in, number, ',');)
    {
        numbers.push_back(std::stod(number));
    }
    return numbers;
}

struct Run
{
    std::string key;       // comes back in the result
    std::string algorithm; // TypeId without "ns3::"
    double duration;       // s
    double rate;           // bit/s
    double delay;          // s, one way
    uint32_t queue;        // packets that wait, the one in transmission left out
    uint32_t mark = 0;     // packets that wait from which on arrivals are marked; 0: no marking
    uint32_t mss;          // payload bytes; ns-3 adds 12 bytes of timestamps outside
    uint32_t buffer;       // socket buffers, bytes
    uint64_t seed;         // ns-3's run number, for algorithms that draw
    std::vector<double> starts;  // s, one for each flow
    std::vector<uint64_t> lost;  // numbers of the data packets lost on the wire, from 1 on
    Words attributes;      // ns-3 attributes to set, "Class::Name" without "ns3::"
    std::string trace;     // file for the window of every flow, empty for none

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
        algorithm = word("algorithm");
        duration = std::stod(word("duration"));
        rate = std::stod(word("rate"));
        delay = std::stod(word("delay"));
        queue = std::stoul(word("queue"));
        mss = std::stoul(word("mss"));
        buffer = std::stoul(word("buffer"));
        seed = std::stoull(word("seed"));
        starts = Numbers(word("starts"));
        if (words.count("mark"))
        {
            mark = std::stoul(word("mark"));
        }
        if (words.count("trace"))
        {
            trace = word("trace");
        }
        if (words.count("lost"))
        {
            for (double number : Numbers(word("lost")))
            {
                lost.push_back(uint64_t(number));
            }
        }
        for (const auto& [name, value] : words)
        {
            if (name.find("::") != std::string::npos)
            {
                attributes[name] = value;
            }
        }
    }
};

// Loses the packets with the numbers given, the first to arrive being 1.
class LoseByNumber : public ErrorModel
{
  public:
    explicit LoseByNumber(std::vector<uint64_t> numbers)
        : m_numbers(std::move(numbers))
    {
    }

    uint64_t lost = 0;

  private:
    bool DoCorrupt(Ptr<Packet>) override
    {
        ++m_arrived;
        if (m_next == m_numbers.size() || m_numbers[m_next] != m_arrived)
        {
            return false;
        }
        ++m_next;
        ++lost;
        return true;
    }

    void DoReset() override
    {
    }

    std::vector<uint64_t> m_numbers;
    size_t m_next = 0;
    uint64_t m_arrived = 0;
};

// Integral over time of how many packets wait.
struct Backlog
{
    std::map<const void*, uint32_t> waiting;
    double area = 0;
    Time since;

    void Change(const void* place, uint32_t now)
    {
        double total = 0;
        for (const auto& part : waiting)
        {
            total += part.second;
        }
        area += total * (Simulator::Now() - since).GetSeconds();
        since = Simulator::Now();
        waiting[place] = now;
    }
};

struct Counts
{
    Backlog backlog;
    uint64_t dropped = 0;
    uint64_t marked = 0;
    uint64_t recoveries = 0;
    uint64_t timeouts = 0;
    uint64_t echoes = 0;
    std::FILE* trace = nullptr;
};

Counts g_counts;

void
QueueLength(const void* place, uint32_t, uint32_t now)
{
    g_counts.backlog.Change(place, now);
}

void
PacketDrop(Ptr<const Packet>)
{
    ++g_counts.dropped;
}

void
DiscDrop(Ptr<const QueueDiscItem>)
{
    ++g_counts.dropped;
}

void
DiscMark(Ptr<const QueueDiscItem>, const char*)
{
    ++g_counts.marked;
}

void
CongestionState(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
{
    g_counts.recoveries += now == TcpSocketState::CA_RECOVERY;
    g_counts.timeouts += now == TcpSocketState::CA_LOSS;
    g_counts.echoes += now == TcpSocketState::CA_CWR;
}

void
TraceValue(size_t flow, const char* name, uint32_t, uint32_t now)
{
    std::fprintf(g_counts.trace, "%.6f,%zu,%s,%u\n", Simulator::Now().GetSeconds(), flow, name, now);
}

void
WatchSocket(Ptr<BulkSendApplication> app, size_t flow)
{
    Ptr<Socket> socket = app->GetSocket();
    socket->TraceConnectWithoutContext("CongState", MakeCallback(&CongestionState));
    if (g_counts.trace)
    {
        socket->TraceConnectWithoutContext("CongestionWindow", MakeBoundCallback(&TraceValue, flow, "cwnd"));
        socket->TraceConnectWithoutContext("SlowStartThreshold", MakeBoundCallback(&TraceValue, flow, "ssthresh"));
    }
}

void
SetDefaults(const Run& run)
{
    RngSeedManager::SetRun(run.seed);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::" + run.algorithm));
    // What the preset `ns3` of Windlass says too; most of it is ns-3's default.
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", StringValue("ns3::TcpPrrRecovery"));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(run.mss));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(run.buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(run.buffer));
    for (const auto& [name, value] : run.attributes)
    {
        Config::SetDefault("ns3::" + name, StringValue(value));
    }
}

// A RED queue that marks every arrival from `mark` waiting packets on, as RFC 8257 section 5 wants of a switch. The
// device keeps one of the waiting packets for itself.
void
InstallMarking(const Run& run, Ptr<NetDevice> device)
{
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::RedQueueDisc",
                             "UseEcn", BooleanValue(true),
                             "UseHardDrop", BooleanValue(false),
                             "Gentle", BooleanValue(false),
                             "QW", DoubleValue(1),
                             "MeanPktSize", UintegerValue(run.mss + 52),
                             "MinTh", DoubleValue(run.mark - 1),
                             "MaxTh", DoubleValue(run.mark - 1),
                             "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, run.queue - 1)));
    Ptr<QueueDisc> disc = control.Install(device).Get(0);
    disc->TraceConnectWithoutContext("PacketsInQueue", MakeBoundCallback(&QueueLength, (const void*)PeekPointer(disc)));
    disc->TraceConnectWithoutContext("Drop", MakeCallback(&DiscDrop));
    disc->TraceConnectWithoutContext("Mark", MakeCallback(&DiscMark));
}

NetDeviceContainer
BuildNetwork(const Run& run, const NodeContainer& nodes)
{
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    PointToPointHelper link;
    link.SetDeviceAttribute("Mtu", UintegerValue(run.mss + 52));
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(run.rate))));
    link.SetChannelAttribute("Delay", TimeValue(Seconds(run.delay)));
    uint32_t own = run.mark ? 1 : run.queue;
    link.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, own)));
    NetDeviceContainer devices = link.Install(nodes);
    // Acknowledgements must never wait for room.
    DynamicCast<PointToPointNetDevice>(devices.Get(1))->GetQueue()->SetMaxSize(QueueSize("1000000p"));
    if (run.mark)
    {
        InstallMarking(run, devices.Get(0));
    }
    Ipv4AddressHelper ip("10.0.0.0", "255.255.255.252");
    ip.Assign(devices);
    // Assigning addresses gives a device without a discipline one (FqCoDel).
    TrafficControlHelper control;
    control.Uninstall(devices.Get(1));
    if (!run.mark)
    {
        control.Uninstall(devices.Get(0));
    }
    // A device without room says so, and the layer above drops.
    nodes.Get(0)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop", MakeCallback(&PacketDrop));
    Ptr<Queue<Packet>> queue = DynamicCast<PointToPointNetDevice>(devices.Get(0))->GetQueue();
    queue->TraceConnectWithoutContext("PacketsInQueue",
                                      MakeBoundCallback(&QueueLength, (const void*)PeekPointer(queue)));
    queue->TraceConnectWithoutContext("Drop", MakeCallback(&PacketDrop));
    return devices;
}

ApplicationContainer
InstallFlows(const Run& run, const NodeContainer& nodes)
{
    Ipv4Address receiver = nodes.Get(1)->GetObject<Ipv4>()->GetAddress(1, 0).GetLocal();
    ApplicationContainer sinks;
    for (size_t i = 0; i < run.starts.size(); ++i)
    {
        uint16_t port = 5000 + i;
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(receiver, port));
        bulk.SetAttribute("MaxBytes", UintegerValue(0)); // endless
        bulk.SetAttribute("SendSize", UintegerValue(run.mss));
        ApplicationContainer source = bulk.Install(nodes.Get(0));
        source.Start(Seconds(run.starts[i]));
        Simulator::Schedule(Seconds(run.starts[i]) + NanoSeconds(1),
                            &WatchSocket,
                            DynamicCast<BulkSendApplication>(source.Get(0)),
                            i);
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(nodes.Get(1)));
    }
    return sinks;
}

void
Print(const Run& run, const ApplicationContainer& sinks, uint64_t lost)
{
    std::printf("{\"key\":\"%s\",\"goodput_bps\":[", run.key.c_str());
    for (uint32_t i = 0; i < sinks.GetN(); ++i)
    {
        double seconds = run.duration - run.starts[i];
        std::printf("%s%.0f", i ? "," : "", DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx() * 8.0 / seconds);
    }
    std::printf("],\"queue_pkts\":%.4f,\"dropped\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"marked\":%" PRIu64
                ",\"recoveries\":%" PRIu64 ",\"timeouts\":%" PRIu64 ",\"echoes\":%" PRIu64 ",\"events\":%" PRIu64 "}\n",
                g_counts.backlog.area / run.duration,
                g_counts.dropped,
                lost,
                g_counts.marked,
                g_counts.recoveries,
                g_counts.timeouts,
                g_counts.echoes,
                uint64_t(Simulator::GetEventCount()));
}

void
Simulate(const Run& run)
{
    SetDefaults(run);
    if (!run.trace.empty())
    {
        g_counts.trace = std::fopen(run.trace.c_str(), "w");
        if (!g_counts.trace)
        {
            throw std::runtime_error("cannot write " + run.trace);
        }
    }
    NodeContainer nodes;
    nodes.Create(2);
    NetDeviceContainer devices = BuildNetwork(run, nodes);
    Ptr<LoseByNumber> losses = Create<LoseByNumber>(run.lost);
    DynamicCast<PointToPointNetDevice>(devices.Get(1))->SetReceiveErrorModel(losses);
    ApplicationContainer sinks = InstallFlows(run, nodes);
    Simulator::Stop(Seconds(run.duration));
    Simulator::Run();
    g_counts.backlog.Change(nullptr, 0);
    Print(run, sinks, losses->lost);
    if (g_counts.trace)
    {
        std::fclose(g_counts.trace);
    }
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

// Runs one line in a child, which prints the result itself.
void
RunLine(const std::string& line)
{
    pid_t child = fork();
    if (child < 0)
    {
        throw std::runtime_error("fork failed");
    }
    if (child == 0)
    {
        // ns-3's list of segments is searched from one end, so that a large window with many losses takes hours.
        rlimit limit{LONGEST_CPU_S, LONGEST_CPU_S};
        setrlimit(RLIMIT_CPU, &limit);
        int code = 0;
        try
        {
            Simulate(Run(Parse(line)));
        }
        catch (const std::exception& error)
        {
            std::fprintf(stderr, "validate: %s\n", error.what());
            code = 2;
        }
        std::fflush(stdout);
        _exit(code);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0)
    {
        Words words = Parse(line);
        std::printf("{\"key\":\"%s\",\"failed\":%d}\n", words["key"].c_str(), status);
        std::fflush(stdout);
    }
}

} // namespace

int
main()
{
    for (std::string line; std::getline(std::cin, line);)
    {
        if (!line.empty())
        {
            RunLine(line);
        }
    }
    return 0;
}
