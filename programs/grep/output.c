/* SPDX-License-Identifier: Apache-2.0 */
/* output.c - the buffer of standard output. */
#include "grep/output.h"
#include "file/transfer.h"

#include <sennit.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FULL (64 << 10)

int text_add(struct text *t, const char *bytes, size_t size)
{
	size_t room = t->room ? t->room : 4096;
	char  *more;

	while (room < t->size + size)
		room *= 2;
	if (room > t->room) {
		more = realloc(t->bytes, room);
		if (!more)
			return -ENOMEM;
		t->bytes = more;
		t->room = room;
	}
	memcpy(t->bytes + t->size, bytes, size);
	t->size += size;
	return 0;
}

void text_free(struct text *t)
{
	free(t->bytes);
}

void output_init(struct output *o)
{
	*o = (struct output){ .is_terminal = isatty(STDOUT_FILENO) };
	o->is_file = !fstat(STDOUT_FILENO, &o->st) && S_ISREG(o->st.st_mode);
}

static void *write_text(void *argument)
{
	struct text *t = argument;

	errno = -file_write(STDOUT_FILENO, t->bytes, t->size);
	return errno ? NULL : t;
}

/* A pipe or a terminal may block, so a helper thread writes. */
int output_flush(struct output *o)
{
	void *written;

	if (!o->text.size)
		return 0;
	written = o->is_file ? write_text(&o->text)
			     : sennit_blocking_call(write_text, &o->text);
	o->text.size = 0;
	return written ? 0 : -errno;
}

int output_add(struct output *o, const struct text *t)
{
	int error = t->size ? text_add(&o->text, t->bytes, t->size) : 0;

	if (!error && (o->is_terminal || o->text.size >= FULL))
		error = output_flush(o);
	return error;
}

bool output_is(const struct output *o, int fd)
{
	struct stat st;

	return o->is_file && !fstat(fd, &st) && st.st_dev == o->st.st_dev &&
	       st.st_ino == o->st.st_ino;
}
