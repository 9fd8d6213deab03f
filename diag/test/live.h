/* SPDX-License-Identifier: Apache-2.0 */
/* live.h - a live view in a temporary folder, and its clients. */
#ifndef SN_TEST_LIVE_H
#define SN_TEST_LIVE_H

#include "sennit/live.h"

#include "testing/with_workers.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* The longest snapshot of these tests. */
#define LINE 65536

struct place {
	sennit_scheduler *s;
	sennit_live      *live;
	char              folder[32];
	char              path[64];
};

static inline int open_place(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	if (!p)
		return -1;
	atomic_store(&broken_claims, 0);
	alarm(300);
	strcpy(p->folder, "/tmp/sennit-live-XXXXXX");
	if (!mkdtemp(p->folder))
		return -1;
	snprintf(p->path, sizeof(p->path), "%s/socket", p->folder);
	p->s = start_scheduler(2);
	*state = p;
	return 0;
}

static inline int close_place(void **state)
{
	struct place *p = *state;

	sennit_live_stop(p->live);
	end_scheduler(p->s);
	unlink(p->path);
	rmdir(p->folder);
	free(p);
	alarm(0);
	return atomic_load(&broken_claims) ? -1 : 0;
}

static inline void start_live(struct place *p)
{
	assert_int_equal(sennit_live_start(&p->live, p->s, p->path), 0);
}

/* --- clients ------------------------------------------------------------- */

static inline int try_to_connect(const struct place *p)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int                fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(to.sun_path, p->path);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to))) {
		close(fd);
		return -1;
	}
	return fd;
}

static inline int must_connect(const struct place *p)
{
	int fd = try_to_connect(p);

	assert_true(fd >= 0);
	return fd;
}

static inline void ask(int fd, const char *request)
{
	size_t size = strlen(request);

	assert_int_equal(send(fd, request, size, MSG_NOSIGNAL), size);
}

/* Read one line without its newline; "" at the end. Reads byte by byte, so that
 * nothing of the next line is lost. */
static inline char *hear(int fd, char line[LINE])
{
	size_t used = 0;

	while (used < LINE - 1 && read(fd, line + used, 1) == 1 &&
	       line[used] != '\n')
		used++;
	line[used] = '\0';
	return line;
}

static inline void hear_hello(int fd)
{
	char line[LINE];

	assert_non_null(strstr(hear(fd, line),
			       "{\"sennit_live\":1,\"type\":\"hello\""));
}

/* Return the snapshot for a new client. */
static inline char *snapshot(const struct place *p, char line[LINE])
{
	int fd = must_connect(p);

	hear_hello(fd);
	ask(fd, "get\n");
	hear(fd, line);
	close(fd);
	assert_non_null(strstr(line, "\"type\":\"snapshot\""));
	assert_int_equal(line[strlen(line) - 1], '}');
	return line;
}

#define TEST_PLACED(f)                   \
	TEST_ENTRIES(f, struct place *p, \
		     { #f, f##_case, open_place, close_place, NULL })

#endif
