/* SPDX-License-Identifier: Apache-2.0 */
/* required.c - reads an expression from left to right. An unknown construct
 * ends a string or the whole search: a missing string only costs time, a wrong
 * one would lose lines. */
#include "grep/required.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The string that is being read, and the longest one so far. */
struct reader {
	const char *at;
	int         depth; /* nesting of groups, whose contents may be absent */
	char       *best;
	size_t      best_size;
	char       *run;
	size_t      size;
};

static void end_run(struct reader *r)
{
	if (r->size > r->best_size) {
		memcpy(r->best, r->run, r->size);
		r->best_size = r->size;
	}
	r->size = 0;
}

static void add(struct reader *r, char c)
{
	if (!r->depth)
		r->run[r->size++] = c;
}

/* Skip a class: [...], including a ] that comes first and [:names:]. Returns
 * whether it is terminated. */
static bool skip_class(struct reader *r)
{
	const char *p = r->at + 1;

	if (*p == '^')
		p++;
	if (*p == ']')
		p++;
	for (; *p && *p != ']'; p++) {
		if (*p == '\\' && p[1])
			p++;
		else if (*p == '[' && strchr(":.=", p[1]))
			return false; /* rare, so not supported */
	}
	r->at = p;
	return *p == ']';
}

/* A letter or digit after a backslash is special: only the most frequent ones
 * are supported. */
static bool read_escape(struct reader *r)
{
	char c = *++r->at;

	if (c && strchr("dDwWsSbB", c)) {
		end_run(r);
		return true;
	}
	if (!c || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') || (unsigned char)c > 127)
		return false;
	add(r, c);
	return true;
}

/* The byte before the quantifier is not required, unless it is a plus. */
static bool read_quantifier(struct reader *r)
{
	if (*r->at != '+' && r->size)
		r->size--;
	end_run(r);
	if (*r->at == '{')
		r->at = strchr(r->at, '}');
	return r->at != NULL;
}

/* Returns whether reading can continue. */
static bool read_one(struct reader *r)
{
	switch (*r->at) {
	case '\\':
		return read_escape(r);
	case '[':
		end_run(r);
		return skip_class(r);
	case '(':
		end_run(r);
		r->depth++;
		return r->at[1] != '?' && r->at[1] != '*';
	case ')':
		return --r->depth >= 0;
	case '*':
	case '+':
	case '?':
	case '{':
		return read_quantifier(r);
	case '.':
	case '^':
	case '$':
		end_run(r);
		return true;
	case '|':
		return false;
	default:
		add(r, *r->at);
		return true;
	}
}

size_t required_find(const char *expression, char *out)
{
	struct reader r = { .at = expression, .best = out };
	bool          goes_on = true;

	r.run = malloc(strlen(expression) + 1);
	if (!r.run)
		return 0;
	for (; *r.at && goes_on; r.at += goes_on)
		goes_on = read_one(&r);
	end_run(&r);
	free(r.run);
	return goes_on ? r.best_size : 0;
}
