// SPDX-License-Identifier: MIT OR Apache-2.0
// One algorithm of windlass-cc as a congestion control of the Linux kernel (struct_ops): what `windlass kernel build`
// makes, what a flow with `home = "bpf"` runs, and what `bpf.py` shows to the kernel's verifier.
//
// The controller hears what windlass-cc's trait promises, in its order: losses, an undone reduction, the acknowledgement
// in the phase in which it came, then the change of phase. The kernel tells of a phase first; it waits here for the
// acknowledgement that brought it. A timeout comes alone.
//
// State and parameters lie beside the socket (sk_storage), and so do the facts: a BPF stack of 512 bytes is the
// algorithm's. Each call of the algorithm is a global BPF function, so that the verifier looks at each once, for whatever
// state it may meet, and not at every way through several of them. Only acknowledgements are dealt with where they arrive, since
// they are what costs.
//
// Compile with -DALGORITHM=Cubic. The loader writes the name (`NAME_TO_BE`) and `options`.

#include "loader.h"

#define JOIN(a, b, c) a##b##c
#define NAME(algorithm, event) JOIN(windlass_, algorithm, event)
#define ON(event) NAME(ALGORITHM, event)
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
	u32 snd_cwnd, snd_ssthresh, mss_cache, srtt_us, snd_una, snd_nxt;
	u32 packets_out, retrans_out, lost_out, sacked_out, max_packets_out;
	u32 delivered, delivered_ce, lost, app_limited, undo_marker;
	s32 undo_retrans;
	u64 tcp_mstamp, bytes_acked, bytes_sent;
	struct minmax rtt_min;
	u8 is_cwnd_limited : 1;
	_Bool is_mptcp;
};
struct inet_connection_sock {
	void *icsk_ulp_data;
};
struct mptcp_subflow_context {
	struct sock *conn;
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
#define PATHS 8
struct path {
	u64 cwnd, ssthresh, srtt, min_rtt, disclosed;
	u32 mss;
	u8 phase;
};
struct group {
	struct path paths[PATHS];
	u8 count, own, mode;
};

void ON(_init)(void *state, const void *params, const struct conn *);
void ON(_on_ack)(void *state, const void *params, const struct conn *, const struct ack *);
void ON(_on_phase)(void *state, const void *params, const struct conn *, u32 from, u32 to);
void ON(_on_loss)(void *state, const void *params, const struct conn *, const struct loss *);
void ON(_on_undo)(void *state, const void *params, const struct conn *, u32 why);
void ON(_on_idle_restart)(void *state, const void *params, const struct conn *, u64 gap, _Bool reset);
void ON(_on_mss)(void *state, const void *params, const struct conn *, u32 old);
void ON(_on_group)(void *state, const void *params, const struct conn *, const struct group *);
u64 ON(_disclosed)(const void *state);
void ON(_control)(const void *state, const void *params, const struct conn *, struct control *);

// What happened, all that the algorithm was told and what it answered: `Event` of windlass-testbed's `bpf::record`.
enum kind { BEGIN, ACK, PHASE, LOST, UNDO, IDLE, MSS, GROUP };
struct record {
	u64 id, number, gap;
	u32 kind, argument;
	struct conn conn;
	struct ack ack;
	struct loss loss;
	struct control control;
};

struct beside {
	u64 state[128], params[64];
	struct record record;
#ifdef COUPLED
	// What a record of the kind GROUP ends with.
	struct group group;
#endif
	// As of the last acknowledgement.
	u64 una;
	// The stream's offset at the last timeout.
	u64 timeout_una;
	// The least RTT of data, which is what the kernel tells its own algorithms (`pkts_acked`): a slow link carries a SYN
	// sooner than a full segment.
	u64 least_rtt;
	u32 delivered_ce, lost;
	// The phase that the kernel is in; the algorithm's is in `record.conn`.
	u8 phase;
	// The kernel left the algorithm's phase since, whatever it is in now: it ends a recovery and begins the next within one
	// acknowledgement.
	_Bool left;
	_Bool restarted;
	// What the kernel was told last, in bytes and in segments: a division takes as long as many other instructions, and a
	// window mostly stays for some acknowledgements.
	struct {
		u64 bytes;
		u32 segments;
	} cwnd, ssthresh;
#ifdef COUPLED
	// The connection of Multipath TCP that this is a path of, if it is one, and the path's place there.
	u64 connection;
	u32 place;
	struct path own;
#endif
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
static long (*ringbuf_output)(void *map, void *data, u64 size, u64 flags) = (void *)130;
static u32 (*random)(void) = (void *)7;

#define INLINE static inline __attribute__((always_inline))

// The algorithm's parts. Whatever one does, `control` is then what the algorithm answers.
#define PART(how, name, call) \
	how u32 name(struct beside *b) \
	{ \
		if (!b) \
			return 0; \
		struct record *r = &b->record; \
		call; \
		ON(_control)(b->state, b->params, &r->conn, &r->control); \
		return 1; \
	}
PART(SHARED, part_init, ON(_init)(b->state, b->params, &r->conn))
PART(INLINE, part_ack, ON(_on_ack)(b->state, b->params, &r->conn, &r->ack))
PART(SHARED, part_phase, ON(_on_phase)(b->state, b->params, &r->conn, r->argument & 255, r->argument >> 8))
PART(SHARED, part_loss, ON(_on_loss)(b->state, b->params, &r->conn, &r->loss))
PART(SHARED, part_undo, ON(_on_undo)(b->state, b->params, &r->conn, r->argument))
PART(SHARED, part_idle, ON(_on_idle_restart)(b->state, b->params, &r->conn, r->gap, r->argument))
PART(SHARED, part_mss, ON(_on_mss)(b->state, b->params, &r->conn, r->argument))
PART(SHARED, part_look, )

#ifdef COUPLED
PART(SHARED, part_group, ON(_on_group)(b->state, b->params, &r->conn, &b->group))
PART(SHARED, part_own,
	b->own.cwnd = r->control.cwnd;
	b->own.ssthresh = r->control.ssthresh;
	b->own.srtt = r->conn.srtt;
	b->own.min_rtt = r->conn.min_rtt;
	b->own.disclosed = ON(_disclosed)(b->state);
	b->own.mss = r->conn.mss;
	b->own.phase = r->conn.phase)
#endif

INLINE struct beside *beside(struct sock *sk, u64 create)
{
	return sk_storage_get(&storage, sk, 0, create);
}

// The event is over: it goes to whoever listens.
INLINE void note(struct beside *b, u32 kind)
{
	struct record *r = &b->record;
	if (!options.recording)
		return;
	r->number++;
	r->kind = kind;
	u32 size = sizeof *r;
#ifdef COUPLED
	if (kind == GROUP)
		size += sizeof b->group;
#endif
	ringbuf_output(&ring, r, size, 1); // BPF_RB_NO_WAKEUP: whoever reads comes by itself
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

// RFC 7661's validated phase as Linux has it: in slow start half the window in use is enough.
INLINE _Bool uses_window(struct tcp_sock *tp)
{
	_Bool starting = tp->snd_cwnd < tp->snd_ssthresh;
	return cwnd_limited(tp) || (starting && tp->snd_cwnd < 2 * tp->max_packets_out);
}

INLINE void look(struct tcp_sock *tp, struct beside *b)
{
	struct conn *c = &b->record.conn;
	u64 mss = tp->mss_cache;
	u32 out = tp->packets_out, srtt = tp->srtt_us;
	c->now = tp->tcp_mstamp * 1000;
	c->in_flight = (out - tp->sacked_out - tp->lost_out + tp->retrans_out) * mss;
	c->flight_size = out * mss;
	c->una = tp->bytes_acked;
	c->next_id = c->una + (tp->snd_nxt - tp->snd_una);
	c->delivered = tp->delivered * mss;
	c->lost = tp->lost * mss;
	c->sent = tp->bytes_sent;
	c->srtt = srtt ? (u64)(srtt >> 3) * 1000 : NONE;
	c->flags = uses_window(tp) | (tp->app_limited ? 2 : 0);
	if (options.rate_samples) {
		u32 least = tp->rtt_min.s[0].v;
		c->min_rtt = least == ~0U ? NONE : (u64)least * 1000;
		// Marsaglia's xorshift, of whose numbers the kernel's dozens of instructions would make no better use. Only those
		// that take rate samples draw.
		c->entropy ^= c->entropy << 13;
		c->entropy ^= c->entropy >> 17;
		c->entropy ^= c->entropy << 5;
	} else {
		c->min_rtt = b->least_rtt;
	}
	if (c->mss != mss) {
		u32 old = c->mss;
		c->mss = mss;
		// No bytes are as many segments of any size.
		b->cwnd.bytes = b->ssthresh.bytes = b->ssthresh.segments = 0;
		b->cwnd.segments = 1;
		if (old) {
			b->record.argument = old;
			part_mss(b);
			note(b, MSS);
		}
	}
}

// The scheduler of Multipath TCP takes the path that would have sent its queue soonest, and reckons so by the pacing rate. Where a
// congestion control sets the window itself, the kernel sets none: without an answer of the algorithm's it is that of the kernel's own
// algorithms, two windows in a round trip at first and 1.2 later (tcp_pacing_ss_ratio, tcp_pacing_ca_ratio). No segment waits for it.
INLINE void tell_rate(struct sock *sk)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	u64 window = tp->snd_cwnd > tp->packets_out ? tp->snd_cwnd : tp->packets_out;
	u64 eighths_of_us = tp->srtt_us, in_a_second = tp->snd_cwnd < tp->snd_ssthresh / 2 ? 16000000 : 9600000;
	if (eighths_of_us)
		sk->sk_pacing_rate = window * tp->mss_cache * in_a_second / eighths_of_us;
}

// A kernel without Multipath TCP has no such field.
INLINE _Bool is_subflow(struct tcp_sock *tp)
{
	return __builtin_preserve_field_info(tp->is_mptcp, 2) && tp->is_mptcp;
}

#ifdef COUPLED
#include "coupled.h"
#else
INLINE void join(struct sock *sk, struct beside *b) {}
INLINE void hear(struct beside *b) {}
INLINE void show(struct beside *b) {}
#endif

// Of 4 GB and more, what the kernel takes for no limit. Dividing 32 bits is quicker.
INLINE u32 segments(u64 bytes, u32 mss)
{
	return bytes >> 32 ? 0x7fffffff : (u32)bytes / mss;
}

INLINE void obey(struct sock *sk, struct beside *b)
{
	struct tcp_sock *tp = (struct tcp_sock *)sk;
	struct control *control = &b->record.control;
	u32 mss = b->record.conn.mss ? b->record.conn.mss : 1;
	if (b->cwnd.bytes != control->cwnd) {
		u32 cwnd = segments(control->cwnd, mss);
		b->cwnd.bytes = control->cwnd;
		b->cwnd.segments = cwnd == 0 ? 1 : cwnd < 0x3fffffff ? cwnd : 0x3fffffff;
	}
	if (b->ssthresh.bytes != control->ssthresh) {
		b->ssthresh.bytes = control->ssthresh;
		b->ssthresh.segments = segments(control->ssthresh, mss);
	}
	tp->snd_cwnd = b->cwnd.segments;
	tp->snd_ssthresh = b->ssthresh.segments;
	if (control->pacing) {
		sk->sk_pacing_rate = control->pacing;
		sk->sk_pacing_status = 1; // SK_PACING_NEEDED
	} else if (is_subflow(tp)) {
		tell_rate(sk);
	}
	show(b);
}

INLINE void tell_phase(struct beside *b, u8 to)
{
	struct record *r = &b->record;
	u8 from = r->conn.phase;
	u64 cwnd = r->control.cwnd, mss = r->conn.mss ? r->conn.mss : 1;
	_Bool fresh = from != RECOVERY && (to == RECOVERY || to == LOSS);
	// Linux cuts the window, not what is in flight: whole segments of it.
	if (fresh)
		r->conn.flight_size = cwnd - cwnd % mss;
	else if (r->conn.flight_size > cwnd)
		r->conn.flight_size = cwnd;
	r->conn.flags = 1;
	r->conn.phase = to;
	r->argument = from | (u32)to << 8;
	part_phase(b);
	note(b, PHASE);
}

// What was found to be lost since the last time; whether anything was.
INLINE u64 tell_losses(struct tcp_sock *tp, struct beside *b, u64 tx_in_flight, _Bool app_limited)
{
	struct loss *l = &b->record.loss;
	u32 packets = tp->lost - b->lost;
	b->lost = tp->lost;
	if ((s32)packets <= 0)
		return 0;
	l->bytes = (u64)packets * b->record.conn.mss;
	l->tx_in_flight = tx_in_flight;
	l->lost_since_sent = l->bytes;
	l->app_limited = app_limited;
	part_loss(b);
	note(b, LOST);
	return l->bytes;
}

SECTION("struct_ops/begin") void begin(u64 *context)
{
	struct sock *sk = (void *)context[0];
	struct tcp_sock *tp = (void *)sk;
	struct beside *b = beside(sk, 1);
	if (!b)
		return;
	for (int i = 0; i < 64; i++)
		b->params[i] = options.params[i];
	b->record.id = (u64)random() << 32 | random();
	b->record.number = 0;
	b->record.conn.mss = 0;
	b->record.conn.entropy = random() | 1;
	b->record.conn.phase = b->phase = OPEN;
	b->left = b->restarted = 0;
	b->least_rtt = b->record.ack.rate.interval = NONE;
	look(tp, b);
	b->una = b->record.conn.una;
	b->timeout_una = NONE;
	b->delivered_ce = tp->delivered_ce;
	b->lost = tp->lost;
	part_init(b);
	note(b, BEGIN);
	join(sk, b);
	obey(sk, b);
}

SECTION("struct_ops/acknowledge") void acknowledge(u64 *context)
{
	struct sock *sk = (void *)context[0];
	struct tcp_sock *tp = (void *)sk;
	// Not in C, whose compiler would reckon the place first: the verifier wants it to be a constant.
	const struct rate_sample *rs;
	if (options.two_arguments)
		asm volatile("%0 = *(u64 *)(%1 + 8)" : "=r"(rs) : "r"(context));
	else
		asm volatile("%0 = *(u64 *)(%1 + 24)" : "=r"(rs) : "r"(context));
	struct beside *b = beside(sk, 0);
	if (!b)
		return;
	struct ack *a = &b->record.ack;
	long rtt = rs->rtt_us;
	a->rtt = rtt > 0 ? (u64)rtt * 1000 : NONE;
	if (a->rtt < b->least_rtt)
		b->least_rtt = a->rtt;
	look(tp, b);
	u64 una = b->record.conn.una, mss = b->record.conn.mss;
	a->prior_in_flight = rs->prior_in_flight * mss;
	a->lost = tell_losses(tp, b, a->prior_in_flight, rs->is_app_limited);
	a->acked = una - b->una;
	b->una = una;
	a->delivered = rs->acked_sacked * mss;
	u32 marked = tp->delivered_ce;
	a->ce = (marked - b->delivered_ce) * mss;
	b->delivered_ce = marked;
	if (options.rate_samples) {
		s32 delivered = rs->delivered;
		long interval = rs->interval_us;
		a->rate.delivered = delivered > 0 ? (u32)delivered * mss : 0;
		a->rate.interval = interval > 0 ? (u64)interval * 1000 : NONE;
		a->rate.prior_delivered = rs->prior_delivered * mss;
		a->rate.lost = a->lost;
		a->rate.tx_in_flight = a->prior_in_flight;
		a->rate.app_limited = rs->is_app_limited;
	}
	a->duplicate = a->acked == 0 && a->delivered > 0;
	hear(b);
	part_ack(b);
	note(b, ACK);
	if (b->left && b->record.conn.phase != OPEN && b->phase != OPEN)
		tell_phase(b, OPEN);
	b->left = 0;
	if (b->phase != b->record.conn.phase)
		tell_phase(b, b->phase);
	obey(sk, b);
}

SECTION("struct_ops/turn") void turn(u64 *context)
{
	// TCP_CA_Open, _Disorder, _CWR, _Recovery, _Loss
	static const u8 phases[8] = { OPEN, OPEN, CWR, RECOVERY, LOSS, LOSS, LOSS, LOSS };
	struct sock *sk = (void *)context[0];
	struct tcp_sock *tp = (void *)sk;
	struct beside *b = beside(sk, 0);
	if (!b)
		return;
	b->phase = phases[context[1] & 7];
	b->left |= b->phase == OPEN;
	if (b->phase != LOSS)
		return;
	look(tp, b);
	struct conn *c = &b->record.conn;
	part_look(b);
	tell_losses(tp, b, c->in_flight, tp->app_limited != 0);
	hear(b);
	// A timeout of other data than the last one's.
	if (c->phase == LOSS && c->una != b->timeout_una)
		tell_phase(b, OPEN);
	b->timeout_una = c->una;
	b->left = 0;
	tell_phase(b, LOSS);
	obey(sk, b);
}

SECTION("struct_ops/event") void event(u64 *context)
{
	struct sock *sk = (void *)context[0];
	struct tcp_sock *tp = (void *)sk;
	struct beside *b = beside(sk, 0);
	if (!b || context[1] > 1 || !tp->bytes_sent) // CA_EVENT_TX_START, CA_EVENT_CWND_RESTART
		return;
	_Bool reset = context[1] == 1, told = b->restarted;
	b->restarted = reset;
	if (reset || !told) {
		u64 since = b->record.conn.now;
		look(tp, b);
		b->record.gap = b->record.conn.now - since;
		b->record.argument = reset;
		part_idle(b);
		note(b, IDLE);
	}
	// After a restart the kernel has cut the window itself, and now it sends.
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
	// As windlass-cc numbers them: DSACK, Eifel, F-RTO.
	b->record.argument = b->record.conn.phase == LOSS ? 2 : tp->undo_marker && !tp->undo_retrans ? 0 : 1;
	part_undo(b);
	note(b, UNDO);
	obey(sk, b);
	return tp->snd_cwnd;
}

struct tcp_congestion_ops windlass SECTION(".struct_ops") = {
	.ssthresh = (void *)threshold,
	.set_state = (void *)turn,
	.cwnd_event = (void *)event,
	.cong_control = (void *)acknowledge,
	.undo_cwnd = (void *)take_back,
	.name = "NAME_TO_BE",
	.init = (void *)begin,
#ifdef COUPLED
	.release = (void *)leave,
#endif
};
