/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - sennit-render: renders a picture by ray tracing with a parallel loop
 * over its rows. Meanwhile a fiber draws a progress bar on the terminal. */
#include "file/replace.h"
#include "render/image.h"
#include "usage/usage.h"

#include <sennit.h>

#include <errno.h>
#include <getopt.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "sennit-render"
#define BAR     40 /* columns */

static const char help[] =
	"NAME\n"
	"  sennit-render - compute a picture by ray tracing, on several CPUs\n"
	"\n"
	"SYNOPSIS\n"
	"  sennit-render [OPTION...] FILE.png\n"
	"\n"
	"OPTIONS\n"
	"  -s, --size WxH    pixels, 1x1 to 8192x8192 (640x400)\n"
	"  -a, --samples N   rays per pixel: N times N, 1 to 16 (2)\n"
	"  -j, --workers N   threads, 1 to 256 (one per CPU)\n"
	"  -h, --help        print this\n"
	"\n"
	"  A bar shows the progress if standard error is a terminal. The "
	"picture\n"
	"  is the same with any number of workers. An interrupted or failed\n"
	"  program leaves no file.\n"
	"\n"
	"EXIT STATUS\n"
	"  0 success, 1 an error, 2 wrong usage.\n";

struct render {
	struct picture picture;
	uint32_t       workers; /* 0: one per CPU */
	const char    *file;
	uint8_t       *pixels;
	atomic_uint    done; /* rows; only for the bar */
	sennit_event   over;
};

/* --- options ---------------------------------------- */

static bool read_option(struct render *r, int option)
{
	const char *text = optarg;

	switch (option) {
	case 's':
		return (usage_number_at(&text, 'x', 1, 8192,
					&r->picture.width) &&
			usage_number(text, 1, 8192, &r->picture.height)) ||
		       usage_wrong(PROGRAM,
				   "not a size, WIDTHxHEIGHT: ", optarg);
	case 'a':
		return usage_number(text, 1, 16, &r->picture.samples) ||
		       usage_wrong(
			       PROGRAM,
			       "not a number of samples, 1 to 16: ", optarg);
	case 'j':
		return usage_number(text, 1, 256, &r->workers) ||
		       usage_wrong(
			       PROGRAM,
			       "not a number of workers, 1 to 256: ", optarg);
	default:
		return usage_wrong(PROGRAM, "wrong option", "");
	}
}

static bool read_options(struct render *r, int count, char **arguments)
{
	static const struct option names[] = {
		{ "size", required_argument, NULL, 's' },
		{ "samples", required_argument, NULL, 'a' },
		{ "workers", required_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 }
	};
	int option;

	while ((option = getopt_long(count, arguments, "s:a:j:h", names,
				     NULL)) != -1) {
		if (option == 'h')
			exit(usage_help(help) ? 0 : 1);
		if (!read_option(r, option))
			return false;
	}
	if (count - optind != 1)
		return usage_wrong(PROGRAM, "one file is needed", "");
	r->file = arguments[optind];
	return true;
}

/* --- tasks ---------------------------------------- */

static int render_rows(void *argument, size_t begin, size_t end)
{
	struct render *r = argument;

	for (size_t y = begin; y < end; y++) {
		scene_row(&r->picture, (uint32_t)y,
			  r->pixels + y * r->picture.width * 3);
		atomic_fetch_add_explicit(&r->done, 1, memory_order_relaxed);
	}
	return 0;
}

static void draw_bar(struct render *r)
{
	unsigned rows = atomic_load_explicit(&r->done, memory_order_relaxed);
	int      full = (int)((uint64_t)rows * BAR / r->picture.height);
	char     bar[BAR + 1] = "";

	memset(bar, '.', BAR);
	memset(bar, '#', (size_t)full);
	fprintf(stderr, "\r[%s] %3u%%", bar,
		(unsigned)((uint64_t)rows * 100 / r->picture.height));
}

/* A member of the group. Its last bar is full. */
static int show_progress(void *argument)
{
	struct render *r = argument;

	do
		draw_bar(r);
	while (sennit_event_wait_until(&r->over,
				       sennit_after(100 * SENNIT_MILLISECOND)));
	draw_bar(r);
	fputs("\n", stderr);
	return 0;
}

static int render(struct render *r, sennit_scheduler *s)
{
	const sennit_parallel_options options = { .size = sizeof(options),
						  .scheduler = s,
						  .grain = 1 };
	sennit_group                  g;
	int                           error = 0, ended;

	sennit_event_init(&r->over, SENNIT_EVENT_MANUAL);
	sennit_group_init_on(&g, s, SENNIT_NEVER, 0);
	if (isatty(STDERR_FILENO))
		error = sennit_group_spawn(&g, show_progress, r);
	if (!error)
		error = sennit_parallel_for(0, r->picture.height, render_rows,
					    r, &options, SENNIT_NEVER);
	sennit_event_set(&r->over);
	ended = sennit_group_wait(&g);
	return error ? error : ended;
}

/* --- the program ---------------------------------------- */

/* The workers block the signals that the main thread handles. */
static int render_on_workers(struct render *r)
{
	sennit_scheduler *s;
	int               error;

	replace_block_signals();
	error = sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = r->workers, .name = "render",
				  .start = SENNIT_START_NOW));
	replace_unblock_signals();
	if (error)
		return error;
	error = render(r, s);
	(void)!sennit_scheduler_shutdown(s, SENNIT_NEVER);
	return error;
}

/* Open the file first, so that a failure is found before the picture is
 * computed. */
static int render_to_file(struct render *r)
{
	struct replacement file;
	int                error = replace_open(&file, r->file);

	if (error)
		return error;
	error = render_on_workers(r);
	if (!error)
		error = image_write(file.fd, &r->picture, r->pixels);
	if (error) {
		replace_drop(&file);
		return error;
	}
	replace_make_public(&file);
	return replace_commit(&file, true);
}

int main(int count, char **arguments)
{
	static struct render r = { .picture = { 640, 400, 2 } };
	int                  error = -ENOMEM;

	if (!read_options(&r, count, arguments))
		return 2;
	replace_on_signals();
	r.pixels = malloc((size_t)r.picture.width * r.picture.height * 3);
	if (r.pixels)
		error = render_to_file(&r);
	free(r.pixels);
	if (error)
		fprintf(stderr, PROGRAM ": %s: %s\n", r.file, strerror(-error));
	return error ? 1 : 0;
}
