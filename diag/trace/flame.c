/* SPDX-License-Identifier: Apache-2.0 */
/* flame.c - builds a tree whose nodes have the time below them: from waits,
 * with the tasks and spans around each wait and its kind; or from folded
 * stacks, as sennit_profile_write() writes them. */
#include "trace/array.h"
#include "trace/names.h"
#include "trace/output.h"
#include "trace/text.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 1000 };
enum { WIDTH = 1200, PITCH = 18, TOP = 60, BOTTOM = 24, MARGIN = 10 };

struct node {
	uint64_t     total; /* ns in it and below it */
	uint64_t     own;   /* ns in it */
	uint64_t     count;
	uint32_t     name;
	uint32_t     depth;
	struct node *outer;
	struct node *first; /* of the nodes in it */
	struct node *next;
	struct node *chain; /* of all nodes */
};

struct tree {
	char       **names;
	const char  *title;
	const char  *what; /* what is counted */
	uint64_t     count;
	struct node  root;
	struct node *all;
	void        *index; /* of tsearch(), by outer and name */
	uint32_t     depth;
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
		array_grow(NULL, UINT32_MAX, 1); /* prints a message and
						  * exits */
	outer->first = tree->all = n;
	if (n->depth > tree->depth)
		tree->depth = n->depth;
	return n;
}

/* Return the node for the slices around a wait, by the names of their functions
 * and spans. */
static struct node *frames(struct tree *tree, const struct timeline *t,
			   uint32_t slice)
{
	uint32_t     path[TIMELINE_DEPTH];
	uint32_t     depth = 0;
	struct node *n = &tree->root;

	for (; slice != TIMELINE_NONE && depth < TIMELINE_DEPTH;
	     slice = t->slices[slice].outer)
		path[depth++] = t->slices[slice].plain;
	while (depth--)
		n = child(tree, n, path[depth]);
	return n;
}

static void add(struct tree *tree, struct node *n, uint64_t ns)
{
	tree->count++;
	n->own += ns;
	n->count++;
	for (; n; n = n->outer)
		n->total += ns;
}

static void grow_waits(struct tree *tree, const struct timeline *t)
{
	for (uint32_t i = 0; i < t->wait_count; i++) {
		const struct wait *w = &t->waits[i];

		add(tree, child(tree, frames(tree, t, w->outer), w->what),
		    w->before + w->end - w->begin);
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
	text_frame(out, tree->names[n->name]);
}

static int put_folded(FILE *out, struct tree *tree)
{
	for (const struct node *n = tree->all; n; n = n->chain) {
		if (!n->count)
			continue;
		put_path(out, tree, n);
		fprintf(out, " %" PRIu64 "\n", n->own);
	}
	return 0;
}

/* --- picture ------------------------------------------------------------ */

/* Print text, cut at the end of its box. */
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
	const char              *name = tree->names[n->name];

	fputs("<g><title>", out);
	text_xml(out, name);
	fprintf(out, ": %s, %.1f %%", text_duration(total, n->total),
		100.0 * (double)n->total / (double)tree->root.total);
	if (n->count)
		fprintf(out, ", %" PRIu64 " %s", n->count, tree->what);
	fprintf(out,
		"</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		"height=\"%d\" fill=\"%s\"/>",
		x, y, width, PITCH - 1,
		n->count ? "#8fb4d9" : tasks[n->name % 3]);
	put_label(out, name, x, y, width);
	fputs("</g>\n", out);
}

/* Leave out boxes below a tenth of a pixel. */
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

static int put_picture(FILE *out, const struct tree *tree)
{
	const uint32_t height = TOP + tree->depth * PITCH + BOTTOM;
	char           total[16];

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%" PRIu32 "\" viewBox=\"0 0 %d %" PRIu32 "\" "
		"font-size=\"12\" font-family=\"sans-serif\">\n"
		"<title>%s</title>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n"
		"<text x=\"%d\" y=\"28\" font-size=\"18\">%s: "
		"%s in %" PRIu64 " %s</text>\n",
		WIDTH, height, WIDTH, height, tree->title, MARGIN, tree->title,
		text_duration(total, tree->root.total), tree->count,
		tree->what);
	if (tree->root.total)
		put_node(out, tree, &tree->root, MARGIN);
	fputs("</svg>\n", out);
	return 0;
}

static int put(FILE *out, struct tree *tree, bool folded)
{
	int err = folded ? put_folded(out, tree) : put_picture(out, tree);

	fell(tree);
	return err;
}

int output_flame(FILE *out, const struct timeline *t, bool folded)
{
	struct tree tree = { .names = t->names,
			     .title = "Where fibers wait",
			     .what = "waits" };

	grow_waits(&tree, t);
	return put(out, &tree, folded);
}

/* --- folded stacks ---------------------------------------------------- */

/* Read the number after the last blank of a line, and set *length to the
 * position of that blank. Returns whether there is one. */
static bool read_number(const char *line, size_t *length, uint64_t *number)
{
	char *end;

	while (*length && line[*length - 1] != ' ')
		--*length;
	if (!*length)
		return false;
	*number = strtoull(line + *length, &end, 10);
	if (end == line + *length || line[*length] == '-')
		return false;
	return --*length;
}

/* A frame is cut after 1,023 bytes, and a stack after DEEPEST frames. */
static struct node *read_path(struct tree *tree, struct names *names,
			      const char *line, size_t length)
{
	const char  *end = line + length;
	struct node *n = &tree->root;

	while (line <= end && n->depth < DEEPEST) {
		const char *part = memchr(line, ';', (size_t)(end - line));
		size_t      size = (size_t)((part ? part : end) - line);
		char        name[1024];

		snprintf(name, sizeof(name), "%.*s",
			 size < sizeof(name) ? (int)size : 1023, line);
		n = child(tree, n, names_put(names, name));
		line += size + 1;
	}
	return n;
}

/* Returns whether the text is one of folded stacks. */
static bool read_folded(struct tree *tree, struct names *names,
			const char *text)
{
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		size_t   length = strcspn(text, "\n");
		uint64_t ns;

		if (!length)
			continue;
		if (!read_number(text, &length, &ns))
			return false;
		add(tree, read_path(tree, names, text, length), ns);
	}
	return true;
}

int output_flame_of(FILE *out, const char *text)
{
	struct tree  tree = { .title = "Folded stacks", .what = "stacks" };
	struct names names = { .count = 0 };
	int          err = -EINVAL;

	if (read_folded(&tree, &names, text)) {
		tree.names = names.names;
		err = put_picture(out, &tree);
	}
	fell(&tree);
	names_free_index(&names);
	for (uint32_t i = 0; i < names.count; i++)
		free(names.names[i]);
	free(names.names);
	return err;
}
