/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the tests of a folder in one program: `test_api mutex` runs
 * test/api/mutex.c, `test_api --list` prints the names.
 *
 * tests.inc is written by the build: a line for each test, whose main() has
 * another name there.
 */
#include <stdio.h>
#include <string.h>

#define PLAIN(name, run)          int run(void);
#define WITH_ARGUMENTS(name, run) int run(int argc, char **argv);
#include "tests.inc"
#undef PLAIN
#undef WITH_ARGUMENTS

static const struct test {
	const char *name;
	int (*plain)(void);
	int (*with_arguments)(int argc, char **argv);
} tests[] = {
#define PLAIN(name, run)          { name, run, NULL },
#define WITH_ARGUMENTS(name, run) { name, NULL, run },
#include "tests.inc"
};

enum { TESTS = sizeof(tests) / sizeof(*tests) };

static int list(void)
{
	for (int i = 0; i < TESTS; i++)
		puts(tests[i].name);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--list"))
		return list();
	for (int i = 0; argc > 1 && i < TESTS; i++)
		if (!strcmp(argv[1], tests[i].name))
			return tests[i].plain
				       ? tests[i].plain()
				       : tests[i].with_arguments(argc - 1,
								 argv + 1);
	fprintf(stderr, "usage: %s TEST [ARGUMENT...] | --list\n", argv[0]);
	return 2;
}
