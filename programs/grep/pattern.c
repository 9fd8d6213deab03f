/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.c - the two ways to search for a pattern. */
#define PCRE2_CODE_UNIT_WIDTH 8

#include "grep/pattern.h"
#include "grep/fixed.h"
#include "grep/required.h"

#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The size of the stack on which compiled patterns run. A fiber's stack is too
 * small. */
#define STACK_LEAST (32 << 10)
#define STACK_MOST  (1 << 20)

struct pattern {
	struct fixed fixed;    /* a string in every line that matches; may be
			        * empty */
	bool         is_fixed; /* every line with the string matches */
	bool         by_lines; /* lines must be matched one by one */
	pcre2_code  *code;
	char         bytes[]; /* the bytes of `fixed` */
};

struct matcher {
	pcre2_match_data    *data;
	pcre2_match_context *context;
	pcre2_jit_stack     *stack;
};

/* --- compiling ---------------------------------------- */

/* Report whether the pattern may depend on bytes beyond the line, or whether a
 * longer subject may hide a match within a line: lookarounds, atomic groups,
 * verbs, ends of the subject. Constructs that are not known to be harmless
 * count. */
static bool looks_beyond(const char *p)
{
	for (; *p; p++) {
		if (*p == '\\') {
			if (!*++p || (!strchr("dDwWsSbB", *p) &&
				      (*p == '0' || (unsigned char)*p > 127 ||
				       (*p >= 'A' && *p <= 'Z') ||
				       (*p >= 'a' && *p <= 'z'))))
				return true;
		} else if (*p == '(' && (p[1] == '*' || p[1] == '?')) {
			if (p[1] == '*' || p[2] != ':')
				return true;
		} else if (strchr("*+?}", *p) && p[1] == '+') {
			return true;
		}
	}
	return false;
}

static bool is_plain(const char *pattern)
{
	return !strpbrk(pattern, "\\^$.[|()?*+{");
}

/* Put a backslash before every byte that may be special. */
static char *quote(const char *text)
{
	char *out = malloc(2 * strlen(text) + 1), *to = out;

	for (; out && *text; text++) {
		if (strchr("\\^$.[]|()?*+{}-#", *text))
			*to++ = '\\';
		*to++ = *text;
	}
	if (out)
		*to = '\0';
	return out;
}

/* Require that no letter, digit or underscore precedes or follows the match. */
static char *around_words(char *pattern)
{
	char *out;

	if (asprintf(&out, "(?<!\\w)(?:%s)(?!\\w)", pattern) < 0)
		out = NULL;
	free(pattern);
	return out;
}

static pcre2_code *compile(const char *text, bool ignore_case)
{
	uint32_t    options = PCRE2_MULTILINE | PCRE2_NEVER_UTF;
	int         error;
	size_t      at;
	PCRE2_UCHAR why[200];
	pcre2_code *code;

	if (ignore_case)
		options |= PCRE2_CASELESS;
	code = pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, options,
			     &error, &at, NULL);
	if (!code) {
		pcre2_get_error_message(error, why, sizeof(why));
		fprintf(stderr, PROGRAM ": in the pattern, at byte %zu: %s\n",
			at, (char *)why);
	}
	return code;
}

static pcre2_code *compile_pattern(const struct options *o)
{
	char       *text = o->fixed ? quote(o->pattern) : strdup(o->pattern);
	pcre2_code *code = text ? compile(text, o->ignore_case) : NULL;

	if (code && o->words) {
		pcre2_code_free(code); /* the pattern itself is correct */
		text = around_words(text);
		code = text ? compile(text, o->ignore_case) : NULL;
	}
	free(text);
	/* Without JIT support the pattern is interpreted. */
	if (code)
		(void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
	return code;
}

static void find_fixed(struct pattern *p, const struct options *o)
{
	size_t size = 0;

	p->is_fixed = !o->ignore_case && !o->words &&
		      (o->fixed || is_plain(o->pattern));
	if (p->is_fixed || (o->fixed && !o->ignore_case))
		size = strlen(strcpy(p->bytes, o->pattern));
	else if (!o->ignore_case)
		size = required_find(o->pattern, p->bytes);
	fixed_init(&p->fixed, p->bytes, size);
}

struct pattern *pattern_new(const struct options *o)
{
	struct pattern *p;

	if (strchr(o->pattern, '\n')) {
		fprintf(stderr, PROGRAM ": a newline in the pattern\n");
		return NULL;
	}
	p = calloc(1, sizeof(*p) + strlen(o->pattern) + 1);
	if (!p)
		return NULL;
	p->by_lines = !o->fixed && looks_beyond(o->pattern);
	find_fixed(p, o);
	if (!p->is_fixed) {
		p->code = compile_pattern(o);
		if (!p->code) {
			free(p);
			return NULL;
		}
	}
	return p;
}

void pattern_free(struct pattern *p)
{
	pcre2_code_free(p->code);
	free(p);
}

struct matcher *matcher_new(const struct pattern *p)
{
	struct matcher *m = calloc(1, sizeof(*m));

	if (!m || p->is_fixed)
		return m;
	m->data = pcre2_match_data_create(1, NULL);
	m->context = pcre2_match_context_create(NULL);
	m->stack = pcre2_jit_stack_create(STACK_LEAST, STACK_MOST, NULL);
	if (!m->data || !m->context || !m->stack) {
		matcher_free(m);
		return NULL;
	}
	pcre2_jit_stack_assign(m->context, NULL, m->stack);
	return m;
}

void matcher_free(struct matcher *m)
{
	if (!m)
		return;
	pcre2_match_data_free(m->data);
	pcre2_match_context_free(m->context);
	pcre2_jit_stack_free(m->stack);
	free(m);
}

/* --- matching --------------------------------------- */

/* Return the line that contains `at`; a newline belongs to the line before
 * it. */
static struct line line_around(const char *begin, const char *end,
			       const char *at)
{
	const char *before = memrchr(begin, '\n', (size_t)(at - begin));
	const char *behind = memchr(at, '\n', (size_t)(end - at));

	return (struct line){ before ? before + 1 : begin,
			      behind ? behind : end };
}

/* Returns 1, 0 or -1 like pattern_find. */
static int match(const struct pattern *p, struct matcher *m, const char *begin,
		 const char *end)
{
	int result = pcre2_match(p->code, (PCRE2_SPTR)begin,
				 (size_t)(end - begin), 0, 0, m->data,
				 m->context);

	if (result == PCRE2_ERROR_NOMATCH)
		return 0;
	return result < 0 ? -1 : 1;
}

static int find_by_lines(const struct pattern *p, struct matcher *m,
			 const char *begin, const char *end, struct line *line)
{
	int found = 0;

	for (; !found && begin < end; begin = line->end + 1) {
		*line = line_around(begin, end, begin);
		found = match(p, m, line->begin, line->end);
	}
	return found;
}

static int find_by_fixed(const struct pattern *p, struct matcher *m,
			 const char *begin, const char *end, struct line *line)
{
	const char *at;
	int         found = 0;

	for (; !found && begin < end; begin = line->end + 1) {
		at = fixed_find(&p->fixed, begin, end);
		if (!at)
			return 0;
		*line = line_around(begin, end, at);
		found = p->is_fixed ? 1 : match(p, m, line->begin, line->end);
	}
	return found;
}

/* If a match reaches beyond its line, a match may begin in this line, but not
 * in an earlier one. */
static int find_at_once(const struct pattern *p, struct matcher *m,
			const char *begin, const char *end, struct line *line)
{
	const size_t *span = pcre2_get_ovector_pointer(m->data);
	int           found;

	while (begin < end) {
		found = match(p, m, begin, end);
		if (found <= 0)
			return found;
		if (begin + span[0] == end && end[-1] == '\n')
			return 0; /* after the last line */
		*line = line_around(begin, end, begin + span[0]);
		if (begin + span[1] <= line->end)
			return 1;
		found = match(p, m, line->begin, line->end);
		if (found)
			return found;
		begin = line->end + 1;
	}
	return 0;
}

int pattern_find(const struct pattern *p, struct matcher *m, const char *begin,
		 const char *end, struct line *line)
{
	int found = -1;

	if (p->is_fixed || p->fixed.size > 1)
		return find_by_fixed(p, m, begin, end, line);
	if (!p->by_lines)
		found = find_at_once(p, m, begin, end, line);
	/* Matching many lines at once may take too many steps where single
	 * lines do not. */
	return found < 0 ? find_by_lines(p, m, begin, end, line) : found;
}
