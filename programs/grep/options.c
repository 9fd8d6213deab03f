/* SPDX-License-Identifier: Apache-2.0 */
/* options.c - reads the command line. */
#include "grep/options.h"

#include "usage/usage.h"

#include <getopt.h>
#include <stddef.h>

#define MOST_WORKERS 256

static const char help[] =
	"NAME\n"
	"  sennit-grep - print lines that match a pattern, on several CPUs\n"
	"\n"
	"SYNOPSIS\n"
	"  sennit-grep [OPTION...] PATTERN [PATH...]\n"
	"\n"
	"  PATTERN is a Perl-compatible regular expression over bytes, as of\n"
	"  grep -P in the C locale. Without a PATH, or with -, it reads "
	"standard\n"
	"  input; with -r and no PATH the working folder.\n"
	"\n"
	"OPTIONS\n"
	"  -e, --regexp PATTERN     for a pattern that begins with -\n"
	"  -F, --fixed-strings      PATTERN is a plain string\n"
	"  -i, --ignore-case        ignore the case of ASCII letters\n"
	"  -w, --word-regexp        only whole words\n"
	"  -r, --recursive          all files below a folder, except links,\n"
	"                           devices and other special files\n"
	"  -n, --line-number        print the number before each line\n"
	"  -c, --count              print how many lines match in each file\n"
	"  -l, --files-with-matches print only names of files\n"
	"  -H, --with-filename      print names of files before lines\n"
	"  -h, --no-filename        print no names of files\n"
	"  -j, --workers N          threads, 1 to 256 (one per CPU)\n"
	"      --help               print this\n"
	"\n"
	"  Lines of different files are not mixed. Files are in the order of\n"
	"  the arguments, those of a folder in the byte order of their names.\n"
	"\n"
	"EXIT STATUS\n"
	"  0 a line matched, 1 none matched, 2 an error.\n";

enum { HELP = 256 };

static bool read_workers(struct options *o)
{
	return usage_number(optarg, 1, MOST_WORKERS, &o->workers) ||
	       usage_wrong(PROGRAM,
			   "not a number of workers, 1 to 256: ", optarg);
}

static bool *flag_of(struct options *o, int option)
{
	switch (option) {
	case 'F':
		return &o->fixed;
	case 'i':
		return &o->ignore_case;
	case 'w':
		return &o->words;
	case 'r':
		return &o->recursive;
	case 'n':
		return &o->numbers;
	case 'c':
		return &o->count;
	case 'l':
		return &o->list;
	default:
		return NULL;
	}
}

static bool read_option(struct options *o, int option, int *names)
{
	bool *flag = flag_of(o, option);

	if (flag)
		*flag = true;
	else if (option == 'H' || option == 'h')
		*names = option == 'H';
	else if (option == 'e')
		o->pattern = optarg;
	else if (option == 'j')
		return read_workers(o);
	else
		return usage_wrong(PROGRAM, "wrong option", "");
	return true;
}

/* Names are printed if there may be several files. */
static void read_paths(struct options *o, char **paths, int names)
{
	static char  here[] = ".", input[] = "-";
	static char *no_paths[2];

	o->names = names < 0 ? o->recursive || (*paths && paths[1]) : names;
	if (!*paths) {
		o->is_here = o->recursive;
		no_paths[0] = o->recursive ? here : input;
		paths = no_paths;
	}
	o->paths = paths;
}

bool options_read(struct options *o, int count, char **arguments, int *status)
{
	static const struct option long_names[] = {
		{ "regexp", required_argument, NULL, 'e' },
		{ "fixed-strings", no_argument, NULL, 'F' },
		{ "ignore-case", no_argument, NULL, 'i' },
		{ "word-regexp", no_argument, NULL, 'w' },
		{ "recursive", no_argument, NULL, 'r' },
		{ "line-number", no_argument, NULL, 'n' },
		{ "count", no_argument, NULL, 'c' },
		{ "files-with-matches", no_argument, NULL, 'l' },
		{ "with-filename", no_argument, NULL, 'H' },
		{ "no-filename", no_argument, NULL, 'h' },
		{ "workers", required_argument, NULL, 'j' },
		{ "help", no_argument, NULL, HELP },
		{ NULL, 0, NULL, 0 }
	};
	int option, names = -1;

	*o = (struct options){ .pattern = NULL };
	*status = 2;
	while ((option = getopt_long(count, arguments, "e:FiwrnclHhj:",
				     long_names, NULL)) != -1) {
		if (option == HELP) {
			*status = usage_help(help) ? 0 : 2;
			return false;
		}
		if (!read_option(o, option, &names))
			return false;
	}
	if (!o->pattern && optind < count)
		o->pattern = arguments[optind++];
	if (!o->pattern)
		return usage_wrong(PROGRAM, "a pattern is needed", "");
	read_paths(o, arguments + optind, names);
	return true;
}
