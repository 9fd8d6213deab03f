/* SPDX-License-Identifier: Apache-2.0 */
/* lines.c - a server that answers each line, and a client that has a deadline
 * for each answer and asks again: no byte is lost. */
#include <sennit.h>
#include <sennit/address.h>
#include <sennit/io.h>
#include <sennit/listen.h>
#include <sennit/net.h>
#include <sennit/reader.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Answers with what it has got. "slow" is answered in two parts, the second
 * when another line has come. */
static void serve(void *unused, int fd)
{
	char          room[256], *line;
	sennit_reader r;
	int           err = 0;

	(void)unused;
	sennit_reader_init(&r, fd, room, sizeof(room));
	while (!err && sennit_reader_read_line(&r, &line, SENNIT_NEVER) >= 0) {
		const char *answer = !strcmp(line, "slow") ? "half an "
							   : "answer\n";

		err = sennit_send_all(fd, answer, strlen(answer), 0, NULL,
				      SENNIT_NEVER);
	}
	sennit_reader_destroy(&r);
	sennit_close(fd);
}

static int ask(int fd, const char *question, sennit_reader *r, sennit_time by)
{
	char     *line;
	int       err = sennit_send_all(fd, question, strlen(question), 0, NULL,
					SENNIT_NEVER);
	ptrdiff_t n = err ? err : sennit_reader_read_line(r, &line, by);

	printf("%.*s -> %s\n", (int)strcspn(question, "\r\n"), question,
	       n < 0 ? sennit_strerror((int)n) : line);
	return n < 0 ? (int)n : 0;
}

static int talk(const char *address)
{
	int           fd = sennit_connect_to(address, SENNIT_NEVER), err;
	char          room[256];
	sennit_reader r;

	if (fd < 0)
		return fd;
	sennit_reader_init(&r, fd, room, sizeof(room));
	err = ask(fd, "hello\n", &r, SENNIT_NEVER);
	if (!err)
		err = ask(fd, "slow\n", &r, sennit_after(SENNIT_MILLISECOND));
	if (err == -ETIMEDOUT)
		err = ask(fd, "and now?\r\n", &r, SENNIT_NEVER);
	sennit_reader_destroy(&r);
	sennit_close(fd);
	return err;
}

static int program(void *unused)
{
	char         address[SENNIT_ADDRESS_TEXT];
	sennit_group acceptors, connections;
	int          err, fd = sennit_listen_at("127.0.0.1:0", 0, SENNIT_NEVER);

	(void)unused;
	if (fd < 0 || sennit_local_address(fd, address, sizeof(address)))
		return -1;
	sennit_group_init(&acceptors, SENNIT_NEVER, 0);
	sennit_group_init(&connections, SENNIT_NEVER, 0);
	err = sennit_listen_each(fd, &acceptors, &connections, serve, NULL);
	if (!err)
		err = talk(address);
	sennit_group_cancel(&acceptors);
	sennit_group_wait(&acceptors);
	sennit_group_wait(&connections);
	sennit_close(fd);
	return err;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
