/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the program of all tests of WebAssembly: runs the one that its first
 * argument names. See cmake/emscripten_tests.cmake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "again.h"

#include <unistd.h>

#define PLAIN(name, main, but)          int main(void);
#define WITH_ARGUMENTS(name, main, but) int main(int argc, char **argv);
#include "tests.inc"
#undef PLAIN
#undef WITH_ARGUMENTS

struct test {
	const char *name;
	const char *but; /* the case that is left out; "": none */
	int (*plain)(void);
	int (*with_arguments)(int argc, char **argv);
};

#define PLAIN(name, main, but)          { name, but, main, NULL },
#define WITH_ARGUMENTS(name, main, but) { name, but, NULL, main },

static const struct test tests[] = {
#include "tests.inc"
};

/* In the place of fork(), which WebAssembly does not have: ends the case. */
pid_t __wrap_fork(void);

pid_t __wrap_fork(void)
{
	print_message("there is no fork()\n");
	skip();
	return -1;
}

int main(int argc, char **argv)
{
	const char *wanted = argc > 1 ? argv[1] : "";

	note_arguments(argc, argv);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		const struct test *t = &tests[i];

		if (strcmp(t->name, wanted) != 0)
			continue;
		if (*t->but)
			cmocka_set_skip_filter(t->but);
		return t->plain ? t->plain()
				: t->with_arguments(argc - 1, argv + 1);
	}
	fprintf(stderr, "there is no test \"%s\"\n", wanted);
	return 1;
}
