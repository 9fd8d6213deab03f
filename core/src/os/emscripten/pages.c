/* SPDX-License-Identifier: Apache-2.0 */
/* pages.c - os.h with emscripten: memory of stacks. WebAssembly has
 * one memory, in which every address can be read and written. So there are no
 * guards, and a stack gets words that show an overflow (stack/stack.h). */
#include "base/compiler.h"
#include "os/os.h"

#include <emscripten.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The unit of a stack's size. WebAssembly's own, 64 KiB, says only by how much
 * the memory grows. */
#define PAGE ((size_t)4096)

size_t os_page_size(void)
{
	return PAGE;
}

void *os_map(size_t size)
{
	void *memory;

	if (posix_memalign(&memory, PAGE, size))
		return NULL;
	return memset(memory, 0, size);
}

void os_unmap(void *memory, size_t size)
{
	(void)size;
	free(memory);
}

bool os_map_anew(void *memory, size_t size)
{
	memset(memory, 0, size);
	return true;
}

/* A memory never shrinks. Nothing is gained by a refusal. */
bool os_discard(void *memory, size_t size)
{
	(void)memory;
	(void)size;
	return true;
}

enum os_guard os_guard_kind(void)
{
	return OS_GUARD_NONE;
}

int os_guard(enum os_guard kind, void *low, size_t pitch, size_t count,
	     size_t size)
{
	(void)kind;
	(void)low;
	(void)pitch;
	(void)count;
	(void)size;
	return -ENOSYS;
}

void os_populate(void *low, size_t pitch, size_t count, size_t size)
{
	(void)low;
	(void)pitch;
	(void)count;
	(void)size;
}

size_t os_mapping_limit(void)
{
	return SIZE_MAX;
}

/* --- emscripten program --------------------------------------------------- */

/* How threads and main() end with emscripten.
 *
 * A thread whose stack was suspended and resumed runs its function to the end,
 * but emscripten then no longer knows what called it: the thread would never
 * end, nor would the program when main() returns. So the linker puts these
 * functions in the place of those of emscripten (its option --wrap, which
 * cmake/platform.cmake hands to all programs), and threads end by
 * pthread_exit(), the program by exit().
 */

struct begin {
	void *(*run)(void *);
	void *argument;
};

int  main(int argc, char **argv);
int  __real_pthread_create(pthread_t *out, const pthread_attr_t *a,
			   void *(*run)(void *), void           *argument);
int  __wrap_pthread_create(pthread_t *out, const pthread_attr_t *a,
			   void *(*run)(void *), void           *argument);
void __wrap___call_main(int argc, char **argv);

/* pthread_exit() leaves the loop that switches fibers by an exception, and that
 * loop then believes that it runs. The next thread of the same worker (of
 * JavaScript) needs it anew. */
EM_JS(void, forget_last_thread, (void), {
	if (typeof Fibers != "undefined")
		Fibers.trampolineRunning = false;
})

static void *run_to_end(void *argument)
{
	const struct begin b = *(struct begin *)argument;

	free(argument);
	forget_last_thread();
	pthread_exit(b.run(b.argument));
}

int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *a,
			  void *(*run)(void *), void           *argument)
{
	struct begin *b = malloc(sizeof(*b));
	int           err;

	if (!b)
		return EAGAIN;
	*b = (struct begin){ run, argument };
	err = __real_pthread_create(out, a, run_to_end, b);
	if (err)
		free(b);
	return err;
}

void __wrap___call_main(int argc, char **argv)
{
	exit(main(argc, argv));
}
