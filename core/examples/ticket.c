/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.c - processes lines in parallel and outputs them in order.
 *
 * Each line gets a ticket when it is read. Its task does the work at its own
 * pace and then registers a function for the time when the ticket is due. No
 * fiber waits for earlier lines, and nothing is sorted or stored.
 */
#include <sennit.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const text[] = {
	"whoever", "comes", "first", "is",     "served", "first,",
	"however", "long",  "it",    "takes;", "nobody", "pushes.",
};

#define LINES (sizeof(text) / sizeof(text[0]))

struct line {
	sennit_ticket turn;
	char          text[16];
	int           err;
};

static sennit_ticket_queue turns = SENNIT_TICKET_QUEUE_INIT;
static sennit_wait_group   printed;
static struct line         lines[LINES];
static char                output[256]; /* written in turn */

static void print(void *argument)
{
	struct line *l = argument;

	strncat(output, l->text, sizeof(output) - strlen(output) - 1);
	strncat(output, " ", sizeof(output) - strlen(output) - 1);
	sennit_ticket_done(&l->turn);
	sennit_wait_group_done(&printed);
}

/* A shorter line takes longer, so that lines finish out of order. */
static void work(void *argument)
{
	struct line *l = argument;

	sennit_sleep((sizeof(l->text) - strlen(l->text)) * SENNIT_MILLISECOND);
	for (char *c = l->text; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	l->err = sennit_ticket_on_call(&l->turn, print, l);
	if (!l->err)
		return;
	/* No memory: wait here. A task outside any group waits to the end. */
	if (!sennit_ticket_wait(&l->turn))
		print(l);
}

/* Returns the number of tasks that could not be scheduled. */
static int read_lines(void)
{
	int failures = 0;

	sennit_wait_group_init(&printed, LINES);
	for (size_t i = 0; i < LINES; i++) {
		struct line *l = &lines[i];

		snprintf(l->text, sizeof(l->text), "%s", text[i]);
		sennit_ticket_queue_take(&turns, &l->turn);
		if (sennit_schedule(work, l)) {
			sennit_ticket_done(&l->turn); /* the line is left out */
			sennit_wait_group_done(&printed);
			failures++;
		}
	}
	sennit_wait_group_wait(&printed);
	return failures;
}

static int program(void *unused)
{
	(void)unused;
	static const char expected[] = "WHOEVER COMES FIRST IS SERVED FIRST, "
				       "HOWEVER LONG IT TAKES; NOBODY PUSHES. ";
	int               failures;

	failures = read_lines();
	puts(output);
	return failures || strcmp(output, expected) ? 1 : 0;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
