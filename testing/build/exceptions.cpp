/* SPDX-License-Identifier: Apache-2.0 */
/* exceptions.cpp - the program of exceptions.sh. */
#include "sennit.h"
#include "sennit/domain.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

static sennit_wait_group done;
static std::atomic<int>  wrong;

static void expect(bool claim, const char *what)
{
	if (claim)
		return;
	std::fprintf(stderr, "not so: %s\n", what);
	wrong++;
}

struct sleeper {
	~sleeper()
	{
		sennit_sleep(100000);
	} /* while the stack is unwound */
};

/* Tasks meet in each other's catch blocks. */
static void throw_and_wait(void *argument)
{
	const std::string mine =
		std::to_string(reinterpret_cast<std::size_t>(argument));

	for (int i = 0; i < 20; i++) {
		try {
			sleeper unwinds;

			throw std::runtime_error(mine);
		} catch (const std::exception &e) {
			sennit_yield();
			expect(e.what() == mine, "what was caught is ours");
			sennit_sleep(50000);
			try {
				throw; /* the one that is being handled */
			} catch (const std::runtime_error &again) {
				sennit_yield();
				expect(again.what() == mine, "rethrown: ours");
			}
		}
		expect(!std::current_exception(), "nothing is being handled");
#if __cplusplus >= 201703L
		expect(std::uncaught_exceptions() == 0, "nothing is thrown");
#endif
		sennit_yield();
	}
	sennit_wait_group_done(&done);
}

/* A task that starts while another handles an exception handles none. */
static void expect_none(void *)
{
	expect(!std::current_exception(), "a new task handles nothing");
	sennit_wait_group_done(&done);
}

static void start_while_handling(void *)
{
	try {
		throw 1;
	} catch (int) {
		if (sennit_schedule(expect_none, nullptr))
			std::abort();
		sennit_sleep(100000);
		expect(bool(std::current_exception()), "we still handle ours");
	}
	sennit_wait_group_done(&done);
}

/* Members of groups, which may run on the stack of who waits for them. */
static int handle_none(void *)
{
	expect(!std::current_exception(), "a new member handles nothing");
	return 0;
}

/* The same for tasks that are tied to a wait group. */
static void handle_none_tied(void *)
{
	expect(!std::current_exception(), "a new tied task handles nothing");
}

static int throw_out(void *)
{
	throw std::runtime_error("out");
}

static void wait_for(sennit_member_fn *run)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	if (sennit_group_spawn(&g, run, nullptr) || sennit_group_wait(&g))
		std::abort();
}

static void wait_for_tied(sennit_task_fn *run)
{
	sennit_wait_group left = SENNIT_WAIT_GROUP_INIT;

	if (sennit_wait_group_spawn(&left, run, nullptr))
		std::abort();
	sennit_wait_group_wait(&left);
}

static void wait_while_handling(void *)
{
	try {
		throw 1;
	} catch (int) {
		wait_for(handle_none);
		wait_for_tied(handle_none_tied);
		expect(bool(std::current_exception()), "we still handle ours");
	}
	sennit_wait_group_done(&done);
}

static void let_out_of_a_member(void *)
{
	try {
		wait_for(throw_out);
	} catch (...) {
		std::fprintf(stderr, "caught by the opener\n");
		std::exit(4);
	}
}

static void let_out(void *)
{
	throw std::runtime_error("out");
}

static void let_out_of_a_tied_task(void *)
{
	try {
		wait_for_tied(let_out);
	} catch (...) {
		std::fprintf(stderr, "caught by the waiter\n");
		std::exit(4);
	}
}

/* Functions that the library calls on the stack of a call. */
static int throw_as_attempt(void *)
{
	throw std::runtime_error("out");
}

static void throw_as_continuation(void *, void *, int)
{
	throw std::runtime_error("out");
}

static int throw_as_hook(void *, void *)
{
	throw std::runtime_error("out");
}

static void call_once(void *)
{
	sennit_once o = SENNIT_ONCE_INIT;

	sennit_once_call(&o, let_out, nullptr);
}

static void attempt_once(void *)
{
	sennit_once o = SENNIT_ONCE_INIT;

	(void)!sennit_once_attempt_until(&o, throw_as_attempt, nullptr,
					 SENNIT_NEVER);
}

static void set_future(void *)
{
	sennit_future       f = SENNIT_FUTURE_INIT;
	sennit_continuation c{};

	c.run = throw_as_continuation;
	c.flags = SENNIT_CONTINUATION_INLINE;
	sennit_future_then(&f, &c);
	sennit_future_set(&f, nullptr);
}

static void borrow_item(void *)
{
	sennit_pool_config c{};

	c.size = sizeof(c);
	sennit_pool p;
	void       *item;

	c.item_size = c.count = 8;
	c.construct = throw_as_hook;
	if (sennit_pool_init(&p, &c) || sennit_pool_borrow(&p, &item))
		std::abort();
}

static void end_domain(void *)
{
	sennit_domain *d;

	if (sennit_domain_create(&d, sennit_scheduler_current(), let_out,
				 nullptr))
		std::abort();
	sennit_domain_release(d);
}

static void end_scheduler(void *)
{
	sennit_config     config{};
	sennit_scheduler *s;

	config.size = sizeof(config);
	config.workers = SENNIT_WORKERS_NONE;
	if (sennit_scheduler_create(&s, &config) ||
	    sennit_scheduler_on_end(s, let_out, nullptr))
		std::abort();
	(void)!sennit_scheduler_shutdown(s, SENNIT_NEVER);
}

static const struct {
	const char     *name;
	sennit_task_fn *run;
	bool            calls; /* `run` makes the call */
} throwers[] = {
	{ "out", let_out, false },
	{ "member", let_out_of_a_member, false },
	{ "tied", let_out_of_a_tied_task, false },
	{ "once", call_once, true },
	{ "attempt", attempt_once, true },
	{ "continuation", set_future, true },
	{ "pool", borrow_item, true },
	{ "domain", end_domain, true },
	{ "end", end_scheduler, true },
};

/* No caller of the library must see the exception. */
static void throw_through(void *run)
{
	try {
		(*static_cast<sennit_task_fn *const *>(run))(nullptr);
	} catch (...) {
		std::fprintf(stderr, "caught by the caller\n");
		std::exit(4);
	}
}

static bool start_throwing(const char *name)
{
	static sennit_task_fn *run;

	for (const auto &t : throwers) {
		if (std::strcmp(name, t.name))
			continue;
		run = t.run;
		return !sennit_schedule(t.calls ? throw_through : t.run, &run);
	}
	return false;
}

int main(int count, char **arguments)
{
	const unsigned    workers = unsigned(std::atoi(arguments[1]));
	sennit_config     config{};
	sennit_scheduler *s;

	config.size = sizeof(config);
	config.workers = workers ? workers : SENNIT_WORKERS_NONE;
	if (sennit_scheduler_create(&s, &config) || sennit_thread_bind(s))
		return 3;
	sennit_wait_group_init(&done, 8 + 3);
	if (count > 2 && !start_throwing(arguments[2]))
		return 3;
	for (std::size_t i = 0; i < 8; i++)
		if (sennit_schedule(throw_and_wait,
				    reinterpret_cast<void *>(i)))
			return 3;
	if (sennit_schedule(start_while_handling, nullptr) ||
	    sennit_schedule(wait_while_handling, nullptr))
		return 3;
	sennit_wait_group_wait(&done);
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		return 3;
	return wrong ? 1 : 0;
}
