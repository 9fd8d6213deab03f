/* SPDX-License-Identifier: Apache-2.0 */
/* next_syscall.h - for tests that replace syscall(), which the library uses to
 * let threads sleep on words and to wake them. */
#ifndef SN_TEST_NEXT_SYSCALL_H
#define SN_TEST_NEXT_SYSCALL_H

#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>

typedef long syscall_fn(long number, ...);

/* A call: its number and its arguments. */
struct call {
	long number, arguments[6];
};

static inline struct call call_of(long number, va_list arguments)
{
	struct call c = { .number = number };

	for (int i = 0; i < 6; i++)
		c.arguments[i] = va_arg(arguments, long);
	return c;
}

/* Make the call with the system's syscall(). */
static inline long make_call(const struct call *c)
{
	static _Atomic(syscall_fn *) next;
	const long                  *a = c->arguments;
	syscall_fn                  *call = atomic_load(&next);

	if (!call) {
		*(void **)&call = dlsym(RTLD_NEXT, "syscall");
		atomic_store(&next, call);
	}
	return call(c->number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static inline bool is_wake(const struct call *c)
{
	return c->number == SYS_futex &&
	       (c->arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAKE;
}

static inline bool is_sleep(const struct call *c)
{
	return c->number == SYS_futex && !is_wake(c);
}

/* A sleep without a deadline. */
static inline bool is_endless(const struct call *c)
{
	return is_sleep(c) && !c->arguments[3];
}

#endif
