/* SPDX-License-Identifier: Apache-2.0 */
/* flame.c - where fibers wait: the tasks and spans around each wait, and its
 * kind, as a tree whose nodes have the time of the waits below them. */
#include "trace/array.h"
#include "trace/output.h"
#include "trace/text.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>

enum { WIDTH = 1200, PITCH = 18, TOP = 60, BOTTOM = 24, MARGIN = 10 };

struct node {
	uint64_t     total; /* ns of the waits at and below it */
	uint64_t     own;   /* at it */
	uint64_t     count;
	uint32_t     name;
	uint32_t     depth;
	struct node *outer;
	struct node *first; /* of those in it */
	struct node *next;
	struct node *chain; /* of all */
};

struct tree {
	const struct timeline *time;
	struct node            root;
	struct node           *all;
	void                  *index; /* of tsearch(), by outer and name */
	uint32_t               depth;
};

static int compare(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	if (x->outer != y->outer)
		return (uintptr_t)x->outer < (uintptr_t)y->outer ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static struct node *child(struct tree *tree, struct node *outer, uint32_t name)
{
	struct node  key = { .outer = outer, .name = name };
	struct node *n, **found = tfind(&key, &tree->index, compare);

	if (found)
		return *found;
	n = array_zeros(1, sizeof(*n));
	*n = (struct node){ .outer = outer,
			    .name = name,
			    .depth = outer->depth + 1,
			    .next = outer->first,
			    .chain = tree->all };
	if (!tsearch(n, &tree->index, compare))
		array_grow(NULL, UINT32_MAX, 1); /* says so, and ends */
	outer->first = tree->all = n;
	if (n->depth > tree->depth)
		tree->depth = n->depth;
	return n;
}

/* The slices around a wait by their functions' and spans' names. */
static struct node *frames(struct tree *tree, uint32_t slice)
{
	const struct timeline *t = tree->time;
	uint32_t               path[TIMELINE_DEPTH];
	uint32_t               depth = 0;
	struct node           *n = &tree->root;

	for (; slice != TIMELINE_NONE && depth < TIMELINE_DEPTH;
	     slice = t->slices[slice].outer)
		path[depth++] = t->slices[slice].plain;
	while (depth--)
		n = child(tree, n, path[depth]);
	return n;
}

static void grow(struct tree *tree, const struct timeline *t)
{
	tree->time = t;
	for (uint32_t i = 0; i < t->wait_count; i++) {
		const struct wait *w = &t->waits[i];
		struct node       *n = frames(tree, w->outer);

		n = child(tree, n, w->what);
		n->own += w->before + w->end - w->begin;
		n->count++;
		for (; n; n = n->outer)
			n->total += w->before + w->end - w->begin;
	}
}

static void keep(void *node)
{
	(void)node;
}

static void fell(struct tree *tree)
{
	struct node *n, *next;

	tdestroy(tree->index, keep);
	for (n = tree->all; n; n = next) {
		next = n->chain;
		free(n);
	}
}

/* --- text -------------------------------------------------------------- */

static void put_path(FILE *out, const struct tree *tree, const struct node *n)
{
	if (n->outer != &tree->root) {
		put_path(out, tree, n->outer);
		putc(';', out);
	}
	text_frame(out, tree->time->names[n->name]);
}

int output_folded(FILE *out, const struct timeline *t)
{
	struct tree tree = { .time = t };

	grow(&tree, t);
	for (const struct node *n = tree.all; n; n = n->chain) {
		if (!n->count)
			continue;
		put_path(out, &tree, n);
		fprintf(out, " %" PRIu64 "\n", n->own);
	}
	fell(&tree);
	return 0;
}

/* --- picture ------------------------------------------------------------ */

/* Text that is cut where its box ends. */
static void put_label(FILE *out, const char *name, double x, double y,
		      double width)
{
	size_t room = (size_t)(width / 7);

	if (room < 3)
		return;
	fprintf(out,
		"<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\">"
		"<text x=\"3\" y=\"13\">",
		x, y, width, PITCH);
	text_xml(out, name);
	fputs("</text></svg>", out);
}

static void put_box(FILE *out, const struct tree *tree, const struct node *n,
		    double x, double width)
{
	static const char *const tasks[] = { "#f2c879", "#eeb96b", "#f0d08c" };
	char                     total[16];
	double                   y = TOP + (double)(n->depth - 1) * PITCH;
	const char              *name = tree->time->names[n->name];

	fputs("<g><title>", out);
	text_xml(out, name);
	fprintf(out, ": %s, %.1f %%", text_duration(total, n->total),
		100.0 * (double)n->total / (double)tree->root.total);
	if (n->count)
		fprintf(out, ", %" PRIu64 " waits", n->count);
	fprintf(out,
		"</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		"height=\"%d\" fill=\"%s\"/>",
		x, y, width, PITCH - 1,
		n->count ? "#8fb4d9" : tasks[n->name % 3]);
	put_label(out, name, x, y, width);
	fputs("</g>\n", out);
}

/* Boxes below a tenth of a pixel are left out. */
static void put_node(FILE *out, const struct tree *tree, const struct node *n,
		     double x)
{
	double scale = (WIDTH - 2 * MARGIN) / (double)tree->root.total;

	if ((double)n->total * scale < 0.1)
		return;
	if (n != &tree->root)
		put_box(out, tree, n, x, (double)n->total * scale);
	for (const struct node *in = n->first; in; in = in->next) {
		put_node(out, tree, in, x);
		x += (double)in->total * scale;
	}
}

int output_flame(FILE *out, const struct timeline *t)
{
	struct tree tree = { .time = t };
	char        total[16];
	uint32_t    height;

	grow(&tree, t);
	height = TOP + tree.depth * PITCH + BOTTOM;
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%" PRIu32 "\" viewBox=\"0 0 %d %" PRIu32 "\" "
		"font-size=\"12\" font-family=\"sans-serif\">\n"
		"<title>Where fibers wait</title>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
		"<text x=\"%d\" y=\"28\" font-size=\"18\">Where fibers wait: "
		"%s in %" PRIu32 " waits</text>\n",
		WIDTH, height, WIDTH, height, MARGIN,
		text_duration(total, tree.root.total), t->wait_count);
	if (tree.root.total)
		put_node(out, &tree, &tree.root, MARGIN);
	fputs("</svg>\n", out);
	fell(&tree);
	return 0;
}
