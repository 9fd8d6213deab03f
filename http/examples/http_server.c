/* SPDX-License-Identifier: Apache-2.0 */
/* http_server.c - a server that says hello: http_server [ADDRESS]. */
#include <sennit.h>
#include <sennit/address.h>
#include <sennit/http.h>
#include <sennit/listen.h>

static int answer(sennit_http *http, const sennit_http_head *request,
		  void *unused)
{
	(void)unused;
	if (!sennit_http_text_is(request->target, "/"))
		return sennit_http_answer(http, 404, NULL, 0, SENNIT_NEVER);
	sennit_http_add_field(http, "Content-Type", "text/plain");
	return sennit_http_answer(http, 200, "hello\n", 6, SENNIT_NEVER);
}

static void serve(void *unused, int fd)
{
	(void)sennit_http_serve(fd, NULL, answer, unused);
}

static int program(void *address)
{
	int fd = sennit_listen_at(address, SENNIT_LISTEN_SHARED, SENNIT_NEVER);
	sennit_group group;
	int          err;

	sennit_group_init(&group, SENNIT_NEVER, 0);
	err = sennit_listen_each(fd, &group, &group, serve, NULL);
	return sennit_group_wait(&group) || err;
}

int main(int argc, char **argv)
{
	int result;

	return sennit_run(program, argc > 1 ? argv[1] : ":80", NULL, &result) ||
	       result;
}
