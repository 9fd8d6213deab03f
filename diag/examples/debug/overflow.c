/* SPDX-License-Identifier: Apache-2.0 */
/* overflow.c - a task that needs more stack than its fiber has.
 *
 * The parser calls itself for each bracket, and its stacks of 64 KiB do for
 * some hundred of them. `overflow` meets a text with more, and dies with the
 * library's message. `overflow measure` parses the same text on large stacks
 * and says how much it takes.
 *
 * Cure: sennit_config.stack_size as measured, or a limit for the depth.
 */
#include <sennit.h>
#include <sennit/stack_use.h>

#include <string.h>
#include <unistd.h>

#define DEPTH 1000

/* Not static: the backtrace shows their names. */
int parse_level(const char *text);
int parse(void *text);

int parse_level(const char *text)
{
	volatile char token[128];

	token[0] = *text;
	if (token[0] != '(')
		return 0;
	return parse_level(text + 1) + (token[0] == '(');
}

int parse(void *text)
{
	return parse_level(text) == DEPTH ? 0 : -1;
}

int main(int argc, char **argv)
{
	static char         text[DEPTH + 1];
	const bool          measure = argc > 1 && !strcmp(argv[1], "measure");
	const sennit_config config = { .size = sizeof(config),
				       .workers = 1,
				       .name = "parser",
				       .stack_size = measure ? 1 << 20
							     : 64 << 10,
				       .measure_stacks = measure };
	sennit_scheduler   *s;
	sennit_group        g;

	memset(text, '(', DEPTH);
	if (sennit_scheduler_create(&s, &config))
		return 1;
	sennit_group_init_on(&g, s, SENNIT_NEVER, 0);
	if (sennit_group_spawn(&g, parse, text) || sennit_group_wait(&g))
		return 1;
	if (measure)
		sennit_stack_use_print(s, STDOUT_FILENO);
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) ? 1 : 0;
}
