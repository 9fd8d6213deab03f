/* SPDX-License-Identifier: Apache-2.0 */
/* heard.h - collects the lines of a watchdog. Tests wait until a line
 * arrives. */
#ifndef SN_TEST_HEARD_H
#define SN_TEST_HEARD_H

#include "testing/with_workers.h"

#include "sennit/watchdog.h"

struct heard {
	pthread_mutex_t lock;
	char            text[65536]; /* all lines */
	unsigned        lines;
};

static inline void hear(void *context, const char *line)
{
	struct heard *h = context;
	size_t        used;

	pthread_mutex_lock(&h->lock);
	used = strlen(h->text);
	snprintf(h->text + used, sizeof(h->text) - used, "%s\n", line);
	h->lines++;
	pthread_mutex_unlock(&h->lock);
}

static inline bool was_heard(struct heard *h, const char *words)
{
	bool found;

	pthread_mutex_lock(&h->lock);
	found = strstr(h->text, words);
	pthread_mutex_unlock(&h->lock);
	return found;
}

static inline struct heard *open_heard(void)
{
	struct heard *h = calloc(1, sizeof(*h));

	assert_non_null(h);
	pthread_mutex_init(&h->lock, NULL);
	return h;
}

static inline void close_heard(struct heard *h)
{
	pthread_mutex_destroy(&h->lock);
	free(h);
}

static inline sennit_watchdog *watch(sennit_scheduler       *s,
				     sennit_watchdog_options o, struct heard *h)
{
	sennit_watchdog *w = NULL;

	o.line = hear;
	o.context = h;
	assert_int_equal(sennit_watchdog_start(&w, s, &o), 0);
	assert_non_null(w);
	return w;
}

/* Wait on another thread, because the test's own thread is bound to the
 * scheduler. */
static inline void await_words(struct heard *h, const char *words)
{
	sennit_time spent = 0, begin;

	do
		begin = sennit_now();
	while (!was_heard(h, words) && count_pause(&spent, begin));
	if (!was_heard(h, words))
		fprintf(stderr, "heard: %s\n", h->text);
	assert_true(was_heard(h, words));
}

#endif
