/* SPDX-License-Identifier: Apache-2.0 */
/* future.c - a page is assembled from parts that arrive in any order.
 *
 * Two mirrors are asked for the same text, and the first answer is used. Each
 * reply lies in a buffer of the caller. An advertisement whose producer gives
 * up is left out: its outcome is an error and not a value.
 */
#include <sennit.h>

#include <errno.h>
#include <stdio.h>

/* A question, the mirror that is asked, and a buffer for the answer. */
struct query {
	sennit_future reply;
	const char   *mirror;
	uint64_t      delay;
	char          text[64];
};

/* Stands for a request over a slow network. */
static int fetch(void *argument, void **value)
{
	struct query *q = argument;

	sennit_sleep(q->delay);
	if (!q->mirror)
		return -EPIPE;
	snprintf(q->text, sizeof(q->text), "text from %s", q->mirror);
	*value = q->text;
	return 0;
}

static void log_arrival(void *argument, void *value, int error)
{
	printf("%s: %s\n", (const char *)argument,
	       error ? sennit_strerror(error) : (const char *)value);
}

/* Returns the number of parts of the page, or -1 if the mirrors could not be
 * asked. */
static int make_page(struct query *near, struct query *far, struct query *ad)
{
	sennit_future *const mirrors[] = { &far->reply, &near->reply };
	sennit_continuation  log = { .run = log_arrival,
				     .argument = (void *)"advertisement",
				     .flags = SENNIT_CONTINUATION_INLINE };
	void                *text;
	size_t               first;
	int                  parts = 0;

	sennit_future_then(&ad->reply, &log);
	if (sennit_future_spawn(&near->reply, fetch, near) ||
	    sennit_future_spawn(&far->reply, fetch, far) ||
	    sennit_future_spawn(&ad->reply, fetch, ad))
		return -1;
	if (!sennit_future_wait_any(mirrors, 2, &first) &&
	    !sennit_future_get(mirrors[first], &text)) {
		printf("page: %s\n", (const char *)text);
		parts++;
	}
	parts += !sennit_future_get(&ad->reply, NULL);
	/* Wait until the mirrors do not write to the buffers any more. */
	if (sennit_future_wait_all(mirrors, 2))
		return -1;
	return parts;
}

static int program(void *unused)
{
	static struct query near = { .mirror = "nearby",
				     .delay = SENNIT_MILLISECOND };
	static struct query far = { .mirror = "far away",
				    .delay = 50 * SENNIT_MILLISECOND };
	static struct query ad = { .mirror = NULL };
	int                 parts;

	(void)unused;
	parts = make_page(&near, &far, &ad);
	return parts == 1 ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
