/* SPDX-License-Identifier: Apache-2.0 */
/* store.c - a protocol of lines and counted bytes, by a buffered reader.
 *
 *	put SIZE\n and SIZE bytes     stores the bytes
 *	get\n                         sends SIZE\n and the bytes
 */
#include "../calls/calls.h"

#include <sennit/io.h>
#include <sennit/net.h>
#include <sennit/reader.h>
#include <sennit/stream.h>
#include <string.h>
#include <sys/socket.h>

/* --- the server --------------------------------------------------------- */

static int answer(int fd, const char *value, size_t size)
{
	char head[32];
	int  n = snprintf(head, sizeof(head), "%zu\n", size);
	int  err = sennit_send_all(fd, head, (size_t)n, MSG_MORE, NULL, soon());

	return err ? err : sennit_send_all(fd, value, size, 0, NULL, soon());
}

/* One request. Returns -ENODATA when no more come. */
static int serve_one(sennit_reader *r, int fd, char *value, size_t *size)
{
	char     *line;
	ptrdiff_t n = sennit_reader_read_line(r, &line, soon());

	if (n < 0)
		return (int)n;
	if (!strcmp(line, "get"))
		return answer(fd, value, *size);
	CHECK(sscanf(line, "put %zu", size) == 1 && *size <= 64);
	return sennit_reader_read_exactly(r, value, *size, NULL, soon());
}

static int serve(void *argument)
{
	int            fd = *(int *)argument;
	size_t         size = 0;
	char           value[64];
	sennit_stream *stream;
	sennit_reader  r;

	CHECK(sennit_stream_open(&stream, fd) == 0);
	sennit_reader_init_stream(&r, stream, NULL, 1024);
	while (serve_one(&r, fd, value, &size) == 0)
		;
	sennit_reader_destroy(&r);
	sennit_stream_close(stream);
	return sennit_close(fd);
}

/* --- the client --------------------------------------------------------- */

static void talk(int fd)
{
	static const char request[] = "put 11\nhello world"
				      "get\r\n";
	char              room[64], value[11];
	void             *piece;
	sennit_reader     r;

	CHECK(sennit_write_all(fd, request, strlen(request), NULL, soon()) ==
	      0);
	CHECK(sennit_read_exactly(fd, room, 3, NULL, soon()) == 0);
	CHECK(memcmp(room, "11\n", 3) == 0);
	sennit_reader_init(&r, fd, room, sizeof(room));
	CHECK(sennit_reader_peek(&r, 5, &piece, soon()) >= 5);
	CHECK(memcmp(piece, "hello", 5) == 0);
	sennit_reader_skip(&r, 5);
	CHECK(sennit_reader_read(&r, value, 1, soon()) == 1);
	CHECK(sennit_reader_read_exactly(&r, value, 5, NULL, soon()) == 0);
	CHECK(memcmp(value, "world", 5) == 0);
	sennit_reader_destroy(&r);
}

/* --- a source of its own ------------------------------------------------- */

/* The letters a to z, three at a time. */
static ptrdiff_t read_letters(void *next, void *to, size_t size,
			      sennit_time deadline)
{
	char  *letter = next;
	size_t n = 0;

	(void)deadline;
	while (n < 3 && n < size && *letter <= 'z')
		((char *)to)[n++] = (*letter)++;
	return (ptrdiff_t)n;
}

static void spell(void)
{
	char          next = 'a', room[16];
	void         *bytes;
	sennit_reader r;

	sennit_reader_init_source(&r, read_letters, &next, room, sizeof(room));
	CHECK(sennit_reader_read_delimited(&r, 'j', &bytes, SENNIT_NEVER) ==
	      10);
	CHECK(memcmp(bytes, "abcdefghij", 10) == 0);
	CHECK(sennit_reader_read_delimited(&r, '!', &bytes, SENNIT_NEVER) ==
	      -EMSGSIZE);
	sennit_reader_destroy(&r);
}

static void show(sennit_scheduler *s)
{
	sennit_group g;
	int          fds[2];

	(void)s;
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	CHECK(sennit_group_spawn(&g, serve, &fds[0]) == 0);
	talk(fds[1]);
	(void)sennit_close(fds[1]);
	CHECK(sennit_group_wait(&g) == 0);
	spell();
}

int main(void)
{
	return run(show);
}
