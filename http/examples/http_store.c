/* SPDX-License-Identifier: Apache-2.0 */
/* http_store.c - keeps texts by their names: http_store [ADDRESS].
 *
 *	PUT /name      keeps the body
 *	GET /name      returns it
 *	DELETE /name   forgets it
 *	GET /          lists the names, in chunks
 *
 *	curl -T file http://localhost:8080/name
 *
 * Without an address it is a server and a client of it, and ends.
 */
#include <sennit.h>
#include <sennit/address.h>
#include <sennit/http.h>
#include <sennit/io.h>
#include <sennit/listen.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE (30 * SENNIT_SECOND)
#define KEPT_MAX 100

struct item {
	char  *name, *value; /* NULL: none */
	size_t size;
	time_t changed;
};

struct store {
	sennit_mutex lock; /* not held in waits for the network */
	struct item  items[KEPT_MAX];
};

/* --- the store ------------------------------------------------------------ */

static char *copy_of(const char *bytes, size_t size)
{
	char *copy = malloc(size + 1);

	if (copy) {
		memcpy(copy, bytes, size);
		copy[size] = '\0';
	}
	return copy;
}

/* The item with this name, or a free one; NULL: there is none. */
static struct item *find(struct store *s, const char *name)
{
	struct item *item = NULL;

	for (int i = 0; i < KEPT_MAX; i++) {
		if (!s->items[i].name)
			item = item ? item : &s->items[i];
		else if (!strcmp(s->items[i].name, name))
			return &s->items[i];
	}
	return item;
}

static void forget(struct item *item)
{
	free(item->name);
	free(item->value);
	*item = (struct item){ .size = 0 };
}

/* Keep the value, which belongs to the store from now on. Returns the status of
 * the answer. */
static uint32_t keep(struct store *s, const char *name, char *value,
		     size_t size)
{
	char        *copy = copy_of(name, strlen(name));
	struct item *item;
	uint32_t     status = 507;

	sennit_mutex_lock(&s->lock);
	item = copy ? find(s, name) : NULL;
	if (item) {
		status = item->name ? 200 : 201;
		forget(item);
		*item = (struct item){ copy, value, size, time(NULL) };
	}
	sennit_mutex_unlock(&s->lock);
	if (!item) {
		free(copy);
		free(value);
	}
	return status;
}

/* --- answers -------------------------------------------------------------- */

static int answer_status(sennit_http *http, uint32_t status)
{
	char text[80];
	int  size = snprintf(text, sizeof(text), "%s\n",
			     sennit_http_reason(status));

	return sennit_http_answer(http, status, text, (uint64_t)size,
				  sennit_after(PATIENCE));
}

/* The limit of the configuration bounds the size of a body. */
static int put(struct store *s, sennit_http *http, const char *name)
{
	sennit_time      deadline = sennit_after(PATIENCE);
	sennit_http_text part;
	char            *value = copy_of("", 0), *more;
	size_t           size = 0;
	ptrdiff_t        n;

	while ((n = sennit_http_read(http, &part, deadline)) > 0) {
		more = realloc(value, size + part.size);
		if (!more)
			break;
		value = more;
		memcpy(value + size, part.at, part.size);
		size += part.size;
	}
	if (n) {
		free(value);
		return n < 0 ? (int)n : -ENOMEM;
	}
	return answer_status(http, keep(s, name, value, size));
}

static int get(struct store *s, sennit_http *http,
	       const sennit_http_head *request, const char *name)
{
	const sennit_http_text since = sennit_http_find(request,
							"If-Modified-Since");
	struct item           *item;
	char                   date[SENNIT_HTTP_DATE], *copy = NULL;
	size_t                 size = 0;
	time_t                 changed = 0, seen;
	int                    err;

	sennit_mutex_lock(&s->lock);
	item = find(s, name);
	if (item && item->name) {
		size = item->size;
		changed = item->changed;
		copy = copy_of(item->value, size);
	}
	sennit_mutex_unlock(&s->lock);
	if (!copy)
		return answer_status(http, 404);
	sennit_http_write_date(date, changed);
	sennit_http_add_field(http, "Last-Modified", date);
	if (since.at && !sennit_http_read_date(since, &seen) && seen >= changed)
		err = sennit_http_answer(http, 304, NULL, 0,
					 sennit_after(PATIENCE));
	else
		err = sennit_http_answer(http, 200, copy, size,
					 sennit_after(PATIENCE));
	free(copy);
	return err;
}

static int drop(struct store *s, sennit_http *http, const char *name)
{
	struct item *item;
	uint32_t     status = 404;

	sennit_mutex_lock(&s->lock);
	item = find(s, name);
	if (item && item->name) {
		forget(item);
		status = 200;
	}
	sennit_mutex_unlock(&s->lock);
	return answer_status(http, status);
}

/* How many there are is not known when the answer begins. */
static int list(struct store *s, sennit_http *http)
{
	sennit_time deadline = sennit_after(PATIENCE);
	int err = sennit_http_answer(http, 200, NULL, SENNIT_HTTP_UNKNOWN,
				     deadline);

	for (int i = 0; i < KEPT_MAX && !err; i++) {
		char line[256] = "";

		sennit_mutex_lock(&s->lock);
		if (s->items[i].name)
			snprintf(line, sizeof(line), "%s\n", s->items[i].name);
		sennit_mutex_unlock(&s->lock);
		err = sennit_http_write(http, line, strlen(line), deadline);
	}
	return err ? err : sennit_http_end(http, deadline);
}

static int answer(sennit_http *http, const sennit_http_head *request,
		  void *store)
{
	const sennit_http_text m = request->method;
	char                   name[200];

	if (request->target.at[0] != '/' || request->target.size > 199)
		return answer_status(http, 400);
	snprintf(name, sizeof(name), "%.*s", (int)request->target.size - 1,
		 request->target.at + 1);
	if (sennit_http_text_is(m, "PUT"))
		return put(store, http, name);
	if (sennit_http_text_is(m, "DELETE"))
		return drop(store, http, name);
	if (!sennit_http_text_is(m, "GET") && !sennit_http_text_is(m, "HEAD"))
		return answer_status(http, 405);
	return *name ? get(store, http, request, name) : list(store, http);
}

static void serve(void *store, int fd)
{
	(void)sennit_http_serve(
		fd, SENNIT_HTTP_CONFIG(.body = 16 << 20, .name = "store"),
		answer, store);
}

/* --- the client ----------------------------------------------------------- */

/* Ask, and print the answer. */
static int ask(sennit_http *http, const char *method, const char *target,
	       const char *body)
{
	const sennit_time       deadline = sennit_after(PATIENCE);
	const sennit_http_head *head;
	sennit_http_text        part;
	ptrdiff_t               n;

	n = sennit_http_ask(http, method, target, body, body ? strlen(body) : 0,
			    deadline);
	if (!n)
		n = sennit_http_next(http, &head, deadline);
	if (n <= 0)
		return n ? (int)n : -ECONNRESET;
	printf("%s %s: %u ", method, target, (unsigned)head->status);
	while ((n = sennit_http_read(http, &part, deadline)) > 0)
		printf("%.*s", (int)part.size, part.at); /* ends with a line */
	return (int)n;
}

static int ask_all(const char *address)
{
	char         url[SENNIT_ADDRESS_TEXT + 16];
	sennit_http *http;
	int          err;

	snprintf(url, sizeof(url), "http://%s", address);
	err = sennit_http_connect(&http, url, NULL, sennit_after(PATIENCE));
	if (err)
		return err;
	err = ask(http, "PUT", "/color", "blue\n");
	if (!err)
		err = ask(http, "GET", "/color", NULL);
	if (!err)
		err = ask(http, "GET", "/", NULL);
	if (!err)
		err = ask(http, "DELETE", "/color", NULL);
	if (!err)
		err = ask(http, "GET", "/color", NULL);
	sennit_http_destroy(http);
	return err;
}

/* --- both ----------------------------------------------------------------- */

static int program(void *address)
{
	static struct store store;
	const char         *at = address ? address : "127.0.0.1:0";
	char                text[SENNIT_ADDRESS_TEXT];
	sennit_group        group;
	int fd = sennit_listen_at(at, SENNIT_LISTEN_SHARED, SENNIT_NEVER);
	int err;

	if (fd < 0)
		return fd;
	sennit_group_init(&group, SENNIT_NEVER, 0);
	err = sennit_listen_each(fd, &group, &group, serve, &store);
	if (!err && !address) {
		err = sennit_local_address(fd, text, sizeof(text));
		if (!err)
			err = ask_all(text);
		sennit_group_cancel(&group);
		(void)!sennit_group_wait(&group);
	} else if (sennit_group_wait(&group) && !err) {
		err = -EIO;
	}
	sennit_close(fd);
	for (int i = 0; i < KEPT_MAX; i++)
		forget(&store.items[i]);
	return err;
}

int main(int argc, char **argv)
{
	int result;

	return sennit_run(program, argc > 1 ? argv[1] : NULL, NULL, &result) ||
	       result;
}
