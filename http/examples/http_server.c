/* SPDX-License-Identifier: Apache-2.0 */
/* http_server.c - says hello, until SIGTERM: http_server [ADDRESS]. */
#include <sennit.h>
#include <sennit/address.h>
#include <sennit/http.h>
#include <sennit/serve.h>
#include <signal.h>

static sigset_t     ends;
static sennit_event stop = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

static int answer(sennit_http *http, const sennit_http_head *request, void *x)
{
	if (!sennit_http_text_is(request->target, "/"))
		return sennit_http_answer(http, 404, x, 0, SENNIT_NEVER);
	sennit_http_add_field(http, "Content-Type", "text/plain");
	return sennit_http_answer(http, 200, "hello\n", 6, SENNIT_NEVER);
}
static void serve(void *x, int fd)
{
	sennit_http_serve(fd, SENNIT_HTTP_CONFIG(.stop = &stop), answer, x);
}
static void end_idle(void *x)
{
	sennit_event_set(x ? x : &stop);
}
static int program(void *at)
{
	return sennit_serve(sennit_listen_at(at, 0, SENNIT_NEVER), serve, NULL,
			    SENNIT_SERVE_OPTIONS(.signals = &ends,
						 .stopping = end_idle,
						 .patience = SENNIT_SECOND));
}
int main(int argc, char **argv)
{
	int rc;
	sigaddset(&ends, SIGTERM); /* of an empty set */
	sigprocmask(SIG_BLOCK, &ends, NULL);
	return sennit_run(program, argc > 1 ? argv[1] : ":80", NULL, &rc) || rc;
}
