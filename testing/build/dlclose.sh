#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# dlclose.sh - a program opens the shared library, starts a scheduler and closes
# the library: the scheduler continues, and the process ends normally.
#
# Environment: CC (cc), SOURCE_DIR (.), LIB_SHARED (skipped when empty), READELF
# (readelf).
set -eu
. "$(dirname "$0")/../script.sh"

: "${CC:=cc}" "${READELF:=readelf}" "${SOURCE_DIR:=.}" "${LIB_SHARED:=}"

[ -n "$LIB_SHARED" ] || skip "LIB_SHARED is not set"

if command -v "$READELF" >/dev/null &&
	! "$READELF" -dW "$LIB_SHARED" | grep -q NODELETE; then
	echo "$LIB_SHARED is not marked NODELETE"
	exit 1
fi

cat >"$scratch/closing.c" <<'EOS'
#include "sennit.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(holds)                                                    \
	do {                                                            \
		if (!(holds)) {                                         \
			fprintf(stderr, "%d: not so: %s\n", __LINE__,   \
				#holds);                                \
			exit(1);                                        \
		}                                                       \
	} while (0)

static int (*create)(sennit_scheduler **out, const sennit_config *config);
static int (*enqueue)(sennit_scheduler *s, const sennit_task *task);
static int (*shut_down)(sennit_scheduler *s, sennit_time deadline);
static void (*release)(sennit_scheduler *s);
static int (*bind_to)(sennit_scheduler *s);
static void (*nap)(uint64_t nanoseconds);

static atomic_uint ran;
static atomic_bool closed;

static void look_up(void *library, const char *name, void *function)
{
	void *found = dlsym(library, name);

	CHECK(found);
	memcpy(function, &found, sizeof(found));
}

/* Waits on a fiber, before and after the library is closed. */
static void nap_past_the_closing(void *unused)
{
	(void)unused;
	while (!atomic_load(&closed))
		nap(SENNIT_MILLISECOND);
	nap(SENNIT_MILLISECOND);
	atomic_fetch_add(&ran, 1);
}

static sennit_scheduler *start(void)
{
	const sennit_task t = { .run = nap_past_the_closing };
	sennit_scheduler *s = NULL;
	int               i;

	CHECK(!create(&s, SENNIT_CONFIG(.workers = 2)));
	for (i = 0; i < 20; i++)
		CHECK(!enqueue(s, &t));
	return s;
}

/* closing LIBRARY shutdown|release|leave: how the scheduler ends. */
int main(int argc, char **argv)
{
	void             *library;
	sennit_scheduler *s;

	CHECK(argc == 3);
	alarm(200);
	library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fprintf(stderr, "%s\n", dlerror());
	CHECK(library);
	look_up(library, "sennit_scheduler_create", &create);
	look_up(library, "sennit_scheduler_shutdown", &shut_down);
	look_up(library, "sennit_scheduler_release", &release);
	look_up(library, "sennit_schedule_task_on", &enqueue);
	look_up(library, "sennit_thread_bind", &bind_to);
	look_up(library, "sennit_sleep", &nap);
	s = start();
	if (!strcmp(argv[2], "leave-bound"))
		CHECK(!bind_to(s));
	CHECK(!dlclose(library));
	atomic_store(&closed, true);
	if (!strcmp(argv[2], "release"))
		release(s);
	if (!strcmp(argv[2], "shutdown"))
		CHECK(!shut_down(s, SENNIT_NEVER));
	else
		while (atomic_load(&ran) < 20)
			usleep(1000);
	CHECK(atomic_load(&ran) == 20);
	return 42;
}
EOS
"$CC" -std=gnu11 -Wall -Wextra -Werror $INCLUDES \
	-o "$scratch/closing" "$scratch/closing.c" -pthread -ldl

for way in shutdown release leave leave-bound; do
	status=0
	"$scratch/closing" "$LIB_SHARED" "$way" || status=$?
	if [ "$status" != 42 ]; then
		echo "ending by $way after dlclose: $status"
		exit 1
	fi
	echo "$way: ok"
done
