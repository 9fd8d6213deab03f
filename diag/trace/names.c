/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/names.h"

#include "base/text.h"
#include "trace/array.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1024 };

struct name {
	const char *text;
	uint32_t    number;
};

static int compare(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return strcmp(x->text, y->text);
}

uint32_t names_put(struct names *n, const char *escaped)
{
	struct name  key = { escaped, 0 };
	struct name *e, **found = tfind(&key, &n->tree, compare);
	size_t       size = strlen(escaped) + 1;
	uint32_t     at;

	if (found)
		return (*found)->number;
	at = ARRAY_ADD(n->names, n->count);
	n->names[at] = array_zeros(size, 1);
	memcpy(n->names[at], escaped, size);
	e = array_zeros(1, sizeof(*e));
	*e = (struct name){ n->names[at], at };
	/* Without memory for its node the name is not found again, and equal
	 * texts get further entries. */
	if (!tsearch(e, &n->tree, compare))
		free(e);
	return at;
}

uint32_t names_add(struct names *n, const char *text, size_t length)
{
	char raw[LONGEST + 1], escaped[4 * LONGEST + 1];

	if (length > LONGEST)
		length = LONGEST;
	memcpy(raw, text, length);
	raw[length] = '\0';
	sn_escape(escaped, sizeof(escaped), raw);
	return names_put(n, escaped);
}

void names_free_index(struct names *n)
{
	tdestroy(n->tree, free);
	n->tree = NULL;
}
