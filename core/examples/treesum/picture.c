/* SPDX-License-Identifier: Apache-2.0 */
/* picture.c - draws a timeline.
 *
 * Each state of a row is one path of boxes. Adjacent equal columns share a box.
 */
#include "timeline.h"
#include "sennit/trace.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LEFT       104
#define RIGHT      84
#define TOP        112
#define BOTTOM     64
#define WIDTH      (LEFT + TIMELINE_COLUMNS + RIGHT)
#define ROWS_FIRST 2 /* from the top of the frame to the first row */

struct look {
	const char *name;
	const char *colour;
};

/* Indexed by enum sennit_trace_state. */
static const struct look looks[TIMELINE_STATES] = {
	{ "run", "#1f9d8a" },
	{ "steal: got work from another", "#f5b01a" },
	{ "spin: looking for work", "#d64f5f" },
	{ "park: asleep", "#dfe4ea" }
};

/* Marks are drawn last, on top of the bars. */
static const uint32_t drawing_order[TIMELINE_STATES] = {
	SENNIT_TRACE_STATE_RUN, SENNIT_TRACE_STATE_SPIN,
	SENNIT_TRACE_STATE_PARK, SENNIT_TRACE_STATE_STEAL
};

struct picture {
	FILE                  *out;
	const struct timeline *time;
	uint32_t               pitch; /* distance from row to row */
	uint32_t               bar;   /* height of a row's bars */
	uint32_t               height;
};

/* The box of a state within a column, in tenths of a pixel from the row's top,
 * so that equal boxes compare equal. */
struct box {
	uint32_t top;
	uint32_t height;
};

/* Return the box of a state that fills the share from..to of a column. */
static struct box share(const struct picture *p, double from, double to)
{
	double   whole = (double)(p->time->end - p->time->begin);
	double   scale = 10.0 * p->bar / (whole / TIMELINE_COLUMNS);
	uint32_t full = 10 * p->bar;
	uint32_t low = (uint32_t)(from * scale + 0.5);
	uint32_t high = (uint32_t)(to * scale + 0.5);

	if (high > full)
		high = full;
	return (struct box){ full - high, high > low ? high - low : 0 };
}

static struct box box_of(const struct picture *p, const struct column *c,
			 uint32_t state)
{
	double busy = c->spent[SENNIT_TRACE_STATE_RUN] +
		      c->spent[SENNIT_TRACE_STATE_STEAL];
	double awake = busy + c->spent[SENNIT_TRACE_STATE_SPIN];

	switch (state) {
	case SENNIT_TRACE_STATE_RUN:
		return share(p, 0, busy);
	case SENNIT_TRACE_STATE_SPIN:
		return share(p, busy, awake);
	case SENNIT_TRACE_STATE_PARK:
		return share(p, awake, awake + c->spent[state]);
	default:
		return (struct box){ 0, c->spent[state] > 0 ? 2 * p->bar : 0 };
	}
}

static void draw_box(const struct picture *p, uint32_t x, uint32_t y,
		     uint32_t columns, struct box b)
{
	if (b.height)
		fprintf(p->out, "M%u %.1fh%uv%.1fh-%uz", LEFT + x,
			y + b.top / 10.0, columns, b.height / 10.0, columns);
}

static void draw_state(const struct picture *p, const struct column *row,
		       uint32_t y, uint32_t state)
{
	struct box next, box = box_of(p, &row[0], state);
	uint32_t   begin = 0, i;

	fprintf(p->out, "<path fill=\"%s\" d=\"", looks[state].colour);
	for (i = 1; i < TIMELINE_COLUMNS; i++) {
		next = box_of(p, &row[i], state);
		if (next.top == box.top && next.height == box.height)
			continue;
		draw_box(p, begin, y, i - begin, box);
		box = next;
		begin = i;
	}
	draw_box(p, begin, y, i - begin, box);
	fputs("\"/>\n", p->out);
}

static bool has_state(const struct column *row, uint32_t state)
{
	uint32_t i;

	for (i = 0; i < TIMELINE_COLUMNS; i++)
		if (row[i].spent[state] > 0)
			return true;
	return false;
}

/* Return the share of the time that the row spent at work, in per cent. */
static double busy(const struct picture *p, const struct column *row)
{
	double   sum = 0;
	uint32_t i;

	for (i = 0; i < TIMELINE_COLUMNS; i++)
		sum += row[i].spent[SENNIT_TRACE_STATE_RUN] +
		       row[i].spent[SENNIT_TRACE_STATE_STEAL];
	return 100 * sum / (double)(p->time->end - p->time->begin);
}

static void draw_row(const struct picture *p, uint32_t worker)
{
	const struct column *row = p->time->columns +
				   (size_t)worker * TIMELINE_COLUMNS;
	uint32_t y = TOP + ROWS_FIRST + worker * p->pitch +
		     (p->pitch - p->bar) / 2;
	uint32_t i, middle = y + p->bar / 2 + 4;

	for (i = 0; i < TIMELINE_STATES; i++)
		if (has_state(row, drawing_order[i]))
			draw_state(p, row, y, drawing_order[i]);
	/* With thin rows only every fourth has room for a name. */
	if (p->pitch < 14 && worker % 4)
		return;
	fprintf(p->out,
		"<text class=\"e\" x=\"%d\" y=\"%u\">worker %u</text>\n",
		LEFT - 12, middle, (unsigned int)worker);
	fprintf(p->out, "<text class=\"e\" x=\"%d\" y=\"%u\">%.0f %%</text>\n",
		WIDTH - 24, middle, busy(p, row));
}

static void draw_heading(const struct picture *p, const char *title,
			 const char *subtitle)
{
	fprintf(p->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%u\" viewBox=\"0 0 %d %u\" font-size=\"13\" "
		"font-family=\"system-ui, 'Segoe UI', 'DejaVu Sans', Arial, "
		"sans-serif\" fill=\"#1b2430\">\n"
		"<title>What each worker did when</title>\n"
		"<style>.e{text-anchor:end}.m{text-anchor:middle}"
		".s{fill:#4a5564}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
		WIDTH, p->height, WIDTH, p->height);
	fprintf(p->out,
		"<text x=\"24\" y=\"36\" font-size=\"19\" "
		"font-weight=\"600\">%s</text>\n"
		"<text class=\"s\" x=\"24\" y=\"58\">%s</text>\n",
		title, subtitle);
}

static void draw_legend(const struct picture *p)
{
	uint32_t i, x = LEFT;

	for (i = 0; i < TIMELINE_STATES; i++) {
		fprintf(p->out,
			"<rect x=\"%u\" y=\"81\" width=\"13\" height=\"13\" "
			"rx=\"2\" fill=\"%s\"/>"
			"<text x=\"%u\" y=\"92\">%s</text>\n",
			x, looks[i].colour, x + 20, looks[i].name);
		x += 52 + 13 * (uint32_t)strlen(looks[i].name) / 2;
	}
	fprintf(p->out, "<text class=\"e s\" x=\"%d\" y=\"92\">busy</text>\n",
		WIDTH - 24);
}

/* Return the smallest of 1, 2, 5 times a power of ten that divides the time
 * into at most ten parts. */
static uint64_t tick_step(uint64_t whole)
{
	static const uint64_t factors[] = { 1, 2, 5 };
	uint64_t              power = 1;
	size_t                i;

	for (;; power *= 10)
		for (i = 0; i < 3; i++)
			if (whole / (factors[i] * power) <= 10)
				return factors[i] * power;
}

static void draw_tick(const struct picture *p, uint64_t at, uint32_t bottom)
{
	double whole = (double)(p->time->end - p->time->begin);
	double x = LEFT + (double)at / whole * TIMELINE_COLUMNS;

	fprintf(p->out,
		"<path stroke=\"#c3cad3\" d=\"M%.1f %uv6\"/>"
		"<text class=\"m\" x=\"%.1f\" y=\"%u\">",
		x, bottom, x, bottom + 22);
	if (whole < 10e6)
		fprintf(p->out, "%.9g \xc2\xb5s</text>\n", (double)at / 1e3);
	else if (whole < 10e9)
		fprintf(p->out, "%.9g ms</text>\n", (double)at / 1e6);
	else
		fprintf(p->out, "%.9g s</text>\n", (double)at / 1e9);
}

static void draw_axis(const struct picture *p)
{
	uint64_t whole = p->time->end - p->time->begin;
	uint64_t step = tick_step(whole), at;
	uint32_t bottom = p->height - BOTTOM;

	fprintf(p->out, "<path stroke=\"#c3cad3\" d=\"M%d %u.5h%d\"/>\n", LEFT,
		bottom, TIMELINE_COLUMNS);
	for (at = 0; at <= whole; at += step)
		draw_tick(p, at, bottom);
	fprintf(p->out,
		"<text class=\"m s\" x=\"%d\" y=\"%u\">time since the first "
		"directory was opened</text>\n</svg>\n",
		LEFT + TIMELINE_COLUMNS / 2, bottom + 46);
}

int timeline_write(const struct timeline *t, const char *file,
		   const char *title, const char *subtitle)
{
	struct picture p = { .time = t };
	uint32_t       i;
	int            error = 0;

	p.pitch = t->workers <= 24 ? 30 : t->workers <= 64 ? 14 : 7;
	p.bar = p.pitch - (p.pitch > 7 ? p.pitch / 5 : 1);
	p.height = TOP + 2 * ROWS_FIRST + t->workers * p.pitch + BOTTOM;
	p.out = fopen(file, "we");
	if (!p.out)
		return -errno;
	draw_heading(&p, title, subtitle);
	draw_legend(&p);
	for (i = 0; i < t->workers; i++)
		draw_row(&p, i);
	draw_axis(&p);
	if (ferror(p.out))
		error = -EIO;
	if (fclose(p.out) && !error)
		error = -errno;
	return error;
}
