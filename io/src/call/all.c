/* SPDX-License-Identifier: Apache-2.0 */
/* all.c - calls that repeat a partial transfer until everything is transferred,
 * or store in *done how much was. */
#include "engine/perform.h"
#include "sennit/io.h"
#include "sennit/net.h"

#include <errno.h>

int sn_io_all(const char *call, sennit_reader_fn *some, void *context, void *at,
	      size_t size, size_t *done, sennit_time deadline)
{
	size_t none = 0;

	if (!done)
		done = &none;
	if (*done > size)
		sn_io_misuse(call, "*done is more than size");
	while (*done < size) {
		ptrdiff_t n = some(context, (char *)at + *done, size - *done,
				   deadline);

		if (n <= 0)
			return n ? (int)n : -ENODATA;
		*done += (size_t)n;
	}
	return 0;
}

struct target {
	int fd, flags;
};

static ptrdiff_t read_some_of_file(void *target, void *to, size_t size,
				   sennit_time deadline)
{
	return sennit_read(((struct target *)target)->fd, to, size, deadline);
}

int sennit_read_exactly(int fd, void *to, size_t size, size_t *done,
			sennit_time deadline)
{
	struct target t = { fd, 0 };

	return sn_io_all("sennit_read_exactly", read_some_of_file, &t, to, size,
			 done, deadline);
}

static ptrdiff_t write_some_of_file(void *target, void *from, size_t size,
				    sennit_time deadline)
{
	return sennit_write(((struct target *)target)->fd, from, size,
			    deadline);
}

int sennit_write_all(int fd, const void *from, size_t size, size_t *done,
		     sennit_time deadline)
{
	struct target t = { fd, 0 };

	return sn_io_all("sennit_write_all", write_some_of_file, &t,
			 (void *)(uintptr_t)from, size, done, deadline);
}

static ptrdiff_t send_some_bytes(void *target, void *from, size_t size,
				 sennit_time deadline)
{
	const struct target *t = target;

	return sennit_send(t->fd, from, size, t->flags, deadline);
}

int sennit_send_all(int fd, const void *from, size_t size, int flags,
		    size_t *done, sennit_time deadline)
{
	struct target t = { fd, flags };

	return sn_io_all("sennit_send_all", send_some_bytes, &t,
			 (void *)(uintptr_t)from, size, done, deadline);
}
