/* SPDX-License-Identifier: Apache-2.0 */
/* emscripten_program.c - how threads and main() end with emscripten.
 *
 * A thread whose stack was suspended and resumed runs its function to the end,
 * but emscripten then no longer knows what called it: the thread would never
 * end, nor would the program when main() returns. So the linker puts these
 * functions in the place of those of emscripten (its option --wrap, which
 * cmake/system.cmake hands to all programs), and threads end by pthread_exit(),
 * the program by exit().
 */
#include "base/compiler.h"

#include <emscripten.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

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
