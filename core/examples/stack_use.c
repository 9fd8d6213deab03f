/* SPDX-License-Identifier: Apache-2.0 */
/* stack_use.c - a program that measures how large its stacks must be.
 *
 * A parser of nested brackets calls itself for each level, so the stack that it
 * needs depends on its input. The program parses the worst input that must work
 * once on large stacks and measures them. Then it starts the service with
 * stacks of the right size.
 */
#include <sennit.h>
#include <sennit/stack_use.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEEPEST 500 /* levels that must work */
#define SERVICE 200 /* texts at once */

struct parse {
	const char *text;
	unsigned    levels; /* result */
};

/* Return the position after the bracket that closes the level that begins
 * here. */
static const char *skip_level(const char *text, unsigned *levels)
{
	unsigned below = 0;

	for (text++; *text == '('; *levels = below > *levels ? below : *levels)
		text = skip_level(text, &below);
	++*levels;
	return text + 1;
}

static int parse(void *argument)
{
	struct parse *p = argument;

	skip_level(p->text, &p->levels);
	return 0;
}

/* Parse `times` copies of the text at once, with this configuration. A task is
 * measured when it has ended. Members of a group have ended when the wait
 * returns. */
static int run(const sennit_config *config, const char *text, unsigned times,
	       void (*look)(void *context, const sennit_stack_use *use),
	       size_t *least)
{
	struct parse      parses[SERVICE];
	sennit_scheduler *s;
	sennit_group      g;
	int               wrong = 0;

	if (sennit_scheduler_create(&s, config) || sennit_thread_bind(s))
		return 1;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (unsigned i = 0; i < times; i++) {
		parses[i].text = text;
		parses[i].levels = 0;
		if (sennit_group_spawn(&g, parse, &parses[i]))
			parse(&parses[i]); /* no memory for a task */
	}
	wrong += sennit_group_wait(&g) != 0;
	for (unsigned i = 0; i < times; i++)
		wrong += parses[i].levels != DEEPEST;
	sennit_stack_use_print(s, STDOUT_FILENO);
	sennit_stack_use_visit(s, look, least);
	sennit_thread_unbind();
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) || wrong;
}

static void note_largest(void *least, const sennit_stack_use *use)
{
	size_t *largest = least;

	if (use->least > *largest)
		*largest = use->least;
}

int main(void)
{
	char   text[2 * DEEPEST + 1] = "";
	size_t least = 0;

	memset(text, '(', DEEPEST);
	memset(text + DEEPEST, ')', DEEPEST);
	if (run(SENNIT_CONFIG(.stack_size = 1 << 20, .measure_stacks = 1), text,
		1, note_largest, &least))
		return 1;
	if (!least)
		return 1;
	/* A margin of a quarter, for signal handlers and other compilers. */
	least += least / 4;
	printf("the service gets stacks of %zu KiB\n", least / 1024);
	return run(SENNIT_CONFIG(.stack_size = least), text, SERVICE,
		   note_largest, &least);
}
