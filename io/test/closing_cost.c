/* SPDX-License-Identifier: Apache-2.0 */
/* closing_cost.c - the cost of sennit_close() for the worker whose fibers wait
 * on the descriptor does not depend on the number of waits on other
 * descriptors. The memory that is kept for a late worker does not depend on the
 * number of closes. The test counts the waits that the worker checks, and the
 * allocated memory.
 */
#include "operations.h"

#include <sys/eventfd.h>
#include <sys/resource.h>

enum { FEW = 10, MANY = 1500 };

static atomic_uint looks;

int __real_sn_io_closing_end_of(int fd, uint64_t begun);
int __wrap_sn_io_closing_end_of(int fd, uint64_t begun);

int __wrap_sn_io_closing_end_of(int fd, uint64_t begun)
{
	atomic_fetch_add(&looks, 1);
	return __real_sn_io_closing_end_of(fd, begun);
}

static _Atomic(size_t) most_memory;

void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_realloc(void *memory, size_t size)
{
	if (size > atomic_load(&most_memory))
		atomic_store(&most_memory, size);
	return __real_realloc(memory, size);
}

/* Each waits on two descriptors of its own, which never become ready. */
struct crowd {
	int          count;
	bool         in_select;
	int          fds[MANY][2];
	int          next;
	atomic_uint  over;
	sennit_group group;
};

static int wait_in_crowd(void *argument)
{
	struct crowd *c = argument;
	const int    *fds = c->fds[c->next++];
	sennit_case   both[] = { sennit_case_readable(fds[0]),
				 sennit_case_readable(fds[1]) };
	size_t        which;

	if (c->in_select)
		(void)!sennit_select_until(both, 2, &which, SENNIT_NEVER);
	else
		(void)!sennit_poll(fds[0], POLLIN, SENNIT_NEVER);
	atomic_fetch_add(&c->over, 1);
	return 0;
}

static void gather(void *argument)
{
	struct crowd *c = argument;

	sennit_group_init(&c->group, SENNIT_NEVER, 0);
	for (int i = 0; i < c->count; i++)
		must(!sennit_group_spawn_task(
			     &c->group,
			     SENNIT_MEMBER(.run = wait_in_crowd, .argument = c,
					   .flags = SENNIT_MEMBER_SAME_THREAD)),
		     "spawn");
	(void)sennit_group_wait(&c->group);
	atomic_fetch_add(&c->over, 1); /* the caller may free *c from here on */
}

/* Returns how many waits are checked when one descriptor is closed. */
static unsigned cost(struct world *w, int count, bool in_select)
{
	static struct crowd c;
	unsigned            cost;

	c = (struct crowd){ .count = count, .in_select = in_select };
	for (int i = 0; i < count; i++)
		for (int k = 0; k < 2; k++) {
			c.fds[i][k] = eventfd(0, EFD_CLOEXEC);
			must(c.fds[i][k] >= 0, "eventfd");
		}
	must_schedule(gather, &c);
	assert_soon(io_waits(w->s) == (unsigned)count);
	atomic_store(&looks, 0);
	EXPECT(sennit_close(c.fds[count / 2][0]) == 0);
	assert_soon(atomic_load(&c.over) == 1);
	cost = atomic_load(&looks);
	sennit_group_cancel(&c.group);
	assert_soon(atomic_load(&c.over) == (unsigned)count + 1);
	for (int i = 0; i < count; i++) {
		if (i != count / 2)
			close(c.fds[i][0]);
		close(c.fds[i][1]);
	}
	return cost;
}

static void compare(struct world *w, bool in_select)
{
	unsigned few = cost(w, FEW, in_select);
	unsigned many = cost(w, LOAD(MANY), in_select);

	if (many > few + 20)
		fprintf(stderr, "looked at %u of %d, and at %u of %d\n", few,
			FEW, many, LOAD(MANY));
	EXPECT(many <= few + 20);
}

TEST_WITH_ONE(a_close_looks_at_no_waits_on_others)
{
	compare(w, false);
}

TEST_WITH_ONE(a_close_looks_at_no_selects_of_others)
{
	compare(w, true);
}

/* --- a late worker ------------------------------------------------------- */

enum { CLOSED = 20000 };

struct late {
	int         fd;
	ptrdiff_t   result;
	atomic_bool over;
};

static void poll_for_late(void *argument)
{
	struct late *l = argument;

	l->result = sennit_poll(l->fd, POLLIN, SENNIT_NEVER);
	atomic_store(&l->over, true);
}

/* Close other descriptors that share a count with it, and then it. */
static void *close_many(void *argument)
{
	struct late *l = argument;

	for (int i = 0; i < CLOSED; i++) {
		int other = fcntl(l->fd, F_DUPFD_CLOEXEC, l->fd + 256);

		EXPECT(other == l->fd + 256);
		EXPECT(sennit_close(other) == 0);
	}
	EXPECT(sennit_close(l->fd) == 0);
	return NULL;
}

TEST_WITHOUT(what_a_late_worker_finds_is_bounded)
{
	struct late l = { .fd = eventfd(0, EFD_CLOEXEC) };

	must(l.fd >= 0, "eventfd");
	must_schedule_here(poll_for_late, &l);
	assert_soon(io_waits(w->s) == 1);
	atomic_store(&most_memory, 0);
	pthread_join(must_start_thread(close_many, &l), NULL);
	EXPECT(atomic_load(&most_memory) < 10000);
	assert_soon(atomic_load(&l.over));
	assert_int_equal(l.result, -ECANCELED);
}

static int raise_limit(void)
{
	struct rlimit limit;

	must(!getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit);
}

BEFORE_ALL(raise_limit);
USES_BACKEND;
