/* SPDX-License-Identifier: Apache-2.0 */
/* descriptor_or_event.c - a fiber waits for bytes, or for a signal to stop. */
#include <sennit.h>
#include <sennit/io.h>

#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PATIENCE (60 * SENNIT_SECOND)

struct reader {
	int              from, stop; /* a pipe; an eventfd */
	sennit_semaphore taken;      /* one for each byte */
	int              bytes;
};

static int read_until_told(void *argument)
{
	struct reader *r = argument;
	char           byte;
	ptrdiff_t      n = 1;

	while (n > 0) {
		struct pollfd p[] = { { .fd = r->from, .events = POLLIN },
				      { .fd = r->stop, .events = POLLIN } };

		n = sennit_poll_several(p, 2, SENNIT_NEVER);
		if (n > 0 && p[1].revents)
			return 0;
		if (n > 0)
			n = sennit_read(r->from, &byte, 1, SENNIT_NEVER);
		if (n > 0) {
			r->bytes++;
			sennit_semaphore_give(&r->taken, 1);
		}
	}
	return n ? (int)n : -EPIPE;
}

static int run(struct reader *r, int to)
{
	const uint64_t one = 1;
	sennit_group   g;
	int            err, ended;

	sennit_group_init(&g, sennit_after(PATIENCE), 0);
	err = sennit_group_spawn(&g, read_until_told, r);
	if (!err && sennit_write(to, "abc", 3, SENNIT_NEVER) == 3)
		err = sennit_semaphore_take_until(&r->taken, 3,
						  sennit_after(PATIENCE));
	if (write(r->stop, &one, sizeof(one)) != sizeof(one))
		sennit_group_cancel(&g);
	ended = sennit_group_wait(&g);
	return ended ? ended : err;
}

static int program(void *unused)
{
	struct reader r = { .stop = eventfd(0, EFD_CLOEXEC) };
	int           ends[2], err;

	(void)unused;
	if (r.stop < 0 || pipe(ends))
		return 1;
	r.from = ends[0];
	err = run(&r, ends[1]);
	if (err)
		return 1;
	printf("%d bytes, then the signal to stop\n", r.bytes);
	return r.bytes == 3 ? 0 : 1;
}

int main(void)
{
	return sennit_main(program, NULL, NULL) ? 1 : 0;
}
