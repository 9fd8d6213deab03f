/* SPDX-License-Identifier: Apache-2.0 */
#include "local/locals.h"

#include "base/memory.h"
#include "local/names.h"

#include <string.h>

/* The values of an unbound thread, or of a thread while a task runs on its own
 * stack. */
static _Thread_local struct locals *own
	__attribute__((tls_model("initial-exec")));

static pthread_key_t thread_key;
static int           thread_error; /* fixed after create_locals_key() */

static size_t locals_size(uint32_t capacity)
{
	return sizeof(struct locals) + capacity * sizeof(struct local);
}

_Static_assert(sizeof(struct locals) == sizeof(struct local),
	       "capacities of one less than a power of two fill blocks");

/* --- ending ------------------------------------------------------------- */

static void release_locals(struct locals *l)
{
	if (l->memory)
		sn_memory_give(l->memory, l, locals_size(l->capacity));
	else
		sn_pool_give(&sn_self->cache, l);
}

/* Call the destructors of all values. *mine may change meanwhile. */
static bool run_round(struct locals **mine)
{
	bool ran = false;

	for (uint32_t i = 0; *mine && i < (*mine)->capacity; i++) {
		struct local    *l = &(*mine)->slots[i];
		void            *value = l->value;
		sennit_local_key key = { i, l->generation };
		key_destructor  *destructor;

		if (!value)
			continue;
		l->value = NULL;
		destructor = sn_local_keys_destructor(key);
		if (destructor) {
			destructor(value);
			ran = true;
		}
	}
	return ran;
}

static void end_locals(struct locals **mine)
{
	struct locals *l;

	for (int i = 0; i < SENNIT_LOCAL_ROUNDS; i++)
		if (!run_round(mine))
			break;
	l = *mine;
	*mine = NULL;
	if (l)
		release_locals(l);
}

void sn_task_local_end(struct sennit_fiber *f)
{
	end_locals(&f->locals);
}

/* --- threads ------------------------------------------------------------ */

/* A bound thread must not exit. If no other destructor of this round unbinds
 * it, life/fork.c reports it in the next round. */
static void end_thread_locals(void *value)
{
	if (sn_self)
		pthread_setspecific(thread_key, value);
	else
		end_locals(&own);
}

static void create_locals_key(void)
{
	thread_error = pthread_key_create(&thread_key, end_thread_locals);
}

/* Make the calling thread end its values when it exits. Returns false if that
 * is impossible. */
static bool prepare_thread(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, create_locals_key);
	return !thread_error && !pthread_setspecific(thread_key, &own);
}

struct locals **sn_task_local_of_thread(void)
{
	return &own;
}

void sn_task_local_enter(struct worker *w)
{
	w->main.locals = own;
	own = NULL;
}

void sn_task_local_leave(struct worker *w)
{
	own = w->main.locals;
	w->main.locals = NULL;
}

/* A task that runs on the thread's own stack does not continue in the child, so
 * its values stay behind. */
void sn_task_local_fork(struct worker *w)
{
	if (!a_load_rlx(&w->main.state.task))
		sn_task_local_leave(w);
}

/* --- setting ------------------------------------------------------------ */

/* The allocator for the values of the running stack. */
static const sennit_allocator *memory_of(const struct worker *w)
{
	return w && w->home.current != &w->main ? &w->scheduler->memory
						: &sn_memory_libc;
}

static struct locals *allocate_locals(uint32_t capacity)
{
	struct worker          *w = sn_self;
	const sennit_allocator *memory = memory_of(w);
	struct locals          *l;

	if (memory == &sn_memory_libc && !prepare_thread())
		return NULL;
	if (memory != &sn_memory_libc && locals_size(capacity) == POOL_BLOCK) {
		l = sn_pool_take(&w->cache);
		if (l)
			memset(l, 0, POOL_BLOCK);
		memory = NULL;
	} else {
		l = sn_memory_take(memory, locals_size(capacity),
				   _Alignof(struct locals));
	}
	if (!l)
		return NULL;
	l->memory = memory;
	l->capacity = capacity;
	return l;
}

/* Make room for a key with this index: 3, 15, 63 or 255 slots. */
static bool grow_locals(struct locals **mine, uint32_t index)
{
	struct locals *old = *mine;
	struct locals *l;
	uint32_t       capacity = 3;

	while (capacity <= index)
		capacity = 4 * capacity + 3;
	l = allocate_locals(capacity);
	if (!l)
		return false;
	if (old) {
		memcpy(l->slots, old->slots,
		       old->capacity * sizeof(struct local));
		release_locals(old);
	}
	*mine = l;
	return true;
}

struct local *sn_task_local_make(sennit_local_key key)
{
	struct locals **mine = sn_task_local_mine();

	if ((!*mine || key.index_ >= (*mine)->capacity) &&
	    !grow_locals(mine, key.index_))
		return NULL;
	if (sn_self)
		sn_self->home.current->cleanup |= CLEANUP_LOCALS;
	return sn_task_local_find(*mine, key);
}
