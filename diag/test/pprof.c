/* SPDX-License-Identifier: Apache-2.0 */
/* pprof.c - Go's pprof reads a profile with the right sums, names, labels and
 * images, even if the writer's tables are much too small. */
#include "../src/pprof.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "written.h"

#define FUNCTIONS 3000u /* the writer knows 1024 at a time */
#define BEGIN     UINT64_C(0x400000)
#define SIZE      0x40u /* of a function, with a line for each 16 bytes */
#define SAMPLES   20000u
#define DEPTH     12u

static struct pprof writer;
static FILE        *profile;

static void find(void *calls, uint64_t address, struct pprof_place *place)
{
	static char    name[32], file[32];
	const uint64_t n = (address - BEGIN) / SIZE;

	++*(unsigned *)calls;
	snprintf(name, sizeof(name), "function_%" PRIu64, n);
	snprintf(file, sizeof(file), "/src/file_%" PRIu64 ".c", n % 7);
	*place = (struct pprof_place){
		.function = name,
		.file = file,
		.line = (uint32_t)(100 + address % SIZE / 16),
		.begin = BEGIN + n * SIZE,
	};
}

static void begin(struct pprof_about about)
{
	profile = begin_written();
	about.fd = fileno(profile);
	sn_pprof_begin(&writer, &about);
}

static void end(void)
{
	assert_int_equal(sn_pprof_end(&writer), 0);
	fclose(profile);
}

/* Return what `go tool pprof` prints for what was written. */
static const char *end_and_ask(const char *options)
{
	assert_int_equal(sn_pprof_end(&writer), 0);
	return end_by_pprof(profile, options);
}

static int without_go_skip(void)
{
	if (has_pprof())
		return 0;
	print_message("skipped: no go tool pprof\n");
	return 77;
}
BEFORE_ALL(without_go_skip);

static uint32_t roll(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static int64_t flat[FUNCTIONS], cumulated[FUNCTIONS];

/* Each function is in a stack once, so the sums are those of the frames. */
static void add_one(uint32_t *seed)
{
	uint64_t frames[DEPTH];
	int64_t  values[2];
	char     task[16];
	uint32_t step = 1 + roll(seed) % (FUNCTIONS / DEPTH);
	uint32_t n = roll(seed) % FUNCTIONS;

	values[0] = 1;
	values[1] = roll(seed) % 1000;
	snprintf(task, sizeof(task), "task%u", n % 5);
	for (uint32_t i = 0; i < DEPTH; i++, n = (n + step) % FUNCTIONS) {
		frames[i] = BEGIN + n * SIZE + roll(seed) % SIZE;
		flat[n] += i ? 0 : values[1];
		cumulated[n] += values[1];
	}
	sn_pprof_add_sample(&writer, values, frames, DEPTH,
			    &(struct pprof_label){ "task", task, 0, NULL }, 1);
}

/* Lines are `flat flat% sum% cumulated cumulated% name`. */
static void check_top(const char *said)
{
	unsigned    lines = 0;
	const char *line = strstr(said, "flat%");

	assert_non_null(line);
	while ((line = strchr(line, '\n')) && *++line) {
		long long own, all;
		unsigned  n;

		if (sscanf(line, "%lldns %*s %*s %lldns %*s function_%u", &own,
			   &all, &n) == 3 ||
		    sscanf(line, "%lld %*s %*s %lldns %*s function_%u", &own,
			   &all, &n) == 3) {
			assert_true(n < FUNCTIONS);
			assert_int_equal(own, flat[n]);
			assert_int_equal(all, cumulated[n]);
			lines++;
		}
	}
	for (unsigned n = 0; n < FUNCTIONS; n++)
		lines -= cumulated[n] != 0;
	assert_int_equal(lines, 0);
}

TEST(sums_by_function_are_exact_however_small_the_tables)
{
	uint32_t seed = 7;
	unsigned calls = 0;

	begin((struct pprof_about){
		.find = find,
		.context = &calls,
		.value_count = 2,
		.values = { { "waits", "count" }, { "wait", "nanoseconds" } },
	});
	for (unsigned i = 0; i < SAMPLES; i++)
		add_one(&seed);
	check_top(end_and_ask("-top -sample_index=wait -unit=ns"));
	assert_true(calls > FUNCTIONS);
}

/* Each address of a small program is looked up once. */
TEST(an_address_is_named_once)
{
	const int64_t one = 1;
	unsigned      calls = 0;

	begin((struct pprof_about){
		.find = find,
		.context = &calls,
		.value_count = 1,
		.values = { { "fibers", "count" } },
	});
	for (unsigned i = 0; i < 1000; i++) {
		const uint64_t frames[] = { BEGIN + i % 3, BEGIN + 5 * SIZE };

		sn_pprof_add_sample(&writer, &one, frames, 2, NULL, 0);
	}
	end();
	assert_true(calls >= 4 && calls <= 5);
}

TEST(labels_images_period_and_lines_are_read)
{
	const uint64_t     frames[] = { BEGIN + 2 * SIZE + 17, BEGIN + 1 };
	const int64_t      values[] = { 42 };
	struct pprof_label labels[] = {
		{ "task", "serve \xc3\xa4", 0, NULL },
		{ "fiber", NULL, 17, NULL },
		{ "longest", NULL, 1500000000, "nanoseconds" },
	};
	unsigned    calls = 0;
	const char *said;

	begin((struct pprof_about){
		.find = find,
		.context = &calls,
		.time_ns = UINT64_C(1700000000000000000),
		.duration_ns = 2500000000,
		.period_type = { "cpu", "nanoseconds" },
		.period = 10101010,
		.value_count = 1,
		.values = { { "samples", "count" } },
		.comment = "by the test",
	});
	sn_pprof_add_image(&writer,
			   &(struct pprof_image){ .start = BEGIN,
						  .limit = BEGIN + 0x10000,
						  .offset = 0x1000,
						  .file = "/bin/program",
						  .build_id = "c0ffee" });
	sn_pprof_add_sample(&writer, values, frames, 2, labels, 3);
	said = end_and_ask("-raw");
	assert_non_null(strstr(said, "PeriodType: cpu nanoseconds"));
	assert_non_null(strstr(said, "Period: 10101010"));
	assert_non_null(strstr(said, "Duration: 2.5"));
	assert_non_null(strstr(said, "samples/count"));
	assert_non_null(strstr(said, "42: 1 2"));
	assert_non_null(strstr(said, "task:[serve \xc3\xa4]"));
	assert_non_null(strstr(said, "fiber:[17]"));
	assert_non_null(strstr(said, "longest:[1500000000 nanoseconds]"));
	assert_non_null(strstr(said, "1: 0x400091 M=1 function_2 "
				     "/src/file_2.c:101"));
	assert_non_null(strstr(said, "2: 0x400001 M=1 function_0 "
				     "/src/file_0.c:100"));
	assert_non_null(strstr(said, "1: 0x400000/0x410000/0x1000 "
				     "/bin/program c0ffee [FN]"));
}

/* For this program's own images pprof finds the function in its file. */
static __attribute__((noinline)) void in_this_program(void)
{
	__asm__ volatile("");
}

TEST(addresses_without_names_are_found_in_the_images)
{
	const uint64_t frames[] = { (uintptr_t)&in_this_program + 1 };
	const int64_t  one = 1;
	const char    *said;
	char           own[32];
	char           exe[512];
	const ssize_t  n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	assert_true(n > 0);
	exe[n] = '\0';
	snprintf(own, sizeof(own), "%#" PRIx64 " M=1", frames[0]);
	begin((struct pprof_about){ .value_count = 1,
				    .values = { { "a", "count" } } });
	sn_pprof_add_own_images(&writer);
	sn_pprof_add_sample(&writer, &one, frames, 1, NULL, 0);
	said = end_and_ask("-raw");
	assert_non_null(strstr(said, own));
	assert_non_null(strstr(said, exe));
}

static int refuse(void *calls, const char *bytes, size_t size)
{
	(void)bytes;
	assert_true(size > 0);
	++*(unsigned *)calls;
	return -28;
}

TEST(the_first_error_of_a_write_is_returned)
{
	const uint64_t frame = BEGIN;
	const int64_t  one = 1;
	unsigned       calls = 0;

	sn_pprof_begin(&writer,
		       &(struct pprof_about){ .write = refuse,
					      .context = &calls,
					      .value_count = 1,
					      .values = { { "a", "b" } } });
	for (unsigned i = 0; i < SAMPLES; i++)
		sn_pprof_add_sample(&writer, &one, &frame, 1, NULL, 0);
	assert_int_equal(sn_pprof_end(&writer), -28);
	assert_int_equal(calls, 1);
}
