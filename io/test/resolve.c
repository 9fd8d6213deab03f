/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.c - names are resolved as libc does. A slow lookup blocks neither the
 * worker nor, after the deadline, its caller, and it accesses no stack frame
 * that has ended when it completes.
 *
 * getaddrinfo() is replaced for names that begin with "slow": it waits until
 * the test releases it.
 */
#include "operations.h"

#include "sennit/file.h"
#include "sennit/resolve.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>

/* --- a slow resolver ---------------------------------------------------- */

typedef int resolver(const char *, const char *, const struct addrinfo *,
		     struct addrinfo **);

static atomic_bool let_go;
static atomic_uint begun, ended;
static atomic_int  slow_answer; /* EAI_* */

static resolver *libc_resolver(void)
{
	void     *symbol = dlsym(RTLD_NEXT, "getaddrinfo");
	resolver *found;

	memcpy(&found, &symbol, sizeof(found));
	return found;
}

int getaddrinfo(const char *host, const char *service,
		const struct addrinfo *hints, struct addrinfo **out)
{
	int err;

	if (!host || strncmp(host, "slow", 4) != 0 ||
	    (hints && hints->ai_flags & AI_NUMERICHOST))
		return libc_resolver()(host, service, hints, out);
	atomic_fetch_add(&begun, 1);
	while (!atomic_load(&let_go))
		usleep(100);
	EXPECT(!strcmp(host, "slow") && !strcmp(service, "7")); /* copies of the
								 * arguments */
	err = atomic_load(&slow_answer);
	errno = ENOTTY; /* returned for EAI_SYSTEM */
	if (!err)
		err = libc_resolver()("127.0.0.9", service, hints, out);
	atomic_fetch_add(&ended, 1);
	return err;
}

static void begin_slow(int answer)
{
	atomic_store(&let_go, false);
	atomic_store(&begun, 0);
	atomic_store(&ended, 0);
	atomic_store(&slow_answer, answer);
}

static const struct addrinfo stream = { .ai_socktype = SOCK_STREAM };

/* --- names that exist --------------------------------------------------- */

static void expect_address(const char *host, const char *service,
			   sennit_time deadline, const char *address, int port)
{
	struct addrinfo *list = NULL;
	char             text[INET_ADDRSTRLEN] = "";
	int err = sennit_resolve(host, service, &stream, &list, deadline);

	EXPECT(err == 0);
	if (err)
		return;
	EXPECT(list->ai_family == AF_INET);
	if (list->ai_family == AF_INET) {
		struct sockaddr_in a;

		memcpy(&a, list->ai_addr, sizeof(a));
		inet_ntop(AF_INET, &a.sin_addr, text, sizeof(text));
		EXPECT(!strcmp(text, address));
		EXPECT(ntohs(a.sin_port) == port);
	}
	freeaddrinfo(list);
}

static void resolve_numbers(void *unused)
{
	(void)unused;
	expect_address("127.0.0.1", "80", SENNIT_NEVER, "127.0.0.1", 80);
	expect_address("10.1.2.3", "4711", 0, "10.1.2.3", 4711);
	expect_address("10.1.2.3", NULL, 0, "10.1.2.3", 0);
}

TEST_WITH_WORKERS(numbers_are_converted_at_once)
{
	in_each_place(resolve_numbers, NULL);
}

/* From the files that nsswitch.conf names: /etc/hosts. */
static void resolve_localhost(void *unused)
{
	struct addrinfo *list = NULL;
	struct addrinfo  hints = stream;

	(void)unused;
	hints.ai_family = AF_INET;
	EXPECT(sennit_resolve("localhost", "80", &hints, &list, 0) ==
	       -ETIMEDOUT);
	EXPECT(sennit_resolve("localhost", "80", &hints, &list,
			      sennit_after(100 * SENNIT_SECOND)) == 0);
	EXPECT(list);
	if (list)
		freeaddrinfo(list);
}

TEST_WITH_WORKERS(names_are_looked_up_by_libc)
{
	in_each_place(resolve_localhost, NULL);
}

/* --- slow names --------------------------------------------------------- */

static void resolve_slow(void *unused)
{
	char name[] = "slow";

	(void)unused;
	expect_address(name, "7", SENNIT_NEVER, "127.0.0.9", 7);
}

static void let_go_when_begun(void *unused)
{
	(void)unused;
	while (!atomic_load(&begun))
		sennit_yield();
	atomic_store(&let_go, true);
}

/* With one worker, the second fiber runs while the first waits. */
TEST_WITH_WORKERS(a_slow_lookup_holds_up_no_worker)
{
	begin_slow(0);
	must_schedule(let_go_when_begun, NULL);
	in_a_task(resolve_slow, NULL);
	assert_int_equal(atomic_load(&ended), 1);
}

/* Repeat until a lookup has begun when its caller gives up. The test never
 * releases it, so the call returns only if it does not wait for it. */
static void give_up(void *unused)
{
	(void)unused;
	for (uint64_t ms = 1; !atomic_load(&begun); ms *= 2) {
		struct addrinfo *list = (void *)&list;
		char             name[] = "slow";
		char             port[] = "7";

		EXPECT(sennit_resolve(name, port, NULL, &list, in_ms(ms)) ==
		       -ETIMEDOUT);
		EXPECT(list == (void *)&list);
		name[0] = port[0] = '?';
	}
}

TEST_WITH_WORKERS(a_deadline_ends_the_call_not_the_lookup)
{
	void (*const places[])(sennit_task_fn *, void *) = { in_a_task,
							     in_a_thread };

	for (int i = 0; i < 2; i++) {
		begin_slow(0);
		places[i](give_up, NULL);
		atomic_store(&let_go, true);
		assert_soon(atomic_load(&begun) == atomic_load(&ended));
	}
}

static int resolve_as_member(void *result)
{
	struct addrinfo *list;

	*(int *)result = sennit_resolve("slow", "7", NULL, &list, SENNIT_NEVER);
	return 0;
}

TEST_WITH_WORKERS(a_cancelled_group_ends_the_call)
{
	sennit_group g;
	int          result = 0;

	begin_slow(0);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, resolve_as_member, &result), 0);
	assert_soon(atomic_load(&begun));
	sennit_group_cancel(&g);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	assert_int_equal(result, -ECANCELED);
	atomic_store(&let_go, true);
	assert_soon(atomic_load(&ended));
}

/* The end of the scheduler does not wait for a lookup without a caller: the
 * test releases it only after the scheduler has ended. */
TEST_WITH_WORKERS(a_scheduler_ends_after_lookups_given_up)
{
	sennit_scheduler *s = move_to(SENNIT_CONFIG(.workers = w->workers));

	begin_slow(0);
	in_a_task(give_up, NULL);
	move_back(w, s);
	assert_int_equal(atomic_load(&ended), 0);
	atomic_store(&let_go, true);
	assert_soon(atomic_load(&begun) == atomic_load(&ended));
}

enum { GIVEN_UP = 300, MOST_LOOKUPS = 64 };

static int give_up_once(void *unused)
{
	struct addrinfo *list;

	(void)unused;
	EXPECT(sennit_resolve("slow", "7", NULL, &list, in_ms(5)) ==
	       -ETIMEDOUT);
	return 0;
}

/* As if a server sent its answer byte by byte without end. If each lookup
 * needed a blocking thread, there would be too few. */
TEST_WITH_WORKERS(lookups_given_up_hold_up_nothing_else)
{
	sennit_group g;
	int          fd;

	begin_slow(0);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (int i = 0; i < GIVEN_UP; i++)
		assert_int_equal(sennit_group_spawn(&g, give_up_once, NULL), 0);
	assert_int_equal(sennit_group_wait(&g), 0);
	assert_in_range(atomic_load(&begun), 1, MOST_LOOKUPS);
	fd = sennit_open("/dev/null", O_RDONLY, 0, SENNIT_NEVER);
	assert_true(fd >= 0);
	close(fd);
	atomic_store(&let_go, true);
	assert_soon(atomic_load(&begun) == atomic_load(&ended));
	assert_in_range(atomic_load(&begun), 1, MOST_LOOKUPS);
}

/* --- errors ------------------------------------------------------------- */

static void resolve_nothing(void *unused)
{
	static const struct {
		int eai, err;
	} table[] = {
		{ EAI_NONAME, -ENOENT },
		{ EAI_AGAIN, -EAGAIN },
		{ EAI_FAIL, -EREMOTEIO },
		{ EAI_NODATA, -ENODATA },
		{ EAI_ADDRFAMILY, -ENODATA },
		{ EAI_SERVICE, -EPROTONOSUPPORT },
		{ EAI_SOCKTYPE, -ESOCKTNOSUPPORT },
		{ EAI_FAMILY, -EAFNOSUPPORT },
		{ EAI_MEMORY, -ENOMEM },
		{ EAI_SYSTEM, -ENOTTY },
	};
	struct addrinfo *list;

	(void)unused;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		begin_slow(table[i].eai);
		atomic_store(&let_go, true);
		EXPECT(sennit_resolve("slow", "7", NULL, &list, SENNIT_NEVER) ==
		       table[i].err);
	}
	EXPECT(sennit_resolve(NULL, NULL, NULL, &list, SENNIT_NEVER) ==
	       -ENOENT);
}

TEST_WITH_WORKERS(what_libc_says_becomes_an_errno)
{
	in_each_place(resolve_nothing, NULL);
}

USES_BACKEND;
