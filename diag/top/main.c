/* SPDX-License-Identifier: Apache-2.0 */
/* sennit-top - shows what the workers, tasks and fibers of a running program
 * do. */
#include "fields.h"
#include "link.h"
#include "screen.h"
#include "view.h"

#include "sennit/base.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
	"usage: sennit-top [-d SECONDS] [--once | --json | --stacks[=FORMAT]]\n"
	"                  PID|PATH\n"
	"\n"
	"Shows what a program with a live view (sennit/live.h) does: its\n"
	"workers, the tasks that run most, the fibers that have waited "
	"longest.\n"
	"\n"
	"  PID         the process; its live view is found with /proc\n"
	"  PATH        the socket of the live view\n"
	"  -d SECONDS  the time between two snapshots: 0.1 to 60 (1)\n"
	"  --once      print one snapshot as text\n"
	"  --json      print one snapshot as the program sent it\n"
	"  --stacks[=FORMAT]\n"
	"              print the stacks of all fibers, equal stacks once: "
	"merged,\n"
	"              merged-json, or pprof (for go tool pprof)\n"
	"  --help      print this\n"
	"  --version   print the version\n"
	"\n"
	"Keys: i b t f order workers by index, busy share, tasks/s, fibers;\n"
	"r n order tasks by run time, name; arrows and pages scroll; space\n"
	"pauses; q quits.\n";

enum mode { MODE_SCREEN, MODE_ONCE, MODE_JSON, MODE_STACKS };

struct options {
	enum mode   mode;
	double      seconds;
	const char *target;
	const char *format; /* of MODE_STACKS */
};

/* --- options ------------------------------------------------------------- */

static int usage(void)
{
	fprintf(stderr, "sennit-top: try sennit-top --help\n");
	return 2;
}

static int say(const char *text)
{
	return fputs(text, stdout) < 0 || fflush(stdout) ? 1 : 0;
}

static bool read_seconds(struct options *o, const char *text)
{
	char *end;

	o->seconds = strtod(text, &end);
	return end != text && !*end && o->seconds >= 0.1 && o->seconds <= 60;
}

static void read_format(struct options *o, const char *text)
{
	o->mode = MODE_STACKS;
	o->format = text ? text : "merged";
}

/* Returns the exit status, or -1 to continue. */
static int read_options(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "once", no_argument, NULL, 'o' },
		{ "json", no_argument, NULL, 'j' },
		{ "stacks", optional_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "d:h", longs, NULL)) != -1) {
		if (c == 'o' || c == 'j')
			o->mode = c == 'o' ? MODE_ONCE : MODE_JSON;
		else if (c == 's')
			read_format(o, optarg);
		else if (c == 'h')
			return say(help);
		else if (c == 'v')
			return printf("sennit-top %d.%d.%d\n",
				      SENNIT_VERSION_MAJOR,
				      SENNIT_VERSION_MINOR,
				      SENNIT_VERSION_PATCH) < 0;
		else if (c != 'd' || !read_seconds(o, optarg))
			return usage();
	}
	if (optind != argc - 1)
		return usage();
	o->target = argv[optind];
	return -1;
}

/* --- running ------------------------------------------------------------- */

/* Read a line of the given type, which the caller releases. Returns NULL if the
 * program has sent an error instead. */
static json_t *receive(struct link *l, const char *type, struct fault *f)
{
	const char *line = link_wait(l, f);
	json_t     *json;

	if (!line)
		return NULL;
	json = fields_parse(line);
	if (field_number(json, "sennit_live") != 1)
		fault_set(f, "not a live view that this version supports");
	else if (!strcmp(field_string(json, "type"), type))
		return json;
	else
		fault_set(f, "the live view answers: %s",
			  field_string(json, "error"));
	json_decref(json);
	return NULL;
}

static bool print_json(struct link *l, struct fault *f)
{
	char *line = link_send(l, "get\n", f) ? link_wait(l, f) : NULL;

	return line && puts(line) >= 0 && !fflush(stdout);
}

static bool print_once(struct link *l, const json_t *hello, struct fault *f)
{
	const struct view_options how = { VIEW_BY_INDEX, false };
	json_t                   *snapshot;

	if (!link_send(l, "get\n", f) ||
	    !(snapshot = receive(l, "snapshot", f)))
		return false;
	view_write(stdout, hello, snapshot, &how);
	json_decref(snapshot);
	return !fflush(stdout);
}

/* A live view that does not know the format answers with an error line. */
static bool print_stacks(struct link *l, const char *format, struct fault *f)
{
	char request[64];

	if (snprintf(request, sizeof(request), "stacks %s\n", format) >=
	    (int)sizeof(request)) {
		fault_set(f, "unknown format");
		return false;
	}
	return link_send(l, request, f) && link_copy(l, STDOUT_FILENO, f);
}

static int watch(struct link *l, const json_t *hello, double seconds,
		 struct fault *f)
{
	char request[32];

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		fault_set(f, "not a terminal: use --once");
		return 1;
	}
	snprintf(request, sizeof(request), "watch %d\n", (int)(seconds * 1000));
	return link_send(l, request, f) ? screen_run(l, hello, f) : 1;
}

static int run(struct link *l, const struct options *o, struct fault *f)
{
	json_t *hello = receive(l, "hello", f);
	int     status;

	if (!hello)
		return 1;
	if (o->mode == MODE_JSON)
		status = !print_json(l, f);
	else if (o->mode == MODE_ONCE)
		status = !print_once(l, hello, f);
	else if (o->mode == MODE_STACKS)
		status = !print_stacks(l, o->format, f);
	else
		status = watch(l, hello, o->seconds, f);
	json_decref(hello);
	return status;
}

int main(int argc, char **argv)
{
	struct options o = { .mode = MODE_SCREEN, .seconds = 1 };
	struct fault   f = { "cannot write" };
	struct link    l;
	int            status = read_options(&o, argc, argv);

	if (status >= 0)
		return status;
	status = 1;
	if (link_open(&l, o.target, &f)) {
		status = run(&l, &o, &f);
		link_close(&l);
	}
	if (status)
		fprintf(stderr, "sennit-top: %s\n", f.text);
	return status;
}
