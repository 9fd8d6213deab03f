/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the command line of sennit-trace. */
#include "trace/file.h"
#include "trace/output.h"
#include "trace/replay.h"
#include "usage/usage.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "sennit-trace"

static const char help[] =
	"NAME\n"
	"  sennit-trace - show what a trace of a sennit program recorded\n"
	"\n"
	"SYNOPSIS\n"
	"  sennit-trace COMMAND [OPTION...] FILE\n"
	"\n"
	"COMMANDS\n"
	"  summary    tables: each task's count, time and waits; the longest\n"
	"             waits and the tasks that ended them\n"
	"  json       trace events in JSON, for ui.perfetto.dev\n"
	"  perfetto   the same in Perfetto's own format, which is smaller\n"
	"  svg        a picture: what each worker or fiber did when\n"
	"  flame      a picture: where fibers wait, by task, span and kind of\n"
	"             wait; also from the folded stacks of\n"
	"             sennit_profile_write()\n"
	"\n"
	"OPTIONS\n"
	"  -o, --output FILE   write to FILE, not to standard output\n"
	"      --by fiber      svg: a row per fiber that has waited\n"
	"      --by worker     svg: a row per worker (the default)\n"
	"      --folded        flame: folded stacks, as text: frames "
	"separated\n"
	"                      by semicolons, then nanoseconds\n"
	"  -n, --rows N        summary, svg: at most N rows (20, 100)\n"
	"  -h, --help          print this\n"
	"\n"
	"FILE is a file of sennit_trace_write(), or - for standard input. Of "
	"a\n"
	"file that is cut off the complete part is used, with a warning.\n"
	"\n"
	"EXIT STATUS\n"
	"  0 success, 1 FILE cannot be read or the output not be written,\n"
	"  2 wrong usage.\n";

enum command { SUMMARY, JSON, PERFETTO, SVG, FLAME, COMMANDS };

static const char *const commands[COMMANDS] = { "summary", "json", "perfetto",
						"svg", "flame" };

struct options {
	enum command command;
	const char  *output;
	const char  *input;
	uint32_t     rows; /* 0: the default */
	bool         by_fiber;
	bool         folded;
};

static bool read_rows(struct options *o, const char *text)
{
	char         *end;
	unsigned long rows = strtoul(text, &end, 10);

	if (*end || end == text || *text == '-' || !rows || rows > 1000000)
		return usage_wrong(PROGRAM, "not a number of rows: ", text);
	o->rows = (uint32_t)rows;
	return true;
}

static bool read_by(struct options *o, const char *text)
{
	o->by_fiber = !strcmp(text, "fiber");
	if (!o->by_fiber && strcmp(text, "worker"))
		return usage_wrong(PROGRAM, "--by takes fiber or worker, not ",
				   text);
	return true;
}

static bool read_option(struct options *o, int option)
{
	switch (option) {
	case 'o':
		o->output = optarg;
		return true;
	case 'n':
		return read_rows(o, optarg);
	case 'b':
		return read_by(o, optarg);
	case 'f':
		o->folded = true;
		return true;
	case 'h':
		exit(usage_help(help) ? 0 : 1);
	default:
		return usage_wrong(PROGRAM, "wrong option", "");
	}
}

static bool read_options(struct options *o, int argc, char **argv)
{
	static const struct option names[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "rows", required_argument, NULL, 'n' },
		{ "by", required_argument, NULL, 'b' },
		{ "folded", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	int option, command;

	while ((option = getopt_long(argc, argv, "o:n:h", names, NULL)) != -1)
		if (!read_option(o, option))
			return false;
	if (argc - optind != 2)
		return usage_wrong(PROGRAM, "a command and a file are needed",
				   "");
	for (command = 0; command < COMMANDS; command++)
		if (!strcmp(argv[optind], commands[command]))
			break;
	if (command == COMMANDS)
		return usage_wrong(PROGRAM, "unknown command: ", argv[optind]);
	o->command = (enum command)command;
	o->input = argv[optind + 1];
	return true;
}

/* Return all bytes of a stream, or NULL with errno. */
static unsigned char *read_all(FILE *in, size_t *size)
{
	unsigned char *bytes = NULL, *more;
	size_t         room = 0, n = 0, got;

	do {
		if (n == room) {
			room = room ? 2 * room : 1 << 16;
			more = realloc(bytes, room);
			if (!more)
				break;
			bytes = more;
		}
		got = fread(bytes + n, 1, room - n, in);
		n += got;
	} while (got);
	if (n == room || ferror(in)) {
		free(bytes);
		return NULL;
	}
	bytes[n] = 0;
	*size = n;
	return bytes;
}

static int failed(const char *file, const char *why)
{
	fprintf(stderr, PROGRAM ": %s: %s\n", file, why);
	return 1;
}

/* Return the bytes of the file and a terminating zero; NULL after an error
 * message. */
static unsigned char *load(const char *name, size_t *size)
{
	bool           is_standard = !strcmp(name, "-");
	FILE          *in = is_standard ? stdin : fopen(name, "rbe");
	unsigned char *bytes = in ? read_all(in, size) : NULL;

	if (!bytes)
		failed(name, strerror(errno));
	if (in && !is_standard)
		(void)fclose(in);
	return bytes;
}

static int parse(struct timeline *t, const char *name,
		 const unsigned char *bytes, size_t size)
{
	struct file file;
	const char *wrong = file_parse(&file, bytes, size);

	if (wrong)
		return failed(name, wrong);
	replay(t, &file);
	file_free(&file);
	if (t->is_cut)
		failed(name, "cut off; showing what the file contains");
	return 0;
}

static int put(FILE *out, const struct options *o, const struct timeline *t)
{
	switch (o->command) {
	case SUMMARY:
		return output_summary(out, t, o->rows ? o->rows : 20);
	case JSON:
		return output_json(out, t);
	case PERFETTO:
		return output_perfetto(out, t);
	case SVG:
		return output_svg(out, t,
				  o->by_fiber ? TRACK_FIBER : TRACK_WORKER,
				  o->rows ? o->rows : 100);
	default:
		return output_flame(out, t, o->folded);
	}
}

/* t NULL: write folded stacks, `text`. */
static int write_output(const struct options *o, const struct timeline *t,
			const char *text)
{
	const char *name = o->output ? o->output : "standard output";
	FILE       *out = o->output ? fopen(o->output, "wbe") : stdout;
	int         error;

	if (!out)
		return failed(name, strerror(errno));
	error = t ? put(out, o, t) : output_flame_of(out, text);
	if (error == -ENOTSUP)
		failed(name, "this program was built without libprotobuf-c; "
			     "use json");
	if (error == -EINVAL)
		failed(o->input, "neither a trace nor folded stacks");
	if ((ferror(out) | fclose(out)) && !error) {
		error = -EIO;
		failed(name, "cannot be written");
	}
	return error ? 1 : 0;
}

/* A trace contains zeros in its first numbers. */
static bool is_text(const unsigned char *bytes, size_t size)
{
	return size && !memchr(bytes, 0, size);
}

int main(int argc, char **argv)
{
	struct options  o = { .input = NULL };
	struct timeline t;
	unsigned char  *bytes;
	size_t          size;
	int             status;

	if (!read_options(&o, argc, argv))
		return 2;
	bytes = load(o.input, &size);
	if (!bytes)
		return 1;
	if (o.command == FLAME && !o.folded && is_text(bytes, size)) {
		status = write_output(&o, NULL, (const char *)bytes);
		free(bytes);
		return status;
	}
	status = parse(&t, o.input, bytes, size);
	free(bytes);
	if (status)
		return status;
	status = write_output(&o, &t, NULL);
	timeline_free(&t);
	return status;
}
