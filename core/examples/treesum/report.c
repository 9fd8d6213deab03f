/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - prints the results. */
#include "report.h"

#include "line.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Print a name so that it stays on its line and does not move the cursor. */
static void print_name(const char *name)
{
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		if (c == '\n')
			fputs("\\n", stderr);
		else if (c < 0x80 && iscntrl(c))
			fprintf(stderr, "\\%03o", c);
		else
			fputc(c, stderr);
	}
}

static void print_failure(const struct entry *e)
{
	if (e->note)
		fprintf(stderr, "%s (%s)", e->note, strerror(e->error));
	else
		fputs(strerror(e->error), stderr);
	if (e->verdict == NO_ANSWER)
		fputs("; sha256sum could not read it either", stderr);
	else if (e->verdict != NOT_ASKED)
		fputs("; but sha256sum could read it", stderr);
}

static void print_message(const struct entry *e)
{
	fputs(PROGRAM ": ", stderr);
	print_name(e->path);
	fputs(": ", stderr);
	if (e->error)
		print_failure(e);
	else if (e->verdict == DIFFERENT)
		fputs("sha256sum has another sum for it", stderr);
	else if (e->verdict == NO_ANSWER)
		fputs("sha256sum could not read it", stderr);
	else
		fputs(e->note, stderr);
	fputc('\n', stderr);
}

static bool is_different(const struct entry *e)
{
	if (e->is_summed)
		return e->verdict == DIFFERENT || e->verdict == NO_ANSWER;
	return e->verdict == DIFFERENT || e->verdict == SAME;
}

void report_messages(struct report *r, const struct entries *all)
{
	const struct entry *e;
	size_t              i;

	for (i = 0; i < all->count; i++) {
		e = all->sorted[i];
		r->summed += e->is_summed;
		r->failed += !!e->error;
		r->different += is_different(e);
		if (e->error || e->note || is_different(e))
			print_message(e);
	}
	if (all->lost) {
		r->failed += all->lost;
		fprintf(stderr, PROGRAM ": no memory to look at %zu names\n",
			(size_t)all->lost);
	}
}

static int write_sums(const struct entries *all, FILE *out)
{
	struct line l = { 0 };
	size_t      i;
	int         error = 0;

	for (i = 0; i < all->count && !error; i++) {
		if (!all->sorted[i]->is_summed)
			continue;
		error = line_format(&l, all->sorted[i]);
		if (!error && fwrite(l.text, 1, l.length, out) != l.length)
			error = -errno;
	}
	line_free(&l);
	return error;
}

bool report_sums(const struct entries *all, const char *file)
{
	FILE *out = file ? fopen(file, "we") : stdout;
	int   error = 0;

	if (!out) {
		error = -errno;
	} else {
		error = write_sums(all, out);
		if ((file ? fclose(out) : fflush(out)) && !error)
			error = -errno;
	}
	if (error)
		fprintf(stderr, PROGRAM ": %s: %s\n",
			file ? file : "standard output", strerror(-error));
	return !error;
}

void report_summary(const struct report *r, const char *picture)
{
	double seconds = (double)r->elapsed / 1e9;
	char   n[6][NUMBER_SIZE];

	fprintf(stderr, "  %s files, %s in %.3f s: %s/s\n",
		progress_number(n[0], r->summed),
		progress_bytes(n[1], (double)r->bytes), seconds,
		progress_bytes(n[2], (double)r->bytes / seconds));
	fprintf(stderr,
		"  %u worker%s, %s fibers at peak, %s steals, %s waits\n",
		(unsigned int)r->workers, r->workers == 1 ? "" : "s",
		progress_number(n[3], r->stats.fibers_peak),
		progress_number(n[4], r->stats.steals),
		progress_number(n[5], r->stats.blocks));
	if (r->links)
		fprintf(stderr, "  %s links to directories not followed\n",
			progress_number(n[0], r->links));
	if (picture)
		fprintf(stderr, "  who did what when: %s\n", picture);
}

void report_end(const struct report *r, const struct options *o, int compared)
{
	printf("treesum: %zu files, ", r->summed);
	if (!o->verify)
		printf("not compared with sha256sum");
	else if (compared)
		printf("not compared: cannot run sha256sum: %s",
		       strerror(-compared));
	else if (r->different)
		printf("%zu differ from sha256sum", r->different);
	else
		printf("identical to sha256sum");
	if (r->failed)
		printf(", %zu could not be read", r->failed);
	printf("\n");
}
