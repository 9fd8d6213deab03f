/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - reading the command line. */
#include "options.h"

#include <sennit.h>

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

/* The limits keep an open directory per worker and an open file per buffer
 * below the usual 1024 open files. */
#define MOST_WORKERS 256
#define MOST_BUFFERS 512

static const char usage[] =
	"Usage: " PROGRAM " [OPTION]... PATH...\n"
	"Print the SHA-256 of every file below each PATH, sorted by path, as\n"
	"sha256sum does, and compare the lines with those of sha256sum.\n"
	"\n"
	"  -o, --output FILE    write the sums to FILE, not to standard "
	"output\n"
	"      --timeline FILE  draw what each worker did when into FILE\n"
	"                       (default timeline.svg)\n"
	"      --no-verify      do not run sha256sum\n"
	"      --workers N      worker threads, 1 to 256 (default: one per "
	"CPU)\n"
	"      --buffers N      files open at once, 1 to 512 (default: three "
	"for\n"
	"                       four workers)\n"
	"  -h, --help           print this and exit\n"
	"      --version        print the version and exit\n"
	"\n"
	"Links to directories are not followed, except where given as PATH.\n"
	"Exits with 1 if a file could not be read or differs, with 130 when\n"
	"interrupted.\n";

enum { TIMELINE = 256, NO_VERIFY, WORKERS, BUFFERS, VERSION };

static const struct option known[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "timeline", required_argument, NULL, TIMELINE },
	{ "no-verify", no_argument, NULL, NO_VERIFY },
	{ "workers", required_argument, NULL, WORKERS },
	{ "buffers", required_argument, NULL, BUFFERS },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, VERSION },
	{ NULL, 0, NULL, 0 }
};

static bool read_number(uint32_t *out, const char *text, uint32_t most)
{
	char         *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || end == text || value < 1 || value > most) {
		fprintf(stderr, PROGRAM ": %s: not a number from 1 to %u\n",
			text, (unsigned int)most);
		return false;
	}
	*out = (uint32_t)value;
	return true;
}

/* Returns whether to continue. */
static bool take(struct options *o, int option, int *status)
{
	*status = EXIT_FAILURE;
	switch (option) {
	case 'o':
		o->output = optarg;
		return true;
	case TIMELINE:
		o->timeline = optarg;
		return true;
	case NO_VERIFY:
		o->verify = false;
		return true;
	case WORKERS:
		return read_number(&o->workers, optarg, MOST_WORKERS);
	case BUFFERS:
		return read_number(&o->buffers, optarg, MOST_BUFFERS);
	case 'h':
		fputs(usage, stdout);
		*status = EXIT_SUCCESS;
		return false;
	case VERSION:
		printf(PROGRAM " %d.%d.%d\n", SENNIT_VERSION_MAJOR,
		       SENNIT_VERSION_MINOR, SENNIT_VERSION_PATCH);
		*status = EXIT_SUCCESS;
		return false;
	default:
		fprintf(stderr, "Try '" PROGRAM " --help'.\n");
		return false;
	}
}

bool options_read(struct options *o, int count, char **arguments, int *status)
{
	int option;

	*o = (struct options){ .timeline = "timeline.svg", .verify = true };
	while ((option = getopt_long(count, arguments, "o:h", known, NULL)) !=
	       -1)
		if (!take(o, option, status))
			return false;
	o->paths = arguments + optind;
	if (optind < count)
		return true;
	fprintf(stderr, PROGRAM ": no PATH given\nTry '" PROGRAM " --help'.\n");
	*status = EXIT_FAILURE;
	return false;
}
