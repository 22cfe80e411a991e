// Ten seconds of one flow over 10 Mbps and 80 ms, with an algorithm of Windlass: ./example cubic
// SPDX-License-Identifier: MIT OR Apache-2.0 (this file; ns-3 itself is GPL-2.0-only)
#include "tcp-windlass.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/point-to-point-module.h"

#include <cstdio>

using namespace ns3;

int
main(int count, char** words)
{
    // These two lines are all that a script of one's own needs.
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpWindlass::GetTypeId()));
    Config::SetDefault("ns3::TcpWindlass::Algorithm", StringValue(count > 1 ? words[1] : "tcp-modified"));
    if (count > 2)
    {
        Config::SetDefault("ns3::TcpWindlass::Parameters", StringValue(words[2]));
    }
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 20));

    NodeContainer nodes(2);
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
    link.SetChannelAttribute("Delay", StringValue("40ms"));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("67p"));
    link.DisableFlowControl();
    NetDeviceContainer devices = link.Install(nodes);
    InternetStackHelper().Install(nodes);
    Ipv4InterfaceContainer at = Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);
    BulkSendHelper("ns3::TcpSocketFactory", InetSocketAddress(at.GetAddress(1), 5000)).Install(nodes.Get(0));
    Ptr<Application> sink =
        PacketSinkHelper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000)).Install(nodes.Get(1)).Get(0);
    Simulator::Stop(Seconds(10));
    Simulator::Run();
    std::printf("%.3f Mbit/s\n", DynamicCast<PacketSink>(sink)->GetTotalRx() * 8 / 10e6);
    Simulator::Destroy();
}
