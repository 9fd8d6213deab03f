/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - the progress line on a terminal. */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BAR_WIDTH 24
#define LINE_SIZE 256

void progress_init(struct progress *p)
{
	const char *term = getenv("TERM");

	p->begin = sennit_now();
	p->is_shown = isatty(STDERR_FILENO) && !(term && !strcmp(term, "dumb"));
}

const char *progress_number(char text[NUMBER_SIZE], uint64_t n)
{
	char  digits[NUMBER_SIZE];
	int   length = snprintf(digits, sizeof(digits), "%" PRIu64, n);
	int   i;
	char *to = text;

	for (i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return text;
}

const char *progress_bytes(char text[NUMBER_SIZE], double n)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	size_t                   unit = 0;

	while (n >= 999.5 && unit < 4) {
		n /= 1000;
		unit++;
	}
	snprintf(text, NUMBER_SIZE, "%.*f %s", unit && n < 99.95, n,
		 units[unit]);
	return text;
}

/* Write as much of the line as fits into a line of the terminal. */
static void show(const char *line)
{
	struct winsize size;
	int            width = 80;

	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col > 1)
		width = size.ws_col;
	fprintf(stderr, "\r\033[K%.*s", width - 1, line);
}

static void draw_bar(char bar[BAR_WIDTH + 1], uint64_t done, uint64_t all)
{
	size_t full = all ? (size_t)(done * BAR_WIDTH / all) : 0;

	memset(bar, '.', BAR_WIDTH);
	memset(bar, '#', full);
	bar[BAR_WIDTH] = '\0';
}

static void draw_sums(const struct progress *p)
{
	sennit_stats stats = { .size = sizeof(stats) };
	uint64_t     done = progress_read(&p->done);
	uint64_t     found = progress_read(&p->found);
	double       bytes = (double)progress_read(&p->bytes);
	double       seconds = (double)(sennit_now() - p->begin) / 1e9;
	char         bar[BAR_WIDTH + 1], n[4][NUMBER_SIZE], line[LINE_SIZE];

	sennit_scheduler_get_stats(sennit_scheduler_current(), &stats);
	draw_bar(bar, done, found);
	snprintf(line, sizeof(line),
		 "[%s] %s of %s files  %s/s  fibers %" PRIu64 " (peak %" PRIu64
		 ")  %s steals",
		 bar, progress_number(n[0], done), progress_number(n[1], found),
		 progress_bytes(n[2], bytes / seconds), stats.fibers,
		 stats.fibers_peak, progress_number(n[3], stats.steals));
	show(line);
}

void progress_wait(struct progress *p, sennit_wait_group *tasks)
{
	if (!p->is_shown) {
		sennit_wait_group_wait(tasks);
		return;
	}
	while (sennit_wait_group_wait_until(
		tasks, sennit_after(100 * SENNIT_MILLISECOND)))
		draw_sums(p);
	progress_clear(p);
}

void progress_compared(const struct progress *p, size_t done, size_t all)
{
	char bar[BAR_WIDTH + 1], n[2][NUMBER_SIZE], line[LINE_SIZE];

	if (!p->is_shown)
		return;
	draw_bar(bar, done, all);
	snprintf(line, sizeof(line), "[%s] %s of %s files asked of sha256sum",
		 bar, progress_number(n[0], done), progress_number(n[1], all));
	show(line);
}

void progress_clear(const struct progress *p)
{
	if (p->is_shown)
		fputs("\r\033[K", stderr);
}
