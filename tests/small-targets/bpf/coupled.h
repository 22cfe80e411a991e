// SPDX-License-Identifier: MIT OR Apache-2.0
// Paths of a connection of Multipath TCP, each a congestion control of its own, see each other through a map. The kernel tells a
// congestion control nothing of its connection, but it can be read from the subflow's socket.

// A further path is none of the family. It is what windlass-cc looks at (`group::VERIFIED`), and Linux opens no more by itself.
#define FAMILY 3

struct family {
	// A power of two, so that the verifier sees that a place is one.
	u64 owner[FAMILY + 1];
	// Of no segment size until it is shown.
	struct path paths[FAMILY + 1];
};
static const struct family nobody = {};

struct {
	int (*type)[1]; // BPF_MAP_TYPE_HASH
	int (*max_entries)[1024];
	int (*map_flags)[1]; // BPF_F_NO_PREALLOC
	u64 *key;
	struct family *value;
} families SECTION(".maps");

static void *(*map_lookup)(void *map, const void *key) = (void *)1;
static long (*map_update)(void *map, const void *key, const void *value, u64 flags) = (void *)2;
static long (*map_delete)(void *map, const void *key) = (void *)3;
static long (*read_kernel)(void *to, u32 size, const void *from) = (void *)113;

INLINE struct family *family(struct beside *b)
{
	return b->connection ? map_lookup(&families, &b->connection) : 0;
}

INLINE void join(struct sock *sk, struct beside *b)
{
	b->connection = 0;
	if (!is_subflow((struct tcp_sock *)sk))
		return;
	struct mptcp_subflow_context *context = ((struct inet_connection_sock *)sk)->icsk_ulp_data;
	read_kernel(&b->connection, sizeof b->connection, &context->conn);
	map_update(&families, &b->connection, &nobody, 1); // BPF_NOEXIST
	struct family *f = family(b);
	for (u32 i = 0; f && i < FAMILY; i++)
		if (!__sync_val_compare_and_swap(&f->owner[i], 0, b->record.id | 1)) {
			b->place = i;
			return;
		}
	b->connection = 0;
}

// The algorithm is shown all paths as they are now.
INLINE void hear(struct beside *b)
{
	struct family *f = family(b);
	struct group *g = &b->group;
	u32 count = 0;
	if (!f)
		return;
_Pragma("clang loop unroll(full)")
	for (u32 i = 0; i < FAMILY; i++) {
		if (!f->paths[i].mss)
			continue;
		if (i == b->place)
			g->own = count;
		// The compiler knows that it is below, and would leave out what the verifier goes by.
		u32 to = count++;
		asm volatile("" : "+r"(to));
		g->paths[to % PATHS] = f->paths[i];
	}
	g->count = count;
	part_group(b);
	note(b, GROUP);
}

// The others will see this path as it is now.
INLINE void show(struct beside *b)
{
	struct family *f = family(b);
	if (!f)
		return;
	part_own(b);
	f->paths[b->place % (FAMILY + 1)] = b->own;
}

SECTION("struct_ops/leave") void leave(u64 *context)
{
	struct sock *sk = (void *)context[0];
	struct beside *b = beside(sk, 0);
	struct family *f = b ? family(b) : 0;
	if (!f)
		return;
	u32 place = b->place % (FAMILY + 1);
	f->paths[place].mss = 0;
	f->owner[place] = 0;
	u64 left = 0;
	for (u32 i = 0; i < FAMILY; i++)
		left |= f->owner[i];
	if (!left)
		map_delete(&families, &b->connection);
	b->connection = 0;
}
