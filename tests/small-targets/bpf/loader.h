// SPDX-License-Identifier: MIT OR Apache-2.0
// What every object has for the loader: its options, the ring of events, and the table of the congestion control, `windlass`,
// which the object fills.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;

#define SECTION(name) __attribute__((section(name), used))

// The kernel's, by name.
struct sock;
struct rate_sample;
struct ack_sample;
struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *);
	void (*set_state)(struct sock *, u8);
	void (*cwnd_event)(struct sock *, u32);
	void (*in_ack_event)(struct sock *, u32);
	void (*cong_control)(struct sock *, u32, int, const struct rate_sample *);
	void (*cong_avoid)(struct sock *, u32, u32);
	void (*pkts_acked)(struct sock *, const struct ack_sample *);
	u32 (*undo_cwnd)(struct sock *);
	char name[16];
	void (*init)(struct sock *);
	void (*release)(struct sock *);
};

// What the loader decides. The kernel freezes it before it verifies: what an option leaves out costs nothing.
struct options {
	u32 recording; // each event goes to `ring`
	u16 two_arguments; // the kernel's `cong_control` is that of before 6.10
	u16 rate_samples; // the algorithm takes them; its least RTT is that of all segments, and not of data alone
	u64 params[64]; // what windlass-cc's parameters are in memory
};
const volatile struct options options SECTION(".rodata.windlass") = {};

struct {
	int (*type)[27]; // BPF_MAP_TYPE_RINGBUF
	int (*max_entries)[4096];
} ring SECTION(".maps");

char _license[] SECTION("license") = "Dual MIT/GPL";
