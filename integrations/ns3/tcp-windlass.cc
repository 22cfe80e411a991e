// Windlass's algorithms as one congestion control of ns-3.
// SPDX-License-Identifier: MIT OR Apache-2.0 (this file; ns-3's headers, which it includes, are GPL-2.0-only)
#include "tcp-windlass.h"

#include "ns3/fatal-error.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(TcpWindlass);

namespace
{

void
Must(windlass_status status, const std::string& what)
{
    if (status != WINDLASS_STATUS_OK)
    {
        NS_FATAL_ERROR("TcpWindlass: " << what << ": " << windlass_status_text(status));
    }
}

uint64_t
Known(const Time& time)
{
    return time == Time::Max() || time.IsZero() ? WINDLASS_UNKNOWN : uint64_t(time.GetNanoSeconds());
}

size_t
Words(size_t bytes)
{
    return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

} // namespace

TypeId
TcpWindlass::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::TcpWindlass")
            .SetParent<TcpCongestionOps>()
            .SetGroupName("Internet")
            .AddConstructor<TcpWindlass>()
            .AddAttribute("Algorithm",
                          "Name of the algorithm, as `windlass algorithms` lists it.",
                          StringValue("cubic"),
                          MakeStringAccessor(&TcpWindlass::m_algorithm),
                          MakeStringChecker())
            .AddAttribute("Stack",
                          "Whose version of it: `rfc` (the paper's or RFC's), `linux` or `ns3`.",
                          StringValue("rfc"),
                          MakeStringAccessor(&TcpWindlass::m_stack),
                          MakeStringChecker())
            .AddAttribute("SlowStart",
                          "Name of the slow start; empty for the one that the algorithm wants.",
                          StringValue(""),
                          MakeStringAccessor(&TcpWindlass::m_slowStart),
                          MakeStringChecker())
            .AddAttribute("Parameters",
                          "NAME=VALUE, separated by blanks or commas; a value is a word, or a number in bytes, "
                          "nanoseconds or 65536ths (windlass_param_at).",
                          StringValue(""),
                          MakeStringAccessor(&TcpWindlass::m_settings),
                          MakeStringChecker())
            .AddAttribute("Recording",
                          "Begin of the names of the files in which each connection writes all events and answers of its "
                          "algorithm, for `windlass replay --recorded`; NODE-NUMBER.jsonl follows. Empty: no files.",
                          StringValue(""),
                          MakeStringAccessor(&TcpWindlass::m_recording),
                          MakeStringChecker());
    return tid;
}

TcpWindlass::TcpWindlass()
    : m_random(CreateObject<UniformRandomVariable>())
{
    if (windlass_abi_version() != WINDLASS_ABI_VERSION)
    {
        NS_FATAL_ERROR("TcpWindlass: windlass.h is of version " << WINDLASS_ABI_VERSION << ", libwindlass.a of version "
                                                                << windlass_abi_version());
    }
}

TcpWindlass::TcpWindlass(const TcpWindlass& other)
    : TcpCongestionOps(other),
      m_algorithm(other.m_algorithm),
      m_stack(other.m_stack),
      m_slowStart(other.m_slowStart),
      m_settings(other.m_settings),
      m_recording(other.m_recording),
      m_random(other.m_random)
{
}

std::string
TcpWindlass::GetName() const
{
    return "TcpWindlass";
}

Ptr<TcpCongestionOps>
TcpWindlass::Fork()
{
    return CopyObject<TcpWindlass>(this);
}

bool
TcpWindlass::HasCongControl() const
{
    return true;
}

int64_t
TcpWindlass::AssignStreams(int64_t stream)
{
    m_random->SetStream(stream);
    return 1;
}

windlass_params*
TcpWindlass::Params()
{
    return reinterpret_cast<windlass_params*>(m_params.data());
}

windlass_state*
TcpWindlass::State()
{
    return reinterpret_cast<windlass_state*>(m_state.data());
}

void
TcpWindlass::MakeParameters()
{
    m_params.assign(Words(windlass_params_size()), 0);
    Must(windlass_params_init(Params(), windlass_params_size(), m_algorithm.c_str(), m_stack.c_str()),
         m_algorithm + " as " + m_stack + " has it");
    // ns-3's sockets find losses by their scoreboard; whoever turns that off says so among the parameters.
    Must(windlass_param_set_word(Params(), "recovery", "prr"), "recovery");
    if (!m_slowStart.empty())
    {
        Must(windlass_params_slow_start(Params(), m_slowStart.c_str()), "slow start " + m_slowStart);
    }
    std::string settings = m_settings;
    std::replace(settings.begin(), settings.end(), ',', ' ');
    std::istringstream words(settings);
    for (std::string setting; words >> setting;)
    {
        SetParameter(setting);
    }
    Must(windlass_wants(Params(), &m_wants), m_algorithm);
}

void
TcpWindlass::SetParameter(const std::string& setting)
{
    size_t equals = setting.find('=');
    std::string name = setting.substr(0, equals);
    std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
    bool number = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
    uint64_t parsed = 0;
    if (number && !(std::istringstream(value) >> parsed))
    {
        Must(WINDLASS_STATUS_OUT_OF_RANGE, setting);
    }
    Must(number ? windlass_param_set(Params(), name.c_str(), parsed)
                : windlass_param_set_word(Params(), name.c_str(), value.c_str()),
         setting);
}

void
TcpWindlass::Init(Ptr<TcpSocketState> tcb)
{
    // Bad settings are told before the run. The connection begins later: the segment size may still change.
    MakeParameters();
    if (m_wants.marks == WINDLASS_MARKS_EXACT)
    {
        tcb->m_useEcn = TcpSocketState::On;
        tcb->m_ecnMode = TcpSocketState::DctcpEcn;
    }
}

// The first event of the connection.
void
TcpWindlass::Begin(Ptr<TcpSocketState> tcb)
{
    if (!m_state.empty())
    {
        return;
    }
    MakeParameters();
    Must(windlass_param_set(Params(), "initial_window", uint64_t(tcb->m_initialCWnd) * tcb->m_segmentSize),
         "initial window");
    Must(windlass_conn_init(&m_conn, tcb->m_segmentSize), "segment size");
    m_conn.now = Simulator::Now().GetNanoSeconds();
    m_state.assign(Words(windlass_state_size()), 0);
    Must(windlass_init(State(), windlass_state_size(), Params(), &m_conn), m_algorithm);
    // ns-3's connections begin at 0 with the SYN.
    m_una = m_highest = SequenceNumber32(1);
    if (!m_recording.empty())
    {
        Record();
    }
}

// Into a file of the connection's own, by its node and its number there.
void
TcpWindlass::Record()
{
    static std::map<uint32_t, uint32_t> numbers;
    uint32_t node = Simulator::GetContext();
    std::string name = std::to_string(node) + "-" + std::to_string(numbers[node]++);
    std::string path = m_recording + name + ".jsonl";
    m_file.open(path);
    auto write = [](void* file, const char* line, size_t bytes) { static_cast<std::ofstream*>(file)->write(line, bytes); };
    Must(windlass_record(State(), Params(), &m_conn, name.c_str(), "ns-3", write, &m_file), path);
    if (!m_file)
    {
        NS_FATAL_ERROR("TcpWindlass: " << path << " cannot be written");
    }
}

// Brings the facts up to date. What is no longer in flight and was not delivered was lost: ns-3 tells no list of losses.
void
TcpWindlass::Account(Ptr<TcpSocketState> tcb, uint32_t inFlight)
{
    m_conn.now = Simulator::Now().GetNanoSeconds();
    m_conn.entropy = m_random->GetInteger(0, UINT32_MAX);
    m_conn.flags = tcb->m_isCwndLimited ? WINDLASS_CWND_LIMITED : 0;
    m_conn.srtt = Known(tcb->m_srtt);
    m_conn.min_rtt = Known(tcb->m_minRtt);
    SequenceNumber32 highest = tcb->m_highTxMark;
    if (highest > m_highest)
    {
        m_conn.next_id += highest - m_highest;
        m_highest = highest;
    }
    m_conn.flight_size = m_conn.next_id - m_conn.una;
    m_conn.in_flight = inFlight;
    m_conn.sent = m_conn.delivered + m_conn.lost + m_conn.in_flight;
}

windlass_phase
TcpWindlass::PhaseOf(TcpSocketState::TcpCongState_t state) const
{
    switch (state)
    {
    case TcpSocketState::CA_RECOVERY:
        return WINDLASS_PHASE_RECOVERY;
    case TcpSocketState::CA_LOSS:
        return WINDLASS_PHASE_LOSS;
    case TcpSocketState::CA_CWR:
        // Who counts marks answers them itself.
        return m_wants.marks == WINDLASS_MARKS_EXACT ? WINDLASS_PHASE_OPEN : WINDLASS_PHASE_CWR;
    default:
        return WINDLASS_PHASE_OPEN;
    }
}

// A connection of one path: algorithms that couple paths count themselves too.
void
TcpWindlass::TellPath(Ptr<TcpSocketState> tcb)
{
    windlass_path path{};
    path.cwnd = tcb->m_cWnd;
    path.ssthresh = tcb->m_ssThresh;
    path.srtt = m_conn.srtt;
    path.min_rtt = m_conn.min_rtt;
    path.mss = m_conn.mss;
    path.phase = m_conn.phase;
    Must(windlass_disclosed(State(), &path.disclosed), "paths");
    Must(windlass_on_group(State(), Params(), &m_conn, &path, 1, 0), "paths");
}

void
TcpWindlass::Turn(windlass_phase phase)
{
    windlass_phase before = m_conn.phase;
    m_conn.phase = phase;
    // Beyond a hole lies what has long arrived: what a loss right after a recovery cuts is no more than the window (RFC 5681,
    // equation 4). Linux cuts the window itself, whole segments of it.
    bool lost = before != WINDLASS_PHASE_RECOVERY && (phase == WINDLASS_PHASE_RECOVERY || phase == WINDLASS_PHASE_LOSS);
    uint64_t whole = m_window - m_window % m_conn.mss;
    m_conn.flight_size = lost && m_stack == "linux" ? whole : std::min(m_conn.flight_size, m_window);
    Must(windlass_on_phase(State(), Params(), &m_conn, before, phase), "phase");
}

void
TcpWindlass::Obey(Ptr<TcpSocketState> tcb)
{
    windlass_answer answer;
    Must(windlass_control(State(), Params(), &m_conn, &answer), "control");
    m_window = answer.cwnd;
    auto bytes = [](uint64_t volume) { return uint32_t(std::min<uint64_t>(volume, UINT32_MAX)); };
    tcb->m_cWnd = bytes(answer.cwnd);
    tcb->m_cWndInfl = tcb->m_cWnd;
    tcb->m_ssThresh = bytes(answer.ssthresh);
    if (answer.pacing > 0)
    {
        tcb->m_pacing = true;
        tcb->m_pacingRate = std::min(DataRate(8 * answer.pacing), tcb->m_maxPacingRate);
    }
}

// Asked before the phase is known; the threshold that counts comes with the phase.
uint32_t
TcpWindlass::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t)
{
    return tcb->m_ssThresh;
}

// The other phases come with an acknowledgement, which the algorithm sees first (CongControl).
void
TcpWindlass::CongestionStateSet(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCongState_t newState)
{
    if (newState != TcpSocketState::CA_LOSS || tcb->m_segmentSize == 0)
    {
        return;
    }
    Begin(tcb);
    m_conn.lost += m_conn.in_flight;
    Account(tcb, 0);
    Turn(WINDLASS_PHASE_LOSS);
    Obey(tcb);
}

void
TcpWindlass::CwndEvent(Ptr<TcpSocketState> tcb, const TcpSocketState::TcpCAEvent_t event)
{
    // What is outstanding was not sent after an idle time: after a timeout nothing counts as in flight. ns-3 lets one segment
    // leave then, and a window that is opened meanwhile fails its assertion.
    bool outstanding = tcb->m_lastAckedSeq < tcb->m_highTxMark;
    if (event != TcpSocketState::CA_EVENT_TX_START || m_state.empty() || outstanding)
    {
        return;
    }
    uint64_t gap = Simulator::Now().GetNanoSeconds() - m_conn.now;
    Account(tcb, 0);
    // ns-3 does not let the window fall back.
    Must(windlass_on_idle_restart(State(), Params(), &m_conn, gap, 0), "idle restart");
    Obey(tcb);
}

void
TcpWindlass::CongControl(Ptr<TcpSocketState> tcb,
                         const TcpRateOps::TcpRateConnection& rc,
                         const TcpRateOps::TcpRateSample& rs)
{
    Begin(tcb);
    windlass_ack ack;
    Must(windlass_ack_init(&ack, 0), "acknowledgement");
    SequenceNumber32 una = tcb->m_lastAckedSeq;
    ack.acked = una > m_una ? una - m_una : 0;
    m_una = std::max(una, m_una);
    m_conn.una += ack.acked;
    ack.delivered = rs.m_ackedSacked;
    m_conn.delivered = rc.m_delivered;
    ack.prior_in_flight = rs.m_priorInFlight;
    uint64_t left = std::min<uint64_t>(rs.m_priorInFlight, uint64_t(tcb->m_bytesInFlight) + ack.delivered);
    ack.lost = rs.m_priorInFlight - left;
    m_conn.lost += ack.lost;
    Account(tcb, tcb->m_bytesInFlight);
    ack.duplicate = ack.acked == 0;
    if (ack.acked > 0)
    {
        ack.rtt = Known(tcb->m_lastRtt);
    }
    if (m_wants.marks == WINDLASS_MARKS_EXACT && tcb->m_ecnState == TcpSocketState::ECN_ECE_RCVD)
    {
        ack.ce = ack.delivered;
    }
    if (rs.IsValid() && rs.m_delivered > 0)
    {
        ack.rate.delivered = rs.m_delivered;
        ack.rate.interval = Known(rs.m_interval);
        ack.rate.prior_delivered = rs.m_priorDelivered;
        ack.rate.lost = ack.lost;
        ack.rate.tx_in_flight = rs.m_priorInFlight;
        ack.rate.app_limited = rs.m_isAppLimited;
    }
    if (ack.lost > 0)
    {
        windlass_loss loss{ack.lost, ack.prior_in_flight, ack.lost, rs.m_isAppLimited};
        Must(windlass_on_loss(State(), Params(), &m_conn, &loss), "loss");
    }
    TellPath(tcb);
    Must(windlass_on_ack(State(), Params(), &m_conn, &ack), "acknowledgement");
    windlass_phase phase = PhaseOf(tcb->m_congState);
    if (phase != m_conn.phase)
    {
        Turn(phase);
    }
    Obey(tcb);
}

} // namespace ns3
