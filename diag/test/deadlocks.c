/* SPDX-License-Identifier: Apache-2.0 */
/* deadlocks.c - the stacks of a deadlock show the deadlock, and the holder of
 * each lock that is waited for. */
#include "testing/words.h"
#include "testing/in_turn.h"

#include "sennit/stacks.h"

#include <errno.h>
#include <string.h>

struct locks {
	sennit_mutex  first, second;
	sennit_rwlock shared;
	sennit_event  first_held, second_held;
	sennit_group  group;
	sennit_event  open, over;
	bool          opposite, readers;
};

static int take_first(void *argument)
{
	struct locks *l = argument;

	return lock_in_turn(&l->first, &l->first_held, &l->second_held,
			    &l->second);
}

/* Unless the order is opposite, wait for the first lock and hold none. */
static int take_second(void *argument)
{
	struct locks *l = argument;

	if (l->opposite)
		return lock_in_turn(&l->second, &l->second_held, &l->first_held,
				    &l->first);
	EXPECT(!sennit_event_wait(&l->first_held));
	return sennit_mutex_lock_until(&l->first, SENNIT_NEVER);
}

/* No group ends its wait for the mutex. */
static int read_first(void *argument)
{
	struct locks *l = argument;

	sennit_rwlock_lock_shared(&l->shared);
	sennit_event_set(&l->first_held);
	EXPECT(!sennit_event_wait_until(&l->second_held, SENNIT_UNCANCELLED));
	sennit_mutex_lock(&l->second);
	sennit_mutex_unlock(&l->second);
	sennit_rwlock_unlock_shared(&l->shared);
	return 0;
}

static int write_second(void *argument)
{
	struct locks *l = argument;
	int           err;

	sennit_mutex_lock(&l->second);
	sennit_event_set(&l->second_held);
	EXPECT(!sennit_event_wait_until(&l->first_held, SENNIT_UNCANCELLED));
	err = sennit_rwlock_lock_until(&l->shared, SENNIT_NEVER);
	if (!err)
		sennit_rwlock_unlock(&l->shared);
	sennit_mutex_unlock(&l->second);
	return err;
}

static void run_members(void *argument)
{
	struct locks *l = argument;

	sennit_group_init(&l->group, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	sennit_event_set(&l->open);
	EXPECT(!sennit_group_spawn(&l->group,
				   l->readers ? read_first : take_first, l));
	EXPECT(!sennit_group_spawn(&l->group,
				   l->readers ? write_second : take_second, l));
	EXPECT(sennit_group_wait(&l->group) == -ECANCELED);
	sennit_event_set(&l->over);
}

static int print_text(sennit_scheduler *s, int fd)
{
	return sennit_stacks_print(s, fd, SENNIT_STACKS_TEXT);
}

static int print_json(sennit_scheduler *s, int fd)
{
	(void)s;
	return sennit_stacks_print(NULL, fd, SENNIT_STACKS_JSON);
}

static unsigned count(const char *text, const char *part)
{
	unsigned n = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		n++;
	}
	return n;
}

static char text[65536];

static bool shows(sennit_scheduler *s, unsigned wanted, const char *part)
{
	return count(printed(print_text, s, text, sizeof(text)), part) ==
	       wanted;
}

/* The line about the deadlock is followed by frames, unless the thread that
 * uses the stack gets no CPU to answer. Under TSan none answers, because
 * signals are delayed. */
#if defined(SN_TSAN)
#define ANSWERS false
#else
#define ANSWERS true
#endif
static bool shows_stacks_of_deadlock(sennit_scheduler *s)
{
	const char *line = text;
	unsigned    stacks = 0;

	if (!shows(s, 2, "  deadlock 1: it is held by worker "))
		return false;
	while ((line = strstr(line, "  deadlock 1: "))) {
		line = strchr(line, '\n') + 1;
		stacks += !strncmp(line, "  #0", 4);
	}
	return !ANSWERS || stacks == 2;
}

static void begin(struct world *w, struct locks *l, bool opposite)
{
	l->opposite = opposite;
	sennit_event_init(&l->first_held, SENNIT_EVENT_MANUAL);
	sennit_event_init(&l->second_held, SENNIT_EVENT_MANUAL);
	sennit_event_init(&l->open, SENNIT_EVENT_MANUAL);
	sennit_event_init(&l->over, SENNIT_EVENT_MANUAL);
	assert_int_equal(sennit_schedule_task_on(
				 w->s, &(sennit_task){ .run = run_members,
						       .argument = l }),
			 0);
}

/* That the members are seen to wait does not prove that the group's function
 * has begun. */
static void end(struct locks *l)
{
	EXPECT(!sennit_event_wait(&l->open));
	sennit_group_cancel(&l->group);
	sennit_event_set(&l->second_held);
	EXPECT(!sennit_event_wait(&l->over));
}

TEST_WITH_THREADS(both_stacks_name_the_deadlock)
{
	struct locks l = { .opposite = false };

	begin(w, &l, true);
	assert_soon(shows_stacks_of_deadlock(w->s));
	printed(print_json, w->s, text, sizeof(text));
	assert_int_equal(count(text, "\"deadlock\": {\"number\": 1, "), 2);
	end(&l);
	assert_true(shows(w->s, 0, "  deadlock "));
}

TEST_WITH_THREADS(a_lock_that_is_only_held_is_no_deadlock)
{
	struct locks l = { .opposite = false };

	begin(w, &l, false);
	assert_soon(shows(w->s, 1, "waits for mutex "));
	assert_int_equal(count(text, "  deadlock "), 0);
	end(&l);
}

TEST_WITH_THREADS(a_reader_is_part_of_a_deadlock)
{
	struct locks l = { .readers = true };

	begin(w, &l, false);
	assert_soon(shows(w->s, 2, "  deadlock 1: it is held by worker "));
	end(&l);
	assert_true(shows(w->s, 0, "  deadlock "));
}
