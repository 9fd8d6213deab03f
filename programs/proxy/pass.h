/* SPDX-License-Identifier: Apache-2.0 */
/* pass.h - a body, passed on in parts as they come. Who does not read stops who
 * writes: a part is sent before the next is received. */
#ifndef APPS_PROXY_PASS_H
#define APPS_PROXY_PASS_H

#include "proxy/proxy.h"

enum passed { PASSED = 0, SOURCE_FAILED, SINK_FAILED };

struct passing {
	struct http_reader *from;
	struct http_body   *body;
	size_t              keep; /* see http_reader_body */
	struct http_stream *to;
	bool                chunked; /* as it is sent */
	uint64_t            receive_patience, send_patience;
	struct head_text   *first; /* sent in front, unless NULL */
	uint64_t            bytes; /* that were passed */
	int                 err;   /* how it failed */
};

/* Pass on all of the body. p->err says how it failed. */
enum passed proxy_pass_body(struct passing *p);

#endif
