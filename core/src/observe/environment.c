/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/environment.h"

#include "base/own_file.h"
#include "base/text.h"
#include "observe/stall.h"
#include "observe/trace.h"
#include "os/os.h"
#include "sennit/detail/debugger.h"
#include "sennit/trace.h"

const struct sennit_debug_tools *sennit_debug_tools;

#if !defined(SENNIT_NO_DEBUG_SWITCH) && !defined(SENNIT_DETERMINISTIC)
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VARIABLE "SENNIT_DEBUG"
#define KNOWN                                                          \
	"stall, dump[=SIGNAL[:FORMAT]], fatal[=FILE], watchdog[=MS], " \
	"trace=FILE, live[=PATH], profile=FILE"
#define WATCHDOG_MS   100
#define WATCHDOG_MOST 3600000
#define FILES         16

/* The trace of a scheduler. */
struct traced {
	sennit_scheduler *scheduler; /* NULL: unused */
	struct own_file   file;
};

static struct {
	char         *trace; /* fixed: the name of the file; NULL: no trace */
	uint32_t      watchdog;      /* fixed: milliseconds; 0: none */
	bool          forked;        /* this process is a child of fork():
				      * everything is off */
	uint32_t      files;         /* under the lock: number created */
	struct traced traced[FILES]; /* under the lock */
} chosen;

static pthread_mutex_t environment_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- lines -------------------------------------------------------------- */

static void print_complaint(const char *word, const char *why)
{
	char shown[128];

	sn_escape(shown, sizeof(shown), word);
	os_print(STDERR_FILENO, "sennit: " VARIABLE ": %s: %s\n", shown, why);
}

static void print_error(const char *word, int err)
{
	if (err)
		print_complaint(word, sennit_strerror(err));
}

/* --- traces ------------------------------------------------------------- */

/* Create the file of a trace. The first scheduler's file has the given name,
 * others have a number appended. It is opened now, while the process is in the
 * folder in which it was started. Lock held. */
static int create_file(void)
{
	char name[4096];
	int  n = ++chosen.files == 1
			 ? snprintf(name, sizeof(name), "%s", chosen.trace)
			 : snprintf(name, sizeof(name), "%s.%u", chosen.trace,
				    (unsigned)chosen.files);

	if (n < 0 || n >= (int)sizeof(name))
		return -ENAMETOOLONG;
	return os_create_file(name);
}

/* Lock held. */
static struct traced *find_traced(const sennit_scheduler *s)
{
	for (size_t i = 0; i < FILES; i++)
		if (chosen.traced[i].scheduler == s)
			return &chosen.traced[i];
	return NULL;
}

/* Write what was recorded until now and replace what was written before. Lock
 * held. */
static void write_trace(const struct traced *t)
{
	if (!sn_own_file_is_there(&t->file)) {
		print_complaint("trace",
				"not written: the program has closed the "
				"file");
		return;
	}
	/* a pipe cannot seek, so the new data are appended */
	if (!lseek(t->file.fd, 0, SEEK_SET))
		(void)!ftruncate(t->file.fd, 0);
	print_error("trace", sennit_trace_write(t->scheduler, t->file.fd));
}

/* Called by exit(). Schedulers may still run or have ended. */
static void write_traces(void)
{
	os_lock(&environment_lock);
	for (size_t i = 0; i < FILES && !chosen.forked; i++)
		if (chosen.traced[i].scheduler)
			write_trace(&chosen.traced[i]);
	pthread_mutex_unlock(&environment_lock);
}

/* Lock held. */
static int start_traced(sennit_scheduler *s, struct traced *t)
{
	const int fd = create_file();
	int       err;

	if (fd < 0)
		return fd;
	err = sennit_trace_start(s, NULL);
	if (err) {
		close(fd);
		return err;
	}
	*t = (struct traced){ s, sn_own_file(fd) };
	/* fails if another scheduler's trace is written at a crash */
	(void)!sn_trace_crash_to(s, fd, &t->file);
	return 0;
}

static void add_trace(sennit_scheduler *s)
{
	struct traced *t;
	int            err = -EMFILE;

	os_lock(&environment_lock);
	t = find_traced(NULL);
	if (t)
		err = start_traced(s, t);
	pthread_mutex_unlock(&environment_lock);
	print_error("trace", err);
}

static void remove_trace(sennit_scheduler *s)
{
	struct traced *t;

	os_lock(&environment_lock);
	t = find_traced(s);
	if (t) {
		write_trace(t);
		sn_own_file_close(&t->file);
		t->scheduler = NULL;
	}
	pthread_mutex_unlock(&environment_lock);
}

/* --- libsennit-diag ----------------------------------------------------- */

static const struct sennit_debug_tools *load_debug_tools(void)
{
	char name[64];

	if (sennit_debug_tools)
		return sennit_debug_tools;
#if SENNIT_VERSION_MAJOR
	snprintf(name, sizeof(name), "libsennit-diag.so.%d",
		 SENNIT_VERSION_MAJOR);
#else /* each minor version has its own interface */
	snprintf(name, sizeof(name), "libsennit-diag.so.%d.%d",
		 SENNIT_VERSION_MAJOR, SENNIT_VERSION_MINOR);
#endif
	os_load_beside(name);
	return sennit_debug_tools;
}

static bool has_tools(const char *word)
{
	if (!load_debug_tools())
		print_complaint(word,
				"it needs libsennit-diag, which is neither "
				"linked nor in libsennit's folder: link "
				"libsennit-diag (with the archive, and without "
				"calls of it: -Wl,-u,sennit_stacks_print)");
	return sennit_debug_tools;
}

/* --- the words of SENNIT_DEBUG ------------------------------------------ */

static void turn_on_stall(const char *word, const char *value)
{
	int err;

	(void)value;
	err = sn_stall_start(
		load_debug_tools() ? sennit_debug_tools->print_stacks : NULL);
	if (err == -ENOTSUP)
		print_complaint(word, "not on this system");
	else
		print_error(word, err);
}

static void turn_on_dump(const char *word, const char *value)
{
	if (has_tools(word))
		print_error(word, sennit_debug_tools->dump(value));
}

static void turn_on_fatal(const char *word, const char *value)
{
	if (has_tools(word))
		print_error(word, sennit_debug_tools->fatal(value));
}

static void turn_on_live(const char *word, const char *value)
{
	if (has_tools(word))
		print_error(word, sennit_debug_tools->live(value));
}

static void turn_on_watchdog(const char *word, const char *value)
{
	char *end = NULL;
	long  ms = value ? strtol(value, &end, 10) : WATCHDOG_MS;

	if (ms < 1 || ms > WATCHDOG_MOST || (end && *end))
		print_complaint(word, "a number of milliseconds is expected");
	else if (has_tools(word))
		chosen.watchdog = (uint32_t)ms;
}

static void turn_on_profile(const char *word, const char *value)
{
	if (!value || !*value)
		print_complaint(word,
				"the name of a file is expected: profile=FILE");
	else if (has_tools(word))
		print_error(word, sennit_debug_tools->profile(value));
}

static void turn_on_trace(const char *word, const char *value)
{
	if (!value || !*value)
		print_complaint(word,
				"the name of a file is expected: trace=FILE");
	else
		chosen.trace = strdup(value); /* not freed until the process
					       * ends */
	if (chosen.trace)
		atexit(write_traces);
}

static const struct word {
	const char *name;
	void (*turn_on)(const char *word, const char *value);
	bool has_value; /* a value may be given */
} words[] = {
	{ "stall", turn_on_stall, false },
	{ "dump", turn_on_dump, true },
	{ "fatal", turn_on_fatal, true },
	{ "watchdog", turn_on_watchdog, true },
	{ "trace", turn_on_trace, true },
	{ "live", turn_on_live, true },
	{ "profile", turn_on_profile, true },
};

static void turn_on_word(char *word)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i].name) &&
		    (!value || words[i].has_value)) {
			words[i].turn_on(word, value);
			return;
		}
	print_complaint(word, "unknown word; the words are " KNOWN);
}

#ifdef NDEBUG
static void turn_on_defaults(void)
{
}
#else
/* The tools are loaded only when a stall is found: most programs have none. */
static int load_and_print_stacks(int fd)
{
	if (load_debug_tools())
		return sennit_debug_tools->print_stacks(fd);
	os_print(fd, "link libsennit-diag to print the stacks\n");
	return 0;
}

/* With assertions. Errors are not printed: the program has not asked for it. */
static void turn_on_defaults(void)
{
	(void)!sn_stall_start(load_and_print_stacks);
}
#endif

static void read_variable(void)
{
	const char *text = os_environment(VARIABLE);
	char       *copy = text ? strdup(text) : NULL;
	char       *rest = NULL;

	if (!text)
		turn_on_defaults();
	if (copy)
		for (char *word = strtok_r(copy, ",", &rest); word;
		     word = strtok_r(NULL, ",", &rest))
			turn_on_word(word);
	free(copy);
}

/* --- schedulers --------------------------------------------------------- */

void sn_environment_prepare(sennit_config *config)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_variable);
	if (chosen.trace && !chosen.forked && !config->trace_events)
		config->trace_events = SENNIT_TRACE_EVENTS;
}

void sn_environment_add(sennit_scheduler *s)
{
	if (chosen.forked)
		return;
	if (chosen.trace)
		add_trace(s);
	if (chosen.watchdog)
		print_error("watchdog",
			    sennit_debug_tools->watchdog(s, chosen.watchdog));
}

void sn_environment_remove(sennit_scheduler *s)
{
	if (chosen.trace && !chosen.forked)
		remove_trace(s);
}

/* Files and sockets belong to the parent. */
void sn_environment_fork(void)
{
	chosen.forked = true;
	sn_stall_fork();
}
#endif
