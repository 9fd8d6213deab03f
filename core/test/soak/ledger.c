/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.c - counters that threads rarely share. */
#include "soak.h"

#include <inttypes.h>

enum { SHARDS = 32 };

struct shard {
	_Alignas(128) atomic_uint_fast64_t in[ACCOUNT_COUNT];
	atomic_uint_fast64_t out[ACCOUNT_COUNT];
	atomic_uint_fast64_t tallies[TALLY_COUNT];
};

static struct shard                shards[SHARDS];
static atomic_uint                 threads;
static _Thread_local struct shard *mine;
static atomic_uint                 broken;

static struct shard *own_shard(void)
{
	if (!mine)
		mine = &shards[atomic_fetch_add(&threads, 1) % SHARDS];
	return mine;
}

static void add(atomic_uint_fast64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

void book_in(enum account a, uint64_t n)
{
	add(&own_shard()->in[a], n);
}

void book_out(enum account a, uint64_t n)
{
	add(&own_shard()->out[a], n);
}

void count_one(enum tally t)
{
	add(&own_shard()->tallies[t], 1);
}

uint64_t tallied(enum tally t)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < SHARDS; i++)
		sum += atomic_load(&shards[i].tallies[t]);
	return sum;
}

unsigned ledger_print(void)
{
	static const char *const names[] = {
#define NAME(name) #name,
		ACCOUNTS(NAME)
#undef NAME
	};
	unsigned wrong = 0;

	for (unsigned a = 0; a < ACCOUNT_COUNT; a++) {
		uint64_t in = 0, out = 0;

		for (unsigned i = 0; i < SHARDS; i++) {
			in += atomic_load(&shards[i].in[a]);
			out += atomic_load(&shards[i].out[a]);
		}
		printf("  %-18s %14" PRIu64 " in %14" PRIu64 " out%s\n",
		       names[a], in, out, in == out ? "" : "  LOST");
		wrong += in != out;
	}
	return wrong;
}

void claim_at(bool holds, const char *what, const char *file, int line)
{
	if (holds || atomic_fetch_add(&broken, 1) >= 20)
		return;
	fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
}

unsigned broken_claims(void)
{
	return atomic_load(&broken);
}
