/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/environment.h"

#include "base/text.h"
#include "observe/stall.h"
#include "os/os.h"
#include "sennit/debugger.h"
#include "sennit/trace.h"

const struct sennit_debug_tools *sennit_debug_tools;

#if !defined(SENNIT_NO_DEBUG_SWITCH) && !defined(SENNIT_DETERMINISTIC)
#include <errno.h>
#include <fcntl.h>
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

/* The trace of one scheduler. */
struct traced {
	sennit_scheduler *scheduler; /* NULL: this place is free */
	int               fd;
};

static struct {
	char         *trace; /* fixed: the name of the file; NULL: no trace */
	uint32_t      watchdog;      /* fixed: milliseconds; 0: none */
	bool          forked;        /* this process is a child: all is off */
	uint32_t      files;         /* under lock: that were created */
	struct traced traced[FILES]; /* under lock */
} chosen;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* --- lines -------------------------------------------------------------- */

static void complain(const char *word, const char *why)
{
	char shown[128];

	sn_escape(shown, sizeof(shown), word);
	os_print(STDERR_FILENO, "sennit: " VARIABLE ": %s: %s\n", shown, why);
}

static void complain_of(const char *word, int err)
{
	if (err)
		complain(word, sennit_strerror(err));
}

/* --- traces ------------------------------------------------------------- */

/* The first scheduler's file has the name as given, others have a number. It is
 * opened now, when the process is in the folder in which it was started. Lock
 * held. */
static int create_file(void)
{
	char name[4096];
	int  n = ++chosen.files == 1
			 ? snprintf(name, sizeof(name), "%s", chosen.trace)
			 : snprintf(name, sizeof(name), "%s.%u", chosen.trace,
				    (unsigned)chosen.files);
	int  fd;

	if (n < 0 || n >= (int)sizeof(name))
		return -ENAMETOOLONG;
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return fd < 0 ? -errno : fd;
}

/* Lock held. */
static struct traced *place_of(const sennit_scheduler *s)
{
	for (size_t i = 0; i < FILES; i++)
		if (chosen.traced[i].scheduler == s)
			return &chosen.traced[i];
	return NULL;
}

/* What was recorded until now, over what was written before. Lock held. */
static void write_trace(const struct traced *t)
{
	/* A pipe has no begin; what is written then follows. */
	if (!lseek(t->fd, 0, SEEK_SET))
		(void)!ftruncate(t->fd, 0);
	complain_of("trace", sennit_trace_write(t->scheduler, t->fd));
}

/* The process calls exit(). Its schedulers go on, or have ended. */
static void write_traces(void)
{
	os_lock(&lock);
	for (size_t i = 0; i < FILES && !chosen.forked; i++)
		if (chosen.traced[i].scheduler)
			write_trace(&chosen.traced[i]);
	pthread_mutex_unlock(&lock);
}

/* Lock held. */
static int trace(sennit_scheduler *s, struct traced *t)
{
	const sennit_trace_options crash = { 0, create_file() };
	int                        err = crash.crash_fd;

	if (err < 0)
		return err;
	err = sennit_trace_start(s, &crash);
	if (err == -EBUSY) /* the crash of another one is written */
		err = sennit_trace_start(s, NULL);
	if (err) {
		close(crash.crash_fd);
		return err;
	}
	*t = (struct traced){ s, crash.crash_fd };
	return 0;
}

static void add_trace(sennit_scheduler *s)
{
	struct traced *t;
	int            err = -EMFILE;

	os_lock(&lock);
	t = place_of(NULL);
	if (t)
		err = trace(s, t);
	pthread_mutex_unlock(&lock);
	complain_of("trace", err);
}

static void remove_trace(sennit_scheduler *s)
{
	struct traced *t;

	os_lock(&lock);
	t = place_of(s);
	if (t) {
		write_trace(t);
		close(t->fd);
		t->scheduler = NULL;
	}
	pthread_mutex_unlock(&lock);
}

/* --- libsennit-diag ----------------------------------------------------- */

static const struct sennit_debug_tools *tools(void)
{
	char name[64];

	if (sennit_debug_tools)
		return sennit_debug_tools;
#if SENNIT_VERSION_MAJOR
	snprintf(name, sizeof(name), "libsennit-diag.so.%d",
		 SENNIT_VERSION_MAJOR);
#else /* each minor version has an interface of its own */
	snprintf(name, sizeof(name), "libsennit-diag.so.%d.%d",
		 SENNIT_VERSION_MAJOR, SENNIT_VERSION_MINOR);
#endif
	os_load_beside(name);
	return sennit_debug_tools;
}

static bool has_tools(const char *word)
{
	if (!tools())
		complain(word, "it is in libsennit-diag, which is neither "
			       "linked nor beside libsennit: link "
			       "libsennit-diag (with the archive, and without "
			       "calls of it: -Wl,-u,sennit_stacks_print)");
	return sennit_debug_tools;
}

/* --- words -------------------------------------------------------------- */

static void turn_on_stall(const char *word, const char *value)
{
	int err;

	(void)value;
	err = sn_stall_start(tools() ? sennit_debug_tools->print_stacks : NULL);
	if (err == -ENOTSUP)
		complain(word, "not on this system");
	else
		complain_of(word, err);
}

static void turn_on_dump(const char *word, const char *value)
{
	if (has_tools(word))
		complain_of(word, sennit_debug_tools->dump(value));
}

static void turn_on_fatal(const char *word, const char *value)
{
	if (has_tools(word))
		complain_of(word, sennit_debug_tools->fatal(value));
}

static void turn_on_live(const char *word, const char *value)
{
	if (has_tools(word))
		complain_of(word, sennit_debug_tools->live(value));
}

static void turn_on_watchdog(const char *word, const char *value)
{
	char *end = NULL;
	long  ms = value ? strtol(value, &end, 10) : WATCHDOG_MS;

	if (ms < 1 || ms > WATCHDOG_MOST || (end && *end))
		complain(word, "a number of milliseconds is expected");
	else if (has_tools(word))
		chosen.watchdog = (uint32_t)ms;
}

static void turn_on_profile(const char *word, const char *value)
{
	if (!value || !*value)
		complain(word, "the name of a file is expected: profile=FILE");
	else if (has_tools(word))
		complain_of(word, sennit_debug_tools->profile(value));
}

static void turn_on_trace(const char *word, const char *value)
{
	if (!value || !*value)
		complain(word, "the name of a file is expected: trace=FILE");
	else
		chosen.trace = strdup(value); /* until the process ends */
	if (chosen.trace)
		atexit(write_traces);
}

static const struct word {
	const char *name;
	void (*turn_on)(const char *word, const char *value);
	bool has_value; /* one may be given */
} words[] = {
	{ "stall", turn_on_stall, false },
	{ "dump", turn_on_dump, true },
	{ "fatal", turn_on_fatal, true },
	{ "watchdog", turn_on_watchdog, true },
	{ "trace", turn_on_trace, true },
	{ "live", turn_on_live, true },
	{ "profile", turn_on_profile, true },
};

static void turn_on(char *word)
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
	complain(word, "unknown; there are " KNOWN);
}

static void read_variable(void)
{
	const char *text = os_environment(VARIABLE);
	char       *copy = text ? strdup(text) : NULL;
	char       *rest = NULL;

	if (copy)
		for (char *word = strtok_r(copy, ",", &rest); word;
		     word = strtok_r(NULL, ",", &rest))
			turn_on(word);
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
		complain_of("watchdog",
			    sennit_debug_tools->watchdog(s, chosen.watchdog));
}

void sn_environment_remove(sennit_scheduler *s)
{
	if (chosen.trace && !chosen.forked)
		remove_trace(s);
}

/* Files and sockets are the parent's. */
void sn_environment_fork(void)
{
	chosen.forked = true;
	sn_stall_fork();
}
#endif
