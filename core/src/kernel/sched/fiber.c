/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/fiber.h"

#include "base/memory.h"
#include "base/torture.h"
#include "arch/cpu.h"
#include "os/os.h"
#include "stack/stack.h"

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
static void clear_fiber(struct sennit_fiber *f)
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
	clear_fiber(f);
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
	clear_fiber(f);
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

/* --- task name ------------------------------------------------------------ */

void sn_task_name_write(struct task_name *tag, const char *name)
{
	uint32_t version = a_load_rlx(&tag->version);
	char     text[SENNIT_TASK_NAME_SIZE] = { 0 };
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

bool sn_task_name_read(struct task_name *tag, char name[SENNIT_TASK_NAME_SIZE])
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

/* --- longjmp check -------------------------------------------------------- */

void sn_longjmp_found(struct worker *w, uintptr_t here)
{
	MISUSE(sn_stacks_contain(&w->scheduler->stacks, here) ||
		       os_thread_has_stack(here),
	       "longjmp",
	       "it left a task, whose fiber still counts as running, for "
	       "another "
	       "stack");
}

void sn_astray_on_thread(struct worker *w, uintptr_t here)
{
	MISUSE(sn_stacks_contain(&w->scheduler->stacks, here), "longjmp",
	       "it left the thread's own stack, which still counts as running, "
	       "for "
	       "a task's");
	w->last_seen_at = here;
}
