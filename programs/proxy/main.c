/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the options of sennit-proxy. */
#include "proxy/proxy.h"

#include "http/log.h"
#include "http/option.h"
#include "http/tls.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
	"NAME\n"
	"  sennit-proxy - pass HTTP/1.1 or TCP on to one of several servers\n"
	"\n"
	"SYNOPSIS\n"
	"  sennit-proxy [OPTION...] HOST:PORT...\n"
	"\n"
	"OPTIONS\n"
	"  -l, --listen HOST:PORT   where to listen; port 0: any, which is\n"
	"                           printed (127.0.0.1:8080)\n"
	"      --hand-over PATH     take over the listening socket from the\n"
	"                           process with this unix socket, if any,\n"
	"                           and hand it to the next one\n"
	"  -w, --workers N          worker threads (one per CPU)\n"
	"      --status PATH        the path of the status in JSON, such as "
	"for\n"
	"                           health checks; not with --tcp (none)\n"
	"      --tcp                pass bytes on, not requests\n"
	"      --least              choose the server with the fewest\n"
	"                           connections in use; default: in turn\n"
	"      --cert FILE          serve clients with TLS, this chain of\n"
	"                           certificates, in PEM\n"
	"      --key FILE           its key\n"
	"      --access-log FILE    append a line for each request, in the\n"
	"                           Combined Log Format; -: standard output\n"
	"\n"
	"SERVERS\n"
	"      --max-upstream N     connections to each server (256)\n"
	"      --max-kept N         of those, kept while idle (64)\n"
	"      --keep-for S         how long they are kept (30)\n"
	"      --failures N         in a row, until a server is down (3)\n"
	"      --down-for S         before it is tried again (5)\n"
	"      --connect-timeout S  also for one of the connections (5)\n"
	"      --answer-timeout S   for an answer's head, and for each part "
	"of\n"
	"                           its body (60)\n"
	"\n"
	"LIMITS\n"
	"      --max-connections N  further ones wait (10000)\n"
	"      --client-share N     connections to servers that one client\n"
	"                           address (IPv6: a /64) may hold; 0: all,\n"
	"                           for use behind a proxy (3/4 of all)\n"
	"      --least-rate BYTES   per second that a client must send of a\n"
	"                           body or receive of an answer, beyond the\n"
	"                           timeout; 0: none (1000)\n"
	"      --buffer BYTES       of a body that are received before a\n"
	"                           server is asked, and of an answer before\n"
	"                           it is sent (65536)\n"
	"      --max-buffers BYTES  of all of them; beyond: not buffered\n"
	"                           (67108864)\n"
	"      --underscores        pass on fields with '_' in their names, "
	"which\n"
	"                           some servers read as '-' (dropped)\n"
	"      --max-head BYTES     first line and fields (8192)\n"
	"      --max-body BYTES     of a request (1073741824)\n"
	"      --idle-timeout S     between requests; with --tcp, without a\n"
	"                           byte (60)\n"
	"      --head-timeout S     for a request's head (10)\n"
	"      --body-timeout S     for each part of a request's body (30)\n"
	"      --send-timeout S     without progress in sending (30)\n"
	"      --stop-timeout S     for requests in flight after SIGTERM (10)\n"
	"      --stop-grace S       for idle connections after SIGTERM (0.5)\n"
	"      --drain S            before that: continue with status 503, "
	"and\n"
	"                           close each connection after its answer\n"
	"                           (0)\n"
	"\n"
	"ANSWERS OF ITS OWN\n"
	"  502 no server could be connected, or its answer was invalid; 504\n"
	"  it took too long; 4xx as sennit-httpd rejects requests.\n"
	"\n" HTTP_SERVICE_HELP "EXIT STATUS\n"
	"  0 stopped, 1 failed or connections cut off, 2 wrong usage.\n";

enum option_number {
	STATUS = 256,
	TCP,
	LEAST,
	CERT,
	KEY,
	LOG,
	MAX_UPSTREAM,
	MAX_KEPT,
	KEEP_FOR,
	FAILURES,
	DOWN_FOR,
	CONNECT_TIMEOUT,
	ANSWER_TIMEOUT,
	MAX_CONNECTIONS,
	CLIENT_SHARE,
	LEAST_RATE,
	BUFFER,
	MAX_BUFFERS,
	UNDERSCORES,
	MAX_HEAD,
	MAX_BODY,
	IDLE_TIMEOUT,
	HEAD_TIMEOUT,
	BODY_TIMEOUT,
	SEND_TIMEOUT,
	STOP_TIMEOUT,
	STOP_GRACE,
	DRAIN,
	HAND_OVER
};

static const struct option options[] = {
	{ "help", 0, NULL, 'h' },
	{ "version", 0, NULL, 'V' },
	{ "listen", 1, NULL, 'l' },
	{ "workers", 1, NULL, 'w' },
	{ "status", 1, NULL, STATUS },
	{ "tcp", 0, NULL, TCP },
	{ "least", 0, NULL, LEAST },
	{ "cert", 1, NULL, CERT },
	{ "key", 1, NULL, KEY },
	{ "access-log", 1, NULL, LOG },
	{ "max-upstream", 1, NULL, MAX_UPSTREAM },
	{ "max-kept", 1, NULL, MAX_KEPT },
	{ "keep-for", 1, NULL, KEEP_FOR },
	{ "failures", 1, NULL, FAILURES },
	{ "down-for", 1, NULL, DOWN_FOR },
	{ "connect-timeout", 1, NULL, CONNECT_TIMEOUT },
	{ "answer-timeout", 1, NULL, ANSWER_TIMEOUT },
	{ "max-connections", 1, NULL, MAX_CONNECTIONS },
	{ "client-share", 1, NULL, CLIENT_SHARE },
	{ "least-rate", 1, NULL, LEAST_RATE },
	{ "buffer", 1, NULL, BUFFER },
	{ "max-buffers", 1, NULL, MAX_BUFFERS },
	{ "underscores", 0, NULL, UNDERSCORES },
	{ "max-head", 1, NULL, MAX_HEAD },
	{ "max-body", 1, NULL, MAX_BODY },
	{ "idle-timeout", 1, NULL, IDLE_TIMEOUT },
	{ "head-timeout", 1, NULL, HEAD_TIMEOUT },
	{ "body-timeout", 1, NULL, BODY_TIMEOUT },
	{ "send-timeout", 1, NULL, SEND_TIMEOUT },
	{ "stop-timeout", 1, NULL, STOP_TIMEOUT },
	{ "stop-grace", 1, NULL, STOP_GRACE },
	{ "drain", 1, NULL, DRAIN },
	{ "hand-over", 1, NULL, HAND_OVER },
	{ NULL, 0, NULL, 0 }
};

static uint64_t number(uint64_t least, uint64_t most)
{
	return http_option_number("sennit-proxy", optarg, least, most);
}

static bool set_limit(struct gateway *p, int option)
{
	switch (option) {
	case MAX_UPSTREAM:
		p->upstreams.max_connections = (uint32_t)number(1, 1 << 20);
		return true;
	case MAX_KEPT:
		p->upstreams.max_kept = (uint32_t)number(0, 1 << 20);
		return true;
	case FAILURES:
		p->upstreams.failures = (uint32_t)number(1, 1 << 20);
		return true;
	case MAX_CONNECTIONS:
		p->service.max_connections = (uint32_t)number(1, 1 << 20);
		return true;
	case CLIENT_SHARE:
		p->service.users.share = (uint32_t)number(0, 1 << 20);
		return p->has_share = true;
	case LEAST_RATE:
		p->service.users.least_rate = number(0, 1 << 30);
		return true;
	case BUFFER:
		p->buffer = number(0, 1 << 30);
		return true;
	case MAX_BUFFERS:
		p->buffers = number(0, UINT64_MAX >> 1);
		return true;
	case MAX_HEAD:
		p->limits.head = number(128, 16384);
		return true;
	case MAX_BODY:
		p->limits.body = number(1, UINT64_MAX >> 1);
		return true;
	default:
		return false;
	}
}

static uint64_t *time_of(struct gateway *p, int option)
{
	switch (option) {
	case KEEP_FOR:
		return &p->upstreams.keep_for;
	case DOWN_FOR:
		return &p->upstreams.down_for;
	case CONNECT_TIMEOUT:
		return &p->upstreams.connect_patience;
	case ANSWER_TIMEOUT:
		return &p->answer_patience;
	case IDLE_TIMEOUT:
		return &p->idle_patience;
	case HEAD_TIMEOUT:
		return &p->head_patience;
	case BODY_TIMEOUT:
		return &p->body_patience;
	case SEND_TIMEOUT:
		return &p->send_patience;
	case STOP_TIMEOUT:
		return &p->service.stop_patience;
	case STOP_GRACE:
		return &p->service.idle_grace;
	case DRAIN:
		return &p->service.drain;
	default:
		return NULL;
	}
}

static bool set_time(struct gateway *p, int option)
{
	uint64_t *to = time_of(p, option);

	if (to)
		*to = http_option_seconds("sennit-proxy", optarg);
	return to;
}

/* Returns false on wrong usage. */
static bool set(struct gateway *p, int option)
{
	switch (option) {
	case 'h':
		fputs(help, stdout);
		exit(0);
	case 'V':
		printf("sennit-proxy %d.%d.%d\n", SENNIT_VERSION_MAJOR,
		       SENNIT_VERSION_MINOR, SENNIT_VERSION_PATCH);
		exit(0);
	case 'l':
		p->service.address = optarg;
		return true;
	case 'w':
		p->service.workers = (uint32_t)number(1, SENNIT_WORKERS_MAX);
		return true;
	case STATUS:
		p->status_path = optarg;
		return true;
	case TCP:
		return p->tcp = true;
	case UNDERSCORES:
		return p->underscores = true;
	case LEAST:
		return p->upstreams.least = true;
	case HAND_OVER:
		p->service.hand_over = optarg;
		return true;
	case CERT:
		p->certificates = optarg;
		return true;
	case KEY:
		p->key = optarg;
		return true;
	case LOG:
		p->log = optarg;
		return true;
	default:
		return set_limit(p, option) || set_time(p, option);
	}
}

static struct gateway proxy = {
	.service = { .address = "127.0.0.1:8080",
		     .max_connections = 10000,
		     .descriptors = 2,
		     .idle_grace = SENNIT_SECOND / 2,
		     .stop_patience = 10 * SENNIT_SECOND,
		     .users = { .least_rate = 1000 },
		     .context = &proxy },
	.upstreams = { .max_connections = 256,
		       .max_kept = 64,
		       .failures = 3,
		       .down_for = 5 * SENNIT_SECOND,
		       .keep_for = 30 * SENNIT_SECOND,
		       .connect_patience = 5 * SENNIT_SECOND },
	.limits = { .head = 8192, .fields = 100, .body = 1 << 30 },
	.answer_limits = { .head = 16384, .fields = HTTP_FIELDS_MAX },
	.idle_patience = 60 * SENNIT_SECOND,
	.head_patience = 10 * SENNIT_SECOND,
	.body_patience = 30 * SENNIT_SECOND,
	.answer_patience = 60 * SENNIT_SECOND,
	.send_patience = 30 * SENNIT_SECOND,
	.buffer = 65536,
	.buffers = 64 << 20,
};

static void say_started(void *context)
{
	const struct gateway *p = context;

	fprintf(stderr, "sennit-proxy: %u servers at %s://%s\n",
		p->upstreams.count,
		p->tcp   ? "tcp"
		: p->tls ? "https"
			 : "http",
		p->service.name);
}

/* Reserve at least one connection for other addresses. */
static void set_share(struct gateway *p)
{
	const uint64_t all = (uint64_t)p->upstreams.max_connections *
			     p->upstreams.count;

	if (!p->has_share && all > 1)
		p->service.users.share = (uint32_t)(all - (all + 3) / 4);
}

static int prepare(struct gateway *p, char **servers)
{
	int err = p->log ? http_log_open(p->log) : 0;

	if (err) {
		fprintf(stderr, "sennit-proxy: %s: %s\n", p->log,
			sennit_strerror(err));
		return 1;
	}
	for (; *servers; servers++)
		if (upstreams_add(&p->upstreams, *servers))
			return 1;
	set_share(p);
	p->service.started = say_started;
	p->service.serve = p->tcp ? proxy_serve_tcp : proxy_serve;
	if (!p->certificates)
		return 0;
	p->tls = http_tls_open(p->certificates,
			       p->key ? p->key : p->certificates);
	p->service.stack_size = 256 * 1024; /* for OpenSSL */
	return p->tls ? 0 : 1;
}

int main(int argc, char **argv)
{
	int option, status;

	while ((option = getopt_long(argc, argv, "hVl:w:", options, NULL)) >= 0)
		if (!set(&proxy, option))
			return 2;
	if (optind == argc ||
	    (proxy.tcp && (proxy.certificates || proxy.status_path))) {
		fprintf(stderr, "sennit-proxy: a server is needed, and --tcp "
				"takes neither --cert nor --status; see "
				"--help\n");
		return 2;
	}
	status = prepare(&proxy, argv + optind);
	if (!status)
		status = http_service_run(&proxy.service);
	if (!status && proxy.service.overran)
		status = 1;
	upstreams_close(&proxy.upstreams);
	http_log_close();
	http_tls_close(proxy.tls);
	return status;
}
