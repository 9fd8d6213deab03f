/* SPDX-License-Identifier: Apache-2.0 */
#include "sennit/resolve.h"

#include "base/atomic.h"
#include "sennit/blocking.h"
#include "sennit/event.h"
#include "sennit/poller.h"
#include "sennit/task.h"

#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* A lookup, which belongs to its caller and to whoever looks up: the last of
 * the two frees it. So the caller may leave at any time. */
struct lookup {
	a_u32                   owners;   /* any */
	a_u32                   given_up; /* any: need not begin any more */
	const sennit_allocator *memory;   /* fixed */
	size_t                  size;     /* fixed */
	sennit_event            done;
	int                     err;   /* handed by event.set */
	struct addrinfo        *found; /* handed by event.set */
	struct addrinfo        *asked; /* fixed: &hints or NULL */
	struct addrinfo         hints; /* fixed */
	const char             *host;  /* fixed: in text, or NULL */
	const char             *service;
	char                    text[];
};

/* --- what getaddrinfo() says -------------------------------------------- */

static int errno_of(int eai)
{
	static const struct {
		int eai, err;
	} table[] = {
		{ 0, 0 },
		{ EAI_NONAME, ENOENT },
		{ EAI_NODATA, ENODATA },
		{ EAI_ADDRFAMILY, ENODATA },
		{ EAI_AGAIN, EAGAIN },
		{ EAI_FAIL, EREMOTEIO },
		{ EAI_SERVICE, EPROTONOSUPPORT },
		{ EAI_SOCKTYPE, ESOCKTNOSUPPORT },
		{ EAI_FAMILY, EAFNOSUPPORT },
		{ EAI_BADFLAGS, EINVAL },
		{ EAI_OVERFLOW, EOVERFLOW },
		{ EAI_MEMORY, ENOMEM },
	};

	if (eai == EAI_SYSTEM)
		return errno ? -errno : -EIO;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].eai == eai)
			return -table[i].err;
	return -EIO;
}

/* Without files and servers. */
static int look_up_numeric(const char *host, const char *service,
			   const struct addrinfo *hints, struct addrinfo **out)
{
	/* What libc takes for no hints. */
	struct addrinfo numeric = { .ai_flags = AI_V4MAPPED | AI_ADDRCONFIG };

	if (hints)
		numeric = *hints;
	numeric.ai_flags |= AI_NUMERICHOST | AI_NUMERICSERV;
	return errno_of(getaddrinfo(host, service, &numeric, out));
}

/* --- the record --------------------------------------------------------- */

static void *allocate_for_thread(void *unused, size_t size, size_t alignment)
{
	(void)unused;
	(void)alignment; /* malloc's is enough */
	return malloc(size);
}

static void release_for_thread(void *unused, void *memory, size_t size)
{
	(void)unused;
	(void)size;
	free(memory);
}

static const sennit_allocator for_threads = { .allocate = allocate_for_thread,
					      .release = release_for_thread };

static const char *copy_text(char **to, const char *from)
{
	char  *copy = *to;
	size_t size = from ? strlen(from) + 1 : 0;

	if (!from)
		return NULL;
	*to += size;
	return memcpy(copy, from, size);
}

static struct lookup *make(const char *host, const char *service,
			   const struct addrinfo  *hints,
			   const sennit_allocator *memory)
{
	size_t size = sizeof(struct lookup) + (host ? strlen(host) + 1 : 0) +
		      (service ? strlen(service) + 1 : 0);
	struct lookup *l = memory->allocate(memory->context, size,
					    _Alignof(struct lookup));
	char          *text;

	if (!l)
		return NULL;
	memset(l, 0, sizeof(*l));
	a_init(&l->owners, 2);
	a_init(&l->given_up, 0);
	l->memory = memory;
	l->size = size;
	if (hints) {
		l->hints.ai_flags = hints->ai_flags;
		l->hints.ai_family = hints->ai_family;
		l->hints.ai_socktype = hints->ai_socktype;
		l->hints.ai_protocol = hints->ai_protocol;
		l->asked = &l->hints;
	}
	text = l->text;
	l->host = copy_text(&text, host);
	l->service = copy_text(&text, service);
	return l;
}

static void release(struct lookup *l)
{
	/* -> resolve.owners <- resolve.owners */
	if (a_sub_acqrel(&l->owners, 1) > 1)
		return;
	if (l->found)
		freeaddrinfo(l->found);
	l->memory->release(l->memory->context, l, l->size);
}

/* --- who looks up ------------------------------------------------------- */

static void *look_up(void *argument)
{
	struct lookup *l = argument;

	/* Seen late, it looks up in vain. */
	if (!a_load_rlx(&l->given_up)) {
		errno = 0;
		l->err = errno_of(
			getaddrinfo(l->host, l->service, l->asked, &l->found));
	}
	return NULL;
}

static void end(struct lookup *l)
{
	sennit_event_set(&l->done);
	release(l);
}

static void look_up_as_task(void *argument)
{
	struct lookup *l = argument;

	(void)sennit_blocking_call(look_up, l);
	end(l);
}

static void *look_up_as_thread(void *argument)
{
	struct lookup *l = argument;

	look_up(l);
	end(l);
	return NULL;
}

/* A thread that nobody joins, and that handles no signals. */
static int start_thread(struct lookup *l)
{
	pthread_attr_t attr;
	pthread_t      thread;
	sigset_t       all, before;
	int            err = pthread_attr_init(&attr);

	if (err)
		return -err;
	sigfillset(&all);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, &attr, look_up_as_thread, l);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attr);
	return -err;
}

static int start(struct lookup *l, bool fiber, sennit_time deadline)
{
	if (fiber)
		return sennit_schedule(look_up_as_task, l);
	/* Without a thread, or without a need for one, in place. */
	if (deadline >= SENNIT_UNCANCELLED || start_thread(l))
		look_up_as_thread(l);
	return 0;
}

/* --- the caller --------------------------------------------------------- */

static int await(struct lookup *l, struct addrinfo **result,
		 sennit_time deadline)
{
	int err = sennit_event_wait_until(&l->done, deadline);

	if (err && !sennit_event_is_set(&l->done)) {
		a_store_rlx(&l->given_up, 1);
		return err;
	}
	if (!l->err) {
		*result = l->found;
		l->found = NULL;
	}
	return l->err;
}

int sennit_resolve(const char *host, const char *service,
		   const struct addrinfo *hints, struct addrinfo **result,
		   sennit_time deadline)
{
	const sennit_allocator *memory = sennit_poller_allocator();
	struct lookup          *l;
	int                     err;

	if (!look_up_numeric(host, service, hints, result))
		return 0;
	if (!deadline)
		return -ETIMEDOUT;
	l = make(host, service, hints, memory ? memory : &for_threads);
	if (!l)
		return -ENOMEM;
	err = start(l, memory, deadline);
	if (err) /* alone */
		a_store_rlx(&l->owners, 1);
	else
		err = await(l, result, deadline);
	release(l);
	return err;
}
