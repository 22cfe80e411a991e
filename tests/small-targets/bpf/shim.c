// SPDX-License-Identifier: MIT OR Apache-2.0
// One algorithm of windlass-cc as a congestion control of the Linux kernel (struct_ops): what `bpf.py` shows to
// the kernel's verifier. It is loaded and never registered, so no connection ever runs it.
//
// Every value that an algorithm is shown comes from the socket, so that the compiler can leave nothing out. State and
// parameters lie beside the socket (sk_storage), and so do the facts: a BPF stack of 512 bytes is the algorithm's.
//
// Compile with -DALGORITHM=Cubic; -DTWO_ARGUMENTS for kernels before 6.10, whose `cong_control` has two.

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;

#define JOIN(a, b, c) a##b##c
#define NAME(algorithm, event) JOIN(windlass_, algorithm, event)
#define ON(event) NAME(ALGORITHM, event)
#define SECTION(name) __attribute__((section(name), used))
#define NONE (~0ULL)

// What the kernel has, as far as it is read here; the loader finds the places (CO-RE).
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct sock {
	unsigned long sk_pacing_rate;
	u32 sk_pacing_status;
};
struct minmax_sample {
	u32 t, v;
};
struct minmax {
	struct minmax_sample s[3];
};
struct tcp_sock {
	u32 snd_cwnd, snd_ssthresh, mss_cache, srtt_us;
	u32 packets_out, retrans_out, lost_out, sacked_out;
	u32 delivered, delivered_ce, lost, app_limited;
	u64 tcp_mstamp, bytes_acked, bytes_sent, bytes_retrans;
	struct minmax rtt_min;
	u8 is_cwnd_limited : 1;
};
struct rate_sample {
	u32 prior_delivered;
	s32 delivered;
	long interval_us;
	long rtt_us;
	int losses;
	u32 acked_sacked, prior_in_flight;
	_Bool is_app_limited;
};
#pragma clang attribute pop

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *);
	void (*set_state)(struct sock *, u8);
	void (*cwnd_event)(struct sock *, u32);
	void (*cong_control)(struct sock *, u32, int, const struct rate_sample *);
	u32 (*undo_cwnd)(struct sock *);
	char name[16];
	void (*init)(struct sock *);
};

// What windlass-cc has (`#[repr(C)]` there).
enum phase { OPEN, RECOVERY, LOSS, CWR };
struct conn {
	u64 now, in_flight, flight_size, una, next_id, delivered, lost, sent, srtt, min_rtt;
	u32 mss, flags, entropy;
	u8 phase;
};
struct rate {
	u64 delivered, interval, prior_delivered, lost, tx_in_flight;
	_Bool app_limited;
};
struct ack {
	u64 acked, delivered, lost, ce, prior_in_flight, rtt;
	struct rate rate;
	_Bool duplicate;
};
struct loss {
	u64 bytes, tx_in_flight, lost_since_sent;
	_Bool app_limited;
};
struct control {
	u64 cwnd, ssthresh, pacing;
};

void ON(_params)(void *params);
void ON(_init)(void *state, const void *params, const struct conn *);
void ON(_on_ack)(void *state, const void *params, const struct conn *, const struct ack *);
void ON(_on_phase)(void *state, const void *params, const struct conn *, u32 from, u32 to);
void ON(_on_loss)(void *state, const void *params, const struct conn *, const struct loss *);
void ON(_on_undo)(void *state, const void *params, const struct conn *, u32 why);
void ON(_on_idle_restart)(void *state, const void *params, const struct conn *, u64 gap, _Bool reset);
void ON(_on_mss)(void *state, const void *params, const struct conn *, u32 old);
void ON(_control)(const void *state, const void *params, const struct conn *, struct control *);

struct beside {
	u64 state[128], params[64];
	struct conn conn;
	struct ack ack;
	struct loss loss;
	struct control control;
	u64 idle_since;
	u32 delivered_ce;
};

struct {
	int (*type)[24]; // BPF_MAP_TYPE_SK_STORAGE
	int (*map_flags)[1]; // BPF_F_NO_PREALLOC
	int *key;
	struct beside *value;
} storage SECTION(".maps");

// Verified once for any argument, each; whoever calls them knows nothing of what they give.
#define SHARED __attribute__((noinline, weak))
u64 windlass_math_mul_long(u64 a, u64 b);
u64 windlass_math_mul_div_long(u64 a, u64 b, u64 d);
u64 windlass_math_mul_shift_long(u64 a, u64 b, u32 bits);
u64 windlass_math_sqrt(u64 x);
u64 windlass_math_cbrt(u64 x);
u32 windlass_math_log2_q16(u64 x);
u64 windlass_math_exp2_q16(u32 x);
SHARED u64 windlass_shared_mul_long(u64 a, u64 b) { return windlass_math_mul_long(a, b); }
SHARED u64 windlass_shared_mul_div_long(u64 a, u64 b, u64 d) { return windlass_math_mul_div_long(a, b, d); }
SHARED u64 windlass_shared_mul_shift_long(u64 a, u64 b, u32 bits) { return windlass_math_mul_shift_long(a, b, bits); }
SHARED u64 windlass_shared_sqrt(u64 x) { return windlass_math_sqrt(x); }
SHARED u64 windlass_shared_cbrt(u64 x) { return windlass_math_cbrt(x); }
SHARED u32 windlass_shared_log2_q16(u64 x) { return windlass_math_log2_q16(x); }
SHARED u64 windlass_shared_exp2_q16(u32 x) { return windlass_math_exp2_q16(x); }

static void *(*sk_storage_get)(void *map, struct sock *sk, void *value, u64 flags) = (void *)107;
static u32 (*random)(void) = (void *)7;

#define INLINE static inline __attribute__((always_inline))

INLINE struct beside *beside(struct sock *sk, u64 create)
{
	return sk_storage_get(&storage, sk, 0, create);
}

// A bit-field's place differs between kernels.
INLINE _Bool cwnd_limited(struct tcp_sock *tp)
{
	const void *at = (const void *)tp + __builtin_preserve_field_info(tp->is_cwnd_limited, 0);
	u64 word = 0;
	switch (__builtin_preserve_field_info(tp->is_cwnd_limited, 1)) {
	case 1: word = *(const u8 *)at; break;
	case 2: word = *(const unsigned short *)at; break;
	case 4: word = *(const u32 *)at; break;
	case 8: word = *(const u64 *)at; break;
	}
	word <<= __builtin_preserve_field_info(tp->is_cwnd_limited, 4);
	return word >> __builtin_preserve_field_info(tp->is_cwnd_limited, 5);
}

INLINE void look(struct tcp_sock *tp, struct beside *b)
{
	struct conn *c = &b->conn;
	u64 mss = tp->mss_cache;
	c->now = tp->tcp_mstamp * 1000;
	c->in_flight = (tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out) * mss;
	c->flight_size = tp->packets_out * mss;
	c->una = tp->bytes_acked;
	c->next_id = tp->bytes_sent - tp->bytes_retrans;
	c->delivered = tp->delivered * mss;
	c->lost = tp->lost * mss;
	c->sent = tp->bytes_sent;
	c->srtt = tp->srtt_us ? (u64)(tp->srtt_us >> 3) * 1000 : NONE;
	c->min_rtt = tp->rtt_min.s[0].v == ~0U ? NONE : (u64)tp->rtt_min.s[0].v * 1000;
	c->flags = cwnd_limited(tp) | (tp->app_limited ? 2 : 0);
	c->entropy = random();
	if (c->mss != mss) {
		u32 old = c->mss;
		c->mss = mss;
		if (old)
			ON(_on_mss)(b->state, b->params, c, old);
	}
}

INLINE void obey(struct sock *sk, struct beside *b)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u32 mss = b->conn.mss ? b->conn.mss : 1;
	ON(_control)(b->state, b->params, &b->conn, &b->control);
	u64 cwnd = b->control.cwnd / mss, ssthresh = b->control.ssthresh / mss;
	tp->snd_cwnd = cwnd ? cwnd : 1;
	tp->snd_ssthresh = ssthresh < 0x7fffffff ? ssthresh : 0x7fffffff;
	if (b->control.pacing) {
		sk->sk_pacing_rate = b->control.pacing;
		sk->sk_pacing_status = 1; // SK_PACING_NEEDED
	}
}

SECTION("struct_ops/begin") void begin(u64 *context)
{
	struct sock *sk = (void *)context[0];
	struct beside *b = beside(sk, 1);
	if (!b)
		return;
	b->conn.mss = 0;
	look((void *)sk, b);
	ON(_params)(b->params);
	ON(_init)(b->state, b->params, &b->conn);
	obey(sk, b);
}

SECTION("struct_ops/acknowledge") void acknowledge(u64 *context)
{
	struct sock *sk = (void *)context[0];
	struct tcp_sock *tp = (void *)sk;
#ifdef TWO_ARGUMENTS
	const struct rate_sample *rs = (void *)context[1];
#else
	const struct rate_sample *rs = (void *)context[3];
#endif
	struct beside *b = beside(sk, 0);
	if (!b)
		return;
	struct ack *a = &b->ack;
	u64 una = b->conn.una;
	look(tp, b);
	u64 mss = b->conn.mss;
	a->acked = b->conn.una - una;
	a->delivered = rs->acked_sacked * mss;
	a->lost = rs->losses > 0 ? (u32)rs->losses * mss : 0;
	a->ce = (tp->delivered_ce - b->delivered_ce) * mss;
	b->delivered_ce = tp->delivered_ce;
	a->prior_in_flight = rs->prior_in_flight * mss;
	a->rtt = rs->rtt_us > 0 ? (u64)rs->rtt_us * 1000 : NONE;
	a->rate.delivered = rs->delivered > 0 ? (u32)rs->delivered * mss : 0;
	a->rate.interval = rs->interval_us > 0 ? (u64)rs->interval_us * 1000 : NONE;
	a->rate.prior_delivered = rs->prior_delivered * mss;
	a->rate.lost = a->lost;
	a->rate.tx_in_flight = a->prior_in_flight;
	a->rate.app_limited = rs->is_app_limited;
	a->duplicate = a->acked == 0 && a->delivered > 0;
	if (a->lost) {
		struct loss *l = &b->loss;
		l->bytes = a->lost;
		l->tx_in_flight = a->prior_in_flight;
		l->lost_since_sent = a->lost;
		l->app_limited = rs->is_app_limited;
		ON(_on_loss)(b->state, b->params, &b->conn, l);
	}
	ON(_on_ack)(b->state, b->params, &b->conn, a);
	obey(sk, b);
}

SECTION("struct_ops/turn") void turn(u64 *context)
{
	// TCP_CA_Open, _Disorder, _CWR, _Recovery, _Loss
	static const u8 phases[8] = { OPEN, OPEN, CWR, RECOVERY, LOSS, LOSS, LOSS, LOSS };
	struct sock *sk = (void *)context[0];
	struct beside *b = beside(sk, 0);
	if (!b)
		return;
	u8 from = b->conn.phase, to = phases[context[1] & 7];
	if (from == to && to != LOSS)
		return;
	look((void *)sk, b);
	b->conn.phase = to;
	ON(_on_phase)(b->state, b->params, &b->conn, from, to);
	obey(sk, b);
}

SECTION("struct_ops/event") void event(u64 *context)
{
	struct sock *sk = (void *)context[0];
	struct beside *b = beside(sk, 0);
	if (!b || context[1] > 1) // CA_EVENT_TX_START, CA_EVENT_CWND_RESTART
		return;
	u64 since = b->conn.now;
	look((void *)sk, b);
	ON(_on_idle_restart)(b->state, b->params, &b->conn, b->conn.now - since, context[1] == 1);
	obey(sk, b);
}

// The threshold of a loss is set when the phase is.
SECTION("struct_ops/threshold") u32 threshold(u64 *context)
{
	struct tcp_sock *tp = (void *)context[0];
	return tp->snd_ssthresh;
}

SECTION("struct_ops/take_back") u32 take_back(u64 *context)
{
	struct sock *sk = (void *)context[0];
	struct tcp_sock *tp = (void *)sk;
	struct beside *b = beside(sk, 0);
	if (!b)
		return tp->snd_cwnd;
	look(tp, b);
	ON(_on_undo)(b->state, b->params, &b->conn, tp->lost_out & 3);
	obey(sk, b);
	return tp->snd_cwnd;
}

struct tcp_congestion_ops windlass SECTION(".struct_ops") = {
	.ssthresh = (void *)threshold,
	.set_state = (void *)turn,
	.cwnd_event = (void *)event,
	.cong_control = (void *)acknowledge,
	.undo_cwnd = (void *)take_back,
	.name = "windlass",
	.init = (void *)begin,
};

char _license[] SECTION("license") = "Dual MIT/GPL";
