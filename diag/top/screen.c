/* SPDX-License-Identifier: Apache-2.0 */
#include "screen.h"

#include "view.h"

#include <errno.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct screen {
	struct view_options how;
	char               *line; /* a copy of the last snapshot's line */
	bool                paused;
	bool                quit;
	int                 top;   /* the first line shown */
	int                 lines; /* number of lines */
};

/* --- drawing ------------------------------------------------------------- */

/* Return the number of bytes of the first `columns` characters. */
static int bytes_of(const char *line, int columns)
{
	int n = 0;

	while (line[n] && columns-- > 0)
		do
			n++;
		while (((unsigned char)line[n] & 0xc0) == 0x80);
	return n;
}

static void draw_lines(struct screen *s, char *text)
{
	int   row = -s->top;
	char *line;

	while ((line = strsep(&text, "\n")) && text) {
		bool title = strncmp(line, "scheduler ", 10) == 0 ||
			     strstr(line, "TASK") != NULL;

		if (row >= 0 && row < LINES - 1) {
			if (title)
				attron(A_BOLD);
			mvaddnstr(row, 0, line, bytes_of(line, COLS));
			attroff(A_BOLD);
		}
		row++;
	}
	s->lines = row + s->top;
}

static void draw_keys(const struct screen *s)
{
	static const char *const orders[] = { "index", "busy", "tasks/s",
					      "fibers" };
	char                     keys[160];

	snprintf(keys, sizeof(keys),
		 "%sworkers by %s (i b t f), tasks by %s (r n), space: pause, "
		 "q: quit",
		 s->paused ? "PAUSED  " : "", orders[s->how.workers],
		 s->how.by_name ? "name" : "run");
	attron(A_REVERSE);
	mvaddnstr(LINES - 1, 0, keys, bytes_of(keys, COLS - 1));
	attroff(A_REVERSE);
}

static void draw(struct screen *s, const json_t *hello)
{
	json_t *snapshot = s->line ? fields_parse(s->line) : NULL;
	char   *text = NULL;
	size_t  size;
	FILE   *out = open_memstream(&text, &size);

	erase();
	if (out) {
		if (snapshot)
			view_write(out, hello, snapshot, &s->how);
		else
			fputs("waiting for the first snapshot\n", out);
		fclose(out);
		draw_lines(s, text);
	}
	draw_keys(s);
	refresh();
	free(text);
	json_decref(snapshot);
}

/* --- keys, snapshots ----------------------------------------------------- */

static void scroll_by(struct screen *s, int lines)
{
	s->top += lines;
	if (s->top > s->lines - 1)
		s->top = s->lines - 1;
	if (s->top < 0)
		s->top = 0;
}

static void press(struct screen *s, int key)
{
	static const char keys[] = "ibtf";
	const char *order = key > 0 && key < 128 ? strchr(keys, key) : NULL;

	if (order)
		s->how.workers = (enum view_order)(order - keys);
	else if (key == 'r' || key == 'n')
		s->how.by_name = key == 'n';
	else if (key == ' ')
		s->paused = !s->paused;
	else if (key == KEY_DOWN || key == KEY_UP)
		scroll_by(s, key == KEY_DOWN ? 1 : -1);
	else if (key == KEY_NPAGE || key == KEY_PPAGE)
		scroll_by(s, key == KEY_NPAGE ? LINES / 2 : -LINES / 2);
	else if (key == 'q')
		s->quit = true;
}

/* Keep the last line that has arrived. Returns false at the end of the
 * program. */
static bool receive(struct screen *s, struct link *l)
{
	char *line;

	if (!link_read(l))
		return false;
	while ((line = link_take(l)))
		if (!s->paused) {
			free(s->line);
			s->line = strdup(line);
		}
	return true;
}

/* Returns false at the end of the program, or of the terminal. */
static bool await(struct screen *s, struct link *l)
{
	struct pollfd in[2] = { { STDIN_FILENO, POLLIN, 0 },
				{ l->fd, POLLIN, 0 } };
	int           key;

	if (poll(in, 2, -1) < 0 && errno != EINTR)
		return false;
	/* A change of size is reported as a key, after a signal. */
	while ((key = getch()) != ERR)
		press(s, key);
	if (in[0].revents & (POLLHUP | POLLERR))
		return false;
	return !in[1].revents || receive(s, l);
}

int screen_run(struct link *l, const json_t *hello, struct fault *f)
{
	struct screen s = { .line = NULL };

	setlocale(LC_CTYPE, "");
	if (!initscr()) {
		fault_set(f, "this terminal cannot be used");
		return 1;
	}
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	do
		draw(&s, hello);
	while (await(&s, l) && !s.quit);
	endwin();
	free(s.line);
	if (!s.quit)
		fault_set(f, "the program or its live view has ended");
	return !s.quit;
}
