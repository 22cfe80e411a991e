// A scenario of Windlass in ns-3: nodes, point-to-point links, and TCP flows that send in bulk.
// SPDX-License-Identifier: MIT OR Apache-2.0 (this file; ns-3 itself is GPL-2.0-only)
//
// Standard input says what to simulate, a line each thing, and standard output has the result as one JSON object. The
// links' fields are those of Windlass's own results, counted at the same places.
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
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/error-model.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cinttypes>
#include <cstdio>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace ns3;

namespace
{

// ns-3's list of segments is searched from one end, so that a large window with many losses takes hours.
const rlim_t LONGEST_CPU_S = 3600;
const uint16_t FIRST_PORT = 5000;
const uint32_t PPP = 2;

std::vector<std::string>
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

std::deque<Flow> g_flows;
std::deque<Link> g_links;
uint32_t g_nodes = 0, g_segment = 0;
int64_t g_duration = 0, g_interval = 0;
std::set<std::string> g_series;
std::map<std::pair<size_t, std::string>, int64_t> g_sampled;
std::string g_samples;

Direction&
DirectionAt(size_t link, size_t direction)
{
    return g_links.at(link).directions[direction ? 1 : 0];
}

void
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

// Loses the frames with the numbers given, the first to arrive being 1.
class LoseByNumber : public ErrorModel
{
  public:
    explicit LoseByNumber(std::vector<uint64_t> numbers)
        : m_numbers(std::move(numbers))
    {
    }

  private:
    bool DoCorrupt(Ptr<Packet>) override
    {
        ++m_arrived;
        if (m_next == m_numbers.size() || m_numbers[m_next] != m_arrived)
        {
            return false;
        }
        ++m_next;
        return true;
    }

    void DoReset() override
    {
    }

    std::vector<uint64_t> m_numbers;
    size_t m_next = 0;
    uint64_t m_arrived = 0;
};

// The flow whose data a segment carries; null for an answer.
Flow*
FlowOfData(const TcpHeader& header)
{
    uint16_t port = header.GetDestinationPort();
    return port >= FIRST_PORT && size_t(port - FIRST_PORT) < g_flows.size() ? &g_flows.at(port - FIRST_PORT) : nullptr;
}

// A packet that is lost: from the device's queue and the wire with PPP's header, from a discipline without IP's.
void
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

void
DeviceLength(Direction* of, uint32_t, uint32_t now)
{
    of->Waits(1, now);
}

void
DiscLength(Direction* of, uint32_t, uint32_t now)
{
    of->Waits(0, now);
}

void
Handed(Direction* of, Ptr<const Packet>)
{
    ++of->handed;
}

void
DiscHanded(Direction* of, Ptr<const QueueDiscItem> item)
{
    ++of->handed;
    of->bytes += item->GetSize();
}

void
Enqueued(Direction* of, Ptr<const Packet> packet)
{
    of->bytes += packet->GetSize() - PPP;
}

void
QueueDrop(Direction* of, Ptr<const Packet> packet)
{
    ++of->drops_queue;
    CountLoss(packet, true);
}

void
DiscDrop(Direction* of, Ptr<const QueueDiscItem> item)
{
    ++of->handed;
    ++of->drops_queue;
    CountLoss(item->GetPacket(), false);
}

void
DiscDropLater(Direction* of, Ptr<const QueueDiscItem> item, const char* reason)
{
    ++of->drops_queue;
    of->drops_early += std::string(reason) != FqCoDelQueueDisc::OVERLIMIT_DROP;
    of->bytes -= item->GetSize();
    CountLoss(item->GetPacket(), false);
}

void
DiscMark(Direction* of, Ptr<const QueueDiscItem>, const char*)
{
    ++of->marks;
}

void
Begun(Direction* of, Ptr<const Packet> packet)
{
    ++of->begun;
    of->bits += 8 * packet->GetSize();
}

void
Arrived(Direction* of, Ptr<const Packet>)
{
    ++of->delivered;
}

void
WireDrop(Direction* of, Ptr<const Packet> packet)
{
    ++of->drops_error;
    CountLoss(packet, true);
}

void
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

void
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

void
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

void
Window(size_t flow, uint32_t, uint32_t now)
{
    g_flows.at(flow).cwnd = now;
    Sample(flow, "cwnd_bytes", now);
}

void
Number(std::pair<size_t, const char*> of, uint32_t, uint32_t now)
{
    Sample(of.first, of.second, now);
}

void
SmoothedRtt(size_t flow, Time, Time now)
{
    g_flows.at(flow).srtt = now.GetNanoSeconds();
    Sample(flow, "srtt_ns", now.GetNanoSeconds());
}

void
LastRtt(size_t flow, Time, Time now)
{
    int64_t& least = g_flows.at(flow).min_rtt;
    least = least < 0 ? now.GetNanoSeconds() : std::min(least, now.GetNanoSeconds());
}

void
Rto(size_t flow, Time, Time now)
{
    Sample(flow, "rto_ns", now.GetNanoSeconds());
}

void
CongestionState(size_t flow, TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
{
    Flow& f = g_flows.at(flow);
    f.recoveries += now == TcpSocketState::CA_RECOVERY;
    f.timeouts += now == TcpSocketState::CA_LOSS;
    f.echoes += now == TcpSocketState::CA_CWR;
}

// A node has one algorithm for all its sockets, so that a second one is given to the socket itself. It has sent its SYN
// then, and nothing else.
void
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

void
WatchDisc(Direction& of, Ptr<QueueDisc> disc)
{
    disc->TraceConnectWithoutContext("PacketsInQueue", MakeBoundCallback(&DiscLength, &of));
    disc->TraceConnectWithoutContext("Enqueue", MakeBoundCallback(&DiscHanded, &of));
    disc->TraceConnectWithoutContext("Mark", MakeBoundCallback(&DiscMark, &of));
}

// A RED queue that marks every arrival from so many waiting packets on, as RFC 8257 section 5 wants of a switch. The
// device keeps one of the waiting packets for itself.
void
InstallMarking(Direction& of, uint32_t mtu)
{
    uint32_t waiting = std::stoul(of.limit);
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::RedQueueDisc",
                             "UseEcn", BooleanValue(true),
                             "UseHardDrop", BooleanValue(false),
                             "Gentle", BooleanValue(false),
                             "QW", DoubleValue(1),
                             "MeanPktSize", UintegerValue(mtu),
                             "MinTh", DoubleValue(of.mark - 1),
                             "MaxTh", DoubleValue(of.mark - 1),
                             "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, waiting - 1)));
    Ptr<QueueDisc> disc = control.Install(of.device).Get(0);
    WatchDisc(of, disc);
    disc->TraceConnectWithoutContext("Drop", MakeBoundCallback(&DiscDrop, &of));
}

// FqCoDel, which drops only what it took before.
void
InstallAbove(Direction& of)
{
    const Above& above = of.above;
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::FqCoDelQueueDisc",
                             "MaxSize", QueueSizeValue(QueueSize(of.limit)),
                             "Flows", UintegerValue(above.flows),
                             "Target", StringValue(std::to_string(above.target) + "ns"),
                             "Interval", StringValue(std::to_string(above.interval) + "ns"),
                             "UseEcn", BooleanValue(above.ecn));
    Ptr<FqCoDelQueueDisc> disc = DynamicCast<FqCoDelQueueDisc>(control.Install(of.device).Get(0));
    disc->SetQuantum(above.quantum);
    WatchDisc(of, disc);
    disc->TraceConnectWithoutContext("DropAfterDequeue", MakeBoundCallback(&DiscDropLater, &of));
}

void
WatchDirection(Direction& of, Ptr<NetDevice> far)
{
    Ptr<PointToPointNetDevice> device = DynamicCast<PointToPointNetDevice>(of.device);
    Ptr<Queue<Packet>> queue = device->GetQueue();
    if (!of.HasDisc())
    {
        device->TraceConnectWithoutContext("MacTx", MakeBoundCallback(&Handed, &of));
        queue->TraceConnectWithoutContext("Enqueue", MakeBoundCallback(&Enqueued, &of));
        queue->TraceConnectWithoutContext("Drop", MakeBoundCallback(&QueueDrop, &of));
    }
    queue->TraceConnectWithoutContext("PacketsInQueue", MakeBoundCallback(&DeviceLength, &of));
    device->TraceConnectWithoutContext("PhyTxBegin", MakeBoundCallback(&Begun, &of));
    far->TraceConnectWithoutContext("MacRx", MakeBoundCallback(&Arrived, &of));
    far->TraceConnectWithoutContext("PhyRxDrop", MakeBoundCallback(&WireDrop, &of));
    if (!of.lost.empty())
    {
        DynamicCast<PointToPointNetDevice>(far)->SetReceiveErrorModel(Create<LoseByNumber>(of.lost));
    }
}

void
BuildLink(Link& link, const NodeContainer& nodes, Ipv4AddressHelper& addresses)
{
    PointToPointHelper helper;
    helper.SetDeviceAttribute("Mtu", UintegerValue(link.mtu));
    helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(link.rate)));
    helper.SetChannelAttribute("Delay", TimeValue(NanoSeconds(link.delay)));
    bool discs = link.directions[0].HasDisc() || link.directions[1].HasDisc();
    // Without a discipline above, the device's queue takes and drops by itself.
    if (!discs)
    {
        helper.DisableFlowControl();
    }
    NetDeviceContainer devices = helper.Install(nodes.Get(link.ends[0]), nodes.Get(link.ends[1]));
    addresses.Assign(devices);
    addresses.NewNetwork();
    // Assigning addresses gives a device with flow control a discipline (FqCoDel).
    if (discs)
    {
        TrafficControlHelper().Uninstall(devices);
    }
    for (int d = 0; d < 2; ++d)
    {
        Direction& of = link.directions[d];
        of.device = devices.Get(d);
        DynamicCast<PointToPointNetDevice>(of.device)->GetQueue()->SetMaxSize(QueueSize(of.DeviceLimit()));
        if (of.mark)
        {
            InstallMarking(of, link.mtu);
        }
        else if (of.above.device)
        {
            InstallAbove(of);
        }
        WatchDirection(of, devices.Get(1 - d));
    }
}

void
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

void
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

void
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

void
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
