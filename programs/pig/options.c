/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - reads the command line. */
#include "pig/options.h"

#include "usage/usage.h"

#include <getopt.h>

#define MOST_WORKERS 256

/* A block is at least as large as its dictionary of 32 KiB. */
#define LEAST_BLOCK 32
#define MOST_BLOCK  16384

static const char help[] =
	"NAME\n"
	"  sennit-pig - compress files as gzip does, on several CPUs\n"
	"\n"
	"SYNOPSIS\n"
	"  sennit-pig [OPTION...] [FILE...]\n"
	"\n"
	"  Each FILE is replaced by FILE.gz. Without a FILE, or with -, "
	"standard\n"
	"  input is compressed to standard output.\n"
	"\n"
	"OPTIONS\n"
	"  -1 to -9            faster to smaller (6); --fast: -1, --best: -9\n"
	"  -p, --workers N     threads that compress, 1 to 256 (one per CPU);\n"
	"                      also --processes\n"
	"  -b, --blocksize K   KiB that a task compresses, 32 to 16384 (128)\n"
	"  -c, --stdout        write to standard output, keep the files\n"
	"  -k, --keep          keep the files\n"
	"  -d, --decompress    decompress, on one CPU\n"
	"  -t, --test          decompress and write nothing\n"
	"  -f, --force         replace files that exist, follow links, write "
	"to\n"
	"                      a terminal\n"
	"  -n, --no-name       store neither name nor time\n"
	"  -v, --verbose       print how much smaller each file is\n"
	"  -h, --help          print this\n"
	"\n"
	"EXIT STATUS\n"
	"  0 success, 1 an error, 2 a warning: a file was left unchanged.\n";

static bool read_sizes(struct options *o, int option)
{
	uint32_t kib;

	if (option == 'p')
		return usage_number(optarg, 1, MOST_WORKERS, &o->workers) ||
		       usage_wrong(
			       PROGRAM,
			       "not a number of workers, 1 to 256: ", optarg);
	if (!usage_number(optarg, LEAST_BLOCK, MOST_BLOCK, &kib))
		return usage_wrong(
			PROGRAM, "not a size of blocks, 32 to 16384: ", optarg);
	o->block = (size_t)kib << 10;
	return true;
}

static bool *flag_of(struct options *o, int option)
{
	switch (option) {
	case 'c':
		return &o->to_stdout;
	case 'k':
		return &o->keep;
	case 'd':
		return &o->decompress;
	case 't':
		return &o->test;
	case 'f':
		return &o->force;
	case 'n':
		return &o->nameless;
	case 'v':
		return &o->verbose;
	default:
		return NULL;
	}
}

static bool read_option(struct options *o, int option, int *status)
{
	bool *flag = flag_of(o, option);

	if (flag) {
		*flag = true;
		return true;
	}
	if (option >= '1' && option <= '9') {
		o->level = option - '0';
		return true;
	}
	if (option == 'p' || option == 'b')
		return read_sizes(o, option);
	if (option == 'h') {
		*status = usage_help(help) ? 0 : 1;
		return false;
	}
	return usage_wrong(PROGRAM, "wrong option", "");
}

bool options_read(struct options *o, int count, char **arguments, int *status)
{
	static const struct option names[] = {
		{ "fast", no_argument, NULL, '1' },
		{ "best", no_argument, NULL, '9' },
		{ "workers", required_argument, NULL, 'p' },
		{ "processes", required_argument, NULL, 'p' }, /* as in pigz */
		{ "blocksize", required_argument, NULL, 'b' },
		{ "stdout", no_argument, NULL, 'c' },
		{ "keep", no_argument, NULL, 'k' },
		{ "decompress", no_argument, NULL, 'd' },
		{ "test", no_argument, NULL, 't' },
		{ "force", no_argument, NULL, 'f' },
		{ "no-name", no_argument, NULL, 'n' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	int option;

	*o = (struct options){ .level = 6, .block = 128 << 10 };
	*status = 1;
	while ((option = getopt_long(count, arguments, "123456789p:b:ckdtfnvh",
				     names, NULL)) != -1)
		if (!read_option(o, option, status))
			return false;
	o->files = arguments + optind;
	return true;
}
