/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the tests of a folder in one program: `test_api mutex` runs
 * core/test/api/mutex.c, `test_api mutex CASE` the case of this name, or those
 * whose names begin so. `test_api --list` prints the names of all tests. A
 * program of one test needs no name.
 */
#include "test.h"

#include "random.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CASES = 400 };

uint64_t random_seed;

int    test_argc;
char **test_argv;

static struct test_part        *tests, *last; /* the first part of each */
static const struct test_part  *test;         /* that runs */
static const struct CMUnitTest *now;
static bool                     is_open; /* it has begun and not ended */

/* --- parts -------------------------------------------------------------- */

static void insert(struct test_part *at, struct test_part *part)
{
	while (at->next && at->next->order < part->order)
		at = at->next;
	part->next = at->next;
	at->next = part;
}

/* The first of a test has only its name. */
void test_register(struct test_part *part)
{
	static struct test_part heads[MOST_CASES];
	static unsigned         used;

	if (!last || strcmp(last->file, part->file) != 0) {
		struct test_part *head = &heads[used++];

		if (used == MOST_CASES)
			abort();
		head->file = part->file;
		if (last)
			last->next_test = head;
		else
			tests = head;
		last = head;
	}
	insert(last, part);
}

/* --- names -------------------------------------------------------------- */

/* Where the last `parts` parts of the path begin. */
static const char *last_parts(const char *path, int parts)
{
	const char *from = path + strlen(path);

	for (; from > path; from--)
		if (from[-1] == '/' && --parts == 0)
			break;
	return from;
}

/* "api/mutex" of ".../core/test/api/mutex.c", "io/limits" of
 * ".../io/test/limits.c" */
static const char *name_of(const struct test_part *t)
{
	static char name[128];
	const char *file = last_parts(t->file, 1);
	const char *folder = last_parts(t->file, 2);
	int         length = (int)(file - folder);
	char       *end;

	if (length == 5 && !memcmp(folder, "test/", 5)) {
		file = folder + length;
		folder = last_parts(t->file, 3);
		length = (int)strcspn(folder, "/") + 1;
	}
	snprintf(name, sizeof(name), "%.*s%s", length, folder, file);
	end = strrchr(name, '.');
	if (end)
		*end = '\0';
	return name;
}

static bool is_named(const struct test_part *t, const char *word)
{
	const char *name = name_of(t);
	const char *file = strrchr(name, '/');

	return !strcmp(name, word) || (file && !strcmp(file + 1, word));
}

const char *test_now(void)
{
	static char words[256];

	snprintf(words, sizeof(words), "%s %s", name_of(test), now->name);
	return words;
}

static int list(void)
{
	for (const struct test_part *t = tests; t; t = t->next_test)
		puts(name_of(t));
	return 0;
}

/* --- cases -------------------------------------------------------------- */

static int finish(int result)
{
	result = random_report(result);
	for (const struct test_part *p = test->next; p; p = p->next)
		if (p->after)
			result = p->after(result);
	return result;
}

void test_case_ends(void)
{
	is_open = false;
}

/* A failed case leaves its threads and bindings, which would fail the cases
 * after it or end the program: the first that fails is the last. */
static void end_after_failure(void)
{
	print_error("%s: the cases from %s on did not run\n", name_of(test),
		    now->name);
	fflush(NULL);
	_exit(finish(1));
}

/* The state of each case is its entry, until then. */
static int begin(void **state)
{
	now = *state;
	if (is_open)
		end_after_failure();
	*state = now->initial_state;
	is_open = true;
	return now->setup_func ? now->setup_func(state) : 0;
}

static void run_case(void **state)
{
	now->test_func(state);
	test_case_ends();
}

static int end(void **state)
{
	bool failed = is_open;
	int  result;

	is_open = true;
	result = now->teardown_func ? now->teardown_func(state) : 0;
	is_open = failed || result;
	return result;
}

static bool is_wanted(const struct CMUnitTest *c, const char *words, bool whole)
{
	return !words || !strcmp(c->name, words) ||
	       (!whole && !strncmp(c->name, words, strlen(words)));
}

static size_t collect(const char *words, bool whole, struct CMUnitTest *cases)
{
	size_t n = 0;

	for (const struct test_part *p = test->next; p; p = p->next)
		for (size_t i = 0; i < p->count; i++) {
			const struct CMUnitTest *c = &p->cases[i];

			if (!is_wanted(c, words, whole))
				continue;
			if (n == MOST_CASES)
				abort();
			cases[n] = *c;
			cases[n].setup_func = begin;
			cases[n].test_func = run_case;
			cases[n].teardown_func = end;
			cases[n++].initial_state = (void *)(uintptr_t)c;
		}
	return n;
}

static int run(const char *words)
{
	struct CMUnitTest cases[MOST_CASES];
	size_t            n;
	int               result = 0;

	for (const struct test_part *p = test->next; p; p = p->next) {
		if (p->program)
			return p->program(test_argc - 1, test_argv + 1);
		if (p->left_out)
			cmocka_set_skip_filter(p->left_out);
		if (p->before && (result = p->before()))
			return result;
	}
	n = collect(words, true, cases);
	if (!n)
		n = collect(words, false, cases);
	if (!n) {
		fprintf(stderr, "%s: no case\n", name_of(test));
		return 2;
	}
	random_stream(0); /* chooses the seed while there is only one thread */
	return finish(
		!!_cmocka_run_group_tests(name_of(test), cases, n, NULL, NULL));
}

/* Without a word of the caller, builds with assertions have no watch of their
 * own (SENNIT_DEBUG): tests count threads, and fork. */
static void turn_watch_off(void)
{
#if __has_include(<sys/utsname.h>) /* not on Windows, which has no setenv() */
	(void)setenv("SENNIT_DEBUG", "", 0);
#endif
}

int main(int argc, char **argv)
{
	turn_watch_off();
	test_argc = argc;
	test_argv = argv;
	if (argc == 2 && !strcmp(argv[1], "--list"))
		return list();
	for (test = tests; argc > 1 && test; test = test->next_test)
		if (is_named(test, argv[1]))
			return run(argv[2]);
	test = tests;
	if (test && !test->next_test)
		return run(argv[1]);
	fprintf(stderr, "usage: %s TEST [CASE] | --list\n", argv[0]);
	return 2;
}
