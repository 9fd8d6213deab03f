/* SPDX-License-Identifier: Apache-2.0 */
/* test.h - a test is a file, and its name the file's: core/test/api/mutex.c is
 * api/mutex. Its cases are functions that register themselves with
 * testing/main.c.
 *
 *	TEST(claim)
 *	{
 *		assert_true(...);
 *	}
 *
 * ../api/with_workers.h has kinds for cases that need a scheduler. Others make
 * a kind of their own by TEST_ENTRIES().
 */
#ifndef SN_TEST_TEST_H
#define SN_TEST_TEST_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

/* A callback of a test rarely needs what it gets. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* The case ends here, and has not failed. */
void test_case_ends(void);

#undef skip
#define skip() (test_case_ends(), _skip(__FILE__, __LINE__))

/* What one line of a test registers. */
struct test_part {
	const char              *file;  /* of the test, even from a header */
	int                      order; /* in that file */
	const struct CMUnitTest *cases;
	size_t                   count;
	int (*before)(void);
	int (*after)(int failures);
	int (*program)(int argc, char **argv);
	const char       *left_out; /* cases, with wildcards */
	struct test_part *next, *next_test;
};

void test_register(struct test_part *part);

extern int    test_argc; /* what main() got */
extern char **test_argv;

/* The case that runs: its test's name, a blank, its own. */
const char *test_now(void);

#define TEST_PART_(id, n, ...)                                          \
	__attribute__((constructor)) static void id##_part(void)        \
	{                                                               \
		static struct test_part part = { .file = __BASE_FILE__, \
						 .order = n,            \
						 __VA_ARGS__ };         \
                                                                        \
		test_register(&part);                                   \
	}                                                               \
	struct test_part
#define TEST_PART(id, ...) TEST_PART_(id, __COUNTER__, __VA_ARGS__)

/* The function f has each of these entries as a case, which are struct
 * CMUnitTests. They call f##_case(). */
#define TEST_CASES(f, ...)                                              \
	static const struct CMUnitTest f##_entries[] = { __VA_ARGS__ }; \
	TEST_PART(f, .cases = f##_entries,                              \
		  .count = sizeof(f##_entries) / sizeof(*f##_entries))

/* Begins f, which gets the state that cmocka keeps for a case. */
#define TEST_ENTRIES(f, parameter, ...)    \
	static void f(parameter);          \
	static void f##_case(void **state) \
	{                                  \
		f(*state);                 \
	}                                  \
	TEST_CASES(f, __VA_ARGS__);        \
	static void f(__attribute__((unused)) parameter)

/* Begins a case between calls of these two, or NULL. */
#define TEST_BETWEEN(f, setup, teardown)                        \
	static void f(void);                                    \
	static void f##_case(void **state)                      \
	{                                                       \
		(void)state;                                    \
		f();                                            \
	}                                                       \
	TEST_CASES(f, { #f, f##_case, setup, teardown, NULL }); \
	static void f(void)
#define TEST(f) TEST_BETWEEN(f, NULL, NULL)

/* int f(void) runs before the first case of the file. It returns 0, or what the
 * program shall end with: 77 skips the test. */
#define BEFORE_ALL(f) TEST_PART(f, .before = f)

/* int f(int failures) runs after the last. It returns what the program shall
 * end with. */
#define AFTER_ALL(f) TEST_PART(f, .after = f)

/* The file cannot be tested in this build. */
#define SKIP_ALL(reason)                                \
	static int skip_all(void)                       \
	{                                               \
		print_message("skipped: %s\n", reason); \
		return 77;                              \
	}                                               \
	BEFORE_ALL(skip_all)

#ifdef TEST_LEFT_OUT
TEST_PART(left_out, .left_out = TEST_LEFT_OUT);
#endif

#endif
