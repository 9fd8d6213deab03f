/* SPDX-License-Identifier: Apache-2.0 */
#include "fiber/fiber.h"

#include "base/memory.h"
#include "core/stack_depth.h"
#include "processor/leave.h"

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
	f->home = home;
	a_init(&f->identity, f);
	a_init(&f->scope, NULL);
	sn_owner_look_init(&f->look);
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
	f->home = home;
	a_init(&f->identity, f);
	a_init(&f->scope, NULL);
	sn_owner_look_init(&f->look);
	sn_fiber_state_init(&f->state);
#ifdef SN_TSAN
	f->tsan_fiber = __tsan_get_current_fiber();
#endif
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
