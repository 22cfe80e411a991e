// SPDX-License-Identifier: MIT OR Apache-2.0
// A congestion control of the kernel's own behind BPF: each event is handed to the function that the kernel's C has for it, as
// far as the kernel shows them to BPF (kfuncs). The kernel keeps statistics of BPF programs alone; so they count its own
// code too, and what stands between: some ten instructions. `windlass kernel cost linux:cubic`.
//
// Compile with -DTHEIRS_reno or -DTHEIRS_cubic.

#include "loader.h"

#define KERNELS extern __attribute__((section(".ksyms")))

// The kernel wants the kinds of types in a function's signature to be its own: none may be a mere name.
struct sock {
	unsigned long sk_pacing_rate;
};
struct ack_sample {
	u32 pkts_acked;
};
enum tcp_ca_event { CA_EVENT_TX_START };

KERNELS u32 tcp_reno_undo_cwnd(struct sock *sk);

#ifdef THEIRS_reno
KERNELS u32 tcp_reno_ssthresh(struct sock *sk);
KERNELS void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked);
#define SSTHRESH tcp_reno_ssthresh
#define CONG_AVOID tcp_reno_cong_avoid
#endif

#ifdef THEIRS_cubic
KERNELS void cubictcp_init(struct sock *sk);
KERNELS void cubictcp_cwnd_event(struct sock *sk, enum tcp_ca_event event);
KERNELS void cubictcp_state(struct sock *sk, u8 state);
KERNELS void cubictcp_acked(struct sock *sk, const struct ack_sample *sample);
KERNELS u32 cubictcp_recalc_ssthresh(struct sock *sk);
KERNELS void cubictcp_cong_avoid(struct sock *sk, u32 ack, u32 acked);
#define SSTHRESH cubictcp_recalc_ssthresh
#define CONG_AVOID cubictcp_cong_avoid

SECTION("struct_ops/begin") void begin(u64 *context) { cubictcp_init((void *)context[0]); }
SECTION("struct_ops/event") void event(u64 *context) { cubictcp_cwnd_event((void *)context[0], context[1]); }
SECTION("struct_ops/turn") void turn(u64 *context) { cubictcp_state((void *)context[0], context[1]); }
// The round trip of an acknowledgement, which is a part of it.
SECTION("struct_ops/measure") void measure(u64 *context) { cubictcp_acked((void *)context[0], (void *)context[1]); }
#endif

SECTION("struct_ops/acknowledge") void acknowledge(u64 *context)
{
	CONG_AVOID((void *)context[0], context[1], context[2]);
}

// What the counting itself shows, as often.
SECTION("struct_ops/nothing") void nothing(u64 *context) {}

SECTION("struct_ops/cut") u32 cut(u64 *context) { return SSTHRESH((void *)context[0]); }

SECTION("struct_ops/take_back") u32 take_back(u64 *context) { return tcp_reno_undo_cwnd((void *)context[0]); }

struct tcp_congestion_ops windlass SECTION(".struct_ops") = {
	.name = "NAME_TO_BE",
#ifdef THEIRS_cubic
	.init = (void *)begin,
	.cwnd_event = (void *)event,
	.set_state = (void *)turn,
	.pkts_acked = (void *)measure,
#endif
	.in_ack_event = (void *)nothing,
	.cong_avoid = (void *)acknowledge,
	.ssthresh = (void *)cut,
	.undo_cwnd = (void *)take_back,
};
