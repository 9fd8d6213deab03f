/* SPDX-License-Identifier: Apache-2.0 */
#include "base/race.h"

#ifdef SENNIT_RACE
#include "base/atomic.h"

#include <link.h>
#include <netdb.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

/* Functions of ThreadSanitizer, which its header declares only in part. Only
 * the functions for Java can say that memory is new: they make heap memory an
 * object, or free it. */
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void  __tsan_destroy_fiber(void *fiber);
void  __tsan_switch_to_fiber(void *fiber, unsigned flags);
void  __tsan_acquire(void *x);
void  __tsan_release(void *x);
void  AnnotateIgnoreReadsBegin(const char *file, int line);
void  AnnotateIgnoreReadsEnd(const char *file, int line);
void  AnnotateIgnoreWritesBegin(const char *file, int line);
void  AnnotateIgnoreWritesEnd(const char *file, int line);
void  AnnotateIgnoreSyncBegin(const char *file, int line);
void  AnnotateIgnoreSyncEnd(const char *file, int line);
void  __tsan_java_alloc(uintptr_t memory, uintptr_t size);
void  __tsan_java_free(uintptr_t memory, uintptr_t size);

#define NO_SYNC 1u /* the switch orders nothing */
#define WORD    ((uintptr_t)8)

/* --- edges ---------------------------------------------------------------- */

void sn_race_release(const void *x)
{
	__tsan_release((void *)(uintptr_t)x);
}

void sn_race_acquire(const void *x)
{
	__tsan_acquire((void *)(uintptr_t)x);
}

void sn_race_acquire_last(const void *x)
{
	sn_race_acquire(x);
	__tsan_java_free((uintptr_t)x & ~(WORD - 1), WORD);
}

void sn_race_hide(void)
{
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
	AnnotateIgnoreSyncBegin(__FILE__, __LINE__);
}

void sn_race_show(void)
{
	AnnotateIgnoreSyncEnd(__FILE__, __LINE__);
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}

/* --- libc for the library: race_inside.h ---------------------------------- */

#pragma GCC visibility push(default)

#define HIDDEN(result, name, parameters, ...) \
	result sn_race_##name parameters;     \
	result sn_race_##name parameters      \
	{                                     \
		result r;                     \
                                              \
		sn_race_hide();               \
		r = name(__VA_ARGS__);        \
		sn_race_show();               \
		return r;                     \
	}

HIDDEN(void *, malloc, (size_t size), size)
HIDDEN(void *, calloc, (size_t n, size_t size), n, size)
HIDDEN(void *, realloc, (void *old, size_t size), old, size)
HIDDEN(int, posix_memalign, (void **out, size_t alignment, size_t size), out,
       alignment, size)
HIDDEN(int, pthread_mutex_init,
       (pthread_mutex_t * m, const pthread_mutexattr_t *a), m, a)
HIDDEN(int, pthread_mutex_destroy, (pthread_mutex_t * m), m)
HIDDEN(int, pthread_mutex_lock, (pthread_mutex_t * m), m)
HIDDEN(int, pthread_mutex_trylock, (pthread_mutex_t * m), m)
HIDDEN(int, pthread_mutex_unlock, (pthread_mutex_t * m), m)
HIDDEN(int, getaddrinfo,
       (const char *host, const char *service, const struct addrinfo *hints,
	struct addrinfo **out),
       host, service, hints, out)
HIDDEN(int, close, (int fd), fd)
HIDDEN(int, eventfd, (unsigned count, int flags), count, flags)
HIDDEN(int, epoll_create1, (int flags), flags)
HIDDEN(int, epoll_ctl, (int epoll, int call, int fd, struct epoll_event *e),
       epoll, call, fd, e)
HIDDEN(ssize_t, process_vm_readv,
       (pid_t process, const struct iovec *here, unsigned long n,
	const struct iovec *there, unsigned long m, unsigned long flags),
       process, here, n, there, m, flags)

void sn_race_free(void *memory);
void sn_race_free(void *memory)
{
	sn_race_hide();
	free(memory);
	sn_race_show();
}

/* The barriers keep the compiler from replacing the loops by calls of these
 * functions. */
void *sn_race_memcpy(void *to, const void *from, size_t size);
void *sn_race_memcpy(void *to, const void *from, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		((char *)to)[i] = ((const char *)from)[i];
		__asm__ volatile("" ::: "memory");
	}
	return to;
}

void *sn_race_memmove(void *to, const void *from, size_t size);
void *sn_race_memmove(void *to, const void *from, size_t size)
{
	if ((uintptr_t)to - (uintptr_t)from >= size)
		return sn_race_memcpy(to, from, size);
	for (size_t i = size; i--;) {
		((char *)to)[i] = ((const char *)from)[i];
		__asm__ volatile("" ::: "memory");
	}
	return to;
}

void *sn_race_memset(void *to, int value, size_t size);
void *sn_race_memset(void *to, int value, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		((char *)to)[i] = (char)value;
		__asm__ volatile("" ::: "memory");
	}
	return to;
}

#pragma GCC visibility pop

/* --- memory --------------------------------------------------------------- */

/* Free it first, because that also forgets what was ordered by its words. Free
 * it again at the end, so that reports do not call it a heap object. */
void sn_race_fresh(void *memory, size_t size)
{
	uintptr_t low = ((uintptr_t)memory + WORD - 1) & ~(WORD - 1);
	uintptr_t high = ((uintptr_t)memory + size) & ~(WORD - 1);

	if (low >= high)
		return;
	__tsan_java_free(low, high - low);
	__tsan_java_alloc(low, high - low);
	__tsan_java_free(low, high - low);
}

/* --- threads -------------------------------------------------------------- */

#define RANGES 32

struct race_range {
	char  *low;
	size_t size;
};

/* State of the calling thread. */
static _Thread_local struct {
	void             *scheduling;     /* a context; NULL: no worker yet */
	char             *low;            /* the lowest address of its stack */
	struct race_range ranges[RANGES]; /* of its thread-local variables */
	size_t            count;
} race_thread;

/* The context in which contexts are created that are ordered after nothing. */
static struct {
	void         *context; /* under lock */
	uint32_t      users;   /* under lock: threads that have a worker */
	a_u32         lock;    /* any: 1: held */
	pthread_key_t key;     /* fixed: its destructor runs when a thread
			        * ends */
} clean_state;

static void lock_clean(void)
{
	uint32_t free = 0;

	while (!a_cas_acq(&clean_state.lock, &free, 1)) { /* <- race.clean */
		free = 0;
		a_pause();
	}
}

static void unlock_clean(void)
{
	a_store_rel(&clean_state.lock, 0); /* -> race.clean: context, users */
}

static void count_users(int change)
{
	lock_clean();
	clean_state.users += (uint32_t)change;
	unlock_clean();
}

static void forget_thread(void *scheduling)
{
	void *outer = __tsan_get_current_fiber();

	__tsan_switch_to_fiber(scheduling, NO_SYNC);
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
	__tsan_switch_to_fiber(outer, NO_SYNC);
	__tsan_destroy_fiber(scheduling);
	count_users(-1);
}

/* ThreadSanitizer counts contexts as threads, and does not check the child of a
 * process with several threads. So destroy the context before a fork if there
 * is no scheduler. Everything so far then happens before everything later, so a
 * new context has no order that it should not have. */
static void destroy_clean_before_fork(void)
{
	lock_clean();
	if (clean_state.users)
		return;
	__tsan_destroy_fiber(clean_state.context);
	clean_state.context = NULL;
}

static void make_clean_after_fork(void)
{
	if (!clean_state.context)
		clean_state.context = __tsan_create_fiber(0);
	unlock_clean();
}

__attribute__((constructor)) static void make_clean_context(void)
{
	clean_state.context = __tsan_create_fiber(0);
	if (pthread_key_create(&clean_state.key, forget_thread) ||
	    pthread_atfork(destroy_clean_before_fork, make_clean_after_fork,
			   make_clean_after_fork))
		abort();
}

/* ThreadSanitizer's own variables are large, and never the program's. */
static int add_range(struct dl_phdr_info *o, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	if (!o->dlpi_tls_data || race_thread.count == RANGES ||
	    strstr(o->dlpi_name, "tsan"))
		return 0;
	for (int i = 0; i < o->dlpi_phnum; i++)
		if (o->dlpi_phdr[i].p_type == PT_TLS)
			race_thread.ranges[race_thread.count++] =
				(struct race_range){ o->dlpi_tls_data,
						     o->dlpi_phdr[i].p_memsz };
	return 0;
}

static void find_stack(void)
{
	pthread_attr_t a;
	void          *low = NULL;
	size_t         size;

	if (pthread_getattr_np(pthread_self(), &a))
		return;
	if (!pthread_attr_getstack(&a, &low, &size))
		race_thread.low = low;
	pthread_attr_destroy(&a);
}

/* Each caller gets a context of its own, created in clean_state.context, and
 * does not keep the lock: the program may wait in its replacement of
 * pthread_create(). */
void *sn_race_clean(void)
{
	void *outer = __tsan_get_current_fiber();
	void *own;

	lock_clean();
	__tsan_switch_to_fiber(clean_state.context, NO_SYNC);
	own = __tsan_create_fiber(0);
	__tsan_switch_to_fiber(own, NO_SYNC);
	unlock_clean();
	return outer;
}

void sn_race_cleaned(void *outer)
{
	void *own = __tsan_get_current_fiber();

	__tsan_switch_to_fiber(outer, NO_SYNC);
	__tsan_destroy_fiber(own);
}

void sn_race_enter_thread(void)
{
	void *outer, *own;

	race_thread.count = 0;
	dl_iterate_phdr(add_range, NULL);
	if (race_thread.scheduling)
		return;
	find_stack();
	count_users(1);
	outer = sn_race_clean();
	own = __tsan_get_current_fiber();
	race_thread.scheduling = __tsan_create_fiber(0);
	/* The program does not access what the scheduling code leaves on
	 * stacks. */
	__tsan_switch_to_fiber(race_thread.scheduling, NO_SYNC);
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
	__tsan_switch_to_fiber(own, NO_SYNC);
	sn_race_cleaned(outer);
	pthread_setspecific(clean_state.key, race_thread.scheduling);
}

/* --- contexts ------------------------------------------------------------- */

static void switch_to_context(void *context)
{
	__tsan_switch_to_fiber(context, NO_SYNC);
	for (size_t i = 0; i < race_thread.count; i++)
		sn_race_fresh(race_thread.ranges[i].low,
			      race_thread.ranges[i].size);
}

void *sn_race_leave(void)
{
	void *outer = __tsan_get_current_fiber();

	__tsan_switch_to_fiber(race_thread.scheduling, NO_SYNC);
	return outer;
}

void sn_race_return(void *context)
{
	switch_to_context(context);
}

void *sn_race_sent(void)
{
	void *sent = malloc(WORD);

	if (sent)
		sn_race_release(sent);
	return sent;
}

static void fresh_stack(char *low, char *here)
{
	if (!low)
		low = race_thread.low;
	if (low && low < here)
		sn_race_fresh(low, (size_t)(here - low));
}

NOINLINE void *sn_race_begin(void *sent, char *low)
{
	void *outer = sn_race_leave();
	void *context = __tsan_create_fiber(0);
	/* The end of the caller's frame: the functions that it calls use the
	 * stack below. */
	char *here = (char *)__builtin_frame_address(0) + 2 * sizeof(void *);

	switch_to_context(context);
	if (sent)
		sn_race_acquire(sent);
	free(sent);
	fresh_stack(low, here);
	return outer;
}

void *sn_race_begin_apart(char *low)
{
	return __tsan_get_current_fiber() == race_thread.scheduling
		       ? sn_race_begin(NULL, low)
		       : NULL;
}

void sn_race_end(void *outer, char *low)
{
	void *context;
	char *here = __builtin_frame_address(0);

	if (!outer)
		return;
	context = sn_race_leave();

	__tsan_destroy_fiber(context);
	switch_to_context(outer);
	/* The code of `outer` now calls functions where the frames of the ended
	 * code were. */
	if (outer != race_thread.scheduling)
		fresh_stack(low, here);
}
#endif
