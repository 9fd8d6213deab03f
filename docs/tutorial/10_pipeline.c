/* SPDX-License-Identifier: Apache-2.0 */
/* 10_pipeline.c - a pipeline that ends in three ways: all is done, a stage
 * fails, the deadline passes.
 *
 *	read --lines--> parse x 3 --numbers--> add
 */
#include <sennit.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARSERS = 3 };

struct pipeline {
	const char *const *input; /* ends with NULL */
	sennit_channel     lines; /* of const char * */
	const char        *lines_memory[4];
	sennit_channel     numbers; /* of long */
	long               numbers_memory[4];
	sennit_wait_group  parsers;
	long               sum;
};

static int read_lines(void *argument)
{
	struct pipeline *p = argument;
	int              err = 0;

	for (const char *const *line = p->input; *line && !err; line++)
		err = sennit_channel_send_until(&p->lines, line, SENNIT_NEVER);
	sennit_channel_close(&p->lines);
	return err;
}

/* "?" stands for a line whose parser waits for something that never comes. */
static int parse(const char *line, long *number)
{
	char *end;

	if (!strcmp(line, "?"))
		return sennit_sleep_until(SENNIT_NEVER);
	*number = strtol(line, &end, 10);
	return *end || end == line ? -EINVAL : 0;
}

static int parse_lines(void *argument)
{
	struct pipeline *p = argument;
	const char      *line;
	long             number;
	int              err;

	while (!(err = sennit_channel_receive_until(&p->lines, &line,
						    SENNIT_NEVER))) {
		err = parse(line, &number);
		if (!err)
			err = sennit_channel_send_until(&p->numbers, &number,
							SENNIT_NEVER);
		if (err)
			break;
	}
	if (sennit_wait_group_done(&p->parsers)) /* the last parser */
		sennit_channel_close(&p->numbers);
	return err == -EPIPE ? 0 : err; /* closed: all is parsed */
}

static int add(void *argument)
{
	struct pipeline *p = argument;
	long             number;
	int              err;

	while (!(err = sennit_channel_receive_until(&p->numbers, &number,
						    SENNIT_NEVER)))
		p->sum += number;
	return err == -EPIPE ? 0 : err;
}

static int run(const char *const *input, sennit_time deadline, long *sum)
{
	struct pipeline p = { .input = input };
	sennit_group    g;
	int             err, ended;

	p.lines = (sennit_channel)SENNIT_CHANNEL_INIT_ARRAY(p.lines_memory);
	p.numbers = (sennit_channel)SENNIT_CHANNEL_INIT_ARRAY(p.numbers_memory);
	sennit_wait_group_init(&p.parsers, PARSERS);
	sennit_group_init(&g, deadline, 0);
	err = sennit_group_spawn(&g, read_lines, &p);
	for (int i = 0; i < PARSERS && !err; i++)
		err = sennit_group_spawn(&g, parse_lines, &p);
	if (!err)
		err = sennit_group_spawn(&g, add, &p);
	if (err)
		sennit_group_cancel(&g); /* no memory for a stage */
	ended = sennit_group_wait(&g);
	*sum = p.sum;
	return ended == -ECANCELED && err ? err : ended;
}

static int program(void *unused)
{
	const char *const good[] = { "1", "2", "3", "4",  "5", "6",
				     "7", "8", "9", "10", NULL };
	const char *const wrong[] = { "1", "two", "3", NULL };
	const char *const stuck[] = { "1", "?", "3", NULL };
	long              sum, ignored;
	int               errs[3];

	(void)unused;
	errs[0] = run(good, sennit_after(60 * SENNIT_SECOND), &sum);
	errs[1] = run(wrong, SENNIT_NEVER, &ignored);
	errs[2] = run(stuck, sennit_after(20 * SENNIT_MILLISECOND), &ignored);
	printf("good: %s, sum %ld\n", sennit_strerror(errs[0]), sum);
	printf("wrong: %s\n", sennit_strerror(errs[1]));
	printf("stuck: %s\n", sennit_strerror(errs[2]));
	return !errs[0] && sum == 55 && errs[1] == -EINVAL &&
			       errs[2] == -ETIMEDOUT
		       ? 0
		       : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
