// Builds the links: their devices, queues and losses, connected to the counters.
// SPDX-License-Identifier: MIT OR Apache-2.0 (this file; ns-3 itself is GPL-2.0-only)
#ifndef NETWORK_LINKS_H
#define NETWORK_LINKS_H

#include "probes.h"
#include "run.h"

#include "ns3/core-module.h"
#include "ns3/error-model.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <string>
#include <utility>
#include <vector>

namespace network
{

using namespace ns3;

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

inline void
WatchDisc(Direction& of, Ptr<QueueDisc> disc)
{
    disc->TraceConnectWithoutContext("PacketsInQueue", MakeBoundCallback(&DiscLength, &of));
    disc->TraceConnectWithoutContext("Enqueue", MakeBoundCallback(&DiscHanded, &of));
    disc->TraceConnectWithoutContext("Mark", MakeBoundCallback(&DiscMark, &of));
}

// A RED queue that marks every arrival from so many waiting packets on, as RFC 8257 section 5 wants of a switch. The
// device keeps one of the waiting packets for itself.
inline void
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
inline void
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

inline void
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
        DynamicCast<PointToPointNetDevice>(far)->SetReceiveErrorModel(CreateObject<LoseByNumber>(of.lost));
    }
}

inline void
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

} // namespace network

#endif // NETWORK_LINKS_H
