/* SPDX-License-Identifier: Apache-2.0 */
/* requests.c - the requests of a connection, each by the program's function. */
#include "connection.h"

#include "sennit/io.h"

#include <errno.h>

/* Answer for a handler that has not. */
static int answer_for(sennit_http *h, sennit_http_handler *handler,
		      void *argument, const sennit_http_head *request)
{
	int err = handler(h, request, argument);

	if (h->requested && err != -ECANCELED) {
		sn_http_answer_error(h, 500, sennit_after(SENNIT_SECOND));
		h->requested = false;
		h->keep = false;
		h->linger = true;
	}
	/* A body that was begun and not ended is cut off. */
	if (err >= 0 && h->sending != NOTHING)
		err = -EPROTO;
	if (err < 0 && h->keep) /* the peer does not expect the end */
		h->linger = true;
	return err < 0 ? err : 0;
}

static int serve_all(sennit_http *h, sennit_http_handler *handler,
		     void *argument)
{
	const sennit_http_head *request;
	int                     err;

	do {
		err = sennit_http_next(h, &request, SENNIT_NEVER);
		if (err <= 0)
			return err;
		err = answer_for(h, handler, argument, request);
	} while (!err);
	return err;
}

int sennit_http_serve(int fd, const sennit_http_config *config,
		      sennit_http_handler *handler, void *argument)
{
	sennit_http *h;
	int          err = sn_http_make(&h, false, config);

	if (err) {
		sennit_close(fd);
		return err;
	}
	err = sn_http_accept_socket(h, fd, config ? config->tls : NULL,
				    sennit_after(h->wait));
	if (!err)
		err = serve_all(h, handler, argument);
	if (err != -ECANCELED)
		sn_http_socket_finish(h);
	sennit_http_destroy(h);
	return err;
}
