/* One connection in slow motion: a sender over a pipe of 50 segments with a queue of 25, for 30 s. What the queue does
 * not hold is lost and found a round trip later.
 *
 *   cc -Iinclude example.c libwindlass.a -lm -lpthread -ldl -o example && ./example cubic */
#include <stdio.h>
#include <stdlib.h>
#include "windlass.h"

enum { MSS = 1448, PIPE = 50, QUEUE = 25 };
static const uint64_t RTT = 40000000, SERVICE = RTT / PIPE, END = 30000000000;

static void must(windlass_status status) {
  if (status == WINDLASS_STATUS_OK) return;
  fprintf(stderr, "%s\n", windlass_status_text(status));
  exit(1);
}

int main(int count, char **words) {
  const char *algorithm = count > 1 ? words[1] : "reno";
  windlass_params *params = malloc(windlass_params_size());
  windlass_state *state = malloc(windlass_state_size());
  windlass_conn conn;
  windlass_answer answer;
  windlass_ack ack;
  windlass_wants_of_host wants;
  if (windlass_abi_version() != WINDLASS_ABI_VERSION || !params || !state) return 1;
  must(windlass_params_init(params, windlass_params_size(), algorithm, "linux"));
  must(windlass_conn_init(&conn, MSS));
  must(windlass_init(state, windlass_state_size(), params, &conn));
  uint64_t recover = 0, reductions = 0, shown = 0;
  while (conn.now < END) {
    must(windlass_control(state, params, &conn, &answer));
    while (conn.in_flight + MSS <= answer.cwnd || conn.in_flight == 0) {
      conn.in_flight += MSS, conn.sent += MSS, conn.next_id += MSS;
    }
    uint64_t flight = conn.in_flight / MSS, waits = flight > PIPE ? flight - PIPE : 0;
    conn.now += flight >= PIPE ? SERVICE : RTT / flight;
    must(windlass_ack_init(&ack, MSS));
    ack.prior_in_flight = conn.in_flight;
    ack.rtt = RTT + waits * SERVICE;
    conn.srtt = conn.srtt == WINDLASS_UNKNOWN ? ack.rtt : conn.srtt - conn.srtt / 8 + ack.rtt / 8;
    conn.min_rtt = conn.min_rtt < ack.rtt ? conn.min_rtt : ack.rtt;
    conn.una += MSS, conn.delivered += MSS, conn.in_flight -= MSS;
    conn.flight_size = conn.next_id - conn.una;
    must(windlass_on_ack(state, params, &conn, &ack));
    windlass_phase next = conn.phase;
    if (next == WINDLASS_PHASE_RECOVERY && conn.una >= recover) next = WINDLASS_PHASE_OPEN;
    if (next == WINDLASS_PHASE_OPEN && waits > QUEUE) next = WINDLASS_PHASE_RECOVERY, recover = conn.next_id;
    if (next != conn.phase) {
      windlass_phase before = conn.phase;
      conn.phase = next;
      reductions += next == WINDLASS_PHASE_RECOVERY;
      must(windlass_on_phase(state, params, &conn, before, next));
    }
    for (; shown < conn.now; shown += 1000000000) printf("%llu s  cwnd %llu segments\n",
        (unsigned long long)(shown / 1000000000), (unsigned long long)(answer.cwnd / MSS));
  }
  must(windlass_wants(params, &wants));
  printf("%s: %llu reductions, %.2f Mbit/s%s\n", algorithm, (unsigned long long)reductions,
      conn.delivered * 8e3 / conn.now, wants.rate_samples ? " (it wants rate samples, and has none here)" : "");
  free(state), free(params);
  return 0;
}
