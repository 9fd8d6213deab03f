/* SPDX-License-Identifier: Apache-2.0 */
/* go.c - four workers square numbers; the first error ends all. */
#include <sennit.h>

#include <errno.h>
#include <stdio.h>

struct run {
	const int        *input;
	size_t            count;
	sennit_channel    numbers, squares;
	sennit_wait_group workers;
	int               sum;
};

static int square(void *argument)
{
	struct run *r = argument;
	int         n, err;

	while (!(err = sennit_channel_receive_until(&r->numbers, &n,
						    SENNIT_NEVER))) {
		int square = n * n;

		err = n < 0 ? -EINVAL
			    : sennit_channel_send_until(&r->squares, &square,
							SENNIT_NEVER);
		if (err)
			break;
	}
	if (sennit_wait_group_done(&r->workers)) /* the last worker */
		sennit_channel_close(&r->squares);
	return err == -EPIPE ? 0 : err; /* closed: all is done */
}

static int feed(void *argument)
{
	struct run *r = argument;
	int         err = 0;

	for (size_t i = 0; i < r->count && !err; i++)
		err = sennit_channel_send_until(&r->numbers, &r->input[i],
						SENNIT_NEVER);
	sennit_channel_close(&r->numbers);
	return err;
}

static int add(void *argument)
{
	struct run *r = argument;
	int         square, err;

	while (!(err = sennit_channel_receive_until(&r->squares, &square,
						    SENNIT_NEVER)))
		r->sum += square;
	return err == -EPIPE ? 0 : err;
}

static int run(struct run *r)
{
	sennit_group g;
	int          err, ended;

	sennit_wait_group_init(&r->workers, 4);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	err = sennit_group_spawn(&g, feed, r);
	for (int i = 0; i < 4 && !err; i++)
		err = sennit_group_spawn(&g, square, r);
	if (!err)
		err = sennit_group_spawn(&g, add, r);
	if (err)
		sennit_group_cancel(&g);
	ended = sennit_group_wait(&g);
	return ended == -ECANCELED && err ? err : ended;
}

static int program(void *unused)
{
	const int  good[] = { 1, 2, 3, 4, 5 }, bad[] = { 1, -2, 3 };
	struct run a = { .input = good,
			 .count = 5,
			 .numbers = SENNIT_CHANNEL_INIT(sizeof(int)),
			 .squares = SENNIT_CHANNEL_INIT(sizeof(int)) };
	struct run b = a;
	int        errs[2];

	(void)unused;
	b.input = bad;
	b.count = 3;
	errs[0] = run(&a);
	errs[1] = run(&b);
	printf("sum %d error %s\n", a.sum, errs[0] ? "true" : "false");
	printf("error %s\n", errs[1] ? "true" : "false");
	return a.sum == 55 && !errs[0] && errs[1] == -EINVAL ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
