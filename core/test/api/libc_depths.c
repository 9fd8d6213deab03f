/* SPDX-License-Identifier: Apache-2.0 */
/* libc_depths.c - the stack that calls into libc use, and that the default
 * stack suffices for each. Prints the table of core/docs/design/stacks.md.
 */
#include "testing/with_workers.h"
#include "sennit/stack_use.h"

#include <unistd.h>
#include <dlfcn.h>
#include <float.h>
#include <glob.h>
#include <iconv.h>
#include <locale.h>
#include <netdb.h>
#include <pwd.h>
#include <regex.h>
#include <syslog.h>
#include <time.h>

#if defined(SN_ASAN) || defined(SN_TSAN) || defined(SENNIT_DETERMINISTIC)

SKIP_ALL("frames or threads are not as usual");

#else

enum { AMPLE = 1 << 20, DEFAULT = 64 * 1024, NUMBERS = 20000 };

static void call_nothing(void *unused)
{
}

static void call_printf(void *unused)
{
	char text[64];

	snprintf(text, sizeof(text), "%d %s", 7, "words");
}

static void call_printf_double(void *unused)
{
	char text[512];

	snprintf(text, sizeof(text), "%f %.17g", DBL_MAX, 0.1);
}

static void call_printf_long_double(void *unused)
{
	static char text[8192];

	snprintf(text, sizeof(text), "%Lf", LDBL_MAX);
}

static void call_strtod(void *unused)
{
	EXPECT(strtod("1.7976931348623157e308", NULL) > 1);
}

static void call_stdio(void *unused)
{
	FILE *f = fopen("/dev/null", "we");

	EXPECT(f && fprintf(f, "%s\n", "words") > 0 && !fclose(f));
}

static void call_strftime(void *unused)
{
	const time_t now = time(NULL);
	struct tm    local;
	char         text[64];

	EXPECT(localtime_r(&now, &local));
	EXPECT(strftime(text, sizeof(text), "%c %Z", &local));
}

static void call_syslog(void *unused)
{
	syslog(LOG_DEBUG | LOG_USER, "sennit measures its stacks: %f", 0.5);
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void call_qsort(void *unused)
{
	static int numbers[NUMBERS];

	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = i * 7919 % NUMBERS;
	qsort(numbers, NUMBERS, sizeof(int), by_number);
}

static void call_regex(void *unused)
{
	regex_t pattern;

	EXPECT(!regcomp(&pattern, "((((a|b)*c)+d)*[e-z]{2,9})+(x|(yz)*)",
			REG_EXTENDED));
	EXPECT(!regexec(&pattern, "abacabcdabcdefghijklmnopq", 0, NULL, 0));
	regfree(&pattern);
}

static void call_glob(void *unused)
{
	glob_t found;

	if (!glob("/usr/share/*/*/*", 0, NULL, &found))
		globfree(&found);
}

static void call_getpwnam(void *unused)
{
	struct passwd entry, *found;
	char          text[4096];

	EXPECT(!getpwnam_r("root", &entry, text, sizeof(text), &found));
}

static void ask_for(const char *host)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo      *found;

	if (!getaddrinfo(host, "80", &hints, &found))
		freeaddrinfo(found);
}

static void call_getaddrinfo(void *unused)
{
	ask_for("localhost");
}

/* Not answered from files, so servers are queried. */
static void call_getaddrinfo_dns(void *unused)
{
	ask_for("no-such-host.invalid");
}

static void call_dlopen(void *unused)
{
	void *library = dlopen("libanl.so.1", RTLD_NOW);

	if (library)
		dlclose(library);
}

static void call_iconv(void *unused)
{
	iconv_t c = iconv_open("UTF-16", "ISO-8859-15");

	if (c != (iconv_t)-1)
		iconv_close(c);
}

static void call_setlocale(void *unused)
{
	EXPECT(setlocale(LC_ALL, ""));
}

static const struct {
	sennit_task_fn *task;
	const char     *name;
} calls[] = {
	{ call_nothing, "nothing" },
	{ call_printf, "printf %d %s" },
	{ call_printf_double, "printf %f" },
	{ call_printf_long_double, "printf %Lf" },
	{ call_strtod, "strtod" },
	{ call_stdio, "fopen, fprintf, fclose" },
	{ call_strftime, "localtime_r, strftime" },
	{ call_syslog, "syslog" },
	{ call_qsort, "qsort" },
	{ call_regex, "regcomp, regexec" },
	{ call_glob, "glob" },
	{ call_getpwnam, "getpwnam_r" },
	{ call_getaddrinfo, "getaddrinfo, files" },
	{ call_getaddrinfo_dns, "getaddrinfo, servers" },
	{ call_dlopen, "dlopen" },
	{ call_iconv, "iconv_open" },
	{ call_setlocale, "setlocale" },
};

enum { CALLS = sizeof(calls) / sizeof(calls[0]) };

static size_t deepest[2][CALLS];

static void note_use(void *row, const sennit_stack_use *use)
{
	for (int i = 0; i < CALLS; i++)
		if (calls[i].task == use->task)
			((size_t *)row)[i] = use->deepest;
}

/* On a worker, whose thread has a stack of the same size as tasks. */
static void measure(size_t stack_size, size_t *row)
{
	sennit_scheduler *s =
		start_with(SENNIT_CONFIG(.workers = 1, .measure_stacks = 1,
					 .stack_size = stack_size));

	assert_int_equal(sennit_thread_bind(s), 0);
	for (int i = 0; i < CALLS; i++)
		must_schedule(calls[i].task, NULL);
	assert_soon(stats_of(s).tasks == CALLS);
	sennit_stack_use_visit(s, note_use, row);
	sennit_thread_unbind();
	end_scheduler(s);
}

/* A quarter of the stack must be left for the task itself. */
TEST_ALONE(the_default_stack_bears_what_tasks_call)
{
	setenv("RES_OPTIONS", "timeout:1 attempts:1", 1);
	measure(AMPLE, deepest[1]); /* first, because it also triggers lazy
				     * loading */
	measure(0, deepest[0]);
	print_message("| call | 64 KiB | 1 MiB |\n|---|---:|---:|\n");
	for (int i = 0; i < CALLS; i++)
		print_message("| %s | %zu | %zu |\n", calls[i].name,
			      deepest[0][i], deepest[1][i]);
	for (int i = 0; i < CALLS; i++)
		assert_in_range(deepest[0][i], 1, DEFAULT / 4 * 3);
}

static int begin_all(void)
{
	/* libc's alloca limit follows the thread's stack size, which libc does
	 * not let be smaller than this: 128 KiB on aarch64. */
	if (sysconf(_SC_THREAD_STACK_MIN) > DEFAULT) {
		print_message("skipped: threads have larger stacks\n");
		return 77;
	}
	return 0;
}

BEFORE_ALL(begin_all);

#endif
