// Saturated IEEE 802.15.4 stations about a sink in ns-3, for holding Windlass's low-power radio against ns-3's.
// SPDX-License-Identifier: MIT OR Apache-2.0 (this file; ns-3 itself is GPL-2.0-only)
//
// Every station always has a frame for the sink. All hear the sink; whether they hear each other is said. Signals
// arrive 6 dB above the noise: a frame alone is received, and one that another overlaps for long is not, whereas
// without the noise ns-3's receivers take one of two frames that arrive equally strong.
#include "ns3/core-module.h"
#include "ns3/lr-wpan-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/spectrum-module.h"

#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <vector>

using namespace ns3;
using namespace ns3::lrwpan;

namespace
{

const uint16_t PAN = 5;
const double LOSS_DB = 60.0;    // between any two that hear each other
const double UNHEARD_DB = 250.0;
const uint32_t OVERHEAD = 11;   // MAC header with short addresses, and check sequence
const double NOISE_DBM_2_MHZ = -173.975 + 63.0103; // thermal, 290 K

struct Totals
{
    uint64_t delivered = 0, unacknowledged = 0, refused = 0, attempts = 0;
    uint64_t packets = 0; // transmitted at least once
};

Totals g_totals;
uint32_t g_payload = 116;
std::vector<bool> g_fresh; // by station: its frame has not been transmitted yet

Mac16Address
AddressOf(uint32_t number)
{
    uint8_t bytes[2] = {static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number & 0xff)};
    Mac16Address address;
    address.CopyFrom(bytes);
    return address;
}

void
Send(Ptr<LrWpanNetDevice> device)
{
    McpsDataRequestParams params;
    params.m_srcAddrMode = SHORT_ADDR;
    params.m_dstAddrMode = SHORT_ADDR;
    params.m_dstPanId = PAN;
    params.m_dstAddr = AddressOf(1);
    params.m_txOptions = TX_OPTION_ACK;
    g_fresh[device->GetNode()->GetId()] = true;
    device->GetMac()->McpsDataRequest(params, Create<Packet>(g_payload));
}

void
OnConfirm(Ptr<LrWpanNetDevice> device, McpsDataConfirmParams params)
{
    switch (params.m_status)
    {
    case MacStatus::SUCCESS:
        g_totals.delivered++;
        break;
    case MacStatus::NO_ACK:
        g_totals.unacknowledged++;
        break;
    default:
        g_totals.refused++;
    }
    Simulator::ScheduleNow(&Send, device);
}

void
OnTransmit(uint32_t station, Ptr<const Packet> packet)
{
    if (packet->GetSize() > OVERHEAD)
    {
        g_totals.attempts++;
        g_totals.packets += g_fresh[station];
        g_fresh[station] = false;
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t stations = 2, frame = 127, seed = 1;
    double seconds = 100, snr = 6;
    bool hidden = false;
    CommandLine cmd;
    cmd.AddValue("stations", "stations about the sink", stations);
    cmd.AddValue("frame", "bytes from MAC header to check sequence", frame);
    cmd.AddValue("seconds", "simulated", seconds);
    cmd.AddValue("seed", "of the random numbers", seed);
    cmd.AddValue("snr", "dB, of a frame alone", snr);
    cmd.AddValue("hidden", "no two stations hear each other", hidden);
    cmd.Parse(argc, argv);
    g_payload = frame - OVERHEAD;
    g_fresh.resize(stations + 1);
    RngSeedManager::SetRun(seed);

    NodeContainer nodes;
    nodes.Create(stations + 1);
    MobilityHelper mobility;
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
    auto loss = CreateObject<MatrixPropagationLossModel>();
    loss->SetDefaultLoss(hidden ? UNHEARD_DB : LOSS_DB);
    for (uint32_t i = 1; i <= stations; i++)
    {
        loss->SetLoss(nodes.Get(0)->GetObject<MobilityModel>(), nodes.Get(i)->GetObject<MobilityModel>(), LOSS_DB);
    }
    auto channel = CreateObject<SingleModelSpectrumChannel>();
    channel->AddPropagationLossModel(loss);
    channel->SetPropagationDelayModel(CreateObject<ConstantSpeedPropagationDelayModel>());
    LrWpanHelper helper;
    helper.SetChannel(channel);
    NetDeviceContainer devices = helper.Install(nodes);

    LrWpanSpectrumValueHelper spectrum;
    spectrum.SetNoiseFactor(std::pow(10.0, (-LOSS_DB - snr - NOISE_DBM_2_MHZ) / 10.0));
    for (uint32_t i = 0; i <= stations; i++)
    {
        auto device = DynamicCast<LrWpanNetDevice>(devices.Get(i));
        device->GetMac()->SetPanId(PAN);
        device->GetMac()->SetShortAddress(AddressOf(i + 1));
        auto phy = device->GetPhy();
        phy->SetNoisePowerSpectralDensity(spectrum.CreateNoisePowerSpectralDensity(11));
        if (i > 0)
        {
            device->GetMac()->SetMcpsDataConfirmCallback(MakeBoundCallback(&OnConfirm, device));
            phy->TraceConnectWithoutContext("PhyTxBegin", MakeBoundCallback(&OnTransmit, i));
            Simulator::Schedule(MicroSeconds(10 * i), &Send, device);
        }
    }
    Simulator::Stop(Seconds(seconds));
    std::clock_t from = std::clock();
    Simulator::Run();
    double cpu = static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC;
    std::printf("{\"delivered\": %" PRIu64 ", \"unacknowledged\": %" PRIu64 ", \"refused\": %" PRIu64
                ", \"attempts\": %" PRIu64 ", \"packets\": %" PRIu64 ", \"cpu_s\": %.3f}\n",
                g_totals.delivered, g_totals.unacknowledged, g_totals.refused, g_totals.attempts, g_totals.packets, cpu);
    Simulator::Destroy();
    return 0;
}
