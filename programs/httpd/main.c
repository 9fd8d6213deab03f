/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - the options of sennit-httpd. */
#include "httpd/httpd.h"

#include "http/log.h"
#include "http/option.h"
#include "http/tls.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
	"NAME\n"
	"  sennit-httpd - serve the files of a folder with HTTP/1.1\n"
	"\n"
	"SYNOPSIS\n"
	"  sennit-httpd [OPTION...] FOLDER\n"
	"\n"
	"OPTIONS\n"
	"  -l, --listen HOST:PORT   where to listen; port 0: any, which is\n"
	"                           printed (127.0.0.1:8080)\n"
	"      --hand-over PATH     take over the listening socket from the\n"
	"                           process with this unix socket, if any,\n"
	"                           and hand it to the next one\n"
	"  -w, --workers N          worker threads (one per CPU)\n"
	"      --cert FILE          serve with TLS, with this chain of\n"
	"                           certificates, in PEM\n"
	"      --key FILE           its key\n"
	"      --access-log FILE    append a line for each request, in the\n"
	"                           Combined Log Format; -: standard output\n"
	"      --index NAME         the file to send for a folder\n"
	"                           (index.html)\n"
	"      --status PATH        the path of the status in JSON, such as "
	"for\n"
	"                           health checks; not protected (none)\n"
	"      --no-symlinks        follow no symbolic links; by default "
	"those\n"
	"                           within the folder are followed\n"
	"\n"
	"LIMITS\n"
	"      --max-connections N  further ones wait (10000)\n"
	"      --least-rate BYTES   per second that a client must transfer\n"
	"                           while others wait; 0: none (1000)\n"
	"      --max-head BYTES     first line and fields (8192)\n"
	"      --max-fields N       fields of a request, up to 256 (100)\n"
	"      --max-body BYTES     of a request (1048576)\n"
	"      --idle-timeout S     between requests (60)\n"
	"      --head-timeout S     from a request's first byte to the end of\n"
	"                           its head; also for TLS to begin (10)\n"
	"      --body-timeout S     for a request's body (30)\n"
	"      --send-timeout S     without progress in sending (30)\n"
	"      --total-timeout S    for an answer to be sent (3600)\n"
	"      --stop-timeout S     for requests in flight after SIGTERM (10)\n"
	"      --stop-grace S       for idle connections after SIGTERM (0.5)\n"
	"      --drain S            before that: continue with status 503, "
	"and\n"
	"                           close each connection after its answer\n"
	"                           (0)\n"
	"\n"
	"CACHE, of each worker\n"
	"      --cache BYTES        of small files; 0: none (16777216)\n"
	"      --cache-files N      files and descriptors (1024)\n"
	"      --cache-small BYTES  the largest small file (131072)\n"
	"      --cache-valid S      before a file is checked again (1)\n"
	"\n" HTTP_SERVICE_HELP "EXIT STATUS\n"
	"  0 stopped, 1 failed, 2 wrong usage.\n";

enum option_number {
	CERT = 256,
	KEY,
	LOG,
	INDEX,
	STATUS,
	NO_SYMLINKS,
	MAX_CONNECTIONS,
	LEAST_RATE,
	MAX_HEAD,
	MAX_FIELDS,
	MAX_BODY,
	IDLE_TIMEOUT,
	HEAD_TIMEOUT,
	BODY_TIMEOUT,
	SEND_TIMEOUT,
	TOTAL_TIMEOUT,
	STOP_TIMEOUT,
	STOP_GRACE,
	DRAIN,
	HAND_OVER,
	CACHE,
	CACHE_FILES,
	CACHE_SMALL,
	CACHE_VALID
};

static const struct option options[] = {
	{ "help", 0, NULL, 'h' },
	{ "version", 0, NULL, 'V' },
	{ "listen", 1, NULL, 'l' },
	{ "workers", 1, NULL, 'w' },
	{ "cert", 1, NULL, CERT },
	{ "key", 1, NULL, KEY },
	{ "access-log", 1, NULL, LOG },
	{ "index", 1, NULL, INDEX },
	{ "status", 1, NULL, STATUS },
	{ "no-symlinks", 0, NULL, NO_SYMLINKS },
	{ "max-connections", 1, NULL, MAX_CONNECTIONS },
	{ "least-rate", 1, NULL, LEAST_RATE },
	{ "max-head", 1, NULL, MAX_HEAD },
	{ "max-fields", 1, NULL, MAX_FIELDS },
	{ "max-body", 1, NULL, MAX_BODY },
	{ "idle-timeout", 1, NULL, IDLE_TIMEOUT },
	{ "head-timeout", 1, NULL, HEAD_TIMEOUT },
	{ "body-timeout", 1, NULL, BODY_TIMEOUT },
	{ "send-timeout", 1, NULL, SEND_TIMEOUT },
	{ "total-timeout", 1, NULL, TOTAL_TIMEOUT },
	{ "stop-timeout", 1, NULL, STOP_TIMEOUT },
	{ "stop-grace", 1, NULL, STOP_GRACE },
	{ "drain", 1, NULL, DRAIN },
	{ "hand-over", 1, NULL, HAND_OVER },
	{ "cache", 1, NULL, CACHE },
	{ "cache-files", 1, NULL, CACHE_FILES },
	{ "cache-small", 1, NULL, CACHE_SMALL },
	{ "cache-valid", 1, NULL, CACHE_VALID },
	{ NULL, 0, NULL, 0 }
};

static uint64_t number(uint64_t least, uint64_t most)
{
	return http_option_number("sennit-httpd", optarg, least, most);
}

static bool set_limit(struct httpd *d, int option)
{
	switch (option) {
	case MAX_CONNECTIONS:
		d->service.max_connections = (uint32_t)number(1, 1 << 20);
		return true;
	case LEAST_RATE:
		d->service.users.least_rate = number(0, 1 << 30);
		return true;
	case MAX_HEAD:
		d->limits.head = number(128, 65536);
		return true;
	case MAX_FIELDS:
		d->limits.fields = (uint32_t)number(1, HTTP_FIELDS_MAX);
		return true;
	case MAX_BODY:
		d->limits.body = number(1, UINT64_MAX >> 1);
		return true;
	case CACHE:
		d->files.keep = number(0, SIZE_MAX >> 1);
		return true;
	case CACHE_FILES:
		d->files.keep_files = (uint32_t)number(1, 1 << 20);
		return true;
	case CACHE_SMALL:
		d->files.small = number(0, 1 << 30);
		return true;
	default:
		return false;
	}
}

static bool set_time(struct httpd *d, int option)
{
	uint64_t *to = option == IDLE_TIMEOUT    ? &d->idle_patience
		       : option == HEAD_TIMEOUT  ? &d->head_patience
		       : option == BODY_TIMEOUT  ? &d->body_patience
		       : option == SEND_TIMEOUT  ? &d->send_patience
		       : option == TOTAL_TIMEOUT ? &d->total_patience
		       : option == STOP_TIMEOUT  ? &d->service.stop_patience
		       : option == STOP_GRACE    ? &d->service.idle_grace
		       : option == DRAIN         ? &d->service.drain
		       : option == CACHE_VALID   ? &d->files.valid
						 : NULL;

	if (to)
		*to = http_option_seconds("sennit-httpd", optarg);
	return to;
}

/* Returns false on wrong usage. */
static bool set(struct httpd *d, int option)
{
	switch (option) {
	case 'h':
		fputs(help, stdout);
		exit(0);
	case 'V':
		printf("sennit-httpd %d.%d.%d\n", SENNIT_VERSION_MAJOR,
		       SENNIT_VERSION_MINOR, SENNIT_VERSION_PATCH);
		exit(0);
	case 'l':
		d->service.address = optarg;
		return true;
	case 'w':
		d->service.workers = (uint32_t)number(1, SENNIT_WORKERS_MAX);
		return true;
	case HAND_OVER:
		d->service.hand_over = optarg;
		return true;
	case CERT:
		d->certificates = optarg;
		return true;
	case KEY:
		d->key = optarg;
		return true;
	case LOG:
		d->log = optarg;
		return true;
	case INDEX:
		d->files.index = optarg;
		return true;
	case STATUS:
		d->status_path = optarg;
		return true;
	case NO_SYMLINKS:
		return d->files.no_symlinks = true;
	default:
		return set_limit(d, option) || set_time(d, option);
	}
}

static struct httpd server = {
	.service = { .address = "127.0.0.1:8080",
		     .max_connections = 10000,
		     .descriptors = 1,
		     .idle_grace = SENNIT_SECOND / 2,
		     .stop_patience = 10 * SENNIT_SECOND,
		     .users = { .least_rate = 1000 },
		     .serve = httpd_serve,
		     .context = &server },
	.files = { .index = "index.html",
		   .keep = 16 << 20,
		   .keep_files = 1024,
		   .small = 131072,
		   .valid = SENNIT_SECOND },
	.limits = { .head = 8192, .fields = 100, .body = 1 << 20 },
	.idle_patience = 60 * SENNIT_SECOND,
	.head_patience = 10 * SENNIT_SECOND,
	.body_patience = 30 * SENNIT_SECOND,
	.send_patience = 30 * SENNIT_SECOND,
	.total_patience = 3600 * SENNIT_SECOND,
	.status_path = "",
};

static void say_started(void *httpd)
{
	const struct httpd *d = httpd;

	fprintf(stderr, "sennit-httpd: serving %s at %s://%s\n", d->files.root,
		d->tls ? "https" : "http", d->service.name);
}

static int prepare(struct httpd *d)
{
	int err = files_open(&d->files);

	if (err) {
		fprintf(stderr, "sennit-httpd: %s: %s\n", d->files.root,
			sennit_strerror(err));
		return 1;
	}
	err = d->log ? http_log_open(d->log) : 0;
	if (err) {
		fprintf(stderr, "sennit-httpd: %s: %s\n", d->log,
			sennit_strerror(err));
		return 1;
	}
	if (!d->certificates)
		return 0;
	d->tls = http_tls_open(d->certificates,
			       d->key ? d->key : d->certificates);
	d->service.stack_size = 256 * 1024; /* for OpenSSL */
	return d->tls ? 0 : 1;
}

int main(int argc, char **argv)
{
	int option, status;

	while ((option = getopt_long(argc, argv, "hVl:w:", options, NULL)) >= 0)
		if (!set(&server, option))
			return 2;
	if (optind + 1 != argc) {
		fprintf(stderr, "sennit-httpd: one folder is needed; see "
				"--help\n");
		return 2;
	}
	server.files.root = argv[optind];
	server.service.started = say_started;
	status = prepare(&server);
	if (!status)
		status = http_service_run(&server.service);
	if (!status && server.service.overran)
		status = 1;
	files_close();
	http_log_close();
	http_tls_close(server.tls);
	return status;
}
