/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the tests of a folder in one program: `test_api mutex` runs
 * test/api/mutex.c, `test_api --list` prints the names.
 *
 * tests.inc is written by the build: a line for each test, whose main() has
 * another name there, with the case of it that is left out ("": none).
 */
#include <stdio.h>
#include <string.h>

#ifdef TEST_BEGIN_H /* what a system has to do before a test */
#include TEST_BEGIN_H
#else
#define begin(but, argc, argv) ((void)(but))
#endif

#define PLAIN(name, run, but)          int run(void);
#define WITH_ARGUMENTS(name, run, but) int run(int argc, char **argv);
#include "tests.inc"
#undef PLAIN
#undef WITH_ARGUMENTS

static const struct test {
	const char *name;
	const char *but;
	int (*plain)(void);
	int (*with_arguments)(int argc, char **argv);
} tests[] = {
#define PLAIN(name, run, but)          { name, but, run, NULL },
#define WITH_ARGUMENTS(name, run, but) { name, but, NULL, run },
#include "tests.inc"
};

enum { TESTS = sizeof(tests) / sizeof(*tests) };

static int list(void)
{
	for (int i = 0; i < TESTS; i++)
		puts(tests[i].name);
	return 0;
}

static int run(const struct test *t, int argc, char **argv)
{
	begin(t->but, argc, argv);
	return t->plain ? t->plain() : t->with_arguments(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--list"))
		return list();
	for (int i = 0; argc > 1 && i < TESTS; i++)
		if (!strcmp(argv[1], tests[i].name))
			return run(&tests[i], argc, argv);
	fprintf(stderr, "usage: %s TEST [ARGUMENT...] | --list\n", argv[0]);
	return 2;
}
