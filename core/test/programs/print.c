/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - a program as C: only its calls and what they need, so that it can
 * be read, and can become a test. What the runs check besides is left out. */
#include "program.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct program *p;

/* --- what is used ------------------------------------------------- */

static bool is_step(const struct step *s)
{
	return s->call < STEP_KINDS;
}

static bool is_member(const struct actor_plan *a)
{
	return a->kind >= MEMBER && a->kind <= MEMBER_ON;
}

static int first_mutex(void)
{
	for (unsigned i = 0; i < p->objects; i++)
		if (p->object[i].kind == MUTEX)
			return (int)i;
	return -1;
}

static bool uses(const struct actor_plan *a, unsigned object)
{
	for (unsigned i = 0; i < STEPS; i++)
		if (is_step(&a->steps[i]) &&
		    program_objects(p, &a->steps[i]) >> object & 1)
			return true;
	return false;
}

static bool is_used(unsigned object)
{
	const unsigned kind = p->object[object].kind;

	for (unsigned i = 0; i < p->actors; i++) {
		const struct actor_plan *a = &p->actor[i];

		if (uses(a, object))
			return true;
		if (a->name == object &&
		    ((is_member(a) && kind == GROUP) ||
		     (a->kind == IN_DOMAIN && kind == DOMAIN) ||
		     (a->kind == CALLED && kind == LINE)))
			return true;
	}
	return false;
}

/* --- deadlines ---------------------------------------------------- */

static const char *const limits[] = {
	"0",
	"sennit_now() - 1",
	"sennit_now()",
	"sennit_after(20 * SENNIT_MICROSECOND)",
	"sennit_after(SENNIT_MILLISECOND)",
	"sennit_after(10 * SENNIT_SECOND)",
	"SENNIT_NEVER",
	"SENNIT_UNCANCELLED",
};

static const char *limit_of(const struct step *s)
{
	return limits[s->limit];
}

static bool is_ever(const struct step *s)
{
	return s->limit == EVER;
}

/* A call with or without a deadline. */
static void print_wait(const struct step *s, const char *call,
		       const char *arguments, ...)
	__attribute__((format(printf, 3, 4)));

static void print_wait(const struct step *s, const char *call,
		       const char *arguments, ...)
{
	va_list list;

	printf("\t(void)!%s%s(", call, is_ever(s) ? "" : "_until");
	va_start(list, arguments);
	vprintf(arguments, list);
	va_end(list);
	if (is_ever(s))
		printf(");\n");
	else
		printf(", %s);\n", limit_of(s));
}

/* --- objects ------------------------------------------------------ */

static const char *const types[] = {
	"sennit_event",     "sennit_mutex",        "sennit_cond",
	"sennit_semaphore", "sennit_rwlock",       "sennit_barrier",
	"sennit_once",      "sennit_ticket_queue", "sennit_channel",
	"sennit_future",    "sennit_wait_group",   "sennit_pool",
	"sennit_group",     "sennit_domain *",
};

static void print_opening(unsigned i)
{
	const struct object_plan *o = &p->object[i];

	switch (o->kind) {
	case EVENT:
		printf("\tsennit_event_init(&o%u, %s%s);\n", i,
		       o->value ? "SENNIT_EVENT_AUTO" : "SENNIT_EVENT_MANUAL",
		       o->set ? " | SENNIT_EVENT_SET" : "");
		break;
	case SEMAPHORE:
	case WAIT_GROUP:
	case BARRIER:
		printf("\t%s_init(&o%u, %u);\n", types[o->kind], i, o->value);
		break;
	case CHANNEL:
		printf("\t(void)!sennit_channel_init(&o%u, %s%u, sizeof(int), "
		       "NULL);\n",
		       i, o->value == 3 ? "SIZE_MAX - 3 + " : "", o->value);
		break;
	case POOL:
		printf("\t(void)!sennit_pool_init(&o%u, &(sennit_pool_config){ "
		       ".size = sizeof(sennit_pool_config), "
		       ".item_size = 4, .count = %u, .policy = %u });\n",
		       i, o->value, o->set);
		break;
	case GROUP:
		break;
	case DOMAIN:
		printf("\t(void)!sennit_domain_create(&o%u, s, NULL, NULL);\n",
		       i);
		break;
	default:
		printf("\t%s_init(&o%u);\n", types[o->kind], i);
	}
}

/* What ends the waits that are left. */
static void print_supply(unsigned i)
{
	switch (p->object[i].kind) {
	case EVENT:
		printf("\t\tsennit_event_set(&o%u);\n", i);
		break;
	case COND:
		printf("\t\tsennit_cond_notify_all(&o%u);\n", i);
		break;
	case SEMAPHORE:
		printf("\t\tsennit_semaphore_release(&o%u, 2);\n", i);
		break;
	case CHANNEL:
		printf("\t\tsennit_channel_close(&o%u);\n", i);
		break;
	case FUTURE:
		printf("\t\t(void)!sennit_future_try_set(&o%u, NULL);\n", i);
		break;
	case WAIT_GROUP:
		printf("\t\twhile (sennit_wait_group_wait_until(&o%u, 0)) "
		       "sennit_wait_group_done(&o%u);\n",
		       i, i);
		break;
	default:
		break;
	}
}

/* --- steps -------------------------------------------------------- */

static void print_array(const struct step *s, const char *what)
{
	printf("\t(void)!%s%s((%s *[]){", what, is_ever(s) ? "" : "_until",
	       types[p->object[s->name[0]].kind]);
	for (unsigned i = 0; i < s->count; i++)
		printf(" &o%u,", s->name[i]);
	printf(" }, %u", s->count);
	if (strstr(what, "_any"))
		printf(", NULL");
	if (!is_ever(s))
		printf(", %s", limit_of(s));
	printf(");\n");
}

static void print_lock(const struct step *s, const char *lock)
{
	const unsigned i = s->name[0];

	if (is_ever(s))
		printf("\t%s(&o%u), h[%u]++;\n", lock, i, i);
	else
		printf("\th[%u] += !%s_until(&o%u, %s);\n", i, lock, i,
		       limit_of(s));
}

static void print_choice(const struct step *s)
{
	printf("\t(void)!sennit_select%s((sennit_case[]){",
	       is_ever(s) ? "" : "_until");
	for (unsigned i = 0; i < s->count; i++) {
		const unsigned name = s->name[i];

		switch (p->object[name].kind) {
		case EVENT:
			printf(" sennit_case_event(&o%u),", name);
			break;
		case FUTURE:
			printf(" sennit_case_future(&o%u, NULL),", name);
			break;
		case CHANNEL:
			if (s->flag >> i & 1)
				printf(" sennit_case_send(&o%u, &(int){ 7 }),",
				       name);
			else
				printf(" sennit_case_receive(&o%u, &(int){ 0 "
				       "}),",
				       name);
			break;
		default:
			printf(" sennit_case_deadline(sennit_after(%s)),",
			       s->flag >> i & 1 ? "SENNIT_MILLISECOND"
						: "SENNIT_NEVER");
		}
	}
	printf(" }, %u", s->count);
	if (is_ever(s))
		printf(", NULL);\n");
	else
		printf(", NULL, %s);\n", limit_of(s));
}

static void print_start(unsigned i)
{
	const struct actor_plan *a = &p->actor[i];
	const unsigned           name = a->name;

	switch (a->kind) {
	case COPY:
		printf("\t(void)!sennit_schedule_copy(actor%u, \"\", 1);\n", i);
		break;
	case MANY:
		printf("\t(void)!sennit_schedule_many((sennit_task[]){ { "
		       ".run = actor%u } }, 1);\n",
		       i);
		break;
	case SAME_THREAD:
	case BACKGROUND:
		printf("\t(void)!sennit_schedule_task(&(sennit_task){ .run = "
		       "actor%u, .flags = %s });\n",
		       i,
		       a->kind == BACKGROUND ? "SENNIT_TASK_BACKGROUND"
					     : "SENNIT_TASK_SAME_THREAD");
		break;
	case TIED:
		printf("\t(void)!sennit_wait_group_spawn(&tied, actor%u, "
		       "NULL);\n",
		       i);
		break;
	case MEMBER:
	case MEMBER_COPY:
		printf("\tif (sennit_group_spawn(&o%u, actor%u, NULL)) "
		       "sennit_wait_group_done(&left);\n",
		       name, i);
		break;
	case MEMBER_HERE:
		printf("\tif (sennit_group_spawn_task(&o%u, SENNIT_MEMBER("
		       ".run = actor%u, .flags = "
		       "SENNIT_MEMBER_SAME_THREAD))) "
		       "sennit_wait_group_done(&left);\n",
		       name, i);
		break;
	case MEMBER_ON:
		printf("\tif (sennit_group_spawn_task(&o%u, SENNIT_MEMBER("
		       ".run = actor%u, .flags = SENNIT_MEMBER_ON_WORKER, "
		       ".worker = %u))) sennit_wait_group_done(&left);\n",
		       name, i,
		       p->world.max_workers ? a->count % p->world.max_workers
					    : 0);
		break;
	case OUTCOME:
		printf("\t(void)!sennit_future_spawn(&f%u, actor%u, NULL);\n",
		       i, i);
		break;
	case CONTINUATION:
	case INLINE_CONTINUATION:
		printf("\tsennit_future_then(&f%u, &c%u), sennit_future_set("
		       "&f%u, NULL);\n",
		       i, i, i);
		break;
	case CALLED:
		printf("\tsennit_ticket_queue_take(&o%u, &t%u), "
		       "(void)!sennit_ticket_on_call(&t%u, actor%u, NULL);\n",
		       name, i, i, i);
		break;
	case IN_DOMAIN:
		printf("\t(void)!sennit_domain_schedule(o%u, actor%u, NULL);\n",
		       name, i);
		break;
	case THREAD:
	case BOUND_THREAD:
		printf("\tpthread_create(&(pthread_t){ 0 }, NULL, actor%u, "
		       "NULL);\n",
		       i);
		break;
	case BLOCKING:
		printf("\tsennit_blocking_call(actor%u, NULL);\n", i);
		break;
	case RUN:
		printf("\t(void)!sennit_scheduler_run(s, actor%u, NULL);\n", i);
		break;
	case FORKED:
		printf("\t/* forks actor%u and joins it */\n", i);
		printf("\tactor%u(NULL);\n", i);
		break;
	case ELSEWHERE:
		printf("\t(void)!sennit_schedule_task_on(%s, &(sennit_task){ "
		       ".run = "
		       "actor%u });\n",
		       p->world.second ? "second" : "s", i);
		break;
	case FIRST:
		printf("\tsennit_once_call(&(sennit_once){ 0 }, actor%u, "
		       "NULL);\n",
		       i);
		break;
	default:
		printf("\t(void)!sennit_schedule_task_on(s, &(sennit_task){ "
		       ".run = "
		       "actor%u });\n",
		       i);
	}
}

static bool started[ACTORS];

static void print_next_start(unsigned parent)
{
	for (unsigned i = parent + 1; i < p->actors; i++)
		if (p->actor[i].parent == parent && !started[i]) {
			started[i] = true;
			print_start(i);
			return;
		}
}

static void print_step(unsigned index, const struct step *s)
{
	const unsigned i = s->name[0];
	const int      m = first_mutex();

	switch (s->call) {
	case CALL_set:
		printf("\tsennit_event_set(&o%u);\n", i);
		break;
	case CALL_clear:
		printf("\tsennit_event_clear(&o%u);\n", i);
		break;
	case CALL_look:
		printf("\t(void)sennit_event_is_set(&o%u);\n", i);
		break;
	case CALL_await:
		print_wait(s, "sennit_event_wait", "&o%u", i);
		break;
	case CALL_await_any:
		print_array(s, "sennit_event_wait_any");
		break;
	case CALL_await_all:
		print_array(s, "sennit_event_wait_all");
		break;
	case CALL_lock:
		print_lock(s, "sennit_mutex_lock");
		break;
	case CALL_unlock:
		printf("\tif (h[%u]) h[%u]--, sennit_mutex_unlock(&o%u);\n", i,
		       i, i);
		break;
	case CALL_await_notify:
		if (m < 0)
			break;
		printf("\tif (h[%d]) (void)!sennit_cond_wait_until(&o%u, &o%d, "
		       "%s);\n",
		       m, i, m, limit_of(s));
		break;
	case CALL_notify_one:
		printf("\tsennit_cond_notify_one(&o%u);\n", i);
		break;
	case CALL_notify_all:
		printf("\tsennit_cond_notify_all(&o%u);\n", i);
		break;
	case CALL_take:
		printf("\t(void)!sennit_semaphore_acquire_until(&o%u, %u, "
		       "%s);\n",
		       i, s->count, limit_of(s));
		break;
	case CALL_give:
		printf("\tsennit_semaphore_release(&o%u, %u);\n", i, s->count);
		break;
	case CALL_read_lock:
		printf("\th[%u] += !sennit_rwlock_lock_shared_until(&o%u, "
		       "%s);\n",
		       i, i, limit_of(s));
		break;
	case CALL_write_lock:
		printf("\tif (!h[%u]) h[%u] -= !sennit_rwlock_lock_until(&o%u, "
		       "%s);\n",
		       i, i, i, limit_of(s));
		break;
	case CALL_unlock_rw:
		printf("\tif (h[%u] > 0) h[%u]--, "
		       "sennit_rwlock_unlock_shared(&o%u); else if (h[%u]) "
		       "h[%u]++, sennit_rwlock_unlock(&o%u);\n",
		       i, i, i, i, i, i);
		break;
	case CALL_arrive:
		printf("\t(void)!sennit_barrier_wait_until(&o%u, %s);\n", i,
		       s->limit >= EVER ? limits[FAR] : limit_of(s));
		break;
	case CALL_attempt:
		printf("\t(void)!sennit_once_attempt_until(&o%u, first%u, "
		       "NULL, "
		       "%s);\n",
		       i, s->flag >> 2 & 1, limit_of(s));
		break;
	case CALL_draw:
		printf("\tif (!h[%u]) h[%u] = 1, sennit_ticket_queue_take(&o%u,"
		       " &t);\n",
		       i, i, i);
		break;
	case CALL_await_turn:
		printf("\tif (h[%u]) (void)!sennit_ticket_wait_until(&t, "
		       "%s);\n",
		       i, limit_of(s));
		break;
	case CALL_end_turn:
		printf("\tif (h[%u]) h[%u] = 0, sennit_ticket_done(&t);\n", i,
		       i);
		break;
	case CALL_await_other_turn:
		printf("\t/* and wait for a ticket of another actor on o%u, %s "
		       "*/\n",
		       i, limit_of(s));
		break;
	case CALL_send:
		print_wait(s, "sennit_channel_send", "&o%u, &(int){ 7 }", i);
		break;
	case CALL_receive:
		print_wait(s, "sennit_channel_receive", "&o%u, &(int){ 0 }", i);
		break;
	case CALL_close:
		printf("\tsennit_channel_close(&o%u);\n", i);
		break;
	case CALL_length:
		printf("\t(void)sennit_channel_length(&o%u);\n", i);
		break;
	case CALL_settle:
		printf("\t(void)!sennit_future_try_set(&o%u, NULL);\n", i);
		break;
	case CALL_await_future:
		print_wait(s,
			   s->flag & 1 ? "sennit_future_get"
				       : "sennit_future_wait",
			   s->flag & 1 ? "&o%u, &(void *){ NULL }" : "&o%u", i);
		break;
	case CALL_await_any_future:
		print_array(s, "sennit_future_wait_any");
		break;
	case CALL_await_all_futures:
		print_array(s, "sennit_future_wait_all");
		break;
	case CALL_add:
		printf("\tsennit_wait_group_add(&o%u, %u);\n", i, s->count);
		break;
	case CALL_done:
		printf("\tsennit_wait_group_done(&o%u); /* if it is not 0 */\n",
		       i);
		break;
	case CALL_await_zero:
		printf("\t(void)!sennit_wait_group_wait_until(&o%u, %s);\n", i,
		       limit_of(s));
		break;
	case CALL_borrow:
		printf("\tif (!item) (void)!sennit_pool_borrow_until(&o%u, "
		       "&item, %s);\n",
		       i, limit_of(s));
		break;
	case CALL_give_back:
		printf("\tif (item) sennit_pool_return(&o%u, item), item = "
		       "NULL;\n",
		       i);
		break;
	case CALL_open_group:
		printf("\tsennit_group_init_on(&o%u, s, %s, %u);\n", i,
		       limits[p->object[i].set], p->object[i].value);
		break;
	case CALL_end_group:
		if (s->flag & 1)
			printf("\tsennit_group_drain(&o%u, %s);\n", i,
			       limit_of(s));
		else
			printf("\tsennit_group_wait(&o%u);\n", i);
		break;
	case CALL_await_members:
		printf("\t(void)!sennit_group_wait_until(&o%u, %s);\n", i,
		       limit_of(s));
		break;
	case CALL_cancel:
		printf("\tsennit_group_cancel(&o%u); /* if inside it */\n", i);
		break;
	case CALL_set_deadline:
		printf("\tsennit_group_set_deadline(&o%u, %s);\n", i,
		       limit_of(s));
		break;
	case CALL_await_domain:
		printf("\tsennit_domain_release(o%u); /* and await its end "
		       "*/\n",
		       i);
		break;
	case CALL_choose_case:
		print_choice(s);
		break;
	case CALL_start:
		print_next_start(index);
		break;
	case CALL_yield:
		printf("\tsennit_yield();\n");
		break;
	case CALL_sleep:
		printf("\tsennit_sleep_until(%s);\n",
		       limits[s->limit >= EVER ? SOON : s->limit]);
		break;
	case CALL_ask:
		printf("\t(void)sennit_check_cancelled();\n");
		break;
	case CALL_hold:
		printf("\twhile (sennit_explore_sleep(&(uint32_t){ 0 }, 0, "
		       "%s))\n"
		       "\t\t; /* the thread does nothing else */\n",
		       limits[s->flag & 1 ? SOON : TICK]);
		break;
	case CALL_set_workers:
		printf("\t(void)!sennit_scheduler_set_workers(s, %u);\n",
		       p->world.max_workers ? 1 + s->flag % p->world.max_workers
					    : 1);
		break;
	case CALL_loop:
		printf("\t/* a parallel loop of %u indices */\n", s->flag);
		break;
	case CALL_refer:
		printf("\tsennit_scheduler_retain(s), "
		       "sennit_scheduler_release(s);\n");
		break;
	case CALL_set_cpus:
		printf("\t/* and another number of CPUs: %u */\n",
		       1 + s->count % 3);
		break;
	case CALL_trim:
		printf("\tsennit_scheduler_trim(s);\n");
		break;
	default:
		break;
	}
}

/* --- actors ------------------------------------------------------- */

/* Each kind is a function of another type. */
static void print_head(unsigned i)
{
	switch (p->actor[i].kind) {
	case MEMBER:
	case MEMBER_COPY:
	case MEMBER_HERE:
	case MEMBER_ON:
		printf("static int actor%u(void *u)\n{\n", i);
		break;
	case OUTCOME:
		printf("static sennit_future f%u;\n"
		       "static int actor%u(void *u, void **value)\n{\n",
		       i, i);
		break;
	case CONTINUATION:
	case INLINE_CONTINUATION:
		printf("static sennit_future f%u;\n"
		       "static void actor%u(void *u, void *value, int "
		       "err)\n{\n",
		       i, i);
		break;
	case CALLED:
		printf("static sennit_ticket t%u;\n", i);
		printf("static void actor%u(void *u)\n{\n", i);
		break;
	case THREAD:
	case BOUND_THREAD:
	case BLOCKING:
		printf("static void *actor%u(void *u)\n{\n", i);
		break;
	default:
		printf("static void actor%u(void *u)\n{\n", i);
	}
}

/* After the function: a continuation that names it. */
static void print_foot(unsigned i)
{
	const struct actor_plan *a = &p->actor[i];

	if (a->kind == BOUND_THREAD)
		printf("\tsennit_thread_unbind();\n");
	printf("\tsennit_wait_group_done(&left);\n");
	if (is_member(a))
		printf("\treturn %s;\n", a->error ? "-5" : "0");
	else if (a->kind == OUTCOME)
		printf("\treturn 0;\n");
	else if (a->kind == THREAD || a->kind == BOUND_THREAD ||
		 a->kind == BLOCKING)
		printf("\treturn u;\n");
	printf("}\n");
	if (a->kind == CONTINUATION || a->kind == INLINE_CONTINUATION)
		printf("static sennit_continuation c%u = { .run = actor%u, "
		       ".flags = %s };\n",
		       i, i,
		       a->kind == CONTINUATION ? "0"
					       : "SENNIT_CONTINUATION_INLINE");
}

/* Variables of an actor. */
static void print_variables(const struct actor_plan *a, unsigned index)
{
	bool held = false, ticket = false, item = false, tied = false;

	for (unsigned i = 0; i < p->objects; i++) {
		if (!uses(a, i))
			continue;
		held |= p->object[i].kind == MUTEX ||
			p->object[i].kind == RWLOCK ||
			p->object[i].kind == LINE;
		ticket |= p->object[i].kind == LINE;
		item |= p->object[i].kind == POOL;
	}
	for (unsigned i = 1; i < p->actors; i++)
		tied |= p->actor[i].kind == TIED && p->actor[i].parent == index;
	if (held)
		printf("\tint h[%u] = { 0 };\n", p->objects);
	if (ticket)
		printf("\tsennit_ticket t;\n");
	if (item)
		printf("\tvoid *item = NULL;\n");
	if (tied)
		printf("\tsennit_wait_group tied = { 0 };\n");
	if (a->kind == BOUND_THREAD)
		printf("\t(void)!sennit_thread_bind(s);\n");
}

/* What an actor does at its end. */
static void print_end(const struct actor_plan *a, unsigned index)
{
	bool tied = false;

	for (unsigned i = 0; i < p->objects; i++) {
		if (!uses(a, i))
			continue;
		switch (p->object[i].kind) {
		case MUTEX:
			printf("\tif (h[%u]) sennit_mutex_unlock(&o%u);\n", i,
			       i);
			break;
		case RWLOCK:
			printf("\tfor (; h[%u] > 0; h[%u]--) "
			       "sennit_rwlock_unlock_shared(&o%u);\n\tif "
			       "(h[%u]) sennit_rwlock_unlock(&o%u);\n",
			       i, i, i, i, i);
			break;
		case LINE:
			printf("\tif (h[%u]) sennit_ticket_done(&t);\n", i);
			break;
		case POOL:
			printf("\tif (item) sennit_pool_return(&o%u, item);\n",
			       i);
			break;
		default:
			break;
		}
	}
	if (a->kind == CALLED)
		printf("\tsennit_ticket_done(&t%u);\n", index);
	for (unsigned i = 1; i < p->actors; i++) {
		tied |= p->actor[i].kind == TIED && p->actor[i].parent == index;
		if (p->actor[i].parent == index && !started[i]) {
			started[i] = true;
			print_start(i);
		}
	}
	if (tied)
		printf("\tsennit_wait_group_wait(&tied);\n");
	for (unsigned i = 0; i < p->objects; i++) {
		bool open = false;

		for (unsigned j = 0; j < STEPS; j++) {
			if (a->steps[j].name[0] != i)
				continue;
			open |= a->steps[j].call == CALL_open_group;
			open &= a->steps[j].call != CALL_end_group;
		}
		if (open)
			printf("\tsennit_group_wait(&o%u);\n", i);
	}
}

static void print_actor(unsigned i)
{
	const struct actor_plan *a = &p->actor[i];

	print_head(i);
	print_variables(a, i);
	for (unsigned j = 0; j < STEPS; j++)
		if (is_step(&a->steps[j]))
			print_step(i, &a->steps[j]);
	print_end(a, i);
	print_foot(i);
}

/* --- all ---------------------------------------------------------- */

static void print_world(void)
{
	const struct world_plan *w = &p->world;

	printf("\t(void)!sennit_scheduler_create(&s, SENNIT_CONFIG(");
	if (w->workers)
		printf(".workers = %u", w->workers);
	else
		printf(".workers = SENNIT_WORKERS_NONE");
	if (w->max_workers > w->workers)
		printf(", .max_workers = %u", w->max_workers);
	if (w->lazy)
		printf(", .start = SENNIT_START_LAZY");
	if (w->fifo)
		printf(", .order = SENNIT_ORDER_OLDEST");
	if (w->spread)
		printf(", .placement = SENNIT_PLACEMENT_SPREAD");
	if (w->retire)
		printf(", .retire_ms = 1");
	if (w->min_workers)
		printf(", .min_workers = 1");
	if (w->max_fibers)
		printf(", .max_fibers = %u", w->max_fibers);
	if (w->calls)
		printf(", .max_blocking_threads = %u", w->calls);
	printf("));\n");
	if (w->cpus)
		printf("\t/* with resources of %u CPUs for all */\n", w->cpus);
	if (w->second)
		printf("\t(void)!sennit_scheduler_create(&second, "
		       "SENNIT_CONFIG(.workers = %u));\n",
		       w->second);
	if (w->refusals)
		printf("\t/* and an allocator that refuses each %uth block "
		       "*/\n",
		       w->refusals);
}

static void print_firsts(void)
{
	bool is[2] = { false, false };

	for (unsigned i = 0; i < p->actors; i++)
		for (unsigned j = 0; j < STEPS; j++)
			if (p->actor[i].steps[j].call == CALL_attempt)
				is[p->actor[i].steps[j].flag >> 2 & 1] = true;
	for (unsigned i = 0; i < 2; i++)
		if (is[i])
			printf("static int first%u(void *u) { sennit_yield(); "
			       "return %s; }\n",
			       i, i ? "-5" : "0");
}

void program_print(const struct program *program, uint64_t schedule)
{
	const bool bound = program->world.main == MAIN_BOUND ||
			   !program->world.workers;

	p = program;
	memset(started, 0, sizeof(started));
	printf("/* Program %" PRIu64 " under schedule %" PRIu64 ". */\n",
	       p->seed, schedule);
	printf("#include <sennit.h>\n#include <sennit/deterministic.h>\n"
	       "#include <sennit/domain.h>\n#include <pthread.h>\n");
	printf("static sennit_scheduler *s;\nstatic sennit_wait_group left;\n");
	if (p->world.second)
		printf("static sennit_scheduler *second;\n");
	for (unsigned i = 0; i < p->objects; i++)
		if (is_used(i))
			printf("static %s o%u;\n", types[p->object[i].kind], i);
	print_firsts();
	for (unsigned i = p->actors; i-- > 0;)
		print_actor(i);
	printf("static void scenario(void *u)\n{\n");
	print_world();
	if (bound)
		printf("\t(void)!sennit_thread_bind(s);\n");
	printf("\tsennit_wait_group_init(&left, %u);\n", p->actors);
	for (unsigned i = 0; i < p->objects; i++)
		if (is_used(i))
			print_opening(i);
	print_start(0);
	printf("\twhile (sennit_wait_group_wait_until(&left, "
	       "sennit_after(3600 * SENNIT_SECOND))) {\n");
	for (unsigned i = 0; i < p->objects; i++)
		if (is_used(i))
			print_supply(i);
	printf("\t}\n");
	if (bound)
		printf("\tsennit_thread_unbind();\n");
	if (p->world.second)
		printf("\t(void)!sennit_scheduler_shutdown(second, "
		       "SENNIT_NEVER);\n");
	printf("\t(void)!sennit_scheduler_shutdown(s, SENNIT_NEVER);\n}\n");
	printf("int main(void)\n{\n\treturn sennit_explore(1, 100000, scenario,"
	       " NULL);\n}\n");
}
