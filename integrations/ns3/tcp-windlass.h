// Windlass's algorithms as one congestion control of ns-3: `ns3::TcpWindlass`, the algorithm an attribute.
// SPDX-License-Identifier: MIT OR Apache-2.0 (this file; ns-3's headers, which it includes, are GPL-2.0-only)
#ifndef TCP_WINDLASS_H
#define TCP_WINDLASS_H

#include "../c/include/windlass.h"

#include "ns3/random-variable-stream.h"
#include "ns3/tcp-congestion-ops.h"
#include "ns3/tcp-socket-state.h"

#include <fstream>
#include <string>
#include <vector>

namespace ns3
{

/**
 * Any algorithm of Windlass by name. It has the window to itself (`HasCongControl`): ns-3's recovery, its increase of
 * the window and its pacing rate are not asked. Losses, retransmissions, round trips and timers are ns-3's.
 */
class TcpWindlass : public TcpCongestionOps
{
  public:
    /**
     * \brief The type, with the attributes Algorithm, Stack, SlowStart, Parameters and Recording.
     * \return the type
     */
    static TypeId GetTypeId();
    TcpWindlass();
    /**
     * \brief The same algorithm for another socket: settings only, no state.
     * \param other the one whose settings are taken
     */
    TcpWindlass(const TcpWindlass& other);

    std::string GetName() const override;
    void Init(Ptr<TcpSocketState> tcb) override;
    uint32_t GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight) override;
    void CongestionStateSet(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCongState_t newState) override;
    void CwndEvent(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCAEvent_t event) override;
    bool HasCongControl() const override;
    void CongControl(Ptr<TcpSocketState> tcb,
                     const TcpRateOps::TcpRateConnection& rc,
                     const TcpRateOps::TcpRateSample& rs) override;
    Ptr<TcpCongestionOps> Fork() override;

    /**
     * \brief Fixes the stream of random numbers.
     * \param stream the first number of a stream
     * \return how many streams were taken
     */
    int64_t AssignStreams(int64_t stream);

  private:
    void MakeParameters();
    void SetParameter(const std::string& setting);
    void Begin(Ptr<TcpSocketState> tcb);
    void Record();
    void Account(Ptr<TcpSocketState> tcb, uint32_t inFlight);
    void TellPath(Ptr<TcpSocketState> tcb);
    void Turn(windlass_phase phase);
    void Obey(Ptr<TcpSocketState> tcb);
    windlass_phase PhaseOf(TcpSocketState::TcpCongState_t state) const;
    windlass_params* Params();
    windlass_state* State();

    std::string m_algorithm{"cubic"};
    std::string m_stack{"rfc"};
    std::string m_slowStart;
    std::string m_settings;
    std::string m_recording;
    Ptr<UniformRandomVariable> m_random;
    // Of one connection; empty until its first event.
    std::vector<uint64_t> m_params;
    std::vector<uint64_t> m_state;
    windlass_conn m_conn{};
    std::ofstream m_file;
    windlass_wants_of_host m_wants{};
    // The window that was answered last, in bytes.
    uint64_t m_window{0};
    // What TCP counts in 32 bits, up to which the facts are brought.
    SequenceNumber32 m_una;
    SequenceNumber32 m_highest;
};

} // namespace ns3

#endif // TCP_WINDLASS_H
