/* SPDX-License-Identifier: Apache-2.0 */
#include "load.h"

#include "server.h"

#include <errno.h>
#include <sys/epoll.h>

#define SAMPLES (1u << 20)

struct slot {
	int      fd;
	unsigned have;
	double   sent; /* when */
	char     bytes[REQUEST];
};

struct client {
	const struct target *target;
	const struct load   *load;
	int                  epoll;
	struct slot         *slots;
	double               since; /* requests from then on are sampled */
	uint64_t             answers, samples;
};

static uint32_t samples[SAMPLES];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double load_cpu(const struct target *t)
{
	struct timespec used;
	clockid_t       clock;

	server_check(!clock_getcpuclockid(t->pid, &clock) &&
			     !clock_gettime(clock, &used),
		     "the server's clock");
	return (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
}

double load_resident(const struct target *t)
{
	char               name[64], line[256];
	unsigned long long kib;
	double             sum = 0;
	FILE              *f;

	snprintf(name, sizeof(name), "/proc/%d/status", (int)t->pid);
	f = fopen(name, "r");
	server_check(f, name);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %llu", &kib) == 1 ||
		    sscanf(line, "VmPTE: %llu", &kib) == 1)
			sum += (double)kib * 1024;
	fclose(f);
	return sum;
}

/* --- connections ---------------------------------------------------------- */

static void ask(struct slot *s)
{
	s->have = 0;
	s->sent = now();
	server_check(send(s->fd, ASK, ASK_SIZE, MSG_NOSIGNAL) ==
			     (ssize_t)ASK_SIZE,
		     "send");
}

static void open_slot(struct client *c, struct slot *s)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = s };

	s->fd = server_connect(c->target->port);
	server_check(!epoll_ctl(c->epoll, EPOLL_CTL_ADD, s->fd, &e),
		     "epoll_ctl");
}

/* Without a wait for the last packets, whose ports would run out. */
static void close_slot(struct slot *s)
{
	const struct linger none = { .l_onoff = 1 };

	setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	close(s->fd);
}

static bool is_whole(const struct slot *s)
{
	size_t head = server_request(s->bytes, s->have);

	return head && s->have >= head + sizeof("Hello, world\n") - 1;
}

static void receive(struct client *c, struct slot *s)
{
	ssize_t n = recv(s->fd, s->bytes + s->have, REQUEST - s->have,
			 MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return;
	server_check(n > 0, "the server closed a connection");
	s->have += (unsigned)n;
	if (!is_whole(s))
		return;
	c->answers++;
	if (s->sent >= c->since)
		samples[c->samples++ % SAMPLES] = (uint32_t)(now() - s->sent);
	if (c->load && c->load->reconnect) {
		close_slot(s);
		open_slot(c, s);
	}
	if (c->load)
		ask(s);
}

static void receive_some(struct client *c)
{
	struct epoll_event e[256];
	int                n = epoll_wait(c->epoll, e, 256, 5000);

	server_check(n > 0 || (n < 0 && errno == EINTR),
		     "no answer for five seconds");
	for (int i = 0; i < n; i++)
		receive(c, e[i].data.ptr);
}

static void begin(struct client *c, const struct target *t, unsigned count)
{
	c->target = t;
	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	c->slots = calloc(count, sizeof(*c->slots));
	for (unsigned i = 0; i < count; i++)
		open_slot(c, &c->slots[i]);
}

static void end(struct client *c, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		close_slot(&c->slots[i]);
	close(c->epoll);
	free(c->slots);
}

/* --- a run ---------------------------------------------------------------- */

static void receive_for(struct client *c, double ns)
{
	double until = now() + ns;

	while (now() < until)
		receive_some(c);
}

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void report(struct load *l, const struct client *c, double ns,
		   double cpu)
{
	size_t count = c->samples < SAMPLES ? c->samples : SAMPLES;

	server_check(count > 0, "no answers");
	qsort(samples, count, sizeof(samples[0]), by_size);
	l->requests = c->answers;
	l->cpu_ns = cpu / (double)c->answers;
	l->per_second = (double)c->answers * 1e9 / ns;
	l->p50_ns = samples[count / 2];
	l->p99_ns = samples[count * 99 / 100];
}

void load_run(const struct target *t, struct load *l)
{
	struct client c = { .load = l };
	double        ns = l->ms * 1e6;
	double        start, cpu;

	begin(&c, t, l->connections);
	for (unsigned i = 0; i < l->connections; i++)
		ask(&c.slots[i]);
	receive_for(&c, ns / 5);
	c.answers = 0;
	c.samples = 0;
	cpu = load_cpu(t);
	start = c.since = now();
	receive_for(&c, ns);
	report(l, &c, now() - start, load_cpu(t) - cpu);
	end(&c, l->connections);
}

void load_idle(const struct target *t, unsigned connections,
	       void (*idle)(const struct target *t, void *context),
	       void *context)
{
	struct client c = { .load = NULL };

	begin(&c, t, connections);
	for (unsigned i = 0; i < connections; i++) {
		ask(&c.slots[i]);
		while (c.answers <= i)
			receive_some(&c);
	}
	idle(t, context);
	end(&c, connections);
}
