/* SPDX-License-Identifier: Apache-2.0 */
/* svg.c - draws a row for each track, a column for each pixel of time.
 *
 * In each row a column is filled from below with the share of its time that the
 * track spent in each state. So the picture's size does not depend on the
 * number of events, and slices too short to see still count.
 *
 * Above the columns lie invisible boxes, whose tooltips name the task that ran
 * for most of the time; a wide box shows the name.
 */
#include "trace/array.h"
#include "trace/output.h"
#include "trace/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum state { RUN, READY, CALL, WAIT, SEARCH, SLEEP, STATES };

enum {
	COLUMNS = 960,
	LEFT = 170,
	RIGHT = 84,
	TOP = 84,
	BOTTOM = 50,
	PITCH = 22, /* from row to row */
	BAR = 18,
	CELL = 4, /* columns of which each has one name */
	CELLS = COLUMNS / CELL,
	LETTER = 7, /* the width that a letter needs */
	WIDTH = LEFT + COLUMNS + RIGHT
};

static const struct {
	const char *name;
	const char *colour;
} looks[STATES] = { [RUN] = { "runs", "#1f9d8a" },
		    [READY] = { "ready, and does not run", "#f5b01a" },
		    [CALL] = { "blocking call", "#7b6fc4" },
		    [WAIT] = { "waits", "#c8d3df" },
		    [SEARCH] = { "searches", "#d64f5f" },
		    [SLEEP] = { "sleeps", "#dfe4ea" } };

/* The state of each kind of slice. */
static const enum state states[SLICE_KINDS] = {
	[SLICE_TASK] = RUN,    [SLICE_SPAN] = RUN,  [SLICE_WAIT] = WAIT,
	[SLICE_READY] = READY, [SLICE_CALL] = CALL, [SLICE_SEARCH] = SEARCH,
	[SLICE_PARK] = SLEEP
};

/* The task with most of a cell's time, found in one pass (Boyer and Moore's
 * majority vote): a task with more than half of the time is found for certain,
 * otherwise it is one of those that ran there. */
struct majority {
	uint32_t name;   /* index into the timeline's names */
	double   weight; /* ns; 0: no task ran */
};

struct row {
	uint32_t        track;
	double          spent[COLUMNS][STATES]; /* ns */
	struct majority tasks[CELLS];
};

struct picture {
	FILE                  *out;
	const struct timeline *time;
	struct row            *rows;
	uint32_t               row_count;
	uint32_t               left_out;
	uint32_t               height;
};

static double column_time(const struct picture *p)
{
	return p->time->length ? (double)p->time->length / COLUMNS : 1;
}

/* Add `sign` times the time from begin to end to a state. */
static void spend(const struct picture *p, struct row *row, uint64_t begin,
		  uint64_t end, enum state state, double sign)
{
	double   width = column_time(p), from = (double)begin, to;
	uint32_t column = (uint32_t)(from / width);

	for (; column < COLUMNS && from < (double)end; column++) {
		to = (column + 1) * width;
		if (to > (double)end)
			to = (double)end;
		if (to > from)
			row->spent[column][state] += sign * (to - from);
		from = to;
	}
}

static void vote(struct majority *m, uint32_t name, double weight)
{
	if (m->weight > 0 && m->name == name) {
		m->weight += weight;
	} else if (m->weight >= weight) {
		m->weight -= weight;
	} else {
		m->name = name;
		m->weight = weight - m->weight;
	}
}

/* Add the time of a task to the cells in which it ran. */
static void name_cells(const struct picture *p, struct row *row,
		       const struct slice *s)
{
	const double width = column_time(p) * CELL, end = (double)s->end;
	double       from = (double)s->begin;

	for (uint32_t i = (uint32_t)(from / width); i < CELLS && from < end;
	     i++) {
		double to = (i + 1) * width;

		if (to > end)
			to = end;
		if (to - from > width * 1e-9) /* not a rounding error */
			vote(&row->tasks[i], s->name, to - from);
		from = to;
	}
}

/* On the track of a thread a call is shown as running. */
static enum state state_of(const struct timeline *t, const struct slice *s)
{
	if (s->kind == SLICE_CALL && t->tracks[s->track].kind == TRACK_WORKER)
		return RUN;
	return states[s->kind];
}

/* Slices of a track are nested: subtract the time of an inner slice from the
 * outer one. */
static void add_slice(const struct picture *p, struct row *row,
		      const struct slice *s)
{
	const struct timeline *t = p->time;

	if (s->kind == SLICE_TASK)
		name_cells(p, row, s);
	spend(p, row, s->begin, s->end, state_of(t, s), 1);
	if (s->outer != TIMELINE_NONE)
		spend(p, row, s->begin, s->end,
		      state_of(t, &t->slices[s->outer]), -1);
}

static void collect(struct picture *p, uint32_t kind, uint32_t most)
{
	const struct timeline *t = p->time;
	uint32_t *rows = array_zeros(t->track_count, sizeof(*rows));

	for (uint32_t i = 0; i < t->track_count; i++) {
		if (t->tracks[i].kind != kind)
			continue;
		if (p->row_count == most) {
			p->left_out++;
			continue;
		}
		rows[i] = ARRAY_ADD(p->rows, p->row_count) + 1;
		p->rows[rows[i] - 1].track = i;
	}
	for (uint32_t i = 0; i < t->slice_count; i++)
		if (rows[t->slices[i].track])
			add_slice(p, &p->rows[rows[t->slices[i].track] - 1],
				  &t->slices[i]);
	free(rows);
}

/* The box of a state within a column, in tenths of a pixel from the row's
 * bottom, so that equal boxes compare equal. */
struct box {
	int32_t low, high;
};

static struct box box_of(const struct picture *p, const double *spent,
			 enum state state)
{
	double scale = 10 * BAR / column_time(p), below = 0;
	int    i;

	for (i = 0; i < (int)state; i++)
		below += spent[i] > 0 ? spent[i] : 0;
	below *= scale;
	return (struct box){
		(int32_t)(below + 0.5),
		(int32_t)(below +
			  (spent[state] > 0 ? spent[state] : 0) * scale + 0.5)
	};
}

static void put_boxes(const struct picture *p, uint32_t x, uint32_t columns,
		      uint32_t bottom, struct box b)
{
	if (b.high > b.low)
		fprintf(p->out,
			"M%" PRIu32 " %.1fh%" PRIu32 "v%.1fh-%" PRIu32 "z",
			LEFT + x, bottom - b.high / 10.0, columns,
			(b.high - b.low) / 10.0, columns);
}

static bool has_state(const struct row *row, enum state state)
{
	for (uint32_t i = 0; i < COLUMNS; i++)
		if (row->spent[i][state] > 0)
			return true;
	return false;
}

static void put_state(const struct picture *p, const struct row *row,
		      uint32_t bottom, enum state state)
{
	struct box box = { 0, 0 }, next;
	uint32_t   begin = 0, i;

	if (!has_state(row, state))
		return;
	fprintf(p->out, "<path fill=\"%s\" d=\"", looks[state].colour);
	for (i = 0; i < COLUMNS; i++) {
		next = box_of(p, row->spent[i], state);
		if (next.low == box.low && next.high == box.high)
			continue;
		put_boxes(p, begin, i - begin, bottom, box);
		box = next;
		begin = i;
	}
	put_boxes(p, begin, i - begin, bottom, box);
	fputs("\"/>\n", p->out);
}

/* A box with the name of a task, over some cells. */
static void put_name(const struct picture *p, uint32_t name, uint32_t cell,
		     uint32_t cells, uint32_t bottom)
{
	const char    *text = p->time->names[name];
	const uint32_t x = LEFT + cell * CELL, width = cells * CELL;

	fprintf(p->out,
		"<rect class=\"n\" x=\"%" PRIu32 "\" y=\"%" PRIu32
		"\" width=\"%" PRIu32 "\" height=\"%d\"><title>",
		x, bottom - BAR, width, BAR);
	text_xml(p->out, text);
	fputs("</title></rect>\n", p->out);
	if (strlen(text) * LETTER + LETTER > width)
		return;
	fprintf(p->out,
		"<text class=\"t\" x=\"%" PRIu32 "\" y=\"%" PRIu32 "\">", x + 3,
		bottom - 5);
	text_xml(p->out, text);
	fputs("</text>\n", p->out);
}

static bool is_same_task(const struct majority *a, const struct majority *b)
{
	return a->weight > 0 && b->weight > 0 && a->name == b->name;
}

static void put_names(const struct picture *p, const struct row *row,
		      uint32_t bottom)
{
	uint32_t begin = 0;

	for (uint32_t i = 1; i <= CELLS; i++) {
		const struct majority *first = &row->tasks[begin];

		if (i < CELLS && is_same_task(first, &row->tasks[i]))
			continue;
		if (first->weight > 0)
			put_name(p, first->name, begin, i - begin, bottom);
		begin = i;
	}
}

static double share_of_run(const struct picture *p, const struct row *row)
{
	double sum = 0;

	for (uint32_t i = 0; i < COLUMNS; i++)
		sum += row->spent[i][RUN];
	return p->time->length ? 100 * sum / (double)p->time->length : 0;
}

static void put_row(const struct picture *p, uint32_t index)
{
	const struct row *row = &p->rows[index];
	uint32_t          bottom = TOP + index * PITCH + BAR;
	int               i;

	fprintf(p->out, "<text class=\"e\" x=\"%d\" y=\"%" PRIu32 "\">",
		LEFT - 12, bottom - 4);
	text_xml(p->out, p->time->names[p->time->tracks[row->track].name]);
	fputs("</text>\n", p->out);
	for (i = 0; i < STATES; i++)
		put_state(p, row, bottom, (enum state)i);
	put_names(p, row, bottom);
	fprintf(p->out,
		"<text class=\"e\" x=\"%d\" y=\"%" PRIu32 "\">%.0f %%</text>\n",
		WIDTH - 20, bottom - 4, share_of_run(p, row));
}

static void put_head(const struct picture *p, const char *title)
{
	fprintf(p->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%" PRIu32 "\" viewBox=\"0 0 %d %" PRIu32 "\" "
		"font-size=\"13\" font-family=\"sans-serif\" "
		"fill=\"#1b2430\">\n<title>%s</title>\n"
		"<style>.e{text-anchor:end}.m{text-anchor:middle}"
		".n{fill:none;pointer-events:all}"
		".t{font-size:11px;pointer-events:none}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
		"<text x=\"24\" y=\"32\" font-size=\"18\">%s</text>\n"
		"<text class=\"e\" x=\"%d\" y=\"66\">runs</text>\n",
		WIDTH, p->height, WIDTH, p->height, title, title, WIDTH - 20);
}

static void put_legend(const struct picture *p)
{
	uint32_t x = LEFT, i, j;

	for (i = 0; i < STATES; i++) {
		for (j = 0; j < p->row_count; j++)
			if (has_state(&p->rows[j], (enum state)i))
				break;
		if (j == p->row_count)
			continue;
		fprintf(p->out,
			"<rect x=\"%" PRIu32 "\" y=\"55\" width=\"13\" "
			"height=\"13\" fill=\"%s\"/><text x=\"%" PRIu32
			"\" y=\"66\">%s</text>\n",
			x, looks[i].colour, x + 20, looks[i].name);
		x += 52 + 7 * (uint32_t)strlen(looks[i].name);
	}
}

/* Return the smallest of 1, 2, 5 times a power of ten that fits into the whole
 * at most ten times. */
static uint64_t tick_step(uint64_t whole)
{
	uint64_t step = 1;

	for (;;) {
		if (whole / step <= 10)
			return step;
		if (whole / step <= 20)
			return 2 * step;
		if (whole / step <= 50)
			return 5 * step;
		step *= 10;
	}
}

static void put_axis(const struct picture *p)
{
	uint64_t whole = p->time->length, step = tick_step(whole), at;
	uint32_t y = p->height - BOTTOM;
	char     text[16];

	for (at = 0; at <= whole && whole; at += step)
		fprintf(p->out,
			"<text class=\"m\" x=\"%.1f\" y=\"%" PRIu32
			"\">%s</text>\n",
			LEFT + (double)at / (double)whole * COLUMNS, y + 18,
			text_duration(text, at));
	if (p->left_out)
		fprintf(p->out,
			"<text x=\"%d\" y=\"%" PRIu32 "\">%" PRIu32
			" more rows are left out</text>\n",
			LEFT, y + 40, p->left_out);
	fputs("</svg>\n", p->out);
}

int output_svg(FILE *out, const struct timeline *t, uint32_t kind,
	       uint32_t rows)
{
	struct picture p = { .out = out, .time = t };

	collect(&p, kind, rows);
	p.height = TOP + p.row_count * PITCH + BOTTOM;
	put_head(&p, kind == TRACK_WORKER ? "What each worker did when"
					  : "What each fiber did when");
	put_legend(&p);
	for (uint32_t i = 0; i < p.row_count; i++)
		put_row(&p, i);
	put_axis(&p);
	free(p.rows);
	return 0;
}
