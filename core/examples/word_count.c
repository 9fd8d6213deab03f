/* SPDX-License-Identifier: Apache-2.0 */
/* word_count.c - counts the words of standard input on all CPUs, and prints how
 * often each occurs: word_count <FILE | sort -rn | head */
#include <sennit.h>
#include <sennit/fork_join.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPACES " \t\n\v\f\r"
enum { GRAIN = 1 << 18 }; /* bytes that are not split further */

struct word {
	const char   *text; /* NULL: the slot is free */
	unsigned long count;
};

struct table {
	size_t       room, used; /* room: 0 or a power of two */
	struct word *slots;
};

static void merge(struct table *to, struct table from);

static void add(struct table *t, struct word w)
{
	struct table bigger = { t->room ? 2 * t->room : 1024, 0, NULL };
	uint32_t     hash = 2166136261u;
	struct word *slot;

	if (2 * t->used >= t->room) {
		bigger.slots = calloc(bigger.room, sizeof(w));
		if (!bigger.slots)
			abort();
		merge(&bigger, *t);
		*t = bigger;
	}
	for (const char *c = w.text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	do
		slot = &t->slots[hash++ & (t->room - 1)];
	while (slot->text && strcmp(slot->text, w.text) != 0);
	t->used += !slot->text;
	w.count += slot->count;
	*slot = w;
}

static void merge(struct table *to, struct table from)
{
	for (size_t i = 0; i < from.room; i++)
		if (from.slots[i].text)
			add(to, from.slots[i]);
	free(from.slots);
}

SENNIT_FORK(struct table, count, char *, text, char *, end)
{
	char        *middle = text + (end - text) / 2, *word, *rest;
	struct table t = { 0, 0, NULL };

	middle += strcspn(middle, SPACES);
	if (end - text > GRAIN && middle < end) {
		*middle = 0; /* the end of the left part */
		SENNIT_FORK_SPAWN(count, right, middle + 1, end);
		t = SENNIT_FORK_CALL(count, text, middle);
		merge(&t, SENNIT_FORK_SYNC(count, right));
		return t;
	}
	for (word = strtok_r(text, SPACES, &rest); word;
	     word = strtok_r(NULL, SPACES, &rest))
		add(&t, (struct word){ word, 1 });
	return t;
}

static int program(void *unused)
{
	char        *text = NULL;
	size_t       room = 0;
	struct table t = { 0, 0, NULL };

	(void)unused;
	if (getdelim(&text, &room, 0, stdin) > 0)
		t = SENNIT_FORK_RUN(count, text, text + strlen(text));
	for (size_t i = 0; i < t.room; i++)
		if (t.slots[i].text)
			printf("%lu %s\n", t.slots[i].count, t.slots[i].text);
	free(t.slots);
	free(text);
	return 0;
}

int main(void)
{
	return sennit_run(program, NULL, NULL, NULL) ? 1 : 0;
}
