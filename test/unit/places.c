/* SPDX-License-Identifier: Apache-2.0 */
/* places.c - which CPUs share caches and memory, read from made-up systems. */
#include "os/os.h"

#include <ftw.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[32];

static int make_system(void **state)
{
	(void)state;
	strcpy(root, "/tmp/sennit-placesXXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *s, int kind,
		      struct FTW *where)
{
	(void)s;
	(void)kind;
	(void)where;
	return remove(path);
}

static int remove_system(void **state)
{
	(void)state;
	return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Make the directories above the last slash of a path; NULL text: no file. */
static void put(const char *path, const char *text)
{
	char  whole[512];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s/sys/devices/system/cpu/%s", root,
		 path);
	for (char *c = whole + strlen(root) + 1; (c = strchr(c, '/')); c++) {
		*c = '\0';
		mkdir(whole, 0700);
		*c = '/';
	}
	if (!text)
		return;
	f = fopen(whole, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void put_cache(uint32_t cpu, unsigned index, const char *level,
		      const char *shared)
{
	char path[128];

	snprintf(path, sizeof(path), "cpu%u/cache/index%u/level", cpu, index);
	put(path, level);
	snprintf(path, sizeof(path), "cpu%u/cache/index%u/shared_cpu_list", cpu,
		 index);
	put(path, shared);
}

static void a_cpu_is_on_its_node_and_in_its_caches(void **state)
{
	sennit_cpu_place p;

	(void)state;
	put_cache(13, 0, "1\n", "12-13\n");
	put_cache(13, 1, "1\n", "12-13\n");
	put_cache(13, 2, "2\n", "12-13\n");
	put_cache(13, 3, "3\n", "8-15,40-47\n");
	put("cpu13/node1/", NULL);
	assert_true(os_cpu_place(root, 13, &p));
	assert_int_equal(p.node, 1);
	assert_int_equal(p.cache, 8);
	assert_int_equal(p.core, 12);
}

static void without_a_third_level_the_second_is_the_last(void **state)
{
	sennit_cpu_place p;

	(void)state;
	put_cache(3, 0, "1\n", "3\n");
	put_cache(3, 1, "2\n", "0-3\n");
	assert_true(os_cpu_place(root, 3, &p));
	assert_int_equal(p.node, 0);
	assert_int_equal(p.cache, 0);
	assert_int_equal(p.core, 0);
}

static void a_node_alone_is_a_place(void **state)
{
	sennit_cpu_place p;

	(void)state;
	put("cpu5/node3/", NULL);
	assert_true(os_cpu_place(root, 5, &p));
	assert_int_equal(p.node, 3);
	assert_int_equal(p.core, 5);
}

static void a_cpu_of_which_nothing_is_known_has_none(void **state)
{
	sennit_cpu_place p = { 7, 8, 9 };

	(void)state;
	put("cpu5/topology/", NULL);
	put_cache(6, 0, "x\n", "y\n");
	assert_false(os_cpu_place(root, 4, &p));
	assert_false(os_cpu_place(root, 5, &p));
	assert_false(os_cpu_place(root, 6, &p));
	assert_int_equal(p.node, 7);
	assert_int_equal(p.core, 9);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, make_system, remove_system)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_cpu_is_on_its_node_and_in_its_caches),
		CASE(without_a_third_level_the_second_is_the_last),
		CASE(a_node_alone_is_a_place),
		CASE(a_cpu_of_which_nothing_is_known_has_none),
	};

	return cmocka_run_group_tests_name("unit/places", tests, NULL, NULL);
}
