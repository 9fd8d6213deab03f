/* SPDX-License-Identifier: Apache-2.0 */
#include "io/several.h"

#include "base/list.h"

void sn_io_several_begin(struct io_backend *b, struct io_several *s)
{
	s->set = -1;
	s->begun = sn_io_closing_now();
	for (size_t i = 0; i < s->count; i++)
		sn_io_closing_begin(&b->closing, s->fds[i].fd);
	SN_LIST_PUSH(&b->several, s);
}

int sn_io_several_end(struct io_backend *b, struct io_several *s)
{
	SN_LIST_REMOVE(s);
	for (size_t i = 0; i < s->count; i++)
		sn_io_closing_end(&b->closing, s->fds[i].fd);
	return sn_io_closing_end_of_any(s->fds, s->count, s->begun);
}

static bool has(const struct io_several *s, int fd)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->fds[i].fd == fd)
			return true;
	return false;
}

void sn_io_several_forget(struct io_backend *b, int fd)
{
	for (struct io_several *s = b->several; fd >= 0 && s; s = s->next)
		if (has(s, fd))
			b->ops->forget(b, s->set);
}

void sn_io_several_end_closed(struct io_backend *b)
{
	for (struct io_several *s = b->several; s; s = s->next)
		if (sn_io_closing_end_of_any(s->fds, s->count, s->begun))
			b->ops->forget(b, s->set);
}
