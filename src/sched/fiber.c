/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/fiber.h"

#include "base/memory.h"
#include "base/torture.h"
#include "observe/observe.h"
#include "observe/trace.h"
#include "os/os.h"
#include "arch/cpu.h"
#include "sched/loop.h"
#include "stack/stack.h"
#include "sennit/base.h"
#include "sennit/fiber.h"

#include <errno.h>
#include <string.h>

#ifdef SN_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#ifdef SN_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#ifdef SENNIT_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#endif

#define COLOURS     16u
#define COLOUR_STEP 64u

/* The claim is atomic throughout: a late notify may read it at any time,
 * through a handle of the fiber that had this record before. */
static void clear(struct sennit_fiber *f)
{
	char *claim = (char *)&f->wait.claim;
	char *after = (char *)(&f->wait.claim + 1);

	sn_memory_clear(f, (size_t)(claim - (char *)f));
	a_store_rlx(&f->wait.claim, WAITER_IDLE);
	sn_memory_clear(after, (size_t)((char *)(f + 1) - after));
}

static void set_home(struct sennit_fiber *f, struct home *home)
{
	f->home = home;
	f->own.home = sn_worker_of(f);
	f->own.fiber = f;
}

struct sennit_fiber *sn_fiber_make(char *low, size_t size, size_t pitch,
				   struct home *home, uint32_t id)
{
	uintptr_t            top = (uintptr_t)low + size;
	struct sennit_fiber *f;

	/* The colour depends only on the address of the stack. So the record of
	 * a stack always lies at the same place, and a late notify finds a
	 * record, possibly of another fiber. Adjacent stacks get different
	 * colours, because processors prefetch addresses at equal distances. */
	top -= sizeof(*f) + COLOUR_STEP * ((uintptr_t)low / pitch % COLOURS);
	f = (struct sennit_fiber *)(top & ~(uintptr_t)63);
	clear(f);
	set_home(f, home);
	a_init(&f->identity, f);
	a_init(&f->scope, NULL);
	sn_waited_lock_init(&f->look);
	f->low = low;
	f->size = (size_t)((char *)f - low);
	f->shallow = low + (ARCH_LEAVE(size) > FIBER_MEMBER_STACK
				    ? ARCH_LEAVE(size)
				    : FIBER_MEMBER_STACK);
	f->id = id;
	sn_fiber_state_init(&f->state);
#ifdef SN_ASAN
	__lsan_register_root_region(low, size);
#endif
#ifdef SN_TSAN
	f->tsan_fiber = __tsan_create_fiber(0);
#endif
#ifdef SENNIT_HAVE_VALGRIND
	f->valgrind_id = VALGRIND_STACK_REGISTER(low, low + size);
#endif
	return f;
}

size_t sn_fiber_room(size_t usable)
{
	return usable - sizeof(struct sennit_fiber) - COLOURS * COLOUR_STEP;
}

/* --- measuring ---------------------------------------------------------- */

void sn_fiber_measure(struct sennit_fiber *f)
{
	sn_stack_depth_paint(f->low, (char *)f);
	f->cleanup |= CLEANUP_DEPTH;
	/* Group members get separate stacks. Frames of a member below the
	 * opener's frames would count as the opener's depth. */
	f->shallow = (char *)f;
}

size_t sn_fiber_depth(struct sennit_fiber *f)
{
	char *bottom = sn_stack_depth_bottom(f->low, (char *)f);

	sn_stack_depth_paint_below(bottom);
	return (size_t)((char *)f - bottom);
}

/* --- ending ------------------------------------------------------------- */

void sn_fiber_forget(struct sennit_fiber *f, size_t size)
{
#ifdef SN_ASAN
	__lsan_unregister_root_region(f->low, size);
#endif
#ifdef SN_TSAN
	__tsan_destroy_fiber(f->tsan_fiber);
#endif
#ifdef SENNIT_HAVE_VALGRIND
	VALGRIND_STACK_DEREGISTER(f->valgrind_id);
#endif
	f->home = NULL;
	(void)size;
}

void sn_fiber_adopt_thread(struct sennit_fiber *f, struct home *home)
{
	clear(f);
	set_home(f, home);
	a_init(&f->identity, f);
	a_init(&f->scope, NULL);
	sn_waited_lock_init(&f->look);
	sn_fiber_state_init(&f->state);
#ifdef SN_TSAN
	f->tsan_fiber = __tsan_get_current_fiber();
#endif
	sn_race_enter_thread();
}

/* --- telling the sanitizers --------------------------------------------- */

#if defined(SN_ASAN) || defined(SN_TSAN)
NO_SANITIZE void sn_fiber_leaving(struct sennit_fiber *from,
				  struct sennit_fiber *to, bool for_good)
{
#ifdef SN_ASAN
	from->home->left = from;
	/* The fake stack of a stack that is left for good is freed. */
	__sanitizer_start_switch_fiber(for_good ? NULL : &from->asan_fake,
				       to->low, to->size);
#endif
#ifdef SN_TSAN
	__tsan_switch_to_fiber(to->tsan_fiber, 0);
#endif
	(void)from;
	(void)to;
	(void)for_good;
}

/* The bounds of a thread's own stack are learnt when it is first left, which is
 * before any switch to it. */
NO_SANITIZE void sn_fiber_arrived(struct sennit_fiber *f, bool fresh)
{
#ifdef SN_ASAN
	struct sennit_fiber *left = f->home->left;
	const void          *low;
	size_t               size;

	__sanitizer_finish_switch_fiber(fresh ? NULL : f->asan_fake, &low,
					&size);
	if (left && !left->low) {
		left->low = (char *)(uintptr_t)low;
		left->size = size;
	}
#endif
	(void)f;
	(void)fresh;
}
#endif

/* --- fiber state ---------------------------------------------------------- */

/* After this many failed reads, report the fiber as running: a fiber that
 * changes so fast is. */
#define TRIES 8

#ifdef SENNIT_SPAWN_SITES
static uintptr_t read_site(struct fiber_state *s)
{
	return a_load_acq(&s->site); /* <- fiber_state.read */
}
#else
static uintptr_t read_site(struct fiber_state *s)
{
	(void)s;
	return 0;
}
#endif

static bool look(struct fiber_state *s, sennit_report_entry *e)
{
	/* <- fiber_state.read */
	uint32_t  doing = a_load_acq(&s->doing);
	uintptr_t site = read_site(s);
	/* <- fiber_state.read */
	uintptr_t task = a_load_acq(&s->task);
	/* <- fiber_state.read */
	void *object = a_load_acq(&s->object);
	/* <- fiber_state.read */
	sennit_time since = a_load_acq(&s->since);
	/* <- fiber_state.read */
	sennit_time deadline = a_load_acq(&s->deadline);

	e->task = (sennit_task_fn *)task;
	e->spawned_at = task && read_site(s) == site ? (const void *)site
						     : NULL;
	if (a_load_rlx(&s->doing) != doing)
		return false;
	e->state = doing & FIBER_STATE_STATE;
	if (e->state == SENNIT_REPORT_RUNNING)
		return true;
	e->waits_for = doing % FIBER_STATE_TIMED >> FIBER_STATE_KIND;
	e->object = e->waits_for ? object : NULL;
	e->since = since;
	e->turn = doing / FIBER_STATE_SERIAL;
	e->deadline = doing & FIBER_STATE_TIMED ? deadline : SENNIT_NEVER;
	return true;
}

bool sn_fiber_state_read(struct fiber_state *s, sennit_report_entry *e)
{
	for (int i = 0; i < TRIES; i++)
		if (look(s, e))
			break;
	return e->state != SENNIT_REPORT_RUNNING || e->task;
}

/* --- task name ------------------------------------------------------------ */

void sn_task_name_write(struct task_name *tag, const char *name)
{
	uint32_t version = a_load_rlx(&tag->version);
	char     text[SENNIT_NAME_SIZE] = { 0 };
	uint64_t words[TASK_NAME_WORDS];

	memcpy(text, name, strnlen(name, sizeof(text) - 1));
	memcpy(words, text, sizeof(text));
	a_store_rlx(&tag->version, version + 1); /* a reader that sees a new
						  * word sees this, too */
	TORTURE_POINT();
	for (int i = 0; i < TASK_NAME_WORDS; i++)
		/* -> task_name.read: the version is odd */
		a_store_rel(&tag->words[i], words[i]);
	TORTURE_POINT();
	/* -> task_name.read: all words */
	a_store_rel(&tag->version, version + 2);
}

bool sn_task_name_read(struct task_name *tag, char name[SENNIT_NAME_SIZE])
{
	uint32_t version = a_load_acq(&tag->version); /* <- task_name.read */
	uint64_t words[TASK_NAME_WORDS];

	for (int i = 0; i < TASK_NAME_WORDS; i++)
		words[i] = a_load_acq(&tag->words[i]); /* <- task_name.read */
	if (version % 2 || a_load_rlx(&tag->version) != version)
		return false;
	memcpy(name, words, sizeof(words));
	return name[0];
}

/* --- fiber ---------------------------------------------------------------- */

sennit_fiber *sennit_fiber_current(void)
{
	return sn_self ? sn_self->home.current : NULL;
}

uint32_t sennit_fiber_id(const sennit_fiber *f)
{
	return f->id;
}

void sennit_fiber_set_name(const char *name)
{
	struct sennit_fiber *f = sennit_fiber_current();

	if (!f)
		return;
	f->cleanup &= ~CLEANUP_NAME;
	if (name && name[0])
		f->cleanup |= CLEANUP_NAME;
	sn_task_name_write(&f->name, name ? name : "");
	if (sn_worker_is_traced(sn_self))
		sn_trace_name(sn_self, name ? name : "");
}

void sennit_yield(void)
{
	if (sn_self)
		sn_loop_yield(sn_self);
	else
		os_thread_yield();
	FRAME_IS_KEPT();
}

/* --- time ----------------------------------------------------------------- */

sennit_time sennit_now(void)
{
	return os_now();
}

sennit_time sennit_after(uint64_t nanoseconds)
{
	return os_after(nanoseconds);
}
